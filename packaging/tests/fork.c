/* A program with threads that use filters forks; the child reads every filter, writes plain and atomic ones, and makes new
 * ones. */
#define _POSIX_C_SOURCE 200809L
#include <gloom.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUIRE(condition)                                                      \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);     \
            return 1;                                                           \
        }                                                                       \
    } while (0)

static gloom_filter *filters[3];
static atomic_bool stop, written;

static void *write_on(void *unused)
{
    for (uint64_t key = 1; !stop; key++) {
        for (int i = 1; i < 3; i++)
            gloom_add(filters[i], &key, sizeof key);
        written = true;
    }
    return unused;
}

static int child(void)
{
    uint64_t key = 0, other = UINT64_MAX;
    for (int i = 0; i < 3; i++)
        REQUIRE(gloom_test(filters[i], &key, sizeof key));
    for (int i = 0; i < 2; i++) {
        REQUIRE(gloom_add(filters[i], &other, sizeof other) == GLOOM_OK);
        REQUIRE(gloom_test(filters[i], &other, sizeof other));
    }
    gloom_filter *copy = NULL, *made = gloom_new_sharded(1000, 0.01, 0);
    REQUIRE(made && gloom_add(made, &other, sizeof other) == GLOOM_OK);
    REQUIRE(gloom_clone(filters[2], &copy, NULL) == GLOOM_OK && gloom_test(copy, &key, sizeof key));
    REQUIRE(gloom_add(copy, &other, sizeof other) == GLOOM_OK);
    gloom_free(copy);
    gloom_free(made);
    for (int i = 0; i < 3; i++)
        gloom_free(filters[i]);
    return 0;
}

int main(void)
{
    uint64_t key = 0;
    filters[0] = gloom_new(100000, 0.01);
    filters[1] = gloom_new_atomic(100000, 0.01);
    filters[2] = gloom_new_sharded(100000, 0.01, 8);
    for (int i = 0; i < 3; i++)
        REQUIRE(filters[i] && gloom_add(filters[i], &key, sizeof key) == GLOOM_OK);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, write_on, NULL) == 0);
    while (!written)
        ;
    for (int round = 0; round < 20; round++) {
        pid_t pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0)
            _exit(child());
        int status;
        REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    }
    stop = true;
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) {
        REQUIRE(gloom_test(filters[i], &key, sizeof key));
        gloom_free(filters[i]);
    }
    return 0;
}
