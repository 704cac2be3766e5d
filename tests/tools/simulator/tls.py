"""Certificates of the server: a valid certificate, and invalid certificates that clients must reject."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
import ipaddress
from pathlib import Path
import ssl
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .listener import HOST

GOOD = "good"
START = datetime(2020, 1, 1, tzinfo=UTC)
EXPIRED = datetime(2021, 1, 1, tzinfo=UTC)
END = datetime(2120, 1, 1, tzinfo=UTC)


class Signer:
    """An owner of a key that can sign certificates."""

    def __init__(self, name: str) -> None:
        """Make a key for an owner with this name."""
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def key_pem(self) -> bytes:
        """The key in PEM format."""
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    def sign(
        self,
        subject: Signer,
        hosts: Iterable[x509.GeneralName],
        *,
        authority: bool = False,
        end: datetime = END,
    ) -> bytes:
        """Return a certificate in PEM format for the subject, which is an authority or serves these hosts."""
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject.name)
            .issuer_name(self.name)
            .public_key(subject.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(START)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(authority, None), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(subject.key.public_key()),
                critical=False,
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(
                    self.key.public_key()
                ),
                critical=False,
            )
            .add_extension(
                x509.KeyUsage(
                    digital_signature=True,
                    key_cert_sign=authority,
                    crl_sign=authority,
                    content_commitment=False,
                    key_encipherment=False,
                    data_encipherment=False,
                    key_agreement=False,
                    encipher_only=False,
                    decipher_only=False,
                ),
                critical=True,
            )
        )
        if not authority:
            builder = builder.add_extension(
                x509.SubjectAlternativeName(hosts), critical=False
            )
        certificate = builder.sign(self.key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM)


def _make() -> tuple[str, bytes, dict[str, bytes]]:
    """Return the authority's certificate, and the server's key and certificates by name, in PEM format."""
    authority, server = Signer("Simulator CA"), Signer(HOST)
    here: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address(HOST)),
        x509.DNSName("localhost"),
    ]
    elsewhere = x509.DNSName("tracker.invalid")
    certificates = {
        GOOD: authority.sign(server, here),
        "expired": authority.sign(server, here, end=EXPIRED),
        "self-signed": server.sign(server, here),
        "other-host": authority.sign(server, [elsewhere]),
    }
    ca = authority.sign(authority, [], authority=True)
    return ca.decode(), server.key_pem, certificates


# Make the certificates during the import, before a test freezes the clock: under a
# frozen clock, cryptography rejects the times of a certificate.
CA_PEM, _KEY, _CERTIFICATES = _make()


class Certificates:
    """The TLS context of the server. Each new connection gets the certificate whose name is in `selected`."""

    def __init__(self) -> None:
        """Select the valid certificate."""
        self.selected = GOOD
        self._contexts: Mapping[str, ssl.SSLContext] = {
            name: server_context(certificate + _KEY)
            for name, certificate in _CERTIFICATES.items()
        }
        self.context = self._contexts[GOOD]
        self.context.sni_callback = self._select

    def _select(
        self, connection: ssl.SSLObject, _name: str | None, _: ssl.SSLContext
    ) -> None:
        connection.context = self._contexts[self.selected]


def client_context() -> ssl.SSLContext:
    """Return a TLS context for clients. It trusts only the authority of the simulator."""
    return ssl.create_default_context(cadata=CA_PEM)


def server_context(pem: bytes) -> ssl.SSLContext:
    """Return a TLS context for a server with this certificate. The PEM text must also contain the private key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        path = Path(folder, "server.pem")
        path.write_bytes(pem)
        context.load_cert_chain(path)
    return context
