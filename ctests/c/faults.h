/* Faults of the system, one at a time: the library's system calls come here first (ld --wrap, see WRAP_FILES in
 * tests/crash.rs) and are numbered while a fault is armed; at the number asked for, it happens.
 *
 * For one source file of a program, since it defines the functions that the linker puts in between. */
#ifndef FAULTS_H
#define FAULTS_H

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <dirent.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"

typedef enum {
    FAULT_NONE,      /* calls are numbered, that is all */
    FAULT_KILL,      /* the process is killed before the call */
    FAULT_KILL_HALF, /* ... or when half of what it writes is written, if that is more than a sector of a disk */
    FAULT_FAIL,      /* nothing is done, and errno is faults.error */
    FAULT_SHORT,     /* only half of what it reads or writes is done */
    FAULT_CALL       /* faults.call is called before the call */
} fault;

static struct {
    fault armed;
    unsigned at;  /* the number of the call that is struck, from 1 */
    int error;    /* for FAULT_FAIL */
    void (*call)(void); /* for FAULT_CALL */
    unsigned calls;     /* so many there were since faults_arm */
    const char *struck; /* the name of the call that was struck, or NULL */
    bool counting;
    /* For whoever wants to know: after each call that succeeded, also inside faults.call. */
    void (*after)(const char *name, int file, void *address);
    bool watching;
    /* Read instead of the system's boot id, if not NULL. */
    const char *boot_id;
    /* As on file systems that cannot allocate: ramfs, NFS, some in user space. */
    bool no_fallocate;
    /* As on file systems without locks. */
    bool no_locks;
    /* So many errors msync has to tell, each of them once, if not NULL. */
    atomic_int *msync_errors;
    /* As on file systems that cannot rename without replacing (some in user space), or make no hard links either (FAT). */
    bool no_exclusive_rename, no_links;
    /* As on file systems that have no files without a name (O_TMPFILE), and where /proc, by which they get one, is not
     * mounted. */
    bool no_unnamed_files;
    /* The file system says that it has no space left. */
    bool is_full;
    /* How much read() has brought since faults_arm. */
    uint64_t bytes_read;
} faults;

static void faults_arm(fault what, unsigned at)
{
    faults.armed = what;
    faults.at = at;
    faults.calls = 0;
    faults.bytes_read = 0;
    faults.struck = NULL;
    faults.counting = faults.watching = true;
}

static void faults_disarm(void)
{
    faults.counting = faults.watching = false;
}

/* What happens to this call: FAULT_NONE or the fault that is armed. */
static fault faults_at(const char *name)
{
    if (!faults.counting)
        return FAULT_NONE;
    if (++faults.calls != faults.at || faults.armed == FAULT_NONE)
        return FAULT_NONE;
    faults.struck = name;
    if (faults.armed == FAULT_KILL) {
        kill(getpid(), SIGKILL);
        abort();
    }
    if (faults.armed == FAULT_CALL) {
        /* Whatever it calls is not numbered. */
        faults.counting = false;
        faults.call();
        faults.counting = true;
        return FAULT_NONE;
    }
    return faults.armed;
}

static void faults_done(bool succeeded, const char *name, int file, void *address)
{
    if (!succeeded || !faults.watching || faults.after == NULL)
        return;
    faults.watching = false; /* what it calls is nobody's business */
    faults.after(name, file, address);
    faults.watching = true;
}

/* Of renameat2 and linkat, which fail with EINVAL then. */
static const unsigned UNKNOWN_FLAG = 1U << 30;

/* A call that returns -1 if it fails. */
#define WRAP(name, parameters, arguments, file)                                                              \
    int __real_##name parameters;                                                                            \
    int __wrap_##name parameters;                                                                            \
    int __wrap_##name parameters                                                                             \
    {                                                                                                        \
        if (faults_at(#name) == FAULT_FAIL) {                                                                \
            errno = faults.error;                                                                            \
            return -1;                                                                                       \
        }                                                                                                    \
        int result = __real_##name arguments;                                                                \
        faults_done(result == 0, #name, file, NULL);                                                         \
        return result;                                                                                       \
    }

WRAP(fsync, (int file), (file), file)
WRAP(fchmod, (int file, mode_t mode), (file, mode), file)
WRAP(renameat, (int from_folder, const char *from, int to_folder, const char *to),
     (from_folder, from, to_folder, to), -1)
WRAP(renameat2, (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
     (from_folder, from, to_folder, to, faults.no_exclusive_rename ? UNKNOWN_FLAG : flags), -1)
WRAP(linkat, (int from_folder, const char *from, int to_folder, const char *to, int flags),
     (from_folder, from, to_folder, to, faults.no_links ? (int)UNKNOWN_FLAG : flags), -1)
WRAP(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), -1)
WRAP(fstatat, (int folder, const char *path, struct stat *out, int flags), (folder, path, out, flags), -1)
WRAP(fremovexattr, (int file, const char *name), (file, name), file)
WRAP(flock, (int file, int operation), (faults.no_locks ? -1 : file, operation), file)
WRAP(statx, (int folder, const char *path, int flags, unsigned mask, struct statx *out),
     (folder, path, flags, mask, out), -1)

enum { SECTOR = 512 };

/* A call that reads or writes up to `len` bytes. */
#define WRAP_TRANSFER(name, parameters, arguments)                                                           \
    ssize_t __real_##name parameters;                                                                        \
    ssize_t __wrap_##name parameters;                                                                        \
    ssize_t __wrap_##name parameters                                                                         \
    {                                                                                                        \
        fault now = faults_at(#name);                                                                        \
        if (now == FAULT_FAIL) {                                                                             \
            errno = faults.error;                                                                            \
            return -1;                                                                                       \
        }                                                                                                    \
        bool dies = now == FAULT_KILL_HALF && len > SECTOR;                                                  \
        if ((now == FAULT_SHORT && len > 1) || dies)                                                         \
            len /= 2;                                                                                        \
        ssize_t result = __real_##name arguments;                                                            \
        if (result > 0 && strcmp(#name, "read") == 0)                                                        \
            faults.bytes_read += (uint64_t)result;                                                           \
        if (dies)                                                                                            \
            kill(getpid(), SIGKILL);                                                                         \
        return result;                                                                                       \
    }

WRAP_TRANSFER(read, (int file, void *data, size_t len), (file, data, len))
WRAP_TRANSFER(write, (int file, const void *data, size_t len), (file, data, len))
WRAP_TRANSFER(pread64, (int file, void *data, size_t len, off64_t offset), (file, data, len, offset))
WRAP_TRANSFER(pwrite64, (int file, const void *data, size_t len, off64_t offset), (file, data, len, offset))

WRAP_TRANSFER(readlinkat, (int folder, const char *path, char *data, size_t len), (folder, path, data, len))

/* Those that are like no other. */

ssize_t __real_getrandom(void *data, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *data, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *data, size_t len, unsigned flags)
{
    if (faults_at("getrandom") == FAULT_FAIL) {
        errno = faults.error;
        return -1;
    }
    return __real_getrandom(data, len, flags);
}

off_t __real_lseek(int file, off_t offset, int whence);
off_t __wrap_lseek(int file, off_t offset, int whence);
off_t __wrap_lseek(int file, off_t offset, int whence)
{
    if (faults_at("lseek") == FAULT_FAIL) {
        errno = faults.error;
        return -1;
    }
    return __real_lseek(file, offset, whence);
}

int __real_fstatvfs(int file, struct statvfs *out);
int __wrap_fstatvfs(int file, struct statvfs *out);
int __wrap_fstatvfs(int file, struct statvfs *out)
{
    if (faults_at("fstatvfs") == FAULT_FAIL) {
        errno = faults.error;
        return -1;
    }
    int result = __real_fstatvfs(file, out);
    if (faults.is_full)
        out->f_bfree = out->f_bavail = 0;
    return result;
}

DIR *__real_fdopendir(int file);
DIR *__wrap_fdopendir(int file);
DIR *__wrap_fdopendir(int file)
{
    if (faults_at("fdopendir") == FAULT_FAIL) {
        errno = faults.error;
        return NULL;
    }
    return __real_fdopendir(file);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (faults_at("openat") == FAULT_FAIL) {
        errno = faults.error;
        return -1;
    }
    if (faults.no_unnamed_files && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_openat(folder, path, flags, mode);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (faults_at("open64") == FAULT_FAIL) {
        errno = faults.error;
        return -1;
    }
    if (faults.boot_id != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        path = faults.boot_id;
    return __real_open64(path, flags, mode);
}

int __real_fallocate(int file, int mode, off_t offset, off_t len);
int __wrap_fallocate(int file, int mode, off_t offset, off_t len);
int __wrap_fallocate(int file, int mode, off_t offset, off_t len)
{
    bool fails = faults_at("fallocate") == FAULT_FAIL;
    if (fails || faults.no_fallocate) {
        errno = fails ? faults.error : EOPNOTSUPP;
        return -1;
    }
    int result = __real_fallocate(file, mode, offset, len);
    faults_done(result == 0, "fallocate", file, NULL);
    return result;
}

/* What glibc does where the file system cannot: it reads a byte of each block, and writes it if it is zero. */
static int fallocate_by_hand(int file, off_t len)
{
    enum { STEP = 4096 };
    struct stat status;
    char byte = 0;
    if (fstat(file, &status) != 0 || (status.st_size < len && ftruncate(file, len) != 0))
        return errno;
    for (off_t at = (len - 1) % STEP; at < len; at += STEP) {
        ssize_t got = __real_pread64(file, &byte, 1, at);
        (void)faults_at("posix_fallocate, between reading and writing a byte");
        if (got != 1 || (byte == 0 && __real_pwrite64(file, "", 1, at) != 1))
            return EIO;
    }
    return 0;
}

/* Returns its error. */
int __real_posix_fallocate(int file, off_t offset, off_t len);
int __wrap_posix_fallocate(int file, off_t offset, off_t len);
int __wrap_posix_fallocate(int file, off_t offset, off_t len)
{
    if (faults_at("posix_fallocate") == FAULT_FAIL)
        return faults.error;
    return faults.no_fallocate ? fallocate_by_hand(file, len) : __real_posix_fallocate(file, offset, len);
}

/* Of mmap, only files: memory is another matter. */
void *__real_mmap(void *address, size_t len, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t len, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t len, int protection, int flags, int file, off_t offset)
{
    if (file >= 0 && faults_at("mmap") == FAULT_FAIL) {
        errno = faults.error;
        return MAP_FAILED;
    }
    void *mapping = __real_mmap(address, len, protection, flags, file, offset);
    faults_done(file >= 0 && mapping != MAP_FAILED, "mmap", file, mapping);
    return mapping;
}

int __real_msync(void *address, size_t len, int flags);
int __wrap_msync(void *address, size_t len, int flags);
int __wrap_msync(void *address, size_t len, int flags)
{
    if (faults_at("msync") == FAULT_FAIL) {
        errno = faults.error;
        return -1;
    }
    if (faults.msync_errors != NULL) {
        /* Long enough for another thread to come in, if it may. */
        for (int i = 0; i < 1000; i++)
            sched_yield();
        if (atomic_exchange(faults.msync_errors, 0) > 0) {
            errno = EIO;
            return -1;
        }
    }
    int result = __real_msync(address, len, flags);
    faults_done(result == 0, "msync", -1, address);
    return result;
}

/* Whether it fails, nobody asks; it is where another may come in between. */
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    if (faults.armed == FAULT_KILL || faults.armed == FAULT_CALL)
        (void)faults_at("close");
    return __real_close(file);
}

/* Of fcntl, what copies a descriptor and what locks. Only waiting for a lock can be interrupted. */
static const char *name_of_fcntl(int command)
{
    return command == F_DUPFD_CLOEXEC ? "dup"
           : command == F_OFD_SETLKW  ? "lock"
           : command == F_OFD_SETLK   ? "try to lock"
           : command == F_OFD_GETLK   ? "ask for a lock"
                                      : NULL;
}

int __real_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...)
{
    const char *name = name_of_fcntl(command);
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (name != NULL && faults_at(name) == FAULT_FAIL) {
        errno = faults.error;
        return -1;
    }
    if (name != NULL && command != F_DUPFD_CLOEXEC && faults.no_locks) {
        errno = ENOLCK;
        return -1;
    }
    return __real_fcntl(file, command, argument);
}

#endif
