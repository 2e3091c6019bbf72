#include "check.h"

#include <stdlib.h>

#include "each.h"
#include "fail.h"
#include "invented.h"

struct part { /* of one thread */
    char absent[INVENTED_MAX];
    struct check_result result;
};

struct check {
    const gloom_filter *filter;
    char end;
    uint64_t absent_per_key;
    struct part *parts;
};

static bool check_key(void *context, unsigned thread, const char *key, size_t len)
{
    const struct check *check = context;
    struct part *part = &check->parts[thread];
    struct check_result *result = &part->result;

    result->false_negatives += !gloom_test(check->filter, key, len);
    for (uint64_t i = 0; i < check->absent_per_key; i++) {
        size_t absent_len = absent_key(part->absent, check->end, key, len, thread, result->absent_asked++);
        result->absent_hits += gloom_test(check->filter, part->absent, absent_len);
    }
    return true;
}

struct check_result check(const gloom_filter *filter, const struct keys *keys, unsigned threads, uint64_t live,
                          uint64_t absent_per_key)
{
    struct check check = {.filter = filter, .end = keys->end, .absent_per_key = absent_per_key};
    struct check_result sum = {0};
    char key[INVENTED_MAX];

    check.parts = calloc(threads, sizeof *check.parts);
    if (!check.parts)
        fail("no memory for %u threads", threads);
    sum.keys = each_key(keys, threads, "checking", check_key, &check);
    for (unsigned i = 0; i < threads; i++) {
        sum.false_negatives += check.parts[i].result.false_negatives;
        sum.absent_asked += check.parts[i].result.absent_asked;
        sum.absent_hits += check.parts[i].result.absent_hits;
    }
    free(check.parts);

    for (uint64_t i = 0; i < live; i++)
        sum.false_negatives += !gloom_test(filter, key, live_key(key, keys->end, i));
    return sum;
}
