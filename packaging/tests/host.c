/* A program that opens a shared library and closes it again, often: `host LIBRARY plugin`, with plugin_remembers in it;
 * `host LIBRARY gloom`, libgloom.so itself, used by a thread that ends only after the library was closed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define REQUIRE(condition)                                                      \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);     \
            return 1;                                                           \
        }                                                                       \
    } while (0)

enum { ROUNDS = 100 };

static void *symbol(void *library, const char *name)
{
    void *at = dlsym(library, name);
    if (!at)
        fprintf(stderr, "%s\n", dlerror());
    return at;
}

/* A barrier between the thread that uses the library and the one that closes it. */
static pthread_barrier_t used, closed;

static struct {
    void *(*make)(uint64_t, double, uint32_t);
    int32_t (*add)(void *, const void *, size_t);
    bool (*test)(const void *, const void *, size_t);
    void (*free)(void *);
} gloom;

static void *use(void *right)
{
    void *filter = gloom.make(1000, 0.01, 4);
    *(bool *)right = filter && gloom.add(filter, "key", 3) == 0 && gloom.test(filter, "key", 3);
    gloom.free(filter);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed); /* the thread and its thread-local variables end with the library closed */
    return NULL;
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)info, (void)size;
    ++*(int *)count;
    return 0;
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    bool plugin = strcmp(argv[2], "plugin") == 0;
    int after_first = 0;
    pthread_barrier_init(&used, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    for (int round = 0; round < ROUNDS; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            fprintf(stderr, "%s\n", dlerror());
        REQUIRE(library);
        if (plugin) {
            int (*remembers)(const char *);
            *(void **)&remembers = symbol(library, "plugin_remembers");
            REQUIRE(remembers && remembers("key") == 1);
            REQUIRE(dlclose(library) == 0);
        } else {
            bool right = false;
            pthread_t thread;
            *(void **)&gloom.make = symbol(library, "gloom_new_sharded");
            *(void **)&gloom.add = symbol(library, "gloom_add");
            *(void **)&gloom.test = symbol(library, "gloom_test");
            *(void **)&gloom.free = symbol(library, "gloom_free");
            REQUIRE(gloom.make && gloom.add && gloom.test && gloom.free);
            REQUIRE(pthread_create(&thread, NULL, use, &right) == 0);
            pthread_barrier_wait(&used);
            REQUIRE(dlclose(library) == 0);
            pthread_barrier_wait(&closed);
            REQUIRE(pthread_join(thread, NULL) == 0 && right);
        }
        int objects = 0;
        dl_iterate_phdr(count_objects, &objects);
        if (round == 0)
            after_first = objects;
        REQUIRE(objects == after_first); /* nothing piles up */
    }
    return 0;
}
