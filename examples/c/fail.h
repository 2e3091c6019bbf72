#ifndef DEMO_FAIL_H
#define DEMO_FAIL_H

/* Exit codes: 0 all is well, 1 the filter broke a promise, 2 the demo was not given what it needs. */
enum { EXIT_BROKEN_PROMISE = 1, EXIT_USAGE = 2 };

/* Says what is wrong on stderr and exits with EXIT_USAGE. Only for the main thread. */
_Noreturn void fail(const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#endif
