/* Filters used in place, by threads and by processes: what one adds all see, no key is lost, a file that anybody has
 * open for writing is dirty, and one that the last writer has closed is clean, verified and counted.
 *
 *   maps [rounds]   of the races */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "filters.h"
#include "folder.h"
#include "jobs.h"
#include "memory_limit.h"
#include "native.h"
#include "processes.h"

enum { WATCHDOG_SECONDS = 600 };

static char no_filter;
#define NO_FILTER ((gloom_filter *)&no_filter)
#define PATH path_of("map")

static gloom_filter *create_map(uint64_t num_blocks, uint64_t seed)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    gloom_error error;
    options.num_blocks = num_blocks;
    options.k = 7;
    options.seed = seed;
    gloom_status status = gloom_map_create(PATH, &options, &filter, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "gloom_map_create: %s\n", error.message);
    REQUIRE(status == GLOOM_OK && filter != NULL);
    return filter;
}

static gloom_filter *open_map(uint32_t flags)
{
    gloom_filter *filter = NULL;
    gloom_error error;
    gloom_status status = gloom_map(PATH, flags, &filter, &error);
    if (status != GLOOM_OK)
        fprintf(stderr, "gloom_map: %s\n", error.message);
    REQUIRE(status == GLOOM_OK && filter != NULL);
    return filter;
}

static bool is_dirty(void)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    CHECK_OK(gloom_inspect(PATH, &info, NULL));
    return info.dirty != 0;
}

/* The file is clean, its checksums are right, it holds the numbers below `end` and counts so many adds. */
static void check_closed(uint64_t end, uint64_t count)
{
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    CHECK_OK(gloom_inspect(PATH, &info, NULL));
    CHECK_U64(info.dirty, 0);
    CHECK_U64(info.count, count);
    gloom_filter *verified = open_map(GLOOM_MAP_VERIFY), *loaded = NULL;
    CHECK_U64(numbers_missing(verified, 0, end), 0);
    CHECK_U64(gloom_count(verified), count);
    CHECK_OK(gloom_load(PATH, NULL, &loaded, NULL));
    CHECK(gloom_equal(loaded, verified));
    CHECK_U64(gloom_count(loaded), count);
    gloom_filter *plain = make_filter(GLOOM_KIND_PLAIN, info.num_blocks, info.k, info.seed);
    add_numbers(plain, 0, end);
    CHECK(gloom_equal(verified, plain));
    gloom_free(plain);
    gloom_free(loaded);
    gloom_free(verified);
}

/* -- making -- */

static void created_once(void)
{
    gloom_filter *filter = create_map(1000, 99), *out = NO_FILTER;
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_error error;
    size_t len;
    options.num_blocks = 10;
    options.k = 5;
    CHECK_U64(gloom_num_blocks(filter), 1000);
    CHECK_U64(gloom_k(filter), 7);
    CHECK_U64(gloom_seed(filter), 99);
    CHECK_U64((uint64_t)gloom_kind_of(filter), GLOOM_KIND_ATOMIC);
    CHECK_U64(gloom_num_shards(filter), 1);
    CHECK_U64(gloom_count(filter), 0);
    CHECK_U64(bits_set(filter), 0);
    CHECK(gloom_is_mapped(filter) && !gloom_is_read_only(filter));
    CHECK_U64((uint64_t)(uintptr_t)gloom_blocks(filter) % 64, 0);
    CHECK(is_dirty());
    CHECK_U64((uint64_t)status_of(PATH).st_size, native_size(1000));
    CHECK((uint64_t)status_of(PATH).st_blocks * 512 >= native_size(1000)); /* taken, not promised */
    add_numbers(filter, 0, 50);

    /* Nobody makes it again, be it open ... */
    unsigned char *before = read_file(PATH, &len);
    CHECK_STATUS(gloom_map_create(PATH, &options, &out, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EEXIST);
    CHECK(file_is(PATH, before, len));
    free(before);
    CHECK_U64(numbers_missing(filter, 0, 50), 0);
    gloom_free(filter);
    check_closed(50, 50);

    /* ... or closed, or something else. */
    before = read_file(PATH, &len);
    CHECK_STATUS(gloom_map_create(PATH, &options, &out, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EEXIST);
    CHECK(file_is(PATH, before, len));
    free(before);
    unlink(PATH);
    REQUIRE(symlink("nowhere", PATH) == 0);
    CHECK_STATUS(gloom_map_create(PATH, &options, &out, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EEXIST);
    unlink(PATH);
    CHECK_STATUS(gloom_map_create(folder, &options, &out, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EEXIST);
    CHECK_STATUS(gloom_map_create(path_of("missing/map"), &options, &out, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, ENOENT);
    CHECK_STATUS(gloom_map_create("", &options, &out, &error), GLOOM_ERR_IO);
    CHECK(out == NO_FILTER);
    CHECK_U64(names_in(folder), 0);
}

/* What is refused leaves no file. */
static void not_created(void)
{
    static const struct {
        int32_t kind;
        uint32_t flags, k, num_shards;
        uint64_t num_blocks, max_bytes, block_multiple;
        gloom_status want;
        const char *name;
    } cases[] = {
        {GLOOM_KIND_PLAIN, 0, 7, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "kind"},
        {GLOOM_KIND_SHARDED, 0, 7, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "kind"},
        {GLOOM_KIND_SHARDED, 0, 7, 2, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "kind"},
        {4, 0, 7, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "kind"},
        {0, GLOOM_FLAG_SIPHASH, 7, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "seed"},
        {0, GLOOM_FLAG_SPECIAL_FILES, 7, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "flags"},
        {0, 8, 7, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "flags"},
        {0, 0, 2, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "k"},
        {0, 0, 0, 0, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "k"},
        {0, 0, 7, 0, 0, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "num_blocks"},
        {0, 0, 7, 2, 10, 0, 0, GLOOM_ERR_INVALID_ARGUMENT, "num_shards"},
        {0, 0, 7, 0, 10, 639, 0, GLOOM_ERR_LIMIT, "640"},
        {0, 0, 7, 0, 10, 640, 11, GLOOM_ERR_LIMIT, "704"},
        {0, 0, 7, 0, (uint64_t)1 << 57, 0, 0, GLOOM_ERR_LIMIT, ""},
        {0, 0, 7, 0, UINT64_MAX, 0, 0, GLOOM_ERR_LIMIT, ""},
        {0, 0, 7, 0, ((uint64_t)1 << 57) - 1, 0, 0, GLOOM_ERR_IO, ""}, /* a disk of 2^63 bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gloom_options options = GLOOM_OPTIONS_INIT;
        gloom_filter *out = NO_FILTER;
        gloom_error error;
        CONTEXT("case %zu", i);
        options.kind = cases[i].kind;
        options.flags = cases[i].flags;
        options.k = cases[i].k;
        options.num_shards = cases[i].num_shards;
        options.num_blocks = cases[i].num_blocks;
        options.max_bytes = cases[i].max_bytes;
        options.block_multiple = cases[i].block_multiple;
        gloom_status status = gloom_map_create(PATH, &options, &out, &error);
        CHECK(status == cases[i].want || (cases[i].want == GLOOM_ERR_IO && status == GLOOM_ERR_LIMIT));
        CHECK_HAS(error.message, cases[i].name);
        CHECK(out == NO_FILTER);
        CHECK(!exists(PATH));
    }
    CONTEXT("%s", "");

    /* What gloom_create takes, this does: a rate, rounding, a limit that is met exactly. */
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    CHECK_OK(gloom_size_for(5000, 0.001, &sizing, NULL));
    options.kind = GLOOM_KIND_ATOMIC;
    options.expected_items = 5000;
    options.fp_rate = 0.001;
    options.block_multiple = 60;
    options.max_bytes = (sizing.num_blocks + 59) / 60 * 60 * BYTES_PER_BLOCK;
    CHECK_OK(gloom_map_create(PATH, &options, &filter, NULL));
    CHECK_U64(gloom_num_blocks(filter) * BYTES_PER_BLOCK, options.max_bytes);
    CHECK_U64(gloom_expected_items(filter), 5000);
    CHECK_F64(gloom_fp_rate(filter), 0.001);
    add_numbers(filter, 0, 5000);
    gloom_free(filter);
    filter = open_map(GLOOM_MAP_VERIFY);
    CHECK_U64(gloom_expected_items(filter), 5000);
    CHECK_F64(gloom_fp_rate(filter), 0.001);
    gloom_free(filter);
    check_closed(5000, 5000);
    unlink(PATH);
}

/* A disk, or an address space, that is full. */
static void no_room(process *parent)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *out = NO_FILTER;
    gloom_error error;
    struct rlimit limit;
    (void)parent;
    options.num_blocks = 1 << 18; /* 16 MiB */
    options.k = 7;
    REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = 1 << 20;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_STATUS(gloom_map_create(PATH, &options, &out, &error), GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, EFBIG);
    CHECK(out == NO_FILTER);
    CHECK_U64(names_in(folder), 0);
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    if (!CAN_LIMIT_MEMORY)
        return;

    limit_memory(4 << 20);
    gloom_status status = gloom_map_create(PATH, &options, &out, &error);
    unlimit_memory();
    CHECK_STATUS(status, GLOOM_ERR_IO);
    CHECK_U64((uint64_t)error.os_error, ENOMEM);
    CHECK(out == NO_FILTER);
    CHECK_U64(names_in(folder), 0);

    /* Opening one that does not fit leaves it clean. */
    gloom_filter *filter = NULL;
    CHECK_OK(gloom_map_create(PATH, &options, &filter, &error));
    gloom_free(filter);
    for (uint32_t flags = 0; flags < 4; flags++) {
        limit_memory(4 << 20);
        status = gloom_map(PATH, flags, &out, &error);
        unlimit_memory();
        CHECK_STATUS(status, GLOOM_ERR_IO);
        CHECK_U64((uint64_t)error.os_error, ENOMEM);
        CHECK(out == NO_FILTER);
        CHECK(!is_dirty());
    }
    unlink(PATH);
}

/* -- several at once -- */

enum { STEPS = 20, KEYS_PER_STEP = 500, READERS = 3 };

static void reader(process *parent)
{
    gloom_filter *filter = open_map(0);
    CHECK(gloom_is_mapped(filter) && gloom_is_read_only(filter));
    say(parent, 0);
    for (uint64_t end = hear(parent); end != 0; end = hear(parent)) {
        CHECK_U64(numbers_missing(filter, 0, end), 0);
        CHECK(numbers_missing(filter, 1 << 20, (1 << 20) + 100) > 0);
        say(parent, end);
    }
    gloom_free(filter);
}

/* What the writer has added, processes that only read see at once. */
static void readers_see_adds(void)
{
    process readers[READERS];
    gloom_filter *filter = create_map(3000, 0);
    for (int i = 0; i < READERS; i++) {
        readers[i] = start_process(reader, (process){0});
        hear_that(&readers[i], 0);
    }
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint64_t end = step * KEYS_PER_STEP;
        add_numbers(filter, end - KEYS_PER_STEP, end);
        for (int i = 0; i < READERS; i++)
            say(&readers[i], end);
        for (int i = 0; i < READERS; i++)
            hear_that(&readers[i], end);
    }
    for (int i = 0; i < READERS; i++) {
        say(&readers[i], 0);
        end_process(&readers[i]);
    }
    CHECK(is_dirty());
    gloom_free(filter);
    check_closed(STEPS * KEYS_PER_STEP, STEPS * KEYS_PER_STEP);
    unlink(PATH);
}

enum { OPENED = 1, GO, ADDED, CLOSE, CLOSED, END };

static void writer(process *parent)
{
    gloom_filter *filter = open_map(GLOOM_MAP_READ_WRITE);
    say(parent, OPENED);
    hear_that(parent, GO);
    add_numbers(filter, parent->first, parent->end);
    CHECK_OK(gloom_sync(filter, NULL));
    say(parent, ADDED);
    hear_that(parent, CLOSE);
    gloom_free(filter);
    say(parent, CLOSED);
    hear_that(parent, END);
}

/* Processes add to the same few blocks at the same time. Dirty for as long as one of them has the file open, whoever of
 * them it is; counted exactly when all have closed it. */
static void processes_that_write(uint64_t num_blocks, uint64_t each, bool creator_stays)
{
    enum { WRITERS = 4 };
    process writers[WRITERS];
    CONTEXT("%" PRIu64 " blocks, %" PRIu64 " keys each, creator stays %d", num_blocks, each, creator_stays);
    gloom_filter *filter = create_map(num_blocks, 0);
    if (!creator_stays)
        gloom_free(filter);
    for (unsigned i = 0; i < WRITERS; i++)
        writers[i] = start_process(writer, (process){.index = i, .first = i * each, .end = (i + 1) * each});
    for (unsigned i = 0; i < WRITERS; i++)
        hear_that(&writers[i], OPENED);
    for (unsigned i = 0; i < WRITERS; i++)
        say(&writers[i], GO);
    if (creator_stays)
        add_numbers(filter, WRITERS * each, (WRITERS + 1) * each);
    for (unsigned i = 0; i < WRITERS; i++)
        hear_that(&writers[i], ADDED);
    uint64_t all = (creator_stays ? WRITERS + 1 : WRITERS) * each;
    gloom_filter *reader = open_map(0);
    CHECK_U64(numbers_missing(reader, 0, all), 0);
    for (unsigned i = 0; i < WRITERS; i++) {
        unsigned turn = i * 3 % WRITERS;
        CHECK(is_dirty());
        say(&writers[turn], CLOSE);
        hear_that(&writers[turn], CLOSED);
        CHECK_U64(gloom_count(reader), (i + 1) * each); /* of those that have closed it */
    }
    if (creator_stays) {
        CHECK(is_dirty());
        CHECK_U64(gloom_count(filter), all);
        gloom_free(filter);
    }
    CHECK_U64(gloom_count(reader), all);
    gloom_free(reader);
    check_closed(all, all);
    for (unsigned i = 0; i < WRITERS; i++) {
        say(&writers[i], END);
        end_process(&writers[i]);
    }
    unlink(PATH);
    CONTEXT("%s", "");
}

static atomic_uint still_adding;

static void opener(job *self)
{
    gloom_filter *filter = NULL;
    self->bad += gloom_map(PATH, GLOOM_MAP_READ_WRITE, &filter, NULL) != GLOOM_OK;
    REQUIRE(filter != NULL);
    for (uint64_t i = self->first; i < self->end; i++)
        self->bad += add_number(filter, i) != GLOOM_OK;
    self->bad += numbers_missing(filter, self->first, self->end);
    atomic_fetch_sub(&still_adding, 1);
    while (atomic_load(&still_adding) != 0)
        if (self->other != NULL) /* not so exactly */
            sched_yield();
    gloom_free(filter);
}

/* Two or more have the file open, each by a map of its own, and close it at the same moment: whoever turns out to be
 * the last cleans up, and nobody's adds are miscounted. */
static void all_close_at_once(uint64_t rounds)
{
    enum { EACH = 20 };
    job jobs[THREADS];
    gloom_free(create_map(300, 0));
    uint64_t dirty = 0, miscounted = 0, bad = 0, count = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        gloom_file_info info = GLOOM_FILE_INFO_INIT;
        unsigned threads = round % 4 == 0 ? THREADS : 2;
        share_out(jobs, threads, opener, NULL, EACH);
        for (unsigned i = 0; i < threads; i++)
            jobs[i].other = threads > 2 ? NO_FILTER : NULL;
        atomic_store(&still_adding, threads);
        run(jobs, threads);
        count += threads * EACH;
        bad += sum_of_bad(jobs, threads);
        CHECK_OK(gloom_inspect(PATH, &info, NULL));
        dirty += info.dirty;
        miscounted += info.count != count;
        if (info.dirty || info.count != count) {
            fprintf(stderr, "round %" PRIu64 ", %u threads: dirty %u, count %" PRIu64 " of %" PRIu64 "\n", round,
                    threads, info.dirty, info.count, count);
            break;
        }
    }
    CHECK_U64(bad, 0);
    CHECK_U64(dirty, 0);
    CHECK_U64(miscounted, 0);
    check_closed(THREADS * EACH, count);
    unlink(PATH);
}

/* -- killed -- */

static void writer_to_be_killed(process *parent)
{
    gloom_filter *filter = open_map(GLOOM_MAP_READ_WRITE);
    add_numbers(filter, parent->first, parent->end);
    say(parent, ADDED);
    hear_that(parent, END); /* which is never said */
    gloom_free(filter);
}

/* The system keeps what a process wrote before it was killed: no bit is lost. */
static void killed_writers(void)
{
    gloom_free(create_map(2000, 0));
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t first = round * 1000, end = first + 1000;
        process child = start_process(writer_to_be_killed, (process){.first = first, .end = end});
        CONTEXT("killed, round %" PRIu64, round);
        hear_that(&child, ADDED);
        kill_process(&child);
        CHECK(is_dirty());

        gloom_filter *reader = open_map(round == 1 ? GLOOM_MAP_VERIFY : 0), *loaded = NULL;
        CHECK_U64(numbers_missing(reader, 0, end), 0);
        gloom_free(reader);
        CHECK(is_dirty());
        CHECK_OK(gloom_load(PATH, NULL, &loaded, NULL));
        CHECK_U64(numbers_missing(loaded, 0, end), 0);
        gloom_free(loaded);

        /* The next writer needs no permission, and its close sets everything right but the count, from which the
         * killed one's adds are missing. */
        gloom_filter *next = open_map(GLOOM_MAP_READ_WRITE);
        CHECK_U64(numbers_missing(next, 0, end), 0);
        CHECK_OK(add_number(next, 0));
        gloom_free(next);
        check_closed(end, round + 1);
    }
    unlink(PATH);

    /* Killed while another one writes, who then closes. */
    gloom_filter *filter = create_map(2000, 0);
    process child = start_process(writer_to_be_killed, (process){.first = 0, .end = 1000});
    hear_that(&child, ADDED);
    kill_process(&child);
    CHECK_U64(numbers_missing(filter, 0, 1000), 0);
    add_numbers(filter, 1000, 2000);
    gloom_free(filter);
    check_closed(2000, 1000);
    unlink(PATH);
    CONTEXT("%s", "");
}

/* -- sync -- */

static void syncing(void)
{
    gloom_filter *memory = make_filter(GLOOM_KIND_ATOMIC, 10, 7, 0);
    gloom_error error;
    CHECK_STATUS(gloom_sync(memory, &error), GLOOM_ERR_INVALID_ARGUMENT);
    CHECK_HAS(error.message, "filter");
    gloom_filter *filter = create_map(1000, 0);
    CHECK_OK(gloom_sync(filter, &error));
    add_numbers(filter, 0, 100);
    CHECK_OK(gloom_sync(filter, NULL));
    CHECK(is_dirty()); /* only a close says that all is well */
    gloom_filter *reader = open_map(0);
    CHECK_STATUS(gloom_sync(reader, &error), GLOOM_ERR_READ_ONLY);
    gloom_free(reader);
    gloom_free(filter);
    check_closed(100, 100);
    gloom_free(memory);
    unlink(PATH);
}

/* -- read-only -- */

static void writes_are_refused(void)
{
    static const int32_t offsets32[] = {0, 3};
    static const int64_t offsets64[] = {0, 3};
    static const void *const keys[] = {"new"};
    static const size_t lens[] = {3};
    gloom_filter *filter = create_map(100, 0), *other = make_filter(GLOOM_KIND_PLAIN, 100, 7, 0);
    gloom_error error;
    size_t len, other_len;
    bool was_present[2] = {false, true};
    add_numbers(filter, 0, 100);
    add_numbers(other, 100, 200);
    gloom_free(filter);
    unsigned char *before = read_file(PATH, &len);
    unsigned char *bytes = bytes_of(other, GLOOM_FORMAT_V1, &other_len);
    gloom_hash hash = gloom_hash_key("new", 3, 0);

    filter = open_map(0);
    CHECK(gloom_is_read_only(filter) && gloom_is_mapped(filter));
    filter_state state = state_of(filter);
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(gloom_add(filter, "new", 3), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_add(filter, NULL, 0), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_test_and_add(filter, "new", 3, &was_present[again]), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_test_and_add(filter, "new", 3, NULL), GLOOM_ERR_READ_ONLY);
        CHECK(was_present[again] == (again == 1));
        CHECK_STATUS(gloom_add_hash(filter, hash), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_note_adds(filter, 1), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_add_batch_fixed(filter, "new", 3, 1), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_add_batch_offsets32(filter, "new", 3, offsets32, 1), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_add_batch_offsets64(filter, "new", 3, offsets64, 1), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_add_batch_pointers(filter, keys, lens, 1), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_add_batch_hashes(filter, &hash, 1), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_merge(filter, other, &error), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(error.status, GLOOM_ERR_READ_ONLY);
        CHECK_HAS(error.message, "read-only");
        CHECK_STATUS(gloom_merge(filter, filter, &error), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_merge_serialized(filter, bytes, other_len, &error), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_intersect(filter, other, &error), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_intersect(filter, filter, &error), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_clear(filter), GLOOM_ERR_READ_ONLY);
        CHECK_STATUS(gloom_sync(filter, &error), GLOOM_ERR_READ_ONLY);
        CHECK(!gloom_test(filter, "new", 3));
    }
    CHECK(is_still(filter, state));
    CHECK(file_is(PATH, before, len));

    /* Everything that only reads is fine. */
    uint8_t results[2] = {7, 7};
    size_t hits = 0;
    uint64_t two[2] = {5, 1 << 20};
    CHECK_OK(gloom_test_batch_fixed(filter, two, 8, 2, results, &hits));
    CHECK(hits == 1 && results[0] == 1 && results[1] == 0);
    gloom_free(filter);
    CHECK(file_is(PATH, before, len));
    free(before);
    free(bytes);
    gloom_free(other);
    unlink(PATH);
}

/* -- whole filters and maps -- */

/* A map is a filter: copied, folded, compared, measured, merged with others, saved elsewhere. */
static void as_any_filter(uint32_t flags)
{
    gloom_filter *filter = create_map(600, 0), *plain = make_filter(GLOOM_KIND_PLAIN, 600, 7, 0);
    gloom_filter *clone = NULL, *folded = NULL, *folded_plain = NULL, *loaded = NULL;
    CONTEXT("map flags %u", flags);
    add_numbers(filter, 0, 2000);
    add_numbers(plain, 0, 2000);
    gloom_free(filter);
    filter = open_map(flags);

    CHECK(gloom_equal(filter, plain) && gloom_equal(plain, filter));
    CHECK_U64(gloom_count(filter), 2000);
    CHECK_U64(gloom_estimate_items(filter), gloom_estimate_items(plain));
    CHECK_F64(gloom_fill_ratio(filter), gloom_fill_ratio(plain));
    CHECK_F64(gloom_current_fp_rate(filter), gloom_current_fp_rate(plain));
    CHECK_U64(gloom_bit_capacity(filter), 600 * 512);
    CHECK(gloom_memory_bytes(filter) >= 600 * BYTES_PER_BLOCK);

    /* Copies are in memory and can be written. */
    CHECK_OK(gloom_clone(filter, &clone, NULL));
    CHECK(gloom_equal(clone, plain));
    CHECK_U64((uint64_t)gloom_kind_of(clone), GLOOM_KIND_ATOMIC);
    CHECK(!gloom_is_mapped(clone) && !gloom_is_read_only(clone));
    CHECK_U64(gloom_count(clone), 2000);
    add_numbers(clone, 2000, 2100);
    CHECK(!gloom_equal(filter, clone));
    CHECK_OK(gloom_fold(filter, 3, &folded, NULL));
    CHECK_OK(gloom_fold(plain, 3, &folded_plain, NULL));
    CHECK(gloom_equal(folded, folded_plain));
    CHECK(!gloom_is_mapped(folded) && !gloom_is_read_only(folded));
    CHECK_U64(gloom_count(folded), 2000);

    for (int format = 0; format < FORMAT_COUNT; format++) {
        CHECK_OK(gloom_save(filter, path_of("elsewhere"), FORMATS[format], NULL));
        CHECK_OK(gloom_load(path_of("elsewhere"), NULL, &loaded, NULL));
        CHECK(gloom_equal(loaded, plain));
        CHECK_U64(gloom_count(loaded), 2000);
        gloom_free(loaded);
        unlink(path_of("elsewhere"));
    }

    /* Out of a map, into one, and into one from bytes. */
    gloom_filter *target = make_filter(GLOOM_KIND_SHARDED, 600, 7, 0);
    CHECK_OK(gloom_merge(target, filter, NULL));
    CHECK(gloom_equal(target, plain));
    CHECK_U64(gloom_count(target), 2000);
    CHECK_OK(gloom_intersect(clone, filter, NULL));
    CHECK(gloom_equal(clone, plain));
    CHECK_U64(gloom_count(clone), 2000);
    gloom_free(target);
    gloom_free(clone);
    gloom_free(folded);
    gloom_free(folded_plain);
    gloom_free(filter);
    check_closed(2000, 2000);
    gloom_free(plain);
    unlink(PATH);
    CONTEXT("%s", "");
}

static void written_as_any_filter(void)
{
    gloom_filter *filter = create_map(600, 0), *other = make_filter(GLOOM_KIND_SHARDED, 600, 7, 0);
    size_t len;
    add_numbers(filter, 0, 500);
    add_numbers(other, 400, 1000);
    gloom_free(filter);
    filter = open_map(GLOOM_MAP_READ_WRITE);
    CHECK_STATUS(gloom_note_adds(filter, 1), GLOOM_ERR_INVALID_ARGUMENT); /* only the library writes maps */
    CHECK_OK(gloom_merge(filter, other, NULL));
    CHECK_U64(gloom_count(filter), 1100);
    CHECK_OK(gloom_merge(filter, filter, NULL));
    CHECK_U64(gloom_count(filter), 1100);
    gloom_free(filter);
    check_closed(1000, 1100);

    filter = open_map(GLOOM_MAP_READ_WRITE);
    add_numbers(other, 1000, 1200);
    for (int format = 0; format < FORMAT_COUNT; format++) {
        unsigned char *bytes = bytes_of(other, FORMATS[format], &len);
        CHECK_OK(gloom_merge_serialized(filter, bytes, len, NULL));
        free(bytes);
    }
    CHECK_U64(gloom_count(filter), 1100 + 2 * 800);
    gloom_free(filter);
    check_closed(1200, 2700);

    /* The other has 400 to 1199. */
    filter = open_map(GLOOM_MAP_READ_WRITE);
    CHECK_OK(gloom_intersect(filter, other, NULL));
    CHECK(gloom_equal(filter, other));
    CHECK_U64(gloom_count(filter), 800);
    CHECK_OK(add_number(filter, 400));
    CHECK_U64(gloom_count(filter), 801);
    gloom_free(filter);
    gloom_file_info info = GLOOM_FILE_INFO_INIT;
    CHECK_OK(gloom_inspect(PATH, &info, NULL));
    CHECK_U64(info.count, 801);
    filter = open_map(GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY);
    CHECK(gloom_equal(filter, other));
    CHECK_U64(gloom_count(filter), 801);

    /* Cleared, and used anew. */
    CHECK_OK(gloom_clear(filter));
    CHECK_U64(gloom_count(filter), 0);
    CHECK_U64(bits_set(filter), 0);
    add_numbers(filter, 0, 30);
    CHECK_U64(gloom_count(filter), 30);
    gloom_free(filter);
    check_closed(30, 30);
    filter = open_map(GLOOM_MAP_READ_WRITE);
    CHECK_OK(gloom_clear(filter));
    gloom_free(filter);
    check_closed(0, 0);
    gloom_free(other);
    unlink(PATH);
}

/* -- saving onto a map -- */

static void busy_elsewhere(process *parent)
{
    gloom_filter *other = make_filter(GLOOM_KIND_PLAIN, 10, 7, 0);
    gloom_error error;
    hear_that(parent, GO);
    CHECK_STATUS(gloom_save(other, PATH, GLOOM_FORMAT_NATIVE, &error), GLOOM_ERR_BUSY);
    CHECK_HAS(error.message, "mapped");
    say(parent, END);
    gloom_free(other);
}

static void saves_onto_maps(void)
{
    gloom_filter *filter = create_map(100, 0), *other = make_filter(GLOOM_KIND_PLAIN, 10, 7, 0);
    gloom_filter *loaded = NULL;
    gloom_error error;
    REQUIRE(symlink("map", path_of("link")) == 0);
    REQUIRE(link(PATH, path_of("second")) == 0);
    add_numbers(filter, 0, 100);
    add_numbers(other, 0, 5);
    for (int created = 1; created >= 0; created--) { /* the one who made it and one who has opened it */
        gloom_filter *writer = created ? filter : open_map(GLOOM_MAP_READ_WRITE);
        process child = start_process(busy_elsewhere, (process){0});
        for (int format = 0; format < FORMAT_COUNT; format++) {
            CHECK_STATUS(gloom_save(other, PATH, FORMATS[format], &error), GLOOM_ERR_BUSY);
            CHECK_STATUS(error.status, GLOOM_ERR_BUSY);
            CHECK_HAS(error.message, "mapped");
            CHECK_STATUS(gloom_save(writer, PATH, FORMATS[format], NULL), GLOOM_ERR_BUSY);
            CHECK_STATUS(gloom_save(other, path_of("link"), FORMATS[format], NULL), GLOOM_ERR_BUSY);
            CHECK_STATUS(gloom_save(other, path_of("second"), FORMATS[format], NULL), GLOOM_ERR_BUSY);
        }
        say(&child, GO);
        hear_that(&child, END);
        end_process(&child);
        CHECK_U64(names_in(folder), 3);
        CHECK(is_dirty());
        CHECK_U64(numbers_missing(writer, 0, 100), 0);
        gloom_free(writer);
        check_closed(100, 100);
    }

    /* Who only reads goes on with the old file. */
    gloom_filter *reader = open_map(GLOOM_MAP_VERIFY);
    CHECK_OK(gloom_save(other, PATH, GLOOM_FORMAT_NATIVE, &error));
    CHECK_U64(numbers_missing(reader, 0, 100), 0);
    CHECK_U64(gloom_num_blocks(reader), 100);
    CHECK_OK(gloom_load(PATH, NULL, &loaded, NULL));
    CHECK(gloom_equal(loaded, other));
    gloom_free(loaded);
    CHECK_OK(gloom_save(reader, PATH, GLOOM_FORMAT_NATIVE, &error)); /* and back */
    gloom_free(reader);
    check_closed(100, 100);
    CHECK_U64(names_in(folder), 3);

    /* After a killed writer the file is dirty, but nobody's. */
    process child = start_process(writer_to_be_killed, (process){.first = 100, .end = 110});
    hear_that(&child, ADDED);
    kill_process(&child);
    CHECK(is_dirty());
    CHECK_OK(gloom_save(other, PATH, GLOOM_FORMAT_NATIVE, &error));
    CHECK(!is_dirty());
    gloom_free(other);
    unlink(PATH);
    unlink(path_of("link"));
    unlink(path_of("second"));
}

/* Somebody who knows nothing of gloom puts another file in the place of a mapped one, or removes it. Who has it mapped
 * goes on with what he has, and leaves the new one alone. */
static void replaced_by_strangers(void)
{
    for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
        gloom_filter *writer = create_map(100, 0), *reader = open_map(0);
        CONTEXT("%s", is_replaced ? "replaced" : "removed");
        add_numbers(writer, 0, 100);
        if (is_replaced) {
            write_file(path_of("other"), "something else", 14);
            REQUIRE(rename(path_of("other"), PATH) == 0);
        } else {
            REQUIRE(unlink(PATH) == 0);
        }
        add_numbers(writer, 100, 200);
        CHECK_OK(gloom_sync(writer, NULL));
        CHECK_U64(numbers_missing(reader, 0, 200), 0);
        gloom_free(writer);
        CHECK_U64(numbers_missing(reader, 0, 200), 0);
        CHECK_U64(gloom_count(reader), 200);
        gloom_free(reader);
        CHECK_U64(names_in(folder), (uint64_t)is_replaced);
        if (is_replaced) {
            CHECK(file_is(PATH, "something else", 14));
            unlink(PATH);
        }
    }
    CONTEXT("%s", "");
}

/* Whatever is done to the name, a map tells that it is no longer the file of that name, also if the file has another. */
static void stale_maps(void)
{
    enum { REMOVED, REPLACED, RENAMED, REPLACED_WITH_SECOND_NAME, SAVED_OVER, WAYS };
    gloom_filter *another = make_filter(GLOOM_KIND_PLAIN, 10, 7, 0);
    for (int way = 0; way < WAYS; way++) {
        CONTEXT("way %d", way);
        gloom_free(create_map(100, 0));
        gloom_filter *reader = open_map(0), *writer = way == SAVED_OVER ? NULL : open_map(GLOOM_MAP_READ_WRITE);
        CHECK(!gloom_is_stale(reader) && !gloom_is_stale(writer));
        REQUIRE(chmod(PATH, 0600) == 0);
        CHECK(!gloom_is_stale(reader) && !gloom_is_stale(writer));
        switch (way) {
        case REMOVED:
            REQUIRE(unlink(PATH) == 0);
            break;
        case REPLACED_WITH_SECOND_NAME:
            REQUIRE(link(PATH, path_of("second")) == 0);
            CHECK(!gloom_is_stale(reader) && !gloom_is_stale(writer));
            /* fall through */
        case REPLACED:
            write_file(path_of("other"), "something else", 14);
            REQUIRE(rename(path_of("other"), PATH) == 0);
            break;
        case RENAMED:
            REQUIRE(rename(PATH, path_of("second")) == 0);
            break;
        default:
            CHECK_OK(gloom_save(another, PATH, GLOOM_FORMAT_NATIVE, NULL));
        }
        CHECK(gloom_is_stale(reader));
        CHECK(way == SAVED_OVER || gloom_is_stale(writer));
        gloom_free(writer);
        CHECK(gloom_is_stale(reader));
        gloom_free(reader);
        unlink(PATH);
        unlink(path_of("second"));
    }
    CHECK(!gloom_is_stale(another));
    gloom_free(another);
    CHECK_U64(names_in(folder), 0);
    CONTEXT("%s", "");
}

/* -- fork -- */

static gloom_filter *inherited;

static void heir(process *parent)
{
    CHECK_U64(numbers_missing(inherited, 0, 100), 0);
    add_numbers(inherited, 100, 200);
    CHECK_OK(gloom_sync(inherited, NULL));
    say(parent, ADDED);
    hear_that(parent, CLOSE);
    gloom_free(inherited);
    say(parent, CLOSED);
    hear_that(parent, END);
}

/* A child may use what it has inherited; when it closes it, the parent goes on. */
static void forks(void)
{
    gloom_filter *other = make_filter(GLOOM_KIND_PLAIN, 10, 7, 0);
    inherited = create_map(1000, 0);
    add_numbers(inherited, 0, 100);
    process child = start_process(heir, (process){0});
    hear_that(&child, ADDED);
    CHECK_U64(numbers_missing(inherited, 0, 200), 0);
    say(&child, CLOSE);
    hear_that(&child, CLOSED);
    CHECK(is_dirty());
    CHECK_STATUS(gloom_save(other, PATH, GLOOM_FORMAT_NATIVE, NULL), GLOOM_ERR_BUSY);
    add_numbers(inherited, 200, 300);
    say(&child, END);
    end_process(&child);
    CHECK(is_dirty());
    CHECK_STATUS(gloom_save(other, PATH, GLOOM_FORMAT_NATIVE, NULL), GLOOM_ERR_BUSY);
    add_numbers(inherited, 300, 400);
    CHECK_U64(gloom_count(inherited), 300);
    gloom_free(inherited);
    check_closed(400, 300); /* what a child adds is not counted */
    CHECK_OK(gloom_save(other, PATH, GLOOM_FORMAT_NATIVE, NULL));
    gloom_free(other);
    unlink(PATH);
}

/* -- races of saves, maps and loads -- */

static uint64_t race_rounds;

/* Each thread has its filter, which tells by its count whose it is. */
static void saver(job *self)
{
    gloom_error error;
    for (uint64_t round = 0; round < race_rounds; round++) {
        int32_t format = FORMATS[(round + self->index) % FORMAT_COUNT];
        gloom_status status = gloom_save(self->filter, PATH, format, &error);
        if (status != GLOOM_OK)
            fprintf(stderr, "gloom_save: %s\n", error.message);
        self->bad += status != GLOOM_OK;
    }
}

static gloom_filter *race_filters[THREADS];

static void whole_loader(job *self)
{
    for (uint64_t round = 0; round < race_rounds; round++) {
        gloom_filter *loaded = NULL;
        self->bad += gloom_load(PATH, NULL, &loaded, NULL) != GLOOM_OK;
        if (loaded == NULL)
            continue;
        uint64_t count = gloom_count(loaded);
        self->bad += count >= THREADS / 2 || !gloom_equal(loaded, race_filters[count]);
        gloom_free(loaded);
    }
}

/* Saves to one name at one time succeed, none is told that it is busy, and there is a whole file at every moment. */
static void saves_at_once(void)
{
    job jobs[THREADS];
    for (unsigned i = 0; i < THREADS / 2; i++) {
        race_filters[i] = make_filter(KINDS[i % KIND_COUNT], 100 + i * 100, 7, 0);
        add_numbers(race_filters[i], 0, i);
    }
    CHECK_OK(gloom_save(race_filters[0], PATH, GLOOM_FORMAT_V1, NULL));
    for (unsigned i = 0; i < THREADS; i++)
        jobs[i] = i < THREADS / 2 ? (job){.body = saver, .filter = race_filters[i], .index = i}
                                  : (job){.body = whole_loader};
    run(jobs, THREADS);
    CHECK_U64(sum_of_bad(jobs, THREADS), 0);
    CHECK_U64(names_in(folder), 1);
    for (unsigned i = 0; i < THREADS / 2; i++)
        gloom_free(race_filters[i]);
    unlink(PATH);
}

/* Also onto a file that a killed writer has left: it is dirty, but nobody has it mapped. */
static void saves_onto_what_was_left(void)
{
    unsigned char boot[BOOT_ID_SIZE];
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, 1000, 7, 0);
    uint64_t rounds = race_rounds, bad = 0;
    size_t len;
    unsigned char *left = bytes_of(filter, GLOOM_FORMAT_NATIVE, &len);
    (void)this_boot(boot);
    native_make_dirty(left, boot);
    race_rounds = 1;
    for (uint64_t round = 0; round < rounds; round++) {
        job jobs[THREADS];
        write_file(PATH, left, len);
        for (unsigned i = 0; i < THREADS; i++)
            jobs[i] = (job){.body = saver, .filter = filter, .index = i};
        run(jobs, THREADS);
        bad += sum_of_bad(jobs, THREADS);
        if (bad > 0)
            break;
    }
    race_rounds = rounds;
    CHECK_U64(bad, 0);
    CHECK(!is_dirty());
    free(left);
    gloom_free(filter);
    unlink(PATH);
}

static atomic_uint mappers_left;

/* While a thread has the file mapped for writing, no save may put another one in its place; when it has closed it, the
 * file is clean. */
static void mapper(job *self)
{
    for (uint64_t round = 0; round < race_rounds; round++) {
        gloom_filter *filter = NULL;
        gloom_file_info info = GLOOM_FILE_INFO_INIT;
        self->bad += gloom_map(PATH, GLOOM_MAP_READ_WRITE, &filter, NULL) != GLOOM_OK;
        REQUIRE(filter != NULL);
        ino_t named = status_of(PATH).st_ino;
        self->bad += add_number(filter, round) != GLOOM_OK;
        sched_yield();
        if (status_of(PATH).st_ino != named) {
            fprintf(stderr, "round %" PRIu64 ": replaced while mapped for writing\n", round);
            self->bad++;
        }
        gloom_free(filter);
        self->bad += gloom_inspect(PATH, &info, NULL) != GLOOM_OK;
        if (info.dirty) {
            fprintf(stderr, "round %" PRIu64 ": dirty after the last close\n", round);
            self->bad++;
        }
        if (self->bad > 0)
            break;
    }
    atomic_fetch_sub(&mappers_left, 1);
}

static void saver_meanwhile(job *self)
{
    while (atomic_load(&mappers_left) != 0) {
        gloom_error error;
        gloom_status status = gloom_save(self->filter, PATH, GLOOM_FORMAT_NATIVE, &error);
        if (status != GLOOM_OK && status != GLOOM_ERR_BUSY) {
            fprintf(stderr, "gloom_save: %s\n", error.message);
            self->bad++;
        }
        sched_yield();
    }
}

static void loader_meanwhile(job *self)
{
    while (atomic_load(&mappers_left) != 0) {
        gloom_error error;
        gloom_filter *loaded = NULL;
        gloom_status status = self->index % 2 == 0 ? gloom_load(PATH, NULL, &loaded, &error)
                                                   : gloom_map(PATH, GLOOM_MAP_VERIFY, &loaded, &error);
        if (status != GLOOM_OK) {
            fprintf(stderr, "%s: %s\n", self->index % 2 == 0 ? "gloom_load" : "gloom_map", error.message);
            self->bad++;
            break;
        }
        gloom_free(loaded);
        sched_yield();
    }
}

static void saves_between_maps(void)
{
    enum { SAVERS = 3 };
    job jobs[1 + SAVERS];
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, 50, 7, 0);
    CHECK_OK(gloom_save(filter, PATH, GLOOM_FORMAT_NATIVE, NULL));
    atomic_store(&mappers_left, 1);
    jobs[0] = (job){.body = mapper};
    for (unsigned i = 0; i < SAVERS; i++)
        jobs[1 + i] = (job){.body = saver_meanwhile, .filter = filter};
    run(jobs, 1 + SAVERS);
    CHECK_U64(sum_of_bad(jobs, 1 + SAVERS), 0);
    CHECK_U64(names_in(folder), 1);
    gloom_free(filter);
    unlink(PATH);
}

static void creator(job *self)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_filter *filter = NULL;
    options.num_blocks = 10;
    options.k = 7;
    gloom_status status = gloom_map_create(PATH, &options, &filter, NULL);
    if (status != GLOOM_OK) {
        self->bad += status != GLOOM_ERR_IO || filter != NULL;
        return;
    }
    struct stat named = status_of(PATH);
    self->bad += add_number(filter, 1) != GLOOM_OK;
    while (atomic_load(&mappers_left) != 0) /* until the save has ended */
        sched_yield();
    self->bad += status_of(PATH).st_ino != named.st_ino;
    gloom_free(filter);
}

static void saver_once(job *self)
{
    gloom_status status = gloom_save(self->filter, PATH, GLOOM_FORMAT_NATIVE, NULL);
    self->bad += status != GLOOM_OK && status != GLOOM_ERR_BUSY;
    atomic_store(&mappers_left, 0);
}

/* Of a save and a map to a name that is new, one is there first: the other fails, and what is mapped stays. */
static void saves_and_creates(void)
{
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, 50, 7, 0);
    uint64_t bad = 0;
    for (uint64_t round = 0; round < race_rounds; round++) {
        job jobs[2] = {{.body = creator}, {.body = saver_once, .filter = filter}};
        atomic_store(&mappers_left, 1);
        run(jobs, 2);
        bad += sum_of_bad(jobs, 2);
        CHECK(!is_dirty());
        CHECK_U64(names_in(folder), 1);
        unlink(PATH);
    }
    CHECK_U64(bad, 0);
    gloom_free(filter);
}

/* Who loads or verifies while others begin and end to write gets a filter, not a complaint about a checksum. */
static void loads_between_maps(void)
{
    job jobs[3];
    gloom_filter *filter = make_filter(GLOOM_KIND_PLAIN, 20000, 7, 0);
    CHECK_OK(gloom_save(filter, PATH, GLOOM_FORMAT_NATIVE, NULL));
    atomic_store(&mappers_left, 1);
    jobs[0] = (job){.body = mapper};
    for (unsigned i = 0; i < 2; i++)
        jobs[1 + i] = (job){.body = loader_meanwhile, .index = i};
    run(jobs, 3);
    CHECK_U64(sum_of_bad(jobs, 3), 0);
    gloom_free(filter);
    unlink(PATH);
}

/* -- arguments -- */

static void flags(void)
{
    static const uint32_t bad[] = {8, 9, 16, 0x80000000, UINT32_MAX};
    gloom_filter *out = NO_FILTER;
    gloom_error error;
    gloom_free(create_map(10, 0));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(gloom_map(PATH, bad[i], &out, &error), GLOOM_ERR_INVALID_ARGUMENT);
        CHECK_HAS(error.message, "flags");
        CHECK(out == NO_FILTER);
    }
    for (uint32_t good = 0; good < 8; good++) {
        CHECK_OK(gloom_map(PATH, good, &out, &error));
        CHECK(gloom_is_read_only(out) == ((good & GLOOM_MAP_READ_WRITE) == 0));
        CHECK(is_dirty() == ((good & GLOOM_MAP_READ_WRITE) != 0));
        gloom_free(out);
        CHECK(!is_dirty());
    }
    unlink(PATH);
}

/* Larger than a buffer: opened, written here and there, closed. */
static void a_large_map(void)
{
    enum { LARGE_BLOCKS = 1 << 20 }; /* 64 MiB */
    gloom_filter *filter = create_map(LARGE_BLOCKS, 0);
    add_numbers(filter, 0, 10000);
    gloom_free(filter);
    filter = open_map(GLOOM_MAP_READ_WRITE);
    add_numbers(filter, 10000, 20000);
    gloom_free(filter);
    filter = open_map(GLOOM_MAP_VERIFY);
    CHECK_U64(numbers_missing(filter, 0, 20000), 0);
    CHECK_U64(gloom_count(filter), 20000);
    gloom_free(filter);
    unlink(PATH);
}

int main(int argc, char **argv)
{
    race_rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
    REQUIRE(race_rounds > 0);
    alarm(WATCHDOG_SECONDS); /* a wait that does not end ends the program */
    make_folder(IN_MEMORY);
    created_once();
    not_created();
    in_a_process(no_room);
    readers_see_adds();
    processes_that_write(1, 20, true);
    processes_that_write(3, 100, false);
    processes_that_write(2000, 5000, true);
    killed_writers();
    syncing();
    writes_are_refused();
    as_any_filter(0);
    as_any_filter(GLOOM_MAP_VERIFY);
    as_any_filter(GLOOM_MAP_READ_WRITE);
    written_as_any_filter();
    saves_onto_maps();
    replaced_by_strangers();
    stale_maps();
    forks();
    flags();
    a_large_map();
    all_close_at_once(2 * race_rounds);
    saves_at_once();
    saves_onto_what_was_left();
    saves_between_maps();
    saves_and_creates();
    loads_between_maps();
    CHECK_U64(names_in(folder), 0);
    return check_report();
}
