#define _DEFAULT_SOURCE
#include "each.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fail.h"
#include "progress.h"

struct crew {
    const struct keys *keys;
    key_visitor visit;
    void *context;
    unsigned threads;
    pthread_mutex_t mutex;
    pthread_cond_t one_finished;
    unsigned running;
};

struct worker {
    struct crew *crew;
    pthread_t thread;
    unsigned number;
    _Atomic uint64_t bytes; /* done, for the progress */
    uint64_t keys;
    int error;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    struct key_reader reader;
    const char *key;
    size_t len;

    key_reader_open(&reader, crew->keys, worker->number, crew->threads);
    off_t began = reader.at;
    while (key_reader_next(&reader, &key, &len) && crew->visit(crew->context, worker->number, key, len)) {
        if (++worker->keys % 1024 == 0)
            atomic_store_explicit(&worker->bytes, (uint64_t)(reader.at - began), memory_order_relaxed);
    }
    worker->error = reader.error;
    key_reader_close(&reader);

    pthread_mutex_lock(&crew->mutex);
    crew->running--;
    pthread_cond_signal(&crew->one_finished);
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

static uint64_t bytes_done(struct worker *workers, unsigned started)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < started; i++)
        sum += atomic_load_explicit(&workers[i].bytes, memory_order_relaxed);
    return sum;
}

static void wait_and_show(struct crew *crew, struct worker *workers, unsigned started, const char *what)
{
    struct progress progress;

    progress_begin(&progress, what);
    pthread_mutex_lock(&crew->mutex);
    while (crew->running > 0) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 100 * 1000 * 1000;
        if (soon.tv_nsec >= 1000 * 1000 * 1000) {
            soon.tv_nsec -= 1000 * 1000 * 1000;
            soon.tv_sec++;
        }
        pthread_cond_timedwait(&crew->one_finished, &crew->mutex, &soon);
        progress_bytes(&progress, bytes_done(workers, started), (uint64_t)crew->keys->size);
    }
    pthread_mutex_unlock(&crew->mutex);
    progress_end(&progress);
}

uint64_t each_key(const struct keys *keys, unsigned threads, const char *what, key_visitor visit, void *context)
{
    struct crew crew = {.keys = keys, .visit = visit, .context = context, .threads = threads, .running = threads};
    struct worker *workers = calloc(threads, sizeof *workers);
    unsigned started = 0;
    uint64_t sum = 0;
    int error = 0;

    if (!workers)
        fail("no memory for %u threads", threads);
    pthread_mutex_init(&crew.mutex, NULL);
    pthread_cond_init(&crew.one_finished, NULL);

    for (; started < threads; started++) {
        workers[started].crew = &crew;
        workers[started].number = started;
        error = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
        if (error)
            break;
    }
    if (error) { /* those that run cannot be stopped, but they come to an end */
        pthread_mutex_lock(&crew.mutex);
        crew.running -= threads - started;
        pthread_mutex_unlock(&crew.mutex);
    }

    wait_and_show(&crew, workers, started, what);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].keys;
    }
    if (error)
        fail("cannot start %u threads: %s", threads, strerror(error));
    for (unsigned i = 0; i < started; i++) {
        if (workers[i].error)
            fail("%s: %s", keys->name, strerror(workers[i].error));
    }

    pthread_cond_destroy(&crew.one_finished);
    pthread_mutex_destroy(&crew.mutex);
    free(workers);
    return sum;
}
