"""What can go wrong, told apart as the caller needs it.

No message holds an address, a credential or a word of what the server sent.
"""


class TrackingError(Exception):
    """Base of every error of the client."""

    retry_after: float | None = None
    """The wait the server asks for, in seconds, if it asks for one."""


class InvalidUrlError(TrackingError):
    """The text is not the address of a web server."""


class InsecureUrlError(TrackingError):
    """The address would send the password unencrypted over the internet."""


class InvalidEmailError(TrackingError):
    """The e-mail cannot be sent with Basic authentication (interface, section 5)."""


class AuthenticationError(TrackingError):
    """The server answered 401: e-mail or password are wrong (interface, section 7)."""


class CannotConnectError(TrackingError):
    """No whole answer came: name, network, TLS or time-out."""


class ServiceUnavailableError(TrackingError):
    """The server said that it cannot answer now (408, 429 or 5xx)."""

    def __init__(self, status: int, retry_after: float | None) -> None:
        """Keep what the server said."""
        super().__init__(f"status {status}")
        self.retry_after = retry_after


class RedirectedError(TrackingError):
    """The server sends on to another address, which is never followed."""


class InvalidResponseError(TrackingError):
    """The answer is not what the interface documents (section 4)."""
