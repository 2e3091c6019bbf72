/* Many threads on one filter. Seeds and clocks play no part; what the scheduler does differs from run to run,
 * what must hold does not.
 *
 *   threads [keys_per_thread] */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <unistd.h>

#include "jobs.h"
#include "v1.h"

enum { WATCHDOG_SECONDS = 600 };

static uint64_t keys_per_thread = 100000;

/* -- no add is lost -- */

static void adder(job *self)
{
    for (uint64_t i = self->first; i < self->end; i++)
        self->bad += add_number(self->filter, i) != GLOOM_OK;
}

static void hash_adder(job *self)
{
    for (uint64_t i = self->first; i < self->end; i++)
        self->bad += gloom_add_hash(self->filter, gloom_hash_key(&i, sizeof i, 0)) != GLOOM_OK;
}

static void no_add_is_lost(int32_t kind, uint64_t num_blocks, uint32_t k)
{
    job jobs[THREADS];
    uint64_t all = THREADS * keys_per_thread;
    CONTEXT("no add is lost: kind %d, %" PRIu64 " blocks, k %u", (int)kind, num_blocks, k);
    gloom_filter *filter = make_filter(kind, num_blocks, k, 0);
    gloom_filter *plain = plain_filter_of(num_blocks, k, all);
    share_out(jobs, THREADS, adder, filter, keys_per_thread);
    for (unsigned i = 0; i < THREADS; i += 2)
        jobs[i].body = hash_adder;
    run(jobs, THREADS);
    CHECK_U64(sum_of_bad(jobs, THREADS), 0);
    CHECK_U64(numbers_missing(filter, 0, all), 0);
    CHECK_U64(gloom_count(filter), all);
    CHECK(gloom_equal(filter, plain));
    gloom_free(plain);
    gloom_free(filter);
}

/* A filter of three blocks is full after a few hundred adds, and a full one can lose nothing. So: many small
 * filters, each from empty. */
static void first_bits(int32_t kind)
{
    enum { ROUNDS = 300, EACH = 24 };
    gloom_filter *plain = plain_filter_of(3, 7, THREADS * EACH);
    uint64_t lost = 0, miscounted = 0, bad = 0;
    CONTEXT("first bits: kind %d", (int)kind);
    for (int round = 0; round < ROUNDS; round++) {
        job jobs[THREADS];
        gloom_filter *filter = make_filter(kind, 3, 7, 0);
        share_out(jobs, THREADS, adder, filter, EACH);
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

/* -- two threads race to add one key -- */

static void racer(job *self)
{
    for (uint64_t i = self->first; i < self->end; i++) {
        bool was_present = true;
        self->bad += gloom_test_and_add(self->filter, &i, sizeof i, &was_present) != GLOOM_OK;
        self->bad += !test_number(self->filter, i);
        self->told_new[i] = !was_present;
    }
}

/* All threads add the same keys in the same order to a filter with so much room that no key's bits are set by
 * others. */
static void at_least_one_is_told_new(int32_t kind)
{
    job jobs[THREADS];
    uint64_t n = keys_per_thread / 10, nobody = 0;
    gloom_filter *filter = make_filter(kind, 100000, 7, 0);
    gloom_filter *plain = plain_filter_of(100000, 7, n);
    CONTEXT("test_and_add: kind %d", (int)kind);
    share_out(jobs, THREADS, racer, filter, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i].end = n;
        jobs[i].told_new = calloc(n, 1);
        REQUIRE(jobs[i].told_new != NULL);
    }
    run(jobs, THREADS);
    for (uint64_t key = 0; key < n; key++) {
        unsigned told = 0;
        for (unsigned i = 0; i < THREADS; i++)
            told += jobs[i].told_new[key];
        nobody += told == 0;
    }
    CHECK_U64(sum_of_bad(jobs, THREADS), 0);
    CHECK_U64(nobody, 0);
    CHECK_U64(gloom_count(filter), THREADS * n);
    CHECK(gloom_equal(filter, plain));

    /* Afterwards nobody is told "new". */
    run(jobs, THREADS);
    uint64_t told = 0;
    for (uint64_t key = 0; key < n; key++)
        for (unsigned i = 0; i < THREADS; i++)
            told += jobs[i].told_new[key];
    CHECK_U64(told, 0);
    for (unsigned i = 0; i < THREADS; i++)
        free(jobs[i].told_new);
    gloom_free(plain);
    gloom_free(filter);
}

/* -- what is seen while others add -- */

static void reader(job *self)
{
    uint64_t i = 0;
    while (atomic_load(&writers_left) != 0) {
        unsigned t = (unsigned)(i++ % THREADS);
        uint64_t added = progress_of(t);
        if (added == 0)
            continue;
        uint64_t first = t * keys_per_thread;
        self->bad += !test_number(self->filter, first + added - 1);
        self->bad += !test_number(self->filter, first + i * 7919 % added);
        uint64_t hashed = first + added / 2;
        self->bad += !gloom_test_hash(self->filter, gloom_hash_key(&hashed, sizeof hashed, 0));
    }
}

/* An add that has returned is seen by every thread that knows so, also when it knows from outside the
 * library. */
static void readers_see_returned_adds(int32_t kind, unsigned writers)
{
    enum { READERS = 4 };
    job jobs[THREADS + READERS];
    gloom_filter *filter = make_filter(kind, 10000, 7, 0);
    CONTEXT("readers: kind %d, %u writers", (int)kind, writers);
    reset_progress(writers);
    share_out(jobs, writers, reporting_adder, filter, keys_per_thread);
    for (unsigned i = 0; i < READERS; i++)
        jobs[writers + i] = (job){.body = reader, .filter = filter};
    run(jobs, writers + READERS);
    CHECK_U64(sum_of_bad(jobs, writers + READERS), 0);
    CHECK_U64(gloom_count(filter), writers * keys_per_thread);
    gloom_free(filter);
}

/* A copy that began when these adds had returned has them all and a count that is not behind; nor does it
 * count what has not begun. */
static uint64_t wrong_with(const gloom_filter *copy, const uint64_t *before, uint64_t sum_before)
{
    uint64_t after[THREADS];
    uint64_t sum_after = read_progress(after) + THREADS; /* each writer may be inside an add */
    uint64_t count = gloom_count(copy);
    return missing_of(copy, before, keys_per_thread) + (count < sum_before) + (count > sum_after);
}

static void snapshot_taker(job *self)
{
    uint64_t before[THREADS], sum, size = 0;
    if (gloom_serialized_size(self->filter, GLOOM_FORMAT_V1, &size, NULL) != GLOOM_OK)
        self->bad++;
    unsigned char *file = malloc((size_t)size);
    REQUIRE(file != NULL);
    bool last;
    do { /* at least once after all are done */
        last = atomic_load(&writers_left) == 0;
        gloom_filter *copy = NULL;
        sum = read_progress(before);
        if (self->index % 3 == 0) {
            self->bad += gloom_clone(self->filter, &copy, NULL) != GLOOM_OK;
        } else if (self->index % 3 == 1) {
            size_t written = 0;
            self->bad += gloom_serialize(self->filter, GLOOM_FORMAT_V1, file, (size_t)size, &written, NULL) !=
                         GLOOM_OK;
            self->bad += gloom_deserialize(file, written, NULL, &copy, NULL) != GLOOM_OK;
        } else {
            copy = make_filter(GLOOM_KIND_PLAIN, gloom_num_blocks(self->filter), gloom_k(self->filter), 0);
            self->bad += gloom_merge(copy, self->filter, NULL) != GLOOM_OK;
        }
        REQUIRE(copy != NULL);
        self->bad += wrong_with(copy, before, sum);
        gloom_free(copy);
    } while (!last);
    free(file);
}

/* Clones, files and merges taken from a live filter hold every add that had returned before they began. */
static void snapshots_hold_returned_adds(int32_t kind, unsigned writers)
{
    enum { TAKERS = 8 };
    job jobs[THREADS + TAKERS];
    gloom_filter *filter = make_filter(kind, 10000, 7, 0);
    CONTEXT("snapshots: kind %d, %u writers", (int)kind, writers);
    reset_progress(writers);
    share_out(jobs, writers, reporting_adder, filter, keys_per_thread);
    for (unsigned i = 0; i < TAKERS; i++)
        jobs[writers + i] = (job){.body = snapshot_taker, .filter = filter, .index = i};
    run(jobs, writers + TAKERS);
    CHECK_U64(sum_of_bad(jobs, writers + TAKERS), 0);
    gloom_free(filter);
}

/* -- merging into a filter that others are adding to -- */

enum { MERGES = 20 };

/* Fills a filter of its own and merges it into the shared one, again and again; a source's kind is that of
 * the thread's turn. */
static void merger(job *self)
{
    uint64_t each = (self->end - self->first) / MERGES;
    for (unsigned round = 0; round < MERGES; round++) {
        uint64_t first = self->first + round * each;
        gloom_filter *source = make_filter(KINDS[(self->index + round) % KIND_COUNT],
                                           gloom_num_blocks(self->filter), gloom_k(self->filter), 0);
        for (uint64_t i = first; i < first + each; i++)
            self->bad += add_number(source, i) != GLOOM_OK;
        self->bad += gloom_merge(self->filter, source, NULL) != GLOOM_OK;
        for (uint64_t i = first; i < first + each; i++) /* seen from when merge returned */
            self->bad += !test_number(self->filter, i);
        gloom_free(source);
    }
}

static void merges_into_a_live_filter(int32_t kind)
{
    job jobs[2 * THREADS];
    uint64_t each = keys_per_thread / 10 / MERGES * MERGES;
    uint64_t all = 2 * THREADS * each;
    gloom_filter *filter = make_filter(kind, 3000, 7, 0);
    gloom_filter *plain = plain_filter_of(3000, 7, all);
    CONTEXT("live merges: kind %d", (int)kind);
    share_out(jobs, 2 * THREADS, adder, filter, each);
    for (unsigned i = 0; i < 2 * THREADS; i += 2)
        jobs[i].body = merger;
    run(jobs, 2 * THREADS);
    CHECK_U64(sum_of_bad(jobs, 2 * THREADS), 0);
    CHECK_U64(gloom_count(filter), all);
    CHECK(gloom_equal(filter, plain));
    gloom_free(plain);
    gloom_free(filter);
}

static void cross_merger(job *self)
{
    for (int round = 0; round < 50; round++)
        self->bad += gloom_merge(self->filter, self->other, NULL) != GLOOM_OK;
}

/* a into b while b into a, with adds to both: nobody waits for ever, nothing is lost. */
static void merges_both_ways(int32_t kind)
{
    job jobs[2 * THREADS];
    uint64_t each = keys_per_thread / 20;
    uint64_t all = THREADS * each;
    gloom_filter *filters[2] = {make_filter(kind, 3000, 7, 0), make_filter(kind, 3000, 7, 0)};
    gloom_filter *plain = plain_filter_of(3000, 7, all);
    CONTEXT("merges both ways: kind %d", (int)kind);
    share_out(jobs, THREADS, adder, NULL, each);
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i].filter = filters[i % 2];
        jobs[THREADS + i] =
            (job){.body = cross_merger, .filter = filters[i % 2], .other = filters[1 - i % 2]};
    }
    run(jobs, 2 * THREADS);
    CHECK_U64(sum_of_bad(jobs, 2 * THREADS), 0);
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
    static const int32_t shared_kinds[] = {GLOOM_KIND_ATOMIC, GLOOM_KIND_SHARDED};
    if (argc > 1)
        keys_per_thread = strtoull(argv[1], NULL, 10);
    REQUIRE(keys_per_thread >= 1000);
    alarm(WATCHDOG_SECONDS); /* a deadlock ends the program */
    for (int i = 0; i < 2; i++) {
        int32_t kind = shared_kinds[i];
        no_add_is_lost(kind, 3, 7);
        no_add_is_lost(kind, 10000, 7);
        no_add_is_lost(kind, 10000, 17);
        first_bits(kind);
        at_least_one_is_told_new(kind);
        readers_see_returned_adds(kind, THREADS);
        snapshots_hold_returned_adds(kind, THREADS);
        merges_into_a_live_filter(kind);
        merges_both_ways(kind);
    }
    /* One writer is all a plain filter takes; readers and copies may be many. */
    readers_see_returned_adds(GLOOM_KIND_PLAIN, 1);
    snapshots_hold_returned_adds(GLOOM_KIND_PLAIN, 1);
    return check_report();
}
