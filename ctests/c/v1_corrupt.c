/* Format v1 from untrusted hands: nothing crashes, nothing big is allocated, no key is lost in silence. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "memory_limit.h"
#include "rng.h"
#include "v1.h"

enum { BLOCKS = 3, KEYS = 20, ALIGNMENTS = 64, HEADER_AND_CRC = V1_BLOCKS + V1_CRC_SIZE };

/* Loads and expects a refusal: this status, nothing written through `out`, an explanation. `error` is for a
 * closer look. */
static void refuse(const unsigned char *file, size_t len, const gloom_load_options *options,
                   gloom_status want, gloom_error *error, int line)
{
    char mark;
    gloom_filter *out = (gloom_filter *)&mark;
    memset(error, 0x5a, sizeof *error);
    check_status(gloom_deserialize(file, len, options, &out, error), want, "gloom_deserialize", __FILE__,
                 line);
    check_that(out == (gloom_filter *)&mark, "out untouched", __FILE__, line);
    check_u64((uint64_t)error->status, (uint64_t)want, "error.status", __FILE__, line);
    check_that(error->message[0] != 0 && memchr(error->message, 0, sizeof error->message) != NULL,
               "a message", __FILE__, line);
}
#define REFUSE(file, len, options, want, error) refuse((file), (len), (options), (want), (error), __LINE__)

/* A copy of exactly `len` bytes, so that a tool sees a read past the end. */
static unsigned char *exact_copy(const unsigned char *file, size_t len)
{
    unsigned char *copy = malloc(len == 0 ? 1 : len);
    REQUIRE(copy != NULL);
    memcpy(copy, file, len);
    return copy;
}

static unsigned char *small_file(int32_t kind, size_t *len)
{
    gloom_filter *filter = make_filter(kind, BLOCKS, 7, 0);
    add_numbers(filter, 0, KEYS);
    unsigned char *file = v1_of(filter, len);
    gloom_free(filter);
    return file;
}

static void truncations(const unsigned char *file, size_t len)
{
    gloom_error error;
    for (size_t cut = 0; cut < len; cut++) {
        CONTEXT("cut to %zu of %zu bytes", cut, len);
        unsigned char *copy = exact_copy(file, cut);
        REFUSE(copy, cut, NULL, GLOOM_ERR_CORRUPT, &error);
        free(copy);
    }
    /* Four bytes less: a cut file, or one of a release that wrote no checksum and hashed otherwise. The
     * message says both. */
    REFUSE(file, len - 4, NULL, GLOOM_ERR_CORRUPT, &error);
    CHECK_HAS(error.message, "cut");
    CHECK_HAS(error.message, "release");
    CHECK_HAS(error.message, "checksum");

    for (size_t more = 1; more <= 70; more++) {
        CONTEXT("%zu bytes too long", more);
        unsigned char *copy = calloc(1, len + more);
        REQUIRE(copy != NULL);
        memcpy(copy, file, len);
        REFUSE(copy, len + more, NULL, GLOOM_ERR_CORRUPT, &error);
        free(copy);
    }
    CONTEXT("%s", "");
}

static void flipped_bits(const unsigned char *file, size_t len)
{
    gloom_error error;
    unsigned char *copy = exact_copy(file, len);
    for (size_t bit = 0; bit < len * 8; bit++) {
        CONTEXT("bit %zu of byte %zu flipped", bit % 8, bit / 8);
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
        REFUSE(copy, len, NULL, bit < 8 ? GLOOM_ERR_UNSUPPORTED : GLOOM_ERR_CORRUPT, &error);
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CONTEXT("%s", "");
    CHECK(memcmp(copy, file, len) == 0);
    free(copy);
}

static void versions(const unsigned char *file, size_t len)
{
    static const struct {
        unsigned char version;
        const char *text;
    } cases[] = {{0, "0"}, {2, "2"}, {255, "255"}};
    gloom_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CONTEXT("version %s", cases[i].text);
        unsigned char *copy = exact_copy(file, len);
        copy[0] = cases[i].version;
        REFUSE(copy, len, NULL, GLOOM_ERR_UNSUPPORTED, &error); /* whatever the checksum */
        v1_seal(copy, len);
        REFUSE(copy, len, NULL, GLOOM_ERR_UNSUPPORTED, &error);
        CHECK_HAS(error.message, "format");
        CHECK_HAS(error.message, cases[i].text);
        REFUSE(copy, 1, NULL, GLOOM_ERR_UNSUPPORTED,
               &error); /* another version's file may be of any length */
        free(copy);
    }
    CONTEXT("%s", "");
}

/* Headers whose checksum is right and whose fields are not. */
static void hostile_fields(const unsigned char *file, size_t len)
{
    static const uint32_t bad_k[] = {0, 1, 2, 18, 255, 256 + 7, UINT32_MAX};
    static const uint64_t bad_num_blocks[] = {
        0,
        1,
        2,
        4,
        (uint64_t)1 << 32,
        ((uint64_t)1 << 50) + BLOCKS,
        ((uint64_t)1 << 58) - 1,
        (uint64_t)1 << 58,
        UINT64_MAX,
        ((uint64_t)1 << 58) + BLOCKS, /* * 64 wraps to this file's true length */
        ((uint64_t)1 << 61) + BLOCKS,
    };
    gloom_error error;
    for (size_t i = 0; i < sizeof bad_k / sizeof bad_k[0]; i++) {
        CONTEXT("k %u", bad_k[i]);
        unsigned char *copy = exact_copy(file, len);
        put_little_endian(copy + V1_K, bad_k[i], 4);
        v1_seal(copy, len);
        REFUSE(copy, len, NULL, GLOOM_ERR_CORRUPT, &error);
        CHECK_HAS(error.message, "k");
        free(copy);
    }
    for (size_t i = 0; i < sizeof bad_num_blocks / sizeof bad_num_blocks[0]; i++) {
        CONTEXT("num_blocks %" PRIu64, bad_num_blocks[i]);
        unsigned char *copy = exact_copy(file, len);
        put_little_endian(copy + V1_NUM_BLOCKS, bad_num_blocks[i], 8);
        v1_seal(copy, len);
        REFUSE(copy, len, NULL, GLOOM_ERR_CORRUPT, &error);
        free(copy);
    }

    /* A whole file of no blocks, and headers that claim as many blocks as wrap to the length of none. */
    static const uint64_t wrapping[] = {0, (uint64_t)1 << 58, (uint64_t)1 << 63};
    for (size_t i = 0; i < sizeof wrapping / sizeof wrapping[0]; i++) {
        size_t short_len;
        CONTEXT("%" PRIu64 " blocks in 25 bytes", wrapping[i]);
        unsigned char *copy = v1_make(0, 7, 0, 0, &short_len);
        CHECK_U64(short_len, HEADER_AND_CRC);
        put_little_endian(copy + V1_NUM_BLOCKS, wrapping[i], 8);
        v1_seal(copy, short_len);
        REFUSE(copy, short_len, NULL, GLOOM_ERR_CORRUPT, &error);
        free(copy);
    }
    CONTEXT("%s", "");
}

/* A few bytes that claim a huge filter. With memory short, taking it before looking at the length would give
 * another status. */
static void hostile_sizes(void)
{
    static const uint64_t claims[] = {(uint64_t)1 << 50, (uint64_t)1 << 40, (uint64_t)1 << 28,
                                      (uint64_t)1 << 24, (uint64_t)1 << 20};
    gloom_error error;
    if (CAN_LIMIT_MEMORY)
        limit_memory((uint64_t)8 << 20);
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        size_t len;
        CONTEXT("%" PRIu64 " blocks claimed", claims[i]);
        unsigned char *file = v1_make(0, 7, 0, 0, &len);
        put_little_endian(file + V1_NUM_BLOCKS, claims[i], 8);
        v1_seal(file, len);
        for (size_t cut = V1_BLOCKS; cut <= len; cut++) {
            unsigned char *copy = exact_copy(file, cut);
            REFUSE(copy, cut, NULL, GLOOM_ERR_CORRUPT, &error);
            free(copy);
        }
        free(file);
    }
    if (CAN_LIMIT_MEMORY)
        unlimit_memory();
    CONTEXT("%s", "");
}

/* The count of a file is told, never used. */
static void counts_in_the_header(const unsigned char *file, size_t len)
{
    static const uint64_t counts[] = {0, 1, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX};
    gloom_filter *original = v1_load(file, len, GLOOM_KIND_ATOMIC);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            CONTEXT("count %" PRIu64 ", kind %d", counts[i], (int)KINDS[kind]);
            unsigned char *copy = exact_copy(file, len);
            put_little_endian(copy + V1_COUNT, counts[i], 8);
            v1_seal(copy, len);
            gloom_filter *loaded = v1_load(copy, len, KINDS[kind]);
            CHECK_U64(gloom_count(loaded), counts[i]);
            CHECK(gloom_equal(loaded, original));
            CHECK_U64(numbers_missing(loaded, 0, KEYS), 0);
            CHECK_U64(numbers_missing(loaded, KEYS, 5000), numbers_missing(original, KEYS, 5000));
            CHECK_U64(gloom_estimate_items(loaded), gloom_estimate_items(original));
            CHECK_F64(gloom_current_fp_rate(loaded), gloom_current_fp_rate(original));
            gloom_free(loaded);
            free(copy);
        }
    }
    gloom_free(original);
    CONTEXT("%s", "");
}

static void every_alignment(const unsigned char *file, size_t len)
{
    size_t room = ALIGNMENTS + len + ALIGNMENTS;
    unsigned char *buffer = aligned_alloc(ALIGNMENTS, (room + ALIGNMENTS - 1) / ALIGNMENTS * ALIGNMENTS);
    gloom_filter *original = v1_load(file, len, GLOOM_KIND_ATOMIC);
    REQUIRE(buffer != NULL);
    for (size_t at = 0; at < ALIGNMENTS; at++) {
        CONTEXT("alignment %zu", at);
        memset(buffer, 0xcc, room);
        memcpy(buffer + at, file, len);
        gloom_filter *loaded = v1_load(buffer + at, len, GLOOM_KIND_PLAIN);
        CHECK(gloom_equal(loaded, original));
        gloom_free(loaded);

        size_t written = 0;
        memset(buffer, 0xcc, room);
        CHECK_OK(gloom_serialize(original, GLOOM_FORMAT_V1, buffer + at, room - at, &written, NULL));
        CHECK_U64(written, len);
        CHECK(memcmp(buffer + at, file, len) == 0);
        size_t others = 0; /* a longer buffer is fine, and what lies around the file stays as it was */
        for (size_t i = 0; i < room; i++)
            others += buffer[i] == 0xcc || (i >= at && i < at + len);
        CHECK_U64(others, room);
    }
    CONTEXT("%s", "");
    gloom_free(original);
    free(buffer);
}

static void limits_of_the_caller(const unsigned char *file, size_t len)
{
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_error error;
    static const uint64_t too_little[] = {1, 64, BLOCKS * BYTES_PER_BLOCK - 1};
    for (size_t i = 0; i < sizeof too_little / sizeof too_little[0]; i++) {
        CONTEXT("max_bytes %" PRIu64, too_little[i]);
        options.max_bytes = too_little[i];
        REFUSE(file, len, &options, GLOOM_ERR_LIMIT, &error);
    }
    CONTEXT("%s", "");
    gloom_filter *filter = NULL;
    options.max_bytes = BLOCKS * BYTES_PER_BLOCK;
    CHECK_OK(gloom_deserialize(file, len, &options, &filter, &error));
    CHECK_U64(numbers_missing(filter, 0, KEYS), 0);
    gloom_free(filter);
}

/* Signed chars and byte order play no part: high bytes set the bits of the definition and come back from a
 * file. */
static void high_bytes(int32_t kind)
{
    static uint64_t words[40 * WORDS_PER_BLOCK];
    gloom_filter *filter = make_filter(kind, 40, 7, 0);
    CONTEXT("kind %d", (int)kind);
    memset(words, 0, sizeof words);
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned char key[9];
        memset(key, (int)byte, sizeof key);
        for (size_t len = 1; len <= sizeof key; len += 4) {
            layout_add(words, 40, 7, gloom_hash_key(key, len, 0));
            CHECK_OK(gloom_add(filter, key, len));
        }
    }
    size_t len;
    unsigned char *file = v1_of(filter, &len);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK_U64(get_little_endian(file + V1_BLOCKS + i * 8, 8), words[i]);
    gloom_filter *loaded = v1_load(file, len, kind);
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned char key = (unsigned char)byte;
        CHECK(gloom_test(loaded, &key, 1));
    }
    gloom_free(loaded);
    gloom_free(filter);
    free(file);
    CONTEXT("%s", "");
}

/* Bytes of no meaning, and a good file with a few bytes changed. */
static void noise(const unsigned char *file, size_t len)
{
    uint64_t rng = 20240229;
    gloom_error error;
    for (int round = 0; round < 20000; round++) {
        CONTEXT("noise %d", round);
        size_t noise_len = (size_t)rng_below(&rng, 300);
        unsigned char *bytes = malloc(noise_len + 1);
        REQUIRE(bytes != NULL);
        for (size_t i = 0; i < noise_len; i++)
            bytes[i] = (unsigned char)rng_next(&rng);
        if (noise_len > 0 && round % 2 == 0)
            bytes[0] = 1;
        bool known = noise_len == 0 || bytes[0] == 1 || bytes[0] == 0x89; /* no bytes, v1, native */
        REFUSE(bytes, noise_len, NULL, known ? GLOOM_ERR_CORRUPT : GLOOM_ERR_UNSUPPORTED, &error);
        free(bytes);

        /* A change within four bytes in a row is never missed by a CRC of 32 bits. */
        unsigned char *copy = exact_copy(file, len);
        size_t at = 1 + (size_t)rng_below(&rng, len - 4);
        uint32_t change = (uint32_t)rng_next(&rng) | 1;
        for (size_t i = 0; i < 4 && at + i < len; i++)
            copy[at + i] ^= (unsigned char)(change >> (8 * i));
        REFUSE(copy, len, NULL, GLOOM_ERR_CORRUPT, &error);
        free(copy);
    }
    CONTEXT("%s", "");
}

/* Any bits of blocks are somebody's filter: with the checksum right they load as they are. */
static void any_bits_load(void)
{
    size_t len;
    uint64_t rng = 7;
    unsigned char *file = v1_make(BLOCKS, 11, 1, 0, &len);
    for (size_t i = V1_BLOCKS; i < len; i++)
        file[i] = (unsigned char)rng_next(&rng);
    v1_seal(file, len);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        gloom_filter *filter = v1_load(file, len, KINDS[kind]);
        size_t again_len;
        unsigned char *again = v1_of(filter, &again_len);
        CHECK(again_len == len && memcmp(again, file, len) == 0);
        free(again);
        gloom_free(filter);
    }
    free(file);
}

int main(void)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        size_t len;
        unsigned char *file = small_file(KINDS[kind], &len);
        CHECK_U64(len, HEADER_AND_CRC + BLOCKS * BYTES_PER_BLOCK);
        if (kind == 0) {
            truncations(file, len);
            flipped_bits(file, len);
            versions(file, len);
            hostile_fields(file, len);
            hostile_sizes();
            limits_of_the_caller(file, len);
            noise(file, len);
        }
        counts_in_the_header(file, len);
        every_alignment(file, len);
        high_bytes(KINDS[kind]);
        free(file);
    }
    any_bits_load();
    return check_report();
}
