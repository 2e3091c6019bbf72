/* Filters made of others: folded, intersected, merged from bytes; held against what the definition says, against plain
 * adding, and against threads that add meanwhile.
 *
 *   combine [keys_per_thread] */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <unistd.h>

#include "filters.h"
#include "jobs.h"
#include "native.h"

enum { WATCHDOG_SECONDS = 600, ALIGNMENTS = 64 };

static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)

static uint64_t keys_per_thread = 50000;

/* -- fold -- */

/* Folded is what adding to the smaller filter makes. */
static void every_divisor(int32_t kind, uint64_t num_blocks, uint32_t k, uint64_t seed)
{
    uint64_t keys = num_blocks * 6;
    gloom_filter *filter = make_filter(kind, num_blocks, k, seed);
    gloom_error error;
    add_numbers(filter, 0, keys);
    add_numbers(filter, 0, 5); /* again */
    filter_state before = state_of(filter);
    for (uint64_t factor = 0; factor <= 2 * num_blocks; factor++) {
        gloom_filter *folded = NO_FILTER;
        CONTEXT("kind %d, %" PRIu64 " blocks, k %u, seed %" PRIu64 ", factor %" PRIu64, (int)kind, num_blocks, k,
                seed, factor);
        gloom_status status = gloom_fold(filter, factor, &folded, &error);
        if (factor == 0 || num_blocks % factor != 0) {
            char text[32];
            (void)snprintf(text, sizeof text, "factor = %" PRIu64 ":", factor);
            CHECK_STATUS(status, GLOOM_ERR_INVALID_ARGUMENT);
            CHECK_STATUS(error.status, GLOOM_ERR_INVALID_ARGUMENT);
            CHECK_HAS(error.message, text);
            CHECK(folded == NO_FILTER);
            continue;
        }
        CHECK_OK(status);
        REQUIRE(folded != NO_FILTER);
        gloom_filter *direct = make_filter(GLOOM_KIND_PLAIN, num_blocks / factor, k, seed);
        add_numbers(direct, 0, keys);
        CHECK(gloom_equal(folded, direct));
        CHECK_U64((uint64_t)gloom_kind_of(folded), (uint64_t)kind);
        CHECK_U64(gloom_num_blocks(folded), num_blocks / factor);
        CHECK_U64(gloom_k(folded), k);
        CHECK_U64(gloom_seed(folded), seed);
        CHECK_U64(gloom_count(folded), keys + 5);
        CHECK(gloom_num_shards(folded) <= gloom_num_blocks(folded));
        CHECK_U64(numbers_missing(folded, 0, keys), 0);

        /* On its own, and a filter like any other. */
        add_numbers(folded, keys, keys + 20);
        add_numbers(direct, keys, keys + 20);
        CHECK(gloom_equal(folded, direct));
        CHECK_U64(gloom_count(folded), keys + 25);
        gloom_free(direct);
        gloom_free(folded);
    }
    static const uint64_t huge[] = {(uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        gloom_filter *folded = NO_FILTER;
        CHECK_STATUS(gloom_fold(filter, huge[i], &folded, NULL), GLOOM_ERR_INVALID_ARGUMENT);
        CHECK(folded == NO_FILTER);
    }
    CHECK(is_still(filter, before));
    gloom_free(filter);
    CONTEXT("%s", "");
}

/* In one step or in several: the same. Sized with block_multiple, a filter can be folded. */
static void in_steps(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL, *once = NULL, *half = NULL, *twice = NULL, *none = NULL;
    options.kind = GLOOM_KIND_SHARDED;
    options.expected_items = 100000;
    options.fp_rate = 0.001;
    options.block_multiple = 12;
    CHECK_OK(gloom_create(&options, &filter, NULL));
    CHECK_U64(gloom_num_blocks(filter) % 12, 0);
    add_numbers(filter, 0, 30000);
    CHECK_OK(gloom_fold(filter, 12, &once, NULL));
    CHECK_OK(gloom_fold(filter, 4, &half, NULL));
    CHECK_OK(gloom_fold(half, 3, &twice, NULL));
    CHECK_OK(gloom_fold(filter, 1, &none, NULL));
    CHECK(gloom_equal(once, twice));
    CHECK(gloom_equal(filter, none));
    CHECK(gloom_current_fp_rate(once) > gloom_current_fp_rate(half));
    CHECK_U64(numbers_missing(once, 0, 30000), 0);
    /* Two that were folded can be merged, and folding the merged is the same. */
    gloom_filter *other = make_filter(GLOOM_KIND_ATOMIC, gloom_num_blocks(filter), gloom_k(filter), 0);
    gloom_filter *other_once = NULL, *merged_once = NULL;
    add_numbers(other, 30000, 50000);
    CHECK_OK(gloom_fold(other, 12, &other_once, NULL));
    CHECK_OK(gloom_merge(once, other_once, NULL));
    CHECK_OK(gloom_merge(filter, other, NULL));
    CHECK_OK(gloom_fold(filter, 12, &merged_once, NULL));
    CHECK(gloom_equal(once, merged_once));
    gloom_free(merged_once);
    gloom_free(other_once);
    gloom_free(other);
    gloom_free(none);
    gloom_free(twice);
    gloom_free(half);
    gloom_free(once);
    gloom_free(filter);
}

/* -- intersect -- */

/* Word for word. */
static void intersected(int32_t kind, int32_t other_kind, uint64_t num_blocks, uint32_t k)
{
    uint64_t keys = num_blocks * 4, words = num_blocks * WORDS_PER_BLOCK, wrong = 0;
    gloom_filter *target = make_filter(kind, num_blocks, k, 5), *source = make_filter(other_kind, num_blocks, k, 5);
    CONTEXT("kinds %d and %d, %" PRIu64 " blocks, k %u", (int)kind, (int)other_kind, num_blocks, k);
    add_numbers(target, 0, 2 * keys);
    add_numbers(source, keys, 3 * keys + 11);
    filter_state before = state_of(target), source_before = state_of(source);
    CHECK_OK(gloom_intersect(target, source, NULL));
    CHECK(is_still(source, source_before));
    CHECK_U64(numbers_missing(target, keys, 2 * keys), 0);
    CHECK_U64(gloom_count(target), 2 * keys);
    const uint64_t *after = gloom_blocks(target), *mask = gloom_blocks(source);
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, before.blocks + 8 * i, 8);
        wrong += after[i] != (word & mask[i]);
    }
    CHECK_U64(wrong, 0);
    CHECK(num_blocks < 50 || numbers_missing(target, 0, keys) > keys / 2);

    /* Once more changes nothing, nor does the filter itself; adds go on from there. */
    free(before.blocks);
    before = state_of(target);
    CHECK_OK(gloom_intersect(target, source, NULL));
    CHECK_OK(gloom_intersect(target, target, NULL));
    CHECK(is_still(target, before));
    add_numbers(target, 0, 10);
    CHECK_U64(gloom_count(target), 2 * keys + 10);
    CHECK_U64(numbers_missing(target, 0, 10), 0);

    /* The smaller count, whichever it is; and nothing with nothing. */
    gloom_filter *empty = make_filter(other_kind, num_blocks, k, 5);
    CHECK_OK(gloom_intersect(source, target, NULL));
    CHECK_U64(gloom_count(source), 2 * keys + 10);
    CHECK_OK(gloom_intersect(target, empty, NULL));
    CHECK_U64(gloom_count(target), 0);
    CHECK_U64(bits_set(target), 0);
    CHECK_OK(gloom_intersect(empty, source, NULL));
    CHECK_U64(gloom_count(empty), 0);
    CHECK_U64(bits_set(empty), 0);
    gloom_free(empty);
    gloom_free(source);
    gloom_free(target);
    CONTEXT("%s", "");
}

/* -- what does not match -- */

static void incompatible(int32_t kind)
{
    static const struct {
        uint64_t num_blocks;
        uint32_t k;
        uint64_t seed;
        const char *name, *ours, *theirs;
    } cases[] = {
        {11, 7, 0, "num_blocks", "10", "11"}, {5, 7, 0, "num_blocks", "10", "5"},
        {10, 6, 0, "k", "7", "6"},            {10, 7, 5, "seed", "0", "5"},
        {10, 7, UINT64_MAX, "seed", "0", "18446744073709551615"},
    };
    gloom_filter *target = make_filter(kind, 10, 7, 0);
    gloom_error error;
    add_numbers(target, 0, 50);
    filter_state before = state_of(target);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int other = 0; other < KIND_COUNT; other++) {
            gloom_filter *source = make_filter(KINDS[other], cases[i].num_blocks, cases[i].k, cases[i].seed);
            CONTEXT("kind %d, case %zu, kind %d", (int)kind, i, (int)KINDS[other]);
            add_numbers(source, 20, 90);
            CHECK_STATUS(gloom_intersect(target, source, &error), GLOOM_ERR_INCOMPATIBLE);
            CHECK_HAS(error.message, cases[i].name);
            CHECK_HAS(error.message, cases[i].ours);
            CHECK_HAS(error.message, cases[i].theirs);
            for (int format = cases[i].seed == 0 ? 0 : 1; format < FORMAT_COUNT; format++) {
                size_t len;
                int32_t number = cases[i].seed == 0 ? FORMATS[format] : GLOOM_FORMAT_NATIVE;
                unsigned char *bytes = bytes_of(source, number, &len);
                CHECK_STATUS(gloom_merge_serialized(target, bytes, len, &error), GLOOM_ERR_INCOMPATIBLE);
                CHECK_HAS(error.message, cases[i].name);
                CHECK_HAS(error.message, cases[i].ours);
                CHECK_HAS(error.message, cases[i].theirs);
                free(bytes);
            }
            gloom_free(source);
        }
    }
    CHECK(is_still(target, before));
    /* Format v1 says seed 0, which this filter has not. */
    gloom_filter *seeded = make_filter(kind, 10, 7, 1);
    size_t len;
    unsigned char *bytes = v1_of(target, &len);
    before = state_of(seeded);
    CHECK_STATUS(gloom_merge_serialized(seeded, bytes, len, &error), GLOOM_ERR_INCOMPATIBLE);
    CHECK_HAS(error.message, "seed");
    CHECK(is_still(seeded, before));
    free(bytes);
    gloom_free(seeded);
    gloom_free(target);
    CONTEXT("%s", "");
}

/* -- merging bytes -- */

/* Merging the bytes is merging the filter; wherever they lie. 600 blocks: more than are taken at a time. */
static void every_alignment(int32_t kind, int32_t format)
{
    enum { BLOCKS = 600, KEYS = 3000 };
    gloom_filter *source = make_filter(GLOOM_KIND_PLAIN, BLOCKS, 7, 0), *merged = make_filter(kind, BLOCKS, 7, 0);
    size_t len;
    add_numbers(source, 0, KEYS);
    add_numbers(merged, KEYS, KEYS + 100);
    CHECK_OK(gloom_merge(merged, source, NULL));
    unsigned char *bytes = bytes_of(source, format, &len);
    for (size_t at = 0; at < ALIGNMENTS; at++) {
        CONTEXT("kind %d, format %d, alignment %zu", (int)kind, (int)format, at);
        unsigned char *buffer = malloc(at + len); /* ends where the bytes end */
        gloom_filter *target = make_filter(kind, BLOCKS, 7, 0), *empty = make_filter(kind, BLOCKS, 7, 0);
        REQUIRE(buffer != NULL);
        REQUIRE((uintptr_t)buffer % 16 == 0);
        memcpy(buffer + at, bytes, len);
        add_numbers(target, KEYS, KEYS + 100);
        CHECK_OK(gloom_merge_serialized(target, buffer + at, len, NULL));
        CHECK(gloom_equal(target, merged));
        CHECK_U64(gloom_count(target), KEYS + 100);
        CHECK_OK(gloom_merge_serialized(empty, buffer + at, len, NULL));
        CHECK(gloom_equal(empty, source));
        CHECK_U64(gloom_count(empty), KEYS);
        CHECK(memcmp(buffer + at, bytes, len) == 0);
        gloom_free(empty);
        gloom_free(target);
        free(buffer);
    }
    free(bytes);
    gloom_free(merged);
    gloom_free(source);
    CONTEXT("%s", "");
}

/* Whatever is wrong, and if it is only the last bit: the target is as it was. (native_corrupt.c tries every bit.) */
static void damaged_bytes(int32_t kind, int32_t format)
{
    enum { BLOCKS = 600 };
    gloom_filter *source = make_filter(GLOOM_KIND_PLAIN, BLOCKS, 7, 0), *target = make_filter(kind, BLOCKS, 7, 0);
    gloom_error error;
    size_t len;
    CONTEXT("damaged bytes, kind %d, format %d", (int)kind, (int)format);
    add_numbers(source, 0, 3000);
    add_numbers(target, 5000, 5010);
    filter_state before = state_of(target);
    unsigned char *bytes = bytes_of(source, format, &len);
    size_t blocks = format == GLOOM_FORMAT_V1 ? V1_BLOCKS : NATIVE_BLOCKS;
    const size_t places[] = {blocks, blocks + 16384, blocks + BLOCKS * BYTES_PER_BLOCK - 1, len - 16, len - 8,
                             len - 4, len - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bytes[places[i]] ^= 0x80;
        CHECK_STATUS(gloom_merge_serialized(target, bytes, len, &error), GLOOM_ERR_CORRUPT);
        CHECK_STATUS(error.status, GLOOM_ERR_CORRUPT);
        bytes[places[i]] ^= 0x80;
    }
    for (size_t cut = 1; cut < len; cut = cut * 3 / 2 + 1)
        CHECK_STATUS(gloom_merge_serialized(target, bytes, len - cut, &error), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_merge_serialized(target, bytes, 0, &error), GLOOM_ERR_CORRUPT);
    CHECK_STATUS(gloom_merge_serialized(target, NULL, 0, &error), GLOOM_ERR_CORRUPT);
    CHECK(is_still(target, before));
    CHECK_OK(gloom_merge_serialized(target, bytes, len, NULL));
    CHECK_U64(numbers_missing(target, 0, 3000), 0);
    free(bytes);
    gloom_free(target);
    gloom_free(source);
    CONTEXT("%s", "");
}

/* Counts saturate, as those of merged filters do. */
static void counts(void)
{
    gloom_filter *source = make_filter(GLOOM_KIND_PLAIN, 3, 7, 0);
    size_t len;
    unsigned char *bytes = v1_of(source, &len);
    put_little_endian(bytes + V1_COUNT, UINT64_MAX - 5, 8);
    v1_seal(bytes, len);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        gloom_filter *target = make_filter(KINDS[kind], 3, 7, 0), *folded = NULL;
        add_numbers(target, 0, 3);
        CHECK_OK(gloom_merge_serialized(target, bytes, len, NULL));
        CHECK_U64(gloom_count(target), UINT64_MAX - 2);
        CHECK_OK(gloom_merge_serialized(target, bytes, len, NULL));
        CHECK_U64(gloom_count(target), UINT64_MAX);
        CHECK_OK(gloom_fold(target, 3, &folded, NULL));
        CHECK_U64(gloom_count(folded), UINT64_MAX);
        CHECK_OK(gloom_intersect(target, source, NULL));
        CHECK_U64(gloom_count(target), 0);
        gloom_free(folded);
        gloom_free(target);
    }
    free(bytes);
    gloom_free(source);
}

/* -- while others add -- */

static void start_adders(job *jobs, gloom_filter *filter)
{
    reset_progress(THREADS);
    share_out(jobs, THREADS, reporting_adder, filter, keys_per_thread);
}

/* Folds the live filter, or intersects a full one with it: what was in stays. */
static void taker(job *self)
{
    uint64_t num_blocks = gloom_num_blocks(self->filter);
    bool last;
    do {
        uint64_t added[THREADS];
        gloom_filter *taken = NULL;
        last = atomic_load(&writers_left) == 0;
        read_progress(added);
        if (self->index % 2 == 0) {
            self->bad += gloom_fold(self->filter, 5, &taken, NULL) != GLOOM_OK;
        } else {
            /* All that will be added are in this one. */
            self->bad += gloom_clone(self->other, &taken, NULL) != GLOOM_OK;
            self->bad += gloom_intersect(taken, self->filter, NULL) != GLOOM_OK;
        }
        REQUIRE(taken != NULL);
        self->bad += gloom_num_blocks(taken) != (self->index % 2 == 0 ? num_blocks / 5 : num_blocks);
        self->bad += missing_of(taken, added, keys_per_thread);
        gloom_free(taken);
    } while (!last);
}

static void live_sources(int32_t kind)
{
    enum { TAKERS = 4, LIVE_BLOCKS = 20000 };
    job jobs[THREADS + TAKERS];
    gloom_filter *filter = make_filter(kind, LIVE_BLOCKS, 7, 0);
    gloom_filter *full = plain_filter_of(LIVE_BLOCKS, 7, THREADS * keys_per_thread);
    CONTEXT("live sources, kind %d", (int)kind);
    start_adders(jobs, filter);
    for (unsigned i = 0; i < TAKERS; i++)
        jobs[THREADS + i] = (job){.body = taker, .filter = filter, .other = full, .index = i};
    run(jobs, THREADS + TAKERS);
    CHECK_U64(sum_of_bad(jobs, THREADS + TAKERS), 0);
    CHECK(gloom_equal(filter, full));
    gloom_free(full);
    gloom_free(filter);
    CONTEXT("%s", "");
}

enum { MERGES = 8 };

/* Merges filters and their bytes in both formats into one that others add to. */
static void merger(job *self)
{
    uint64_t each = (self->end - self->first) / MERGES;
    for (unsigned round = 0; round < MERGES; round++) {
        uint64_t first = self->first + round * each;
        gloom_filter *source = make_filter(KINDS[(self->index + round) % KIND_COUNT],
                                           gloom_num_blocks(self->filter), gloom_k(self->filter), 0);
        for (uint64_t i = first; i < first + each; i++)
            self->bad += add_number(source, i) != GLOOM_OK;
        if (round % 3 == 0) {
            self->bad += gloom_merge(self->filter, source, NULL) != GLOOM_OK;
        } else {
            size_t len;
            unsigned char *bytes = bytes_of(source, FORMATS[round % FORMAT_COUNT], &len);
            self->bad += gloom_merge_serialized(self->filter, bytes, len, NULL) != GLOOM_OK;
            free(bytes);
        }
        for (uint64_t i = first; i < first + each; i++) /* seen from when the merge returned */
            self->bad += !test_number(self->filter, i);
        gloom_free(source);
    }
}

/* Also into few blocks, where merges and adds meet. */
static void live_targets(int32_t kind, uint64_t num_blocks, uint64_t rounds)
{
    enum { MERGERS = 4 };
    job jobs[THREADS + MERGERS];
    uint64_t each = keys_per_thread / (10 * rounds) / MERGES * MERGES, bad = 0, lost = 0, miscounted = 0;
    uint64_t keys = keys_per_thread / rounds, all = THREADS * keys + MERGERS * each;
    gloom_filter *plain = plain_filter_of(num_blocks, 7, all);
    CONTEXT("live targets, kind %d, %" PRIu64 " blocks", (int)kind, num_blocks);
    REQUIRE(each > 0);
    for (uint64_t round = 0; round < rounds; round++) {
        gloom_filter *filter = make_filter(kind, num_blocks, 7, 0);
        start_adders(jobs, filter);
        for (unsigned t = 0; t < THREADS; t++) {
            jobs[t].first = t * keys;
            jobs[t].end = jobs[t].first + keys;
        }
        for (unsigned i = 0; i < MERGERS; i++)
            jobs[THREADS + i] = (job){.body = merger,
                                      .filter = filter,
                                      .index = i,
                                      .first = THREADS * keys + i * each,
                                      .end = THREADS * keys + (i + 1) * each};
        run(jobs, THREADS + MERGERS);
        bad += sum_of_bad(jobs, THREADS + MERGERS);
        lost += !gloom_equal(filter, plain);
        miscounted += gloom_count(filter) != all;
        gloom_free(filter);
    }
    CHECK_U64(bad, 0);
    CHECK_U64(lost, 0);
    CHECK_U64(miscounted, 0);
    gloom_free(plain);
    CONTEXT("%s", "");
}

int main(int argc, char **argv)
{
    static const uint64_t sizes[] = {1, 3, 257, 5000};
    if (argc > 1)
        keys_per_thread = strtoull(argv[1], NULL, 10);
    REQUIRE(keys_per_thread >= 20000);
    alarm(WATCHDOG_SECONDS); /* a deadlock ends the program */
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        for (uint32_t k = LAYOUT_MIN_K; k <= LAYOUT_MAX_K; k++)
            every_divisor(KINDS[kind], 60, k, k % 2 == 0 ? 0 : 77);
        every_divisor(KINDS[kind], 1, 7, 0);
        every_divisor(KINDS[kind], 13, 7, UINT64_MAX);
        every_divisor(KINDS[kind], 720, 7, 0);
        for (int other = 0; other < KIND_COUNT; other++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
                intersected(KINDS[kind], KINDS[other], sizes[i], (uint32_t)(LAYOUT_MIN_K + 5 * i % 15));
        incompatible(KINDS[kind]);
        for (int format = 0; format < FORMAT_COUNT; format++) {
            every_alignment(KINDS[kind], FORMATS[format]);
            damaged_bytes(KINDS[kind], FORMATS[format]);
        }
    }
    in_steps();
    counts();
    live_sources(GLOOM_KIND_ATOMIC);
    live_sources(GLOOM_KIND_SHARDED);
    live_targets(GLOOM_KIND_ATOMIC, 3000, 1);
    live_targets(GLOOM_KIND_SHARDED, 3000, 1);
    live_targets(GLOOM_KIND_ATOMIC, 3, 200);
    live_targets(GLOOM_KIND_SHARDED, 3, 200);
    return check_report();
}
