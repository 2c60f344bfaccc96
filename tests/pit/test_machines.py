"""Checks `pitctl machines`. From a file of addresses, this command writes the files for a pit on two machines with a
third machine as witness."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from controller.pit.reference.__main__ import main

_SHIPPED = Path(__file__).resolve().parents[2] / "config" / "ha"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return Path(shutil.copytree(_SHIPPED, tmp_path / "models"))


def test_each_machine_gets_its_own_names_the_houses_addresses_and_the_same_new_passwords(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = (models / "machines.toml").read_text("utf-8").replace("10.20.0.", "192.168.7.").replace("eth0", "end0")
    (models / "machines.toml").write_text(names, "utf-8")
    assert main(["machines", str(models), str(tmp_path / "first")]) == 0
    assert "by hand" in capsys.readouterr().out
    assert main(["machines", str(models), str(tmp_path / "second")]) == 0
    written = {path.relative_to(tmp_path): path for path in tmp_path.glob("[fs]*/*/*")}
    assert len(written) == 2 * (9 + 9 + 2)
    texts = {name: path.read_text("utf-8") for name, path in written.items()}
    assert {path.stat().st_mode & 0o777 for path in written.values()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("[fs]*")} == {0o700}
    assert not [name for name, text in texts.items() if re.search(r"[$]|10\.20|WRITE", text)]
    for machine, last in (("one", 1), ("two", 2), ("witness", 3)):
        own = Path("first", machine)
        assert f"ETCD_NAME={machine}\n" in texts[own / "etcd"]
        assert f"ETCD_LISTEN_PEER_URLS=https://192.168.7.{last}:2380" in texts[own / "etcd"]
        assert f"nofailover: {str(machine == 'witness').lower()}\n" in texts[own / "patroni.yml"]
    assert "unicast_src_ip 192.168.7.2" in texts[Path("first/two/keepalived.conf")]
    assert "{\n        192.168.7.1\n" in texts[Path("first/two/keepalived.conf")]
    assert texts[Path("first/one/pgpass")] == texts[Path("first/two/pgpass")] != texts[Path("second/one/pgpass")]
    passwords = [*re.findall(r"password: \"(.+)\"", texts[Path("first/one/patroni.yml")])]
    passwords += re.findall(r"PASSWORD '(.+)'", texts[Path("first/one/roles.sql")])
    assert len({*passwords}) == len(passwords) == 6
    assert min(map(len, passwords)) >= 32


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('one = "10.20.0.1"', 'one = "10.20.0.2"', "have one address"),
        ('one = "10.20.0.1"', 'one = "10.20.9.1"', "not in the `network`"),
        ('one = "10.20.0.1"', 'uno = "10.20.0.1"', "`uno` is not known here; `one` is missing: an address"),
        ('"eth0"', '"eth 0"', "`interface` is 'eth 0', and must be"),
        ('"10.20.0.10/24"', '"10.20.0.10"', "`broker` is '10.20.0.10', and must be an address with its network"),
        ('"10.20.0.0/29"', "29", "`network` is 29, and must be"),
        ("one =", "one one =", "the file cannot be read"),
    ],
)
def test_names_that_cannot_be_are_told_and_nothing_is_written(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, said: str
) -> None:
    names = (models / "machines.toml").read_text("utf-8")
    assert before in names
    (models / "machines.toml").write_text(names.replace(before, after), "utf-8")
    assert main(["machines", str(models), str(tmp_path / "into")]) == 1
    told = capsys.readouterr().err
    assert told.startswith("machines_invalid: ")
    assert said in told
    assert not (tmp_path / "into").exists()


def test_files_that_are_there_and_models_that_are_not_end_in_a_sentence(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "into"
    into.mkdir()
    assert main(["machines", str(models), str(into)]) == 1
    assert capsys.readouterr().err.startswith("machines_exist: ")
    assert main(["machines", str(models), str(tmp_path / "no" / "such")]) == 1
    assert capsys.readouterr().err.startswith("machines_unwritable: ")
    (models / "etcd").write_text("$nobody", "utf-8")
    assert main(["machines", str(models), str(tmp_path / "other")]) == 1
    assert capsys.readouterr().err.startswith("machines_models: ")
