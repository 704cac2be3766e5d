"""Rides as the service's own history tells them: exact, each once, whatever came between."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.calendar.const import DATA_COMPONENT
from homeassistant.const import Platform
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker.const import DOMAIN

from .conftest import EMAIL, RED
from .tools.simulator import Simulator
from .tools.simulator.streets import METRES_PER_DEGREE
from .tools.story.home import Home
from .tools.story.told import Told

RIDE = ["started", "ended"]
MINUTE = 60
HOUR = 60 * MINUTE
EVERY = 10
STANDS = 6 * MINUTE
"""Seconds after which a ride begins with its first report, not with the one before."""
METRES_A_SECOND = 5.0
_KNOT = 0.514444
# What a ride may be off: the goals of its times and its distance.
SECONDS = 15
PER_CENT = 6


class Trip(NamedTuple):
    """A ride as it was."""

    start: datetime
    end: datetime
    kilometres: float


@dataclass
class Rider:
    """Rides the red bike, which reports every ten seconds under way."""

    home: Home
    trackers: tuple[str, ...] = (RED,)
    """That one's, and those of bikes that are beside it all the way."""
    rides: list[Trip] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)
    """What the sensor of the total distance showed."""
    _metres: float = 0
    _ridden: float = 0

    async def ride(
        self,
        reports: int = 60,
        *,
        back_after: int | None = None,
        stood_for: float = STANDS,
        dead_zone: range = range(0),
        **late: bool,
    ) -> None:
        """Ride north, or back again after so many reports, and arrive.

        Reports of a dead zone come after that.
        """
        await self._wait(stood_for)
        start, before = dt_util.utcnow(), self._ridden
        kept: list[tuple[datetime, float, float]] = []
        for number in range(reports):
            await self._wait(EVERY)
            way = METRES_A_SECOND * EVERY
            is_back = back_after is not None and number >= back_after
            self._metres += -way if is_back else way
            self._ridden += way
            if number in dead_zone:
                kept.append((dt_util.utcnow(), self._metres, self._ridden))
            else:
                self.report(moves=number < reports - 1)
        for time, metres, ridden in reversed(kept):
            self.report(True, metres, ridden, fix_time=time, device_time=time, **late)
        ridden = (self._ridden - before) / 1_000
        self.rides.append(Trip(start, dt_util.utcnow(), ridden))

    async def rest(self, minutes: int = 8) -> None:
        """Stand, and say so each minute."""
        for _ in range(minutes):
            await self._wait(MINUTE)
            self.report(moves=False)
        await self._wait(1)

    async def ride_and_rest(self, reports: int = 60) -> None:
        """Ride, and stand for long enough."""
        await self.ride(reports)
        await self.rest()

    def report(
        self,
        moves: bool,
        metres: float | None = None,
        ridden: float | None = None,
        **more: Any,
    ) -> None:
        """Say where the bike is, or was."""
        metres = self._metres if metres is None else metres
        ridden = self._ridden if ridden is None else ridden
        for tracker in self.trackers:
            self.home.simulator.report(
                tracker,
                latitude=47.9 + metres / METRES_PER_DEGREE,
                accuracy=5.0,
                speed=METRES_A_SECOND / _KNOT if moves else 0.0,
                attributes={"motion": moves, "totalDistance": ridden},
                **more,
            )

    async def _wait(self, seconds: float) -> None:
        await self.home.async_wait(seconds)
        if self.home.is_running and (total := self._total()) is not None:
            self.totals.append(total)

    def _total(self) -> float | None:
        hass = self.home.hass
        entity_id = er.async_get(hass).async_get_entity_id(
            Platform.SENSOR, DOMAIN, f"{RED}_total_distance"
        )
        state = entity_id and hass.states.get(entity_id)
        try:
            return float(state.state) if state else None
        except ValueError:
            return None

    def told(self) -> list[Told]:
        """Return what was told of rides, by entity and triggers alike."""
        return self.home.listener.alike(RED, *RIDE)

    async def booked(self) -> list[dict[str, Any]]:
        """Return the rides in the book; there are as many in the calendar."""
        hass, now = self.home.hass, dt_util.utcnow()
        entities = er.async_get(hass)
        entity_id = entities.async_get_entity_id("calendar", DOMAIN, f"{RED}_rides")
        times = {"start_date_time": now - timedelta(days=7), "end_date_time": now}
        answers = [
            await hass.services.async_call(
                domain,
                action,
                {"entity_id": entity_id, **times},
                blocking=True,
                return_response=True,
            )
            for domain, action in ((DOMAIN, "get_rides"), ("calendar", "get_events"))
        ]
        rides: Any = answers[0] and answers[0]["rides"]
        events: Any = answers[1] and answers[1][str(entity_id)]
        assert len(events["events"]) == len(rides)
        return list(rides)

    def open_calendar(self) -> list[Any]:
        """Return a list that grows with what a calendar shows that somebody looks at."""
        calendar = self.home.hass.data[DATA_COMPONENT].get_entity(
            "calendar.red_bike_rides"
        )
        assert calendar is not None
        shown: list[Any] = []
        now, week = dt_util.utcnow(), timedelta(days=7)
        calendar.async_subscribe_events(now - week, now + week, shown.append)
        return shown

    async def check(self) -> None:
        """Hold what was fired, the book and the total distance against the truth."""
        assert [told.what for told in self.told()] == RIDE * len(self.rides)
        _are_exact(self.rides, await self.booked())
        assert all(before <= after for before, after in pairwise(self.totals))
        ridden = sum(ride.kilometres for ride in self.rides)
        assert self._total() == pytest.approx(ridden, rel=PER_CENT / 100)

    def asked(self) -> int:
        """Return how often the history was asked for."""
        return sum("deviceId" in item.query for item in self.home.simulator.requests)


def _are_exact(rides: list[Trip], known: list[dict[str, Any]]) -> None:
    assert len(known) == len(rides)
    for ride, item in zip(rides, known, strict=True):
        for true, key in ((ride.start, "started_at"), (ride.end, "ended_at")):
            time: Any = item[key]
            time = dt_util.parse_datetime(time) if isinstance(time, str) else time
            assert abs((time - true).total_seconds()) <= SECONDS, key
        assert item["distance"] == pytest.approx(ride.kilometres, rel=PER_CENT / 100)


@pytest.fixture
async def rider(
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    hass_storage: dict[str, Any],
    hass_tmp_config_dir: str,
) -> AsyncIterator[Rider]:
    """Return who rides the red bike of a home that polls."""
    home = Home(freezer, simulator, hass_storage, hass_tmp_config_dir)
    rider = Rider(home)
    rider.report(moves=False)
    await home.async_move_in(EMAIL)
    yield rider
    if home.is_running:
        await home.async_stop()


async def test_ride_of_which_polls_see_a_report_a_minute(rider: Rider) -> None:
    """It is fired once when it starts and once when it is over, and booked as it was."""
    await rider.ride_and_rest()
    assert rider.asked() == 1
    await rider.check()
    await rider.rest(30)
    await rider.check()
    assert rider.asked() == 1


async def test_ride_back_to_the_same_place_between_two_polls(rider: Rider) -> None:
    """It is told although no poll saw the bike elsewhere."""
    await rider.home.async_wait(STANDS)
    record = rider.home.simulator.record
    polls = record.counts["/api/devices"]
    while record.counts["/api/devices"] == polls:
        await rider.home.async_wait(1)
    await rider.ride(4, back_after=2, stood_for=0)
    await rider.rest()
    await rider.check()


@pytest.mark.parametrize("how", ["outage", "reload", "restart", "kill"])
async def test_rides_while_nothing_was_heard(rider: Rider, how: str) -> None:
    """They are fired afterwards, with times of their own."""
    home = rider.home
    await rider.ride_and_rest()
    # What was told within ten seconds of a kill may be told again.
    await rider.rest(1)
    if how == "outage":
        home.simulator.fault("status-503")
    elif how == "reload":
        entry_id = home.entry(EMAIL).entry_id
        await home.hass.config_entries.async_unload(entry_id)
    elif how == "restart":
        await home.async_stop()
    else:
        await home.async_kill()
    await rider.ride_and_rest(30)
    await rider.ride_and_rest(90)
    await home.async_wait(HOUR)
    if how == "outage":
        home.simulator.fault(None)
    elif how == "reload":
        await home.hass.config_entries.async_setup(home.entry(EMAIL).entry_id)
    else:
        await home.async_start()
    await home.async_wait(6 * MINUTE)
    await rider.check()
    await rider.ride_and_rest()
    await rider.check()


async def test_ride_before_all_that_is_asked_for(rider: Rider) -> None:
    """It is told when it was, as far as its last report tells it; its way counts once."""
    home = rider.home
    await rider.ride_and_rest()
    await home.async_stop()
    await home.async_skip(24 * HOUR)
    await rider.ride()
    rider.report(moves=True)
    await home.async_skip(8 * 24 * HOUR)
    await home.async_start()
    await home.async_wait(HOUR)
    await rider.rest()
    assert [told.what for told in rider.told()] == RIDE * 2
    arrived = rider.rides[-1].end
    assert abs(rider.told()[-1].started_at - arrived) < timedelta(seconds=1)
    ridden = sum(ride.kilometres for ride in rider.rides)
    assert rider.totals[-1] == pytest.approx(ridden, rel=PER_CENT / 100)


@pytest.mark.parametrize("how", ["slow", "status-503", "status-500"])
async def test_history_that_comes_late(rider: Rider, how: str) -> None:
    """`ended` is fired before it; later the book is exact, and nothing is fired again."""
    simulator = rider.home.simulator
    fault = "no-answer" if how == "slow" else how
    simulator.fault(fault, path="history")
    await rider.ride()
    await rider.rest(7)
    arrived = rider.rides[-1].end
    assert [told.what for told in rider.told()] == RIDE
    [_, end] = rider.told()
    # A bike stood for five minutes by then, and polls are a minute apart.
    assert timedelta(minutes=5) <= end.at - arrived <= timedelta(minutes=8)
    shown = rider.open_calendar()
    simulator.fault(None)
    await rider.rest(15)
    assert [told.what for told in rider.told()] == RIDE
    await rider.check()
    assert shown
    [ride] = await rider.booked()
    times = [dt_util.parse_datetime(shown[-1][0][key]) for key in ("start", "end")]
    assert times == [
        dt_util.parse_datetime(ride[key]) for key in ("started_at", "ended_at")
    ]


@pytest.mark.parametrize("how", ["status-400", "status-404", "html"])
async def test_service_without_history(
    rider: Rider, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """It is asked again after an hour."""
    monkeypatch.setattr("random.uniform", max)
    simulator = rider.home.simulator
    simulator.fault(how, path="history")
    await rider.ride_and_rest()
    assert [told.what for told in rider.told()] == RIDE
    assert rider.asked() == 1
    await rider.ride_and_rest()
    assert [told.what for told in rider.told()] == RIDE * 2
    assert rider.asked() == 1
    assert len(await rider.booked()) == 2

    simulator.fault(None)
    await rider.home.async_wait(HOUR)
    await rider.ride_and_rest()
    assert rider.asked() == 2
    assert [told.what for told in rider.told()] == RIDE * 3
    _are_exact(rider.rides[-1:], (await rider.booked())[-1:])


@pytest.mark.usefixtures("with_live")
async def test_ride_that_came_over_live(rider: Rider) -> None:
    """Nothing lacks of it, so nothing is asked for."""
    await rider.ride_and_rest()
    await rider.check()
    assert rider.asked() == 0


@pytest.mark.parametrize("late", ["is_late", "is_buffered"])
@pytest.mark.usefixtures("with_live")
async def test_dead_zone_while_live_works(rider: Rider, late: str) -> None:
    """What comes behind the newest report, or never over live, the history tells."""
    await rider.ride(60, back_after=30, dead_zone=range(8, 52), **{late: True})
    await rider.rest()
    await rider.check()
    assert rider.asked() == 1
