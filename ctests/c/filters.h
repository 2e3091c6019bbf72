/* Filters to try things on, and what they look like before and after a call that must change nothing. */
#ifndef FILTERS_H
#define FILTERS_H

#include "check.h"
#include "layout.h"

enum { KIND_COUNT = 3 };
static const int32_t KINDS[KIND_COUNT] = {GLOOM_KIND_PLAIN, GLOOM_KIND_ATOMIC, GLOOM_KIND_SHARDED};

/* num_shards: 0 lets the library choose; for the sharded kind only. */
static inline gloom_filter *make_sharded(int32_t kind, uint64_t num_blocks, uint32_t k, uint64_t seed,
                                         uint32_t num_shards)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    gloom_error error;
    options.kind = kind;
    options.num_blocks = num_blocks;
    options.k = k;
    options.seed = seed;
    options.num_shards = num_shards;
    gloom_status status = gloom_create(&options, &filter, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "gloom_create: %s\n", error.message);
    REQUIRE(status == GLOOM_OK && filter != NULL);
    return filter;
}

static inline gloom_filter *make_filter(int32_t kind, uint64_t num_blocks, uint32_t k, uint64_t seed)
{
    return make_sharded(kind, num_blocks, k, seed, 0);
}

static inline gloom_status add_number(gloom_filter *filter, uint64_t number)
{
    return gloom_add(filter, &number, sizeof number);
}

static inline bool test_number(const gloom_filter *filter, uint64_t number)
{
    return gloom_test(filter, &number, sizeof number);
}

/* Adds the numbers from `first` to `end` - 1 and checks every status. */
static inline void add_numbers(gloom_filter *filter, uint64_t first, uint64_t end)
{
    uint64_t refused = 0;
    for (uint64_t number = first; number < end; number++)
        refused += add_number(filter, number) != GLOOM_OK;
    CHECK_U64(refused, 0);
}

/* How many of those numbers a test does not find. */
static inline uint64_t numbers_missing(const gloom_filter *filter, uint64_t first, uint64_t end)
{
    uint64_t missing = 0;
    for (uint64_t number = first; number < end; number++)
        missing += !test_number(filter, number);
    return missing;
}

static inline uint64_t bits_set(const gloom_filter *filter)
{
    const uint64_t *words = gloom_blocks(filter);
    uint64_t set = 0;
    for (uint64_t i = 0; i < gloom_num_blocks(filter) * WORDS_PER_BLOCK; i++)
        for (uint64_t word = words[i]; word != 0; word &= word - 1)
            set++;
    return set;
}

typedef struct {
    unsigned char *blocks;
    uint64_t count;
} filter_state;

static inline filter_state state_of(const gloom_filter *filter)
{
    size_t size = (size_t)gloom_num_blocks(filter) * BYTES_PER_BLOCK;
    filter_state state = {malloc(size), gloom_count(filter)};
    REQUIRE(state.blocks != NULL);
    memcpy(state.blocks, gloom_blocks(filter), size);
    return state;
}

/* Whether `filter` is still as `state` has it; gives the state's memory back. */
static inline bool is_still(const gloom_filter *filter, filter_state state)
{
    size_t size = (size_t)gloom_num_blocks(filter) * BYTES_PER_BLOCK;
    bool same = memcmp(state.blocks, gloom_blocks(filter), size) == 0 && state.count == gloom_count(filter);
    free(state.blocks);
    return same;
}

#endif
