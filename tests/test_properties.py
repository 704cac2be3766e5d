"""Random answers and inputs: nothing fails in an unexpected way, and everything readable is read."""

from collections import Counter
from contextlib import suppress
from datetime import datetime
import ipaddress
import json
import socket
from typing import Any

from hypothesis import HealthCheck, given, strategies as st
from yarl import URL

from custom_components.bike_tracker.api.address import canonical_url
from custom_components.bike_tracker.api.errors import (
    InvalidResponseError,
    TrackingError,
)
from custom_components.bike_tracker.api.models import DeviceReader, read_positions

from .long import examples

every = examples(30, suppress=[HealthCheck.too_slow, HealthCheck.data_too_large])

OWN_SUFFIXES = (
    *(".localhost", ".local", ".lan", ".home"),
    *(".home.arpa", ".internal", ".fritz.box"),
)
SHARED = ipaddress.ip_network("100.64.0.0/10")

# Answers

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
    **dict.fromkeys(("id", "deviceId"), _ids),
    **dict.fromkeys(("fixTime", "deviceTime"), timestamps),
    **dict.fromkeys(("latitude", "longitude"), _coordinates),
    **dict.fromkeys(("accuracy", "altitude", "speed", "course"), _measures),
    "valid": st.booleans(),
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
    """Return a strategy for rows. Most of their fields are right, some have random values, and some are missing."""
    fields = {name: good | good | good | any_json for name, good in values.items()}
    return st.fixed_dictionaries(fields) | st.fixed_dictionaries({}, optional=fields)


devices = _rows(DEVICE_VALUES)
positions = _rows(POSITION_VALUES)


def lists_of(rows: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Return a strategy for lists of these rows, with random values between the rows."""
    return st.lists(rows | rows | rows | any_json, max_size=6)


def body(value: Any) -> bytes:
    """Return a value as the JSON of an answer."""
    return json.dumps(value).encode()


@every
@given(answer=any_json.map(body) | st.binary())
def test_any_answer(answer: bytes) -> None:
    """With any answer, the readers of devices and positions return a result or raise the client's own error."""
    for read in (DeviceReader().read, read_positions):
        with suppress(InvalidResponseError):
            read(answer)


@every
@given(rows=lists_of(devices))
def test_any_list_of_devices(rows: list[Any]) -> None:
    """The order of a list of devices makes no difference. An empty list is never an error."""
    reader = DeviceReader()
    try:
        read = reader.read(body(rows))
    except InvalidResponseError:
        assert rows
        return
    assert all(device.unique_id == key for key, device in read.items())
    assert reader.read(body(rows[::-1])) is read


@every
@given(rows=lists_of(positions))
def test_any_list_of_positions(rows: list[Any]) -> None:
    """The order of a list of positions makes no difference. An empty list is never an error."""
    try:
        read = read_positions(body(rows))
    except InvalidResponseError:
        assert rows
        return
    assert Counter(read_positions(body(rows[::-1]))) == Counter(read)


# Input of a user

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


@every
@given(typed=addresses)
def test_any_address(typed: str) -> None:
    """An address is either refused, or gives the base URL of a server. Typed again, that base URL stays the same."""
    url = refusal = ""
    try:
        url = canonical_url(typed)
    except TrackingError as err:
        refusal = err.code
    if refusal:
        assert refusal in {"invalid_url", "insecure_url"}
        return
    assert canonical_url(url) == url
    assert url.isascii()
    assert url.isprintable()
    assert url.endswith("/api")
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    assert scheme == "https" or (scheme == "http" and is_in_own_network(host))
    assert host
    assert "@" not in host
    assert not set("?# ") & set(url)
    assert ".." not in path.split("/")


def is_in_own_network(host: str) -> bool:
    """Return whether a host is in the local network, where http is allowed. The host may have a port."""
    name = (URL(f"http://{host}").host or "").removesuffix(".")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return is_no_number(name) and ("." not in name or name.endswith(OWN_SUFFIXES))
    return address.is_private or address in SHARED


def is_no_number(name: str) -> bool:
    """Return whether the operating system treats a host as a name, not as an IP address."""
    try:
        socket.inet_aton(name)
    except OSError:
        return True
    return False
