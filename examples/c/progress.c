#define _DEFAULT_SOURCE
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void progress_begin(struct progress *progress, const char *what)
{
    progress->what = what;
    progress->next = seconds_now() + 1.0;
    progress->terminal = isatty(STDERR_FILENO);
    progress->shown = false;
}

void progress_bytes(struct progress *progress, uint64_t done, uint64_t total)
{
    double now = seconds_now();

    if (now < progress->next)
        return;
    progress->next = now + (progress->terminal ? 0.2 : 10.0);
    progress->shown = true;

    fprintf(stderr, "%s%s: %.1f MB", progress->terminal ? "\r" : "", progress->what, (double)done / 1e6);
    if (total > 0)
        fprintf(stderr, " of %.1f MB (%.0f %%)", (double)total / 1e6, 100.0 * (double)done / (double)total);
    fputs(progress->terminal ? "\033[K" : "\n", stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->terminal && progress->shown)
        fputs("\r\033[K", stderr); /* the results take the place of the progress */
}
