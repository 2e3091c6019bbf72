/* Lies about the length of a key, to see that a tool which watches memory sees into the library. Never run
 * without one.
 *
 *   overread               one key
 *   overread SOURCE LEN    a batch of nine keys of LEN bytes; the last byte of the last one is not there */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "keys.h"

static void single(gloom_filter *filter)
{
    unsigned char *key = take_piece(ON_HEAP, 24);
    memset(key, 1, 24);
    gloom_status status = gloom_add(filter, key, 32);
    printf("after: %d\n", (int)status);
}

/* A copy that lacks the last byte. */
static void *shortened(const void *from, size_t size)
{
    unsigned char *piece = take_piece(ON_HEAP, size - 1);
    memcpy(piece, from, size - 1);
    return piece;
}

static void batch_of_nine(gloom_filter *filter, const char *name, size_t len)
{
    enum { N = 9 };
    uint64_t rng = 1;
    size_t lens[N];
    int from = FIXED;
    while (from < SOURCE_COUNT && strcmp(SOURCE_NAMES[from], name) != 0)
        from++;
    REQUIRE(from < SOURCE_COUNT && len > 0);
    for (int i = 0; i < N; i++)
        lens[i] = len;
    key_set keys = make_keys(ON_HEAP, N, lens, 0, 0, 0, &rng);
    keys.data = shortened(keys.data, keys.data_len);
    keys.keys[N - 1] = shortened(keys.keys[N - 1], len);
    keys.hashes = shortened(keys.hashes, N * sizeof *keys.hashes);
    batch b = batch_of(&keys, (source)from);
    gloom_status status = add_batch(filter, &b);
    printf("after: %d\n", (int)status);
}

int main(int argc, char **argv)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    printf("before\n");
    fflush(stdout);
    if (argc == 3)
        batch_of_nine(filter, argv[1], (size_t)strtoull(argv[2], NULL, 10));
    else
        single(filter);
    free_pieces();
    gloom_free(filter);
    return 0;
}
