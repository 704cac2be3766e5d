"""All faults of the live connection, by name. During such a fault, the rest of the service works."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus

from aiohttp import WSMsgType, web
import orjson

from .kinds import NULL_POINTER
from .wire import JSON, Raw, Reset, Silence, Streamed, head

type Respond = Callable[[str, str], web.StreamResponse]
"""Function that gets the addresses of the service and of another origin, and returns a response."""
type Spoil = Callable[[bytes], list[bytes]]
"""Function that gets a message, and returns the messages that are sent in its place."""

_SIZE = 64 * 2**20
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class LiveFault:
    """A fault of the live connection that can be selected by its name.

    Attributes:
        name: the name by which it is selected
        session: returns the answer to the sign-in; None for the correct answer
        socket: returns the answer to the upgrade; None for the correct answer
        spoil: returns the messages that are sent in place of a message
        first: whether the server begins with a message that has all positions
        dead: whether an open websocket sends nothing at all, not even a pong
        ends: whether the server closes a websocket after its first message
        floods: content of the frames that are sent as fast as the client reads; None for none
        flood_of: type of these frames
        talks_on: whether the server ignores a close frame
        forgets: whether the server has forgotten each session before the upgrade
    """

    name: str
    session: Respond | None = None
    socket: Respond | None = None
    spoil: Spoil = lambda data: [data]
    first: bool = True
    dead: bool = False
    ends: bool = False
    floods: bytes | None = None
    flood_of: WSMsgType = WSMsgType.TEXT
    talks_on: bool = False
    forgets: bool = False

    @property
    def strikes_open_sockets(self) -> bool:
        """Whether the fault affects open websockets. If not, `strike` closes them, so that clients reconnect and meet the fault."""
        return self.session is self.socket is None and not (self.ends or self.forgets)


def _status(status: int, text: str | None = None) -> Respond:
    def respond(_: str, __: str) -> web.StreamResponse:
        return web.Response(status=status, text=text or HTTPStatus(status).phrase)

    return respond


def _redirect(path: str, *, other: bool) -> Respond:
    def respond(base: str, other_base: str) -> web.StreamResponse:
        location = f"{other_base if other else base}/moved/{path}"
        return web.Response(status=307, headers={"Location": location})

    return respond


def _html(_: str, __: str) -> web.StreamResponse:
    page = "<!DOCTYPE html><title>Sign in</title><p>Who are you?"
    return web.Response(text=page, content_type="text/html")


def _huge(_: str, __: str) -> web.StreamResponse:
    return Streamed((b" " * _CHUNK for _ in range(_SIZE // _CHUNK)), length=_SIZE)


def _wrong_accept(_: str, __: str) -> web.StreamResponse:
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket"]
    lines += ["Connection: Upgrade", "Sec-WebSocket-Accept: bm9wZQ=="]
    return Raw("\r\n".join([*lines, "", ""]).encode())


def _at(path: str) -> Iterator[LiveFault]:
    """Yield faults with wrong responses to the sign-in (`session`) or to the upgrade (`socket`)."""
    statuses = (400, 401, 403, 404, 429, 500, 503)
    answers: dict[str, Respond] = {
        **{str(status): _status(status) for status in statuses},
        "html": _html,
        "redirect-same": _redirect(path, other=False),
        "redirect-other": _redirect(path, other=True),
        "reset": lambda _, __: Reset(),
        "no-answer": lambda _, __: Silence(),
        "huge": _huge,
    }
    for name, respond in answers.items():
        if path == "session":
            yield LiveFault(f"{path}-{name}", session=respond)
        else:
            yield LiveFault(f"{path}-{name}", socket=respond)


def _half(data: bytes) -> list[bytes]:
    return [data[: len(data) // 2]]


def _old(data: bytes) -> list[bytes]:
    """Return the message with times of 2020 and an old position ID. In it, trackers are offline and elsewhere."""
    message = orjson.loads(data)
    for row in message.get("devices", []):
        row |= {"lastUpdate": "2020-01-01T00:00:00.000+0000", "status": "offline"}
    for row in message.get("positions", []):
        # An old report does not have the alarm of the new report.
        row["attributes"].pop("alarm", None)
        row |= dict.fromkeys(("fixTime", "deviceTime"), "2020-01-01T00:00:00.000+0000")
        row |= {"id": 1, "latitude": 1.0}
    return [orjson.dumps(message)]


def _strangers(data: bytes) -> list[bytes]:
    message = orjson.loads(data)
    for row in message.get("devices", []):
        row |= {"uniqueId": "somebody else's", "id": 999_999, "name": "Not yours"}
    for row in message.get("positions", []):
        row |= {"deviceId": 999_999}
    return [orjson.dumps(message)]


def _odd(_: bytes) -> list[bytes]:
    odd: list[object] = [
        *([], None, 5, "devices", True),
        *({"devices": None}, {"devices": 5, "positions": {}}, {"events": [{}]}),
        {"devices": [None, 5, "x", [], {}], "positions": [[], {}, {"id": "x"}]},
    ]
    return [*map(orjson.dumps, odd), b"", b"\xff\xfe", b"[" * 100_000]


_FAULTS = (
    *_at("session"),
    LiveFault("session-400-sign-in", session=_status(400, NULL_POINTER)),
    LiveFault(
        "session-no-cookie",
        session=lambda _, __: Raw(head(2, content_type=JSON) + b"{}"),
    ),
    *_at("socket"),
    LiveFault("socket-wrong-accept", socket=_wrong_accept),
    LiveFault("cookie-refused", forgets=True),
    LiveFault("says-nothing", first=False, spoil=lambda _: []),
    LiveFault("tells-nothing-new", spoil=lambda _: [b"{}"]),
    LiveFault("dies", dead=True),
    LiveFault("ends", ends=True),
    LiveFault("floods", floods=b"{}"),
    LiveFault("floods-odd", floods=b"[" * 1000),
    LiveFault("floods-pings", floods=b"there?", flood_of=WSMsgType.PING),
    LiveFault("talks-on", floods=b"{}", talks_on=True),
    LiveFault("halves", spoil=_half),
    LiveFault("odd", spoil=_odd),
    LiveFault("old-news", spoil=_old),
    LiveFault("strangers", spoil=_strangers),
    LiveFault("huge-message", spoil=lambda data: [data + b" " * _SIZE]),
)

LIVE_FAULTS: dict[str, LiveFault] = {fault.name: fault for fault in _FAULTS}
