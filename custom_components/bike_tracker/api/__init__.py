"""Client for the tracking service: one method per API call. This package does not import Home Assistant."""

import asyncio
from collections.abc import Awaitable, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
import re
from typing import Final

import aiohttp
from aiohttp import hdrs
from yarl import URL

from . import errors
from .models import Device, DeviceReader, Position, read_positions

# Unpaired surrogates cannot be encoded as UTF-8.
_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")
MAX_BYTES: Final = 8 * 1024 * 1024
"""Maximum size of one response or message, decompressed."""
# Traccar 5.11 and 5.12 answer a wrong password with 400 and this class name in the body.
_SIGN_IN_REFUSED: Final = b"SecurityRequestFilter"
_ERROR_BODY_BYTES: Final = 4 * 1024
TIMEOUT: Final = aiohttp.ClientTimeout(total=30, sock_connect=15)
"""The shorter timeout for connecting leaves time to try the host's next IP address."""


@dataclass(slots=True, eq=False, repr=False)
class TrackingClient:
    """Client for one account at a canonical base URL (API document, section 1).

    Credentials are sent only in the Authorization header and only to this server:
    redirects are not followed. The device list is the only documented call. Traccar
    supports the other calls. Other servers may not, so any response to an undocumented
    call must be expected.

    Polls do not use the session of the live connection, although it would save Traccar
    85 ms of password hashing for each request: only Basic authentication is documented,
    and polls must work without a live connection.
    """

    home_session: aiohttp.ClientSession
    """Home Assistant's session, whose connections and headers the client uses."""
    url: str
    email: str
    password: str
    devices: DeviceReader = field(default_factory=DeviceReader)

    def __post_init__(self) -> None:
        """Reject credentials that HTTP Basic cannot encode (API document, section 5)."""
        if not self.email or ":" in self.email or _SURROGATES.search(self.email):
            reason = "the email is empty, contains a colon or is not valid text"
            raise errors.TrackingError(reason, code="invalid_email")
        if _SURROGATES.search(self.password):
            raise errors.AuthenticationError("the password is not valid text")

    def session(self) -> aiohttp.ClientSession:
        """Open a session for one request: it stores no cookies and follows no redirects.

        Raises CannotConnectError if Home Assistant's session is closed.
        """
        if self.home_session.closed:
            raise errors.CannotConnectError("connection closed")
        return aiohttp.ClientSession(
            connector=self.home_session.connector,
            connector_owner=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self.home_session.headers,
            # aiohttp has no other way to disable the redirects of websockets.
            middlewares=(_refuse_redirects,),
            timeout=TIMEOUT,
            # Some servers send very long headers. Home Assistant's own session has the
            # same limit.
            max_field_size=64 * 1024,
        )

    async def async_get_devices(self) -> Mapping[str, Device]:
        """Return the trackers of the account by `uniqueId` (API document, section 4)."""
        return self.devices.read(await self._async_get("devices"))

    async def async_get_positions(
        self, ids: Container[int], only: int | None = None
    ) -> dict[int, Position]:
        """Return the last known positions of these devices, by internal device ID.

        With `only`, request only the position of that device. The service returns it
        even if it is too old for the list of all positions.
        """
        path = "positions" if only is None else f"positions?deviceId={only}"
        # A server that ignores `deviceId` sends the positions of all devices, so keep
        # only the positions of `ids`.
        positions = read_positions(await self._async_get(path), ids)
        return {position.device_id: position for position in positions}

    async def async_get_history(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return a device's reports between two times, sorted by fix time."""
        query = f"deviceId={device_id}&from={_utc(start)}&to={_utc(end)}"
        body = await self._async_get(f"positions?{query}")
        # Parse in a thread: thousands of reports would block the event loop.
        reports = await asyncio.to_thread(read_positions, body)
        # A server that ignores `deviceId` sends reports of all devices: refuse them.
        if any(report.device_id != device_id for report in reports):
            raise errors.InvalidResponseError("reports of another tracker")
        return reports

    async def _async_get(self, path: str) -> bytes:
        return await async_answer(self._async_request(path))

    async def _async_request(self, path: str) -> bytes:
        auth = aiohttp.encode_basic_auth(self.email, self.password)
        headers = {hdrs.ACCEPT: "application/json", hdrs.AUTHORIZATION: auth}
        url = URL(f"{self.url}/{path}", encoded=True)
        async with self.session() as own, own.get(url, headers=headers) as response:
            if response.status != HTTPStatus.OK:
                raise await async_refusal(response)
            body = await _async_read(response.content, MAX_BYTES)
            if len(body) > MAX_BYTES:
                raise errors.InvalidResponseError("more than 8 MiB", is_too_large=True)
            return body


async def _refuse_redirects(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    response = await handler(request)
    leads_on = hdrs.LOCATION in response.headers or hdrs.URI in response.headers
    if leads_on and 300 <= response.status < 400:
        response.close()
        raise errors.RedirectedError(f"status {response.status}")
    return response


async def async_refusal(response: aiohttp.ClientResponse) -> errors.TrackingError:
    """Return the error for a response whose status is not 200."""
    if response.status == HTTPStatus.BAD_REQUEST:
        # If the body cannot be read, do not treat a 400 as a wrong password.
        with suppress(aiohttp.ClientPayloadError):
            body = await _async_read(response.content, _ERROR_BODY_BYTES)
            if _SIGN_IN_REFUSED in body[:_ERROR_BODY_BYTES]:
                return errors.AuthenticationError(f"status {response.status}")
    return errors.refusal_of(response.status, response.headers)


async def _async_read(content: aiohttp.StreamReader, length: int) -> bytes:
    """Return the body. If it exceeds the maximum length, stop reading, and return the part received so far."""
    chunks = list[bytes]()
    while length >= 0 and (chunk := await content.readany()):
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)


async def async_answer[T](request: Awaitable[T]) -> T:
    """Await a request. Raise errors of aiohttp and of the network as TrackingError."""
    try:
        return await request
    except (aiohttp.ClientError, OSError, ValueError) as err:
        failure = errors.failure_of(err)
    # Raise the new error outside of `except`: otherwise it would refer to the original
    # error, which contains headers and the host name.
    raise failure


def _utc(moment: datetime) -> str:
    """Format a time in UTC, with milliseconds, for the query of a URL."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
