"""Checks the PEM files that `tablectl certs` makes, and what `tablectl check` reports about PEM files that cannot be
used."""

from __future__ import annotations

import ssl
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.contract.wire.mqtt_tls import TlsFiles, client_context, wrong_with
from controller.daemon.config import load
from controller.people.cli.certs import BenchCa
from controller.people.cli.main import main
from controller.people.cli.programs import simulated_table
from tests.link.house import write

NAME = "royal9-01"
CA = BenchCa()
_SECRET = generate_private_key(SECP256R1()).private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
)


@pytest.fixture
def files(tmp_path: Path) -> TlsFiles:
    """Valid TLS files for a table, on which the tests then make changes."""
    (tmp_path / "ca.crt").write_bytes(CA.certificate)
    return TlsFiles(tmp_path / "ca.crt", *write(tmp_path, NAME, CA.issue(NAME)))


def test_files_that_are_right(files: TlsFiles) -> None:
    assert [*wrong_with(files, NAME)] == []
    assert [*wrong_with(files)] == [], "the pit asks for no name"
    context = client_context(files, NAME)
    assert context.check_hostname
    assert [ca["notAfter"] for ca in context.get_ca_certs()], "it trusts this CA"
    assert len(context.get_ca_certs()) == 1, "and nobody the machine trusts besides"


def agreeing_only() -> bytes:
    """Return a certificate like that of a CA, but with an X25519 key. Such a key cannot sign: it is only for key
    agreement."""
    ca = x509.load_pem_x509_certificate(CA.certificate)
    made = x509.CertificateBuilder(ca.issuer, ca.subject, X25519PrivateKey.generate().public_key(), 1)
    made = made.not_valid_before(ca.not_valid_before_utc).not_valid_after(ca.not_valid_after_utc)
    return made.sign(generate_private_key(SECP256R1()), SHA256()).public_bytes(Encoding.PEM)


def expired(days: int) -> Callable[[TlsFiles], object]:
    """Return a function that replaces the table's certificate by one that is valid for `days` more days. If `days` is
    negative, the certificate has already expired."""
    return lambda files: write(files.ca.parent, NAME, CA.issue(NAME, timedelta(days=days)))


WRONG: dict[str, tuple[Callable[[TlsFiles], object], list[tuple[str, str]]]] = {
    "no ca": (lambda f: f.ca.unlink(), [("ca", "cannot be read: No such file")]),
    "no certificate and no key": (
        lambda f: [path.rename(f"{path}.old") for path in (f.certificate, f.private_key)],
        [("certificate", "cannot be read: No such file"), ("private_key", "cannot be read: No such file")],
    ),
    "a ca that is none": (lambda f: f.ca.write_text("x"), [("ca", "is not a PEM certificate")]),
    "an expired ca": (
        lambda f: f.ca.write_bytes(BenchCa(timedelta(days=-2)).certificate),
        [("ca", "expired on 20")],
    ),
    "a ca whose key cannot sign": (
        lambda f: f.ca.write_bytes(agreeing_only()),
        [("ca", "is no CA's certificate: its key cannot sign")],
    ),
    "a key for a certificate": (
        lambda f: f.certificate.write_bytes(f.private_key.read_bytes()),
        [("certificate", "is not a PEM certificate")],
    ),
    "an expired certificate": (expired(-1), [("certificate", "expired on 20")]),
    "another table's": (
        lambda f: write(f.ca.parent, NAME, CA.issue("royal9-02")),
        [("certificate", "is for royal9-02, not for royal9-01")],
    ),
    "an expired one of another table": (
        lambda f: write(f.ca.parent, NAME, CA.issue("royal9-02", timedelta(days=-1))),
        [("certificate", "expired on"), ("certificate", "is for royal9-02")],
    ),
    "another certificate's key": (
        lambda f: f.private_key.write_bytes(CA.issue(NAME)[1]),
        [("private_key", "is not the key of")],
    ),
    "a certificate for a key": (
        lambda f: f.private_key.write_bytes(f.certificate.read_bytes()),
        [("private_key", "is not a private key in the clear")],
    ),
    "a key with a pass phrase": (
        lambda f: f.private_key.write_bytes(_SECRET),
        [("private_key", "is not a private key in the clear")],
    ),
}


def listed(days: int = 365, ca: BenchCa = CA) -> Callable[[TlsFiles], object]:
    """Return a function that writes a CA's list of revoked certificates beside the other files. The list is valid for
    `days` more days."""
    return lambda files: list_of(files).write_bytes(ca.revoke(valid=timedelta(days=days)))


def list_of(files: TlsFiles) -> Path:
    """Return the path of the list of revoked certificates that lies beside these TLS files."""
    return files.ca.parent / "ca.crl"


WRONG_LISTS: dict[str, tuple[Callable[[TlsFiles], object], list[tuple[str, str]]]] = {
    "none there": (lambda f: None, [("crl", "cannot be read: No such file")]),
    "no list": (lambda f: list_of(f).write_bytes(CA.certificate), [("crl", "is not a PEM revocation list")]),
    "expired": (listed(-1), [("crl", "ca.crl expired on 20")]),
    "another CA's": (listed(ca=BenchCa()), [("crl", "is not signed by")]),
    "our own certificate on it": (
        lambda f: list_of(f).write_bytes(CA.revoke(f.certificate.read_bytes())),
        [("certificate", "was revoked: ")],
    ),
    "of a CA whose key cannot sign": (
        lambda f: (f.ca.write_bytes(agreeing_only()), listed()(f)),
        [("ca", "its key cannot sign"), ("crl", "is not signed by")],
    ),
    "a good one": (listed(), []),
}


@pytest.mark.parametrize("case", WRONG_LISTS)
def test_everything_wrong_with_the_list_of_revoked_certificates_is_told(case: str, files: TlsFiles) -> None:
    spoil, expected = WRONG_LISTS[case]
    spoil(files)
    files = replace(files, crl=list_of(files))
    told = [*wrong_with(files, NAME)]
    assert [key for key, _, _ in told] == [key for key, _ in expected]
    assert all(words in what for (_, what, _), (_, words) in zip(told, expected, strict=True))
    if not expected:
        assert client_context(files, NAME).verify_flags & ssl.VERIFY_CRL_CHECK_LEAF


@pytest.mark.parametrize("case", WRONG)
def test_everything_wrong_is_told(case: str, files: TlsFiles) -> None:
    spoil, expected = WRONG[case]
    spoil(files)
    told = [*wrong_with(files, NAME)]
    assert [key for key, _, _ in told] == [key for key, _ in expected]
    for (_, what, do), (_, words) in zip(told, expected, strict=True):
        assert words in what
        assert do.endswith("."), do
    with pytest.raises(TableError) as caught:
        client_context(files, NAME)
    assert (caught.value.code, caught.value.what) == ("tls_unusable", told[0][1])


def test_a_name_no_file_can_have_is_told(files: TlsFiles) -> None:
    told = [*wrong_with(TlsFiles(Path("a\0b"), files.certificate, files.private_key))]
    assert [key for key, _, _ in told] == ["ca"]


# In the table's file.


def test_a_list_of_revoked_certificates_without_tls_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(TableError) as caught:
        load(simulated_table(tmp_path, 1, pit={"crl": "ca.crl"}))
    assert "pit.ca: is missing, and TLS needs all three files" in str(caught.value)


def test_check_looks_into_the_list(tmp_path: Path, files: TlsFiles, capsys: pytest.CaptureFixture[str]) -> None:
    listed(-1)(files)
    tls = {"ca": str(files.ca), "certificate": str(files.certificate), "private_key": str(files.private_key)}
    table = simulated_table(tmp_path, 1, pit={"host": "broker.pit", "crl": str(list_of(files))} | tls)
    assert main(["check", str(table)]) == 78
    told = capsys.readouterr().err
    assert "table.toml: pit.crl: " in told
    assert "expired on" in told


def test_the_three_files_come_together_or_not_at_all(tmp_path: Path) -> None:
    table = simulated_table(tmp_path, 1, pit={"ca": "ca.crt", "private_key": "table.key"})
    with pytest.raises(TableError) as caught:
        load(table)
    assert "pit.certificate: is missing, and TLS needs all three files" in str(caught.value)


@pytest.mark.parametrize(("host", "warned"), [("broker.pit", True), ("10.0.0.7", True), ("127.0.0.1", False)])
def test_a_broker_across_a_network_without_tls_is_a_warning(tmp_path: Path, host: str, warned: bool) -> None:
    told = load(simulated_table(tmp_path, 1, pit={"host": host, "trust_first_key": False})).warnings
    assert [warning.partition(" (")[0] for warning in told] == ["[pit] has no TLS"] * warned


def test_check_looks_into_the_files_and_status_does_not_need_them(
    tmp_path: Path, files: TlsFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    tls = {"ca": str(files.ca), "certificate": str(files.certificate), "private_key": str(files.private_key)}
    table = simulated_table(tmp_path, 1, pit={"host": "broker.pit", "trust_first_key": False} | tls)
    assert main(["check", str(table)]) == 0
    assert "warning" not in capsys.readouterr().out
    write(tmp_path, NAME, CA.issue("royal9-02", timedelta(days=-1)))
    assert main(["check", str(table)]) == 78
    told = capsys.readouterr().err
    assert "config_invalid: the configuration has 2 mistakes" in told
    assert "table.toml: pit.certificate: " in told
    assert "expired on" in told
    assert "is for royal9-02, not for royal9-01" in told
    files.private_key.unlink()
    assert main(["status", str(table)]) == 1
    assert "table_not_running" in capsys.readouterr().err


# `tablectl certs`.


def test_a_bench_gets_certificates_that_check_accepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "tls"
    assert main(["certs", str(folder), "localhost", NAME, "10.0.0.7"]) == 0
    said = capsys.readouterr().out
    made = {"ca.crt", *(f"{name}.{kind}" for name in ("localhost", NAME, "10.0.0.7") for kind in ("crt", "key"))}
    assert {path.name for path in folder.iterdir()} == made
    assert all(name in said for name in made)
    assert "not for a house" in said
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == (0 if path.suffix == ".key" else 0o044), path
    for name in ("localhost", NAME, "10.0.0.7"):
        mine = TlsFiles(folder / "ca.crt", folder / f"{name}.crt", folder / f"{name}.key")
        assert [*wrong_with(mine, name)] == []


def test_a_bench_gets_a_list_of_revoked_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "tls"
    assert main(["certs", str(folder), "broker.pit", NAME, "pit", "--revoke", NAME]) == 0
    assert "ca.crl" in capsys.readouterr().out
    for name, revoked in ((NAME, True), ("pit", False)):
        mine = TlsFiles(folder / "ca.crt", folder / f"{name}.crt", folder / f"{name}.key", folder / "ca.crl")
        assert ["was revoked" in what for _, what, _ in wrong_with(mine, name)] == [True] * revoked


def test_what_is_not_made_cannot_be_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certs", str(tmp_path / "tls"), NAME, "--revoke", "pit"]) == 1
    assert "certs_name: pit: --revoke names a certificate that is not made now." in capsys.readouterr().err
    assert not (tmp_path / "tls").exists()


def test_nothing_is_overwritten_and_nothing_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pit.key").write_text("precious")
    assert main(["certs", str(tmp_path), NAME, "pit"]) == 1
    assert "certs_exist" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("pit.key", "precious")]


@pytest.mark.parametrize("name", ["", "../up", "a/b", "ca", "x" * 65, "a b", "é", ".", "..", "a\n"])
def test_a_name_that_cannot_be_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certs", str(tmp_path / "tls"), NAME, name]) == 1
    assert "certs_name" in capsys.readouterr().err
    assert not (tmp_path / "tls").exists()


def test_a_folder_that_cannot_be_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["certs", str(tmp_path / "file" / "tls"), NAME]) == 1
    assert "certs_unwritable" in capsys.readouterr().err
