/* Batches by many threads on one filter, beside single adds, merges, tests and copies. What the scheduler does differs
 * from run to run, what must hold does not.
 *
 *   batch_threads [keys_per_thread] */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <unistd.h>

#include "bulk.h"
#include "jobs.h"
#include "rng.h"

enum { WATCHDOG_SECONDS = 600, LOOKERS = 4 };

static uint64_t keys_per_thread = 50000;

/* -- writers -- */

/* Batches of every source and of sizes on both sides of a group and of a round. */
static void batch_adder(job *self)
{
    static const size_t sizes[] = {1, 64, 7, 500, 65, 2048, 9, MOST_KEYS, 128, 2049};
    bulk *memory = make_bulk(0);
    uint64_t i = self->first;
    for (size_t round = self->index; i < self->end; round++) {
        size_t n = sizes[round % (sizeof sizes / sizeof sizes[0])];
        if (n > self->end - i)
            n = (size_t)(self->end - i);
        batch b = numbers(memory, (source)(round % SOURCE_COUNT), i, n);
        self->bad += add_batch(self->filter, &b) != GLOOM_OK;
        report_progress(self, i + n);
        self->bad += batch_missing(self->filter, memory, (source)((round + 1) % SOURCE_COUNT), i, n);
        i += n;
    }
    report_end();
    free(memory);
}

/* Batches into filters of its own, which it merges. */
static void merging_adder(job *self)
{
    bulk *memory = make_bulk(0);
    uint64_t i = self->first;
    for (size_t round = 0; i < self->end; round++) {
        size_t n = self->end - i < MOST_KEYS ? (size_t)(self->end - i) : MOST_KEYS;
        gloom_filter *own = make_filter(KINDS[round % KIND_COUNT], gloom_num_blocks(self->filter),
                                        gloom_k(self->filter), 0);
        batch b = numbers(memory, (source)(round % SOURCE_COUNT), i, n);
        self->bad += add_batch(own, &b) != GLOOM_OK;
        self->bad += gloom_merge(self->filter, own, NULL) != GLOOM_OK;
        report_progress(self, i + n);
        gloom_free(own);
        i += n;
    }
    report_end();
    free(memory);
}

/* -- lookers -- */

/* Of what had been added by one thread when the look began: the newest and some others. */
static uint64_t missing_in_batches(const gloom_filter *filter, bulk *memory, source from, unsigned thread,
                           uint64_t added, uint64_t *rng)
{
    size_t n = 1 + (size_t)rng_below(rng, 300);
    uint64_t first = thread * keys_per_thread;
    if (n > added)
        n = (size_t)added;
    uint64_t missing = batch_missing(filter, memory, from, first + added - n, n);
    return missing + batch_missing(filter, memory, from, first + rng_below(rng, added - n + 1), n);
}

static void reader(job *self)
{
    bulk *memory = make_bulk(0);
    uint64_t rng = self->index;
    bool last;
    do { /* at least once after all are done */
        last = atomic_load(&writers_left) == 0;
        unsigned t = (unsigned)rng_below(&rng, THREADS);
        uint64_t added = progress_of(t);
        source from = (source)rng_below(&rng, SOURCE_COUNT);
        if (added > 0)
            self->bad += missing_in_batches(self->filter, memory, from, t, added, &rng);
    } while (!last);
    free(memory);
}

/* A clone has all that had been added before it began, and its count is not behind. */
static void cloner(job *self)
{
    bulk *memory = make_bulk(0);
    uint64_t rng = self->index;
    bool last;
    do {
        last = atomic_load(&writers_left) == 0;
        gloom_filter *clone = NULL;
        uint64_t added[THREADS];
        uint64_t sum = read_progress(added);
        self->bad += gloom_clone(self->filter, &clone, NULL) != GLOOM_OK;
        REQUIRE(clone != NULL);
        self->bad += gloom_count(clone) < sum;
        for (unsigned t = 0; t < THREADS; t++)
            if (added[t] > 0)
                self->bad += missing_in_batches(clone, memory, (source)rng_below(&rng, SOURCE_COUNT), t, added[t],
                                        &rng);
        gloom_free(clone);
    } while (!last);
    free(memory);
}

/* -- what must hold -- */

typedef struct {
    int32_t kind;
    uint64_t num_blocks;
    uint32_t num_shards;
} shape;

static gloom_filter *filter_of(const shape *s)
{
    return make_sharded(s->kind, s->num_blocks, 7, 0, s->num_shards);
}

#define CONTEXT_OF(what, s)                                                                                  \
    CONTEXT("%s: kind %d, %" PRIu64 " blocks, %u shards", what, (int)(s)->kind, (s)->num_blocks,             \
            (s)->num_shards)

/* Batches by six threads, single adds by one, merges by one; and four that look on. */
static void nothing_is_lost(const shape *s)
{
    job jobs[THREADS + LOOKERS];
    uint64_t all = THREADS * keys_per_thread;
    CONTEXT_OF("nothing is lost", s);
    gloom_filter *filter = filter_of(s);
    gloom_filter *plain = plain_filter_of(s->num_blocks, 7, all);
    share_out(jobs, THREADS, batch_adder, filter, keys_per_thread);
    jobs[3].body = reporting_adder;
    jobs[6].body = merging_adder;
    for (unsigned i = 0; i < LOOKERS; i++)
        jobs[THREADS + i] = (job){.body = i == 0 ? cloner : reader, .filter = filter, .index = i};
    reset_progress(THREADS);
    run(jobs, THREADS + LOOKERS);
    CHECK_U64(sum_of_bad(jobs, THREADS + LOOKERS), 0);
    CHECK_U64(numbers_missing(filter, 0, all), 0);
    CHECK_U64(gloom_count(filter), all);
    CHECK(gloom_equal(filter, plain));
    gloom_free(plain);
    gloom_free(filter);
}

static void one_batch(job *self)
{
    bulk *memory = make_bulk(0);
    batch b = numbers(memory, (source)(self->index % SOURCE_COUNT), self->first,
                      (size_t)(self->end - self->first));
    self->bad += add_batch(self->filter, &b) != GLOOM_OK;
    free(memory);
}

/* A full filter can lose nothing, and a small one is full at once. So: many small filters, each from empty. */
static void first_bits(const shape *s)
{
    enum { ROUNDS = 200, EACH = 70 };
    gloom_filter *plain = plain_filter_of(s->num_blocks, 7, THREADS * EACH);
    uint64_t lost = 0, miscounted = 0, bad = 0;
    CONTEXT_OF("first bits", s);
    CHECK(gloom_fill_ratio(plain) < 0.99);
    for (int round = 0; round < ROUNDS; round++) {
        job jobs[THREADS];
        gloom_filter *filter = filter_of(s);
        share_out(jobs, THREADS, one_batch, filter, EACH);
        run(jobs, THREADS);
        bad += sum_of_bad(jobs, THREADS);
        lost += !gloom_equal(filter, plain);
        miscounted += gloom_count(filter) != THREADS * EACH;
        gloom_free(filter);
    }
    CHECK_U64(bad, 0);
    CHECK_U64(lost, 0);
    CHECK_U64(miscounted, 0);
    gloom_free(plain);
}

static void cross_merger(job *self)
{
    for (int round = 0; round < 50; round++)
        self->bad += gloom_merge(self->filter, self->other, NULL) != GLOOM_OK;
}

/* a into b while b into a, with batches into both: nobody waits for ever, nothing is lost. */
static void merges_both_ways(const shape *s)
{
    job jobs[THREADS + 4];
    uint64_t each = keys_per_thread / 2, all = THREADS * each;
    CONTEXT_OF("merges both ways", s);
    gloom_filter *filters[2] = {filter_of(s), filter_of(s)};
    gloom_filter *plain = plain_filter_of(s->num_blocks, 7, all);
    share_out(jobs, THREADS, batch_adder, NULL, each);
    for (unsigned i = 0; i < THREADS; i++)
        jobs[i].filter = filters[i % 2];
    for (unsigned i = 0; i < 4; i++)
        jobs[THREADS + i] =
            (job){.body = cross_merger, .filter = filters[i % 2], .other = filters[1 - i % 2]};
    run(jobs, THREADS + 4);
    CHECK_U64(sum_of_bad(jobs, THREADS + 4), 0);
    CHECK_OK(gloom_merge(filters[0], filters[1], NULL));
    CHECK_OK(gloom_merge(filters[1], filters[0], NULL));
    CHECK(gloom_equal(filters[0], plain));
    CHECK(gloom_equal(filters[1], plain));
    gloom_free(plain);
    gloom_free(filters[0]);
    gloom_free(filters[1]);
}

int main(int argc, char **argv)
{
    static const shape large[] = {
        {GLOOM_KIND_ATOMIC, 10000, 0},       {GLOOM_KIND_ATOMIC, 3, 0},         {GLOOM_KIND_SHARDED, 10000, 0},
        {GLOOM_KIND_SHARDED, 10000, 1},      {GLOOM_KIND_SHARDED, 10000, 2},    {GLOOM_KIND_SHARDED, 10000, 64},
        {GLOOM_KIND_SHARDED, 10000, 512}, /* more than batches are sorted by */
        {GLOOM_KIND_SHARDED, 3, 2},          {GLOOM_KIND_SHARDED, 64, 64},
        {GLOOM_KIND_SHARDED, 70000, 65536},
    };
    static const shape small[] = {
        {GLOOM_KIND_ATOMIC, 16, 0},    {GLOOM_KIND_SHARDED, 16, 1},      {GLOOM_KIND_SHARDED, 16, 2},
        {GLOOM_KIND_SHARDED, 16, 16},  {GLOOM_KIND_SHARDED, 1024, 1024},
    };
    if (argc > 1)
        keys_per_thread = strtoull(argv[1], NULL, 10);
    REQUIRE(keys_per_thread >= 1000);
    alarm(WATCHDOG_SECONDS); /* a deadlock ends the program */
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        nothing_is_lost(&large[i]);
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        first_bits(&small[i]);
    merges_both_ways(&large[0]);
    merges_both_ways(&large[5]);
    return check_report();
}
