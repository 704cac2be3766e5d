"""The texts of the night guard's messages, in Home Assistant's language."""

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant

from ..api.models import Point
from ..const import DOMAIN
from ..responses import Bike, with_stored_state
from ..responses.texts import (
    alarm_text,
    cause_text,
    clock_time,
    happened,
    panel_text,
    text,
    titled,
    with_commas,
)
from ..responses.where import where
from ..tracking.guard import Guard
from ..tracking.occurrences import Occurrence
from ..tracking.state import Tracker, TrackerState
from . import GuardState, NightGuard, meters
from .messages import GUARD_TAG, Message, link_button, map_of

NIGHT: Final = f"{DOMAIN}_night_"
"""Prefix of the buttons' actions and of the messages' tags."""
# The buttons of messages about a guard, with the keys of their texts. A fourth button
# opens the map. It comes last, because Android shows only three buttons, and a tap on
# the message opens the map, too.
_BUTTONS: Final = {"disarm": "its_me", "arm": "guard_again", "report": "theft_report"}
_ALARM: Final = "config_panel.alarm"
FOLLOW_EVERY: Final = timedelta(minutes=10)
NO_CONTACT_AFTER: Final = timedelta(minutes=15)
# Some trackers report each hour while the bike stands, and a bit late now and then.
_REPORTED_SILENT_AFTER: Final = timedelta(minutes=75)
_SILENT_FOR_A_DAY: Final = timedelta(days=1)
TOGETHER_WITHIN: Final = timedelta(minutes=5)
"""A message about a silent tracker also names trackers for which a message would be due within this time."""
# If a tracker still reports this long after the end of a ride, it also reports while the
# bike stands, so its silence may hide a theft.
_REPORTS_AT_REST: Final = timedelta(minutes=10)
_RIDER_IS_FRESH: Final = timedelta(minutes=5)


class Rider(NamedTuple):
    """A rider, with the last known place, and the time of the rider's last update."""

    name: str
    place: Point | None
    seen_at: datetime


def words(hass: HomeAssistant, key: str, **placeholders: object) -> str:
    """Return a text of the night guard in Home Assistant's language."""
    return text(hass, f"selector.night_guard.options.{key}", **placeholders)


def companions(
    armed_at: Point, seen_at: Point, riders: Iterable[Rider], away: float, now: datetime
) -> list[str]:
    """Return the names of the riders who move with a bike.

    Such a rider is near the bike, but not near the place of the arming, and was seen
    within five minutes.
    """
    return [
        it.name
        for it in riders
        if it.place
        and meters(it.place, seen_at) < away <= meters(it.place, armed_at)
        and now - it.seen_at <= _RIDER_IS_FRESH
    ]


def silences(
    tracker: Tracker, armed_at: datetime
) -> Iterator[tuple[datetime, timedelta]]:
    """Yield the start of each silence that may hide a theft, and the duration after which a message is due.

    Some trackers sleep while the bike stands, and may be offline then. So silence from
    before the arming, or right after a ride, counts only after a day.
    """
    online, last = tracker.state.online, tracker.device.last_update
    if online and not online.value and online.changed_at > armed_at:
        yield online.changed_at, NO_CONTACT_AFTER
    if last:
        ride, stands_since = tracker.state.ride_state.ended, armed_at
        if ride and last > armed_at:
            stands_since = min(armed_at, ride.moved_at + tracker.state.clock_error)
        reports_at_rest = last - stands_since >= _REPORTS_AT_REST
        yield last, _REPORTED_SILENT_AFTER if reports_at_rest else _SILENT_FOR_A_DAY


def stands_since(guard: Guard, state: TrackerState) -> datetime:
    """Return the time of the arming or, if the bike was moved, of its last movement."""
    if not (guard.is_done and guard.triggered):
        return guard.armed_at
    ended = state.ride_state.ended
    return max(guard.triggered.since, ended.moved_at if ended else guard.armed_at)


def triggered(
    hass: HomeAssistant, bike: Bike, occurrence: Occurrence, rider: str | None
) -> Message:
    """Return the message about a guard that was triggered."""
    title, alarm = words(hass, "moved", name=bike.name), occurrence.attributes["alarm"]
    said = happened(hass, occurrence)
    if rider:
        title = words(hass, "with_rider", name=bike.name, rider=rider)
    elif alarm:
        title = titled(hass, bike.name, label=alarm_text(hass, alarm))
        said = happened(hass, occurrence, text(hass, _ALARM))
    return _about(hass, bike, title, said)


def whereabouts(
    hass: HomeAssistant, bike: Bike, title: str, *, is_silent: bool
) -> Message:
    """Return the message about the place of a bike whose guard was triggered. `is_silent`: its title is about silence."""
    # The text mentions the motion only if the title is about silence. Otherwise, it
    # would contradict the title "has stopped", or repeat the title "being moved".
    values = where(hass, bike, says_moved=is_silent)
    said, guard = values["text"], bike.state.guard
    if guard and guard.triggered and not bike.state.is_under_way:
        # This message may replace a message from the same second that has the distance.
        way = meters(guard.place.point, (values["latitude"], values["longitude"]))
        moved = {"cause": "place", "alarm": None, "distance": way}
        said = f"{cause_text(hass, moved)}\n{said}"
    return _about(hass, bike, title, said)


def moved(hass: HomeAssistant, bike: Bike) -> Message:
    """Return the message about a moved bike whose tracker has contact again. It names the state of the guard's panel."""
    label = panel_text(hass, "triggered", bike.state.panel_key)
    title = titled(hass, bike.name, label=label)
    return whereabouts(hass, bike, title, is_silent=False)


def not_armed(hass: HomeAssistant, bike: Bike) -> Message:
    """Return the message that answers a tap on *Guard again* if the bike moves, stood for under five minutes, or is unlisted."""
    title = titled(hass, bike.name, label=_label(hass, "arm"))
    key = "still_moving" if bike.tracker else "left_account"
    return _about(hass, bike, title, words(hass, key, name=bike.name))


def trackers_silent(
    hass: HomeAssistant,
    guard: NightGuard,
    bikes: list[tuple[Bike, datetime]],
    guarded: Container[str],
) -> Message:
    """Return the message about bikes whose trackers are offline, silent or unlisted.

    `guarded` contains the `uniqueId` of each guarded bike. Without bikes, the message
    has no text.
    """
    tag = f"{NIGHT}silent_{guard.id}"
    if not bikes:
        return Message(tag)
    title, *lines = sorted(silence(hass, *it) for it in bikes)
    if len(bikes) > 1:
        lines = [title, *lines]
        label = text(hass, "config_panel.no_contact")
        title = f"{text(hass, 'config_panel.bikes_card')}: {label}"
    if armed := [it for it in bikes if it[0].unique_id in guarded]:
        names = with_commas(hass, sorted(bike.name for bike, _ in armed))
        first = clock_time(min(since for _, since in armed))
        lines.append(words(hass, "unnoticed", names=names, time=first))
    bike, _ = bikes[0]
    said = "\n".join(lines) or where(hass, with_stored_state(hass, bike))["text"]
    url = map_of(hass, bike.device_id) if len(bikes) == 1 else "/map"
    return Message(tag, title, said, url)


def silence(hass: HomeAssistant, bike: Bike, since: datetime) -> str:
    """Return the sentence about a bike whose tracker is disabled, offline, silent or unlisted."""
    if bike.tracker is None:
        return words(hass, "left_account", name=bike.name)
    if bike.tracker.device.disabled:
        return titled(hass, bike.name, label=words(hass, "disabled"))
    is_online = bike.tracker.device.is_online
    key = "became_silent_since" if is_online else "went_offline_since"
    names = {"name": bike.name, "time": clock_time(since)}
    return text(hass, f"selector.occurrence.options.{key}", **names)


def not_guarded(
    hass: HomeAssistant, guard: NightGuard, reasons: Iterable[tuple[str, str]]
) -> Message:
    """Return the message about bikes that are not guarded tonight, with the reasons. Without bikes, it has no text."""
    lines = [
        words(hass, reason, name=name)
        if reason == "left_account"
        else f"{name}: {words(hass, reason)}"
        for name, reason in sorted(reasons)
    ]
    title = words(hass, "not_guarded")
    return Message(f"{NIGHT}dusk_{guard.id}", title, "\n".join(lines))


def no_contact(
    hass: HomeAssistant,
    guard: NightGuard,
    bikes: Sequence[tuple[Bike, GuardState]],
    since: datetime,
) -> Message:
    """Return the message about an outage: names of guarded and unguarded bikes, and a sentence about each moved bike."""
    tag, title = f"{NIGHT}contact_{guard.id}", text(hass, "issues.no_contact.title")
    lines = list[str]()
    if names := _names(bikes, "armed"):
        listed, time = with_commas(hass, names), clock_time(since)
        lines.append(words(hass, "unnoticed", names=listed, time=time))
    if names := _names(bikes, "disarmed"):
        lines.append(titled(hass, *names, label=panel_text(hass, "disarmed")))
    moved = (with_stored_state(hass, bike) for bike, state in bikes if state == "moved")
    lines += sorted(where(hass, bike)["text"] for bike in moved)
    return Message(tag, title, "\n".join(lines))


def contact_again(
    hass: HomeAssistant, guard: NightGuard, bikes: Sequence[tuple[Bike, GuardState]]
) -> Message:
    """Return the message about the end of an outage.

    If no bike is guarded, the message has no text, so it only removes the message about
    the outage.
    """
    tag, names = f"{NIGHT}contact_{guard.id}", _names(bikes, "armed")
    listed = with_commas(hass, names)
    still = words(hass, "guarded_as_before", names=listed) if names else ""
    return Message(tag, words(hass, "contact_again"), still)


def _names(bikes: Sequence[tuple[Bike, GuardState]], wanted: GuardState) -> list[str]:
    """Return the sorted names of the bikes whose guards have the wanted state."""
    return sorted(bike.name for bike, state in bikes if state == wanted)


def _about(hass: HomeAssistant, bike: Bike, title: str, said: str) -> Message:
    """Return a message about a bike's guard, with its buttons."""
    url = map_of(hass, bike.device_id)
    buttons = [
        {"action": f"{NIGHT}{action}_{bike.device_id}", "title": _label(hass, action)}
        for action in _BUTTONS
    ]
    buttons.append(link_button(url, words(hass, "button_map")))
    return Message(GUARD_TAG + bike.device_id, title, said, url, tuple(buttons))


def _label(hass: HomeAssistant, action: str) -> str:
    return text(hass, f"config_panel.{_BUTTONS[action]}")


def report(hass: HomeAssistant, bike: Bike, said: str, url: str | None) -> Message:
    """Return the message that answers a tap on *Theft report*. It opens the report or, without a URL, the map."""
    label = _label(hass, "report")
    title = titled(hass, bike.name, label=label)
    tag = f"{NIGHT}report_{bike.device_id}"
    buttons = (link_button(url, label),) if url else ()
    url = url or map_of(hass, bike.device_id)
    return Message(tag, title, said, url, buttons)
