"""List answers: their objects, and which of them changed."""

from collections.abc import (
    Collection,
    Container,
    Hashable,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
import json
from typing import Any, Final, NamedTuple

import orjson

from .errors import InvalidResponseError
from .models import Device, Position
from .size_limits import refuse_too_many_values

# Servers may invent names without end. Real ones use some hundred at the most.
MOST_NAMES: Final = 300
"""How many names of fields are remembered."""
_LONGEST_NAME = 64
_LONGEST_INTEGER = len("-9223372036854775808")
_NOTHING_USABLE = "no usable element in the list"


@dataclass(frozen=True, slots=True, eq=False)
class Changes[K, T]:
    """Mappings before and after, and the keys that differ.

    Neither mapping is changed afterwards. Of a thousand things, of which one changed, the
    others need not be looked at, which costs more than all that is done with the one.
    """

    before: Mapping[K, T]
    after: Mapping[K, T]
    keys: AbstractSet[K]
    """Keys that were added, changed or removed."""

    def changed_since(self, known: Mapping[K, T]) -> AbstractSet[K]:
        """Return the keys that may differ from a known mapping: all after a missed one."""
        if known is self.after:
            return frozenset()
        if known is self.before:
            return self.keys
        return known.keys() | self.after.keys()

    def without_before(self) -> Changes[K, T]:
        """Return what there is now as unchanged: the mapping before takes up memory."""
        return Changes(self.after, self.after, frozenset())


@dataclass(slots=True)
class Seen:
    """What a maintainer wants to know of the answers of one call, so far."""

    left_out: int = 0
    """Rows of the last answer without a usable key."""
    fields: set[str] = field(default_factory=set)
    """Names of fields that came, documented or not: the first MOST_NAMES."""
    within: set[str] = field(default_factory=set)
    """Names of what came within the one field, as many."""
    unreadable: set[str] = field(default_factory=set)
    """Names of fields that came without a usable value."""

    def note(self, row: Mapping[str, Any], within: str | None) -> None:
        """Take in the names of a row, and of what is within one of its fields."""
        _remember(self.fields, row)
        if type(inner := row.get(within or "")) is dict:
            _remember(self.within, inner)


class _Answer[K, T](NamedTuple):
    body: bytes | None
    rows: Mapping[Hashable, T | None]
    """The object of each row by its mark, None where that has no usable key."""
    objects: Mapping[K, T]


@dataclass(slots=True, eq=False)
class ListReader[K, T: (Device, Position)]:
    """Reads the answers of one call, one after another.

    An object that did not change is the same object as before, and so is the mapping if
    none did. Only rows that are new are read: a list of 1,000 of which 1 % changed takes
    a fifth of the time.
    """

    kind: type[T]
    within: str | None = None
    """Of which field the names within are seen as well."""
    seen: Seen = field(default_factory=Seen)
    _last: _Answer[K, T] = field(default_factory=lambda: _Answer(None, {}, {}))

    def read(self, body: bytes) -> Changes[K, T]:
        """Return the objects of an answer by key.

        Raises InvalidResponseError if it is no JSON array, or one of rows of which none
        has a usable key.
        """
        last, before = self._last, self._last.objects
        if body == last.body:
            return Changes(before, before, frozenset())
        marks, new = _marks_and_values(body, last.rows)
        known = {mark: last.rows[mark] for mark in marks if mark not in new}
        rows = known | {mark: self._object(value) for mark, value in new.items()}
        objects: dict[K, T] = _by_key([item for item in rows.values() if item])
        if marks and not objects:
            raise InvalidResponseError(_NOTHING_USABLE)
        self.seen.left_out = sum(rows[mark] is None for mark in marks)
        changed = before.keys() - objects.keys()
        for key, item in objects.items():
            if item is (was := before.get(key)):
                continue
            if item == was:
                objects[key] = was
            else:
                changed.add(key)
        now = objects if changed else before
        self._last = _Answer(body, rows, now)
        return Changes(before, now, changed)

    def objects_of(self, rows: object) -> list[T]:
        """Return the objects of rows that came otherwise, as far as they are any."""
        found = map(self._object, rows if type(rows) is list else [])
        return [item for item in found if item]

    def _object(self, value: Any) -> T | None:
        """Return the object of a row."""
        if type(value) is not dict:
            return None
        item = self.kind.from_row(value)
        if item is not None:
            self.seen.unreadable |= item.unreadable(value)
            self.seen.note(value, self.within)
        return item


def read_positions(body: bytes) -> list[Position]:
    """Return the positions of an answer, in order of their fixes.

    Raises InvalidResponseError if it is no JSON array, or one of something else.
    """
    rows = _values(body)
    found = [Position.from_row(row) for row in rows if type(row) is dict]
    positions = [position for position in found if position]
    if rows and not positions:
        raise InvalidResponseError(_NOTHING_USABLE)
    return sorted(positions, key=lambda position: (position.moment, position.id))


def _remember(seen: set[str], names: Collection[str]) -> None:
    """Remember names, as far as there is room: of long ones the beginning."""
    if not seen.issuperset(names):
        new = (name[:_LONGEST_NAME] for name in names if name not in seen)
        seen.update(islice(new, MOST_NAMES - len(seen)))


def _by_key[T: (Device, Position)](items: Collection[T]) -> dict[Any, T]:
    """Return objects by key: of two with one, that of the later moment.

    Where both are of the same moment the choice is any, but never depends on the order.
    """
    objects: dict[Any, T] = {item.key: item for item in items}
    if len(objects) < len(items):
        for item in items:
            objects[item.key] = max(item, objects[item.key], key=_moment_and_text)
    return objects


def _moment_and_text(item: Device | Position) -> tuple[datetime, str]:
    return item.moment, str(item)


def _marks_and_values(
    body: bytes, known: Container[Hashable]
) -> tuple[Sequence[Hashable], Mapping[Hashable, Any]]:
    """Return the mark of each row, and the values of rows whose marks are not known.

    A mark is the hash of what is between `},{`, which is a row's text if each of them is
    an object. Otherwise no row has a mark that was or will be another's.
    """
    refuse_too_many_values(body)
    if body.startswith(b"[{") and body.endswith(b"}]"):
        texts = body[2:-2].split(b"},{")
        marks = list(map(hash, texts))
        with suppress(orjson.JSONDecodeError):
            return marks, {
                mark: orjson.loads(b"{%b}" % text)
                for mark, text in zip(marks, texts, strict=True)
                if mark not in known
            }
    values = {object(): value for value in _values(body)}
    return list(values), values


def _values(body: bytes) -> list[Any]:
    """Return the elements of a JSON array, or raise InvalidResponseError."""
    refuse_too_many_values(body)
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        error = f"no JSON: {err.msg}"
        values = _lenient(body)
    else:
        error = "no JSON array"
    if type(values) is not list:
        # Raised here, as the errors above hold the body: it must reach no log.
        raise InvalidResponseError(error)
    return values


def _lenient(body: bytes) -> object:
    """Return what is read of JSON with numbers that no float holds, else None.

    These, and halves of surrogate pairs, cost their field, not all trackers.
    """
    try:
        return json.loads(body.decode(), parse_int=_number)
    except ValueError, RecursionError:
        return None


def _number(digits: str) -> float:
    """Return an integer, or a float for one that is beyond all IDs."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)
