/* Filters in streams: exactly the bytes of a filter are written and taken, however little at a time; what a callback
 * says is done; and what is taken from a live filter is whole. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "folder.h"
#include "jobs.h"
#include "native.h"
#include "streams.h"

enum { WATCHDOG_SECONDS = 600 };

static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)

/* However little the callbacks take and bring at a time. */
static void short_writes_and_reads(int32_t format)
{
    static const size_t mosts[] = {1, 2, 3, 7, 64, 100, 4095, 4096, 4097, 65535, 65536, 1 << 20};
    gloom_filter *filter = make_filter(GLOOM_KIND_SHARDED, 700, 9, 0);
    size_t len;
    add_numbers(filter, 0, 4000);
    unsigned char *bytes = bytes_of(filter, format, &len);
    for (size_t i = 0; i < sizeof mosts / sizeof mosts[0]; i++) {
        stream out = {.most = mosts[i], .rng = i};
        CONTEXT("format %d, 1 to %zu bytes a call, seed %zu", (int)format, mosts[i], i);
        CHECK_OK(gloom_write(filter, format, stream_write, &out, NULL));
        CHECK(out.len == len && memcmp(out.bytes, bytes, len) == 0);
        CHECK_U64(out.odd_calls, 0);
        CHECK(mosts[i] > 1 || out.calls == len);

        stream in = {.bytes = out.bytes, .len = len, .most = mosts[i], .rng = i};
        gloom_filter *loaded = NULL;
        CHECK_OK(gloom_read(stream_read, &in, NULL, &loaded, NULL));
        CHECK(gloom_equal(loaded, filter));
        CHECK_U64(in.at, len);
        CHECK_U64(in.odd_calls, 0);
        gloom_free(loaded);
        free(out.bytes);
    }
    free(bytes);
    gloom_free(filter);
    CONTEXT("%s", "");
}

/* Filters of both formats, one behind the other, with something else between. */
static void something_follows_in_the_stream(void)
{
    enum { FILTERS = 12 };
    static const char between[] = "not a filter";
    gloom_filter *filters[FILTERS];
    stream s = {.most = 5000, .rng = 20250101};
    for (int i = 0; i < FILTERS; i++) {
        filters[i] = make_filter(KINDS[i % KIND_COUNT], 1 + (uint64_t)i * 90, 5, 0);
        add_numbers(filters[i], 0, 100 * (uint64_t)i);
        CHECK_OK(gloom_write(filters[i], FORMATS[i / 2 % 2], stream_write, &s, NULL));
        if (i % 3 == 0)
            for (size_t written = 0; written < sizeof between;)
                written += (size_t)stream_write(&s, between + written, sizeof between - written);
    }
    for (int i = 0; i < FILTERS; i++) {
        gloom_filter *loaded = NULL;
        CONTEXT("filter %d of the stream", i);
        CHECK_OK(gloom_read(stream_read, &s, NULL, &loaded, NULL));
        CHECK(gloom_equal(loaded, filters[i]));
        CHECK_U64(gloom_count(loaded), 100 * (uint64_t)i);
        if (i % 3 == 0) {
            REQUIRE(s.at + sizeof between <= s.len);
            CHECK(memcmp(s.bytes + s.at, between, sizeof between) == 0);
            s.at += sizeof between;
        }
        gloom_free(loaded);
        gloom_free(filters[i]);
    }
    CHECK_U64(s.at, s.len);
    /* And then there is no more. */
    gloom_filter *loaded = NO_FILTER;
    CHECK_STATUS(gloom_read(stream_read, &s, NULL, &loaded, NULL), GLOOM_ERR_CORRUPT);
    CHECK(loaded == NO_FILTER);
    free(s.bytes);
    CONTEXT("%s", "");
}

/* What a callback may return that is no number of bytes. */
static const struct {
    int64_t result;
    gloom_status write, read;
    int32_t os_error;
    const char *message;
} SPECIAL_RESULTS[] = {
    {-1, GLOOM_ERR_CANCELLED, GLOOM_ERR_CANCELLED, 0, "callback"},
    {-ENOSPC, GLOOM_ERR_IO, GLOOM_ERR_IO, ENOSPC, "callback"},
    {-EPIPE, GLOOM_ERR_IO, GLOOM_ERR_IO, EPIPE, "callback"},
    {-2, GLOOM_ERR_IO, GLOOM_ERR_IO, 2, "callback"},
    {-(int64_t)INT32_MAX, GLOOM_ERR_IO, GLOOM_ERR_IO, INT32_MAX, "callback"},
    {-(int64_t)INT32_MAX - 1, GLOOM_ERR_IO, GLOOM_ERR_IO, 0, "callback"},
    {INT64_MIN, GLOOM_ERR_IO, GLOOM_ERR_IO, 0, "callback"},
    {0, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_CORRUPT, 0, ""},
    {ONE_TOO_MANY, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_INVALID_ARGUMENT, 0, "callback"},
    {INT64_MAX, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_INVALID_ARGUMENT, 0, "9223372036854775807"},
    {(int64_t)UINT32_MAX + 1, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_INVALID_ARGUMENT, 0, "4294967296"},
};

/* At every call in turn. Nothing is called any more after that, and nothing is given out. */
static void callbacks_that_stop(int32_t format, size_t most)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 600, 7, 0);
    add_numbers(filter, 0, 1000);
    filter_state before = state_of(filter);
    for (size_t i = 0; i < sizeof SPECIAL_RESULTS / sizeof SPECIAL_RESULTS[0]; i++) {
        gloom_status status = GLOOM_ERR_NULL;
        uint64_t call = 1;
        for (;; call++) {
            stream out = {.most = most, .rng = 5, .special_call = call, .special = SPECIAL_RESULTS[i].result};
            gloom_error error;
            CONTEXT("format %d, most %zu, write call %" PRIu64 " returns %" PRId64, (int)format, most, call,
                    SPECIAL_RESULTS[i].result);
            status = gloom_write(filter, format, stream_write, &out, &error);
            free(out.bytes);
            if (out.calls < call)
                break;
            CHECK_STATUS(status, SPECIAL_RESULTS[i].write);
            CHECK_U64(out.calls, call);
            CHECK_STATUS(error.status, status);
            CHECK_U64((uint64_t)error.os_error, (uint64_t)SPECIAL_RESULTS[i].os_error);
            CHECK_HAS(error.message, SPECIAL_RESULTS[i].message);
        }
        CHECK_OK(status);
        CHECK(call > 3);

        size_t len;
        unsigned char *bytes = bytes_of(filter, format, &len);
        for (call = 1;; call++) {
            stream in = {.bytes = bytes, .len = len, .most = most, .rng = 5, .special_call = call};
            gloom_filter *loaded = NO_FILTER;
            gloom_error error;
            CONTEXT("format %d, most %zu, read call %" PRIu64 " returns %" PRId64, (int)format, most, call,
                    SPECIAL_RESULTS[i].result);
            in.special = SPECIAL_RESULTS[i].result;
            status = gloom_read(stream_read, &in, NULL, &loaded, &error);
            if (in.calls < call) {
                CHECK_OK(status);
                CHECK(gloom_equal(loaded, filter));
                gloom_free(loaded);
                break;
            }
            CHECK_STATUS(status, SPECIAL_RESULTS[i].read);
            CHECK_U64(in.calls, call);
            CHECK(loaded == NO_FILTER);
            CHECK_STATUS(error.status, status);
            CHECK_U64((uint64_t)error.os_error, (uint64_t)SPECIAL_RESULTS[i].os_error);
            CHECK_HAS(error.message, SPECIAL_RESULTS[i].message);
        }
        CHECK(call > 3);
        free(bytes);
    }
    CHECK(is_still(filter, before));
    gloom_free(filter);
    CONTEXT("%s", "");
}

/* -- while others add -- */

enum { KEYS_PER_THREAD = 30000 };

/* Streams and saves again and again; what comes out loads, so its checksums are right, and holds every key whose add
 * had returned before. */
static void taker(job *self)
{
    int32_t format = FORMATS[self->index % FORMAT_COUNT];
    char name[32];
    (void)snprintf(name, sizeof name, "live-%u", self->index);
    const char *path = path_of(name);
    bool last;
    do {
        uint64_t added[THREADS];
        gloom_filter *loaded = NULL;
        last = atomic_load(&writers_left) == 0;
        read_progress(added);
        if (self->index < 2) {
            stream s = {.most = 40000, .rng = self->index};
            self->bad += gloom_write(self->filter, format, stream_write, &s, NULL) != GLOOM_OK;
            self->bad += gloom_read(stream_read, &s, NULL, &loaded, NULL) != GLOOM_OK;
            free(s.bytes);
        } else {
            self->bad += gloom_save(self->filter, path, format, NULL) != GLOOM_OK;
            self->bad += gloom_load(path, NULL, &loaded, NULL) != GLOOM_OK;
        }
        REQUIRE(loaded != NULL);
        self->bad += missing_of(loaded, added, KEYS_PER_THREAD);
        gloom_free(loaded);
    } while (!last);
    unlink(path);
}

static void live_filters(int32_t kind)
{
    enum { TAKERS = 4 };
    job jobs[THREADS + TAKERS];
    gloom_filter *filter = make_filter(kind, 20000, 7, 0);
    CONTEXT("live, kind %d", (int)kind);
    reset_progress(THREADS);
    share_out(jobs, THREADS, reporting_adder, filter, KEYS_PER_THREAD);
    for (unsigned i = 0; i < TAKERS; i++)
        jobs[THREADS + i] = (job){.body = taker, .filter = filter, .index = i};
    run(jobs, THREADS + TAKERS);
    CHECK_U64(sum_of_bad(jobs, THREADS + TAKERS), 0);
    CHECK_U64(gloom_count(filter), THREADS * KEYS_PER_THREAD);
    gloom_free(filter);
    CONTEXT("%s", "");
}

int main(void)
{
    alarm(WATCHDOG_SECONDS); /* a wait that does not end ends the program */
    make_folder(IN_MEMORY);
    for (int format = 0; format < FORMAT_COUNT; format++) {
        short_writes_and_reads(FORMATS[format]);
        callbacks_that_stop(FORMATS[format], 0);
        callbacks_that_stop(FORMATS[format], 9000);
    }
    something_follows_in_the_stream();
    live_filters(GLOOM_KIND_ATOMIC);
    live_filters(GLOOM_KIND_SHARDED);
    return check_report();
}
