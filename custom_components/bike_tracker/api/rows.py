"""The elements of a JSON array, in portions the event loop can bear."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import batched
import json
import re
from typing import Any

import orjson

from .errors import InvalidResponseError

# A few milliseconds of work each, some tens on a Raspberry Pi.
_BYTES_AT_ONCE = 3 * 1024 * 1024
_CHARACTERS_AT_A_TIME = 256 * 1024
_ROWS_AT_A_TIME = 1_000
# What lists of tens of thousands of trackers need. Of `{}` alone, 16 MiB would take up
# more than half a gigabyte once read.
_MOST_VALUES = 1_000_000
_LONGEST_INTEGER = len("-9223372036854775808")
_OPENING = re.compile(r"[ \t\n\r]*\[[ \t\n\r]*(\]?)[ \t\n\r]*")
_SEPARATOR = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")


def row_texts(body: bytes) -> set[bytes] | None:
    """Return what is between the braces of each object in a JSON array.

    That is a guess, which is right if each of them is JSON: `row_of` tells. Return None
    if it is wrong already at first sight, or if two of them are the same.

    Raises InvalidResponseError if there are too many values.
    """
    _check_number_of_values(body)
    body = body.strip(b" \t\n\r")
    if not body.startswith(b"[{") or not body.endswith(b"}]"):
        return None
    texts = body[2:-2].split(b"},{")
    return known if len(known := set(texts)) == len(texts) else None


def row_of(text: bytes) -> dict[str, Any] | None:
    """Return the object of such a text, or None if it is none."""
    try:
        row: dict[str, Any] = orjson.loads(b"{%b}" % text)
    except orjson.JSONDecodeError:
        return None
    return row


def portions(body: bytes) -> Iterator[Sequence[Any]]:
    """Yield the elements of a JSON array, some at a time.

    Raises InvalidResponseError if it is none, maybe after some portions.
    """
    _check_number_of_values(body)
    error = "no JSON array"
    if len(body) <= _BYTES_AT_ONCE:
        try:
            rows = orjson.loads(body)
        except orjson.JSONDecodeError as err:
            error = f"no JSON: {err.msg}"
        else:
            if type(rows) is not list:
                raise InvalidResponseError(error)
            yield from batched(rows, _ROWS_AT_A_TIME, strict=False)
            return
    with suppress(ValueError, RecursionError):
        yield from _one_by_one(body.decode())
        return
    # Raised here, as the errors above hold the body: it must reach no log.
    raise InvalidResponseError(error)


def _check_number_of_values(body: bytes) -> None:
    if len(body) > _MOST_VALUES < sum(map(body.count, (b"[", b"{", b","))):
        raise InvalidResponseError("too many values")


def _one_by_one(text: str) -> Iterator[list[Any]]:
    """Yield the same, however much it is; raise ValueError or RecursionError.

    Slower, and takes numbers that no float holds and halves of surrogate pairs: they
    cost their field, not all trackers.
    """
    separator = _OPENING.match(text)
    rows, start = [], 0
    while separator and separator[1] != "]":
        row, end = _DECODER.raw_decode(text, separator.end())
        rows.append(row)
        separator = _SEPARATOR.match(text, end)
        if end - start > _CHARACTERS_AT_A_TIME:
            yield rows
            rows, start = [], end
    if not separator or separator.end() != len(text):
        raise ValueError("no array")
    yield rows


def _number(digits: str) -> float:
    """Return an integer that fits into 64 bits, else a float, which may be infinite."""
    if len(digits) <= _LONGEST_INTEGER and -(2**63) <= (number := int(digits)) < 2**64:
        return number
    return float(digits)


_DECODER = json.JSONDecoder(parse_int=_number)
