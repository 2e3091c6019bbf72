/* Everything at once: eight threads add to an atomic and to a sharded filter by every call that adds, and ask for what
 * they have added by every call that tests, while others copy, fold, merge, save, load, map and measure both. What must
 * hold is checked all the while; in the end each filter has the bits that one thread alone makes of the same keys. Then
 * the same with other filters.
 *
 *   soak SEED ROUNDS [MINUTES]     so many rounds, and then more until so many minutes are over */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <time.h>

#include "bulk.h"
#include "folder.h"
#include "jobs.h"
#include "native.h"
#include "streams.h"

enum {
    FILTERS = 2,
    LOOKERS = 4,
    MOST_EACH = 6000,    /* keys of a thread in each filter */
    MOST_IN_BATCH = 1500,
    FOLDABLE = 12,       /* divides every number of blocks */
    WATCHDOG_SECONDS = 600
};

/* A filter and what is known of it, for each writer. A writer changes its own numbers only, before and after its calls. */
typedef struct {
    gloom_filter *filter;
    uint64_t seed;
    _Atomic uint64_t keys[THREADS];     /* the first so many of its keys are in: their adds have returned */
    _Atomic uint64_t begun[THREADS];    /* so many adds have begun ... */
    _Atomic uint64_t returned[THREADS]; /* ... and returned */
} subject;

static subject subjects[FILTERS];
static uint64_t each; /* keys of a thread in each filter: those from thread * each on */
static atomic_ulong adds, looks;

/* -- writers -- */

enum { BY_KEY = SOURCE_COUNT, BY_HASH, TEST_AND_ADD, MERGED, MERGED_BYTES, WAYS_TO_ADD };

/* A filter that matches. */
static gloom_filter *empty_like(const subject *s, uint64_t *rng)
{
    int32_t kind = KINDS[rng_below(rng, KIND_COUNT)];
    return make_filter(kind, gloom_num_blocks(s->filter), gloom_k(s->filter), s->seed);
}

static int32_t format_for(const subject *s, uint64_t *rng)
{
    return s->seed == 0 ? FORMATS[rng_below(rng, FORMAT_COUNT)] : GLOOM_FORMAT_NATIVE;
}

/* Adds them to a filter of the thread's own, which it merges. */
static uint64_t merge_numbers(const subject *s, const batch *b, bool as_bytes, uint64_t *rng)
{
    gloom_filter *own = empty_like(s, rng);
    uint64_t bad = add_batch(own, b) != GLOOM_OK;
    if (as_bytes) {
        size_t len;
        unsigned char *bytes = bytes_of(own, format_for(s, rng), &len);
        bad += gloom_merge_serialized(s->filter, bytes, len, NULL) != GLOOM_OK;
        free(bytes);
    } else {
        bad += gloom_merge(s->filter, own, NULL) != GLOOM_OK;
    }
    gloom_free(own);
    return bad;
}

/* Adds n numbers in one of the ways; returns how many calls failed. */
static uint64_t add_in_a_way(const subject *s, bulk *memory, uint64_t way, uint64_t first, size_t n, uint64_t *rng)
{
    uint64_t bad = 0;
    memory->seed = s->seed;
    batch b = numbers(memory, way < SOURCE_COUNT ? (source)way : FIXED, first, n);
    switch (way) {
    case BY_KEY:
        for (uint64_t i = first; i < first + n; i++)
            bad += add_number(s->filter, i) != GLOOM_OK;
        return bad;
    case BY_HASH:
        for (uint64_t i = first; i < first + n; i++)
            bad += gloom_add_hash(s->filter, gloom_hash_key(&i, sizeof i, s->seed)) != GLOOM_OK;
        return bad;
    case TEST_AND_ADD:
        for (uint64_t i = first; i < first + n; i++)
            bad += gloom_test_and_add(s->filter, &i, sizeof i, NULL) != GLOOM_OK;
        return bad;
    case MERGED:
    case MERGED_BYTES: return merge_numbers(s, &b, way == MERGED_BYTES, rng);
    default: return add_batch(s->filter, &b) != GLOOM_OK;
    }
}

/* How many of these numbers of the thread's own are not found, by any call that tests. */
static uint64_t not_found(const gloom_filter *filter, uint64_t seed, bulk *memory, uint64_t first, size_t n,
                          uint64_t *rng)
{
    uint64_t way = rng_below(rng, SOURCE_COUNT + 2), missing = 0;
    memory->seed = seed;
    if (way < SOURCE_COUNT)
        return batch_missing(filter, memory, (source)way, first, n);
    if (way == SOURCE_COUNT)
        return numbers_missing(filter, first, first + n);
    for (uint64_t i = first; i < first + n; i++)
        missing += !gloom_test_hash(filter, gloom_hash_key(&i, sizeof i, seed));
    return missing;
}

/* Adds one that is in again: it is told so. */
static uint64_t add_again(subject *s, unsigned thread, uint64_t number)
{
    bool was_present = false;
    atomic_fetch_add(&s->begun[thread], 1);
    uint64_t bad = gloom_test_and_add(s->filter, &number, sizeof number, &was_present) != GLOOM_OK;
    atomic_fetch_add(&s->returned[thread], 1);
    return bad + !was_present;
}

static void writer(job *self)
{
    unsigned t = self->index;
    uint64_t rng = self->first, done[FILTERS] = {0, 0}; /* numbers that are in */
    bulk *memory = make_bulk(0);
    while (done[0] + done[1] < FILTERS * each) {
        size_t f = (size_t)rng_below(&rng, FILTERS);
        if (done[f] == each)
            f = 1 - f;
        subject *s = &subjects[f];
        uint64_t way = rng_below(&rng, WAYS_TO_ADD);
        size_t n = 1 + (size_t)rng_below(&rng, rng_below(&rng, 2) == 0 ? 70 : MOST_IN_BATCH);
        if (n > each - done[f])
            n = (size_t)(each - done[f]);
        uint64_t first = t * each + done[f];
        atomic_fetch_add(&s->begun[t], n);
        uint64_t bad = add_in_a_way(s, memory, way, first, n, &rng);
        done[f] += n;
        atomic_store(&s->keys[t], done[f]);
        atomic_fetch_add(&s->returned[t], n);
        bad += not_found(s->filter, s->seed, memory, first, n, &rng);
        uint64_t old = t * each + rng_below(&rng, done[f]);
        bad += add_again(s, t, old);
        bad += not_found(s->filter, s->seed, memory, old, (size_t)(first + n - old < 100 ? first + n - old : 100),
                         &rng);
        CONTEXT("filter %zu, %zu keys from %" PRIu64 " on, way %" PRIu64, f, n, first, way);
        CHECK_U64(bad, 0);
        atomic_fetch_add(&adds, n + 1);
    }
    report_end();
    free(memory);
}

/* -- lookers: each takes something out of the live filter, as a filter of its own -- */

/* NULL if a call failed. */
typedef gloom_filter *(*taker)(const subject *s, const char *path, uint64_t *rng);

static gloom_load_options any_kind(uint64_t *rng)
{
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    options.kind = KINDS[rng_below(rng, KIND_COUNT)];
    return options;
}

static gloom_filter *cloned(const subject *s, const char *path, uint64_t *rng)
{
    gloom_filter *out = NULL;
    (void)path, (void)rng;
    return gloom_clone(s->filter, &out, NULL) == GLOOM_OK ? out : NULL;
}

static gloom_filter *folded(const subject *s, const char *path, uint64_t *rng)
{
    static const uint64_t factors[] = {1, 2, 3, 4, 6, FOLDABLE};
    gloom_filter *out = NULL;
    (void)path;
    uint64_t factor = factors[rng_below(rng, sizeof factors / sizeof factors[0])];
    return gloom_fold(s->filter, factor, &out, NULL) == GLOOM_OK ? out : NULL;
}

static gloom_filter *merged(const subject *s, const char *path, uint64_t *rng)
{
    gloom_filter *out = empty_like(s, rng);
    (void)path;
    CHECK_OK(gloom_merge(out, s->filter, NULL));
    return out;
}

/* What is in now stays in what is in then. The smaller count is that of now. */
static gloom_filter *intersected(const subject *s, const char *path, uint64_t *rng)
{
    gloom_filter *out = cloned(s, path, rng);
    if (out != NULL)
        CHECK_OK(gloom_intersect(out, s->filter, NULL));
    return out;
}

static gloom_filter *through_bytes(const subject *s, const char *path, uint64_t *rng)
{
    gloom_load_options options = any_kind(rng);
    gloom_filter *out = NULL;
    size_t len;
    (void)path;
    unsigned char *bytes = bytes_of(s->filter, format_for(s, rng), &len);
    gloom_status status = gloom_deserialize(bytes, len, &options, &out, NULL);
    free(bytes);
    return status == GLOOM_OK ? out : NULL;
}

static gloom_filter *through_a_stream(const subject *s, const char *path, uint64_t *rng)
{
    gloom_load_options options = any_kind(rng);
    stream pipe = {.most = 1 + (size_t)rng_below(rng, MOST_ASKED), .rng = rng_next(rng)};
    gloom_filter *out = NULL;
    (void)path;
    CHECK_OK(gloom_write(s->filter, format_for(s, rng), stream_write, &pipe, NULL));
    gloom_status status = gloom_read(stream_read, &pipe, &options, &out, NULL);
    free(pipe.bytes);
    return status == GLOOM_OK ? out : NULL;
}

static gloom_filter *through_a_file(const subject *s, const char *path, uint64_t *rng)
{
    gloom_load_options options = any_kind(rng);
    gloom_filter *out = NULL;
    CHECK_OK(gloom_save(s->filter, path, format_for(s, rng), NULL));
    return gloom_load(path, &options, &out, NULL) == GLOOM_OK ? out : NULL;
}

/* A map of what was saved; or of an empty file, into which the filter is merged. */
static gloom_filter *mapped(const subject *s, const char *path, uint64_t *rng)
{
    gloom_filter *out = NULL;
    if (rng_below(rng, 2) == 0) {
        CHECK_OK(gloom_save(s->filter, path, GLOOM_FORMAT_NATIVE, NULL));
        return gloom_map(path, GLOOM_MAP_VERIFY, &out, NULL) == GLOOM_OK ? out : NULL;
    }
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.num_blocks = gloom_num_blocks(s->filter);
    options.k = gloom_k(s->filter);
    options.seed = s->seed;
    unlink(path);
    if (gloom_map_create(path, &options, &out, NULL) != GLOOM_OK)
        return NULL;
    CHECK_OK(gloom_merge(out, s->filter, NULL));
    CHECK_OK(gloom_sync(out, NULL));
    gloom_free(out);
    out = NULL;
    return gloom_map(path, GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &out, NULL) == GLOOM_OK ? out : NULL;
}

static const struct {
    const char *name;
    taker take;
} TAKERS[] = {{"cloned", cloned},
              {"folded", folded},
              {"merged", merged},
              {"intersected", intersected},
              {"through bytes", through_bytes},
              {"through a stream", through_a_stream},
              {"through a file", through_a_file},
              {"mapped", mapped}};
enum { WAYS_TO_TAKE = sizeof TAKERS / sizeof TAKERS[0] };

/* Of the keys of each thread that were in: the newest, which are the likeliest to be late, and some from anywhere. */
static uint64_t lost(const gloom_filter *copy, uint64_t seed, const uint64_t *keys, bulk *memory, uint64_t *rng)
{
    enum { LOOKED_AT = 150 };
    uint64_t missing = 0;
    for (unsigned t = 0; t < THREADS; t++) {
        size_t n = keys[t] < LOOKED_AT ? (size_t)keys[t] : LOOKED_AT;
        missing += not_found(copy, seed, memory, t * each + keys[t] - n, n, rng);
        missing += not_found(copy, seed, memory, t * each + rng_below(rng, keys[t] - n + 1), n, rng);
    }
    return missing;
}

static uint64_t sum_of(_Atomic uint64_t *of_threads)
{
    uint64_t sum = 0;
    for (unsigned t = 0; t < THREADS; t++)
        sum += atomic_load(&of_threads[t]);
    return sum;
}

/* Counts what had returned, and nothing that has not begun. */
static void check_count(const gloom_filter *filter, uint64_t returned, subject *s)
{
    uint64_t count = gloom_count(filter);
    CHECK(count >= returned);
    CHECK(count <= sum_of(s->begun));
}

/* Bits are only added, so no figure ever goes down. */
static void measure(subject *s, double *least)
{
    uint64_t returned = sum_of(s->returned);
    check_count(s->filter, returned, s);
    double fill = gloom_fill_ratio(s->filter), rate = gloom_current_fp_rate(s->filter);
    double items = (double)gloom_estimate_items(s->filter);
    const double now[] = {fill, rate, items};
    const double most[] = {1, 1, (double)UINT64_MAX};
    for (int i = 0; i < 3; i++) {
        CHECK_BETWEEN(now[i], least[i], most[i]);
        least[i] = now[i];
    }
}

static void looker(job *self)
{
    uint64_t rng = self->first;
    double least[FILTERS][3] = {{0}};
    char name[32];
    bulk *memory = make_bulk(0);
    (void)snprintf(name, sizeof name, "filter-%u", self->index);
    const char *path = path_of(name);
    bool last;
    do { /* at least once after all are done */
        last = atomic_load(&writers_left) == 0;
        size_t f = (size_t)rng_below(&rng, FILTERS), way = (size_t)rng_below(&rng, WAYS_TO_TAKE);
        subject *s = &subjects[f];
        uint64_t keys[THREADS], returned = sum_of(s->returned);
        for (unsigned t = 0; t < THREADS; t++)
            keys[t] = atomic_load(&s->keys[t]);
        CONTEXT("filter %zu, %s", f, TAKERS[way].name);
        gloom_filter *copy = TAKERS[way].take(s, path, &rng);
        REQUIRE(copy != NULL);
        check_count(copy, returned, s);
        CHECK_U64(lost(copy, s->seed, keys, memory, &rng), 0);
        CHECK_U64(lost(s->filter, s->seed, keys, memory, &rng), 0);
        gloom_free(copy);
        CONTEXT("filter %zu, measured", f);
        measure(s, least[f]);
        atomic_fetch_add(&looks, 1);
    } while (!last);
    unlink(path);
    free(memory);
}

/* -- rounds -- */

static void start_subject(size_t f, uint64_t *rng)
{
    static const uint64_t seeds[] = {0, 0, 77, UINT64_MAX};
    subject *s = &subjects[f];
    uint64_t num_blocks = FOLDABLE << rng_below(rng, 9); /* from crowded to roomy: 12 to 3072 */
    uint32_t k = (uint32_t)(LAYOUT_MIN_K + rng_below(rng, LAYOUT_MAX_K - LAYOUT_MIN_K + 1));
    uint32_t shards = 1u << rng_below(rng, 12);
    s->seed = seeds[rng_below(rng, 4)];
    if (shards > num_blocks)
        shards = 0;
    s->filter = make_sharded(f == 0 ? GLOOM_KIND_ATOMIC : GLOOM_KIND_SHARDED, num_blocks, k, s->seed,
                             f == 0 ? 0 : shards);
    for (unsigned t = 0; t < THREADS; t++) {
        atomic_store(&s->keys[t], 0);
        atomic_store(&s->begun[t], 0);
        atomic_store(&s->returned[t], 0);
    }
}

/* One thread alone makes the same. */
static void finish_subject(subject *s)
{
    gloom_filter *plain =
        make_filter(GLOOM_KIND_PLAIN, gloom_num_blocks(s->filter), gloom_k(s->filter), s->seed);
    add_numbers(plain, 0, THREADS * each);
    CHECK(gloom_equal(s->filter, plain));
    CHECK_U64(numbers_missing(s->filter, 0, THREADS * each), 0);
    CHECK_U64(gloom_count(s->filter), sum_of(s->begun));
    CHECK_U64(gloom_estimate_items(s->filter), gloom_estimate_items(plain));
    CHECK_F64(gloom_fill_ratio(s->filter), gloom_fill_ratio(plain));
    CHECK_F64(gloom_current_fp_rate(s->filter), gloom_current_fp_rate(plain));
    gloom_free(plain);
    gloom_free(s->filter);
}

static void play_round(uint64_t *rng)
{
    job jobs[THREADS + LOOKERS];
    each = 500 + rng_below(rng, MOST_EACH - 500);
    for (size_t f = 0; f < FILTERS; f++)
        start_subject(f, rng);
    for (unsigned i = 0; i < THREADS + LOOKERS; i++)
        jobs[i] = (job){.body = i < THREADS ? writer : looker, .index = i, .first = rng_next(rng)};
    reset_progress(THREADS);
    run(jobs, THREADS + LOOKERS);
    for (size_t f = 0; f < FILTERS; f++)
        finish_subject(&subjects[f]);
}

static double seconds(void)
{
    struct timespec now;
    REQUIRE(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 3);
    uint64_t seed = strtoull(argv[1], NULL, 10), rng = seed, rounds = 0;
    uint64_t least_rounds = strtoull(argv[2], NULL, 10);
    double begin = seconds(), end = begin + (argc > 3 ? 60 * strtod(argv[3], NULL) : 0);
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    make_folder(IN_MEMORY);
    while (rounds < least_rounds || seconds() < end) {
        alarm(WATCHDOG_SECONDS); /* a deadlock ends the program */
        play_round(&rng);
        if (atomic_load(&checks_failed) != 0) {
            fprintf(stderr, "in round %" PRIu64 " of seed %" PRIu64 "\n", rounds, seed);
            break;
        }
        rounds++;
    }
    CHECK_U64(names_in(folder), 0);
    printf("seed %" PRIu64 ": %" PRIu64 " rounds of %d threads, %lu adds, %lu looks, %.0f seconds\n", seed, rounds,
           THREADS + LOOKERS, atomic_load(&adds), atomic_load(&looks), seconds() - begin);
    return check_report();
}
