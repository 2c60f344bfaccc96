"""Checks that head office finds each lie of a house that signs with its own valid key, and describes the lie in a
sentence. Head office must find nothing wrong at honest houses."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.contract.pit_words import Rotation
from controller.contract.signing import signed
from controller.pit.head_office import decided
from controller.pit.head_office.audit import audit
from controller.pit.head_office.main import main as head_office
from controller.pit.head_office.replay import Replay
from controller.pit.head_office.terms import Terms as Approved
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from tests.head_office.evenings import (
    PIT,
    Evening,
    Lines,
    as_form_6,
    as_form_18,
    chained,
    pits_ledger,
    signed_by_the_pit,
    written,
)
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.test_meters import give
from tests.support import samples

Said = dict[str, Any]


def lines_of(ledger: Path) -> Lines:
    return [json.loads(line) for line in written(ledger).splitlines()]


def findings(lines: Lines, folder: Path, approved: Mapping[str, Sequence[Approved]] | None = None) -> list[str]:
    path = folder / "log"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return audit("north", [path], None, None, approved).findings


def lied(lines: Lines, lie: Callable[[Said], None]) -> Lines:
    """Return the log with a statement that the function `lie` changed and that the pit signed again."""
    said: Said = json.loads(json.dumps(lines[-1]))
    lie(said)
    if "decisions" in said:
        said["decisions"] = chained(said["decisions"])
    return [*lines[:-1], signed_by_the_pit(said)]


def agreeing(lines: Lines) -> Lines:
    """Return the log with a statement whose figures follow from its events and decisions. A liar can compute such
    figures, because he has head office's program too."""
    said, replay = lines[-1], Replay([PIT.public])
    decisions, _ = decided.read(said, None)
    for position, line in [(line["position"], line) for line in lines if "event" in line] + [(10**9, None)]:
        while decisions and decisions[0][0] < position:
            decisions.pop(0)[1](replay)
        if line is not None:
            replay.event(line.get("set_aside_as") or line["event"]["epoch"], line["event"])
    said["meters"] = [
        {key: str(value) if isinstance(value, Fraction) else value for key, value in meter.figures().items()}
        | {"meter": name}
        for name, meter in replay.meters.items()
    ]
    said["awards"] = [
        {"award": each.id, "hit": each.hit, "meter": each.meter, "cents": each.cents, "house_cents": each.house_cents}
        | {"step": each.step}
        for each in replay.awards.values()
    ]
    said["terms_digest"] = replay.digest()
    sum_up(said)
    return [*lines[:-1], signed_by_the_pit(said)]


def sum_up(said: Said) -> None:
    """Set the statement's totals of owed and paid cents to the sums over the statement's awards."""
    for name, steps in (("owed_cents", ("pending", "verified")), ("paid_cents", ("paid",))):
        said[name] = sum(award["cents"] for award in said["awards"] if award["step"] in steps)


# One house: a meter of 10,000.00 that 8 % of each wager feed, with a reserve of 2 %.

TERMS = {"big": Terms(1_000_000, Fraction(8, 100), Fraction(2, 100), 1_000_000)}
APPROVED = {"big": [Approved(1_000_000, Fraction(8, 100), Fraction(2, 100), 1_000_000)]}
TO = "table t-0, shoe 1, round 3"


def an_evening(ledger: Ledger) -> None:
    """Play an evening with a void, a paid award, and a meter level that two hits share. One of these two awards is
    rejected, and the second is pending."""
    one, two = TableEvening("t-0", ["big"]), TableEvening("t-1", ["big"])
    give(ledger, one, one.lock(1, 2, price_cents=2_000_000), one.finish())
    give(ledger, two, two.lock(5, 6, 7, price_cents=100_000), two.finish((5, "all"), (6, "all")))
    give(ledger, two, two.hit(5, "all", "big"), two.hit(6, "all", "big"), two.lock(3), two.finish((3, "two")))
    give(ledger, two, two.hit(3, "two", 2_500))
    ledger.take_step("t-1.1", "rejected", "Ann", "Bob")
    ledger.take_step("t-1.3", "verified", "Ann")
    ledger.take_step("t-1.3", "paid", "Bob")
    give(ledger, one, one.lock(4, price_cents=200_000), one.void(4), one.lock(1, price_cents=150_000), one.finish())
    with ledger.closing_meters() as closings:
        (left,) = closings.corrections.waiting()
        closings.corrections.correct(left.void, "Ann", "Bob", "F-19", "a card fell")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    path = tmp_path_factory.mktemp("house") / "ledger"
    with closing(pits_ledger(path, TERMS)) as ledger:
        an_evening(ledger)
        return lines_of(path)


def more(said: Said, **cents: int) -> None:
    """Raise figures of the statement's first meter. `cents` maps the name of each figure, without its ending `_cents`,
    to the amount to add."""
    for name, by in cents.items():
        said["meters"][0][f"{name}_cents"] += by


def less_pending(said: Said) -> None:
    said["awards"][1]["cents"] -= 400_000
    more(said, level=400_000, awards=-400_000)
    sum_up(said)


def corrected(said: Said) -> Said:
    """Return the first decision in the statement by which people corrected the meters after a void."""
    found: list[Said] = [each for each in said["decisions"] if "corrected" in each]
    return found[0]


NAMED: dict[str, tuple[Callable[[Said], None], str]] = {
    "a reserve below zero": (
        lambda said: said["meters"][0].update(reserve_cents=-1_000),
        f"big: the reserve is 30.10, played again to {TO}; the pit says -10.00",
    ),
    "no reserve": (
        lambda said: said["meters"][0].update(reserve_cents=0),
        f"big: the reserve is 30.10, played again to {TO}; the pit says 0.00",
    ),
    "a part of a pending award is on its meter": (
        less_pending,
        (
            "award t-1.2 (table t-1, shoe 1, round 1) is pending with 13,440.00, played again;"
            " the pit says pending with 9,440.00"
        ),
    ),
    "seeds that the house did not put in": (
        lambda said: more(said, seeds=-500_000, level=-500_000),
        f"big: what the house put in is 19,140.00, played again to {TO}; the pit says 14,140.00",
    ),
    "a seed that came from the reserve is the house's": (
        lambda said: more(said, seeds=50_000, from_reserve=-50_000, reserve=50_000),
        f"big: what came from the reserve is 860.00, played again to {TO}; the pit says 360.00",
    ),
    "half the contribution": (
        lambda said: said["decisions"][0]["terms"].update(contribution="1/25"),
        f"big: what wagers gave is 1,780.20, played again to {TO}; the pit says 3,560.40",
    ),
    "a void that lowers its meter by itself": (
        lambda said: said["decisions"].remove(corrected(said)),
        f"big: what wagers gave is 3,720.40, played again to {TO}; the pit says 3,560.40",
    ),
    "a correction after no void": (
        lambda said: corrected(said).update(corrected=f"t-0/{EPOCH}/1"),
        f"what the void t-0/{EPOCH}/1 left was corrected (Ann and Bob: a card fell, document F-19), and no void",
    ),
    "a correction by one person": (lambda said: corrected(said).update(witness=None), "takes two"),
    "less given by wagers": (
        lambda said: more(said, contributions=-100_000, level=-100_000),
        f"big: what wagers gave is 3,560.40, played again to {TO}; the pit says 2,560.40",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_named_lie_is_found_with_its_table_its_round_and_its_amount(house: Lines, tmp_path: Path, name: str) -> None:
    lie, told = NAMED[name]
    assert findings(lied(house, lambda said: None), tmp_path, APPROVED) == []
    assert any(told in each for each in findings(lied(house, lie), tmp_path))


def test_terms_that_nobody_approved_are_found_where_every_figure_agrees_with_them(house: Lines, tmp_path: Path) -> None:
    """Head office finds a meter's terms that the house chose without approval, although all figures of the statement
    follow from these terms."""
    other = {"contribution": "1/25", "reserve": "1/50", "seed_cents": 1_000_000, "reseed_at_most_cents": 1_000_000}
    digest = sha256(canonical({"big": other})).hexdigest()

    def lie_of_terms(said: Said) -> None:
        said["decisions"][0].update(digest=digest)
        said["decisions"][0]["terms"].update(other)

    lie = agreeing(lied(house, lie_of_terms))
    assert findings(lie, tmp_path) == [], "without approved terms nobody can know"
    told = findings(lie, tmp_path, APPROVED)
    assert f"big: what wagers gave is 3,560.40, played again to {TO}; the pit says 1,780.20" in told
    assert any(each.startswith("big had the terms seed 10,000.00, 1/25 of a wager") for each in told)


def test_a_noted_table_that_is_left_out_with_its_three_hits_is_found(
    house: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, keys = tmp_path / "log", tmp_path / "keys"
    log.write_text("".join(json.dumps(line) + "\n" for line in house), "utf-8")
    shown = audit("north", [log], None).keys
    left = [line for line in house if line.get("event", {}).get("table") != "t-1"]
    without = agreeing(lied(left, without_the_second_table))
    log.write_text("".join(json.dumps(line) + "\n" for line in without), "utf-8")
    assert head_office([f"north={log}"]) == 0, "by itself it is sound"
    pins = audit("north", [log], None).keys | {"t-1": shown["t-1"]}
    keys.write_text("".join(f"north {name} {fingerprint}\n" for name, fingerprint in pins.items()), "utf-8")
    capsys.readouterr()
    assert head_office([f"north={log}", "--keys", str(keys)]) == 1
    told = "head office has noted the key of table t-1, and the log has no event of that table"
    assert told in capsys.readouterr().out


def without_the_second_table(said: Said) -> None:
    said["decisions"] = [each for each in said["decisions"] if not str(each.get("award")).startswith("t-1.")]
    said["adoptions"] = [each for each in said["adoptions"] if each["table"] != "t-1"]
    del said["heads"]["t-1"]


def without_the_rejection(said: Said) -> None:
    said["decisions"] = [each for each in said["decisions"] if each.get("step") != "rejected"]


CHAIN: dict[str, Callable[[Lines], object]] = {
    "taken out": lambda decisions: decisions.pop(2),
    "put in again": lambda decisions: decisions.insert(2, decisions[1]),
    "moved": lambda decisions: decisions.insert(1, decisions.pop(2)),
    "its account changed": lambda decisions: decisions[-1]["by"].update(account="zoe"),
    "its witness added": lambda decisions: decisions[-1].update(witness={"account": "zoe", "name": ""}),
    "its time changed": lambda decisions: decisions[1].update(at="2026-01-01T00:00:00.000Z"),
    "its signature gone": lambda decisions: decisions[1].pop("signature"),
    "signed by another": lambda decisions: decisions.append(
        json.loads(signed({**decisions[-1], "decision": len(decisions) + 1}, SigningKey(bytes([8]) * 32)))
    ),
}


@pytest.mark.parametrize("how", CHAIN)
def test_what_was_done_to_a_decision_without_the_pits_key_is_found(house: Lines, tmp_path: Path, how: str) -> None:
    """Head office finds a decision that somebody changed in the pit's ledger without having the pit's key. The pit
    itself is honest, and its statement repeats what its ledger holds."""
    said: Said = json.loads(json.dumps(house[-1]))
    CHAIN[how](said["decisions"])
    told = findings([*house[:-1], signed_by_the_pit(said)], tmp_path)
    assert any(each.startswith("decision ") for each in told), told


PEOPLE: dict[str, tuple[Callable[[Said], None], str]] = {
    "one person rejects": (lambda said: said["decisions"][3].update(witness=None), "was one person's, and takes two"),
    "one account is both": (
        lambda said: said["decisions"][3].update(witness=said["decisions"][3]["by"]),
        "was one person's, and takes two",
    ),
    "who verifies pays": (
        lambda said: said["decisions"][-2].update(by=said["decisions"][-3]["by"]),
        "verified and paid award t-1.3",
    ),
    "who verifies pays, and calls it a recall": (
        lambda said: said["decisions"][-2].update(by=said["decisions"][-3]["by"], recalled=True),
        "was recalled as paid, and its table had not told so",
    ),
    "one person recalls": (
        lambda said: said["decisions"][-2].update(witness=None, recalled=True),
        "was one person's, and takes two",
    ),
    "a pit for practice": (
        lambda said: said["decisions"][-2].update(by={"account": "practice:Lee", "name": ""}),
        "at a pit for practice",
    ),
}


def test_who_verified_an_award_may_recall_with_another_that_it_was_paid(tmp_path: Path) -> None:
    """In a recall, people take over into the ledger what a table reported. The person who verified an award may recall,
    together with a second person, that the award was paid, because a recall pays nobody."""
    table = TableEvening("t-1")
    with closing(pits_ledger(tmp_path / "ledger")) as ledger:
        give(ledger, table, table.lock(1), table.finish((1, "top")), hit := table.hit(1, "top", "big"))
        (award,) = ledger.awards()
        ledger.take_step(award.id, "verified", "Ann")
        give(ledger, table, table.award(hit, "paid", award.cents, "Zoe"))
        assert ledger.recall(award.id, "Ann", "Bob").step == "paid"
    assert findings(lines_of(tmp_path / "ledger"), tmp_path) == []


@pytest.mark.parametrize("how", PEOPLE)
def test_a_pit_that_lets_one_person_be_two_is_found(house: Lines, tmp_path: Path, how: str) -> None:
    lie, told = PEOPLE[how]
    assert any(told in each for each in findings(lied(house, lie), tmp_path))


def test_a_rotated_key_signs_on_and_the_former_one_no_more(house: Lines, tmp_path: Path) -> None:
    former = SigningKey(bytes([8]) * 32)
    handed_over = to_builtins(Rotation.by(former.public.hex(), former, PIT.public.hex()))

    def by_the_former(said: Said) -> None:
        said.update(rotations=[handed_over], decisions=chained(said["decisions"], {1: former, 2: former}))

    def in_between(said: Said) -> None:
        said.update(rotations=[handed_over], decisions=chained(said["decisions"], {4: former}))

    def stated(lie: Callable[[Said], None]) -> list[str]:
        said: Said = json.loads(json.dumps(house[-1]))
        lie(said)
        return findings([*house[:-1], signed_by_the_pit(said)], tmp_path)

    assert stated(by_the_former) == []
    assert any("decision 4 " in each and "not signed by the pit's key" in each for each in stated(in_between))


def test_a_decision_that_head_office_has_seen_cannot_be_another_one_later(
    house: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Head office remembers the decisions in a house's last log, and finds that the rejection of an award is missing in
    the next log. The table never heard of the rejection, so each of the two logs is correct by itself."""
    log, kept = tmp_path / "log", ["--remember", str(tmp_path / "seen")]
    log.write_text("".join(json.dumps(line) + "\n" for line in lied(house, lambda said: None)), "utf-8")
    assert head_office([f"north={log}", *kept]) == 0
    other = agreeing(lied(house, without_the_rejection))
    log.write_text("".join(json.dumps(line) + "\n" for line in other), "utf-8")
    assert head_office([f"north={log}"]) == 0, "by itself it is sound"
    assert head_office([f"north={log}", *kept]) == 1
    assert "the first 7 decisions are others than the statement of" in capsys.readouterr().out


def test_a_statement_of_an_earlier_pit_is_not_believed(house: Lines, tmp_path: Path) -> None:
    """Head office refuses a statement in the form of an earlier version. That form states fewer facts, so a liar would
    otherwise choose it."""

    def as_form_1(said: Said) -> None:
        said.update(statement=1, terms=[each["terms"] for each in said.pop("decisions") if "terms" in each])

    (told,) = findings(lied(house, as_form_1), tmp_path)
    assert told.endswith("has form 1, and head office reads form 3: let the house update its pit and state anew")


# Evenings at random.


def test_a_hit_that_is_told_after_people_decided_on_its_level_wins_nothing_of_it(tmp_path: Path) -> None:
    with closing(pits_ledger(tmp_path / "ledger", TERMS)) as ledger:
        table = TableEvening("t-0", ["big"])
        give(ledger, table, table.lock(1, 2), table.finish((1, "all")), table.hit(1, "all", "big"))
        ledger.take_step("t-0.1", "verified", "Ann")
        give(ledger, table, table.hit(2, "all", "big"))
        lines = lines_of(tmp_path / "ledger")
    assert [award["cents"] for award in lines[-1]["awards"]] == [1_000_080, 0]
    assert findings(lines, tmp_path) == []


def test_a_meter_that_came_after_wagers_of_contract_2_got_nothing_of_them(tmp_path: Path) -> None:
    """In contract version 2 a wager fed every meter that the pit had when the wager was made. A meter that was added
    later gets nothing from that wager. The ledger in this test is converted from an old form of the schema."""
    ledger = tmp_path / "ledger"
    with closing(pits_ledger(ledger, TERMS)) as pit:
        table = TableEvening("t-0")
        table.round = 1
        give(pit, table, table.say("wagers_locked", contract=2, royal9_seats=[1], royal9_price_cents=500))
        pit.set_terms(TERMS | {"new": Terms(700, Fraction(1, 2), Fraction(0), 700)}, "Ann", "Bob")
    as_form_6(ledger)
    Ledger(ledger).close()
    assert findings(lines_of(ledger), tmp_path) == []


def alarms(lines: Lines, folder: Path) -> list[str]:
    assert findings(lines, folder) == []
    return audit("north", [folder / "log"], None).alarms


VOIDS_LOWERED = "until now each void of this house lowered its meters at once"


def test_a_house_whose_voids_lowered_its_meters_is_an_alarm_and_no_finding_after_its_update(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with closing(pits_ledger(ledger, TERMS)) as pit:
        an_evening(pit)
    as_form_18(ledger)
    for _ in range(2):  # the second start finds nothing left to sign
        with closing(Ledger(ledger)) as pit:
            pit.serve()
            pit.sign_by(PIT, [PIT.public])
            pit.retire("t-1", "Ann", "Bob", "gone")
            pit.adopt("t-1", EPOCH, KEY.public.hex())
    lines = lines_of(ledger)
    (stay,) = [each for each in lines[-1]["decisions"] if "voids_stay" in each]
    assert stay["by"]["account"] == "pit:update"
    assert alarms(lines, tmp_path) == [VOIDS_LOWERED]


def say_that_voids_stay(said: Said, places: Sequence[int]) -> None:
    """Insert a decision at each of these places in the statement. It says that from then on a void lowers no meter. A
    pit signs this decision when it is updated from an earlier version."""
    for place in places:
        signed_like = {key: said["decisions"][place - 1][key] for key in ("at", "after", "by", "signature")}
        said["decisions"].insert(place, signed_like | {"witness": None, "voids_stay": True})


def test_a_house_that_lowers_meters_by_voids_of_one_person_is_an_alarm(house: Lines, tmp_path: Path) -> None:
    def lie(said: Said) -> None:
        said["decisions"].remove(corrected(said))
        say_that_voids_stay(said, [len(said["decisions"])])

    assert VOIDS_LOWERED not in alarms(house, tmp_path)
    assert alarms(agreeing(lied(house, lie)), tmp_path) == [VOIDS_LOWERED]


def test_a_house_says_once_and_before_each_correction_that_its_voids_stay(house: Lines, tmp_path: Path) -> None:
    once, last = "that voids stay was decided 2 times", "that voids stay was decided after a void was corrected"
    for places, wrong in (((1,), []), ((1, 1), [once]), ((len(house[-1]["decisions"]),), [last])):
        told = findings(lied(house, partial(say_that_voids_stay, places=places)), tmp_path)
        assert [each for each in told if "voids stay" in each] == wrong


def test_evenings_without_a_lie_have_no_finding(tmp_path: Path, figure: Callable[[str], None]) -> None:
    """Head office finds nothing wrong in random evenings of honest houses. Two of three evenings run on a ledger that
    is converted from form 6 of the schema, which did not record after which event a decision was taken."""
    did: Counter[str] = Counter()
    seeds = range(500) if samples.at_length else (0, 8)
    for seed in seeds:
        path = tmp_path / f"{seed}"
        did += Evening(seed, path, limits=seed % 3 == 0).did
        if seed % 3:
            as_form_6(path)
            Ledger(path).close()
        assert findings(lines_of(path), tmp_path) == [], seed
    done = ", ".join(f"{name.strip('_').replace('_', ' ')} {count}" for name, count in did.most_common())
    figure(f"{len(seeds):,} true evenings, none with a finding: {done}")


_CENTS = ("seeds", "contributions", "from_reserve", "awards", "returned", "level", "reserve", "overflow")
_MOVED = (  # by pairs that leave the level the sum of what went in less what went out
    {"seeds": 1, "level": 1},
    {"contributions": 1, "level": 1},
    {"from_reserve": 1, "reserve": -1, "level": 1},
    {"from_reserve": 1, "reserve": -1, "seeds": -1},
    {"contributions": 1, "seeds": -1},
    {"awards": 1, "returned": 1},
    {"returned": 1, "seeds": -1},
)


def a_meter(said: Said, drawn: random.Random) -> Said:
    """Return a random meter from the statement. At least one wager was placed on it."""
    meter: Said = drawn.choice([each for each in said["meters"] if each["meter"] in ("big", "small")])
    return meter


def some_cents(drawn: random.Random) -> int:
    return drawn.choice([-1, 1]) * drawn.choice([1, drawn.randint(2, 99), drawn.randint(100, 1_000_000)])


def one_figure(said: Said, drawn: random.Random) -> None:
    a_meter(said, drawn)[f"{drawn.choice(_CENTS)}_cents"] += some_cents(drawn)


def figures_that_add_up(said: Said, drawn: random.Random) -> None:
    meter, cents = a_meter(said, drawn), some_cents(drawn)
    for name, sign in drawn.choice(_MOVED).items():
        meter[f"{name}_cents"] += sign * cents


def from_meter_to_meter(said: Said, drawn: random.Random) -> None:
    cents, (first, second) = some_cents(drawn), [each for each in said["meters"] if each["meter"] in ("big", "small")]
    for meter, sign in ((first, 1), (second, -1)):
        meter["level_cents"] += sign * cents
        meter["contributions_cents"] += sign * cents


def a_part_of_a_cent(said: Said, drawn: random.Random) -> None:
    meter, name = a_meter(said, drawn), drawn.choice(["carried", "reserve_carried"])
    meter[name] = str((Fraction(meter[name]) + Fraction(1, drawn.randint(2, 99))) % 1)


def an_amount(said: Said, drawn: random.Random) -> None:
    """Change the amount of a random award in the statement, and the figures of its meter by the same amount, so that
    the sums still agree."""
    award, cents = drawn.choice(said["awards"]), some_cents(drawn)
    award["cents"] += cents
    for meter in said["meters"]:
        if meter["meter"] == award["meter"] and award["step"] != "rejected":
            meter["awards_cents"] += cents
            meter["level_cents"] -= cents
    sum_up(said)


def the_houses_part(said: Said, drawn: random.Random) -> None:
    drawn.choice(said["awards"])["house_cents"] += some_cents(drawn)


def a_step(said: Said, drawn: random.Random) -> None:
    award = drawn.choice(said["awards"])
    award["step"] = drawn.choice(
        [step for step in ("pending", "verified", "paid", "rejected") if step != award["step"]]
    )
    sum_up(said)


def no_award(said: Said, drawn: random.Random) -> None:
    said["awards"].remove(drawn.choice(said["awards"]))
    sum_up(said)


def another_sum(said: Said, drawn: random.Random) -> None:
    said[drawn.choice(["owed_cents", "paid_cents"])] += some_cents(drawn)


FORGERIES = (
    *(one_figure, figures_that_add_up, figures_that_add_up, from_meter_to_meter, a_part_of_a_cent),
    *(an_amount, an_amount, the_houses_part, a_step, no_award, another_sum),
)
_SENTENCE = re.compile(
    r"table t-\d, shoe \d+, round \d+.*(\d\.\d\d|\d/\d)|(\d\.\d\d|\d/\d).*table t-\d, shoe \d+, round \d+"
)


def test_random_lies_are_found_each_with_its_table_its_round_and_its_amount(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """Head office finds random lies in statements that the pit signed, although the figures of most of these statements
    add up."""
    lies: Counter[str] = Counter()
    for seed in range(20 if samples.at_length else 1):
        drawn = random.Random(seed)
        Evening(seed, tmp_path / f"{seed}")
        lines = lines_of(tmp_path / f"{seed}")
        for _ in range(10):
            forge = drawn.choice(FORGERIES)
            told = findings(lied(lines, partial(forge, drawn=drawn)), tmp_path)
            assert any(_SENTENCE.search(each) for each in told), (seed, forge.__name__, told)
            lies[forge.__name__.replace("_", " ")] += 1
    told_of = ", ".join(f"{name} {count}" for name, count in sorted(lies.items()))
    figure(f"{lies.total()} random lies of a house, each found with table, round and amount: {told_of}")
