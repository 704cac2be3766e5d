"""What the service says by itself: a session, a socket, and messages.

Not in the documented interface: it is what Traccar's own web page uses. Credentials go
out in the form of the sign-in alone, and the cookie that came of it to the socket alone:
both to the given address, as redirects are not followed.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

import aiohttp
from aiohttp import hdrs
from yarl import URL

from .client import MAX_BYTES, TrackingClient
from .errors import (
    CannotConnectError,
    InvalidResponseError,
    NoAnswerError,
    RedirectedError,
)
from .messages import Message, read
from .responses import async_answer, raise_for_status
from .socket import CLOSING, Socket

_TIMEOUT: Final = 30
# No more than ten thousand messages a second, and a thousand with nothing in them: a
# breath after each of these would double what a quiet hour costs.
_MESSAGES_AT_A_TIME: Final = 100
_NOTHINGS_AT_A_TIME: Final = 10
_BREATH: Final = 0.01


async def async_messages(client: TrackingClient) -> AsyncGenerator[Message]:
    """Sign in and yield what the service says, until the connection ends.

    To be closed by whoever reads no further. Ends by raising AuthenticationError,
    CannotConnectError, InvalidResponseError, RedirectedError or
    ServiceUnavailableError.
    """
    given = client.session
    if given.closed:
        raise CannotConnectError("connection closed")
    async with _new_session(given) as session:
        cookie = await async_answer(_async_sign_in(session, client), given)
        url = URL(f"{client.url}/socket", encoded=True)
        socket = await async_answer(_async_open(session, url, cookie), given)
        try:
            yield await _async_first(client, socket)
            while True:
                for _ in range(_MESSAGES_AT_A_TIME):
                    yield await _async_next(client, socket)
                await asyncio.sleep(_BREATH)
        finally:
            await socket.async_close()


def _new_session(given: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Return a session without a cookie of an older one."""
    return aiohttp.ClientSession(
        connector=given.connector,
        connector_owner=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=given.headers,
        # For a socket aiohttp has no other way not to follow redirects.
        middlewares=(_refuse_redirects,),
        timeout=aiohttp.ClientTimeout(total=None),
    )


async def _async_sign_in(session: aiohttp.ClientSession, client: TrackingClient) -> str:
    """Return the cookie of a new session."""
    async with (
        asyncio.timeout(_TIMEOUT),
        session.post(
            URL(f"{client.url}/session", encoded=True),
            data={"email": client.email, "password": client.password},
            headers={hdrs.ACCEPT: "application/json"},
            allow_redirects=False,
        ) as response,
    ):
        await raise_for_status(response)
        cookies = response.cookies.values()
    if cookie := "; ".join(f"{item.key}={item.coded_value}" for item in cookies):
        return cookie
    raise InvalidResponseError("no session")


async def _async_open(session: aiohttp.ClientSession, url: URL, cookie: str) -> Socket:
    async with asyncio.timeout(_TIMEOUT):
        return Socket(
            await session.ws_connect(
                url,
                headers={hdrs.COOKIE: cookie},
                timeout=CLOSING,
                autoping=False,
                max_msg_size=MAX_BYTES,
                decode_text=False,
            )
        )


async def _async_first(client: TrackingClient, socket: Socket) -> Message:
    """Return the first message, which comes at once: it says where all trackers are."""
    try:
        async with asyncio.timeout(_TIMEOUT):
            return await _async_next(client, socket)
    except TimeoutError:
        raise NoAnswerError("no first message") from None


async def _async_next(client: TrackingClient, socket: Socket) -> Message:
    """Return the next message: signs of life, and what is nonsense, are none."""
    while True:
        for _ in range(_NOTHINGS_AT_A_TIME):
            data = await socket.async_receive()
            if (message := read(data)) is not None:
                return message
        await asyncio.sleep(_BREATH)


async def _refuse_redirects(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    response = await handler(request)
    if 300 <= response.status < 400:
        response.close()
        raise RedirectedError(f"status {response.status}")
    return response
