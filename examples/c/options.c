#define _DEFAULT_SOURCE
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "gloom.h"

static const char usage[] =
    "usage: gloom-demo [options] [FILE]\n"
    "\n"
    "Loads the keys of FILE into a Bloom filter from several threads while other threads\n"
    "already insert and query, then checks and shows what the filter does.\n"
    "\n"
    "FILE holds one key a line; the last line needs no newline, a carriage return before a\n"
    "newline is dropped and blank lines are skipped. Any other byte is part of the key.\n"
    "\"-\" reads stdin. Without FILE the keys are the paths of all files below /usr.\n"
    "What cannot be read twice (stdin, pipes) is kept in an unnamed file in $TMPDIR.\n"
    "\n"
    "  -t, --threads N    loader threads (default: one per CPU, at least 2)\n"
    "  -p, --fp-rate P    false-positive rate to size for, between 0 and 1 (default: 0.01)\n"
    "  -n, --expect N     size for N keys instead of counting them first\n"
    "  -0, --null         keys end with a NUL byte, as `find -print0` writes them\n"
    "  -q, --query        afterwards answer keys typed on stdin, one a line\n"
    "  -V, --version      print the version of the library\n"
    "  -h, --help         print this help\n"
    "\n"
    "Exit code: 0 all is well, 1 the filter lost a key, 2 something is missing or wrong.\n";

static const struct option long_options[] = {
    {"threads", required_argument, NULL, 't'},
    {"fp-rate", required_argument, NULL, 'p'},
    {"expect", required_argument, NULL, 'n'},
    {"null", no_argument, NULL, '0'},
    {"query", no_argument, NULL, 'q'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Stricter than strtoull alone, which takes "-1" for a very large number and ignores what follows the digits. */
static uint64_t whole_number(const char *name, const char *text, uint64_t max)
{
    unsigned long long value = 0;
    bool good = isdigit((unsigned char)text[0]);

    if (good) {
        char *end;
        errno = 0;
        value = strtoull(text, &end, 10);
        good = *end == '\0' && errno == 0 && value >= 1 && value <= max;
    }
    if (!good)
        fail("%s: '%s' is not a whole number from 1 to %llu", name, text, (unsigned long long)max);
    return value;
}

static double real_number(const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || isspace((unsigned char)text[0]))
        fail("%s: '%s' is not a number", name, text);
    return value;
}

static unsigned default_threads(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (cpus < 2)
        return 2;
    return cpus > MAX_THREADS ? MAX_THREADS : (unsigned)cpus;
}

struct options options_parse(int argc, char **argv)
{
    struct options options = {.threads = default_threads(), .fp_rate = 0.01};
    int option;

    while ((option = getopt_long(argc, argv, "t:p:n:0qVh", long_options, NULL)) != -1) {
        switch (option) {
        case 't':
            options.threads = (unsigned)whole_number("--threads", optarg, MAX_THREADS);
            break;
        case 'p':
            options.fp_rate = real_number("--fp-rate", optarg);
            break;
        case 'n':
            options.expect = whole_number("--expect", optarg, UINT64_MAX);
            break;
        case '0':
            options.null = true;
            break;
        case 'q':
            options.query = true;
            break;
        case 'V':
            printf("gloom %s\n", gloom_version_string());
            exit(EXIT_SUCCESS);
        case 'h':
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        default: /* getopt_long has named the option */
            fail("try --help");
        }
    }
    if (optind + 1 < argc)
        fail("one file of keys at most, but '%s' follows '%s'", argv[optind + 1], argv[optind]);
    if (optind < argc)
        options.path = argv[optind];
    if (options.query && options.path && strcmp(options.path, "-") == 0)
        fail("--query reads stdin, so the keys cannot come from there too: name a file");
    return options;
}
