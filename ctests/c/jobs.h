/* Threads that start together, each with its share of numbers to add. The program defines _DEFAULT_SOURCE before
 * its first #include. */
#ifndef JOBS_H
#define JOBS_H

#include <pthread.h>
#include <sched.h>

#include "filters.h"

enum { THREADS = 8, MOST_JOBS = 4 * THREADS };

typedef struct job job;
struct job {
    void (*body)(job *);
    gloom_filter *filter;
    gloom_filter *other;
    unsigned index;
    uint64_t first, end; /* the numbers it adds */
    uint64_t bad;        /* what it saw that must not be */
    uint8_t *told_new;
};

static atomic_uint not_ready;

static inline void *start(void *argument)
{
    job *self = argument;
    atomic_fetch_sub(&not_ready, 1);
    while (atomic_load(&not_ready) != 0)
        sched_yield();
    self->body(self);
    return NULL;
}

/* Runs all jobs at once and returns when all are done. */
static inline void run(job *jobs, unsigned n)
{
    pthread_t threads[MOST_JOBS];
    REQUIRE(n <= MOST_JOBS);
    atomic_store(&not_ready, n);
    for (unsigned i = 0; i < n; i++)
        REQUIRE(pthread_create(&threads[i], NULL, start, &jobs[i]) == 0);
    for (unsigned i = 0; i < n; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
}

/* Jobs for n threads, each with numbers of its own: thread t has those from t * each on. */
static inline void share_out(job *jobs, unsigned n, void (*body)(job *), gloom_filter *filter, uint64_t each)
{
    for (unsigned i = 0; i < n; i++)
        jobs[i] = (job){.body = body, .filter = filter, .index = i, .first = i * each, .end = (i + 1) * each};
}

static inline uint64_t sum_of_bad(const job *jobs, unsigned n)
{
    uint64_t bad = 0;
    for (unsigned i = 0; i < n; i++)
        bad += jobs[i].bad;
    return bad;
}

/* -- how far the writers are, for those who look on -- */

/* progress[t]: thread t's adds of its first so many numbers have returned. */
static _Atomic uint64_t progress[THREADS];
static atomic_uint writers_left;

static inline void reset_progress(unsigned writers)
{
    for (unsigned t = 0; t < THREADS; t++)
        atomic_store(&progress[t], 0);
    atomic_store(&writers_left, writers);
}

/* The numbers below `end` are in. */
static inline void report_progress(const job *self, uint64_t end)
{
    atomic_store_explicit(&progress[self->index], end - self->first, memory_order_release);
}

static inline void report_end(void)
{
    atomic_fetch_sub(&writers_left, 1);
}

static inline uint64_t progress_of(unsigned thread)
{
    return atomic_load_explicit(&progress[thread], memory_order_acquire);
}

/* Of all; returns the sum. */
static inline uint64_t read_progress(uint64_t *added)
{
    uint64_t sum = 0;
    for (unsigned t = 0; t < THREADS; t++)
        sum += added[t] = progress_of(t);
    return sum;
}

/* A job that adds its numbers one by one. */
static inline void reporting_adder(job *self)
{
    for (uint64_t i = self->first; i < self->end; i++) {
        self->bad += add_number(self->filter, i) != GLOOM_OK;
        report_progress(self, i + 1);
    }
    report_end();
}

/* How many are not found of the first added[t] numbers of each writer, who has `each`: tries the newest, which are the
 * likeliest to be late, and every 37th. */
static inline uint64_t missing_of(const gloom_filter *filter, const uint64_t *added, uint64_t each)
{
    enum { NEWEST = 500 };
    uint64_t missing = 0;
    for (unsigned t = 0; t < THREADS; t++) {
        uint64_t first = t * each;
        uint64_t newest = added[t] > NEWEST ? added[t] - NEWEST : 0;
        for (uint64_t i = 0; i < newest; i += 37)
            missing += !test_number(filter, first + i);
        missing += numbers_missing(filter, first + newest, first + added[t]);
    }
    return missing;
}

/* What one thread alone makes of the numbers below `end`. */
static inline gloom_filter *plain_filter_of(uint64_t num_blocks, uint32_t k, uint64_t end)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, num_blocks, k, 0);
    add_numbers(filter, 0, end);
    return filter;
}

#endif
