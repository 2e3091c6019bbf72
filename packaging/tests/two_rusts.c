/* Two static libraries written in Rust in one program; each catches its own panics.
 *
 * No argument makes gloom panic, so the system has to: pread64() is wrapped by the linker (--wrap=pread64) and claims to
 * have read more than it was asked for, which the Rust standard library takes for a bug. */
#include <gloom.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int toy_divide(int a, int b);
ssize_t __real_pread64(int file, void *data, size_t size, int64_t at);
ssize_t __wrap_pread64(int file, void *data, size_t size, int64_t at);

static bool lie;

ssize_t __wrap_pread64(int file, void *data, size_t size, int64_t at)
{
    ssize_t n = __real_pread64(file, data, size, at);
    return lie && n > 0 ? (ssize_t)size + 1 : n;
}

#define REQUIRE(condition)                                                      \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);     \
            return 1;                                                           \
        }                                                                       \
    } while (0)

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    gloom_error error = {0};
    gloom_filter *filter = gloom_new_atomic(1000, 0.01);
    REQUIRE(filter && gloom_add(filter, "key", 3) == GLOOM_OK);
    REQUIRE(gloom_save(filter, argv[1], GLOOM_FORMAT_NATIVE, &error) == GLOOM_OK);

    for (int round = 0; round < 3; round++) { /* neither spoils the other's next one */
        REQUIRE(toy_divide(6, 3) == 2);
        REQUIRE(toy_divide(6, 0) == -1);

        gloom_filter *mapped = NULL;
        lie = true;
        gloom_status status = gloom_map(argv[1], 0, &mapped, &error);
        lie = false;
        REQUIRE(status == GLOOM_ERR_PANIC && error.status == GLOOM_ERR_PANIC && mapped == NULL);
        REQUIRE(strlen(error.message) > 0);

        REQUIRE(gloom_map(argv[1], 0, &mapped, &error) == GLOOM_OK);
        REQUIRE(gloom_equal(mapped, filter) && gloom_test(mapped, "key", 3));
        gloom_free(mapped);
    }
    gloom_free(filter);
    return 0;
}
