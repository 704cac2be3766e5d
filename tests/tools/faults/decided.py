"""What is decided for each trouble: what a person sees of it, and when it is over."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
import json
from pathlib import Path
import re
from typing import Any

from .trouble import NAME_NOT_FOUND, TROUBLES

_TEXTS = (
    Path(__file__).parents[3]
    / "custom_components"
    / "bike_tracker"
    / "translations"
    / "en.json"
)

UNKNOWN = "unknown"
SERIAL_NUMBER = "the serial number"
SOMETHING_ELSE = "as sent"

# aiohttp asks a second time when a connection ends before it is answered.
_TWICE = 2


class Outcome(StrEnum):
    """What becomes of an account."""

    AVAILABLE = "available"
    TRIED_AGAIN = "tried again"
    UNAVAILABLE = "unavailable"
    SIGN_IN = "a new sign-in"


@dataclass(frozen=True)
class Message:
    """Why a poll failed, as the log has it: the key of the text, and what goes into it."""

    key: str
    error: str = ""

    @property
    def text(self) -> str:
        """The text in the log and on the integration's page."""
        text: str = _texts()["exceptions"][self.key]["message"]
        return text.format(error=self.error).removesuffix(".")


def form_text(error: str | None) -> str:
    """Return the first sentence of an error in the sign-in form."""
    if error is None:
        return "succeeds"
    text: str = _texts()["config"]["error"][error]
    return re.split(r"[.(:]", text)[0].strip()


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = json.loads(_TEXTS.read_bytes())
    return texts


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What one trouble does."""

    at_setup: Outcome = Outcome.AVAILABLE
    while_running: Outcome = Outcome.AVAILABLE
    then: Outcome | None = None
    """What the second poll in a row makes of it, if something else."""
    message: Message | None = None
    changes: frozenset[tuple[str, str]] = frozenset()
    """Entities that change, and to what, while all others stay as they were."""
    requests: int = 1
    next_poll: int = 60

    @property
    def form_error(self) -> str | None:
        """The key of the error in the sign-in form, None if signing in succeeds."""
        match self.message:
            case None:
                return None
            case Message("invalid_response" | "redirected" as key):
                return key
            case Message("unauthorized"):
                return "invalid_auth"
            case Message(_, error):
                return _FORM_ERRORS.get(error.partition(":")[0], "cannot_connect")


_FORM_ERRORS = {
    "certificate not valid": "invalid_certificate",
    "connection refused": "connection_refused",
    "name not found": "unknown_host",
    "no answer in time": "timeout",
}


def _fails(key: str, error: str, *, requests: int = 1, next_poll: int = 60) -> Decided:
    return Decided(
        at_setup=Outcome.TRIED_AGAIN,
        while_running=Outcome.UNAVAILABLE,
        message=Message(key, error),
        requests=requests,
        next_poll=next_poll,
    )


def _cannot_connect(error: str, *, requests: int = 1) -> Decided:
    return _fails("cannot_connect", error, requests=requests)


def _invalid_response(error: str) -> Decided:
    return _fails("invalid_response", error)


def _not_now(status: int, *, next_poll: int = 60) -> Decided:
    return _fails("service_unavailable", f"status {status}", next_poll=next_poll)


def _changes(**changes: str) -> Decided:
    return Decided(changes=frozenset(changes.items()))


_FINE = Decided()
_NO_TRACKER = _invalid_response("no usable element in the list")
_TOO_LARGE = _invalid_response("more than 8 MiB")
_TOO_DEEP = _invalid_response("invalid JSON: array and object recursion depth exceeded")
_UNAUTHORIZED = Decided(
    at_setup=Outcome.SIGN_IN,
    while_running=Outcome.UNAVAILABLE,
    then=Outcome.SIGN_IN,
    message=Message("unauthorized"),
)
_NO_TIME = _changes(last_update=UNKNOWN)
_NO_NAME = _changes(name=SERIAL_NUMBER)
_NO_NUMBERS = _changes(position_id=UNKNOWN, group_id=UNKNOWN)
_NO_FLOAT = _invalid_response("invalid JSON: number is infinity when parsed as double")
_ANOTHER_TIME = _changes(last_update=SOMETHING_ELSE)
_ANOTHER_NAME = _changes(name=SOMETHING_ELSE)

_CONNECTION = {
    NAME_NOT_FOUND: _cannot_connect("name not found", requests=0),
    "connection-refused": _cannot_connect("connection refused", requests=0),
    "close-before-headers": _cannot_connect("connection lost", requests=_TWICE),
    "reset-before-headers": _cannot_connect(
        "connection reset by peer", requests=_TWICE
    ),
    "reset-before-body": _cannot_connect("connection lost"),
    "reset-mid-body": _cannot_connect("connection lost"),
    "no-answer": _cannot_connect("no answer in time"),
    "no-answer-mid-body": _cannot_connect("no answer in time"),
    "slow-body": _cannot_connect("no answer in time"),
    "late-answer": _FINE,
    "length-too-long": _cannot_connect("connection lost"),
    "length-too-short": _cannot_connect("no valid HTTP"),
    "not-http": _cannot_connect("no valid HTTP"),
    "headers-too-long": _cannot_connect("no valid HTTP"),
    "restart": _cannot_connect("connection refused"),
    "tls-expired": _cannot_connect(
        "certificate not valid: certificate has expired", requests=0
    ),
    "tls-self-signed": _cannot_connect(
        "certificate not valid: self-signed certificate", requests=0
    ),
    "tls-other-host": _cannot_connect(
        "certificate not valid: ip address mismatch", requests=0
    ),
}

_BODY = {
    "json-truncated": _invalid_response("invalid JSON: unexpected end of data"),
    "invalid-utf8": _invalid_response(
        "invalid JSON: str is not valid UTF-8: surrogates not allowed"
    ),
    "empty-body": _invalid_response(
        "invalid JSON: Input is a zero-length, empty document"
    ),
    "html": _invalid_response("invalid JSON: unexpected character"),
    "html-as-json": _invalid_response("invalid JSON: unexpected character"),
    "json-as-text": _FINE,
    "json-as-nothing": _FINE,
    "json-object": _invalid_response("not a JSON array"),
    "json-null": _invalid_response("not a JSON array"),
    "json-string": _invalid_response("not a JSON array"),
    "json-number": _invalid_response("not a JSON array"),
    "json-mixed": _NO_TRACKER,
    "json-deep-arrays": _TOO_DEEP,
    "json-deep-objects": _TOO_DEEP,
    "huge-body": _TOO_LARGE,
    "huge-body-chunked": _TOO_LARGE,
    "gzip-bomb": _TOO_LARGE,
    "deflate-bomb": _TOO_LARGE,
    "gzip-broken": _cannot_connect("connection lost"),
}

_STATUS = {
    **{
        f"status-{status}": _invalid_response(f"status {status}")
        for status in (204, 400, 403, 404, 418)
    },
    **{
        f"status-{status}": _not_now(status)
        for status in (408, 429, 500, 502, 503, 504)
    },
    "status-429-seconds": _not_now(429, next_poll=120),
    "status-429-date": _not_now(429, next_poll=120),
    "status-429-nonsense": _not_now(429),
    "status-429-negative": _not_now(429),
    "status-401": _UNAUTHORIZED,
    "status-400-sign-in": _UNAUTHORIZED,
    "status-401-once": Decided(
        at_setup=Outcome.SIGN_IN,
        while_running=Outcome.UNAVAILABLE,
        then=Outcome.AVAILABLE,
        message=Message("unauthorized"),
    ),
    **{
        f"redirect-{status}-{origin}": _fails("redirected", f"status {status}")
        for status in (301, 302, 303, 307, 308)
        for origin in ("same", "other")
    },
}

_FIELD_CHANGES = {
    "id": _FINE,
    "name": _NO_NAME,
    "uniqueId": _NO_TRACKER,
    "status": _changes(online=UNKNOWN),
    "lastUpdate": _NO_TIME,
    "positionId": _changes(position_id=UNKNOWN),
    "groupId": _changes(group_id=UNKNOWN),
    "disabled": _changes(disabled=UNKNOWN),
}

_FIELD = {
    f"field-{field}-{way}": decided
    for field, decided in _FIELD_CHANGES.items()
    for way in ("missing", "null", "type")
}

_VALUE = {
    "fields-unknown": _FINE,
    "duplicate-unique-id": _FINE,
    "duplicate-id": _FINE,
    "duplicate-all": _FINE,
    "time-colon": _FINE,
    "time-z": _FINE,
    "time-no-millis": _FINE,
    "time-micros": _FINE,
    "time-space": _FINE,
    "time-other-offset": _FINE,
    "time-no-offset": _NO_TIME,
    "time-epoch": _NO_TIME,
    "time-1970": _ANOTHER_TIME,
    "time-future": _ANOTHER_TIME,
    "time-nonsense": _NO_TIME,
    "number-64-bit": _NO_NUMBERS,
    "number-400-digits": _NO_FLOAT,
    "number-infinite": _NO_FLOAT,
    "number-fraction": _NO_NUMBERS,
    "name-control": _ANOTHER_NAME,
    "name-surrogate": _invalid_response("invalid JSON: no low surrogate in string"),
    "name-empty": _NO_NAME,
    "name-blank": _NO_NAME,
}

DECIDED: dict[str, Decided] = _CONNECTION | _BODY | _STATUS | _FIELD | _VALUE


class Place(StrEnum):
    """What becomes of the place of a bike that moves."""

    FOLLOWED = "followed"
    KEPT = "kept"


@dataclass(frozen=True, kw_only=True)
class DecidedPlace:
    """What one trouble of the call for positions alone does, the device list being well."""

    place: Place
    position_time: str | None = None
    """What the time of the position is, if it is not as sent."""
    asked_again: int | None = None
    """Seconds until the call is tried again; None: at the next report."""
    requests: int = 1
    fails: bool = False
    """Whether the log says so."""


def _place(name: str, decided: Decided) -> DecidedPlace:
    if decided.message is not None or name.startswith("number-"):
        return DecidedPlace(
            place=Place.KEPT,
            asked_again=decided.next_poll,
            requests=decided.requests,
            fails=True,
        )
    if decided == _NO_TIME or name in ("time-1970", "time-future"):
        # The list, and the same position by its ID.
        return DecidedPlace(
            place=Place.FOLLOWED,
            position_time=None if name == "time-future" else UNKNOWN,
            asked_again=60,
            requests=2,
        )
    return DecidedPlace(place=Place.FOLLOWED)


DECIDED_PLACES: dict[str, DecidedPlace] = {
    name: _place(name, decided)
    for name, decided in DECIDED.items()
    if TROUBLES[name].strikes_positions
}
