#define _DEFAULT_SOURCE
#include "load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "each.h"
#include "fail.h"
#include "invented.h"
#include "progress.h"

enum { REQUEST_THREADS = 2, BURST = 100 };

struct service {
    gloom_filter *filter;
    char end;
    uint64_t live;
    _Atomic uint64_t live_added;   /* live keys 0 .. live_added - 1 are in the filter */
    _Atomic bool loading;
    _Atomic gloom_status status;   /* of the add that failed, if one did */
};

struct request_thread {
    struct service *service;
    pthread_t thread;
    uint32_t number;
    uint64_t queries, lost;
};

/* Events and requests come in bursts. Threads that span would only take the CPUs from the loaders. */
static void wait_for_next_burst(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

static bool add(struct service *service, const void *key, size_t len)
{
    gloom_status status = gloom_add(service->filter, key, len);

    if (status != GLOOM_OK)
        atomic_store(&service->status, status);
    return status == GLOOM_OK;
}

/* The loaders: what a real service does with the rows of a table. */
static bool load_key(void *context, unsigned thread, const char *key, size_t len)
{
    (void)thread;
    return add(context, key, len);
}

/* The event stream: keys that come in while the old ones are still being loaded. */
static void *live_thread(void *argument)
{
    struct service *service = argument;
    char key[INVENTED_MAX];

    for (uint64_t i = 0; i < service->live; i++) {
        if (!add(service, key, live_key(key, service->end, i)))
            break;
        atomic_store_explicit(&service->live_added, i + 1, memory_order_release);
        if (i % BURST == BURST - 1 && atomic_load(&service->loading))
            wait_for_next_burst();
    }
    return NULL;
}

/* The requests: of 100 queries 99 are for keys that do not exist. As long as the load goes on, "definitely not"
 * holds for keys whose add has returned, and for no others: a service asks its database meanwhile. */
static void *request_thread(void *argument)
{
    struct request_thread *self = argument;
    struct service *service = self->service;
    uint64_t random = 0x9E3779B97F4A7C15u + self->number;
    char key[INVENTED_MAX];

    do {
        for (int i = 1; i < BURST; i++) {
            size_t len = absent_key(key, service->end, "request", 7, self->number, self->queries++);
            (void)gloom_test(service->filter, key, len);
        }
        uint64_t added = atomic_load_explicit(&service->live_added, memory_order_acquire);
        if (added > 0) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t len = live_key(key, service->end, (random >> 16) % added);
            self->lost += !gloom_test(service->filter, key, len);
            self->queries++;
        }
        wait_for_next_burst();
    } while (atomic_load(&service->loading));
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    int error = pthread_create(thread, NULL, run, argument);

    if (error)
        fail("cannot start a thread: %s", strerror(error));
}

struct load_result load(gloom_filter *filter, const struct keys *keys, unsigned threads, uint64_t live)
{
    struct service service = {.filter = filter, .end = keys->end, .live = live, .loading = true};
    struct request_thread requests[REQUEST_THREADS] = {{0}};
    struct load_result result = {0};
    pthread_t events;

    start(&events, live_thread, &service);
    for (uint32_t i = 0; i < REQUEST_THREADS; i++) {
        requests[i].service = &service;
        requests[i].number = i;
        start(&requests[i].thread, request_thread, &requests[i]);
    }

    result.seconds = seconds_now();
    result.keys = each_key(keys, threads, "loading", load_key, &service);
    result.seconds = seconds_now() - result.seconds;

    atomic_store(&service.loading, false);
    pthread_join(events, NULL);
    for (uint32_t i = 0; i < REQUEST_THREADS; i++) {
        pthread_join(requests[i].thread, NULL);
        result.queries += requests[i].queries;
        result.lost += requests[i].lost;
    }
    if (service.status != GLOOM_OK)
        fail("cannot add a key: %s", gloom_status_string(service.status));
    return result;
}
