"""What the check of the demo expects."""

from typing import Any

import pytest

from .check import Row, table
from .client import State
from .expected import Served, expected

DEVICE = {
    "id": 1001,
    "name": "City bike",
    "uniqueId": "860000000000001",
    "status": "online",
    "lastUpdate": "2026-11-20T07:00:00.999+0000",
    "positionId": 500001,
    "groupId": 0,
    "disabled": False,
}
POSITION: dict[str, Any] = {
    "id": 500001,
    "deviceId": 1001,
    "fixTime": "2026-11-20T06:59:00.000+0000",
    "latitude": 49.4146,
    "longitude": 8.68147,
    "altitude": 115.0,
    "speed": 10.0,
    "accuracy": 5.0,
    "attributes": {"batteryLevel": 74, "motion": True},
}


def zone(entity_id: str, latitude: float, radius: float) -> State:
    """Return a zone."""
    attributes = {
        "friendly_name": "Office",
        "latitude": latitude,
        "longitude": 8.68147,
        "radius": radius,
        "passive": False,
    }
    return State(entity_id, "0", attributes, "", "")


def texts(
    device: dict[str, Any], position: dict[str, Any] | None, *zones: State
) -> dict[str, str]:
    """Return what is expected, by unique ID and without the device itself."""
    served = Served([device], {1001: position} if position else {})
    domains: dict[str, str] = {}
    for _, (domain, unique_id), text in expected(served, zones):
        if domain != "device":
            domains[unique_id.removeprefix("860000000000001")] = text
    return domains


def test_address() -> None:
    """It is there where the service tells one."""
    shown = texts(DEVICE, POSITION | {"address": "Moltkestraße 1"})
    assert shown == texts(DEVICE, POSITION) | {"_address": "Moltkestraße 1"}


def test_without_a_position() -> None:
    """The documented interface alone."""
    assert texts(DEVICE, None) == {
        "": "unknown",
        "_online": "on",
        "_disabled": "off",
        "_last_update": "2026-11-20T07:00:00+00:00",
        "_position_id": "disabled",
        "_group_id": "disabled",
    }


def test_what_a_position_adds() -> None:
    """Speed comes in knots."""
    assert texts(DEVICE, POSITION) == texts(DEVICE, None) | {
        "": "not_home at 49.414600, 8.681470, 5 m",
        "_guard": "disarmed",
        "_position_time": "disabled",
        "_battery": "74 %",
        "_motion": "on",
        "_speed": "18.52 km/h",
        "_altitude": "disabled",
        "_course": "disabled",
        "_rides": "off",
    }


def test_what_a_tracker_tells_of_itself() -> None:
    """A lock that is closed is off."""
    attributes = {"charge": True, "lock": True, "battery": 3.9, "power": 36.0}
    position = POSITION | {"attributes": {**POSITION["attributes"], **attributes}}
    assert texts(DEVICE, position) == texts(DEVICE, POSITION) | {
        "_charging": "on",
        "_lock": "off",
        "_battery_voltage": "disabled",
        "_power_voltage": "disabled",
    }


def test_offline_and_disabled() -> None:
    """These two do not depend on each other."""
    shown = texts(DEVICE | {"status": "offline", "disabled": True}, None)
    assert (shown["_online"], shown["_disabled"]) == ("off", "on")


@pytest.mark.parametrize(
    ("zones", "state"),
    [
        ([zone("zone.home", 49.4146, 100)], "home"),
        ([zone("zone.office", 49.4146, 100)], "Office"),
        ([zone("zone.home", 49.4146, 100), zone("zone.office", 49.4147, 50)], "Office"),
        # Some 104 metres away: within reach of the five that the position may be wrong by.
        ([zone("zone.home", 49.415535, 100)], "home"),
        ([zone("zone.home", 49.4156, 100)], "not_home"),
    ],
)
def test_zones(zones: list[State], state: str) -> None:
    """The smallest zone within reach counts."""
    assert texts(DEVICE, POSITION, *zones)[""].partition(" at ")[0] == state


def test_the_table_points_out_what_is_wrong() -> None:
    """Each row is a line of aligned columns."""
    rows = [
        Row("City bike", "binary_sensor.city_bike_disabled", "off", "off"),
        Row("City bike", "sensor.city_bike_battery", "7 %", "74 %"),
    ]
    assert table(rows).splitlines() == [
        "tracker    entity                            state  expected",
        "City bike  binary_sensor.city_bike_disabled  off    off",
        "City bike  sensor.city_bike_battery          7 %    74 %      WRONG",
    ]
