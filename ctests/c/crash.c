/* Processes that are killed, and system calls that fail, at every point of a save and of what is done to a map. A path
 * always holds a whole file, the old one or the new one, and a mapped file keeps every key.
 *
 * usage: crash kill|fail|interrupt|failed-sync|two-syncs|slow-open|readers-meet-writers|writers-meet|no-locks|no-exclusive-rename|
 * no-folder-sync|full-disk|no-boot|fork|fork-meanwhile|namespaces, or crash forgotten-mark disk, or
 * crash random SEED KILLS, or crash storm SEED CYCLES */
#include "faults.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#include "filters.h"
#include "folder.h"
#include "native.h"
#include "rng.h"

enum { OLD_KEYS = 100, KEYS = 200, NUM_BLOCKS = 40, K = 7, NOT_STRUCK = 42 };

static unsigned char *old_bytes, *new_bytes[2]; /* the old file, and the new one in each format */
static size_t old_len, new_len[2];
static gloom_filter *new_filter; /* what is saved */
static gloom_filter *mapped;     /* what is mapped for writing, or NULL */

static const char *target(void)
{
    return path_of("filter");
}

static void make_filters(void)
{
    gloom_filter *old = make_filter(GLOOM_KIND_PLAIN, NUM_BLOCKS, K, 0);
    add_numbers(old, 0, OLD_KEYS);
    old_bytes = bytes_of(old, GLOOM_FORMAT_NATIVE, &old_len);
    gloom_free(old);
    new_filter = make_filter(GLOOM_KIND_PLAIN, NUM_BLOCKS, K, 0);
    add_numbers(new_filter, 0, KEYS);
    for (int32_t format = GLOOM_FORMAT_NATIVE; format <= GLOOM_FORMAT_V1; format++)
        new_bytes[format] = bytes_of(new_filter, format, &new_len[format]);
}

/* Has the folder nothing in it but this many files? */
static void check_files(uint64_t n)
{
    CHECK_U64(names_in(folder), n);
}

static void empty_folder(void)
{
    pid_t owner = folder_owner;
    remove_tree(folder);
    REQUIRE(mkdir(folder, 0700) == 0);
    folder_owner = owner;
}

static void check_has_keys(gloom_filter *filter, uint64_t keys)
{
    CHECK_U64(numbers_missing(filter, 0, keys), 0);
    gloom_free(filter);
}

/* Tells what went wrong, too. */
static bool maps(uint32_t flags, gloom_filter **filter)
{
    gloom_error error = {0};
    *filter = NULL;
    gloom_status status = gloom_map(target(), flags, filter, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "gloom_map, flags %u: %s\n", (unsigned)flags, error.message);
    CHECK_OK(status);
    return status == GLOOM_OK;
}

/* The disk has failed when bits were to be written, so nobody takes the file for one that has all its keys, unless he
 * says that he knows. Then it is like any other. */
static void acknowledge_failure(void)
{
    static const uint32_t ways[] = {0, GLOOM_MAP_READ_WRITE, GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY};
    gloom_filter *filter = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        CHECK_STATUS(gloom_map(target(), ways[i], &filter, NULL), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_load(target(), NULL, &filter, NULL), GLOOM_ERR_CORRUPT);
    CHECK(filter == NULL);
    if (maps(GLOOM_MAP_READ_WRITE | GLOOM_MAP_ALLOW_DIRTY, &filter))
        gloom_free(filter);
}

/* The file can be used in every way, is clean once it has been closed, and has its keys. */
static void check_whole(uint64_t keys)
{
    static const uint32_t ways[] = {GLOOM_MAP_VERIFY, GLOOM_MAP_READ_WRITE, GLOOM_MAP_VERIFY};
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_filter *filter;
    for (int i = 0; i < 3; i++)
        if (maps(ways[i], &filter))
            check_has_keys(filter, keys);
    filter = NULL;
    CHECK_OK(gloom_load(target(), NULL, &filter, NULL));
    check_has_keys(filter, keys);
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.dirty, 0);
}

/* ---- what is done to files ---- */

typedef struct {
    const char *name;
    void (*prepare)(void);
    gloom_status (*act)(gloom_error *error); /* what is struck */
    void (*check_killed)(void);              /* afterwards in another process */
    /* Afterwards in this process. `struck` is the call that failed, NULL if none did. */
    void (*check_failed)(gloom_status status, const char *struck);
} operation;

/* Saving */

static int32_t format;
static bool is_over_old;
static bool was_named; /* had the new file its name when the fault struck? */

/* Is it the call by which a new file gets its name? Over an old file, a link is only the step before. */
static bool gives_the_name(const char *call)
{
    return strcmp(call, "renameat") == 0 || strcmp(call, "renameat2") == 0 ||
           (strcmp(call, "linkat") == 0 && !is_over_old);
}

static void note_name(const char *name, int file, void *address)
{
    (void)file, (void)address;
    if (gives_the_name(name) && faults.struck == NULL)
        was_named = true;
}

static void prepare_save(void)
{
    empty_folder();
    if (is_over_old)
        write_file(target(), old_bytes, old_len);
    was_named = false;
    faults.after = note_name;
}

static gloom_status save(gloom_error *error)
{
    return gloom_save(new_filter, target(), format, error);
}

static bool is_old(void)
{
    return is_over_old ? exists(target()) && file_is(target(), old_bytes, old_len) : !exists(target());
}

static bool is_new(void)
{
    return exists(target()) && file_is(target(), new_bytes[format], new_len[format]);
}

static void check_killed_save(void)
{
    uint64_t left = names_in(folder) - exists(target());
    CHECK(is_old() || is_new());
    CHECK_BETWEEN(left, 0, 1);
    /* What was left does not disturb the next, which removes it. */
    CHECK_OK(save(NULL));
    CHECK(is_new());
    check_files(1);
}

static bool is_one_of(const char *call, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(call, names[i]) == 0)
            return true;
    return false;
}

/* A call whose failure is a failure of the whole. (Those that only look, such as for an old file that may be replaced, or
 * clean up, may fail; what must hold is checked all the same.) */
static bool is_essential(const char *call)
{
    static const char *const names[] = {"write", "pwrite64", "fsync",    "fallocate", "mmap", "msync",
                                        "fchmod", "renameat", "linkat", "lock",      "dup"};
    return call != NULL && faults.error != EINTR && is_one_of(call, names, sizeof names / sizeof names[0]);
}

static void check_failed_save(gloom_status status, const char *struck)
{
    bool is_left = struck != NULL && strcmp(struck, "unlinkat") == 0;
    check_files(exists(target()) + is_left);
    CHECK(status != GLOOM_OK || !is_essential(struck));
    /* Writing the folder comes last: then the new file is there. */
    CHECK(status == GLOOM_OK || was_named ? is_new() : is_old());
}

/* Maps */

static void prepare_nothing(void)
{
    empty_folder();
}

static bool was_dirty; /* did somebody leave it so? */

static void prepare_old(void)
{
    was_dirty = false;
    empty_folder();
    write_file(target(), old_bytes, old_len);
}

static void map_old(void)
{
    prepare_old();
    REQUIRE(maps(GLOOM_MAP_READ_WRITE, &mapped));
    add_numbers(mapped, OLD_KEYS, KEYS);
}

/* As a killed process leaves it. */
static void prepare_dirty(void)
{
    unsigned char boot[BOOT_ID_SIZE];
    was_dirty = true;
    empty_folder();
    REQUIRE(this_boot(boot));
    unsigned char *bytes = malloc(old_len);
    REQUIRE(bytes != NULL);
    memcpy(bytes, old_bytes, old_len);
    native_make_dirty(bytes, boot);
    write_file(target(), bytes, old_len);
    free(bytes);
}

/* With two holes, as a copy that leaves out zeros has them. */
static struct stat sparse_before;

static void prepare_sparse(void)
{
    enum { PAGE = 4096, MIDDLE = 8 * PAGE };
    was_dirty = false;
    empty_folder();
    int file = open(target(), O_RDWR | O_CREAT, 0666);
    REQUIRE(file >= 0 && ftruncate(file, (off_t)old_len) == 0);
    REQUIRE(pwrite(file, old_bytes, PAGE, 0) == PAGE);
    REQUIRE(pwrite(file, old_bytes + MIDDLE, PAGE, MIDDLE) == PAGE);
    REQUIRE(pwrite(file, old_bytes + NATIVE_BLOCKS, old_len - NATIVE_BLOCKS, NATIVE_BLOCKS) ==
            (ssize_t)(old_len - NATIVE_BLOCKS));
    close(file);
    sparse_before = status_of(target());
    CHECK((size_t)sparse_before.st_blocks * 512 < old_len);
}

static gloom_status create(gloom_error *error)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.num_blocks = NUM_BLOCKS;
    options.k = K;
    return gloom_map_create(target(), &options, &mapped, error);
}

static gloom_status open_for_writing(gloom_error *error)
{
    return gloom_map(target(), GLOOM_MAP_READ_WRITE, &mapped, error);
}

static gloom_status open_and_verify(gloom_error *error)
{
    return gloom_map(target(), GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &mapped, error);
}

static gloom_status open_for_reading(gloom_error *error)
{
    return gloom_map(target(), GLOOM_MAP_VERIFY, &mapped, error);
}

static gloom_status load(gloom_error *error)
{
    return gloom_load(target(), NULL, &mapped, error);
}

static gloom_status sync_map(gloom_error *error)
{
    return gloom_sync(mapped, error);
}

static gloom_status close_map(gloom_error *error)
{
    (void)error;
    gloom_free(mapped);
    mapped = NULL;
    return GLOOM_OK;
}

static void close_if_open(void)
{
    gloom_free(mapped);
    mapped = NULL;
}

/* There is no file, or a whole one, which is empty. */
static void check_killed_create(void)
{
    gloom_filter *filter = NULL;
    uint64_t left = names_in(folder) - exists(target());
    CHECK_BETWEEN(left, 0, 1);
    if (exists(target())) {
        CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE, &filter, NULL));
        CHECK_U64(gloom_num_blocks(filter), NUM_BLOCKS);
        CHECK_U64(bits_set(filter), 0);
        gloom_free(filter);
        check_whole(0);
        REQUIRE(unlink(target()) == 0);
    }
    check_files(left);
    CHECK_OK(create(NULL));
    close_if_open();
    check_whole(0);
    check_files(1);
}

/* While it is open here. */
static void check_others_may_open(uint64_t keys)
{
    gloom_filter *filter;
    if (mapped != NULL && maps(GLOOM_MAP_READ_WRITE, &filter))
        check_has_keys(filter, keys);
}

static void check_failed_create(gloom_status status, const char *struck)
{
    CHECK((status == GLOOM_OK) == (mapped != NULL));
    CHECK(status != GLOOM_OK || !is_essential(struck));
    check_others_may_open(0);
    close_if_open();
    check_files(status == GLOOM_OK);
    if (status == GLOOM_OK)
        check_whole(0);
}

static void check_killed_old(void)
{
    check_whole(OLD_KEYS);
}

static bool is_sync(const char *call)
{
    return call != NULL && faults.error != EINTR && (strcmp(call, "msync") == 0 || strcmp(call, "fsync") == 0);
}

static void check_failed_open(gloom_status status, const char *struck)
{
    CHECK((status == GLOOM_OK) == (mapped != NULL));
    CHECK(status != GLOOM_OK || !is_essential(struck));
    check_others_may_open(OLD_KEYS);
    close_if_open();
    /* What could not be written may be what the writer that was killed had added. */
    if (was_dirty && is_sync(struck))
        acknowledge_failure();
    check_whole(OLD_KEYS);
    check_files(1);
}

/* What is refused because there is no space has its holes as before. */
static void check_failed_sparse(gloom_status status, const char *struck)
{
    if (struck != NULL && strcmp(struck, "fallocate") == 0 && faults.error != EINTR) {
        CHECK(status != GLOOM_OK);
        CHECK_U64((uint64_t)status_of(target()).st_blocks, (uint64_t)sparse_before.st_blocks);
        CHECK(file_is(target(), old_bytes, old_len));
    }
    check_failed_open(status, struck);
}

static void check_killed_all(void)
{
    check_whole(KEYS);
}

static void check_failed_sync(gloom_status status, const char *struck)
{
    gloom_error error;
    CHECK(status != GLOOM_OK || !is_essential(struck));
    if (status != GLOOM_OK) {
        /* The system may have forgotten what it could not write: that it writes nothing now is no success. */
        CHECK_STATUS(gloom_sync(mapped, &error), GLOOM_ERR_IO);
        CHECK_U64((uint64_t)error.os_error, EIO);
        CHECK_U64(numbers_missing(mapped, 0, KEYS), 0);
    }
    close_if_open();
    if (status != GLOOM_OK)
        acknowledge_failure();
    check_whole(KEYS);
}

/* A close cannot fail, but must not call clean what is not. (When it has written that the file is clean, all else is on
 * the disk.) */
static void check_failed_close(gloom_status status, const char *struck)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    (void)status;
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK(info.dirty || struck == NULL || strcmp(struck, "msync") != 0 || faults.error == EINTR);
    if (info.dirty && is_sync(struck))
        acknowledge_failure();
    check_whole(KEYS);
    check_files(1);
}

enum { SAVE, CREATE, OPEN, OPEN_VERIFY, OPEN_DIRTY, OPEN_SPARSE, READ, LOAD, SYNC, CLOSE, OPERATIONS };
static const operation operations[OPERATIONS] = {
    [SAVE] = {"save", prepare_save, save, check_killed_save, check_failed_save},
    [CREATE] = {"create", prepare_nothing, create, check_killed_create, check_failed_create},
    [OPEN] = {"open", prepare_old, open_for_writing, check_killed_old, check_failed_open},
    [OPEN_VERIFY] = {"open, verify", prepare_old, open_and_verify, check_killed_old, check_failed_open},
    [OPEN_DIRTY] = {"open dirty", prepare_dirty, open_for_writing, check_killed_old, check_failed_open},
    [OPEN_SPARSE] = {"open with holes", prepare_sparse, open_for_writing, check_killed_old, check_failed_sparse},
    [READ] = {"open for reading", prepare_old, open_for_reading, check_killed_old, check_failed_open},
    [LOAD] = {"load", prepare_old, load, check_killed_old, check_failed_open},
    [SYNC] = {"sync", map_old, sync_map, check_killed_all, check_failed_sync},
    [CLOSE] = {"close", map_old, close_map, check_killed_all, check_failed_close},
};

/* Calls `try` with each operation; saves come in both formats, over an old file and where there is none; new files, with
 * and without a name. */
static void each_operation(void (*try)(const operation *))
{
    for (int i = 0; i < 8; i++) {
        format = i % 2 ? GLOOM_FORMAT_V1 : GLOOM_FORMAT_NATIVE;
        is_over_old = i / 2 % 2 != 0;
        faults.no_unnamed_files = i / 4 != 0;
        try(&operations[SAVE]);
    }
    is_over_old = false;
    try(&operations[CREATE]);
    faults.no_unnamed_files = false;
    for (int i = SAVE + 1; i < OPERATIONS; i++)
        try(&operations[i]);
}

static const char *name_of(const operation *it)
{
    static char name[64];
    if (it->act != save)
        return it->name;
    (void)snprintf(name, sizeof name, "save as %s%s%s", format == GLOOM_FORMAT_V1 ? "v1" : "native",
                   is_over_old ? " over an old file" : "", faults.no_unnamed_files ? ", by a hidden name" : "");
    return name;
}

/* ---- killed ---- */

/* Does it in a child, which is killed at a call; true if it came so far. */
static bool is_killed_at(const operation *it, fault what, unsigned at)
{
    int status;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        atomic_store(&checks_failed, 0);
        it->prepare();
        faults_arm(what, at);
        it->act(NULL);
        _exit(atomic_load(&checks_failed) == 0 ? NOT_STRUCK : 1);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
            (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STRUCK));
    return WIFSIGNALED(status);
}

static bool try_to_kill_at(const operation *it, fault what, unsigned at)
{
    bool was_killed = is_killed_at(it, what, at);
    CONTEXT("%s, killed %s call %u", name_of(it), what == FAULT_KILL ? "before" : "in", at);
    it->check_killed();
    return was_killed;
}

static void try_to_kill(const operation *it)
{
    unsigned calls = 0, halves = 0;
    while (try_to_kill_at(it, FAULT_KILL, calls + 1))
        calls++;
    for (unsigned at = 1; at <= calls; at++)
        halves += try_to_kill_at(it, FAULT_KILL_HALF, at);
    printf("%s: killed before %u calls and in %u\n", name_of(it), calls, halves);
    CHECK(calls > 0);
}

/* ---- failing ---- */

static uint64_t open_files(void)
{
    return names_in("/proc/self/fd");
}

/* Can it be interrupted by a signal? */
static bool is_interruptible(const char *call)
{
    static const char *const names[] = {"read",  "write", "pread64", "pwrite64",  "open64",
                                        "openat", "fsync", "msync",   "lock", "fallocate", "flock"};
    return is_one_of(call, names, sizeof names / sizeof names[0]);
}

static void fail_at_each(const operation *it, fault what, int error_number)
{
    const char *struck;
    unsigned at = 0;
    do {
        gloom_error error = {0};
        at++;
        faults.error = error_number;
        it->prepare();
        uint64_t open_before = open_files() - (mapped != NULL ? 2 : 0); /* a map has its file and its folder open */
        uint64_t failed_before = atomic_load(&checks_failed);
        faults_arm(what, at);
        gloom_status status = it->act(&error);
        faults_disarm();
        struck = faults.struck;
        faults.after = NULL;
        CONTEXT("%s, call %u, %s: %s", name_of(it), at, struck == NULL ? "none" : struck,
                what == FAULT_SHORT ? "short" : strerror(error_number));
        if (struck != NULL && error_number == EINTR && !is_interruptible(struck)) {
            close_if_open(); /* it cannot happen */
            continue;
        }
        if (struck == NULL || what == FAULT_SHORT || error_number == EINTR) {
            CHECK_OK(status);
        } else if (status != GLOOM_OK) {
            CHECK_STATUS(status, GLOOM_ERR_IO);
            CHECK_U64((uint64_t)error.os_error, (uint64_t)error_number);
            CHECK_U64((uint64_t)error.status, GLOOM_ERR_IO);
            CHECK_HAS(error.message, strerror(error_number));
        }
        if (atomic_load(&checks_failed) != failed_before)
            fprintf(stderr, "  status %d: %s\n", (int)status, error.message);
        it->check_failed(status, what == FAULT_SHORT ? NULL : struck);
        CHECK_U64(open_files(), open_before);
    } while (struck != NULL);
    printf("%s: %u calls\n", name_of(it), at - 1);
    CHECK(at > 1);
}

static void try_to_fail(const operation *it)
{
    fail_at_each(it, FAULT_FAIL, EIO);
    fail_at_each(it, FAULT_FAIL, ENOSPC);
}

static void try_to_interrupt(const operation *it)
{
    fail_at_each(it, FAULT_FAIL, EINTR);
    fail_at_each(it, FAULT_SHORT, 0);
}

/* ---- two that meet ---- */

static gloom_filter *other; /* the other one's map */

static void open_other(void)
{
    REQUIRE(maps(GLOOM_MAP_READ_WRITE, &other));
    add_numbers(other, OLD_KEYS, KEYS);
}

static void close_other(void)
{
    gloom_free(other);
    other = NULL;
}

/* Does something, and before its first, second, ... call to the system something else; `done` says what must hold
 * then. */
static void meet(const char *name, void (*prepare)(void), gloom_status (*act)(gloom_error *), void (*meanwhile)(void),
                 void (*done)(gloom_status))
{
    unsigned at = 0;
    const char *struck;
    do {
        gloom_error error = {0};
        at++;
        prepare();
        faults.call = meanwhile;
        faults_arm(FAULT_CALL, at);
        gloom_status status = act(&error);
        faults_disarm();
        struck = faults.struck;
        CONTEXT("%s: at call %u, %s", name, at, struck == NULL ? "none" : struck);
        uint64_t failed_before = atomic_load(&checks_failed);
        done(status);
        if (atomic_load(&checks_failed) != failed_before)
            fprintf(stderr, "  status %d: %s\n", (int)status, error.message);
    } while (struck != NULL);
    CHECK(at > 1);
}

static void prepare_open_file(void)
{
    prepare_old();
    open_other();
}

/* Whatever a reader meets, it gets a whole filter. */
static void done_reading(gloom_status status)
{
    CHECK_OK(status);
    CHECK((status == GLOOM_OK) == (mapped != NULL));
    if (mapped != NULL)
        CHECK_U64(numbers_missing(mapped, 0, OLD_KEYS), 0);
    close_if_open();
    close_other();
    check_whole(OLD_KEYS);
}

/* Both were writers, and both have closed. */
static void done_writing(gloom_status status)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    CHECK_OK(status);
    close_other();
    close_if_open();
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.dirty, 0);
    check_whole(KEYS);
}

static void done_saving(gloom_status status)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    close_other();
    CHECK(status == GLOOM_OK || status == GLOOM_ERR_BUSY);
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    /* Whoever closed it last has taken the mark away. */
    CHECK_U64(info.dirty, 0);
    check_whole(KEYS);
    check_files(1);
}

static void prepare_two(void)
{
    prepare_open_file();
    REQUIRE(maps(GLOOM_MAP_READ_WRITE, &mapped));
}

/* One who asks for a file that another is making may come too early, but gets nothing that is half made. */
static gloom_status early_status;

static void come_early(void)
{
    gloom_filter *early = NULL;
    early_status = gloom_map(target(), 0, &early, NULL);
    if (early_status == GLOOM_OK)
        CHECK_U64(bits_set(early), 0);
    gloom_free(early);
}

static void done_creating(gloom_status status)
{
    CHECK_OK(status);
    CHECK(early_status == GLOOM_OK || early_status == GLOOM_ERR_IO);
    close_if_open();
    check_whole(0);
}

/* Of two who make the same file, one does, and the other is told that it exists. */
static void create_too(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.num_blocks = NUM_BLOCKS;
    options.k = K;
    early_status = gloom_map_create(target(), &options, &other, NULL);
}

static void done_creating_two(gloom_status status)
{
    if (faults.struck == NULL)
        create_too();
    CHECK((status == GLOOM_OK) != (early_status == GLOOM_OK));
    CHECK_STATUS(status == GLOOM_OK ? early_status : status, GLOOM_ERR_IO);
    close_if_open();
    close_other();
    check_whole(0);
    check_files(1);
}

/* Opening a file that others write allocates its blocks, and must not write over theirs where the file system cannot
 * allocate and somebody makes up for it by writing zeros. */
enum { MANY_BLOCKS = 1000, MANY_KEYS = 20000 };

static void prepare_without_fallocate(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    empty_folder();
    options.num_blocks = MANY_BLOCKS;
    options.k = K;
    REQUIRE(gloom_map_create(target(), &options, &other, NULL) == GLOOM_OK);
    faults.no_fallocate = true;
}

static void add_many(void)
{
    add_numbers(other, 0, MANY_KEYS);
}

static void done_without_fallocate(gloom_status status)
{
    faults.no_fallocate = false;
    CHECK(status == GLOOM_OK || status == GLOOM_ERR_IO);
    if (faults.struck != NULL)
        CHECK_U64(numbers_missing(other, 0, MANY_KEYS), 0);
    close_if_open();
    close_other();
}

/* While a file is saved over an old one, somebody else puts another one there and maps it, or takes the old one away and
 * makes one. Then it is not replaced. (Between the last look and the renaming it would be.) */
static void prepare_save_over_old(void)
{
    is_over_old = true;
    format = GLOOM_FORMAT_NATIVE;
    prepare_save();
    faults.after = NULL;
}

static void come_in_place(void)
{
    write_file(path_of("incoming"), old_bytes, old_len);
    REQUIRE(rename(path_of("incoming"), target()) == 0);
    open_other();
}

static void take_away_and_create(void)
{
    REQUIRE(unlink(target()) == 0);
    create_too();
    if (other != NULL)
        add_numbers(other, 0, KEYS);
}

static void done_saving_over_another(gloom_status status)
{
    bool came = faults.struck != NULL;
    CHECK(status == GLOOM_OK || (came && status == GLOOM_ERR_BUSY));
    if (came && strcmp(faults.struck, "write") == 0)
        CHECK_STATUS(status, GLOOM_ERR_BUSY);
    close_other();
    check_whole(KEYS);
    check_files(1);
}

/* A link to nothing has the name and is no file: the save may fail, and ends. */
static void prepare_save_of_new(void)
{
    is_over_old = false;
    prepare_save();
    faults.after = NULL;
}

static void link_to_nothing(void)
{
    CHECK(symlink("nothing", target()) == 0 || errno == EEXIST);
}

static void done_saving_over_link(gloom_status status)
{
    CHECK(status == GLOOM_OK || status == GLOOM_ERR_IO);
    if (status == GLOOM_OK)
        CHECK(is_new());
}

/* A file that another one has found and mapped stays, though the folder cannot be written. */
static void map_what_came(const char *name, int file, void *address)
{
    (void)file, (void)address;
    if (!gives_the_name(name))
        return;
    faults.counting = false;
    REQUIRE(maps(GLOOM_MAP_READ_WRITE, &other));
    add_numbers(other, 0, KEYS);
    CHECK_OK(gloom_sync(other, NULL));
    faults.counting = true;
}

static void test_create_that_is_found(void)
{
    const char *struck;
    unsigned at = 0, kept = 0;
    is_over_old = false;
    do {
        prepare_nothing();
        faults.after = map_what_came;
        faults.error = EIO;
        faults_arm(FAULT_FAIL, ++at);
        gloom_status status = create(NULL);
        faults_disarm();
        faults.after = NULL;
        struck = faults.struck;
        CONTEXT("a create is found, and fails at call %u, %s", at, struck == NULL ? "none" : struck);
        close_if_open();
        if (other != NULL) {
            kept += status != GLOOM_OK;
            close_other();
            check_whole(KEYS);
        }
    } while (struck != NULL);
    CHECK(kept > 0);
}

/* Who comes first has the name. */
static void done_saving_or_creating(gloom_status status)
{
    if (faults.struck == NULL)
        create_too();
    CHECK((status == GLOOM_OK) != (early_status == GLOOM_OK));
    CHECK_STATUS(status == GLOOM_OK ? early_status : status, status == GLOOM_OK ? GLOOM_ERR_IO : GLOOM_ERR_BUSY);
    close_other();
    check_whole(status == GLOOM_OK ? KEYS : 0);
    check_files(1);
}

/* While a file is saved, somebody renames its folder and puts a link to another one in its place. The file stays in the
 * folder that the path led to, or the save fails; the other folder is as it was. */

static unsigned swapped_early, swapped_late;

static void prepare_inner_folder(void)
{
    empty_folder();
    REQUIRE(mkdir(path_of("inner"), 0700) == 0 && mkdir(path_of("victim"), 0700) == 0);
    write_file(path_of("inner/filter"), old_bytes, old_len);
    write_file(path_of("victim/filter"), old_bytes, old_len);
}

static gloom_status save_in_inner_folder(gloom_error *error)
{
    return gloom_save(new_filter, path_of("inner/filter"), format, error);
}

static void swap_folders(void)
{
    REQUIRE(rename(path_of("inner"), path_of("moved")) == 0);
    REQUIRE(symlink("victim", path_of("inner")) == 0);
}

static void done_swapping(gloom_status status)
{
    const char *there = faults.struck == NULL ? path_of("inner/filter") : path_of("moved/filter");
    bool is_early = faults.struck != NULL && file_is(there, old_bytes, old_len);
    CHECK_OK(status);
    /* Before the folder is open, the path leads to the other one. */
    CHECK(is_early || file_is(there, new_bytes[format], new_len[format]));
    CHECK(file_is(path_of("victim/filter"), is_early ? new_bytes[format] : old_bytes, is_early ? new_len[format] : old_len));
    CHECK_U64(names_in(path_of("victim")), 1);
    swapped_late += !is_early && faults.struck != NULL;
    swapped_early += is_early;
}

static void test_swapped_folders(void)
{
    for (int hidden = 0; hidden < 2; hidden++) {
        swapped_late = swapped_early = 0;
        faults.no_unnamed_files = hidden;
        meet("a save meets a link in place of its folder", prepare_inner_folder, save_in_inner_folder, swap_folders,
             done_swapping);
        CHECK(swapped_late > 10 && swapped_early < swapped_late);
    }
    faults.no_unnamed_files = false;
}

static void test_readers_meet_writers(void)
{
    meet("a load meets an open", prepare_old, load, open_other, done_reading);
    meet("a load meets a close", prepare_open_file, load, close_other, done_reading);
    meet("a verifying map meets an open", prepare_old, open_for_reading, open_other, done_reading);
    meet("a verifying map meets a close", prepare_open_file, open_for_reading, close_other, done_reading);
    meet("a create meets a reader", prepare_nothing, create, come_early, done_creating);
    meet("a create meets a create", prepare_nothing, create, create_too, done_creating_two);
    format = GLOOM_FORMAT_NATIVE;
    meet("a save meets a create", prepare_nothing, save, create_too, done_saving_or_creating);
}

static void test_writers_meet(void)
{
    format = GLOOM_FORMAT_NATIVE;
    meet("an open meets a close", prepare_open_file, open_for_writing, close_other, done_writing);
    meet("a close meets a close", prepare_two, close_map, close_other, done_writing);
    meet("a save meets a close", prepare_open_file, save, close_other, done_saving);
    meet("a save meets another file", prepare_save_over_old, save, come_in_place, done_saving_over_another);
    meet("a save meets a create", prepare_save_over_old, save, take_away_and_create, done_saving_over_another);
    meet("a save meets a link to nothing", prepare_save_of_new, save, link_to_nothing, done_saving_over_link);
    test_create_that_is_found();
    test_swapped_folders();
    meet("an open without fallocate meets adds", prepare_without_fallocate, open_for_writing, add_many,
         done_without_fallocate);
}

/* ---- the disk fails ---- */

static void fail_to_sync(gloom_filter *filter)
{
    atomic_int errors = 1;
    faults.msync_errors = &errors;
    CHECK_STATUS(gloom_sync(filter, NULL), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)atomic_load(&errors), 0);
    faults.msync_errors = NULL;
}

/* What one writer could not write, no other takes for written: neither one that closes the file after it, nor the parent
 * of a child, to which the system does not tell it again, nor one that knows, while the first still adds. */
static void test_failed_sync(void)
{
    int status;
    CONTEXT("%s", "another writer closes last");
    map_old();
    REQUIRE(maps(GLOOM_MAP_READ_WRITE, &other));
    fail_to_sync(mapped);
    close_if_open();
    CHECK_STATUS(gloom_sync(other, NULL), GLOOM_ERR_IO);
    close_other();
    acknowledge_failure();
    check_whole(KEYS);

    CONTEXT("%s", "a child");
    map_old();
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        atomic_store(&checks_failed, 0);
        fail_to_sync(mapped);
        _exit(atomic_load(&checks_failed) != 0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_STATUS(gloom_sync(mapped, NULL), GLOOM_ERR_IO);
    close_if_open();
    acknowledge_failure();
    check_whole(KEYS);

    CONTEXT("%s", "one that knows");
    map_old();
    fail_to_sync(mapped);
    REQUIRE(maps(GLOOM_MAP_READ_WRITE | GLOOM_MAP_ALLOW_DIRTY, &other));
    CHECK_OK(gloom_sync(other, NULL));
    close_other();
    close_if_open();
    acknowledge_failure();
    check_whole(KEYS);
}

/* The recipe of docs/files.md: the filter is copied at once, and what the file may lack is merged into it. */
static void test_going_on_after_a_failed_sync(void)
{
    gloom_filter *copy = NULL;
    CONTEXT("%s", "going on after a failed sync");
    map_old();
    fail_to_sync(mapped);
    CHECK_OK(gloom_clone(mapped, &copy, NULL));
    close_if_open();
    CHECK_STATUS(gloom_map(target(), GLOOM_MAP_READ_WRITE, &mapped, NULL), GLOOM_ERR_CORRUPT);
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE | GLOOM_MAP_ALLOW_DIRTY, &mapped, NULL));
    CHECK_OK(gloom_merge(mapped, copy, NULL));
    CHECK_OK(gloom_sync(mapped, NULL));
    gloom_free(copy);
    add_numbers(mapped, KEYS, 2 * KEYS);
    CHECK_OK(gloom_sync(mapped, NULL));
    close_if_open();
    check_whole(2 * KEYS);
}

/* A writer who opens a clean file does not write over what another one has met since. */

static void open_and_fail_to_sync(void)
{
    open_other();
    fail_to_sync(other);
}

static void done_opening_slowly(gloom_status status)
{
    bool came = faults.struck != NULL;
    CHECK(status == GLOOM_OK || (came && status == GLOOM_ERR_CORRUPT));
    CHECK((status == GLOOM_OK) == (mapped != NULL));
    /* Between its last look and its writing it does; then the other one's close puts it right. */
    if (came && mapped != NULL && strcmp(faults.struck, "pwrite64") != 0)
        CHECK_STATUS(gloom_sync(mapped, NULL), GLOOM_ERR_IO);
    if (faults.at % 2 == 0)
        close_other();
    close_if_open();
    close_other();
    if (came)
        acknowledge_failure();
    check_whole(came ? KEYS : OLD_KEYS);
}

/* Of two threads that sync at the same time, each is told that the disk has failed, though the system tells it once. */

static atomic_int errors_to_tell;

static void *sync_in_thread(void *status)
{
    *(gloom_status *)status = gloom_sync(mapped, NULL);
    return NULL;
}

static void test_two_syncs(void)
{
    gloom_status statuses[2] = {GLOOM_OK, GLOOM_OK};
    pthread_t threads[2];
    CONTEXT("%s", "two syncs at the same time");
    map_old();
    atomic_store(&errors_to_tell, 1);
    faults.msync_errors = &errors_to_tell;
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, sync_in_thread, &statuses[i]) == 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    faults.msync_errors = NULL;
    CHECK_STATUS(statuses[0], GLOOM_ERR_IO);
    CHECK_STATUS(statuses[1], GLOOM_ERR_IO);
    close_if_open();
    acknowledge_failure();
    check_whole(KEYS);
}

/* When the first writer could not write that the file is dirty, the system may have forgotten that page: the next one writes
 * it again. */

/* Has the system the first page of the file still to write? (The line of a map in proc(5)'s smaps begins with its address.) */
static bool first_page_is_dirty(void)
{
    char line[256];
    unsigned kilobytes, dirty = 0;
    bool is_here = false;
    int file = open(target(), O_RDONLY);
    REQUIRE(file >= 0);
    volatile const char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    FILE *maps = fopen("/proc/self/smaps", "r");
    REQUIRE(page != MAP_FAILED && page[0] != 0 && maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        char *behind;
        unsigned long start = strtoul(line, &behind, 16);
        if (behind != line && *behind == '-')
            is_here = start == (uintptr_t)page;
        if (is_here && (sscanf(line, "Shared_Dirty: %u", &kilobytes) == 1 || sscanf(line, "Private_Dirty: %u", &kilobytes) == 1))
            dirty += kilobytes;
    }
    (void)fclose(maps);
    munmap((void *)(uintptr_t)page, 4096);
    close(file);
    return dirty > 0;
}

static bool page_was_dirty;

static void look_at_first_page(void)
{
    page_was_dirty = first_page_is_dirty();
}

/* Opens the file and closes it; a call is struck. */
static void strike_open(fault what, unsigned at)
{
    gloom_filter *filter = NULL;
    faults.error = EIO;
    faults.call = look_at_first_page;
    faults_arm(what, at);
    (void)gloom_map(target(), GLOOM_MAP_READ_WRITE, &filter, NULL);
    faults_disarm();
    REQUIRE(faults.struck != NULL);
    gloom_free(filter);
}

static void test_forgotten_mark(void)
{
    unsigned first = 0, second = 0;
    prepare_old();
    int file = open(target(), O_RDWR);
    REQUIRE(file >= 0 && fsync(file) == 0);
    if (first_page_is_dirty()) {
        printf("every page is dirty here (tmpfs): not tested\n");
        close(file);
        return;
    }
    do {
        write_file(target(), old_bytes, old_len);
        strike_open(FAULT_FAIL, ++first);
    } while (strcmp(faults.struck, "fsync") != 0);
    do {
        write_file(target(), old_bytes, old_len);
        strike_open(FAULT_FAIL, first);
        REQUIRE(fsync(file) == 0); /* as if it had forgotten the page: it has nothing to write */
        CHECK(!first_page_is_dirty());
        strike_open(FAULT_CALL, ++second);
    } while (strcmp(faults.struck, "fsync") != 0);
    CHECK(page_was_dirty);
    check_whole(OLD_KEYS);
    close(file);
}

/* ---- killed at random ---- */

/* Saves the two filters in turn until it is killed, and tells of each that is done. */
static void save_for_ever(gloom_filter *const filters[2], int tell)
{
    for (unsigned i = 0;; i++) {
        if (gloom_save(filters[i % 2], target(), i % 4 / 2 ? GLOOM_FORMAT_V1 : GLOOM_FORMAT_NATIVE, NULL) !=
                GLOOM_OK ||
            write(tell, "", 1) != 1)
            _exit(1);
    }
}

static void test_random_kills(uint64_t seed, unsigned kills)
{
    enum { BLOCKS = 10000 };
    faults.no_unnamed_files = true; /* with them, hardly any kill leaves something */
    gloom_filter *filters[2];
    uint64_t rng = seed, left = 0, unchanged = 0;
    for (int i = 0; i < 2; i++) {
        filters[i] = make_filter(GLOOM_KIND_PLAIN, BLOCKS + (uint64_t)i, K, 0);
        add_numbers(filters[i], 0, 10000);
    }
    CHECK_OK(gloom_save(filters[0], target(), GLOOM_FORMAT_NATIVE, NULL));
    for (unsigned i = 0; i < kills; i++) {
        int pipe_ends[2], status;
        char byte;
        CONTEXT("seed %" PRIu64 ", kill %u", seed, i);
        REQUIRE(pipe(pipe_ends) == 0);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0)
            save_for_ever(filters, pipe_ends[1]);
        close(pipe_ends[1]);
        for (uint64_t saves = rng_below(&rng, 3); saves > 0; saves--)
            REQUIRE(read(pipe_ends[0], &byte, 1) == 1);
        uint64_t spin = rng_below(&rng, 1 << rng_below(&rng, 22));
        for (uint64_t j = 0; j < spin; j++)
            rng_next(&rng);
        kill(child, SIGKILL);
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        close(pipe_ends[0]);

        gloom_filter *loaded = NULL;
        CHECK_OK(gloom_load(target(), NULL, &loaded, NULL));
        if (loaded != NULL)
            CHECK(gloom_equal(loaded, filters[gloom_num_blocks(loaded) - BLOCKS]));
        unchanged += loaded != NULL && gloom_equal(loaded, filters[0]);
        gloom_free(loaded);
        /* The next save, which is that of the next child or this one, removes what this one has left. */
        uint64_t names = names_in(folder);
        CHECK_BETWEEN(names, 1, 2);
        left += names > 1;
        CHECK_OK(gloom_save(filters[0], target(), GLOOM_FORMAT_NATIVE, NULL));
        CHECK_U64(names_in(folder), 1);
    }
    printf("seed %" PRIu64 ": %u kills, %" PRIu64 " in the middle of a save\n", seed, kills, left);
    /* Otherwise nothing was tested. */
    CHECK(left > 0);
    for (int i = 0; i < 2; i++)
        gloom_free(filters[i]);
}

/* ---- processes that come and go ---- */

static void come_and_go(uint64_t writer, unsigned cycles, uint64_t rng)
{
    for (unsigned i = 0; i < cycles; i++) {
        gloom_filter *map = NULL;
        if (gloom_map(target(), GLOOM_MAP_READ_WRITE, &map, NULL) != GLOOM_OK ||
            add_number(map, writer << 32 | i) != GLOOM_OK)
            _exit(1);
        if (rng_below(&rng, 4) == 0 && gloom_sync(map, NULL) != GLOOM_OK)
            _exit(2);
        gloom_free(map);
    }
    _exit(0);
}

static void test_storm(uint64_t seed, unsigned cycles)
{
    enum { WRITERS = 3 };
    pid_t children[WRITERS];
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_filter *map;
    CHECK_OK(create(NULL));
    close_if_open();
    for (uint64_t i = 0; i < WRITERS; i++) {
        children[i] = fork();
        REQUIRE(children[i] >= 0);
        if (children[i] == 0)
            come_and_go(i, cycles, seed + i);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        REQUIRE(waitpid(children[i], &status, 0) == children[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.dirty, 0);
    CHECK_U64(info.count, (uint64_t)WRITERS * cycles);
    if (maps(GLOOM_MAP_VERIFY, &map))
        for (uint64_t i = 0; i < WRITERS; i++)
            CHECK_U64(numbers_missing(map, i << 32, i << 32 | cycles), 0);
    gloom_free(map);
}

/* ---- no locks ---- */

/* Where writers cannot know of each other, none may think that it is the last: a file that says clean and is still
 * written has a wrong checksum. Refusing to map it for writing is right, too. Readers and savers need no locks. */
static void test_no_locks(void)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_error error = {0};
    prepare_old();
    faults.no_locks = true;
    if (open_for_writing(&error) == GLOOM_OK) {
        open_other();
        close_other();
        CHECK_OK(gloom_inspect(target(), &info, NULL));
        CHECK_U64(info.dirty, 1);
        add_numbers(mapped, KEYS, 2 * KEYS);
        gloom_filter *reader;
        if (maps(GLOOM_MAP_VERIFY, &reader))
            check_has_keys(reader, 2 * KEYS);
        close_if_open();
        faults.no_locks = false;
        check_whole(2 * KEYS);
        faults.no_locks = true;
    } else {
        CHECK_STATUS(error.status, GLOOM_ERR_IO);
        CHECK_U64((uint64_t)error.os_error, ENOLCK);
    }
    format = GLOOM_FORMAT_V1;
    CHECK_OK(save(NULL));
    CHECK(is_new());
    CHECK_OK(load(NULL));
    check_has_keys(mapped, KEYS);
    mapped = NULL;
    faults.no_locks = false;
}

/* ---- no renaming without replacing ---- */

/* A new file comes to its name, and to no name that is taken where hard links can be had. */
static void test_no_exclusive_rename(void)
{
    faults.no_exclusive_rename = faults.no_unnamed_files = true;
    for (int links = 1; links >= 0; links--) {
        gloom_error error = {0};
        CONTEXT("%s links", links ? "with" : "without");
        faults.no_links = !links;
        empty_folder();
        CHECK_OK(create(&error));
        close_if_open();
        check_whole(0);
        check_files(1);
        CHECK_STATUS(create(&error), GLOOM_ERR_IO);
        CHECK_U64((uint64_t)error.os_error, EEXIST);
        check_whole(0);
        is_over_old = false;
        for (format = 0; format < 2; format++) {
            prepare_save();
            CHECK_OK(save(NULL));
            CHECK(is_new());
            check_files(1);
        }
    }
    faults.no_links = false;
    meet("a create meets a create, with links", prepare_nothing, create, create_too, done_creating_two);
    faults.no_exclusive_rename = faults.no_unnamed_files = false;
}

/* ---- a full disk ---- */

static unsigned fallocates;

static void note_fallocate(const char *name, int file, void *address)
{
    (void)file, (void)address;
    fallocates += strcmp(name, "fallocate") == 0;
}

static gloom_status create_elsewhere(gloom_error *error)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    options.num_blocks = NUM_BLOCKS;
    options.k = K;
    return gloom_map_create(path_of("another"), &options, &filter, error);
}

/* What the file system says that it has not is not asked for. */
static void test_full_disk(void)
{
    gloom_error error = {0};
    prepare_sparse();
    faults.is_full = true;
    faults_arm(FAULT_NONE, 0);
    faults.after = note_fallocate;
    CHECK_STATUS(open_for_writing(&error), GLOOM_ERR_IO);
    faults_disarm();
    faults.after = NULL;
    CHECK_U64((uint64_t)error.os_error, ENOSPC);
    CHECK_U64(fallocates, 0);
    CHECK_STATUS(create_elsewhere(&error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, ENOSPC);
    check_files(1);
    faults.is_full = false;
    check_whole(OLD_KEYS);
}

/* Between the first hole that is filled and the failure, another writer comes, adds and goes. What the failed one gives back
 * is not what he has written. */

static bool has_come;

static void come_and_add(const char *name, int file, void *address)
{
    (void)file, (void)address;
    if (strcmp(name, "fallocate") != 0 || has_come)
        return;
    faults.counting = false;
    has_come = true;
    REQUIRE(maps(GLOOM_MAP_READ_WRITE, &other));
    add_numbers(other, 0, MANY_KEYS);
    close_other();
    faults.counting = true;
}

/* An empty filter whose blocks are two holes. */
static void prepare_sparse_blocks(void)
{
    enum { PAGE = 4096, MIDDLE = NATIVE_BLOCKS + 8 * PAGE };
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, MANY_BLOCKS, K, 0);
    size_t len;
    unsigned char *bytes = bytes_of(filter, GLOOM_FORMAT_NATIVE, &len);
    empty_folder();
    int file = open(target(), O_RDWR | O_CREAT, 0666);
    REQUIRE(file >= 0 && ftruncate(file, (off_t)len) == 0 && pwrite(file, bytes, PAGE, 0) == PAGE);
    REQUIRE(pwrite(file, bytes, 1, MIDDLE) == 1 && pwrite(file, "", 1, MIDDLE) == 1);
    REQUIRE(pwrite(file, bytes + len - NATIVE_TRAILER_SIZE, NATIVE_TRAILER_SIZE, (off_t)(len - NATIVE_TRAILER_SIZE)) ==
            NATIVE_TRAILER_SIZE);
    close(file);
    free(bytes);
    gloom_free(filter);
}

static void test_failing_open_meets_a_writer(void)
{
    const char *struck;
    unsigned at = 0, met = 0;
    do {
        prepare_sparse_blocks();
        has_come = false;
        faults.after = come_and_add;
        faults.error = ENOSPC;
        faults_arm(FAULT_FAIL, ++at);
        gloom_status status = open_for_writing(NULL);
        faults_disarm();
        faults.after = NULL;
        struck = faults.struck;
        CONTEXT("an open with holes fails at call %u, %s", at, struck == NULL ? "none" : struck);
        close_if_open();
        if (!has_come)
            continue;
        if (is_sync(struck))
            acknowledge_failure();
        met += status != GLOOM_OK && struck != NULL && strcmp(struck, "fallocate") == 0;
        check_whole(MANY_KEYS);
    } while (struck != NULL);
    CHECK(met > 0);
}

/* What a file may have lost is read before it is written again, all of it, whatever holes it has. */
static void test_lost_adds_and_holes(void)
{
    unsigned char another_boot[BOOT_ID_SIZE] = {1}, page[4096];
    size_t len;
    prepare_sparse_blocks();
    unsigned char *bytes = read_file(target(), &len);
    native_make_dirty(bytes, another_boot);
    memcpy(page, bytes, sizeof page);
    free(bytes);
    int file = open(target(), O_WRONLY);
    REQUIRE(file >= 0 && pwrite(file, page, sizeof page, 0) == (ssize_t)sizeof page && close(file) == 0);
    faults_arm(FAULT_NONE, 0);
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE | GLOOM_MAP_ALLOW_DIRTY, &mapped, NULL));
    faults_disarm();
    CHECK(faults.bytes_read >= len);
    close_if_open();
    check_whole(0);
}

/* ---- no boot ---- */

/* Where the boot may not be read, as in a sandbox, a file that a writer left counts as one of another boot. All else
 * works. */
static void test_no_boot(void)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    static const char *const files[] = {"missing", "empty", "folder"};
    for (int i = 0; i < 3; i++) {
        CONTEXT("the boot is %s", files[i]);
        prepare_dirty();
        write_file(path_of("empty"), "", 0);
        REQUIRE(mkdir(path_of("folder"), 0700) == 0);
        faults.boot_id = path_of(files[i]);
        CHECK_OK(gloom_inspect(target(), &info, NULL));
        CHECK_U64(info.dirty, 1);
        acknowledge_failure();
        check_whole(OLD_KEYS);
        REQUIRE(unlink(target()) == 0);
        CHECK_OK(create(NULL));
        CHECK_OK(gloom_inspect(target(), &info, NULL));
        CHECK_U64(info.dirty, 1);
        close_if_open();
        check_whole(0);
        faults.boot_id = NULL;
    }
}

/* ---- no writing of folders ---- */

/* Where the system has no way to make a folder's names durable, a save has done what it can. */
static void test_no_folder_sync(void)
{
    const char *struck;
    unsigned at = 0, met = 0;
    is_over_old = true;
    do {
        prepare_save();
        faults.error = EINVAL;
        faults_arm(FAULT_FAIL, ++at);
        gloom_status status = save(NULL);
        faults_disarm();
        struck = faults.struck;
        faults.after = NULL;
        CONTEXT("call %u, %s", at, struck == NULL ? "none" : struck);
        if (struck != NULL && strcmp(struck, "fsync") == 0) {
            met += was_named;
            CHECK_STATUS(status, was_named ? GLOOM_OK : GLOOM_ERR_IO);
            CHECK(was_named ? is_new() : is_old());
        }
    } while (struck != NULL);
    CHECK_U64(met, 1);
}

/* ---- fork ---- */

/* A child has the filter and the descriptors of its parent. Neither its end nor its gloom_free closes the parent's
 * file, and it does not keep others out once the parent has closed it. */
static void test_fork(void)
{
    for (int frees = 0; frees < 2; frees++) {
        gloom_file_info info = GLOOM_FILE_INFO_INIT;
        int status;
        CONTEXT("the child %s", frees ? "frees it" : "ends");
        map_old();
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            gloom_status added = add_number(mapped, KEYS);
            if (frees)
                gloom_free(mapped);
            _exit(added);
        }
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK(test_number(mapped, KEYS));
        CHECK_OK(gloom_inspect(target(), &info, NULL));
        CHECK_U64(info.dirty, 1);
        close_if_open();
        CHECK_OK(gloom_inspect(target(), &info, NULL));
        CHECK_U64(info.dirty, 0);
        check_whole(KEYS + 1);
    }

    CONTEXT("the child outlives the map");
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    int pipe_ends[2], status;
    char byte;
    REQUIRE(pipe(pipe_ends) == 0);
    map_old();
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(pipe_ends[1]);
        _exit((int)read(pipe_ends[0], &byte, 1)); /* until the parent closes it */
    }
    close_if_open();
    /* Nobody writes it any more, so it is clean and may be replaced. */
    gloom_filter *filter;
    if (maps(GLOOM_MAP_VERIFY, &filter))
        check_has_keys(filter, KEYS);
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.dirty, 0);
    format = GLOOM_FORMAT_NATIVE;
    CHECK_OK(save(NULL));
    CHECK(is_new());
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child that lives on has whatever its parent had open when it was made, locks too. */

static pid_t lasting_child;
static int end_of_child[2];

static void have_a_child(void)
{
    char byte;
    REQUIRE(pipe(end_of_child) == 0);
    lasting_child = fork();
    REQUIRE(lasting_child >= 0);
    if (lasting_child == 0) {
        close(end_of_child[1]);
        _exit((int)read(end_of_child[0], &byte, 1)); /* until the parent closes it */
    }
}

static void end_the_child(void)
{
    int status;
    close(end_of_child[0]);
    close(end_of_child[1]);
    REQUIRE(waitpid(lasting_child, &status, 0) == lasting_child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void prepare_damaged(void)
{
    prepare_old();
    int file = open(target(), O_WRONLY);
    REQUIRE(file >= 0 && pwrite(file, "damage", 6, NATIVE_BLOCKS + 10) == 6 && close(file) == 0);
}

/* Whether the call has succeeded or not, the next save neither waits nor finds the file in use. */
static void done_with_a_child(gloom_status status)
{
    (void)status;
    close_if_open();
    format = GLOOM_FORMAT_NATIVE;
    alarm(60); /* in place of waiting for ever */
    CHECK_OK(save(NULL));
    alarm(0);
    CHECK(is_new());
    if (faults.struck != NULL)
        end_the_child();
}

static void test_fork_meanwhile(void)
{
    meet("a save meets a fork", prepare_save_over_old, save, have_a_child, done_with_a_child);
    meet("an open meets a fork", prepare_old, open_for_writing, have_a_child, done_with_a_child);
    meet("an open of a damaged file meets a fork", prepare_damaged, open_and_verify, have_a_child,
         done_with_a_child);
}

/* The first process of a namespace maps the file; its child, which frees it, is the first one of another: both have the
 * number 1. */
static void be_the_first_of_two_namespaces(void)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    int status;
    REQUIRE(getpid() == 1);
    map_old();
    REQUIRE(unshare(CLONE_NEWPID) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        REQUIRE(getpid() == 1);
        gloom_free(mapped);
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.dirty, 1);
    close_if_open();
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.dirty, 0);
    _exit(atomic_load(&checks_failed) != 0);
}

static void test_namespaces(void)
{
    enum { NO_NAMESPACE = 77 };
    int status;
    CONTEXT("%s", "two first processes");
    pid_t outside = fork();
    REQUIRE(outside >= 0);
    if (outside == 0) {
        if (unshare(CLONE_NEWPID) != 0)
            _exit(NO_NAMESPACE);
        pid_t first = fork();
        REQUIRE(first >= 0);
        if (first == 0)
            be_the_first_of_two_namespaces();
        REQUIRE(waitpid(first, &status, 0) == first);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    REQUIRE(waitpid(outside, &status, 0) == outside);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_NAMESPACE)
        printf("no namespaces here: not tested\n");
    else
        CHECK_U64((uint64_t)WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned times = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 100;
    /* A killed process shows the same on both; waiting for a disk leaves more room for what is left to chance. */
    make_folder(argc > 2 ? ON_DISK : IN_MEMORY);
    make_filters();
    if (strcmp(what, "kill") == 0)
        each_operation(try_to_kill);
    else if (strcmp(what, "fail") == 0)
        each_operation(try_to_fail);
    else if (strcmp(what, "interrupt") == 0)
        each_operation(try_to_interrupt);
    else if (strcmp(what, "readers-meet-writers") == 0)
        test_readers_meet_writers();
    else if (strcmp(what, "writers-meet") == 0)
        test_writers_meet();
    else if (strcmp(what, "no-locks") == 0)
        test_no_locks();
    else if (strcmp(what, "no-exclusive-rename") == 0)
        test_no_exclusive_rename();
    else if (strcmp(what, "no-folder-sync") == 0)
        test_no_folder_sync();
    else if (strcmp(what, "fork") == 0)
        test_fork();
    else if (strcmp(what, "fork-meanwhile") == 0)
        test_fork_meanwhile();
    else if (strcmp(what, "namespaces") == 0)
        test_namespaces();
    else if (strcmp(what, "failed-sync") == 0) {
        test_failed_sync();
        test_going_on_after_a_failed_sync();
    }
    else if (strcmp(what, "two-syncs") == 0)
        test_two_syncs();
    else if (strcmp(what, "slow-open") == 0)
        meet("an open meets a sync that fails", prepare_old, open_for_writing, open_and_fail_to_sync, done_opening_slowly);
    else if (strcmp(what, "forgotten-mark") == 0)
        test_forgotten_mark();
    else if (strcmp(what, "full-disk") == 0) {
        test_full_disk();
        test_failing_open_meets_a_writer();
        test_lost_adds_and_holes();
    }
    else if (strcmp(what, "no-boot") == 0)
        test_no_boot();
    else if (strcmp(what, "random") == 0)
        test_random_kills(seed, times);
    else if (strcmp(what, "storm") == 0)
        test_storm(seed, times);
    return check_report();
}
