"""What the table's buttons ask for: one table, by button, with the supervisor's key turned or not."""

from __future__ import annotations

from controller.table.requests import ClearFault, LockWagers, NewShoe, Request, SeeCutCard, VoidHand

KEY = "key"
"""The name a supervisor's act is journalled under when it is made with the key at the table."""


def pressed(button: str, key_turned: bool, fault_stands: bool) -> Request | None:
    """The request that pressing `button` makes; None for an input that is no button."""
    match button:
        case "deal" if key_turned and fault_stands:
            return ClearFault(KEY)
        case "deal":
            return LockWagers()
        case "cut_card":
            return SeeCutCard()
        case "new_shoe":
            return NewShoe(KEY if key_turned else None)
        case "void":
            return VoidHand(KEY if key_turned else None)
        case _:
            return None
