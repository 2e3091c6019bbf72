/* One filter in a file, in the memory of two processes.
 *
 *   share FILE        makes FILE, which must not exist; ends with 1 if something is not as it should be */
#define _POSIX_C_SOURCE 200809L
#include <gloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "share: %s\n", what);
        exit(1);
    }
}

/* The other process: opens the same file and adds to it. */
static void child(const char *path)
{
    gloom_filter *filter = NULL;
    gloom_error error;
    require(gloom_map(path, GLOOM_MAP_READ_WRITE, &filter, &error) == GLOOM_OK, error.message);
    require(gloom_test(filter, "from the parent", 15), "the child does not see the parent's key");
    require(gloom_add(filter, "from the child", 14) == GLOOM_OK, "the child cannot add");
    gloom_free(filter);
}

int main(int argc, char **argv)
{
    require(argc == 2, "usage: share FILE");
    gloom_options options = GLOOM_OPTIONS_INIT;
    options.expected_items = 100000;
    options.fp_rate = 0.01;
    gloom_filter *filter = NULL;
    gloom_error error;
    require(gloom_map_create(argv[1], &options, &filter, &error) == GLOOM_OK, error.message);
    require(gloom_add(filter, "from the parent", 15) == GLOOM_OK, "the parent cannot add");
    require(!gloom_test(filter, "from the child", 14), "a key is there before it was added");

    pid_t pid = fork();
    require(pid >= 0, "no second process");
    if (pid == 0) {
        child(argv[1]);
        _exit(0);
    }
    int status;
    require(waitpid(pid, &status, 0) == pid && status == 0, "the child failed");
    require(gloom_test(filter, "from the child", 14), "the parent does not see the child's key");
    require(gloom_sync(filter, &error) == GLOOM_OK, error.message);
    gloom_free(filter);

    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    require(gloom_inspect(argv[1], &info, &error) == GLOOM_OK, error.message);
    require(info.count == 2 && !info.dirty, "the closed file is not clean, or not all adds are counted");
    puts("both processes saw each other's key");
    return 0;
}
