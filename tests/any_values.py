"""Strategies: values, rows and answers as no sane server sends them, and texts as nobody types them."""

from datetime import datetime
import json
from typing import Any

from hypothesis import strategies as st

any_text = st.text(st.characters(codec="utf-8"))
_floats = st.floats(allow_nan=False, allow_infinity=False)

any_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**300), max_value=10**300)
    | _floats
    | any_text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4)
    ),
    max_leaves=12,
)

_offsets = st.sampled_from(["+0000", "+00:00", "Z", "+0530", "-1200", "", "+9999"])
_moments = st.datetimes(min_value=datetime(1969, 1, 1), max_value=datetime(2100, 1, 1))
timestamps = st.builds(
    lambda moment, offset: moment.isoformat(timespec="milliseconds") + offset,
    _moments,
    _offsets,
)

_ids = st.integers(min_value=-2, max_value=3)
_unique_ids = st.sampled_from(["1", "2", "860000000000011", "ü", ""])
_names = any_text | st.sampled_from(["Red bike", " Red\tbike\n", "\u202e", "x" * 200])

DEVICE_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": _ids,
    "name": _names,
    "uniqueId": _unique_ids,
    "status": st.sampled_from(["online", "offline", "unknown", "Online"]),
    "lastUpdate": timestamps,
    "positionId": _ids,
    "groupId": _ids,
    "disabled": st.booleans(),
}
_coordinates = st.sampled_from([0, 0.0, -0.0, 47.9, -90, 90.5, 180, -180.5])
_measures = _floats | st.integers(min_value=-2_000, max_value=30_000)
POSITION_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": _ids,
    "deviceId": _ids,
    "valid": st.booleans(),
    "fixTime": timestamps,
    "deviceTime": timestamps,
    "latitude": _coordinates,
    "longitude": _coordinates,
    "accuracy": _measures,
    "altitude": _measures,
    "speed": _measures,
    "course": _measures,
    "address": _names,
    "attributes": st.fixed_dictionaries(
        {},
        optional={
            "batteryLevel": _measures | any_json,
            "motion": st.booleans() | any_json,
            "bluetoothKey": any_text,
        },
    ),
}


def _rows(values: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Return rows: most fields as they should be, some of them anything, some not there."""
    fields = {name: good | good | good | any_json for name, good in values.items()}
    return st.fixed_dictionaries(fields) | st.fixed_dictionaries({}, optional=fields)


devices = _rows(DEVICE_VALUES)
positions = _rows(POSITION_VALUES)


def lists_of(rows: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Return lists of such rows, with other things between them."""
    return st.lists(rows | rows | rows | any_json, max_size=6)


def body(value: Any) -> bytes:
    """Write any of these as JSON."""
    return json.dumps(value).encode()


# What a person types

_schemes = st.sampled_from(
    ["", "", "http://", "https://", "HTTPS://", "ftp://", "//", "http:", "https:/"]
)
_hosts = st.sampled_from(
    [
        *("tracker.example.com", "Tracker.EXAMPLE.com.", "localhost", "nas", "b.local"),
        *("127.0.0.1", "8.8.8.8", "10.1.2.3", "134744072", "0x7f.1", "127.1", "1.2.3"),
        *("[::1]", "[2001:db8::1]", "[fe80::1%25eth0]", "[::ffff:8.8.8.8]", "::1", "["),
        *("bücher.example", "xn--bcher-kva.example", "例え.jp", "xn--", "ⓔxample.com"),
        *("", ".", "..", "-", "_", "%6eas", "a b", "a@b", "u:p@h", "a\\b", "a;b", "*"),
    ]
)
_ports = st.sampled_from(
    ["", "", "", ":80", ":443", ":8082", ":0", ":", ":x", ":65536"]
)
_paths = st.lists(
    st.sampled_from(
        [
            *("/", "/api", "/api/", "/devices", "/..", "/.", "//", "/%61pi", "/%2f"),
            *("/ä", "/%", "?q=/api", "#api", "?", "#", "\\", ";x", ":", "@", "[", "]"),
            *(" ", "\t", "\r\n", "\x00"),
        ]
    )
    | any_text,
    max_size=4,
).map("".join)
addresses = (
    st.builds("{}{}{}{}".format, _schemes, _hosts | any_text, _ports, _paths) | any_text
)
