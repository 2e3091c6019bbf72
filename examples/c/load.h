#ifndef DEMO_LOAD_H
#define DEMO_LOAD_H

#include <stdint.h>

#include "gloom.h"
#include "keys.h"

struct load_result {
    uint64_t keys;    /* loaded from the file */
    uint64_t queries; /* asked meanwhile */
    uint64_t lost;    /* tests that did not see a live key whose add had returned: must be 0 */
    double seconds;
};

/* Loads all keys from `threads` threads. Meanwhile one more thread adds `live` live keys and others query. */
struct load_result load(gloom_filter *filter, const struct keys *keys, unsigned threads, uint64_t live);

#endif
