/* Those functions of gloom.h that take the bytes of a Go program, as uint8_t instead of void.
 *
 * cgo cannot know what a void * points at. It looks through the whole Go object, which may be a struct that a key is only a
 * part of, and panics if there are Go pointers in it. There are none behind a pointer to bytes, so it does not look, which
 * also saves the time.
 */

#ifndef GLOOM_GO_BYTES_H
#define GLOOM_GO_BYTES_H

#include "gloom.h"

static inline gloom_status go_add(gloom_filter *filter, const uint8_t *key, size_t len) {
    return gloom_add(filter, key, len);
}

static inline gloom_status go_test_and_add(gloom_filter *filter, const uint8_t *key, size_t len, bool *was_present) {
    return gloom_test_and_add(filter, key, len, was_present);
}

static inline gloom_hash go_siphash_key(const uint8_t *key, size_t len, uint64_t seed) {
    return gloom_siphash_key(key, len, seed);
}

static inline gloom_status go_add_batch_fixed(gloom_filter *filter, const uint8_t *keys, size_t key_size, size_t n) {
    return gloom_add_batch_fixed(filter, keys, key_size, n);
}

static inline gloom_status go_add_batch_offsets64(gloom_filter *filter, const uint8_t *data, size_t data_len,
                                                  const int64_t *offsets, size_t n) {
    return gloom_add_batch_offsets64(filter, data, data_len, offsets, n);
}

static inline gloom_status go_test_batch_fixed(const gloom_filter *filter, const uint8_t *keys, size_t key_size, size_t n,
                                               uint8_t *results) {
    return gloom_test_batch_fixed(filter, keys, key_size, n, results, NULL);
}

static inline gloom_status go_test_batch_offsets64(const gloom_filter *filter, const uint8_t *data, size_t data_len,
                                                   const int64_t *offsets, size_t n, uint8_t *results) {
    return gloom_test_batch_offsets64(filter, data, data_len, offsets, n, results, NULL);
}

static inline gloom_status go_merge_serialized(gloom_filter *target, const uint8_t *data, size_t len, gloom_error *error) {
    return gloom_merge_serialized(target, data, len, error);
}

static inline gloom_status go_serialize(const gloom_filter *filter, int32_t format, uint8_t *buffer, size_t buffer_len,
                                        gloom_error *error) {
    return gloom_serialize(filter, format, buffer, buffer_len, NULL, error);
}

static inline gloom_status go_deserialize(const uint8_t *data, size_t len, const gloom_load_options *options,
                                          gloom_filter **out, gloom_error *error) {
    return gloom_deserialize(data, len, options, out, error);
}

#endif
