"""Occurrences of a tracker: alarms, changes of flags, and starts and ends of rides.

Occurrences are fired in order, each only once.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
import re
from typing import Any, Final, Literal, NamedTuple, override

from ..api.models import Position, one_line
from .distance import NOWHERE
from .rides import Ride

type OccurrenceType = Literal[
    "alarm_raised",
    "became_silent",
    "came_online",
    "guard_triggered",
    "ride_ended",
    "ride_started",
    "started_moving",
    "stopped_moving",
    "went_offline",
]

FLAG_CHANGES: Final[Mapping[tuple[str, bool], OccurrenceType]] = {
    ("online", True): "came_online",
    ("online", False): "went_offline",
    ("moving", True): "started_moving",
    ("moving", False): "stopped_moving",
}
"""The occurrence type for each flag, and for the value to which the flag changes."""
MAX_WAITING: Final = 50
"""Maximum number of occurrences of each type, and of known alarms, that are kept for a tracker."""
ALARM_TYPES: Final = (
    *("sos", "vibration", "movement", "tow", "tampering", "removing"),
    *("fall_down", "accident", "overspeed", "geofence_exit", "geofence_enter"),
    *("low_battery", "low_power", "power_cut", "power_restored"),
    *("power_off", "power_on", "lock", "unlock", "door", "fault", "jamming"),
    "other",
)
"""Types of alarms. The last type is for alarms with unknown names."""
# Maximum number of alarms that are read from a report.
_MAX_AT_ONCE: Final = 20
# The times of a ride from polls differ from its times in the history by at most this.
_SAME_RIDE_WITHIN: Final = timedelta(minutes=2)

type RideEvent = tuple[OccurrenceType, Ride]
"""The start or the end of a ride."""


class Occurrence(NamedTuple):
    """Something that happened to a tracker."""

    seq: int
    """Sequence number. It grows by one with each occurrence of the same tracker."""
    type: OccurrenceType
    noticed_at: datetime
    since: datetime
    """When it happened: the time of the report, or the time at which the change was noticed. All times are in UTC."""
    before: datetime | None = None
    """When the flag got its previous value; None if that is unknown, or if no flag changed."""
    attributes: Mapping[str, Any] = {}

    @override
    def __repr__(self) -> str:
        """Return only type and number, no place: if a listener fails, Home Assistant logs the occurrence."""
        return f"{self.type} {self.seq}"

    @property
    def is_event(self) -> bool:
        """Return whether the occurrence is an event. Otherwise, it is the change of a flag."""
        return self.type not in FLAG_CHANGES.values()


def kept(known: tuple[Occurrence, ...], last_fired: int) -> tuple[Occurrence, ...]:
    """Return the occurrences to keep: all unfired occurrences, the newest, and the newest event of each type.

    The newest occurrence has the highest sequence number, which must not be used again.
    Entities show the newest event of a type.
    """
    events = {it.type: it for it in known if it.is_event}
    shown = (*events.values(), *known[-1:])
    return tuple(it for it in known if it.seq > last_fired or it in shown)


class Alarm(NamedTuple):
    """One alarm of a report. A report may have several alarms."""

    word: str
    """The service's name of the alarm."""
    report: int
    """The ID of the report."""
    reported_at: datetime | None
    """When the tracker sent the report, by its own clock."""

    @property
    def type(self) -> str:
        """Return the type, such as `fall_down` for `fallDown`; `other` for an unknown name."""
        name = re.sub(r"(?=[A-Z])", "_", self.word).lower()
        # Traccar up to 4.14 sends `shock` for a vibration.
        name = "vibration" if name == "shock" else name
        return name if name in ALARM_TYPES else "other"


def alarms_of(position: Position) -> list[Alarm]:
    """Return the alarms of a report without duplicates."""
    words = (position.alarm or "").split(",", _MAX_AT_ONCE)[:_MAX_AT_ONCE]
    reported_at = position.device_time or position.fix_time
    each_once = dict.fromkeys(filter(None, map(one_line, words)))
    return [Alarm(word, position.id, reported_at) for word in each_once]


def is_known(alarm: Alarm, known: Sequence[Alarm]) -> bool:
    """Return whether an alarm is among the known alarms, or so old that it may have been dropped from them."""
    if any((it.word, it.report) == (alarm.word, alarm.report) for it in known):
        return True
    time = alarm.reported_at or NOWHERE.time
    return len(known) >= MAX_WAITING and all(
        alarm.report <= it.report and time <= (it.reported_at or NOWHERE.time)
        for it in known
    )


class Announced(NamedTuple):
    """A ride that was announced: the event of its start was fired."""

    start: datetime
    end: datetime
    is_open: bool = False
    """Whether the event of the ride's end is still to be fired."""

    def overlaps(self, ride: Ride) -> bool:
        """Return whether a ride overlaps the announced ride, or is at most two minutes away from it."""
        start, end = max(self.start, ride.started_at), min(self.end, ride.moved_at)
        return start <= end + _SAME_RIDE_WITHIN

    def grown(self, rides: Sequence[Ride]) -> Announced:
        """Return the announced ride, extended so that it includes these rides."""
        return self._replace(
            start=min([self.start, *(ride.started_at for ride in rides)]),
            end=max([self.end, *(ride.moved_at for ride in rides)]),
        )


def announce(
    announced: Sequence[Announced], over: Sequence[Ride], under_way: Ride | None
) -> tuple[tuple[Announced, ...], list[RideEvent]]:
    """Return the announced rides after an update, and the events to fire now.

    Each announced ride is matched with rides that ended (`over`) or are under way. A
    ride without a match is new: its events are fired. No event is fired twice.
    """
    all_rides = filter(None, [*over, under_way])
    rides = sorted(all_rides, key=attrgetter("started_at"))
    announced = sorted(announced)
    known, events, after = set[Ride](), list[RideEvent](), list[Announced]()
    for it, matched in zip(announced, _matches(announced, rides), strict=True):
        left = [ride for ride in matched if ride not in known]
        if left and len(matched) > 1:
            # The history shows several rides in place of the announced one. From now
            # on, the announcement stands only for the first that is left.
            matched = left[:1]
            it = Announced(matched[0].started_at, matched[0].moved_at, it.is_open)
        else:
            it = it.grown(matched)
        known.update(matched)
        if it.is_open and under_way not in matched:
            ride = matched[-1] if matched else Ride(it.start, it.end)
            events.append(("ride_ended", ride))
            it = it._replace(is_open=False)
        after.append(it)
    for ride in rides:
        if ride not in known:
            is_open = ride is under_way
            events.append(("ride_started", ride))
            events += [] if is_open else [("ride_ended", ride)]
            after.append(Announced(ride.started_at, ride.moved_at, is_open))
    return tuple(after), events


def _matches(announced: Sequence[Announced], rides: Sequence[Ride]) -> list[list[Ride]]:
    """For each announced ride, return the list of rides that match it."""
    matches = [[ride for ride in rides if it.overlaps(ride)] for it in announced]
    matched = {ride for found in matches for ride in found}
    for it, found in zip(announced, matches, strict=True):
        if not found:
            # No ride overlaps the announced ride, so a replay of the reports moved it
            # to an earlier time. Match it with the last unmatched ride that began
            # before the announced end.
            left = [ride for ride in rides if ride not in matched]
            found += [ride for ride in left if ride.started_at <= it.end][-1:]
            matched.update(found)
    return matches
