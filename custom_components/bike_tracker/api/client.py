"""The client: one method per call of the service."""

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
from .lists import DeviceReader, read_positions
from .models import Device, Position

# Halves of characters, which no encoding has.
_NO_TEXT: Final = re.compile(r"[\ud800-\udfff]")
MAX_BYTES: Final = 8 * 1024 * 1024
"""Of one answer or message, decompressed."""
# What Traccar 5.11 and 5.12 name in a 400 for a wrong password, and how far to look.
_REFUSES_SIGN_IN: Final = b"SecurityRequestFilter"
_BEGINNING: Final = 4 * 1024
TIMEOUT: Final = aiohttp.ClientTimeout(total=30, sock_connect=15)
"""Where no connection comes about there is time left to try another address."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrackingClient:
    """The service on behalf of one account, at a canonical address (interface, section 1).

    Credentials go out in the Authorization header alone, and to no other address than
    the given one: redirects are not followed. The list of devices is documented; servers
    like Traccar offer the other calls, too, and others answer them with anything.
    """

    session: aiohttp.ClientSession
    url: str
    email: str
    password: str
    devices: DeviceReader = field(init=False, default_factory=DeviceReader)

    def __post_init__(self) -> None:
        """Refuse credentials that no header can hold (interface, section 5)."""
        if not self.email or ":" in self.email or _NO_TEXT.search(self.email):
            reason = "the email is empty, no text or holds a colon"
            raise errors.TrackingError(reason, code="invalid_email")
        if _NO_TEXT.search(self.password):
            raise errors.AuthenticationError("the password is no text")

    async def async_get_devices(self) -> Mapping[str, Device]:
        """Return the trackers of the account by `uniqueId` (interface, section 4)."""
        return self.devices.read(await self._async_get("devices"))

    async def async_get_positions(self, ids: Container[int]) -> dict[int, Position]:
        """Return the last known positions of these devices, by their internal ID."""
        positions = read_positions(await self._async_get("positions"), ids)
        return {position.device_id: position for position in positions}

    async def async_get_position(self, position_id: int) -> Position | None:
        """Return a position, which may be too old for the list; None if there is none."""
        positions = read_positions(await self._async_get(f"positions?id={position_id}"))
        # What ignores the question answers with others.
        return next((it for it in positions if it.id == position_id), None)

    async def async_get_history(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return what a device reported in a time, in order of its fixes."""
        query = f"deviceId={device_id}&from={_utc(start)}&to={_utc(end)}"
        body = await self._async_get(f"positions?{query}")
        # Thousands of reports would stop the event loop.
        reports = await asyncio.to_thread(read_positions, body)
        # What ignores the question answers with all trackers.
        if any(report.device_id != device_id for report in reports):
            raise errors.InvalidResponseError("reports of another tracker")
        return reports

    async def _async_get(self, path: str) -> bytes:
        return await async_answer(self._async_ask(path))

    async def _async_ask(self, path: str) -> bytes:
        auth = aiohttp.encode_basic_auth(self.email, self.password)
        async with (
            self.new_session() as session,
            session.get(
                URL(f"{self.url}/{path}", encoded=True),
                headers={hdrs.ACCEPT: "application/json", hdrs.AUTHORIZATION: auth},
            ) as response,
        ):
            if response.status != HTTPStatus.OK:
                raise await async_refusal(response)
            body = await _read_beyond(response.content, MAX_BYTES)
            if len(body) > MAX_BYTES:
                raise errors.InvalidResponseError("more than 8 MiB", is_too_large=True)
            return bytes(body)

    def new_session(self) -> aiohttp.ClientSession:
        """Return a session without cookies of others, in which no redirect is followed."""
        if self.session.closed:
            raise errors.CannotConnectError("connection closed")
        return aiohttp.ClientSession(
            connector=self.session.connector,
            connector_owner=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self.session.headers,
            # For a socket aiohttp has no other way.
            middlewares=(_refuse_redirects,),
            timeout=TIMEOUT,
            # As in Home Assistant's own: some servers say much of what pages may do.
            max_field_size=64 * 1024,
        )


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
    """Return what the status of an answer says that is none."""
    if response.status == HTTPStatus.BAD_REQUEST:
        # What is cut short or not readable refuses nothing.
        with suppress(aiohttp.ClientPayloadError):
            body = await _read_beyond(response.content, _BEGINNING)
            if _REFUSES_SIGN_IN in body[:_BEGINNING]:
                return errors.AuthenticationError(f"status {response.status}")
    return errors.refusal_of(response.status, response.headers)


async def _read_beyond(content: aiohttp.StreamReader, length: int) -> bytearray:
    """Return the body, of which no more is kept in memory than is longer than that."""
    body = bytearray()
    async for chunk in content.iter_any():
        body += chunk
        if len(body) > length:
            break
    return body


async def async_answer[T](asking: Awaitable[T]) -> T:
    """Return what is asked for, or raise what went wrong."""
    try:
        return await asking
    except (aiohttp.ClientError, OSError, ValueError) as err:
        failure = errors.failure_of(err)
    # Raised here, as the errors above hold headers and the name.
    raise failure


def _utc(moment: datetime) -> str:
    """Return a moment in UTC as it is written in an address."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
