"""When the service's own history is asked for, and what its answers mean."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from aiohttp import ClientSession
from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.bike_tracker.api.client import TrackingClient
from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.polling.backoff import ExtraRequests
from custom_components.bike_tracker.polling.history import History
from custom_components.bike_tracker.tracking.distance import Fix
from custom_components.bike_tracker.tracking.guard import Guard, Triggered
from custom_components.bike_tracker.tracking.history import HistoryGap
from custom_components.bike_tracker.tracking.state import (
    Tracker,
    Trackers,
    TrackerState,
)

from ..conftest import BLUE, EMAIL, PASSWORD, RED
from ..tools.simulator import Simulator

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NOT_OFFERED = ["status-400", "status-401", "status-403", "status-404", "html"]
PASSING = ["status-503", "status-429", "reset-mid-body"]


@pytest.fixture(autouse=True)
def longest_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all waits be as long as they can be."""
    monkeypatch.setattr("random.uniform", max)


class Asking:
    """Asks for the gaps of an account, as time passes."""

    def __init__(
        self,
        simulator: Simulator,
        client: TrackingClient,
        freezer: FrozenDateTimeFactory,
    ) -> None:
        """Begin without gaps."""
        self.client = client
        self.history = History(client, ExtraRequests())
        self.gaps: dict[str, HistoryGap] = {}
        self.trackers: Trackers = {}
        self._simulator = simulator
        self._freezer = freezer

    def note(self, tracker: str = RED, start: timedelta = HOUR) -> None:
        """Take in a gap that began so long ago."""
        now = datetime.now(UTC)
        self.gaps[tracker] = HistoryGap(now - start, now, now)
        self._freezer.tick(timedelta(milliseconds=1))

    async def after(self, wait: timedelta = MINUTE) -> list[int] | None:
        """Let time pass; return the IDs of what is told then."""
        self._freezer.tick(wait)
        now, gaps = datetime.now(UTC), dict(self.gaps)
        request = self.history.next_request(gaps, self.trackers, now)
        answer = request and await self.history.async_ask(request)
        if request is None or answer is None:
            return None
        tracker = request.tracker
        if answer.until < now:
            self.gaps[tracker] = self.gaps[tracker]._replace(start=answer.until)
        elif self.gaps[tracker] is gaps[tracker]:
            del self.gaps[tracker]
        return [report.id for report in answer.reports]

    async def minutes_until_asked(self) -> int:
        """Let time pass until something is asked for; return how many minutes that took."""
        before, minutes = len(self.asked), 0
        while len(self.asked) == before:
            await self.after()
            minutes += 1
        return minutes

    @property
    def asked(self) -> list[tuple[str, datetime, datetime]]:
        """Which trackers were asked for, from when and until when."""
        by_id = {str(device.id): key for key, device in self._simulator.devices.items()}
        asked = []
        for request in self._simulator.requests:
            query = dict(part.split("=") for part in request.query.split("&") if part)
            if "deviceId" in query:
                since, until = map(datetime.fromisoformat, (query["from"], query["to"]))
                asked.append((by_id[query["deviceId"]], since, until))
        return asked

    @property
    def asked_for(self) -> list[str]:
        """Which trackers were asked for."""
        return [tracker for tracker, _, _ in self.asked]


@pytest.fixture
async def asking(
    simulator: Simulator, freezer: FrozenDateTimeFactory
) -> AsyncIterator[Asking]:
    """Ask that service on behalf of that account."""
    async with ClientSession() as session:
        client = TrackingClient(session, simulator.url, EMAIL, PASSWORD)
        asking = Asking(simulator, client, freezer)
        devices = await client.async_get_devices()
        asking.trackers = {key: Tracker(device) for key, device in devices.items()}
        for tracker in asking.trackers:
            simulator.forget_position(tracker)
        yield asking


async def test_gap_is_asked_for_once(simulator: Simulator, asking: Asking) -> None:
    """From where it began up to now; without a gap nothing is asked for."""
    assert await asking.after() is None
    asking.note()
    start = asking.gaps[RED].start
    reports = [
        simulator.report(RED, last_update=start + minutes * MINUTE).id
        for minutes in (1, 2, 3)
    ]
    reported = await asking.after(10 * MINUTE)
    assert reported == reports
    [(tracker, since, until)] = asking.asked
    assert (tracker, since) == (RED, _milliseconds(start))
    assert until == _milliseconds(datetime.now(UTC))
    assert asking.history.support.is_supported
    for _ in range(5):
        assert await asking.after() is None
    assert len(asking.asked) == 1


async def test_newest_gap_is_asked_for_first(asking: Asking) -> None:
    """One a minute; what came before waits."""
    asking.note(RED)
    asking.note(BLUE)
    assert await asking.after() is not None
    assert asking.asked_for == [BLUE]
    assert list(asking.gaps) == [RED]
    assert await asking.after(MINUTE / 2) is None
    assert await asking.after(MINUTE / 2) is not None
    assert asking.asked_for == [BLUE, RED]


async def test_ride_is_asked_for_first(asking: Asking) -> None:
    """Whatever lacks of bikes that stand can wait."""
    asking.note(RED)
    asking.gaps[RED] = asking.gaps[RED]._replace(is_of_ride=True)
    asking.note(BLUE)
    assert await asking.after() is not None
    assert await asking.after() is not None
    assert asking.asked_for == [RED, BLUE]


async def test_guarded_bike_is_asked_for_first(asking: Asking) -> None:
    """A ride that is over can wait."""
    asking.note(RED)
    now, place = datetime.now(UTC), Fix(datetime.now(UTC), 47.9, 7.8)
    story = TrackerState(guard=Guard(now, place, now))
    asking.trackers = {
        **asking.trackers,
        RED: asking.trackers[RED]._replace(state=story),
    }
    asking.note(BLUE)
    asking.gaps[BLUE] = asking.gaps[BLUE]._replace(is_of_ride=True)
    assert await asking.after() is not None
    assert await asking.after() is not None
    assert asking.asked_for == [RED, BLUE]


@pytest.mark.parametrize("is_triggered", [False, True])
async def test_guarded_bike_does_not_starve_others(
    asking: Asking, is_triggered: bool
) -> None:
    """It comes first once in ten minutes; a guard that was triggered has no preference."""
    now, place = datetime.now(UTC), Fix(datetime.now(UTC), 47.9, 7.8)
    triggered = Triggered("motion", now, 0) if is_triggered else None
    guard = Guard(now, place, now, triggered=triggered)
    asking.trackers = {
        **asking.trackers,
        RED: asking.trackers[RED]._replace(state=TrackerState(guard=guard)),
    }
    for _ in range(14):
        # Both want their history all the time, and BLUE is on a ride.
        asking.gaps.clear()
        asking.note(RED)
        asking.note(BLUE)
        asking.gaps[BLUE] = asking.gaps[BLUE]._replace(is_of_ride=True)
        await asking.after()
    asked = asking.asked_for
    assert len(asked) == 14
    assert asked.count(RED) == (0 if is_triggered else 2)
    assert (asked[0] == RED) is not is_triggered


async def test_gap_that_comes_while_one_is_asked_for(asking: Asking) -> None:
    """It is not filled by that answer."""
    asking.note()
    answer = asyncio.create_task(asking.after())
    await asyncio.sleep(0)
    asking.note(RED, MINUTE)
    assert await answer is not None
    assert await asking.after() is not None
    assert asking.asked_for == [RED, RED]


async def test_gap_of_a_week(asking: Asking) -> None:
    """A day at a time."""
    asking.note(RED, 7 * DAY)
    while asking.gaps:
        await asking.after()
    assert len(asking.asked) in (7, 8)
    assert all(until - since <= DAY for _, since, until in asking.asked)


async def test_tracker_that_went(asking: Asking) -> None:
    """Nobody can be asked for it, nor for one without an internal ID."""
    asking.note("gone")
    asking.note(RED)
    asking.trackers = {
        RED: Tracker(asking.trackers[RED].device._replace(id=None)),
        BLUE: asking.trackers[BLUE],
    }
    assert await asking.after() is None
    assert asking.asked == []


async def test_too_much_at_once(simulator: Simulator, asking: Asking) -> None:
    """It is asked for in portions, from the beginning, whatever comes in between."""
    start = datetime.now(UTC) - 4 * HOUR
    reports = [
        simulator.report(RED, last_update=start + hours * HOUR).id
        for hours in (0.5, 1.5, 2.5, 3.5)
    ]
    asking.note(RED, 4 * HOUR)
    simulator.fault("huge-body", path="history", times=1)
    assert await asking.after() is None
    asking.note(BLUE, MINUTE)
    assert await asking.after() == []
    assert await asking.after() == reports[:2]
    reported: list[int] = []
    while asking.gaps:
        reported += await asking.after() or []
    assert reported == reports[2:]


async def test_too_much_however_little(simulator: Simulator, asking: Asking) -> None:
    """What does not fit into a minute is given up, and what follows is asked for."""
    asking.note(RED, 3 * MINUTE)
    simulator.fault("huge-body", path="history", times=3)
    for _ in range(3):
        assert not await asking.after()
    while asking.gaps:
        await asking.after()
    starts = [start for _, start, _ in asking.asked]
    assert starts[0] == starts[2] < starts[3]


@pytest.mark.parametrize("fault", NOT_OFFERED)
async def test_service_without_history(
    simulator: Simulator, asking: Asking, fault: str
) -> None:
    """It is left alone for an hour, then for days."""
    simulator.fault(fault, path="history")
    asking.note()
    assert await asking.after() is None
    assert asking.history.support.is_supported is False
    waits = [await asking.minutes_until_asked() for _ in range(3)]
    assert waits == [60 * hours for hours in (1, 24, 24)]
    assert list(asking.gaps) == [RED]


@pytest.mark.parametrize("fault", PASSING)
async def test_failure_that_passes(
    simulator: Simulator, asking: Asking, fault: str
) -> None:
    """It says nothing of whether history is offered: the waits grow from a minute on."""
    simulator.fault(fault, path="history")
    asking.note()
    assert await asking.after() is None
    waits = [await asking.minutes_until_asked() for _ in range(8)]
    assert waits == [1, 2, 4, 5, 5, 5, 5, 5]
    assert asking.history.support.is_supported is None
    simulator.fault(None)
    await asking.minutes_until_asked()
    assert asking.gaps == {}


@pytest.mark.parametrize("fault", [*NOT_OFFERED, *PASSING])
async def test_failure_after_a_good_answer(
    simulator: Simulator, asking: Asking, fault: str
) -> None:
    """Whatever it is, it passes; others have their turn before the same is asked again."""
    asking.note()
    assert await asking.after() is not None
    asking.note(BLUE)
    asking.note(RED)
    simulator.fault(fault, path="history", times=1)
    assert await asking.after() is None
    assert asking.history.support.is_supported
    assert await asking.minutes_until_asked() == 1
    assert await asking.minutes_until_asked() == 1
    assert asking.asked_for == [RED, RED, BLUE, RED]
    assert asking.gaps == {}


async def test_person_who_waits(simulator: Simulator, asking: Asking) -> None:
    """May ask although the service was left alone, and finds out that it tells by now."""
    device_id = simulator.devices[RED].id
    now = datetime.now(UTC)
    simulator.fault("status-404", path="history", times=2)
    asking.note()
    await asking.after()
    with pytest.raises(InvalidResponseError):
        await asking.history.async_get(device_id, now - DAY, now)
    assert await asking.history.async_get(device_id, now - DAY, now) == []
    assert asking.history.support.is_supported
    assert await asking.minutes_until_asked() == 1


async def test_no_more_than_ten_questions_of_a_person_a_minute(
    asking: Asking, freezer: FrozenDateTimeFactory
) -> None:
    """The eleventh is one too many, until a minute is over."""
    assert [asking.history.allows() for _ in range(12)] == [True] * 10 + [False] * 2
    freezer.tick(MINUTE)
    assert asking.history.allows()


def _milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)
