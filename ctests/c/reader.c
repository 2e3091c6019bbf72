/* Files for another reader, and what the library says of them.
 *
 * usage: reader write FOLDER    files of all sorts; beside each, NAME.keys with keys in hexadecimal and NAME.answers with
 *                               what reader/read_filter.py must print for them
 *        reader load FILE...    a line for each: the status of gloom_load */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "filters.h"
#include "rng.h"

enum { PATH_ROOM = 1024, MOST_LEN = 600, KEYS = 400 };

static uint64_t rng = 7;

static FILE *create_file(const char *name, const char *suffix)
{
    char path[PATH_ROOM];
    (void)snprintf(path, sizeof path, "%s%s", name, suffix);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    return file;
}

/* Key number i: lengths on both sides of those at which the hash changes its ways, then random ones; any bytes. */
static size_t make_key(unsigned char *key, uint64_t i)
{
    static const size_t lens[] = {0, 1, 2, 3, 4, 8, 9, 16, 17, 32, 128, 129, 240, 241, 256, 512, 513, MOST_LEN};
    size_t count = sizeof lens / sizeof lens[0];
    size_t len = i / 2 < count ? lens[i / 2] : (size_t)rng_below(&rng, 40);
    for (size_t at = 0; at < len; at++)
        key[at] = (unsigned char)rng_next(&rng);
    return len;
}

/* Adds every second key, and asks for all. */
static void add_and_ask(gloom_filter *filter, const char *name, const char *format, const char *dirty)
{
    static unsigned char key[KEYS][MOST_LEN];
    static size_t len[KEYS];
    FILE *keys = create_file(name, ".keys"), *answers = create_file(name, ".answers");
    uint64_t maybe = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        len[i] = make_key(key[i], i);
        if (i % 2 == 0)
            CHECK_OK(gloom_add(filter, key[i], len[i]));
    }
    /* A live count is not yet in the file. */
    uint64_t count = *dirty == 'T' ? 0 : gloom_count(filter);
    fprintf(answers, "format=%s k=%u num_blocks=%" PRIu64 " hash_name=%s seed=%" PRIu64 " count=%" PRIu64 " dirty=%s\n", format,
            (unsigned)gloom_k(filter), gloom_num_blocks(filter),
            gloom_hash_kind(filter) == GLOOM_HASH_SIPHASH ? "siphash" : "xxh3", gloom_seed(filter), count, dirty);
    for (uint64_t i = 0; i < KEYS; i++) {
        bool holds = gloom_test(filter, key[i], len[i]);
        maybe += holds;
        CHECK(holds || i % 2 == 1);
        for (size_t at = 0; at < len[i]; at++)
            fprintf(keys, "%02x", key[i][at]);
        fprintf(keys, "\n");
        fprintf(answers, "%s\n", holds ? "maybe" : "no");
    }
    CHECK_BETWEEN(maybe, KEYS / 2, KEYS);
    REQUIRE(fclose(keys) == 0 && fclose(answers) == 0);
}

static void write_saved(const char *folder, int32_t format, int32_t kind, uint32_t k, uint64_t num_blocks,
                        uint64_t seed)
{
    char name[PATH_ROOM];
    bool is_v1 = format == GLOOM_FORMAT_V1;
    (void)snprintf(name, sizeof name, "%s/%s-%d-%u-%" PRIu64 "-%" PRIx64, folder, is_v1 ? "v1" : "native", (int)kind,
                   (unsigned)k, num_blocks, seed);
    gloom_filter *filter = make_filter(kind, num_blocks, k, seed);
    add_and_ask(filter, name, is_v1 ? "v1" : "native", "False");
    CHECK_OK(gloom_save(filter, name, format, NULL));
    gloom_free(filter);
}

/* A file whose keys are hashed by SipHash. */
static void write_siphash(const char *folder)
{
    char name[PATH_ROOM];
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    (void)snprintf(name, sizeof name, "%s/siphash", folder);
    options.num_blocks = 50;
    options.k = 7;
    options.seed = 0xfedcba9876543210;
    options.flags = GLOOM_FLAG_SIPHASH;
    REQUIRE(gloom_create(&options, &filter, NULL) == GLOOM_OK);
    add_and_ask(filter, name, "native", "False");
    CHECK_OK(gloom_save(filter, name, GLOOM_FORMAT_NATIVE, NULL));
    gloom_free(filter);
}

/* A file that was mapped and closed, and one whose process died. */
static void write_mapped(const char *folder, bool dies)
{
    char name[PATH_ROOM];
    int status;
    (void)snprintf(name, sizeof name, "%s/%s", folder, dies ? "dirty" : "closed");
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        gloom_options options = GLOOM_OPTIONS_INIT;
        gloom_filter *filter = NULL;
        options.expected_items = KEYS;
        options.fp_rate = 0.01;
        options.seed = 11;
        REQUIRE(gloom_map_create(name, &options, &filter, NULL) == GLOOM_OK);
        add_and_ask(filter, name, "native", dies ? "True" : "False");
        if (!dies)
            gloom_free(filter);
        _exit(atomic_load(&checks_failed) != 0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void write_all(const char *folder)
{
    for (uint32_t k = 3; k <= 17; k++) {
        int32_t kind = KINDS[k % KIND_COUNT];
        uint64_t seed = k % 3 == 0 ? 0 : k % 3 == 1 ? UINT64_MAX : k;
        write_saved(folder, GLOOM_FORMAT_V1, kind, k, 40 + k, 0);
        write_saved(folder, GLOOM_FORMAT_NATIVE, kind, k, 40 + k, seed);
    }
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        write_saved(folder, GLOOM_FORMAT_V1, KINDS[kind], 7, 1, 0);
        write_saved(folder, GLOOM_FORMAT_NATIVE, KINDS[kind], 7, 1, 1);
        write_saved(folder, GLOOM_FORMAT_NATIVE, KINDS[kind], 9, 10007, 0);
    }
    write_siphash(folder);
    write_mapped(folder, false);
    write_mapped(folder, true);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0) {
        write_all(argv[2]);
        return check_report();
    }
    REQUIRE(argc > 2 && strcmp(argv[1], "load") == 0);
    for (int i = 2; i < argc; i++) {
        gloom_filter *filter = NULL;
        gloom_status status = gloom_load(argv[i], NULL, &filter, NULL);
        puts(status == GLOOM_OK              ? "ok"
             : status == GLOOM_ERR_CORRUPT     ? "corrupt"
             : status == GLOOM_ERR_UNSUPPORTED ? "unsupported"
             : status == GLOOM_ERR_IO          ? "io"
                                               : gloom_status_string(status));
        gloom_free(filter);
    }
    return 0;
}
