#ifndef DEMO_PROGRESS_H
#define DEMO_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Progress on stderr of work that takes longer than a second: one line that is rewritten on a terminal,
 * a line every ten seconds elsewhere. */
struct progress {
    const char *what;
    double next;      /* when to show something again */
    bool terminal;
    bool shown;
};

void progress_begin(struct progress *progress, const char *what);
void progress_bytes(struct progress *progress, uint64_t done, uint64_t total); /* total 0: unknown */
void progress_end(struct progress *progress);

double seconds_now(void); /* of a clock that never jumps */

#endif
