"""Requests for the history, and their answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aiohttp import ClientSession
from freezegun.api import FrozenDateTimeFactory
from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.polling.backoff import ExtraRequests
from custom_components.bike_tracker.polling.history import History, HistoryRequest
from custom_components.bike_tracker.tracking.distance import Fix
from custom_components.bike_tracker.tracking.guard import Guard, Triggered
from custom_components.bike_tracker.tracking.log import Core, Gap, Log
from custom_components.bike_tracker.tracking.rides import Ride, RideState
from custom_components.bike_tracker.tracking.state import Tracker, Trackers

from ..conftest import BLUE, EMAIL, PASSWORD, RED
from ..tools.simulator import Simulator

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NOT_OFFERED = ["status-400", "status-401", "status-403", "status-404", "html"]
PASSING = ["status-503", "status-429", "reset-mid-body"]


@dataclass
class Asking:
    """An account that requests the missing reports of its gaps when a test moves the clock."""

    history: History
    simulator: Simulator
    freezer: FrozenDateTimeFactory
    trackers: Trackers
    gaps: dict[str, Gap] = field(default_factory=dict)
    untils: dict[str, datetime | None] = field(default_factory=dict)
    asked: list[HistoryRequest] = field(default_factory=list)
    """All requests, the oldest first."""

    def add(self, tracker: str) -> None:
        """Add a tracker to the service and to the account, with a gap."""
        self.simulator.add_device(tracker, email=EMAIL)
        device = self.trackers[RED].device
        device_id = self.simulator.devices[tracker].id
        device = device._replace(unique_id=tracker, id=device_id)
        self.trackers = {**self.trackers, tracker: Tracker(device)}
        self.note(tracker)

    def note(
        self, tracker: str = RED, start: timedelta = HOUR, *, is_of_ride: bool = False
    ) -> None:
        """Add a gap that began `start` before now. Then move the clock, so that the next gap is noticed later."""
        now = dt_util.utcnow()
        self.gaps[tracker] = Gap(now - start, wanted_at=now)
        if is_of_ride:
            core = Core(RideState(rides=(Ride(now - start, now),)))
            self.change(tracker, log=Log(core))
        self.freezer.tick(timedelta(milliseconds=1))

    def guard(self, *, is_triggered: bool = False) -> None:
        """Arm the guard of the red bike. With `is_triggered`, motion has already triggered this guard."""
        now = dt_util.utcnow()
        triggered = Triggered("motion", now, 0) if is_triggered else None
        guard = Guard(now, Fix(now, 47.9, 7.8), now, triggered=triggered)
        self.change(RED, guard=guard)

    def change(self, tracker: str, **values: Any) -> None:
        """Replace values in the state of a tracker."""
        known = self.trackers[tracker]
        changed = known._replace(state=known.state._replace(**values))
        self.trackers = {**self.trackers, tracker: changed}

    async def after(self, wait: timedelta = MINUTE) -> list[int] | None:
        """Move the clock, and send a due request. Return the report IDs, [] for a backfill, None without an answer."""
        self.freezer.tick(wait)
        now = dt_util.utcnow()
        request = self.history.next_request(self.gaps, self.untils, self.trackers, now)
        if request is None:
            return None
        self.asked.append(request)
        if (answer := await self.history.async_ask(request)) is None:
            return None
        if request.is_backfill:
            self.untils[request.tracker] = request.start
            return []
        tracker = request.tracker
        if answer.until < now:
            self.gaps[tracker] = self.gaps[tracker]._replace(start=answer.until)
        else:
            del self.gaps[tracker]
        return [report.id for report in answer.reports]

    async def minutes_until_asked(self) -> int:
        """Move the clock minute by minute until a request is sent. Return the number of minutes."""
        before, minutes = len(self.asked), 0
        while len(self.asked) == before:
            await self.after()
            minutes += 1
        return minutes

    @property
    def asked_for(self) -> list[str]:
        """Return the tracker of each request, the oldest request first."""
        return [request.tracker for request in self.asked]


@pytest.fixture
async def asking(
    simulator: Simulator, freezer: FrozenDateTimeFactory
) -> AsyncIterator[Asking]:
    """Return an account with two trackers that have no gaps and no reports."""
    async with ClientSession() as session:
        client = TrackingClient(session, simulator.url, EMAIL, PASSWORD)
        devices = await client.async_get_devices()
        trackers = {key: Tracker(device) for key, device in devices.items()}
        for tracker in trackers:
            simulator.forget_position(tracker)
        history = History(client, ExtraRequests())
        yield Asking(history, simulator, freezer, trackers)


async def test_gap_is_asked_for_once(asking: Asking) -> None:
    """A gap is requested once: from its start until now. Without a gap, nothing is requested."""
    assert await asking.after() is None
    asking.note()
    start = asking.gaps[RED].start
    times = [start + minutes * MINUTE for minutes in (1, 2, 3)]
    reports = [asking.simulator.report(RED, last_update=time).id for time in times]
    assert await asking.after(10 * MINUTE) == reports
    [request] = asking.asked
    assert (request.tracker, request.start) == (RED, start)
    assert request.until == dt_util.utcnow()
    assert asking.history.support.is_supported
    for _ in range(5):
        assert await asking.after() is None
    assert asking.simulator.record.counts["/api/positions"] == 1


@pytest.fixture(params=[False, True])
def is_slow(
    request: pytest.FixtureRequest, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Run the test with a quick service, and with a slow service that needs a second for each answer."""
    get, is_slow = TrackingClient.async_get_history, bool(request.param)

    async def _get(client: TrackingClient, *args: Any) -> Any:
        reports = await get(client, *args)
        asking.freezer.tick(timedelta(seconds=is_slow))
        return reports

    monkeypatch.setattr(TrackingClient, "async_get_history", _get)
    return is_slow


async def requests_in_each_minute(asking: Asking, minutes: int) -> list[int]:
    """Let a number of minutes pass, and send all due requests. Return the number of requests in each minute."""
    counts: list[int] = []
    for _ in range(minutes):
        before, until = len(asking.asked), dt_util.utcnow() + MINUTE
        while await asking.after(timedelta(0)) is not None:
            pass
        counts.append(len(asking.asked) - before)
        asking.freezer.move_to(max(until, dt_util.utcnow()))
    return counts


async def test_many_gaps(asking: Asking, is_slow: bool) -> None:
    """A quick service gets five requests at once, and at most ten in ten minutes. A slow service gets one a minute."""
    for number in range(20):
        asking.add(f"86{number:013}")
    counts = await requests_in_each_minute(asking, 20)
    quick = [5, *([1] * 5), *([0] * 4), *([1] * 10)]
    assert counts == ([1] * 20 if is_slow else quick)
    assert len(set(asking.asked_for)) == len(asking.asked) == 20
    assert not asking.gaps


@pytest.mark.usefixtures("with_rides_from_before")
async def test_backfill(asking: Asking, is_slow: bool) -> None:
    """A quick service gets ten requests a minute for days before the set-up, but none while a gap waits."""
    asking.untils[BLUE] = dt_util.utcnow()
    counts = await requests_in_each_minute(asking, 3)
    # The limit excludes the first request: its answer shows that the service is quick.
    assert counts == ([1, 1, 1] if is_slow else [11, 10, 10])
    for number in range(6):
        asking.add(f"86{number:013}")
    before = len(asking.asked)
    counts = await requests_in_each_minute(asking, 2)
    assert counts == ([1, 1] if is_slow else [4, 1])
    assert BLUE not in asking.asked_for[before:]


@pytest.mark.usefixtures("with_rides_from_before")
async def test_day_that_fails(asking: Asking) -> None:
    """A day that fails three times is skipped. Before each retry, a request for an empty range must succeed."""
    asking.note()
    await asking.after()
    asking.untils[BLUE] = until = dt_util.utcnow() - 5 * DAY
    for failures in (5, 1, 1):
        asking.simulator.fault("status-503", path="history", times=failures)
        for _ in range(failures + 1):
            await asking.after(5 * MINUTE)
    ranges = [(it.start, it.until) for it in asking.asked[1:]]
    day, empty, next_day = (until - DAY, until), (until, until), until - 2 * DAY
    assert ranges == [day, *5 * [empty], day, empty, day, (next_day, until - DAY)]


async def test_gap_of_days_that_fails(asking: Asking) -> None:
    """If the first day of a gap fails often, the day is requested again: only the backfill skips days."""
    asking.note()
    await asking.after()
    asking.note(RED, 3 * DAY)
    start = asking.gaps[RED].start
    asking.simulator.fault("status-503", path="history", times=4)
    for _ in range(5):
        assert asking.gaps[RED].start == start
        await asking.after(HOUR)
    assert asking.gaps[RED].start == start + DAY


async def test_one_request_at_a_time(asking: Asking) -> None:
    """While an answer is applied, no other request is due."""
    asking.note()
    args = asking.gaps, asking.untils, asking.trackers, dt_util.utcnow()
    async with asking.history.applying(RED, "account"):
        assert asking.history.next_request(*args) is None
    assert asking.history.next_request(*args)


async def test_clock_that_is_ahead(asking: Asking) -> None:
    """If the tracker's clock is ahead, the time range of a request ends at the newest report instead of now."""
    asking.note()
    ahead = dt_util.utcnow() + HOUR
    asking.change(RED, position=Position(1, 1, ahead))
    await asking.after()
    assert [it.until for it in asking.asked] == [ahead]


@pytest.mark.parametrize(
    ("red", "blue", "order"),
    [
        # The newest gap comes first, but the gap of a ride comes before all other gaps.
        ("stands", "stands", [BLUE, RED]),
        ("rode", "stands", [RED, BLUE]),
        # The gap of a guarded bike comes even before the gap of a ride. A triggered
        # guard gives no priority.
        ("is guarded", "rode", [RED, BLUE]),
        ("was guarded", "rode", [BLUE, RED]),
    ],
)
async def test_order(
    asking: Asking,
    monkeypatch: pytest.MonkeyPatch,
    red: str,
    blue: str,
    order: list[str],
) -> None:
    """The gaps are requested in the order of the table, even if the monotonic clock is near 0, as after a boot."""
    monkeypatch.setattr(f"{History.__module__}.monotonic", lambda: 5.0)
    asking.note(RED, is_of_ride=red == "rode")
    if "guarded" in red:
        asking.guard(is_triggered=red == "was guarded")
    asking.note(BLUE, is_of_ride=blue == "rode")
    assert await asking.after() is not None
    assert await asking.after() is not None
    assert asking.asked_for == order


async def test_guarded_bike_does_not_starve_others(asking: Asking) -> None:
    """A guarded bike has priority only once in ten minutes. In the other minutes, the gap of a ride comes first."""
    asking.guard()
    for _ in range(14):
        # In each minute, both bikes have a gap. The gap of BLUE is the gap of a ride.
        asking.gaps.clear()
        asking.note(RED)
        asking.note(BLUE, is_of_ride=True)
        await asking.after()
    assert asking.asked_for == [RED, *(9 * [BLUE]), RED, *(3 * [BLUE])]


@pytest.mark.usefixtures("with_rides_from_before")
async def test_tracker_that_went(asking: Asking) -> None:
    """The history of a tracker that was removed, or that has no internal ID, is not requested. Its gap does not block the backfill."""
    asking.untils[BLUE] = dt_util.utcnow()
    asking.note("gone")
    asking.note(RED)
    device = asking.trackers[RED].device._replace(id=None)
    asking.trackers = {RED: Tracker(device), BLUE: asking.trackers[BLUE]}
    assert await asking.after() == []
    assert asking.asked_for == [BLUE]


@pytest.mark.parametrize(
    ("answers", "hours"),
    [
        ("large large large full full large full full full", "24 12 6 3 6 24 12 24 24"),
        ("large large large full large full full full", "24 12 6 3 6 3 6 24"),
        ("large large large short full short full full", "24 12 6 0 3 0 6 24"),
    ],
)
async def test_ranges_after_too_much(asking: Asking, answers: str, hours: str) -> None:
    """A response that is too large halves the range. The first success with that range doubles it, the second restores a day."""
    asking.note(RED, 7 * DAY)
    for answer in answers.split():
        if answer == "large":
            asking.simulator.fault("huge-body", path="history", times=1)
        if answer == "short":
            asking.note(BLUE, MINUTE)
        await asking.after()
    lengths = [request.until - request.start for request in asking.asked]
    assert " ".join(str(round(it / HOUR)) for it in lengths) == hours


async def test_too_much_however_little(asking: Asking) -> None:
    """If even the answer for a minute is too large, this minute is skipped, and the rest of the gap is requested."""
    asking.note(RED, 3 * MINUTE)
    asking.simulator.fault("huge-body", path="history", times=3)
    for _ in range(3):
        assert not await asking.after()
    while asking.gaps:
        await asking.after()
    starts = [request.start for request in asking.asked]
    assert starts[0] == starts[2] < starts[3]


@pytest.mark.parametrize(
    ("faults", "is_supported", "waits"),
    [
        # These mean no history: the next request comes after an hour, then daily.
        (NOT_OFFERED, False, [60, 60 * 24, 60 * 24]),
        # After these failures, it is unknown whether the service has a history.
        (PASSING, None, [1, 2, 4, 5, 5, 5]),
    ],
)
async def test_waits(
    asking: Asking, faults: list[str], is_supported: bool | None, waits: list[int]
) -> None:
    """The minutes between failing requests follow the table. The gap stays open."""
    for fault in faults:
        asking.history = History(asking.history.client, ExtraRequests())
        asking.simulator.fault(fault, path="history")
        asking.note()
        assert await asking.after() is None
        assert [await asking.minutes_until_asked() for _ in waits] == waits
        assert asking.history.support.is_supported is is_supported
        assert list(asking.gaps) == [RED]


@pytest.mark.parametrize("fault", [*NOT_OFFERED, *PASSING])
async def test_failure_after_a_good_answer(asking: Asking, fault: str) -> None:
    """If the history worked before, any failure is temporary. Until its next success, the failed tracker comes last."""
    asking.note()
    assert await asking.after() is not None
    asking.note(BLUE)
    asking.note(RED)
    asking.simulator.fault(fault, path="history", times=1)
    assert await asking.after() is None
    assert asking.history.support.is_supported
    assert [await asking.minutes_until_asked() for _ in range(2)] == [1, 1]
    assert asking.gaps == {}
    asking.note(BLUE)
    asking.note(RED)
    assert await asking.minutes_until_asked() == 1
    assert asking.asked_for == [RED, RED, BLUE, RED, RED]


async def test_person_who_waits(asking: Asking) -> None:
    """While the account waits after a failure, a user can still send ten requests a minute. A success ends the wait."""
    device_id = asking.simulator.devices[RED].id
    now = dt_util.utcnow()
    asking.simulator.fault("status-404", path="history", times=2)
    assert sum(asking.history.allows() for _ in range(20)) == 10
    asking.note()
    await asking.after()
    with pytest.raises(InvalidResponseError):
        await asking.history.async_get(device_id, now - DAY, now)
    assert await asking.history.async_get(device_id, now - DAY, now) == []
    assert asking.history.support.is_supported
    assert await asking.minutes_until_asked() == 1
