/* Threads fill one filter while another one asks.
 *
 *   load [THREADS]        ends with 1 if a key was lost */
#include <gloom.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS_A_THREAD = 200000, BATCH = 1000, MOST_THREADS = 64 };

static gloom_filter *filter;
static atomic_uint_least64_t lost;
static atomic_bool loading = true;

static void *load(void *first)
{
    uint64_t keys[BATCH];
    uint64_t next = *(const uint64_t *)first;
    for (int batch = 0; batch < KEYS_A_THREAD / BATCH; batch++) {
        for (int i = 0; i < BATCH; i++)
            keys[i] = next++;
        size_t hits = 0;
        if (gloom_add_batch_fixed(filter, keys, sizeof keys[0], BATCH) != GLOOM_OK)
            lost += BATCH;
        else if (gloom_test_batch_fixed(filter, keys, sizeof keys[0], BATCH, NULL, &hits) != GLOOM_OK || hits != BATCH)
            lost += BATCH - hits; /* a key must be there once its add has returned */
    }
    return NULL;
}

static void *ask(void *found)
{
    for (uint64_t key = 0; loading; key++)
        *(uint64_t *)found += gloom_test(filter, &key, sizeof key); /* never waits */
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc == 2 ? atoi(argv[1]) : 4;
    if (threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: load [THREADS]\n");
        return 2;
    }
    filter = gloom_new_sharded((uint64_t)threads * KEYS_A_THREAD, 0.01, 0); /* the kind for loading */
    if (!filter)
        return 1;

    pthread_t loaders[MOST_THREADS], asker;
    uint64_t first[MOST_THREADS], found = 0;
    if (pthread_create(&asker, NULL, ask, &found) != 0)
        return 1;
    for (int i = 0; i < threads; i++) {
        first[i] = (uint64_t)i * KEYS_A_THREAD;
        if (pthread_create(&loaders[i], NULL, load, &first[i]) != 0)
            return 1;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(loaders[i], NULL);
    loading = false;
    pthread_join(asker, NULL);

    printf("%" PRIu64 " keys by %d threads, about %" PRIu64 " of them distinct, false-positive rate %.4f, %" PRIu64 " lost\n",
           gloom_count(filter), threads, gloom_estimate_items(filter), gloom_current_fp_rate(filter), (uint64_t)lost);
    int result = lost == 0 && gloom_count(filter) == (uint64_t)threads * KEYS_A_THREAD ? 0 : 1;
    gloom_free(filter);
    return result;
}
