/* The bit layout once more, written down as plainly as the definition reads, to hold the library against. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdint.h>

#include "gloom.h"

enum { LAYOUT_MIN_K = 3, LAYOUT_MAX_K = 17, WORDS_PER_BLOCK = 8, BYTES_PER_BLOCK = 64 };

static const uint8_t PARTITIONS[LAYOUT_MAX_K + 1][LAYOUT_MAX_K] = {
    [3] = {167, 173, 172},
    [4] = {109, 127, 137, 139},
    [5] = {97, 101, 103, 109, 102},
    [6] = {61, 79, 83, 89, 97, 103},
    [7] = {61, 67, 71, 79, 83, 89, 62},
    [8] = {37, 47, 53, 61, 67, 71, 79, 97},
    [9] = {41, 43, 47, 53, 59, 67, 71, 73, 58},
    [10] = {31, 37, 41, 43, 47, 53, 59, 61, 67, 73},
    [11] = {29, 31, 37, 41, 43, 44, 47, 53, 59, 61, 67},
    [12] = {17, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 71},
    [13] = {17, 19, 23, 29, 31, 37, 41, 43, 47, 52, 53, 59, 61},
    [14] = {11, 13, 17, 19, 23, 29, 31, 37, 41, 47, 53, 59, 61, 71},
    [15] = {11, 13, 17, 19, 23, 28, 29, 31, 37, 41, 43, 47, 53, 59, 61},
    [16] = {5, 7, 11, 13, 17, 19, 23, 27, 29, 31, 37, 41, 43, 47, 53, 109},
    [17] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 32, 37, 41, 43, 47, 53, 101},
};

__extension__ typedef unsigned __int128 layout_u128;

static inline uint64_t layout_block(gloom_hash hash, uint64_t num_blocks)
{
    return (uint64_t)(((layout_u128)hash.hi * num_blocks) >> 64);
}

static inline uint32_t layout_probe(gloom_hash hash)
{
    return (uint32_t)hash.lo ^ (uint32_t)(hash.lo >> 32);
}

/* Sets the k bits of a hash in `words`, num_blocks * 8 of them. */
static inline void layout_add(uint64_t *words, uint64_t num_blocks, uint32_t k, gloom_hash hash)
{
    uint64_t *block = words + layout_block(hash, num_blocks) * WORDS_PER_BLOCK;
    uint32_t probe = layout_probe(hash);
    uint32_t offset = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t bit = offset + probe % PARTITIONS[k][i];
        block[bit / 64] |= (uint64_t)1 << (bit % 64);
        offset += PARTITIONS[k][i];
    }
}

#endif
