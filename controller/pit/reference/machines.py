"""Writes the configuration files for a pit that runs on two machines, with a third machine as witness (docs/ha.md). All
values come from one file of names and addresses, `machines.toml`.

The models (templates) stand beside that file. A `$name` in a model stands for what differs from house to house and from
machine to machine. The passwords are made here, so nobody thinks one up, types one, or forgets one in an example.
"""

from __future__ import annotations

import re
import secrets
import tomllib
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from string import Template
from typing import Any

from controller.basics.errors import TableError

NAMES = "machines.toml"
_MACHINES = ("one", "two", "witness")
_OF_EACH = ("etcd", "patroni.yml")
_OF_A_PIT = (
    *("keepalived.conf", "environment", "environment.page", "environment.people"),
    *("pgpass", "pgpass.page", "roles.sql"),
)
_ACCOUNTS = ("superusers", "replicators", "rewinders", "leaders", "peoples", "readers")
_EXAMPLES: Mapping[str, str] = {
    **dict.fromkeys(_MACHINES, "an address, as in 10.20.0.1"),
    "network": "the addresses of the three machines, as in 10.20.0.0/29",
    "broker": "an address with its network, as in 10.20.0.10/24",
    "interface": "the name of a network interface, as in eth0",
}
_INTERFACE = re.compile(r"[A-Za-z0-9._-]{1,15}")


def write_files(models: Path, into: Path) -> list[Path]:
    """Write each machine's files into a folder of its own below the new folder `into`. Returns the machines' folders.

    `models` is the folder of `machines.toml` and the models (templates). Raises TableError `machines_invalid` with what
    is wrong in that file, `machines_models` if a model cannot be used, `machines_exist` if `into` is there already, and
    `machines_unwritable` if `into` cannot be written.
    """
    names = _read(models / NAMES)
    passwords = {f"{account}_password": secrets.token_urlsafe(24) for account in _ACCOUNTS}
    files = {
        machine: {name: _filled(models / name, _of(machine, names) | passwords) for name in wanted}
        for machine, wanted in zip(_MACHINES, (_OF_EACH + _OF_A_PIT, _OF_EACH + _OF_A_PIT, _OF_EACH), strict=True)
    }
    try:
        into.mkdir(mode=0o700)
        for machine, texts in files.items():
            (into / machine).mkdir(mode=0o700)
            for name, text in texts.items():
                (into / machine / name).touch(mode=0o600)
                (into / machine / name).write_text(text, "utf-8")
    except FileExistsError as error:
        do = "Name a folder that is not there. New files have new passwords, so files of two runs do not go together."
        raise TableError("machines_exist", f"{into} is there already.", do) from error
    except OSError as error:
        what = f"{into} cannot be written: {error.strerror}."
        raise TableError("machines_unwritable", what, "Name a folder in which you may write.") from error
    return [into / machine for machine in files]


def _of(machine: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the values that fill the models (templates) of this machine, without the passwords."""
    return {
        **names,
        "name": machine,
        "address": names[machine],
        "other": names["two" if machine == "one" else "one"],
        "priority": "100" if machine == "one" else "90",
        "is_witness": str(machine == "witness").lower(),
    }


def _filled(model: Path, values: Mapping[str, str]) -> str:
    try:
        return Template(model.read_text("utf-8")).substitute(values)
    except (OSError, ValueError, KeyError) as error:
        why = error.strerror if isinstance(error, OSError) else f"{error} is no name that a model knows"
        do = "Copy the package's folder examples/ha, and change machines.toml alone."
        raise TableError("machines_models", f"The model {model} cannot be used: {why}.", do) from error


def _read(path: Path) -> dict[str, str]:
    try:
        names = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise _invalid(path, [f"the file cannot be read: {why}"]) from error
    if wrong := [*_wrong(names)]:
        raise _invalid(path, wrong)
    return names


def _wrong(names: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong in `machines.toml`, one line each. The addresses are compared with each other only if every
    value has the right form."""
    for key in names.keys() - _EXAMPLES.keys():
        yield f"`{key}` is not known here"
    unfit = [key for key in _EXAMPLES if not _fits(key, names.get(key))]
    for key in unfit:
        told = f"is {names[key]!r}, and must be" if key in names else "is missing:"
        yield f"`{key}` {told} {_EXAMPLES[key]}"
    if unfit:
        return
    addresses = [names[machine] for machine in _MACHINES]
    if len({*addresses, names["broker"].partition("/")[0]}) <= len(addresses):
        yield "two machines, or a machine and the broker, have one address"
    network = IPv4Network(names["network"])
    for machine in _MACHINES:
        if IPv4Address(names[machine]) not in network:
            yield f"`{machine}` is {names[machine]}, which is not in the `network` {network}"


def _fits(key: str, value: object) -> bool:
    """Tell whether `value` is of the kind that `key` of `machines.toml` needs, for example an IPv4 address."""
    if not isinstance(value, str):
        return False
    if key == "interface":
        return _INTERFACE.fullmatch(value) is not None
    try:
        match key:
            case "network":
                IPv4Network(value)
            case "broker":
                IPv4Interface(value)
            case _:
                IPv4Address(value)
    except ValueError:
        return False
    return key != "broker" or "/" in value


def _invalid(path: Path, wrong: list[str]) -> TableError:
    do = "Correct the file, and run the same command again. The package's example shows its form."
    return TableError("machines_invalid", f"{path} cannot be used: {'; '.join(wrong)}.", do)
