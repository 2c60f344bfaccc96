/* Preloaded under the real RPi.GPIO 0.7.1, this replaces the layer that touches the Pi's registers with the pins page
 * (drivers/sim/pins.py describes it), so that its own Python API and argument checks run on any Linux machine.
 *
 *     LD_PRELOAD=gpio_shim.so TABLE_PINS_PAGE=/path/of/an/existing/page python ...
 *
 * RPi.GPIO reaches these functions through its PLT; names, arguments and numbers are those of its c_gpio.h and cpuinfo.h.
 * Edge detection is not covered: it goes through /sys, and pins are sampled.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };
enum { LEVEL = 0, LAST_OUTPUT = 64, FUNCTION = 128, PULL = 192, WRITES = 256 }; /* offsets into the page */
enum { UNDRIVEN = 255, IS_INPUT = 1, IS_OUTPUT = 2, PULLED_UP = 2 };            /* what the page holds */
enum { DIRECTION_OUT = 0, SETUP_OK = 0, SETUP_DEVMEM_FAIL = 1, SETUP_MMAP_FAIL = 3, FSEL_IN = 0, FSEL_OUT = 1 };

typedef struct {
    int p1_revision;
    char *ram, *manufacturer, *processor, *type;
    char revision[1024];
} rpi_info;

static volatile uint8_t *page;

int get_rpi_info(rpi_info *info)
{
    info->p1_revision = 3; /* the header of 40 pins */
    info->ram = "2G";
    info->manufacturer = "Sony UK";
    info->processor = "BCM2711";
    info->type = "Pi 4 Model B";
    strcpy(info->revision, "b03112");
    return 0;
}

int setup(void)
{
    const char *path = getenv("TABLE_PINS_PAGE");
    int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0)
        return SETUP_DEVMEM_FAIL; /* as on a Pi whose /dev/gpiomem is not ours to open */
    void *mapped = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        return SETUP_MMAP_FAIL;
    page = mapped;
    return SETUP_OK;
}

void setup_gpio(int gpio, int direction, int pull) /* pull: 0 off, 1 down, 2 up, here as in the page */
{
    page[PULL + gpio] = (uint8_t)pull;
    page[FUNCTION + gpio] = direction == DIRECTION_OUT ? IS_OUTPUT : IS_INPUT;
}

int gpio_function(int gpio)
{
    return page[FUNCTION + gpio] == IS_OUTPUT ? FSEL_OUT : FSEL_IN;
}

void output_gpio(int gpio, int value)
{
    page[LAST_OUTPUT + gpio] = value != 0;
    *(volatile uint64_t *)(page + WRITES) += 1; /* little-endian, as are all machines this is for */
}

int input_gpio(int gpio)
{
    if (page[FUNCTION + gpio] == IS_OUTPUT)
        return page[LAST_OUTPUT + gpio];
    uint8_t driven = page[LEVEL + gpio];
    return driven == UNDRIVEN ? page[PULL + gpio] == PULLED_UP : driven;
}

void cleanup(void) /* at exit: the registers are let go of, and the pins stay as they are */
{
    if (page)
        munmap((void *)page, PAGE_BYTES);
}
