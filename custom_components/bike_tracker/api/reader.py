"""From one list answer to the next: only what changed is built anew."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from itertools import batched
import json
import logging
from typing import Any, Protocol, Self

import orjson

from .errors import InvalidResponseError

_LOGGER = logging.getLogger(__name__)

# Rows read before the event loop gets its turn: a few milliseconds of work.
_ROWS_AT_A_TIME = 1_000
# What lists of tens of thousands of trackers need. Of `{}` alone, 16 MiB would take up
# more than half a gigabyte once read.
_MOST_VALUES = 1_000_000
_LONGEST_INTEGER = len("-9223372036854775808")

type Fields = tuple[Any, ...]


class Listed(Protocol):
    """What a list answer holds one of per row."""

    @staticmethod
    def fields(row: dict[str, Any], /) -> Fields | None:
        """Return what the object is made of, its key first, or None without a key.

        The fields of two rows are equal only if both say the same.
        """

    @classmethod
    def from_fields(cls, fields: Fields, note: Callable[[str], None], /) -> Self:
        """Return the object; `note` takes the name of each field without a value."""

    @property
    def moment(self) -> datetime:
        """Return when this was true: of two with one key the later counts."""


class ListReader[K, T: Listed]:
    """Reads the answers of one call, one after another.

    An object whose fields did not change is the same object as before, and so is the
    dictionary if none did.
    """

    def __init__(self, kind: type[T]) -> None:
        """Read objects of this kind."""
        self._kind = kind
        self._body: bytes | None = None
        self._fields: dict[K, Fields] = {}
        self._objects: dict[K, T] = {}
        self.left_out = 0
        """Rows of the last answer without a usable key."""
        self.seen_fields: set[str] = set()
        """Names of all fields that came, documented or not."""
        self.unreadable_fields: set[str] = set()
        """Names of fields that came without a usable value."""

    async def async_read(self, body: bytes) -> dict[K, T]:
        """Return the objects of an answer by key.

        Raises InvalidResponseError if it is no JSON array, or one of rows of which
        none has a usable key.
        """
        if body == self._body:
            return self._objects
        rows = _rows_of(body)
        fields: dict[K, Fields] = {}
        objects: dict[K, T] = {}
        left_out = 0
        for number, batch in enumerate(batched(rows, _ROWS_AT_A_TIME, strict=False)):
            if number:
                await asyncio.sleep(0)
            left_out += self._read_rows(batch, fields, objects)
        if rows and not objects:
            raise InvalidResponseError("no usable element in the list")
        self._note_left_out(left_out)
        self._body, self._fields = body, fields
        if not _same_objects(self._objects, objects):
            self._objects = objects
        return self._objects

    def _read_rows(
        self, rows: Iterable[Any], fields: dict[K, Fields], objects: dict[K, T]
    ) -> int:
        """Add the objects of some rows; return how many rows were left out."""
        fields_of = self._kind.fields
        known_fields, known_objects = self._fields, self._objects
        left_out = 0
        for row in rows:
            if type(row) is not dict or (new := fields_of(row)) is None:
                left_out += 1
                continue
            key = new[0]
            if known_fields.get(key) == new:
                item = known_objects[key]
            else:
                item = self._build(key, new, row)
            if key in objects and not _is_later(item, new, objects[key], fields[key]):
                continue
            objects[key] = item
            fields[key] = new
        return left_out

    def _build(self, key: K, fields: Fields, row: dict[str, Any]) -> T:
        self.seen_fields.update(row)
        item = self._kind.from_fields(fields, self._note_unreadable)
        return item if (old := self._objects.get(key)) != item or not old else old

    def _note_unreadable(self, field: str) -> None:
        if field not in self.unreadable_fields:
            self.unreadable_fields.add(field)
            _LOGGER.warning(
                "The server sent a %s without a readable %s, which stays unknown",
                self._kind.__name__.lower(),
                field,
            )

    def _note_left_out(self, number: int) -> None:
        if number and not self.left_out:
            _LOGGER.warning(
                "The server sent %d elements that are no %s and are left out",
                number,
                self._kind.__name__.lower(),
            )
        self.left_out = number


def _rows_of(body: bytes) -> list[Any]:
    if len(body) > _MOST_VALUES < sum(map(body.count, (b"[", b"{", b","))):
        raise InvalidResponseError("too many values")
    rows = _parsed(body)
    if type(rows) is not list:
        raise InvalidResponseError("no JSON array")
    return rows


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as err:
        reason = err.msg
    # Slower, and takes numbers that no float holds and halves of surrogate pairs: they
    # cost their field, not all trackers.
    with suppress(ValueError, RecursionError):
        return json.loads(body.decode(), parse_int=_number)
    # Raised here, as the errors above hold the body: it must reach no log.
    raise InvalidResponseError(f"no JSON: {reason}")


def _number(digits: str) -> float:
    """Return an integer that fits into 64 bits, else a float, which may be infinite."""
    if len(digits) <= _LONGEST_INTEGER and -(2**63) <= (number := int(digits)) < 2**64:
        return number
    return float(digits)


def _same_objects[K, T](old: dict[K, T], new: dict[K, T]) -> bool:
    return len(old) == len(new) and all(
        old.get(key) is item for key, item in new.items()
    )


def _is_later(item: Listed, fields: Fields, other: Listed, others: Fields) -> bool:
    """Return whether an object counts before another one with the same key.

    Where both are of the same moment the choice is any, but never depends on the order.
    """
    return (item.moment, str(fields)) > (other.moment, str(others))
