/* The frozen figures, for each kind of filter.
 *
 *   golden recipes DIR   recipes on stdin, one a line; leaves the v1 files, to be hashed, as DIR/name.kind
 *   golden hashes        hash_vectors.tsv on stdin
 *   golden seeds         seeded_vectors.tsv on stdin
 *   golden siphash       siphash_vectors.tsv on stdin */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "folder.h"
#include "v1.h"

enum { LONGEST_INPUT = 1 << 17, LONGEST_LINE = 4096 };

/* The next line that is neither a comment nor a table's head. */
static bool next_line(char *line, const char *head)
{
    while (fgets(line, LONGEST_LINE, stdin) != NULL) {
        REQUIRE(strchr(line, '\n') != NULL);
        if (line[0] != '#' && strncmp(line, head, strlen(head)) != 0)
            return true;
    }
    return false;
}

/* -- recipes -- */

static const struct {
    const char *bytes;
    size_t len;
    int repeat; /* the one byte this often; 0: the bytes as they are */
} EDGE_KEYS[] = {
    {NULL, 0, 0},
    {"\x00", 1, 1},
    {"\xff", 1, 1},
    {"a", 1, 0},
    {"ab", 2, 0},
    {"abc", 3, 0},
    {"abcd", 4, 0},
    {"\x00", 1, 8},
    {"\xff", 1, 9},
    {"0123456789abcdef", 16, 0},
    {"0123456789abcdefg", 17, 0},
    {"x", 1, 128},
    {"y", 1, 129},
    {"z", 1, 240},
    {"w", 1, 241},
    {"hello, \xe4\xb8\x96\xe7\x95\x8c", 13, 0},
};

static void add_edge_keys(gloom_filter *filter)
{
    unsigned char key[256];
    for (size_t i = 0; i < sizeof EDGE_KEYS / sizeof EDGE_KEYS[0]; i++) {
        size_t len = EDGE_KEYS[i].len;
        if (EDGE_KEYS[i].repeat != 0)
            memset(key, EDGE_KEYS[i].bytes[0], len = (size_t)EDGE_KEYS[i].repeat);
        else if (len != 0)
            memcpy(key, EDGE_KEYS[i].bytes, len);
        CHECK_OK(gloom_add(filter, len == 0 ? NULL : key, len));
    }
}

/* "<word>-<i>:" and (i * 7) mod 1031 bytes of filler. */
static size_t recipe_key(unsigned char *key, const char *word, uint64_t i)
{
    size_t len = (size_t)sprintf((char *)key, "%s-%" PRIu64 ":", word, i);
    for (size_t j = 0; j < i * 7 % 1031; j++)
        key[len++] = (unsigned char)j;
    return len;
}

static void recipes(const char *files)
{
    static unsigned char key[2048];
    char line[LONGEST_LINE];
    int seen = 0;
    while (next_line(line, "#")) {
        char name[64];
        uint64_t num_blocks, members, count, probes, hits;
        uint32_t k;
        int edge_keys, used = 0;
        int fields =
            sscanf(line, "%63s %" SCNu64 " %" SCNu32 " %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
                   name, &num_blocks, &k, &edge_keys, &members, &count, &probes, &hits, &used);
        REQUIRE(fields == 8);
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            CONTEXT("%s, kind %d", name, (int)KINDS[kind]);
            gloom_filter *filter = make_filter(KINDS[kind], num_blocks, k, 0);
            if (edge_keys)
                add_edge_keys(filter);
            for (uint64_t i = 0; i < members; i++)
                CHECK_OK(gloom_add(filter, key, recipe_key(key, "member", i)));
            CHECK_U64(gloom_count(filter), count);

            /* The rest of the line: the first probes that hit. */
            char *next_hit = line + used;
            uint64_t hits_seen = 0;
            for (uint64_t i = 0; i < probes; i++) {
                if (!gloom_test(filter, key, recipe_key(key, "probe", i)))
                    continue;
                hits_seen++;
                if (next_hit != NULL && strspn(next_hit, " \n") != strlen(next_hit))
                    CHECK_U64(i, strtoull(next_hit, &next_hit, 10));
            }
            CHECK_U64(hits_seen, hits);
            CHECK_U64(strspn(next_hit, " \n"), strlen(next_hit));

            char path[4096];
            size_t len;
            unsigned char *file = v1_of(filter, &len);
            REQUIRE(snprintf(path, sizeof path, "%s/%s.%d", files, name, (int)KINDS[kind]) <
                    (int)sizeof path);
            CHECK_OK(gloom_save(filter, path, GLOOM_FORMAT_V1, NULL));
            CHECK(file_is(path, file, len)); /* so that the hash of the one is that of the other */
            for (int other = 0; other < KIND_COUNT; other++) {
                gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
                gloom_filter *loaded = NULL;
                options.kind = KINDS[other];
                CHECK_OK(gloom_load(path, &options, &loaded, NULL));
                CHECK(gloom_equal(loaded, filter));
                CHECK_U64(gloom_count(loaded), count);
                gloom_free(loaded);
            }
            free(file);
            gloom_free(filter);
        }
        seen++;
    }
    CONTEXT("%s", "");
    CHECK_U64((uint64_t)seen, 19);
}

/* -- hash vectors -- */

static const unsigned char *vector_input(size_t len)
{
    static unsigned char input[LONGEST_INPUT];
    REQUIRE(len <= sizeof input);
    for (size_t j = 0; j < len; j++)
        input[j] = (unsigned char)(j * 131 + len + 7);
    return input;
}

/* What a filter should hold, by the plain definition. */
typedef struct {
    gloom_filter *filter;
    uint64_t *words;
    uint64_t num_blocks;
    uint32_t k;
} modelled;

static modelled model_hashing(int32_t hash_kind, int32_t kind, uint64_t num_blocks, uint32_t k, uint64_t seed)
{
    modelled m = {NULL, calloc((size_t)num_blocks, BYTES_PER_BLOCK), num_blocks, k};
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.kind = kind;
    options.flags = hash_kind == GLOOM_HASH_SIPHASH ? GLOOM_FLAG_SIPHASH : 0;
    options.num_blocks = num_blocks;
    options.k = k;
    options.seed = seed;
    CHECK_OK(gloom_create(&options, &m.filter, NULL));
    REQUIRE(m.words != NULL && m.filter != NULL);
    return m;
}

static modelled model(int32_t kind, uint64_t num_blocks, uint32_t k, uint64_t seed)
{
    return model_hashing(GLOOM_HASH_XXH3, kind, num_blocks, k, seed);
}

static void model_add(modelled *m, const unsigned char *key, size_t len, gloom_hash hash)
{
    layout_add(m->words, m->num_blocks, m->k, hash);
    CHECK_OK(gloom_add(m->filter, key, len));
    CHECK(gloom_test(m->filter, key, len));
    CHECK(gloom_test_hash(m->filter, hash));
}

/* Every bit the model has, and no other. */
static void model_compare(const modelled *m)
{
    CHECK(memcmp(m->words, gloom_blocks(m->filter), (size_t)m->num_blocks * BYTES_PER_BLOCK) == 0);
}

static void model_free(modelled *m)
{
    gloom_free(m->filter);
    free(m->words);
}

typedef struct {
    size_t len;
    gloom_hash hash;
} vector;

enum { MAX_VECTORS = 400, BLOCK_COUNTS = 5 };
static vector vectors[MAX_VECTORS];
static const uint64_t NUM_BLOCKS[BLOCK_COUNTS] = {1, 3, 1000, 1048583, 1125899906842624};

static size_t read_hash_vectors(void)
{
    char line[LONGEST_LINE];
    size_t n = 0;
    while (next_line(line, "len\t")) {
        uint64_t len, block[BLOCK_COUNTS];
        uint32_t probe;
        gloom_hash want;
        int fields =
            sscanf(line,
                   "%" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64,
                   &len, &want.hi, &want.lo, &probe, &block[0], &block[1], &block[2], &block[3], &block[4]);
        REQUIRE(fields == 9 && n < MAX_VECTORS);
        CONTEXT("length %" PRIu64, len);
        gloom_hash hash = gloom_hash_key(vector_input((size_t)len), (size_t)len, 0);
        CHECK_U64(hash.hi, want.hi);
        CHECK_U64(hash.lo, want.lo);
        CHECK_U64(layout_probe(hash), probe);
        for (int i = 0; i < BLOCK_COUNTS; i++)
            CHECK_U64(layout_block(hash, NUM_BLOCKS[i]), block[i]);
        vectors[n++] = (vector){(size_t)len, want};
    }
    CHECK_U64(n, 269);
    return n;
}

static void hashes(void)
{
    size_t n = read_hash_vectors();
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        /* Every k: a filter holds after each add the bits of the definition. */
        for (uint32_t k = LAYOUT_MIN_K; k <= LAYOUT_MAX_K; k++) {
            modelled m = model(KINDS[kind], 1000, k, 0);
            for (size_t i = 0; i < n; i++) {
                CONTEXT("kind %d, k %u, length %zu", (int)KINDS[kind], k, vectors[i].len);
                model_add(&m, vector_input(vectors[i].len), vectors[i].len, vectors[i].hash);
                model_compare(&m);
            }
            model_free(&m);
        }
        /* Every block count that memory holds. */
        for (int b = 0; b < BLOCK_COUNTS - 1; b++) {
            CONTEXT("kind %d, %" PRIu64 " blocks", (int)KINDS[kind], NUM_BLOCKS[b]);
            modelled m = model(KINDS[kind], NUM_BLOCKS[b], 7, 0);
            for (size_t i = 0; i < n; i++)
                model_add(&m, vector_input(vectors[i].len), vectors[i].len, vectors[i].hash);
            model_compare(&m);
            model_free(&m);
        }
    }
}

/* Filters with a seed, which hash in one of two ways. */
static void seeds(int32_t hash_kind, uint64_t vectors_in_file)
{
    char line[LONGEST_LINE];
    int n = 0;
    while (next_line(line, "seed\t")) {
        uint64_t seed, len, block;
        uint32_t probe;
        gloom_hash want;
        int fields = sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNu32 " %" SCNu64,
                            &seed, &len, &want.hi, &want.lo, &probe, &block);
        REQUIRE(fields == 6);
        CONTEXT("seed %" PRIu64 ", length %" PRIu64, seed, len);
        const unsigned char *input = vector_input((size_t)len);
        gloom_hash hash = hash_kind == GLOOM_HASH_SIPHASH ? gloom_siphash_key(input, (size_t)len, seed)
                                                           : gloom_hash_key(input, (size_t)len, seed);
        CHECK_U64(hash.hi, want.hi);
        CHECK_U64(hash.lo, want.lo);
        CHECK_U64(layout_probe(hash), probe);
        CHECK_U64(layout_block(hash, 1000), block);
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            modelled m = model_hashing(hash_kind, KINDS[kind], 1000, 7, seed);
            CHECK_U64((uint64_t)gloom_hash_kind(m.filter), (uint64_t)hash_kind);
            CHECK_U64(gloom_seed(m.filter), seed);
            model_add(&m, input, (size_t)len, want);
            model_compare(&m);
            model_free(&m);
        }
        n++;
    }
    CONTEXT("%s", "");
    CHECK_U64((uint64_t)n, vectors_in_file);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "recipes") == 0)
        recipes(argv[2]);
    else if (argc == 2 && strcmp(argv[1], "hashes") == 0)
        hashes();
    else if (argc == 2 && strcmp(argv[1], "seeds") == 0)
        seeds(GLOOM_HASH_XXH3, 68);
    else if (argc == 2 && strcmp(argv[1], "siphash") == 0)
        seeds(GLOOM_HASH_SIPHASH, 372);
    else
        fprintf(stderr, "usage: golden recipes DIR | hashes | seeds | siphash\n");
    return check_report();
}
