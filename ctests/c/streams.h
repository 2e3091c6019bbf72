/* Streams in memory for gloom_write and gloom_read, which take and bring as little at a time as they like, and
 * fail when they are told to. */
#ifndef STREAMS_H
#define STREAMS_H

#include "check.h"
#include "rng.h"

enum { MOST_ASKED = 65536 };

typedef struct {
    unsigned char *bytes;
    size_t len; /* written so far, or to be read */
    size_t at;  /* read so far */
    size_t room;
    size_t most; /* bytes a call; 0 for what is asked */
    uint64_t rng;
    uint64_t calls;
    uint64_t special_call; /* the number of a call, from 1, that does nothing but return ... */
    int64_t special;       /* ... this */
    uint64_t odd_calls;    /* that asked for nothing or too much */
} stream;

/* As what a special call returns: one more than it was asked for. */
enum { ONE_TOO_MANY = INT32_MAX };

static inline size_t stream_turn(stream *s, size_t len, bool *is_special, int64_t *special)
{
    size_t most = s->most == 0 || s->most > len ? len : s->most;
    s->calls++;
    s->odd_calls += len == 0 || len > MOST_ASKED;
    *is_special = s->calls == s->special_call;
    *special = s->special == ONE_TOO_MANY ? (int64_t)len + 1 : s->special;
    return most == 0 ? 0 : 1 + (size_t)rng_below(&s->rng, most);
}

static inline int64_t stream_write(void *context, const void *data, size_t len)
{
    stream *s = context;
    bool is_special;
    int64_t special;
    size_t n = stream_turn(s, len, &is_special, &special);
    if (is_special)
        return special;
    if (s->most == 0)
        n = len;
    if (s->room - s->len < n) {
        s->room = 2 * s->room + n;
        s->bytes = realloc(s->bytes, s->room);
        REQUIRE(s->bytes != NULL);
    }
    memcpy(s->bytes + s->len, data, n);
    s->len += n;
    return (int64_t)n;
}

/* Scribbles over what it was given beyond what it brings, as it may. */
static inline int64_t stream_read(void *context, void *data, size_t len)
{
    stream *s = context;
    bool is_special;
    int64_t special;
    size_t n = stream_turn(s, len, &is_special, &special);
    memset(data, 0xa5, len);
    if (is_special)
        return special;
    if (s->most == 0)
        n = len;
    if (n > s->len - s->at)
        n = s->len - s->at;
    memcpy(data, s->bytes + s->at, n);
    s->at += n;
    return (int64_t)n;
}

/* A stream of bytes that are somebody else's. */
static inline stream stream_of(const unsigned char *bytes, size_t len)
{
    return (stream){.bytes = (unsigned char *)bytes, .len = len};
}

#endif
