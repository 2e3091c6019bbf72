/* A folder of the program's own, which goes when the program ends; and files as bytes. The program defines
 * _DEFAULT_SOURCE before its first #include. */
#ifndef FOLDER_H
#define FOLDER_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { PATH_ROOM = 512, PATHS_AT_A_TIME = 16 };

static char folder[PATH_ROOM / 2];
static pid_t folder_owner;

static inline void remove_tree(const char *path)
{
    DIR *entries = opendir(path);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char inner[2 * PATH_ROOM];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= (int)sizeof inner)
            continue;
        if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode))
            remove_tree(inner);
        else
            unlink(inner);
    }
    if (entries != NULL)
        closedir(entries);
    rmdir(path);
}

static inline void remove_folder(void)
{
    if (getpid() == folder_owner) /* not a child's business */
        remove_tree(folder);
}

/* Where waiting for the disk is not what is tested, files in memory are faster by a thousand times. */
typedef enum { ON_DISK, IN_MEMORY } medium;

static inline void make_folder(medium where)
{
    const char *temporary = getenv("TMPDIR");
    if (where == IN_MEMORY && access("/dev/shm", W_OK | X_OK) == 0)
        temporary = "/dev/shm";
    else if (temporary == NULL || temporary[0] == 0)
        temporary = "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/gloom-XXXXXX", temporary);
    REQUIRE(mkdtemp(folder) != NULL);
    folder_owner = getpid();
    REQUIRE(atexit(remove_folder) == 0);
}

/* The path of a name in the folder; good until the thread has asked for some more. */
static inline const char *path_of(const char *name)
{
    static _Thread_local char paths[PATHS_AT_A_TIME][2 * PATH_ROOM];
    static _Thread_local unsigned next;
    char *path = paths[next++ % PATHS_AT_A_TIME];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* How many names a folder has: one too many is a temporary file that was left. */
static inline uint64_t names_in(const char *path)
{
    DIR *entries = opendir(path);
    struct dirent *entry;
    uint64_t names = 0;
    REQUIRE(entries != NULL);
    while ((entry = readdir(entries)) != NULL)
        names += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return names;
}

static inline void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(bytes, 1, len, file) == len);
    REQUIRE(fclose(file) == 0);
}

/* The whole file in memory of exactly its size. */
static inline unsigned char *read_file(const char *path, size_t *len)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    REQUIRE(fstat(fileno(file), &status) == 0);
    *len = (size_t)status.st_size;
    unsigned char *bytes = malloc(*len == 0 ? 1 : *len);
    REQUIRE(bytes != NULL);
    REQUIRE(fread(bytes, 1, *len, file) == *len);
    fclose(file);
    return bytes;
}

/* Has the file just these bytes? */
static inline bool file_is(const char *path, const void *bytes, size_t len)
{
    size_t file_len;
    unsigned char *file = read_file(path, &file_len);
    bool same = file_len == len && memcmp(file, bytes, len) == 0;
    free(file);
    return same;
}

static inline bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static inline struct stat status_of(const char *path)
{
    struct stat status;
    REQUIRE(stat(path, &status) == 0);
    return status;
}

#endif
