/* Every exported function, and in each a panic at every point at which the library may be made to panic. The call says
 * so by its status or its safe value, and the filter goes on: what it held it holds, it can be written (no shard stays
 * owned) and freed (nothing leaks; a tool watches). Needs a library with these points: see src/panics.rs.
 *
 * Prints the functions, each with the number of its panics. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "folder.h"
#include "native.h"
#include "streams.h"

uint64_t gloom_panic_tests_arm(uint64_t at);

enum { BLOCKS = 600, K = 7, OLD = 300, N = 200, WATCHDOG_SECONDS = 120 };

static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)

/* What the functions are called with. */
static int32_t kind;
static gloom_filter *filter, *source; /* the first has the numbers below OLD, the second those from OLD to 2 * OLD - 1 */
static gloom_filter *planned;         /* for 1000 keys at 0.01 */
static gloom_filter *made;            /* by the call */
static unsigned char *bytes;          /* of `source` */
static size_t bytes_len;
static gloom_error error;
static uint64_t numbers[N]; /* new ones, as a batch */
static int32_t offsets32[N + 1];
static int64_t offsets64[N + 1];
static const void *keys[N];
static size_t lens[N];
static gloom_hash hashes[N];
static uint8_t results[N];
static size_t hits;

static bool has_panicked; /* the call that was made last */

/* No more panics; whether there was one. */
static bool disarm(void)
{
    has_panicked = gloom_panic_tests_arm(0) == 0;
    return has_panicked;
}

/* The call's status. */
static void status_is_right(gloom_status status)
{
    CHECK_STATUS(status, disarm() ? GLOOM_ERR_PANIC : GLOOM_OK);
}

/* The status of a call that explains itself. */
static void explained(gloom_status status)
{
    status_is_right(status);
    if (has_panicked) {
        CHECK_STATUS(error.status, GLOOM_ERR_PANIC);
        CHECK_U64((uint64_t)error.os_error, 0);
        CHECK_HAS(error.message, "a bug in gloom was caught");
    } else {
        CHECK_STATUS(error.status, 4711); /* untouched */
    }
}

/* The status of a call that makes a filter. */
static void made_is_right(gloom_status status)
{
    explained(status);
    CHECK((made == NO_FILTER) == has_panicked);
    if (!has_panicked)
        gloom_free(made);
}

static void new_is_right(gloom_filter *new_filter)
{
    CHECK((new_filter == NULL) == disarm());
    gloom_free(new_filter);
}

static void tested(gloom_status status)
{
    status_is_right(status);
    uint64_t found = 0;
    for (int i = 0; i < N; i++)
        found += results[i];
    CHECK_U64(hits, has_panicked ? N : found);
    CHECK_U64(found, has_panicked ? N : hits);
    CHECK(has_panicked || found < N / 2); /* none of them is in */
}

/* The value is `normal`, or `safe` after a panic. */
#define VALUE(call, normal, safe)                                                                            \
    do {                                                                                                     \
        const uint64_t value = (uint64_t)(call);                                                             \
        CHECK_U64(value, disarm() ? (uint64_t)(safe) : (uint64_t)(normal));                                  \
    } while (0)
#define RATE(call, low, high, safe)                                                                          \
    do {                                                                                                     \
        const double rate = (call);                                                                          \
        const bool panicked = disarm();                                                                      \
        CHECK_BETWEEN(rate, panicked ? (safe) : (low), panicked ? (safe) : (high));                          \
    } while (0)
#define STRING(call, normal, safe)                                                                           \
    do {                                                                                                     \
        const char *const string = (call);                                                                   \
        CHECK_STRING(string, disarm() ? (safe) : (normal));                                                  \
    } while (0)

static gloom_options new_options(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.kind = kind;
    options.num_blocks = BLOCKS;
    options.k = K;
    return options;
}

static void save_source(void)
{
    REQUIRE(gloom_save(source, path_of("file"), GLOOM_FORMAT_NATIVE, NULL) == GLOOM_OK);
}

/* A map of it, whatever is armed. */
static gloom_filter *map_file(uint32_t flags)
{
    uint64_t at = gloom_panic_tests_arm(0);
    gloom_filter *mapped = NULL;
    REQUIRE(gloom_map(path_of("file"), flags, &mapped, NULL) == GLOOM_OK);
    gloom_panic_tests_arm(at);
    return mapped;
}

/* -- the calls; each name is that of the function -- */

#define CALL(name) static void call_##name(void)

CALL(gloom_status_string) { STRING(gloom_status_string(GLOOM_OK), "success", "unknown status"); }
CALL(gloom_version) { VALUE(gloom_version(), GLOOM_VERSION, 0); }
CALL(gloom_version_string) { STRING(gloom_version_string(), GLOOM_VERSION_STRING, ""); }
CALL(gloom_abi_version) { VALUE(gloom_abi_version(), GLOOM_ABI_VERSION, 0); }

CALL(gloom_new) { new_is_right(gloom_new(1000, 0.01)); }
CALL(gloom_new_atomic) { new_is_right(gloom_new_atomic(1000, 0.01)); }
CALL(gloom_new_sharded) { new_is_right(gloom_new_sharded(1000, 0.01, 4)); }
CALL(gloom_options_init)
{
    gloom_options options;
    memset(&options, 0x5a, sizeof options);
    gloom_options_init(&options);
    VALUE(options.num_blocks, 0, 0x5a5a5a5a5a5a5a5a);
}
CALL(gloom_create)
{
    gloom_options options = new_options();
    made_is_right(gloom_create(&options, &made, &error));
}
CALL(gloom_size_for)
{
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    explained(gloom_size_for(1000, 0.01, &sizing, &error));
    CHECK((sizing.num_blocks == 0) == has_panicked);
}
/* Frees memory and locks also if it panics, unless it is at the very beginning, where there is no code that could. A file
 * that could not be closed stays dirty, and has its bits. */
CALL(gloom_free)
{
    gloom_filter *mapped = map_file(GLOOM_MAP_READ_WRITE);
    uint64_t at = gloom_panic_tests_arm(0);
    CHECK_OK(gloom_merge(mapped, filter, NULL));
    gloom_panic_tests_arm(at);
    gloom_free(mapped);
    if (disarm() && at == 1)
        gloom_free(mapped);
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    CHECK_OK(gloom_inspect(path_of("file"), &info, NULL));
    CHECK_U64(info.dirty, has_panicked && at > 1);
    mapped = map_file(GLOOM_MAP_READ_WRITE);
    CHECK_U64(numbers_missing(mapped, 0, 2 * OLD), 0);
    gloom_free(mapped);
    CHECK_OK(gloom_inspect(path_of("file"), &info, NULL));
    CHECK_U64(info.dirty, 0);
}

CALL(gloom_add) { status_is_right(gloom_add(filter, "new", 3)); }
CALL(gloom_test) { VALUE(gloom_test(filter, "new", 3), false, true); }
CALL(gloom_test_and_add)
{
    bool was_present = true;
    status_is_right(gloom_test_and_add(filter, "new", 3, &was_present));
    CHECK(was_present == has_panicked);
}
CALL(gloom_hash_key)
{
    gloom_hash hash = gloom_hash_key("", 0, 0);
    VALUE(hash.lo, 0x6001c324468d497f, 0); /* of the empty key: XXH3's own test vector */
}
CALL(gloom_siphash_key)
{
    gloom_hash hash = gloom_siphash_key("", 0, 1);
    VALUE(hash.lo, 0x9b9e671411815cc4, 0); /* the first line of siphash_vectors.tsv */
}
CALL(gloom_add_hash) { status_is_right(gloom_add_hash(filter, hashes[0])); }
CALL(gloom_note_adds)
{
    gloom_status normal = kind == GLOOM_KIND_SHARDED ? GLOOM_ERR_INVALID_ARGUMENT : GLOOM_OK;
    VALUE(gloom_note_adds(filter, 5), normal, GLOOM_ERR_PANIC);
}
CALL(gloom_test_hash) { VALUE(gloom_test_hash(filter, hashes[0]), false, true); }

CALL(gloom_add_batch_fixed) { status_is_right(gloom_add_batch_fixed(filter, numbers, 8, N)); }
CALL(gloom_add_batch_offsets32)
{
    status_is_right(gloom_add_batch_offsets32(filter, numbers, sizeof numbers, offsets32, N));
}
CALL(gloom_add_batch_offsets64)
{
    status_is_right(gloom_add_batch_offsets64(filter, numbers, sizeof numbers, offsets64, N));
}
CALL(gloom_add_batch_pointers) { status_is_right(gloom_add_batch_pointers(filter, keys, lens, N)); }
CALL(gloom_add_batch_hashes) { status_is_right(gloom_add_batch_hashes(filter, hashes, N)); }
CALL(gloom_test_batch_fixed) { tested(gloom_test_batch_fixed(filter, numbers, 8, N, results, &hits)); }
CALL(gloom_test_batch_offsets32)
{
    tested(gloom_test_batch_offsets32(filter, numbers, sizeof numbers, offsets32, N, results, &hits));
}
CALL(gloom_test_batch_offsets64)
{
    tested(gloom_test_batch_offsets64(filter, numbers, sizeof numbers, offsets64, N, results, &hits));
}
CALL(gloom_test_batch_pointers) { tested(gloom_test_batch_pointers(filter, keys, lens, N, results, &hits)); }
CALL(gloom_test_batch_hashes) { tested(gloom_test_batch_hashes(filter, hashes, N, results, &hits)); }

CALL(gloom_kind_of) { VALUE(gloom_kind_of(filter), kind, 0); }
CALL(gloom_num_blocks) { VALUE(gloom_num_blocks(filter), BLOCKS, 0); }
CALL(gloom_k) { VALUE(gloom_k(filter), K, 0); }
CALL(gloom_num_shards)
{
    VALUE(gloom_num_shards(filter), kind == GLOOM_KIND_SHARDED ? gloom_num_shards(source) : 1, 0);
}
CALL(gloom_hash_kind) { VALUE(gloom_hash_kind(filter), GLOOM_HASH_XXH3, 0); }
CALL(gloom_seed) { VALUE(gloom_seed(filter), 5, 0); }
CALL(gloom_expected_items) { VALUE(gloom_expected_items(planned), 1000, 0); }
CALL(gloom_fp_rate) { RATE(gloom_fp_rate(planned), 0.01, 0.01, 1); }
CALL(gloom_is_mapped)
{
    gloom_filter *mapped = map_file(0);
    VALUE(gloom_is_mapped(mapped), true, false);
    gloom_free(mapped);
}
CALL(gloom_is_read_only)
{
    gloom_filter *mapped = map_file(0);
    VALUE(gloom_is_read_only(mapped), true, false);
    gloom_free(mapped);
}
CALL(gloom_bit_capacity) { VALUE(gloom_bit_capacity(filter), BLOCKS * 512, 0); }
CALL(gloom_memory_bytes) { VALUE(gloom_memory_bytes(filter), gloom_memory_bytes(source), 0); }
CALL(gloom_count) { VALUE(gloom_count(filter), OLD, 0); }
CALL(gloom_estimate_items) { VALUE(gloom_estimate_items(filter) / 10, OLD / 10, UINT64_MAX / 10); }
CALL(gloom_fill_ratio) { RATE(gloom_fill_ratio(filter), 0.001, 0.1, 1); }
CALL(gloom_current_fp_rate) { RATE(gloom_current_fp_rate(filter), 1e-12, 0.1, 1); }
CALL(gloom_predict_fp_rate) { RATE(gloom_predict_fp_rate(BLOCKS, K, OLD), 1e-12, 0.1, 1); }
CALL(gloom_blocks) { VALUE(gloom_blocks(filter) == NULL, false, true); }
CALL(gloom_simd_level) { STRING(gloom_simd_level(filter), gloom_simd_level(source), "portable"); }

CALL(gloom_merge) { explained(gloom_merge(filter, source, &error)); }
CALL(gloom_merge_serialized) { explained(gloom_merge_serialized(filter, bytes, bytes_len, &error)); }
CALL(gloom_intersect) { explained(gloom_intersect(filter, source, &error)); }
CALL(gloom_fold) { made_is_right(gloom_fold(filter, 2, &made, &error)); }
CALL(gloom_clear) { status_is_right(gloom_clear(filter)); }
CALL(gloom_clone) { made_is_right(gloom_clone(filter, &made, &error)); }
CALL(gloom_equal) { VALUE(gloom_equal(filter, filter), true, false); }

CALL(gloom_serialized_size)
{
    uint64_t size = 4711;
    explained(gloom_serialized_size(filter, GLOOM_FORMAT_NATIVE, &size, &error));
    CHECK_U64(size, has_panicked ? 4711 : bytes_len);
}
CALL(gloom_serialize)
{
    unsigned char *buffer = malloc(bytes_len);
    size_t written = 4711;
    REQUIRE(buffer != NULL);
    explained(gloom_serialize(filter, GLOOM_FORMAT_NATIVE, buffer, bytes_len, &written, &error));
    CHECK_U64(written, has_panicked ? 4711 : bytes_len);
    free(buffer);
}
CALL(gloom_deserialize) { made_is_right(gloom_deserialize(bytes, bytes_len, NULL, &made, &error)); }
CALL(gloom_write)
{
    stream out = {0};
    explained(gloom_write(filter, GLOOM_FORMAT_NATIVE, stream_write, &out, &error));
    free(out.bytes);
}
CALL(gloom_read)
{
    stream in = stream_of(bytes, bytes_len);
    made_is_right(gloom_read(stream_read, &in, NULL, &made, &error));
}

/* The file is the old one or the new one, and there is no other. */
CALL(gloom_save)
{
    gloom_filter *loaded = NULL;
    explained(gloom_save(filter, path_of("file"), GLOOM_FORMAT_NATIVE, &error));
    CHECK_U64(names_in(folder), 1);
    CHECK_OK(gloom_load(path_of("file"), NULL, &loaded, NULL));
    CHECK(gloom_equal(loaded, has_panicked ? source : filter));
    gloom_free(loaded);
}
CALL(gloom_load) { made_is_right(gloom_load(path_of("file"), NULL, &made, &error)); }
CALL(gloom_inspect)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    explained(gloom_inspect(path_of("file"), &info, &error));
    CHECK_U64(info.num_blocks, has_panicked ? 0 : BLOCKS);
}
/* A panic when all is done leaves a file that is complete. */
CALL(gloom_map_create)
{
    gloom_options options = new_options();
    options.kind = GLOOM_KIND_ATOMIC;
    made_is_right(gloom_map_create(path_of("new"), &options, &made, &error));
    CHECK(has_panicked || exists(path_of("new")));
    if (exists(path_of("new"))) {
        gloom_filter *left = NULL;
        CHECK_OK(gloom_map(path_of("new"), GLOOM_MAP_VERIFY, &left, NULL));
        CHECK_U64(bits_set(left), 0);
        gloom_free(left);
    }
    unlink(path_of("new"));
}
CALL(gloom_map)
{
    gloom_filter *again = NULL;
    made_is_right(gloom_map(path_of("file"), GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &made, &error));
    /* Nobody holds a lock of it, and it has what it had. */
    CHECK_OK(gloom_map(path_of("file"), GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &again, NULL));
    CHECK(gloom_equal(again, source));
    gloom_free(again);
}
CALL(gloom_map_with_options)
{
    gloom_filter *again = NULL;
    gloom_map_options options = GLOOM_MAP_OPTIONS_INIT;
    options.flags = GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY;
    options.max_bytes = BLOCKS * BYTES_PER_BLOCK;
    made_is_right(gloom_map_with_options(path_of("file"), &options, &made, &error));
    CHECK_OK(gloom_map_with_options(path_of("file"), &options, &again, NULL));
    CHECK(gloom_equal(again, source));
    gloom_free(again);
}
CALL(gloom_is_stale)
{
    gloom_filter *mapped = map_file(0);
    unlink(path_of("file"));
    VALUE(gloom_is_stale(mapped), true, false);
    gloom_free(mapped);
}
CALL(gloom_sync)
{
    gloom_filter *mapped = map_file(GLOOM_MAP_READ_WRITE);
    explained(gloom_sync(mapped, &error));
    gloom_free(mapped);
}

/* How much of what was in may be gone after a panic. */
typedef enum { KEEPS, TAKES } effect;

static const struct {
    const char *name;
    void (*call)(void);
    effect effect;
} FUNCTIONS[] = {
#define KEEPING(name) {#name, call_##name, KEEPS}
#define TAKING(name) {#name, call_##name, TAKES}
    KEEPING(gloom_status_string),
    KEEPING(gloom_version),
    KEEPING(gloom_version_string),
    KEEPING(gloom_abi_version),
    KEEPING(gloom_new),
    KEEPING(gloom_new_atomic),
    KEEPING(gloom_new_sharded),
    KEEPING(gloom_options_init),
    KEEPING(gloom_create),
    KEEPING(gloom_size_for),
    KEEPING(gloom_free),
    KEEPING(gloom_add),
    KEEPING(gloom_test),
    KEEPING(gloom_test_and_add),
    KEEPING(gloom_hash_key),
    KEEPING(gloom_siphash_key),
    KEEPING(gloom_add_hash),
    KEEPING(gloom_test_hash),
    KEEPING(gloom_note_adds),
    KEEPING(gloom_add_batch_fixed),
    KEEPING(gloom_add_batch_offsets32),
    KEEPING(gloom_add_batch_offsets64),
    KEEPING(gloom_add_batch_pointers),
    KEEPING(gloom_add_batch_hashes),
    KEEPING(gloom_test_batch_fixed),
    KEEPING(gloom_test_batch_offsets32),
    KEEPING(gloom_test_batch_offsets64),
    KEEPING(gloom_test_batch_pointers),
    KEEPING(gloom_test_batch_hashes),
    KEEPING(gloom_kind_of),
    KEEPING(gloom_num_blocks),
    KEEPING(gloom_k),
    KEEPING(gloom_num_shards),
    KEEPING(gloom_hash_kind),
    KEEPING(gloom_seed),
    KEEPING(gloom_expected_items),
    KEEPING(gloom_fp_rate),
    KEEPING(gloom_is_mapped),
    KEEPING(gloom_is_read_only),
    KEEPING(gloom_bit_capacity),
    KEEPING(gloom_memory_bytes),
    KEEPING(gloom_count),
    KEEPING(gloom_estimate_items),
    KEEPING(gloom_fill_ratio),
    KEEPING(gloom_current_fp_rate),
    KEEPING(gloom_predict_fp_rate),
    KEEPING(gloom_blocks),
    KEEPING(gloom_simd_level),
    KEEPING(gloom_merge),
    KEEPING(gloom_merge_serialized),
    TAKING(gloom_intersect),
    KEEPING(gloom_fold),
    TAKING(gloom_clear),
    KEEPING(gloom_clone),
    KEEPING(gloom_equal),
    KEEPING(gloom_serialized_size),
    KEEPING(gloom_serialize),
    KEEPING(gloom_deserialize),
    KEEPING(gloom_write),
    KEEPING(gloom_read),
    KEEPING(gloom_save),
    KEEPING(gloom_load),
    KEEPING(gloom_inspect),
    KEEPING(gloom_map_create),
    KEEPING(gloom_map),
    KEEPING(gloom_map_with_options),
    KEEPING(gloom_is_stale),
    KEEPING(gloom_sync),
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

static void prepare(void)
{
    filter = make_filter(kind, BLOCKS, K, 5);
    source = make_filter(kind, BLOCKS, K, 5);
    planned = gloom_new(1000, 0.01);
    REQUIRE(planned != NULL);
    add_numbers(filter, 0, OLD);
    add_numbers(source, OLD, 2 * OLD);
    bytes = bytes_of(source, GLOOM_FORMAT_NATIVE, &bytes_len);
    save_source();
    made = NO_FILTER;
    memset(&error, 0, sizeof error);
    error.status = 4711;
    memset(results, 7, sizeof results);
    hits = 4711;
    for (int i = 0; i <= N; i++)
        offsets64[i] = offsets32[i] = i * 8;
    for (int i = 0; i < N; i++) {
        numbers[i] = 1000000 + (uint64_t)i;
        keys[i] = &numbers[i];
        lens[i] = 8;
        hashes[i] = gloom_hash_key(&numbers[i], 8, 5);
    }
}

/* Whatever has happened, the filter is one like any other. */
static void check_usable(effect effect)
{
    gloom_filter *copy = NULL;
    if (effect == KEEPS)
        CHECK_U64(numbers_missing(filter, 0, OLD), 0);
    add_numbers(filter, 5 * OLD, 7 * OLD); /* to every shard */
    CHECK_OK(gloom_add_batch_fixed(filter, numbers, 8, N));
    CHECK_OK(gloom_merge(filter, source, NULL));
    CHECK_U64(numbers_missing(filter, 5 * OLD, 7 * OLD), 0);
    CHECK_U64(numbers_missing(filter, numbers[0], numbers[0] + N), 0);
    CHECK_U64(numbers_missing(filter, OLD, 2 * OLD), 0);
    CHECK_OK(gloom_clone(filter, &copy, NULL));
    CHECK(gloom_equal(filter, copy));
    CHECK_OK(gloom_clear(copy));
    CHECK_U64(bits_set(copy), 0);
    gloom_free(copy);
}

static void clean_up(void)
{
    free(bytes);
    gloom_free(planned);
    gloom_free(source);
    gloom_free(filter);
    unlink(path_of("file"));
    CHECK_U64(names_in(folder), 0);
}

/* Panics at its first point, then at its second, and so on, until it comes to its end. */
static uint64_t panic_at_each(size_t number)
{
    uint64_t at = 0;
    do {
        at++;
        CONTEXT("%s, kind %d, panic %" PRIu64, FUNCTIONS[number].name, (int)kind, at);
        prepare();
        gloom_panic_tests_arm(at);
        FUNCTIONS[number].call();
        check_usable(FUNCTIONS[number].effect);
        clean_up();
    } while (has_panicked);
    return at - 1;
}

int main(void)
{
    make_folder(IN_MEMORY);
    alarm(WATCHDOG_SECONDS); /* a shard that stays owned ends the program */
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        uint64_t panics = 0;
        for (int k = 0; k < KIND_COUNT; k++) {
            kind = KINDS[k];
            uint64_t n = panic_at_each(i);
            CHECK(n > 0);
            panics += n;
        }
        printf("%s %" PRIu64 "\n", FUNCTIONS[i].name, panics);
    }
    return check_report();
}
