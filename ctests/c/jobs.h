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

/* What one thread alone makes of the numbers below `end`. */
static inline gloom_filter *plain_filter_of(uint64_t num_blocks, uint32_t k, uint64_t end)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, num_blocks, k, 0);
    add_numbers(filter, 0, end);
    return filter;
}

#endif
