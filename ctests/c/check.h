/* Checks that say what they saw. A failed check is counted and the program goes on, so that one run shows all
 * that is wrong; after MAX_FAILURES it stops. `check_report` is what main returns: failed, too, when nothing
 * was checked. */
#ifndef CHECK_H
#define CHECK_H

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gloom.h"

enum { MAX_FAILURES = 20 };

static atomic_ulong checks_made;
static atomic_ulong checks_failed;

/* What a loop is at, printed with a failed check: CONTEXT("k %u", k). */
static _Thread_local char check_context[160];
#define CONTEXT(...) ((void)snprintf(check_context, sizeof check_context, __VA_ARGS__))

static inline int check_report(void)
{
    unsigned long made = atomic_load(&checks_made);
    unsigned long failed = atomic_load(&checks_failed);
    printf("%lu checks, %lu failed\n", made, failed);
    return made == 0 || failed != 0;
}

static inline void check_failed(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    char text[1200];
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s:%d: %s%s%s\n", file, line, text, check_context[0] ? "  at " : "", check_context);
    if (atomic_fetch_add(&checks_failed, 1) + 1 == MAX_FAILURES) {
        fprintf(stderr, "stopped after %d failures\n", MAX_FAILURES);
        exit(check_report());
    }
}

static inline void check_that(bool ok, const char *text, const char *file, int line)
{
    atomic_fetch_add(&checks_made, 1);
    if (!ok)
        check_failed(file, line, "not so: %s", text);
}

static inline void check_u64(uint64_t got, uint64_t want, const char *text, const char *file, int line)
{
    atomic_fetch_add(&checks_made, 1);
    if (got != want)
        check_failed(file, line, "%s is %" PRIu64 " (0x%" PRIx64 "), wanted %" PRIu64 " (0x%" PRIx64 ")",
                     text, got, got, want, want);
}

/* NaN is outside every range, so it fails. */
static inline void check_between(double got, double low, double high, const char *text, const char *file,
                                 int line)
{
    atomic_fetch_add(&checks_made, 1);
    if (!(got >= low && got <= high))
        check_failed(file, line, "%s is %.17g, wanted %.17g to %.17g", text, got, low, high);
}

static inline void check_status(gloom_status got, gloom_status want, const char *text, const char *file,
                                int line)
{
    atomic_fetch_add(&checks_made, 1);
    if (got != want)
        check_failed(file, line, "%s gave %d (%s), wanted %d (%s)", text, (int)got, gloom_status_string(got),
                     (int)want, gloom_status_string(want));
}

static inline void check_has(const char *got, const char *part, const char *file, int line)
{
    atomic_fetch_add(&checks_made, 1);
    if (strstr(got, part) == NULL)
        check_failed(file, line, "\"%s\" does not have \"%s\" in it", got, part);
}

static inline void check_string(const char *got, const char *want, const char *text, const char *file,
                                int line)
{
    atomic_fetch_add(&checks_made, 1);
    if (got == NULL || strcmp(got, want) != 0)
        check_failed(file, line, "%s is \"%s\", wanted \"%s\"", text, got ? got : "(null)", want);
}

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_U64(got, want) check_u64((got), (want), #got, __FILE__, __LINE__)
#define CHECK_F64(got, want) check_between((got), (want), (want), #got, __FILE__, __LINE__)
#define CHECK_BETWEEN(got, low, high) check_between((got), (low), (high), #got, __FILE__, __LINE__)
#define CHECK_STATUS(call, want) check_status((call), (want), #call, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_STATUS(call, GLOOM_OK)
#define CHECK_HAS(got, part) check_has((got), (part), __FILE__, __LINE__)
#define CHECK_STRING(got, want) check_string((got), (want), #got, __FILE__, __LINE__)

/* Without this the program cannot go on. */
#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            check_failed(__FILE__, __LINE__, "cannot go on without: %s", #condition);                        \
            exit(check_report());                                                                            \
        }                                                                                                    \
    } while (0)

#endif
