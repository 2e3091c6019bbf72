#define _DEFAULT_SOURCE
#include "keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 256 * 1024 };

size_t key_trim(const struct keys *keys, const char *key, size_t len)
{
    return keys->end == '\n' && len > 0 && key[len - 1] == '\r' ? len - 1 : len;
}

/* Reads more bytes behind the unread ones. */
static bool refill(struct key_reader *reader)
{
    size_t unread = reader->tail - reader->head;
    off_t offset = reader->at + (off_t)unread;
    off_t rest = reader->size - offset;
    size_t room;
    ssize_t got;

    memmove(reader->buffer, reader->buffer + reader->head, unread);
    reader->head = 0;
    reader->tail = unread;
    if (unread == reader->capacity) {
        char *larger = realloc(reader->buffer, reader->capacity * 2);
        if (!larger) {
            reader->error = ENOMEM;
            return false;
        }
        reader->buffer = larger;
        reader->capacity *= 2;
    }

    room = reader->capacity - unread;
    if ((off_t)room > rest)
        room = (size_t)rest;
    do
        got = pread(reader->keys->file, reader->buffer + unread, room, offset);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        reader->error = errno;
        return false;
    }
    if (got == 0)
        reader->size = offset; /* somebody cut the file; the caller sees it by the number of keys */
    reader->tail += (size_t)got;
    return true;
}

/* Hands out the bytes before the next end of a key, or the last ones of the file. */
static bool next_piece(struct key_reader *reader, const char **piece, size_t *len)
{
    size_t searched = 0;

    for (;;) {
        const char *start = reader->buffer + reader->head;
        size_t unread = reader->tail - reader->head;
        const char *end = memchr(start + searched, reader->keys->end, unread - searched);

        if (end || reader->at + (off_t)unread >= reader->size) {
            size_t used = end ? (size_t)(end - start) + 1 : unread;
            *piece = start;
            *len = end ? used - 1 : unread;
            reader->head += used;
            reader->at += (off_t)used;
            return true;
        }
        searched = unread;
        if (!refill(reader))
            return false;
    }
}

void key_reader_open(struct key_reader *reader, const struct keys *keys, unsigned part, unsigned parts)
{
    off_t step = keys->size / parts;
    const char *piece;
    size_t len;

    *reader = (struct key_reader){.keys = keys, .at = step * part, .size = keys->size};
    reader->stop = part + 1 == parts ? keys->size : step * (part + 1);
    reader->capacity = FIRST_CAPACITY;
    reader->buffer = malloc(reader->capacity);
    if (!reader->buffer) {
        reader->error = ENOMEM;
        return;
    }
    if (reader->at > 0) {
        /* The key that reaches over this border belongs to the part it begins in. Looking from one byte
         * before, a key that begins at the border itself is ours. */
        reader->at--;
        next_piece(reader, &piece, &len);
    }
}

void key_reader_close(struct key_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}

bool key_reader_next(struct key_reader *reader, const char **key, size_t *len)
{
    while (!reader->error && reader->at < reader->stop && reader->at < reader->size) {
        if (!next_piece(reader, key, len))
            return false;
        *len = key_trim(reader->keys, *key, *len);
        if (*len > 0)
            return true;
    }
    return false;
}
