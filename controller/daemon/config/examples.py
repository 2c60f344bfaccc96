"""Examples of each section and key of a table's file and of a game's file. A person who left out a section or key is
shown its example."""

from __future__ import annotations

from collections.abc import Mapping

TABLE_SECTIONS: dict[str, tuple[str, ...]] = {
    "table": ('id = "royal9-01"', 'name = "Royal 9, table 1"', 'game = "../games/royal9.toml"'),
    "seats": ("number = 1", 'k9 = "KS 9S"'),
    "shoe": ('driver = "angel_eye"', 'port = "/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0"'),
    "pins": (
        'driver = "rpi_gpio"',
        'lamps.player = { bcm = 9, active = "high" }',
        'inputs.deal = { bcm = 22, active = "low", pull = "up" }',
    ),
    "pit": ('host = "127.0.0.1"', "port = 1883"),
    "journal": (
        'path = "/var/lib/table-controller/royal9-01.journal"',
        'signing_key = "/var/lib/table-controller/royal9-01.key"',
    ),
    "control": ('socket = "/run/table-controller/royal9-01.sock"',),
}
"""The sections of a table's file, each with example lines of the keys that it cannot be without."""

GAME_SECTIONS: dict[str, tuple[str, ...]] = {
    "shoe": (
        "decks = 8",
        "burn_counts_first_card = false",
        "cut_card_from_end = 14",
        "hands_after_cut_card = 1",
        "fewest_cards_to_open = 6",
        'drawn_in_error = "burn"',
    ),
    "wagers": (
        "circle_minimum_cents = 1500",
        "circle_maximum_cents = 500000",
        "increment_cents = 100",
        "side_minimum_cents = 100",
        "side_maximum_cents = 50000",
        "tie_only_meets_minimum = false",
        "back_bettors = false",
    ),
    "bets": ('spot = "tie"', 'rows = [{ when = { winner = "tie" }, pays = "8:1" }]'),
}
"""The same for the sections of a game's file."""

KEYS: dict[str, str] = {
    "name": 'name = "Royal 9 Mini Baccarat"',
    "sheet": 'sheet = "000_0a2d470a8267ace2"',
    "kind": 'kind = "punto_banco"',
    "most_seats": "most_seats = 7",
    "bcm": "bcm = 22",
    "active": 'active = "low"',
    "pull": 'pull = "up"',
}
"""Example lines of keys that belong to no section, or to several."""

_LISTS = ("seats", "bets")


def how_to_add(key: str, sections: Mapping[str, tuple[str, ...]]) -> str:
    """Return a text that tells a person how to add a key that is missing from a file, with an example.

    `key` is a TOML path such as `pit`, `pit.host` or `seats.2.k9`. `sections` holds the examples for this kind of file:
    `TABLE_SECTIONS` or `GAME_SECTIONS`.
    """
    *section, name = [part for part in key.split(".") if not part.isdecimal()]
    if not section and name in sections:
        head = f"[[{name}]]" if name in _LISTS else f"[{name}]"
        return "Add the section, for example:\n" + "\n".join(f"    {line}" for line in (head, *sections[name]))
    lines = sections.get(section[0], ()) if section else ()
    example = next((line for line in lines if line.startswith((f"{name} ", f"{name}."))), KEYS.get(name))
    return f"Add it, for example: {example}" if example else "Add it. The example files in config show its form."
