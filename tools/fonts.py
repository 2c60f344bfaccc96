"""Make the pages' fonts anew, except Inter's first: `fonts.py FOLDER [FONT …]`, with fonttools and brotli on the path.

FOLDER has what Debian's packages fonts-noto-cjk and fonts-noto-core bring: NotoSansCJK-Regular.ttc and
NotoSansKhmer-Regular.ttf. It also has four files of the npm package @fontsource-variable/inter 5.3.0, which has the
letters of Inter 4.1: inter-latin-opsz-normal.woff2, and the same of latin-ext, greek and cyrillic. All of them are
under the SIL Open Font License.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from controller.daemon.config.letters import FONTS, font_of

_PAGES = Path(__file__).parents[1] / "controller" / "people" / "screen" / "pages"
_CJK, _KHMER = "NotoSansCJK-Regular.ttc", "NotoSansKhmer-Regular.ttf"
_PLAIN = ("--layout-features=", "--drop-tables+=vhea,vmtx,VORG")  # upright text needs no features
_FROM = {
    "inter-signs": ("inter-latin-opsz-normal.woff2",),
    "inter-latin": ("inter-latin-ext-opsz-normal.woff2",),
    "inter-greek": ("inter-greek-opsz-normal.woff2",),
    "inter-cyrillic": ("inter-cyrillic-opsz-normal.woff2",),
    "noto-traditional": (_CJK, "--font-number=3", *_PLAIN),
    "noto-traditional-seldom": (_CJK, "--font-number=3", *_PLAIN),
    "noto-hong-kong": (_CJK, "--font-number=4", *_PLAIN),
    "noto-simplified": (_CJK, "--font-number=2", *_PLAIN),
    "noto-seldom": (_CJK, "--font-number=2", *_PLAIN),
    "noto-korean": (_CJK, "--font-number=1", *_PLAIN),
    "noto-korean-seldom": (_CJK, "--font-number=1", *_PLAIN),
    "noto-khmer": (_KHMER, "--layout-features=*"),
}


def main(folder: Path, names: list[str]) -> None:
    """Write each of these fonts with its letters alone."""
    letters: dict[str, list[str]] = {name: [] for name in FONTS}
    for code in range(0x30000):
        if (name := font_of(chr(code))) is not None:
            letters[name].append(f"{code:x}")
    for name in names or _FROM:
        file, *options = _FROM[name]
        source = folder / file
        if name.startswith("inter"):
            source = _at_one_size(source, folder / f"{name}.ttf")
        listed = folder / f"{name}.txt"
        listed.write_text("\n".join(letters[name]))
        out = f"--output-file={_PAGES / name}.woff2"
        small = ("--flavor=woff2", "--no-hinting", "--desubroutinize", "--name-IDs=0,1,2,13,14")
        subprocess.run(["pyftsubset", str(source), f"--unicodes-file={listed}", out, *small, *options], check=True)


def _at_one_size(source: Path, at: Path) -> Path:
    """Inter as the pages have it: at one optical size, in the weights that they use."""
    subprocess.run(
        ["fonttools", "varLib.instancer", str(source), "opsz=20", "wght=400:800", f"--output={at}"], check=True
    )
    return at


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
