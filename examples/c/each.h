#ifndef DEMO_EACH_H
#define DEMO_EACH_H

#include <stdint.h>

#include "keys.h"

/* Called for each key, by thread `thread` (from 0). False stops that thread. */
typedef bool (*key_visitor)(void *context, unsigned thread, const char *key, size_t len);

/* Visits all keys from `threads` threads at once while the calling thread shows progress. Returns the number of
 * keys visited. Fails (exit code 2) when the file cannot be read. */
uint64_t each_key(const struct keys *keys, unsigned threads, const char *what, key_visitor visit, void *context);

#endif
