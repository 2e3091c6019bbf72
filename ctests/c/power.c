/* What is on the disk when the power fails, at every point of a save and of a map's life.
 *
 * The disk is a model: only what fsync or msync has promised is certainly on it, and of what was written since, any sector
 * may have come there or not; a name, only if its folder was synchronised. Afterwards the system has another boot id. So
 * this shows that things are made durable, and in the right order. */
#include "faults.h"

#include "filters.h"
#include "folder.h"
#include "native.h"
#include "rng.h"

enum { OLD_KEYS = 100, SYNCED_KEYS = 200, ALL_KEYS = 300, NUM_BLOCKS = 40, K = 7, MIXES = 30 };

typedef struct {
    unsigned char *bytes;
    size_t len;
} content;

static uint64_t rng = 1;

static const char *target(void)
{
    return path_of("filter");
}

static content content_of(const char *path)
{
    content now;
    now.bytes = read_file(path, &now.len);
    return now;
}

/* ---- the disk ---- */

/* A file by its inode, and what is certainly on the disk of it: what it was when it was last synchronised. */
typedef struct {
    ino_t inode;
    content safe;
} disk_file;

enum { MOST_FILES = 16 };
static disk_file disk[MOST_FILES];
static ino_t safe_inode; /* to which file the target's name certainly leads; 0 for none */

/* Which file a mapping is of. */
static struct {
    void *address;
    char path[64];
    int file; /* of our own, so that nothing that is tested shares it */
} mappings[MOST_FILES];

static void forget_disk(void)
{
    for (int i = 0; i < MOST_FILES; i++) {
        free(disk[i].safe.bytes);
        disk[i] = (disk_file){0};
        if (mappings[i].address != NULL)
            close(mappings[i].file);
        mappings[i].address = NULL;
    }
    safe_inode = 0;
}

static disk_file *on_disk(ino_t inode)
{
    for (int i = 0; i < MOST_FILES; i++) {
        if (disk[i].inode == inode || disk[i].inode == 0) {
            disk[i].inode = inode;
            return &disk[i];
        }
    }
    REQUIRE(false);
    return NULL;
}

static ino_t inode_of_target(void)
{
    return exists(target()) ? status_of(target()).st_ino : 0;
}

static void synchronised(int file)
{
    char path[64];
    struct stat status;
    REQUIRE(fstat(file, &status) == 0);
    if (S_ISDIR(status.st_mode)) {
        safe_inode = inode_of_target();
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    disk_file *it = on_disk(status.st_ino);
    free(it->safe.bytes);
    it->safe = content_of(path);
}

static void watch(const char *name, int file, void *address)
{
    if (strcmp(name, "fsync") == 0) {
        synchronised(file);
    } else if (strcmp(name, "mmap") == 0) {
        int i = 0;
        while (mappings[i].address != NULL && mappings[i].address != address)
            REQUIRE(++i < MOST_FILES);
        if (mappings[i].address != NULL)
            close(mappings[i].file);
        (void)snprintf(mappings[i].path, sizeof mappings[i].path, "/proc/self/fd/%d", file);
        mappings[i].file = open(mappings[i].path, O_RDONLY);
        REQUIRE(mappings[i].file >= 0);
        mappings[i].address = address;
    } else if (strcmp(name, "msync") == 0) {
        int i = 0;
        while (mappings[i].address != address)
            REQUIRE(++i < MOST_FILES);
        synchronised(mappings[i].file);
    }
}

/* A file that is there before, and on the disk. */
static void put_on_disk(const unsigned char *bytes, size_t len)
{
    write_file(target(), bytes, len);
    safe_inode = inode_of_target();
    on_disk(safe_inode)->safe = content_of(target());
}

/* ---- the power ---- */

/* What the target may be afterwards: one or two files, each with what is safe and what was there. */
typedef struct {
    bool none; /* no file at all */
    content safe, now;
} aftermath;

static aftermath after[2];
static int outcomes;
static uint64_t keys_promised, keys_added; /* so far */
static uint64_t promised_then, added_then; /* when the power failed */
static bool is_made, was_made;             /* the same: has the file been there, whole, and on the disk? */

static content copy_of(content it)
{
    content copy = {malloc(it.len + 1), it.len};
    REQUIRE(copy.bytes != NULL);
    if (it.len > 0)
        memcpy(copy.bytes, it.bytes, it.len);
    return copy;
}

static void cut_power(void)
{
    ino_t inode = inode_of_target();
    outcomes = 0;
    promised_then = keys_promised;
    added_then = keys_added;
    was_made = is_made;
    if (safe_inode == 0 || safe_inode != inode) {
        /* The name may still lead to what it last certainly led to. Nobody has written that since. */
        content safe = safe_inode == 0 ? (content){0} : copy_of(on_disk(safe_inode)->safe);
        after[outcomes++] = (aftermath){safe_inode == 0, safe, copy_of(safe)};
    }
    if (inode != 0)
        after[outcomes++] = (aftermath){false, copy_of(on_disk(inode)->safe), content_of(target())};
}

/* Any mixture of sectors of the two; the first two mixtures are one of them alone. */
static content mixed(const aftermath *it, int mix)
{
    content result = mix == 0 ? copy_of(it->safe) : copy_of(it->now);
    for (size_t at = 0; mix > 1 && at < result.len; at += SECTOR) {
        size_t len = result.len - at < SECTOR ? result.len - at : SECTOR;
        if (rng_below(&rng, 2) == 0)
            continue;
        memset(result.bytes + at, 0, len);
        if (at < it->safe.len)
            memcpy(result.bytes + at, it->safe.bytes + at, it->safe.len - at < len ? it->safe.len - at : len);
    }
    return result;
}

/* ---- what is tried ---- */

static gloom_filter *new_filter;
static content old_file, new_file;
static int32_t format;
static bool is_over_old;

static bool is_content(content it)
{
    return exists(target()) && file_is(target(), it.bytes, it.len);
}

static void save(void)
{
    CHECK_OK(gloom_save(new_filter, target(), format, NULL));
    keys_promised = ALL_KEYS;
}

/* The old file or the new one, whole; the new one once the save has returned. */
static void check_saved(void)
{
    bool is_old = is_over_old ? is_content(old_file) : !exists(target());
    CHECK(is_content(new_file) || (is_old && promised_then == 0));
}

static void add_up_to(gloom_filter *filter, uint64_t end)
{
    add_numbers(filter, keys_added, end);
    keys_added = end;
}

static void use(gloom_filter *filter)
{
    REQUIRE(filter != NULL);
    is_made = true;
    add_up_to(filter, SYNCED_KEYS);
    CHECK_OK(gloom_sync(filter, NULL));
    keys_promised = SYNCED_KEYS;
    add_up_to(filter, ALL_KEYS);
    gloom_free(filter);
    keys_promised = ALL_KEYS;
}

static void make_and_use(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    options.num_blocks = NUM_BLOCKS;
    options.k = K;
    CHECK_OK(gloom_map_create(target(), &options, &filter, NULL));
    use(filter);
}

static void open_and_use(void)
{
    gloom_filter *filter = NULL;
    is_made = true;
    keys_promised = keys_added = OLD_KEYS;
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE, &filter, NULL));
    use(filter);
}

/* A second writer comes while the first is opening the file, and adds. (Not while one makes or closes a file: then he
 * waits.) */
static gloom_filter *second;

static void open_only(void)
{
    gloom_filter *filter = NULL;
    is_made = true;
    keys_promised = OLD_KEYS;
    keys_added = OLD_KEYS;
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE, &filter, NULL));
    faults_disarm();
    gloom_free(filter);
    gloom_free(second);
    second = NULL;
}

static void add_and_cut_power(void)
{
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE, &second, NULL));
    add_up_to(second, SYNCED_KEYS);
    cut_power();
}

static void check_keys(gloom_filter *filter, uint64_t keys)
{
    CHECK(filter != NULL);
    if (filter != NULL)
        CHECK_U64(numbers_missing(filter, 0, keys), 0);
    gloom_free(filter);
}

/* It says clean, so it must be: also what was added last is there. */
static void check_clean(uint64_t keys)
{
    gloom_filter *filter = NULL;
    CHECK_OK(gloom_map(target(), GLOOM_MAP_VERIFY, &filter, NULL));
    check_keys(filter, keys);
    filter = NULL;
    CHECK_OK(gloom_load(target(), NULL, &filter, NULL));
    check_keys(filter, keys);
}

/* It is refused unless one says that one wants it all the same; then all that was promised is there. */
static void check_dirty(uint64_t keys)
{
    gloom_filter *filter = NULL;
    CHECK_STATUS(gloom_load(target(), NULL, &filter, NULL), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_map(target(), 0, &filter, NULL), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_map(target(), GLOOM_MAP_READ_WRITE, &filter, NULL), GLOOM_ERR_CORRUPT);
    CHECK(filter == NULL);
    gloom_status status = gloom_map(target(), GLOOM_MAP_READ_WRITE | GLOOM_MAP_ALLOW_DIRTY, &filter, NULL);
    if (!was_made && status != GLOOM_OK) {
        CHECK_STATUS(status, GLOOM_ERR_CORRUPT);
        return;
    }
    CHECK_OK(status);
    check_keys(filter, keys);
    check_clean(keys);
}

static uint64_t seen_clean, seen_dirty, seen_refused;

static void check_mapped(void)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_filter *filter = NULL;
    gloom_status status = gloom_inspect(target(), &info, NULL);
    if (status != GLOOM_OK) {
        /* Only a file that was being made may be no filter; and nothing takes it for one. */
        CHECK(!was_made);
        CHECK(gloom_map(target(), GLOOM_MAP_ALLOW_DIRTY, &filter, NULL) == status);
        CHECK(filter == NULL);
        seen_refused++;
    } else if (info.dirty) {
        check_dirty(promised_then);
        seen_dirty++;
    } else {
        check_clean(added_then);
        seen_clean++;
    }
}

/* Lets the power fail before each call of `run`, by `fail`, and at its end, and looks at all that can be on the disk
 * then. */
static void try(const char *name, bool has_old_file, void (*run)(void), void (*fail)(void), void (*check)(void))
{
    unsigned at = 0;
    const char *struck;
    do {
        at++;
        remove_tree(folder);
        REQUIRE(mkdir(folder, 0700) == 0);
        forget_disk();
        keys_promised = keys_added = 0;
        is_made = false;
        if (has_old_file)
            put_on_disk(old_file.bytes, old_file.len);
        faults.call = fail;
        faults.after = watch;
        faults_arm(FAULT_CALL, at);
        run();
        faults_disarm();
        struck = faults.struck;
        if (struck == NULL)
            cut_power();
        CHECK(outcomes > 0);

        write_file(path_of("boot"), "01234567-89ab-cdef-0123-456789abcdef\n", 37);
        faults.boot_id = path_of("boot");
        for (int i = 0; i < outcomes; i++) {
            for (int mix = 0; mix < MIXES; mix++) {
                CONTEXT("%s: the power fails at call %u (%s), outcome %d, mix %d", name, at,
                        struck == NULL ? "the end" : struck, i, mix);
                unlink(target());
                if (!after[i].none) {
                    content it = mixed(&after[i], mix);
                    write_file(target(), it.bytes, it.len);
                    free(it.bytes);
                }
                check();
            }
            free(after[i].safe.bytes);
            free(after[i].now.bytes);
        }
        faults.boot_id = NULL;
    } while (struck != NULL);
    printf("%s: %u points\n", name, at);
    CHECK(at > 5);
}

int main(int argc, char **argv)
{
    rng = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("seed %" PRIu64 "\n", rng);
    make_folder(IN_MEMORY);
    gloom_filter *old_filter = make_filter(GLOOM_KIND_PLAIN, NUM_BLOCKS, K, 0);
    add_numbers(old_filter, 0, OLD_KEYS);
    old_file.bytes = bytes_of(old_filter, GLOOM_FORMAT_NATIVE, &old_file.len);
    gloom_free(old_filter);
    new_filter = make_filter(GLOOM_KIND_PLAIN, NUM_BLOCKS, K, 0);
    add_numbers(new_filter, 0, ALL_KEYS);

    for (format = GLOOM_FORMAT_NATIVE; format <= GLOOM_FORMAT_V1; format++) {
        new_file.bytes = bytes_of(new_filter, format, &new_file.len);
        for (int i = 0; i < 2; i++) {
            is_over_old = i == 1;
            try(is_over_old ? "save over an old file" : "save", is_over_old, save, cut_power, check_saved);
        }
        free(new_file.bytes);
    }
    try("map an old file", true, open_and_use, cut_power, check_mapped);
    CHECK(seen_clean > 0 && seen_dirty > 0 && seen_refused == 0);
    try("two map an old file", true, open_only, add_and_cut_power, check_mapped);
    try("make a file", false, make_and_use, cut_power, check_mapped);
    CHECK(seen_refused > 0);
    printf("%" PRIu64 " clean, %" PRIu64 " dirty, %" PRIu64 " refused\n", seen_clean, seen_dirty, seen_refused);

    forget_disk();
    gloom_free(new_filter);
    free(old_file.bytes);
    return check_report();
}
