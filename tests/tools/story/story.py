"""What happens to bikes, and what of it Home Assistant has to tell."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise

from homeassistant.util import dt as dt_util

from tests.tools.simulator.streets import METRES_PER_DEGREE
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .home import Home
from .listener import Run
from .riding import METRES_PER_SECOND
from .service import Service

_KNOT = 0.514444
_ACCURACY = 5.0
# What was told, or received, later than this before a kill may be lost or fired again.
UNWRITTEN = timedelta(seconds=11)
# So long a bike stands between two rides: they are two without a doubt.
_STANDS = timedelta(minutes=14)
_HEARTBEAT = timedelta(minutes=2)
# So long after somebody armed its guard a bike may still be arriving, in seconds.
_ARRIVES_WITHIN = 330
# So long after its end a ride was seen to be over that was out of reach, in seconds.
_UNTIL_SEEN = 600
# By so much the start of a ride may be seen earlier, or its end later.
_MARGIN = timedelta(minutes=6)


@dataclass
class Alarm:
    """One word of one report."""

    tracker: str
    word: str
    report: int
    fix_time: datetime
    reached_at: datetime | None = None
    """When Home Assistant received it for sure; None is that it need not have."""


@dataclass
class Ride:
    """One bike under way."""

    tracker: str
    begin: datetime
    end: datetime
    every: timedelta
    was_out_of_reach: bool = False


@dataclass
class Guarded:
    """A bike that somebody guards, until they do so anew."""

    tracker: str
    armed_at: datetime
    was_ridden: bool = False


@dataclass
class Bike:
    """A bike, where it is, and when it reports."""

    tracker: str
    reports_at: datetime
    metres: float = 0
    arrived_at: datetime | None = None
    ride: Ride | None = None
    seen_at: datetime | None = None


@dataclass
class TrackerState:
    """Bikes, the service, a home, and what is true."""

    home: Home
    service: Service
    bikes: list[Bike] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    rides: list[Ride] = field(default_factory=list)
    guarded: list[Guarded] = field(default_factory=list)
    kills: list[datetime] = field(default_factory=list)
    list_fails: bool = False
    live_fails: bool = False
    history_fails: bool = False
    history_failed: bool = False
    """Whether it ever did: it may not be asked again by the end."""
    _numbers: count[int] = field(default_factory=count)
    _owners: dict[str, str | None] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        """Return the time, whatever the clock of the house shows."""
        return datetime.now(UTC)

    def begin(self, trackers: list[str]) -> None:
        """Begin with bikes that stand."""
        self.bikes = [Bike(tracker, self.now) for tracker in trackers]
        self.home.settled = self._note_reached
        self._note_reached()

    def _note_reached(self) -> None:
        """Note which alarms Home Assistant received, now that it had the time to."""
        reached, self.service.reached = self.service.reached, []
        before = self._owners
        running = self.home.is_running
        self._owners = {
            bike.tracker: self.home.owner(bike.tracker) if running else None
            for bike in self.bikes
        }
        for email, tracker, report in reached:
            if email != self._owners.get(tracker):
                continue
            if email != before.get(tracker) and not self._is_newest(tracker, report):
                continue
            for alarm in self.alarms:
                if alarm.report == report and alarm.reached_at is None:
                    alarm.reached_at = self.now

    def _is_newest(self, tracker: str, report: int) -> bool:
        return self.service.devices[tracker].position_id == report

    # Time

    async def async_pass(self, seconds: float) -> None:
        """Let time pass, in which bikes report."""
        until = self.now + timedelta(seconds=seconds)
        while self.now < until:
            due = min([until, *(bike.reports_at for bike in self.bikes)])
            await self.home.async_wait((due - self.now).total_seconds())
            for bike in self.bikes:
                if bike.reports_at <= self.now:
                    self._go_on(bike)
            await self.home.async_settle()

    def _go_on(self, bike: Bike) -> None:
        """Let a bike report where it is by now."""
        if ride := bike.ride:
            if self.now >= ride.end:
                bike.ride, bike.arrived_at = None, self.now
            bike.reports_at = self.now + ride.every
        else:
            bike.reports_at = self.now + _HEARTBEAT
        self.report(bike)

    def report(self, bike: Bike, *words: str, how: str = "fix", age: float = 0) -> None:
        """Let a bike report, for some reason or none."""
        now = self.now
        if bike.ride and bike.seen_at and how == "fix":
            bike.metres += METRES_PER_SECOND * (now - bike.seen_at).total_seconds()
        bike.seen_at = now
        moves = bike.ride is not None
        has_fix = how != "no fix"
        latitude = DEFAULT_LATITUDE + bike.metres / METRES_PER_DEGREE
        fix_time = now - timedelta(seconds=age if how == "fix" else 900)
        position = self.service.report(
            bike.tracker,
            latitude=latitude if has_fix else 0.0,
            accuracy=_ACCURACY if has_fix else 0.0,
            speed=METRES_PER_SECOND / _KNOT if moves and has_fix else 0,
            valid=has_fix,
            fix_time=fix_time if has_fix else dt_util.utc_from_timestamp(0),
            device_time=fix_time if how == "late" else now,
            attributes={"motion": moves}
            | ({"alarm": ",".join(words)} if words else {}),
            is_late=how == "late",
        )
        for word in dict.fromkeys(words):
            fix = position.fix_time if has_fix else now
            self.alarms.append(Alarm(bike.tracker, word, position.id, fix))

    def words(self, number: int) -> list[str]:
        """Return words for an alarm that no other one has."""
        return [f"alarm {next(self._numbers)}" for _ in range(number)]

    async def async_arrive(self) -> None:
        """Wait until all bikes have arrived, and stood for long enough."""
        while any(bike.ride for bike in self.bikes):
            await self.async_pass(60)
        arrivals = [bike.arrived_at for bike in self.bikes if bike.arrived_at]
        if arrivals and (left := max(arrivals) + _STANDS - self.now) > timedelta():
            await self.async_pass(left.total_seconds())

    async def async_set_off(self, bike: Bike, minutes: float, every: float) -> None:
        """Let a bike begin to ride, once it stood for long enough."""
        if bike.ride:
            return
        await self._async_stand(bike)
        now = self.now
        bike.ride = Ride(
            bike.tracker,
            now,
            now + timedelta(minutes=minutes),
            timedelta(seconds=every),
        )
        bike.seen_at = now
        bike.reports_at = now + timedelta(seconds=every)
        self.rides.append(bike.ride)
        of_bike = (item for item in self.guarded[::-1] if item.tracker == bike.tracker)
        if guarded := next(of_bike, None):
            guarded.was_ridden = True

    async def async_arm(self, bike: Bike) -> None:
        """Guard a bike where it stands, once it stood for long enough."""
        if bike.ride or self.list_fails:
            return
        await self._async_stand(bike)
        if await self.home.async_arm(bike.tracker):
            self.guarded.append(Guarded(bike.tracker, self.now))
            await self.async_pass(_ARRIVES_WITHIN)

    async def _async_stand(self, bike: Bike) -> None:
        """Wait until a bike stood for so long that its next ride is another one."""
        if bike.arrived_at and (
            left := bike.arrived_at + _STANDS - self.now
        ) > timedelta(0):
            await self.async_pass(left.total_seconds())
        if self.history_failed and any(
            ride.was_out_of_reach for ride in self.rides if ride.tracker == bike.tracker
        ):
            # What nobody can ask for has to be seen: one report may be of a red light.
            await self.async_pass(_UNTIL_SEEN)

    async def async_may_be_out_of_reach(self) -> None:
        """Let each ride be out of reach once at the most."""
        if any(bike.ride and bike.ride.was_out_of_reach for bike in self.bikes):
            await self.async_arrive()
        for bike in self.bikes:
            if bike.ride:
                bike.ride.was_out_of_reach = True

    async def async_kill(self, down: float) -> None:
        """Cut Home Assistant off, and start it a while later."""
        self._note_reached()
        self.kills.append(self.now)
        for alarm in self.alarms:
            if alarm.reached_at and alarm.reached_at > self.now - UNWRITTEN:
                # Unless a poll finds it still.
                alarm.reached_at = None
        await self.home.async_kill()
        await self.async_pass(down)
        await self.home.async_start()

    def let_list_fail(self, fails: bool) -> None:
        """Let the list fail, or be well; live goes on."""
        self.list_fails = fails
        self.service.fault("status-503" if fails else None, path="devices")

    def let_live_fail(self, fails: bool) -> None:
        """Let live fail, or be well; polls go on."""
        self.live_fails = fails
        self.service.live_fault("session-503" if fails else None)

    def let_all_be_well(self) -> None:
        """Let nothing fail any more."""
        self.list_fails = self.live_fails = self.history_fails = False
        self.service.fault(None)
        self.service.live_fault(None)

    async def check(self) -> None:
        """Hold what was told against what is true."""
        listener = self.home.listener
        assert not listener.unnoticed, _lines(listener.unnoticed)
        for who, fired in (
            ("entity", listener.entities),
            ("trigger", listener.triggers),
        ):
            for bike in self.bikes:
                own = [item for item in fired if item.tracker == bike.tracker]
                self._check_alarms(who, bike, [t for t in own if t.what == "alarm"])
                for what in ("started", "ended"):
                    self._check_rides(who, bike, [t for t in own if t.what == what])
        for bike in self.bikes:
            self._check_guards(
                bike, [t for t in listener.triggers if t.what == "guard_triggered"]
            )
            rides = [ride for ride in self.rides if ride.tracker == bike.tracker]
            booked = [ride.started_at for ride in await self.home.booked(bike.tracker)]
            assert len(booked) == len(rides), ("book", bike.tracker, booked, rides)

    def _check_alarms(self, who: str, bike: Bike, fired: list[Run]) -> None:
        true = {a.word: a for a in self.alarms if a.tracker == bike.tracker}
        firsts = self._once([item.word for item in fired], fired, who)
        assert set(firsts) <= true.keys(), (who, "invented", firsts)
        lost = [word for word, a in true.items() if a.reached_at and word not in firsts]
        assert not lost, (who, "lost", lost, firsts)
        # What the history alone tells comes after what was told by then.
        place = {
            word: number for number, word in enumerate(firsts) if true[word].reached_at
        }
        for before, after in pairwise(word for word in true if word in place):
            # A poll may overtake messages that are on their way in that very moment.
            is_overtaking = true[after].report in self.service.polled and (
                true[before].reached_at == true[after].reached_at
            )
            if true[before].fix_time < true[after].fix_time and not is_overtaking:
                assert place[before] < place[after], (who, "order", firsts)

    def _check_rides(self, who: str, bike: Bike, fired: list[Run]) -> None:
        rides = [ride for ride in self.rides if ride.tracker == bike.tracker]
        firsts = self._once([_ride(item, rides) for item in fired], fired, who)
        # What the history alone tells comes after what was told by then.
        every = list(range(len(rides)))
        assert sorted(firsts) == every, (who, bike.tracker, _lines(fired))

    def _check_guards(self, bike: Bike, fired: list[Run]) -> None:
        fired = [item for item in fired if item.tracker == bike.tracker]
        all_of_it = [item for item in self.guarded if item.tracker == bike.tracker]
        names = [
            sum(guarded.armed_at <= item.since for guarded in all_of_it)
            for item in fired
        ]
        firsts = self._once(names, fired, "guard")
        ridden = [n for n, item in enumerate(all_of_it, 1) if item.was_ridden]
        assert firsts == ridden, ("guard", bike.tracker, all_of_it, fired)

    def _once[T](self, names: list[T], fired: list[Run], who: str) -> list[T]:
        """Return what was told, without what may be fired again after a kill."""
        last: dict[T, datetime] = {}
        for name, item in zip(names, fired, strict=True):
            if name in last:
                assert any(
                    kill - UNWRITTEN <= last[name] <= kill <= item.at
                    for kill in self.kills
                ), (who, "twice", name, _lines(fired))
            last[name] = item.at
        return list(Counter(names))


def _ride(fired: Run, rides: list[Ride]) -> int:
    """Return which ride was told of."""
    begun = [
        n for n, ride in enumerate(rides) if ride.begin - _MARGIN <= fired.started_at
    ]
    # One that was out of reach may be told by its place alone, long after it was over.
    numbers = [
        number
        for number in begun[-1:]
        if rides[number].was_out_of_reach
        or fired.started_at <= rides[number].end + _MARGIN
    ]
    assert len(numbers) == 1, ("invented", fired.what, fired.started_at, rides)
    return numbers[0]


def _lines(fired: list[Run]) -> list[tuple[str, str, str]]:
    return [
        (
            f"{item.at:%H:%M:%S}",
            item.what,
            str(item.details.get("alarm") or item.details.get("started_at")),
        )
        for item in fired
    ]
