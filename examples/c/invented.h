#ifndef DEMO_INVENTED_H
#define DEMO_INVENTED_H

#include <stddef.h>
#include <stdint.h>

/* Keys that are in no file. Each contains `end`, the byte that ends the keys of the file, which no key of the
 * file can contain. Live keys begin with it and absent keys do not, so that no absent key is a live key either. */
enum { INVENTED_MAX = 280 };

/* The live key of this number: a key that comes in while the file is still being loaded. Returns its length. */
size_t live_key(char out[INVENTED_MAX], char end, uint64_t number);

/* A key known to be absent: it begins like `like` (which must not be empty or begin with `end`) and is another
 * one for each pair of thread and number. Returns its length. */
size_t absent_key(char out[INVENTED_MAX], char end, const char *like, size_t len, uint32_t thread, uint64_t number);

#endif
