"""What tests of trackers share."""

from typing import Any

from homeassistant.helpers import device_registry as dr
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN


@pytest.fixture
def device_of(device_registry: dr.DeviceRegistry) -> Any:
    """Return a function for the device of a tracker."""

    def _device_of(entry: MockConfigEntry, tracker: str) -> dr.DeviceEntry | None:
        return device_registry.async_get_device_by_identifier(
            (DOMAIN, tracker), entry.entry_id
        )

    return _device_of
