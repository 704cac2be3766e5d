"""What outlives a restart: where trackers were, what was said, who is missing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.storage import Store

from .account import Alarm, Fix, Remembered, Ride, Said, Since, Track
from .api import Hardware, Position
from .api.models import boolean, number, one_line, timestamp
from .const import DOMAIN, LOGGER

_VERSION = 1
_SAVE_DELAY = 5 * 60


class Memory:
    """Keeps what one account's entry remembers in Home Assistant's storage folder."""

    def __init__(self, hass: HomeAssistant, entry_id: str) -> None:
        """Use the file of this entry."""
        self._hass = hass
        self._store = Store[dict[str, Any]](
            hass,
            _VERSION,
            f"{DOMAIN}.{entry_id}",
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self._remembered = Remembered()
        self._unsaved = False
        self._closed = False

    async def async_load(self) -> Remembered:
        """Return what was remembered, as far as it is there and readable."""
        try:
            stored = await self._store.async_load()
        except Exception as err:  # noqa: BLE001 - it costs what is remembered, no more
            LOGGER.warning("What was remembered is not readable: %s", err)
        else:
            self._remembered = await self._hass.async_add_executor_job(
                _from_json, stored
            )
        return self._remembered

    @callback
    def async_save_later(self) -> None:
        """Write within five minutes, or when Home Assistant stops."""
        if not self._unsaved and not self._closed:
            self._unsaved = True
            self._store.async_delay_save(self._to_save, _SAVE_DELAY)

    async def async_close(self) -> None:
        """Write now what is not written yet, and nothing after that."""
        self._closed = True
        if self._unsaved:
            data = await self._hass.async_add_executor_job(self._to_save)
            await self._store.async_save(data)

    async def async_remove(self) -> None:
        """Delete the file."""
        await self._store.async_remove()

    def _to_save(self) -> dict[str, Any]:
        self._unsaved = False
        return {
            "positions": _each(self._remembered.positions, _values),
            "missing": dict(self._remembered.missing),
            # Version 1.0 reads the others alone.
            "since": _each(self._remembered.since, _by_name),
            "tracks": _each(self._remembered.tracks, _by_name),
            "alarms": _each(self._remembered.alarms, _alarm_values),
            "hardware": {
                unique_id: position.hardware._asdict()
                for unique_id, position in dict(self._remembered.positions).items()
                if position.hardware
            },
        }


def _each[T](items: Mapping[str, T], change: Callable[[T], Any]) -> dict[str, Any]:
    # Runs beside the event loop, which may add trackers meanwhile: hence the copy.
    return {key: change(item) for key, item in dict(items).items()}


def _by_name(remembered: Since | Track) -> dict[str, Any]:
    return {
        name: value._asdict() if isinstance(value, Fix | Ride | Said) else value
        for name, value in remembered._asdict().items()
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


def _alarm_values(alarm: Alarm) -> dict[str, Any]:
    values = asdict(alarm)
    del values["is_news"]
    return values


def _from_json(stored: object) -> Remembered:
    """Return what is readable of a file that anybody may have written."""
    remembered = Remembered()
    hardware = dict(_items(stored, "hardware"))
    for unique_id, values in _items(stored, "positions"):
        if position := _position(values, _hardware(hardware.get(unique_id))):
            remembered.positions[unique_id] = position
    for unique_id, seconds in _items(stored, "missing"):
        remembered.missing[unique_id] = number(seconds, 0) or 0
    for unique_id, values in _items(stored, "since"):
        remembered.since[unique_id] = _since(values)
    for unique_id, values in _items(stored, "tracks"):
        if track := _track(values):
            remembered.tracks[unique_id] = track
    for unique_id, values in _items(stored, "alarms"):
        if alarm := _alarm(values):
            remembered.alarms[unique_id] = alarm
    return remembered


def _items(stored: object, key: str) -> Iterable[tuple[str, Any]]:
    items = stored.get(key) if isinstance(stored, dict) else None
    return items.items() if isinstance(items, dict) else ()


def _since(values: object) -> Since:
    get = values.get if isinstance(values, dict) else {}.get
    return Since(online=_said(get("online")), moving=_said(get("moving")))


def _said(values: object) -> Said | None:
    if not isinstance(values, dict):
        return None
    is_so, since = values.get("is_so"), timestamp(values.get("since"))
    if not isinstance(is_so, bool) or since is None:
        return None
    return Said(is_so, since)


def _track(values: object) -> Track | None:
    """Return how far a tracker came, or None, which lets it begin anew."""
    if not isinstance(values, dict):
        return None
    get = values.get
    total, seen = number(get("total"), 0), _fix(get("seen"))
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
        number(get("total"), 0),
    )


def _ride(values: object) -> Ride | None:
    if not isinstance(values, dict):
        return None
    get = values.get
    started_at, moved_at = timestamp(get("started_at")), timestamp(get("moved_at"))
    distance = number(get("distance"), 0)
    if started_at is None or moved_at is None or distance is None:
        return None
    return Ride(started_at, moved_at, distance, number(get("maximum_speed"), 0))


def _alarm(values: object) -> Alarm | None:
    get = values.get if isinstance(values, dict) else {}.get
    position_id, words = get("position_id"), get("words")
    if type(position_id) is not int or not isinstance(words, list):
        return None
    return Alarm(position_id, tuple(map(str, words)), timestamp(get("time")))


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
