/* The native format as bytes: a header of 128, a state of 64, zeros up to the blocks at 65536, the blocks, a trailer of
 * 16. Little-endian; each part ends with the CRC-32C of what is before it in the part, but the state, whose last 16
 * bytes are outside. */
#ifndef NATIVE_H
#define NATIVE_H

#include "v1.h"

enum {
    NATIVE_VERSION = 8,
    NATIVE_LAYOUT = 12,
    NATIVE_HASH = 16,
    NATIVE_K = 20,
    NATIVE_NUM_BLOCKS = 24,
    NATIVE_SEED = 32,
    NATIVE_EXPECTED_ITEMS = 40,
    NATIVE_FP_RATE = 48,
    NATIVE_OFFSET = 56,
    NATIVE_RESERVED = 64,
    NATIVE_HEADER_CRC = 124,
    NATIVE_COUNT = 128,
    NATIVE_FLAGS = 136,
    NATIVE_STATE_RESERVED = 140,
    NATIVE_BOOT = 144,
    NATIVE_STATE_RESERVED_TOO = 160,
    NATIVE_STATE_CRC = 172,
    NATIVE_LIVE_COUNT = 176,
    NATIVE_STATE_RESERVED_THREE = 184,
    NATIVE_PADDING = 192,
    NATIVE_BLOCKS = 65536,
    NATIVE_TRAILER_SIZE = 16,
    NATIVE_DIRTY = 1,
    BOOT_ID_SIZE = 16,
};

enum { FORMAT_COUNT = 2 };
static const int32_t FORMATS[FORMAT_COUNT] = {GLOOM_FORMAT_NATIVE, GLOOM_FORMAT_V1};

static inline size_t native_size(uint64_t num_blocks)
{
    return NATIVE_BLOCKS + (size_t)num_blocks * BYTES_PER_BLOCK + NATIVE_TRAILER_SIZE;
}

static inline void native_seal_header(unsigned char *file)
{
    put_little_endian(file + NATIVE_HEADER_CRC, crc32c(file, NATIVE_HEADER_CRC), 4);
}

static inline void native_seal_state(unsigned char *file)
{
    put_little_endian(file + NATIVE_STATE_CRC, crc32c(file + NATIVE_COUNT, NATIVE_STATE_CRC - NATIVE_COUNT),
                      4);
}

/* Makes the checksum of padding and blocks right again, too. */
static inline void native_seal_trailer(unsigned char *file, size_t len)
{
    unsigned char *trailer = file + len - NATIVE_TRAILER_SIZE;
    put_little_endian(trailer + 8,
                      crc32c(file + NATIVE_PADDING, len - NATIVE_PADDING - NATIVE_TRAILER_SIZE), 4);
    put_little_endian(trailer + 12, crc32c(trailer, 12), 4);
}

/* Marks a file as dirty, by a boot. */
static inline void native_make_dirty(unsigned char *file, const unsigned char *boot)
{
    put_little_endian(file + NATIVE_FLAGS, NATIVE_DIRTY, 4);
    memcpy(file + NATIVE_BOOT, boot, BOOT_ID_SIZE);
    native_seal_state(file);
}

/* What this boot of the system is known by; false where that cannot be told. */
static inline bool this_boot(unsigned char *boot)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    memset(boot, 0, BOOT_ID_SIZE);
    if (file == NULL)
        return false;
    int digits = 0;
    for (int c = fgetc(file); c != EOF && digits < 2 * BOOT_ID_SIZE; c = fgetc(file)) {
        const char *hex = "0123456789abcdef", *at = c == 0 ? NULL : strchr(hex, c);
        if (at != NULL) {
            boot[digits / 2] = (unsigned char)(boot[digits / 2] << 4 | (at - hex));
            digits++;
        }
    }
    fclose(file);
    return digits == 2 * BOOT_ID_SIZE;
}

/* A filter's bytes in a format, in memory of exactly their size. */
static inline unsigned char *bytes_of(const gloom_filter *filter, int32_t format, size_t *len)
{
    uint64_t size = 0;
    size_t written = 0;
    CHECK_OK(gloom_serialized_size(filter, format, &size, NULL));
    unsigned char *bytes = malloc((size_t)size);
    REQUIRE(bytes != NULL);
    CHECK_OK(gloom_serialize(filter, format, bytes, (size_t)size, &written, NULL));
    CHECK_U64(written, size);
    *len = written;
    return bytes;
}

#endif
