"""Make the pages' fonts for other scripts anew: `fonts.py FOLDER`, with fonttools' `pyftsubset` and brotli on the path.

FOLDER has what Debian's packages fonts-noto-cjk and fonts-noto-core bring: NotoSansCJK-Regular.ttc and
NotoSansKhmer-Regular.ttf, both under the SIL Open Font License.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from controller.daemon.config.letters import FONTS

_PAGES = Path(__file__).parents[1] / "controller" / "people" / "screen" / "pages"
_CJK, _KHMER = "NotoSansCJK-Regular.ttc", "NotoSansKhmer-Regular.ttf"
_PLAIN = ("--layout-features=", "--drop-tables+=vhea,vmtx,VORG")  # upright text needs no features
_FROM = {
    "noto-traditional": (_CJK, "--font-number=3", *_PLAIN),
    "noto-simplified": (_CJK, "--font-number=2", *_PLAIN),
    "noto-korean": (_CJK, "--font-number=1", *_PLAIN),
    "noto-khmer": (_KHMER, "--layout-features=*"),
}


def main(folder: Path) -> None:
    """Write each font with its letters alone."""
    for name, (file, *options) in _FROM.items():
        letters = ",".join(f"{code:x}" for code in range(0x10000) if FONTS[name](chr(code)))
        out = f"--output-file={_PAGES / name}.woff2"
        small = ("--flavor=woff2", "--no-hinting", "--desubroutinize", "--name-IDs=0,1,2,13,14")
        subprocess.run(["pyftsubset", str(folder / file), f"--unicodes={letters}", out, *small, *options], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
