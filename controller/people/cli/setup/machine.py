"""What `tablectl setup` does to the machine: start and stop the table's systemd unit, and limit the networks with which
the unit may communicate."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from controller.contract.keys import write_whole
from controller.people.cli.versions import TABLE

UNITS = Path("/etc/systemd/system")
_RUNS_SYSTEMD = Path("/run/systemd/system")
_DROP_IN = "50-networks.conf"
_HEAD = "# Written by `tablectl setup`: the addresses that the table may speak with. The kernel refuses all others.\n"


class Machine:
    """The machine on which the setup runs. The files of its systemd units are in the folder `units`."""

    def __init__(self, units: Path = UNITS) -> None:
        self._units = units

    def has_unit(self) -> bool:
        """Tell whether systemd runs here and knows the table's unit."""
        return _RUNS_SYSTEMD.is_dir() and self._systemctl("cat", TABLE)

    def stop(self) -> bool:
        """Stop the table's unit. Returns whether systemd stopped it."""
        return self._systemctl("stop", TABLE)

    def allow(self, networks: Sequence[str]) -> Path:
        """Let the table's systemd unit communicate only with these networks and with its own machine, or with all
        networks for ["any"].

        Returns the path of the unit's drop-in file with the limit. Without a limit that file does not exist.
        """
        folder = self._units / f"{TABLE}.d"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / _DROP_IN
        if [*networks] == ["any"]:
            path.unlink(missing_ok=True)
        else:
            allowed = " ".join(dict.fromkeys(("localhost", *networks)))
            write_whole(path, f"{_HEAD}[Service]\nIPAddressDeny=any\nIPAddressAllow={allowed}\n".encode())
            path.chmod(0o644)
        self._systemctl("daemon-reload")
        return path

    def start(self) -> bool:
        """Start the table's systemd unit now, and let it start at each boot. Returns whether the table became ready."""
        return self._systemctl("enable", TABLE) and self._systemctl("restart", TABLE)

    def _systemctl(self, *words: str) -> bool:
        return subprocess.run(["systemctl", *words], capture_output=True, check=False).returncode == 0
