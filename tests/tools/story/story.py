"""The life of bikes, and the events that Home Assistant must fire. Each public method of `Story` is a step."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain, count, pairwise
from typing import Literal, override

from aiohttp import web
from homeassistant.util import dt as dt_util

from tests.tools.simulator.live import WELL
from tests.tools.simulator.render import Endpoint
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.streets import METERS_PER_DEGREE
from tests.tools.simulator.world import DEFAULT_LATITUDE, SimDevice, SimPosition

from .home import Home
from .listener import Run

_METERS_PER_SECOND = 6.0
_KNOT = 0.514444
# Events in the last seconds before a kill may be lost, or fired again.
_UNWRITTEN = timedelta(seconds=11)
# If a bike stands this long between two rides, the integration surely detects both.
_STANDS = timedelta(minutes=14)
_HEARTBEAT = timedelta(minutes=2)
# Seconds within which polls without a history notice the end of a ride out of reach.
_UNTIL_SEEN = 600
# The detected start and end of a ride may be wrong by at most this much.
_MARGIN = timedelta(minutes=6)
# After failed polls, the next poll follows within this number of seconds.
_WELL_AGAIN = 190

type How = Literal["fix", "late", "no fix"]
"""The fix of a report: current, a quarter of an hour old, or missing."""


@dataclass
class Alarm:
    """An alarm in a report."""

    report: int
    fix_time: datetime
    reached_at: datetime | None = None
    """When Home Assistant received the alarm; None if it may not have received it, or may have lost it."""


@dataclass
class Ride:
    """A true ride of a bike. The bike reports at intervals of `every`."""

    begin: datetime
    end: datetime
    every: timedelta
    was_out_of_reach: bool = False
    """Whether an outage, or a stop or reload of Home Assistant, began during the ride."""


@dataclass
class Bike:
    """A bike: its place, the time of its next report, and all that has happened to it."""

    tracker: str
    reports_at: datetime
    meters: float = 0
    owner: str | None = None
    """The account to which the device belongs in Home Assistant."""
    arrived_at: datetime | None = None
    ride: Ride | None = None
    seen_at: datetime | None = None
    alarms: dict[str, Alarm] = field(default_factory=dict)
    """Alarms by the service's name, in the order in which they were sent."""
    rides: list[Ride] = field(default_factory=list)


class Service(Simulator):
    """A simulator that records which reports its messages and answers contain. All accounts have all trackers."""

    def __init__(self) -> None:
        """Begin without reports."""
        super().__init__()
        self.reached: list[tuple[str, str, int]] = []
        """The account, the tracker and the number of each report that has reached an account."""
        self._announced: dict[tuple[str, str], int] = {}

    @override
    def tell(self, device: SimDevice, position: SimPosition | None = None) -> None:
        """Send a change, and record its report for each account to which it is sent."""
        super().tell(device, position)
        if position is not None and self.live.fault is WELL:
            sockets = self.live.sockets
            emails = {it.email for it in sockets if not it.transport.is_closing()}
            self.reached += [(it, device.unique_id, position.id) for it in emails]

    @override
    def answer(self, endpoint: Endpoint, email: str) -> web.StreamResponse:
        """Answer a request. If the answer has positions, record each report that the last device list had, too."""
        for device in self.devices_of(email):
            tracker, report = device.unique_id, device.position_id
            if endpoint == "devices":
                self._announced[email, tracker] = report
            elif self._announced.get((email, tracker)) == report:
                self.reached.append((email, tracker, report))
        return super().answer(endpoint, email)


class Story:
    """The bikes, the service and the home of a story. Steps name bikes and accounts by numbers, modulo how many exist."""

    def __init__(self, home: Home, service: Service) -> None:
        """Begin with bikes that stand."""
        self._home, self._service = home, service
        self._bikes = [Bike(tracker, self._now) for tracker in service.devices]
        self._kills: list[datetime] = []
        self._history_failed = False
        self._numbers = count()
        home.settled = self._note_reached
        self._note_reached()

    @property
    def _now(self) -> datetime:
        """The true time, whatever the house's clock shows."""
        return datetime.now(UTC)

    def _bike(self, number: int) -> Bike:
        return self._bikes[number % len(self._bikes)]

    # Bikes

    async def pass_time(self, seconds: float) -> None:
        """Move the clock. Bikes send the reports that become due."""
        until = self._now + timedelta(seconds=seconds)
        while self._now < until:
            due = min([until, *(bike.reports_at for bike in self._bikes)])
            await self._home.async_wait((due - self._now).total_seconds())
            for bike in self._bikes:
                if bike.reports_at <= self._now:
                    self._go_on(bike)
            await self._home.async_settle()

    async def raise_alarm(
        self, bike: int, words: int, how: How = "fix", twice: bool = False
    ) -> None:
        """Let a bike send a report with `words` new alarms. With `twice`, the report names the first alarm twice."""
        alarms = self._words(words)
        self._report(self._bike(bike), *alarms, *alarms[:twice], how=how)
        await self._home.async_settle()

    async def raise_many(self, bike: int, number: int, every: int) -> None:
        """Let a bike send `number` reports at once. The first report and then each `every`-th report has an alarm."""
        for left in range(number, 0, -1):
            words = self._words(1) if (number - left) % every == 0 else []
            # A tracker sends buffered reports in order, each with a newer fix.
            self._report(self._bike(bike), *words, age=left / 1000)
        await self._home.async_settle()

    async def set_off(self, number: int, minutes: float, every: float) -> None:
        """Unless a bike rides, let it stand long enough and start a ride. It then reports every `every` seconds."""
        bike = self._bike(number)
        if bike.ride:
            return
        await self._stand(bike)
        now, seconds = self._now, timedelta(seconds=every)
        bike.ride = Ride(now, now + timedelta(minutes=minutes), seconds)
        bike.seen_at, bike.reports_at = now, now + seconds
        bike.rides.append(bike.ride)

    def _go_on(self, bike: Bike) -> None:
        """Let a bike send the report that is due. If the time of its ride is over, it stands from now on."""
        bike.reports_at = self._now + (bike.ride.every if bike.ride else _HEARTBEAT)
        if bike.ride and self._now >= bike.ride.end:
            bike.ride, bike.arrived_at = None, self._now
        self._report(bike)

    def _report(
        self, bike: Bike, *words: str, how: How = "fix", age: float = 0
    ) -> None:
        """Let a bike report, with or without alarms. `how` and `age` (seconds) describe the fix."""
        now, moves, has_fix = self._now, bike.ride is not None, how != "no fix"
        if moves and bike.seen_at and how == "fix":
            bike.meters += _METERS_PER_SECOND * (now - bike.seen_at).total_seconds()
        bike.seen_at = now
        latitude = DEFAULT_LATITUDE + bike.meters / METERS_PER_DEGREE
        fix_time = now - timedelta(seconds=age if how == "fix" else 900)
        position = self._service.report(
            bike.tracker,
            latitude=latitude if has_fix else 0.0,
            accuracy=5.0 if has_fix else 0.0,
            speed=_METERS_PER_SECOND / _KNOT if moves and has_fix else 0,
            valid=has_fix,
            fix_time=fix_time if has_fix else dt_util.utc_from_timestamp(0),
            device_time=fix_time if how == "late" else now,
            attributes={"motion": moves}
            | ({"alarm": ",".join(words)} if words else {}),
            is_late=how == "late",
        )
        fix_time = position.fix_time if has_fix else now
        bike.alarms |= {word: Alarm(position.id, fix_time) for word in words}

    def _words(self, number: int) -> list[str]:
        """Return names of alarms that were not used before."""
        return [f"alarm {next(self._numbers)}" for _ in range(number)]

    async def _stand(self, *bikes: Bike) -> None:
        """Wait until bikes have stood so long that the integration surely detects their next ride as a new one."""
        arrivals = [bike.arrived_at for bike in bikes if bike.arrived_at]
        if arrivals:
            left = max(arrivals) + _STANDS - self._now
            await self.pass_time(max(0, left.total_seconds()))
        rides = (ride for bike in bikes for ride in bike.rides)
        if self._history_failed and any(ride.was_out_of_reach for ride in rides):
            # Without a history, only polls can notice the end of a ride: wait for them.
            await self.pass_time(_UNTIL_SEEN)

    # The service

    async def switch_list(self) -> None:
        """Let the device list fail, or work again. Do nothing while the live connection fails."""
        if self._service.live.fault is WELL:
            fault = None if self._list_fails else "status-503"
            self._service.fault(fault, path="devices")

    async def switch_live(self) -> None:
        """Let the live connection fail, or work again. Do nothing while the device list fails."""
        if not self._list_fails:
            await self._home.async_settle()
            works = self._service.live.fault is WELL
            self._service.live_fault("session-503" if works else None)
            # Wait until the connections are closed.
            await self._home.async_settle()

    async def switch_history(
        self, fault: Literal["status-400", "status-503", "html"]
    ) -> None:
        """If the history works, let it fail with this fault. Otherwise, let it work again."""
        self._history_failed = True
        fails = "history" in self._service.faults
        self._service.fault(None if fails else fault, path="history")

    async def shorten_history(self, rows: int) -> None:
        """From now on, let each answer of the history contain only its first rows, at most this many."""
        self._service.set_max_positions(rows)

    async def outage(self, seconds: int) -> None:
        """Let all requests and the live connection fail for this many seconds. Then wait until everything works."""
        await self._leave()
        self._service.fault("status-503")
        self._service.live_fault("session-503")
        await self.pass_time(seconds)
        await self._be_well(_WELL_AGAIN)

    async def _be_well(self, seconds: int) -> None:
        """End all faults, and wait for this many seconds, in which everything works again."""
        self._service.fault(None)
        self._service.live_fault(None)
        await self.pass_time(seconds)

    @property
    def _list_fails(self) -> bool:
        return "devices" in self._service.faults

    # Home Assistant

    async def reload(self, account: int) -> None:
        """Reload an account."""
        await self._leave()
        emails = list(self._service.accounts)
        await self._home.async_reload(emails[account % len(emails)])
        await self.pass_time(1)

    async def restart(self, down: int, automations_first: bool = False) -> None:
        """Stop Home Assistant, and start it again `down` seconds later."""
        await self._leave()
        await self._home.async_stop()
        await self.pass_time(down)
        await self._home.async_start(automations_first=automations_first)
        await self.pass_time(1)

    async def kill(self, down: int) -> None:
        """Kill Home Assistant, and start it again `down` seconds later."""
        await self._leave()
        self._kills.append(self._now)
        for alarm in chain(*(bike.alarms.values() for bike in self._bikes)):
            if alarm.reached_at and alarm.reached_at > self._now - _UNWRITTEN:
                # The kill may have lost the alarm, so it need not be fired. If a poll
                # brings it again, it counts as received.
                alarm.reached_at = None
        await self._home.async_kill()
        await self.pass_time(down)
        await self._home.async_start()
        await self.pass_time(1)

    async def set_clock(self, minutes_ahead: int) -> None:
        """Set the clock of the house ahead by this many minutes. 0 sets it right."""
        await self._home.async_settle()
        self._home.clock_off = timedelta(minutes=minutes_ahead)

    async def _leave(self) -> None:
        """Prepare an outage, a stop or a reload. If one began earlier in a ride under way, first let all rides end."""
        if any(bike.ride and bike.ride.was_out_of_reach for bike in self._bikes):
            await self._arrive()
        for ride in filter(None, (bike.ride for bike in self._bikes)):
            ride.was_out_of_reach = True
        # End a fault of the device list: if the next set-up failed, no automation would run.
        self._service.fault(None, path="devices")
        await self._home.async_settle()

    # Checks

    def _note_reached(self) -> None:
        """Note which alarms Home Assistant has received since the last call, for the account that owns the bike."""
        reached, self._service.reached = self._service.reached, []
        for bike in self._bikes:
            before, bike.owner = bike.owner, self._home.owner(bike.tracker)
            newest = self._service.devices[bike.tracker].position_id
            reports = {
                report
                for email, tracker, report in reached
                if (email, tracker) == (bike.owner, bike.tracker)
                and (email == before or report == newest)
            }
            for alarm in bike.alarms.values():
                if alarm.report in reports:
                    alarm.reached_at = alarm.reached_at or self._now

    async def _arrive(self) -> None:
        """Wait until all bikes have arrived and have stood long enough."""
        while any(bike.ride for bike in self._bikes):
            await self.pass_time(60)
        await self._stand(*self._bikes)

    async def end(self) -> None:
        """Let all bikes arrive. Check that each ride and received alarm was fired once, and nothing was invented."""
        await self._be_well(500)
        await self._arrive()
        listener = self._home.listener
        for bike in self._bikes:
            for runs in (listener.entities, listener.triggers):
                own = [run for run in runs if run.tracker == bike.tracker]
                self._check_alarms(bike, [it for it in own if it.what == "alarm"])
                for what in ("started", "ended"):
                    rides = [it for it in own if it.what == what]
                    # A ride that only the history contains may come after a newer ride.
                    firsts = self._once([_ride(it, bike.rides) for it in rides], rides)
                    assert sorted(firsts) == list(range(len(bike.rides))), own
            booked = await self._home.booked(bike.tracker)
            assert len(booked) == len(bike.rides), (booked, bike.rides)

    def _check_alarms(self, bike: Bike, fired: list[Run]) -> None:
        firsts = self._once([run.which for run in fired], fired)
        assert set(firsts) <= bike.alarms.keys(), ("invented", firsts)
        reached = {word: it for word, it in bike.alarms.items() if it.reached_at}
        assert reached.keys() <= set(firsts), ("lost", reached, firsts)
        # Alarms that only the history contains are fired late: check no order for them.
        for word, after in pairwise(reached):
            if reached[word].fix_time < reached[after].fix_time:
                assert firsts.index(word) < firsts.index(after), ("order", firsts)

    def _once[T](self, names: Iterable[T], fired: list[Run]) -> list[T]:
        """Return each fired event once. Fail if an event was repeated, unless a kill explains the repetition."""
        last: dict[T, datetime] = {}
        for name, run in zip(names, fired, strict=True):
            is_right = name not in last or any(
                kill - _UNWRITTEN <= last[name] <= kill <= run.at
                for kill in self._kills
            )
            assert is_right, ("twice", name, fired)
            last[name] = run.at
        return list(last)


def _ride(fired: Run, rides: list[Ride]) -> int:
    """Return the index of the true ride to which an event belongs. Fail if no ride matches."""
    begins = [ride.begin - _MARGIN for ride in rides]
    number = bisect_right(begins, fired.which) - 1
    assert number >= 0, "invented"
    # If a ride was out of reach, Home Assistant may have noticed only that the place is
    # another. The start that it reports may then be long after the end of the ride.
    ride = rides[number]
    assert ride.was_out_of_reach or fired.which <= ride.end + _MARGIN, "invented"
    return number
