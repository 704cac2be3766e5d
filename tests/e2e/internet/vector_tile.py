"""Vector tiles as maps load them: layers of lines with properties, in Mapbox's format, version 2.1."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

EXTENT = 4096
"""The width and height of a tile in its own units."""

type TilePoint = tuple[int, int]
"""Right and down from the upper left corner."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with what there is to know of it."""

    points: Sequence[TilePoint]
    properties: Mapping[str, str]


def encode(layers: Mapping[str, Iterable[Line]]) -> bytes:
    """Return the tile."""
    return b"".join(_bytes(3, _layer(name, lines)) for name, lines in layers.items())


def _layer(name: str, lines: Iterable[Line]) -> bytes:
    keys: dict[str, int] = {}
    values: dict[str, int] = {}
    features = [_feature(line, keys, values) for line in lines]
    return b"".join(
        (
            _bytes(1, name.encode()),
            *(_bytes(2, feature) for feature in features),
            *(_bytes(3, key.encode()) for key in keys),
            *(_bytes(4, _bytes(1, value.encode())) for value in values),
            _number(5, EXTENT),
            _number(15, 2),
        )
    )


def _feature(line: Line, keys: dict[str, int], values: dict[str, int]) -> bytes:
    tags = b"".join(
        _varint(known.setdefault(word, len(known)))
        for key, value in line.properties.items()
        for known, word in ((keys, key), (values, value))
    )
    line_string = 2
    return _bytes(2, tags) + _number(3, line_string) + _bytes(4, _geometry(line.points))


def _geometry(points: Sequence[TilePoint]) -> bytes:
    move_to, line_to = 1, 2
    commands = [move_to | 1 << 3]
    before = (0, 0)
    for index, point in enumerate(points):
        if index == 1:
            commands.append(line_to | (len(points) - 1) << 3)
        commands += [_zigzag(point[axis] - before[axis]) for axis in (0, 1)]
        before = point
    return b"".join(map(_varint, commands))


def _zigzag(number: int) -> int:
    return number << 1 ^ number >> 31


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes((*groups, number))
