#define _DEFAULT_SOURCE
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "progress.h"

/* find writes paths that end with NUL, the one byte that no path contains: a newline in a path does no harm. */
#define LIST_FILES "exec find /usr -xdev -type f -print0"

static void write_all(int file, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t written = write(file, data, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail("cannot keep the keys in a temporary file: %s", strerror(errno));
        data += written;
        len -= (size_t)written;
    }
}

/* A file that has no name any more, so that it is gone when the demo ends, however it ends. */
static int unnamed_file(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int length, file;

    if (!folder || !*folder)
        folder = "/tmp";
    length = snprintf(path, sizeof path, "%s/gloom-demo-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path)
        fail("TMPDIR is too long");
    file = mkstemp(path);
    if (file < 0)
        fail("cannot make a temporary file in %s: %s", folder, strerror(errno));
    unlink(path);
    return file;
}

/* Copies what can be read only once to a file that can be read again, in bounded memory. */
static int spool(int input, const char *name)
{
    static char buffer[64 * 1024];
    int file = unnamed_file();
    uint64_t done = 0;
    struct progress progress;

    progress_begin(&progress, "reading");
    for (;;) {
        ssize_t got = read(input, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail("%s: %s", name, strerror(errno));
        if (got == 0)
            break;
        write_all(file, buffer, (size_t)got);
        done += (uint64_t)got;
        progress_bytes(&progress, done, 0);
    }
    progress_end(&progress);
    return file;
}

static int open_list_of_files(const char *name)
{
    FILE *find = popen(LIST_FILES, "r");
    int file;

    if (!find)
        fail("cannot run find: %s", strerror(errno));
    file = spool(fileno(find), name);
    pclose(find); /* find has named the folders that it could not read; the others are good keys */
    return file;
}

struct keys keys_open(const char *path, bool null)
{
    struct keys keys = {.name = path, .end = null ? '\0' : '\n'};
    struct stat status;

    if (!path) {
        keys.name = "the files below /usr";
        keys.end = '\0';
        keys.file = open_list_of_files(keys.name);
    } else if (strcmp(path, "-") == 0) {
        keys.name = "stdin";
        keys.file = spool(STDIN_FILENO, keys.name);
    } else {
        keys.file = open(path, O_RDONLY | O_CLOEXEC);
        if (keys.file < 0)
            fail("cannot open '%s': %s", path, strerror(errno));
    }

    if (fstat(keys.file, &status) != 0)
        fail("%s: %s", keys.name, strerror(errno));
    if (S_ISDIR(status.st_mode))
        fail("'%s' is a directory: name a file with one key a line", path);
    if (!S_ISREG(status.st_mode)) { /* a pipe with a name */
        int file = spool(keys.file, keys.name);
        close(keys.file);
        keys.file = file;
        if (fstat(keys.file, &status) != 0)
            fail("%s: %s", keys.name, strerror(errno));
    }
    keys.size = status.st_size;
    return keys;
}

void keys_close(struct keys *keys)
{
    close(keys->file);
    keys->file = -1;
}
