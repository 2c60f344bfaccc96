"""`tablectl certs`: make a certificate authority (CA) and certificates for a test bench.

A casino has a CA of its own, whose key it guards. The private key of a test bench's CA is never written to disk. To get
one more certificate, a person must therefore make the CA and all certificates anew.
"""

from __future__ import annotations

import ipaddress
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from controller.basics.errors import TableError

_VALID = timedelta(days=365)
_CLOCKS_DIFFER = timedelta(hours=1)
_NAME = r"[A-Za-z0-9:][A-Za-z0-9.:-]{0,63}"  # a common name has at most 64 letters


class BenchCa:
    """A certificate authority for a test bench. `certificate` is the authority's own certificate, as PEM."""

    def __init__(self, valid: timedelta = _VALID) -> None:
        self._key = generate_private_key(SECP256R1())
        self._name = _named("Table bench CA, not for a house")
        made = _unsigned(self._name, self._name, self._key, valid)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        made = made.add_extension(_usage(signs_certificates=True), critical=True)
        self.certificate = made.sign(self._key, SHA256()).public_bytes(Encoding.PEM)

    def issue(self, name: str, valid: timedelta = _VALID) -> tuple[bytes, bytes]:
        """Return a new certificate and its private key, both as PEM. The certificate is good for a client called `name`
        and for a broker on a host called `name`. `valid` is how long the certificate is good."""
        key = generate_private_key(SECP256R1())
        made = _unsigned(_named(name), self._name, key, valid)
        made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        made = made.add_extension(_usage(signs_certificates=False), critical=True)
        both = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        made = made.add_extension(x509.ExtendedKeyUsage(both), critical=False)
        made = made.add_extension(x509.SubjectAlternativeName([_host(name)]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        made = made.add_extension(issuer, critical=False)
        certificate = made.sign(self._key, SHA256()).public_bytes(Encoding.PEM)
        return certificate, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def revoke(self, *certificates: bytes, valid: timedelta = _VALID) -> bytes:
        """Return a list of revoked certificates (CRL), signed by this authority, as PEM. The list holds exactly the
        `certificates` given."""
        now = datetime.now(UTC)
        made = x509.CertificateRevocationListBuilder().issuer_name(self._name)
        made = made.last_update(min(now, now + valid) - _CLOCKS_DIFFER).next_update(now + valid)
        for certificate in certificates:
            serial = x509.load_pem_x509_certificate(certificate).serial_number
            revoked = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build()
            made = made.add_revoked_certificate(revoked)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        made = made.add_extension(issuer, critical=False).add_extension(x509.CRLNumber(1), critical=False)
        return made.sign(self._key, SHA256()).public_bytes(Encoding.PEM)


def certs(folder: Path, names: list[str], revoked: list[str]) -> int:
    """Make a new certificate authority for a test bench. Write `ca.crt` into `folder`, with NAME.crt and NAME.key for
    each of `names`. If there are names in `revoked`, write `ca.crl` too, the list of these revoked certificates. Raises
    TableError. No existing file is ever overwritten."""
    for name in names:
        _check(name)
    if unknown := [name for name in revoked if name not in names]:
        do = "Give the same name as NAME too: the CA's key is not kept, so only a new certificate can be revoked."
        raise TableError("certs_name", f"{', '.join(unknown)}: --revoke names a certificate that is not made now.", do)
    ca = BenchCa()
    files = {"ca.crt": ca.certificate}
    for name in names:
        files[f"{name}.crt"], files[f"{name}.key"] = ca.issue(name)
    if revoked:
        files["ca.crl"] = ca.revoke(*(files[f"{name}.crt"] for name in revoked))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if taken := [name for name in files if (folder / name).exists()]:
            do = "Choose another folder: certificates of two CAs do not trust each other."
            raise TableError("certs_exist", f"{folder} holds {', '.join(taken)} already.", do)
        for name, pem in files.items():
            mode = 0o600 if name.endswith(".key") else 0o644
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(handle, "wb") as file:
                file.write(pem)
    except OSError as error:
        do = "Choose a folder where you may write."
        raise TableError("certs_unwritable", f"{folder} cannot be written: {error.strerror}.", do) from error
    print(f"{folder}: {', '.join(files)}; valid for {_VALID.days} days.")
    print("For a test bench, not for a house: whoever reads these files can pose as any of these names.")
    print("The CA's key is not kept.")
    return 0


def _check(name: str) -> None:
    if not re.fullmatch(_NAME, name):
        do = "Write a table's id, `pit`, `bets`, or the broker's host name or address."
        raise TableError("certs_name", f"{name!r} cannot be the name in a certificate.", do)
    if name == "ca":
        raise TableError("certs_name", "ca.crt is the CA's own certificate.", "Choose another name.")


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, valid: timedelta
) -> x509.CertificateBuilder:
    """Return a certificate that is not signed yet, with subject, issuer, key and dates filled in. The caller adds the
    extensions and signs it. If `valid` is negative, the certificate expired that long ago."""
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, now + valid) - _CLOCKS_DIFFER)
        .not_valid_after(now + valid)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
