"""Streets of Heidelberg-Neuenheim, © OpenStreetMap contributors (ODbL)."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import cos, hypot, radians

type Point = tuple[float, float]
"""Latitude and longitude in degrees."""

METERS_PER_DEGREE = 111_320.0

# Junctions and ends of streets
HOME: Point = (49.414599, 8.681470)  # Gerhart-Hauptmann-Straße
_WIELANDT_MOENCHHOF: Point = (49.417392, 8.681881)
_MOENCHHOF_KEPLER: Point = (49.417365, 8.685359)
_MOENCHHOF_ROHDE: Point = (49.417381, 8.688802)
_MOENCHHOF_LANDSTRASSE: Point = (49.417121, 8.691980)
_KEPLER_MOLTKE: Point = (49.419256, 8.685015)
_ROHDE_MOLTKE: Point = (49.419630, 8.688398)
_MOLTKE_LANDSTRASSE: Point = (49.419833, 8.690123)
_ROON_LANDSTRASSE: Point = (49.420514, 8.689653)
WERDERPLATZ: Point = (49.420322, 8.687871)

STREETS: dict[str, tuple[tuple[Point, ...], ...]] = {
    "Wielandtstraße": (
        (
            HOME,
            (49.414650, 8.681488),
            (49.415746, 8.681423),
            (49.416590, 8.681656),
            (49.417081, 8.681826),
            _WIELANDT_MOENCHHOF,
        ),
    ),
    "Mönchhofstraße": (
        (
            _WIELANDT_MOENCHHOF,
            (49.417389, 8.682461),
            (49.417372, 8.683595),
            _MOENCHHOF_KEPLER,
        ),
        (
            _MOENCHHOF_KEPLER,
            (49.417365, 8.686407),
            (49.417351, 8.687466),
            _MOENCHHOF_ROHDE,
        ),
        (
            _MOENCHHOF_ROHDE,
            (49.417413, 8.690001),
            (49.417417, 8.690434),
            (49.417155, 8.691467),
            _MOENCHHOF_LANDSTRASSE,
        ),
    ),
    "Keplerstraße": (
        (
            _MOENCHHOF_KEPLER,
            (49.417457, 8.685344),
            (49.418270, 8.685213),
            _KEPLER_MOLTKE,
        ),
    ),
    "Erwin-Rohde-Straße": (
        (_MOENCHHOF_ROHDE, (49.418194, 8.688710), (49.418964, 8.688539), _ROHDE_MOLTKE),
    ),
    "Moltkestraße": (
        (_KEPLER_MOLTKE, (49.419404, 8.686439), (49.419467, 8.687039), _ROHDE_MOLTKE),
        (_ROHDE_MOLTKE, _MOLTKE_LANDSTRASSE),
    ),
    "Handschuhsheimer Landstraße": (
        (
            _MOENCHHOF_LANDSTRASSE,
            (49.417369, 8.691817),
            (49.417726, 8.691427),
            (49.418158, 8.690968),
            (49.418411, 8.690912),
            (49.418981, 8.690670),
            (49.419174, 8.690547),
            (49.419577, 8.690275),
            _MOLTKE_LANDSTRASSE,
        ),
        (_MOLTKE_LANDSTRASSE, _ROON_LANDSTRASSE),
    ),
    "Roonstraße": ((_ROON_LANDSTRASSE, (49.420393, 8.688601), WERDERPLATZ),),
}


def meters(start: Point, end: Point) -> float:
    """Return the distance between two points in meters. The town is small enough to be treated as flat."""
    east = (end[1] - start[1]) * cos(radians((start[0] + end[0]) / 2))
    return hypot(end[0] - start[0], east) * METERS_PER_DEGREE


def street_at(point: Point) -> str:
    """Return the name of the street that contains the point in `STREETS` nearest to this point."""
    away = {
        name: min(meters(point, bend) for stretch in stretches for bend in stretch)
        for name, stretches in STREETS.items()
    }
    return min(away, key=away.__getitem__)


def _segments() -> Iterable[tuple[Point, ...]]:
    """Yield each part of a street between two junctions, in both directions."""
    for stretches in STREETS.values():
        for stretch in stretches:
            yield stretch
            yield stretch[::-1]


_FROM: dict[Point, list[tuple[Point, ...]]] = {}
for _segment in _segments():
    _FROM.setdefault(_segment[0], []).append(_segment)

JUNCTIONS: tuple[Point, ...] = tuple(_FROM)


class Route:
    """The shortest route along the streets from one junction to another."""

    def __init__(self, start: Point, end: Point) -> None:
        self.points = min(_ways((start,), end), key=_length)
        self.length = _length(self.points)

    def every(self, step: float) -> Iterator[Point]:
        """Yield a point of the route after each step of this length in meters, and then the end."""
        travelled = step
        while travelled < self.length:
            yield self.at(travelled)
            travelled += step
        yield self.at(self.length)

    def at(self, travelled: float) -> Point:
        """Return the point at this distance in meters from the start, or the end if the route is shorter."""
        for start, end in pairwise(self.points):
            leg = meters(start, end)
            if travelled <= leg:
                share = travelled / leg
                latitude = start[0] + (end[0] - start[0]) * share
                longitude = start[1] + (end[1] - start[1]) * share
                return round(latitude, 6), round(longitude, 6)
            travelled -= leg
        return self.points[-1]


def _ways(points: tuple[Point, ...], end: Point) -> Iterator[tuple[Point, ...]]:
    """Yield all routes to the end that begin with these points and pass no junction twice."""
    if points[-1] == end:
        yield points
        return
    for segment in _FROM[points[-1]]:
        if segment[-1] not in points:
            yield from _ways(points + segment[1:], end)


def _length(points: tuple[Point, ...]) -> float:
    return sum(meters(*leg) for leg in pairwise(points))
