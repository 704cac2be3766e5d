"""Google's encoded polylines, precision 5: an encoder of its own, so that the cards are not tested against their own server."""

from collections.abc import Iterable


def encode(points: Iterable[tuple[float, float]]) -> str:
    """Return a line as text."""
    text, last = "", (0, 0)
    for latitude, longitude in points:
        point = round(latitude * 1e5), round(longitude * 1e5)
        for number in (point[0] - last[0], point[1] - last[1]):
            bits = ~(number << 1) if number < 0 else number << 1
            while bits >= 32:
                text += chr((32 | bits & 31) + 63)
                bits >>= 5
            text += chr(bits + 63)
        last = point
    return text
