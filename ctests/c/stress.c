/* Random calls with random arguments, good and bad, on several filters at once, held against a model that
 * knows which keys are in. The same seed makes the same calls.
 *
 *   stress seed calls */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <math.h>

#include "filters.h"
#include "folder.h"
#include "keys.h"
#include "native.h"
#include "streams.h"

enum { SLOTS = 6, UNIVERSE = 512, MOST_BLOCKS = 96, LOOK_OVER_EVERY = 64 };

static uint64_t rng;

static uint64_t below(uint64_t n)
{
    return rng_below(&rng, n);
}

/* One time in n. */
static bool rarely(uint64_t n)
{
    return below(n) == 0;
}

/* -- the model: what each filter must hold -- */

typedef struct {
    gloom_filter *filter;
    int32_t kind;
    uint64_t num_blocks, seed, count;
    uint32_t k;
    uint8_t has[UNIVERSE];
    bool blurred; /* has bits of other keys, too, left by an intersection */
    bool mapped;  /* to a file of its own */
} slot;

static slot slots[SLOTS];

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static bool compatible(const slot *a, const slot *b)
{
    return a->num_blocks == b->num_blocks && a->k == b->k && a->seed == b->seed;
}

static const char *file_of(const slot *s)
{
    char name[32];
    (void)snprintf(name, sizeof name, "map-%d", (int)(s - slots));
    return path_of(name);
}

static void vacate(slot *s)
{
    gloom_free(s->filter); /* NULL, too */
    if (s->mapped) {
        gloom_file_info info = GLOOM_FILE_INFO_INIT;
        gloom_filter *verified = NULL;
        CHECK_OK(gloom_inspect(file_of(s), &info, NULL));
        CHECK_U64(info.dirty, 0);
        CHECK_U64(info.count, s->count);
        CHECK_OK(gloom_map(file_of(s), GLOOM_MAP_VERIFY, &verified, NULL));
        gloom_free(verified);
        unlink(file_of(s));
    }
    memset(s, 0, sizeof *s);
}

static void check_facts(const slot *s)
{
    CHECK_U64((uint64_t)gloom_kind_of(s->filter), (uint64_t)s->kind);
    CHECK_U64(gloom_num_blocks(s->filter), s->num_blocks);
    CHECK_U64(gloom_k(s->filter), s->k);
    CHECK_U64(gloom_seed(s->filter), s->seed);
    CHECK_U64(gloom_count(s->filter), s->count);
}

/* Puts a filter that was made of `from` in the place of `to`, which may be the same. */
static void settle(slot *to, const slot *from, gloom_filter *filter, int32_t kind)
{
    slot made = *from;
    made.filter = filter;
    made.kind = kind;
    made.mapped = false;
    vacate(to);
    *to = made;
    check_facts(to);
}

/* -- keys: in memory that ends where they end, so that a tool sees a read past it; at any alignment -- */

typedef struct {
    unsigned char *memory, *bytes;
    size_t len;
} key;

/* Key `id` has the same bytes every time; only where they lie differs. */
static key make_key(uint64_t id)
{
    uint64_t key_rng = id * 2654435761u + 1;
    size_t len = id % 16 == 15 ? (size_t)rng_below(&key_rng, 2000)
                 : id % 4 == 3 ? (size_t)rng_below(&key_rng, 260)
                               : (size_t)(id % 24);
    size_t at = (size_t)below(64);
    key k = {malloc(at + len == 0 ? 1 : at + len), NULL, len};
    REQUIRE(k.memory != NULL);
    k.bytes = k.memory + at;
    for (size_t i = 0; i < len; i++)
        k.bytes[i] = (unsigned char)rng_next(&key_rng);
    if (len >= 8) /* different keys for different ids; for shorter ones see `alias` */
        memcpy(k.bytes, &id, 8);
    return k;
}

/* Keys shorter than 8 bytes of two ids may be equal. They have one id: their first. */
static uint64_t alias[UNIVERSE];

static void find_aliases(void)
{
    for (uint64_t id = 0; id < UNIVERSE; id++) {
        key a = make_key(id);
        alias[id] = id;
        for (uint64_t earlier = 0; a.len < 8 && earlier < id && alias[id] == id; earlier++) {
            key b = make_key(earlier);
            if (a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0)
                alias[id] = earlier;
            free(b.memory);
        }
        free(a.memory);
    }
}

static uint64_t any_id(void)
{
    return alias[below(UNIVERSE)];
}

/* The pointer to pass: an empty key may be NULL. */
static const void *pointer_of(const key *k)
{
    return k->len == 0 && rarely(2) ? NULL : k->bytes;
}

static void check_nothing_lost(const slot *s)
{
    uint64_t lost = 0;
    for (uint64_t id = 0; id < UNIVERSE; id++) {
        if (!s->has[id])
            continue;
        key k = make_key(id);
        lost += !gloom_test(s->filter, k.bytes, k.len);
        free(k.memory);
    }
    CHECK_U64(lost, 0);
}

/* -- random arguments -- */

static double any_double(void)
{
    static const double special[] = {0.0,      -0.0,      1.0,   -1.0,   0.5,     0.01,    1e-3,
                                     1e-6,     1e-9,      1e-12, 5e-324, DBL_MAX, DBL_MIN, 1.0 - DBL_EPSILON,
                                     INFINITY, -INFINITY, NAN};
    uint64_t bits = rng_next(&rng);
    double value;
    if (rarely(2))
        return special[below(sizeof special / sizeof special[0])];
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t any_number(void)
{
    switch (below(4)) {
    case 0: return below(40);
    case 1: return ((uint64_t)1 << below(64)) - below(3);
    case 2: return rng_next(&rng);
    default: return rng_next(&rng) >> below(64);
    }
}

static slot *any_slot(void)
{
    return &slots[below(SLOTS)];
}

static gloom_error *maybe_error(gloom_error *error)
{
    memset(error, 0x5a, sizeof *error);
    return rarely(2) ? NULL : error;
}

static void check_explained(const gloom_error *error, gloom_status status)
{
    if (error == NULL || status == GLOOM_OK)
        return;
    CHECK_STATUS(error->status, status);
    CHECK(error->message[0] != 0 && memchr(error->message, 0, sizeof error->message) != NULL);
}

/* -- calls -- */

static void create_well(slot *s)
{
    /* Few shapes, so that filters often match. */
    static const uint64_t shapes[] = {1, 2, 3, 7, 64, MOST_BLOCKS};
    gloom_options options = GLOOM_OPTIONS_INIT;
    vacate(s);
    options.kind = (int32_t)below(4);
    options.num_blocks = shapes[below(sizeof shapes / sizeof shapes[0])];
    options.k = rarely(3) ? (uint32_t)(LAYOUT_MIN_K + below(LAYOUT_MAX_K - LAYOUT_MIN_K + 1)) : 7;
    options.seed = rarely(4) ? 99 : 0;
    options.flags = (uint32_t)below(2);
    if (options.kind == GLOOM_KIND_SHARDED && options.num_blocks >= 4)
        options.num_shards = (uint32_t)1 << below(3);
    CHECK_OK(gloom_create(&options, &s->filter, NULL));
    REQUIRE(s->filter != NULL);
    s->kind = options.kind == 0 ? GLOOM_KIND_ATOMIC : options.kind;
    s->num_blocks = options.num_blocks;
    s->k = options.k;
    s->seed = options.seed;
}

static void create_anyhow(void)
{
    union {
        gloom_options options;
        unsigned char bytes[128];
    } memory = {.options = GLOOM_OPTIONS_INIT};
    gloom_options *options = &memory.options;
    gloom_filter *out = (gloom_filter *)&memory;
    gloom_error space, *error = maybe_error(&space);
    options->max_bytes = (uint64_t)1 << 16; /* nonsense must not take the machine's memory */
    for (uint64_t n = 1 + below(4); n > 0; n--) {
        switch (below(10)) {
        case 0: options->kind = (int32_t)any_number(); break;
        case 1: options->flags = (uint32_t)any_number(); break;
        case 2: options->expected_items = any_number(); break;
        case 3: options->fp_rate = any_double(); break;
        case 4: options->num_blocks = any_number(); break;
        case 5: options->k = (uint32_t)any_number(); break;
        case 6: options->num_shards = (uint32_t)any_number(); break;
        case 7: options->block_multiple = any_number(); break;
        case 8: options->struct_size = rarely(2) ? below(sizeof memory) : any_number() | 4096 << 1; break;
        default: memory.bytes[below(sizeof memory)] ^= (unsigned char)below(256); break;
        }
    }
    if (options->struct_size > sizeof memory && options->struct_size <= 4096)
        options->struct_size = sizeof memory; /* what the caller says is there must be there */
    if (options->max_bytes == 0 || options->max_bytes > (uint64_t)1 << 20)
        options->max_bytes = (uint64_t)1 << 20;
    gloom_status status = gloom_create(rarely(20) ? NULL : options, rarely(20) ? NULL : &out, error);
    check_explained(error, status);
    if (status != GLOOM_OK) {
        CHECK(out == (gloom_filter *)&memory);
        return;
    }
    CHECK(gloom_num_blocks(out) * BYTES_PER_BLOCK <= options->max_bytes);
    CHECK(gloom_k(out) >= LAYOUT_MIN_K && gloom_k(out) <= LAYOUT_MAX_K);
    CHECK_OK(gloom_add(out, "key", 3));
    CHECK(gloom_test(out, "key", 3));
    gloom_free(out);
}

static void size_anyhow(void)
{
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    gloom_error space, *error = maybe_error(&space);
    uint64_t n = any_number();
    double p = any_double();
    if (rarely(10))
        sizing.struct_size = below(sizeof sizing);
    gloom_status status = gloom_size_for(n, p, rarely(20) ? NULL : &sizing, error);
    check_explained(error, status);
    if (status == GLOOM_OK) {
        CHECK(sizing.num_blocks > 0 && sizing.bytes == sizing.num_blocks * BYTES_PER_BLOCK);
        CHECK_BETWEEN(sizing.fp_rate, 0.0, p);
    } else {
        CHECK_U64(sizing.num_blocks, 0);
    }
    double rate =
        gloom_predict_fp_rate(any_number(), (uint32_t)(rarely(3) ? any_number() : below(20)), any_number());
    CHECK_BETWEEN(rate, 0.0, 1.0);
}

static void add_keys(slot *s)
{
    for (uint64_t n = 1 + below(8); n > 0; n--) {
        uint64_t id = any_id();
        key k = make_key(id);
        bool was_present = rarely(2), *told = rarely(8) ? NULL : &was_present;
        switch (below(3)) {
        case 0: CHECK_OK(gloom_add(s->filter, pointer_of(&k), k.len)); break;
        case 1: CHECK_OK(gloom_add_hash(s->filter, gloom_hash_key(pointer_of(&k), k.len, s->seed))); break;
        default: {
            bool tested = gloom_test(s->filter, k.bytes, k.len);
            CHECK_OK(gloom_test_and_add(s->filter, pointer_of(&k), k.len, told));
            CHECK(told == NULL || was_present == tested);
            CHECK(tested || !s->has[id]);
        }
        }
        CHECK(gloom_test(s->filter, k.bytes, k.len));
        free(k.memory);
        s->has[id] = 1;
        s->count = saturating_add(s->count, 1);
    }
}

/* -- batches -- */

static const unsigned char *universe_bytes[UNIVERSE];
static size_t len_of[UNIVERSE];

enum { MOST_KEYS = 3000 };
static uint64_t batch_ids[MOST_KEYS];

static void make_universe(void)
{
    for (uint64_t id = 0; id < UNIVERSE; id++) {
        key k = make_key(id);
        unsigned char *copy = malloc(k.len + 1);
        REQUIRE(copy != NULL);
        memcpy(copy, k.bytes, k.len);
        free(k.memory);
        universe_bytes[id] = copy;
        len_of[id] = k.len;
    }
}

/* Keys for any source; their ids are in batch_ids. For the fixed source all have one length. */
static key_set any_keys(const slot *s, source from, size_t at_least)
{
    static const unsigned char *bytes[MOST_KEYS];
    static size_t lens[MOST_KEYS];
    size_t n = at_least + (size_t)below(rarely(50) ? MOST_KEYS - at_least : rarely(4) ? 200 : 12);
    for (size_t i = 0; i < n; i++) {
        do
            batch_ids[i] = any_id();
        while (from == FIXED && len_of[batch_ids[i]] != len_of[batch_ids[0]]);
        bytes[i] = universe_bytes[batch_ids[i]];
        lens[i] = len_of[batch_ids[i]];
    }
    size_t before = rarely(2) ? (size_t)below(100) : 0, behind = rarely(2) ? (size_t)below(100) : 0;
    key_set keys = copy_keys(ON_HEAP, n, bytes, lens, before, behind, s->seed, &rng);
    for (size_t i = 0; i < n; i++)
        if (lens[i] == 0 && rarely(2))
            keys.keys[i] = NULL;
    return keys;
}

static source any_source(void)
{
    return (source)below(SOURCE_COUNT);
}

static void add_a_batch(slot *s)
{
    source from = any_source();
    key_set keys = any_keys(s, from, 0);
    batch b = batch_of(&keys, from);
    CHECK_OK(add_batch(s->filter, &b));
    for (size_t i = 0; i < keys.n; i++)
        s->has[batch_ids[i]] = 1;
    s->count = saturating_add(s->count, keys.n);
    check_facts(s);
    give_pieces_back();
}

/* The answers are those of single tests, in order, and among them no key that is in is missing. */
static void test_a_batch(const slot *s)
{
    source from = any_source();
    key_set keys = any_keys(s, from, 0);
    batch b = batch_of(&keys, from);
    uint8_t *results = rarely(4) ? NULL : take_piece(ON_HEAP, keys.n);
    size_t hits = 4711, *told = rarely(4) ? NULL : &hits;
    uint64_t expected = 0, wrong = 0, lost = 0;
    if (results != NULL)
        memset(results, 0xcc, keys.n);
    CHECK_OK(test_batch(s->filter, &b, results, told));
    for (size_t i = 0; i < keys.n; i++) {
        bool single = gloom_test(s->filter, keys.keys[i], keys.lens[i]);
        expected += single;
        wrong += results != NULL && results[i] != single;
        lost += s->has[batch_ids[i]] && !single;
    }
    CHECK_U64(wrong, 0);
    CHECK_U64(lost, 0);
    CHECK(told == NULL ? hits == 4711 : hits == expected);
    give_pieces_back();
}

/* What the offsets are spoilt with. */
static void set_offset(key_set *keys, size_t at, int64_t value)
{
    keys->offsets32[at] = (int32_t)value;
    keys->offsets64[at] = value;
}

/* One thing wrong with a batch of at least one key: refused, nothing changes, and a test says "maybe" to all. */
static void misuse_a_batch(slot *s)
{
    source from = any_source();
    key_set keys = any_keys(s, from, 1);
    gloom_filter *filter = s->filter;
    gloom_status want = GLOOM_ERR_INVALID_ARGUMENT;
    size_t at = (size_t)below(keys.n);
    batch b = batch_of(&keys, from);
    switch (from) {
    case FIXED:
        if (b.key_size == 0 || rarely(2)) {
            b.data = NULL;
            b.key_size = 1 + (size_t)below(1000);
            want = GLOOM_ERR_NULL;
        } else {
            /* n * key_size is above PTRDIFF_MAX, or wraps. */
            b.n = SIZE_MAX / b.key_size;
            b.n = b.key_size == 1 || rarely(2) ? b.n - (size_t)below(1000) : b.n + 1 + (size_t)below(1000);
        }
        break;
    case OFFSETS32:
    case OFFSETS64:
        switch (below(7)) {
        case 0:
            b.data = NULL;
            b.data_len += b.data_len == 0;
            want = GLOOM_ERR_NULL;
            break;
        case 1:
            b.offsets32 = NULL;
            b.offsets64 = NULL;
            want = GLOOM_ERR_NULL;
            break;
        case 2: set_offset(&keys, at, (int64_t)keys.data_len + 1 + (int64_t)below(1000)); break;
        case 3: set_offset(&keys, at + 1, -1 - (int64_t)below(1000)); break;
        case 4: set_offset(&keys, keys.n, (int64_t)keys.data_len + 1 + (int64_t)below(1000)); break;
        case 5:
            b.offsets32 = (const void *)((const char *)keys.offsets32 + 1 + below(3));
            b.offsets64 = (const void *)((const char *)keys.offsets64 + 1 + below(7));
            break;
        default:
            if (rarely(2))
                b.data_len = (size_t)PTRDIFF_MAX + 1 + (size_t)below(1000);
            else
                b.n = SIZE_MAX - (size_t)below(1000);
        }
        break;
    case POINTERS:
        switch (below(4)) {
        case 0:
            keys.keys[at] = NULL;
            keys.lens[at] = 1 + (size_t)below(1000);
            want = GLOOM_ERR_NULL;
            break;
        case 1:
            keys.keys[at] = (unsigned char *)&keys;
            keys.lens[at] = (size_t)PTRDIFF_MAX + 1 + (size_t)below(1000);
            break;
        case 2:
            if (rarely(2))
                b.keys = (const void *)((const char *)keys.keys + 1 + below(7));
            else
                b.lens = (const void *)((const char *)keys.lens + 1 + below(7));
            break;
        default: b.n = SIZE_MAX - (size_t)below(1000);
        }
        break;
    default:
        if (rarely(2)) {
            b.hashes = NULL;
            want = GLOOM_ERR_NULL;
        } else if (rarely(2)) {
            b.hashes = (const void *)((const char *)keys.hashes + 1 + below(7));
        } else {
            b.n = SIZE_MAX - (size_t)below(1000);
        }
    }
    if (rarely(8)) {
        filter = NULL;
        want = GLOOM_ERR_NULL;
    }
    filter_state before = state_of(s->filter);
    size_t hits = 4711, maybe = 0, present = b.n == keys.n ? keys.n : 0;
    uint8_t *results = present == 0 ? NULL : take_piece(ON_HEAP, present);
    CHECK_STATUS(add_batch(filter, &b), want);
    CHECK_STATUS(test_batch(filter, &b, results, &hits), want);
    CHECK_U64(hits, b.n);
    for (size_t i = 0; i < present; i++)
        maybe += results[i] == 1;
    CHECK_U64(maybe, present);
    CHECK(is_still(s->filter, before));
    give_pieces_back();
}

static void misuse_keys(slot *s)
{
    size_t too_long = (size_t)PTRDIFF_MAX + 1 + (size_t)below(1000);
    bool was_present = true;
    gloom_hash hash;
    switch (below(9)) {
    case 0: CHECK_STATUS(gloom_add(NULL, "key", 3), GLOOM_ERR_NULL); break;
    case 1: CHECK_STATUS(gloom_add(s->filter, NULL, 1 + (size_t)below(9)), GLOOM_ERR_NULL); break;
    case 2: CHECK_STATUS(gloom_add(s->filter, "key", too_long), GLOOM_ERR_INVALID_ARGUMENT); break;
    case 3: CHECK_STATUS(gloom_test_and_add(s->filter, NULL, 4, &was_present), GLOOM_ERR_NULL); break;
    case 4:
        CHECK_STATUS(gloom_test_and_add(s->filter, "key", too_long, &was_present),
                     GLOOM_ERR_INVALID_ARGUMENT);
        break;
    case 5: CHECK(gloom_test(NULL, "key", 3)); break;
    case 6: CHECK(gloom_test(s->filter, NULL, 3)); break;
    case 7: CHECK(gloom_test(s->filter, "key", too_long)); break;
    default:
        hash = gloom_hash_key(rarely(2) ? NULL : "key", too_long, below(2));
        CHECK(hash.lo == 0 && hash.hi == 0);
        CHECK_STATUS(gloom_add_hash(NULL, hash), GLOOM_ERR_NULL);
        CHECK(gloom_test_hash(NULL, hash));
    }
    CHECK(was_present);
    check_facts(s);
}

static void merge(slot *target, slot *source)
{
    gloom_error space, *error = maybe_error(&space);
    if (rarely(10)) {
        CHECK_STATUS(gloom_merge(target->filter, NULL, error), GLOOM_ERR_NULL);
        CHECK_STATUS(gloom_merge(NULL, source->filter, error), GLOOM_ERR_NULL);
        return;
    }
    gloom_status status = gloom_merge(target->filter, source->filter, error);
    check_explained(error, status);
    CHECK_STATUS(status, compatible(target, source) ? GLOOM_OK : GLOOM_ERR_INCOMPATIBLE);
    if (status == GLOOM_OK && target != source) {
        for (int id = 0; id < UNIVERSE; id++)
            target->has[id] |= source->has[id];
        target->count = saturating_add(target->count, source->count);
        target->blurred |= source->blurred;
    }
    check_facts(target);
    check_facts(source);
}

static void clone(slot *to, slot *from)
{
    gloom_error space, *error = maybe_error(&space);
    gloom_filter *out = (gloom_filter *)&space;
    if (rarely(10)) {
        CHECK_STATUS(gloom_clone(NULL, &out, error), GLOOM_ERR_NULL);
        CHECK_STATUS(gloom_clone(from->filter, NULL, error), GLOOM_ERR_NULL);
        CHECK(out == (gloom_filter *)&space);
        return;
    }
    CHECK_OK(gloom_clone(from->filter, &out, error));
    CHECK(gloom_equal(out, from->filter));
    settle(to, from, out, from->kind); /* the clone lives on without its original */
}

static void compare(const slot *a, const slot *b)
{
    bool equal = gloom_equal(a->filter, b->filter);
    CHECK(equal == gloom_equal(b->filter, a->filter));
    if (!compatible(a, b))
        CHECK(!equal);
    else if (memcmp(a->has, b->has, sizeof a->has) == 0 && !a->blurred && !b->blurred)
        CHECK(equal);
    CHECK(!gloom_equal(a->filter, NULL));
    CHECK(!gloom_equal(NULL, b->filter));
}

static void clear(slot *s)
{
    CHECK_OK(gloom_clear(s->filter));
    memset(s->has, 0, sizeof s->has);
    s->count = 0;
    s->blurred = false;
    CHECK_F64(gloom_fill_ratio(s->filter), 0.0);
    check_facts(s);
}

static void figures(const slot *s)
{
    double fill = gloom_fill_ratio(s->filter);
    uint64_t distinct = 0;
    for (int id = 0; id < UNIVERSE; id++)
        distinct += s->has[id];
    CHECK_BETWEEN(fill, 0.0, 1.0);
    CHECK_BETWEEN(gloom_current_fp_rate(s->filter), 0.0, 1.0);
    CHECK((fill == 1.0) == (gloom_estimate_items(s->filter) == UINT64_MAX));
    CHECK(distinct == 0 || gloom_estimate_items(s->filter) > 0);
    CHECK_U64(gloom_bit_capacity(s->filter), s->num_blocks * 512);
    CHECK(gloom_memory_bytes(s->filter) >= s->num_blocks * BYTES_PER_BLOCK);
    CHECK_F64(fill, (double)bits_set(s->filter) / (double)gloom_bit_capacity(s->filter));
    CHECK(gloom_is_mapped(s->filter) == s->mapped && !gloom_is_read_only(s->filter));
    CHECK(!gloom_is_stale(s->filter));
    CHECK(gloom_simd_level(s->filter)[0] != 0);
}

/* The filter's file with something wrong: none of it loads. */
static void load_damaged(const unsigned char *file, size_t len)
{
    gloom_error space, *error = maybe_error(&space);
    gloom_filter *out = (gloom_filter *)&space;
    size_t cut = rarely(2) ? (size_t)below(len) : len;
    unsigned char *copy = malloc(cut == 0 ? 1 : cut);
    REQUIRE(copy != NULL);
    memcpy(copy, file, cut);
    if (cut == len) /* within four bytes in a row: a CRC of 32 bits never misses that */
        for (size_t at = (size_t)below(len), end = at + 1 + (size_t)below(4); at < end && at < len; at++)
            copy[at] ^= (unsigned char)(1 + below(255));
    gloom_status status = gloom_deserialize(copy, cut, NULL, &out, error);
    CHECK(status == GLOOM_ERR_CORRUPT || status == GLOOM_ERR_UNSUPPORTED);
    CHECK(out == (gloom_filter *)&space);
    check_explained(error, status);
    free(copy);
}

static void serialize_and_load(slot *to, slot *from)
{
    gloom_error space, *error = maybe_error(&space);
    uint64_t size = 12345;
    size_t written = 12345;
    if (from->seed != 0) {
        CHECK_STATUS(gloom_serialized_size(from->filter, GLOOM_FORMAT_V1, &size, error),
                     GLOOM_ERR_UNSUPPORTED);
        CHECK_U64(size, 12345);
        return;
    }
    CHECK_OK(gloom_serialized_size(from->filter, GLOOM_FORMAT_V1, &size, error));
    CHECK_U64(size, V1_BLOCKS + from->num_blocks * BYTES_PER_BLOCK + V1_CRC_SIZE);

    /* A buffer of any length at any alignment. */
    size_t at = (size_t)below(64), len = rarely(4) ? (size_t)below(size) : (size_t)(size + below(3));
    unsigned char *buffer = malloc(at + len + 1);
    REQUIRE(buffer != NULL);
    buffer[at + len] = 0xcc;
    gloom_status status =
        gloom_serialize(from->filter, GLOOM_FORMAT_V1, buffer + at, len, rarely(8) ? NULL : &written, error);
    check_explained(error, status);
    CHECK_STATUS(status, len < size ? GLOOM_ERR_BUFFER_TOO_SMALL : GLOOM_OK);
    CHECK(written == 12345 || (status == GLOOM_OK && written == size));
    CHECK(buffer[at + len] == 0xcc);
    if (rarely(10)) {
        CHECK_STATUS(gloom_serialize(from->filter, GLOOM_FORMAT_V1, NULL, len, &written, error),
                     GLOOM_ERR_NULL);
        CHECK_STATUS(gloom_serialize(NULL, GLOOM_FORMAT_V1, buffer, len, &written, error), GLOOM_ERR_NULL);
        CHECK_STATUS(gloom_serialize(from->filter, 2 + (int32_t)below(1000), buffer, len, &written, error),
                     GLOOM_ERR_INVALID_ARGUMENT);
    }
    if (status != GLOOM_OK) {
        free(buffer);
        return;
    }
    load_damaged(buffer + at, (size_t)size);

    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_filter *out = (gloom_filter *)&space;
    options.kind = (int32_t)below(4);
    options.max_bytes = rarely(3) ? 64 * (1 + below(MOST_BLOCKS)) : 0;
    if (rarely(10))
        options.kind = 4 + (int32_t)below(1000);
    status = gloom_deserialize(buffer + at, (size_t)size, &options, &out, error);
    check_explained(error, status);
    free(buffer);
    if (options.kind > GLOOM_KIND_SHARDED) {
        CHECK_STATUS(status, GLOOM_ERR_INVALID_ARGUMENT);
    } else if (options.max_bytes != 0 && options.max_bytes < from->num_blocks * BYTES_PER_BLOCK) {
        CHECK_STATUS(status, GLOOM_ERR_LIMIT);
    } else {
        CHECK_OK(status);
        CHECK(gloom_equal(out, from->filter));
        settle(to, from, out, options.kind == 0 ? GLOOM_KIND_ATOMIC : options.kind);
        return;
    }
    CHECK(out == (gloom_filter *)&space);
}

/* A count near the end of 64 bits, as a file may claim it. */
static void claim_a_count(slot *s)
{
    size_t len;
    if (s->seed != 0)
        return;
    unsigned char *file = v1_of(s->filter, &len);
    slot claimed = *s;
    claimed.count = rarely(2) ? UINT64_MAX - below(20) : below(20);
    put_little_endian(file + V1_COUNT, claimed.count, 8);
    v1_seal(file, len);
    settle(s, &claimed, v1_load(file, len, s->kind), s->kind);
    free(file);
}

/* -- filters of others -- */

static void intersect(slot *target, slot *source)
{
    gloom_error space, *error = maybe_error(&space);
    gloom_status status = gloom_intersect(target->filter, source->filter, error);
    check_explained(error, status);
    CHECK_STATUS(status, compatible(target, source) ? GLOOM_OK : GLOOM_ERR_INCOMPATIBLE);
    if (status == GLOOM_OK && target != source) {
        for (int id = 0; id < UNIVERSE; id++)
            target->has[id] &= source->has[id];
        target->count = target->count < source->count ? target->count : source->count;
        target->blurred = true;
    }
    check_facts(target);
    check_facts(source);
}

static void fold(slot *to, slot *from)
{
    gloom_error space, *error = maybe_error(&space);
    gloom_filter *out = (gloom_filter *)&space;
    uint64_t factor = rarely(3) ? any_number() : 1 + below(from->num_blocks);
    gloom_status status = gloom_fold(from->filter, factor, &out, error);
    check_explained(error, status);
    if (factor == 0 || from->num_blocks % factor != 0) {
        CHECK_STATUS(status, GLOOM_ERR_INVALID_ARGUMENT);
        CHECK(out == (gloom_filter *)&space);
        return;
    }
    CHECK_OK(status);
    slot folded = *from;
    folded.num_blocks /= factor;
    settle(to, &folded, out, from->kind);
}

static void merge_bytes(slot *target, slot *source)
{
    gloom_error space, *error = maybe_error(&space);
    int32_t format = source->seed != 0 || rarely(2) ? GLOOM_FORMAT_NATIVE : GLOOM_FORMAT_V1;
    size_t len;
    unsigned char *bytes = bytes_of(source->filter, format, &len);
    bool damaged = rarely(4);
    if (damaged) { /* at the end, where only the checksum tells */
        size_t at = len - 1 - (size_t)below(60);
        bytes[at] ^= (unsigned char)(1 + below(255));
    }
    filter_state before = state_of(target->filter);
    gloom_status status = gloom_merge_serialized(target->filter, bytes, len, error);
    check_explained(error, status);
    CHECK_STATUS(status, !compatible(target, source) ? GLOOM_ERR_INCOMPATIBLE
                         : damaged                   ? GLOOM_ERR_CORRUPT
                                                     : GLOOM_OK);
    if (status == GLOOM_OK) {
        for (int id = 0; id < UNIVERSE; id++)
            target->has[id] |= source->has[id];
        target->count = saturating_add(target->count, source->count); /* twice its own, too: bytes are a copy */
        target->blurred |= source->blurred;
        free(before.blocks);
    } else {
        CHECK(is_still(target->filter, before));
    }
    free(bytes);
    check_facts(target);
}

/* -- streams and files -- */

static void write_and_read(slot *to, slot *from)
{
    gloom_error space, *error = maybe_error(&space);
    gloom_filter *out = (gloom_filter *)&space;
    int32_t format = (int32_t)below(2);
    stream s = {.most = rarely(3) ? 0 : 1000 + (size_t)below(40000), .rng = rng_next(&rng)};
    if (rarely(4)) {
        s.special_call = 1 + below(12);
        s.special = rarely(2) ? -1 : (int64_t)below(3) - 2;
    }
    gloom_status status = gloom_write(from->filter, format, stream_write, &s, error);
    check_explained(error, status);
    if (format == GLOOM_FORMAT_V1 && from->seed != 0)
        CHECK_STATUS(status, GLOOM_ERR_UNSUPPORTED);
    else if (s.special_call != 0 && s.calls >= s.special_call)
        CHECK_STATUS(status, s.special == -1  ? GLOOM_ERR_CANCELLED
                             : s.special == 0 ? GLOOM_ERR_INVALID_ARGUMENT
                                              : GLOOM_ERR_IO);
    else
        CHECK_OK(status);
    if (status != GLOOM_OK) {
        free(s.bytes);
        return;
    }
    s.calls = 0;
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    options.kind = (int32_t)below(4);
    status = gloom_read(stream_read, &s, &options, &out, error);
    check_explained(error, status);
    free(s.bytes);
    if (status == GLOOM_OK) {
        CHECK_U64(s.at, s.len);
        CHECK(gloom_equal(out, from->filter));
        settle(to, from, out, options.kind == 0 ? GLOOM_KIND_ATOMIC : options.kind);
        return;
    }
    CHECK(s.special_call != 0 && s.calls == s.special_call);
    CHECK(out == (gloom_filter *)&space);
}

static void save_and_load(slot *to, slot *from)
{
    gloom_error space, *error = maybe_error(&space);
    gloom_filter *out = (gloom_filter *)&space;
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    int32_t format = (int32_t)below(2);
    const char *path = path_of("saved");
    gloom_status status = gloom_save(from->filter, path, format, error);
    check_explained(error, status);
    if (format == GLOOM_FORMAT_V1 && from->seed != 0) {
        CHECK_STATUS(status, GLOOM_ERR_UNSUPPORTED);
        return;
    }
    CHECK_OK(status);
    CHECK_OK(gloom_inspect(path, &info, NULL));
    CHECK_U64((uint64_t)info.format, (uint64_t)format);
    CHECK_U64(info.num_blocks, from->num_blocks);
    CHECK_U64(info.count, from->count);
    CHECK_U64(info.seed, from->seed);
    CHECK_U64(info.dirty, 0);
    if (from->mapped) /* in use by itself */
        CHECK_STATUS(gloom_save(to->filter, file_of(from), GLOOM_FORMAT_NATIVE, error), GLOOM_ERR_BUSY);
    if (format == GLOOM_FORMAT_NATIVE && rarely(2)) {
        /* The same file in place, for a while. */
        uint32_t flags = (uint32_t)below(8);
        gloom_map_options options = GLOOM_MAP_OPTIONS_INIT;
        options.flags = flags;
        options.max_bytes = rarely(3) ? 64 * (1 + below(MOST_BLOCKS)) : 0;
        if (options.max_bytes != 0 && options.max_bytes < from->num_blocks * BYTES_PER_BLOCK) {
            CHECK_STATUS(gloom_map_with_options(path, &options, &out, error), GLOOM_ERR_LIMIT);
            check_explained(error, GLOOM_ERR_LIMIT);
            CHECK(out == (gloom_filter *)&space);
            return;
        }
        CHECK_OK(rarely(2) ? gloom_map(path, flags, &out, error)
                           : gloom_map_with_options(path, &options, &out, error));
        CHECK(!gloom_is_stale(out));
        CHECK(gloom_equal(out, from->filter));
        CHECK_STATUS(gloom_sync(out, error),
                     flags & GLOOM_MAP_READ_WRITE ? GLOOM_OK : GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_add(out, "key", 3), flags & GLOOM_MAP_READ_WRITE ? GLOOM_OK : GLOOM_ERR_READ_ONLY);
        gloom_free(out);
        return;
    }
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    options.kind = (int32_t)below(4);
    options.max_bytes = rarely(3) ? 64 * (1 + below(MOST_BLOCKS)) : 0;
    status = gloom_load(path, &options, &out, error);
    check_explained(error, status);
    if (options.max_bytes != 0 && options.max_bytes < from->num_blocks * BYTES_PER_BLOCK) {
        CHECK_STATUS(status, GLOOM_ERR_LIMIT);
        CHECK(out == (gloom_filter *)&space);
        return;
    }
    CHECK_OK(status);
    CHECK(gloom_equal(out, from->filter));
    settle(to, from, out, options.kind == 0 ? GLOOM_KIND_ATOMIC : options.kind);
}

/* The filter goes to a file and is used there from now on. */
static void become_a_map(slot *s)
{
    gloom_error space;
    slot mapped = *s;
    if (s->mapped)
        return;
    CHECK_OK(gloom_save(s->filter, file_of(s), GLOOM_FORMAT_NATIVE, NULL));
    gloom_free(s->filter);
    CHECK_OK(gloom_map(file_of(s), GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &mapped.filter, &space));
    mapped.kind = GLOOM_KIND_ATOMIC;
    mapped.mapped = true;
    *s = mapped;
    check_facts(s);
}

static void create_a_map(slot *s)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_error space, *error = maybe_error(&space);
    gloom_filter *out = (gloom_filter *)&space;
    vacate(s);
    options.kind = (int32_t)below(4);
    options.num_blocks = 1 + below(MOST_BLOCKS);
    options.k = (uint32_t)(LAYOUT_MIN_K + below(LAYOUT_MAX_K - LAYOUT_MIN_K + 1));
    options.seed = rarely(4) ? 99 : 0;
    gloom_status status = gloom_map_create(file_of(s), &options, &out, error);
    check_explained(error, status);
    if (options.kind == GLOOM_KIND_PLAIN || options.kind == GLOOM_KIND_SHARDED) {
        CHECK_STATUS(status, GLOOM_ERR_INVALID_ARGUMENT);
        CHECK(out == (gloom_filter *)&space);
        create_well(s);
        return;
    }
    CHECK_OK(status);
    *s = (slot){.filter = out,
                .kind = GLOOM_KIND_ATOMIC,
                .num_blocks = options.num_blocks,
                .seed = options.seed,
                .k = options.k,
                .mapped = true};
    check_facts(s);
}

static void misuse_files(slot *s)
{
    gloom_error space, *error = maybe_error(&space);
    gloom_filter *out = (gloom_filter *)&space;
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_map_options map_options = GLOOM_MAP_OPTIONS_INIT;
    uint32_t unknown = (uint32_t)any_number() | (uint32_t)8 << below(29);
    int32_t format = 2 + (int32_t)below(1000);
    gloom_status status = GLOOM_OK;
    switch (below(11)) {
    case 0: status = gloom_save(s->filter, rarely(2) ? NULL : path_of("missing/file"), 0, error); break;
    case 1: status = gloom_save(s->filter, path_of("file"), format, error); break;
    case 2: status = gloom_load(rarely(2) ? folder : path_of("missing"), NULL, &out, error); break;
    case 3: status = gloom_inspect(rarely(2) ? folder : path_of("missing"), &info, error); break;
    case 4: status = gloom_map(rarely(2) ? folder : path_of("missing"), (uint32_t)below(8), &out, error); break;
    case 5: status = gloom_map(path_of("saved"), unknown, &out, error); break;
    case 6: status = s->mapped ? gloom_map_create(file_of(s), &(gloom_options)GLOOM_OPTIONS_INIT, &out, error)
                               : gloom_sync(s->filter, error); break;
    case 7: status = gloom_write(s->filter, format, stream_write, NULL, error); break;
    case 8: status = gloom_write(s->filter, 0, NULL, NULL, error); break;
    case 9: map_options.flags = rarely(2) ? unknown : 0;
            map_options.reserved = map_options.flags == 0;
            status = gloom_map_with_options(path_of("saved"), &map_options, &out, error); break;
    default: status = gloom_read(NULL, NULL, NULL, &out, error); break;
    }
    CHECK(status != GLOOM_OK);
    check_explained(error, status);
    CHECK(out == (gloom_filter *)&space);
    check_facts(s);
}

static void null_facts(void)
{
    CHECK_U64(gloom_count(NULL), 0);
    CHECK_F64(gloom_fill_ratio(NULL), 1.0);
    CHECK_F64(gloom_current_fp_rate(NULL), 1.0);
    CHECK_U64(gloom_estimate_items(NULL), UINT64_MAX);
    CHECK(gloom_blocks(NULL) == NULL);
    CHECK_STATUS(gloom_clear(NULL), GLOOM_ERR_NULL);
    CHECK(gloom_status_string((gloom_status)any_number())[0] != 0);
    gloom_free(NULL);
    gloom_options_init(NULL);
}

static void any_call(void)
{
    slot *s = any_slot();
    switch (below(36)) {
    case 0: create_well(s); break;
    case 1: create_anyhow(); break;
    case 2: size_anyhow(); break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7: add_keys(s); break;
    case 8: misuse_keys(s); break;
    case 9:
    case 10: merge(s, any_slot()); break;
    case 11: clone(s, any_slot()); break;
    case 12:
    case 13: compare(s, any_slot()); break;
    case 14:
        if (rarely(3))
            clear(s);
        break;
    case 15: figures(s); break;
    case 16:
    case 17: serialize_and_load(s, any_slot()); break;
    case 18: claim_a_count(s); break;
    case 19:
    case 20:
    case 21: add_a_batch(s); break;
    case 22:
    case 23: test_a_batch(s); break;
    case 24: misuse_a_batch(s); break;
    case 25: intersect(s, any_slot()); break;
    case 26:
    case 27: fold(s, any_slot()); break;
    case 28: merge_bytes(s, any_slot()); break;
    case 29:
    case 30: write_and_read(s, any_slot()); break;
    case 31: save_and_load(s, any_slot()); break;
    case 32: become_a_map(s); break;
    case 33: create_a_map(s); break;
    case 34: misuse_files(s); break;
    default: null_facts(); break;
    }
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    uint64_t seed = strtoull(argv[1], NULL, 10);
    uint64_t calls = strtoull(argv[2], NULL, 10);
    printf("seed %" PRIu64 ", %" PRIu64 " calls\n", seed, calls);
    fflush(stdout); /* so that it is there after a crash */
    rng = seed;
    make_folder(IN_MEMORY);
    find_aliases();
    make_universe();
    for (int i = 0; i < SLOTS; i++)
        create_well(&slots[i]);
    for (uint64_t call = 0; call < calls; call++) {
        CONTEXT("seed %" PRIu64 ", call %" PRIu64, seed, call);
        any_call();
        if (call % LOOK_OVER_EVERY == 0)
            check_nothing_lost(any_slot());
    }
    for (int i = 0; i < SLOTS; i++) {
        check_nothing_lost(&slots[i]);
        vacate(&slots[i]);
    }
    for (int id = 0; id < UNIVERSE; id++)
        free((void *)universe_bytes[id]);
    free_pieces();
    return check_report();
}
