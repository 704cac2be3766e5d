"""Compares a file with the events that its process had fired."""

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
import shutil
import sqlite3
from typing import Any, NamedTuple

from custom_components.bike_tracker.database.file import unpacked

from .life import Armed, Fired

type Times = tuple[datetime, datetime]


class Book(NamedTuple):
    """The content of a file."""

    states: dict[str, dict[str, Any]]
    last_fired: dict[str, int]
    rides: dict[str, list[Times]]


def read(file: Path, copy: Path) -> Book:
    """Return the content of a copy of a file and its log, after SQLite's own check."""
    for suffix in ("", "-wal", "-shm"):
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)
        if (beside := file.with_name(file.name + suffix)).exists():
            shutil.copy(beside, copy.with_name(copy.name + suffix))
    book = Book({}, {}, {})
    with closing(sqlite3.connect(copy)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            return book
        query = "SELECT unique_id, state, last_fired FROM tracker"
        for tracker, state, last_fired in database.execute(query):
            book.states[tracker] = unpacked(state)
            book.last_fired[tracker] = last_fired
        query = 'SELECT tracker, start, "end" FROM ride ORDER BY start'
        for tracker, start, end in database.execute(query):
            times = _time(start), _time(end)
            book.rides.setdefault(tracker, []).append(times)
    return book


def _time(microseconds: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=microseconds)


def _touch(one: Times, other: Times) -> bool:
    """Return whether times overlap; a ride of which only its start was known has no length."""
    return one[0] <= other[1] and other[0] <= one[1]


def doubled(book: Book) -> int:
    """Return the number of rides that begin before the ride before them ended."""
    return sum(
        second[0] < first[1]
        for rides in book.rides.values()
        for first, second in pairwise(rides)
    )


def missing(book: Book, known: Iterable[Fired | Armed]) -> Counter[str]:
    """Return the number of rides, armings, alarms and totals that a file lacks."""
    lost = Counter[str]()
    for news in known:
        state = book.states.get(news.tracker, {})
        if isinstance(news, Armed):
            guard = state.get("guard") or {}
            armed_at = datetime.fromisoformat(guard.get("armed_at", "1970-01-01T00Z"))
            lost["armings"] += armed_at < news.at - timedelta(seconds=1)
        elif news.occurrence.is_event:
            lost["occurrences"] += (
                book.last_fired.get(news.tracker, 0) < news.occurrence.seq
            )
            lost["totals"] += state.get("highest_total", 0) < news.total - 1e-6
            lost.update(_of_kind(news, state, book))
    return +lost


def _of_kind(news: Fired, state: dict[str, Any], book: Book) -> Iterable[str]:
    attributes = news.occurrence.attributes
    if news.occurrence.type == "alarm_raised":
        known = [alarm["word"] for alarm in state.get("alarms", ())]
        if attributes["alarm"] not in known:
            yield "alarms"
    if news.occurrence.type == "ride_ended":
        times = _times(attributes["started_at"], attributes["ended_at"])
        # After a restart the history may tell when a ride really was.
        for it in state.get("announced", ()):
            if _touch(times, announced := _times(it["start"], it["end"])):
                times = min(times[0], announced[0]), max(times[1], announced[1])
        if not any(_touch(times, ride) for ride in book.rides.get(news.tracker, ())):
            yield "rides"


def _times(start: str, end: str) -> Times:
    return datetime.fromisoformat(start), datetime.fromisoformat(end)
