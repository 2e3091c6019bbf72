/* Format v1 as bytes: u8 version; u32 k; u64 num_blocks; u64 count; blocks; u32 CRC-32C of all before it.
 * Little-endian. */
#ifndef V1_H
#define V1_H

#include "check.h"
#include "layout.h"

enum { V1_K = 1, V1_NUM_BLOCKS = 5, V1_COUNT = 13, V1_BLOCKS = 21, V1_CRC_SIZE = 4 };

/* Bit by bit, so that it shares nothing with the library's. */
static inline uint32_t crc32c(const unsigned char *data, size_t len)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static inline void put_little_endian(unsigned char *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t get_little_endian(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* Makes the checksum right again after a change. */
static inline void v1_seal(unsigned char *file, size_t len)
{
    put_little_endian(file + len - V1_CRC_SIZE, crc32c(file, len - V1_CRC_SIZE), V1_CRC_SIZE);
}

/* The file of a filter in memory of exactly its size, so that a tool sees a read past its end. */
static inline unsigned char *v1_of(const gloom_filter *filter, size_t *len)
{
    uint64_t size = 0;
    size_t written = 0;
    CHECK_OK(gloom_serialized_size(filter, GLOOM_FORMAT_V1, &size, NULL));
    unsigned char *file = malloc((size_t)size);
    REQUIRE(file != NULL);
    CHECK_OK(gloom_serialize(filter, GLOOM_FORMAT_V1, file, (size_t)size, &written, NULL));
    CHECK_U64(written, size);
    *len = written;
    return file;
}

/* A file of any header and blocks all of one byte. */
static inline unsigned char *v1_make(uint64_t num_blocks, uint32_t k, uint64_t count, int fill, size_t *len)
{
    *len = V1_BLOCKS + (size_t)num_blocks * BYTES_PER_BLOCK + V1_CRC_SIZE;
    unsigned char *file = malloc(*len);
    REQUIRE(file != NULL);
    file[0] = 1;
    put_little_endian(file + V1_K, k, 4);
    put_little_endian(file + V1_NUM_BLOCKS, num_blocks, 8);
    put_little_endian(file + V1_COUNT, count, 8);
    memset(file + V1_BLOCKS, fill, (size_t)num_blocks * BYTES_PER_BLOCK);
    v1_seal(file, *len);
    return file;
}

static inline gloom_filter *v1_load(const unsigned char *file, size_t len, int32_t kind)
{
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    gloom_error error;
    options.kind = kind;
    gloom_status status = gloom_deserialize(file, len, &options, &filter, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "gloom_deserialize: %s\n", error.message);
    REQUIRE(status == GLOOM_OK && filter != NULL);
    return filter;
}

#endif
