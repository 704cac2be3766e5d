"""The home in which stories are told."""

from collections.abc import AsyncIterator
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from tests.conftest import EMAIL
from tests.simulator.server import Simulator

from .home import Home


@pytest.fixture
def no_legacy_trackers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without trackers of another kind, which are looked after every five seconds."""
    monkeypatch.setattr(
        "homeassistant.components.device_tracker.legacy.async_track_utc_time_change",
        lambda *_, **__: lambda: None,
    )


@pytest.fixture
async def home(
    no_legacy_trackers: None,
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
