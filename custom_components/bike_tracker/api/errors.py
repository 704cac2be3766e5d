"""Errors of the client. No error message contains an address, a credential or text from the server."""

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
    """Key of the error text in the sign-in form. If it is empty, the class of the error determines the text."""
    retry_after: float | None = None
    """The server's `Retry-After` in seconds; None if it was not sent or not readable."""
    can_try_http: bool = False
    """Whether the port cannot be reached, or does not speak TLS.

    Only in these cases is it safe to try `http` instead.
    """
    is_too_large: bool = False
    """Whether the response was refused because it exceeds the size limit."""


class AuthenticationError(TrackingError):
    """The server rejected the credentials (status 401, some servers 400), or the password cannot be encoded."""


class CannotConnectError(TrackingError):
    """No complete response arrived because of DNS, the network, TLS, invalid HTTP or a timeout."""


class ServiceUnavailableError(TrackingError):
    """The server is temporarily unavailable: status 408, 429, or 500 and above."""


class RedirectedError(TrackingError):
    """The server redirects to another address. Redirects are never followed."""


class InvalidResponseError(TrackingError):
    """The status or the content of a response does not match the service's API document (section 4)."""


_TRY_LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
# OpenSSL's names for the errors that occur if the server does not speak TLS.
_NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"}
_UNCONNECTED = aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError
_LOST = aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError
_ERRNO_CODES = {errno.ECONNREFUSED: "connection_refused", errno.ETIMEDOUT: "timeout"}


def refusal_of(status: int, headers: Mapping[str, str]) -> TrackingError:
    """Return the error for an HTTP status other than 200."""
    reason = f"status {status}"
    if status == HTTPStatus.UNAUTHORIZED:
        return AuthenticationError(reason)
    if status in _TRY_LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServiceUnavailableError(reason, retry_after=_retry_after(headers))
    return InvalidResponseError(reason)


def failure_of(err: Exception) -> TrackingError:
    """Return the client's error for an error of aiohttp or of the network. The new error lacks the host name."""
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
        return CannotConnectError("no secure connection", can_try_http=no_tls)
    return None


def _connection_failure_of(err: Exception) -> TrackingError:
    reason, code, unconnected = "no valid HTTP", "", isinstance(err, _UNCONNECTED)
    if isinstance(err, TimeoutError):
        reason, code = "no answer in time", "timeout"
    elif isinstance(err, OSError) and err.errno:
        reason, code = os.strerror(err.errno).lower(), _ERRNO_CODES.get(err.errno, "")
    elif unconnected or isinstance(err, _LOST):
        reason = "connection lost"
    return CannotConnectError(reason, code=code, can_try_http=unconnected)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the header `Retry-After` (seconds or a date) in seconds; None if it is missing or not readable."""
    value = headers.get(hdrs.RETRY_AFTER, "").strip()
    if value.isdecimal() and value.isascii():
        return float(value[:9])
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(value)
        # A date in HTTP's oldest format has no time zone; it is in UTC.
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    return None
