"""docs/faults.md and its picture: what faults do, in short; and data/faults*.csv: each of them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.tools.simulator import LIVE_FAULTS
from tests.tools.tables import DATA, DOCS, as_csv, as_markdown

from . import measured
from .chart import draw
from .decided import (
    DECIDED,
    DECIDED_PLACES,
    SOMETHING_ELSE,
    Decided,
    DecidedPlace,
    Outcome,
    Place,
)
from .right_again import COLUMNS, LIVE_COLUMNS, durations, longest_live, summary
from .trouble import TROUBLES

PAGE = DOCS / "faults.md"
PICTURE = DOCS / "images" / "faults.svg"
LIST, POSITIONS, LIVE = (
    DATA / f"faults-{name}.csv" for name in ("list", "positions", "live")
)

_INTRODUCTION = """\
# When the service fails

What Home Assistant shows while the service fails, and when it is over. The tests let it fail in {faults} ways over real sockets, at
set-up and while running. `.venv/test/bin/python -m tests.tools.faults` measures how long each takes, and writes this page and its
tables: [the list of trackers](data/faults-list.csv), [the positions](data/faults-positions.csv) and [the live
connection](data/faults-live.csv), one line for each fault.

Whatever it is:

- Entities, devices, names and areas stay as they were. The first good answer brings everything back under the same entity IDs.
- Trackers are unavailable only while nothing can be known of them; the guard and the calendar are there also then. The log has one
  line when that begins, which says why, and one when it ends. There is no traceback.
- After a failed poll the next ones come after 1, 2, 4 and then every 5 minutes, at times a little earlier and never later, or
  when the server asks for it (Retry-After, between 1 minute and 1 hour). After a good one they come every minute again.
- If the server refuses a sign-in, Bike Tracker tries again after a minute. If the server refuses it again, Home Assistant asks
  the person, and Bike Tracker tries every 5 minutes for an hour, then every hour: a password that is really wrong must not
  lock an account. Once it works again, Home Assistant no longer asks.
- At set-up Home Assistant tries again by itself, after 5 seconds at first, at last every 10 minutes. A sign-in that is refused
  there asks the person at once.
- A poll is one request, or two with news; beside it there is at most one a minute, for the history or an old position.
- An answer may take 30 seconds and 8 MiB, decompressed. Bike Tracker gives up on a larger one before it takes 24 MiB of
  memory.
"""

_PICTURE = """\
![How long it took until all was right again, for each part of the service and each duration](images/faults.svg)

Each circle is as large as the number of faults after which it took that long.
"""

_LIST = """\
## The list of trackers

The faults that do the same, together:
"""

_POSITIONS = """\
## The positions

The documented service has none; servers like Traccar do. Here the list of trackers works and the bikes move, while the call
for their positions fails. That never makes a tracker unavailable, never asks anybody to sign in, and never loses a known
place. Once a service had positions, each answer without them is a failure that passes, whatever it says: Bike Tracker asks
again after the same waits as for the list.
"""

_LIVE = """\
## The live connection

Servers like Traccar also push news. Here the lists of trackers and of positions work, and the live connection fails in {faults} ways.
**News is then never older than a minute, as with polls alone**, which was measured with each fault for a minute and for an
hour. No tracker is unavailable, nobody is asked to sign in, and the log has no line about it for ten minutes. Bike Tracker
tries again after 5 seconds, then 1, 2, 4, 5 and every 15 minutes; if it never worked, after an hour, then daily. So news came live
again {minute} after a fault of a minute at the latest, and {hour} after one of an hour, from the worst moment on: just after it was
tried in vain.
"""

_LIST_HEAD = (
    "Fault",
    "What goes wrong",
    "At set-up",
    "While running",
    "Why, in the log",
    "Requests",
    "Next poll",
    *COLUMNS,
)
_POSITIONS_HEAD = (
    "Fault",
    "Known place",
    "Time of the position",
    "Requests",
    "Asked again",
    *COLUMNS,
)
_LIVE_HEAD = ("Fault", "What goes wrong", *LIVE_COLUMNS)
_EXAMPLES = 3


def write() -> None:
    """Write the page, its picture and its tables."""
    PAGE.write_text(page())
    PICTURE.write_text(draw(measured.read()))
    LIST.parent.mkdir(exist_ok=True)
    for path, text in tables().items():
        path.write_text(text)


def page() -> str:
    """Return the whole page."""
    minute, hour = longest_live()
    live = _LIVE.format(faults=len(LIVE_FAULTS), minute=minute, hour=hour)
    return "\n".join(
        [
            _INTRODUCTION.format(faults=len(TROUBLES) + len(LIVE_FAULTS)),
            summary(),
            _PICTURE,
            _LIST,
            as_markdown(
                ("Faults", "Such as", "At set-up", "While running", "Next poll"),
                _outcomes(),
            ),
            _POSITIONS,
            as_markdown(("Faults", "Known place", "Asked again"), _places()),
            live,
            f"Measured at commit `{measured.commit()}`.\n",
        ]
    )


def tables() -> dict[Path, str]:
    """Return what is in each of the tables, as CSV."""
    return {
        LIST: as_csv(_LIST_HEAD, (_row(name, DECIDED[name]) for name in TROUBLES)),
        POSITIONS: as_csv(
            _POSITIONS_HEAD,
            (
                _place_row(name, DECIDED_PLACES[name])
                for name in TROUBLES
                if name in DECIDED_PLACES
            ),
        ),
        LIVE: as_csv(
            _LIVE_HEAD,
            (
                [name, fault.description, *durations("live", name)]
                for name, fault in LIVE_FAULTS.items()
            ),
        ),
    }


def _outcomes() -> Iterator[list[str]]:
    """Yield how many faults end in the same way, with some of them."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, decided in DECIDED.items():
        _fault, _what, at_setup, running, *_rest = _row(name, decided)
        key = (
            at_setup.partition(",")[0],
            running if decided.told else _kind(decided),
            _time(decided.next_poll),
        )
        groups.setdefault(key, []).append(TROUBLES[name].description)
    for (at_setup, running, next_poll), faults in sorted(
        groups.items(), key=lambda group: -len(group[1])
    ):
        # From all over the group: neighbours are alike.
        examples = faults[:: -(-len(faults) // _EXAMPLES)]
        text = "; ".join(map(_escaped, examples))
        yield [str(len(faults)), text, at_setup, running, next_poll]


def _kind(decided: Decided) -> str:
    if not decided.changes:
        return "as ever"
    return "the field is unknown, or shown as sent; all else as ever"


def _places() -> Iterator[list[str]]:
    found = Counter(
        (decided.place.value, _asked_again(decided))
        for decided in DECIDED_PLACES.values()
    )
    for (place, again), faults in found.most_common():
        yield [str(faults), place, again]


def _row(name: str, decided: Decided) -> list[str]:
    return [
        name,
        TROUBLES[name].description,
        _outcome(decided, decided.at_setup),
        _outcome(decided, decided.while_running),
        decided.told.text if decided.told is not None else "",
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


def _place_row(name: str, decided: DecidedPlace) -> list[str]:
    return [
        name,
        decided.place.value,
        _position_time(decided),
        str(decided.requests),
        _asked_again(decided),
        *durations("positions", name),
    ]


def _asked_again(decided: DecidedPlace) -> str:
    if decided.asked_again is None:
        return "when it moves again"
    return _time(decided.asked_again)


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
