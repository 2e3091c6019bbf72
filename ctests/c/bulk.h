/* Numbers as a batch of any source. Each thread has memory of its own for them. */
#ifndef BULK_H
#define BULK_H

#include "batches.h"

enum { MOST_KEYS = 5000 };

typedef struct {
    uint64_t numbers[MOST_KEYS];
    int32_t offsets32[MOST_KEYS + 1];
    int64_t offsets64[MOST_KEYS + 1];
    const void *keys[MOST_KEYS];
    size_t lens[MOST_KEYS];
    gloom_hash hashes[MOST_KEYS];
    uint64_t seed; /* of the filter, for hashes */
    uint8_t results[MOST_KEYS];
} bulk;

static inline bulk *make_bulk(uint64_t seed)
{
    bulk *b = malloc(sizeof *b);
    REQUIRE(b != NULL);
    b->seed = seed;
    for (int i = 0; i <= MOST_KEYS; i++)
        b->offsets64[i] = b->offsets32[i] = i * 8;
    for (int i = 0; i < MOST_KEYS; i++) {
        b->keys[i] = &b->numbers[i];
        b->lens[i] = 8;
    }
    return b;
}

/* The numbers from `first` on. */
static inline batch numbers(bulk *memory, source from, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        memory->numbers[i] = first + i;
        if (from == HASHES)
            memory->hashes[i] = gloom_hash_key(&memory->numbers[i], 8, memory->seed);
    }
    return (batch){.source = from,
                   .n = n,
                   .data = memory->numbers,
                   .key_size = 8,
                   .data_len = n * 8,
                   .offsets32 = memory->offsets32,
                   .offsets64 = memory->offsets64,
                   .keys = memory->keys,
                   .lens = memory->lens,
                   .hashes = memory->hashes};
}

/* How many of the numbers a batch does not find, by its hits or by its results. */
static inline uint64_t batch_missing(const gloom_filter *filter, bulk *memory, source from, uint64_t first,
                                     size_t n)
{
    batch b = numbers(memory, from, first, n);
    size_t hits = 0;
    memset(memory->results, 7, n);
    uint64_t missing = test_batch(filter, &b, memory->results, &hits) != GLOOM_OK;
    for (size_t i = 0; i < n; i++)
        missing += memory->results[i] != 1;
    return missing + (n - hits);
}

#endif
