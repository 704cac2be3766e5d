"""What docs/faults.md says of how soon all is right again."""

from collections.abc import Iterator
from math import inf, isinf

from . import measured
from .cases import Case, Lasted, Path
from .measured import Measured
from .promise import PROMISED, reason

_LASTED = {
    Lasted.MINUTE: "a minute",
    Lasted.HOUR: "an hour",
    Lasted.DAY: "a day",
}

_LIVE_LASTED = (Lasted.MINUTE, Lasted.HOUR)

COLUMNS = tuple(f"Right again, after {lasted} of it" for lasted in _LASTED.values())

LIVE_COLUMNS = tuple(
    f"Live again, after {_LASTED[lasted]} of it" for lasted in _LIVE_LASTED
)

_SUMMARY = """\
## How soon all is right again

Each fault struck for a minute, an hour and a day, first the whole service, then its positions alone, while bikes moved.
It ended at the worst moment: just after the service was asked in vain. The picture and the tables say how long it then took until every
state of every tracker was what the service said, with nobody doing anything. After an outage the last 5 seconds of that are
meant: a bike comes back where it was and then moves, so that automations notice that it left.
"""


def summary() -> str:
    """Return what stands above the tables: the longest of all, and why."""
    table = {
        case: seconds
        for case, seconds in measured.read().items()
        if case.path != "live"
    }
    longest = max(_seconds(s) for case, s in table.items() if reason(case) is None)
    exceptions = list(_exceptions(table))
    rest = "but for these:\n" if exceptions else "whatever it was."
    return "\n".join(
        [
            _SUMMARY,
            f"**The longest of all is {_time(longest)}**, {rest}",
            *exceptions,
            "",
        ]
    )


def durations(path: Path, trouble: str) -> Iterator[str]:
    """Yield what is in the columns of a trouble."""
    table = measured.read()
    for lasted in _LIVE_LASTED if path == "live" else Lasted:
        yield _time(table[Case(path, trouble, lasted)])


def longest_live() -> tuple[str, ...]:
    """Return how long it took at worst until news came live again, after a minute and an hour."""
    table = measured.read()
    return tuple(
        _time(
            max(
                _seconds(seconds)
                for case, seconds in table.items()
                if (case.path, case.lasted) == ("live", lasted)
            )
        )
        for lasted in _LIVE_LASTED
    )


def _exceptions(table: Measured) -> Iterator[str]:
    for case, seconds in table.items():
        why = reason(case)
        if why is not None and _seconds(seconds) > PROMISED:
            yield (
                f"- `{case.trouble}`, {_time(seconds)} after {_LASTED[case.lasted]}: {why}."
            )


def _seconds(seconds: int | None) -> float:
    return inf if seconds is None else seconds


def _time(seconds: float | None) -> str:
    if seconds is None or isinf(seconds):
        return f"not within {measured.MOST // 3600} h"
    minutes, rest = divmod(round(seconds), 60)
    return " ".join(
        [f"{minutes} min"] * bool(minutes) + [f"{rest} s"] * bool(rest or not minutes)
    )
