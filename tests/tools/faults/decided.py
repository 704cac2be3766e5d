"""The faults of the service, and the effects that each fault should have. tests/faults checks these effects."""

from enum import StrEnum
import json
from pathlib import Path
import re
from typing import Any, NamedTuple

from tests.tools.simulator import FAULTS
from tests.tools.simulator.faults import Fault

_INTEGRATION = Path(__file__).parents[3] / "custom_components" / "bike_tracker"
_TEXTS: Any = json.loads((_INTEGRATION / "translations" / "en.json").read_bytes())

NAME_NOT_FOUND = "name-not-found"
TROUBLES = {
    NAME_NOT_FOUND: Fault(NAME_NOT_FOUND, "the server's name no longer resolves"),
    **FAULTS,
}
"""A server name that cannot be resolved, and all faults of the simulator."""

UNKNOWN = "unknown"
SERIAL_NUMBER = "the serial number"
SOMETHING_ELSE = "as sent"

# Number of requests that reach the server, if not 1, and a pattern of faults. The number
# is 0 if no connection opens, and 2 if the connection breaks without an answer: aiohttp
# then repeats the request.
_REQUESTS = {
    0: "name-not-found|connection-refused|tls-.*",
    2: "(close|reset)-before-headers",
}
# Seconds from a failed poll to the next poll, if not 60.
_NEXT_POLL = dict.fromkeys(["status-429-seconds", "status-429-date"], 120)
_MESSAGES = {
    ("cannot_connect", "unknown_host"): "name not found <- name-not-found",
    ("cannot_connect", "connection_refused"): """
        connection refused <- connection-refused|restart
    """,
    ("cannot_connect", "timeout"): "no answer in time <- no-answer.*|slow-body",
    ("cannot_connect", "invalid_certificate"): """
        certificate not valid: certificate has expired <- tls-expired
        certificate not valid: self-signed certificate <- tls-self-signed
        certificate not valid: ip address mismatch <- tls-other-host
    """,
    ("cannot_connect", "cannot_connect"): """
        connection reset by peer <- reset-before-headers
        connection lost <- close-before-.*|reset-.*-body|length-too-long|gzip-broken
        no valid HTTP <- length-too-short|not-http|headers-too-long
    """,
    ("invalid_response", "invalid_response"): """
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
    ("service_unavailable", "cannot_connect"): "status {} <- status-(408|429.*|5..)",
    ("redirected", "redirected"): "status {} <- redirect-.*",
    ("unauthorized", "invalid_auth"): " <- status-401.*|status-400-sign-in",
}
"""Log messages, by the key of their text and the key of the error in the sign-in form.

Each line has the error (`{}` is the HTTP status) and a pattern of faults.
"""
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


class Outcome(StrEnum):
    """The state of an account during a fault."""

    AVAILABLE = "available"
    TRIED_AGAIN = "tried again"
    UNAVAILABLE = "unavailable"
    SIGN_IN = "a new sign-in"


class Message(NamedTuple):
    """The reason of a failed poll or sign-in: the key of the log's text, the form's error, the error in the text."""

    key: str
    form_error: str
    error: str

    @property
    def text(self) -> str:
        """The text in the log and on the page of the integration."""
        text = str(_TEXTS["exceptions"][self.key]["message"])
        return text.format(error=self.error).removesuffix(".")

    @property
    def form_text(self) -> str:
        """The start of the error's text in the sign-in form, up to a period, colon or parenthesis."""
        text = _TEXTS["config"]["error"][self.form_error]
        return re.split(r"[.(:]", text)[0].strip()


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


def _message(name: str) -> Message | None:
    """Return the message whose pattern matches this fault, or None if the poll succeeds."""
    status = re.findall(r"\d{3}|$", name)[0]
    for keys, table in _MESSAGES.items():
        for line in table.splitlines():
            error, _, faults = line.partition("<-")
            if re.fullmatch(faults.strip(), name):
                return Message(*keys, error.strip().format(status))
    return None


def _decided(name: str) -> Decided:
    message, then = _message(name), None
    if message and message.key == "unauthorized":
        then = Outcome.AVAILABLE if name.endswith("-once") else Outcome.SIGN_IN
    changes = {it for it, names in _CHANGES.items() if re.fullmatch(names, name)}
    numbers = (it for it, names in _REQUESTS.items() if re.fullmatch(names, name))
    return Decided(message, changes, next(numbers, 1), _NEXT_POLL.get(name, 60), then)


DECIDED = {name: _decided(name) for name in TROUBLES}


class DecidedPlace(NamedTuple):
    """The effects that a fault should have if only the requests for positions fail."""

    is_kept: bool
    """Whether a moved bike keeps its old place, and the log reports the failure."""
    has_time: bool
    """Whether the time of the position is known."""
    asked_again: int | None
    """Seconds until the request is repeated. None if it is not repeated before the next report."""
    requests: int


def _place(name: str, decided: Decided) -> DecidedPlace:
    if decided.message is not None or name.startswith("number-"):
        return DecidedPlace(True, True, decided.next_poll, decided.requests)
    if any(key == "last_update" for key, _ in decided.changes):
        # The position is then requested for its device alone. That answer has the same fault.
        return DecidedPlace(False, name == "time-future", 60, 2)
    return DecidedPlace(False, True, None, 1)


DECIDED_PLACES = {
    name: _place(name, DECIDED[name])
    for name, fault in FAULTS.items()
    # `restart` stops the whole server. `invalid-utf8` is in a name, which positions lack.
    if name not in {"restart", "invalid-utf8"}
    if fault.respond is not None and "positions" in fault.endpoints
}
"""The effects of the faults that can affect the requests for positions alone."""
