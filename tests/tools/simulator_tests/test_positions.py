"""Positions as Traccar serves them, with what is odd about such servers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.tools.simulator import MISSING, Simulator

from .conftest import Ask

BIKE = "860000000000001"


async def positions(ask: Ask) -> dict[int, Any]:
    """Return the positions by the tracker's internal id."""
    listed = (await ask("positions")).json()
    assert len({position["deviceId"] for position in listed}) == len(listed)
    return {position["deviceId"]: position for position in listed}


@pytest.fixture
def bike(simulator: Simulator) -> int:
    """The internal id of the first tracker."""
    return simulator.devices[BIKE].id


async def test_the_last_position_of_each_tracker(
    simulator: Simulator, ask: Ask, bike: int
) -> None:
    """A position is the one that the tracker's positionId names."""
    listed = await positions(ask)
    assert set(listed) == {device.id for device in simulator.devices.values()}
    devices = (await ask()).json()
    assert {d["id"]: d["positionId"] for d in devices} == {
        device_id: position["id"] for device_id, position in listed.items()
    }


async def test_a_report_is_a_new_position(
    simulator: Simulator, ask: Ask, bike: int
) -> None:
    """Degrees, metres and knots, as given; what is not given stays."""
    before = (await positions(ask))[bike]
    moment = datetime(2026, 5, 4, 3, 2, 1, 500_000, UTC)
    simulator.report(
        BIKE,
        latitude=47.99,
        longitude=7.85,
        altitude=278.0,
        speed=10.0,
        course=90.0,
        accuracy=5.0,
        battery_level=61,
        motion=True,
        last_update=moment,
    )
    after = (await positions(ask))[bike]
    assert after == before | {
        "id": after["id"],
        "latitude": 47.99,
        "longitude": 7.85,
        "altitude": 278.0,
        "speed": 10.0,
        "course": 90.0,
        "accuracy": 5.0,
        "attributes": {"batteryLevel": 61, "motion": True},
        "fixTime": "2026-05-04T03:02:01.500+0000",
        "deviceTime": "2026-05-04T03:02:01.500+0000",
        "serverTime": "2026-05-04T03:02:01.500+0000",
    }
    assert after["id"] != before["id"]
    assert simulator.report(BIKE).latitude == 47.99


@pytest.mark.parametrize(
    ("year", "fix_time"),
    [(1970, "1970-01-01T00:00:00.000+0000"), (1980, "1980-01-06T00:00:00.000+0000")],
)
async def test_no_fix_yet(
    simulator: Simulator, ask: Ask, bike: int, year: int, fix_time: str
) -> None:
    """A tracker that never had a fix is at 0/0, long ago."""
    simulator.report_no_fix(BIKE, year=year)
    position = (await positions(ask))[bike]
    assert (position["latitude"], position["longitude"]) == (0.0, 0.0)
    assert position["valid"] is False
    assert position["fixTime"] == fix_time


@pytest.mark.parametrize("offset", ["+0000", "+00:00", "Z"])
async def test_ways_to_write_utc(
    simulator: Simulator, ask: Ask, bike: int, offset: str
) -> None:
    """Devices and positions both follow the server's way."""
    simulator.report(BIKE, last_update=datetime(2026, 5, 4, tzinfo=UTC))
    simulator.set_offset(BIKE, offset)
    text = f"2026-05-04T00:00:00.000{offset}"
    assert (await positions(ask))[bike]["fixTime"] == text
    assert text in {device["lastUpdate"] for device in (await ask()).json()}


async def test_missing_attributes(simulator: Simulator, ask: Ask, bike: int) -> None:
    """No batteryLevel, no attributes at all, null: each on its own."""
    simulator.report(BIKE, attributes={"motion": True})
    assert (await positions(ask))[bike]["attributes"] == {"motion": True}
    simulator.override_position(BIKE, "attributes", None)
    assert (await positions(ask))[bike]["attributes"] is None
    simulator.override_position(BIKE, "attributes", MISSING)
    assert "attributes" not in (await positions(ask))[bike]
    simulator.clear_overrides(BIKE)
    assert (await positions(ask))[bike]["attributes"] == {"motion": True}


async def test_an_old_position_leaves_the_list(
    simulator: Simulator, ask: Ask, bike: int
) -> None:
    """The tracker's positionId still names it."""
    position_id = simulator.devices[BIKE].position_id
    simulator.forget_position(BIKE)
    assert bike not in await positions(ask)
    assert position_id in {device["positionId"] for device in (await ask()).json()}


async def test_a_tracker_that_never_reported(simulator: Simulator, ask: Ask) -> None:
    """It has no position and the positionId 0."""
    device = simulator.add_device(
        "new", email="rider@example.com", latitude=None, longitude=None
    )
    assert device.id not in await positions(ask)
    assert 0 in {device["positionId"] for device in (await ask()).json()}


async def test_a_position_of_an_unknown_tracker(simulator: Simulator, ask: Ask) -> None:
    """A position may belong to nothing that is listed."""
    simulator.add_stray_position(4711, 47.9, 7.8)
    assert (await positions(ask))[4711]["latitude"] == 47.9


async def test_a_position_follows_the_internal_id(
    simulator: Simulator, ask: Ask, bike: int
) -> None:
    """A tracker created again is another one to the positions."""
    new = simulator.move_internal_id(BIKE)
    listed = await positions(ask)
    assert new in listed
    assert bike not in listed


async def test_the_whole_answer_can_be_given(simulator: Simulator, ask: Ask) -> None:
    """The list of devices stays as it is."""
    simulator.raw_positions([None])
    assert (await ask("positions")).body == b"[null]"
    assert len((await ask()).json()) == 2
    simulator.raw_positions(None)
    assert len(await positions(ask)) == 2


async def test_many_at_once(simulator: Simulator, ask: Ask) -> None:
    """A fleet reports, or is only heard of."""
    moment = datetime(2026, 5, 4, tzinfo=UTC)
    before = {device["uniqueId"]: device for device in (await ask()).json()}
    simulator.touch(last_update=moment)
    touched = {device["uniqueId"]: device for device in (await ask()).json()}
    text = "2026-05-04T00:00:00.000+0000"
    assert touched == {key: d | {"lastUpdate": text} for key, d in before.items()}
    simulator.report_many([BIKE])
    reported = {device["uniqueId"]: device for device in (await ask()).json()}
    assert [key for key in reported if reported[key] != touched[key]] == [BIKE]
    assert reported[BIKE]["positionId"] != touched[BIKE]["positionId"]
    simulator.report_many()
    after = {device["uniqueId"]: device for device in (await ask()).json()}
    assert all(after[key]["positionId"] != reported[key]["positionId"] for key in after)
