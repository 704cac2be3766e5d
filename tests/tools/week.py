"""Count the lines in Activity, rows in the recorder's database and written bytes of a week of rides.

tests/test_week.py uses this module.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.logbook.processor import EventProcessor
from homeassistant.components.recorder import get_instance
from homeassistant.components.recorder.db_schema import States, StatesMeta
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.recorder import session_scope
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)
from sqlalchemy import select

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database import File
from tests.tools.settle import settle

from .rides.trackers import Report, Tracker, reports
from .rides.trips import Journey
from .simulator import Simulator
from .tables import as_markdown

_TRACKERS = (
    Tracker("sleeps", 10, repeats=3_600),
    Tracker("stays awake", 10, parked=300),
)
"""Two kinds of trackers, which bikes get alternately.

While parked, the first kind only repeats its last fix each hour, and the second kind
reports every five minutes.
"""
_OWN_ROWS = "address last_update ride ride_distance ride_duration speed total_distance"
_NAMES = {"": "device tracker (map)", "motion": "*Moving*"} | {
    kind: f"*{kind.replace('_', ' ').capitalize()}*" for kind in _OWN_ROWS.split()
}
"""Names of the entities that have a row of their own in the table, by kind."""


def _named(kinds: Counter[str]) -> Counter[str]:
    named = Counter[str]()
    for kind, number in kinds.items():
        named[_NAMES.get(kind, "remaining entities")] += number
    return named


class Week:
    """Lets bikes ride in a Home Assistant with its recorder. Counts lines and rows by kind of entity."""

    def __init__(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        simulator: Simulator,
        journeys: Mapping[str, Journey],
        end: datetime,
    ) -> None:
        """Prepare the reports of these journeys, by `uniqueId` of the bikes, from now until `end`."""
        self._hass, self._freezer, self._simulator = hass, freezer, simulator
        self._begin, self._end = datetime.now(UTC), end
        self._trips = [(bike, it) for bike in journeys for it in journeys[bike].trips]
        self._hours = {
            (bike, hour)
            for bike, trip in self._trips
            for hour in range(_hour(trip.starts_at), _hour(trip.ends_at) + 1)
        }
        """Pairs of a bike and an hour of the clock in which that bike rides."""
        coming = [
            (bike, report)
            for number, (bike, journey) in enumerate(journeys.items())
            for report in reports(
                _TRACKERS[number % 2], journey, self._begin, end, number
            )
            if report.comes_at < end
        ]
        self.reports = sorted(coming, key=lambda it: it[1].comes_at)
        self.lines = Counter[str]()
        """Number of lines in Activity, by kind of entity."""
        self.lines_an_hour = 0.0
        """Average number of lines per bike and hour in which that bike rides."""
        self.rows = Counter[str]()
        """Number of states in the recorder's database, by kind of entity."""
        self.written = 0
        """Number of bytes that were written to Bike Tracker's files."""

    async def run(self, entry: MockConfigEntry) -> None:
        """Set the account up, let the bikes report until the end, and count lines, rows and bytes."""
        open_file, run = self._counted(File.open), self._counted(File.run)
        with patch.multiple(File, open=open_file, run=run):
            await self._hass.config_entries.async_setup(entry.entry_id)
            await settle(self._hass)
            for bike, report in self.reports:
                await self._wait_until(report.comes_at)
                self._report(bike, report)
                await settle(self._hass)
            await self._wait_until(self._end)
        recorder = get_instance(self._hass)
        await recorder.async_block_till_done()
        await recorder.async_add_executor_job(self._count_rows_and_lines)

    def tables(self) -> list[str]:
        """Return the tables of docs/week.md: totals, and rows and lines by entity."""
        kilometers = sum(trip.kilometers for _, trip in self._trips)
        numbers = f"{len(self._trips)}; {kilometers:.0f}; {len(self.reports):,}"
        totals = (
            ("Rides; kilometers; reports", numbers),
            (
                "Lines in **Activity** per bike and hour with a ride",
                f"{self.lines_an_hour:.1f}",
            ),
            ("Rows in the database", f"{self.rows.total():,}"),
            ("*Written* to Bike Tracker's own files", f"{self.written / 1e6:.1f} MB"),
        )
        rows, lines = _named(self.rows), _named(self.lines)
        by_kind = (
            (name, f"{number:,}", f"{lines[name]:,}")
            for name, number in rows.most_common()
        )
        return [
            as_markdown(("In the week", "Number"), totals),
            as_markdown(("Entity", "Rows", "Lines in **Activity**"), by_kind),
        ]

    def _report(self, bike: str, report: Report) -> None:
        position, (latitude, longitude) = report.position, report.point
        total = (position.total_distance or 0) * 1_000
        self._simulator.report(
            bike,
            latitude=latitude,
            longitude=longitude,
            accuracy=position.accuracy,
            speed=(position.speed or 0) / 1.852,
            fix_time=report.fix_time,
            # Each place has an address of its own.
            address=f"{latitude:.4f}, {longitude:.4f}",
            attributes={"motion": position.motion, "totalDistance": total},
            battery_level=80,
        )

    async def _wait_until(self, when: datetime) -> None:
        """Move the clock to a time, in steps of at most a minute, so that all polls run."""
        while (left := when - datetime.now(UTC)) > timedelta():
            self._freezer.tick(min(left, timedelta(minutes=1)))
            async_fire_time_changed(self._hass)
            await settle(self._hass)

    def _count_rows_and_lines(self) -> None:
        entities = {
            entity.entity_id: entity.unique_id.partition("_")[::2]
            for entity in er.async_get(self._hass).entities.values()
            if entity.platform == DOMAIN
        }
        activity = EventProcessor(self._hass, (EVENT_CALL_SERVICE,))
        for line in activity.get_events(self._begin, self._end):
            if line["entity_id"] in entities:
                bike, kind = entities[line["entity_id"]]
                hour = _hour(datetime.fromisoformat(line["when"]))
                self.lines[kind] += 1
                self.lines_an_hour += ((bike, hour) in self._hours) / len(self._hours)
        states = select(StatesMeta.entity_id).join(
            States, States.metadata_id == StatesMeta.metadata_id
        )
        with session_scope(hass=self._hass, read_only=True) as session:
            for entity_id in session.scalars(states):
                if entity_id in entities:
                    self.rows[entities[entity_id][1]] += 1

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls this method of the database, and counts the bytes that the method writes."""

        def call(*args: Any) -> Any:
            before = _bytes_of_thread()
            result = method(*args)
            self.written += _bytes_of_thread() - before
            return result

        return call


def _bytes_of_thread() -> int:
    """Return how many bytes this thread has written, according to the operating system."""
    lines = Path("/proc/thread-self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])


def _hour(time: datetime) -> int:
    """Return the number of whole hours from the beginning of 1970 (UTC) to this time."""
    return int(time.timestamp()) // 3_600
