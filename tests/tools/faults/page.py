"""docs/faults.md: every trouble, and what it does."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.tools.simulator import LIVE_FAULTS

from .decided import (
    DECIDED,
    DECIDED_PLACES,
    SOMETHING_ELSE,
    Decided,
    DecidedPlace,
    Outcome,
    Place,
)
from .right_again import COLUMNS, LIVE_COLUMNS, durations, summary
from .trouble import TROUBLES

PAGE = Path(__file__).parents[3] / "docs" / "faults.md"

_INTRODUCTION = """\
# When the service fails

Each way the service can fail, what Home Assistant shows meanwhile, and when it is over. The tests run all of them over real
sockets, at set-up and while running, and compare the results with this page, which
`.venv/test/bin/python -m tests.tools.faults` writes.

In every row:

- Entities, devices, names and areas stay as they were. The first good answer brings everything back under the same entity IDs.
- Trackers are unavailable only while nothing can be known of them. The log has one line when that begins, which says why, and
  one when it ends. A single field that cannot be read has its own line, once. There is no traceback.
- After a failed poll the next ones come after 1, 2, 4 and then every 5 minutes, at times a little earlier and never later, or
  when the server asks for it (Retry-After, between 1 minute and 1 hour). After a good one they come every minute again.
- If the server refuses a sign-in, Bike Tracker tries again after a minute. If the server refuses it again, Home Assistant asks
  the person, and Bike Tracker tries every 5 minutes for an hour, then every hour: a password that is really wrong must not
  lock an account. Once it works again, Home Assistant no longer asks.
- At set-up Home Assistant tries again by itself, after 5 seconds at first, then less and less often, at last every 10
  minutes, and from 2026.11 on not before the time that the server asks for. A sign-in that is refused there asks the person at
  once.
- A poll is one request, or two with news; beside it there is at most one a minute, for the history or an old position.
- Requests are those that reach the server in one poll. If a connection ends before there is an answer, the one poll asks
  twice.
- An answer may take 30 seconds and 8 MiB, decompressed. Bike Tracker gives up on a larger one before it takes 24 MiB of
  memory.
"""

_DEVICES = """\
## The list of trackers
"""

_POSITIONS = """
## The positions

The documented service has none; servers like Traccar do. Here the list of trackers works and the bikes move, while the call
for their positions fails. That never makes a tracker unavailable, never asks anybody to sign in, and never loses a known
place. Once a service had positions, each answer without them is a failure that passes, whatever it says: Bike Tracker asks
again after the same waits as for the list.
"""

_LIVE = """
## The live connection

Servers like Traccar also push news. Here the lists of trackers and of positions work, and the live connection fails.
**News is then never older than a minute, as with polls alone**, which was measured with each fault for a minute and for an
hour. No tracker is unavailable, nobody is asked to sign in, and the log has no line about it for ten minutes. Bike Tracker
tries again after 5 seconds, then 1, 2, 4, 5 and every 15 minutes; if it never worked, after an hour, then daily. The tables
say how long it took until news came live again, from the worst moment on: just after it was tried in vain.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join(
        [
            _INTRODUCTION,
            summary(),
            _DEVICES,
            *_table(
                (
                    "Fault",
                    "What goes wrong",
                    "At set-up",
                    "While running",
                    "Why, in the log",
                    "Requests",
                    "Next poll",
                    *COLUMNS,
                ),
                (_row(name, DECIDED[name]) for name in TROUBLES),
            ),
            _POSITIONS,
            *_table(
                (
                    "Fault",
                    "Known place",
                    "Time of the position",
                    "Requests",
                    "Asked again",
                    *COLUMNS,
                ),
                (
                    _place_row(name, DECIDED_PLACES[name])
                    for name in TROUBLES
                    if name in DECIDED_PLACES
                ),
            ),
            _LIVE,
            *_table(
                ("Fault", "What goes wrong", *LIVE_COLUMNS),
                (
                    [
                        f"`{name}`",
                        _escaped(fault.description),
                        *durations("live", name),
                    ]
                    for name, fault in LIVE_FAULTS.items()
                ),
            ),
            "",
        ]
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    head = list(head)
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def _row(name: str, decided: Decided) -> list[str]:
    return [
        f"`{name}`",
        _escaped(TROUBLES[name].description),
        _outcome(decided, decided.at_setup),
        _outcome(decided, decided.while_running),
        _why(decided),
        str(decided.requests),
        _time(decided.next_poll),
        *durations("devices", name),
    ]


def _outcome(decided: Decided, outcome: Outcome) -> str:
    if outcome is Outcome.AVAILABLE and decided.changes:
        changes = (
            f"{key.replace('_', ' ')} {value}" for key, value in sorted(decided.changes)
        )
        return f"{outcome}, {', '.join(changes)}"
    if outcome is Outcome.UNAVAILABLE and decided.then is Outcome.SIGN_IN:
        return f"{outcome}, at the second time {decided.then}"
    return outcome.value


def _why(decided: Decided) -> str:
    return decided.told.text if decided.told is not None else ""


def _place_row(name: str, decided: DecidedPlace) -> list[str]:
    return [
        f"`{name}`",
        decided.place.value,
        _position_time(decided),
        str(decided.requests),
        "when it moves again"
        if decided.asked_again is None
        else _time(decided.asked_again),
        *durations("positions", name),
    ]


def _position_time(decided: DecidedPlace) -> str:
    if decided.place is Place.KEPT:
        return Place.KEPT.value
    return decided.position_time or SOMETHING_ELSE


def _time(seconds: int) -> str:
    return f"after {seconds // 60} min"


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    for character in "\\`*_{}[]<>|":
        text = text.replace(character, f"\\{character}")
    return text
