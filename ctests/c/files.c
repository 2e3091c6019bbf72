/* Filters in files: what is saved is loaded, whatever the format and the kinds; and a save that fails leaves the old
 * file as it was, and nothing beside it. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "filters.h"
#include "loaders.h"
#include "native.h"
#include "processes.h"

enum { WATCHDOG_SECONDS = 600 };

static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)

/* -- saved and loaded -- */

/* A filter that a file tells everything about. */
static gloom_filter *planned_filter(int32_t kind, uint64_t seed)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    options.kind = kind;
    options.expected_items = 3000;
    options.fp_rate = 0.001;
    options.seed = seed;
    CHECK_OK(gloom_create(&options, &filter, NULL));
    REQUIRE(filter != NULL);
    add_numbers(filter, 0, 3000);
    add_numbers(filter, 0, 50); /* the count is of adds */
    return filter;
}

static void check_info(const char *path, const gloom_filter *filter, int32_t format)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    CHECK_OK(gloom_inspect(path, &info, NULL));
    CHECK_U64((uint64_t)info.format, (uint64_t)format);
    CHECK_U64(info.k, gloom_k(filter));
    CHECK_U64(info.num_blocks, gloom_num_blocks(filter));
    CHECK_U64(info.seed, gloom_seed(filter));
    CHECK_U64(info.count, gloom_count(filter));
    CHECK_U64(info.bytes, (uint64_t)status_of(path).st_size);
    CHECK_U64(info.expected_items, format == GLOOM_FORMAT_V1 ? 0 : gloom_expected_items(filter));
    CHECK_F64(info.fp_rate, format == GLOOM_FORMAT_V1 ? 0.0 : gloom_fp_rate(filter));
    CHECK_U64(info.dirty, 0);
    CHECK_U64(info.hash, (uint64_t)gloom_hash_kind(filter));
}

static void any_kind_as_any_other(int32_t format, int32_t from, uint64_t seed)
{
    const char *path = path_of("filter");
    size_t len;
    CONTEXT("format %d, from kind %d, seed %" PRIu64, (int)format, (int)from, seed);
    gloom_filter *saved = planned_filter(from, seed);
    for (int again = 0; again < 2; again++) { /* the second time over the first file */
        CHECK_OK(gloom_save(saved, path, format, NULL));
        CHECK_U64(names_in(folder), 1);
    }
    check_info(path, saved, format);

    /* A file, a buffer and a stream hold the same bytes. */
    unsigned char *bytes = bytes_of(saved, format, &len);
    stream out = {0};
    CHECK(file_is(path, bytes, len));
    CHECK_OK(gloom_write(saved, format, stream_write, &out, NULL));
    CHECK(out.len == len && memcmp(out.bytes, bytes, len) == 0);
    CHECK_U64(out.odd_calls, 0);
    free(out.bytes);

    for (int to = 0; to < KIND_COUNT; to++) {
        for (int way = 0; way < LOADER_COUNT; way++) {
            gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
            gloom_filter *loaded = NULL;
            CONTEXT("format %d, from kind %d, seed %" PRIu64 ", to kind %d by %s", (int)format, (int)from,
                    seed, (int)KINDS[to], LOADERS[way].name);
            options.kind = KINDS[to];
            CHECK_OK(LOADERS[way].load(bytes, len, &options, &loaded, NULL));
            REQUIRE(loaded != NULL);
            CHECK(gloom_equal(loaded, saved));
            CHECK_U64((uint64_t)gloom_kind_of(loaded), (uint64_t)KINDS[to]);
            CHECK_U64(gloom_seed(loaded), seed);
            CHECK_U64(gloom_count(loaded), 3050);
            CHECK_U64(gloom_expected_items(loaded), format == GLOOM_FORMAT_V1 ? 0 : 3000);
            CHECK_F64(gloom_fp_rate(loaded), format == GLOOM_FORMAT_V1 ? 0.0 : 0.001);
            CHECK(!gloom_is_mapped(loaded) && !gloom_is_read_only(loaded));
            CHECK_U64(numbers_missing(loaded, 0, 3000), 0);

            /* It is a filter like any other. */
            add_numbers(loaded, 3000, 3100);
            CHECK_U64(numbers_missing(loaded, 3000, 3100), 0);
            CHECK_U64(gloom_count(loaded), 3150);
            gloom_free(loaded);
        }
    }
    free(bytes);
    gloom_free(saved);
    unlink(path);
    CONTEXT("%s", "");
}

/* Bytes are copied 256 blocks at a time; every k. */
static void any_size_and_k(int32_t format)
{
    static const uint64_t sizes[] = {1, 2, 255, 256, 257, 511, 512, 1000, 70000};
    const char *path = path_of("filter");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t k = (uint32_t)(LAYOUT_MIN_K + 7 * i % 15);
        gloom_filter *loaded = NULL, *saved = make_filter(KINDS[i % KIND_COUNT], sizes[i], k, 0);
        CONTEXT("format %d, %" PRIu64 " blocks, k %u", (int)format, sizes[i], k);
        add_numbers(saved, 0, 5 * sizes[i]);
        CHECK_OK(gloom_save(saved, path, format, NULL));
        check_info(path, saved, format);
        CHECK_U64((uint64_t)status_of(path).st_size,
                  format == GLOOM_FORMAT_V1 ? 25 + 64 * sizes[i] : native_size(sizes[i]));
        CHECK_OK(gloom_load(path, NULL, &loaded, NULL));
        REQUIRE(loaded != NULL);
        CHECK(gloom_equal(loaded, saved));
        CHECK_U64((uint64_t)gloom_kind_of(loaded), GLOOM_KIND_ATOMIC);
        CHECK_U64(gloom_count(loaded), 5 * sizes[i]);
        gloom_free(loaded);
        gloom_free(saved);
    }
    for (uint32_t k = LAYOUT_MIN_K; k <= LAYOUT_MAX_K; k++) {
        gloom_filter *loaded = NULL, *saved = make_filter(GLOOM_KIND_PLAIN, 40, k, 0);
        CONTEXT("format %d, k %u", (int)format, k);
        add_numbers(saved, 0, 300);
        CHECK_OK(gloom_save(saved, path, format, NULL));
        CHECK_OK(gloom_load(path, NULL, &loaded, NULL));
        CHECK(gloom_equal(loaded, saved));
        CHECK_U64(gloom_k(loaded), k);
        CHECK_U64(numbers_missing(loaded, 0, 300), 0);
        gloom_free(loaded);
        gloom_free(saved);
    }
    unlink(path);
    CONTEXT("%s", "");
}

/* The native format byte for byte. */
static void the_native_bytes(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    size_t len, zeros = 0;
    options.expected_items = 1000;
    options.fp_rate = 0.01;
    options.seed = 0x1122334455667788;
    CHECK_OK(gloom_create(&options, &filter, NULL));
    add_numbers(filter, 0, 1234);
    unsigned char *file = bytes_of(filter, GLOOM_FORMAT_NATIVE, &len);
    double fp_rate = 0.01;
    uint64_t fp_rate_bits;
    memcpy(&fp_rate_bits, &fp_rate, 8);
    CHECK_U64(len, native_size(gloom_num_blocks(filter)));
    CHECK(memcmp(file, "\x89GLM\r\n\x1a\n", 8) == 0);
    CHECK_U64(get_little_endian(file + NATIVE_VERSION, 4), 1);
    CHECK_U64(get_little_endian(file + NATIVE_LAYOUT, 4), 1);
    CHECK_U64(get_little_endian(file + NATIVE_HASH, 4), 1);
    CHECK_U64(get_little_endian(file + NATIVE_K, 4), gloom_k(filter));
    CHECK_U64(get_little_endian(file + NATIVE_NUM_BLOCKS, 8), gloom_num_blocks(filter));
    CHECK_U64(get_little_endian(file + NATIVE_SEED, 8), 0x1122334455667788);
    CHECK_U64(get_little_endian(file + NATIVE_EXPECTED_ITEMS, 8), 1000);
    CHECK_U64(get_little_endian(file + NATIVE_FP_RATE, 8), fp_rate_bits);
    CHECK_U64(get_little_endian(file + NATIVE_OFFSET, 8), NATIVE_BLOCKS);
    CHECK_U64(get_little_endian(file + NATIVE_HEADER_CRC, 4), crc32c(file, NATIVE_HEADER_CRC));
    CHECK_U64(get_little_endian(file + NATIVE_COUNT, 8), 1234);
    CHECK_U64(get_little_endian(file + NATIVE_STATE_CRC, 4), crc32c(file + NATIVE_COUNT, 44));
    for (size_t i = 0; i < NATIVE_BLOCKS; i++)
        zeros += file[i] == 0 && ((i >= NATIVE_RESERVED && i < NATIVE_HEADER_CRC) ||
                                  (i >= NATIVE_FLAGS && i < NATIVE_STATE_CRC) || i >= NATIVE_LIVE_COUNT);
    CHECK_U64(zeros, NATIVE_BLOCKS - NATIVE_RESERVED - 4 - 8 - 4);
    CHECK(memcmp(file + NATIVE_BLOCKS, gloom_blocks(filter),
                 (size_t)gloom_num_blocks(filter) * BYTES_PER_BLOCK) == 0);
    const unsigned char *trailer = file + len - NATIVE_TRAILER_SIZE;
    CHECK(memcmp(trailer, "GLOOMEND", 8) == 0);
    CHECK_U64(get_little_endian(trailer + 8, 4),
              crc32c(file + NATIVE_PADDING, len - NATIVE_PADDING - NATIVE_TRAILER_SIZE));
    CHECK_U64(get_little_endian(trailer + 12, 4), crc32c(trailer, 12));
    free(file);
    gloom_free(filter);
}

/* -- options -- */

static void load_options(int32_t format, int way)
{
    enum { BLOCKS = 300, BYTES = BLOCKS * BYTES_PER_BLOCK };
    static const struct {
        int32_t kind;
        uint32_t flags, num_shards, reserved;
        uint64_t max_bytes;
        gloom_status want;
        const char *name;
    } cases[] = {
        {0, 0, 0, 0, 0, GLOOM_OK, ""},
        {0, GLOOM_FLAG_SMALL_PAGES, 0, 0, BYTES, GLOOM_OK, ""},
        {GLOOM_KIND_SHARDED, 0, 1, 0, BYTES + 1, GLOOM_OK, ""},
        {GLOOM_KIND_SHARDED, 0, 256, 0, UINT64_MAX, GLOOM_OK, ""},
        {GLOOM_KIND_PLAIN, GLOOM_FLAG_SMALL_PAGES, 0, 0, (uint64_t)1 << 63, GLOOM_OK, ""},
        {0, 0, 0, 0, BYTES - 1, GLOOM_ERR_LIMIT, "max_bytes = 19199"},
        {0, 0, 0, 0, 1, GLOOM_ERR_LIMIT, "19200"},
        {-1, 0, 0, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "kind = -1"},
        {4, 0, 0, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "kind = 4"},
        {0, 2, 0, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "flags = 2"},
        {0, 0x80000001, 0, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "flags"},
        {0, 0, 0, 1, 0, GLOOM_ERR_INVALID_ARGUMENT, "reserved = 1"},
        {0, 0, 1, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "num_shards = 1"},
        {GLOOM_KIND_PLAIN, 0, 2, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "num_shards = 2"},
        {GLOOM_KIND_SHARDED, 0, 3, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "num_shards = 3"},
        {GLOOM_KIND_SHARDED, 0, 512, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "num_shards = 512"},
        {GLOOM_KIND_SHARDED, 0, 131072, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "num_shards = 131072"},
    };
    gloom_filter *saved = make_filter(GLOOM_KIND_PLAIN, BLOCKS, 7, 0);
    size_t len;
    add_numbers(saved, 0, 1000);
    unsigned char *bytes = bytes_of(saved, format, &len);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
        gloom_filter *loaded = NO_FILTER;
        gloom_error error;
        CONTEXT("format %d, %s, case %zu", (int)format, LOADERS[way].name, i);
        options.kind = cases[i].kind;
        options.flags = cases[i].flags;
        options.num_shards = cases[i].num_shards;
        options.reserved = cases[i].reserved;
        options.max_bytes = cases[i].max_bytes;
        CHECK_STATUS(LOADERS[way].load(bytes, len, &options, &loaded, &error), cases[i].want);
        if (cases[i].want != GLOOM_OK) {
            CHECK(loaded == NO_FILTER);
            CHECK_STATUS(error.status, cases[i].want);
            CHECK_HAS(error.message, cases[i].name);
            continue;
        }
        CHECK(gloom_equal(loaded, saved));
        CHECK(cases[i].num_shards == 0 || gloom_num_shards(loaded) == cases[i].num_shards);
        gloom_free(loaded);
    }
    CONTEXT("format %d, %s", (int)format, LOADERS[way].name);
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_filter *loaded = NO_FILTER;
    options.struct_size--;
    CHECK_STATUS(LOADERS[way].load(bytes, len, &options, &loaded, NULL), GLOOM_ERR_INVALID_ARGUMENT);
    struct {
        gloom_load_options options;
        uint64_t later;
    } longer = {GLOOM_LOAD_OPTIONS_INIT, 1};
    longer.options.struct_size = sizeof longer;
    CHECK_STATUS(LOADERS[way].load(bytes, len, &longer.options, &loaded, NULL), GLOOM_ERR_UNSUPPORTED);
    CHECK(loaded == NO_FILTER);
    free(bytes);
    gloom_free(saved);
    CONTEXT("%s", "");
}

/* -- where to -- */

static gloom_filter *small_filter(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 40, 7, 0);
    add_numbers(filter, 0, 100);
    return filter;
}

/* The save fails with an error of the system: this one, or any but none for 0. */
static void refuse_save(const char *path, int os_error, int line)
{
    gloom_filter *filter = small_filter();
    filter_state before = state_of(filter);
    for (int format = 0; format < FORMAT_COUNT; format++) {
        gloom_error error;
        memset(&error, 0x5a, sizeof error);
        CONTEXT("saving to \"%.80s\", format %d", path, (int)FORMATS[format]);
        check_status(gloom_save(filter, path, FORMATS[format], &error), GLOOM_ERR_IO, "gloom_save", __FILE__,
                     line);
        check_status(error.status, GLOOM_ERR_IO, "error.status", __FILE__, line);
        check_that(error.os_error == os_error || (os_error == 0 && error.os_error > 0), strerror(os_error),
                   __FILE__, line);
        check_that(memchr(error.message, 0, sizeof error.message) != NULL && error.message[0] != 0,
                   "a message", __FILE__, line);
        check_status(gloom_save(filter, path, FORMATS[format], NULL), GLOOM_ERR_IO, "gloom_save", __FILE__,
                     line);
        CONTEXT("%s", "");
    }
    CHECK(is_still(filter, before));
    gloom_free(filter);
}
#define REFUSE_SAVE(path, os_error) refuse_save((path), (os_error), __LINE__)

static void targets_that_cannot_be(void)
{
    char long_name[300], path[2 * PATH_ROOM];
    static char long_path[6000];
    write_file(path_of("file"), "text", 4);
    REQUIRE(mkdir(path_of("inner"), 0777) == 0);
    write_file(path_of("inner/file"), "text", 4);

    REFUSE_SAVE(path_of("missing/file"), ENOENT);
    REFUSE_SAVE(path_of("inner"), EISDIR);
    REFUSE_SAVE(path_of("inner/"), EISDIR);
    REFUSE_SAVE(path_of("inner/."), EISDIR);
    REFUSE_SAVE(path_of("inner/.."), EISDIR);
    REFUSE_SAVE(path_of("file/below"), ENOTDIR);
    REFUSE_SAVE(path_of("file/"), ENOTDIR);
    REFUSE_SAVE(path_of("new/"), 0);
    REFUSE_SAVE("", ENOENT);
    REFUSE_SAVE("/", EISDIR);
    REFUSE_SAVE(".", EISDIR);
    REFUSE_SAVE("..", EISDIR);
    if (exists("/proc/self"))
        REFUSE_SAVE("/proc/gloom-cannot-be-here", ENOENT);

    memset(long_name, 'n', sizeof long_name);
    long_name[256] = 0;
    (void)snprintf(path, sizeof path, "%s/%s", folder, long_name);
    REFUSE_SAVE(path, ENAMETOOLONG);
    memset(long_path, '/', sizeof long_path - 1);
    memcpy(long_path, folder, strlen(folder));
    memcpy(long_path + sizeof long_path - 5, "file", 4);
    REFUSE_SAVE(long_path, ENAMETOOLONG);

    CHECK_U64(names_in(folder), 2);
    CHECK_U64(names_in(path_of("inner")), 1);
    CHECK(file_is(path_of("file"), "text", 4));
    remove_tree(path_of("inner"));
    unlink(path_of("file"));
}

/* Would a save to it replace what is no file? Nobody wants a device to go, or to wait for who reads a pipe. */
static void targets_that_are_no_files(void)
{
    struct stat status;
    REQUIRE(mkfifo(path_of("pipe"), 0666) == 0);
    REFUSE_SAVE(path_of("pipe"), 0);
    CHECK(S_ISFIFO(status_of(path_of("pipe")).st_mode));
    unlink(path_of("pipe"));

    /* Another node for /dev/null, if one can be made here; through a link, so that nothing is lost if not. */
    REQUIRE(stat("/dev/null", &status) == 0);
    if (mknod(path_of("device"), S_IFCHR | 0666, status.st_rdev) == 0) {
        REFUSE_SAVE(path_of("device"), 0);
        CHECK(S_ISCHR(status_of(path_of("device")).st_mode));
        unlink(path_of("device"));
    }
    CHECK_U64(names_in(folder), 0);
}

/* Saves the filter to a path and loads it from there. */
static void save_and_load(const char *path)
{
    gloom_filter *filter = small_filter();
    for (int format = 0; format < FORMAT_COUNT; format++) {
        gloom_filter *loaded = NULL;
        CONTEXT("saving to \"%.80s\", format %d", path, (int)FORMATS[format]);
        CHECK_OK(gloom_save(filter, path, FORMATS[format], NULL));
        CHECK_OK(gloom_load(path, NULL, &loaded, NULL));
        CHECK(gloom_equal(loaded, filter));
        gloom_free(loaded);
        CONTEXT("%s", "");
    }
    gloom_free(filter);
}

static void unusual_names(void)
{
    char name[256], path[2 * PATH_ROOM];
    static const size_t lengths[] = {1, 199, 200, 201, 220, 254, 255};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memset(name, 'n', lengths[i]);
        name[lengths[i]] = 0;
        (void)snprintf(path, sizeof path, "%s/%s", folder, name);
        save_and_load(path);
        CHECK_U64(names_in(folder), 1);
        unlink(path);
    }
    static const char *const names[] = {".hidden", "with space", "-n", "\xff\xfe\x01", "a.b.c", "new\nline"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        save_and_load(path_of(names[i]));
        CHECK_U64(names_in(folder), 1);
        unlink(path_of(names[i]));
    }
    save_and_load(path_of(".//./file"));
    unlink(path_of("file"));

    /* Relative to where the process is. */
    char here[4096];
    REQUIRE(getcwd(here, sizeof here) != NULL);
    REQUIRE(chdir(folder) == 0);
    REQUIRE(mkdir("inner", 0777) == 0);
    save_and_load("file");
    save_and_load("./file");
    save_and_load("inner/file");
    save_and_load("inner/../file");
    CHECK(exists(path_of("file")) && exists(path_of("inner/file")));
    CHECK_U64(names_in("."), 2);
    CHECK_U64(names_in("inner"), 1);
    REQUIRE(chdir(here) == 0);
    remove_tree(path_of("inner"));
    unlink(path_of("file"));
}

static bool is_link_to(const char *path, const char *target)
{
    char text[PATH_ROOM];
    ssize_t len = readlink(path, text, sizeof text - 1);
    if (len < 0)
        return false;
    text[len] = 0;
    return strcmp(text, target) == 0;
}

static void links(void)
{
    char real[2 * PATH_ROOM];
    REQUIRE(mkdir(path_of("inner"), 0777) == 0);
    (void)snprintf(real, sizeof real, "%s/inner/real", folder);
    write_file(real, "old", 3);
    REQUIRE(symlink("inner/real", path_of("relative")) == 0);
    REQUIRE(symlink(real, path_of("absolute")) == 0);
    REQUIRE(symlink("relative", path_of("chain")) == 0);
    save_and_load(path_of("relative"));
    save_and_load(path_of("absolute"));
    save_and_load(path_of("chain"));
    CHECK(is_link_to(path_of("relative"), "inner/real"));
    CHECK(is_link_to(path_of("absolute"), real));
    CHECK(is_link_to(path_of("chain"), "relative"));
    CHECK(S_ISREG(status_of(real).st_mode) && status_of(real).st_size > 3);
    CHECK_U64(names_in(folder), 4);
    CHECK_U64(names_in(path_of("inner")), 1);

    /* To a file that is not there yet, as every editor's save: the link stays and the file comes. */
    unlink(real);
    save_and_load(path_of("relative"));
    CHECK(is_link_to(path_of("relative"), "inner/real"));
    CHECK(exists(real));
    unlink(real);
    save_and_load(path_of("absolute"));
    CHECK(is_link_to(path_of("absolute"), real));
    CHECK(exists(real));

    /* Nowhere, and in a circle. */
    REQUIRE(symlink("missing/file", path_of("nowhere")) == 0);
    REFUSE_SAVE(path_of("nowhere"), ENOENT);
    CHECK(is_link_to(path_of("nowhere"), "missing/file"));
    REQUIRE(symlink("circle", path_of("circle")) == 0);
    REFUSE_SAVE(path_of("circle"), ELOOP);
    CHECK(is_link_to(path_of("circle"), "circle"));
    unlink(path_of("nowhere"));
    unlink(path_of("circle"));

    /* A link to a folder. */
    REQUIRE(symlink("inner", path_of("to-folder")) == 0);
    REFUSE_SAVE(path_of("to-folder"), EISDIR);
    save_and_load(path_of("to-folder/new"));
    CHECK_U64(names_in(path_of("inner")), 2);
    unlink(path_of("to-folder"));

    /* A second name keeps the old file: the new one is another file. */
    write_file(real, "old", 3);
    REQUIRE(link(real, path_of("second")) == 0);
    save_and_load(real);
    CHECK(file_is(path_of("second"), "old", 3));
    CHECK_U64(names_in(folder), 5);
    unlink(path_of("second"));
    unlink(path_of("chain"));
    unlink(path_of("relative"));
    unlink(path_of("absolute"));
    remove_tree(path_of("inner"));
    CHECK_U64(names_in(folder), 0);
}

static void permissions(void)
{
    static const mode_t modes[] = {0600, 0644, 0640, 0444, 0666, 0755, 0604};
    const char *path = path_of("file");
    gloom_filter *filter = small_filter();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        mode_t mask = umask(i % 2 == 0 ? 0077 : 0);
        CONTEXT("mode %o", (unsigned)modes[i]);
        write_file(path, "old", 3);
        REQUIRE(chmod(path, modes[i]) == 0);
        CHECK_OK(gloom_save(filter, path, GLOOM_FORMAT_V1, NULL));
        CHECK_U64(status_of(path).st_mode & 07777, modes[i]);
        unlink(path);

        /* Of a new file: as of any that a program makes. */
        CHECK_OK(gloom_save(filter, path, GLOOM_FORMAT_V1, NULL));
        CHECK_U64(status_of(path).st_mode & 07777, i % 2 == 0 ? 0600 : 0666);
        unlink(path);
        umask(mask);
    }
    CONTEXT("%s", "");
    gloom_free(filter);
}

/* -- saves that fail half way -- */

/* No more than so many bytes can be written: as on a disk that is full after as many. */
static void limited_file_size(process *parent)
{
    (void)parent;
    static const rlim_t limits[] = {0, 1, 127, 128, 191, 192, 4096, 65535, 65536, 65537, 66000, 68000};
    gloom_filter *filter = small_filter();
    gloom_error error;
    REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    write_file(path_of("old"), "the old file", 12);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        for (int format = 0; format < FORMAT_COUNT; format++) {
            struct rlimit limit;
            uint64_t size = 0;
            CONTEXT("files of %u bytes at most, format %d", (unsigned)limits[i], (int)FORMATS[format]);
            CHECK_OK(gloom_serialized_size(filter, FORMATS[format], &size, NULL));
            REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
            limit.rlim_cur = limits[i];
            REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
            gloom_status status = gloom_save(filter, path_of("old"), FORMATS[format], &error);
            gloom_status status_of_new = gloom_save(filter, path_of("new"), FORMATS[format], NULL);
            limit.rlim_cur = limit.rlim_max;
            REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
            CHECK_STATUS(status, size > limits[i] ? GLOOM_ERR_IO : GLOOM_OK);
            CHECK_STATUS(status_of_new, status);
            CHECK(exists(path_of("new")) == (status == GLOOM_OK));
            if (status == GLOOM_OK) {
                CHECK_U64((uint64_t)status_of(path_of("old")).st_size, size);
                write_file(path_of("old"), "the old file", 12);
            } else {
                CHECK_U64((uint64_t)error.os_error, EFBIG);
                CHECK(file_is(path_of("old"), "the old file", 12));
            }
            unlink(path_of("new"));
            CHECK_U64(names_in(folder), 1);
        }
    }
    unlink(path_of("old"));
    gloom_free(filter);
}

/* The process may have only a few files open: each open of the save fails in turn. */
static void limited_open_files(process *parent)
{
    (void)parent;
    gloom_filter *filter = small_filter();
    int first_free = open("/dev/null", O_RDONLY), more = 0, failed = 0;
    REQUIRE(first_free >= 0);
    close(first_free);
    write_file(path_of("old"), "the old file", 12);
    for (;; more++) {
        struct rlimit limit;
        gloom_error error;
        gloom_file_info info = GLOOM_FILE_INFO_INIT;
        gloom_filter *loaded = NO_FILTER;
        CONTEXT("%d open files", more);
        REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
        rlim_t old = limit.rlim_cur;
        limit.rlim_cur = (rlim_t)(first_free + more);
        REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        gloom_status status = gloom_save(filter, path_of("old"), GLOOM_FORMAT_NATIVE, &error);
        gloom_status status_of_new = gloom_save(filter, path_of("new"), GLOOM_FORMAT_NATIVE, NULL);
        gloom_status load = gloom_load(path_of("old"), NULL, &loaded, NULL);
        gloom_status inspect = gloom_inspect(path_of("old"), &info, NULL);
        limit.rlim_cur = old;
        REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK_STATUS(load, more < 2 ? GLOOM_ERR_IO : status == GLOOM_OK ? GLOOM_OK : GLOOM_ERR_UNSUPPORTED);
        CHECK_STATUS(inspect, load);
        if (load == GLOOM_OK)
            gloom_free(loaded);
        else
            CHECK(loaded == NO_FILTER);
        CHECK(exists(path_of("new")) == (status_of_new == GLOOM_OK));
        unlink(path_of("new"));
        CHECK_U64(names_in(folder), 1);
        if (status == GLOOM_OK)
            break;
        failed++;
        CHECK_STATUS(status, GLOOM_ERR_IO);
        CHECK_U64((uint64_t)error.os_error, EMFILE);
        CHECK(file_is(path_of("old"), "the old file", 12));
        write_file(path_of("old"), "the old file", 12);
    }
    CHECK(failed > 0 && more < 10);
    unlink(path_of("old"));
    gloom_free(filter);
}

/* A folder that cannot be written to. The superuser can write to any, so be somebody else. */
static void read_only_folder(process *parent)
{
    (void)parent;
    gloom_filter *filter = small_filter(), *loaded = NULL;
    gloom_error error;
    REQUIRE(mkdir(path_of("closed"), 0777) == 0);
    REQUIRE(chmod(folder, 0755) == 0);
    CHECK_OK(gloom_save(filter, path_of("closed/old"), GLOOM_FORMAT_V1, NULL));
    REQUIRE(chmod(path_of("closed/old"), 0644) == 0 && chmod(path_of("closed"), 0555) == 0);
    if (geteuid() == 0)
        REQUIRE(setegid(65534) == 0 && seteuid(65534) == 0);
    CHECK_STATUS(gloom_save(filter, path_of("closed/old"), GLOOM_FORMAT_NATIVE, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EACCES);
    CHECK_STATUS(gloom_save(filter, path_of("closed/new"), GLOOM_FORMAT_NATIVE, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EACCES);
    if (getuid() == 0)
        REQUIRE(seteuid(0) == 0 && setegid(0) == 0);
    REQUIRE(chmod(path_of("closed"), 0755) == 0);
    CHECK_U64(names_in(path_of("closed")), 1);
    CHECK_OK(gloom_load(path_of("closed/old"), NULL, &loaded, NULL));
    CHECK(gloom_equal(loaded, filter));
    gloom_free(loaded);
    gloom_free(filter);
    remove_tree(path_of("closed"));
}

/* A file that may be replaced, because the folder is one's own, and written but not read keeps its permissions. One that
 * may be neither could be mapped by whoever may: it is not replaced. */
static void unreadable_old_file(process *parent)
{
    (void)parent;
    gloom_filter *filter = small_filter();
    gloom_error error;
    REQUIRE(mkdir(path_of("own"), 0777) == 0 && chmod(path_of("own"), 0777) == 0);
    REQUIRE(chmod(folder, 0755) == 0);
    if (geteuid() == 0)
        REQUIRE(setegid(65534) == 0 && seteuid(65534) == 0);
    write_file(path_of("own/old"), "old", 3);
    REQUIRE(chmod(path_of("own/old"), 0) == 0);
    CHECK(open(path_of("own/old"), O_RDONLY) == -1 && errno == EACCES);
    CHECK_STATUS(gloom_save(filter, path_of("own/old"), GLOOM_FORMAT_NATIVE, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EACCES);
    CHECK_U64((uint64_t)status_of(path_of("own/old")).st_size, 3);
    REQUIRE(chmod(path_of("own/old"), 0222) == 0);
    CHECK(open(path_of("own/old"), O_RDONLY) == -1 && errno == EACCES);
    CHECK_STATUS(gloom_save(filter, path_of("own/old"), GLOOM_FORMAT_NATIVE, &error), GLOOM_OK);
    CHECK_U64(status_of(path_of("own/old")).st_mode & 07777, 0222);
    CHECK((uint64_t)status_of(path_of("own/old")).st_size > 3);
    CHECK_U64(names_in(path_of("own")), 1);
    if (getuid() == 0)
        REQUIRE(seteuid(0) == 0 && setegid(0) == 0);
    gloom_free(filter);
    remove_tree(path_of("own"));
}

/* A file that the superuser has mapped for writing is not replaced by somebody who may replace it, whether he may write it
 * or not even that. */
static void old_file_that_others_have_mapped(process *parent)
{
    static const struct {
        mode_t mode;
        gloom_status status;
        int os_error;
    } CASES[] = {{0644, GLOOM_ERR_BUSY, 0}, {0622, GLOOM_ERR_BUSY, 0}, {0600, GLOOM_ERR_IO, EACCES}};
    (void)parent;
    gloom_filter *filter = small_filter(), *map = NULL;
    gloom_error error;
    if (geteuid() != 0) {
        gloom_free(filter);
        return;
    }
    REQUIRE(chmod(folder, 0755) == 0);
    REQUIRE(mkdir(path_of("shared"), 0777) == 0 && chmod(path_of("shared"), 0777) == 0);
    CHECK_OK(gloom_save(filter, path_of("shared/mapped"), GLOOM_FORMAT_NATIVE, NULL));
    CHECK_OK(gloom_map(path_of("shared/mapped"), GLOOM_MAP_READ_WRITE, &map, NULL));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        CONTEXT("mode %o", (unsigned)CASES[i].mode);
        REQUIRE(chmod(path_of("shared/mapped"), CASES[i].mode) == 0);
        ino_t inode = status_of(path_of("shared/mapped")).st_ino;
        REQUIRE(setegid(65534) == 0 && seteuid(65534) == 0);
        gloom_status status = gloom_save(filter, path_of("shared/mapped"), GLOOM_FORMAT_NATIVE, &error);
        REQUIRE(seteuid(0) == 0 && setegid(0) == 0);
        CHECK_STATUS(status, CASES[i].status);
        CHECK_U64((uint64_t)error.os_error, (uint64_t)CASES[i].os_error);
        CHECK_U64(status_of(path_of("shared/mapped")).st_ino, inode);
        CHECK_U64(names_in(path_of("shared")), 1);
    }
    CONTEXT("%s", "");
    gloom_free(map);
    gloom_free(filter);
    remove_tree(path_of("shared"));
}

/* Files that one may only read, or not even that. */
static void files_of_others(process *parent)
{
    gloom_filter *filter = small_filter(), *out = NULL;
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_error error;
    size_t len;
    (void)parent;
    REQUIRE(chmod(folder, 0755) == 0);
    for (int readable = 0; readable < 2; readable++) {
        const char *path = path_of(readable ? "readable" : "secret");
        CHECK_OK(gloom_save(filter, path, GLOOM_FORMAT_NATIVE, NULL));
        REQUIRE(chmod(path, readable ? 0444 : 0) == 0);
    }
    if (geteuid() == 0)
        REQUIRE(setegid(65534) == 0 && seteuid(65534) == 0);
    for (uint32_t more = 0; more <= GLOOM_MAP_VERIFY; more += GLOOM_MAP_VERIFY) {
        CHECK_STATUS(gloom_map(path_of("readable"), GLOOM_MAP_READ_WRITE | more, &out, &error), GLOOM_ERR_IO);
        CHECK_U64((uint64_t)error.os_error, EACCES);
        CHECK_STATUS(gloom_map(path_of("secret"), more, &out, &error), GLOOM_ERR_IO);
        CHECK_U64((uint64_t)error.os_error, EACCES);
    }
    CHECK_STATUS(gloom_load(path_of("secret"), NULL, &out, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EACCES);
    CHECK_STATUS(gloom_inspect(path_of("secret"), &info, &error), GLOOM_ERR_IO);
    CHECK(out == NULL);
    CHECK_OK(gloom_map(path_of("readable"), GLOOM_MAP_VERIFY, &out, NULL));
    CHECK(gloom_equal(out, filter));
    gloom_free(out);
    CHECK_OK(gloom_load(path_of("readable"), NULL, &out, NULL));
    CHECK(gloom_equal(out, filter));
    gloom_free(out);
    if (getuid() == 0)
        REQUIRE(seteuid(0) == 0 && setegid(0) == 0);
    unsigned char *bytes = bytes_of(filter, GLOOM_FORMAT_NATIVE, &len);
    REQUIRE(chmod(path_of("secret"), 0600) == 0);
    CHECK(file_is(path_of("readable"), bytes, len) && file_is(path_of("secret"), bytes, len));
    unlink(path_of("readable"));
    unlink(path_of("secret"));
    free(bytes);
    gloom_free(filter);
}

/* -- where from -- */

static void refuse_load(const char *path, gloom_status want, int os_error, const char *message, int line)
{
    gloom_filter *loaded = NO_FILTER;
    gloom_file_info info = GLOOM_FILE_INFO_INIT, before;
    gloom_error error;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = sizeof info;
    before = info;
    CONTEXT("loading \"%.80s\"", path);
    check_status(gloom_load(path, NULL, &loaded, &error), want, "gloom_load", __FILE__, line);
    check_status(error.status, want, "error.status", __FILE__, line);
    check_u64((uint64_t)error.os_error, (uint64_t)os_error, "error.os_error", __FILE__, line);
    check_has(error.message, message, __FILE__, line);
    check_status(gloom_inspect(path, &info, NULL), want, "gloom_inspect", __FILE__, line);
    check_that(memcmp(&info, &before, sizeof info) == 0, "info untouched", __FILE__, line);
    for (uint32_t flags = 0; flags < 8; flags++) {
        gloom_status status = gloom_map(path, flags, &loaded, &error);
        check_that(status == GLOOM_ERR_IO || status == want, "gloom_map refuses", __FILE__, line);
        check_status(error.status, status, "error.status", __FILE__, line);
        check_that(status != GLOOM_ERR_IO || error.os_error > 0, "error.os_error", __FILE__, line);
    }
    check_that(loaded == NO_FILTER, "out untouched", __FILE__, line);
    CONTEXT("%s", "");
}
#define REFUSE_LOAD(path, want, os_error, message) refuse_load((path), (want), (os_error), (message), __LINE__)

static void sources_that_are_no_filters(void)
{
    char text[2 * PATH_ROOM];
    write_file(path_of("empty"), "", 0);
    write_file(path_of("text"), "a text\n", 7);
    write_file(path_of("short"), "\x89GLM\r\n\x1a\n", 8);
    memset(text, 'n', 300);
    text[300] = 0;
    REFUSE_LOAD(path_of("missing"), GLOOM_ERR_IO, ENOENT, "opening");
    REFUSE_LOAD(path_of("missing/file"), GLOOM_ERR_IO, ENOENT, "opening");
    REFUSE_LOAD(path_of("text/file"), GLOOM_ERR_IO, ENOTDIR, "opening");
    REFUSE_LOAD(path_of(text), GLOOM_ERR_IO, ENAMETOOLONG, "opening");
    REFUSE_LOAD("", GLOOM_ERR_IO, ENOENT, "opening");
    REFUSE_LOAD(folder, GLOOM_ERR_IO, EISDIR, "folder");
    REFUSE_LOAD(path_of("empty"), GLOOM_ERR_CORRUPT, 0, "0 bytes");
    REFUSE_LOAD(path_of("text"), GLOOM_ERR_UNSUPPORTED, 0, "97");
    REFUSE_LOAD(path_of("short"), GLOOM_ERR_CORRUPT, 0, "8 bytes");
    REFUSE_LOAD("/dev/null", GLOOM_ERR_IO, ENODEV, "a device");
    REFUSE_LOAD("/dev/zero", GLOOM_ERR_IO, ENODEV, "a device");
    unlink(path_of("empty"));
    unlink(path_of("text"));
    unlink(path_of("short"));
    CHECK_U64(names_in(folder), 0);

    /* Nobody writes to this pipe, and nobody waits for it, also not behind a link. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(mkfifo(path_of("pipe"), 0666) == 0);
    REQUIRE(symlink("pipe", path_of("link")) == 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.100s", path_of("socket"));
    REQUIRE(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    REFUSE_LOAD(path_of("pipe"), GLOOM_ERR_IO, ENODEV, "a FIFO");
    REFUSE_LOAD(path_of("link"), GLOOM_ERR_IO, ENODEV, "gloom_read");
    REFUSE_LOAD(path_of("socket"), GLOOM_ERR_IO, ENODEV, "a socket");
    CHECK_U64(names_in(folder), 3);
    unlink(path_of("pipe"));
    unlink(path_of("link"));
    unlink(path_of("socket"));
    close(listener);

    /* Whoever asks for devices gets them. */
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_filter *loaded = NO_FILTER;
    gloom_error error;
    options.flags = GLOOM_FLAG_SPECIAL_FILES;
    CHECK_STATUS(gloom_load("/dev/null", &options, &loaded, &error), GLOOM_ERR_CORRUPT);
    CHECK_HAS(error.message, "0 bytes");
    CHECK_STATUS(gloom_load("/dev/zero", &options, &loaded, &error), GLOOM_ERR_UNSUPPORTED);
    CHECK_STATUS(gloom_load(folder, &options, &loaded, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EISDIR);
    CHECK(loaded == NO_FILTER);
}

typedef struct {
    const unsigned char *bytes;
    size_t len;
    int to; /* the end of a pipe without a name, or -1 */
    bool all_taken;
} pipe_contents;

/* Writes to a pipe in little pieces. Not all may be wanted. */
static void *pipe_writer(void *argument)
{
    pipe_contents *contents = argument;
    uint64_t rng = contents->len;
    int pipe = contents->to >= 0 ? contents->to : open(path_of("pipe"), O_WRONLY);
    REQUIRE(pipe >= 0);
    size_t at = 0;
    while (at < contents->len) {
        size_t most = contents->len - at < 3000 ? contents->len - at : 3000;
        ssize_t n = write(pipe, contents->bytes + at, 1 + (size_t)rng_below(&rng, most));
        if (n < 0)
            break;
        at += (size_t)n;
    }
    contents->all_taken = at == contents->len;
    close(pipe);
    return NULL;
}

/* From a FIFO, which one has to ask for; or from a pipe without a name, as /dev/stdin may be. */
static bool is_unnamed;

static gloom_status load_from_pipe(const unsigned char *bytes, size_t len, const gloom_load_options *options,
                                   gloom_filter **out, gloom_error *error)
{
    pipe_contents contents = {bytes, len, -1, false};
    gloom_load_options with_flag = GLOOM_LOAD_OPTIONS_INIT;
    char path[64];
    pthread_t thread;
    int ends[2] = {-1, -1};
    if (options != NULL)
        with_flag = *options;
    with_flag.flags |= GLOOM_FLAG_SPECIAL_FILES;
    if (is_unnamed) {
        REQUIRE(pipe(ends) == 0);
        contents.to = ends[1];
        (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    }
    REQUIRE(pthread_create(&thread, NULL, pipe_writer, &contents) == 0);
    gloom_status status = is_unnamed ? gloom_load(path, options, out, error)
                                     : gloom_load(path_of("pipe"), &with_flag, out, error);
    close(ends[0]); /* so that its writer does not wait */
    REQUIRE(pthread_join(thread, NULL) == 0);
    CHECK(status != GLOOM_OK || contents.all_taken);
    return status;
}

/* A pipe has no length to look at first, brings little at a time, and is a filter's own. */
static void pipes(int32_t format)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, 3000, 7, 0), *loaded = NULL;
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_error error;
    size_t len;
    CONTEXT("a pipe %s, format %d", is_unnamed ? "without a name" : "with a name", (int)format);
    REQUIRE(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    REQUIRE(mkfifo(path_of("pipe"), 0666) == 0);
    add_numbers(filter, 0, 10000);
    unsigned char *bytes = bytes_of(filter, format, &len);
    bytes = realloc(bytes, len + 1);
    REQUIRE(bytes != NULL);
    bytes[len] = 1;

    CHECK_OK(load_from_pipe(bytes, len, NULL, &loaded, &error));
    CHECK(gloom_equal(loaded, filter));
    gloom_free(loaded);

    loaded = NO_FILTER;
    CHECK_STATUS(load_from_pipe(bytes, len + 1, NULL, &loaded, &error), GLOOM_ERR_CORRUPT);
    CHECK_HAS(error.message, "followed");
    CHECK_STATUS(load_from_pipe(bytes, len - 1, NULL, &loaded, &error), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(load_from_pipe(bytes, len / 2, NULL, &loaded, &error), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(load_from_pipe(bytes, 0, NULL, &loaded, &error), GLOOM_ERR_CORRUPT);
    if (format == GLOOM_FORMAT_V1) {
        CHECK_STATUS(load_from_pipe(bytes, len - 4, NULL, &loaded, &error), GLOOM_ERR_CORRUPT);
        CHECK_HAS(error.message, "cut");
        CHECK_HAS(error.message, "release");
    }
    options.max_bytes = 3000 * BYTES_PER_BLOCK - 1;
    CHECK_STATUS(load_from_pipe(bytes, len, &options, &loaded, &error), GLOOM_ERR_LIMIT);
    CHECK(loaded == NO_FILTER);

    unlink(path_of("pipe"));
    free(bytes);
    gloom_free(filter);
    CONTEXT("%s", "");
}

/* -- v1 holds no seed -- */

static void seeds(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, 10, 7, 4711), *loaded = NULL;
    gloom_error error;
    stream out = {0};
    add_numbers(filter, 0, 30);
    write_file(path_of("file"), "the old file", 12);
    CHECK_STATUS(gloom_save(filter, path_of("file"), GLOOM_FORMAT_V1, &error), GLOOM_ERR_UNSUPPORTED);
    CHECK_HAS(error.message, "seed = 4711");
    CHECK_STATUS(gloom_write(filter, GLOOM_FORMAT_V1, stream_write, &out, &error), GLOOM_ERR_UNSUPPORTED);
    CHECK_HAS(error.message, "seed = 4711");
    CHECK_U64(out.calls, 0);
    CHECK(file_is(path_of("file"), "the old file", 12));
    CHECK_U64(names_in(folder), 1);
    CHECK_OK(gloom_save(filter, path_of("file"), GLOOM_FORMAT_NATIVE, &error));
    CHECK_OK(gloom_load(path_of("file"), NULL, &loaded, &error));
    CHECK(gloom_equal(loaded, filter));
    CHECK_U64(gloom_seed(loaded), 4711);
    CHECK_U64(numbers_missing(loaded, 0, 30), 0);
    gloom_free(loaded);
    gloom_free(filter);
    unlink(path_of("file"));
}

int main(void)
{
    alarm(WATCHDOG_SECONDS); /* a wait that does not end ends the program */
    make_folder(ON_DISK);
    the_native_bytes();
    for (int format = 0; format < FORMAT_COUNT; format++) {
        for (int kind = 0; kind < KIND_COUNT; kind++)
            any_kind_as_any_other(FORMATS[format], KINDS[kind], 0);
        any_size_and_k(FORMATS[format]);
        for (int way = 0; way < LOADER_COUNT; way++)
            load_options(FORMATS[format], way);
        for (int unnamed = 0; unnamed < 2; unnamed++) {
            is_unnamed = unnamed;
            pipes(FORMATS[format]);
        }
    }
    for (int kind = 0; kind < KIND_COUNT; kind++)
        any_kind_as_any_other(GLOOM_FORMAT_NATIVE, KINDS[kind], UINT64_MAX);
    targets_that_cannot_be();
    targets_that_are_no_files();
    unusual_names();
    links();
    permissions();
    in_a_process(limited_file_size);
    in_a_process(limited_open_files);
    in_a_process(read_only_folder);
    in_a_process(unreadable_old_file);
    in_a_process(old_file_that_others_have_mapped);
    in_a_process(files_of_others);
    sources_that_are_no_filters();
    seeds();
    CHECK_U64(names_in(folder), 0);
    return check_report();
}
