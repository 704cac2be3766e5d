"""The home in which stories are fired."""

from collections.abc import AsyncIterator
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from tests.conftest import EMAIL
from tests.tools.simulator.server import Simulator

from .home import Home


@pytest.fixture
async def home(
    with_live: None,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    hass_storage: dict[str, Any],
    hass_tmp_config_dir: str,
) -> AsyncIterator[Home]:
    """Return a home with the red and the blue bike, live, while time stands still."""
    home = Home(freezer, simulator, hass_storage, hass_tmp_config_dir)
    await home.async_move_in(EMAIL)
    yield home
    if home.is_running:
        await home.async_stop()
