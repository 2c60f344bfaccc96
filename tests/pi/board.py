"""Makes the files that an emulated Raspberry Pi 3B boots: Debian's arm64 kernel, the board's device tree, and a clean
Debian on a memory card.

All of it is made once, in `build/roots`, and nothing is changed on the machine that runs the tests. Packages are
fetched by an apt with separate folders, and arm64 programs run in a separate user namespace.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tests.deploy.clean_debian import CLEAN, ROOT, alone, build_root, layer

_HERE = Path(__file__).parent
_PACKAGES = f"{CLEAN},kmod"
_CARD_BYTES = 2 << 30  # a card's size is a power of two for QEMU
_FIRST_MODULES = ("sdhci-iproc", "bcm2835", "crc32c_generic", "ext4")  # what finds the card
_MODULES = (
    "phy-generic",
    "dwc2",
    "cdc_ether",
    "rndis_host",
    "bcm2835_thermal",
    "bcm2835-rng",
    "bcm2835_wdt",
    "ftdi_sio",
)
POWER = 0x3EFF0000
"""Where the kernel finds the chip's power management, and the watchdog in it: in memory that is nobody's.

QEMU's own (7.2) resets the board as soon as the kernel starts the watchdog.
"""
_POWER_BUS = "50000000"  # the same on the chip's bus: an address that nothing has
_INIT = """#!/bin/busybox sh
for module in {modules}; do /bin/busybox insmod /$module; done
/bin/busybox mount -t devtmpfs dev /dev
until /bin/busybox mount -t ext4 /dev/mmcblk0 /root; do /bin/busybox sleep 0.2; done
exec /bin/busybox switch_root /root /sbin/init
"""
_PROGRAMS = {
    "mmdebstrap": "mmdebstrap",
    "qemu-system-aarch64": "qemu-system-arm",
    "qemu-aarch64-static": "qemu-user-static",
    "fdtput": "device-tree-compiler",
    "mke2fs": "e2fsprogs",
    "setpriv": "util-linux",
}
_BINFMT = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")


def lacking() -> str:
    """Return what this machine lacks for an emulated Pi, in words; empty if it lacks nothing."""
    search = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    packages = [package for program, package in _PROGRAMS.items() if shutil.which(program, path=search) is None]
    release = tuple(int(part) for part in os.uname().release.split(".")[:2])
    old = [] if release >= (6, 7) else ["a kernel from 6.7, which lets a user namespace run arm64 programs"]
    return ", ".join(packages + old + (["root"] if os.geteuid() else []))


@dataclass(frozen=True)
class Board:
    """A folder with the files that the emulated Pi boots before it reads its memory card, and with the kernel's modules
    for the card."""

    folder: Path

    @property
    def kernel(self) -> Path:
        (kernel,) = (self.folder / "kernel" / "boot").glob("vmlinuz-*")
        return kernel

    @property
    def device_tree(self) -> Path:
        return self.folder / "pi.dtb"

    @property
    def first_files(self) -> Path:
        return self.folder / "initrd"

    @property
    def modules(self) -> Path:
        """Return the folder with the kernel's modules. On the memory card, its files are added to those of a clean
        Debian."""
        return self.folder / "modules"


def board() -> Board:
    """Return the folder with the files that the emulated Pi boots. The folder is made anew if this Python file or
    gpiomem.c has changed since."""
    recipe = sha256(b"".join(path.read_bytes() for path in (Path(__file__), _HERE / "gpiomem.c"))).hexdigest()[:12]
    folder = ROOT / "build" / "roots" / f"pi-{recipe}"
    with alone(folder.with_name("pi.lock")):
        if not folder.is_dir():
            new = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            _make(Board(new))
            new.rename(folder)
    return Board(folder)


def _make(new: Board) -> None:
    kernel = new.folder / "kernel"
    release = _unpack_kernel(new.folder, kernel)
    _edit_device_tree(kernel / "usr" / "lib" / f"linux-image-{release}" / "broadcom" / "bcm2837-rpi-3-b.dtb", new)
    gpiomem = _compile_gpiomem(new.folder, release)
    modules = kernel / "lib" / "modules" / release
    _depmod(kernel, release)
    first = _with_what_they_need(modules, _FIRST_MODULES)
    into = new.modules / "usr" / "lib" / "modules" / release
    into.mkdir(parents=True)
    (new.modules / "lib").symlink_to("usr/lib")  # as in the root below
    for path in (*_with_what_they_need(modules, _MODULES), gpiomem, *modules.glob("modules.builtin*")):
        shutil.copy(path, into)
    (into / "modules.order").touch()
    _depmod(new.modules, release)
    init = _INIT.format(modules=" ".join(path.name for path in first)).encode()
    files = {"init": init, "bin/busybox": (kernel / "bin" / "busybox").read_bytes()}
    new.first_files.write_bytes(_cpio(files | {path.name: path.read_bytes() for path in first}))
    for needless in ("lib", "usr", "bin"):
        shutil.rmtree(kernel / needless)


def _unpack_kernel(folder: Path, kernel: Path) -> str:
    """Unpack Debian's arm64 kernel into `folder`, and the files needed to compile a module for it. Returns the kernel's
    release."""
    apt = folder / "apt"
    (apt / "lists" / "partial").mkdir(parents=True)
    (apt / "archives" / "partial").mkdir(parents=True)
    (apt / "status").touch()
    (apt / "apt.conf").write_text(
        'APT { Architecture "arm64"; Architectures { "arm64"; "amd64"; }; Sandbox::User "root"; };\n'
        f'Dir {{ State "{apt}"; State::status "{apt}/status"; Cache "{apt}"; }};\n'
    )
    environment = os.environ | {"APT_CONFIG": str(apt / "apt.conf")}

    def says(*command: str) -> str:
        return subprocess.run(command, cwd=apt, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    says("apt-get", "update", "-qq")
    image = says("apt-cache", "depends", "linux-image-arm64").split()[2]
    release = image.removeprefix("linux-image-")
    headers = f"linux-headers-{release}"
    common = headers.replace("-arm64", "-common")
    kbuild = f"linux-kbuild-{'.'.join(release.split('.')[:2])}:amd64"
    says("apt-get", "download", image, headers, common, kbuild, "busybox-static")
    for package in apt.glob("*.deb"):
        into = folder / "headers" if package.name.startswith(("linux-headers", "linux-kbuild")) else kernel
        into.mkdir(exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", str(package), str(into)], check=True)
    shutil.rmtree(apt)
    return release


def _edit_device_tree(shipped: Path, new: Board) -> None:
    """Write the device tree for the emulated Pi: a copy of the tree `shipped`, with what a Pi's firmware adds, and
    without what QEMU lacks."""
    shutil.copy(shipped, new.device_tree)

    def fdtput(*words: str) -> None:
        subprocess.run(["fdtput", *words], check=True)

    tree = str(new.device_tree)
    fdtput("-c", tree, "/system")
    fdtput("-t", "x", tree, "/system", "linux,revision", "a02082")  # a Pi 3B: RPi.GPIO refuses without it
    fdtput("-r", tree, "/soc/serial@7e201000/bluetooth")  # else there is no /dev/ttyAMA0
    for core in (1, 2, 3):  # parked cores spin, and halve the speed
        fdtput("-r", tree, f"/cpus/cpu@{core}")
    ranges = ("7e000000", "3f000000", "1000000", "40000000", "40000000", "1000", _POWER_BUS, f"{POWER:x}", "1000")
    fdtput("-t", "x", tree, "/soc", "ranges", *ranges)
    fdtput("-t", "x", tree, "/soc/watchdog@7e100000", "reg", _POWER_BUS, "114", "7e00a000", "24")


def arm64_root(release: str) -> Path:
    """Return the folder of a clean Debian of this release for arm64. If there is no such folder yet, make it."""
    root = ROOT / "build" / "roots" / f"arm64-{release}"
    with alone(root.with_name(f"{root.name}.lock")):
        if not root.is_dir():
            new = root.with_name(f"{root.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            _make_root(new, release)
            new.rename(root)
    return root


def _make_root(root: Path, release: str) -> None:
    """Make the files of an arm64 Debian with mmdebstrap, in a user namespace that runs arm64 programs through QEMU."""
    script = f"""
        read -r namespace_is_ready
        mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
        cat {_BINFMT} > /proc/sys/fs/binfmt_misc/register
        exec mmdebstrap --quiet --mode=root --arch=arm64 --skip=check/qemu --variant=apt --format=directory \\
            --include={_PACKAGES} {release} {root}"""
    command = ["unshare", "--user", "--mount", "--propagation", "private", "sh", "-euc", script]
    own = Path("/proc/self/ns/user").readlink()
    with subprocess.Popen(command, stdin=subprocess.PIPE) as maker:
        while Path(f"/proc/{maker.pid}/ns/user").readlink() == own:
            time.sleep(0.01)
        for ids in ("uid_map", "gid_map"):
            Path(f"/proc/{maker.pid}/{ids}").write_text("0 0 65536\n")
        maker.communicate(b"\n")
    assert maker.returncode == 0, "mmdebstrap failed"


def _compile_gpiomem(folder: Path, release: str) -> Path:
    """Compile the kernel module gpiomem, with the compiler of the Debian in which the package is built. Returns the
    module's path."""
    headers = folder / "headers"
    shutil.rmtree(headers / "lib")
    source = headers / "gpiomem"
    source.mkdir()
    shutil.copy(_HERE / "gpiomem.c", source)
    (source / "Makefile").write_text("obj-m := gpiomem.o\n")
    with layer([headers, build_root("bookworm")], folder / "compile") as root:
        make = f"make -s -C /usr/src/linux-headers-{release} M=/gpiomem CROSS_COMPILE=aarch64-linux-gnu- modules"
        subprocess.run(["chroot", str(root), "sh", "-euc", make], check=True, stdin=subprocess.DEVNULL)
        made = shutil.copy(root / "gpiomem" / "gpiomem.ko", folder / "gpiomem.ko")
    shutil.rmtree(folder / "compile")
    shutil.rmtree(headers)
    return Path(made)


def _depmod(root: Path, release: str) -> None:
    """Write the list of what each kernel module below `root` depends on, with the tool `depmod` of a clean Debian."""
    tools = arm64_root("bookworm")
    command = ["qemu-aarch64-static", "-L", str(tools), "-0", "depmod", str(tools / "usr" / "bin" / "kmod")]
    subprocess.run([*command, "-b", str(root), release], check=True)


def _with_what_they_need(modules: Path, names: tuple[str, ...]) -> list[Path]:
    """Return these kernel modules and the modules on which they depend. Each module comes after those that it needs."""
    lines = [line.partition(":") for line in (modules / "modules.dep").read_text().splitlines()]
    needs = {Path(name).stem: [*reversed(needed.split()), name] for name, _, needed in lines}
    return [modules / path for path in dict.fromkeys(path for name in names for path in needs[name])]


def _cpio(files: dict[str, bytes]) -> bytes:
    """Return an archive of these files in the cpio form that the kernel unpacks when it starts. Every file in it may be
    executed."""
    folders = dict.fromkeys(["dev", "root", "bin"], 0o40755)
    entries = [(name, mode, b"") for name, mode in folders.items()]
    entries += [(name, 0o100755, content) for name, content in files.items()]
    archive = bytearray()
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")]):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        archive += b"070701" + b"".join(b"%08X" % field for field in fields)
        archive += name.encode() + b"\0"
        archive += bytes(-len(archive) % 4) + content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)


def make_card(root: Path, card: Path) -> None:
    """Make a memory card with the files below `root`."""
    with card.open("wb") as file:
        file.truncate(_CARD_BYTES)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", str(root), str(card)], check=True)
