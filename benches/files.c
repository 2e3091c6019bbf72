/* How long it takes to save, load, map and combine large filters, beside dd and memcpy with the same bytes.
 *
 * usage: files [FOLDER [MEBIBYTES [MEBIBYTES_OPENED]]]    (.  1024  10240)
 *
 * Works in a folder of its own inside FOLDER, which it removes, and takes twice the bytes in memory and three times on
 * the disk; and on the disk also those of a file that is only made and opened. `make bench-files` builds and runs it. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <gloom.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 1024, ROUNDS = 5, KEYS_AT_A_TIME = 1 << 16, BLOCK = 64 };

static char folder[PATH_ROOM], filter_path[2 * PATH_ROOM], dd_path[2 * PATH_ROOM];
static uint64_t bytes;

/* By the clock, and of the processor (which others on the same machine disturb less). */
typedef struct {
    double wall, cpu;
} seconds;

static seconds started;

static void remove_folder(void)
{
    unlink(filter_path);
    unlink(dd_path);
    rmdir(folder);
}

static void require(int is_so, const char *what)
{
    if (!is_so) {
        perror(what);
        exit(1);
    }
}

static void must(gloom_status status, const gloom_error *error)
{
    if (status != GLOOM_OK) {
        fprintf(stderr, "%s: %s\n", gloom_status_string(status), error ? error->message : "");
        exit(1);
    }
}

static double of_processor(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static seconds now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (seconds){(double)time.tv_sec + (double)time.tv_nsec / 1e9,
                     of_processor(RUSAGE_SELF) + of_processor(RUSAGE_CHILDREN)};
}

static void begin(void)
{
    started = now();
}

/* The shortest times of some rounds. */
static void end(seconds *best)
{
    seconds ended = now();
    seconds it = {ended.wall - started.wall, ended.cpu - started.cpu};
    if (best->wall == 0 || it.wall < best->wall)
        best->wall = it.wall;
    if (best->cpu == 0 || it.cpu < best->cpu)
        best->cpu = it.cpu;
}

static void tell(const char *what, seconds best)
{
    printf("%-50s %6.2f s %6.2f GB/s %6.2f s of the processor\n", what, best.wall, (double)bytes / 1e9 / best.wall,
           best.cpu);
}

static void tell_short(const char *what, seconds best)
{
    printf("%-50s %6.2f ms\n", what, best.wall * 1e3);
}

static void run(const char *command)
{
    require(system(command) == 0, command);
}

/* Takes a file out of the page cache. */
static void forget(const char *path)
{
    int file = open(path, O_RDONLY);
    require(file >= 0 && fsync(file) == 0, path);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

static void fill(gloom_filter *filter)
{
    static uint64_t keys[KEYS_AT_A_TIME];
    /* Enough that no page is empty or compresses well; a full one would take longer than all the rest. */
    for (uint64_t key = 0; key < bytes * 8 / 50;) {
        for (size_t i = 0; i < KEYS_AT_A_TIME; i++)
            keys[i] = key++;
        must(gloom_add_batch_fixed(filter, keys, sizeof keys[0], KEYS_AT_A_TIME), NULL);
    }
}

/* What a program does that only wants the bytes in its memory. */
static void read_into_memory(const char *path)
{
    int file = open(path, O_RDONLY);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(file >= 0 && memory != MAP_FAILED, path);
    madvise(memory, bytes, MADV_HUGEPAGE);
    for (uint64_t at = 0; at < bytes;) {
        ssize_t got = read(file, memory + at, bytes - at < 1 << 20 ? bytes - at : 1 << 20);
        require(got > 0, path);
        at += (uint64_t)got;
    }
    munmap(memory, bytes);
    close(file);
}

static gloom_filter *new_filter(int32_t kind)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    gloom_error error = {0};
    options.kind = kind;
    options.num_blocks = bytes / BLOCK;
    options.k = 7;
    must(gloom_create(&options, &filter, &error), &error);
    return filter;
}

/* Into filters whose memory has been touched before and is clear again, so that every block is written. */
static void measure_merge(const gloom_filter *source, int32_t kind, const char *what)
{
    gloom_filter *target = new_filter(kind);
    seconds merge = {0};
    for (int round = 0; round <= ROUNDS; round++) {
        begin();
        must(gloom_merge(target, source, NULL), NULL);
        if (round > 0)
            end(&merge);
        must(gloom_clear(target), NULL);
    }
    tell(what, merge);
    gloom_free(target);
}

static void measure_combining(gloom_filter *filter)
{
    seconds copy = {0}, fresh = {0}, clone = {0}, fold = {0}, intersect = {0};
    gloom_filter *other = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        begin();
        char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        require(memory != MAP_FAILED, "memory");
        madvise(memory, bytes, MADV_HUGEPAGE);
        memcpy(memory, gloom_blocks(filter), bytes);
        end(&fresh);
        begin();
        memcpy(memory, gloom_blocks(filter), bytes);
        end(&copy);
        munmap(memory, bytes);
        begin();
        must(gloom_clone(filter, &other, NULL), NULL);
        end(&clone);
        begin();
        must(gloom_intersect(other, filter, NULL), NULL);
        end(&intersect);
        gloom_free(other);
        begin();
        must(gloom_fold(filter, 2, &other, NULL), NULL);
        end(&fold);
        gloom_free(other);
    }
    tell("memcpy", copy);
    measure_merge(filter, GLOOM_KIND_PLAIN, "gloom_merge, target plain");
    measure_merge(filter, GLOOM_KIND_SHARDED, "gloom_merge, target sharded");
    measure_merge(filter, GLOOM_KIND_ATOMIC, "gloom_merge, target atomic");
    tell("gloom_intersect with itself", intersect);
    tell("memcpy into fresh memory", fresh);
    tell("gloom_clone", clone);
    tell("gloom_fold by 2 (bytes of the source)", fold);
}

static void measure_opening(uint64_t mebibytes)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL, *map = NULL;
    gloom_error error = {0};
    seconds create = {0}, open_map = {0};
    options.num_blocks = (mebibytes << 20) / BLOCK;
    options.k = 7;
    begin();
    must(gloom_map_create(filter_path, &options, &filter, &error), &error);
    end(&create);
    must(gloom_add(filter, "key", 3), NULL);
    for (int round = 0; round < ROUNDS; round++) {
        begin();
        must(gloom_map(filter_path, 0, &map, &error), &error);
        require(gloom_test(map, "key", 3), "the key is there");
        end(&open_map);
        gloom_free(map);
    }
    printf("%" PRIu64 " MiB\n", mebibytes);
    tell_short("gloom_map_create", create);
    tell_short("gloom_map and the first test", open_map);
    gloom_free(filter);
}

static void measure(gloom_filter *filter)
{
    seconds dd = {0}, save = {0}, read_cold = {0}, load_cold = {0}, read_warm = {0}, load_warm = {0};
    seconds map = {0}, first = {0}, first_cold = {0}, verify = {0}, write_map = {0}, write_close = {0};
    char dd_write[5 * PATH_ROOM];
    gloom_error error = {0};
    (void)snprintf(dd_write, sizeof dd_write, "dd if='%s' of='%s' bs=1M conv=fsync 2>/dev/null", filter_path,
                   dd_path);
    for (int round = 0; round < ROUNDS; round++) {
        gloom_filter *loaded = NULL;
        begin();
        must(gloom_save(filter, filter_path, GLOOM_FORMAT_NATIVE, &error), &error);
        end(&save);
        /* The same bytes, which are in the page cache. (Some disks are fast at zeros.) */
        begin();
        run(dd_write);
        end(&dd);

        /* In turn, since the one before leaves memory in another state. */
        for (int i = 0; i < 2; i++) {
            if ((round + i) % 2 == 0) {
                forget(dd_path);
                begin();
                read_into_memory(dd_path);
                end(&read_cold);
            } else {
                forget(filter_path);
                begin();
                must(gloom_load(filter_path, NULL, &loaded, &error), &error);
                end(&load_cold);
                gloom_free(loaded);
            }
        }

        begin();
        read_into_memory(filter_path);
        end(&read_warm);
        begin();
        must(gloom_load(filter_path, NULL, &loaded, &error), &error);
        end(&load_warm);
        gloom_free(loaded);

        forget(filter_path);
        begin();
        must(gloom_map(filter_path, 0, &loaded, &error), &error);
        require(gloom_test(loaded, &(uint64_t){0}, 8), "the key is there");
        end(&first_cold);
        gloom_free(loaded);
        read_into_memory(filter_path);
        begin();
        must(gloom_map(filter_path, 0, &loaded, &error), &error);
        end(&map);
        require(gloom_test(loaded, &(uint64_t){0}, 8), "the key is there");
        end(&first);
        gloom_free(loaded);
        begin();
        must(gloom_map(filter_path, GLOOM_MAP_VERIFY, &loaded, &error), &error);
        end(&verify);
        gloom_free(loaded);

        begin();
        must(gloom_map(filter_path, GLOOM_MAP_READ_WRITE, &loaded, &error), &error);
        end(&write_map);
        must(gloom_add(loaded, "new", 3), NULL);
        begin();
        gloom_free(loaded);
        end(&write_close);
    }
    tell("gloom_save", save);
    tell("dd bs=1M conv=fsync of that file", dd);
    tell("gloom_load, not in the page cache", load_cold);
    tell("read into memory, not in the page cache", read_cold);
    tell("gloom_load, in the page cache", load_warm);
    tell("read into memory, in the page cache", read_warm);
    tell("gloom_map with GLOOM_MAP_VERIFY, in the page cache", verify);
    tell("gloom_free of the last writer, in the page cache", write_close);
    tell_short("gloom_map", map);
    tell_short("gloom_map and the first test", first);
    tell_short("the same, not in the page cache", first_cold);
    tell_short("gloom_map with GLOOM_MAP_READ_WRITE", write_map);
}

int main(int argc, char **argv)
{
    gloom_filter *filter;
    uint64_t opened = argc > 3 ? strtoull(argv[3], NULL, 10) : 10240;
    bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1024) << 20;
    (void)snprintf(folder, sizeof folder, "%s/gloom-files-XXXXXX", argc > 1 ? argv[1] : ".");
    require(mkdtemp(folder) != NULL, folder);
    (void)snprintf(filter_path, sizeof filter_path, "%s/filter", folder);
    (void)snprintf(dd_path, sizeof dd_path, "%s/dd", folder);
    atexit(remove_folder);
    filter = new_filter(0);
    fill(filter);
    printf("%" PRIu64 " MiB; the best of %d rounds\n", bytes >> 20, ROUNDS);
    measure(filter);
    measure_combining(filter);
    gloom_free(filter);
    unlink(filter_path);
    if (opened > 0)
        measure_opening(opened);
    return 0;
}
