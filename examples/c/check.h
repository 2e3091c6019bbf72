#ifndef DEMO_CHECK_H
#define DEMO_CHECK_H

#include <stdint.h>

#include "gloom.h"
#include "keys.h"

struct check_result {
    uint64_t keys;            /* of the file, asked again */
    uint64_t false_negatives; /* of the file's and the live keys: must be 0 */
    uint64_t absent_asked;    /* keys known to be absent */
    uint64_t absent_hits;     /* of them "maybe in the set" */
};

/* Asks for every key again, and for each key `absent_per_key` others that are known to be absent. */
struct check_result check(const gloom_filter *filter, const struct keys *keys, unsigned threads, uint64_t live,
                          uint64_t absent_per_key);

#endif
