/* Batches that must be refused: a status, the filter untouched to the last bit, and of a test the answer "maybe" for
 * every key. Offsets arrays that are empty, sliced, decreasing, negative, beyond data_len, misaligned; sizes that
 * overflow; NULL among the keys. And next to each the last batch that is fine.
 *
 * Faults seen elsewhere: the empty key as NULL (rocksdb PR 3776, ClickHouse PR 8242), misaligned access (firedancer PR
 * 10775, datasketches-cpp 211), one entry point that validates beside a twin that does not (valkey-bloom 90): so every
 * case is put to the add and to the test. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <unistd.h>

#include "batches.h"
#include "filters.h"

enum { WATCHDOG_SECONDS = 30 };

/* More than any object can have: a test cannot have so many results, so it leaves them alone. */
static const size_t TOO_LONG = (size_t)PTRDIFF_MAX + 1;

enum { KEYS = 200, KEY_SIZE = 10, DATA_LEN = KEYS * KEY_SIZE, CANARIES = 64, CANARY = 0xcc };

/* Good arguments, to be spoilt one at a time: KEYS keys of KEY_SIZE bytes. */
static unsigned char data[DATA_LEN];
static int32_t offsets32[KEYS + 1];
static int64_t offsets64[KEYS + 1];
static const void *keys[KEYS];
static size_t lens[KEYS];
static gloom_hash hashes[KEYS];

static void make_good(void)
{
    for (int i = 0; i < DATA_LEN; i++)
        data[i] = (unsigned char)(i * 7 + i / 256);
    for (int i = 0; i <= KEYS; i++)
        offsets64[i] = offsets32[i] = i * KEY_SIZE;
    for (int i = 0; i < KEYS; i++) {
        keys[i] = data + i * KEY_SIZE;
        lens[i] = KEY_SIZE;
        hashes[i] = gloom_hash_key(keys[i], lens[i], 0);
    }
}

static batch good(source from)
{
    return (batch){.source = from,
                   .n = KEYS,
                   .data = data,
                   .key_size = KEY_SIZE,
                   .data_len = DATA_LEN,
                   .offsets32 = offsets32,
                   .offsets64 = offsets64,
                   .keys = keys,
                   .lens = lens,
                   .hashes = hashes};
}

/* -- what a refusal is -- */

/* "Maybe" for each of n keys, and not a byte more. */
static void check_maybe(const gloom_filter *filter, const batch *b, gloom_status want, int line)
{
    size_t present = b->n > KEYS ? 0 : b->n; /* no buffer has room for the absurd numbers */
    uint8_t memory[KEYS + 2 * CANARIES];
    uint8_t *results = memory + CANARIES;
    bool too_many = b->n > (size_t)PTRDIFF_MAX;
    for (int with_results = 0; with_results < 2; with_results++) {
        for (int with_hits = 0; with_hits < 2; with_hits++) {
            size_t hits = 4711;
            uint64_t not_maybe = 0, dead = 0;
            bool fill = with_results && (b->n <= KEYS || too_many);
            memset(memory, CANARY, sizeof memory);
            check_status(test_batch(filter, b, fill ? results : NULL, with_hits ? &hits : NULL), want,
                         "test_batch", __FILE__, line);
            check_u64(hits, with_hits ? b->n : 4711, "hits", __FILE__, line);
            for (size_t i = 0; i < sizeof memory; i++) {
                bool is_result = fill && i >= CANARIES && i < CANARIES + present;
                not_maybe += is_result && memory[i] != 1;
                dead += !is_result && memory[i] != CANARY;
            }
            check_u64(not_maybe, 0, "results that are not 1", __FILE__, line);
            check_u64(dead, 0, "bytes around the results that were written", __FILE__, line);
        }
    }
}

/* A filter that has some of the keys, so that a batch which was half added or tested would show. */
static gloom_filter *half_full(int32_t kind)
{
    gloom_filter *filter = make_filter(kind, 100, 7, 0);
    for (int i = 0; i < KEYS; i += 2)
        CHECK_OK(gloom_add(filter, data + i * KEY_SIZE, KEY_SIZE));
    return filter;
}

static void refuse(const batch *b, gloom_status want, int line)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        gloom_filter *filter = half_full(KINDS[kind]);
        gloom_filter *clone = NULL;
        CHECK_OK(gloom_clone(filter, &clone, NULL));
        filter_state before = state_of(filter);
        check_status(add_batch(filter, b), want, "add_batch", __FILE__, line);
        check_maybe(filter, b, want, line);
        check_that(gloom_equal(filter, clone), "the filter is as it was", __FILE__, line);
        check_u64(gloom_count(filter), KEYS / 2, "gloom_count(filter)", __FILE__, line);
        check_that(is_still(filter, before), "the filter is as it was", __FILE__, line);
        gloom_free(clone);
        gloom_free(filter);
    }
}
#define REFUSE(b, want) refuse((b), (want), __LINE__)

/* A batch next to the bad ones is fine: `n` keys, all found once they are added. */
static void accept(const batch *b, int line)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        gloom_filter *filter = make_filter(KINDS[kind], 100, 7, 0);
        size_t hits = 4711;
        check_status(add_batch(filter, b), GLOOM_OK, "add_batch", __FILE__, line);
        check_u64(gloom_count(filter), b->n, "gloom_count(filter)", __FILE__, line);
        check_status(test_batch(filter, b, NULL, &hits), GLOOM_OK, "test_batch", __FILE__, line);
        check_u64(hits, b->n, "hits", __FILE__, line);
        gloom_free(filter);
    }
}
#define ACCEPT(b) accept((b), __LINE__)

/* The same address, `by` bytes further: no longer that of an element. */
static const void *shifted(const void *array, size_t by)
{
    return (const unsigned char *)array + by;
}

/* -- the cases -- */

static void good_ones(void)
{
    for (int from = FIXED; from < SOURCE_COUNT; from++) {
        CONTEXT("%s", SOURCE_NAMES[from]);
        batch b = good((source)from);
        ACCEPT(&b);
    }
}

static void null_filter(void)
{
    static const size_t counts[] = {0, 1, KEYS};
    for (int from = FIXED; from < SOURCE_COUNT; from++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            CONTEXT("%s, %zu keys", SOURCE_NAMES[from], counts[i]);
            batch b = good((source)from);
            b.n = counts[i];
            CHECK_STATUS(add_batch(NULL, &b), GLOOM_ERR_NULL);
            check_maybe(NULL, &b, GLOOM_ERR_NULL, __LINE__);
            b = (batch){.source = (source)from, .n = counts[i], .key_size = 1, .data_len = 1};
            CHECK_STATUS(add_batch(NULL, &b), GLOOM_ERR_NULL);
            check_maybe(NULL, &b, GLOOM_ERR_NULL, __LINE__);
        }
    }
}

static void null_arrays(void)
{
    static const size_t counts[] = {1, 2, KEYS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CONTEXT("%zu keys", counts[i]);
        batch b = good(FIXED);
        b.n = counts[i];
        b.data = NULL;
        REFUSE(&b, GLOOM_ERR_NULL);
        for (int from = OFFSETS32; from <= OFFSETS64; from++) {
            b = good((source)from);
            b.n = counts[i];
            b.data = NULL;
            REFUSE(&b, GLOOM_ERR_NULL);
            b = good((source)from);
            b.n = counts[i];
            b.offsets32 = NULL;
            b.offsets64 = NULL;
            REFUSE(&b, GLOOM_ERR_NULL);
            b.data = NULL;
            b.data_len = 0;
            REFUSE(&b, GLOOM_ERR_NULL);
        }
        b = good(POINTERS);
        b.n = counts[i];
        b.keys = NULL;
        REFUSE(&b, GLOOM_ERR_NULL);
        b.lens = NULL;
        REFUSE(&b, GLOOM_ERR_NULL);
        b.keys = keys;
        REFUSE(&b, GLOOM_ERR_NULL);
        b = good(HASHES);
        b.n = counts[i];
        b.hashes = NULL;
        REFUSE(&b, GLOOM_ERR_NULL);
    }
}

/* One key of many is NULL but not empty, wherever it stands. */
static void null_keys(void)
{
    static const int positions[] = {0, 1, 63, 64, 65, KEYS - 2, KEYS - 1};
    batch b = good(POINTERS);
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        int at = positions[i];
        CONTEXT("key %d", at);
        keys[at] = NULL;
        REFUSE(&b, GLOOM_ERR_NULL);
        lens[at] = 1;
        REFUSE(&b, GLOOM_ERR_NULL);
        lens[at] = 0;
        ACCEPT(&b);
        make_good();
        /* Nobody asks what is behind the last key. */
        if (at == KEYS - 1) {
            keys[at] = NULL;
            b.n = KEYS - 1;
            ACCEPT(&b);
            make_good();
        }
    }
}

/* A length that no object has, wherever it stands. */
static void long_keys(void)
{
    static const int positions[] = {0, 1, 63, 64, 65, KEYS - 2, KEYS - 1};
    const size_t sizes[] = {TOO_LONG, TOO_LONG + 1, SIZE_MAX - 1, SIZE_MAX};
    batch b = good(POINTERS);
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            CONTEXT("key %d of %zu bytes", positions[i], sizes[s]);
            lens[positions[i]] = sizes[s];
            REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
            make_good();
        }
    }
    CONTEXT("%s", "");
    batch all_data = good(FIXED);
    all_data.n = 1;
    all_data.key_size = TOO_LONG;
    REFUSE(&all_data, GLOOM_ERR_INVALID_ARGUMENT);
    all_data.key_size = SIZE_MAX;
    REFUSE(&all_data, GLOOM_ERR_INVALID_ARGUMENT);
    for (int from = OFFSETS32; from <= OFFSETS64; from++) {
        b = good((source)from);
        b.data_len = TOO_LONG;
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        b.data_len = SIZE_MAX;
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    }
}

/* n * key_size, (n + 1) * sizeof offset and their like pass 2^63 or 2^64. The products that wrap to something small are
 * the dangerous ones. */
static void sizes_that_overflow(void)
{
    static const struct {
        size_t n, key_size;
    } products[] = {
        {SIZE_MAX, 1},
        {SIZE_MAX, 2},
        {SIZE_MAX, 8},
        {SIZE_MAX, SIZE_MAX},
        {(size_t)1 << 61, 8},       /* 0 */
        {((size_t)1 << 61) + 1, 8}, /* 8 */
        {(size_t)1 << 63, 2},
        {((size_t)1 << 63) + 1, 2},
        {(size_t)1 << 32, (size_t)1 << 32},
        {2, (size_t)1 << 63},
        {2, ((size_t)1 << 63) + 4},
        {8, (size_t)1 << 61},
        {(size_t)1 << 60, 8}, /* no overflow, but 2^63 */
        {((size_t)1 << 63), 1},
        {4, (size_t)1 << 61},
    };
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        CONTEXT("%zu keys of %zu bytes", products[i].n, products[i].key_size);
        batch b = good(FIXED);
        b.n = products[i].n;
        b.key_size = products[i].key_size;
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    }
    static const size_t counts[] = {
        SIZE_MAX,
        SIZE_MAX - 1, /* n + 1 is SIZE_MAX */
        (size_t)1 << 63,
        ((size_t)1 << 62) - 1, /* n + 1 offsets of 4 bytes are 2^64 */
        (size_t)1 << 62,
        ((size_t)1 << 61) - 1, /* n + 1 offsets of 8 bytes, n of 8 bytes just below 2^64 */
        (size_t)1 << 61,
    };
    for (int from = OFFSETS32; from < SOURCE_COUNT; from++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            CONTEXT("%s, %zu keys", SOURCE_NAMES[from], counts[i]);
            batch b = good((source)from);
            b.n = counts[i];
            REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        }
    }
    CONTEXT("%s", "");
    batch b = good(HASHES); /* 16 bytes each */
    b.n = (size_t)1 << 60;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    b.n = ((size_t)1 << 60) + 1;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    b.n = (size_t)1 << 59;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
}

static void misaligned_arrays(void)
{
    for (size_t by = 1; by < 8; by++) {
        CONTEXT("by %zu bytes", by);
        batch b = good(OFFSETS32);
        b.n = KEYS - 2; /* the array is still there */
        if (by % 4 != 0) {
            b.offsets32 = shifted(offsets32, by);
            REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        }
        b = good(OFFSETS64);
        b.n = KEYS - 2;
        b.offsets64 = shifted(offsets64, by);
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        b = good(POINTERS);
        b.n = KEYS - 1;
        b.keys = shifted(keys, by);
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        b.keys = keys;
        b.lens = shifted(lens, by);
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        b = good(HASHES);
        b.n = KEYS - 1;
        b.hashes = shifted(hashes, by);
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        /* Keys may lie anywhere. */
        b = good(FIXED);
        b.n = KEYS - 1;
        b.data = shifted(data, by);
        ACCEPT(&b);
    }
    CONTEXT("%s", "");
}

/* -- offsets -- */

/* Spoils one offset of both widths. */
static void set_offset(int at, int64_t value)
{
    offsets32[at] = (int32_t)value;
    offsets64[at] = value;
}

static void refuse_offsets(source from, int at, int64_t value, int line)
{
    CONTEXT("%s, offset %d is %" PRId64, SOURCE_NAMES[from], at, value);
    batch b = good(from);
    set_offset(at, value);
    refuse(&b, GLOOM_ERR_INVALID_ARGUMENT, line);
    make_good();
    CONTEXT("%s", "");
}
#define REFUSE_OFFSETS(from, at, value) refuse_offsets((from), (at), (value), __LINE__)

static const int OFFSET_POSITIONS[] = {1, 2, 31, 32, 63, 64, 65, 127, 128, KEYS - 1};
enum { POSITION_COUNT = sizeof OFFSET_POSITIONS / sizeof OFFSET_POSITIONS[0] };

static void offsets_empty(source from)
{
    CONTEXT("%s", SOURCE_NAMES[from]);
    batch b = good(from);
    b.n = 0;
    ACCEPT(&b);
    b.offsets32 = NULL;
    b.offsets64 = NULL;
    ACCEPT(&b);
    b.data = NULL;
    b.data_len = 0;
    ACCEPT(&b);
    /* Keys without data: none of them may have bytes. */
    b = good(from);
    b.data = NULL;
    b.data_len = 0;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    b.data = data;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    for (int i = 0; i <= KEYS; i++)
        set_offset(i, 0);
    ACCEPT(&b);
    b.data = NULL;
    ACCEPT(&b);
    for (int i = 0; i <= KEYS; i++)
        set_offset(i, 1); /* empty keys, but beyond the data */
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    make_good();
    CONTEXT("%s", "");
}

static void offsets_sliced(source from)
{
    CONTEXT("%s", SOURCE_NAMES[from]);
    batch b = good(from);
    b.n = KEYS - 20;
    b.offsets32 = offsets32 + 10;
    b.offsets64 = offsets64 + 10;
    ACCEPT(&b);
    b.data_len = (KEYS - 10) * KEY_SIZE; /* the last key ends here */
    ACCEPT(&b);
    b.data_len--;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    CONTEXT("%s", "");
}

static void offsets_decreasing(source from)
{
    for (int i = 0; i < POSITION_COUNT; i++) {
        int at = OFFSET_POSITIONS[i];
        REFUSE_OFFSETS(from, at, (at - 1) * KEY_SIZE - 1);
        REFUSE_OFFSETS(from, at, (at + 1) * KEY_SIZE + 1);
        if (at > 1)
            REFUSE_OFFSETS(from, at, 0);
    }
    REFUSE_OFFSETS(from, 0, KEY_SIZE + 1);
    REFUSE_OFFSETS(from, 0, DATA_LEN);
    REFUSE_OFFSETS(from, KEYS, DATA_LEN - KEY_SIZE - 1);
    REFUSE_OFFSETS(from, KEYS, 0);

    /* From the end to the start; and equal ones are not decreasing. */
    batch b = good(from);
    for (int i = 0; i <= KEYS; i++)
        set_offset(i, DATA_LEN - i);
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    for (int i = 0; i <= KEYS; i++)
        set_offset(i, DATA_LEN);
    ACCEPT(&b);
    make_good();
}

static void offsets_negative(source from)
{
    static const int64_t values[] = {-1, -KEY_SIZE, INT32_MIN};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        REFUSE_OFFSETS(from, 0, values[v]);
        REFUSE_OFFSETS(from, KEYS, values[v]);
        for (int i = 0; i < POSITION_COUNT; i++)
            REFUSE_OFFSETS(from, OFFSET_POSITIONS[i], values[v]);
    }
    /* All of them, in order. */
    batch b = good(from);
    for (int i = 0; i <= KEYS; i++)
        set_offset(i, i - KEYS - 1);
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    for (int i = 0; i <= KEYS; i++) /* the last one is not */
        set_offset(i, i - KEYS);
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    make_good();
}

static void offsets_beyond_the_data(source from)
{
    REFUSE_OFFSETS(from, KEYS, DATA_LEN + 1);
    REFUSE_OFFSETS(from, KEYS, INT32_MAX);
    for (int i = 0; i < POSITION_COUNT; i++)
        REFUSE_OFFSETS(from, OFFSET_POSITIONS[i], DATA_LEN + 1);
    batch b = good(from);
    b.data_len = DATA_LEN - 1;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    b.data_len = 1;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    for (int i = 0; i <= KEYS; i++) /* all of them: no key has bytes, and none is inside */
        set_offset(i, DATA_LEN + 1);
    b.data_len = DATA_LEN;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    make_good();
}

/* Values that are fine in their low 32 bits. */
static void wide_offsets(void)
{
    static const int64_t values[] = {((int64_t)1 << 32) + DATA_LEN, (int64_t)1 << 32, -((int64_t)1 << 32),
                                     INT64_MAX, INT64_MIN, INT64_MIN + DATA_LEN};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        REFUSE_OFFSETS(OFFSETS64, 0, values[v]);
        REFUSE_OFFSETS(OFFSETS64, 100, values[v]);
        REFUSE_OFFSETS(OFFSETS64, KEYS, values[v]);
    }
    batch b = good(OFFSETS64);
    for (int i = 0; i <= KEYS; i++)
        offsets64[i] += (int64_t)1 << 32;
    REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    make_good();
}

/* No array shows how many empty keys there are: only n itself can be too large. */
static void too_many_empty_keys(void)
{
    const size_t counts[] = {TOO_LONG, TOO_LONG + 1, SIZE_MAX - 63, SIZE_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CONTEXT("%zu keys of no bytes", counts[i]);
        batch b = {.source = FIXED, .n = counts[i]};
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
        b.data = data;
        REFUSE(&b, GLOOM_ERR_INVALID_ARGUMENT);
    }
    CONTEXT("%s", "");
}

int main(void)
{
    alarm(WATCHDOG_SECONDS); /* a batch of absurdly many keys that is not refused would not end */
    make_good();
    good_ones();
    null_filter();
    null_arrays();
    null_keys();
    long_keys();
    sizes_that_overflow();
    misaligned_arrays();
    for (int from = OFFSETS32; from <= OFFSETS64; from++) {
        offsets_empty((source)from);
        offsets_sliced((source)from);
        offsets_decreasing((source)from);
        offsets_negative((source)from);
        offsets_beyond_the_data((source)from);
    }
    wide_offsets();
    good_ones(); /* nothing is left spoilt */
    too_many_empty_keys();
    return check_report();
}
