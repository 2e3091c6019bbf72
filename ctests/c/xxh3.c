/* gloom's hash is XXH3-128: at every length up to 4 KiB, and some beyond, it gives what the reference
 * implementation gives (xxhash.h of the package libxxhash-dev). Single hashes are compared directly, those of
 * batches by the bits they set in a filter. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "check.h"

enum { LONGEST = 4096, KEYS = 17 };

static unsigned char bytes[1 << 20];

static gloom_hash reference(const void *key, size_t len, uint64_t seed)
{
    XXH128_hash_t hash = seed ? XXH3_128bits_withSeed(key, len, seed) : XXH3_128bits(key, len);
    gloom_hash same;
    same.lo = hash.low64;
    same.hi = hash.high64;
    return same;
}

static void single(size_t len, uint64_t seed)
{
    const void *key = bytes + len % 61;
    gloom_hash expected = reference(key, len, seed);
    gloom_hash hash = gloom_hash_key(key, len, seed);
    CONTEXT("%zu bytes, seed %" PRIx64, len, seed);
    CHECK_U64(hash.lo, expected.lo);
    CHECK_U64(hash.hi, expected.hi);
}

/* Seventeen keys of one length: two vectors of eight, and one that is not full. */
static void batch(size_t len, uint64_t seed)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *by_batch = NULL, *by_reference = NULL;
    gloom_hash hashes[KEYS];
    options.num_blocks = 1021;
    options.k = 7;
    options.seed = seed;
    CONTEXT("batch of %zu bytes, seed %" PRIx64, len, seed);
    CHECK_STATUS(gloom_create(&options, &by_batch, NULL), GLOOM_OK);
    CHECK_STATUS(gloom_create(&options, &by_reference, NULL), GLOOM_OK);
    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = reference(bytes + i * len, len, seed);
    CHECK_STATUS(gloom_add_batch_fixed(by_batch, bytes, len, KEYS), GLOOM_OK);
    CHECK_STATUS(gloom_add_batch_hashes(by_reference, hashes, KEYS), GLOOM_OK);
    CHECK(gloom_equal(by_batch, by_reference));
    gloom_free(by_batch);
    gloom_free(by_reference);
}

int main(void)
{
    static const uint64_t seeds[] = {0, 1, 0x9e3779b97f4a7c15, UINT64_MAX};
    uint32_t state = 2463534242;
    for (size_t i = 0; i < sizeof bytes; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        bytes[i] = (unsigned char)(state >> 24);
    }
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        for (size_t len = 0; len <= LONGEST; len++) {
            single(len, seeds[s]);
            if (len <= 300)
                batch(len, seeds[s]);
        }
        for (size_t len = LONGEST; len < sizeof bytes - 61; len += 65537)
            single(len, seeds[s]);
    }
    return check_report();
}
