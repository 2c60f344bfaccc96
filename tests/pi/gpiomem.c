// /dev/gpiomem, which Raspberry Pi's kernels have and Debian's has not: the registers of the pins, for whoever may open it.
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>

static int map_registers(struct file *file, struct vm_area_struct *area)
{
	area->vm_page_prot = pgprot_noncached(area->vm_page_prot);
	return vm_iomap_memory(area, 0x3f200000, PAGE_SIZE);
}

static const struct file_operations operations = {.owner = THIS_MODULE, .mmap = map_registers};
static struct miscdevice gpiomem = {.minor = MISC_DYNAMIC_MINOR, .name = "gpiomem", .fops = &operations};

module_misc_device(gpiomem);
MODULE_LICENSE("GPL");
