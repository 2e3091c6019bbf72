#ifndef DEMO_OPTIONS_H
#define DEMO_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_THREADS = 1024 };

struct options {
    const char *path;   /* file of keys, "-" for stdin, NULL for the files below /usr */
    unsigned threads;   /* that load, and later check */
    uint64_t expect;    /* keys to size the filter for; 0: count them first */
    double fp_rate;     /* false-positive rate to ask for; its range is the library's business */
    bool null;          /* keys end with a NUL byte, not with a newline */
    bool query;         /* answer keys typed on stdin at the end */
};

/* Fails (exit code 2) on anything that is not understood; handles --help and --version itself. */
struct options options_parse(int argc, char **argv);

#endif
