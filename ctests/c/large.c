/* A filter of more than 4 GiB, to files of both formats and back: where offsets, lengths and counts of 32 bits, or calls
 * to the system that take no more than 2 GiB at a time, would fail. Needs 5 GB of disk and as much memory. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <sys/statvfs.h>

#include "filters.h"
#include "folder.h"

enum { K = 7, KEYS = 2000, HIGH_KEYS = 3, ABOVE = 10000 };
static const uint64_t FIRST_ABOVE = UINT64_C(1) << 26; /* the block that begins at 4 GiB */
static const uint64_t NUM_BLOCKS = (UINT64_C(1) << 26) + ABOVE;
static const uint64_t NEEDED = UINT64_C(5) << 30;

static uint64_t high_keys[HIGH_KEYS];

static const char *target(void)
{
    return path_of("filter");
}

/* Keys whose blocks are above 4 GiB. */
static void find_high_keys(void)
{
    uint64_t number = KEYS;
    for (int i = 0; i < HIGH_KEYS; number++) {
        gloom_hash hash = gloom_hash_key(&number, sizeof number, 0);
        if (layout_block(hash, NUM_BLOCKS) >= FIRST_ABOVE)
            high_keys[i++] = number;
    }
}

static void check_has_all(const gloom_filter *filter)
{
    CHECK_U64(gloom_num_blocks(filter), NUM_BLOCKS);
    CHECK_U64(numbers_missing(filter, 0, KEYS), 0);
    for (int i = 0; i < HIGH_KEYS; i++)
        CHECK(test_number(filter, high_keys[i]));
}

static void check_map(const gloom_filter *filter)
{
    gloom_filter *map = NULL;
    CHECK_OK(gloom_map(target(), GLOOM_MAP_VERIFY, &map, NULL));
    check_has_all(map);
    CHECK(gloom_equal(map, filter));
    gloom_free(map);

    /* What a writer adds at the end is in the file and in its checksum. */
    uint64_t number = high_keys[HIGH_KEYS - 1] + 1;
    while (layout_block(gloom_hash_key(&number, sizeof number, 0), NUM_BLOCKS) < FIRST_ABOVE)
        number++;
    CHECK_OK(gloom_map(target(), GLOOM_MAP_READ_WRITE, &map, NULL));
    CHECK(!test_number(map, number));
    CHECK_OK(add_number(map, number));
    gloom_free(map);
    CHECK_OK(gloom_map(target(), GLOOM_MAP_VERIFY, &map, NULL));
    CHECK(test_number(map, number));
    gloom_free(map);
}

static void check_format(const gloom_filter *filter, int32_t format)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_filter *loaded = NULL;
    uint64_t size = 0;
    CONTEXT("format %d", (int)format);
    CHECK_OK(gloom_save(filter, target(), format, NULL));
    CHECK_OK(gloom_serialized_size(filter, format, &size, NULL));
    CHECK_U64((uint64_t)status_of(target()).st_size, size);
    CHECK_OK(gloom_inspect(target(), &info, NULL));
    CHECK_U64(info.bytes, size);
    CHECK_U64(info.num_blocks, NUM_BLOCKS);

    options.kind = GLOOM_KIND_SHARDED;
    options.max_bytes = NUM_BLOCKS * BYTES_PER_BLOCK - 1;
    CHECK_STATUS(gloom_load(target(), &options, &loaded, NULL), GLOOM_ERR_LIMIT);
    options.max_bytes++;
    CHECK_OK(gloom_load(target(), &options, &loaded, NULL));
    check_has_all(loaded);
    CHECK_U64(gloom_count(loaded), KEYS + HIGH_KEYS);
    CHECK(gloom_equal(loaded, filter));
    gloom_free(loaded);
    if (format == GLOOM_FORMAT_NATIVE)
        check_map(filter);
    unlink(target());
}

/* Of the system, now. */
static uint64_t memory_available(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL && kilobytes == 0)
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) != 1)
            kilobytes = 0;
    if (file != NULL)
        fclose(file);
    return (uint64_t)kilobytes * 1024;
}

static uint64_t disk_available(void)
{
    struct statvfs disk;
    REQUIRE(statvfs(folder, &disk) == 0);
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

int main(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    make_folder(ON_DISK);
    if (memory_available() < NEEDED || disk_available() < NEEDED) {
        printf("SKIPPED: needs %" PRIu64 " MiB of memory and of disk, has %" PRIu64 " and %" PRIu64 "\n", NEEDED >> 20,
               memory_available() >> 20, disk_available() >> 20);
        return check_report();
    }
    find_high_keys();
    options.kind = GLOOM_KIND_PLAIN;
    options.num_blocks = NUM_BLOCKS;
    options.k = K;
    options.flags = GLOOM_FLAG_SMALL_PAGES; /* pages that no key touches take no memory */
    CHECK_OK(gloom_create(&options, &filter, NULL));
    add_numbers(filter, 0, KEYS);
    for (int i = 0; i < HIGH_KEYS; i++)
        CHECK_OK(add_number(filter, high_keys[i]));
    check_has_all(filter);
    check_format(filter, GLOOM_FORMAT_NATIVE);
    check_format(filter, GLOOM_FORMAT_V1);
    gloom_free(filter);
    return check_report();
}
