/* Preloaded into a process, this makes each of its syncs fail, as those of a disk that dies do, while the file that
 * TABLE_SYNCS_FAIL names exists.
 *
 *     LD_PRELOAD=failing_sync.so TABLE_SYNCS_FAIL=/path/of/the/file python ...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sync_or_fail(long how, int handle)
{
    const char *path = getenv("TABLE_SYNCS_FAIL");
    if (path && access(path, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(how, handle);
}

int fsync(int handle)
{
    return sync_or_fail(SYS_fsync, handle);
}

int fdatasync(int handle)
{
    return sync_or_fail(SYS_fdatasync, handle);
}
