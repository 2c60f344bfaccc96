"""Checks the pit's desk (the part that takes requests for decisions). Each decision is recorded under the user account
that the kernel names, and some decisions need two people.

The adversaries are people of the house: a clerk who pretends to be two people, a clerk who becomes another user
account, and people who claim somebody else's name, send a request twice, lend out their connection, or ask until the
disk is full.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.contract.keys import SigningKey, signature_holds
from controller.pit.reference import refused
from controller.pit.reference.desk import Desk
from controller.pit.reference.desk_socket import open_desk
from controller.pit.reference.proposals import WAITS_MS
from controller.pit.reference.roles import Groups
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.test_meters import balanced, give, opened
from tests.support.at_desk import ANSWERS_WITHIN_S, ask_desk, connected_as, said
from tests.support.ledgers import meet
from tests.support.other_user import ROOT, needs_root

pytestmark = needs_root

PIT = SigningKey(bytes([7]) * 32)
ATTENDANT, SUPERVISOR, ACCOUNTING, ENGINEER = 5001, 5002, 5003, 5004
GROUPS: Groups = {
    "attendant": (ATTENDANT,),
    "supervisor": (SUPERVISOR,),
    "accounting": (ACCOUNTING,),
    "engineer": (ENGINEER,),
}
ANN, BEN, CAS, DAN, EVE = range(4001, 4006)
IN: dict[int, tuple[int, ...]] = {
    ANN: (ATTENDANT, SUPERVISOR),
    BEN: (SUPERVISOR,),
    CAS: (ACCOUNTING,),
    DAN: (ENGINEER,),
    EVE: (4999,),
}


class Pit:
    """A pit's ledger and desk, with one table. Each call of `hit` makes a new award."""

    def __init__(self, folder: Path) -> None:
        self.path, self.control = folder / "ledger", folder / "control"
        self.settings = folder / "pit.toml"
        self.ledger = opened(self.path, key=PIT)
        self.ms = 1_800_000_000_000
        self.desk = Desk(
            self.path, self.ledger.session(), PIT, GROUPS, self.settings, clock_ms=lambda: self.ms
        )  # fmt: skip
        self._table = TableEvening("t-0")

    def hit(self, *doubts: str) -> str:
        """Play a round with a hit at the table, and return the id of the new pending award. `doubts` are the codes by
        which the table says why it doubts the round."""
        table = self._table
        give(self.ledger, table, table.lock(1), table.finish((1, "all")), table.hit(1, "all", 2_500, doubts=doubts))
        return self.ledger.awards()[-1].id

    def ask(self, who: int, do: str, **about: object) -> dict[str, Any]:
        return ask_desk(who, self.control, IN[who], do=do, **about)

    def code(self, who: int, do: str, **about: object) -> str:
        """Send the request `do` from the user account `who`, with the fields `about`. Return the error code of the
        desk's refusal."""
        answer = self.ask(who, do, **about)
        assert not answer["ok"], answer
        return str(answer["code"])

    def proposed(self, who: int, do: str, **about: object) -> dict[str, object]:
        """Send the request `do` from the user account `who`, as a proposal that a second person must confirm. Return
        the number and the digest of the proposal, which the second person's request must name."""
        answer = self.ask(who, do, **about)
        (waits,) = answer["waits"]
        return {"proposal": waits["number"], "digest": waits["digest"]}

    def step(self, award: str) -> str:
        return self.ledger.award(award).step

    def told(self) -> list[dict[str, Any]]:
        return [dict(each) for each in self.ledger.decided()]


@pytest.fixture(scope="module")
def pit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pit]:
    pit = Pit(tmp_path_factory.mktemp("desk"))
    with closing(pit.ledger), open_desk(pit.control, pit.desk):
        yield pit


@pytest.fixture
def award(pit: Pit) -> str:
    return pit.hit()


def test_who_verifies_does_not_pay_and_the_record_names_both_accounts(pit: Pit, award: str) -> None:
    assert pit.ask(ANN, "verify", award=award)["ok"]
    assert pit.code(ANN, "pay", award=award) == "not_two_people"
    assert pit.step(award) == "verified"
    assert pit.ask(CAS, "pay", award=award)["told"].startswith(f"{award}  paid")
    assert [(each["step"], each["by"]["account"], each["witness"]) for each in pit.told()[-2:]] == [
        ("verified", f"#{ANN}", None),
        ("paid", f"#{CAS}", None),
    ]
    balanced(pit.ledger)


def test_an_account_with_every_role_is_still_one_person(pit: Pit, award: str) -> None:
    every = (ATTENDANT, SUPERVISOR, ACCOUNTING, ENGINEER)
    assert ask_desk(DAN, pit.control, every, do="verify", award=award)["ok"]
    assert ask_desk(DAN, pit.control, every, do="pay", award=award)["code"] == "not_two_people"
    root = ask_desk(0, pit.control, every, do="pay", award=award)
    assert root["ok"], "root is one account too, and here another than the one that verified"


def test_a_role_decides_what_it_may(pit: Pit, award: str) -> None:
    assert pit.code(CAS, "verify", award=award) == "not_allowed"
    assert pit.code(DAN, "pay", award=award) == "not_allowed"
    for do in ("verify", "pay", "reject", "recall", "dismiss"):
        assert pit.code(EVE, do, award=award) == "not_allowed"
    assert pit.code(EVE, "look") == "not_allowed", "whoever has no role sees nothing"
    assert pit.step(award) == "pending"


TWO_PEOPLE: dict[str, Callable[[str], dict[str, object]]] = {
    "reject": lambda award: {"award": award},
    "adopt": lambda _: {"table": "t-9", "epoch": "beef", "key": KEY.public.hex()},
    "unadopt": lambda _: {"table": "t-8", "epoch": "beef", "reason": "a thief's"},
    "retire": lambda _: {"table": "t-1", "reason": "sold"},
}


@pytest.mark.parametrize("do", TWO_PEOPLE)
def test_every_other_decision_takes_two_accounts(pit: Pit, award: str, do: str) -> None:
    if do == "unadopt":
        pit.ledger.adopt("t-8", "beef", KEY.public.hex())
    about = TWO_PEOPLE[do](award)
    decided = len(pit.told())
    confirm = pit.proposed(ANN, do, **about)
    assert pit.code(ANN, "confirm", **confirm) == "not_two_people"
    assert pit.code(EVE, "confirm", **confirm) == "not_allowed"
    assert len(pit.told()) == decided, "nobody has decided anything yet"
    assert [each["account"] for each in pit.ask(BEN, "look")["waits"]] == [f"#{ANN}"]
    assert pit.ask(BEN, "confirm", **confirm)["ok"]
    last = pit.told()[-1]
    assert (last["by"]["account"], last["witness"]["account"]) == (f"#{ANN}", f"#{BEN}")
    assert pit.code(BEN, "confirm", **confirm) == "no_proposal", "a confirmation that is sent again does nothing"
    assert len(pit.told()) == decided + 1
    if do == "adopt":
        pit.ledger.unadopt("t-9", "beef", "Ann", "nobody hears it", "Ben")
    if do == "retire":
        pit.ledger.adopt("t-1", EPOCH, KEY.public.hex())
        meet(pit.ledger, "t-1", TableEvening("t-1").state(), adopt_new=False)


def test_an_award_in_doubt_is_verified_by_two_and_paid_by_a_third(pit: Pit) -> None:
    award = pit.hit("lock_lay_long")
    assert pit.code(ANN, "verify", award=award) == "award_doubted"
    confirm = pit.proposed(ANN, "verify", award=award, despite_doubts=True)
    assert pit.ask(BEN, "confirm", **confirm)["ok"]
    assert pit.code(BEN, "pay", award=award) == "not_two_people", "the second who verified pays it neither"
    assert pit.ask(CAS, "pay", award=award)["ok"]


def test_what_has_changed_since_it_was_shown_is_not_confirmed(pit: Pit, award: str) -> None:
    confirm = pit.proposed(ANN, "reject", award=award)
    assert pit.code(BEN, "confirm", **confirm | {"digest": "0" * 16}) == "proposal_changed", "nobody showed that"
    assert pit.ask(BEN, "verify", award=award)["ok"], "it was shown as pending"
    assert pit.code(BEN, "confirm", **confirm) == "proposal_changed"
    assert pit.code(BEN, "confirm", **confirm | {"digest": "0" * 16}) == "proposal_changed"
    assert pit.step(award) == "verified"


def test_a_proposal_is_over_after_its_time_and_when_the_clock_goes_back(pit: Pit, award: str) -> None:
    confirm = pit.proposed(ANN, "reject", award=award)
    pit.ms += WAITS_MS
    assert pit.code(BEN, "confirm", **confirm) == "no_proposal"
    confirm = pit.proposed(ANN, "reject", award=award)
    pit.ms -= 1
    assert pit.code(BEN, "confirm", **confirm) == "no_proposal"
    assert pit.step(award) == "pending"


def test_what_would_be_refused_is_refused_when_it_is_proposed_and_changes_nothing(pit: Pit, award: str) -> None:
    before = pit.told()
    assert pit.code(ANN, "reject", award="t-0.999") == "award_unknown"
    assert pit.code(ANN, "recall", award=award) == "nothing_to_recall"
    assert pit.code(ANN, "retire", table="t-7", reason="x") == "table_unknown"
    assert pit.code(ANN, "retire", table="t-0", reason=" ") == "reason_missing"
    pit.proposed(ANN, "reject", award=award)
    assert (pit.told(), pit.step(award)) == (before, "pending")


@pytest.mark.parametrize("name", ["by", "as", "witness", "account"])
def test_a_typed_name_claims_nobody(pit: Pit, award: str, name: str) -> None:
    assert pit.code(EVE, "verify", award=award, **{name: f"#{ANN}"}) == "bad_request"
    assert pit.step(award) == "pending"
    kept = pit.ledger.refused()[-1]
    assert (kept.account, kept.code) == (f"#{EVE}", "bad_request")
    assert f'"{name}": "#{ANN}"' in kept.request


def test_a_request_that_is_sent_again_does_nothing_again(pit: Pit, award: str) -> None:
    with connected_as(ANN, pit.control, IN[ANN]) as channel:
        assert said(channel, {"do": "verify", "award": award})["ok"]
        assert said(channel, {"do": "verify", "award": award})["code"] == "step_not_next"
    assert pit.ask(CAS, "pay", award=award)["ok"]
    assert pit.code(CAS, "pay", award=award) == "step_not_next"
    balanced(pit.ledger)


# Whoever is not who the kernel says.

_BECOME = """
import json, os, socket, sys
control, login, uid, group, request = sys.argv[1:]
there = os.open(os.path.dirname(control), os.O_RDONLY | os.O_DIRECTORY)
open("/proc/self/loginuid", "w").write(login)
os.setgroups([int(group)]); os.setresgid(int(uid), int(uid), int(uid)); os.setresuid(int(uid), int(uid), int(uid))
with socket.socket(socket.AF_UNIX) as channel:
    channel.settimeout(20)
    channel.connect(f"/proc/self/fd/{there}/{os.path.basename(control)}")
    channel.sendall(request.encode() + b"\\n")
    sys.stdout.buffer.write(channel.makefile("rb").readline())
"""


def _logged_in(login: int, uid: int, group: int, control: Path, **request: object) -> dict[str, Any]:
    """Send a request to the desk from a person who logged in as the user account `login`, and then became the user
    account `uid` with the group `group`. Return the desk's answer."""
    words = [str(control), str(login), str(uid), str(group), json.dumps(request)]
    done = subprocess.run(
        [sys.executable, "-c", _BECOME, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if "loginuid" in done.stderr:
        pytest.skip("this machine's kernel keeps no logins, or does not let root set one")
    done.check_returncode()
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_nobody_confirms_an_own_proposal_through_su_nor_pays_by_sudo(pit: Pit, award: str) -> None:
    confirm = pit.proposed(ANN, "reject", award=award)
    su = _logged_in(ANN, BEN, SUPERVISOR, pit.control, do="confirm", **confirm)
    assert su["code"] == "not_own_account"
    assert f"logged in as #{ANN} asks as #{BEN}" in su["what"]
    sudo = _logged_in(CAS, 0, ACCOUNTING, pit.control, do="verify", award=award)
    assert sudo["code"] == "not_own_account"
    assert _logged_in(BEN, BEN, SUPERVISOR, pit.control, do="confirm", **confirm)["ok"]
    kept = [each for each in pit.ledger.refused() if each.code == "not_own_account"]
    assert [each.account for each in kept[-2:]] == [f"#{BEN}", "root"]


def test_a_socket_handed_on_has_the_word_of_whoever_connected(pit: Pit, award: str) -> None:
    """If Ben opens a connection to the desk and lends it to somebody, a decision on that connection is recorded in
    Ben's name. The kernel names the account that opened the connection, and no program can tell who wrote on it."""
    with connected_as(BEN, pit.control, IN[BEN]) as lent, lent.dup() as with_ann:
        assert said(with_ann, {"do": "verify", "award": award})["ok"]
    assert pit.told()[-1]["by"]["account"] == f"#{BEN}"


def test_a_socket_whose_process_is_gone_has_nobodys_word(pit: Pit, award: str) -> None:
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        lent = connected_as(BEN, pit.control, IN[BEN])
        socket.send_fds(there, [b"x"], [lent.fileno()])
        os._exit(0)
    _, (left,), *_ = socket.recv_fds(here, 1, 1)
    os.waitpid(pid, 0)
    with here, there, socket.socket(fileno=left) as channel:
        channel.settimeout(ANSWERS_WITHIN_S)
        assert said(channel, {"do": "verify", "award": award})["code"] == "login_unknown"
    assert pit.step(award) == "pending"


# What is refused is kept, and fills no disk.


def test_a_flood_of_refusals_is_counted_and_fills_no_disk(pit: Pit, monkeypatch: pytest.MonkeyPatch) -> None:
    flooder, few = 4100, 5
    monkeypatch.setattr(refused, "MOST_OF_AN_ACCOUNT", few)
    with connected_as(flooder, pit.control) as channel:
        for number in range(40):
            request: object = {"do": "pay", "award": f"t-0.{number}"} if number % 2 else "x" * 4000
            assert not said(channel, request)["ok"]
    kept = [each for each in pit.ledger.refused() if each.account == f"#{flooder}"]
    assert len(kept) == few
    assert sum(each.more for each in kept) == 1, "the others are in memory, until a minute is over"
    assert max(len(each.request) for each in kept) <= 200
    pit.desk._counted_s.clear()
    assert ask_desk(flooder, pit.control, (), do="look")["code"] == "not_allowed"
    assert sum(each.more + 1 for each in pit.ledger.refused() if each.account == f"#{flooder}") == 41
    monkeypatch.setattr(refused, "MOST_OF_A_DAY", len(pit.ledger.refused()))
    for another in range(4200, 4203):
        ask_desk(another, pit.control, (), do="look")
    assert len(pit.ledger.refused()) == refused.MOST_OF_A_DAY, "many accounts fill it neither"


# Terms.

_SETTINGS = """
[meters.big]
seed_cents = {seed}
contribution = "2:100"
[meters.small]
seed_cents = 1000
contribution = "2:100"
"""


WHY = {"reason": "the summer campaign"}


@pytest.fixture
def unplayed(tmp_path: Path) -> Iterator[Pit]:
    """A pit on whose meters nobody has wagered."""
    pit = Pit(tmp_path)
    with closing(pit.ledger), open_desk(pit.control, pit.desk):
        yield pit


def test_changed_terms_take_two_people_who_saw_the_same_change(unplayed: Pit) -> None:
    pit = unplayed
    before = pit.ledger.terms()
    pit.settings.write_text(_SETTINGS.format(seed=777_700))
    assert pit.code(EVE, "terms", **WHY) == "not_allowed"
    assert pit.code(BEN, "terms", reason=" ") == "reason_missing"
    confirm = pit.proposed(BEN, "terms", **WHY)
    assert pit.ledger.terms() == before
    assert pit.code(BEN, "confirm", **confirm) == "not_two_people"
    pit.settings.write_text(_SETTINGS.format(seed=999_900))
    assert pit.code(CAS, "confirm", **confirm) == "proposal_changed", "the file is another"
    confirm = pit.proposed(BEN, "terms", **WHY)
    assert pit.ask(CAS, "confirm", **confirm)["ok"]
    assert pit.ledger.terms()["big"].seed_cents == 999_900, "nobody had played for it"
    assert pit.code(BEN, "terms", **WHY) == "terms_unchanged"
    balanced(pit.ledger)


def test_of_two_proposals_that_cross_the_second_is_refused_and_terms_that_wait_can_be_taken_back(unplayed: Pit) -> None:
    pit = unplayed
    table = TableEvening("t-1")
    give(pit.ledger, table, table.lock(1))
    running = pit.ledger.terms()
    pit.settings.write_text(_SETTINGS.format(seed=111_100))
    crossing = [pit.proposed(who, "terms", **WHY) for who in (ANN, BEN)]
    assert pit.ask(CAS, "confirm", **crossing[0])["ok"]
    assert pit.code(CAS, "confirm", **crossing[1]) == "terms_unchanged", "it waits already"
    assert pit.ledger.terms() == running
    pit.settings.write_text(_SETTINGS.format(seed=222_200))
    assert pit.code(BEN, "terms", **WHY) == "terms_wait"
    assert pit.code(DAN, "withdraw_terms", meter="big", **WHY) == "not_allowed"
    back = pit.proposed(CAS, "withdraw_terms", meter="big", **WHY)
    assert pit.code(CAS, "confirm", **back) == "not_two_people"
    assert pit.ask(BEN, "confirm", **back)["ok"]
    assert pit.code(BEN, "withdraw_terms", meter="big", **WHY) == "no_terms_wait"
    with pit.ledger.meter_terms() as terms:
        assert [*terms.waiting()] == ["small"]
    names = [each["by"]["account"] != each["witness"]["account"] for each in pit.told() if "reason" in each]
    assert all(names)
    assert names
    balanced(pit.ledger)


def test_a_void_lowers_a_meter_by_two_accounts_and_a_document_alone_and_once(unplayed: Pit) -> None:
    """After a round is voided, a meter is lowered only if two user accounts agree and name a document, and only one
    time for each void. In earlier versions, one supervisor at the table could lower a meter by voiding rounds, for
    example before a friend's last round, or to lower what the house owes."""
    pit, table = unplayed, TableEvening("t-0")
    give(pit.ledger, table, table.lock(1, 2))
    shown = pit.ledger.levels()
    give(pit.ledger, table, table.void(1, 2))
    void = f"t-0/{EPOCH}/{len(table.sent)}"
    assert pit.ledger.levels() == shown, "nobody but the table's one supervisor has said anything"
    about = {"void": void, "document": "F-19", "reason": "a card fell"}
    assert pit.code(DAN, "correct_void", **about) == "not_allowed"
    assert pit.code(BEN, "correct_void", **{**about, "document": " "}) == "reason_missing"
    assert pit.code(BEN, "correct_void", **{**about, "void": f"t-0/{EPOCH}/1"}) == "nothing_left", "it is no void"
    first, crossing = (pit.proposed(who, "correct_void", **about) for who in (BEN, CAS))
    assert pit.code(BEN, "confirm", **first) == "not_two_people"
    assert pit.ledger.levels() == shown
    assert pit.ask(CAS, "confirm", **first)["ok"]
    assert pit.ledger.levels() == {"big": 1_000, "small": 70}
    assert pit.code(BEN, "confirm", **crossing) == "nothing_left", "once"
    told = pit.told()[-1]
    assert (told["corrected"], told["off_cents"], told["document"]) == (void, {"big": 333, "small": 10}, "F-19")
    balanced(pit.ledger)


def test_a_meter_is_closed_by_two_accounts_that_saw_what_it_holds(unplayed: Pit) -> None:
    """To close a meter, a second user account must confirm the amounts that the desk showed. Otherwise a manager could
    move a meter's money to a meter for which a friend plays."""
    pit, table = unplayed, TableEvening("t-0")
    about = {"meter": "big", "into": "small", "document": "F-17", "reason": "the game ends"}
    assert pit.code(DAN, "close_meter", **about) == "not_allowed"
    first = pit.proposed(BEN, "close_meter", **about)
    crossing = pit.proposed(ANN, "close_meter", **{**about, "into": None})
    assert pit.code(BEN, "confirm", **first) == "not_two_people"
    give(pit.ledger, table, table.lock(1), table.finish())
    assert pit.code(CAS, "confirm", **first) == "proposal_changed", "it holds more now"
    first = pit.proposed(BEN, "close_meter", **about)
    assert pit.ask(CAS, "confirm", **first)["ok"]
    assert pit.code(CAS, "confirm", **crossing) == "meter_not_open"
    assert pit.told()[-1]["document"] == "F-17"
    assert pit.ledger.levels() == {"small": 70 + 5 + 1_166}
    balanced(pit.ledger)


# The record.


def test_each_decision_is_signed_and_holds_the_digest_of_the_one_before(pit: Pit, award: str) -> None:
    pit.ask(ANN, "verify", award=award)
    told = pit.told()
    signed = [each for each in told if "signature" in each]
    assert len(signed) > 1
    for each in signed:
        assert signature_holds(each, PIT.public)
    assert [each["decision"] for each in told[-len(signed) :]] == [
        *range(told[-1]["decision"] - len(signed) + 1, told[-1]["decision"] + 1)
    ]


def test_a_desk_of_a_pit_that_no_longer_leads_decides_nothing(tmp_path: Path) -> None:
    late = Pit(tmp_path)
    with closing(late.ledger), open_desk(late.control, late.desk):
        award = late.hit()
        with late.ledger._db.transaction():
            late.ledger._session.begin("another pit's")
        assert late.code(ANN, "verify", award=award) == "leadership_lost"
        assert late.step(award) == "pending"
