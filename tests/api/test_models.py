"""The rows that the service sends are read as devices and positions."""

from collections.abc import Callable, Iterator
from copy import replace
from datetime import UTC, datetime
import inspect
import itertools
import json
import re
from typing import Any

import pytest

from custom_components.bike_tracker.api import models
from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.api.models import (
    Device,
    DeviceReader,
    Position,
    read_positions,
)

from ..conftest import BLUE, EVERYTHING, RED

DEVICE: dict[str, Any] = {
    "id": 1001,
    "name": "Red bike",
    "uniqueId": RED,
    "status": "online",
    "lastUpdate": "2026-11-20T06:30:15.250+0000",
    "positionId": 500_001,
    "groupId": 3,
    "disabled": False,
}
POSITION: dict[str, Any] = {
    "id": 500_001,
    "deviceId": 1001,
    "valid": True,
    "fixTime": "2026-11-20T06:30:15.250+0000",
    "latitude": 47.996,
    "longitude": 7.8494,
    "accuracy": 12.5,
    "altitude": 278.0,
    "speed": 10.0,
    "course": 90.0,
    "attributes": {"batteryLevel": 80, "motion": True},
}
MISSING = object()
"""A field with this value is left out of a row."""
ABSENT = (MISSING, None)
MOMENT = datetime(2026, 11, 20, 6, 30, 15, 250_000, UTC)
GOOD = Device(1001, "Red bike", RED, "online", MOMENT, 500_001, 3, disabled=False)
HERE = Position(
    device_id=1001,
    id=500_001,
    fix_time=MOMENT,
    latitude=47.996,
    longitude=7.8494,
    accuracy=12.5,
    altitude=278.0,
    speed=18.52,
    course=90.0,
    battery_level=80,
    motion=True,
)

RENAMED = {
    "battery": "battery_voltage",
    "power": "power_voltage",
    "versionFw": "firmware",
}
"""For each attribute whose field of `Position` has another name: the name of the field."""

type Row = dict[str, Any]
type Rows = list[Any]


def row(of: Row, **fields: Any) -> Row:
    """Return a copy of the row `of` in which these fields have these values, or are left out if `MISSING`."""
    fields = {**of, **fields}
    return {name: value for name, value in fields.items() if value is not MISSING}


def body(*rows: Any) -> bytes:
    """Return the answer of the service with these rows."""
    return json.dumps(rows).encode()


def read_device(**fields: Any) -> Device:
    """Read a copy of `DEVICE` in which these fields have these values, and return the device."""
    [device] = DeviceReader().read(body(row(DEVICE, **fields))).values()
    return device


def read_position(**fields: Any) -> Position:
    """Read a copy of `POSITION` in which these fields have these values, and return the position."""
    [position] = read_positions(body(row(POSITION, **fields)))
    return position


def _all(field: str, read: Any, *values: Any) -> Iterator[tuple[Row, Row]]:
    """Yield the sent field and the expected field for each of these sent values. The expected value is always `read`."""
    snake_case = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", field)
    for value in values:
        yield {field: value}, {RENAMED.get(field, snake_case): read}


def _kept(field: str, *values: Any) -> Iterator[tuple[Row, Row]]:
    """Yield the sent field and the expected field for each of these sent values. Each value is read unchanged."""
    for value in values:
        yield from _all(field, value, value)


SAME_MOMENT = (
    *("2026-11-20T06:30:15.250+0000", "2026-11-20T06:30:15.250+00:00"),
    *("2026-11-20T06:30:15.250Z", "2026-11-20T12:00:15.250+0530"),
    "2026-11-19T18:30:15.250-12:00",
)
NO_MOMENTS = (
    *("1899-12-31T23:59:59Z", "2999-12-31T23:59:59-0100", "3000-01-01T00:00:00Z"),
    *("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999-0100"),
    *("0001-01-01T00:00:00.000+0100", "2026-11-20T06:30:15.250"),
    *("2026-13-20T06:30:15.250Z", "2026-11-20T06:30:60.000Z"),
    *("2026-11-20T06:30:15.250+9999", " 2026-11-20T06:30:15.250Z"),
    "\u0662026-11-20T06:30:15.250Z",
)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        *((it, MOMENT) for it in SAME_MOMENT),
        ("2026-11-20T06:30:15Z", MOMENT.replace(microsecond=0)),
        ("2026-11-20T06:30:15.250999999Z", MOMENT.replace(microsecond=250_999)),
        ("1970-01-01T00:00:00.000+0000", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1900-01-01T01:00:00+0100", datetime(1900, 1, 1, tzinfo=UTC)),
        ("2999-12-31T23:59:59Z", datetime(2999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        *((it, None) for it in NO_MOMENTS),
    ],
)
def test_timestamps(text: str, moment: datetime | None) -> None:
    """A time from 1900 to 2999 with an offset is known, other texts are unknown. A fix time in or before 1970 is unknown."""
    assert read_device(lastUpdate=text).last_update == moment
    is_fix_time = moment and moment.year > 1970
    assert read_position(fixTime=text).fix_time == (moment if is_fix_time else None)


NAMES = {
    "  Red \t  bike\n": "Red bike",
    "a\x00b\x07c\x1b[31md\r\ne\x7f\u0085": "a b c [31md e",
    "Red\u2028bike\u2029": "Red bike",
    "\u202egnikib\u2066": "gnikib",
    "x" * 99 + " y": "x" * 99,
}
UNNAMED = (
    *(("8600 \t 0011\n", "8600 0011"), ("\u202e1100", "1100")),
    *(("x" * 1_000, "x" * 100), ("\x00", "\x00"), (" ", " ")),
)
ODD_TIMES: Rows = ["", "yesterday", "2026-11-20", 1795000000, 1.5, True, [], {}]
ODD_STATUSES = ("Online", " online", "Unknown", "", 1, True, ["online"])


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        # An invalid value makes only its own field unknown.
        *_all("id", None, *ABSENT, True, 1.0, "1001", [], {}, 2**64, 1e30),
        *_all("status", None, *ABSENT, *ODD_STATUSES),
        *_all("lastUpdate", None, *ABSENT, *ODD_TIMES),
        *_all("positionId", None, *ABSENT, False, 500_001.0, "500001", [500_001]),
        *_all("groupId", None, *ABSENT, True, 3.0, "3", "none", {}),
        *_all("disabled", None, *ABSENT, 0, 1, "false", "true", [], {}),
        *_all("model", None, *ABSENT, "", 5),
        # A name becomes one line of limited length. Without a name, the serial number
        # is shown.
        *(({"name": sent}, {"name": read}) for sent, read in NAMES.items()),
        *_kept("name", "Rotes Rad 🚲", "<b>{{ states }}</b>"),
        *_all("name", RED, *ABSENT, "", " \t\u00a0\n", 42, ["x"]),
        *(
            ({"uniqueId": key, "name": None}, {"unique_id": key, "name": name})
            for key, name in UNNAMED
        ),
        *_kept("uniqueId", "0", " ", "Ü🚲", "x" * 1_000),
        *_all("model", "TK 905", " TK\n905 "),
        # Traccar sends the undocumented status `unknown` for a tracker that fell
        # silent.
        *_kept("status", "offline", "unknown"),
        # A position ID of 0 means "no position". A group ID of 0 is valid.
        *_all("positionId", None, 0),
        # Integers of up to 64 bits are exact. Larger integers are invalid.
        *_kept("groupId", 0, 2**53 + 1, 2**64 - 1, -(2**63)),
        *_all("groupId", None, 2**64, -(2**63) - 1),
    ],
)
def test_field_of_a_device(sent: Row, read: Row) -> None:
    """A sent field of a device is read with the expected value, and every other field stays the same."""
    assert read_device(**sent) == replace(GOOD, **read)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        *_all("accuracy", 0, *ABSENT, -1, "5", True, [5]),
        *_kept("accuracy", 5_000),
        *_all("altitude", None, *ABSENT, -1_001, 20_001, "5", True, 1e300),
        *_all("speed", None, *ABSENT, -0.1, 1_000.2, "5", False),
        *_all("speed", 1_852, 1_000),
        *_all("course", None, *ABSENT, -1, 361, "90", {}),
        *_all("serverTime", MOMENT, DEVICE["lastUpdate"]),
        # The time by the tracker's own clock. It is unknown if the clock was never set.
        *_all("deviceTime", MOMENT, DEVICE["lastUpdate"]),
        *_all("deviceTime", None, "1970-01-01T00:00Z", 7, MISSING),
        # A position that is marked as invalid still has a place. If a fix time is
        # unreadable, `is_readable` is False, so the position is requested again.
        *(({"valid": valid}, {}) for valid in (False, None, MISSING)),
        *_all("fixTime", None, *ABSENT),
        *(
            ({"fixTime": time}, {"fix_time": None, "is_readable": False})
            for time in ("soon", "1970-01-01T00:00Z")
        ),
        # Servers send times up to January 6, 1980 as placeholders. This one is later.
        *_all("fixTime", datetime(1980, 1, 7, tzinfo=UTC), "1980-01-07T00:00Z"),
        # Places at the poles, on the date line, the equator and the prime meridian are
        # valid.
        *_kept("latitude", 90, -90, 0),
        *_kept("longitude", 180, -180, 0),
        *_all("address", "Salzstraße 2 Freiburg", " Salzstraße 2\r\n\tFreiburg "),
        *_all("address", "x" * 255, "x" * 300),
        *_all("address", None, *ABSENT, "", "\u202e", 7, ["Kaiserstraße 1"]),
        *(
            ({"attributes": odd}, {"battery_level": None, "motion": None})
            for odd in (*ABSENT, [], "x", {}, {"bluetoothKey": "secret"})
        ),
    ],
)
def test_field_of_a_position(sent: Row, read: Row) -> None:
    """A sent field of a position is read with the expected value, and every other field stays the same."""
    assert read_position(**sent) == replace(HERE, **read)


@pytest.mark.parametrize(
    ("motion", "speed", "moving"),
    [
        *((True, speed, True) for speed in (None, 0, 3, 20)),
        *((True, speed, None) for speed in (0.1, 1, 2.9)),
        *((False, speed, False) for speed in (None, 1, 20)),
        (None, 20, None),
    ],
)
def test_moving(motion: bool | None, speed: float | None, moving: bool | None) -> None:
    """Motion at a speed above 0 and below 3 km/h may be noise, so it is unknown. Without a speed, motion is believed."""
    assert replace(HERE, motion=motion, speed=speed).moving is moving


def test_every_attribute() -> None:
    """`EVERYTHING`, with which entities and diagnostics are tested, has each attribute that is read."""
    code = inspect.getsource(models).partition("def _attributes")[2]
    assert {*re.findall(r'get\("(\w+)"\)', code)} == {*EVERYTHING, "totalDistance"}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        *_kept("batteryLevel", 0, 99.5),
        *_all("batteryLevel", 100, 4_000_000),
        *_all("batteryLevel", None, None, -1, True, "80"),
        *_kept("motion", False),
        *_all("motion", None, None, 1, "true"),
        *_kept("alarm", "sos,tow"),
        *_all("alarm", None, "", True, ["sos"]),
        # The server sends meters, which are converted to kilometers.
        *_all("totalDistance", 0, 0),
        *_all("totalDistance", 1.2345, 1234.5),
        *_all("totalDistance", 10_000_000, 10_000_000_000),
        *_all("totalDistance", None, 10_000_000_001, 1e308, -1, "7", True),
        *_kept("charge", True),
        *_all("charge", None, None, 1, "true"),
        *_kept("lock", False),
        *_all("lock", None, 0, "false"),
        *_kept("battery", 0, 3.9, 20),
        *_all("battery", None, -1, 20.1, 3_900, "3.9"),
        *_kept("power", 0.0, 12, 100),
        *_all("power", None, True, 100.1, 12_300),
        *_all("versionFw", "V1.2", " V1.2\n "),
        *_all("versionFw", "12", 12),
        *_all("versionFw", "1.5", 1.5),
        *_all("versionFw", None, True, ""),
    ],
)
def test_attributes(sent: Row, read: Row) -> None:
    """A plausible attribute is read, and an implausible one is left out. A battery level above 100 is read as 100."""
    read = {"battery_level": None, "motion": None, **read}
    assert read_position(attributes=sent) == replace(HERE, **read)


@pytest.mark.parametrize(
    "fields",
    [
        {"latitude": 0, "longitude": 0, "valid": False, "fixTime": "1970-01-01T00:00Z"},
        {"latitude": -0.0, "longitude": 0},
        {"latitude": 5, "longitude": 5, "valid": False, "fixTime": "1970-01-01T00:00Z"},
        {"latitude": 5, "longitude": 5, "valid": False, "fixTime": "1980-01-06T00:00Z"},
        *({"latitude": it} for it in (None, "47.9", 90.1, -90.1, True)),
        *({"longitude": it} for it in (MISSING, 180.1, -180.1)),
        {"latitude": 1e300, "longitude": 1e300},
        # A place with an accuracy of more than 5 km comes from cell towers, and is not
        # used.
        *({"accuracy": it} for it in (5_000.5, 1e300)),
    ],
)
def test_no_fix(fields: Row) -> None:
    """Of a report with an impossible place or a placeholder, only the IDs and the attributes are read."""
    assert read_position(address="Null Island", **fields) == Position(
        device_id=1001, id=500_001, battery_level=80, motion=True
    )


BEFORE = "2026-11-20T06:30:15.249+0000"
AFTER = "2026-11-20T06:30:15.251+0000"


@pytest.mark.parametrize(
    ("valid", "device_time", "is_fix"),
    [
        *((False, AFTER, False), (True, AFTER, True), (None, AFTER, True)),
        *((False, BEFORE, True), (False, DEVICE["lastUpdate"], True)),
        *((False, "soon", True), (False, MISSING, True)),
    ],
)
def test_message_without_a_fix(valid: Any, device_time: Any, is_fix: bool) -> None:
    """If a report is marked as invalid and is newer than its fix, it is no fix: altitude, speed and course are unknown."""
    read = read_position(valid=valid, deviceTime=device_time)
    without = replace(HERE, altitude=None, speed=None, course=None, is_fix=False)
    assert replace(read, device_time=None) == (HERE if is_fix else without)


# From one answer to the next: changed and removed trackers

OLD = "2001-01-01T00:00:00.000+0000"
NEW = "2026-11-20T07:00:00.000+0000"


@pytest.fixture
def devices() -> DeviceReader:
    """Return a reader of device lists, which keeps the devices of the previous list."""
    return DeviceReader()


def two(**fields: Any) -> Rows:
    """Return the rows of the red and the blue bike. In the row of the red bike, these fields have these values."""
    return [row(DEVICE, **fields), row(DEVICE, uniqueId=BLUE, id=1002)]


def test_equal_bodies(devices: DeviceReader, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a body is equal to the previous body, the reader returns the same dictionary as before, without parsing."""
    answer = body(*two())
    devices.read(answer)
    before = devices.read(answer)
    monkeypatch.setattr("orjson.loads", pytest.fail)
    assert devices.read(answer) is before


SAME: dict[str, Callable[[Rows], Rows]] = {
    "another order": lambda rows: rows[::-1],
    "fields nobody reads": lambda rows: [row(r, attributes={"key": 1}) for r in rows],
    "fields in another order": lambda rows: [dict(reversed(r.items())) for r in rows],
    "everything twice": lambda rows: rows * 2,
    "and rows that are no devices": lambda rows: [*rows, 1, None, {}],
    "another way to write a time": lambda rows: [
        row(r, lastUpdate="2026-11-20T06:30:15.250Z") for r in rows
    ],
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_same_answers(devices: DeviceReader, change: Callable[[Rows], Rows]) -> None:
    """If only the order, the notation or unused parts of a list change, the same object is returned."""
    before = devices.read(body(*two()))
    assert devices.read(body(*change(two()))) is before


def test_only_what_changed_is_another_object(devices: DeviceReader) -> None:
    """A device that did not change stays the same object, even in another order. Unlisted devices are left out."""
    before = devices.read(body(*two()))
    after = devices.read(body(*two(status="offline")[::-1]))
    assert (before[RED].is_online, after[RED].is_online) == (True, False)
    assert after[BLUE] is before[BLUE]
    assert devices.read(body(*two()[:1])).keys() == {RED}


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"{}", b"0", b'{"devices": []}', b"[]]", b"<html>"),
        *(b'["\xff"]', b'["\xed\xa0\x80"]'),
        '["ä"]'.encode("utf-16"),
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"0" + b"}" * 100_000,
        b'[1, "a", null, []]',
        *(b'[{"uniqueId": ""}]', b'[{"uniqueId": 860000000000011}]'),
        b'[{"uniqueId": "\\ud800"}]',
        b'[{"groupId": 1e400, "uniqueId": "1"}]',
        b'[{"groupId": NaN, "uniqueId": "1"}]',
    ],
    ids=lambda answer: repr(answer[:24]),
)
def test_no_list_of_trackers(devices: DeviceReader, answer: bytes) -> None:
    """If an answer is not a list of trackers, the error contains no text of the answer, and the known list stays."""
    before = devices.read(body(*two()))
    for _ in range(2):
        with pytest.raises(InvalidResponseError) as caught:
            devices.read(answer)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert RED not in str(caught.value)
    assert devices.read(body(*two())) is before


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (OLD, NEW, "second"),
        (NEW, OLD, "first"),
        (MISSING, OLD, "second"),
        (OLD, "nonsense", "first"),
        ("2026-11-20T07:00:00.000+0200", "2026-11-20T06:00:00.000+0000", "second"),
    ],
)
def test_twins(devices: DeviceReader, first: Any, second: Any, name: str) -> None:
    """If two devices have the same `uniqueId`, only the device with the newer `lastUpdate` is returned, in any order."""
    times = {"first": first, "second": second}
    twins = [row(DEVICE, name=it, lastUpdate=times[it]) for it in times]
    for before in (twins[:1], twins, twins[1:], twins[::-1]):
        devices.read(body(*before))
        for rows in (twins, twins[::-1]):
            assert devices.read(body(*rows))[RED].name == name


TWINS = ({"name": "a"}, {"name": "b"}, {"id": 7}, {"id": 7.0}, {"id": "7"})


@pytest.mark.parametrize("last_update", [NEW, None, MISSING])
def test_order_of_ties(devices: DeviceReader, last_update: Any) -> None:
    """If several devices have the same `uniqueId` and `lastUpdate`, each order of the list leads to the same device."""
    twins = [row(DEVICE, lastUpdate=last_update, **fields) for fields in TWINS]
    first, *others = itertools.permutations(twins)
    read = devices.read(body(*first))
    assert all(devices.read(body(*rows)) is read for rows in others)


@pytest.mark.parametrize(
    "bad",
    [
        *(1, "a", None, [], {}, {"id": 1}, {"deviceId": 1}),
        *(row(POSITION, id="1"), row(POSITION, deviceId=True)),
    ],
)
def test_positions_without_ids_are_left_out(bad: Any) -> None:
    """A position without its ID or its device's ID is left out, and the others are sorted. Traccar 4 sends null for a device without a position."""
    assert read_positions(b"[null]") == []
    answer = body(bad, *({"id": it, "deviceId": 2} for it in (3, 1)))
    assert read_positions(answer) == [Position(device_id=2, id=it) for it in (1, 3)]
    assert read_positions(answer, {2}) == read_positions(answer)
    assert read_positions(answer, {3}) == []
