/* Processes that do what the program tells them, step by step, and count what fails in them. The program defines
 * _DEFAULT_SOURCE before its first #include. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

typedef struct process process;
struct process {
    pid_t id;
    int from, to; /* pipes to the other side, of parent and of child */
    unsigned index;
    uint64_t first, end; /* numbers that it adds */
};

static inline void say(const process *other, uint64_t word)
{
    REQUIRE(write(other->to, &word, sizeof word) == (ssize_t)sizeof word);
}

/* Waits for the other side to say something. */
static inline uint64_t hear(const process *other)
{
    uint64_t word = 0;
    REQUIRE(read(other->from, &word, sizeof word) == (ssize_t)sizeof word);
    return word;
}

/* Waits for just this word. */
static inline void hear_that(const process *other, uint64_t word)
{
    CHECK_U64(hear(other), word);
}

/* Runs `body` in a process of its own. There, it is given the parent's side. */
static inline process start_process(void (*body)(process *parent), process child)
{
    int down[2], up[2];
    REQUIRE(pipe(down) == 0 && pipe(up) == 0);
    fflush(NULL);
    child.id = fork();
    REQUIRE(child.id >= 0);
    if (child.id == 0) {
        atomic_store(&checks_made, 0);
        atomic_store(&checks_failed, 0);
        close(down[1]);
        close(up[0]);
        child.from = down[0];
        child.to = up[1];
        body(&child);
        fflush(NULL);
        _exit(atomic_load(&checks_made) == 0 || atomic_load(&checks_failed) != 0);
    }
    close(down[0]);
    close(up[1]);
    child.from = up[0];
    child.to = down[1];
    return child;
}

/* Waits for the end of a process, in which nothing has failed. */
static inline void end_process(const process *child)
{
    int status = 0;
    REQUIRE(waitpid(child->id, &status, 0) == child->id);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(child->from);
    close(child->to);
}

/* Ends a process that is in the middle of something. */
static inline void kill_process(const process *child)
{
    int status = 0;
    REQUIRE(kill(child->id, SIGKILL) == 0);
    REQUIRE(waitpid(child->id, &status, 0) == child->id);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(child->from);
    close(child->to);
}

/* Runs something in a process of its own: for limits that cannot be taken back. */
static inline void in_a_process(void (*body)(process *parent))
{
    process child = start_process(body, (process){0});
    end_process(&child);
}

#endif
