/* Filters that are empty, full, or counted to the end; keys that are hardly there. */
#include "filters.h"
#include "v1.h"

static void empty_key(int32_t kind)
{
    gloom_filter *filter = make_filter(kind, 100, 7, 0);
    bool was_present = true;
    CHECK(!gloom_test(filter, NULL, 0));
    CHECK_OK(gloom_add(filter, NULL, 0));
    CHECK(gloom_test(filter, NULL, 0));
    CHECK(gloom_test(filter, "anything", 0));
    CHECK(!gloom_test(filter, "\0", 1)); /* "" is not "\0" ... */
    CHECK(!gloom_test(filter, "\0\0", 2));
    CHECK_OK(gloom_test_and_add(filter, "", 0, &was_present));
    CHECK(was_present);
    CHECK_OK(gloom_test_and_add(filter, "\0", 1, &was_present));
    CHECK(!was_present);
    CHECK_U64(gloom_count(filter), 3);

    gloom_filter *other = make_filter(kind, 100, 7, 0);
    CHECK_OK(gloom_add(other, "\0", 1));
    CHECK(!gloom_test(other, NULL, 0)); /* ... nor the other way round */

    gloom_hash null_key = gloom_hash_key(NULL, 0, 0);
    gloom_hash empty = gloom_hash_key("", 0, 0);
    CHECK(null_key.lo == empty.lo && null_key.hi == empty.hi && (empty.lo | empty.hi) != 0);
    gloom_free(other);
    gloom_free(filter);
}

/* A filter for no keys is a small filter, not an error. */
static void no_items(void)
{
    gloom_filter *filters[] = {gloom_new(0, 0.01), gloom_new_atomic(0, 0.01), gloom_new_sharded(0, 0.01, 4)};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        REQUIRE(filters[i] != NULL);
        CHECK_U64(gloom_num_blocks(filters[i]), 1);
        CHECK_U64(gloom_estimate_items(filters[i]), 0);
        CHECK_F64(gloom_current_fp_rate(filters[i]), 0.0);
        CHECK_F64(gloom_fill_ratio(filters[i]), 0.0);
        CHECK_OK(gloom_add(filters[i], "key", 3));
        CHECK(gloom_test(filters[i], "key", 3));
        CHECK_U64(gloom_estimate_items(filters[i]), 1);
        gloom_free(filters[i]);
    }
}

static void check_saturated(const gloom_filter *filter)
{
    CHECK_F64(gloom_fill_ratio(filter), 1.0);
    CHECK_F64(gloom_current_fp_rate(filter), 1.0);
    CHECK_U64(gloom_estimate_items(filter), UINT64_MAX);
    CHECK(gloom_test(filter, "never added", 11));
}

static void saturated(int32_t kind)
{
    for (uint32_t k = LAYOUT_MIN_K; k <= LAYOUT_MAX_K; k++) {
        size_t len;
        unsigned char *full = v1_make(3, k, 5, 0xff, &len);
        CONTEXT("kind %d, k %u", (int)kind, k);
        gloom_filter *filter = v1_load(full, len, kind);
        check_saturated(filter);
        bool was_present = false;
        CHECK_OK(gloom_test_and_add(filter, "key", 3, &was_present));
        CHECK(was_present);
        CHECK_U64(gloom_count(filter), 6);
        gloom_free(filter);
        free(full);

        /* The same by adding. */
        filter = make_filter(kind, 1, k, 0);
        add_numbers(filter, 0, 5000);
        check_saturated(filter);
        CHECK_U64(gloom_count(filter), 5000);
        CHECK_OK(gloom_clear(filter));
        CHECK_F64(gloom_current_fp_rate(filter), 0.0);
        CHECK_U64(gloom_estimate_items(filter), 0);
        gloom_free(filter);
    }

    /* One block of many is full: no rate of 1, and the figures stay figures. */
    size_t len;
    unsigned char *file = v1_make(1000, 7, 0, 0, &len);
    memset(file + V1_BLOCKS, 0xff, BYTES_PER_BLOCK);
    v1_seal(file, len);
    CONTEXT("kind %d, one block full", (int)kind);
    gloom_filter *filter = v1_load(file, len, kind);
    CHECK_F64(gloom_fill_ratio(filter), 0.001);
    CHECK_BETWEEN(gloom_current_fp_rate(filter), 0.0009, 0.0011);
    CHECK(gloom_estimate_items(filter) > 0);
    gloom_free(filter);
    free(file);
}

static void duplicates(int32_t kind)
{
    gloom_filter *filter = make_filter(kind, 1000, 7, 0);
    CONTEXT("kind %d", (int)kind);
    add_numbers(filter, 0, 20000);
    uint64_t estimate = gloom_estimate_items(filter);
    CHECK_BETWEEN((double)estimate, 19600, 20400);
    for (int again = 0; again < 9; again++)
        add_numbers(filter, 0, 20000);
    CHECK_U64(gloom_estimate_items(filter), estimate);
    CHECK_U64(gloom_count(filter), 200000);
    gloom_free(filter);
}

static void counts(int32_t kind)
{
    CONTEXT("kind %d", (int)kind);
    gloom_filter *a = make_filter(kind, 50, 7, 0);
    gloom_filter *b = make_filter(kind, 50, 7, 0);
    gloom_filter *clone = NULL;
    add_numbers(a, 0, 100);
    add_numbers(b, 50, 120);

    /* Merge adds the source's count, with itself nothing. */
    CHECK_OK(gloom_merge(a, b, NULL));
    CHECK_U64(gloom_count(a), 170);
    CHECK_U64(gloom_count(b), 70);
    filter_state before = state_of(a);
    CHECK_OK(gloom_merge(a, a, NULL));
    CHECK(is_still(a, before));

    CHECK_OK(gloom_clone(a, &clone, NULL));
    CHECK_U64(gloom_count(clone), 170);
    size_t len;
    unsigned char *file = v1_of(clone, &len);
    gloom_filter *loaded = v1_load(file, len, kind);
    CHECK_U64(gloom_count(loaded), 170);
    add_numbers(loaded, 0, 1);
    CHECK_U64(gloom_count(loaded), 171);
    CHECK_U64(gloom_count(clone), 170);
    CHECK_OK(gloom_clear(clone));
    CHECK_U64(gloom_count(clone), 0);
    CHECK_OK(gloom_merge(clone, loaded, NULL));
    CHECK_U64(gloom_count(clone), 171);
    gloom_free(loaded);
    gloom_free(clone);
    free(file);
    gloom_free(b);
    gloom_free(a);
}

/* 64 bits that do not wrap. */
static void counts_saturate(int32_t kind)
{
    static const struct {
        uint64_t first, second, sum;
    } cases[] = {
        {UINT64_MAX, 0, UINT64_MAX},
        {UINT64_MAX, 1, UINT64_MAX},
        {UINT64_MAX - 5, 5, UINT64_MAX},
        {UINT64_MAX - 5, 6, UINT64_MAX},
        {UINT64_MAX - 6, 5, UINT64_MAX - 1},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {(uint64_t)1 << 63, (uint64_t)1 << 63, UINT64_MAX},
        {UINT32_MAX, 1, (uint64_t)1 << 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CONTEXT("kind %d, case %zu", (int)kind, i);
        size_t len;
        unsigned char *file = v1_make(4, 7, cases[i].first, 0, &len);
        gloom_filter *target = v1_load(file, len, kind);
        CHECK_U64(gloom_count(target), cases[i].first);
        put_little_endian(file + V1_COUNT, cases[i].second, 8);
        v1_seal(file, len);
        gloom_filter *source = v1_load(file, len, kind);
        CHECK_OK(gloom_merge(target, source, NULL));
        CHECK_U64(gloom_count(target), cases[i].sum);
        add_numbers(target, 0, 1);
        CHECK_U64(gloom_count(target), cases[i].sum + (cases[i].sum != UINT64_MAX));
        add_numbers(target, 1, 2);
        CHECK_U64(gloom_count(target), cases[i].sum > UINT64_MAX - 2 ? UINT64_MAX : cases[i].sum + 2);

        /* What is written is what is told. */
        free(file);
        file = v1_of(target, &len);
        CHECK_U64(get_little_endian(file + V1_COUNT, 8), gloom_count(target));
        CHECK_OK(gloom_clear(target));
        CHECK_U64(gloom_count(target), 0);
        free(file);
        gloom_free(source);
        gloom_free(target);
    }
}

int main(void)
{
    no_items();
    for (int i = 0; i < KIND_COUNT; i++) {
        CONTEXT("kind %d", (int)KINDS[i]);
        empty_key(KINDS[i]);
        saturated(KINDS[i]);
        duplicates(KINDS[i]);
        counts(KINDS[i]);
        counts_saturate(KINDS[i]);
    }
    return check_report();
}
