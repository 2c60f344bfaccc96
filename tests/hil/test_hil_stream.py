"""The stream to the pit, through a real broker: nothing lost, nothing doubled, nothing out of order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from controller.bench.daemon import Broker, Table
from controller.bench.far_pit import PRIVATE_KEY, FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually
from controller.cli import surroundings

PLAYER_WINS = "9C TD TC 5D"


def test_what_happens_while_the_broker_is_down_arrives_in_order(
    table: Table, broker: Broker, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    broker.down()
    eventually(lambda: pins.lamp("fault") == "slow_blink")
    for _ in range(3):
        dealer.play(PLAYER_WINS)
    broker.up()
    eventually(lambda: table.unacknowledged() == 0)
    assert pit.types == ["shoe_opened", *["wagers_locked", "round"] * 3]
    assert [hand["round"] for hand in pit.rounds] == [1, 2, 3]
    eventually(lambda: pins.lamp("fault") == "dark")


def _await_results(hands: int, table: Table, eventually: Eventually) -> None:
    """The shoe's own result comes after a hand's last card, and is journalled too."""
    eventually(lambda: sum(fact["fact"] == "ShoeResultReported" for fact in table.facts()) == hands)


def test_what_happens_while_the_pit_is_away_and_the_table_is_killed_arrives_in_order(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pit.gone()
    for hands in (1, 2):
        dealer.play(PLAYER_WINS)
        _await_results(hands, table, eventually)
        table.restart()
    pit.come()
    eventually(lambda: table.unacknowledged() == 0)
    counted = ["fault", "fault_cleared"]  # after each kill
    assert pit.types == ["shoe_opened", *["wagers_locked", "round", *counted] * 2]


def test_a_pit_restored_from_an_old_copy_is_told_everything_again(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.play(PLAYER_WINS)
    eventually(lambda: table.unacknowledged() == 0)
    before = list(pit.events)
    pit.forget()
    eventually(lambda: pit.events == before)
    eventually(lambda: table.unacknowledged() == 0)


def _is_behind(table: Table) -> bool:
    """Whether it stopped for that; the stop after a start comes before it, and is left by a count."""
    if table.fault == "shoe_unheard":
        table.supervisor("count", left=table.face["cards_left"])
    return table.fault == "journal_behind_pit"


def test_a_journal_restored_from_an_old_copy_is_found_out_by_the_pits_word(
    table: Table, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually, tmp_path: Path
) -> None:
    dealer.open_shoe()
    table.stop()
    table.copy_journal(tmp_path / "old")
    table.start()
    table.count()
    eventually(table.links_up)
    dealer.play(PLAYER_WINS)
    eventually(lambda: pit.types[-1:] == ["round"] and table.unacknowledged() == 0)
    told = len(pit.events)
    for _ in range(5):  # the pit's word may come at any moment of connecting
        table.stop()
        table.restore_journal(tmp_path / "old")
        table.start()
        eventually(lambda: _is_behind(table))
    assert table.face["fault"]["exits"] == []
    assert table.status()["pit"]["stream"] == "behind"
    eventually(lambda: pins.lamp("fault") == "fast_blink")
    table.restart()
    assert table.fault == "journal_behind_pit"
    assert len(pit.events) == told  # nothing was ever sent from the old copy


def test_a_journal_that_lost_its_last_event_alone_and_made_another_is_found_out(
    table: Table, broker: Broker, pit: FarPit, dealer: Dealer, eventually: Eventually, tmp_path: Path
) -> None:
    dealer.open_shoe()
    dealer.lock()
    eventually(lambda: table.unacknowledged() == 0)
    table.stop()
    table.copy_journal(tmp_path / "old")
    table.start()
    eventually(table.links_up)
    table.count()
    table.supervisor("void")
    eventually(lambda: pit.types[-1:] == ["void"] and table.unacknowledged() == 0)
    told = len(pit.events)
    table.stop()
    table.restore_journal(tmp_path / "old")
    with broker.held():
        table.start()
        eventually(lambda: table.unacknowledged() == 1)  # its stop has the number of the lost one, and its chain too
    eventually(lambda: _is_behind(table))
    details = table.face["fault"]["details"]
    assert details.pop("acked_at")
    assert details == {"acked_seq": told, "head_seq": 2, "chain": "unknown"}
    assert len(pit.events) == told
    assert pit.wrong == []


def test_an_acknowledgement_with_another_chain_is_no_word_on_this_journal(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    eventually(lambda: table.unacknowledged() == 0)
    pit.silent()
    pit.say(pit.ack(epoch=pit.events[0]["epoch"], seq=1, chain="ab" * 32))
    eventually(lambda: table.fault == "journal_behind_pit")
    assert table.face["fault"]["details"]["chain"] == "differs"


_NO_ACKNOWLEDGEMENTS = (
    b"",
    b"{",
    b"\xff\xfe",
    b"[]",
    b"null",
    b"7" * 10_000,
    b"[" * 100_000,
    b'{"epoch": "another", "seq": 99, "chain": "00"}',
    b'{"epoch": "EPOCH", "seq": -1, "chain": "00"}',
    b'{"epoch": "EPOCH", "seq": true, "chain": "00"}',
    b'{"epoch": "EPOCH", "seq": 1.5, "chain": "00"}',
    b'{"epoch": "EPOCH", "seq": 1e999, "chain": "00"}',
    b'{"epoch": "EPOCH", "seq": 1}',
    b'{"epoch": "EPOCH", "seq": 1, "chain": "00", "more": 1}',
)


def test_what_is_no_acknowledgement_changes_nothing(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    eventually(lambda: table.unacknowledged() == 0)
    for place, payload in enumerate(_NO_ACKNOWLEDGEMENTS, 1):
        pit.say(payload.replace(b"EPOCH", pit.events[0]["epoch"].encode()))
        suit, other = "CD" if place % 2 else "HS"  # the shoe has eight of each card
        dealer.play(f"9{suit} T{other} T{suit} 5{other}")  # its events are sent and acknowledged after those words
        eventually(lambda place=place: len(pit.rounds) == place and table.unacknowledged() == 0)  # type: ignore[misc]
        assert table.fault is None, payload[:80]


def test_an_acknowledgement_of_an_absurd_number_is_past_the_head(
    table: Table, pit: FarPit, eventually: Eventually
) -> None:
    epoch = table.status()["pit"]["epoch"]
    pit.say(pit.ack(epoch=epoch, seq=2**63 - 1, chain="00" * 32))
    eventually(lambda: table.fault == "journal_behind_pit")


@pytest.fixture
def reference_pit(tmp_path: Path, broker: Broker) -> Iterator[ReferencePit]:
    if broker.certs is not None:
        pytest.skip("two pits cannot be at a broker that knows each by its certificate")
    pit = ReferencePit(tmp_path, broker)
    pit.start()
    yield pit
    pit.end()


class ReferencePit:
    """The project's own pit as a process."""

    def __init__(self, folder: Path, broker: Broker) -> None:
        self._folder = folder
        key = folder / "ledger.key"
        key.write_bytes(PRIVATE_KEY)  # the table pins the one key
        key.chmod(0o600)
        self._command = surroundings.python(
            *("-m", "controller.pit", "run", "--broker", f"{broker.host}:{broker.port}"),
            *("--ledger", str(folder / "ledger"), "--adopt-new"),
        )
        self._running = ExitStack()

    def start(self) -> None:
        self._process = self._running.enter_context(surroundings.started(self._command, self._folder / "pit.log"))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self._running.close()


def test_the_reference_pit_acknowledges_all_it_hears_also_after_a_kill(
    reference_pit: ReferencePit, table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    pit.silent()  # only the reference pit speaks
    dealer.open_shoe()
    dealer.play("KS 2D 9S 3C", 1)
    eventually(lambda: len(pit.hits) == 1 and table.unacknowledged() == 0)
    reference_pit.kill()
    dealer.play(PLAYER_WINS)
    eventually(lambda: len(pit.rounds) == 2)
    assert table.unacknowledged() > 0
    reference_pit.start()
    eventually(lambda: table.unacknowledged() == 0)
    assert table.fault is None
