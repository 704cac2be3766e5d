"""Tests of the blueprint: keep each ride."""

import asyncio
from datetime import timedelta
from pathlib import Path

import gpxpy
from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.bike_tracker.dispatch import SIGNAL_OCCURRED
from custom_components.bike_tracker.tracking.occurrences import Occurrence
from tests.conftest import RED
from tests.tools.simulator.server import Simulator

from .house import House, async_ride


async def test_as_files(
    hass: HomeAssistant, simulator: Simulator, house: House, tmp_path: Path
) -> None:
    """Each is in the media folder, under the name of the bike and its time."""
    hass.config.media_dirs = {"local": str(tmp_path)}
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    await house.async_automate("keep_each_ride", RED, folder="my rides")
    await house.async_minutes(2)
    await async_ride(simulator, house, by=0.01)
    folder = tmp_path / "my rides"
    while not folder.exists() or not list(folder.iterdir()):
        await asyncio.sleep(0)
    await house.async_minutes(1)
    [path] = folder.iterdir()
    assert path.name.startswith("red_bike-2026-11-20-12")
    assert gpxpy.parse(path.read_text()).get_points_no() > 1


async def test_after_an_outage(hass: HomeAssistant, house: House) -> None:
    """Each of many rides that end at once has its file."""
    count, asked = 11, async_mock_service(hass, "bike_tracker", "get_track")
    await house.async_automate("keep_each_ride", RED)
    [entry] = hass.config_entries.async_entries("bike_tracker")
    coordinator, now = entry.runtime_data.coordinator, dt_util.utcnow()
    for number in range(count):
        started = now - timedelta(hours=number + 1)
        ride = {"distance": 1.0, "duration": 60, "maximum_speed": 20}
        times = {"started_at": started.isoformat(), "ended_at": started.isoformat()}
        ended = Occurrence(
            number, "ride_ended", now, started, attributes={**ride, **times}
        )
        async_dispatcher_send(hass, SIGNAL_OCCURRED, coordinator, RED, ended)
    await house.async_minutes(1)
    assert len(asked) <= 10
    await house.async_minutes(10)
    assert len({str(call.data) for call in asked}) == count
