"""Models: rows that the service sends are read as objects."""

from collections.abc import Callable, Iterator
from copy import replace
from datetime import UTC, datetime
import itertools
from typing import Any

import orjson
import pytest

from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.api.models import (
    Device,
    DeviceReader,
    Position,
    read_positions,
)

from .rows import DEVICE, MISSING, POSITION, read_device, read_position, row

MOMENT = datetime(2026, 11, 20, 6, 30, 15, 250_000, UTC)
GOOD = Device(
    id=1001,
    name="Red bike",
    unique_id="860000000000011",
    status="online",
    last_update=MOMENT,
    position_id=500_001,
    group_id=3,
    disabled=False,
)
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


ODD_TIMES = ["", "yesterday", "2026-11-20", 1795000000, 1.5, True, [], {}]


@pytest.mark.parametrize(
    ("field", "attribute", "unreadable"),
    [
        ("id", "id", [True, 1.0, "1001", [], {}, 2**64, 1e30]),
        ("status", "status", ["Online", " online", "Unknown", "", 1, True, ["online"]]),
        ("lastUpdate", "last_update", ODD_TIMES),
        ("positionId", "position_id", [False, 500_001.0, "500001", [500_001]]),
        ("groupId", "group_id", [True, 3.0, "3", "none", {}]),
        ("disabled", "disabled", [0, 1, "false", "true", [], {}]),
    ],
)
def test_a_bad_field_costs_that_field(
    field: str, attribute: str, unreadable: list[Any]
) -> None:
    """An invalid value makes only its own field unknown. All other fields are read."""
    without: Any = {attribute: None}
    for value in (MISSING, None, *unreadable):
        assert read_device(**{field: value}) == replace(GOOD, **without)


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
    """A time from 1900 to 2999 with an offset is read in every notation. A fix time in or before 1970 is unknown."""
    assert read_device(lastUpdate=text).last_update == moment
    is_fix_time = moment and moment.year > 1970
    assert read_position(fixTime=text).fix_time == (moment if is_fix_time else None)


UNNAMED = [
    *(("8600 \t 0011\n", "8600 0011"), ("\u202e1100", "1100")),
    *(("x" * 1_000, "x" * 100), ("\x00", "\x00"), (" ", " ")),
]
SERIAL_NUMBER = DEVICE["uniqueId"]
NAMES: list[tuple[Any, str]] = [
    ("Rotes Rad 🚲", "Rotes Rad 🚲"),
    ("  Red \t  bike\n", "Red bike"),
    ("a\x00b\x07c\x1b[31md\r\ne\x7f\u0085", "a b c [31md e"),
    ("Red\u2028bike\u2029", "Red bike"),
    ("\u202egnikib\u2066", "gnikib"),
    ("<b>{{ states }}</b>", "<b>{{ states }}</b>"),
    ("x" * 99 + " y", "x" * 99),
    *((name, SERIAL_NUMBER) for name in ("", " \t\u00a0\n", MISSING, None, 42, ["x"])),
]


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        # A name becomes one line of limited length. Without a name, the serial number
        # is shown.
        *(({"name": sent}, {"name": read}) for sent, read in NAMES),
        *(
            ({"uniqueId": key, "name": None}, {"unique_id": key, "name": name})
            for key, name in UNNAMED
        ),
        *(
            ({"uniqueId": text}, {"unique_id": text})
            for text in ("0", " ", "Ü🚲", "x" * 1_000)
        ),
        # Traccar sends the undocumented status `unknown` for a tracker that fell
        # silent.
        *(({"status": word}, {"status": word}) for word in ("offline", "unknown")),
        # A position ID of 0 or null means "no position". A group ID of 0 is
        # valid.
        *(({"positionId": none}, {"position_id": None}) for none in (0, None)),
        ({"groupId": 0}, {"group_id": 0}),
        ({"model": " TK\n905 "}, {"model": "TK 905"}),
        *(({"model": none}, {"model": None}) for none in ("", None, 5)),
    ],
)
def test_field_of_a_device(sent: dict[str, Any], read: dict[str, Any]) -> None:
    """The field has the expected value, and every other field is unchanged."""
    assert read_device(**sent) == replace(GOOD, **read)


FIRST_DAY = datetime(1980, 1, 7, tzinfo=UTC)
NO_TIME = {"fix_time": None, "is_readable": False}


def _all(field: str, read: Any, *values: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a table row for each of these values of a field. All values are read as `read`."""
    name = {"fixTime": "fix_time", "deviceTime": "device_time"}.get(field, field)
    for value in values:
        yield {field: value}, {name: read}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        *_all("accuracy", 0, MISSING, None, -1, "5", True, [5]),
        ({"accuracy": 5_000}, {"accuracy": 5_000}),
        *_all("altitude", None, MISSING, None, -1_001, 20_001, "5", True, 1e300),
        *_all("speed", None, MISSING, None, -0.1, 1_000.2, "5", False),
        *_all("speed", 1_852, 1_000),
        *_all("course", None, MISSING, None, -1, 361, "90", {}),
        ({"serverTime": DEVICE["lastUpdate"]}, {"server_time": MOMENT}),
        # The time by the tracker's own clock. It is unknown if the clock was never set.
        *_all("deviceTime", MOMENT, "2026-11-20T06:30:15.250+0000"),
        *_all("deviceTime", None, "1970-01-01T00:00Z", 7, MISSING),
        # A position that is marked as invalid still has a place. If a fix time is
        # unreadable, the position is requested again.
        *(({"valid": valid}, {}) for valid in (False, None, MISSING)),
        *_all("fixTime", None, None, MISSING),
        *(({"fixTime": time}, NO_TIME) for time in ("soon", "1970-01-01T00:00Z")),
        # The first day after the placeholder times.
        *_all("fixTime", FIRST_DAY, "1980-01-07T00:00Z"),
        # Places at the poles, on the date line, the equator and the prime meridian are
        # valid.
        *(
            ({"latitude": latitude, "longitude": longitude},) * 2
            for latitude, longitude in ((90, 180), (-90, -180), (0, 7.8), (47.9, 0))
        ),
        *_all("address", "Salzstraße 2 Freiburg", " Salzstraße 2\r\n\tFreiburg "),
        *_all("address", "x" * 255, "x" * 300),
        *_all("address", None, "", "\u202e", None, MISSING, 7, ["Kaiserstraße 1"]),
    ],
)
def test_field_of_a_position(sent: dict[str, Any], read: dict[str, Any]) -> None:
    """The field has the expected value, and every other field is unchanged."""
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
    """Reported motion at less than 3 km/h is noise. Motion at an unknown speed is believed."""
    assert replace(HERE, motion=motion, speed=speed).moving is moving


NONE = {"battery_level": None, "motion": None}
METERS = (0, 1234.5, 10_000_000_000)
NO_METERS = (10_000_000_001, 1e308, -1, "7", True)
HARDWARE = ("charge", "lock", "battery_voltage", "power_voltage", "firmware")


@pytest.mark.parametrize(
    ("attributes", "read"),
    [
        *(
            (odd, {})
            for odd in ([], "x", None, MISSING, {}, {"bluetoothKey": "secret"})
        ),
        ({"batteryLevel": 0, "motion": False}, {"battery_level": 0, "motion": False}),
        ({"batteryLevel": 99.5}, {"battery_level": 99.5}),
        ({"batteryLevel": 4_000_000, "motion": 1}, {"battery_level": 100}),
        ({"batteryLevel": -1, "motion": "true"}, {}),
        ({"batteryLevel": True, "motion": None}, {}),
        ({"batteryLevel": "80"}, {}),
        ({"alarm": "sos,tow"}, {"alarm": "sos,tow"}),
        *(({"alarm": sent}, {"alarm": None}) for sent in ("", True, ["sos"])),
        # The server sends meters, which are read as kilometers.
        *(({"totalDistance": it}, {"total_distance": it / 1_000}) for it in METERS),
        *(({"totalDistance": it}, {"total_distance": None}) for it in NO_METERS),
        *(
            (sent, dict(zip(HARDWARE, read, strict=False)))
            for sent, read in (
                ({"charge": True, "lock": False}, (True, False)),
                ({"charge": "true", "lock": 1}, ()),
                ({"battery": 3.9, "power": 12}, (None, None, 3.9, 12)),
                ({"battery": 0, "power": 0.0}, (None, None, 0, 0)),
                ({"battery": 20, "power": 100}, (None, None, 20, 100)),
                ({"battery": 3_900, "power": 12_300}, ()),
                ({"battery": 85, "power": 12.3}, (None, None, None, 12.3)),
                ({"battery": -1, "power": True}, ()),
                ({"battery": 20.1, "power": 100.1}, ()),
                ({"battery": "3.9"}, ()),
                ({"versionFw": " V1.2\n "}, (*4 * [None], "V1.2")),
                ({"versionFw": 12}, (*4 * [None], "12")),
                ({"versionFw": 1.5}, (*4 * [None], "1.5")),
                ({"versionFw": True, "charge": None}, ()),
                ({"versionFw": ""}, ()),
            )
        ),
    ],
)
def test_attributes(attributes: Any, read: dict[str, Any]) -> None:
    """A plausible attribute is read, and an implausible one is left out. A battery level has at most 100 percent."""
    assert read_position(attributes=attributes) == replace(HERE, **{**NONE, **read})


@pytest.mark.parametrize(
    "fields",
    [
        {"latitude": 0, "longitude": 0, "valid": False, "fixTime": "1970-01-01T00:00Z"},
        {"latitude": 0.0, "longitude": 0.0},
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
def test_no_fix(fields: dict[str, Any]) -> None:
    """An impossible place and a placeholder are left out, and so is the address. All other values are read."""
    assert read_position(address="Null Island", **fields) == Position(
        device_id=1001, id=500_001, battery_level=80, motion=True
    )


BEFORE = "2026-11-20T06:30:15.249+0000"
AFTER = "2026-11-20T06:30:15.251+0000"


@pytest.mark.parametrize(
    ("fields", "has_fix"),
    [
        ({"valid": False, "deviceTime": AFTER}, False),
        ({"valid": True, "deviceTime": AFTER}, True),
        ({"valid": None, "deviceTime": AFTER}, True),
        ({"valid": False, "deviceTime": BEFORE}, True),
        ({"valid": False, "deviceTime": DEVICE["lastUpdate"]}, True),
        ({"valid": False, "deviceTime": "soon"}, True),
        ({"valid": False, "deviceTime": MISSING}, True),
    ],
)
def test_message_without_a_fix(fields: dict[str, Any], has_fix: bool) -> None:
    """A report without a fix of its own repeats the last place. Its altitude, speed and course are unknown."""
    without = replace(HERE, altitude=None, speed=None, course=None, is_fix=False)
    position = replace(read_position(**fields), device_time=None)
    assert position == (HERE if has_fix else without)


# From one answer to the next: changed and removed trackers

type Rows = list[Any]

OLD = "2001-01-01T00:00:00.000+0000"
NEW = "2026-11-20T07:00:00.000+0000"


@pytest.fixture
def devices() -> DeviceReader:
    """Return a reader, which keeps the devices of the last list."""
    return DeviceReader()


def two(**fields: Any) -> Rows:
    """Return the rows of two devices. These fields of the first row have other values."""
    return [row(DEVICE, **fields), row(DEVICE, uniqueId="860000000000022", id=1002)]


def test_equal_bodies_are_not_read_again(
    devices: DeviceReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a body is equal to the last one, the reader returns the same dictionary without parsing."""
    body = orjson.dumps(two(), option=orjson.OPT_INDENT_2)
    devices.read(body)
    before = devices.read(body)
    monkeypatch.setattr(orjson, "loads", pytest.fail)
    assert devices.read(body) is before


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
def test_answers_that_say_the_same(
    devices: DeviceReader, change: Callable[[Rows], Rows]
) -> None:
    """If only the order, the notation or unused parts of a list change, the same object is returned."""
    before = devices.read(orjson.dumps(two()))
    assert devices.read(orjson.dumps(change(two()))) is before


def test_only_what_changed_is_another_object(devices: DeviceReader) -> None:
    """A tracker that did not change stays the same object, wherever it is in the new list."""
    before = devices.read(orjson.dumps(two()))
    after = devices.read(orjson.dumps(two(status="offline")[::-1]))
    assert after["860000000000011"].status == "offline"
    assert before["860000000000011"].status == "online"
    assert after["860000000000022"] is before["860000000000022"]


def test_trackers_come_and_go(devices: DeviceReader) -> None:
    """A list contains all trackers: a tracker that is missing in it is gone."""
    both = two()
    before = devices.read(orjson.dumps(both))
    one = devices.read(orjson.dumps(both[:1]))
    assert one == {"860000000000011": before["860000000000011"]}
    assert devices.read(b"[]") == {}
    assert devices.read(orjson.dumps(both)) == before


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{}", b"0", b'{"devices": []}', b"[]]", b"<html>"),
        *(b'["\xff"]', b'["\xed\xa0\x80"]'),
        '["ä"]'.encode("utf-16"),
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"0" + b"}" * 100_000,
        b'[1, "a", null, []]',
        b'[{"uniqueId": ""}]',
        b'[{"uniqueId": 860000000000011}]',
        b'[{"uniqueId": "\\ud800"}]',
        b'[{"groupId": 1e400, "uniqueId": "1"}]',
        b'[{"groupId": NaN, "uniqueId": "1"}]',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_no_list_of_trackers(devices: DeviceReader, body: bytes) -> None:
    """An answer that is not a list of trackers is an error.

    The error has no text of the answer, and the known list stays.
    """
    good = orjson.dumps(two())
    before = devices.read(good)
    for _ in range(2):
        with pytest.raises(InvalidResponseError) as caught:
            devices.read(body)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert "860000000000011" not in str(caught.value)
    assert devices.read(good) is before


NO_INTEGERS = (b"18446744073709551616", b"-9223372036854775809", b"1e3")


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (b"9007199254740993", 2**53 + 1),
        (b"18446744073709551615", 2**64 - 1),
        (b"-9223372036854775808", -(2**63)),
        *((it, None) for it in NO_INTEGERS),
    ],
)
def test_large_integers(
    devices: DeviceReader, literal: bytes, value: int | None
) -> None:
    """Integers of up to 64 bits are exact. Larger integers and floats are invalid."""
    body = orjson.dumps(two(groupId="@")).replace(b'"@"', literal)
    assert devices.read(body)["860000000000011"].group_id == value


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
def test_of_two_with_one_unique_id_the_newest_counts(
    devices: DeviceReader, first: Any, second: Any, name: str
) -> None:
    """If two devices have the same `uniqueId`, the device with the newest update counts, in any order."""
    twins = [
        row(DEVICE, name="first", lastUpdate=first),
        row(DEVICE, name="second", lastUpdate=second),
    ]
    for before in (twins[:1], twins, twins[1:], twins[::-1]):
        devices.read(orjson.dumps(before))
        for rows in (twins, twins[::-1]):
            read = devices.read(orjson.dumps(rows))
            assert read["860000000000011"].name == name


TWINS = ({"name": "a"}, {"name": "b"}, {"id": 7}, {"id": 7.0}, {"id": "7"})


@pytest.mark.parametrize("last_update", [NEW, None, MISSING])
def test_ties_do_not_depend_on_the_order(
    devices: DeviceReader, last_update: Any
) -> None:
    """If several devices have the same `uniqueId` and time, the same device counts in any order of the list."""
    twins = [row(DEVICE, lastUpdate=last_update, **fields) for fields in TWINS]
    first = None
    for rows in itertools.permutations(twins):
        read = devices.read(orjson.dumps(rows))
        first = first or read
        assert read is first


@pytest.mark.parametrize(
    "bad",
    [
        *(1, "a", None, [], {}, {"id": 1}, {"deviceId": 1}),
        *(row(POSITION, id="1"), row(POSITION, deviceId=True)),
    ],
)
def test_positions_without_ids_are_left_out(bad: Any) -> None:
    """Only its own ID and the ID of its device are required in a position.

    Traccar 4 sends null for a device without a position. A list of null has no
    positions.
    """
    assert read_positions(b"[null]") == []
    body = orjson.dumps([bad, {"id": 1, "deviceId": 2}])
    assert read_positions(body) == [Position(device_id=2, id=1)]
    assert read_positions(body, {2}) == read_positions(body)
    assert read_positions(body, {3}) == []
