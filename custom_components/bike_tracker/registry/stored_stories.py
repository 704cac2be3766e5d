"""Stories of trackers as a file holds them: all that they are made of, by its name.

A field that a story gets is kept without a word here, if its values are of kinds that
others have.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from operator import attrgetter
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from ..api import Position
from ..api.models import (
    MAX_ADDRESS,
    MAX_KILOMETRES,
    boolean,
    number,
    one_line,
    timestamp,
)
from ..tracking import Story, Track

type Reader = Callable[[Any], Any]
"""Returns a value from what JSON holds, None if that is not readable."""

# What a part of the file is called, if not as the field of a story.
_NAMES: Final = {"position": "positions", "track": "tracks"}
_PARTS: Final[Mapping[str, Callable[[Story], Any]]] = {
    _NAMES.get(field, field): attrgetter(field)
    for field in Story._fields
    # Counts for this start alone.
    if field != "there_already"
} | {
    "hardware": lambda story: story.position and story.position.hardware,
    "address": lambda story: story.position and story.position.address,
}
# Version 1.0 refuses a position with any other: hence the parts beside.
_FIELDS_OF_1_0: Final = Position._fields[: Position._fields.index("motion") + 1]
_REQUIRED: Final = object()
_BOUNDS: Final[Mapping[str, tuple[float, ...]]] = {
    "latitude": (-90, 90),
    "longitude": (-180, 180),
    "course": (0, 360),
    "battery_level": (0, 100),
    "total": (0, MAX_KILOMETRES),
    "accuracy": (0,),
    "distance": (0,),
    "drift": (0,),
    "speed": (0,),
    "maximum_speed": (0,),
}


def to_json(stories: Mapping[str, Story]) -> dict[str, dict[str, Any]]:
    """Return what is to be written of stories by `uniqueId`."""
    return {
        part: {
            key: plain(value)
            for key, story in stories.items()
            if (value := read(story))
        }
        for part, read in _PARTS.items()
    }


def from_json(stored: object) -> dict[str, Story]:
    """Return what is readable of a file that anybody may have written."""
    parts = {part: dict_in(stored, part) for part in _PARTS}
    return {
        key: _story({part: values.get(key) for part, values in parts.items()})
        for key in set[str]().union(*parts.values())
    }


def dict_in(values: object, key: str) -> dict[str, Any]:
    """Return the dictionary of this name, an empty one if there is none."""
    value = values.get(key) if isinstance(values, dict) else None
    return value if isinstance(value, dict) else {}


def plain(value: Any) -> Any:
    """Return what JSON holds of a tuple with names, of tuples and of other values."""
    if isinstance(value, Position):
        return _position_of_1_0(value)
    if hasattr(value, "_fields"):
        return dict(zip(value._fields, map(plain, value), strict=True))
    return list(map(plain, value)) if isinstance(value, tuple) else value


def _position_of_1_0(position: Position) -> dict[str, Any]:
    """Return what 1.0 reads as well, should somebody go back to it."""
    if not position.is_readable:
        # Of no ID that is announced, so that it is asked for again.
        position = position._replace(id=0)
    return {field: getattr(position, field) for field in _FIELDS_OF_1_0}


def _story(values: dict[str, Any]) -> Story:
    for field, part in _NAMES.items():
        values[field] = values[part]
    if isinstance(position := values["position"], dict):
        position.update(hardware=values["hardware"], address=values["address"])
    if isinstance(alarm := values["alarms"], dict):
        values["alarms"] = _alarms_of_1_1(alarm)
    for said in dict_in(values, "since").values():
        # Version 1.1 did not count: what it remembered may well have been a change.
        if isinstance(said, dict):
            said.setdefault("changes", 1)
    story: Story = _read_story(values)
    return story._replace(
        position=story.position and _placed(story.position), track=_sound(story.track)
    )


def _placed(position: Position) -> Position:
    """Return a position without what is said of its place, unless that is whole."""
    if position.latitude is not None and position.longitude is not None:
        return position
    return position._replace(
        fix_time=None, latitude=None, longitude=None, accuracy=0, address=None
    )


def _sound(track: Track | None) -> Track | None:
    """Return a track as far as it can be gone on with, None if it begins anew."""
    if track is None or track.total is None:
        return None
    is_whole = track.place and track.seen and track.heard_at
    return track if is_whole else Track(total=track.total)


def _alarms_of_1_1(alarm: dict[str, Any]) -> list[Any]:
    """Return the last alarm that 1.1 told, a word each."""
    words, report, time = map(alarm.get, ("words", "position_id", "time"))
    words = words if isinstance(words, list) else []
    return [{"word": word, "report": report, "time": time} for word in words]


def reader(kind: Any, name: str = "") -> Reader:
    """Return what reads values of this kind, in a field of this name."""
    if isinstance(kind, UnionType):
        return reader(get_args(kind)[0], name)
    if get_origin(kind) is Literal:
        return lambda value: value if value in get_args(kind) else None
    if get_origin(kind) is tuple:
        return partial(_items, reader(get_args(kind)[0]))
    if bounds := _BOUNDS.get(name):
        return lambda value: number(value, *bounds)
    if read := _READERS.get(kind):
        return read
    # A field that is not readable is unknown if it can be, or as it is at first.
    defaults, hints = kind._field_defaults, get_type_hints(kind)
    fields = [
        (
            field,
            reader(hint, field),
            defaults.get(field, None if isinstance(hint, UnionType) else _REQUIRED),
        )
        for field, hint in hints.items()
    ]
    return partial(_tuple, kind, fields)


def _items(read: Reader, values: object) -> tuple[Any, ...]:
    """Return those that are readable."""
    if not isinstance(values, list):
        return ()
    return tuple(item for value in values if (item := read(value)) is not None)


def _tuple(kind: Any, fields: list[tuple[str, Reader, Any]], values: object) -> Any:
    """Return a tuple with names, None if a field is not readable that it needs."""
    if not isinstance(values, dict):
        return None
    get = values.get
    items = [
        otherwise
        if (value := get(field)) is None or (item := read(value)) is None
        else item
        for field, read, otherwise in fields
    ]
    return None if _REQUIRED in items else kind._make(items)


_READERS: Final[Mapping[type, Reader]] = {
    bool: boolean,
    datetime: timestamp,
    float: number,
    int: lambda value: value if type(value) is int else None,
    str: partial(one_line, max_length=MAX_ADDRESS),
}
_read_story: Final = reader(Story)
