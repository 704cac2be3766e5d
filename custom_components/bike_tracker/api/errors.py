"""What can go wrong, as the caller needs it: what a status or a connection says.

No message holds an address, a credential or a word of what the server sent.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import errno
from http import HTTPStatus
import os
import ssl

import aiohttp
from aiohttp import hdrs


@dataclass(eq=False, repr=False)
class TrackingError(Exception):
    """Base of every error of the client."""

    reason: str
    _: KW_ONLY
    code: str = ""
    """What a person can put right, in one word, where the class does not say it."""
    retry_after: float | None = None
    """The wait the server asks for, in seconds, if it asks for one."""
    nobody_there: bool = False
    """Whether not even a connection came about, and nothing showed that the scheme of the
    address is spoken there: another scheme may be."""
    is_too_large: bool = False
    """Whether an answer was not even read, as it would fill the memory."""


class AuthenticationError(TrackingError):
    """The server refused email and password, with a 401 (interface, section 7) or a 400."""


class CannotConnectError(TrackingError):
    """No whole answer came: name, network, TLS or time-out."""


class ServiceUnavailableError(TrackingError):
    """The server said that it cannot answer now (408, 429 or 5xx)."""


class RedirectedError(TrackingError):
    """The server sends on to another address, which is never followed."""


class InvalidResponseError(TrackingError):
    """The answer is not what the interface documents (section 4)."""


_TRY_LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
# How OpenSSL calls an answer that is no TLS.
_NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"}
_UNCONNECTED = aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError
_LOST = aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError
_ERRNO_CODES = {errno.ECONNREFUSED: "connection_refused", errno.ETIMEDOUT: "timeout"}


def refusal_of(status: int, headers: Mapping[str, str]) -> TrackingError:
    """Return what a status other than the good one says."""
    reason = f"status {status}"
    if status == HTTPStatus.UNAUTHORIZED:
        return AuthenticationError(reason)
    if status in _TRY_LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServiceUnavailableError(reason, retry_after=_retry_after(headers))
    return InvalidResponseError(reason)


def failure_of(err: Exception) -> TrackingError:
    """Return what went wrong, without the server's name."""
    if isinstance(err, aiohttp.WSServerHandshakeError):
        return refusal_of(err.status, err.headers or {})
    if isinstance(err, aiohttp.ClientConnectorDNSError):
        return CannotConnectError("name not found", code="unknown_host")
    return _tls_failure_of(err) or _connection_failure_of(err)


def _tls_failure_of(err: Exception) -> TrackingError | None:
    if isinstance(err, aiohttp.ClientConnectorCertificateError):
        err = err.certificate_error
    if isinstance(err, ssl.SSLCertVerificationError):
        reason = "certificate not valid: " + err.verify_message.split(",")[0].lower()
        return CannotConnectError(reason, code="invalid_certificate")
    if isinstance(err, aiohttp.ClientConnectorSSLError):
        no_tls = getattr(err.os_error, "reason", None) in _NO_TLS
        return CannotConnectError("no secure connection", nobody_there=no_tls)
    return None


def _connection_failure_of(err: Exception) -> TrackingError:
    reason, code, unconnected = "no valid HTTP", "", isinstance(err, _UNCONNECTED)
    if isinstance(err, TimeoutError):
        reason, code = "no answer in time", "timeout"
    elif isinstance(err, OSError) and err.errno:
        reason, code = os.strerror(err.errno).lower(), _ERRNO_CODES.get(err.errno, "")
    elif unconnected or isinstance(err, _LOST):
        reason = "connection lost"
    return CannotConnectError(reason, code=code, nobody_there=unconnected)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait in seconds that Retry-After gives as a number or a date."""
    value = headers.get(hdrs.RETRY_AFTER, "").strip()
    if value.isdecimal() and value.isascii():
        return float(value[:9])
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(value)
        # HTTP's oldest form of a date names no zone, and means UTC as well.
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    return None
