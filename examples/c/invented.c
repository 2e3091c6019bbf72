#include "invented.h"

#include <string.h>

enum { MAX_LIKE = 256 }; /* enough to look like the real key, without hashing a long one a million times */

size_t live_key(char out[INVENTED_MAX], char end, uint64_t number)
{
    out[0] = end;
    memcpy(out + 1, &number, sizeof number);
    return 1 + sizeof number;
}

size_t absent_key(char out[INVENTED_MAX], char end, const char *like, size_t len, uint32_t thread, uint64_t number)
{
    if (len > MAX_LIKE)
        len = MAX_LIKE;
    memcpy(out, like, len);
    out[len++] = end;
    memcpy(out + len, &thread, sizeof thread);
    len += sizeof thread;
    memcpy(out + len, &number, sizeof number);
    return len + sizeof number;
}
