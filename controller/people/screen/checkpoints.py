"""The journal's last checkpoint as a QR code, to be caught on the film of the table, which another department keeps.

The film is then a witness of the journal: nobody can later show another journal of so many rows. The players' page
shows the code once a shoe is over, and `/checkpoint` shows it at any time, for one round that somebody asks about.
"""

from __future__ import annotations

from html import escape

from msgspec import to_builtins

from controller.people.screen.qr import qr_code

_DRAWN = """\
<svg id="checkpoint" class="alone" viewBox="0 0 {0.size} {0.size}" role="img" aria-label="Checkpoint">\
<path d="{0.path}"/></svg>
"""


def checkpoint_view(checkpoint: str, shown: bool) -> object:
    """Return the QR code of a checkpoint for the players' page, where it is `shown` now; else None. None too for a text
    too long for a code."""
    return to_builtins(qr_code(checkpoint)) if shown else None


def checkpoint_page(checkpoint: str) -> str:
    """Return a page with nothing but the checkpoint's QR code, as large as the screen allows, and its text. The page
    renews itself."""
    code = qr_code(checkpoint)
    drawn = "" if code is None else _DRAWN.format(code)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Checkpoint</title>
<link rel="stylesheet" href="/pages/checkpoint.css">
<script src="/pages/checkpoint-page.js" defer></script>
</head>
<body class="checkpoint">
<main>
<h1>Checkpoint</h1>
{drawn}<p>{escape(checkpoint)}</p>
</main>
</body>
</html>
"""
