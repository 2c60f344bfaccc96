"""Describes the table's link to the pit: its status for people, and the table's retained state for the pit."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import convert
from msgspec.structs import asdict

from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.events import Win
from controller.contract.face.state import State, TableState
from controller.contract.face.status import PitKeys, PitLink, Standing, WinShown
from controller.contract.fingerprint import fingerprint, shown
from controller.contract.topics import Topics
from controller.daemon import clock
from controller.daemon.delivery.guarantee import RETRY_REFUSED_AFTER_S, Delivery, Phase
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.pit_said import WIN_SHOWN_S, PitSaid
from controller.daemon.delivery.pit_trust import PitTrust
from controller.daemon.delivery.sending import Sending
from drivers.devices import Broker

_NOT_AUTHORISED = 0x87  # MQTT 5


class StreamTold:
    """Describes one table's link to the pit, for people and for the pit.

    `game_file` is the path of the game's file. `stale_after_s` and `most_unacknowledged` are settings of the table
    file's section `[pit]`. `boot` counts the runs of the program on this journal. `fresh` tells whether bets on
    progressives may be taken. `why_down` says why the broker is not connected; the text is empty if it is connected.
    """

    def __init__(
        self,
        topics: Topics,
        game_file: str,
        stale_after_s: int,
        most_unacknowledged: int,
        boot: int,
        broker: Broker,
        trust: PitTrust,
        delivery: Delivery,
        sending: Sending,
        pit_said: PitSaid,
        levels: Levels,
        fresh: Callable[[], bool],
    ) -> None:
        self._topics, self._game_file, self._boot = topics, game_file, boot
        self._stale_after_s, self._most_unacknowledged = stale_after_s, most_unacknowledged
        self._broker, self._trust, self._delivery, self._sending = broker, trust, delivery, sending
        self._said, self._levels, self._fresh = pit_said, levels, fresh
        self._win: tuple[WinShown, float] | None = None  # the last win that the screen tells, and until when
        self.why_down = "not connected yet"

    def win(self, win: Win) -> None:
        """Show this win on the table's screen for a minute."""
        self._win = convert(win, WinShown, from_attributes=True), clock.monotonic_s() + WIN_SHOWN_S

    def status(self) -> PitLink:
        """Return the whole state of the link to the pit, to be shown to people."""
        delivery = self._delivery
        return PitLink(
            connected=self._said.heard.connected,
            broker=self._broker.address,
            why=self._why_not(),
            standing=self.standing(),
            stream=delivery.phase.name.lower(),
            fresh=self._fresh(),
            epoch=delivery.epoch,
            head_seq=delivery.head_seq,
            acked_seq=delivery.acked_seq,
            unacknowledged=delivery.unacknowledged,
            most_unacknowledged=self._most_unacknowledged,
            meters=self._levels.of_this_game(),
            meters_fresh=self._levels.fresh(clock.monotonic_s()),
            meters_refused=self._levels.refusal(),
            win=self._win_shown(),
            key=PitKeys(
                pinned=shown(self._trust.pinned), offered=shown(self._trust.offered), forged=dict(self._said.forged)
            ),
        )

    def state(self, table: TableState) -> State:
        """Return the table's whole retained state for the pit. It joins `table` (the part that the main loop knows)
        with the state of the sending of events."""
        return State(
            **asdict(table),
            online=True,
            table=self._topics.table,
            epoch=self._delivery.epoch,
            boot=self._boot,
            contract=CONTRACT_VERSION,
            head_seq=self._delivery.head_seq,
            unacknowledged=self._delivery.unacknowledged,
            pit=self.standing().code,
            broker=self._broker.address,
            oldest_unacknowledged_at=self._sending.oldest_at,
        )

    def standing(self) -> Standing:
        """Return the state of the link to the pit at this moment: a code, such as "no_broker" or "well", with details
        for people."""
        now_s, delivery, trust = clock.monotonic_s(), self._delivery, self._trust
        if not self._said.heard.connected:
            return Standing("no_broker", {"for_s": int(now_s - self._said.heard.since_s), "why": self.why_down})
        if self._sending.unread:
            return Standing("journal_unread", {"why": self._sending.unread})
        match delivery.phase:
            case Phase.ALTERED:
                return Standing("journal_altered", {"event": self._sending.altered})
            case Phase.BEHIND:
                return Standing("journal_behind")
            case Phase.REFUSED:
                seq, code = self._sending.refused
                again_s = int(RETRY_REFUSED_AFTER_S)
                details: dict[str, str | int] = {
                    "event": seq,
                    "reason": f"0x{code:02x}",
                    "topic": self._topics.event,
                    "again_s": again_s,
                }
                return Standing("refused", details)
        if trust.pinned is None:
            return Standing("no_key") if trust.offered is None else Standing("key_unpinned", self._keys())
        if trust.successor is not None:
            return Standing("key_handed_over", self._keys() | {"offered": fingerprint(trust.successor)})
        found = self.found(now_s)
        match found.code:
            case "no_pit" | "silent" if trust.offered not in (None, trust.pinned):
                return Standing("key_differs", self._keys())
            case "no_pit":
                return Standing("no_pit", found.details | {"root": self._topics.root})
            case "behind":
                return Standing("behind", found.details | {"waiting": delivery.unacknowledged})
            case "well" | "listening" if unknown := self._levels.unknown(now_s):
                return Standing("meter_unknown", {"meters": ", ".join(unknown), "game": self._game_file})
            case _:
                return found

    def found(self, now_s: float) -> Standing:
        """Return the state of the link to the pit as a code with details, judged only by the messages that came from
        the pit. The answer does not consider whether the broker is away or refuses events."""
        waits_s = self._delivery.waits_s(now_s)
        return self._said.heard.standing(self._stale_after_s, waits_s, self._levels.expected, now_s)

    def _win_shown(self) -> WinShown | None:
        """Return the win that the table's screen shows at present; None if it shows no win."""
        win, until_s = self._win or (None, 0.0)
        return win if clock.monotonic_s() < until_s else None

    def _keys(self) -> dict[str, str | int]:
        return {"offered": shown(self._trust.offered) or "", "pinned": shown(self._trust.pinned) or ""}

    def _why_not(self) -> str:
        """Return a text for people: the journal cannot be read or was altered, the broker refuses an event (and what to
        do), the connection is lost, or it is cut often. The text is empty if none of these is the case."""
        if self._sending.unread:
            return f"the stream waits, for the journal cannot be read: {self._sending.unread}"
        if self._delivery.phase is Phase.ALTERED:
            altered = self._sending.altered
            return f"event {altered} is not in the journal as it was signed. No event is sent from that event on"
        if self._delivery.phase is not Phase.REFUSED:
            return self.why_down or self._broker.often_cut()
        seq, code = self._sending.refused
        why, do = f"0x{code:02x}", "look at the broker's log"
        if code == _NOT_AUTHORISED:
            why, do = f"{why}, not authorised", f"let this table publish on {self._topics.event} in its access list"
        again = f"The event is offered again every {RETRY_REFUSED_AFTER_S:g} s"
        return f"the broker refuses event {seq} ({why}): {do}. {again}"
