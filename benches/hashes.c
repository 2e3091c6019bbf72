/* What a key costs by XXH3, without and with a seed, and by SipHash: nanoseconds, the best of some rounds.
 *
 * A plain filter of 100,000 keys at 1 %, which lies in the cache; half of the keys that are tested are in it. `make
 * bench-hashes` builds and runs it. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <gloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KEYS = 100000, ROUNDS = 41, LONGEST = 256, SEED = 12345 };
enum { HASH, TEST, TEST_BATCH, ADD, ADD_BATCH, MEASURES };

static unsigned char keys[KEYS * LONGEST];
static uint8_t results[KEYS];
static volatile uint64_t sink; /* so that nothing is left out */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(size_t len, const char *name, uint64_t seed, uint32_t flags)
{
    double best[MEASURES] = {1e18, 1e18, 1e18, 1e18, 1e18};
    gloom_hash (*hash_key)(const void *, size_t, uint64_t) = flags ? gloom_siphash_key : gloom_hash_key;
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    options.kind = GLOOM_KIND_PLAIN;
    options.flags = flags;
    options.expected_items = KEYS;
    options.fp_rate = 0.01;
    options.seed = seed;
    if (gloom_create(&options, &filter, NULL) != GLOOM_OK)
        exit(1);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sum = 0;
        gloom_clear(filter);
        for (size_t i = 0; i < KEYS; i += 2)
            (void)gloom_add(filter, keys + i * len, len);
        for (int what = 0; what < MEASURES; what++) {
            if (what == ADD || what == ADD_BATCH)
                gloom_clear(filter);
            double start = now();
            for (size_t i = 0; i < KEYS && what == HASH; i++)
                sum += hash_key(keys + i * len, len, seed).lo;
            for (size_t i = 0; i < KEYS && what == TEST; i++)
                sum += gloom_test(filter, keys + i * len, len);
            for (size_t i = 0; i < KEYS && what == ADD; i++)
                (void)gloom_add(filter, keys + i * len, len);
            if (what == TEST_BATCH)
                (void)gloom_test_batch_fixed(filter, keys, len, KEYS, results, NULL);
            if (what == ADD_BATCH)
                (void)gloom_add_batch_fixed(filter, keys, len, KEYS);
            double took = (now() - start) / KEYS;
            best[what] = took < best[what] ? took : best[what];
        }
        sink = sum;
    }
    printf("| %zu | %s | %.1f | %.1f | %.1f | %.1f | %.1f |\n", len, name, best[HASH], best[TEST], best[TEST_BATCH],
           best[ADD], best[ADD_BATCH]);
    gloom_free(filter);
}

int main(void)
{
    static const size_t lens[] = {8, 20, 64, LONGEST};
    uint64_t x = 88172645463325252; /* xorshift64 (Marsaglia, 2003) */
    for (size_t i = 0; i < sizeof keys; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        keys[i] = (unsigned char)x;
    }
    puts("| bytes | hash | alone | test | batch test | add | batch add |");
    puts("|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        measure(lens[i], "XXH3", 0, 0);
        measure(lens[i], "XXH3, seed", SEED, 0);
        measure(lens[i], "SipHash", SEED, GLOOM_FLAG_SIPHASH);
    }
    return 0;
}
