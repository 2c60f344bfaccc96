"""A card-reading shoe as one device: its port, its codec, and whether the shoe is there at the far end of its cable.

An open port says nothing about the shoe: if the plug is pulled at the shoe, the adapter stays in its place. So the line
counts as up only while the shoe itself is there. A shoe that answers commands is asked. If `present` names a modem line
or an input, the table sees the plug: a loop in the plug at the shoe's end leads RTS back to a modem line, or the shoe's
own supply closes an input of the header. If neither is possible, the port alone decides, and nobody notices a plug that
is pulled at the shoe.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Mapping

from controller.table.facts import Report, ShoeFact
from drivers.devices import PRESENT_INPUT, ShoeListener
from drivers.line.bad_bytes import BadBytes, joined
from drivers.line.brand import Answered, Brand
from drivers.line.port import MODEM_LINES, NETWORK, ShoePort
from drivers.line.tap import Tap

_log = logging.getLogger(__name__)

_KEPT_UNREAD_BYTES = 4095  # the kernel keeps so much of a tty that nobody reads, and more of a socket
_BITS_A_BYTE = 10  # 8N1
_ASKED_EVERY_MS = 450  # at each second beat of 250 ms
_LOOKED_WITHIN_MS = 1000  # nobody pulls a plug, draws a card and puts the plug back in less: see `kept_unread_ms`

OFF = "off"
"""`[shoe] ask` of a table whose shoe is not asked."""


class ShoeOnLine:
    """A shoe of a given brand on its serial line, as the Protocol `drivers.devices.Shoe` describes it.

    `url` and `baud` are `port` and `baud` in the table file's `[shoe]`; without `baud` the brand's usual speed holds.
    `last` is the last report that was believed before a restart. `ask` is the command by which the shoe is asked
    whether it is there, "off", or None for the brand's usual command. A shoe that has not answered for
    `answers_within_ms` counts as gone; None stands for the brand's time. `present` is "cts", "dsr", "dcd" or "input",
    which shows that the plug is in, or None if nothing shows that. `tap` gets a copy of all bytes on the wire.
    """

    def __init__(
        self,
        brand: Brand,
        url: str,
        baud: int | None = None,
        last: Report | None = None,
        ask: str | None = None,
        answers_within_ms: int | None = None,
        present: str | None = None,
        tap: Tap | None = None,
    ) -> None:
        self._tap = tap
        self._codec = brand.codec(last)
        self._bits_until_numbers_repeat = brand.bits_until_numbers_repeat
        self._url = url
        self._baud = baud or brand.bauds[0]
        self._present = present
        asking = None if ask == OFF else brand.asking
        self._answers_within_ms = (answers_within_ms or asking.answers_within_ms) if asking else None
        self._question = asking.frame(ask or asking.usual) if asking else b""
        self._port: ShoePort | None = None
        self._listener: ShoeListener | None = None
        self._told: tuple[bool, str] | None = None  # the link as the listener knows it
        self._port_is: tuple[bool, str] | None = None  # the port as it says of itself
        self._heard_again = False  # something came while the line was down
        # The questions.
        self._opened_ms: int | None = None  # the first beat after the port was opened
        self._asked_ms: int | None = None  # the last question
        self._is_due = False  # an answer
        self._proven_ms: int | None = None  # the last question that was answered since the port was opened
        # The plug, as it is seen.
        self._looks: deque[tuple[bool, int]] = deque()  # since the last beat; the watch's thread adds to it
        self._there: bool | None = None  # None: nobody has looked since the port was opened
        self._last_there_ms: int | None = None
        self._own_words = False  # the listener was told that the shoe is gone while its port is open

    @property
    def gap_shows_within_ms(self) -> int:
        """The longest time without the shoe, in milliseconds, after which a gap in the numbers of the shoe's reports
        still shows that a report was missed.

        The value is 0 on a network line, which can be dead for a while before anybody notices.
        """
        return 0 if self._url.startswith(NETWORK) else self._bits_until_numbers_repeat * 1000 // self._baud

    @property
    def kept_unread_ms(self) -> int:
        """How long the program can stand still, in milliseconds, without missing anything of the shoe.

        The kernel's buffer limits this time. A plug that is pulled and put back during a standstill goes unseen, which
        limits the time further. So the time is at most the longest wait for the shoe's answer, and at most a second if
        the table looks at the plug.
        """
        kept_ms = _KEPT_UNREAD_BYTES * _BITS_A_BYTE * 1000 // self._baud
        if self._answers_within_ms is not None:
            kept_ms = min(kept_ms, self._answers_within_ms)
        return kept_ms if self._present is None else min(kept_ms, _LOOKED_WITHIN_MS)

    @property
    def proven_ms(self) -> int | None:
        """The moment, in milliseconds since boot, up to which the shoe's answers prove that the table heard the shoe;
        None if nothing proves it."""
        return self._proven_ms

    def forget(self) -> None:
        """Forget the last report, so that the next report counts as new even if it looks the same."""
        self._codec.forget()

    async def run(self, listener: ShoeListener) -> None:
        """Keep the shoe's line open and tell the listener what happens, until cancelled.

        Raises TableError if the URL names no port, or if the port cannot read the modem line that `present` names.
        """
        self._listener = listener
        self._port = ShoePort(self._url, self._baud, self._hear, self._link, modem_line=self._modem_line)
        await self._port.run()

    def look(self, now_ms: int, inputs: Mapping[str, bool]) -> bool:
        """Look whether the shoe's plug is in. Return True if that has changed since the last beat (the main loop's
        regular work). Any thread may call this."""
        there = self._is_there(inputs)
        if there is None:
            return False
        if there != self._there or self._looks:
            self._looks.append((there, now_ms))
        return there != self._there

    def beat(self, now_ms: int, inputs: Mapping[str, bool]) -> None:
        """Do the shoe's regular work, at each beat of the main loop: look at the plug, tell the listener of changes,
        and ask the shoe whether it is there."""
        if self._port_is is None or not self._port_is[0]:
            return
        if self._opened_ms is None:
            self._opened_ms = now_ms
        if self._look_at_plug(now_ms, inputs):
            self._tell(False, self._plug_is_out())
        if self._heard_again:  # the wire to the table works; people see that on a beat, whatever came
            self._proven_ms = now_ms if self._is_asked else None
            self._come_up()
        self._judge(now_ms)
        if self._is_asked:
            self._ask(now_ms)

    # The port.

    @property
    def _modem_line(self) -> str | None:
        return self._present if self._present in MODEM_LINES else None

    def _link(self, up: bool, why: str) -> None:
        """Take note that the port was opened (`up` is True) or is gone. Forget the shoe's answers and the looks at its
        plug from before this moment."""
        if self._tap is not None:
            self._tap.tell("open" if up else "gone")
        self._port_is = up, why
        self._opened_ms = self._asked_ms = self._proven_ms = None
        self._is_due = False
        self._there = self._last_there_ms = None
        self._heard_again = False
        if not up:
            self._tell(False, why)
        elif not self._is_asked and self._present is None:
            self._come_up()

    def _hear(self, data: bytes) -> None:
        if self._tap is not None:
            self._tap.tell("shoe", data)
        for heard in joined(self._without_answers(data)):
            if not self._is_up() and not self._heard_again:
                self._heard_again = True
                assert self._listener is not None, "a port is heard while it runs"
                self._listener.shoe_heard_again()
            self._pass_on(heard)

    def _without_answers(self, data: bytes) -> Iterator[ShoeFact | BadBytes]:
        """Decode the bytes from the shoe. Yield the facts and bad bytes in them.

        The answer to the table's question whether the shoe is there is noted, and not yielded. Any other answer counts
        as noise.
        """
        for heard in self._codec.feed(data):
            if not isinstance(heard, Answered):
                yield heard
            elif not self._is_due:
                yield BadBytes("noise", heard.count)
            else:
                self._answered()

    def _pass_on(self, heard: ShoeFact | BadBytes) -> None:
        assert self._listener is not None, "a port is heard while it runs"
        if isinstance(heard, BadBytes):
            self._listener.shoe_noise(heard.public_reason, heard.count)
        else:
            self._listener.shoe_reported(heard)

    # Whether the shoe is there.

    @property
    def _is_asked(self) -> bool:
        return self._answers_within_ms is not None

    def _ask(self, now_ms: int) -> None:
        """Ask the shoe whether it is there, unless the table asked less than 450 ms ago. Ask even if the last question
        was not answered."""
        assert self._port is not None, "a port is open"
        if self._asked_ms is not None and now_ms - self._asked_ms < _ASKED_EVERY_MS:
            return
        self._asked_ms, self._is_due = now_ms, True
        self._port.write(self._question)
        if self._tap is not None:
            self._tap.tell("host", self._question)

    def _answered(self) -> None:
        """Take note that the shoe has answered. The answer proves that the shoe was there when the last question was
        sent, or later.

        If the program stood still, it may read the answer much later, but it asked nothing meanwhile.
        """
        self._proven_ms, self._is_due = self._asked_ms, False
        if self._present is None or self._there:
            self._come_up()

    def _is_there(self, inputs: Mapping[str, bool]) -> bool | None:
        """Return True if the shoe's plug is in now, and False if it is out. Return None if nothing shows the plug, or
        the port is not open."""
        if self._present is None or self._port is None:
            return None
        return inputs.get(PRESENT_INPUT, False) if self._modem_line is None else self._port.modem_level()

    def _look_at_plug(self, now_ms: int, inputs: Mapping[str, bool]) -> bool:
        """Go through all looks at the plug since the last beat. Return True if the plug counts as out at one of them.

        A shoe without report numbers may have sent a whole card while a single look found no plug, so each look counts.
        With another shoe, report numbers show what was missed. There the plug counts as out only if it was out for so
        long that the numbers can have repeated.
        """
        now_there = self._is_there(inputs)
        if now_there is None:
            self._looks.clear()
            return False
        self._looks.append((now_there, now_ms))
        was_out = False
        while self._looks:
            there, at_ms = self._looks.popleft()
            if there:
                was_out |= self._there is False
                self._there, self._last_there_ms = True, at_ms
            elif self._last_there_ms is None or at_ms - self._last_there_ms >= self.gap_shows_within_ms:
                was_out, self._there = True, False
        return was_out

    def _judge(self, now_ms: int) -> None:
        """Decide whether the shoe's line is up now, from the plug and the shoe's answers, and tell the listener."""
        if self._there is False:
            self._tell(False, self._plug_is_out())
        elif self._is_silent(now_ms):
            why = f"the shoe's port {self._url} is open, but the shoe does not answer; "
            do = "check the plug at the shoe's end, and whether the shoe is switched on; the table goes on asking"
            self._tell(False, why + do)
        elif not self._is_asked or self._proven_ms is not None:
            self._come_up()

    def _is_silent(self, now_ms: int) -> bool:
        """Return True if the shoe has not answered for longer than `answers_within_ms`. After such a time its report
        numbers can have repeated."""
        since_ms = self._opened_ms if self._proven_ms is None else self._proven_ms
        if since_ms is None or self._answers_within_ms is None:
            return False
        return now_ms - since_ms > self._answers_within_ms

    def _plug_is_out(self) -> str:
        sees = f"the input {PRESENT_INPUT}" if self._modem_line is None else f"its line {self._modem_line.upper()}"
        do = "put the plug in at the shoe's end, and check the wire and the shoe's supply"
        return f"the shoe's port {self._url} is open, but {sees} shows no shoe; {do}"

    def _is_up(self) -> bool:
        return self._told is not None and self._told[0]

    def _come_up(self) -> None:
        assert self._port_is is not None, "the port is open"
        self._heard_again = False
        self._tell(True, self._port_is[1])

    def _tell(self, up: bool, why: str) -> None:
        """Tell the listener that the line went up or down, or that the reason has changed.

        This also logs the reason, unless the reason is the port's own, which the port has already logged.
        """
        if self._told == (up, why):
            return
        assert self._port_is is not None, "the port was opened, or could not be"
        if up and self._own_words:
            _log.info("the shoe is there again: %s", why)
        self._own_words = why != self._port_is[1]
        if self._own_words:
            _log.warning("%s", why)
        if not up:
            self._codec.forget()  # the next report may look like the last one: its number may have come round
        self._told = up, why
        assert self._listener is not None, "told while it runs"
        self._listener.shoe_link(up, why)
