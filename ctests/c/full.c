/* Disks that are full: a status, the old file as it was, no half of a new one, and no SIGBUS in a map.
 *
 * On a small file system of the program's own if it may mount one (as root, or in a user namespace); and under a limit on
 * the size of files, which any process may set. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "filters.h"
#include "folder.h"
#include "native.h"

enum {
    K = 7,
    DISK = 1 << 20,
    SMALL = (DISK / 4) / BYTES_PER_BLOCK,     /* two of these fit */
    LARGE = (DISK / 8 * 7) / BYTES_PER_BLOCK, /* fits, but not beside a small one */
    KEYS = 2000
};

static const char *target(void)
{
    return path_of("filter");
}

/* ---- a small disk ---- */

static bool write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY);
    bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return written;
}

/* Before the folder is removed, to which it clings otherwise. */
static void unmount(void)
{
    umount2(folder, MNT_DETACH);
}

/* In a name space of our own, so that it goes with the process, however that ends. */
static bool mount_small_disk(void)
{
    char size[32], users[32], groups[32];
    (void)snprintf(users, sizeof users, "0 %u 1", (unsigned)getuid());
    (void)snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getgid());
    if (unshare(CLONE_NEWNS) != 0 &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !write_text("/proc/self/setgroups", "deny") ||
         !write_text("/proc/self/uid_map", users) || !write_text("/proc/self/gid_map", groups)))
        return false;
    (void)snprintf(size, sizeof size, "size=%d", DISK);
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, size) == 0 && atexit(unmount) == 0;
}

/* Takes all space that is left. */
static void fill_disk(void)
{
    static const char bytes[4096];
    int file = open(path_of("filler"), O_WRONLY | O_CREAT, 0600);
    REQUIRE(file >= 0);
    while (write(file, bytes, sizeof bytes) == sizeof bytes)
        ;
    CHECK(errno == ENOSPC);
    close(file);
}

static void empty_disk(void)
{
    unlink(path_of("filler"));
    unlink(target());
    CHECK_U64(names_in(folder), 0);
}

static void check_io(gloom_status status, const gloom_error *error, int os_error)
{
    CHECK_STATUS(status, GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error->os_error, (uint64_t)os_error);
    CHECK_HAS(error->message, strerror(os_error));
}

static gloom_filter *filled(uint64_t num_blocks)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, num_blocks, K, 0);
    add_numbers(filter, 0, KEYS);
    return filter;
}

static gloom_status create(uint64_t num_blocks, gloom_filter **filter, gloom_error *error)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.num_blocks = num_blocks;
    options.k = K;
    return gloom_map_create(target(), &options, filter, error);
}

static void test_save_to_a_full_disk(void)
{
    gloom_filter *old = filled(SMALL), *new_filter = filled(LARGE);
    for (int32_t format = GLOOM_FORMAT_NATIVE; format <= GLOOM_FORMAT_V1; format++) {
        gloom_error error = {0};
        size_t len;
        CONTEXT("format %d", (int)format);
        CHECK_OK(gloom_save(old, target(), format, NULL));
        unsigned char *bytes = read_file(target(), &len);
        check_io(gloom_save(new_filter, target(), format, &error), &error, ENOSPC);
        CHECK(file_is(target(), bytes, len));
        CHECK_U64(names_in(folder), 1);
        /* It was the space, and it has all been given back. */
        CHECK_OK(gloom_save(old, target(), format, NULL));
        fill_disk();
        check_io(gloom_save(old, target(), format, &error), &error, ENOSPC);
        CHECK(file_is(target(), bytes, len));
        CHECK_U64(names_in(folder), 2);
        empty_disk();
        CHECK_OK(gloom_save(new_filter, target(), format, NULL));
        empty_disk();
        free(bytes);
    }
    gloom_free(old);
    gloom_free(new_filter);
}

static void test_create_on_a_full_disk(void)
{
    gloom_filter *filter = NULL;
    gloom_error error = {0};
    for (uint64_t num_blocks = DISK / BYTES_PER_BLOCK; num_blocks <= UINT64_C(1) << 40; num_blocks <<= 4) {
        CONTEXT("%" PRIu64 " blocks", num_blocks);
        check_io(create(num_blocks, &filter, &error), &error, ENOSPC);
        CHECK(filter == NULL);
        CHECK_U64(names_in(folder), 0);
    }
    CHECK_OK(create(LARGE, &filter, &error));
    gloom_free(filter);
    empty_disk();
}

/* All space was taken when the map was made, so that adds go on when the disk has filled up; to every page. */
static void test_add_on_a_full_disk(void)
{
    gloom_filter *filter = NULL;
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    REQUIRE(create(SMALL, &filter, NULL) == GLOOM_OK);
    fill_disk();
    add_numbers(filter, 0, KEYS * 10);
    CHECK_OK(gloom_sync(filter, NULL));
    gloom_free(filter);
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.dirty, 0);
    CHECK_U64(info.count, KEYS * 10);
    filter = NULL;
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &filter, NULL));
    CHECK_U64(numbers_missing(filter, 0, KEYS * 10), 0);
    add_numbers(filter, KEYS * 10, KEYS * 11);
    gloom_free(filter);
    empty_disk();
}

/* A file with holes, as some programs copy them, for which there is no space. */
static void test_map_a_sparse_file(void)
{
    size_t len;
    gloom_filter *empty = make_filter(GLOOM_KIND_PLAIN, SMALL, K, 0), *filter = NULL;
    unsigned char *bytes = bytes_of(empty, GLOOM_FORMAT_NATIVE, &len);
    gloom_error error = {0};
    int file = open(target(), O_RDWR | O_CREAT, 0600);
    REQUIRE(file >= 0 && ftruncate(file, (off_t)len) == 0);
    REQUIRE(pwrite(file, bytes, NATIVE_PADDING, 0) == NATIVE_PADDING);
    REQUIRE(pwrite(file, bytes + len - NATIVE_TRAILER_SIZE, NATIVE_TRAILER_SIZE,
                   (off_t)(len - NATIVE_TRAILER_SIZE)) == NATIVE_TRAILER_SIZE);
    close(file);
    fill_disk();
    check_io(gloom_map(target(), GLOOM_MAP_READ_WRITE, &filter, &error), &error, ENOSPC);
    CHECK(filter == NULL);
    CHECK(file_is(target(), bytes, len));
    CHECK_OK(gloom_load(target(), NULL, &filter, NULL));
    CHECK(gloom_equal(filter, empty));
    gloom_free(filter);
    unlink(path_of("filler"));
    filter = NULL;
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE, &filter, NULL));
    fill_disk();
    add_numbers(filter, 0, KEYS * 10);
    CHECK_U64(numbers_missing(filter, 0, KEYS * 10), 0);
    gloom_free(filter);
    empty_disk();
    gloom_free(empty);
    free(bytes);
}

/* ---- a limit on the size of files ---- */

static void test_file_size_limit(void)
{
    enum { LIMIT = 200000, FITS = 1000 };
    struct rlimit limit, no_limit;
    gloom_filter *old = filled(FITS), *new_filter = filled(LARGE), *filter = NULL;
    gloom_error error = {0};
    size_t len;
    REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && getrlimit(RLIMIT_FSIZE, &no_limit) == 0);

    /* A large file that is there already is mapped and closed under the limit. */
    CHECK_OK(gloom_save(new_filter, path_of("large"), GLOOM_FORMAT_NATIVE, NULL));
    CHECK_OK(gloom_map(path_of("large"), GLOOM_MAP_READ_WRITE, &filter, NULL));
    add_numbers(filter, KEYS, 2 * KEYS);

    limit = no_limit;
    limit.rlim_cur = LIMIT;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    gloom_free(filter);
    filter = NULL;
    for (int32_t format = GLOOM_FORMAT_NATIVE; format <= GLOOM_FORMAT_V1; format++) {
        CONTEXT("format %d", (int)format);
        CHECK_OK(gloom_save(old, target(), format, NULL));
        unsigned char *bytes = read_file(target(), &len);
        check_io(gloom_save(new_filter, target(), format, &error), &error, EFBIG);
        CHECK(file_is(target(), bytes, len));
        CHECK_U64(names_in(folder), 2);
        free(bytes);
    }
    unlink(target());
    check_io(create(LARGE, &filter, &error), &error, EFBIG);
    CHECK(filter == NULL);
    CHECK_U64(names_in(folder), 1);
    CHECK_OK(create(FITS, &filter, &error));
    gloom_free(filter);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &no_limit) == 0);

    /* Its trailer could not be written when it was closed, but nothing calls it clean, and nothing is lost. */
    filter = NULL;
    CHECK_OK(gloom_map(path_of("large"), GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &filter, NULL));
    CHECK_U64(numbers_missing(filter, 0, 2 * KEYS), 0);
    gloom_free(filter);
    filter = NULL;
    CHECK_OK(gloom_map(path_of("large"), GLOOM_MAP_VERIFY, &filter, NULL));
    CHECK_U64(numbers_missing(filter, 0, 2 * KEYS), 0);
    gloom_free(filter);
    gloom_free(old);
    gloom_free(new_filter);
}

/* ---- a stream ---- */

static int64_t write_to_file(void *context, const void *data, size_t len)
{
    ssize_t written = write(*(int *)context, data, len);
    return written < 0 ? -errno : written;
}

/* The error of a callback comes through. */
static void test_full_stream(void)
{
    gloom_filter *filter = filled(10);
    gloom_error error = {0};
    int file = open("/dev/full", O_WRONLY);
    REQUIRE(file >= 0);
    check_io(gloom_write(filter, GLOOM_FORMAT_NATIVE, write_to_file, &file, &error), &error, ENOSPC);
    close(file);
    gloom_free(filter);
}

int main(void)
{
    make_folder(ON_DISK);
    test_file_size_limit();
    test_full_stream();
    remove_tree(folder);
    REQUIRE(mkdir(folder, 0700) == 0);
    /* The last, since it changes what this process sees of the world. */
    bool has_disk = mount_small_disk();
    if (has_disk) {
        test_save_to_a_full_disk();
        test_create_on_a_full_disk();
        test_add_on_a_full_disk();
        test_map_a_sparse_file();
        CHECK(umount(folder) == 0);
    }
    int code = check_report();
    printf("with a limit on files, /dev/full and %s\n",
           has_disk ? "a file system of 1 MiB" : "NO small file system: this user may not mount one");
    return code;
}
