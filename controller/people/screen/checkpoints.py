"""Shows the journal's last checkpoint (its signed size and root hash) as a QR code on the screen, so that the
surveillance film of the table records it. Another department keeps that film.

The film is then a witness of the journal, because nobody can later show a different journal that fits the filmed
checkpoint. The players' page shows the code when a shoe is over. The page `/checkpoint` shows it at any time, for
example when somebody asks about one round.
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
    """Return the QR code of a checkpoint for the players' page. Return None if the code is not `shown` now, or if the
    text is too long for a code."""
    return to_builtins(qr_code(checkpoint)) if shown else None


def checkpoint_page(checkpoint: str) -> str:
    """Return an HTML page with the checkpoint's QR code, as large as the screen allows, and its text. If the text is
    too long for a code, the page has only the text. The page renews itself."""
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
