"""The client: one method per call of the service."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Final

import aiohttp
from aiohttp import hdrs
from yarl import URL

from .errors import (
    AuthenticationError,
    CannotConnectError,
    InvalidEmailError,
    InvalidResponseError,
    TrackingError,
    async_refusal,
    failure_of,
)
from .lists import Changes, ListReader, read_positions
from .models import Device, Position

MAX_BYTES: Final = 8 * 1024 * 1024
"""Of one answer or message, decompressed."""
TIMEOUT: Final = aiohttp.ClientTimeout(total=30, sock_connect=15)
"""Where no connection comes about there is time left to try another address."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrackingClient:
    """The service on behalf of one account, at a canonical address (interface, section 1).

    Credentials go out in the Authorization header alone, and to no other address than
    the given one: redirects are not followed.

    Raises InvalidEmailError or AuthenticationError for credentials that no Authorization
    header can hold (interface, section 5).
    """

    session: aiohttp.ClientSession
    url: str
    email: str
    password: str
    devices: ListReader[str, Device] = field(
        default_factory=partial(ListReader, Device)
    )
    positions: ListReader[int, Position] = field(
        default_factory=partial(ListReader, Position)
    )

    def __post_init__(self) -> None:
        """Refuse credentials before they are needed."""
        _basic(self.email, self.password)

    async def async_get_devices(self) -> Changes[str, Device]:
        """Return the trackers of the account by `uniqueId` (interface, section 4).

        A tracker that did not change since the last call is the same object, and if none
        did, the mapping is the same as well.

        Raises AuthenticationError, CannotConnectError, InvalidResponseError,
        RedirectedError or ServiceUnavailableError.
        """
        return self.devices.read(await self._async_get("devices"))

    async def async_get_positions(self) -> Changes[int, Position]:
        """Return the last known positions by the internal ID of their device.

        Not in the documented interface: servers like Traccar offer it, others answer
        with anything. Raises the same errors as async_get_devices.
        """
        return self.positions.read(await self._async_get("positions"))

    async def async_get_position(self, position_id: int) -> Position | None:
        """Return a position, which may be too old for the list; None if there is none.

        Not in the documented interface. Raises the same errors as async_get_devices.
        """
        positions = read_positions(await self._async_get(f"positions?id={position_id}"))
        # What ignores the question answers with others.
        return next((it for it in positions if it.id == position_id), None)

    async def async_get_history(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return what a device reported in a time in UTC, in order of its fixes.

        Not in the documented interface. Raises the same errors as async_get_devices.
        """
        query = f"deviceId={device_id}&from={_utc(start)}&to={_utc(end)}"
        body = await self._async_get(f"positions?{query}")
        # Thousands of reports would stop the event loop.
        reports = await asyncio.to_thread(read_positions, body)
        # What ignores the question answers with all trackers.
        if any(report.device_id != device_id for report in reports):
            raise InvalidResponseError("reports of another tracker")
        return reports

    async def _async_get(self, path: str) -> bytes:
        return await async_answer(self._async_ask(path), self.session)

    async def _async_ask(self, path: str) -> bytes:
        async with self.session.get(
            URL(f"{self.url}/{path}", encoded=True),
            headers={
                hdrs.ACCEPT: "application/json",
                hdrs.AUTHORIZATION: _basic(self.email, self.password),
            },
            allow_redirects=False,
            timeout=TIMEOUT,
        ) as response:
            if response.status != HTTPStatus.OK:
                raise await async_refusal(response)
            return await _read(response)


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
        failure = failure_of(err)
    # Raised here, as the errors above hold headers and the name.
    raise failure


def _utc(moment: datetime) -> str:
    """Return a moment in UTC as it is written in an address."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


def _basic(email: str, password: str) -> str:
    try:
        email.encode()
        if not email or ":" in email:
            raise InvalidEmailError("the email is empty or holds a colon")
    except UnicodeEncodeError:
        raise InvalidEmailError("the email is no text") from None
    try:
        return aiohttp.encode_basic_auth(email, password)
    except UnicodeEncodeError:
        raise AuthenticationError("the password is no text") from None


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Return the body, of which no more is kept in memory than a list of trackers needs."""
    chunks = []
    length = 0
    async for chunk in response.content.iter_any():
        chunks.append(chunk)
        length += len(chunk)
        if length > MAX_BYTES:
            raise InvalidResponseError("more than 8 MiB", is_too_large=True)
    return b"".join(chunks)
