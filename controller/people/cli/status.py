"""Puts a running table's status into sentences: first what the table waits for, then everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from controller.basics.money import amount
from controller.contract.face.awaited import awaited
from controller.contract.face.status import ShoeLine, Status, Waits
from controller.contract.face.table import Public, PublicChoice, PublicFault, PublicHand
from controller.words.events import asked, commission_line, hand_name, hit_line, meters_line
from controller.words.language import Language, language

_LAMPS = {"draw_player": "draw", "draw_banker": "draw", "player": "outcome", "banker": "outcome", "tie": "outcome"}
"""The section of a language that says what a lamp means, by the lamp. `seat` and `fault` have sections of their own."""


def status_lines(status: Status, table: Path, words: Language | None = None) -> list[str]:
    """Return a running table's status as lines of text. The last line says how long the table has been running. `table`
    is the path of the table's file; it appears in the commands that a person can copy from the lines."""
    words = words or language()
    face = status.face
    return [
        waiting(status, words),
        *_table(face, words),
        *_fault(face, table, words),
        *_second_person(status.second_person, table, words),
        *_wagers(face, words),
        *_lamps(status.lamps, status.test, words),
        *_shoe(status.shoe, words),
        *pit_lines(status, table, words),
        *recognition_lines(status, table, words),
        *_tail(status, words),
    ]


def happening_lines(status: Status, table: Path, words: Language) -> list[str]:
    """Return the lines of a table's status without the counters and the lamps, so that the lines change only when
    something happens at the table. `table` is the path of the table's file, which appears in commands."""
    face = status.face
    return [
        waiting(status, words),
        *_table(face, words),
        *_fault(face, table, words),
        *_wagers(face, words),
        *_shoe(status.shoe, words),
        pit_lines(status, table, words)[0],
    ]


def waiting(status: Status, words: Language) -> str:
    """Return a sentence that says what the table waits for."""
    if status.journal.error:
        return words.text("waiting", "journal", error=status.journal.error)
    if status.second_person and not status.face.fault:
        return words.text("waiting", "second_person")
    return face_waits(status.face, words)


def face_waits(face: Public, words: Language) -> str:
    """Return a sentence that says what the table waits for. Only `face` is used, the part of the table's state that
    everybody at the table is allowed to know."""
    say = partial(words.text, "waiting")
    if face.fault:
        return f"{say('fault')} {words.fault(face.fault.code).what}"
    match code := awaited(face):
        case "choice" if face.choice is not None:
            return _choice(face.choice, words)
        case "reveal":
            return say(code, hands=", ".join(_with_holder(hand, face.squeezing, words) for hand in face.reveal))
        case "burning":
            return say(code, card=face.first_card, left=face.burn_left)
        case "card" | "odd_card":
            return say(code, hand=hand_name(face.next_hand or "", words))
        case _:
            return say(code if code in words.sections["waiting"] else "any_card")


def _choice(choice: PublicChoice, words: Language) -> str:
    """Return a sentence that says which seat must choose, and between which options, such as to draw or to stand. The
    options are left out if they would reveal a face-down card."""
    say, seat = partial(words.text, "waiting"), hand_name(choice.hand, words)
    if not choice.options:
        return say("any_choice", hand=seat)
    options = f" {say('or')} ".join(words.name("call", option) for option in choice.options)
    return say("choice", hand=seat, options=options)


def fault_lines(fault: PublicFault, table: Path, words: Language | None = None) -> list[str]:
    """Return lines that describe a fault of the table. For each act by which a person can clear the fault, a line gives
    the full command."""
    words = words or language()
    what, do = words.fault(fault.code)
    say = partial(words.text, "say")
    details = "; ".join(
        words.name("shown", name).format(value=_value(value, words)) for name, value in fault.details.items()
    )
    lines = [f"FAULT {fault.code}: {what}" + (f" ({details})" if details else ""), f"  {say('do')} {do}"]
    if fault.held_cards:
        lines.append(f"  {say('held', cards=fault.held_cards)}")
    lines.append(f"  {say('exits') if fault.exits else say('no_exit')}")
    for exit_ in fault.exits:
        argument = {"card": " KS", "count": " 397"}.get(exit_, "")
        command = f"tablectl {exit_.replace('_', '-')} {table}{argument} --by NAME --fault {fault.id}"
        lines.append(f"    {command}   # {words.name('exit', exit_)}")
    return lines


def pit_lines(status: Status, table: Path, words: Language | None = None) -> list[str]:
    """Return lines about the link to the pit: its state, what a person can do about it (with the full command), and up
    to which event the pit has acknowledged."""
    words = words or language()
    pit, say = status.pit, partial(words.text, "say")
    code, details = pit.standing.code, pit.standing.details
    what, do = words.pit(code)
    lines = [f"{say('pit')} {what.format(**details)}"]
    if do:
        lines.append(f"  {say('do')} {do.format(**details, fingerprint=status.key_fingerprint)}")
    match code:
        case "not_adopted":
            adopt = f'{status.face.table} {pit.epoch} "{status.key_fingerprint}"'
            lines.append(f"    pitctl adopt {adopt}")
        case "key_unpinned" | "key_differs" | "key_handed_over":
            lines.append(f'    tablectl pit-key {table} --trust "{details["offered"]}" --by NAME')
    counts = [say("broker", broker=pit.broker)] if pit.connected else []
    counts.append(say("acked", acked=pit.acked_seq, head=pit.head_seq))
    if pit.unacknowledged:
        counts.append(say("wait", waiting=pit.unacknowledged, most=pit.most_unacknowledged))
    if code in ("well", "listening", "behind") and not pit.fresh:
        counts.append(say("not_fresh"))
    if pit.connected and code != "refused" and pit.why:
        counts.append(pit.why)
    lines.append("  " + "; ".join(counts))
    return [*lines, *(f"  {say('forged', count=n, topic=on)}" for on, n in pit.key.forged.items())]


def recognition_lines(status: Status, table: Path, words: Language | None = None) -> list[str]:
    """Return lines about bet recognition (the system that reports the wagers): the key by which the table trusts it,
    and how many of its messages the table rejected. The list is empty if the table has no bet recognition and has
    received no such message."""
    words = words or language()
    recognition, say = status.recognition, partial(words.text, "say")
    lines = []
    if recognition.key is not None:
        lines.append(say("recognition", fingerprint=recognition.key))
    elif recognition.expected:
        lines += [say("no_recognition"), f"    tablectl recognition-key {table} --trust KEY --by NAME"]
    doubts = recognition.not_believed.items()
    return lines + [say("not_believed", count=n, why=_value(why, words)) for why, n in doubts]


def second_person_lines(waits: Waits, table: Path, words: Language | None = None) -> list[str]:
    """Return lines that describe an act which a second person must confirm, and how that person confirms it."""
    words = words or language()
    say = partial(words.text, "say")
    at_table = [f"    {say('witness_key', button=waits.button)}"] if waits.button else []
    return [
        say("second_person", by=waits.by, asks=asked(waits, words), seconds=waits.left_s),
        f"    tablectl witness {table} --by NAME --proposal {waits.id}   # {say('witness')}",
        *at_table,
    ]


def place(face: Public, words: Language) -> str:
    """Return a text that says how far the dealing at the table has come: the phase, the shoe and round, and how many
    cards are left."""
    say = partial(words.text, "say")
    parts = [words.name("phase", face.phase)]
    if face.shoe is not None:
        parts.append(say("shoe", shoe=face.shoe))
    if face.round is not None:
        parts.append(say("round", round=face.round))
    if face.cards_left is not None:
        parts.append(say("cards_left", cards=face.cards_left))
    if face.final_round:
        parts.append(say("final_round"))
    return ", ".join(parts)


def _table(face: Public, words: Language) -> Iterator[str]:
    say = partial(words.text, "say")
    yield f"{face.table}, {face.game}: {place(face, words)}"
    if face.hands:
        hands = "; ".join(_laid(hand, words) for hand in face.hands)
        in_play = face.phase == "round_in_play"
        if face.outcome and not in_play:
            hands += f"; {words.name('outcome', face.outcome)}"
        yield hands if in_play else say("last_round", hands=hands)
    if face.simulated:
        yield say("simulated")
    if face.closed:
        yield say("closed", spots=", ".join(face.closed))
    if face.kept:
        yield say("kept", cards=face.kept)
    if face.actives:
        yield say("actives", **face.actives)


def _laid(hand: PublicHand, words: Language) -> str:
    cards = " ".join(hand.cards) or "-"
    return f"{hand_name(hand.hand, words)} {cards}" + ("" if hand.total is None else f" ({hand.total})")


def _fault(face: Public, table: Path, words: Language) -> list[str]:
    return fault_lines(face.fault, table, words) if face.fault else []


def _second_person(waits: Waits | None, table: Path, words: Language) -> list[str]:
    return second_person_lines(waits, table, words) if waits else []


def _wagers(face: Public, words: Language) -> Iterator[str]:
    say = partial(words.text, "say")
    for bet in face.progressive:
        spot = bet.spot.replace("_", " ")
        if bet.seats:
            yield say("locked", spot=spot, seats=_listed(bet.seats))
        if bet.refused_seats:
            yield say("refused", spot=spot, seats=_listed(bet.refused_seats), why=words.refusal(bet.refusal or ""))
    playing = [wager for wager in face.wagers if not wager.refused]
    if playing:
        yield say("wagers", count=len(playing), amount=amount(sum(wager.cents for wager in playing)))
    for wager in face.wagers:
        if wager.refused:
            spot, why = wager.spot.replace("_", " "), words.refusal(wager.refused)
            yield say("refused_wager", seat=wager.seat, spot=spot, amount=amount(wager.cents), why=why)
    yield from (hit_line(hit) for hit in face.hits)
    yield from filter(None, [commission_line(face)])


def _lamps(patterns: dict[str, str], test: str | None, words: Language) -> Iterator[str]:
    """Yield a line for each lamp that is not dark: its name, its blinking pattern and why it is lit. `test` names the
    test of the table that runs now, or is None. A running test is named first; during a lamp test or a test hit, no
    lamp is listed."""
    say = partial(words.text, "say")
    lit = {lamp: pattern for lamp, pattern in patterns.items() if pattern != "dark"}
    draws = [pattern for lamp, pattern in patterns.items() if _LAMPS.get(lamp) == "draw"]
    if test is not None:
        yield say(test)
    if test in ("lamp_test", "test_hit"):
        return
    if not lit:
        yield say("dark")
    else:
        yield say("lamps")
        for lamp, pattern in lit.items():
            kind = _LAMPS.get(lamp, lamp.partition("_")[0])
            both = kind == "draw" and {*draws} == {"steady"}
            why = words.sections["lamp"][kind].get("both" if both else pattern, pattern)
            yield f"  {lamp}: {words.name('pattern', pattern)}: {why}"


def _shoe(shoe: ShoeLine, words: Language) -> Iterator[str]:
    say = partial(words.text, "say")
    line = say("shoe_up", where=shoe.why) if shoe.up else say("shoe_down", why=shoe.why)
    if shoe.bad_bytes:
        bad = ", ".join(f"{count} {reason}" for reason, count in shoe.bad_bytes.items())
        line += "; " + say("shoe_noise", bad=bad) + f"; {say('noise_waits')}" * shoe.bad_bytes_wait
    yield line


def _tail(status: Status, words: Language) -> Iterator[str]:
    say, journal = partial(words.text, "say"), status.journal
    yield from (say("meters", levels=line) for line in [meters_line(status.pit)] if line)
    yield say("key", fingerprint=status.key_fingerprint)
    line = say("journal", path=journal.path, boot=journal.boot)
    if journal.archived_rows:
        line += "; " + say("archived", rows=journal.archived_rows)
    if journal.archive_error:
        line += "; " + say("not_archived", error=journal.archive_error)
    yield line
    yield say("version", version=status.version, up_s=status.up_s)


def _value(value: str | int, words: Language) -> str:
    """Return one detail of a fault, translated into words. A part that has no translation stays as it is."""
    return ", ".join(words.name("value", part) for part in str(value).split(", "))


def _with_holder(hand: str, squeezing: dict[str, int | None], words: Language) -> str:
    name = hand_name(hand, words)
    if hand not in squeezing:
        return name
    say, seat = partial(words.text, "waiting"), squeezing[hand]
    return say("held_by", hand=name, seat=seat) if seat else say("held_by_dealer", hand=name)


def _listed(seats: Iterable[int]) -> str:
    return ", ".join(map(str, seats))
