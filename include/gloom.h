/* gloom: a Bloom filter whose probes of one key lie in one cache line. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * GENERATED from src/capi by `make header`: do not edit.
 *
 * A filter answers "is this key in the set?" with *definitely not* or *probably yes*:
 *
 *   gloom_filter *blocks = gloom_new_atomic(1000000, 0.01);
 *   if (!blocks) abort();
 *   gloom_add(blocks, "user:17:block:99", 16);
 *   if (gloom_test(blocks, "user:17:block:3", 15)) ask_the_database();
 *   gloom_free(blocks);
 *
 * Conventions, for every function that does not say otherwise:
 *
 * Ownership   A handle belongs to the caller, who frees it once with gloom_free. The library keeps no pointer
 *             that it is given. Strings that it returns are static.
 * Arguments   Everything is checked: NULL, NaN, infinities, zero and huge sizes, unknown flags. Sizes are in bytes.
 *             Only a pointer that is neither NULL nor valid cannot be noticed. `const gloom_filter *` is only read.
 * Failure     Functions return GLOOM_OK (0) or a gloom_status. Out-parameters are written only on success, and a
 *             failed call changes nothing. Functions with something to explain take a gloom_error, which may be
 *             NULL; nothing is kept in thread-local variables. An allocation that fails is a status, never an abort
 *             (but a system that overcommits memory gives it first and may kill processes when it is used).
 * Tests       A test that is misused answers true, "maybe": the caller then asks the database. false would lose data.
 * Threads     Every function may be called from any number of threads at once, on one filter too, with these
 *             exceptions: gloom_free wants the filter to itself; a plain filter has one writer at a time (two lose
 *             adds, but do no other harm); gloom_clear wants no other writer. Readers never wait. A test that happens
 *             after an add returned sees the key, also if "after" comes from outside: a lock, a queue, a message.
 * Signals     Tests, and writes to atomic filters, take no lock and may run in a signal handler, as may writes to a
 *             plain filter that the handler does not interrupt. Writes to sharded filters may not. (If the library was
 *             loaded by dlopen, let a thread write once before a handler does in it.) After fork in a program with
 *             threads, a child may read every filter and write plain and atomic ones; a shard that another thread
 *             owned at the fork stays owned in the child.
 * Cancelling  A thread that pthread_cancel ends while it is inside the library ends the process.
 * Side effects None: no threads, signal handlers, environment variables or global state; no files but those it is
 *             asked for.
 */


#ifndef GLOOM_H
#define GLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version in words; gloom_version_string tells the library's. */
#define GLOOM_VERSION_STRING "0.1.0"

/* For the first field of each struct, and zeros for the rest. */
#define GLOOM_OPTIONS_INIT { sizeof(gloom_options), 0, 0, 0, 0.0, 0, 0, 0, 0, 0, 0 }
#define GLOOM_LOAD_OPTIONS_INIT { sizeof(gloom_load_options), 0, 0, 0, 0, 0 }
#define GLOOM_MAP_OPTIONS_INIT { sizeof(gloom_map_options), 0, 0, 0 }
#define GLOOM_SIZING_INIT { sizeof(gloom_sizing), 0, 0, 0.0, 0.0, 0, 0 }
#define GLOOM_FILE_INFO_INIT { sizeof(gloom_file_info), 0, 0, 0, 0, 0, 0, 0, 0.0, 0, 0 }


// One writer at a time, any number of readers meanwhile.
#define GLOOM_KIND_PLAIN 1

// Any number of writers, lock-free. The default where kind is 0.
#define GLOOM_KIND_ATOMIC 2

// Any number of writers, each owning the range of blocks that it writes; the fastest adds by many threads.
#define GLOOM_KIND_SHARDED 3

// The library's own format.
#define GLOOM_FORMAT_NATIVE 0

// The interchange format v1 of the Go module jcalabro/gloom.
#define GLOOM_FORMAT_V1 1

// No huge pages; otherwise filters of 4 MiB and more ask for them.
#define GLOOM_FLAG_SMALL_PAGES 1

// Hash keys by SipHash-1-3 with 128 bits instead of XXH3; seed is its key and must not be 0. For keys from enemies: see
// docs/files.md, "Seeds and chosen keys". Only for new filters: files say how their keys are hashed.
#define GLOOM_FLAG_SIPHASH 2

// For gloom_load: load also from what is no regular file, such as a FIFO or a device. Opening and reading it waits for
// whoever writes to it, for ever if nobody does.
#define GLOOM_FLAG_SPECIAL_FILES 4

// XXH3-128: gloom_hash_key.
#define GLOOM_HASH_XXH3 1

// SipHash-1-3 with 128 bits: gloom_siphash_key.
#define GLOOM_HASH_SIPHASH 2

// Map for reading and writing; otherwise only for reading.
#define GLOOM_MAP_READ_WRITE 1

// Read the whole file and check its checksum.
#define GLOOM_MAP_VERIFY 2

// Map also a file that may have lost adds, because the system or the disk failed while it was mapped for writing.
#define GLOOM_MAP_ALLOW_DIRTY 4

// The version of this header; gloom_version tells the library's.
#define GLOOM_VERSION_MAJOR 0

// See GLOOM_VERSION_MAJOR.
#define GLOOM_VERSION_MINOR 1

// See GLOOM_VERSION_MAJOR.
#define GLOOM_VERSION_PATCH 0

// major * 10000 + minor * 100 + patch.
#define GLOOM_VERSION 100

// Changes when a program that was built with an older header no longer works.
#define GLOOM_ABI_VERSION 0

// A Bloom filter. Made by gloom_new and its kin, freed by gloom_free; never copied by value.
typedef struct gloom_filter gloom_filter;

// The outcome of a call: GLOOM_OK or what went wrong. Numbers are never reused or changed; later
// releases may add some, so treat an unknown number as a failure.
typedef int32_t gloom_status;

// What a new filter shall be like. Start from GLOOM_OPTIONS_INIT or gloom_options_init. Give either
// expected_items and fp_rate, or num_blocks and k, and leave the other two 0.
typedef struct {
  // sizeof(gloom_options). Bytes that this release does not know must be 0.
  size_t struct_size;
  // GLOOM_KIND_..., or 0 for atomic.
  int32_t kind;
  // GLOOM_FLAG_...; unknown bits are an error.
  uint32_t flags;
  // Distinct keys, from 0 to 2^63.
  uint64_t expected_items;
  // False-positive rate once they are in: greater than 0, less than 1, and at least about 2.3e-10.
  double fp_rate;
  // Blocks of 64 bytes.
  uint64_t num_blocks;
  // Probes a key, 3 to 17.
  uint32_t k;
  // For the sharded kind: 0 to let the library choose, or a power of two, at most num_blocks and 65536.
  uint32_t num_shards;
  // 0 for filters that every implementation can read; else the seed of XXH3, or the key of SipHash.
  uint64_t seed;
  // The most bytes the blocks may take, 0 for no limit. More is refused before anything is
  // allocated. Bookkeeping comes on top: less than 5 KiB, or 64 bytes a shard and less than 1 KiB.
  uint64_t max_bytes;
  // Round num_blocks up to a multiple of this, so that the filter can be folded; 0 for no.
  uint64_t block_multiple;
} gloom_options;

// Why a call failed, in words. Owned by the caller, who may pass NULL instead. Written only when a
// call fails; message is always terminated and names the argument, its value and the allowed range.
typedef struct {
  // What the call returned.
  gloom_status status;
  // errno of the operating system, or 0.
  int32_t os_error;
  // UTF-8 text in English.
  char message[504];
} gloom_error;

// What a filter for some keys and some rate will be like. Start from GLOOM_SIZING_INIT.
typedef struct {
  // sizeof(gloom_sizing), set by the caller.
  size_t struct_size;
  // Blocks of 64 bytes.
  uint64_t num_blocks;
  // Bytes of all blocks.
  uint64_t bytes;
  // The predicted false-positive rate once all expected keys are in; at most the one asked for.
  double fp_rate;
  // Bits a key; 0 if no keys are expected.
  double bits_per_item;
  // Probes a key.
  uint32_t k;
  // 0.
  uint32_t reserved;
} gloom_sizing;

// The hash of a key: XXH3-128, in the order of XXH128_hash_t { low64, high64 }, or the two words of SipHash-1-3.
typedef struct {
  // The low 64 bits.
  uint64_t lo;
  // The high 64 bits.
  uint64_t hi;
} gloom_hash;

// What a loaded filter shall be like. Start from GLOOM_LOAD_OPTIONS_INIT.
typedef struct {
  // sizeof(gloom_load_options). Bytes that this release does not know must be 0.
  size_t struct_size;
  // GLOOM_KIND_..., or 0 for atomic. Any kind can be loaded as any other.
  int32_t kind;
  // GLOOM_FLAG_...; unknown bits are an error.
  uint32_t flags;
  // As in gloom_options.
  uint32_t num_shards;
  // Must be 0.
  uint32_t reserved;
  // The most bytes the blocks may take, 0 for no limit. Checked before anything is allocated.
  uint64_t max_bytes;
} gloom_load_options;

// Takes len bytes at data and returns how many of them it has taken (1 to len). A negative number ends the
// call: -1 with GLOOM_ERR_CANCELLED, another with GLOOM_ERR_IO and its negation as os_error. It is called
// again and again, with at most 64 KiB each time, so it may also show progress. Nothing may unwind or
// longjmp out of it.
typedef int64_t (*gloom_write_fn)(void *context, const void *data, size_t len);

// Puts up to len bytes at data and returns how many (1 to len), or 0 at the end of the input. Negative
// numbers and the rest as for gloom_write_fn.
typedef int64_t (*gloom_read_fn)(void *context, void *data, size_t len);

// What the header of a file tells. Start from GLOOM_FILE_INFO_INIT.
typedef struct {
  // sizeof(gloom_file_info), set by the caller.
  size_t struct_size;
  // GLOOM_FORMAT_...
  int32_t format;
  // Probes a key.
  uint32_t k;
  // Blocks of 64 bytes.
  uint64_t num_blocks;
  // The seed of the hash; 0 in format v1.
  uint64_t seed;
  // The count; if dirty, what it was when the file was last clean.
  uint64_t count;
  // Bytes of the file.
  uint64_t bytes;
  // The number of keys that was planned for; 0 in format v1 and if made from num_blocks and k.
  uint64_t expected_items;
  // The false-positive rate that was asked for; 0 in the same cases.
  double fp_rate;
  // 1 if it is mapped for writing, or a writer died; else 0.
  uint32_t dirty;
  // GLOOM_HASH_...
  uint32_t hash;
} gloom_file_info;

// How a file is mapped. Start from GLOOM_MAP_OPTIONS_INIT.
typedef struct {
  // sizeof(gloom_map_options). Bytes that this release does not know must be 0.
  size_t struct_size;
  // GLOOM_MAP_...; unknown bits are an error.
  uint32_t flags;
  // Must be 0.
  uint32_t reserved;
  // The most bytes the blocks may take, 0 for no limit. Checked before space on the disk is taken (by
  // GLOOM_MAP_READ_WRITE), of which a file with holes may have taken little before.
  uint64_t max_bytes;
} gloom_map_options;

// Success.
#define GLOOM_OK 0

// A required pointer is NULL.
#define GLOOM_ERR_NULL 1

// An argument is outside its range.
#define GLOOM_ERR_INVALID_ARGUMENT 2

// The system has no memory to give.
#define GLOOM_ERR_OUT_OF_MEMORY 3

// More memory would be needed than the caller allows or an address space holds.
#define GLOOM_ERR_LIMIT 4

// No filter of this layout has so small a false-positive rate.
#define GLOOM_ERR_UNREACHABLE_RATE 5

// The caller's buffer is too small.
#define GLOOM_ERR_BUFFER_TOO_SMALL 6

// The data is damaged or is not a filter.
#define GLOOM_ERR_CORRUPT 7

// A version, format or option that this release does not know.
#define GLOOM_ERR_UNSUPPORTED 8

// Two filters differ in k, number of blocks, hash or seed.
#define GLOOM_ERR_INCOMPATIBLE 9

// The filter is mapped read-only.
#define GLOOM_ERR_READ_ONLY 10

// The operating system reported an error; gloom_error.os_error holds errno.
#define GLOOM_ERR_IO 11

// A callback asked to stop.
#define GLOOM_ERR_CANCELLED 12

// The file is in use.
#define GLOOM_ERR_BUSY 13

// A bug in this library was caught at its boundary. Please report it.
#define GLOOM_ERR_PANIC 14

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What a status means, in English: a static string. Accepts any number and never returns NULL.
const char *gloom_status_string(gloom_status status);

// The version of the library: major * 10000 + minor * 100 + patch.
uint32_t gloom_version(void);

// The version of the library as a static string, such as "0.1.0".
const char *gloom_version_string(void);

// The ABI version of the library; compare with GLOOM_ABI_VERSION.
uint32_t gloom_abi_version(void);

// Makes a plain filter for expected_items distinct keys (0 to 2^63) with false-positive rate fp_rate
// (greater than 0, less than 1).
//
// Returns a filter to be freed by gloom_free, or NULL on failure: then gloom_size_for with the same
// arguments tells a bad argument from a failed allocation, and gloom_create says it in words.
gloom_filter *gloom_new(uint64_t expected_items, double fp_rate);

// Makes an atomic filter; otherwise as gloom_new.
gloom_filter *gloom_new_atomic(uint64_t expected_items, double fp_rate);

// Makes a sharded filter; otherwise as gloom_new. num_shards 0 lets the library choose, from the number
// of processors and the size; another number, at most 65536 (NULL above), is rounded up to a power of two
// and then down to what the number of blocks allows.
gloom_filter *gloom_new_sharded(uint64_t expected_items, double fp_rate, uint32_t num_shards);

// Sets *options to GLOOM_OPTIONS_INIT, for languages without macros. NULL is ignored. It always sets the
// struct of the first release, and struct_size to its size, so that it never writes beyond the struct of a
// program that was built with an older header.
void gloom_options_init(gloom_options *options);

// Makes a filter as options describe it and writes it to *out; free it with gloom_free.
//
// Everything is checked before memory is taken. Memory of large filters is cleared by the system page by
// page when it is first used, so creation takes well under a millisecond whatever the size, and milliseconds only
// with tens of thousands of shards. A failed call leaves *out as it was.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_UNSUPPORTED (an option of a later release),
// GLOOM_ERR_UNREACHABLE_RATE (the message says the smallest), GLOOM_ERR_LIMIT, GLOOM_ERR_OUT_OF_MEMORY.
gloom_status gloom_create(const gloom_options *options,
                          gloom_filter **out,
                          gloom_error *error);

// Tells what a filter for expected_items distinct keys with rate fp_rate will be like: blocks, k, bytes
// and predicted rate. Allocates nothing; takes a fraction of a millisecond. out->struct_size must be set
// (GLOOM_SIZING_INIT).
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_UNREACHABLE_RATE, GLOOM_ERR_LIMIT.
gloom_status gloom_size_for(uint64_t expected_items, double fp_rate, gloom_sizing *out, gloom_error *error);

// Frees a filter. NULL is fine. Nobody may use the filter during or after the call.
void gloom_free(gloom_filter *filter);

// Adds a key of len bytes. NULL with length 0 is the empty key, a key like any other.
//
// Threads: any number at once; of a plain filter one writer at a time. Costs one hash and one cache line.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (len above PTRDIFF_MAX), GLOOM_ERR_READ_ONLY.
gloom_status gloom_add(gloom_filter *filter, const void *key, size_t len);

// Is the key in the set? false: certainly not. true: probably.
//
// Misuse (a NULL filter, a NULL key with a length) answers true, "maybe": the caller then asks the
// database, where false would lose data. Any number of threads at once, also while others add; never waits.
bool gloom_test(const gloom_filter *filter, const void *key, size_t len);

// Adds a key and writes to *was_present (which may be NULL) whether all its bits were set before:
// false if this call set at least one. Of two threads that race to add one new key, both may be told
// false (in a sharded filter one is); at least one is, unless adds of other keys set its last bits.
//
// Threads, cost and failures as gloom_add.
gloom_status gloom_test_and_add(gloom_filter *filter, const void *key, size_t len, bool *was_present);

// Hashes a key by XXH3-128, to ask many filters of one seed (gloom_seed) about it. Zeros on misuse.
gloom_hash gloom_hash_key(const void *key, size_t len, uint64_t seed);

// Hashes a key by SipHash-1-3 with 128 bits, to ask many filters of GLOOM_HASH_SIPHASH and one seed about it. Zeros on
// misuse.
gloom_hash gloom_siphash_key(const void *key,
                             size_t len,
                             uint64_t seed);

// Adds a key by its hash, which must have been made by the filter's hash (gloom_hash_kind) with its seed. Otherwise as
// gloom_add.
gloom_status gloom_add_hash(gloom_filter *filter,
                            gloom_hash hash);

// Counts n adds that a binding made itself, as gloom_blocks allows: gloom_count rises by n, as by n calls of
// gloom_add. Sets no bits.
//
// Threads: any number at once, beside the one writer of a plain filter, too. Costs one atomic addition.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (the filter is sharded or mapped), GLOOM_ERR_READ_ONLY.
gloom_status gloom_note_adds(gloom_filter *filter, uint64_t n);

// Tests a key by its hash, made as for gloom_add_hash. Otherwise as gloom_test.
bool gloom_test_hash(const gloom_filter *filter, gloom_hash hash);

// Adds n keys of key_size bytes each that lie one after the other; for an array of uint64_t, key_size is 8.
//
// Batches: the arguments are checked whole before the filter is touched. n = 0 is fine, with NULLs
// too. Several times faster than single calls: hashes are computed in groups, and the cache misses of a
// group overlap. Threads as gloom_add; the keys become visible in any order.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (a size that overflows, a misaligned array, offsets out of
// order or out of range), GLOOM_ERR_READ_ONLY.
gloom_status gloom_add_batch_fixed(gloom_filter *filter, const void *keys, size_t key_size, size_t n);

// Adds n keys in the layout of Arrow's binary arrays: key i is the bytes from offsets[i] up to
// offsets[i + 1] of the data_len bytes at data. There are n + 1 offsets; they must not decrease, the first
// may be greater than 0, the last at most data_len. Otherwise as gloom_add_batch_fixed.
gloom_status gloom_add_batch_offsets32(gloom_filter *filter,
                                       const void *data,
                                       size_t data_len,
                                       const int32_t *offsets,
                                       size_t n);

// The same with 64-bit offsets, as in Arrow's large binary arrays.
gloom_status gloom_add_batch_offsets64(gloom_filter *filter,
                                       const void *data,
                                       size_t data_len,
                                       const int64_t *offsets,
                                       size_t n);

// Adds n keys: key i is the lens[i] bytes at keys[i], which may be NULL if lens[i] is 0. Otherwise as
// gloom_add_batch_fixed.
gloom_status gloom_add_batch_pointers(gloom_filter *filter,
                                      const void *const *keys,
                                      const size_t *lens,
                                      size_t n);

// Adds n keys by their hashes, which must have been made by the filter's hash with its seed. Otherwise as
// gloom_add_batch_fixed.
gloom_status gloom_add_batch_hashes(gloom_filter *filter, const gloom_hash *hashes, size_t n);

// Tests n keys of key_size bytes each that lie one after the other. Writes to results (NULL, or n bytes) a
// 1 for each key that is probably in the set and a 0 for each that is certainly not, and to *hits (which
// may be NULL) the number of ones.
//
// A call that fails fills results with 1 and *hits with n, "maybe", so that a caller who overlooks the
// status asks the database too often instead of losing data. (If n is above PTRDIFF_MAX, results cannot
// have n bytes and is left alone.) Otherwise as gloom_add_batch_fixed; threads as gloom_test.
gloom_status gloom_test_batch_fixed(const gloom_filter *filter,
                                    const void *keys,
                                    size_t key_size,
                                    size_t n,
                                    uint8_t *results,
                                    size_t *hits);

// Tests keys as gloom_test_batch_fixed that lie as for gloom_add_batch_offsets32.
gloom_status gloom_test_batch_offsets32(const gloom_filter *filter,
                                        const void *data,
                                        size_t data_len,
                                        const int32_t *offsets,
                                        size_t n,
                                        uint8_t *results,
                                        size_t *hits);

// Tests keys as gloom_test_batch_fixed that lie as for gloom_add_batch_offsets64.
gloom_status gloom_test_batch_offsets64(const gloom_filter *filter,
                                        const void *data,
                                        size_t data_len,
                                        const int64_t *offsets,
                                        size_t n,
                                        uint8_t *results,
                                        size_t *hits);

// Tests keys as gloom_test_batch_fixed that lie as for gloom_add_batch_pointers.
gloom_status gloom_test_batch_pointers(const gloom_filter *filter,
                                       const void *const *keys,
                                       const size_t *lens,
                                       size_t n,
                                       uint8_t *results,
                                       size_t *hits);

// Tests keys as gloom_test_batch_fixed, by their hashes as for gloom_add_batch_hashes.
gloom_status gloom_test_batch_hashes(const gloom_filter *filter,
                                     const gloom_hash *hashes,
                                     size_t n,
                                     uint8_t *results,
                                     size_t *hits);

// GLOOM_KIND_...; 0 for NULL.
int32_t gloom_kind_of(const gloom_filter *filter);

// The number of blocks of 64 bytes; 0 for NULL.
uint64_t gloom_num_blocks(const gloom_filter *filter);

// Probes a key; 0 for NULL.
uint32_t gloom_k(const gloom_filter *filter);

// The number of shards; 1 for filters that are not sharded, 0 for NULL.
uint32_t gloom_num_shards(const gloom_filter *filter);

// How keys are hashed: GLOOM_HASH_...; 0 for NULL.
int32_t gloom_hash_kind(const gloom_filter *filter);

// The seed of the hash; 0 for NULL.
uint64_t gloom_seed(const gloom_filter *filter);

// The number of keys that was planned for; 0 if made from num_blocks and k, folded or loaded from v1, and for NULL.
uint64_t gloom_expected_items(const gloom_filter *filter);

// The false-positive rate that was asked for; 0 if made from num_blocks and k, folded or loaded from v1; 1 for NULL.
double gloom_fp_rate(const gloom_filter *filter);

// Is the filter a mapped file? false for NULL.
bool gloom_is_mapped(const gloom_filter *filter);

// Do writes to the filter end in GLOOM_ERR_READ_ONLY? false for NULL.
bool gloom_is_read_only(const gloom_filter *filter);

// All bits of the filter: num_blocks * 512; 0 for NULL.
uint64_t gloom_bit_capacity(const gloom_filter *filter);

// Bytes of memory: the blocks and the bookkeeping; 0 for NULL.
uint64_t gloom_memory_bytes(const gloom_filter *filter);

// Successful adds, of new keys or old, and those of merged filters; saturates at UINT64_MAX; 0 for NULL.
// Exact once the adds have returned; of a file that others have mapped for writing, too, their adds are
// counted when they close it. Sums at most 64 counters, or one for each shard.
uint64_t gloom_count(const gloom_filter *filter);

// Distinct keys, estimated from the bits, so that duplicates do not inflate it. UINT64_MAX if all bits
// are set, and for NULL. Reads the whole filter.
uint64_t gloom_estimate_items(const gloom_filter *filter);

// The part of the bits that is set, 0 to 1; 1 for NULL. Reads the whole filter.
double gloom_fill_ratio(const gloom_filter *filter);

// The false-positive rate that the bits give now, 0 to 1: the chance that a key which was never added
// tests true. 1 if all bits are set, and for NULL. Reads the whole filter.
double gloom_current_fp_rate(const gloom_filter *filter);

// The false-positive rate to expect of num_blocks blocks with k probes that hold items distinct keys:
// E[prod_i(1 - (1 - 1/p_i)^J)] + items/num_blocks * 2^-32, where J, the keys of a block, is Poisson with
// mean items/num_blocks and p_i are the partition sizes of k. 1 if there is no such geometry.
double gloom_predict_fp_rate(uint64_t num_blocks, uint32_t k, uint64_t items);

// The blocks themselves: num_blocks * 64 bytes, 64-byte aligned, valid until gloom_free; NULL for NULL.
// Bit b of a block is bit b % 64 of its little-endian 64-bit word b / 64. Read them with relaxed atomic
// 64-bit loads while others add.
//
// Nobody else writes them, with one exception, for languages from which a call of C costs more than an add. In
// a plain or atomic filter that is not mapped, a binding may add keys itself: it sets the k bits of a key as
// docs/layout.md says, each by a relaxed atomic 64-bit OR (of a plain filter, the one writer may load and
// store), never clears one, and tells the number of its adds to gloom_note_adds.
const void *gloom_blocks(const gloom_filter *filter);

// The instruction set that tests and adds of this filter use: "portable", "avx2", "avx512", ... A
// static string; "portable" for NULL.
const char *gloom_simd_level(const gloom_filter *filter);

// Adds all keys of source to target, whose count rises by source's. The kinds may differ. Merging a
// filter with itself changes nothing.
//
// Threads: others may write both meanwhile (of a plain target: nobody); the target then holds every
// key whose add to source had returned before the call. Reads and writes the whole filters.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INCOMPATIBLE (num_blocks, k, hash or seed differ: the message says which),
// GLOOM_ERR_READ_ONLY. The target is untouched then.
gloom_status gloom_merge(gloom_filter *target, const gloom_filter *source, gloom_error *error);

// Merges the len bytes of a serialized filter at data, of either format and any alignment, into target,
// without loading it. Otherwise as gloom_merge, with the failures of gloom_deserialize.
gloom_status gloom_merge_serialized(gloom_filter *target, const void *data, size_t len, gloom_error *error);

// Keeps in target only what source has, too. A key that was added to both stays; others go, as far as the
// bits tell: the false-positive rate is at best that of the smaller filter. The count becomes the smaller
// one. Intersecting a filter with itself changes nothing.
//
// Threads: no other writer of target meanwhile, whatever its kind; source may be live.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INCOMPATIBLE, GLOOM_ERR_READ_ONLY. The target is untouched then.
gloom_status gloom_intersect(gloom_filter *target, const gloom_filter *source, gloom_error *error);

// Writes to *out a filter with factor times fewer blocks that holds the same keys and has source's count, at a
// higher false-positive rate; free it with gloom_free. factor must divide the number of blocks: see
// block_multiple of gloom_options. 1 gives a copy. Others may write source meanwhile, as for gloom_clone.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (factor), GLOOM_ERR_OUT_OF_MEMORY. *out is untouched then.
gloom_status gloom_fold(const gloom_filter *source,
                        uint64_t factor,
                        gloom_filter **out,
                        gloom_error *error);

// Removes all keys and sets the count to 0.
//
// Threads: no other writer meanwhile, whatever the kind (an add that overlaps may be lost in part).
//
// GLOOM_ERR_NULL, GLOOM_ERR_READ_ONLY.
gloom_status gloom_clear(gloom_filter *filter);

// Writes to *out a copy of source of the same kind; free it with gloom_free. Others may write source
// meanwhile: the copy holds every key whose add had returned before the call.
//
// GLOOM_ERR_NULL, GLOOM_ERR_OUT_OF_MEMORY. *out is untouched then.
gloom_status gloom_clone(const gloom_filter *source, gloom_filter **out, gloom_error *error);

// Have both the same num_blocks, k, hash, seed and bits, whatever their kinds and counts? false if either is NULL.
bool gloom_equal(const gloom_filter *a,
                 const gloom_filter *b);

// Writes to *size the bytes that the filter takes in a format (GLOOM_FORMAT_...).
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format), GLOOM_ERR_UNSUPPORTED (v1 holds no seed).
gloom_status gloom_serialized_size(const gloom_filter *filter,
                                   int32_t format,
                                   uint64_t *size,
                                   gloom_error *error);

// Writes the filter to a buffer of buffer_len bytes, of any alignment, and the bytes used to *written
// (which may be NULL). Others may add meanwhile: what is written holds every key whose add had returned
// before the call. Nothing is written unless everything fits.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format), GLOOM_ERR_UNSUPPORTED (v1 holds no seed),
// GLOOM_ERR_BUFFER_TOO_SMALL (gloom_serialized_size tells how many bytes are needed).
gloom_status gloom_serialize(const gloom_filter *filter,
                             int32_t format,
                             void *buffer,
                             size_t buffer_len,
                             size_t *written,
                             gloom_error *error);

// Makes a filter of the len bytes at data, of any alignment, and writes it to *out; free it with
// gloom_free. The bytes must be one serialized filter and nothing else. options may be NULL: an
// atomic filter, no limit.
//
// Length and limit are verified before memory is taken, the checksum before the filter is given out; a
// failed call leaves *out as it was.
//
// GLOOM_ERR_NULL, GLOOM_ERR_CORRUPT, GLOOM_ERR_UNSUPPORTED (another version), GLOOM_ERR_LIMIT,
// GLOOM_ERR_INVALID_ARGUMENT (options), GLOOM_ERR_OUT_OF_MEMORY.
gloom_status gloom_deserialize(const void *data,
                               size_t len,
                               const gloom_load_options *options,
                               gloom_filter **out,
                               gloom_error *error);

// Writes the filter piece by piece with a callback, which is handed context. Others may add meanwhile, as for
// gloom_serialize.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format, or a callback that took 0 or more than it was given),
// GLOOM_ERR_UNSUPPORTED (v1 holds no seed), GLOOM_ERR_CANCELLED, GLOOM_ERR_IO.
gloom_status gloom_write(const gloom_filter *filter,
                         int32_t format,
                         gloom_write_fn write,
                         void *context,
                         gloom_error *error);

// Reads a filter, of either format, piece by piece with a callback, which is handed context, and writes it to
// *out; free it with gloom_free. Takes exactly the bytes of the filter, so that something else may follow
// in the stream. options as in gloom_deserialize; set max_bytes for a stream from strangers, since how much
// follows cannot be known before.
//
// Failures as gloom_deserialize, GLOOM_ERR_CANCELLED, GLOOM_ERR_IO, GLOOM_ERR_INVALID_ARGUMENT (also a
// callback that put more than it was asked for). *out is untouched then.
gloom_status gloom_read(gloom_read_fn read,
                        void *context,
                        const gloom_load_options *options,
                        gloom_filter **out,
                        gloom_error *error);

// Saves the filter to a file in a format (GLOOM_FORMAT_...). The file appears whole or not at all: a crash, a
// full disk or a failed call leaves the old one as it was. (But if the very last step fails, writing the folder
// to the disk, the new one is there already.) On return the new one is on the disk. Others may add meanwhile: the
// file holds every key whose add had returned before the call.
//
// Symbolic links are followed, but none of another user in a sticky folder that all may write (GLOOM_ERR_IO with
// EACCES). Only regular files are replaced. A process that is killed leaves at most one file, .NAME.gloom-... in the
// same folder, which the next save to the path removes.
//
// If the old file has the owner of the new one, the new one gets its permissions (those of the group only if that is
// the same, too), but never set-user-id, set-group-id or sticky; else it gets those of any new file. An old file that
// may be neither read nor written is not replaced: it could be mapped.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format), GLOOM_ERR_UNSUPPORTED (v1 holds no seed),
// GLOOM_ERR_BUSY (the file is mapped for writing; somebody else replaces it, whom this call may not wait for: neither may
// write the file, or it is a stranger's in a sticky folder that all may write), GLOOM_ERR_IO.
gloom_status gloom_save(const gloom_filter *filter,
                        const char *path,
                        int32_t format,
                        gloom_error *error);

// Loads the filter in a file, whatever its format, and writes it to *out; free it with gloom_free. options may
// be NULL: an atomic filter, no limit.
//
// The length of the file and the limit are verified before memory is taken. A pipe without a name (/dev/stdin, a process
// substitution) has no length: it is read as by gloom_read. What else is no regular file (a FIFO, which somebody may
// have put there, a socket, a device, a folder) is GLOOM_ERR_IO, without waiting, unless
// GLOOM_FLAG_SPECIAL_FILES asks for it.
//
// Failures as gloom_deserialize, and GLOOM_ERR_IO. *out is untouched then.
gloom_status gloom_load(const char *path,
                        const gloom_load_options *options,
                        gloom_filter **out,
                        gloom_error *error);

// Writes to *out what the header of a file tells, without reading the rest. out->struct_size must be set
// (GLOOM_FILE_INFO_INIT). Never waits: what is no regular file is GLOOM_ERR_IO.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_IO, GLOOM_ERR_CORRUPT (not a filter, or of another
// length), GLOOM_ERR_UNSUPPORTED (another version, layout or hash). *out is untouched then.
gloom_status gloom_inspect(const char *path, gloom_file_info *out, gloom_error *error);

// Makes a new native file for a filter as options describe it (kind 0 or GLOOM_KIND_ATOMIC: the only one that
// processes can share), maps it for reading and writing and writes the filter to *out; close it with
// gloom_free. The file must not exist. All its disk space is taken at once. It appears when it is complete; a
// process that is killed meanwhile leaves at most a file of another name (.NAME.gloom-...), which the next one to
// the path removes. Otherwise as gloom_map.
//
// Failures as gloom_create, and GLOOM_ERR_IO. *out is untouched then, and there is no file (unless the folder could
// not be written and somebody else has mapped it meanwhile).
gloom_status gloom_map_create(const char *path,
                              const gloom_options *options,
                              gloom_filter **out,
                              gloom_error *error);

// Uses the filter in a native file where it is, and writes it to *out; close it with gloom_free. Takes
// milliseconds, whatever the size; but a file to write in tmpfs takes time in proportion, since that looks at every
// page when space is reserved. flags are GLOOM_MAP_...
//
// Read-only (flags 0), any number of processes share one copy in memory, and writes give
// GLOOM_ERR_READ_ONLY. With GLOOM_MAP_READ_WRITE, adds go to the file and are seen at once by all who map it; the
// filter is atomic, and the disk space that a file with holes lacks is taken; if there is not enough, it is given back
// (GLOOM_ERR_IO with ENOSPC). gloom_map_with_options can limit it. gloom_sync makes adds durable; a
// process that dies loses none; if the system fails, adds since the last gloom_sync may be lost, and the file is
// refused from then on without GLOOM_MAP_ALLOW_DIRTY (with which a map for writing reads and writes all of it once).
// The last writer who closes the file reads all of it to write its checksum: without GLOOM_MAP_VERIFY, also one that
// agrees with damage that was there before.
//
// The file must not be truncated while it is mapped: reading what is no longer there ends the process with
// SIGBUS. Replacing it (gloom_save to the same path by another process that does not find it mapped for
// writing, rename) is fine: the map goes on with the old file. After a fork the child may use the filter, but
// its gloom_free leaves the file to the parent.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (flags), GLOOM_ERR_IO, GLOOM_ERR_BUSY (to write: a stranger has locked his
// file in a sticky folder that all may write), GLOOM_ERR_CORRUPT (also a checksum that
// GLOOM_MAP_VERIFY finds wrong, and a dirty file), GLOOM_ERR_UNSUPPORTED (format v1; another version),
// GLOOM_ERR_OUT_OF_MEMORY (for the handle and its counters; no address space for the map is GLOOM_ERR_IO, or
// GLOOM_ERR_LIMIT where no process could have as much). *out is untouched then.
gloom_status gloom_map(const char *path,
                       uint32_t flags,
                       gloom_filter **out,
                       gloom_error *error);

// As gloom_map, by options: also with a limit. options may be NULL: read-only, no limit.
//
// Failures as gloom_map, GLOOM_ERR_LIMIT (the blocks would take more than max_bytes), GLOOM_ERR_INVALID_ARGUMENT and
// GLOOM_ERR_UNSUPPORTED (an option of a later release). *out is untouched then.
gloom_status gloom_map_with_options(const char *path,
                                    const gloom_map_options *options,
                                    gloom_filter **out,
                                    gloom_error *error);

// Returns true if a mapped filter should be mapped again, because its map is no longer what the path led to: the file
// was replaced (gloom_save by another process, rename), renamed or removed; or, on overlayfs, a writer opened a file of
// the image after this map, got a copy of it, and adds to the copy. Returns false for a filter in memory and for NULL.
//
// Threads: any number at once. Costs two calls to the system.
bool gloom_is_stale(const gloom_filter *filter);

// Waits until all adds to a mapped filter that have returned are on the disk.
//
// If it fails with GLOOM_ERR_IO once, it does so from then on, since the system may have forgotten what it could not
// write: adds since the last gloom_sync that returned GLOOM_OK may be missing in the file, which is refused from
// then on without GLOOM_MAP_ALLOW_DIRTY. The filter in memory is as it was, and can be saved elsewhere.
//
// Threads: any number at once; they wait for each other. Cost: writes the pages that have changed.
//
// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (the filter is not mapped), GLOOM_ERR_READ_ONLY, GLOOM_ERR_IO.
gloom_status gloom_sync(gloom_filter *filter,
                        gloom_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GLOOM_H */
