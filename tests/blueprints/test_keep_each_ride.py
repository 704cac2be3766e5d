"""Tests of the blueprint: keep each ride."""

from pathlib import Path

import gpxpy
from homeassistant.core import HomeAssistant

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
    await hass.async_block_till_done()
    [path] = (tmp_path / "my rides").iterdir()
    assert path.name.startswith("red_bike-2026-11-20-12")
    assert gpxpy.parse(path.read_text()).get_points_no() > 1
