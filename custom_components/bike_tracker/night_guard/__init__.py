"""The night guard: its settings, and which bikes it guards. These are pure functions of times and places.

The other modules arm and disarm the guards of bikes, and send messages about them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final, Literal, NamedTuple, Self

from homeassistant.config_entries import ConfigEntry
from homeassistant.util.location import distance

from ..api.models import Point
from ..tracking.guard import Guard

type Decision = Literal["arm", "keep", "disarm"]
"""`keep`: the night guard takes over a guard that is armed, and may disarm it later."""
type GuardState = Literal["armed", "disarmed", "shaken", "moved"]
"""`shaken`: triggered only by an alarm. `moved`: triggered by motion or another place."""

SUBENTRY_TYPE: Final = "night_guard"
DEFAULTS: Final[Mapping[str, Any]] = {
    "bikes": [],
    "night_begins": "22:00:00",
    "night_ends": "06:00:00",
    "riders": [],
    "away_distance": 200,
    "phones": [],
    "others": [],
    "critical": True,
    "follow": True,
}
"""The default settings. With them, the user does not have to type anything."""


class NightGuard(NamedTuple):
    """The settings of a night guard."""

    id: str
    bikes: frozenset[str]
    """Device IDs; empty for all bikes of the account."""
    night: tuple[time, time] | None
    """Start and end of the night; None without a night. If both are the same time, it is always night."""
    riders: tuple[str, ...]
    """Entity IDs of persons."""
    away_distance: float
    """Distance from a bike, in meters. A rider at this distance or more is away."""
    phones: tuple[str, ...]
    """Device IDs."""
    others: tuple[str, ...]
    critical: bool
    follow: bool

    @classmethod
    def all_of(cls, entry: ConfigEntry) -> list[Self]:
        """Return the night guards of an account."""
        stored = entry.get_subentries_of_type(SUBENTRY_TYPE)
        return [cls.from_data(it.subentry_id, it.data) for it in stored]

    @classmethod
    def from_data(cls, subentry_id: str, stored: Mapping[str, Any]) -> Self:
        """Return the night guard of a config subentry."""
        data = {**DEFAULTS, "night_begins": None, "night_ends": None, **stored}
        times = [data["night_begins"], data["night_ends"]]
        begins, ends = (time.fromisoformat(it) if it else None for it in times)
        return cls(
            subentry_id,
            frozenset(data["bikes"]),
            (begins, ends) if begins and ends else None,
            tuple(data["riders"]),
            data["away_distance"],
            tuple(data["phones"]),
            tuple(data["others"]),
            data["critical"],
            data["follow"],
        )

    def is_for(self, device_id: str | None) -> bool:
        """Return whether a bike belongs to this night guard."""
        return not self.bikes or device_id in self.bikes

    def last_began(self, now: datetime) -> datetime | None:
        """Return when the newest night began, even if it is over, given the local time; None without a night."""
        return _last(self.night[0], now) if self.night else None

    def last_ended(self, now: datetime) -> datetime | None:
        """Return when the newest night that is over ended, given the local time; None without a night."""
        return _last(self.night[1], now) if self.night else None

    def is_night(self, now: datetime) -> bool:
        """Return whether it is night, given the local time."""
        began, ended = self.last_began(now), self.last_ended(now)
        return bool(began and ended and began >= ended)

    def wants(self, bike: Point, riders: Iterable[Point | None], now: datetime) -> bool:
        """Return whether a bike should be guarded: it is night, or all riders are away from the bike.

        A rider without a known place is away. Without riders, only the night counts.
        """
        if self.is_night(now):
            return True
        away = self.away_distance
        is_near = any(place and meters(bike, place) < away for place in riders)
        return bool(self.riders) and not is_near


def decide(
    guard: GuardState,
    *,
    is_wanted: bool,
    night_begins: bool,
    is_held: bool,
    cannot_arm: bool,
    in_outage: bool,
) -> Decision | None:
    """Return the action that the guard of a bike needs, or None.

    `is_held`: a person, not the night guard, armed or disarmed the guard last.
    `cannot_arm`: the bike is on a ride, or cannot be guarded for another reason.
    `in_outage`: polls fail, so that the known position of the bike may be old.
    """
    if not night_begins and is_held:
        return None
    if not is_wanted and guard in ("armed", "shaken"):
        return "disarm"
    if in_outage:
        return None
    # The start of a night ends a person's choice. If a disarmed bike cannot be armed
    # now, disarm it again, because this clears the stored choice. A bike on a ride is
    # armed as soon as it stands.
    if guard == "disarmed" and (cannot_arm or not is_wanted):
        return "disarm" if night_begins else None
    if guard == "armed":
        # Do not arm it again: it may just have been moved from its guarded place.
        return "keep" if night_begins else None
    return "arm" if is_wanted and (night_begins or guard == "disarmed") else None


def _last(at: time, now: datetime) -> datetime:
    """Return when it was last this time of the day, given the local time."""
    last = datetime.combine(now.date(), at, now.tzinfo)
    return last if last <= now else last - timedelta(days=1)


def state_of(guard: Guard | None) -> GuardState:
    """Return the state of a guard; "disarmed" for None."""
    if guard is None:
        return "disarmed"
    if guard.triggered is None:
        return "armed"
    return "moved" if guard.is_done else "shaken"


def meters(first: Point, second: Point) -> float:
    """Return the distance between two places in meters."""
    return distance(*first, *second) or 0
