/* Preloaded into a process, this notes when each of its syncs began and ended, and can make each one longer, as those
 * of a slow disk are (syncs.py reads the notes).
 *
 *     LD_PRELOAD=syncs.so TABLE_SYNCS_PAGE=/path TABLE_SYNC_ADDED_US=5000 python ...
 *
 * The page: how many syncs have ended, 8 bytes, and the last 511 of them, a begin and an end each, in nanoseconds of
 * CLOCK_MONOTONIC, which is the same for every process.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 511, PAGE_BYTES = 8192 };

struct page {
    uint64_t count, unused;
    struct { uint64_t begun_ns, ended_ns; } syncs[SLOTS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *page;
static struct timespec added;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("TABLE_SYNCS_PAGE"), *added_us = getenv("TABLE_SYNC_ADDED_US");
    long us = added_us ? atol(added_us) : 0;
    added = (struct timespec){us / 1000000, us % 1000000 * 1000};
    int handle = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (handle < 0)
        return;
    void *mapped = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    page = mapped == MAP_FAILED ? NULL : mapped;
    close(handle);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int sync_noted(long how, int handle)
{
    uint64_t begun_ns = now_ns();
    int failed = (int)syscall(how, handle);
    if (added.tv_sec || added.tv_nsec)
        nanosleep(&added, NULL);
    if (page) {
        pthread_mutex_lock(&lock);
        page->syncs[page->count % SLOTS].begun_ns = begun_ns;
        page->syncs[page->count % SLOTS].ended_ns = now_ns();
        __atomic_add_fetch(&page->count, 1, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
    }
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
