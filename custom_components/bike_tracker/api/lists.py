"""List answers: their objects, of which those that did not change stay the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import orjson

from .errors import InvalidResponseError
from .models import Device, Position, Values

_NOTHING_USABLE = "no usable element in the list"
_KEYS = {Device: attrgetter("unique_id"), Position: attrgetter("device_id")}


@dataclass(slots=True, eq=False)
class ListReader[K, T: (Device, Position)]:
    """Reads the answers of one call, one after another.

    An object that did not change is the same object as before, and so is the mapping if
    none did. Of a row of which nothing changed that is read, no object is made: of a
    thousand positions that would take 5 ms.
    """

    kind: type[T]
    _body: bytes | None = None
    _rows: Mapping[int | None, tuple[Values, T | None]] = field(default_factory=dict)
    """By the ID of a row: servers may list in another order each time."""
    _objects: Mapping[K, T] = field(default_factory=dict)

    def read(self, body: bytes) -> Mapping[K, T]:
        """Return the objects of an answer by key.

        Raises InvalidResponseError if it is no JSON array, or one of rows of which none
        has a usable key.
        """
        if body == self._body:
            return self._objects
        read = dict[int | None, tuple[Values, T | None]]()
        # Each row goes as it is read: thousands that stay are looked at by Python's
        # garbage collection, which takes as long as to read them.
        rows, items = _loads(body)[::-1], list[T]()
        while rows:
            values = self.kind.values_of(rows.pop())
            row_id = values[0] if type(values[0]) is int else None
            known = self._rows.get(row_id)
            if known is None or values != known[0]:
                known = values, self.kind.from_values(values)
            read[row_id] = known
            if (item := known[1]) is not None:
                items.append(item)
        if read and not items:
            raise InvalidResponseError(_NOTHING_USABLE)
        objects: dict[K, T] = _by_key(items, self.kind)
        has_changed = objects != self._objects
        # Of thousands of trackers some changed each time: their bodies are not kept.
        self._rows, self._body = read, None if has_changed else body
        if has_changed:
            self._objects = objects
        return self._objects


def read_positions(body: bytes) -> list[Position]:
    """Return the positions of an answer, in order of their fixes.

    Raises InvalidResponseError if it is no JSON array, or one of something else.
    """
    rows = _loads(body)
    positions = objects_of(rows, Position)
    if rows and not positions:
        raise InvalidResponseError(_NOTHING_USABLE)
    return sorted(positions, key=lambda position: (position.moment, position.id))


def objects_of[T: (Device, Position)](rows: Any, kind: type[T]) -> list[T]:
    """Return the objects of rows, as far as they are any."""
    values = map(kind.values_of, rows if type(rows) is list else ())
    return [item for item in map(kind.from_values, values) if item is not None]


def _loads(body: bytes) -> list[Any]:
    """Return the elements of a JSON array, or raise InvalidResponseError."""
    error = "no JSON array"
    try:
        rows = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        rows, error = None, f"no JSON: {err.msg}"
    if type(rows) is not list:
        # Raised here, as the error above holds the body: it must reach no log.
        raise InvalidResponseError(error)
    return rows


def _by_key[T: (Device, Position)](items: list[T], kind: type[T]) -> dict[Any, T]:
    """Return objects by key: of two with one key the newer, in whatever order they come."""
    objects = dict(zip(map(_KEYS[kind], items), items, strict=True))
    if len(objects) == len(items):
        return objects
    items = sorted(items, key=lambda item: (item.moment, str(item)))
    return dict(zip(map(_KEYS[kind], items), items, strict=True))
