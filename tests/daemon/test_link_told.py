"""Checks the alarms about the connection to the pit. If the connection is lost and later comes back, the table reports
each of the two once. It never reports an interruption that is short.

After a restart the table still knows what it has reported.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.daemon.beat import next_beat
from controller.daemon.delivery.link_told import LinkTold
from controller.table.facts import OwnFact
from controller.table.journalled import PitLinkBack, PitLinkLost
from tests.daemon.daemon_world import running
from tests.support.waiting import eventually, run

_LIMIT_S = 10


def _told(lost: bool, *looks: tuple[float, str]) -> list[OwnFact]:
    """Return what the table reports about the connection to the pit. `lost` says whether its loss was already reported
    at the start. `looks` holds pairs: the seconds since the start, and the state of the connection that the table finds
    at that time."""
    told: list[OwnFact] = []
    link = LinkTold(lost, _LIMIT_S, told.append)
    link._lost_s = 0.0
    for at_s, standing in looks:
        link.look(standing, at_s)
    return told


@pytest.mark.parametrize(
    ("lost", "looks", "told"),
    [
        (False, [(0, "no_broker"), (60, "listening"), (61, "well"), (62, "well")], []),  # it was never heard before
        (False, [(0, "well"), (9, "no_broker"), (10, "no_broker")], [PitLinkLost("no_broker")]),
        (False, [(0, "well"), (1, "no_broker"), (9, "listening"), (9.5, "well"), (18, "silent")], []),
        (False, [(0, "well"), (20, "silent"), (30, "no_broker"), (40, "listening")], [PitLinkLost("silent")]),
        (
            False,
            [(0, "well"), (20, "silent"), (85, "well"), (86, "well"), (99, "no_pit")],
            [PitLinkLost("silent"), PitLinkBack(65), PitLinkLost("no_pit")],
        ),
        (True, [(0, "no_broker"), (60, "no_broker"), (70, "well")], [PitLinkBack(70)]),
    ],
)
def test_a_loss_is_told_once_it_is_longer_than_the_limit_and_a_return_once(
    lost: bool, looks: list[tuple[float, str]], told: list[OwnFact]
) -> None:
    assert _told(lost, *looks) == told


def test_a_running_table_tells_of_a_cut_and_after_a_restart_of_the_return(tmp_path: Path) -> None:
    """A running table reports that the connection to the pit is lost. After a restart it reports that the connection is
    back.

    Somebody pulls the cable, and restarts the table before the cable is plugged in again.
    """
    codes = {"pit_link_lost", "pit_link_back"}

    async def cut() -> None:
        async with running(tmp_path, pit={"stale_after_s": 1}) as world:
            await eventually(lambda: world.status.pit.standing.code == "well")
            await next_beat()
            await next_beat()  # the table has looked
            world.broker.disconnect()
            await eventually(lambda: world.runtime.table.pit_link_lost)

    async def plugged() -> list[tuple[str, set[str]]]:
        async with running(tmp_path, pit={"stale_after_s": 1}) as world:
            await eventually(lambda: not world.runtime.table.pit_link_lost)
            told = [each.says for each in world.journal.messages_after(0, 100)]
            return [(each["code"], set(each["details"])) for each in told if each.get("code") in codes]

    run(cut())
    assert run(plugged()) == [("pit_link_lost", {"standing"}), ("pit_link_back", {"lost_s"})]
