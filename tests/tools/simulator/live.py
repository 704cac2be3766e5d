"""The live connection: clients sign in, open a websocket, and get a message for each change."""

import asyncio
from collections.abc import Iterable
import contextlib
from dataclasses import dataclass, field
import secrets

from aiohttp import WSMsgType, web
import orjson

from .live_faults import LIVE_FAULTS, LiveFault
from .wire import JSON
from .world import Json

type Item = dict[str, Json]

COOKIE = "JSESSIONID"
# Number of frames that a flood sends before other tasks run.
_FLOOD = 20
WELL = LiveFault("")


@dataclass(eq=False)
class Socket:
    """An open websocket, the account of its client, and the messages that wait to be sent."""

    email: str
    web: web.WebSocketResponse
    transport: asyncio.Transport
    waiting: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)


class LiveServer:
    """The sessions and websockets of all accounts."""

    def __init__(self) -> None:
        """Begin without sessions, websockets and faults."""
        self.fault = WELL
        self.sockets: list[Socket] = []
        self.goodbyes = 0
        """Number of clients that closed their websocket with the normal code, 1000."""
        self.pongs: list[bytes] = []
        """The contents of the pongs that clients sent."""
        self._sessions: dict[str, str] = {}
        self._given: set[str] = set()

    @property
    def cookies(self) -> int:
        """Number of sessions that were started."""
        return len(self._given)

    def knows_cookie(self, text: str) -> bool:
        """Return whether a text contains the cookie of any session."""
        return any(cookie in text for cookie in self._given)

    def strike(self, name: str | None) -> None:
        """Replace the active fault by this fault, or by none. Raise ValueError if the fault is unknown."""
        if name is not None and name not in LIVE_FAULTS:
            raise ValueError(f"no live fault {name}")
        self.fault = WELL if name is None else LIVE_FAULTS[name]
        if not self.fault.strikes_open_sockets:
            self.drop()
        if self.fault.floods is not None:
            for socket in self.sockets:
                socket.waiting.put_nowait(b"")

    def drop(self) -> None:
        """Close all websockets and forget all sessions, as a restart of the server does."""
        self._sessions.clear()
        for socket in self.sockets:
            socket.transport.abort()

    def session(self, email: str) -> web.Response:
        """Start a session, and return the answer to the sign-in, with the session's cookie."""
        session_id = f"node0{secrets.token_hex(8)}.node0"
        self._sessions[session_id] = email
        self._given.add(session_id)
        body = orjson.dumps({"id": 1, "name": "Somebody", "email": email})
        response = web.Response(body=body, content_type=JSON)
        response.set_cookie(COOKIE, session_id, path="/")
        return response

    def account(self, request: web.BaseRequest) -> str | None:
        """Return the email for the session in the request's cookie, or None. A fault can make the server forget all sessions."""
        if self.fault.forgets:
            self._sessions.clear()
        return self._sessions.get(request.cookies.get(COOKIE, ""))

    async def serve(
        self, request: web.BaseRequest, email: str, first: list[Item]
    ) -> web.WebSocketResponse:
        """Open a websocket, send the positions in `first`, and then send changes until the websocket is closed."""
        response = web.WebSocketResponse(autoping=False, autoclose=False)
        transport = request.transport
        assert transport is not None
        await response.prepare(request)
        socket = Socket(email, response, transport)
        self.sockets.append(socket)
        if self.fault.first:
            socket.waiting.put_nowait(orjson.dumps({"positions": first}))
        writing = asyncio.create_task(self._write(socket))
        try:
            async for message in response:
                if message.type is WSMsgType.PING and not self.fault.dead:
                    await response.pong(message.data)
                elif message.type is WSMsgType.PONG:
                    self.pongs.append(message.data)
            self.goodbyes += response.close_code == 1000
            if self.fault.talks_on:
                await writing
        finally:
            self.sockets.remove(socket)
            writing.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await writing
        return response

    def tell(self, emails: Iterable[str], message: dict[str, list[Item]]) -> None:
        """Send a message to all websockets of these accounts."""
        to, data = set(emails), orjson.dumps(message)
        for socket in self.sockets:
            if socket.email in to:
                socket.waiting.put_nowait(data)

    async def _write(self, socket: Socket) -> None:
        while True:
            data = await socket.waiting.get()
            while (flood := self.fault).floods is not None:
                for _ in range(_FLOOD):
                    await socket.web.send_frame(flood.floods, flood.flood_of)
                await asyncio.sleep(0)
            if self.fault.dead:
                continue
            for part in self.fault.spoil(data) if data else ():
                await _send(socket.web, part)
            if self.fault.ends:
                await socket.web.close()


async def _send(response: web.WebSocketResponse, data: bytes) -> None:
    await response.send_frame(data, WSMsgType.TEXT)
