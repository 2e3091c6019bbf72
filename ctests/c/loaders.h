/* The ways in which bytes become a filter. What one of them refuses, all must, so tests go through all. */
#ifndef LOADERS_H
#define LOADERS_H

#include "folder.h"
#include "streams.h"

typedef struct {
    const char *name;
    gloom_status (*load)(const unsigned char *bytes, size_t len, const gloom_load_options *options,
                         gloom_filter **out, gloom_error *error);
} loader;

static inline gloom_status load_by_deserialize(const unsigned char *bytes, size_t len,
                                               const gloom_load_options *options, gloom_filter **out,
                                               gloom_error *error)
{
    return gloom_deserialize(bytes, len, options, out, error);
}

/* By pieces of a few bytes up to some hundred. */
static inline gloom_status load_by_read(const unsigned char *bytes, size_t len,
                                        const gloom_load_options *options, gloom_filter **out,
                                        gloom_error *error)
{
    stream in = stream_of(bytes, len);
    in.most = 1 + len % 700;
    in.rng = len;
    gloom_status status = gloom_read(stream_read, &in, options, out, error);
    CHECK_U64(in.odd_calls, 0);
    return status;
}

static inline gloom_status load_by_file(const unsigned char *bytes, size_t len,
                                        const gloom_load_options *options, gloom_filter **out,
                                        gloom_error *error)
{
    write_file(path_of("to-load"), bytes, len);
    gloom_status status = gloom_load(path_of("to-load"), options, out, error);
    CHECK(file_is(path_of("to-load"), bytes, len));
    unlink(path_of("to-load"));
    return status;
}

enum { LOADER_COUNT = 3 };
static const loader LOADERS[LOADER_COUNT] = {
    {"gloom_deserialize", load_by_deserialize},
    {"gloom_read", load_by_read},
    {"gloom_load", load_by_file},
};

#endif
