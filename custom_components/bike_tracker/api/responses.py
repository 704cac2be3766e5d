"""What an answer says that is none: its status, or how the connection failed."""

from asyncio import IncompleteReadError
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import errno
from http import HTTPStatus
import os
import ssl

import aiohttp
from aiohttp import hdrs

from .errors import (
    AuthenticationError,
    CannotConnectError,
    InvalidCertificateError,
    InvalidResponseError,
    NoAnswerError,
    RedirectedError,
    RefusedError,
    ServiceUnavailableError,
    TrackingError,
    UnknownHostError,
)

_TRY_LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
# What Traccar 5.11 and 5.12 name in a 400 for a wrong password, and how far to look.
_REFUSES_SIGN_IN = b"SecurityRequestFilter"
_BEGINNING = 4 * 1024
# How OpenSSL calls an answer that is no TLS.
_NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"}
_LOST = aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError
_ERRNO_ERRORS = {errno.ECONNREFUSED: RefusedError, errno.ETIMEDOUT: NoAnswerError}


async def raise_for_status(response: aiohttp.ClientResponse) -> None:
    """Raise what the status of an answer says, unless that is 200."""
    if response.status == HTTPStatus.BAD_REQUEST:
        if _REFUSES_SIGN_IN in await _read_beginning(response.content):
            raise AuthenticationError(f"status {response.status}")
    if response.status != HTTPStatus.OK:
        raise _refusal(response.status, response.headers)


def _refusal(status: int, headers: Mapping[str, str]) -> TrackingError:
    """Return what a status other than the good one says."""
    if status == HTTPStatus.UNAUTHORIZED:
        return AuthenticationError(f"status {status}")
    if status in _TRY_LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        wait = _retry_after(headers)
        return ServiceUnavailableError(f"status {status}", retry_after=wait)
    if hdrs.LOCATION in headers and 300 <= status < 400:
        return RedirectedError(f"status {status}")
    return InvalidResponseError(f"status {status}")


async def async_answer[T](asking: Awaitable[T], session: aiohttp.ClientSession) -> T:
    """Return what is asked for, or raise what went wrong."""
    failure: TrackingError
    try:
        return await asking
    except AttributeError, RuntimeError:
        # What aiohttp stumbles over when its session is closed meanwhile.
        if not session.closed:
            raise
        failure = CannotConnectError("connection closed")
    except (aiohttp.ClientError, OSError, ValueError) as err:
        failure = _failure(err)
    # Raised here, as the errors above hold headers and the name.
    raise failure


def _failure(err: Exception) -> TrackingError:
    """Return what went wrong, without the server's name."""
    if isinstance(err, aiohttp.WSServerHandshakeError):
        return _refusal(err.status, err.headers or {})
    if isinstance(err, TimeoutError):
        unconnected = isinstance(err, aiohttp.ConnectionTimeoutError)
        return NoAnswerError("no answer in time", nobody_there=unconnected)
    if isinstance(err, aiohttp.ClientConnectorDNSError):
        return UnknownHostError("name not found")
    if isinstance(err, aiohttp.ClientConnectorCertificateError):
        err = err.certificate_error
    if isinstance(err, ssl.SSLCertVerificationError):
        problem = err.verify_message.split(",")[0].lower()
        return InvalidCertificateError(f"certificate not valid: {problem}")
    if isinstance(err, aiohttp.ClientConnectorSSLError):
        no_tls = getattr(err.os_error, "reason", None) in _NO_TLS
        return CannotConnectError("no secure connection", nobody_there=no_tls)
    unconnected = isinstance(err, aiohttp.ClientConnectorError)
    if isinstance(err, OSError) and err.errno:
        kind = _ERRNO_ERRORS.get(err.errno, CannotConnectError)
        return kind(os.strerror(err.errno).lower(), nobody_there=unconnected)
    if unconnected or isinstance(err, _LOST):
        return CannotConnectError("connection lost", nobody_there=unconnected)
    return CannotConnectError("no valid HTTP")


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


async def _read_beginning(content: aiohttp.StreamReader) -> bytes:
    """Return what a body begins with, or nothing if it is cut short or not readable."""
    try:
        return await content.readexactly(_BEGINNING)
    except IncompleteReadError as err:
        return err.partial
    except aiohttp.ClientPayloadError:
        return b""
