/* Batches do what single calls do: the same bits, the same count, the same answers in the caller's order, wherever the
 * keys lie and however long and many they are. Nothing beyond the keys is read, nothing beyond the results written. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "keys.h"
#include "v1.h"

static uint64_t rng = 20240607;

/* A batch is handled in groups of 64 and, where it is added to shards, in rounds of 2048: both sides of each. */
static const size_t COUNTS[] = {1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 2047, 2048, 2049, 10000};
static const uint64_t SEEDS[] = {0, 1, 0x9e3779b97f4a7c15, UINT64_MAX};
enum { COUNT_COUNT = sizeof COUNTS / sizeof COUNTS[0], SEED_COUNT = sizeof SEEDS / sizeof SEEDS[0] };
enum { LONGEST_KEY = 300, MOST_KEYS = 10000 };

/* -- filters of every kind -- */

typedef struct {
    int32_t kind;
    uint64_t num_blocks;
    uint32_t num_shards;
} shape;

static const shape ANY_KIND[KIND_COUNT] = {
    {GLOOM_KIND_PLAIN, 500, 0}, {GLOOM_KIND_ATOMIC, 500, 0}, {GLOOM_KIND_SHARDED, 500, 16}};

/* One block and few; shards: one, two, as many as blocks, more than a round is sorted by (256) or has keys (2048). */
static const shape SHAPES[] = {
    {GLOOM_KIND_PLAIN, 1000, 0},      {GLOOM_KIND_PLAIN, 1, 0},         {GLOOM_KIND_PLAIN, 3, 0},
    {GLOOM_KIND_ATOMIC, 1000, 0},     {GLOOM_KIND_ATOMIC, 1, 0},        {GLOOM_KIND_ATOMIC, 3, 0},
    {GLOOM_KIND_SHARDED, 1000, 0},    {GLOOM_KIND_SHARDED, 1000, 1},    {GLOOM_KIND_SHARDED, 1000, 2},
    {GLOOM_KIND_SHARDED, 1000, 256},  {GLOOM_KIND_SHARDED, 1000, 512},  {GLOOM_KIND_SHARDED, 1, 1},
    {GLOOM_KIND_SHARDED, 3, 2},       {GLOOM_KIND_SHARDED, 64, 64},     {GLOOM_KIND_SHARDED, 4096, 4096},
};

static gloom_filter *filter_of(const shape *s, uint32_t k, uint64_t seed)
{
    return make_sharded(s->kind, s->num_blocks, k, seed, s->num_shards);
}

/* -- keys of any length -- */

/* Both sides of each length at which XXH3 does something else. */
static const size_t EDGES[] = {0,  1,  2,  3,  4,   5,   7,   8,   9,   15,  16,  17,  31,  32,
                               33, 63, 64, 65, 127, 128, 129, 239, 240, 241, 255, 256, 257, LONGEST_KEY};
enum { EDGE_COUNT = sizeof EDGES / sizeof EDGES[0] };

typedef enum { AS_STRINGS, AT_EDGES, SHORT, ANY_LENGTH, MIX_COUNT } mix;
static const char *const MIX_NAMES[MIX_COUNT] = {"strings", "edges", "short", "any length"};

static size_t length_of_mix(mix m)
{
    switch (m) {
    case AS_STRINGS: return 16 + (size_t)rng_below(&rng, 9); /* "user:17:block:99" */
    case AT_EDGES: return EDGES[rng_below(&rng, EDGE_COUNT)];
    case SHORT: return (size_t)rng_below(&rng, 35);
    default: return (size_t)rng_below(&rng, LONGEST_KEY + 1);
    }
}

static key_set keys_of_mix(place where, size_t n, mix m, size_t before, size_t behind, uint64_t seed)
{
    static size_t lens[MOST_KEYS];
    for (size_t i = 0; i < n; i++)
        lens[i] = length_of_mix(m);
    return make_keys(where, n, lens, before, behind, seed, &rng);
}

static key_set keys_of_length(place where, size_t n, size_t len, uint64_t seed)
{
    static size_t lens[MOST_KEYS];
    for (size_t i = 0; i < n; i++)
        lens[i] = len;
    return make_keys(where, n, lens, 0, 0, seed, &rng);
}

/* -- what must hold -- */

/* That both were seen often is checked at the end: a filter that always says yes would pass the rest. */
static uint64_t hits_seen, misses_seen;

enum { CANARIES = 64, CANARY = 0xcc };

/* How many of the bytes are not canaries. */
static uint64_t canaries_dead(const uint8_t *bytes, size_t n)
{
    uint64_t dead = 0;
    for (size_t i = 0; i < n; i++)
        dead += bytes[i] != CANARY;
    return dead;
}

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static void check_tests(const gloom_filter *filter, const batch *b, place where, const uint8_t *expected)
{
    size_t canaries = where == ON_HEAP ? CANARIES : 0; /* a guard needs none */
    uint8_t *memory = take_piece(where, b->n + 2 * canaries);
    uint8_t *results = memory + canaries;
    size_t *hits = take_piece(where, sizeof *hits);
    uint64_t expected_hits = 0;
    for (size_t i = 0; i < b->n; i++)
        expected_hits += expected[i];
    filter_state before = state_of(filter);

    memset(memory, CANARY, b->n + 2 * canaries);
    *hits = 4711;
    CHECK_OK(test_batch(filter, b, results, hits));
    CHECK_U64(*hits, expected_hits);
    CHECK_U64(first_difference(results, expected, b->n), b->n);
    CHECK_U64(canaries_dead(memory, canaries) + canaries_dead(results + b->n, canaries), 0);

    memset(memory, CANARY, b->n + 2 * canaries);
    CHECK_OK(test_batch(filter, b, results, NULL));
    CHECK_U64(first_difference(results, expected, b->n), b->n);
    CHECK_U64(canaries_dead(memory, canaries) + canaries_dead(results + b->n, canaries), 0);

    *hits = 4711;
    CHECK_OK(test_batch(filter, b, NULL, hits));
    CHECK_U64(*hits, expected_hits);
    CHECK_OK(test_batch(filter, b, NULL, NULL));

    CHECK(is_still(filter, before));
    hits_seen += expected_hits;
    misses_seen += b->n - expected_hits;
}

/* Holds every source against single calls of filters of the same shape: `all` has every key, `some` about half. */
static void check_batches(const key_set *keys, const shape *s, uint32_t k, uint64_t seed, const char *what)
{
    gloom_filter *all = filter_of(s, k, seed);
    gloom_filter *some = filter_of(s, k, seed);
    uint8_t *expected = malloc(keys->n + 1);
    REQUIRE(expected != NULL);
    for (size_t i = 0; i < keys->n; i++) {
        CHECK_OK(gloom_add(all, keys->keys[i], keys->lens[i]));
        if (rng_below(&rng, 2) == 0)
            CHECK_OK(gloom_add(some, keys->keys[i], keys->lens[i]));
    }
    for (size_t i = 0; i < keys->n; i++)
        expected[i] = gloom_test(some, keys->keys[i], keys->lens[i]);

    for (int from = keys->of_one_size ? FIXED : OFFSETS32; from < SOURCE_COUNT; from++) {
        CONTEXT("%s, %zu keys %s, %s; kind %d, %" PRIu64 " blocks, %u shards, k %u, seed %" PRIu64,
                SOURCE_NAMES[from], keys->n, PLACE_NAMES[keys->where], what, (int)s->kind, s->num_blocks,
                s->num_shards, k, seed);
        batch b = batch_of(keys, (source)from);
        gloom_filter *filter = filter_of(s, k, seed);
        for (uint64_t times = 1; times <= 2; times++) { /* keys that are there count, too */
            CHECK_OK(add_batch(filter, &b));
            CHECK(gloom_equal(filter, all));
            CHECK_U64(gloom_count(filter), times * keys->n);
        }
        gloom_free(filter);
        check_tests(some, &b, keys->where, expected);
    }
    CONTEXT("%s", "");
    free(expected);
    gloom_free(some);
    gloom_free(all);
}

/* -- the cases -- */

static void no_keys(void)
{
    static const int32_t zero32 = 0;
    static const int64_t zero64 = 0;
    const batch without_memory[] = {{.source = FIXED, .key_size = 8}, {.source = FIXED},   {.source = OFFSETS32},
                                    {.source = OFFSETS64},            {.source = POINTERS}, {.source = HASHES}};
    const batch with_memory[] = {{.source = FIXED, .data = "", .key_size = 8},
                                 {.source = OFFSETS32, .data = "", .offsets32 = &zero32},
                                 {.source = OFFSETS64, .data = "", .offsets64 = &zero64},
                                 {.source = OFFSETS32, .offsets32 = &zero32},
                                 {.source = OFFSETS64, .offsets64 = &zero64},
                                 {.source = OFFSETS32, .data = "abc", .data_len = 3, .offsets32 = &zero32},
                                 {.source = OFFSETS64, .data = "abc", .data_len = 3, .offsets64 = &zero64}};
    enum { WITHOUT = sizeof without_memory / sizeof without_memory[0] };
    enum { WITH = sizeof with_memory / sizeof with_memory[0] };
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        gloom_filter *filter = filter_of(&ANY_KIND[kind], 7, 0);
        add_numbers(filter, 0, 10);
        filter_state before = state_of(filter);
        for (int i = 0; i < WITHOUT + WITH; i++) {
            const batch *b = i < WITHOUT ? &without_memory[i] : &with_memory[i - WITHOUT];
            uint8_t result = CANARY;
            size_t hits = 4711;
            CONTEXT("no keys: %s, kind %d, case %d", SOURCE_NAMES[b->source], (int)KINDS[kind], i);
            CHECK_OK(add_batch(filter, b));
            CHECK_OK(test_batch(filter, b, NULL, NULL));
            CHECK_OK(test_batch(filter, b, &result, &hits));
            CHECK_U64(hits, 0);
            CHECK_U64(result, CANARY);
        }
        CHECK(is_still(filter, before));
        gloom_free(filter);
    }
    CONTEXT("%s", "");
}

/* The empty key is a key: in every source, also as NULL, and n of them count n. */
static void empty_keys(int32_t kind)
{
    enum { N = 130 };
    static const int32_t zeros32[N + 1];
    static const int64_t zeros64[N + 1];
    static const void *nulls[N];
    static const size_t zeros[N];
    static gloom_hash hashes[N];
    for (int i = 0; i < N; i++)
        hashes[i] = gloom_hash_key(NULL, 0, 0);
    const batch batches[] = {{.source = FIXED, .n = N},
                             {.source = FIXED, .n = N, .data = "x"},
                             {.source = OFFSETS32, .n = N, .offsets32 = zeros32},
                             {.source = OFFSETS64, .n = N, .offsets64 = zeros64},
                             {.source = OFFSETS32, .n = N, .data = "x", .data_len = 1, .offsets32 = zeros32},
                             {.source = OFFSETS64, .n = N, .data = "x", .data_len = 1, .offsets64 = zeros64},
                             {.source = POINTERS, .n = N, .keys = nulls, .lens = zeros},
                             {.source = HASHES, .n = N, .hashes = hashes}};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        gloom_filter *filter = make_filter(kind, 100, 7, 0);
        uint8_t results[N];
        size_t hits = 4711;
        CONTEXT("empty keys: %s, kind %d, case %zu", SOURCE_NAMES[batches[i].source], (int)kind, i);
        CHECK_OK(gloom_add(filter, "\0", 1)); /* "" is not "\0" */
        CHECK_OK(test_batch(filter, &batches[i], results, &hits));
        CHECK_U64(hits, 0);
        CHECK(results[0] == 0 && memcmp(results, results + 1, N - 1) == 0);
        CHECK_OK(add_batch(filter, &batches[i]));
        CHECK(gloom_test(filter, NULL, 0));
        CHECK_U64(bits_set(filter), 14);
        CHECK_U64(gloom_count(filter), N + 1);
        CHECK_OK(test_batch(filter, &batches[i], results, &hits));
        CHECK_U64(hits, N);
        CHECK(results[0] == 1 && memcmp(results, results + 1, N - 1) == 0);
        gloom_free(filter);
    }
    CONTEXT("%s", "");
}

/* Every number of keys in filters of every shape. */
static void every_count(void)
{
    static const size_t sizes[] = {0, 1, 3, 4, 8, 16, 20, 32, 64, 65};
    static const shape most_shards = {GLOOM_KIND_SHARDED, 65536 + 17, 65536};
    for (size_t c = 0; c < COUNT_COUNT; c++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            char what[40];
            (void)snprintf(what, sizeof what, "of %zu bytes", sizes[s]);
            key_set keys = keys_of_length(ON_HEAP, COUNTS[c], sizes[s], 0);
            for (int kind = 0; kind < KIND_COUNT; kind++)
                check_batches(&keys, &ANY_KIND[kind], 7, 0, what);
            give_pieces_back();
        }
        for (int m = 0; m < MIX_COUNT; m++) {
            key_set keys = keys_of_mix(ON_HEAP, COUNTS[c], (mix)m, 0, 0, 0);
            for (int kind = 0; kind < KIND_COUNT; kind++)
                check_batches(&keys, &ANY_KIND[kind], 7, 0, MIX_NAMES[m]);
            give_pieces_back();
        }
        key_set keys = keys_of_mix(ON_HEAP, COUNTS[c], AS_STRINGS, 0, 0, 0);
        for (size_t s = 0; s < sizeof SHAPES / sizeof SHAPES[0]; s++)
            check_batches(&keys, &SHAPES[s], 7, 0, MIX_NAMES[AS_STRINGS]);
        if (COUNTS[c] == MOST_KEYS)
            check_batches(&keys, &most_shards, 7, 0, MIX_NAMES[AS_STRINGS]);
        give_pieces_back();
    }
}

/* Keys with bytes >= 0x80, and of nothing else: no code may depend on the sign of char (leveldb 243, bits-and-blooms
 * 68). */
static void high_bytes(void)
{
    static const unsigned char bytes[] = {0x00, 0x7f, 0x80, 0xff};
    for (size_t len = 1; len <= 80; len++) {
        key_set keys = keys_of_length(ON_HEAP, sizeof bytes, len, 0);
        for (size_t i = 0; i < sizeof bytes; i++) {
            memset(keys.keys[i], bytes[i], len);
            memset(keys.data + i * len, bytes[i], len);
            keys.hashes[i] = gloom_hash_key(keys.keys[i], len, 0);
        }
        for (int kind = 0; kind < KIND_COUNT; kind++)
            check_batches(&keys, &ANY_KIND[kind], 7, 0, "of one byte repeated");
        give_pieces_back();
    }
}

/* Every k and some seeds. */
static void every_k_and_seed(void)
{
    for (size_t s = 0; s < SEED_COUNT; s++) {
        for (uint32_t k = LAYOUT_MIN_K; k <= LAYOUT_MAX_K; k++) {
            for (int m = 0; m <= MIX_COUNT; m++) {
                key_set keys = m == MIX_COUNT ? keys_of_length(ON_HEAP, 129, 8, SEEDS[s])
                                              : keys_of_mix(ON_HEAP, 129, (mix)m, 0, 0, SEEDS[s]);
                for (int kind = 0; kind < KIND_COUNT; kind++)
                    check_batches(&keys, &ANY_KIND[kind], k, SEEDS[s],
                                  m == MIX_COUNT ? "of 8 bytes" : MIX_NAMES[m]);
                give_pieces_back();
            }
        }
    }
}

/* A slice of an array of Arrow: its first offset is not 0 and its last not the end of the data. */
static void slices(void)
{
    static const size_t margins[][2] = {{1, 0}, {0, 1}, {3, 5}, {64, 64}, {1000, 1}, {1, 1000}};
    for (size_t c = 0; c < COUNT_COUNT; c++) {
        for (size_t i = 0; i < sizeof margins / sizeof margins[0]; i++) {
            key_set keys = keys_of_mix(ON_HEAP, COUNTS[c], AT_EDGES, margins[i][0], margins[i][1], 0);
            for (int kind = 0; kind < KIND_COUNT; kind++)
                check_batches(&keys, &ANY_KIND[kind], 7, 0, "in a slice");
            give_pieces_back();
        }
    }
    /* A slice of the offsets: keys 100 to 199 of 1000. */
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        key_set keys = keys_of_mix(ON_HEAP, 1000, ANY_LENGTH, 7, 9, 0);
        gloom_filter *all = filter_of(&ANY_KIND[kind], 7, 0);
        for (size_t i = 100; i < 200; i++)
            CHECK_OK(gloom_add(all, keys.keys[i], keys.lens[i]));
        for (int from = OFFSETS32; from < SOURCE_COUNT; from++) {
            CONTEXT("keys 100 to 199: %s, kind %d", SOURCE_NAMES[from], (int)KINDS[kind]);
            batch b = batch_of(&keys, (source)from);
            gloom_filter *filter = filter_of(&ANY_KIND[kind], 7, 0);
            b.n = 100;
            b.offsets32 = keys.offsets32 + 100;
            b.offsets64 = keys.offsets64 + 100;
            b.keys = (const void *const *)keys.keys + 100;
            b.lens = keys.lens + 100;
            b.hashes = keys.hashes + 100;
            CHECK_OK(add_batch(filter, &b));
            CHECK(gloom_equal(filter, all));
            CHECK_U64(gloom_count(filter), 100);
            gloom_free(filter);
        }
        gloom_free(all);
        give_pieces_back();
    }
    CONTEXT("%s", "");
}

/* Every length from 0 to 300, in memory of exactly that size: on the heap for the tools, and at a page that nobody may
 * touch, before it and behind it. So are the arrays and the results. */
static void every_length(place where)
{
    static const size_t counts[] = {1, 2, 8, 9, 17, 65};
    char what[40];
    for (size_t len = 0; len <= LONGEST_KEY; len++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            uint64_t seed = SEEDS[(len + c) % SEED_COUNT];
            (void)snprintf(what, sizeof what, "of %zu bytes", len);
            key_set keys = keys_of_length(where, counts[c], len, seed);
            for (int kind = 0; kind < KIND_COUNT; kind++)
                check_batches(&keys, &ANY_KIND[kind], 7, seed, what);
            give_pieces_back();
        }
        /* The same length beside others: the first of them, the last, and all in between. */
        for (size_t at = 0; at < 10; at++) {
            size_t lens[10];
            for (size_t i = 0; i < 10; i++)
                lens[i] = i == at ? len : length_of_mix(SHORT);
            key_set keys = make_keys(where, 10, lens, 0, 0, 0, &rng);
            (void)snprintf(what, sizeof what, "one of %zu bytes", len);
            check_batches(&keys, &ANY_KIND[at % KIND_COUNT], 7, 0, what);
            give_pieces_back();
        }
    }
    for (size_t n = 1; n <= 130; n++) {
        for (int m = 0; m < MIX_COUNT; m++) {
            key_set keys = keys_of_mix(where, n, (mix)m, 0, 0, 0);
            check_batches(&keys, &ANY_KIND[n % KIND_COUNT], 7, 0, MIX_NAMES[m]);
            give_pieces_back();
        }
    }
}

/* Keys at every alignment. */
static void every_alignment(void)
{
    for (size_t at = 0; at < 64; at++) {
        for (size_t len = 0; len <= 80; len++) {
            size_t lens[16];
            for (size_t i = 0; i < 16; i++)
                lens[i] = len;
            key_set keys = make_keys(ON_HEAP, 16, lens, at, 0, 0, &rng);
            for (size_t i = 0; i < 16; i++) /* also as single pointers into the data */
                keys.keys[i] = keys.data + at + i * len;
            check_batches(&keys, &ANY_KIND[(at + len) % KIND_COUNT], 7, 0, "at an offset");
            give_pieces_back();
        }
    }
}

/* One key many times over, and a batch whose keys all go to one block, or to the same two shards by turns. */
static void repeated_keys(void)
{
    enum { N = 5000 };
    for (size_t s = 0; s < sizeof SHAPES / sizeof SHAPES[0]; s++) {
        key_set keys = keys_of_mix(ON_HEAP, N, SHORT, 0, 0, 0);
        for (size_t i = 0; i < N; i++) {
            keys.keys[i] = keys.keys[i % 2];
            keys.lens[i] = keys.lens[i % 2];
            keys.hashes[i] = keys.hashes[i % 2];
        }
        gloom_filter *two = filter_of(&SHAPES[s], 7, 0);
        CHECK_OK(gloom_add(two, keys.keys[0], keys.lens[0]));
        CHECK_OK(gloom_add(two, keys.keys[1], keys.lens[1]));
        for (int from = POINTERS; from < SOURCE_COUNT; from++) {
            CONTEXT("two keys, %d times: %s, shape %zu", N / 2, SOURCE_NAMES[from], s);
            batch b = batch_of(&keys, (source)from);
            gloom_filter *filter = filter_of(&SHAPES[s], 7, 0);
            size_t hits = 0;
            CHECK_OK(add_batch(filter, &b));
            CHECK(gloom_equal(filter, two));
            CHECK_U64(gloom_count(filter), N);
            CHECK_OK(test_batch(filter, &b, NULL, &hits));
            CHECK_U64(hits, N);
            gloom_free(filter);
        }
        gloom_free(two);
        give_pieces_back();
    }
    CONTEXT("%s", "");
}

/* They take no memory, so that there may be very many. Nobody counts them one by one. */
static void very_many_empty_keys(int32_t kind)
{
    const batch b = {.source = FIXED, .n = PTRDIFF_MAX};
    gloom_filter *filter = make_filter(kind, 100, 7, 0), *one = make_filter(kind, 100, 7, 0);
    size_t hits = 4711;
    CONTEXT("very many empty keys: kind %d", (int)kind);
    CHECK_OK(test_batch(filter, &b, NULL, &hits));
    CHECK_U64(hits, 0);
    CHECK_OK(add_batch(filter, &b));
    CHECK_OK(gloom_add(one, NULL, 0));
    CHECK(gloom_equal(filter, one));
    CHECK_U64(gloom_count(filter), PTRDIFF_MAX);
    CHECK_OK(test_batch(filter, &b, NULL, &hits));
    CHECK_U64(hits, PTRDIFF_MAX);
    for (int i = 0; i < 2; i++)
        CHECK_OK(add_batch(filter, &b));
    CHECK_U64(gloom_count(filter), UINT64_MAX);
    gloom_free(one);
    gloom_free(filter);
    CONTEXT("%s", "");
}

/* A count near the end of 64 bits, as a file may claim it, does not wrap where one batch passes the end. */
static void counts_saturate(int32_t kind)
{
    size_t len;
    unsigned char *file = v1_make(100, 7, UINT64_MAX - 70, 0, &len);
    key_set keys = keys_of_length(ON_HEAP, 65, 8, 0);
    for (int from = FIXED; from < SOURCE_COUNT; from++) {
        CONTEXT("counts: %s, kind %d", SOURCE_NAMES[from], (int)kind);
        gloom_filter *filter = v1_load(file, len, kind);
        batch b = batch_of(&keys, (source)from);
        CHECK_OK(add_batch(filter, &b));
        CHECK_U64(gloom_count(filter), UINT64_MAX - 5);
        CHECK_OK(add_batch(filter, &b));
        CHECK_U64(gloom_count(filter), UINT64_MAX);
        gloom_free(filter);
    }
    CONTEXT("%s", "");
    give_pieces_back();
    free(file);
}

int main(void)
{
    no_keys();
    for (int i = 0; i < KIND_COUNT; i++) {
        empty_keys(KINDS[i]);
        very_many_empty_keys(KINDS[i]);
        counts_saturate(KINDS[i]);
    }
    every_count();
    every_k_and_seed();
    high_bytes();
    slices();
    every_alignment();
    repeated_keys();
    for (int where = 0; where < PLACE_COUNT; where++)
        every_length((place)where);
    free_pieces();
    CHECK(hits_seen > 100000 && misses_seen > 100000);
    return check_report();
}
