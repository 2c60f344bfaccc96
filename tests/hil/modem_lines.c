/* An adapter whose modem lines a test moves. A pty has none, so that the kernel refuses to tell them.
 *
 * MODEM_LINES names a file that holds "1" while the plug is in at the shoe's end, and "0" while it is out. While the plug
 * is in, CTS, DSR and DCD have the level of RTS, which the loop in the plug leads back. The program, pyserial and the
 * daemon's own code are the real ones: only the kernel's answer is made here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static int rts; /* of the one port that the program has open */

static int plug_is_in(void)
{
    char level = '0';
    int file = open(getenv("MODEM_LINES"), O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, &level, 1) != 1)
            level = '0';
        close(file);
    }
    return level == '1';
}

int ioctl(int fd, unsigned long request, ...)
{
    static int (*real)(int, unsigned long, ...);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (real == NULL)
        real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    if (getenv("MODEM_LINES") == NULL || !isatty(fd))
        return real(fd, request, argument);
    switch (request) {
    case TIOCMBIS:
        if (*(int *)argument & TIOCM_RTS)
            rts = 1;
        return 0;
    case TIOCMBIC:
        if (*(int *)argument & TIOCM_RTS)
            rts = 0;
        return 0;
    case TIOCMGET:
        *(int *)argument = (rts ? TIOCM_RTS : 0) | (rts && plug_is_in() ? TIOCM_CTS | TIOCM_DSR | TIOCM_CAR : 0);
        return 0;
    default:
        return real(fd, request, argument);
    }
}
