"""Makes the content of the pit's web page at one moment, divided into parts. A part is sent to the browser when it
changes. The functions are pure.

Times are in ms since 1970, by this machine's clock or by a table's clock. The script in the browser works out how long
ago they were.
"""

from __future__ import annotations

from typing import Any

from controller.basics.money import short
from controller.contract.pit_words import moment_ms
from controller.people.pit_page.look import Look, code_in, count_in, ms_in
from controller.people.pit_page.subscriber import HeardState
from controller.people.screen.wording import Text, joined, same, say
from controller.pit.reference.standing import HeardTable, Standing, Waiting
from controller.words.found import LANGUAGES
from controller.words.language import language

_WELL = ("well", "listening")
_SILENT_MS = 10_000


def parts(look: Look) -> dict[str, object]:
    """Return the content of the pit's page as a dictionary from the name of each part to its content."""
    tables = _tables(look)
    return {
        "pit": _pit(look, tables),
        "tables": tables,
        "meters": [] if look.standing is None else _meters(look.standing),
        "terms": None if look.standing is None else look.standing.terms_digest,
        "hits": [] if look.standing is None else [_hit(each) for each in look.standing.waiting],
        "proposals": [] if look.standing is None else _proposals(look.standing),
        "alarms": [] if look.standing is None else _alarms(look.standing),
        "account": _account(look),
    }


def _pit(look: Look, tables: list[dict[str, Any]]) -> dict[str, object]:
    """Return the first lines of the pit's page: whether a person must look at something, and at what."""
    troubles: list[Text] = []
    standing = look.standing
    if look.ledger_error is not None:
        troubles.append(joined([say("pit", "ledger"), same(look.ledger_error.what)], "colon"))
    elif standing is not None and not standing.running:
        troubles.append(say("pit", "not_running"))
    if look.broker_error is not None:
        troubles.append(joined([say("pit", "broker"), same(look.broker_error)], "colon"))
    elif look.pit_heard_ms is None or look.now_ms - look.pit_heard_ms > _SILENT_MS:
        troubles.append(say("pit", "silent"))
    if look.account is not None and look.account.account.findings:
        troubles.append(say("pit", "differs"))
    undecidable = None if standing is None else standing.undecidable
    return {
        "well": not troubles and not any(each["trouble"] for each in tables) and not (standing and standing.waiting),
        "troubles": troubles,
        "decide": undecidable is None,
        "why": None if undecidable is None else undecidable.what,
    }


def _tables(look: Look) -> list[dict[str, Any]]:
    heard = {} if look.standing is None else {each.table: each for each in look.standing.tables}
    tables = [_table(name, heard.get(name), look.states.get(name)) for name in sorted({*heard, *look.states})]
    # Those at which somebody has to look come first, and among them those that are adopted: anybody can invent others.
    return sorted(tables, key=lambda table: (not table["trouble"], table["table"] not in heard))


def _table(name: str, heard: HeardTable | None, heard_state: HeardState | None) -> dict[str, Any]:
    state = {} if heard_state is None else heard_state.state
    online = heard_state is not None and heard_state.online
    fault = code_in(state, "fault") if online else None
    finds = code_in(state, "pit") if online else None
    return {
        "table": name,
        "adopted": heard is not None and (heard_state is None or state.get("epoch") == heard.epoch),
        "link": "unknown" if heard_state is None else "online" if online else "offline",
        "since_ms": None if heard_state is None else heard_state.since_ms,
        "plays": _plays(state) if online else None,
        "fault": None if fault is None else {each: language(each).fault(fault).what for each in LANGUAGES},
        "code": fault,
        "finds": None if finds in (None, *_WELL) else say("finds", str(finds)),
        "waits": count_in(state, "unacknowledged") if online else None,
        "oldest_ms": ms_in(state, "oldest_unacknowledged_at") if online else None,
        "seq": None if heard is None else heard.seq,
        "trouble": not online or heard is None or fault is not None or finds not in (None, *_WELL),
    }


def _plays(state: dict[str, Any]) -> Text | None:
    """Return a line with the phase, shoe and round of a table's published state, or None if it names no phase."""
    if (phase := code_in(state, "phase")) is None:
        return None
    named = {each: language(each).name("phase", phase) for each in LANGUAGES}
    shoe, round_ = count_in(state, "shoe"), count_in(state, "round")
    if shoe is None:
        return named
    return joined([named, say("pit", "shoe_round", shoe=shoe, round=round_ or "–")], "comma")


def _meters(standing: Standing) -> list[dict[str, object]]:
    return [
        {
            "meter": say("award", name),
            "level": short(cents),
            "reserve": short(standing.reserves.get(name, 0)),
            "overflow": short(over) if (over := standing.overflows.get(name, 0)) else None,
            "waits": standing.waiting_terms.get(name),
        }
        for name, cents in standing.levels.items()
    ]


def _hit(waiting: Waiting) -> dict[str, object]:
    award = waiting.award
    return {
        "award": award.id,
        "amount": short(award.cents),
        "tier": say("award", award.tier),
        "seat": say("pit", "seat", seat=award.seat),
        "table": award.table,
        "hand": say("pit", "shoe_round", shoe=award.shoe, round=award.round),
        "step": award.step,
        "says": say("pit", "held" if award.held else "doubted" if award.doubted else award.step),
        "held": award.held or award.doubted,
        "waits": [say("pit", "waits", table=table) for table, _ in award.waits],
        "doubts": [_doubt(doubt.code) for doubt in award.doubts if award.doubted and doubt.stands],
        "at_ms": moment_ms(waiting.hit_at),
    }


def _doubt(code: str) -> Text:
    return {each: language(each).name("doubt", code) for each in LANGUAGES}


def _proposals(standing: Standing) -> list[dict[str, object]]:
    """Return the decisions that one person has proposed and that wait for a second person. Each entry says who made the
    proposal, and what that person was shown."""
    return [
        {"number": each.number, "who": f"{each.account} {each.name}".strip(), "shown": each.shown.splitlines()}
        for each in standing.proposals
    ]


def _alarms(standing: Standing) -> list[dict[str, object]]:
    return [
        {"at": each.at, "table": each.table, "code": each.code, "what": each.what, "do": each.do}
        for each in reversed(standing.alarms)
    ]


def _account(look: Look) -> dict[str, object] | None:
    if look.account is None:
        return None
    account = look.account.account
    return {
        "at_ms": look.account.at_ms,
        "balances": not account.findings,
        "findings": account.findings,
        "owed": short(account.owed_cents),
        "paid": short(account.paid_cents),
    }
