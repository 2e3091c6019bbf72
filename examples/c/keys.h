#ifndef DEMO_KEYS_H
#define DEMO_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A file of keys. It is read several times (to count, to load, to check), by several threads, in bounded
 * memory: each thread reads its own part of the file. */
struct keys {
    const char *name; /* for people */
    int file;
    off_t size;       /* when it was opened; what is appended later is not read */
    char end;         /* the byte that ends a key, so that no key contains it */
};

/* Opens a file of keys, stdin ("-"), or the paths of all files below /usr (NULL). Fails with a message. */
struct keys keys_open(const char *path, bool null);
void keys_close(struct keys *keys);

/* Reads the keys that begin in part `part` (from 0) of `parts` equal parts of the file. */
struct key_reader {
    const struct keys *keys;
    char *buffer;      /* grows to the longest key */
    size_t capacity;
    size_t head, tail; /* the bytes that are read but not handed out */
    off_t at;          /* where in the file head is */
    off_t stop;        /* keys that begin here or later are another reader's */
    off_t size;        /* of the file, as far as this reader knows */
    int error;         /* errno when something failed, else 0 */
};

void key_reader_open(struct key_reader *reader, const struct keys *keys, unsigned part, unsigned parts);
void key_reader_close(struct key_reader *reader);

/* Gives the next key, valid until the next call; false at the end and on an error. */
bool key_reader_next(struct key_reader *reader, const char **key, size_t *len);

/* The length of a key without the carriage return of a CRLF line; keys that end with NUL keep theirs. */
size_t key_trim(const struct keys *keys, const char *key, size_t len);

#endif
