"""Convert named tuples to the JSON of the file and back."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
import json
import types
from typing import Any, get_args, get_origin, get_type_hints
import zlib


def to_json(value: Any) -> Any:
    """Convert a value so that `json.dumps` can write it. Leave out fields of a named tuple that have their default."""
    if hasattr(value, "_fields"):
        defaults = value._field_defaults.items()
        fields = (field for field in value._asdict().items() if field not in defaults)
        return {name: to_json(item) for name, item in fields}
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    # Seven decimals of a degree are a centimeter. Few services send more, so round.
    return round(value, 7) if isinstance(value, float) else value


@cache
def reader(kind: Any) -> Callable[[Any], Any]:
    """Return a function that converts JSON to this type. The function may raise an error for wrong JSON."""
    match get_args(kind):
        case [known, types.NoneType]:
            read = reader(known)
            return lambda value: None if value is None else read(value)
        case [each, types.EllipsisType()]:
            read = reader(each)
            return lambda value: tuple(map(read, value))
        case [_, each] if get_origin(kind) is dict:
            read = reader(each)
            return lambda value: {key: read(item) for key, item in value.items()}
    if isinstance(kind, type) and issubclass(kind, datetime):
        return datetime.fromisoformat
    if not hasattr(kind, "_fields"):
        return lambda value: value
    readers = {field: reader(hint) for field, hint in get_type_hints(kind).items()}
    return lambda value: kind(
        **{field: readers[field](value[field]) for field in readers.keys() & value}
    )


def as_json(value: object) -> str:
    """Return a value as compact JSON."""
    return json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"))


def packed(state: object) -> bytes:
    """Return a state as compressed JSON.

    Compression is worth it: states are written often, and contain the same place
    several times.
    """
    return zlib.compress(as_json(state).encode(), zlib.Z_BEST_COMPRESSION)


def unpacked(state: bytes) -> Any:
    """Return the parsed JSON of a compressed state."""
    return json.loads(zlib.decompress(state))
