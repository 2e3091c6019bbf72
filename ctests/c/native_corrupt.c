/* Serialized filters from untrusted hands, through every way in: a status, never a crash, never a filter that lost keys
 * in silence, never more memory than allowed; and a file that is refused stays as it was. v1_corrupt.c has more about
 * format v1 in buffers.
 *
 *   native_corrupt [N]   of the bits of the padding, which are half a million, only every Nth */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "loaders.h"
#include "memory_limit.h"
#include "native.h"

enum { BLOCKS = 3, KEYS = 20, SIZE = NATIVE_BLOCKS + BLOCKS * BYTES_PER_BLOCK + NATIVE_TRAILER_SIZE };

static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)

/* -- a serialized filter, in memory and in a file -- */

typedef struct {
    unsigned char *bytes;
    size_t len;
    int file;
} specimen;

#define PATH path_of("specimen")

/* The file becomes as the memory. */
static void rewrite(const specimen *s)
{
    REQUIRE(ftruncate(s->file, (off_t)s->len) == 0);
    REQUIRE(pwrite(s->file, s->bytes, s->len, 0) == (ssize_t)s->len);
}

static void flip(const specimen *s, size_t bit)
{
    s->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    REQUIRE(pwrite(s->file, s->bytes + bit / 8, 1, (off_t)(bit / 8)) == 1);
}

static bool file_is_still(const specimen *s)
{
    static unsigned char now[2 * SIZE];
    return s->len < sizeof now && pread(s->file, now, sizeof now, 0) == (ssize_t)s->len &&
           memcmp(now, s->bytes, s->len) == 0;
}

static specimen specimen_of(unsigned char *bytes, size_t len)
{
    specimen s = {bytes, len, open(PATH, O_RDWR | O_CREAT | O_TRUNC, 0666)};
    REQUIRE(s.file >= 0);
    rewrite(&s);
    return s;
}

static void discard(specimen *s)
{
    free(s->bytes);
    close(s->file);
    unlink(PATH);
}

static gloom_filter *original(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, BLOCKS, 7, 0);
    add_numbers(filter, 0, KEYS);
    return filter;
}

static specimen good_specimen(int32_t format)
{
    gloom_filter *filter = original();
    size_t len;
    unsigned char *bytes = bytes_of(filter, format, &len);
    gloom_free(filter);
    return specimen_of(bytes, len);
}

/* -- every way in -- */

typedef enum {
    BY_DESERIALIZE,
    BY_READ,
    BY_MERGE,
    BY_LOAD,
    BY_MAP,
    BY_MAP_RW,
    BY_MAP_VERIFY,
    BY_MAP_RW_VERIFY,
    WAY_COUNT
} way;

static const char *const WAY_NAMES[WAY_COUNT] = {
    "gloom_deserialize", "gloom_read",        "gloom_merge_serialized", "gloom_load",
    "gloom_map",         "gloom_map to write", "gloom_map, verifying",   "gloom_map to write, verifying"};

enum {
    ALL_WAYS = (1 << WAY_COUNT) - 1,
    ALL_MAPS = 1 << BY_MAP | 1 << BY_MAP_RW | 1 << BY_MAP_VERIFY | 1 << BY_MAP_RW_VERIFY,
    MAPS_UNVERIFIED = 1 << BY_MAP | 1 << BY_MAP_RW,
};

static bool is_map(way w)
{
    return w >= BY_MAP;
}

/* Sets of statuses. */
enum {
    DAMAGED = 1 << GLOOM_ERR_CORRUPT,
    UNKNOWN = 1 << GLOOM_ERR_CORRUPT | 1 << GLOOM_ERR_UNSUPPORTED,
    ANOTHER = 1 << GLOOM_ERR_CORRUPT | 1 << GLOOM_ERR_INCOMPATIBLE,
    TOO_LARGE = 1 << GLOOM_ERR_OUT_OF_MEMORY | 1 << GLOOM_ERR_LIMIT,
};

/* What is merged into; never changes, since only what is damaged is merged. */
static gloom_filter *merge_target;

/* A way in, with nothing but the status: the filter, if there is one, is in *out. */
static gloom_status enter(way w, const specimen *s, uint32_t map_flags, gloom_filter **out,
                          gloom_error *error)
{
    stream in = stream_of(s->bytes, s->len);
    memset(error, 0x5a, sizeof *error);
    switch (w) {
    case BY_DESERIALIZE: return gloom_deserialize(s->bytes, s->len, NULL, out, error);
    case BY_READ: return gloom_read(stream_read, &in, NULL, out, error);
    case BY_MERGE: return gloom_merge_serialized(merge_target, s->bytes, s->len, error);
    case BY_LOAD: return gloom_load(PATH, NULL, out, error);
    case BY_MAP: break;
    case BY_MAP_RW: map_flags |= GLOOM_MAP_READ_WRITE; break;
    case BY_MAP_VERIFY: map_flags |= GLOOM_MAP_VERIFY; break;
    default: map_flags |= GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY;
    }
    return gloom_map(PATH, map_flags, out, error);
}

/* This way refuses the specimen with one of these statuses, says why, and changes nothing. */
static gloom_status refused(way w, const specimen *s, unsigned statuses, gloom_error *error)
{
    gloom_filter *out = NO_FILTER;
    filter_state before = state_of(merge_target);
    gloom_status status = enter(w, s, 0, &out, error);
    if ((statuses >> status & 1) == 0)
        check_failed(__FILE__, __LINE__, "gave %d (%s)", (int)status, gloom_status_string(status));
    CHECK_STATUS(error->status, status);
    CHECK(error->message[0] != 0 && memchr(error->message, 0, sizeof error->message) != NULL);
    CHECK(out == NO_FILTER);
    CHECK(is_still(merge_target, before));
    CHECK(!is_map(w) || file_is_still(s));
    if (out != NO_FILTER)
        gloom_free(out);
    return status;
}

static void all_refuse(const specimen *s, unsigned ways, unsigned statuses)
{
    char context[sizeof check_context];
    memcpy(context, check_context, sizeof context);
    for (int w = 0; w < WAY_COUNT; w++) {
        gloom_error error;
        if ((ways >> w & 1) == 0)
            continue;
        CONTEXT("%.100s, by %s", context, WAY_NAMES[w]);
        (void)refused((way)w, s, statuses, &error);
    }
    memcpy(check_context, context, sizeof context);
}

/* This way takes the specimen, whose keys are all there. */
static gloom_filter *accepted(way w, const specimen *s, uint32_t map_flags)
{
    gloom_filter *out = NULL;
    gloom_error error;
    gloom_status status = enter(w, s, map_flags, &out, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "%s: %s\n", WAY_NAMES[w], error.message);
    CHECK_OK(status);
    if (status != GLOOM_OK || w == BY_MERGE)
        return NULL;
    CHECK_U64(numbers_missing(out, 0, KEYS), 0);
    return out;
}

/* -- lengths -- */

/* In format v1 every length; of a native file the first 300, all around every border, and every 97th between. */
static bool is_tried(size_t cut, size_t len)
{
    static const size_t borders[] = {NATIVE_PADDING, 4096, NATIVE_BLOCKS, NATIVE_BLOCKS + BYTES_PER_BLOCK,
                                     SIZE - NATIVE_TRAILER_SIZE, SIZE};
    if (len != SIZE || cut < 300 || cut % 97 == 0)
        return true;
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++)
        if (cut + 70 > borders[i] && cut < borders[i] + 70)
            return true;
    return false;
}

static void lengths(int32_t format)
{
    specimen s = good_specimen(format);
    size_t len = s.len, tried = 0;
    unsigned char *bytes = s.bytes;
    for (size_t cut = 0; cut < len; cut++) {
        if (!is_tried(cut, len))
            continue;
        CONTEXT("cut to %zu of %zu bytes", cut, len);
        s.len = cut;
        s.bytes = malloc(cut == 0 ? 1 : cut); /* so that a tool sees a read past the end */
        REQUIRE(s.bytes != NULL);
        memcpy(s.bytes, bytes, cut);
        rewrite(&s);
        all_refuse(&s, ALL_MAPS, format == GLOOM_FORMAT_V1 ? UNKNOWN : DAMAGED);
        all_refuse(&s, ALL_WAYS & ~ALL_MAPS, DAMAGED);
        free(s.bytes);
        tried++;
    }
    CHECK(tried == len || (len == SIZE && tried > 1200));
    for (size_t more = 1; more <= 70; more++) {
        CONTEXT("%zu bytes too long", more);
        s.len = len + more;
        s.bytes = calloc(1, len + more);
        REQUIRE(s.bytes != NULL);
        memcpy(s.bytes, bytes, len);
        rewrite(&s);
        all_refuse(&s, ALL_MAPS, format == GLOOM_FORMAT_V1 ? UNKNOWN : DAMAGED);
        all_refuse(&s, ALL_WAYS & ~ALL_MAPS & ~(1 << BY_READ), DAMAGED); /* a stream may go on */
        free(s.bytes);
    }
    s.bytes = bytes;
    discard(&s);
    CONTEXT("%s", "");
}

/* Four bytes short: cut, or of a release that wrote no checksum. Every way says both. */
static void v1_without_checksum(void)
{
    specimen s = good_specimen(GLOOM_FORMAT_V1);
    s.len -= V1_CRC_SIZE;
    rewrite(&s);
    for (int w = 0; w < WAY_COUNT; w++) {
        gloom_error error;
        CONTEXT("v1 without checksum, by %s", WAY_NAMES[w]);
        CHECK_STATUS(refused((way)w, &s, DAMAGED, &error), GLOOM_ERR_CORRUPT);
        CHECK_HAS(error.message, "cut");
        CHECK_HAS(error.message, "release");
        CHECK_HAS(error.message, "checksum");
    }
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_error error;
    CHECK_STATUS(gloom_inspect(PATH, &info, &error), GLOOM_ERR_CORRUPT);
    CHECK_HAS(error.message, "release");
    discard(&s);
    CONTEXT("%s", "");
}

/* -- bits -- */

/* Any bit of the first 192 bytes, of the padding's edges and of the trailer; those of the padding's middle by one way,
 * which is fast enough for all of them. */
static void flipped_bits_of_native(size_t padding_step)
{
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    uint64_t tried_in_padding = 0;
    for (size_t bit = 0; bit < SIZE * 8; bit++) {
        size_t byte = bit / 8;
        CONTEXT("bit %zu of byte %zu flipped", bit % 8, byte);
        bool in_padding = byte >= NATIVE_PADDING && byte < NATIVE_BLOCKS;
        bool in_blocks = byte >= NATIVE_BLOCKS && byte < SIZE - NATIVE_TRAILER_SIZE;
        bool everywhere = !in_padding || byte < NATIVE_PADDING + 8 || byte >= NATIVE_BLOCKS - 8 || bit % 4001 == 0;
        if (!everywhere) {
            if (bit % padding_step != 0)
                continue;
            gloom_filter *out = NO_FILTER;
            s.bytes[byte] ^= (unsigned char)(1 << bit % 8);
            CHECK_STATUS(gloom_deserialize(s.bytes, s.len, NULL, &out, NULL), GLOOM_ERR_CORRUPT);
            CHECK(out == NO_FILTER);
            s.bytes[byte] ^= (unsigned char)(1 << bit % 8);
            tried_in_padding++;
            continue;
        }
        flip(&s, bit);
        /* Another first byte is another format; another version, layout or hash is told before the checksum. */
        bool may_be_unsupported = byte == 0 || (byte >= NATIVE_VERSION && byte < NATIVE_K);
        all_refuse(&s, in_blocks ? ALL_WAYS & ~MAPS_UNVERIFIED : ALL_WAYS,
                   may_be_unsupported ? UNKNOWN : DAMAGED);
        if (in_blocks) {
            /* Nobody asked to look at the blocks: another bit is another filter. */
            gloom_filter *out = NULL;
            CHECK_OK(gloom_map(PATH, 0, &out, NULL));
            gloom_free(out);
            CHECK(file_is_still(&s));
        }
        flip(&s, bit);
    }
    CHECK(tried_in_padding > (SIZE - NATIVE_PADDING) / padding_step);
    CHECK(file_is_still(&s));
    discard(&s);
    CONTEXT("%s", "");
}

/* Of format v1: every bit, by every way; a map refuses it anyway. */
static void flipped_bits_of_v1(void)
{
    specimen s = good_specimen(GLOOM_FORMAT_V1);
    for (size_t bit = 0; bit < s.len * 8; bit++) {
        CONTEXT("v1, bit %zu of byte %zu flipped", bit % 8, bit / 8);
        flip(&s, bit);
        all_refuse(&s, ALL_MAPS, UNKNOWN);
        all_refuse(&s, 1 << BY_DESERIALIZE | 1 << BY_LOAD, bit < 8 ? UNKNOWN : DAMAGED);
        /* Where nothing but the end tells that the header is wrong, a merge has seen that it does not fit. */
        all_refuse(&s, 1 << BY_MERGE, bit < 8 ? UNKNOWN : bit / 8 < V1_NUM_BLOCKS ? ANOTHER : DAMAGED);
        all_refuse(&s, 1 << BY_READ, bit < 8 ? UNKNOWN : bit / 8 < V1_COUNT ? DAMAGED | TOO_LARGE : DAMAGED);
        flip(&s, bit);
    }
    gloom_error error;
    gloom_filter *out = NO_FILTER;
    for (uint32_t flags = 0; flags < 8; flags++) {
        CHECK_STATUS(gloom_map(PATH, flags, &out, &error), GLOOM_ERR_UNSUPPORTED);
        CHECK_HAS(error.message, "v1");
    }
    CHECK(out == NO_FILTER);
    CHECK(file_is_still(&s));
    discard(&s);
    CONTEXT("%s", "");
}

/* The right beginning after a transfer that took the file for text. */
static void sent_as_text(void)
{
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    unsigned char *bytes = s.bytes;
    gloom_error error;
    for (int way_of_sending = 0; way_of_sending < 3; way_of_sending++) {
        s.bytes = malloc(2 * SIZE);
        REQUIRE(s.bytes != NULL);
        s.len = 0;
        for (size_t i = 0; i < SIZE; i++) {
            bool cr_lf = bytes[i] == '\r' && i + 1 < SIZE && bytes[i + 1] == '\n';
            if (way_of_sending == 0 && cr_lf) /* CR LF becomes LF */
                continue;
            if (way_of_sending == 1 && bytes[i] == '\n') /* LF becomes CR LF */
                s.bytes[s.len++] = '\r';
            if (way_of_sending == 2) /* seven bits */
                bytes[i] &= 0x7f;
            s.bytes[s.len++] = bytes[i];
        }
        rewrite(&s);
        CONTEXT("sent as text, %d", way_of_sending);
        for (int w = 0; w < WAY_COUNT; w++) {
            (void)refused((way)w, &s, way_of_sending == 2 ? UNKNOWN : DAMAGED, &error);
            if (way_of_sending < 2)
                CHECK_HAS(error.message, "text");
        }
        free(s.bytes);
    }
    s.bytes = bytes;
    discard(&s);
    CONTEXT("%s", "");
}

/* -- headers whose checksums are right and whose fields are not -- */

static void hostile_fields(void)
{
    static const double minus_one = -1.0, one = 1.0, two = 2.0;
    uint64_t minus_one_bits, one_bits, two_bits;
    memcpy(&minus_one_bits, &minus_one, 8);
    memcpy(&one_bits, &one, 8);
    memcpy(&two_bits, &two, 8);
    const struct {
        const char *name; /* in the message */
        size_t at, size;
        uint64_t value;
        gloom_status want, want_of_stream;
    } cases[] = {
        {"version", NATIVE_VERSION, 4, 0, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"version", NATIVE_VERSION, 4, 2, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"4294967295", NATIVE_VERSION, 4, UINT32_MAX, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"layout", NATIVE_LAYOUT, 4, 0, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"layout = 2", NATIVE_LAYOUT, 4, 2, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"hash", NATIVE_HASH, 4, 0, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"seed is 0", NATIVE_HASH, 4, 2, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT}, /* SipHash without a key */
        {"hash = 3", NATIVE_HASH, 4, 3, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"hash = 257", NATIVE_HASH, 4, 257, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"k is 0", NATIVE_K, 4, 0, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"k is 2", NATIVE_K, 4, 2, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"k is 18", NATIVE_K, 4, 18, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"k is 263", NATIVE_K, 4, 256 + 7, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"k is 4294967295", NATIVE_K, 4, UINT32_MAX, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"blocks is 0", NATIVE_NUM_BLOCKS, 8, 0, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"length", NATIVE_NUM_BLOCKS, 8, 1, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"length", NATIVE_NUM_BLOCKS, 8, BLOCKS - 1, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"length", NATIVE_NUM_BLOCKS, 8, BLOCKS + 1, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"length", NATIVE_NUM_BLOCKS, 8, (uint64_t)1 << 50, GLOOM_ERR_CORRUPT, GLOOM_ERR_OUT_OF_MEMORY},
        {"", NATIVE_NUM_BLOCKS, 8, ((uint64_t)1 << 50) + BLOCKS, GLOOM_ERR_CORRUPT, GLOOM_ERR_OUT_OF_MEMORY},
        {"", NATIVE_NUM_BLOCKS, 8, (uint64_t)1 << 57, GLOOM_ERR_CORRUPT, GLOOM_ERR_LIMIT},
        {"", NATIVE_NUM_BLOCKS, 8, ((uint64_t)1 << 58) + BLOCKS, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"", NATIVE_NUM_BLOCKS, 8, ((uint64_t)1 << 61) + BLOCKS, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"", NATIVE_NUM_BLOCKS, 8, (uint64_t)1 << 63, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"18446744073709551615", NATIVE_NUM_BLOCKS, 8, UINT64_MAX, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"offset of the blocks is 0", NATIVE_OFFSET, 8, 0, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"offset", NATIVE_OFFSET, 8, 4096, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"offset", NATIVE_OFFSET, 8, NATIVE_BLOCKS - 1, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"offset", NATIVE_OFFSET, 8, NATIVE_BLOCKS + 64, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"offset", NATIVE_OFFSET, 8, UINT64_MAX, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"NaN", NATIVE_FP_RATE, 8, 0x7ff8000000000000, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"NaN", NATIVE_FP_RATE, 8, 0xfff0000000000001, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"inf", NATIVE_FP_RATE, 8, 0x7ff0000000000000, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"-inf", NATIVE_FP_RATE, 8, 0xfff0000000000000, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"-1", NATIVE_FP_RATE, 8, minus_one_bits, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"rate", NATIVE_FP_RATE, 8, one_bits, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"rate", NATIVE_FP_RATE, 8, two_bits, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"flags of the state = 2", NATIVE_FLAGS, 4, 2, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"flags", NATIVE_FLAGS, 4, 3, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"flags", NATIVE_FLAGS, 4, 0x80000000, GLOOM_ERR_UNSUPPORTED, GLOOM_ERR_UNSUPPORTED},
        {"live count", NATIVE_LIVE_COUNT, 8, 1, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
        {"live count", NATIVE_LIVE_COUNT, 8, UINT64_MAX, GLOOM_ERR_CORRUPT, GLOOM_ERR_CORRUPT},
    };
    unsigned char good[NATIVE_PADDING];
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    memcpy(good, s.bytes, sizeof good);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_little_endian(s.bytes + cases[i].at, cases[i].value, cases[i].size);
        native_seal_header(s.bytes);
        native_seal_state(s.bytes);
        rewrite(&s);
        for (int w = 0; w < WAY_COUNT; w++) {
            gloom_filter *out = NO_FILTER;
            gloom_error error;
            filter_state before = state_of(merge_target);
            CONTEXT("%zu bytes at %zu = %" PRIu64 ", by %s", cases[i].size, cases[i].at, cases[i].value,
                    WAY_NAMES[w]);
            gloom_status status = enter((way)w, &s, 0, &out, &error);
            CHECK_STATUS(status, w == BY_READ ? cases[i].want_of_stream : cases[i].want);
            CHECK_STATUS(error.status, status);
            if (w != BY_READ)
                CHECK_HAS(error.message, cases[i].name);
            CHECK(out == NO_FILTER);
            CHECK(is_still(merge_target, before));
            CHECK(file_is_still(&s));
        }
        memcpy(s.bytes, good, sizeof good);
    }
    discard(&s);
    CONTEXT("%s", "");
}

/* Bytes that mean nothing yet may mean something to a later release: none may be set. */
static void reserved_bytes(void)
{
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    for (size_t at = 0; at < NATIVE_PADDING; at++) {
        bool reserved = (at >= NATIVE_RESERVED && at < NATIVE_HEADER_CRC) ||
                        (at >= NATIVE_STATE_RESERVED && at < NATIVE_BOOT) ||
                        (at >= NATIVE_STATE_RESERVED_TOO && at < NATIVE_STATE_CRC) ||
                        at >= NATIVE_STATE_RESERVED_THREE;
        if (!reserved)
            continue;
        CONTEXT("byte %zu set", at);
        for (int value = 1; value < 256; value *= 16) {
            s.bytes[at] = (unsigned char)value;
            native_seal_header(s.bytes);
            native_seal_state(s.bytes);
            rewrite(&s);
            all_refuse(&s, ALL_WAYS, DAMAGED);
        }
        s.bytes[at] = 0;
    }
    native_seal_header(s.bytes);
    native_seal_state(s.bytes);
    rewrite(&s);
    gloom_free(accepted(BY_MAP_VERIFY, &s, 0));
    discard(&s);
    CONTEXT("%s", "");
}

/* A trailer that is well formed, but not this payload's; and a padding with the right checksum that is not zeros. */
static void hostile_payloads(void)
{
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    unsigned char *trailer = s.bytes + SIZE - NATIVE_TRAILER_SIZE;
    put_little_endian(trailer + 8, get_little_endian(trailer + 8, 4) ^ 1, 4);
    put_little_endian(trailer + 12, crc32c(trailer, 12), 4);
    rewrite(&s);
    CONTEXT("another payload's trailer");
    all_refuse(&s, ALL_WAYS & ~MAPS_UNVERIFIED, DAMAGED);

    static const size_t places[] = {NATIVE_PADDING, 4095, 4096, 30000, NATIVE_BLOCKS - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        CONTEXT("padding set at %zu", places[i]);
        s.bytes[places[i]] = 0x80;
        native_seal_trailer(s.bytes, s.len);
        rewrite(&s);
        all_refuse(&s, ALL_WAYS, DAMAGED);
        s.bytes[places[i]] = 0;
    }
    native_seal_trailer(s.bytes, s.len);
    rewrite(&s);
    gloom_free(accepted(BY_MAP_VERIFY, &s, 0));
    discard(&s);
    CONTEXT("%s", "");
}

/* -- counts: told, never used -- */

static void counts_in_the_state(void)
{
    static const uint64_t counts[] = {0, 1, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX - 1, UINT64_MAX};
    gloom_filter *first = original();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int w = 0; w < WAY_COUNT; w++) {
            specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
            CONTEXT("count %" PRIu64 ", by %s", counts[i], WAY_NAMES[w]);
            put_little_endian(s.bytes + NATIVE_COUNT, counts[i], 8);
            native_seal_state(s.bytes);
            rewrite(&s);
            if (w == BY_MERGE) {
                gloom_filter *target = make_filter(GLOOM_KIND_ATOMIC, BLOCKS, 7, 0);
                CHECK_OK(gloom_merge_serialized(target, s.bytes, s.len, NULL));
                CHECK(gloom_equal(target, first));
                CHECK_U64(gloom_count(target), counts[i]);
                gloom_free(target);
                discard(&s);
                continue;
            }
            gloom_filter *filter = accepted((way)w, &s, 0);
            REQUIRE(filter != NULL);
            CHECK_U64(gloom_count(filter), counts[i]);
            CHECK(gloom_equal(filter, first));
            CHECK_U64(numbers_missing(filter, KEYS, 3000), numbers_missing(first, KEYS, 3000));
            CHECK_U64(gloom_estimate_items(filter), gloom_estimate_items(first));
            CHECK_F64(gloom_current_fp_rate(filter), gloom_current_fp_rate(first));
            if (!gloom_is_read_only(filter)) { /* saturates, also when it is written back */
                uint64_t more = counts[i] > UINT64_MAX - 3 ? UINT64_MAX : counts[i] + 3;
                add_numbers(filter, 0, 3);
                CHECK_U64(gloom_count(filter), more);
                bool mapped = gloom_is_mapped(filter);
                gloom_free(filter);
                filter = NULL;
                if (mapped) {
                    gloom_file_info info = GLOOM_FILE_INFO_INIT;
                    CHECK_OK(gloom_inspect(PATH, &info, NULL));
                    CHECK_U64(info.count, more);
                    CHECK_U64(info.dirty, 0);
                }
            }
            gloom_free(filter);
            discard(&s);
        }
    }
    gloom_free(first);
    CONTEXT("%s", "");
}

/* -- dirty files -- */

/* `count` is the one of when the file was clean. */
static void check_dirty(bool dirty, uint64_t count)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    CHECK_OK(gloom_inspect(PATH, &info, NULL));
    CHECK_U64(info.dirty, dirty);
    CHECK_U64(info.count, count);
}

/* Left dirty by a process of this boot: nothing is lost, so every way is open. The old checksum of the blocks says
 * nothing then; all else is looked at as ever. */
static void dirty_by_this_boot(void)
{
    enum { LIVE_ADDS = 5 };
    unsigned char boot[BOOT_ID_SIZE];
    if (!this_boot(boot))
        return; /* then all dirty files are those of another boot */
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    native_make_dirty(s.bytes, boot);
    unsigned char *trailer = s.bytes + SIZE - NATIVE_TRAILER_SIZE;
    put_little_endian(trailer + 8, 4711, 4);
    put_little_endian(trailer + 12, crc32c(trailer, 12), 4);
    /* What has been counted since is part of the count, however it is opened. */
    uint64_t count = KEYS + LIVE_ADDS;
    put_little_endian(s.bytes + NATIVE_LIVE_COUNT, LIVE_ADDS, 8);
    rewrite(&s);
    check_dirty(true, KEYS);
    for (int w = 0; w < WAY_COUNT; w++) {
        for (uint32_t flags = 0; flags <= GLOOM_MAP_ALLOW_DIRTY; flags += GLOOM_MAP_ALLOW_DIRTY) {
            bool writes = w == BY_MAP_RW || w == BY_MAP_RW_VERIFY;
            CONTEXT("dirty by this boot, by %s, flags %u", WAY_NAMES[w], flags);
            gloom_filter *out = NULL;
            if (w == BY_MERGE) {
                gloom_filter *target = make_filter(GLOOM_KIND_SHARDED, BLOCKS, 7, 0);
                CHECK_OK(gloom_merge_serialized(target, s.bytes, s.len, NULL));
                CHECK_U64(numbers_missing(target, 0, KEYS), 0);
                CHECK_U64(gloom_count(target), count);
                gloom_free(target);
            } else {
                out = accepted((way)w, &s, flags);
                CHECK_U64(gloom_count(out), count);
            }
            gloom_free(out);
            check_dirty(!writes, writes ? count : KEYS);
            CHECK(writes || file_is_still(&s));
            if (writes) /* its close has made it clean and its checksum right */
                CHECK_OK(gloom_map(PATH, GLOOM_MAP_VERIFY, &out, NULL));
            if (writes)
                gloom_free(out);
            rewrite(&s);
        }
    }
    for (size_t bit = 0; bit < SIZE * 8; bit++) {
        size_t byte = bit / 8;
        if ((byte >= NATIVE_LIVE_COUNT && byte < NATIVE_STATE_RESERVED_THREE) ||
            (byte >= NATIVE_PADDING && byte < SIZE - NATIVE_TRAILER_SIZE && bit % 50021 != 0) ||
            (byte >= NATIVE_BLOCKS && byte < SIZE - NATIVE_TRAILER_SIZE))
            continue;
        CONTEXT("dirty by this boot, bit %zu of byte %zu flipped", bit % 8, byte);
        flip(&s, bit);
        all_refuse(&s, ALL_WAYS, byte == 0 || (byte >= NATIVE_VERSION && byte < NATIVE_K) ? UNKNOWN : DAMAGED);
        flip(&s, bit);
    }
    discard(&s);
    CONTEXT("%s", "");
}

/* Left dirty before the system was started anew, or by a system that does not tell its boots apart. */
static void dirty_by_another_boot(bool unknown)
{
    unsigned char boot[BOOT_ID_SIZE];
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    memset(boot, unknown ? 0 : 0x77, sizeof boot);
    native_make_dirty(s.bytes, boot);
    rewrite(&s);
    for (int w = 0; w < WAY_COUNT; w++) {
        gloom_error error;
        CONTEXT("dirty by another boot, by %s", WAY_NAMES[w]);
        CHECK_STATUS(refused((way)w, &s, DAMAGED, &error), GLOOM_ERR_CORRUPT);
        CHECK_HAS(error.message, "GLOOM_MAP_ALLOW_DIRTY");
        check_dirty(true, KEYS);
        if (!is_map((way)w))
            continue;
        bool writes = w == BY_MAP_RW || w == BY_MAP_RW_VERIFY;
        gloom_filter *out = accepted((way)w, &s, GLOOM_MAP_ALLOW_DIRTY);
        check_dirty(true, KEYS);
        CHECK(writes || file_is_still(&s));
        if (writes) {
            /* From now on it is this boot's: who opens it besides needs no permission. */
            gloom_filter *besides = NULL;
            unsigned char now[BOOT_ID_SIZE];
            if (this_boot(now)) {
                CHECK_OK(gloom_map(PATH, GLOOM_MAP_READ_WRITE, &besides, NULL));
                gloom_free(besides);
                check_dirty(true, KEYS);
            }
            CHECK_OK(add_number(out, KEYS));
        }
        gloom_free(out);
        if (writes) {
            gloom_file_info info = GLOOM_FILE_INFO_INIT;
            CHECK_OK(gloom_inspect(PATH, &info, NULL));
            CHECK_U64(info.dirty, 0);
            CHECK_U64(info.count, KEYS + 1);
            CHECK_OK(gloom_map(PATH, GLOOM_MAP_VERIFY, &out, NULL));
            CHECK_U64(numbers_missing(out, 0, KEYS + 1), 0);
            gloom_free(out);
        }
        rewrite(&s);
    }
    discard(&s);
    CONTEXT("%s", "");
}

/* A clean file with a boot id: of whom it was does not matter any more. */
static void clean_with_a_boot_id(void)
{
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    memset(s.bytes + NATIVE_BOOT, 0x77, BOOT_ID_SIZE);
    native_seal_state(s.bytes);
    rewrite(&s);
    CONTEXT("clean with a boot id");
    for (int w = 0; w < WAY_COUNT; w++) {
        if (w == BY_MERGE)
            continue;
        gloom_free(accepted((way)w, &s, 0));
        rewrite(&s);
    }
    discard(&s);
    CONTEXT("%s", "");
}

/* -- memory -- */

/* Some kilobytes that claim a huge filter. With memory short, taking it before looking would give another status. */
static void hostile_sizes(void)
{
    static const uint64_t claims[] = {(uint64_t)1 << 50, (uint64_t)1 << 40, (uint64_t)1 << 28,
                                      (uint64_t)1 << 24, (uint64_t)1 << 20};
    specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    options.max_bytes = (uint64_t)1 << 20;
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        put_little_endian(s.bytes + NATIVE_NUM_BLOCKS, claims[i], 8);
        native_seal_header(s.bytes);
        rewrite(&s);
        CONTEXT("%" PRIu64 " blocks claimed", claims[i]);
        if (CAN_LIMIT_MEMORY)
            limit_memory((uint64_t)8 << 20);
        all_refuse(&s, ALL_WAYS & ~(1 << BY_READ), DAMAGED);
        /* Of a stream nobody knows how long it is. The caller's limit tells; or else the system. */
        gloom_filter *out = NO_FILTER;
        gloom_error error;
        stream in = stream_of(s.bytes, s.len);
        CHECK_STATUS(gloom_read(stream_read, &in, &options, &out, &error), GLOOM_ERR_LIMIT);
        CHECK_HAS(error.message, "1048576");
        CHECK(in.at < NATIVE_BLOCKS);
        in.at = 0;
        gloom_status status = gloom_read(stream_read, &in, NULL, &out, &error);
        CHECK(status == GLOOM_ERR_OUT_OF_MEMORY || (!CAN_LIMIT_MEMORY && status == GLOOM_ERR_CORRUPT));
        CHECK(out == NO_FILTER);
        if (CAN_LIMIT_MEMORY)
            unlimit_memory();
    }
    discard(&s);
    CONTEXT("%s", "");
}

/* A loader takes the filter and next to nothing besides: not the file once more. */
static void no_more_than_the_filter(int32_t format)
{
    enum { FILTER_BLOCKS = 1 << 18 }; /* 16 MiB */
    static const uint64_t bytes = (uint64_t)FILTER_BLOCKS * BYTES_PER_BLOCK, more = (uint64_t)1 << 20;
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, FILTER_BLOCKS, 7, 0), *loaded = NULL;
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    size_t len;
    add_numbers(filter, 0, 1000);
    CHECK_OK(gloom_save(filter, PATH, format, NULL));
    unsigned char *file = bytes_of(filter, format, &len);
    options.max_bytes = bytes;
    options.flags = GLOOM_FLAG_SMALL_PAGES;
    for (int source = 0; source < 3; source++) {
        stream in = stream_of(file, len);
        CONTEXT("format %d, source %d, memory limited", (int)format, source);
        limit_memory(bytes + more);
        gloom_status status = source == 0   ? gloom_deserialize(file, len, &options, &loaded, NULL)
                              : source == 1 ? gloom_read(stream_read, &in, &options, &loaded, NULL)
                                            : gloom_load(PATH, &options, &loaded, NULL);
        unlimit_memory();
        CHECK_OK(status);
        CHECK(gloom_equal(loaded, filter));
        gloom_free(loaded);
        loaded = NULL;
    }
    /* Saving, streaming and merging take nothing. */
    limit_memory(more);
    gloom_status status[] = {
        gloom_save(filter, PATH, format, NULL),
        gloom_merge_serialized(filter, file, len, NULL),
    };
    unlimit_memory();
    CHECK_OK(status[0]);
    CHECK_OK(status[1]);
    free(file);
    gloom_free(filter);
    unlink(PATH);
    CONTEXT("%s", "");
}

/* -- anything -- */

/* A good file with some bytes changed where no checksum or the wrong one tells, then all checksums made right: what is
 * taken is a filter that works. */
static void noise(void)
{
    enum { ROUNDS = 3000 };
    static const uint64_t seed = 20250201;
    uint64_t rng = seed, taken = 0;
    for (int round = 0; round < ROUNDS; round++) {
        specimen s = good_specimen(GLOOM_FORMAT_NATIVE);
        CONTEXT("noise, seed %" PRIu64 ", round %d", seed, round);
        for (uint64_t changes = 1 + rng_below(&rng, 3); changes > 0; changes--) {
            size_t at = (size_t)rng_below(&rng, round % 2 == 0 ? NATIVE_PADDING : SIZE);
            s.bytes[at] ^= (unsigned char)(rng_below(&rng, 3) == 0 ? rng_next(&rng) : 1u << rng_below(&rng, 8));
        }
        if (rng_below(&rng, 4) != 0)
            native_seal_header(s.bytes);
        if (rng_below(&rng, 4) != 0)
            native_seal_state(s.bytes);
        if (rng_below(&rng, 4) != 0)
            native_seal_trailer(s.bytes, s.len);
        rewrite(&s);
        for (int w = 0; w < WAY_COUNT; w++) {
            gloom_filter *out = NO_FILTER;
            gloom_error error;
            if (w == BY_MERGE)
                continue; /* it might well fit */
            gloom_status status = enter((way)w, &s, GLOOM_MAP_ALLOW_DIRTY, &out, &error);
            CHECK(status == GLOOM_OK || status == GLOOM_ERR_CORRUPT || status == GLOOM_ERR_UNSUPPORTED ||
                  (w == BY_READ && (status == GLOOM_ERR_OUT_OF_MEMORY || status == GLOOM_ERR_LIMIT)));
            if (status != GLOOM_OK) {
                CHECK(out == NO_FILTER);
                CHECK(file_is_still(&s));
                continue;
            }
            taken++;
            CHECK_U64(gloom_num_blocks(out), BLOCKS);
            CHECK(gloom_k(out) >= LAYOUT_MIN_K && gloom_k(out) <= LAYOUT_MAX_K);
            if (!gloom_is_read_only(out)) {
                add_numbers(out, 0, 10);
                CHECK_U64(numbers_missing(out, 0, 10), 0);
            }
            gloom_free(out);
            rewrite(&s);
        }
        discard(&s);
    }
    CHECK(taken > 1000);
    CONTEXT("%s", "");
}

int main(int argc, char **argv)
{
    size_t padding_step = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 1;
    REQUIRE(padding_step > 0);
    make_folder(IN_MEMORY);
    merge_target = original();
    for (int format = 0; format < FORMAT_COUNT; format++) {
        lengths(FORMATS[format]);
        if (CAN_LIMIT_MEMORY)
            no_more_than_the_filter(FORMATS[format]);
    }
    v1_without_checksum();
    flipped_bits_of_v1();
    flipped_bits_of_native(padding_step);
    sent_as_text();
    hostile_fields();
    reserved_bytes();
    hostile_payloads();
    counts_in_the_state();
    dirty_by_this_boot();
    dirty_by_another_boot(false);
    dirty_by_another_boot(true);
    clean_with_a_boot_id();
    hostile_sizes();
    noise();
    gloom_free(merge_target);
    CHECK_U64(names_in(folder), 0);
    return check_report();
}
