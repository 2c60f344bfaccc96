"""The commands of `tablectl` that record the bytes on a shoe's serial line, replay a recording, and look for the frames
(messages of the shoe) in it.

Each command imports its modules only when it runs. A small command such as `tablectl dark` therefore starts without
loading the modules that `tablectl run` needs.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from controller.basics.command import Command

_SHOE = "The shoe"
_BAUD = 9600
_MOST_BYTES = 16_000_000


def _add_record(parser: ArgumentParser) -> None:
    parser.add_argument("of", metavar="PORT|TABLE.toml", help="the shoe's port; or a running table, which goes on")
    parser.add_argument("file", type=Path, metavar="FILE", help="the new file, a text")
    parser.add_argument("--baud", type=int, default=_BAUD, help="the port's speed (default: %(default)s)")
    parser.add_argument("--seconds", type=float, metavar="N", help="how long to record (default: until Ctrl-C)")
    most = "the most bytes that are recorded (default: %(default)s)"
    parser.add_argument("--most-bytes", type=int, default=_MOST_BYTES, metavar="N", help=most)


def _record(options: Namespace) -> int:
    from controller.people.cli.wire import record

    return record(options.of, options.file, options.baud, options.seconds, options.most_bytes)


def _add_replay(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a record of a wire")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--pty", type=Path, metavar="LINK", help="say it on a pty, with a link to it at this path")
    place.add_argument("--port", metavar="PORT", help="say it on a serial port, the far end of the cable")
    parser.add_argument("--baud", type=int, default=_BAUD, help="the port's speed (default: %(default)s)")
    speed = "2 takes half of the time that it took, 0 takes none (default: %(default)g)"
    parser.add_argument("--speed", type=float, default=1.0, metavar="N", help=speed)


def _replay(options: Namespace) -> int:
    from controller.people.cli.wire import replay

    return replay(options.file, options.pty, options.port, options.baud, options.speed)


def _add_frames(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a record of a wire")
    parser.add_argument("--driver", metavar="BRAND", help="print what this brand's codec makes of the record instead")


def _frames(options: Namespace) -> int:
    from controller.people.cli.wire import frames

    return frames(options.file, options.driver)


OF_WIRE: tuple[Command, ...] = (
    Command(
        "shoe record",
        _SHOE,
        "record what passes on a shoe's wire, both ways, also while a table runs on it",
        "/dev/ttyUSB0 shoe.wire --seconds 600",
        _record,
        _add_record,
    ),
    Command(
        "shoe replay",
        _SHOE,
        "say again what the shoe says in a record, to the program at the other end",
        "shoe.wire --pty /tmp/shoe --speed 4",
        _replay,
        _add_replay,
    ),
    Command(
        "shoe frames",
        _SHOE,
        "guess the frames of a record: where they begin, how long they are, their check",
        "shoe.wire",
        _frames,
        _add_frames,
    ),
)
