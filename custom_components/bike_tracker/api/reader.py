"""From one list answer to the next: only what changed is read."""

import asyncio
from collections.abc import Callable, Iterable, Set as AbstractSet
from datetime import datetime
import logging
from typing import Any, Protocol, Self

from .errors import InvalidResponseError
from .rows import portions, row_of, row_texts

_LOGGER = logging.getLogger(__name__)

# Rows read before the event loop gets its turn: a few milliseconds of work.
_ROWS_AT_A_TIME = 1_000


class Listed[K](Protocol):
    """What a list answer holds one of per row."""

    @staticmethod
    def key_of(row: dict[str, Any], /) -> K | None:
        """Return what the object of a row is known by, or None without."""

    @classmethod
    def from_row(
        cls, row: dict[str, Any], note: Callable[[str], None], /
    ) -> Self | None:
        """Return the object, or None without a key.

        `note` takes the name of each field without a value.
        """

    @property
    def key(self) -> K:
        """Return what the object is known by."""

    @property
    def moment(self) -> datetime:
        """Return when this was true: of two with one key the later counts."""


class ListReader[K, T: Listed[Any]]:
    """Reads the answers of one call, one after another.

    An object that did not change is the same object as before, and so is the dictionary
    if none did.
    """

    def __init__(self, kind: type[T]) -> None:
        """Read objects of this kind."""
        self._kind = kind
        self._body: bytes | None = None
        self._objects: dict[K, T] = {}
        # The key in each row, by the row's text.
        self._keys: dict[bytes, K | None] = {}
        self.changed: set[K] = set()
        """Keys whose object the last answer changed, added or took away."""
        self.left_out = 0
        """Rows of the last answer without a usable key."""
        self.seen_fields: set[str] = set()
        """Names of all fields that came, documented or not."""
        self.unreadable_fields: set[str] = set()
        """Names of fields that came without a usable value."""

    async def async_read(
        self, body: bytes, wanted: AbstractSet[K] | None = None
    ) -> dict[K, T]:
        """Return the objects of an answer by key, of `wanted` keys alone if given.

        Raises InvalidResponseError if it is no JSON array, or one of rows of which
        none has a usable key.
        """
        if body == self._body:
            self.changed = set()
        elif not await self._async_read_news(body):
            objects = await self._async_read_all(body, wanted)
            if wanted is not None:
                self._body = None
                return objects
            self._remember(body, {}, objects, self._objects.keys() | objects.keys())
        if wanted is None:
            return self._objects
        return {key: self._objects[key] for key in wanted & self._objects.keys()}

    async def _async_read_news(self, body: bytes) -> bool:
        """Read the rows whose text is new; return whether that does.

        It does not where rows cannot be told apart by their texts, or two are of one
        tracker.
        """
        if (texts := row_texts(body)) is None:
            return False
        rows = await _async_rows(texts - self._keys.keys())
        if rows is None:
            return False
        keys, objects = self._keys.copy(), self._objects.copy() if self._keys else {}
        for text in self._keys.keys() - texts:
            if (key := keys.pop(text)) is not None:
                del objects[key]
        touched = self._objects.keys() - objects.keys()
        for number, (text, row) in enumerate(rows.items(), 1):
            if number % _ROWS_AT_A_TIME == 0:
                await asyncio.sleep(0)
            item = self._object(row)
            if item is None:
                keys[text] = None
                continue
            if item.key in objects:
                return False
            keys[text] = item.key
            objects[item.key] = item
            touched.add(item.key)
        self._count(len(keys), len(keys) - len(objects))
        self._remember(body, keys, objects, touched)
        return True

    async def _async_read_all(
        self, body: bytes, wanted: AbstractSet[K] | None = None
    ) -> dict[K, T]:
        objects: dict[K, T] = {}
        number = left_out = 0
        for rows in portions(body):
            if number:
                await asyncio.sleep(0)
            number += len(rows)
            left_out += self._read_rows(self._pick(rows, wanted), objects)
        self._count(number, left_out)
        return objects

    def _pick(
        self, rows: Iterable[Any], wanted: AbstractSet[K] | None
    ) -> Iterable[Any]:
        """Return the rows with these keys, and those without any, to be counted."""
        if wanted is None:
            return rows
        key_of = self._kind.key_of
        return [
            row
            for row in rows
            if type(row) is not dict or (key := key_of(row)) is None or key in wanted
        ]

    def _read_rows(self, rows: Iterable[Any], objects: dict[K, T]) -> int:
        """Add the objects of some rows; return how many rows were left out."""
        left_out = 0
        for row in rows:
            item = self._object(row) if type(row) is dict else None
            if item is None:
                left_out += 1
            elif (other := objects.get(item.key)) is None or _is_later(item, other):
                objects[item.key] = item
        return left_out

    def _object(self, row: dict[str, Any]) -> T | None:
        """Return the object of a row, which is the old one if it did not change."""
        item = self._kind.from_row(row, self._note_unreadable)
        if item is None:
            return None
        self.seen_fields.update(row)
        old = self._objects.get(item.key)
        return old if old == item else item

    def _remember(
        self,
        body: bytes,
        keys: dict[bytes, K | None],
        objects: dict[K, T],
        touched: Iterable[K],
    ) -> None:
        before = self._objects
        self.changed = {
            key for key in touched if objects.get(key) is not before.get(key)
        }
        self._body, self._keys = body, keys
        if self.changed:
            self._objects = objects

    def _note_unreadable(self, field: str) -> None:
        if field not in self.unreadable_fields:
            self.unreadable_fields.add(field)
            _LOGGER.warning(
                "The server sent a %s without a readable %s, which stays unknown",
                self._kind.__name__.lower(),
                field,
            )

    def _count(self, number: int, left_out: int) -> None:
        """Take in how many of so many rows have no usable key."""
        if number and left_out == number:
            raise InvalidResponseError("no usable element in the list")
        if left_out and not self.left_out:
            _LOGGER.warning(
                "The server sent %d elements that are no %s and are left out",
                left_out,
                self._kind.__name__.lower(),
            )
        self.left_out = left_out


async def _async_rows(texts: Iterable[bytes]) -> dict[bytes, dict[str, Any]] | None:
    """Return the row of each text, or None if one is no JSON object."""
    rows = {}
    for number, text in enumerate(texts, 1):
        if number % _ROWS_AT_A_TIME == 0:
            await asyncio.sleep(0)
        if (row := row_of(text)) is None:
            return None
        rows[text] = row
    return rows


def _is_later(item: Listed[Any], other: Listed[Any]) -> bool:
    """Return whether an object counts before another one with the same key.

    Where both are of the same moment the choice is any, but never depends on the order.
    """
    return (item.moment, str(item)) > (other.moment, str(other))
