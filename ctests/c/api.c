/* Every exported function, used as it is meant. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "folder.h"
#include "layout.h"
#include "native.h"
#include "streams.h"

static void short_constructors(void)
{
    static const uint64_t n = 100000;
    gloom_filter *plain = gloom_new(n, 0.01);
    gloom_filter *atomic = gloom_new_atomic(n, 0.01);
    gloom_filter *sharded = gloom_new_sharded(n, 0.01, 5);
    gloom_filter *by_cpu = gloom_new_sharded(n, 0.01, 0);
    REQUIRE(plain && atomic && sharded && by_cpu);

    CHECK_U64((uint64_t)gloom_kind_of(plain), GLOOM_KIND_PLAIN);
    CHECK_U64((uint64_t)gloom_kind_of(atomic), GLOOM_KIND_ATOMIC);
    CHECK_U64((uint64_t)gloom_kind_of(sharded), GLOOM_KIND_SHARDED);
    CHECK_U64((uint64_t)gloom_kind_of(by_cpu), GLOOM_KIND_SHARDED);
    CHECK_U64(gloom_num_shards(sharded), 8); /* 5 rounded up to a power of two */

    /* 0: the library chooses, as gloom_create does; more than one for a filter of this size. */
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *created = NULL;
    options.kind = GLOOM_KIND_SHARDED;
    options.expected_items = n;
    options.fp_rate = 0.01;
    CHECK_OK(gloom_create(&options, &created, NULL));
    uint32_t shards = gloom_num_shards(by_cpu);
    CHECK(shards > 1 && shards <= 65536 && (shards & (shards - 1)) == 0);
    CHECK_U64(shards, gloom_num_shards(created));
    gloom_free(created);

    /* One geometry whatever the kind, and the one that gloom_size_for foretold. */
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    CHECK_OK(gloom_size_for(n, 0.01, &sizing, NULL));
    gloom_filter *all[] = {plain, atomic, sharded, by_cpu};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        CHECK_U64(gloom_num_blocks(all[i]), sizing.num_blocks);
        CHECK_U64(gloom_k(all[i]), sizing.k);
        CHECK_U64(gloom_expected_items(all[i]), n);
        CHECK_F64(gloom_fp_rate(all[i]), 0.01);
        CHECK_U64(gloom_seed(all[i]), 0);
        gloom_free(all[i]);
    }

    /* More shards than blocks: as many as there can be. */
    gloom_filter *tiny = gloom_new_sharded(1, 0.5, 64);
    REQUIRE(tiny != NULL);
    CHECK(gloom_num_shards(tiny) <= gloom_num_blocks(tiny));
    gloom_free(tiny);
}

static void sizing(void)
{
    /* The minima of the layout in bits per key. */
    static const struct {
        double rate;
        double bits;
    } minima[] = {{0.1, 4.84}, {0.01, 10.02}, {1e-3, 15.83}, {1e-4, 22.73}, {1e-5, 31.57}, {1e-6, 42.75}};
    for (size_t i = 0; i < sizeof minima / sizeof minima[0]; i++) {
        gloom_sizing sizing = GLOOM_SIZING_INIT;
        CONTEXT("rate %g", minima[i].rate);
        CHECK_OK(gloom_size_for(1000000, minima[i].rate, &sizing, NULL));
        CHECK_BETWEEN(sizing.bits_per_item, minima[i].bits * 0.995, minima[i].bits * 1.005);
        CHECK_U64(sizing.bytes, sizing.num_blocks * BYTES_PER_BLOCK);
        CHECK_BETWEEN(sizing.bits_per_item, (double)sizing.bytes * 8 / 1e6 * 0.999999,
                      (double)sizing.bytes * 8 / 1e6 * 1.000001);
        CHECK_BETWEEN(sizing.fp_rate, minima[i].rate * 0.9, minima[i].rate);
        CHECK(sizing.k >= LAYOUT_MIN_K && sizing.k <= LAYOUT_MAX_K);
        CHECK_U64(sizing.struct_size, sizeof sizing);
        /* Two models that must agree: the one that sizes and the one that predicts. */
        double predicted = gloom_predict_fp_rate(sizing.num_blocks, sizing.k, 1000000);
        CHECK_BETWEEN(sizing.fp_rate, predicted * 0.999999, predicted * 1.000001);
        /* One block fewer misses the rate: the size is the smallest for this k. */
        CHECK(gloom_predict_fp_rate(sizing.num_blocks - 1, sizing.k, 1000000) > minima[i].rate * 0.999999);
    }
    CONTEXT("%s", "");
    /* A program built against a later release has a longer struct: its new fields read 0. */
    struct {
        gloom_sizing sizing;
        uint64_t later[2];
    } longer = {.sizing = GLOOM_SIZING_INIT, .later = {1, 2}};
    longer.sizing.struct_size = sizeof longer;
    CHECK_OK(gloom_size_for(1000, 0.01, &longer.sizing, NULL));
    CHECK(longer.later[0] == 0 && longer.later[1] == 0);
    CHECK_U64(longer.sizing.struct_size, sizeof longer);

    CHECK_F64(gloom_predict_fp_rate(1000, 7, 0), 0.0);
    CHECK(gloom_predict_fp_rate(1000, 7, 10000) < gloom_predict_fp_rate(1000, 7, 20000));
}

static void options(void)
{
    gloom_options options;
    gloom_options initial = GLOOM_OPTIONS_INIT;
    memset(&options, 0xff, sizeof options);
    gloom_options_init(&options);
    CHECK_U64(options.struct_size, sizeof options);
    CHECK_U64((uint64_t)options.kind, (uint64_t)initial.kind);
    CHECK_U64(options.flags, 0);
    CHECK_U64(options.expected_items, 0);
    CHECK_F64(options.fp_rate, 0.0);
    CHECK_U64(options.num_blocks, 0);
    CHECK_U64(options.k, 0);
    CHECK_U64(options.num_shards, 0);
    CHECK_U64(options.seed, 0);
    CHECK_U64(options.max_bytes, 0);
    CHECK_U64(options.block_multiple, 0);

    /* Kind 0 is atomic. The limit is met exactly. No error buffer is needed. */
    gloom_filter *filter = NULL;
    options.num_blocks = 64;
    options.k = 9;
    options.seed = 77;
    options.flags = GLOOM_FLAG_SMALL_PAGES;
    options.max_bytes = 64 * BYTES_PER_BLOCK;
    CHECK_OK(gloom_create(&options, &filter, NULL));
    REQUIRE(filter != NULL);
    CHECK_U64((uint64_t)gloom_kind_of(filter), GLOOM_KIND_ATOMIC);
    CHECK_U64(gloom_num_blocks(filter), 64);
    CHECK_U64(gloom_k(filter), 9);
    CHECK_U64(gloom_seed(filter), 77);
    CHECK_U64(gloom_expected_items(filter), 0);
    CHECK_F64(gloom_fp_rate(filter), 0.0);
    gloom_free(filter);

    gloom_options_init(&options);
    options.kind = GLOOM_KIND_SHARDED;
    options.num_blocks = 61;
    options.k = 5;
    options.num_shards = 4;
    options.block_multiple = 8;
    CHECK_OK(gloom_create(&options, &filter, NULL));
    CHECK_U64(gloom_num_blocks(filter), 64);
    CHECK_U64(gloom_num_shards(filter), 4);
    gloom_free(filter);

    /* Every k makes a filter, also those that sizing never picks. */
    for (uint32_t k = LAYOUT_MIN_K; k <= LAYOUT_MAX_K; k++) {
        CONTEXT("k %u", k);
        filter = make_filter(GLOOM_KIND_PLAIN, 2, k, 0);
        CHECK_OK(gloom_add(filter, "key", 3));
        CHECK(gloom_test(filter, "key", 3));
        CHECK_U64(bits_set(filter), k);
        gloom_free(filter);
    }
    CONTEXT("%s", "");

    /* 6 MiB: big enough for huge pages; both with and without them the memory starts as zeros. */
    for (uint32_t flags = 0; flags <= GLOOM_FLAG_SMALL_PAGES; flags++) {
        gloom_options_init(&options);
        options.num_blocks = 98304;
        options.k = 7;
        options.flags = flags;
        CHECK_OK(gloom_create(&options, &filter, NULL));
        CHECK_U64(bits_set(filter), 0);
        CHECK_OK(gloom_add(filter, "key", 3));
        CHECK_U64(bits_set(filter), 7);
        gloom_free(filter);
    }
}

static void keys(int32_t kind)
{
    CONTEXT("kind %d", (int)kind);
    gloom_filter *filter = make_filter(kind, 1000, 7, 0);
    bool was_present = true;

    CHECK(!gloom_test(filter, "apple", 5));
    CHECK_OK(gloom_add(filter, "apple", 5));
    CHECK(gloom_test(filter, "apple", 5));
    CHECK(!gloom_test(filter, "apple", 4));
    CHECK_U64(gloom_count(filter), 1);

    CHECK_OK(gloom_test_and_add(filter, "pear", 4, &was_present));
    CHECK(!was_present);
    CHECK_OK(gloom_test_and_add(filter, "pear", 4, &was_present));
    CHECK(was_present);
    CHECK(gloom_test(filter, "pear", 4));
    CHECK_U64(gloom_count(filter), 3);

    /* By hash and by key is the same. */
    gloom_hash hash = gloom_hash_key("plum", 4, 0);
    CHECK(!gloom_test_hash(filter, hash));
    CHECK_OK(gloom_add_hash(filter, hash));
    CHECK(gloom_test_hash(filter, hash));
    CHECK(gloom_test(filter, "plum", 4));
    CHECK(gloom_test_hash(filter, gloom_hash_key("apple", 5, 0)));
    CHECK_U64(gloom_count(filter), 4);
    CHECK_U64(bits_set(filter), 21);

    /* A seed makes other bits. */
    gloom_hash seeded = gloom_hash_key("plum", 4, 1);
    CHECK(seeded.lo != hash.lo && seeded.hi != hash.hi);
    gloom_filter *other = make_filter(kind, 1000, 7, 1);
    CHECK_OK(gloom_add(other, "plum", 4));
    CHECK(gloom_test_hash(other, seeded));
    CHECK(!gloom_test_hash(other, hash));

    gloom_free(other);
    gloom_free(filter);
}

/* Keys hashed by SipHash; tests/siphash.rs has more. */
static void siphash(int32_t kind)
{
    CONTEXT("kind %d", (int)kind);
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL, *clone = NULL;
    options.kind = kind;
    options.num_blocks = 1000;
    options.k = 7;
    options.seed = 5;
    options.flags = GLOOM_FLAG_SIPHASH | GLOOM_FLAG_SMALL_PAGES;
    CHECK_OK(gloom_create(&options, &filter, NULL));
    gloom_filter *other = make_filter(kind, 1000, 7, 5);
    CHECK_U64((uint64_t)gloom_hash_kind(filter), GLOOM_HASH_SIPHASH);
    CHECK_U64((uint64_t)gloom_hash_kind(other), GLOOM_HASH_XXH3);
    CHECK(!gloom_equal(filter, other));

    gloom_hash hash = gloom_siphash_key("plum", 4, 5), by_xxh3 = gloom_hash_key("plum", 4, 5);
    CHECK(hash.lo != by_xxh3.lo && hash.hi != by_xxh3.hi);
    CHECK_OK(gloom_add(filter, "plum", 4));
    CHECK(gloom_test_hash(filter, hash));
    CHECK(!gloom_test_hash(filter, by_xxh3));
    CHECK_OK(gloom_add_hash(filter, gloom_siphash_key(NULL, 0, 5)));
    CHECK(gloom_test(filter, "", 0));
    CHECK_OK(gloom_clone(filter, &clone, NULL));
    CHECK_U64((uint64_t)gloom_hash_kind(clone), GLOOM_HASH_SIPHASH);
    CHECK(gloom_equal(filter, clone));
    gloom_free(clone);
    gloom_free(other);
    gloom_free(filter);
}

/* A binding sets the bits of keys itself, and tells how many. */
static void adds_of_a_binding(int32_t kind)
{
    CONTEXT("kind %d", (int)kind);
    gloom_filter *filter = make_filter(kind, 1000, 7, 0), *model = make_filter(kind, 1000, 7, 0);
    gloom_filter *clone = NULL;
    uint64_t *words = (uint64_t *)(uintptr_t)gloom_blocks(filter);

    add_numbers(model, 0, 100);
    add_numbers(filter, 0, 40);
    for (uint64_t number = 40; number < 100; number++)
        layout_add(words, 1000, 7, gloom_hash_key(&number, sizeof number, 0));
    CHECK(gloom_equal(filter, model));
    CHECK_U64(gloom_count(filter), 40);
    CHECK_OK(gloom_note_adds(filter, 60));
    CHECK_OK(gloom_note_adds(filter, 0));
    CHECK_U64(gloom_count(filter), 100);
    add_numbers(filter, 0, 1);
    CHECK_OK(gloom_clone(filter, &clone, NULL));
    CHECK_U64(gloom_count(clone), 101);
    CHECK_OK(gloom_note_adds(clone, UINT64_MAX));
    CHECK_U64(gloom_count(clone), UINT64_MAX);
    CHECK_OK(gloom_clear(filter));
    CHECK_U64(gloom_count(filter), 0);

    gloom_free(clone);
    gloom_free(model);
    gloom_free(filter);
}

/* The same four keys in each of the ways in which batches take them. batch.c has the rest. */
static void batches(int32_t kind)
{
    enum { N = 4 };
    static const char data[] = "apple   pear    plum    cherry  ";
    static const int32_t offsets32[N + 1] = {0, 8, 16, 24, 32};
    static const int64_t offsets64[N + 1] = {0, 8, 16, 24, 32};
    static const void *const keys[N] = {data, data + 8, data + 16, data + 24};
    static const size_t lens[N] = {8, 8, 8, 8};
    gloom_hash hashes[N];
    for (int i = 0; i < N; i++)
        hashes[i] = gloom_hash_key(keys[i], lens[i], 0);
    gloom_filter *single = make_filter(kind, 1000, 7, 0);
    for (int i = 0; i < N; i++)
        CHECK_OK(gloom_add(single, keys[i], lens[i]));

    for (int way = 0; way < 5; way++) {
        CONTEXT("kind %d, way %d", (int)kind, way);
        gloom_filter *filter = make_filter(kind, 1000, 7, 0);
        switch (way) {
        case 0: CHECK_OK(gloom_add_batch_fixed(filter, data, 8, N)); break;
        case 1: CHECK_OK(gloom_add_batch_offsets32(filter, data, sizeof data - 1, offsets32, N)); break;
        case 2: CHECK_OK(gloom_add_batch_offsets64(filter, data, sizeof data - 1, offsets64, N)); break;
        case 3: CHECK_OK(gloom_add_batch_pointers(filter, keys, lens, N)); break;
        default: CHECK_OK(gloom_add_batch_hashes(filter, hashes, N));
        }
        CHECK(gloom_equal(filter, single));
        CHECK_U64(gloom_count(filter), N);
        gloom_free(filter);
    }

    /* Of these four, a filter has the second and the fourth. */
    gloom_filter *filter = make_filter(kind, 1000, 7, 0);
    CHECK_OK(gloom_add(filter, keys[1], lens[1]));
    CHECK_OK(gloom_add(filter, keys[3], lens[3]));
    for (int way = 0; way < 5; way++) {
        CONTEXT("kind %d, way %d", (int)kind, way);
        uint8_t results[N] = {7, 7, 7, 7};
        size_t hits = 0;
        switch (way) {
        case 0: CHECK_OK(gloom_test_batch_fixed(filter, data, 8, N, results, &hits)); break;
        case 1:
            CHECK_OK(
                gloom_test_batch_offsets32(filter, data, sizeof data - 1, offsets32, N, results, &hits));
            break;
        case 2:
            CHECK_OK(
                gloom_test_batch_offsets64(filter, data, sizeof data - 1, offsets64, N, results, &hits));
            break;
        case 3: CHECK_OK(gloom_test_batch_pointers(filter, keys, lens, N, results, &hits)); break;
        default: CHECK_OK(gloom_test_batch_hashes(filter, hashes, N, results, &hits));
        }
        CHECK_U64(hits, 2);
        CHECK(results[0] == 0 && results[1] == 1 && results[2] == 0 && results[3] == 1);
    }
    CHECK_U64(gloom_count(filter), 2);
    gloom_free(filter);
    gloom_free(single);
}

static void facts(int32_t kind)
{
    static const uint64_t n = 100000;
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    CONTEXT("kind %d", (int)kind);
    options.kind = kind;
    options.expected_items = n;
    options.fp_rate = 0.01;
    CHECK_OK(gloom_create(&options, &filter, NULL));
    REQUIRE(filter != NULL);

    CHECK_U64((uint64_t)gloom_kind_of(filter), (uint64_t)kind);
    CHECK(kind == GLOOM_KIND_SHARDED ? gloom_num_shards(filter) >= 1 : gloom_num_shards(filter) == 1);
    CHECK_U64(gloom_k(filter), 7);
    CHECK_U64(gloom_expected_items(filter), n);
    CHECK_F64(gloom_fp_rate(filter), 0.01);
    CHECK_U64(gloom_seed(filter), 0);
    CHECK(!gloom_is_mapped(filter));
    CHECK(!gloom_is_read_only(filter));
    CHECK(!gloom_is_stale(filter));
    uint64_t bytes = gloom_num_blocks(filter) * BYTES_PER_BLOCK;
    CHECK_U64(gloom_bit_capacity(filter), bytes * 8);
    CHECK_BETWEEN((double)gloom_memory_bytes(filter), (double)bytes, (double)bytes + 1e6);
    CHECK_U64((uintptr_t)gloom_blocks(filter) % 64, 0);
    const char *simd = gloom_simd_level(filter);
    CHECK(strcmp(simd, "portable") == 0 || strcmp(simd, "avx2") == 0 || strcmp(simd, "avx512") == 0 ||
          strcmp(simd, "avx512ifma") == 0);

    CHECK_U64(gloom_count(filter), 0);
    CHECK_U64(gloom_estimate_items(filter), 0);
    CHECK_F64(gloom_fill_ratio(filter), 0.0);
    CHECK_F64(gloom_current_fp_rate(filter), 0.0);

    add_numbers(filter, 0, n);
    CHECK_U64(numbers_missing(filter, 0, n), 0);
    CHECK_U64(gloom_count(filter), n);
    CHECK_BETWEEN((double)gloom_estimate_items(filter), 0.99 * (double)n, 1.01 * (double)n);
    double fill = (double)bits_set(filter) / ((double)bytes * 8);
    CHECK_BETWEEN(gloom_fill_ratio(filter), fill * 0.999999, fill * 1.000001);

    /* Full as expected: the current rate is about the one asked for, and a million absent keys see it (5
     * standard deviations are 5 %). */
    double current = gloom_current_fp_rate(filter);
    CHECK_BETWEEN(current, 0.0095, 0.0105);
    uint64_t absent = 1000000;
    double seen = (double)(absent - numbers_missing(filter, n, n + absent)) / (double)absent;
    CHECK_BETWEEN(seen, current * 0.95, current * 1.05);
    gloom_free(filter);
}

static void whole_filters(int32_t kind)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        CONTEXT("kind %d with kind %d", (int)kind, (int)KINDS[i]);
        gloom_filter *target = make_filter(kind, 500, 7, 0);
        gloom_filter *source = make_filter(KINDS[i], 500, 7, 0);
        gloom_filter *clone = NULL;
        add_numbers(target, 0, 1000);
        add_numbers(source, 1000, 3000);
        CHECK(!gloom_equal(target, source));

        CHECK_OK(gloom_merge(target, source, NULL));
        CHECK_U64(numbers_missing(target, 0, 3000), 0);
        CHECK_U64(gloom_count(target), 3000);
        CHECK_U64(gloom_count(source), 2000);
        CHECK(numbers_missing(source, 0, 1000) > 900);

        CHECK_OK(gloom_clone(target, &clone, NULL));
        REQUIRE(clone != NULL);
        CHECK(gloom_equal(clone, target));
        CHECK(gloom_equal(target, clone));
        CHECK(gloom_equal(target, target));
        CHECK_U64((uint64_t)gloom_kind_of(clone), (uint64_t)kind);
        CHECK_U64(gloom_count(clone), 3000);
        CHECK_U64(gloom_num_shards(clone), gloom_num_shards(target));

        /* The same adds make the same bits, whatever the kind. */
        add_numbers(source, 0, 1000);
        CHECK(gloom_equal(source, target));

        /* A clone is on its own. */
        CHECK_OK(gloom_clear(target));
        CHECK_U64(gloom_count(target), 0);
        CHECK_U64(bits_set(target), 0);
        CHECK_U64(numbers_missing(target, 0, 3000), 3000);
        CHECK_U64(numbers_missing(clone, 0, 3000), 0);
        CHECK(!gloom_equal(clone, target));
        add_numbers(target, 0, 10);
        CHECK_U64(gloom_count(target), 10);

        gloom_free(clone);
        gloom_free(source);
        gloom_free(target);
    }
}

static void bytes(int32_t kind)
{
    CONTEXT("kind %d", (int)kind);
    gloom_filter *filter = make_filter(kind, 100, 8, 0);
    add_numbers(filter, 0, 500);
    uint64_t size = 0;
    CHECK_OK(gloom_serialized_size(filter, GLOOM_FORMAT_V1, &size, NULL));
    CHECK_U64(size, 21 + 100 * BYTES_PER_BLOCK + 4);
    size_t len = 0;
    unsigned char *file = malloc((size_t)size);
    REQUIRE(file != NULL);
    CHECK_OK(gloom_serialize(filter, GLOOM_FORMAT_V1, file, (size_t)size, &len, NULL));
    CHECK_U64(len, size);
    CHECK_U64(file[0], 1);
    CHECK_U64(get_little_endian(file + V1_K, 4), 8);
    CHECK_U64(get_little_endian(file + V1_NUM_BLOCKS, 8), 100);
    CHECK_U64(get_little_endian(file + V1_COUNT, 8), 500);
    CHECK(memcmp(file + V1_BLOCKS, gloom_blocks(filter), 100 * BYTES_PER_BLOCK) == 0);
    CHECK_U64(get_little_endian(file + len - 4, 4), crc32c(file, len - 4));

    for (int i = 0; i < KIND_COUNT; i++) {
        gloom_filter *loaded = v1_load(file, len, KINDS[i]);
        CHECK_U64((uint64_t)gloom_kind_of(loaded), (uint64_t)KINDS[i]);
        CHECK_U64(gloom_count(loaded), 500);
        CHECK_U64(gloom_k(loaded), 8);
        CHECK_U64(gloom_expected_items(loaded), 0);
        CHECK(gloom_equal(loaded, filter));
        CHECK_U64(numbers_missing(loaded, 0, 500), 0);
        CHECK_OK(gloom_add(loaded, "more", 4));
        CHECK(gloom_test(loaded, "more", 4));
        gloom_free(loaded);
    }

    /* Without options: atomic. With them: shards and a limit that is met exactly. */
    gloom_filter *loaded = NULL;
    CHECK_OK(gloom_deserialize(file, len, NULL, &loaded, NULL));
    CHECK_U64((uint64_t)gloom_kind_of(loaded), GLOOM_KIND_ATOMIC);
    gloom_free(loaded);
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    options.kind = GLOOM_KIND_SHARDED;
    options.num_shards = 16;
    options.flags = GLOOM_FLAG_SMALL_PAGES;
    options.max_bytes = 100 * BYTES_PER_BLOCK;
    CHECK_OK(gloom_deserialize(file, len, &options, &loaded, NULL));
    CHECK_U64(gloom_num_shards(loaded), 16);
    CHECK(gloom_equal(loaded, filter));
    gloom_free(loaded);
    free(file);
    gloom_free(filter);
}

/* combine.c has the rest. */
static void combined_filters(int32_t kind)
{
    CONTEXT("kind %d", (int)kind);
    gloom_filter *filter = make_filter(kind, 120, 7, 0), *other = make_filter(GLOOM_KIND_PLAIN, 120, 7, 0);
    gloom_filter *folded = NULL;
    add_numbers(filter, 0, 300);
    add_numbers(other, 200, 400);

    /* One shard of a reducer's input. */
    size_t len;
    unsigned char *bytes = bytes_of(other, GLOOM_FORMAT_NATIVE, &len);
    CHECK_OK(gloom_merge_serialized(filter, bytes, len, NULL));
    CHECK_U64(numbers_missing(filter, 0, 400), 0);
    CHECK_U64(gloom_count(filter), 500);
    free(bytes);

    CHECK_OK(gloom_fold(filter, 4, &folded, NULL));
    CHECK_U64(gloom_num_blocks(folded), 30);
    CHECK_U64((uint64_t)gloom_kind_of(folded), (uint64_t)kind);
    CHECK_U64(numbers_missing(folded, 0, 400), 0);
    CHECK_U64(gloom_count(folded), 500);

    CHECK_OK(gloom_intersect(filter, other, NULL));
    CHECK(gloom_equal(filter, other));
    CHECK_U64(gloom_count(filter), 200);
    gloom_free(folded);
    gloom_free(other);
    gloom_free(filter);
}

/* streams.c and files.c have the rest. */
static void streams_and_files(int32_t kind)
{
    gloom_filter *filter = make_filter(kind, 120, 7, 0);
    add_numbers(filter, 0, 300);
    for (int format = 0; format < FORMAT_COUNT; format++) {
        gloom_filter *read = NULL, *loaded = NULL;
        gloom_file_info info = GLOOM_FILE_INFO_INIT;
        stream s = {0};
        CONTEXT("kind %d, format %d", (int)kind, (int)FORMATS[format]);
        CHECK_OK(gloom_write(filter, FORMATS[format], stream_write, &s, NULL));
        CHECK_OK(gloom_read(stream_read, &s, NULL, &read, NULL));
        CHECK(gloom_equal(read, filter));
        CHECK_U64(s.at, s.len);
        free(s.bytes);

        CHECK_OK(gloom_save(filter, path_of("filter"), FORMATS[format], NULL));
        CHECK_OK(gloom_inspect(path_of("filter"), &info, NULL));
        CHECK_U64((uint64_t)info.format, (uint64_t)FORMATS[format]);
        CHECK_U64(info.num_blocks, 120);
        CHECK_U64(info.count, 300);
        CHECK_OK(gloom_load(path_of("filter"), NULL, &loaded, NULL));
        CHECK(gloom_equal(loaded, filter));
        CHECK_U64(gloom_count(loaded), 300);
        gloom_free(loaded);
        gloom_free(read);
    }
    gloom_free(filter);
    unlink(path_of("filter"));
}

/* maps.c has the rest. */
static void maps(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_map_options map_options = GLOOM_MAP_OPTIONS_INIT;
    gloom_filter *writer = NULL, *reader = NULL;
    const char *path = path_of("map");
    options.expected_items = 1000;
    options.fp_rate = 0.01;
    CHECK_OK(gloom_map_create(path, &options, &writer, NULL));
    CHECK_OK(gloom_map(path, 0, &reader, NULL));
    CHECK(gloom_is_mapped(writer) && !gloom_is_read_only(writer));
    CHECK(gloom_is_mapped(reader) && gloom_is_read_only(reader));
    add_numbers(writer, 0, 1000);
    CHECK_U64(numbers_missing(reader, 0, 1000), 0);
    CHECK_STATUS(gloom_add(reader, "key", 3), GLOOM_ERR_READ_ONLY);
    CHECK_OK(gloom_sync(writer, NULL));
    gloom_free(writer);
    CHECK_U64(numbers_missing(reader, 0, 1000), 0);
    CHECK_U64(gloom_count(reader), 1000);
    gloom_free(reader);
    CHECK_OK(gloom_map(path, GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &writer, NULL));
    CHECK_U64(gloom_count(writer), 1000);
    CHECK_U64(gloom_expected_items(writer), 1000);
    uint64_t blocks = gloom_num_blocks(writer) * BYTES_PER_BLOCK;
    gloom_free(writer);

    /* By options: none, and with a limit that is met exactly. */
    CHECK_OK(gloom_map_with_options(path, NULL, &reader, NULL));
    CHECK(gloom_is_read_only(reader));
    map_options.flags = GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY;
    map_options.max_bytes = blocks;
    CHECK_OK(gloom_map_with_options(path, &map_options, &writer, NULL));
    CHECK(gloom_is_mapped(writer) && !gloom_is_read_only(writer));
    add_numbers(writer, 1000, 1100);
    CHECK_U64(numbers_missing(reader, 0, 1100), 0);
    CHECK(!gloom_is_stale(writer) && !gloom_is_stale(reader));
    gloom_free(writer);

    /* A map goes on with the old file when another takes its place, and knows. */
    gloom_filter *other = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    CHECK(!gloom_is_stale(reader));
    CHECK_OK(gloom_save(other, path, GLOOM_FORMAT_NATIVE, NULL));
    CHECK(gloom_is_stale(reader));
    CHECK_U64(numbers_missing(reader, 0, 1100), 0);
    gloom_free(reader);
    CHECK_OK(gloom_map(path, 0, &reader, NULL));
    CHECK(!gloom_is_stale(reader));
    unlink(path);
    CHECK(gloom_is_stale(reader));
    gloom_free(reader);
    gloom_free(other);
}

static void the_library(void)
{
    CHECK_STRING(gloom_version_string(), GLOOM_VERSION_STRING);
    CHECK_U64(gloom_version(), GLOOM_VERSION);
    CHECK_U64(gloom_abi_version(), GLOOM_ABI_VERSION);
    CHECK(strlen(gloom_status_string(GLOOM_OK)) > 0);
    gloom_free(NULL);
}

int main(void)
{
    make_folder(ON_DISK);
    short_constructors();
    sizing();
    options();
    for (int i = 0; i < KIND_COUNT; i++) {
        keys(KINDS[i]);
        siphash(KINDS[i]);
        batches(KINDS[i]);
        facts(KINDS[i]);
        whole_filters(KINDS[i]);
        bytes(KINDS[i]);
        combined_filters(KINDS[i]);
        streams_and_files(KINDS[i]);
    }
    adds_of_a_binding(GLOOM_KIND_PLAIN);
    adds_of_a_binding(GLOOM_KIND_ATOMIC);
    maps();
    the_library();
    return check_report();
}
