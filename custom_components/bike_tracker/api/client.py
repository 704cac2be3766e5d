"""The client: one method per call of the service."""

from asyncio import IncompleteReadError
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import errno
from http import HTTPStatus
import os
import ssl

import aiohttp
from aiohttp import hdrs
from yarl import URL

from .errors import (
    AuthenticationError,
    CannotConnectError,
    InvalidCertificateError,
    InvalidEmailError,
    InvalidResponseError,
    NoAnswerError,
    RedirectedError,
    RefusedError,
    ServiceUnavailableError,
    UnknownHostError,
)
from .lists import ListReader
from .models import Device, Position
from .news import News
from .turns import in_turns

# Where no connection comes about there is time left to try another address.
_TIMEOUT = aiohttp.ClientTimeout(total=30, sock_connect=15)
_MOST_BYTES = 4 * 1024 * 1024
_TRY_LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
# What Traccar 5.11 and 5.12 name in a 400 for a wrong password, and how far to look.
_REFUSES_SIGN_IN = b"SecurityRequestFilter"
_BEGINNING = 4 * 1024
# How OpenSSL calls an answer that is no TLS.
_NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"}
_ERRNO_ERRORS = {errno.ECONNREFUSED: RefusedError, errno.ETIMEDOUT: NoAnswerError}


class TrackingClient:
    """The service on behalf of one account.

    Credentials go out in the Authorization header alone, and to no other address than
    the given one: redirects are not followed.
    """

    def __init__(
        self, session: aiohttp.ClientSession, url: str, email: str, password: str
    ) -> None:
        """Talk to the service at a canonical address (interface, section 1).

        Raises InvalidEmailError or AuthenticationError for credentials that no
        Authorization header can hold (interface, section 5).
        """
        self._session = session
        self._url = url
        self._headers = {
            hdrs.ACCEPT: "application/json",
            hdrs.AUTHORIZATION: _basic(email, password),
        }
        self.devices = ListReader[str, Device](Device)
        self.positions = ListReader[int, Position](Position, within="attributes")

    async def async_get_devices(self) -> News[str, Device]:
        """Return the trackers of the account by `uniqueId` (interface, section 4).

        A tracker that did not change since the last call is the same object, and if none
        did, the mapping is the same as well.

        Raises AuthenticationError, CannotConnectError, InvalidResponseError,
        RedirectedError or ServiceUnavailableError.
        """
        return await in_turns(self.devices.reading(await self._async_get("devices")))

    async def async_get_positions(self) -> News[int, Position]:
        """Return the last known positions by the internal ID of their device.

        Not in the documented interface: servers like Traccar offer it, others answer
        with anything. Raises the same errors as async_get_devices.
        """
        body = await self._async_get("positions")
        return await in_turns(self.positions.reading(body))

    async def async_get_positions_by_id(
        self, position_ids: Iterable[int]
    ) -> Mapping[int, Position]:
        """Return these positions by the internal ID of their device, older ones too.

        Not in the documented interface either, and a server may refuse all of them if it
        does not know one. Raises the same errors as async_get_devices.
        """
        query = "&".join(f"id={position_id}" for position_id in position_ids)
        body = await self._async_get(f"positions?{query}")
        return ListReader[int, Position](Position).read(body).now

    async def _async_get(self, path: str) -> bytes:
        failure: CannotConnectError
        try:
            async with self._session.get(
                URL(f"{self._url}/{path}", encoded=True),
                headers=self._headers,
                allow_redirects=False,
                timeout=_TIMEOUT,
            ) as response:
                await _raise_for_status(response)
                return await _read(response)
        except TimeoutError as err:
            unconnected = isinstance(err, aiohttp.ConnectionTimeoutError)
            failure = NoAnswerError("no answer in time", nobody_there=unconnected)
        except (aiohttp.ClientError, OSError, ValueError) as err:
            failure = _failure(err)
        except AttributeError, RuntimeError:
            # What aiohttp stumbles over when its session is closed meanwhile.
            if not self._session.closed:
                raise
            failure = CannotConnectError("connection closed")
        # Raised here, as the errors above hold the header and the server's name.
        raise failure


def _basic(email: str, password: str) -> str:
    try:
        email.encode()
        if not email or ":" in email:
            raise InvalidEmailError("the e-mail is empty or holds a colon")
    except UnicodeEncodeError:
        raise InvalidEmailError("the e-mail is no text") from None
    try:
        return aiohttp.encode_basic_auth(email, password)
    except UnicodeEncodeError:
        raise AuthenticationError("the password is no text") from None


async def _raise_for_status(response: aiohttp.ClientResponse) -> None:
    status = response.status
    if status == HTTPStatus.OK:
        return
    if status == HTTPStatus.UNAUTHORIZED or (
        status == HTTPStatus.BAD_REQUEST
        and _REFUSES_SIGN_IN in await _read_beginning(response)
    ):
        raise AuthenticationError(f"status {status}")
    if status in _TRY_LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise ServiceUnavailableError(status, _retry_after(response.headers))
    if hdrs.LOCATION in response.headers and 300 <= status < 400:
        raise RedirectedError(f"status {status}")
    raise InvalidResponseError(f"status {status}")


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


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Return the body, of which no more is taken in than any list of trackers needs."""
    chunks = []
    length = 0
    async for chunk in response.content.iter_any():
        chunks.append(chunk)
        length += len(chunk)
        if length > _MOST_BYTES:
            raise InvalidResponseError("more than 4 MiB")
    return b"".join(chunks)


async def _read_beginning(response: aiohttp.ClientResponse) -> bytes:
    """Return what a body begins with, or nothing if it is cut short or not readable."""
    try:
        return await response.content.readexactly(_BEGINNING)
    except IncompleteReadError as err:
        return err.partial
    except aiohttp.ClientPayloadError:
        return b""


def _failure(err: Exception) -> CannotConnectError:
    """Return what went wrong, without the server's name."""
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
    if unconnected or isinstance(
        err, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError
    ):
        return CannotConnectError("connection lost", nobody_there=unconnected)
    return CannotConnectError("no valid HTTP")
