/* The five ways in which a batch takes its keys, so that a test need not be written five times. */
#ifndef BATCHES_H
#define BATCHES_H

#include "check.h"

typedef enum { FIXED, OFFSETS32, OFFSETS64, POINTERS, HASHES, SOURCE_COUNT } source;
static const char *const SOURCE_NAMES[SOURCE_COUNT] = {"fixed", "offsets32", "offsets64", "pointers", "hashes"};

/* The arguments of a batch; each source has its own. */
typedef struct {
    source source;
    size_t n;
    const void *data; /* fixed, offsets */
    size_t key_size;  /* fixed */
    size_t data_len;  /* offsets */
    const int32_t *offsets32;
    const int64_t *offsets64;
    const void *const *keys; /* pointers */
    const size_t *lens;
    const gloom_hash *hashes;
} batch;

static inline gloom_status add_batch(gloom_filter *filter, const batch *b)
{
    switch (b->source) {
    case FIXED: return gloom_add_batch_fixed(filter, b->data, b->key_size, b->n);
    case OFFSETS32: return gloom_add_batch_offsets32(filter, b->data, b->data_len, b->offsets32, b->n);
    case OFFSETS64: return gloom_add_batch_offsets64(filter, b->data, b->data_len, b->offsets64, b->n);
    case POINTERS: return gloom_add_batch_pointers(filter, b->keys, b->lens, b->n);
    default: return gloom_add_batch_hashes(filter, b->hashes, b->n);
    }
}

static inline gloom_status test_batch(const gloom_filter *filter, const batch *b, uint8_t *results,
                                      size_t *hits)
{
    switch (b->source) {
    case FIXED: return gloom_test_batch_fixed(filter, b->data, b->key_size, b->n, results, hits);
    case OFFSETS32:
        return gloom_test_batch_offsets32(filter, b->data, b->data_len, b->offsets32, b->n, results, hits);
    case OFFSETS64:
        return gloom_test_batch_offsets64(filter, b->data, b->data_len, b->offsets64, b->n, results, hits);
    case POINTERS: return gloom_test_batch_pointers(filter, b->keys, b->lens, b->n, results, hits);
    default: return gloom_test_batch_hashes(filter, b->hashes, b->n, results, hits);
    }
}

#endif
