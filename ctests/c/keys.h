/* Keys in every form that a batch takes, each form in pieces of exactly its size. */
#ifndef KEYS_H
#define KEYS_H

#include "batches.h"
#include "pieces.h"
#include "rng.h"

typedef struct {
    size_t n;
    place where;
    /* Each key by itself ... */
    unsigned char **keys;
    size_t *lens;
    gloom_hash *hashes;
    /* ... and one after the other, with `before` bytes of no key in front and some behind. */
    unsigned char *data;
    size_t before, data_len;
    int32_t *offsets32;
    int64_t *offsets64;
    bool of_one_size;
} key_set;

/* Copies of these keys, or, if `bytes` is NULL, keys of these lengths and random bytes, high ones and zeros too. Valid
 * until give_pieces_back. */
static inline key_set copy_keys(place where, size_t n, const unsigned char *const *bytes, const size_t *lens,
                                size_t before, size_t behind, uint64_t seed, uint64_t *rng)
{
    key_set set = {.n = n, .where = where, .before = before, .data_len = before + behind};
    set.of_one_size = true;
    for (size_t i = 0; i < n; i++) {
        set.data_len += lens[i];
        set.of_one_size &= lens[i] == lens[0];
    }
    set.keys = take_piece(where, n * sizeof *set.keys);
    set.lens = take_piece(where, n * sizeof *set.lens);
    set.hashes = take_piece(where, n * sizeof *set.hashes);
    set.offsets32 = take_piece(where, (n + 1) * sizeof *set.offsets32);
    set.offsets64 = take_piece(where, (n + 1) * sizeof *set.offsets64);
    set.data = take_piece(where, set.data_len);
    size_t at = before;
    for (size_t j = 0; j < set.data_len; j++)
        set.data[j] = (unsigned char)rng_next(rng);
    for (size_t i = 0; i < n; i++) {
        if (bytes != NULL)
            memcpy(set.data + at, bytes[i], lens[i]);
        set.keys[i] = take_piece(where, lens[i]);
        memcpy(set.keys[i], set.data + at, lens[i]);
        set.lens[i] = lens[i];
        set.hashes[i] = gloom_hash_key(set.keys[i], lens[i], seed);
        set.offsets32[i] = (int32_t)at;
        set.offsets64[i] = (int64_t)at;
        at += lens[i];
    }
    set.offsets32[n] = (int32_t)at;
    set.offsets64[n] = (int64_t)at;
    return set;
}

static inline key_set make_keys(place where, size_t n, const size_t *lens, size_t before, size_t behind,
                                uint64_t seed, uint64_t *rng)
{
    return copy_keys(where, n, NULL, lens, before, behind, seed, rng);
}

/* A batch of these keys. For the fixed source they must be of one size. */
static inline batch batch_of(const key_set *set, source from)
{
    batch b = {.source = from, .n = set->n};
    switch (from) {
    case FIXED:
        b.data = set->data + set->before;
        b.key_size = set->n == 0 ? 8 : set->lens[0];
        break;
    case OFFSETS32:
    case OFFSETS64:
        b.data = set->data;
        b.data_len = set->data_len;
        b.offsets32 = set->offsets32;
        b.offsets64 = set->offsets64;
        break;
    case POINTERS:
        b.keys = (const void *const *)set->keys;
        b.lens = set->lens;
        break;
    default: b.hashes = set->hashes;
    }
    return b;
}

#endif
