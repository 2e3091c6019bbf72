/* Every status that can be reached (out_of_memory.c has one of them), NULL in every place, and nonsense. A
 * failed call writes nothing through its out-parameters, changes no filter, and explains itself by naming the
 * argument and its value. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <math.h>

#include "filters.h"
#include "folder.h"
#include "v1.h"

/* Address of something that is no filter: what `out` points at before a call that must leave it alone. */
static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)

/* Longer than any object can be. */
static const size_t TOO_LONG = (size_t)PTRDIFF_MAX + 1;

/* -- making -- */

static void check_error(const gloom_error *error, gloom_status status, const char *name, const char *value,
                        const char *file, int line)
{
    check_status(error->status, status, "error.status", file, line);
    check_that(memchr(error->message, 0, sizeof error->message) != NULL, "the message ends", file, line);
    check_has(error->message, name, file, line);
    check_has(error->message, value, file, line);
}

/* Creation is refused with this status, and the message has `name` and `value` in it. */
static void refuse(const gloom_options *options, gloom_status want, const char *name, const char *value,
                   int line)
{
    gloom_filter *out = NO_FILTER;
    gloom_error error;
    memset(&error, 0x5a, sizeof error);
    check_status(gloom_create(options, &out, &error), want, "gloom_create", __FILE__, line);
    check_that(out == NO_FILTER, "out untouched", __FILE__, line);
    check_error(&error, want, name, value, __FILE__, line);
    check_status(gloom_create(options, &out, NULL), want, "gloom_create without error", __FILE__, line);
    check_that(out == NO_FILTER, "out untouched", __FILE__, line);
}
#define REFUSE(options, want, name, value) refuse((options), (want), (name), (value), __LINE__)

static gloom_options sized(uint64_t expected_items, double fp_rate)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.expected_items = expected_items;
    options.fp_rate = fp_rate;
    return options;
}

static gloom_options shaped(uint64_t num_blocks, uint32_t k)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.num_blocks = num_blocks;
    options.k = k;
    return options;
}

static void create_null(void)
{
    gloom_options options = sized(100, 0.01);
    gloom_error error;
    REFUSE(NULL, GLOOM_ERR_NULL, "options", "NULL");
    CHECK_STATUS(gloom_create(&options, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_create(&options, NULL, NULL), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_create(NULL, NULL, NULL), GLOOM_ERR_NULL);
    gloom_options_init(NULL);
}

/* The size tells which release the caller was built against. */
static void struct_sizes(void)
{
    /* An options struct of a later release: this one, and bytes that mean something there. */
    static union {
        gloom_options options;
        unsigned char bytes[8192];
    } later;
    static const size_t bad[] = {0, 1, 8, 4097, sizeof later, SIZE_MAX};
    static const char *const text[] = {"0", "1", "8", "4097", "8192", "18446744073709551615"};
    later.options = shaped(10, 7);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CONTEXT("struct_size %zu", bad[i]);
        later.options.struct_size = bad[i];
        REFUSE(&later.options, GLOOM_ERR_INVALID_ARGUMENT, "struct_size", text[i]);
    }
    later.options.struct_size = sizeof(gloom_options) - 1;
    REFUSE(&later.options, GLOOM_ERR_INVALID_ARGUMENT, "struct_size", "");

    static const size_t good[] = {sizeof(gloom_options), sizeof(gloom_options) + 1, sizeof(gloom_options) + 8,
                                  4096};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        gloom_filter *filter = NULL;
        CONTEXT("struct_size %zu", good[i]);
        later.options.struct_size = good[i];
        CHECK_OK(gloom_create(&later.options, &filter, NULL));
        gloom_free(filter);
        /* A field this release does not know is set: refused, wherever it stands. */
        for (size_t at = sizeof(gloom_options); at < good[i];
             at += at + 1 == good[i] ? 1 : (good[i] - at) / 2) {
            later.bytes[at] = 1;
            REFUSE(&later.options, GLOOM_ERR_UNSUPPORTED, "", "");
            later.bytes[at] = 0;
        }
        /* The byte after the struct is nobody's. */
        later.bytes[good[i]] = 1;
        CHECK_OK(gloom_create(&later.options, &filter, NULL));
        gloom_free(filter);
        later.bytes[good[i]] = 0;
    }
    CONTEXT("%s", "");
}

static void kinds_and_flags(void)
{
    static const int32_t kinds[] = {-1, 4, INT32_MAX, INT32_MIN};
    static const uint32_t flags[] = {4, 5, 8, 0x80000000, UINT32_MAX};
    gloom_options options = shaped(10, 7);
    char text[32];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        options.kind = kinds[i];
        (void)snprintf(text, sizeof text, "%d", (int)kinds[i]);
        REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "kind", text);
    }
    options.kind = 0;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        options.flags = flags[i];
        REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "flags", "");
    }
    /* The seed is the key of SipHash. */
    options.flags = GLOOM_FLAG_SIPHASH;
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "seed", "0");
}

/* Refused by all that take n and p. */
static void refuse_sizing(uint64_t n, double p, gloom_status want, const char *name, const char *value)
{
    gloom_options options = sized(n, p);
    gloom_sizing sizing;
    gloom_error error;
    CONTEXT("n %" PRIu64 ", p %g", n, p);
    REFUSE(&options, want, name, value);
    CHECK(gloom_new(n, p) == NULL);
    CHECK(gloom_new_atomic(n, p) == NULL);
    CHECK(gloom_new_sharded(n, p, 4) == NULL);

    memset(&sizing, 0x5a, sizeof sizing);
    sizing.struct_size = sizeof sizing;
    gloom_sizing before = sizing;
    CHECK_STATUS(gloom_size_for(n, p, &sizing, &error), want);
    check_error(&error, want, name, value, __FILE__, __LINE__);
    CHECK_STATUS(gloom_size_for(n, p, &sizing, NULL), want);
    CHECK(memcmp(&sizing, &before, sizeof sizing) == 0);
    CONTEXT("%s", "");
}

static void rates_and_items(void)
{
    static const double bad[] = {0.0,      -0.0,      1.0, 1.0 + DBL_EPSILON, 2.0,     -1.0, -0.01,
                                 INFINITY, -INFINITY, NAN, DBL_MAX,           -DBL_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse_sizing(1000, bad[i], GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "");
    refuse_sizing(1000, 1.5, GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "1.5");
    refuse_sizing(1000, -0.25, GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "-0.25");
    refuse_sizing(1000, NAN, GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "NaN");
    refuse_sizing(1000, INFINITY, GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "inf");

    /* In (0, 1), but below what 32 probe bits can deliver: the message says the smallest rate. */
    refuse_sizing(1000, 1e-10, GLOOM_ERR_UNREACHABLE_RATE, "fp_rate", "2.3");
    refuse_sizing(1000, 5e-324, GLOOM_ERR_UNREACHABLE_RATE, "fp_rate", "2.3");
    refuse_sizing(1000, DBL_MIN, GLOOM_ERR_UNREACHABLE_RATE, "fp_rate", "2.3");

    refuse_sizing(((uint64_t)1 << 63) + 1, 0.01, GLOOM_ERR_INVALID_ARGUMENT, "expected_items",
                  "9223372036854775809");
    refuse_sizing(UINT64_MAX, 0.01, GLOOM_ERR_INVALID_ARGUMENT, "expected_items", "18446744073709551615");

    /* The last ones that are fine. */
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    CHECK_OK(gloom_size_for(1, 1.0 - DBL_EPSILON, &sizing, NULL));
    CHECK_U64(sizing.num_blocks, 1);
    CHECK_OK(gloom_size_for(0, 0.5, &sizing, NULL));
    CHECK_U64(sizing.num_blocks, 1);
    CHECK_OK(gloom_size_for(1000, 2.4e-10, &sizing, NULL));
    CHECK(sizing.fp_rate <= 2.4e-10);
    CHECK_OK(gloom_size_for((uint64_t)1 << 63, 0.5, &sizing, NULL));
    CHECK(sizing.num_blocks > (uint64_t)1 << 53);
}

static void size_for(void)
{
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    gloom_error error;
    static const size_t bad[] = {0, 1, sizeof sizing - 1, 4097, SIZE_MAX};
    CHECK_STATUS(gloom_size_for(100, 0.01, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CONTEXT("struct_size %zu", bad[i]);
        sizing.struct_size = bad[i];
        CHECK_STATUS(gloom_size_for(100, 0.01, &sizing, &error), GLOOM_ERR_INVALID_ARGUMENT);
        CHECK_HAS(error.message, "struct_size");
        CHECK_U64(sizing.struct_size, bad[i]);
        CHECK_U64(sizing.num_blocks, 0);
    }
    CONTEXT("%s", "");
}

static void geometry(void)
{
    static const uint32_t bad_k[] = {1, 2, 18, UINT32_MAX};
    gloom_options options;
    char text[32];
    for (size_t i = 0; i < sizeof bad_k / sizeof bad_k[0]; i++) {
        options = shaped(10, bad_k[i]);
        (void)snprintf(text, sizeof text, "%" PRIu32, bad_k[i]);
        REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "k", text);
    }
    /* Both or neither; and not beside expected_items and fp_rate. */
    options = shaped(10, 0);
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "k", "0");
    options = shaped(0, 7);
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "num_blocks", "0");
    options = shaped(10, 7);
    options.expected_items = 5;
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "expected_items", "5");
    options = shaped(10, 7);
    options.fp_rate = 0.25;
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "0.25");
    options = shaped(10, 7);
    options.fp_rate = NAN;
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "NaN");
    options = shaped(0, 0);
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "fp_rate", "0");
}

static void shards(void)
{
    static const uint32_t bad[] = {3, 6, 65535, 65537, 131072, UINT32_MAX};
    char text[32];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gloom_options options = shaped(1000000, 7);
        options.kind = GLOOM_KIND_SHARDED;
        options.num_shards = bad[i];
        (void)snprintf(text, sizeof text, "%" PRIu32, bad[i]);
        REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "num_shards", text);
    }
    gloom_options options = shaped(10, 7);
    options.kind = GLOOM_KIND_SHARDED;
    options.num_shards = 16; /* more than blocks */
    REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "num_shards", "16");
    for (int32_t kind = 0; kind <= GLOOM_KIND_ATOMIC; kind++) {
        options.kind = kind;
        options.num_shards = 2;
        REFUSE(&options, GLOOM_ERR_INVALID_ARGUMENT, "num_shards", "2");
    }
    CHECK(gloom_new_sharded(1000000, 0.01, 65537) == NULL);
    CHECK(gloom_new_sharded(1000000, 0.01, UINT32_MAX) == NULL);
}

static void limits(void)
{
    gloom_options options = shaped(100, 7);
    options.max_bytes = 100 * BYTES_PER_BLOCK - 1;
    REFUSE(&options, GLOOM_ERR_LIMIT, "6399", "6400");
    options = sized(1000000, 0.01);
    options.max_bytes = 1000000;
    REFUSE(&options, GLOOM_ERR_LIMIT, "1000000", "");
    options = shaped(100, 7);
    options.max_bytes = 100 * BYTES_PER_BLOCK;
    options.block_multiple = 101;
    REFUSE(&options, GLOOM_ERR_LIMIT, "6400", "6464");

    /* More than any address space, with and without wrapping. */
    static const uint64_t huge[] = {(uint64_t)1 << 57,       ((uint64_t)1 << 57) + 1, (uint64_t)1 << 58,
                                    ((uint64_t)1 << 58) + 1, (uint64_t)1 << 63,       UINT64_MAX};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            CONTEXT("%" PRIu64 " blocks, kind %d", huge[i], (int)KINDS[kind]);
            options = shaped(huge[i], 7);
            options.kind = KINDS[kind];
            REFUSE(&options, GLOOM_ERR_LIMIT, "", "");
        }
    }
    CONTEXT("%s", "");
    options = sized((uint64_t)1 << 63, 0.01);
    REFUSE(&options, GLOOM_ERR_LIMIT, "", "");
    CHECK(gloom_new((uint64_t)1 << 63, 0.01) == NULL);
    CHECK(gloom_new_atomic((uint64_t)1 << 63, 0.01) == NULL);
    CHECK(gloom_new_sharded((uint64_t)1 << 63, 0.01, 0) == NULL);

    options = shaped(3, 7);
    options.block_multiple = UINT64_MAX;
    REFUSE(&options, GLOOM_ERR_LIMIT, "", "");
    options = shaped(((uint64_t)1 << 63) + 1, 7);
    options.block_multiple = (uint64_t)1 << 63; /* rounding up passes 2^64 */
    REFUSE(&options, GLOOM_ERR_LIMIT, "", "");
}

/* -- keys -- */

static void keys(int32_t kind)
{
    static const char key[] = "key";
    gloom_filter *filter = make_filter(kind, 10, 7, 0);
    gloom_hash hash = gloom_hash_key(key, 3, 0);
    bool present[2] = {false, true};
    CONTEXT("kind %d", (int)kind);
    add_numbers(filter, 0, 5);
    filter_state before = state_of(filter);

    CHECK_STATUS(gloom_add(NULL, key, 3), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add(filter, NULL, 3), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add(NULL, NULL, 0), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add(filter, key, TOO_LONG), GLOOM_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(gloom_add(filter, key, SIZE_MAX), GLOOM_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(gloom_add_hash(NULL, hash), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_note_adds(NULL, 1), GLOOM_ERR_NULL);
    if (kind == GLOOM_KIND_SHARDED) /* only the library writes these */
        CHECK_STATUS(gloom_note_adds(filter, 1), GLOOM_ERR_INVALID_ARGUMENT);
    for (int i = 0; i < 2; i++) {
        bool was_present = present[i];
        CHECK_STATUS(gloom_test_and_add(NULL, key, 3, &was_present), GLOOM_ERR_NULL);
        CHECK_STATUS(gloom_test_and_add(filter, NULL, 3, &was_present), GLOOM_ERR_NULL);
        CHECK_STATUS(gloom_test_and_add(filter, key, TOO_LONG, &was_present), GLOOM_ERR_INVALID_ARGUMENT);
        CHECK_STATUS(gloom_test_and_add(filter, key, SIZE_MAX, &was_present), GLOOM_ERR_INVALID_ARGUMENT);
        CHECK(was_present == present[i]);
    }
    /* Misuse of a test says "maybe": the caller then asks the database. */
    CHECK(gloom_test(NULL, key, 3));
    CHECK(gloom_test(filter, NULL, 3));
    CHECK(gloom_test(filter, key, TOO_LONG));
    CHECK(gloom_test(filter, key, SIZE_MAX));
    CHECK(gloom_test_hash(NULL, hash));
    CHECK(!gloom_test(filter, key, 3));
    CHECK(is_still(filter, before));

    gloom_hash misused[] = {gloom_hash_key(NULL, 1, 0), gloom_hash_key(key, TOO_LONG, 0),
                            gloom_hash_key(key, SIZE_MAX, 7),  gloom_siphash_key(NULL, 1, 7),
                            gloom_siphash_key(key, TOO_LONG, 7)};
    for (size_t i = 0; i < sizeof misused / sizeof misused[0]; i++)
        CHECK(misused[i].lo == 0 && misused[i].hi == 0);

    /* Nobody has to ask whether the key was there. */
    CHECK_OK(gloom_test_and_add(filter, key, 3, NULL));
    CHECK(gloom_test(filter, key, 3));
    gloom_free(filter);
    CONTEXT("%s", "");
}

/* NULL in every place of a batch; batch_errors.c has what else can be wrong with one. A test answers "maybe". */
static void batches(int32_t kind)
{
    static const int32_t offsets32[] = {0, 3};
    static const int64_t offsets64[] = {0, 3};
    static const void *const keys[] = {"key"}, *const null_keys[] = {NULL};
    static const size_t lens[] = {3};
    gloom_filter *filter = make_filter(kind, 10, 7, 0);
    gloom_hash hash = gloom_hash_key("key", 3, 0);
    uint8_t result;
    size_t hits;
    add_numbers(filter, 0, 5);
    filter_state before = state_of(filter);

    CHECK_STATUS(gloom_add_batch_fixed(NULL, "key", 3, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_fixed(filter, NULL, 3, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_offsets32(NULL, "key", 3, offsets32, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_offsets32(filter, NULL, 3, offsets32, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_offsets32(filter, "key", 3, NULL, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_offsets64(NULL, "key", 3, offsets64, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_offsets64(filter, NULL, 3, offsets64, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_offsets64(filter, "key", 3, NULL, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_pointers(NULL, keys, lens, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_pointers(filter, NULL, lens, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_pointers(filter, keys, NULL, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_pointers(filter, null_keys, lens, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_hashes(NULL, &hash, 1), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_add_batch_hashes(filter, NULL, 1), GLOOM_ERR_NULL);
    CHECK(is_still(filter, before));

#define MAYBE(call)                                                                                          \
    do {                                                                                                     \
        result = 7;                                                                                          \
        hits = 7;                                                                                            \
        CHECK_STATUS(call, GLOOM_ERR_NULL);                                                                  \
        CHECK(result == 1 && hits == 1);                                                                     \
    } while (0)
    MAYBE(gloom_test_batch_fixed(NULL, "key", 3, 1, &result, &hits));
    MAYBE(gloom_test_batch_fixed(filter, NULL, 3, 1, &result, &hits));
    MAYBE(gloom_test_batch_offsets32(NULL, "key", 3, offsets32, 1, &result, &hits));
    MAYBE(gloom_test_batch_offsets32(filter, NULL, 3, offsets32, 1, &result, &hits));
    MAYBE(gloom_test_batch_offsets32(filter, "key", 3, NULL, 1, &result, &hits));
    MAYBE(gloom_test_batch_offsets64(NULL, "key", 3, offsets64, 1, &result, &hits));
    MAYBE(gloom_test_batch_offsets64(filter, NULL, 3, offsets64, 1, &result, &hits));
    MAYBE(gloom_test_batch_offsets64(filter, "key", 3, NULL, 1, &result, &hits));
    MAYBE(gloom_test_batch_pointers(NULL, keys, lens, 1, &result, &hits));
    MAYBE(gloom_test_batch_pointers(filter, NULL, lens, 1, &result, &hits));
    MAYBE(gloom_test_batch_pointers(filter, keys, NULL, 1, &result, &hits));
    MAYBE(gloom_test_batch_pointers(filter, null_keys, lens, 1, &result, &hits));
    MAYBE(gloom_test_batch_hashes(NULL, &hash, 1, &result, &hits));
    MAYBE(gloom_test_batch_hashes(filter, NULL, 1, &result, &hits));
#undef MAYBE
    CHECK(!gloom_test(filter, "key", 3)); /* so that "maybe" was not the right answer by chance */
    gloom_free(filter);
}

/* -- whole filters -- */

static void merges(int32_t kind)
{
    gloom_filter *target = make_filter(kind, 10, 7, 0);
    gloom_filter *fits = make_filter(kind, 10, 7, 0);
    gloom_error error;
    add_numbers(target, 0, 50);
    add_numbers(fits, 50, 100);
    static const struct {
        uint64_t num_blocks;
        uint32_t k;
        uint64_t seed;
        const char *name, *ours, *theirs;
    } cases[] = {
        {11, 7, 0, "num_blocks", "10", "11"},
        {9, 7, 0, "num_blocks", "10", "9"},
        {10, 8, 0, "k", "7", "8"},
        {10, 7, 5, "seed", "0", "5"},
        {10, 7, UINT64_MAX, "seed", "0", "18446744073709551615"},
    };
    filter_state before = state_of(target);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int other = 0; other < KIND_COUNT; other++) {
            CONTEXT("kind %d, case %zu, kind %d", (int)kind, i, (int)KINDS[other]);
            gloom_filter *source = make_filter(KINDS[other], cases[i].num_blocks, cases[i].k, cases[i].seed);
            add_numbers(source, 200, 300);
            filter_state source_before = state_of(source);
            CHECK_STATUS(gloom_merge(target, source, &error), GLOOM_ERR_INCOMPATIBLE);
            check_error(&error, GLOOM_ERR_INCOMPATIBLE, cases[i].name, cases[i].ours, __FILE__, __LINE__);
            CHECK_HAS(error.message, cases[i].theirs);
            CHECK_STATUS(gloom_merge(target, source, NULL), GLOOM_ERR_INCOMPATIBLE);
            CHECK(!gloom_equal(target, source));
            CHECK(is_still(source, source_before));
            gloom_free(source);
        }
    }
    CONTEXT("kind %d", (int)kind);
    CHECK_STATUS(gloom_merge(NULL, fits, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "target");
    CHECK_STATUS(gloom_merge(target, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "source");
    CHECK_STATUS(gloom_merge(NULL, NULL, NULL), GLOOM_ERR_NULL);
    CHECK(is_still(target, before));

    gloom_filter *out = NO_FILTER;
    CHECK_STATUS(gloom_clone(NULL, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "source");
    CHECK(out == NO_FILTER);
    CHECK_STATUS(gloom_clone(target, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_clone(NULL, NULL, NULL), GLOOM_ERR_NULL);

    CHECK(!gloom_equal(NULL, target));
    CHECK(!gloom_equal(target, NULL));
    CHECK(!gloom_equal(NULL, NULL));
    CHECK_STATUS(gloom_clear(NULL), GLOOM_ERR_NULL);
    gloom_free(fits);
    gloom_free(target);
    CONTEXT("%s", "");
}

/* -- bytes -- */

static void serializing(void)
{
    enum { LEN = V1_BLOCKS + 10 * BYTES_PER_BLOCK + V1_CRC_SIZE };
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    gloom_filter *seeded = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 1234567);
    static unsigned char buffer[LEN];
    static unsigned char untouched[LEN];
    uint64_t size = 4711;
    size_t written = 4711;
    gloom_error error;
    memset(buffer, 0xcc, sizeof buffer);
    memset(untouched, 0xcc, sizeof untouched);

    CHECK_STATUS(gloom_serialized_size(NULL, GLOOM_FORMAT_V1, &size, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "filter");
    CHECK_STATUS(gloom_serialized_size(filter, GLOOM_FORMAT_V1, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "size");
    CHECK_STATUS(gloom_serialize(NULL, GLOOM_FORMAT_V1, buffer, LEN, &written, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "filter");
    CHECK_STATUS(gloom_serialize(filter, GLOOM_FORMAT_V1, NULL, LEN, &written, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "buffer");
    CHECK_STATUS(gloom_serialize(filter, GLOOM_FORMAT_V1, NULL, 0, &written, &error), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_serialize(NULL, GLOOM_FORMAT_V1, NULL, 0, NULL, NULL), GLOOM_ERR_NULL);

    static const int32_t formats[] = {-1, 2, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%d", (int)formats[i]);
        CHECK_STATUS(gloom_serialized_size(filter, formats[i], &size, &error), GLOOM_ERR_INVALID_ARGUMENT);
        check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "format", text, __FILE__, __LINE__);
        CHECK_STATUS(gloom_serialize(filter, formats[i], buffer, LEN, &written, &error),
                     GLOOM_ERR_INVALID_ARGUMENT);
        check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "format", text, __FILE__, __LINE__);
    }
    /* The native format takes more. */
    CHECK_STATUS(gloom_serialize(filter, GLOOM_FORMAT_NATIVE, buffer, LEN, &written, &error),
                 GLOOM_ERR_BUFFER_TOO_SMALL);
    check_error(&error, GLOOM_ERR_BUFFER_TOO_SMALL, "buffer_len", "66192", __FILE__, __LINE__);

    /* v1 has no place for a seed. */
    CHECK_STATUS(gloom_serialized_size(seeded, GLOOM_FORMAT_V1, &size, &error), GLOOM_ERR_UNSUPPORTED);
    check_error(&error, GLOOM_ERR_UNSUPPORTED, "seed", "1234567", __FILE__, __LINE__);
    CHECK_STATUS(gloom_serialize(seeded, GLOOM_FORMAT_V1, buffer, LEN, &written, &error),
                 GLOOM_ERR_UNSUPPORTED);
    check_error(&error, GLOOM_ERR_UNSUPPORTED, "seed", "1234567", __FILE__, __LINE__);

    static const size_t too_small[] = {0, 1, V1_BLOCKS, LEN - V1_CRC_SIZE, LEN - 1};
    for (size_t i = 0; i < sizeof too_small / sizeof too_small[0]; i++) {
        CONTEXT("buffer_len %zu", too_small[i]);
        CHECK_STATUS(gloom_serialize(filter, GLOOM_FORMAT_V1, buffer, too_small[i], &written, &error),
                     GLOOM_ERR_BUFFER_TOO_SMALL);
        check_error(&error, GLOOM_ERR_BUFFER_TOO_SMALL, "buffer_len", "665", __FILE__, __LINE__);
    }
    CONTEXT("%s", "");
    CHECK_U64(size, 4711);
    CHECK_U64(written, 4711);
    CHECK(memcmp(buffer, untouched, LEN) == 0);
    CHECK_OK(gloom_serialize(filter, GLOOM_FORMAT_V1, buffer, LEN, &written, NULL));
    CHECK_U64(written, LEN);
    CHECK_OK(gloom_serialize(filter, GLOOM_FORMAT_V1, buffer, LEN, NULL, NULL)); /* `written` may be NULL */
    gloom_free(seeded);
    gloom_free(filter);
}

static void refuse_load(const unsigned char *file, size_t len, const gloom_load_options *options,
                        gloom_status want, const char *name, const char *value, int line)
{
    gloom_filter *out = NO_FILTER;
    gloom_error error;
    memset(&error, 0x5a, sizeof error);
    check_status(gloom_deserialize(file, len, options, &out, &error), want, "gloom_deserialize", __FILE__,
                 line);
    check_error(&error, want, name, value, __FILE__, line);
    check_status(gloom_deserialize(file, len, options, &out, NULL), want, "gloom_deserialize without error",
                 __FILE__, line);
    check_that(out == NO_FILTER, "out untouched", __FILE__, line);
}
#define REFUSE_LOAD(options, want, name, value)                                                              \
    refuse_load(file, len, (options), (want), (name), (value), __LINE__)

/* An options struct of a later release. */
static union {
    gloom_load_options options;
    unsigned char bytes[4200];
} later_load_options;

static gloom_load_options *load_options(void)
{
    gloom_load_options initial = GLOOM_LOAD_OPTIONS_INIT;
    memset(&later_load_options, 0, sizeof later_load_options);
    later_load_options.options = initial;
    return &later_load_options.options;
}

static void deserializing(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    size_t len;
    unsigned char *file = v1_of(filter, &len);
    gloom_error error;
    gloom_filter *out = NO_FILTER;

    refuse_load(NULL, len, NULL, GLOOM_ERR_NULL, "data", "NULL", __LINE__);
    refuse_load(NULL, 0, NULL, GLOOM_ERR_CORRUPT, "", "", __LINE__); /* no bytes at all */
    refuse_load(file, 0, NULL, GLOOM_ERR_CORRUPT, "", "", __LINE__);
    refuse_load(file, TOO_LONG, NULL, GLOOM_ERR_INVALID_ARGUMENT, "len", "9223372036854775808", __LINE__);
    CHECK_STATUS(gloom_deserialize(file, len, NULL, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_deserialize(NULL, 0, NULL, NULL, NULL), GLOOM_ERR_NULL);

    static const size_t bad_sizes[] = {0, 1, sizeof(gloom_load_options) - 1, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof bad_sizes / sizeof bad_sizes[0]; i++) {
        CONTEXT("struct_size %zu", bad_sizes[i]);
        load_options()->struct_size = bad_sizes[i];
        REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_INVALID_ARGUMENT, "struct_size", "");
    }
    CONTEXT("%s", "");
    load_options()->struct_size = 4096;
    later_load_options.bytes[4096] = 1; /* the byte after the struct is nobody's */
    CHECK_OK(gloom_deserialize(file, len, &later_load_options.options, &out, &error));
    gloom_free(out);
    later_load_options.bytes[4095] = 1;
    REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_UNSUPPORTED, "", "");

    load_options()->kind = 4;
    REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_INVALID_ARGUMENT, "kind", "4");
    load_options()->kind = -1;
    REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_INVALID_ARGUMENT, "kind", "-1");
    static const uint32_t bad_flags[] = {GLOOM_FLAG_SIPHASH, 7, 8, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad_flags / sizeof bad_flags[0]; i++) {
        load_options()->flags = bad_flags[i];
        REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_INVALID_ARGUMENT, "flags", "");
    }
    load_options()->reserved = 6;
    REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_INVALID_ARGUMENT, "reserved", "6");
    load_options()->num_shards = 2; /* of an atomic filter */
    REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_INVALID_ARGUMENT, "num_shards", "2");
    static const uint32_t bad_shards[] = {3, 16, 65537, 131072, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad_shards / sizeof bad_shards[0]; i++) {
        load_options()->kind = GLOOM_KIND_SHARDED;
        later_load_options.options.num_shards = bad_shards[i];
        REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_INVALID_ARGUMENT, "num_shards", "");
    }
    load_options()->max_bytes = 639;
    REFUSE_LOAD(&later_load_options.options, GLOOM_ERR_LIMIT, "639", "640");

    file[V1_BLOCKS] ^= 1;
    REFUSE_LOAD(NULL, GLOOM_ERR_CORRUPT, "", "");
    file[0] = 2;
    REFUSE_LOAD(NULL, GLOOM_ERR_UNSUPPORTED, "format", "2");
    free(file);
    gloom_free(filter);
}

/* -- whole filters, once more -- */

static void combining(int32_t kind)
{
    gloom_filter *filter = make_filter(kind, 10, 7, 0), *other = make_filter(GLOOM_KIND_ATOMIC, 11, 7, 0);
    gloom_filter *out = NO_FILTER;
    gloom_error error;
    size_t len;
    CONTEXT("kind %d", (int)kind);
    add_numbers(filter, 0, 50);
    unsigned char *file = v1_of(filter, &len);
    filter_state before = state_of(filter);

    CHECK_STATUS(gloom_intersect(NULL, filter, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "target");
    CHECK_STATUS(gloom_intersect(filter, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "source");
    CHECK_STATUS(gloom_intersect(NULL, NULL, NULL), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_intersect(filter, other, &error), GLOOM_ERR_INCOMPATIBLE);
    check_error(&error, GLOOM_ERR_INCOMPATIBLE, "num_blocks", "11", __FILE__, __LINE__);
    CHECK_STATUS(gloom_intersect(filter, other, NULL), GLOOM_ERR_INCOMPATIBLE);

    CHECK_STATUS(gloom_fold(NULL, 1, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "source");
    CHECK_STATUS(gloom_fold(filter, 1, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_fold(NULL, 0, NULL, NULL), GLOOM_ERR_NULL);
    static const uint64_t factors[] = {0, 3, 4, 11, 20, UINT64_MAX};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%" PRIu64, factors[i]);
        CHECK_STATUS(gloom_fold(filter, factors[i], &out, &error), GLOOM_ERR_INVALID_ARGUMENT);
        check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "factor", text, __FILE__, __LINE__);
        CHECK_STATUS(gloom_fold(filter, factors[i], &out, NULL), GLOOM_ERR_INVALID_ARGUMENT);
    }

    CHECK_STATUS(gloom_merge_serialized(NULL, file, len, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "target");
    CHECK_STATUS(gloom_merge_serialized(filter, NULL, len, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "data");
    CHECK_STATUS(gloom_merge_serialized(filter, NULL, 0, &error), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_merge_serialized(filter, file, 0, &error), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_merge_serialized(filter, file, TOO_LONG, &error), GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "len", "9223372036854775808", __FILE__, __LINE__);
    CHECK_STATUS(gloom_merge_serialized(other, file, len, &error), GLOOM_ERR_INCOMPATIBLE);
    check_error(&error, GLOOM_ERR_INCOMPATIBLE, "num_blocks", "11", __FILE__, __LINE__);
    file[len - 1] ^= 1;
    CHECK_STATUS(gloom_merge_serialized(filter, file, len, &error), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_merge_serialized(filter, file, len, NULL), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_merge_serialized(NULL, NULL, len, NULL), GLOOM_ERR_NULL);
    CHECK(is_still(filter, before));
    CHECK(out == NO_FILTER);
    free(file);
    gloom_free(other);
    gloom_free(filter);
    CONTEXT("%s", "");
}

/* -- streams and files; streams.c, files.c and maps.c have what else can go wrong -- */

static int64_t never_write(void *context, const void *data, size_t len)
{
    (void)data;
    *(int *)context += 1;
    return (int64_t)len;
}

static int64_t never_read(void *context, void *data, size_t len)
{
    (void)data;
    *(int *)context += 1;
    return (int64_t)len;
}

static void streams(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    gloom_filter *seeded = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 1234567), *out = NO_FILTER;
    gloom_error error;
    int calls = 0;
    CHECK_STATUS(gloom_write(NULL, GLOOM_FORMAT_V1, never_write, &calls, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "filter");
    CHECK_STATUS(gloom_write(filter, GLOOM_FORMAT_V1, NULL, &calls, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "write");
    CHECK_STATUS(gloom_write(NULL, GLOOM_FORMAT_V1, NULL, NULL, NULL), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_write(filter, 2, never_write, &calls, &error), GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "format", "2", __FILE__, __LINE__);
    CHECK_STATUS(gloom_write(seeded, GLOOM_FORMAT_V1, never_write, &calls, &error), GLOOM_ERR_UNSUPPORTED);
    check_error(&error, GLOOM_ERR_UNSUPPORTED, "seed", "1234567", __FILE__, __LINE__);

    CHECK_STATUS(gloom_read(NULL, &calls, NULL, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "read");
    CHECK_STATUS(gloom_read(never_read, &calls, NULL, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_read(NULL, NULL, NULL, NULL, NULL), GLOOM_ERR_NULL);
    load_options()->reserved = 6;
    CHECK_STATUS(gloom_read(never_read, &calls, &later_load_options.options, &out, &error),
                 GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "reserved", "6", __FILE__, __LINE__);
    load_options()->struct_size = 1;
    CHECK_STATUS(gloom_read(never_read, &calls, &later_load_options.options, &out, &error),
                 GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "struct_size", "1", __FILE__, __LINE__);
    CHECK(out == NO_FILTER);
    CHECK_U64((uint64_t)calls, 0);
    gloom_free(seeded);
    gloom_free(filter);
}

static void files(void)
{
    /* Nothing is there, so that what is not noticed is another status. */
    static const char path[] = "/nowhere/at/all";
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    gloom_filter *seeded = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 1234567), *out = NO_FILTER;
    gloom_options options = shaped(10, 7);
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_error error;
    CHECK_STATUS(gloom_save(NULL, path, GLOOM_FORMAT_V1, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "filter");
    CHECK_STATUS(gloom_save(filter, NULL, GLOOM_FORMAT_V1, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "path");
    CHECK_STATUS(gloom_save(NULL, NULL, GLOOM_FORMAT_V1, NULL), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_save(filter, path, -1, &error), GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "format", "-1", __FILE__, __LINE__);
    CHECK_STATUS(gloom_save(seeded, path, GLOOM_FORMAT_V1, &error), GLOOM_ERR_UNSUPPORTED);
    check_error(&error, GLOOM_ERR_UNSUPPORTED, "seed", "1234567", __FILE__, __LINE__);
    CHECK_STATUS(gloom_save(filter, path, GLOOM_FORMAT_V1, &error), GLOOM_ERR_IO);
    check_error(&error, GLOOM_ERR_IO, "file", "", __FILE__, __LINE__);
    CHECK(error.os_error > 0);

    CHECK_STATUS(gloom_load(NULL, NULL, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "path");
    CHECK_STATUS(gloom_load(path, NULL, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_load(NULL, NULL, NULL, NULL), GLOOM_ERR_NULL);
    load_options()->kind = 4;
    CHECK_STATUS(gloom_load(path, &later_load_options.options, &out, &error), GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "kind", "4", __FILE__, __LINE__);
    CHECK_STATUS(gloom_load(path, NULL, &out, &error), GLOOM_ERR_IO);
    CHECK(error.os_error > 0);

    CHECK_STATUS(gloom_inspect(NULL, &info, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "path");
    CHECK_STATUS(gloom_inspect(path, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_inspect(path, &info, &error), GLOOM_ERR_IO);
    CHECK_U64(info.num_blocks, 0);

    CHECK_STATUS(gloom_map_create(NULL, &options, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "path");
    CHECK_STATUS(gloom_map_create(path, NULL, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "options");
    CHECK_STATUS(gloom_map_create(path, &options, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    options.struct_size = 8;
    CHECK_STATUS(gloom_map_create(path, &options, &out, &error), GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "struct_size", "8", __FILE__, __LINE__);
    options = shaped(10, 7);
    CHECK_STATUS(gloom_map_create(path, &options, &out, &error), GLOOM_ERR_IO);
    CHECK(error.os_error > 0);

    CHECK_STATUS(gloom_map(NULL, 0, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "path");
    CHECK_STATUS(gloom_map(path, 0, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_map(path, 8, &out, &error), GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "flags", "8", __FILE__, __LINE__);
    CHECK_STATUS(gloom_map(path, 0, &out, &error), GLOOM_ERR_IO);
    CHECK(error.os_error > 0);

    gloom_map_options map_options = GLOOM_MAP_OPTIONS_INIT;
    CHECK_STATUS(gloom_map_with_options(NULL, &map_options, &out, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "path");
    CHECK_STATUS(gloom_map_with_options(path, &map_options, NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "out");
    CHECK_STATUS(gloom_map_with_options(NULL, NULL, NULL, NULL), GLOOM_ERR_NULL);
    CHECK_STATUS(gloom_map_with_options(path, NULL, &out, &error), GLOOM_ERR_IO);
    CHECK(error.os_error > 0);
    CHECK_STATUS(gloom_map_with_options(path, &map_options, &out, NULL), GLOOM_ERR_IO);

    CHECK_STATUS(gloom_sync(NULL, &error), GLOOM_ERR_NULL);
    CHECK_HAS(error.message, "filter");
    CHECK_STATUS(gloom_sync(filter, &error), GLOOM_ERR_INVALID_ARGUMENT);
    check_error(&error, GLOOM_ERR_INVALID_ARGUMENT, "filter", "memory", __FILE__, __LINE__);
    CHECK(out == NO_FILTER);
    gloom_free(seeded);
    gloom_free(filter);
}

/* A map by these options is refused: by the message for this reason. */
static void refuse_map(const gloom_map_options *options, gloom_status want, const char *name, const char *value,
                       int line)
{
    gloom_filter *out = NO_FILTER;
    gloom_error error;
    memset(&error, 0x5a, sizeof error);
    check_status(gloom_map_with_options(path_of("file"), options, &out, &error), want, "gloom_map_with_options",
                 __FILE__, line);
    check_error(&error, want, name, value, __FILE__, line);
    check_status(gloom_map_with_options(path_of("file"), options, &out, NULL), want, "... without error", __FILE__,
                 line);
    check_that(out == NO_FILTER, "out untouched", __FILE__, line);
}
#define REFUSE_MAP(options, want, name, value) refuse_map((options), (want), (name), (value), __LINE__)

/* Each is wrong by itself: the file is there, and fine. */
static void wrong_map_options(void)
{
    static union {
        gloom_map_options options;
        unsigned char bytes[8192];
    } later;
    static const gloom_map_options initial = GLOOM_MAP_OPTIONS_INIT;
    static const size_t bad_sizes[] = {0, 1, 8, sizeof(gloom_map_options) - 1, 4097, sizeof later, SIZE_MAX};
    static const size_t good_sizes[] = {sizeof(gloom_map_options), sizeof(gloom_map_options) + 1, 4096};
    static const uint32_t bad_flags[] = {8, 9, 0x80000000, UINT32_MAX};
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0), *out = NULL;
    char text[32];
    CHECK_OK(gloom_save(filter, path_of("file"), GLOOM_FORMAT_NATIVE, NULL));

    for (size_t i = 0; i < sizeof bad_sizes / sizeof bad_sizes[0]; i++) {
        later.options = initial;
        later.options.struct_size = bad_sizes[i];
        (void)snprintf(text, sizeof text, "%zu", bad_sizes[i]);
        REFUSE_MAP(&later.options, GLOOM_ERR_INVALID_ARGUMENT, "struct_size", text);
    }
    for (size_t i = 0; i < sizeof good_sizes / sizeof good_sizes[0]; i++) {
        CONTEXT("struct_size %zu", good_sizes[i]);
        later.options = initial;
        later.options.struct_size = good_sizes[i];
        later.bytes[good_sizes[i]] = 1; /* the byte after the struct is nobody's */
        CHECK_OK(gloom_map_with_options(path_of("file"), &later.options, &out, NULL));
        gloom_free(out);
        later.bytes[good_sizes[i]] = 0;
        if (good_sizes[i] > sizeof(gloom_map_options)) { /* a field that this release does not know */
            later.bytes[good_sizes[i] - 1] = 1;
            REFUSE_MAP(&later.options, GLOOM_ERR_UNSUPPORTED, "struct_size", "");
            later.bytes[good_sizes[i] - 1] = 0;
        }
    }
    CONTEXT("%s", "");

    for (size_t i = 0; i < sizeof bad_flags / sizeof bad_flags[0]; i++) {
        later.options = initial;
        later.options.flags = bad_flags[i];
        (void)snprintf(text, sizeof text, "%" PRIu32, bad_flags[i]);
        REFUSE_MAP(&later.options, GLOOM_ERR_INVALID_ARGUMENT, "flags", text);
    }
    later.options = initial;
    later.options.reserved = 6;
    REFUSE_MAP(&later.options, GLOOM_ERR_INVALID_ARGUMENT, "reserved", "6");

    for (uint32_t flags = 0; flags <= GLOOM_MAP_READ_WRITE; flags++) {
        later.options = initial;
        later.options.flags = flags;
        later.options.max_bytes = 10 * BYTES_PER_BLOCK - 1;
        REFUSE_MAP(&later.options, GLOOM_ERR_LIMIT, "max_bytes", "639");
        later.options.max_bytes++;
        CHECK_OK(gloom_map_with_options(path_of("file"), &later.options, &out, NULL));
        gloom_free(out);
    }
    gloom_free(filter);
}

/* What a caller of another release has room for is filled, and no more. (The file has no name, so that none stays.) */
static void sizes_of_file_info(void)
{
    static const size_t bad[] = {0, 1, sizeof(gloom_file_info) - 1, 4097, SIZE_MAX};
    union {
        gloom_file_info info;
        unsigned char bytes[sizeof(gloom_file_info) + 16];
    } later;
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    gloom_error error;
    size_t len;
    add_numbers(filter, 0, 50);
    unsigned char *bytes = v1_of(filter, &len);
    FILE *file = tmpfile();
    char path[64];
    REQUIRE(file != NULL && fwrite(bytes, 1, len, file) == len && fflush(file) == 0);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rewind(file);
        memset(&later, 0x5a, sizeof later);
        later.info.struct_size = bad[i];
        CHECK_STATUS(gloom_inspect(path, &later.info, &error), GLOOM_ERR_INVALID_ARGUMENT);
        CHECK_HAS(error.message, "struct_size");
        CHECK_U64(later.info.struct_size, bad[i]);
        CHECK_U64(later.bytes[sizeof(size_t)], 0x5a);
    }
    for (size_t more = 0; more <= 8; more += 8) {
        rewind(file);
        memset(&later, 0x5a, sizeof later);
        later.info.struct_size = sizeof(gloom_file_info) + more;
        CHECK_OK(gloom_inspect(path, &later.info, &error));
        CHECK_U64(later.info.struct_size, sizeof(gloom_file_info) + more);
        CHECK_U64((uint64_t)later.info.format, GLOOM_FORMAT_V1);
        CHECK_U64(later.info.num_blocks, 10);
        CHECK_U64(later.info.bytes, len);
        for (size_t i = sizeof(gloom_file_info); i < sizeof later; i++)
            CHECK_U64(later.bytes[i], i < later.info.struct_size ? 0 : 0x5a);
    }
    fclose(file);
    free(bytes);
    gloom_free(filter);
}

/* -- the rest -- */

static void facts_of_null(void)
{
    CHECK_U64((uint64_t)gloom_kind_of(NULL), 0);
    CHECK_U64(gloom_num_blocks(NULL), 0);
    CHECK_U64(gloom_k(NULL), 0);
    CHECK_U64(gloom_num_shards(NULL), 0);
    CHECK_U64((uint64_t)gloom_hash_kind(NULL), 0);
    CHECK_U64(gloom_seed(NULL), 0);
    CHECK_U64(gloom_expected_items(NULL), 0);
    CHECK_F64(gloom_fp_rate(NULL), 1.0);
    CHECK(!gloom_is_mapped(NULL));
    CHECK(!gloom_is_read_only(NULL));
    CHECK(!gloom_is_stale(NULL));
    CHECK_U64(gloom_bit_capacity(NULL), 0);
    CHECK_U64(gloom_memory_bytes(NULL), 0);
    CHECK_U64(gloom_count(NULL), 0);
    CHECK_U64(gloom_estimate_items(NULL), UINT64_MAX);
    CHECK_F64(gloom_fill_ratio(NULL), 1.0);
    CHECK_F64(gloom_current_fp_rate(NULL), 1.0);
    CHECK(gloom_blocks(NULL) == NULL);
    CHECK_STRING(gloom_simd_level(NULL), "portable");
    gloom_free(NULL);
}

static void predictions(void)
{
    static const uint32_t bad_k[] = {0, 1, 2, 18, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad_k / sizeof bad_k[0]; i++)
        CHECK_F64(gloom_predict_fp_rate(100, bad_k[i], 10), 1.0);
    CHECK_F64(gloom_predict_fp_rate(0, 7, 10), 1.0);
    CHECK_F64(gloom_predict_fp_rate(100, 7, 0), 0.0);
    CHECK_F64(gloom_predict_fp_rate(1, 7, UINT64_MAX), 1.0);
    CHECK_BETWEEN(gloom_predict_fp_rate(UINT64_MAX, 7, UINT64_MAX), 0.0, 1e-9);
    CHECK_BETWEEN(gloom_predict_fp_rate(UINT64_MAX, 3, 1), 0.0, 1e-9);
    for (uint32_t k = LAYOUT_MIN_K; k <= LAYOUT_MAX_K; k++) {
        double last = 0;
        CONTEXT("k %u", k);
        for (int bits = 0; bits < 64; bits++) { /* more keys, never a smaller rate; always a rate */
            double rate = gloom_predict_fp_rate(1000, k, (uint64_t)1 << bits);
            CHECK_BETWEEN(rate, last, 1.0);
            last = rate;
        }
        CHECK_F64(last, 1.0);
    }
    CONTEXT("%s", "");
}

static void status_strings(void)
{
    for (gloom_status a = GLOOM_OK; a <= GLOOM_ERR_PANIC; a++) {
        CHECK(gloom_status_string(a) != NULL && strlen(gloom_status_string(a)) > 0);
        for (gloom_status b = GLOOM_OK; b < a; b++)
            CHECK(strcmp(gloom_status_string(a), gloom_status_string(b)) != 0);
    }
    static const gloom_status unknown[] = {-1, GLOOM_ERR_PANIC + 1, 99, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        const char *text = gloom_status_string(unknown[i]);
        CHECK(text != NULL && strlen(text) > 0);
        for (gloom_status known = GLOOM_OK; known <= GLOOM_ERR_PANIC; known++)
            CHECK(strcmp(text, gloom_status_string(known)) != 0);
    }
    static const int32_t numbers[] = {GLOOM_OK,
                                      GLOOM_ERR_NULL,
                                      GLOOM_ERR_INVALID_ARGUMENT,
                                      GLOOM_ERR_OUT_OF_MEMORY,
                                      GLOOM_ERR_LIMIT,
                                      GLOOM_ERR_UNREACHABLE_RATE,
                                      GLOOM_ERR_BUFFER_TOO_SMALL,
                                      GLOOM_ERR_CORRUPT,
                                      GLOOM_ERR_UNSUPPORTED,
                                      GLOOM_ERR_INCOMPATIBLE,
                                      GLOOM_ERR_READ_ONLY,
                                      GLOOM_ERR_IO,
                                      GLOOM_ERR_CANCELLED,
                                      GLOOM_ERR_BUSY,
                                      GLOOM_ERR_PANIC};
    for (int32_t i = 0; i < (int32_t)(sizeof numbers / sizeof numbers[0]); i++)
        CHECK_U64((uint64_t)numbers[i], (uint64_t)i); /* frozen */
}

int main(void)
{
    make_folder(ON_DISK);
    create_null();
    struct_sizes();
    kinds_and_flags();
    rates_and_items();
    size_for();
    geometry();
    shards();
    limits();
    for (int i = 0; i < KIND_COUNT; i++) {
        keys(KINDS[i]);
        batches(KINDS[i]);
        merges(KINDS[i]);
        combining(KINDS[i]);
    }
    serializing();
    deserializing();
    streams();
    files();
    wrong_map_options();
    sizes_of_file_info();
    facts_of_null();
    predictions();
    status_strings();
    return check_report();
}
