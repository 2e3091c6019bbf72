/* Programs that were built with the first release's header have that release's structs, whatever library they run with.
 * These are written out here and never change; today's begin with the same fields. No function writes beyond them, each
 * that reads one takes it as it is, and none looks at what lies behind.
 *
 * What fails here breaks such programs: docs/abi.md. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "folder.h"
#include "native.h"
#include "streams.h"

/* -- the structs of the first release -- */

typedef struct {
    size_t struct_size;
    int32_t kind;
    uint32_t flags;
    uint64_t expected_items;
    double fp_rate;
    uint64_t num_blocks;
    uint32_t k;
    uint32_t num_shards;
    uint64_t seed;
    uint64_t max_bytes;
    uint64_t block_multiple;
} first_options;

typedef struct {
    size_t struct_size;
    int32_t kind;
    uint32_t flags;
    uint32_t num_shards;
    uint32_t reserved;
    uint64_t max_bytes;
} first_load_options;

typedef struct {
    size_t struct_size;
    uint32_t flags;
    uint32_t reserved;
    uint64_t max_bytes;
} first_map_options;

typedef struct {
    size_t struct_size;
    uint64_t num_blocks;
    uint64_t bytes;
    double fp_rate;
    double bits_per_item;
    uint32_t k;
    uint32_t reserved;
} first_sizing;

typedef struct {
    size_t struct_size;
    int32_t format;
    uint32_t k;
    uint64_t num_blocks;
    uint64_t seed;
    uint64_t count;
    uint64_t bytes;
    uint64_t expected_items;
    double fp_rate;
    uint32_t dirty;
    uint32_t hash;
} first_file_info;

#define STAYS(name, field)                                                                                   \
    _Static_assert(offsetof(gloom_##name, field) == offsetof(first_##name, field) &&                         \
                       sizeof(((gloom_##name *)0)->field) == sizeof(((first_##name *)0)->field),             \
                   "gloom_" #name "." #field " has moved")
#define ONLY_GROWS(name)                                                                                     \
    _Static_assert(sizeof(gloom_##name) >= sizeof(first_##name) &&                                           \
                       _Alignof(gloom_##name) == _Alignof(first_##name),                                     \
                   "gloom_" #name " has shrunk")

STAYS(options, struct_size);
STAYS(options, kind);
STAYS(options, flags);
STAYS(options, expected_items);
STAYS(options, fp_rate);
STAYS(options, num_blocks);
STAYS(options, k);
STAYS(options, num_shards);
STAYS(options, seed);
STAYS(options, max_bytes);
STAYS(options, block_multiple);
ONLY_GROWS(options);

STAYS(load_options, struct_size);
STAYS(load_options, kind);
STAYS(load_options, flags);
STAYS(load_options, num_shards);
STAYS(load_options, reserved);
STAYS(load_options, max_bytes);
ONLY_GROWS(load_options);

STAYS(map_options, struct_size);
STAYS(map_options, flags);
STAYS(map_options, reserved);
STAYS(map_options, max_bytes);
ONLY_GROWS(map_options);

STAYS(sizing, struct_size);
STAYS(sizing, num_blocks);
STAYS(sizing, bytes);
STAYS(sizing, fp_rate);
STAYS(sizing, bits_per_item);
STAYS(sizing, k);
STAYS(sizing, reserved);
ONLY_GROWS(sizing);

STAYS(file_info, struct_size);
STAYS(file_info, format);
STAYS(file_info, k);
STAYS(file_info, num_blocks);
STAYS(file_info, seed);
STAYS(file_info, count);
STAYS(file_info, bytes);
STAYS(file_info, expected_items);
STAYS(file_info, fp_rate);
STAYS(file_info, dirty);
STAYS(file_info, hash);
ONLY_GROWS(file_info);

/* Without a size of their own they cannot even grow. */
_Static_assert(sizeof(gloom_error) == 512 && offsetof(gloom_error, os_error) == 4 &&
                   offsetof(gloom_error, message) == 8,
               "gloom_error has changed");
_Static_assert(sizeof(gloom_hash) == 16 && offsetof(gloom_hash, hi) == 8, "gloom_hash has changed");

/* -- what lies behind them -- */

enum { CANARIES = 512, CANARY = 0x5a, BLOCKS = 10, K = 7 };

/* Memory for a struct of this size, which ends in bytes that are nobody's business. All of it is canaries at first. */
static void *room_for(size_t size)
{
    void *room = malloc(size + CANARIES);
    REQUIRE(room != NULL);
    memset(room, CANARY, size + CANARIES);
    return room;
}

static void check_canaries(const void *room, size_t size, int line)
{
    const unsigned char *bytes = room;
    size_t changed = 0;
    for (size_t i = size; i < size + CANARIES; i++)
        changed += bytes[i] != CANARY;
    check_u64(changed, 0, "the number of bytes written behind the struct", __FILE__, line);
}
#define CHECK_CANARIES(older) check_canaries((older), sizeof *(older), __LINE__)

/* An options struct of the first release, without options. */
static void *unset(size_t size)
{
    void *older = room_for(size);
    memset(older, 0, size);
    memcpy(older, &size, sizeof size);
    return older;
}

/* -- the calls -- */

/* This one is not told a size, so that it can never write more than the first release did. */
static void options_init(void)
{
    first_options *options = room_for(sizeof *options);
    gloom_options_init((gloom_options *)options);
    CHECK_CANARIES(options);
    CHECK_U64(options->struct_size, sizeof *options);
    first_options *zeros = unset(sizeof *zeros);
    CHECK(memcmp(options, zeros, sizeof *zeros) == 0);
    free(zeros);
    free(options);
}

static void sizing(void)
{
    first_sizing *sizing = room_for(sizeof *sizing);
    sizing->struct_size = sizeof *sizing;
    CHECK_OK(gloom_size_for(1000, 0.01, (gloom_sizing *)sizing, NULL));
    CHECK_CANARIES(sizing);
    CHECK_U64(sizing->struct_size, sizeof *sizing);
    CHECK_U64(sizing->bytes, sizing->num_blocks * BYTES_PER_BLOCK);
    CHECK_U64(sizing->k, 7);
    CHECK_BETWEEN(sizing->fp_rate, 0.001, 0.01);
    CHECK_U64(sizing->reserved, 0);
    free(sizing);
}

/* Each call takes the struct, and its last field counts. */
static void creating(void)
{
    first_options *options = unset(sizeof *options);
    gloom_filter *filter = NULL;
    options->num_blocks = BLOCKS;
    options->k = K;
    options->block_multiple = 16;
    CHECK_OK(gloom_create((gloom_options *)options, &filter, NULL));
    CHECK_U64(gloom_num_blocks(filter), 16);
    gloom_free(filter);
    CHECK_OK(gloom_map_create(path_of("new"), (gloom_options *)options, &filter, NULL));
    CHECK_U64(gloom_num_blocks(filter), 16);
    gloom_free(filter);
    unlink(path_of("new"));
    CHECK_CANARIES(options);

    gloom_options_init((gloom_options *)options); /* as such a program does */
    options->expected_items = 1000;
    options->fp_rate = 0.01;
    CHECK_OK(gloom_create((gloom_options *)options, &filter, NULL));
    CHECK_U64(gloom_expected_items(filter), 1000);
    gloom_free(filter);
    CHECK_CANARIES(options);
    free(options);
}

static void loading(const gloom_filter *filter)
{
    first_load_options *options = unset(sizeof *options);
    const gloom_load_options *today = (gloom_load_options *)options;
    gloom_filter *loaded = NULL;
    size_t len;
    unsigned char *bytes = bytes_of(filter, GLOOM_FORMAT_NATIVE, &len);
    for (int fits = 0; fits <= 1; fits++) {
        gloom_status want = fits ? GLOOM_OK : GLOOM_ERR_LIMIT;
        stream in = stream_of(bytes, len);
        options->max_bytes = BLOCKS * BYTES_PER_BLOCK - 1 + (uint64_t)fits;
        loaded = NULL;
        CHECK_STATUS(gloom_deserialize(bytes, len, today, &loaded, NULL), want);
        CHECK(gloom_equal(loaded, filter) == fits);
        gloom_free(loaded);
        loaded = NULL;
        CHECK_STATUS(gloom_read(stream_read, &in, today, &loaded, NULL), want);
        CHECK(gloom_equal(loaded, filter) == fits);
        gloom_free(loaded);
        loaded = NULL;
        CHECK_STATUS(gloom_load(path_of("file"), today, &loaded, NULL), want);
        CHECK(gloom_equal(loaded, filter) == fits);
        gloom_free(loaded);
    }
    CHECK_CANARIES(options);
    free(bytes);
    free(options);
}

static void mapping(const gloom_filter *filter)
{
    first_map_options *options = unset(sizeof *options);
    for (int fits = 0; fits <= 1; fits++) {
        gloom_filter *mapped = NULL;
        options->max_bytes = BLOCKS * BYTES_PER_BLOCK - 1 + (uint64_t)fits;
        CHECK_STATUS(gloom_map_with_options(path_of("file"), (gloom_map_options *)options, &mapped, NULL),
                     fits ? GLOOM_OK : GLOOM_ERR_LIMIT);
        CHECK(gloom_equal(mapped, filter) == fits);
        gloom_free(mapped);
    }
    CHECK_CANARIES(options);
    free(options);
}

static void inspecting(void)
{
    first_file_info *info = room_for(sizeof *info);
    info->struct_size = sizeof *info;
    CHECK_OK(gloom_inspect(path_of("file"), (gloom_file_info *)info, NULL));
    CHECK_CANARIES(info);
    CHECK_U64(info->struct_size, sizeof *info);
    CHECK_U64((uint64_t)info->format, GLOOM_FORMAT_NATIVE);
    CHECK_U64(info->k, K);
    CHECK_U64(info->num_blocks, BLOCKS);
    CHECK_U64(info->seed, 5);
    CHECK_U64(info->count, 50);
    CHECK_U64(info->bytes, native_size(BLOCKS));
    CHECK_U64(info->expected_items, 0);
    CHECK_F64(info->fp_rate, 0.0);
    CHECK_U64(info->dirty, 0);
    CHECK_U64(info->hash, GLOOM_HASH_XXH3);
    free(info);
}

int main(void)
{
    options_init();
    sizing();
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, BLOCKS, K, 5);
    make_folder(ON_DISK);
    add_numbers(filter, 0, 50);
    CHECK_OK(gloom_save(filter, path_of("file"), GLOOM_FORMAT_NATIVE, NULL));
    creating();
    loading(filter);
    mapping(filter);
    inspecting();
    gloom_free(filter);
    return check_report();
}
