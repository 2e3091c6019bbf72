/* What a Bloom filter does for a service, in the small: several threads load all keys of a table while new keys
 * already come in and requests already ask; then the filter answers for the database.
 *
 * Read in this order: this file (create, use, figures, free), load.c (many threads, one filter), check.c.
 * The other files read keys and have nothing to do with gloom.
 *
 * By hand:  make build
 *           cc -std=c11 -I include examples/c/<all .c files> target/release/libgloom.a -lpthread -lm -ldl
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "each.h"
#include "fail.h"
#include "gloom.h"
#include "keys.h"
#include "load.h"
#include "options.h"

/* A header of one release with a library of another is found out here and not by a crash later. */
static void require_matching_library(void)
{
    if (gloom_abi_version() != GLOOM_ABI_VERSION)
        fail("compiled for ABI %d of gloom, but the library has ABI %" PRIu32, (int)GLOOM_ABI_VERSION,
             gloom_abi_version());
}

/* gloom_size_for allocates nothing: a bad rate is refused before a long file is read. */
static void require_good_rate(double fp_rate)
{
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    gloom_error error;

    if (gloom_size_for(1, fp_rate, &sizing, &error) != GLOOM_OK)
        fail("%s", error.message);
}

static gloom_filter *create(uint64_t expected_items, double fp_rate)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    gloom_error error;

    options.kind = GLOOM_KIND_SHARDED; /* the kind for many threads that write much */
    options.expected_items = expected_items;
    options.fp_rate = fp_rate;
    if (gloom_create(&options, &filter, &error) != GLOOM_OK)
        fail("%s", error.message);
    return filter;
}

static bool only_count(void *context, unsigned thread, const char *key, size_t len)
{
    (void)context, (void)thread, (void)key, (void)len;
    return true;
}

/* Enough absent keys that some hundred false positives are found, within reason. */
static uint64_t absent_keys_per_key(uint64_t keys, double fp_rate)
{
    double wanted = 200.0 / fp_rate;

    if (wanted < 1e6)
        wanted = 1e6;
    if (wanted > 2e7)
        wanted = 2e7;
    return 1 + (uint64_t)wanted / keys;
}

static void row(const char *label, const char *value, const char *remark)
{
    printf("%-22s%16s%s%s\n", label, value, *remark ? "   " : "", remark);
}

static const char *grouped(uint64_t number, char out[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *to = out;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

static void row_number(const char *label, uint64_t number, const char *remark)
{
    char value[32];

    row(label, grouped(number, value), remark);
}

static void row_rate(const char *label, double rate, const char *remark)
{
    char value[32];

    snprintf(value, sizeof value, "%.4g", rate);
    row(label, value, remark);
}

static void print_table(const gloom_filter *filter, const struct keys *keys, const struct options *options,
                        const struct load_result *load, uint64_t live, const struct check_result *check)
{
    uint64_t added = load->keys + live;
    uint64_t distinct = gloom_estimate_items(filter);
    uint64_t blocks = gloom_num_blocks(filter);
    /* The mix of a service that would find nothing 99 times of 100: one real key to 99 absent ones. */
    uint64_t real = check->absent_asked / 99 + 1;
    uint64_t queries = check->absent_asked + real;
    uint64_t seen = check->absent_hits + real;
    char text[160], one[32], two[32];

    printf("gloom %s, %s\n\n", gloom_version_string(), gloom_simd_level(filter));

    snprintf(text, sizeof text, "from %.80s, by %u threads", keys->name, options->threads);
    row_number("keys", load->keys, text);
    row_number("live keys", live, "added by another thread meanwhile");
    row_number("queries meanwhile", load->queries, "by two more threads");
    row_number("load rate", (uint64_t)((double)load->keys / load->seconds), "keys/s, reading them included");
    if (distinct == UINT64_MAX)
        row("distinct keys", "unknown", "every bit that counts is set");
    else
        row_number("distinct keys", distinct, "estimated from the bits");

    snprintf(text, sizeof text, "%.2f bits per key", (double)blocks * 512 / (double)added);
    row_number("bytes", blocks * 64, text);
    row_number("blocks", blocks, "of 64 bytes, one cache line");
    row_number("k", gloom_k(filter), "bits per key, all in one block");
    row_number("shards", gloom_num_shards(filter), "");

    puts("\nfalse-positive rate");
    row_rate("  asked for", gloom_fp_rate(filter), "");
    row_rate("  predicted", gloom_predict_fp_rate(blocks, gloom_k(filter), added), "for that many keys, if all differ");
    row_rate("  from the bits set", gloom_current_fp_rate(filter), "");
    snprintf(text, sizeof text, "%s of %s keys known to be absent", grouped(check->absent_hits, one),
             grouped(check->absent_asked, two));
    row_rate("  measured", (double)check->absent_hits / (double)check->absent_asked, text);

    puts("");
    snprintf(text, sizeof text, "of %s keys asked again", grouped(check->keys + live, one));
    row_number("false negatives", check->false_negatives + load->lost, text);
    snprintf(one, sizeof one, "%.2f %%", 100.0 * (double)seen / (double)queries);
    snprintf(text, sizeof text, "of the queries, when 99 %% ask for absent keys");
    row("the database sees", one, text);
}

static void answer_queries(const gloom_filter *filter, const struct keys *keys)
{
    bool terminal = isatty(STDIN_FILENO);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    if (terminal)
        puts("\ntype keys, one a line; end with Ctrl-D");
    while ((length = getline(&line, &capacity, stdin)) >= 0) {
        size_t len = (size_t)length;
        if (len > 0 && line[len - 1] == '\n')
            len--;
        len = key_trim(keys, line, len);
        puts(gloom_test(filter, line, len) ? "maybe in the set" : "definitely not");
        fflush(stdout); /* whoever asks through a pipe waits for the answer */
    }
    if (ferror(stdin))
        fail("stdin: %s", strerror(errno));
    free(line);
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv);
    require_matching_library();
    require_good_rate(options.fp_rate);

    struct keys keys = keys_open(options.path, options.null);
    uint64_t expected = options.expect;
    if (expected == 0)
        expected = each_key(&keys, options.threads, "counting", only_count, NULL);
    if (expected == 0)
        fail("%s: no keys in it", keys.name);

    uint64_t live = 1 + expected / 100; /* room for what comes in meanwhile */
    if (expected > UINT64_MAX - live)
        expected = UINT64_MAX - live; /* the library says what its limit is */
    gloom_filter *filter = create(expected + live, options.fp_rate);

    struct load_result loaded = load(filter, &keys, options.threads, live);
    if (loaded.keys == 0)
        fail("%s: no keys in it", keys.name);
    if (options.expect == 0 && loaded.keys != expected)
        fail("%s: changed while it was read", keys.name);

    struct check_result checked =
        check(filter, &keys, options.threads, live, absent_keys_per_key(loaded.keys, options.fp_rate));
    if (checked.keys != loaded.keys)
        fail("%s: changed while it was read", keys.name);
    print_table(filter, &keys, &options, &loaded, live, &checked);

    int result = EXIT_SUCCESS;
    if (checked.false_negatives + loaded.lost > 0) {
        fprintf(stderr, "gloom-demo: the filter lost keys\n");
        result = EXIT_BROKEN_PROMISE;
    }
    if (gloom_count(filter) != loaded.keys + live) {
        fprintf(stderr, "gloom-demo: %" PRIu64 " adds were made, but the filter counted %" PRIu64 "\n",
                loaded.keys + live, gloom_count(filter));
        result = EXIT_BROKEN_PROMISE;
    }
    if (options.query && result == EXIT_SUCCESS)
        answer_queries(filter, &keys);

    gloom_free(filter);
    keys_close(&keys);
    if (fflush(stdout) != 0 || ferror(stdout))
        fail("stdout: %s", strerror(errno));
    return result;
}
