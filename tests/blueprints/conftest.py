"""Fixtures of the blueprints' tests."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
import shutil

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from tests.conftest import Bikes
from tests.tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

from .house import House

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"

# Home Assistant evaluates templates at each full minute. With a start at second 30,
# polls come half a minute earlier.
_START = datetime(2026, 11, 20, 12, 0, 30, tzinfo=UTC)


@pytest.fixture
def hass_config_dir(hass_tmp_config_dir: str) -> str:
    """Return a configuration folder with the blueprints."""
    folder = Path(hass_tmp_config_dir) / "blueprints"
    shutil.copytree(BLUEPRINTS, folder, dirs_exist_ok=True)
    return hass_tmp_config_dir


@pytest.fixture(autouse=True)
def clock(freezer: FrozenDateTimeFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock to `_START`, and remove random delays, so that polls come at the same second of each minute."""
    freezer.move_to(_START)
    monkeypatch.setattr(
        "custom_components.bike_tracker.polling.backoff.random.uniform", lambda *_: 1
    )


@pytest.fixture
async def home(hass: HomeAssistant) -> None:
    """Place the home zone at the bikes, and the zone *Work* 5.6 km north. Set the time zone to UTC."""
    await hass.config.async_set_time_zone("UTC")
    hass.config.latitude, hass.config.longitude = DEFAULT_LATITUDE, DEFAULT_LONGITUDE
    work = {"latitude": DEFAULT_LATITUDE + 0.05, "longitude": DEFAULT_LONGITUDE}
    zones = {"zone": [{"name": "Work", **work}]}
    assert await async_setup_component(hass, "zone", zones)


@pytest.fixture
async def house(home: None, ready: Bikes, phones: list[str]) -> AsyncIterator[House]:
    """Return a house. The red and the blue bike stand at home."""
    house = House(ready, phones[1])
    yield house
    await house.async_save()
