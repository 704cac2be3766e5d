"""One list answer after another: objects, and which are others than before."""

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
import json
from typing import Any, Protocol, Self

import orjson

from .errors import InvalidResponseError
from .news import News
from .turns import ITEMS_AT_A_TIME, Steps, at_once

# What lists of thousands of trackers need. Of `{}` alone, 4 MiB would take up a hundred
# times as much once read.
_MOST_VALUES = 400_000
_KNOWN = object()
_LONGEST_INTEGER = len("-9223372036854775808")


class Listed[K](Protocol):
    """What a list answer holds one of per row."""

    @classmethod
    def from_row(
        cls, row: dict[str, Any], note: Callable[[str], None], /
    ) -> Self | None:
        """Return the object, or None without a key.

        `note` takes the name of each field without a readable value.
        """

    @property
    def key(self) -> K:
        """Return what the object is known by."""

    @property
    def moment(self) -> datetime:
        """Return when this was true: of two with one key the later counts."""


class ListReader[K, T: Listed[Any]]:
    """Reads the answers of one call, one after another.

    An object that did not change is the same object as before, and so is the mapping if
    none did.
    """

    def __init__(self, kind: type[T], *, within: str | None = None) -> None:
        """Read objects of this kind; of one field the names within are seen as well."""
        self._kind = kind
        self._within = within
        self._body: bytes | None = None
        self._objects: Mapping[K, T] = {}
        # The object in each row of the last list, by the row's text.
        self._rows: Mapping[bytes | None, T | None] = {}
        self.left_out = 0
        """Rows of the last answer without a usable key."""
        self.seen_fields: set[str] = set()
        """Names of all fields that came, documented or not."""
        self.seen_within: set[str] = set()
        """Names of all that came within the one field."""
        self.unreadable_fields: set[str] = set()
        """Names of fields that came without a usable value."""

    def read(self, body: bytes) -> News[K, T]:
        """Return the objects of an answer by key.

        Raises InvalidResponseError if it is no JSON array, or one of rows of which none
        has a usable key.
        """
        return at_once(self.reading(body))

    def reading(self, body: bytes) -> Steps[News[K, T]]:
        """Do the same in steps: nothing is kept before the last."""
        if body == self._body:
            return News(self._objects, self._objects, frozenset())
        texts, values = _texts_and_values(body, self._rows)
        rows: list[T | None] = []
        for text, value in zip(texts, values, strict=True):
            rows.append(self._rows[text] if value is _KNOWN else self._object(value))
            if len(rows) % ITEMS_AT_A_TIME == 0:
                yield
        left_out = rows.count(None)
        if rows and left_out == len(rows):
            raise InvalidResponseError("no usable element in the list")
        self._body, self.left_out = body, left_out
        self._rows = dict(zip(texts, rows, strict=True))
        return self._news(self._by_key(rows))

    def _object(self, value: Any) -> T | None:
        """Return the object of a row."""
        if type(value) is not dict:
            return None
        item = self._kind.from_row(value, self.unreadable_fields.add)
        if item is not None:
            self.seen_fields.update(value)
            if type(within := value.get(self._within)) is dict:
                self.seen_within.update(within)
        return item

    def _by_key(self, rows: Sequence[T | None]) -> dict[K, T]:
        """Return the objects by key: of two with one, that of the later moment.

        Where both are of the same moment the choice is any, but never depends on the
        order.
        """
        objects = {item.key: item for item in rows if item is not None}
        if len(objects) + rows.count(None) < len(rows):
            for item in rows:
                if item is not None:
                    objects[item.key] = max(
                        item, objects[item.key], key=_moment_and_text
                    )
        return objects

    def _news(self, objects: dict[K, T]) -> News[K, T]:
        before, changed = self._objects, set()
        others = [key for key, item in objects.items() if before.get(key) is not item]
        for key in others:
            if (old := before.get(key)) == objects[key] and old is not None:
                objects[key] = old
            else:
                changed.add(key)
        if changed or len(objects) < len(before):
            changed |= before.keys() - objects.keys()
            self._objects = objects
        return News(before, self._objects, changed)


def _moment_and_text(item: Listed[Any]) -> tuple[datetime, str]:
    return item.moment, str(item)


def _texts_and_values(
    body: bytes, known: Container[bytes | None]
) -> tuple[Sequence[bytes | None], Sequence[Any]]:
    """Return the text and the value of each row; one whose text is known is not read.

    Telling 1,000 rows apart by their texts takes a quarter of the time of reading them.
    The texts are what is between `},{`, which is right if each of them is an object;
    else the rows have no text.
    """
    if len(body) > _MOST_VALUES < sum(map(body.count, (b"[", b"{", b","))):
        raise InvalidResponseError("too many values")
    if body.startswith(b"[{") and body.endswith(b"}]"):
        texts = body[2:-2].split(b"},{")
        with suppress(orjson.JSONDecodeError):
            return texts, [
                _KNOWN if text in known else orjson.loads(b"{%b}" % text)
                for text in texts
            ]
    values = _values(body)
    return [None] * len(values), values


def _values(body: bytes) -> list[Any]:
    """Return the elements of a JSON array, or raise InvalidResponseError."""
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
    """Return an integer that fits into 64 bits, else a float, which may be infinite."""
    if len(digits) <= _LONGEST_INTEGER and -(2**63) <= (number := int(digits)) < 2**64:
        return number
    return float(digits)
