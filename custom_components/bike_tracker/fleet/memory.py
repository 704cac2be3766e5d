"""What outlives a restart: each tracker's story, what was told of it, who is missing."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.storage import Store
from homeassistant.util.hass_dict import HassKey

from ..account import Alarm, Fix, Remembered, Ride, RideEvent, Said, Since, Story, Track
from ..api import Hardware, Position
from ..api.models import MOST_KILOMETRES, boolean, number, one_line, timestamp
from ..const import DOMAIN, LOGGER
from ..identity import name_of

_VERSION = 1
# Never more often than this either, however much changes.
_SAVE_DELAY: Final = 10

type Marks = list[dict[str, Any]]
"""How far triggers are with the trackers of an account, ready to be written."""

MARKS: HassKey[Callable[[Collection[str]], Marks]] = HassKey(f"{DOMAIN}_marks_of")
"""Returns the marks of these trackers. It is called beside the event loop."""


class Memory:
    """Keeps what one account's entry remembers in Home Assistant's storage folder."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Use the file of this entry."""
        self._hass = hass
        self._entry = entry
        self._store = Store[dict[str, Any]](
            hass,
            _VERSION,
            f"{DOMAIN}.{entry.entry_id}",
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self.remembered = Remembered()
        """What was remembered when it was loaded, as it became since."""
        # Those of triggers that did not ask for them yet, as they were written.
        self._marks: Marks = []
        self._unsaved = False
        self._closed = False

    async def async_load(self) -> Remembered:
        """Return what was remembered, as far as it is there and readable."""
        try:
            stored = await self._store.async_load()
        except Exception as err:  # noqa: BLE001 - it costs what is remembered, no more
            name = name_of(self._entry)
            LOGGER.warning("%s: What was remembered is not readable: %s", name, err)
        else:
            self.remembered = await self._hass.async_add_executor_job(
                _from_json, stored
            )
            self._marks = [
                item for item in _list(stored, "marks") if isinstance(item, dict)
            ]
        return self.remembered

    @callback
    def take_marks(self) -> Marks:
        """Return how far triggers were when it was written, once."""
        marks, self._marks = self._marks, []
        return marks

    @callback
    def async_save_later(self) -> None:
        """Write within ten seconds, or when Home Assistant stops."""
        if not self._unsaved and not self._closed:
            self._unsaved = True
            self._store.async_delay_save(self._to_save, _SAVE_DELAY)

    async def async_save(self) -> None:
        """Write now."""
        data = await self._hass.async_add_executor_job(self._to_save)
        await self._store.async_save(data)

    async def async_close(self) -> None:
        """Write now what is not written yet, and nothing after that."""
        self._closed = True
        if self._unsaved:
            await self.async_save()

    async def async_remove(self) -> None:
        """Delete the file."""
        await self._store.async_remove()

    def _to_save(self) -> dict[str, Any]:
        """Return what is to be written.

        Runs beside the event loop, which may take in more meanwhile: hence the copies.
        What was told is copied first, so that a kill tells it again rather than never.
        """
        self._unsaved = False
        marks = self._all_marks()
        told = {key: dict(items) for key, items in dict(self.remembered.told).items()}
        stories = dict(self.remembered.stories)
        positions = _each(stories, lambda story: story.position)
        return {
            "positions": {key: _values(item) for key, item in positions.items()},
            "missing": dict(self.remembered.missing),
            # Version 1.0 reads the others alone, and 1.1 those up to hardware.
            "since": {key: _by_name(story.since) for key, story in stories.items()},
            "tracks": _each(
                stories, lambda story: story.track and _by_name(story.track)
            ),
            "hardware": _each(
                positions, lambda item: item.hardware and item.hardware._asdict()
            ),
            "alarms": _each(
                stories, lambda story: [item._asdict() for item in story.alarms]
            ),
            "ride_events": _each(
                stories, lambda story: [_by_name(item) for item in story.ride_events]
            ),
            "shown": _each(stories, lambda story: story.shown and _values(story.shown)),
            "told": told,
            "marks": marks,
        }

    def _all_marks(self) -> Marks:
        # Triggers that did not ask yet may do so once the account is set up. Theirs come
        # first: after a kill before that they go on with them, not with where they began.
        unclaimed = list(self._marks)
        marks_of = self._hass.data.get(MARKS)
        return unclaimed + (marks_of(self.remembered.stories) if marks_of else [])


def _each[T, U](
    items: Mapping[str, T], change: Callable[[T], U | None]
) -> dict[str, U]:
    """Return what becomes of each, without those of which nothing does."""
    return {key: changed for key, item in items.items() if (changed := change(item))}


def _by_name(values: Since | Track | RideEvent | Fix | Ride | Said) -> dict[str, Any]:
    return {
        name: _by_name(value) if isinstance(value, Fix | Ride | Said) else value
        for name, value in values._asdict().items()
    }


def _values(position: Position) -> dict[str, Any]:
    """Return what 1.0 reads as well, should somebody go back to it."""
    values = position._asdict()
    for unknown in ("device_time", "total_distance", "is_fix", "hardware", "alarm"):
        del values[unknown]
    if not values.pop("is_readable"):
        # Of no ID that is announced, so that it is asked for again.
        values["id"] = 0
    return values


def _from_json(stored: object) -> Remembered:
    """Return what is readable of a file that anybody may have written."""
    hardware, shown = dict(_items(stored, "hardware")), dict(_items(stored, "shown"))
    positions, since = dict(_items(stored, "positions")), dict(_items(stored, "since"))
    tracks, alarms = dict(_items(stored, "tracks")), dict(_items(stored, "alarms"))
    ride_events = dict(_items(stored, "ride_events"))
    stories = {
        key: Story(
            position=_position(positions.get(key), _hardware(hardware.get(key))),
            shown=_position(shown.get(key), None),
            since=_since(since.get(key)),
            alarms=_alarms(alarms.get(key)),
            ride_events=_ride_events(ride_events.get(key)),
            track=_track(tracks.get(key)),
        )
        for key in positions.keys() | since.keys() | tracks.keys() | alarms.keys()
    }
    return Remembered(
        stories=stories,
        missing={key: number(item, 0) or 0 for key, item in _items(stored, "missing")},
        told={key: _told(item) for key, item in _items(stored, "told")},
    )


def _items(stored: object, key: str) -> Iterable[tuple[str, Any]]:
    items = stored.get(key) if isinstance(stored, dict) else None
    return items.items() if isinstance(items, dict) else ()


def _list(stored: object, key: str) -> list[Any]:
    items = stored.get(key) if isinstance(stored, dict) else None
    return items if isinstance(items, list) else []


def _told(values: object) -> dict[str, datetime]:
    items = values.items() if isinstance(values, dict) else ()
    return {key: time for key, value in items if (time := timestamp(value))}


def _since(values: object) -> Since:
    get = values.get if isinstance(values, dict) else {}.get
    return Since(online=_said(get("online")), moving=_said(get("moving")))


def _said(values: object) -> Said | None:
    if not isinstance(values, dict):
        return None
    is_so, since = values.get("is_so"), timestamp(values.get("since"))
    if not isinstance(is_so, bool) or since is None:
        return None
    # Version 1.1 did not count: what it remembered may well have been a change.
    changes = number(values.get("changes", 1), 0)
    return Said(is_so, since, timestamp(values.get("before")), int(changes or 0))


def _track(values: object) -> Track | None:
    """Return how far a tracker came, or None, which lets it begin anew."""
    if not isinstance(values, dict):
        return None
    get = values.get
    total, seen = number(get("total"), 0, MOST_KILOMETRES), _fix(get("seen"))
    heard_at = timestamp(get("heard_at"))
    if total is None:
        return None
    if seen is None or heard_at is None:
        return Track(total=total)
    return Track(
        total=total,
        place=_fix(get("place")) or seen,
        seen=seen,
        doubt=_fix(get("doubt")),
        measured_at=timestamp(get("measured_at")),
        drift=number(get("drift"), 0) or 0,
        heard_at=heard_at,
        reported_at=timestamp(get("reported_at")),
        says_it_moves=boolean(get("says_it_moves")),
        ride=_ride(get("ride")),
        ended=_ride(get("ended")),
        last=_ride(get("last")),
    )


def _fix(values: object) -> Fix | None:
    if not isinstance(values, dict):
        return None
    get = values.get
    time = timestamp(get("time"))
    latitude = number(get("latitude"), -90, 90)
    longitude = number(get("longitude"), -180, 180)
    if time is None or latitude is None or longitude is None:
        return None
    return Fix(
        time,
        latitude,
        longitude,
        number(get("accuracy"), 0) or 0,
        number(get("total"), 0, MOST_KILOMETRES),
    )


def _ride(values: object) -> Ride | None:
    if not isinstance(values, dict):
        return None
    get = values.get
    started_at, moved_at = timestamp(get("started_at")), timestamp(get("moved_at"))
    distance = number(get("distance"), 0)
    if started_at is None or moved_at is None or distance is None:
        return None
    return Ride(
        started_at,
        moved_at,
        distance,
        number(get("maximum_speed"), 0),
        start=_fix(get("start")),
        end=_fix(get("end")),
    )


def _ride_events(items: object) -> tuple[RideEvent, ...]:
    return tuple(
        RideEvent(item["type"], ride, timestamp(item.get("heard_at")))
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, dict)
        and item.get("type") in ("started", "ended")
        and (ride := _ride(item.get("ride")))
    )


def _alarms(items: object) -> tuple[Alarm, ...]:
    if isinstance(items, dict):
        return _alarms_of_1_1(items)
    return tuple(
        Alarm(
            item["word"],
            timestamp(item.get("time")),
            timestamp(item.get("heard_at")),
            item["report"],
            timestamp(item.get("reported_at")),
        )
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, dict)
        and isinstance(item.get("word"), str)
        and type(item.get("report")) is int
    )


def _alarms_of_1_1(values: dict[str, Any]) -> tuple[Alarm, ...]:
    """Return the last alarm that 1.1 told, a word each."""
    report, words = values.get("position_id"), values.get("words")
    if type(report) is not int or not isinstance(words, list):
        return ()
    time = timestamp(values.get("time"))
    return tuple(Alarm(str(word), time, None, report) for word in words)


def _hardware(values: object) -> Hardware | None:
    if not isinstance(values, dict):
        return None
    get = values.get
    return Hardware(
        charge=boolean(get("charge")),
        lock=boolean(get("lock")),
        battery_voltage=number(get("battery_voltage"), 0),
        power_voltage=number(get("power_voltage"), 0),
        firmware=one_line(get("firmware")),
    )


def _position(values: object, hardware: Hardware | None) -> Position | None:
    if not isinstance(values, dict):
        return None
    get = values.get
    device_id, position_id = get("device_id"), get("id")
    if type(device_id) is not int or type(position_id) is not int:
        return None
    latitude = number(get("latitude"), -90, 90)
    longitude = number(get("longitude"), -180, 180)
    has_place = latitude is not None and longitude is not None
    return Position(
        device_id=device_id,
        id=position_id,
        fix_time=timestamp(get("fix_time")) if has_place else None,
        latitude=latitude if has_place else None,
        longitude=longitude if has_place else None,
        accuracy=number(get("accuracy"), 0) or 0,
        altitude=number(get("altitude")),
        speed=number(get("speed"), 0),
        course=number(get("course"), 0, 360),
        battery_level=number(get("battery_level"), 0, 100),
        motion=boolean(get("motion")),
        hardware=hardware,
    )
