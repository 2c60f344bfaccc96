/* Preloaded into the daemon, this notes in one file, in the order they happened, what it does to the files below a
 * folder, what it says on sockets and which lamps it lights (recording.py reads the notes).
 *
 *     LD_PRELOAD=recorder.so:gpio_shim.so TABLE_RECORD_FOLDER=/path/ TABLE_RECORD_NOTES=/path/of/notes python ...
 *
 * What is done to a file is noted once it is done. What the outside sees is noted under the same lock that it is done
 * under, so no sync can come between the two: the notes never show a word later than it was said.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_HANDLES = 4096 };

struct note {
    char kind;
    int32_t process, handle;
    int64_t number;
    uint32_t size;
} __attribute__((packed));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static int notes = -1;
static bool is_file[MOST_HANDLES], is_socket[MOST_HANDLES];

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("TABLE_RECORD_NOTES");
    folder = getenv("TABLE_RECORD_FOLDER");
    if (path && folder)
        notes = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(char kind, int handle, int64_t number, const void *bytes, size_t size)
{
    struct note note = {kind, (int32_t)getpid(), handle, number, (uint32_t)size};
    struct iovec parts[] = {{&note, sizeof note}, {(void *)bytes, size}};
    if (notes >= 0 && syscall(SYS_writev, notes, parts, 2) != (long)(sizeof note + size))
        abort(); /* half a recording proves nothing */
}

static void put_locked(char kind, int handle, int64_t number, const void *bytes, size_t size)
{
    pthread_mutex_lock(&lock);
    put(kind, handle, number, bytes, size);
    pthread_mutex_unlock(&lock);
}

static bool watched(const char *path)
{
    return notes >= 0 && strncmp(path, folder, strlen(folder)) == 0;
}

static bool in(const bool *set, int handle)
{
    return handle >= 0 && handle < MOST_HANDLES && set[handle];
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    int handle = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (handle >= 0 && watched(path)) {
        if (handle >= MOST_HANDLES)
            abort();
        is_file[handle] = true;
        put_locked('o', handle, flags, path, strlen(path));
    }
    return handle;
}

ssize_t pwrite(int handle, const void *bytes, size_t size, off_t offset)
{
    ssize_t done = syscall(SYS_pwrite64, handle, bytes, size, offset);
    if (done > 0 && in(is_file, handle))
        put_locked('w', handle, offset, bytes, (size_t)done);
    return done;
}

ssize_t write(int handle, const void *bytes, size_t size)
{
    off_t offset = in(is_file, handle) ? lseek(handle, 0, SEEK_CUR) : -1;
    ssize_t done = syscall(SYS_write, handle, bytes, size);
    if (done > 0 && offset >= 0)
        put_locked('w', handle, offset, bytes, (size_t)done);
    return done;
}

int ftruncate(int handle, off_t size)
{
    int failed = (int)syscall(SYS_ftruncate, handle, size);
    if (!failed && in(is_file, handle))
        put_locked('t', handle, size, NULL, 0);
    return failed;
}

static int sync_noted(long how, int handle)
{
    int failed = (int)syscall(how, handle);
    if (!failed && in(is_file, handle))
        put_locked('s', handle, 0, NULL, 0);
    return failed;
}

int fsync(int handle)
{
    return sync_noted(SYS_fsync, handle);
}

int fdatasync(int handle)
{
    return sync_noted(SYS_fdatasync, handle);
}

int unlink(const char *path)
{
    int failed = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (!failed && watched(path))
        put_locked('u', -1, 0, path, strlen(path));
    return failed;
}

int rename(const char *from, const char *to)
{
    int failed = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (!failed && watched(to)) {
        char both[8192];
        size_t length = strlen(from), all = length + 1 + strlen(to);
        if (all > sizeof both)
            abort();
        memcpy(both, from, length + 1);
        memcpy(both + length + 1, to, all - length - 1);
        put_locked('r', -1, 0, both, all);
    }
    return failed;
}

int close(int handle)
{
    if (in(is_file, handle) || in(is_socket, handle)) {
        is_file[handle] = is_socket[handle] = false;
        put_locked('c', handle, 0, NULL, 0);
    }
    return (int)syscall(SYS_close, handle);
}

ssize_t send(int handle, const void *bytes, size_t size, int flags)
{
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_sendto, handle, bytes, size, flags, NULL, 0);
    if (done > 0 && handle < MOST_HANDLES) {
        is_socket[handle] = true;
        put('>', handle, 0, bytes, (size_t)done);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

void output_gpio(int gpio, int value) /* RPi.GPIO's, on its way to the shim that is preloaded after this */
{
    static void (*next)(int, int);
    pthread_mutex_lock(&lock);
    if (!next)
        next = (void (*)(int, int))dlsym(RTLD_NEXT, "output_gpio");
    next(gpio, value);
    put('l', gpio, value != 0, NULL, 0);
    pthread_mutex_unlock(&lock);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
ssize_t pwrite64(int handle, const void *bytes, size_t size, off_t offset) __attribute__((alias("pwrite")));
int ftruncate64(int handle, off_t size) __attribute__((alias("ftruncate")));
