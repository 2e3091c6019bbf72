/* Threads with little stack, as runtimes with many of them make: what docs/c-api.md says suffices. A guard page ends the
 * program if it does not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "filters.h"
#include "folder.h"

enum { KEYS = 5000, GUARD = 65536 };

static gloom_filter *filters[KIND_COUNT]; /* one of each kind */
static gloom_filter *by_siphash;
static uint64_t numbers[KEYS];
static uint8_t results[KEYS];

static void *use_keys(void *unused)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        CHECK_OK(add_number(filters[i], 1));
        CHECK(test_number(filters[i], 1));
        if (KINDS[i] != GLOOM_KIND_SHARDED)
            CHECK_OK(gloom_add_batch_fixed(filters[i], numbers, sizeof *numbers, KEYS));
        CHECK_OK(gloom_test_batch_fixed(filters[i], numbers, sizeof *numbers, KEYS, results, NULL));
    }
    CHECK_OK(add_number(by_siphash, 1));
    CHECK_OK(gloom_add_batch_fixed(by_siphash, numbers, sizeof *numbers, KEYS));
    CHECK_OK(gloom_test_batch_fixed(by_siphash, numbers, sizeof *numbers, KEYS, results, NULL));
    return unused;
}

static void *use_everything(void *unused)
{
    static unsigned char bytes[1 << 20];
    gloom_filter *filter = NULL, *atomic = filters[1], *sharded = filters[2];
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_map_options map_options = GLOOM_MAP_OPTIONS_INIT;
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    size_t len;
    CHECK_OK(gloom_add_batch_fixed(sharded, numbers, sizeof *numbers, KEYS));
    CHECK_OK(gloom_size_for(KEYS, 0.001, &sizing, NULL));
    CHECK_OK(gloom_serialize(atomic, GLOOM_FORMAT_NATIVE, bytes, sizeof bytes, &len, NULL));
    CHECK_OK(gloom_merge_serialized(sharded, bytes, len, NULL));
    CHECK_OK(gloom_merge(sharded, atomic, NULL));
    CHECK_OK(gloom_fold(atomic, 2, &filter, NULL));
    gloom_free(filter);
    for (int again = 0; again < 2; again++)
        CHECK_OK(gloom_save(atomic, path_of("file"), GLOOM_FORMAT_NATIVE, NULL));
    CHECK_OK(gloom_load(path_of("file"), NULL, &filter, NULL));
    gloom_free(filter);
    CHECK_OK(gloom_map(path_of("file"), GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, &filter, NULL));
    CHECK_OK(gloom_sync(filter, NULL));
    gloom_free(filter);
    map_options.max_bytes = gloom_num_blocks(atomic) * BYTES_PER_BLOCK;
    CHECK_OK(gloom_map_with_options(path_of("file"), &map_options, &filter, NULL));
    CHECK(!gloom_is_stale(filter));
    gloom_free(filter);
    options.expected_items = KEYS;
    options.fp_rate = 0.001;
    CHECK_OK(gloom_map_create(path_of("new"), &options, &filter, NULL));
    gloom_free(filter);
    return unused;
}

static void with_stack(size_t size, void *(*use)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    char *memory = mmap(NULL, GUARD + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED && mprotect(memory, GUARD, PROT_NONE) == 0);
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstack(&attributes, memory + GUARD, size) == 0);
    REQUIRE(pthread_create(&thread, &attributes, use, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
    munmap(memory, GUARD + size);
}

int main(void)
{
    make_folder(IN_MEMORY);
    for (uint64_t i = 0; i < KEYS; i++)
        numbers[i] = i;
    for (int i = 0; i < KIND_COUNT; i++)
        filters[i] = make_filter(KINDS[i], 1000, 7, 0);
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.num_blocks = 1000;
    options.k = 7;
    options.seed = 1;
    options.flags = GLOOM_FLAG_SIPHASH;
    CHECK_OK(gloom_create(&options, &by_siphash, NULL));
    with_stack(32768, use_keys);
    with_stack(98304, use_everything);
    for (int i = 0; i < KIND_COUNT; i++) {
        CHECK_U64(numbers_missing(filters[i], 0, KEYS), 0);
        gloom_free(filters[i]);
    }
    gloom_free(by_siphash);
    return check_report();
}
