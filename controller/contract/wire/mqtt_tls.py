"""Mutual TLS with the MQTT broker: checks the PEM files, reports everything wrong with them, and makes the TLS context.

The table and the pit both use this module. The broker's access list knows each client by the common name (CN) of the
client's certificate.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from controller.basics.errors import TableError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPublicKeyTypes
    from cryptography.x509 import Certificate, CertificateRevocationList

Wrong = tuple[str, str, str]
"""The file's key in `[pit]`, what is wrong with the file, and what to do."""


class TlsFiles(Struct, frozen=True):
    """The PEM files for mutual TLS: the trusted CA, this program's certificate (followed by its chain, if it has one)
    and the certificate's private key.

    `crl` is the CA's list of revoked certificates. A broker whose certificate is on that list is refused.
    """

    ca: Path
    certificate: Path
    private_key: Path
    crl: Path | None = None


def client_context(files: TlsFiles, name: str | None = None) -> ssl.SSLContext:
    """Return a TLS context that presents this program's certificate. It accepts only a broker whose certificate comes
    from the CA and names the broker's host.

    The files are read at each call, so a renewed certificate needs no restart. `name` is the common name that this
    program's certificate must have. Raises TableError `tls_unusable`.
    """
    for _, what, do in wrong_with(files, name):
        raise TableError("tls_unusable", what, do)
    return _context(files)


def wrong_with(files: TlsFiles, name: str | None = None) -> Iterator[Wrong]:
    """Yield each reason why these TLS files cannot be used now. `name` is the common name that this program's
    certificate must have."""
    found = [*_unreadable(files)] or [*_unusable(files, name)]
    yield from found
    if not found:
        try:
            _context(files)
        except ssl.SSLError as error:
            do = "Have the certificate made anew, with a key and a hash of today's strength."
            yield "certificate", f"{files.certificate} is refused by OpenSSL: {error.reason}", do


def _context(files: TlsFiles) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=files.ca)
    context.load_cert_chain(files.certificate, files.private_key, password="")  # never a question on a terminal
    if files.crl is not None:
        context.load_verify_locations(cafile=files.crl)
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    return context


def _unreadable(files: TlsFiles) -> Iterator[Wrong]:
    named = (("ca", files.ca), ("certificate", files.certificate), ("private_key", files.private_key))
    for key, path in (*named, *([("crl", files.crl)] if files.crl is not None else [])):
        try:
            path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a NUL in the file's name
            why = error.strerror if isinstance(error, OSError) else str(error)
            yield key, f"{str(path)!r} cannot be read: {why}", "Name a PEM file that this user may read."


def _unusable(files: TlsFiles, name: str | None) -> Iterator[Wrong]:
    from cryptography import x509  # only here: a table without TLS need not load this

    now = datetime.now(UTC)
    trusted: list[x509.Certificate] = []
    try:
        trusted = x509.load_pem_x509_certificates(files.ca.read_bytes())
        if all(now > ca.not_valid_after_utc for ca in trusted):
            last = max(ca.not_valid_after_utc for ca in trusted)
            yield "ca", f"{files.ca} expired on {last:%Y-%m-%d}", "Have the house's CA renewed, here and at the broker."
        elif not any(map(_signing_key, trusted)):
            do = "Name the certificate of the CA that signed the broker's."
            yield "ca", f"{files.ca} is no CA's certificate: its key cannot sign", do
    except ValueError:
        yield "ca", f"{files.ca} is not a PEM certificate", "Name the certificate of the CA that signed the broker's."
    revoked: x509.CertificateRevocationList | None = None
    if files.crl is not None:
        try:
            revoked = x509.load_pem_x509_crl(files.crl.read_bytes())
        except ValueError:
            yield "crl", f"{files.crl} is not a PEM revocation list", "Name the list that the house's CA signs."
    if revoked is not None:
        yield from _unusable_list(files, revoked, trusted, now)
    try:
        own = x509.load_pem_x509_certificates(files.certificate.read_bytes())[0]
    except ValueError:
        yield "certificate", f"{files.certificate} is not a PEM certificate", "Name the certificate made for this key."
        return
    yield from _unusable_certificate(files, own, revoked, name, now)
    yield from _unusable_key(files, own)


def _unusable_certificate(
    files: TlsFiles, own: Certificate, revoked: CertificateRevocationList | None, name: str | None, now: datetime
) -> Iterator[Wrong]:
    """Yield each reason why this program's own certificate cannot be used now: its dates, its revocation, or a common
    name other than `name`."""
    from cryptography.x509 import NameOID

    if now > own.not_valid_after_utc:
        do = "Have the certificate renewed. A running table takes the new certificate by itself."
        yield "certificate", f"{files.certificate} expired on {own.not_valid_after_utc:%Y-%m-%d}", do
    elif now < own.not_valid_before_utc:
        do = "Look at this machine's clock, or wait."
        yield "certificate", f"{files.certificate} is valid only from {own.not_valid_before_utc:%Y-%m-%d %H:%M} UTC", do
    if revoked is not None and revoked.get_revoked_certificate_by_serial_number(own.serial_number) is not None:
        do = "Have a new certificate made. Find out why this certificate was revoked: somebody may hold a copy."
        yield "certificate", f"{files.certificate} was revoked: {files.crl} lists it", do
    names = [str(name.value) for name in own.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if name is not None and names != [name]:
        do = f"Name the certificate whose common name (CN) is {name}: the broker's access list goes by it."
        yield "certificate", f"{files.certificate} is for {' and '.join(names) or 'nobody'}, not for {name}", do


def _unusable_key(files: TlsFiles, own: Certificate) -> Iterator[Wrong]:
    """Yield the reason why the private key file cannot be used: it holds no unencrypted private key, or the key does
    not belong to the certificate."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(files.private_key.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: the key asks for a pass phrase
        do = "Name the certificate's key, as PEM and without a pass phrase, which nobody would be there to type."
        yield "private_key", f"{files.private_key} is not a private key in the clear", do
        return
    if key.public_key() != own.public_key():
        yield "private_key", f"{files.private_key} is not the key of {files.certificate}", "Name the two made together."


def _signing_key(certificate: Certificate) -> CertificateIssuerPublicKeyTypes | None:
    """Return the certificate's public key, or None if keys of its kind cannot sign. An X25519 key, for example, serves
    only for key agreement."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        key = certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return None
    return cast("CertificateIssuerPublicKeyTypes", key) if hasattr(key, "verify") else None


def _unusable_list(
    files: TlsFiles, revoked: CertificateRevocationList, trusted: Sequence[Certificate], now: datetime
) -> Iterator[Wrong]:
    """Yield each reason why this revocation list would make OpenSSL refuse every broker: it is not signed by the CA,
    has expired, or is not valid yet."""
    keys = [key for ca in trusted if ca.subject == revoked.issuer and (key := _signing_key(ca))]
    if trusted and not any(revoked.is_signature_valid(key) for key in keys):
        yield "crl", f"{files.crl} is not signed by {files.ca}", "Name the list of the CA that signed the broker's."
    if revoked.next_update_utc is not None and now > revoked.next_update_utc:
        do = "Have the house's CA sign a new list, even where nothing was added. A running table takes it by itself."
        yield "crl", f"{files.crl} expired on {revoked.next_update_utc:%Y-%m-%d}", do
    elif now < revoked.last_update_utc:
        do = "Look at this machine's clock, or wait."
        yield "crl", f"{files.crl} is valid only from {revoked.last_update_utc:%Y-%m-%d %H:%M} UTC", do
