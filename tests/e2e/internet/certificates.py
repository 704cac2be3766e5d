"""A certificate for any number of hosts, and the authority that signed it."""

from collections.abc import Iterable
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_START = datetime(2020, 1, 1, tzinfo=UTC)
_END = datetime(2120, 1, 1, tzinfo=UTC)


def certificates(hosts: Iterable[str]) -> tuple[bytes, bytes]:
    """Return the authority's certificate, and the hosts' certificate with its key, in PEM."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = (
        _builder("Authority", "Authority", authority_key)
        .add_extension(x509.BasicConstraints(True, None), critical=True)
        .add_extension(_signs_certificates(), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(
        authority_key.public_key()
    )
    certificate = (
        _builder("Internet", "Authority", key)
        .add_extension(names, critical=False)
        .add_extension(identifier, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return (
        authority.public_bytes(pem),
        certificate.public_bytes(pem)
        + key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_START)
        .not_valid_after(_END)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        )
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _signs_certificates() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
