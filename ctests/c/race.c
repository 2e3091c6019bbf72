/* Races that a caller may make, to see that ThreadSanitizer sees into the library. Never run without it.
 *
 *   race buffer      a key is changed while the library reads it
 *   race blocks      the blocks are read as plain numbers while the library writes them */
#include <pthread.h>

#include "filters.h"

static gloom_filter *filter;
static unsigned char key[32];
static atomic_bool first_is_done;
static const char *what;

/* Nothing orders what the two threads do: the flag only sees to it that both have done it. */
static void wait_for_first(void)
{
    while (!atomic_load_explicit(&first_is_done, memory_order_relaxed))
        ;
}

static void *library(void *unused)
{
    (void)unused;
    (void)gloom_add(filter, key, sizeof key);
    atomic_store_explicit(&first_is_done, true, memory_order_relaxed);
    return NULL;
}

static void *caller(void *unused)
{
    const uint64_t *words = gloom_blocks(filter);
    (void)unused;
    wait_for_first();
    if (strcmp(what, "buffer") == 0) {
        key[5] = 1;
    } else {
        uint64_t sum = 0;
        for (int i = 0; i < WORDS_PER_BLOCK; i++)
            sum += words[i];
        printf("%" PRIu64 "\n", sum);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    REQUIRE(argc == 2);
    what = argv[1];
    filter = make_filter(GLOOM_KIND_ATOMIC, 1, 7, 0);
    REQUIRE(pthread_create(&threads[0], NULL, caller, NULL) == 0);
    REQUIRE(pthread_create(&threads[1], NULL, library, NULL) == 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    gloom_free(filter);
    return 0;
}
