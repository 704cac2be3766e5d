"""Flags: whether a tracker is online, whether it moves, and when this changed. The first value is not a change."""

import pytest

from custom_components.bike_tracker.tracking import Account
from custom_components.bike_tracker.tracking.history import UpdateContext
from custom_components.bike_tracker.tracking.state import Flag, TrackerState

from .conftest import a_device, a_position
from .house import minute_of, minutes, rows

# Left of the arrow: status and motion for each minute. Right of it: the flags, each with
# the minute from which on it had this value, and the changes that are fired.
TABLE = """
The first value is known from then on.
  online stands -> online 0, stands 0
  offline moves -> offline 0, moves 0
A change has the time of the value before.
  online moves, offline stands -> offline 1, stands 1, stopped_moving 1 after 0, went_offline 1 after 0
  online, offline, offline, online -> online 3, went_offline 1 after 0, came_online 3 after 1
  online stands, online stands, online moves -> online 0, moves 2, started_moving 2 after 0
A status that is neither online nor offline counts as offline.
  online, unknown, unknown -> offline 1, went_offline 1 after 0
An unreadable status and a message without motion change nothing.
  offline, none, offline -> offline 0
  online, none, online -> online 0
  online stands, online, online stands -> online 0, stands 0
"""
_MOTION = {"": None, "moves": True, "stands": False}


def _described(state: TrackerState) -> str:
    parts = list[str]()
    names = ("online", "offline"), ("moves", "stands")
    for flag, (yes, no) in zip((state.online, state.moving), names, strict=True):
        if flag:
            parts.append(f"{yes if flag.value else no} {minute_of(flag.changed_at)}")
    for it in state.occurrences:
        before = minute_of(it.before) if it.before else "nothing"
        parts.append(f"{it.type} {minute_of(it.since)} after {before}")
    return ", ".join(parts)


def _says(account: Account, minute: int, says: str) -> None:
    status, _, motion = says.partition(" ")
    device = a_device(status=None if status == "none" else status, position_id=minute)
    report = a_position(minute, fix_time=minutes(minute), motion=_MOTION[motion])
    [_] = account.apply_poll(
        {"red": device}, {"red": report}, UpdateContext(minutes(minute))
    )


@pytest.mark.parametrize(("script", "expected"), rows(TABLE))
def test_flags(script: str, expected: str) -> None:
    """Each change of a flag is fired as an occurrence with its time."""
    account = Account("Bikes", {})
    for minute, says in enumerate(script.split(", ")):
        _says(account, minute, says)
    assert _described(account.states["red"]) == expected


def test_stored_flags_go_on() -> None:
    """After a restart, a value that is the same as before is not a change."""
    state = TrackerState(
        online=Flag(False, minutes(-9)), moving=Flag(False, minutes(-8))
    )
    account = Account("Bikes", {"red": state})
    _says(account, 0, "offline moves")
    expected = "offline -9, moves 0, started_moving 0 after -8"
    assert _described(account.states["red"]) == expected
