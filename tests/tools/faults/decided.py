"""The effects that each fault should have. tests/faults checks these effects."""

from enum import StrEnum
import json
from pathlib import Path
import re
from typing import Any, NamedTuple

from .trouble import TROUBLES

_INTEGRATION = Path(__file__).parents[3] / "custom_components" / "bike_tracker"
_TEXTS: Any = json.loads((_INTEGRATION / "translations" / "en.json").read_bytes())

UNKNOWN = "unknown"
SERIAL_NUMBER = "the serial number"
SOMETHING_ELSE = "as sent"

# Number of requests that reach the server, if not 1. It is 0 if no connection opens, and
# 2 if the connection breaks without an answer: aiohttp then repeats the request.
_REQUESTS = {
    **dict.fromkeys(["name-not-found", "connection-refused"], 0),
    **dict.fromkeys(["tls-expired", "tls-self-signed", "tls-other-host"], 0),
    **dict.fromkeys(["close-before-headers", "reset-before-headers"], 2),
}
_NEXT_POLL = dict.fromkeys(["status-429-seconds", "status-429-date"], 120)
_MESSAGES = {
    "cannot_connect": """
        name not found <- name-not-found
        connection refused <- connection-refused|restart
        connection reset by peer <- reset-before-headers
        connection lost <- close-before-.*|reset-.*-body|length-too-long|gzip-broken
        no answer in time <- no-answer.*|slow-body
        no valid HTTP <- length-too-short|not-http|headers-too-long
        certificate not valid: certificate has expired <- tls-expired
        certificate not valid: self-signed certificate <- tls-self-signed
        certificate not valid: ip address mismatch <- tls-other-host
    """,
    "invalid_response": """
        invalid JSON: unexpected end of data <- json-truncated
        invalid JSON: str is not valid UTF-8: surrogates not allowed <- invalid-utf8
        invalid JSON: Input is a zero-length, empty document <- empty-body
        invalid JSON: unexpected character <- html.*
        invalid JSON: array and object recursion depth exceeded <- json-deep-.*
        invalid JSON: number is infinity when parsed as double <- number-(400-d|inf).*
        invalid JSON: no low surrogate in string <- name-surrogate
        not a JSON array <- json-(object|null|string|number)
        no usable element in the list <- json-mixed|field-uniqueId-.*
        more than 8 MiB <- huge-.*|.*-bomb
        status {} <- status-(204|400|403|404|418)
    """,
    "service_unavailable": "status {} <- status-(408|429.*|5..)",
    "redirected": "status {} <- redirect-.*",
    "unauthorized": " <- status-401.*|status-400-sign-in",
}
"""Log messages, by the key of the text. Each line has the error (`{}` is the HTTP status) and a pattern of faults."""
_CHANGES = {
    ("last_update", UNKNOWN): "field-lastUpdate-.*|time-(no-offset|epoch|nonsense)",
    ("last_update", SOMETHING_ELSE): "time-(1970|future)",
    ("name", SERIAL_NUMBER): "field-name-.*|name-(empty|blank)",
    ("name", SOMETHING_ELSE): "name-control",
    ("online", UNKNOWN): "field-status-.*",
    ("disabled", UNKNOWN): "field-disabled-.*",
    ("position_id", UNKNOWN): "field-positionId-.*|number-(64-bit|fraction)",
    ("group_id", UNKNOWN): "field-groupId-.*|number-(64-bit|fraction)",
}
"""The only entities that change during a fault: the key and the new state, and a pattern of faults."""
_FORM_ERRORS = {
    **{key: key for key in ("invalid_response", "redirected")},
    "unauthorized": "invalid_auth",
    "certificate not valid": "invalid_certificate",
    "connection refused": "connection_refused",
    "name not found": "unknown_host",
    "no answer in time": "timeout",
}
"""The key of the error in the sign-in form, by the key or the start of the log message. Others: `cannot_connect`."""


class Outcome(StrEnum):
    """The state of an account during a fault."""

    AVAILABLE = "available"
    TRIED_AGAIN = "tried again"
    UNAVAILABLE = "unavailable"
    SIGN_IN = "a new sign-in"


class Message(NamedTuple):
    """The reason of a failed poll in the log: the key of the text, and the error to insert there."""

    key: str
    error: str

    @property
    def text(self) -> str:
        """The text in the log and on the page of the integration."""
        text = str(_TEXTS["exceptions"][self.key]["message"])
        return text.format(error=self.error).removesuffix(".")


class Decided(NamedTuple):
    """The effects that a fault should have. `next_poll` is the number of seconds from a failed poll to the next."""

    message: Message | None
    changes: set[tuple[str, str]]
    requests: int
    next_poll: int
    then: Outcome | None
    """The state of the account after the second poll in a fault, if it differs from the state after the first."""

    @property
    def at_setup(self) -> Outcome:
        """The state of the account if Home Assistant starts during the fault."""
        if self.message is None:
            return Outcome.AVAILABLE
        return Outcome.SIGN_IN if self.then else Outcome.TRIED_AGAIN

    @property
    def while_running(self) -> Outcome:
        """The state of the account after the first poll, if the fault begins while Home Assistant is running."""
        return Outcome.UNAVAILABLE if self.message else Outcome.AVAILABLE

    @property
    def form_error(self) -> str | None:
        """The key of the error in the sign-in form. None if the sign-in succeeds."""
        if self.message is None:
            return None
        names = self.message.key, self.message.error.partition(":")[0]
        errors = (_FORM_ERRORS[name] for name in names if name in _FORM_ERRORS)
        return next(errors, "cannot_connect")


def form_text(error: str | None) -> str:
    """Return the start of an error's text in the sign-in form, up to a period, colon or parenthesis."""
    if error is None:
        return "succeeds"
    return re.split(r"[.(:]", _TEXTS["config"]["error"][error])[0].strip()


def _message(name: str) -> Message | None:
    """Return the first message whose pattern matches this fault, or None if the poll succeeds."""
    status = re.findall(r"\d{3}|$", name)[0]
    for key, table in _MESSAGES.items():
        for line in table.strip().splitlines():
            error, faults = line.split("<-")
            if re.fullmatch(faults.strip(), name):
                return Message(key, error.strip().format(status))
    return None


def _decided(name: str) -> Decided:
    message, then = _message(name), None
    if message and message.key == "unauthorized":
        then = Outcome.AVAILABLE if name.endswith("-once") else Outcome.SIGN_IN
    changes = {it for it, names in _CHANGES.items() if re.fullmatch(names, name)}
    requests, next_poll = _REQUESTS.get(name, 1), _NEXT_POLL.get(name, 60)
    return Decided(message, changes, requests, next_poll, then)


DECIDED = {name: _decided(name) for name in TROUBLES}


class DecidedPlace(NamedTuple):
    """The effects that a fault should have if only the requests for positions fail."""

    is_kept: bool
    """Whether a moving bike keeps its old place, and the log reports the failure."""
    position_time: str | None
    """The state of the position's time; None if it is the time that was sent."""
    asked_again: int | None
    """Seconds until the request is repeated. None if it is not repeated before the next report."""
    requests: int


def _place(name: str, decided: Decided) -> DecidedPlace:
    if decided.message is not None or name.startswith("number-"):
        return DecidedPlace(True, None, decided.next_poll, decided.requests)
    if any(key == "last_update" for key, _ in decided.changes):
        # The position is requested again on its own. That answer has the same fault.
        time = None if name == "time-future" else UNKNOWN
        return DecidedPlace(False, time, 60, 2)
    return DecidedPlace(False, None, None, 1)


DECIDED_PLACES = {
    name: _place(name, decided)
    for name, decided in DECIDED.items()
    if TROUBLES[name].strikes_positions
}
