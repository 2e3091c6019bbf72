/* Running out of memory is a status, wherever it happens, and costs nothing that was there before.
 *
 * Linked so that the library's allocations come here first (ld --wrap), where each in turn is refused. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <sys/mman.h>

#include "filters.h"
#include "folder.h"
#include "memory_limit.h"
#include "native.h"
#include "streams.h"

/* -- allocations that can be refused -- */

static bool refusing;       /* only inside a call that is being tried */
static bool refuse_later;   /* all from there on, or only the one */
static long granted_before; /* how many are granted first */
static long asked, refused; /* since try() */

static bool granted(void)
{
    if (!refusing)
        return true;
    long number = asked++;
    bool refuse = refuse_later ? number >= granted_before : number == granted_before;
    refused += refuse;
    errno = refuse ? ENOMEM : errno;
    return !refuse;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);

void *__wrap_malloc(size_t size)
{
    return granted() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return granted() ? __real_calloc(n, size) : NULL;
}

void *__wrap_realloc(void *memory, size_t size)
{
    return granted() ? __real_realloc(memory, size) : NULL;
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    return granted() ? __real_posix_memalign(memory, alignment, size) : ENOMEM;
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    if (granted())
        return __real_mmap(address, size, protection, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static void start_refusing(long after)
{
    granted_before = after;
    asked = refused = 0;
    refusing = true;
}

/* -- calls that allocate -- */

static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)

typedef struct {
    gloom_options options;
    const gloom_filter *source; /* of a clone */
    const unsigned char *file;  /* of a load */
    size_t len;
    int32_t format;
} request;

typedef gloom_status (*maker)(const request *request, gloom_filter **out, gloom_error *error);

static gloom_status create(const request *request, gloom_filter **out, gloom_error *error)
{
    return gloom_create(&request->options, out, error);
}

static gloom_status clone(const request *request, gloom_filter **out, gloom_error *error)
{
    return gloom_clone(request->source, out, error);
}

static gloom_status load(const request *request, gloom_filter **out, gloom_error *error)
{
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    options.kind = request->options.kind;
    options.num_shards = request->options.num_shards;
    return gloom_deserialize(request->file, request->len, &options, out, error);
}

static gloom_status read_stream(const request *request, gloom_filter **out, gloom_error *error)
{
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    stream in = stream_of(request->file, request->len);
    in.most = 10000;
    options.kind = request->options.kind;
    return gloom_read(stream_read, &in, &options, out, error);
}

static gloom_status fold(const request *request, gloom_filter **out, gloom_error *error)
{
    return gloom_fold(request->source, gloom_num_blocks(request->source) % 2 == 0 ? 2 : 1, out, error);
}

/* The files lie in a short path: the standard library of Rust takes memory for paths of 384 bytes and more, and ends
 * the process if there is none. */
#define FILE_PATH path_of("file")

static gloom_status load_file(const request *request, gloom_filter **out, gloom_error *error)
{
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    options.kind = request->options.kind;
    return gloom_load(FILE_PATH, &options, out, error);
}

static gloom_status map(const request *request, gloom_filter **out, gloom_error *error)
{
    (void)request;
    return gloom_map(FILE_PATH, 0, out, error);
}

static gloom_status map_with_options(const request *request, gloom_filter **out, gloom_error *error)
{
    gloom_map_options options = GLOOM_MAP_OPTIONS_INIT;
    options.max_bytes = request->options.num_blocks * BYTES_PER_BLOCK;
    return gloom_map_with_options(FILE_PATH, &options, out, error);
}

static gloom_status map_to_write(const request *request, gloom_filter **out, gloom_error *error)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    (void)request;
    gloom_status status = gloom_map(FILE_PATH, GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY, out, error);
    CHECK_OK(gloom_inspect(FILE_PATH, &info, NULL)); /* which needs no memory */
    CHECK(info.dirty == (status == GLOOM_OK));
    return status;
}

static gloom_status map_new(const request *request, gloom_filter **out, gloom_error *error)
{
    gloom_options options = request->options;
    options.kind = GLOOM_KIND_ATOMIC;
    options.num_shards = 0;
    unlink(path_of("new")); /* of the call that succeeded before */
    gloom_status status = gloom_map_create(path_of("new"), &options, out, error);
    CHECK(exists(path_of("new")) == (status == GLOOM_OK));
    return status;
}

/* Refuses the first allocation of the call, then the second, and so on, until the call needs no more. */
static void refuse_each(maker make, const request *request)
{
    for (int later = 0; later < 2; later++) {
        long n = 0;
        refuse_later = later;
        for (;; n++) {
            gloom_filter *out = NO_FILTER;
            gloom_error error;
            memset(&error, 0x5a, sizeof error);
            start_refusing(n);
            gloom_status status = make(request, &out, &error);
            refusing = false;
            if (refused == 0) {
                CHECK_OK(status);
                CHECK(out != NO_FILTER);
                gloom_free(out);
                break;
            }
            if (status == GLOOM_ERR_IO) /* of a file that cannot be mapped, the system says it */
                CHECK_U64((uint64_t)error.os_error, ENOMEM);
            else
                CHECK_STATUS(status, GLOOM_ERR_OUT_OF_MEMORY);
            CHECK_STATUS(error.status, status);
            CHECK(memchr(error.message, 0, sizeof error.message) != NULL && error.message[0] != 0);
            CHECK(out == NO_FILTER);
        }
        CHECK(n >= 2); /* blocks and handle: they were refused indeed */
    }
}

/* The short forms say NULL. */
static void refuse_each_of_new(void)
{
    /* Up to 12 MB: from the heap and from the system. */
    static const uint64_t items[] = {10, 10000, 10000000};
    refuse_later = true;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        for (int form = 0; form < KIND_COUNT; form++) {
            long n = 0;
            CONTEXT("new, form %d, %" PRIu64 " items", form, items[i]);
            for (;; n++) {
                start_refusing(n);
                gloom_filter *filter = form == 0   ? gloom_new(items[i], 0.01)
                                       : form == 1 ? gloom_new_atomic(items[i], 0.01)
                                                   : gloom_new_sharded(items[i], 0.01, 4);
                refusing = false;
                CHECK((filter != NULL) == (refused == 0));
                gloom_free(filter);
                if (refused == 0)
                    break;
            }
            CHECK(n >= 2);
        }
    }
}

static void making(int32_t kind)
{
    /* From the heap, from the system in small pages, in huge pages. */
    static const uint64_t sizes[] = {1, 1000, 40000, 150000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CONTEXT("kind %d, %" PRIu64 " blocks", (int)kind, sizes[i]);
        gloom_filter *source = make_filter(kind, sizes[i], 7, 0);
        request request = {.options = GLOOM_OPTIONS_INIT, .source = source};
        add_numbers(source, 0, 10);
        unsigned char *file = v1_of(source, &request.len);
        request.file = file;
        request.options.kind = kind;
        request.options.num_blocks = sizes[i];
        request.options.k = 7;
        if (kind == GLOOM_KIND_SHARDED && sizes[i] > 65536)
            request.options.num_shards = 65536; /* the bookkeeping is not small either */
        refuse_each(create, &request);
        refuse_each(clone, &request);
        refuse_each(load, &request);
        refuse_each(fold, &request);
        for (int format = 0; format < FORMAT_COUNT; format++) {
            free(file);
            request.file = file = bytes_of(source, FORMATS[format], &request.len);
            request.format = FORMATS[format];
            CONTEXT("kind %d, %" PRIu64 " blocks, format %d", (int)kind, sizes[i], (int)FORMATS[format]);
            refuse_each(load, &request);
            refuse_each(read_stream, &request);
            write_file(FILE_PATH, request.file, request.len);
            refuse_each(load_file, &request);
            if (FORMATS[format] == GLOOM_FORMAT_NATIVE) {
                refuse_each(map, &request);
                refuse_each(map_with_options, &request);
                refuse_each(map_to_write, &request);
                refuse_each(map_new, &request);
                unlink(path_of("new"));
            }
            CHECK(file_is(FILE_PATH, request.file, request.len)); /* and so clean */
            unlink(FILE_PATH);
        }
        CHECK_U64(numbers_missing(source, 0, 10), 0);
        CHECK_U64(gloom_count(source), 10);
        free(file);
        gloom_free(source);
    }
}

/* A save that cannot have the memory it needs is a status, and leaves the old file. */
static void saving(int32_t format, const char *name)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    uint64_t names = names_in(folder);
    add_numbers(filter, 0, 10);
    write_file(FILE_PATH, "the old file", 12);
    for (int later = 0; later < 2; later++) {
        refuse_later = later;
        for (long n = 0;; n++) {
            gloom_error error;
            const char *path = path_of(name);
            CONTEXT("saving to %.60s, format %d, allocation %ld%s", name, (int)format, n, later ? " on" : "");
            start_refusing(n);
            gloom_status status = gloom_save(filter, path, format, &error);
            refusing = false;
            if (refused == 0) {
                CHECK_OK(status);
                CHECK(!file_is(FILE_PATH, "the old file", 12));
                break;
            }
            CHECK_STATUS(status, GLOOM_ERR_OUT_OF_MEMORY);
            CHECK_STATUS(error.status, GLOOM_ERR_OUT_OF_MEMORY);
            CHECK(file_is(FILE_PATH, "the old file", 12));
            CHECK_U64(names_in(folder), names + 1);
        }
        write_file(FILE_PATH, "the old file", 12);
    }
    unlink(FILE_PATH);
    gloom_free(filter);
}

/* -- calls that do not: all succeed where there is no memory at all -- */

static void using_a_filter(int32_t kind)
{
    gloom_filter *filter = make_filter(kind, 1000, 7, 0);
    gloom_filter *other = make_filter(kind, 1000, 7, 0);
    gloom_filter *mapped = NULL;
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    gloom_error error;
    size_t len, native_len, written = 0;
    unsigned char *file = v1_of(filter, &len), *native = bytes_of(filter, GLOOM_FORMAT_NATIVE, &native_len);
    bool present = true;
    stream out = {.bytes = malloc(2 * native_len), .room = 2 * native_len, .most = 5000};
    write_file(FILE_PATH, native, native_len);
    CHECK_OK(gloom_map(FILE_PATH, GLOOM_MAP_READ_WRITE, &mapped, NULL));
    const char *path = FILE_PATH;
    CONTEXT("kind %d", (int)kind);
    refuse_later = true;
    start_refusing(0);
    gloom_status status[] = {
        gloom_add(filter, "key", 3),
        gloom_test_and_add(filter, "other", 5, &present),
        gloom_add_hash(filter, gloom_hash_key("third", 5, 0)),
        gloom_merge(other, filter, &error),
        gloom_serialize(filter, GLOOM_FORMAT_V1, file, len, &written, &error),
        gloom_merge_serialized(other, file, len, &error),
        gloom_merge_serialized(other, native, native_len, &error),
        gloom_intersect(other, filter, &error),
        gloom_write(filter, GLOOM_FORMAT_NATIVE, stream_write, &out, &error),
        gloom_inspect(path, &info, &error),
        gloom_add(mapped, "key", 3),
        gloom_merge(mapped, filter, &error),
        gloom_sync(mapped, &error),
        gloom_size_for(1000000, 0.001, &sizing, &error),
        gloom_clear(filter),
    };
    bool stale = gloom_is_stale(mapped);
    gloom_free(mapped); /* which writes to the file */
    bool found = gloom_test(other, "key", 3) && gloom_test_hash(other, gloom_hash_key("other", 5, 0)) &&
                 gloom_siphash_key("key", 3, 1).lo != 0 && !gloom_equal(filter, other);
    uint64_t count = gloom_count(other), estimate = gloom_estimate_items(other);
    double rate = gloom_current_fp_rate(other) + gloom_predict_fp_rate(1000, 7, 100);
    /* Nor does an explanation need memory. */
    gloom_status refusal = gloom_size_for(1000000, 1.5, &sizing, &error);
    refusing = false;

    for (size_t i = 0; i < sizeof status / sizeof status[0]; i++)
        CHECK_STATUS(status[i], GLOOM_OK);
    CHECK_U64((uint64_t)asked, 0);
    CHECK(!present && found && !stale);
    CHECK_U64(count, 3);
    CHECK_U64(estimate, 3);
    CHECK_BETWEEN(rate, 0.0, 0.01);
    CHECK_STATUS(refusal, GLOOM_ERR_INVALID_ARGUMENT);
    CHECK_HAS(error.message, "fp_rate");
    CHECK_OK(gloom_map(path, GLOOM_MAP_VERIFY, &mapped, NULL));
    CHECK(gloom_test(mapped, "key", 3) && gloom_test(mapped, "other", 5));
    CHECK_U64(gloom_count(mapped), 4);
    gloom_free(mapped);
    unlink(path);
    free(out.bytes);
    free(native);
    free(file);
    gloom_free(other);
    gloom_free(filter);
}

/* -- and once for real -- */

static void limited_by_the_system(int32_t kind)
{
    static const uint64_t blocks = (uint64_t)1 << 20; /* 64 MiB */
    gloom_filter *filter = make_filter(kind, blocks, 7, 0);
    gloom_filter *out = NO_FILTER;
    gloom_options options = GLOOM_OPTIONS_INIT;
    size_t len;
    CONTEXT("kind %d, limited by the system", (int)kind);
    add_numbers(filter, 0, 100);
    unsigned char *file = v1_of(filter, &len);
    options.kind = kind;
    options.num_blocks = blocks;
    options.k = 7;
    limit_memory((uint64_t)16 << 20);
    gloom_status status[] = {
        gloom_create(&options, &out, NULL),
        gloom_clone(filter, &out, NULL),
        gloom_deserialize(file, len, NULL, &out, NULL),
    };
    unlimit_memory();
    for (size_t i = 0; i < sizeof status / sizeof status[0]; i++)
        CHECK_STATUS(status[i], GLOOM_ERR_OUT_OF_MEMORY);
    CHECK(out == NO_FILTER);

    /* With memory back, all is well again. */
    CHECK_U64(numbers_missing(filter, 0, 100), 0);
    CHECK_OK(gloom_clone(filter, &out, NULL));
    CHECK(gloom_equal(out, filter));
    gloom_free(out);
    gloom_free(filter);
    free(file);
}

int main(void)
{
    make_folder(IN_MEMORY);
    for (int i = 0; i < KIND_COUNT; i++) {
        making(KINDS[i]);
        using_a_filter(KINDS[i]);
        if (CAN_LIMIT_MEMORY)
            limited_by_the_system(KINDS[i]);
    }
    refuse_each_of_new();
    for (int format = 0; format < FORMAT_COUNT; format++) {
        saving(FORMATS[format], "file");
        REQUIRE(symlink("file", path_of("link")) == 0);
        saving(FORMATS[format], "link");
        unlink(path_of("link"));
    }
    CHECK_U64(names_in(folder), 0);
    return check_report();
}
