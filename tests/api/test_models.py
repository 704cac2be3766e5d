"""What the service sends, as objects."""

from copy import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.api import Device, Hardware, Position
from custom_components.bike_tracker.api.models import DeviceStatus

from .rows import DEVICE, MISSING, read_device, read_position

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

ATTRIBUTES = {
    "id": "id",
    "status": "status",
    "lastUpdate": "last_update",
    "positionId": "position_id",
    "groupId": "group_id",
    "disabled": "disabled",
}
"""Fields that may be unknown, by what they are called here."""

UNREADABLE: dict[str, list[Any]] = {
    "id": [True, 1.0, "1001", [], {}, 2**64, 1e30],
    "status": ["Online", "ONLINE", " online", "Unknown", "", 1, True, ["online"]],
    "lastUpdate": ["", "yesterday", "2026-11-20", 1795000000, 1.5, True, [], {}],
    "positionId": [False, 500_001.0, "500001", [500_001]],
    "groupId": [True, 3.0, "3", "none", {}],
    "disabled": [0, 1, "false", "true", [], {}],
}


def test_device() -> None:
    """The eight documented fields are read."""
    assert read_device() == GOOD


@pytest.mark.parametrize("field", UNREADABLE)
def test_a_bad_field_costs_that_field(field: str) -> None:
    """It is unknown, and every other field as sent."""
    without: Any = {ATTRIBUTES[field]: None}
    for value in (MISSING, None, *UNREADABLE[field]):
        assert read_device(**{field: value}) == replace(GOOD, **without)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Rotes Rad 🚲", "Rotes Rad 🚲"),
        ("  Red \t  bike\n", "Red bike"),
        ("a\x00b\x07c\x1b[31md\r\ne\x7f\u0085", "a b c [31md e"),
        ("Red\u2028bike\u2029", "Red bike"),
        ("\u202egnikib\u2066", "gnikib"),
        ("<b>{{ states }}</b>", "<b>{{ states }}</b>"),
        ("x" * 10_000, "x" * 100),
        ("x" * 99 + " y", "x" * 99),
        *((name, DEVICE["uniqueId"]) for name in ("", " \t\u00a0\n", "\x00")),
        *((name, DEVICE["uniqueId"]) for name in (MISSING, None, 42, True, ["x"])),
    ],
)
def test_name(name: Any, shown: str) -> None:
    """A name is one line of bearable length; without one the serial number is shown."""
    assert read_device(name=name) == replace(GOOD, name=shown)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-20T06:30:15.250+0000", MOMENT),
        ("2026-11-20T06:30:15.250+00:00", MOMENT),
        ("2026-11-20T06:30:15.250Z", MOMENT),
        ("2026-11-20T12:00:15.250+0530", MOMENT),
        ("2026-11-19T18:30:15.250-12:00", MOMENT),
        ("2026-11-20T06:30:15Z", MOMENT.replace(microsecond=0)),
        ("2026-11-20T06:30:15.250999999Z", MOMENT.replace(microsecond=250_999)),
        ("1970-01-01T00:00:00.000+0000", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1900-01-01T01:00:00+0100", datetime(1900, 1, 1, tzinfo=UTC)),
        ("1899-12-31T23:59:59Z", None),
        ("2999-12-31T23:59:59Z", datetime(2999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2999-12-31T23:59:59-0100", None),
        ("3000-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59.999Z", None),
        ("9999-12-31T23:59:59.999-0100", None),
        ("0001-01-01T00:00:00.000+0100", None),
        ("2026-11-20T06:30:15.250", None),
        ("2026-13-20T06:30:15.250Z", None),
        ("2026-11-20T06:30:60.000Z", None),
        ("2026-11-20T06:30:15.250+9999", None),
        (" 2026-11-20T06:30:15.250Z", None),
        ("\u0662026-11-20T06:30:15.250Z", None),
    ],
)
def test_timestamps(text: str, moment: datetime | None) -> None:
    """Every way to write a moment with its offset is read, and nothing is guessed."""
    assert (read_device(lastUpdate=text)).last_update == moment
    assert (read_position(fixTime=text)).fix_time == (
        moment if moment and moment.year > 1970 else None
    )


@pytest.mark.parametrize("status", ["online", "offline", "unknown"])
def test_status(status: DeviceStatus) -> None:
    """The third word is Traccar's, for a tracker that fell silent."""
    assert read_device(status=status) == replace(GOOD, status=status)


@pytest.mark.parametrize("none", [0, None])
def test_no_position(none: int | None) -> None:
    """Servers say 0 or null where there is none."""
    assert (read_device(positionId=none)).position_id is None


def test_group_0() -> None:
    """No group is a group ID like any other."""
    assert (read_device(groupId=0)).group_id == 0


@pytest.mark.parametrize("unique_id", ["0", " ", "Ümläut", "🚲", "x" * 1_000])
def test_any_text_is_a_unique_id(unique_id: str) -> None:
    """It is taken as it comes."""
    assert read_device(uniqueId=unique_id) == replace(GOOD, unique_id=unique_id)


@pytest.mark.parametrize(
    ("unique_id", "name"),
    [
        ("8600 \t 0011\n", "8600 0011"),
        ("\u202e1100", "1100"),
        ("x" * 1_000, "x" * 100),
        ("\x00", "\x00"),
        (" ", " "),
    ],
)
def test_name_that_is_the_serial_number(unique_id: str, name: str) -> None:
    """It is as bearable as any other name, unless nothing would be left of it."""
    expected = replace(GOOD, unique_id=unique_id, name=name)
    assert read_device(uniqueId=unique_id, name=None) == expected


def test_position() -> None:
    """What Traccar sends is read, with speed in kilometres per hour."""
    assert read_position() == HERE


@pytest.mark.parametrize(
    ("text", "time"),
    [("2026-11-20T06:30:15.250Z", MOMENT), (None, None), (MISSING, None)],
)
def test_server_time(text: Any, time: datetime | None) -> None:
    """When the service received a report."""
    assert read_position(serverTime=text).server_time == time


@pytest.mark.parametrize(
    ("field", "values"),
    {
        "accuracy": [MISSING, None, -1, "5", True, [5]],
        "altitude": [MISSING, None, -1_001, 20_001, "5", True, 1e300],
        "speed": [MISSING, None, -0.1, 1_001, "5", False],
        "course": [MISSING, None, -1, 361, "90", {}],
    }.items(),
)
def test_unreadable_field_of_a_position(field: str, values: list[Any]) -> None:
    """It is unknown, and every other field as sent."""
    unknown: Any = {field: 0 if field == "accuracy" else None}
    for value in values:
        assert read_position(**{field: value}) == replace(HERE, **unknown)


@pytest.mark.parametrize(
    ("attributes", "battery_level", "motion"),
    [
        ({"batteryLevel": 0, "motion": False}, 0, False),
        ({"batteryLevel": 99.5}, 99.5, None),
        ({"batteryLevel": 101, "motion": 1}, 100, None),
        ({"batteryLevel": 4_000_000}, 100, None),
        ({"batteryLevel": -1, "motion": "true"}, None, None),
        ({"batteryLevel": True, "motion": None}, None, None),
        ({"batteryLevel": "80"}, None, None),
        ({"bluetoothKey": "secret"}, None, None),
        ({}, None, None),
        ([], None, None),
        ("x", None, None),
        (None, None, None),
        (MISSING, None, None),
    ],
)
def test_attributes(
    attributes: Any, battery_level: float | None, motion: bool | None
) -> None:
    """Battery and motion are read, everything else in there is dropped."""
    position = read_position(attributes=attributes)
    assert position == replace(HERE, battery_level=battery_level, motion=motion)


@pytest.mark.parametrize(
    ("attributes", "hardware"),
    [
        ({"charge": True, "lock": False}, Hardware(charge=True, lock=False)),
        ({"charge": "true", "lock": 1}, None),
        ({"battery": 3.9, "power": 12}, Hardware(None, None, 3.9, 12)),
        ({"battery": 0, "power": 0.0}, Hardware(None, None, 0, 0)),
        ({"battery": 20, "power": 100}, Hardware(None, None, 20, 100)),
        ({"battery": 3_900, "power": 12_300}, None),
        ({"battery": 85, "power": 12.3}, Hardware(power_voltage=12.3)),
        ({"battery": -1, "power": True}, None),
        ({"battery": "3.9"}, None),
        ({"versionFw": " V1.2\n "}, Hardware(firmware="V1.2")),
        ({"versionFw": 12}, Hardware(firmware="12")),
        ({"versionFw": 1.5}, Hardware(firmware="1.5")),
        ({"versionFw": True, "charge": None}, None),
        ({"versionFw": "", "alarm": "sos"}, None),
    ],
)
def test_hardware(attributes: dict[str, Any], hardware: Hardware | None) -> None:
    """What a tracker says of itself is read, as far as it can be true."""
    assert read_position(attributes=attributes).hardware == hardware


@pytest.mark.parametrize(
    ("said", "alarm"),
    [("sos", "sos"), ("sos,tow", "sos,tow"), ("", None), (True, None), (["sos"], None)],
)
def test_alarm(said: Any, alarm: str | None) -> None:
    """It is what the service says, several with commas between them."""
    assert read_position(attributes={"alarm": said}).alarm == alarm


@pytest.mark.parametrize(
    ("said", "model"),
    [("TK905", "TK905"), (" TK\n905 ", "TK 905"), ("", None), (None, None), (5, None)],
)
def test_model(said: Any, model: str | None) -> None:
    """It is one line, and nothing is missing where there is none."""
    assert read_device(model=said) == replace(GOOD, model=model)


@pytest.mark.parametrize(
    "fields",
    [
        {"latitude": 0, "longitude": 0, "valid": False, "fixTime": "1970-01-01T00:00Z"},
        {"latitude": 0.0, "longitude": 0.0},
        {"latitude": -0.0, "longitude": 0},
        {"latitude": 5, "longitude": 5, "valid": False, "fixTime": "1970-01-01T00:00Z"},
        {"latitude": 5, "longitude": 5, "valid": False, "fixTime": "1980-01-06T00:00Z"},
        {"latitude": None},
        {"longitude": MISSING},
        {"latitude": "47.9"},
        {"latitude": 90.1},
        {"longitude": -180.1},
        {"latitude": True},
        {"latitude": 1e300, "longitude": 1e300},
    ],
)
def test_no_fix(fields: dict[str, Any]) -> None:
    """What is no place on earth, or a placeholder, is no place; the rest still counts."""
    assert read_position(**fields) == Position(
        device_id=1001, id=500_001, battery_level=80, motion=True
    )


@pytest.mark.parametrize("accuracy", [5_000.5, 50_000, 1e300])
def test_place_that_may_be_a_county(accuracy: float) -> None:
    """What cell towers say within more than 5 km is no place; the rest still counts."""
    assert read_position(accuracy=accuracy) == Position(
        device_id=1001, id=500_001, battery_level=80, motion=True
    )


def test_coarsest_place() -> None:
    """5 km is a place yet."""
    assert read_position(accuracy=5_000) == replace(HERE, accuracy=5_000)


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
    """It repeats the old place, and of how the tracker moves nothing is known."""
    without = replace(HERE, altitude=None, speed=None, course=None, is_fix=False)
    position = replace(read_position(**fields), device_time=None)
    assert position == (HERE if has_fix else without)


@pytest.mark.parametrize(
    ("value", "device_time"),
    [
        ("2026-11-20T06:30:15.250+0000", MOMENT),
        ("2026-11-20T06:31:15.250+0000", MOMENT + timedelta(minutes=1)),
        ("1970-01-01T00:00Z", None),
        (7, None),
        (MISSING, None),
    ],
)
def test_time_of_the_report(value: Any, device_time: datetime | None) -> None:
    """The tracker's own clock, unless it never was set."""
    assert read_position(deviceTime=value).device_time == device_time


@pytest.mark.parametrize(
    ("value", "kilometres"),
    [
        (0, 0),
        (1234.5, 1.2345),
        (10_000_000_000, 10_000_000),
        (10_000_000_001, None),
        (1e308, None),
        (-1, None),
        ("7", None),
        (True, None),
    ],
)
def test_total_distance(value: Any, kilometres: float | None) -> None:
    """The server counts in metres."""
    position = read_position(attributes={"totalDistance": value})
    assert position.total_distance == kilometres


@pytest.mark.parametrize(
    ("fields", "fix_time"),
    [
        ({"valid": False}, MOMENT),
        ({"valid": None}, MOMENT),
        ({"valid": MISSING}, MOMENT),
        ({"fixTime": "1970-01-01T00:00Z"}, None),
        ({"fixTime": MISSING}, None),
        ({"fixTime": MISSING, "valid": False}, None),
    ],
)
def test_fix(fields: dict[str, Any], fix_time: datetime | None) -> None:
    """A place is a place although not the best one; its time may be unknown."""
    position = replace(read_position(**fields), is_readable=True)
    assert position == replace(HERE, fix_time=fix_time)


@pytest.mark.parametrize(
    ("fix_time", "is_readable"),
    [
        (DEVICE["lastUpdate"], True),
        (None, True),
        (MISSING, True),
        ("soon", False),
        ("1970-01-01T00:00Z", False),
    ],
)
def test_time_that_is_none(fix_time: Any, is_readable: bool) -> None:
    """A time that came and says nothing is one to ask for again."""
    assert read_position(fixTime=fix_time).is_readable is is_readable


@pytest.mark.parametrize(
    ("latitude", "longitude"), [(90, 180), (-90, -180), (0, 7.8), (47.9, 0)]
)
def test_ends_of_the_earth(latitude: float, longitude: float) -> None:
    """Poles, the date line, the equator and the meridian of Greenwich are places."""
    position = read_position(latitude=latitude, longitude=longitude)
    assert (position.latitude, position.longitude) == (latitude, longitude)


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("Kaiserstraße 1, 79098 Freiburg", "Kaiserstraße 1, 79098 Freiburg"),
        (" Kaiserstraße 1\r\n79098\tFreiburg ", "Kaiserstraße 1 79098 Freiburg"),
        ("x" * 300, "x" * 255),
        ("", None),
        ("\u202e", None),
        (None, None),
        (MISSING, None),
        (7, None),
        (["Kaiserstraße 1"], None),
    ],
)
def test_address(value: Any, address: str | None) -> None:
    """One line of bearable length, if the service tells it."""
    assert read_position(address=value).address == address


@pytest.mark.parametrize("fields", [{"latitude": 0, "longitude": 0}, {"latitude": "?"}])
def test_address_of_no_place(fields: dict[str, Any]) -> None:
    """Where there was no fix, no address is right."""
    assert read_position(address="Null Island", **fields).address is None


def test_objects_do_not_change() -> None:
    """What was read stays as it was read."""
    device, position = read_device(), read_position()
    with pytest.raises(AttributeError):
        device.name = "Blue bike"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        position.latitude = 0  # type: ignore[misc]
