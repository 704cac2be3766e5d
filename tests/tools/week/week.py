"""Five bikes that are ridden as people ride, in a Home Assistant with its recorder."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from heapq import merge
from pathlib import Path
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.logbook.processor import EventProcessor
from homeassistant.components.recorder import get_instance
from homeassistant.components.recorder.db_schema import States, StatesMeta
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.recorder import session_scope
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)
from sqlalchemy import func, select

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.database import File
from custom_components.bike_tracker.sensor import DESCRIPTIONS
from custom_components.bike_tracker.tracking.state import Tracker as BikeTracker
from tests.settle import settle
from tests.tools.rides.plan import BEGIN, a_journey
from tests.tools.rides.trackers import Report, Tracker, reports
from tests.tools.rides.trips import Journey
from tests.tools.simulator import Simulator

from .found import Found

MIDNIGHT = datetime.combine(BEGIN, time(), UTC)
TRACKERS = (
    Tracker("sleeps", 10, repeats=3_600),
    Tracker("stays awake", 10, parked=300),
)
"""Rhythms, of which every second bike has the same."""

_HOUR = timedelta(hours=1)
_POLL = timedelta(minutes=1)

_WITHOUT_STEPS: dict[str, Callable[[BikeTracker], object]] = {
    "last_update": lambda tracker: tracker.device.last_update,
    "ride_distance": lambda tracker: tracker.ride and tracker.ride.distance,
    "ride_duration": lambda tracker: tracker.ride and tracker.ride.duration,
    "total_distance": lambda tracker: tracker.total_distance,
}
"""What sensors would show that show it only in steps."""

type Entities = dict[str, tuple[str, str]]
"""Bike and kind of each entity, by its ID."""


class _Values:
    """Counts how often what each sensor tells is another."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Begin with what is known now."""
        self.changes = Counter[str]()
        self._coordinator = coordinator
        self._values: dict[tuple[str, str], object] = {}
        coordinator.async_add_listener(self._count)
        self._count()

    @callback
    def _count(self) -> None:
        for bike, tracker in self._coordinator.data.trackers.items():
            for sensor in DESCRIPTIONS:
                value = _WITHOUT_STEPS.get(sensor.key, sensor.value_fn)(tracker)
                if self._values.get((bike, sensor.key)) != value:
                    self._values[bike, sensor.key] = value
                    self.changes[sensor.key] += sensor.entity_registry_enabled_default


@dataclass
class Week:
    """Lets bikes be ridden from one time to another."""

    simulator: Simulator
    begin: datetime
    end: datetime
    bikes: int
    journeys: dict[str, Journey] = field(default_factory=dict)

    def add_bikes(self, email: str) -> None:
        """Give an account bikes that stand at home."""
        days = (self.end - MIDNIGHT).days + 1
        for number in range(1, self.bikes + 1):
            bike = f"86000000000010{number}"
            self.journeys[bike] = Journey(
                [
                    trip
                    for trip in a_journey(number, days).trips
                    if self.begin < trip.starts_at < self.end
                ]
            )
            self.simulator.add_device(bike, name=f"Bike {number}", email=email)

    async def run(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        entry: MockConfigEntry,
    ) -> Found:
        """Live until then, and read what is left."""
        with _writes() as written:
            return await self._run(hass, freezer, entry, written)

    async def _run(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        entry: MockConfigEntry,
        written: Counter[str],
    ) -> Found:
        await hass.config_entries.async_setup(entry.entry_id)
        await settle(hass)
        values = _Values(entry.runtime_data.coordinator)
        said = list(self._said())
        for bike, report in said:
            await _wait_until(hass, freezer, report.comes_at)
            self._report(bike, report)
            await settle(hass)
        await _wait_until(hass, freezer, self.end)
        recorder = get_instance(hass)
        await recorder.async_block_till_done()
        hours = self._hours()
        trips = [trip for journey in self.journeys.values() for trip in journey.trips]
        lines, ridden = await recorder.async_add_executor_job(self._lines, hass)
        return Found(
            days=(self.end - self.begin) / timedelta(days=1),
            rides=len(trips),
            kilometres=sum(trip.kilometres for trip in trips),
            reports=len(said),
            reports_ridden=sum(
                (bike, _hour(report.comes_at)) in hours for bike, report in said
            ),
            hours=len(hours),
            lines=lines,
            lines_ridden=ridden,
            rows=await recorder.async_add_executor_job(_rows, hass),
            values=values.changes,
            written=written,
        )

    def _said(self) -> Iterator[tuple[str, Report]]:
        """Yield what trackers report, in the order in which it comes."""
        bikes = enumerate(self.journeys.items())
        return merge(
            *(
                [
                    (bike, report)
                    for report in reports(
                        TRACKERS[number % 2], journey, self.begin, self.end, number
                    )
                    if report.comes_at < self.end
                ]
                for number, (bike, journey) in bikes
            ),
            key=lambda said: said[1].comes_at,
        )

    def _report(self, bike: str, report: Report) -> None:
        position = report.position
        self.simulator.report(
            bike,
            latitude=position.latitude,
            longitude=position.longitude,
            accuracy=position.accuracy,
            speed=(position.speed or 0) / 1.852,
            fix_time=position.fix_time,
            address=_address(position.latitude, position.longitude),
            attributes={
                "batteryLevel": 80,
                "motion": position.motion,
                "totalDistance": (position.total_distance or 0) * 1_000,
            },
        )

    def _hours(self) -> set[tuple[str, datetime]]:
        """Return in which hours of the clock which bikes were ridden."""
        hours = set()
        for bike, journey in self.journeys.items():
            for trip in journey.trips:
                hour = _hour(trip.starts_at)
                while hour < trip.ends_at:
                    hours.add((bike, hour))
                    hour += _HOUR
        return hours

    def _lines(self, hass: HomeAssistant) -> tuple[Counter[str], Counter[str]]:
        """Return the lines in Activity, and those of bikes in hours in which they were ridden."""
        entities, hours = _entities(hass), self._hours()
        lines, ridden = Counter[str](), Counter[str]()
        activity = EventProcessor(hass, (EVENT_CALL_SERVICE,))
        for line in activity.get_events(self.begin, self.end):
            if line["entity_id"] in entities:
                bike, kind = entities[line["entity_id"]]
                when = datetime.fromisoformat(line["when"])
                lines[kind] += 1
                ridden[kind] += (bike, _hour(when)) in hours
        return lines, ridden


def _address(latitude: float | None, longitude: float | None) -> str:
    """Return an address as services have them: each house has its own."""
    return f"{latitude:.4f}, {longitude:.4f}"


@contextmanager
def _writes() -> Iterator[Counter[str]]:
    """Count the bytes that the database writes by day, as the system counts them."""
    written = Counter[str]()

    def counted(name: str) -> Callable[..., Any]:
        method = getattr(File, name)

        def call(*args: Any) -> Any:
            before = _bytes_of_thread()
            try:
                return method(*args)
            finally:
                day = f"{datetime.now(UTC):%F}"
                written[day] += _bytes_of_thread() - before

        return call

    with ExitStack() as stack:
        for name in ("open", "run", "close"):
            stack.enter_context(patch.object(File, name, counted(name)))
        yield written


def _bytes_of_thread() -> int:
    """Return the bytes that this thread has written."""
    lines = Path("/proc/thread-self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])


def _rows(hass: HomeAssistant) -> Counter[str]:
    entities, rows = _entities(hass), Counter[str]()
    states = (
        select(StatesMeta.entity_id, func.count())
        .join(States, States.metadata_id == StatesMeta.metadata_id)
        .group_by(StatesMeta.entity_id)
    )
    with session_scope(hass=hass, read_only=True) as session:
        for entity_id, number in session.execute(states):
            if entity_id in entities:
                rows[entities[entity_id][1]] += number
    return rows


def _entities(hass: HomeAssistant) -> Entities:
    """Return the entities of the integration."""
    entities: Entities = {}
    for entity in er.async_get(hass).entities.values():
        if entity.platform == DOMAIN:
            bike, _, kind = entity.unique_id.partition("_")
            entities[entity.entity_id] = bike, kind
    return entities


def _hour(time: datetime) -> datetime:
    return time.replace(minute=0, second=0, microsecond=0)


async def _wait_until(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, when: datetime
) -> None:
    """Let time pass, with all polls."""
    while (left := when - datetime.now(UTC)) > timedelta():
        freezer.tick(min(left, _POLL))
        async_fire_time_changed(hass)
        await settle(hass)
