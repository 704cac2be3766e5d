"""From one list answer to the next: only what changed is built anew."""

import asyncio
from collections.abc import Callable, Iterable, Set as AbstractSet
from datetime import datetime
import logging
from typing import Any, Protocol, Self

from .errors import InvalidResponseError
from .rows import portions

_LOGGER = logging.getLogger(__name__)

type Fields = tuple[Any, ...]


class Listed(Protocol):
    """What a list answer holds one of per row."""

    @staticmethod
    def key(row: dict[str, Any], /) -> object | None:
        """Return what the object is known by, or None without."""

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

    async def async_read(
        self, body: bytes, wanted: AbstractSet[K] | None = None
    ) -> dict[K, T]:
        """Return the objects of an answer by key.

        Of an answer with other keys than `wanted`, no more is read than these, and
        nothing is remembered of it.

        Raises InvalidResponseError if it is no JSON array, or one of rows of which
        none has a usable key.
        """
        if wanted is None and body == self._body:
            return self._objects
        fields: dict[K, Fields] = {}
        objects: dict[K, T] = {}
        number = left_out = 0
        for rows in portions(body):
            if number:
                await asyncio.sleep(0)
            number += len(rows)
            left_out += self._read_rows(self._pick(rows, wanted), fields, objects)
        if number and left_out == number:
            raise InvalidResponseError("no usable element in the list")
        self._note_left_out(left_out)
        if wanted is not None:
            return objects
        self._body, self._fields = body, fields
        if not _same_objects(self._objects, objects):
            self._objects = objects
        return self._objects

    def _pick(
        self, rows: Iterable[Any], wanted: AbstractSet[K] | None
    ) -> Iterable[Any]:
        """Return the rows with these keys, and those without any, to be counted."""
        if wanted is None:
            return rows
        key_of = self._kind.key
        return [
            row
            for row in rows
            if type(row) is not dict or (key := key_of(row)) is None or key in wanted
        ]

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


def _same_objects[K, T](old: dict[K, T], new: dict[K, T]) -> bool:
    return len(old) == len(new) and all(
        old.get(key) is item for key, item in new.items()
    )


def _is_later(item: Listed, fields: Fields, other: Listed, others: Fields) -> bool:
    """Return whether an object counts before another one with the same key.

    Where both are of the same moment the choice is any, but never depends on the order.
    """
    return (item.moment, str(fields)) > (other.moment, str(others))
