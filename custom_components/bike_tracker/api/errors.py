"""What can go wrong, told apart as the caller needs it.

No message holds an address, a credential or a word of what the server sent.
"""

from dataclasses import KW_ONLY, dataclass


@dataclass(eq=False, repr=False)
class TrackingError(Exception):
    """Base of every error of the client."""

    reason: str
    _: KW_ONLY
    retry_after: float | None = None
    """The wait the server asks for, in seconds, if it asks for one."""
    nobody_there: bool = False
    """Whether not even a connection came about, and nothing showed that the scheme of the
    address is spoken there: another scheme may be."""
    is_too_large: bool = False
    """Whether an answer was not even read, as it would fill the memory."""


class InvalidUrlError(TrackingError):
    """The text is not the address of a web server."""


class InsecureUrlError(TrackingError):
    """The address would send the password unencrypted over the internet."""


class InvalidEmailError(TrackingError):
    """The email cannot be sent with Basic authentication (interface, section 5)."""


class AuthenticationError(TrackingError):
    """The server refused email and password: a 401 (interface, section 7).

    Traccar 5.11 and 5.12 answer 400 instead.
    """


class CannotConnectError(TrackingError):
    """No whole answer came: name, network, TLS or time-out."""


class UnknownHostError(CannotConnectError):
    """No host has the name, or names cannot be looked up."""


class RefusedError(CannotConnectError):
    """Nothing listens at the port."""


class NoAnswerError(CannotConnectError):
    """The answer did not come in time, or not all of it."""


class InvalidCertificateError(CannotConnectError):
    """The server's certificate is not valid, so nothing was sent."""


class ServiceUnavailableError(TrackingError):
    """The server said that it cannot answer now (408, 429 or 5xx)."""


class RedirectedError(TrackingError):
    """The server sends on to another address, which is never followed."""


class InvalidResponseError(TrackingError):
    """The answer is not what the interface documents (section 4)."""
