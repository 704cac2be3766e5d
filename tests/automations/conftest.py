"""Fixtures of the tests of triggers and conditions."""

from collections.abc import AsyncIterator

import pytest

from tests.blueprints.conftest import clock
from tests.blueprints.house import BIKES
from tests.conftest import Bikes

from .garage import Garage

__all__ = ["clock"]


@pytest.fixture
async def garage(
    bikes: Bikes, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Garage]:
    """Yield a garage with two bikes that are online and stand. At the end, remove its automations."""
    for tracker in BIKES.values():
        bikes.simulator.report(tracker, motion=False, attributes={})
    await bikes.hass.config_entries.async_setup(bikes.entry.entry_id)
    garage = Garage(bikes, monkeypatch)
    await garage.async_minutes(1)
    yield garage
    await garage.async_save()
