"""The bikes that a target selects."""

from typing import Any

from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.helpers.target import TargetSelection
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.responses.targets import is_in_target, trackers_in

from ..conftest import BLUE, RED, Bikes


async def test_targets(
    ready: Bikes,
    area_registry: ar.AreaRegistry,
    floor_registry: fr.FloorRegistry,
    label_registry: lr.LabelRegistry,
) -> None:
    """Entities, devices, labels, areas and floors select bikes, except bikes whose device is disabled.

    A disabled entity still selects its bike. Devices of other integrations are ignored.
    """
    floor = floor_registry.async_create("Cellar").floor_id
    area = area_registry.async_create("Garage", floor_id=floor).id
    label = label_registry.async_create("Ours").label_id
    registry, red, blue = dr.async_get(ready.hass), ready.device(), ready.device(BLUE)
    registry.async_update_device(red.id, area_id=area, labels={label})
    other = MockConfigEntry(domain="another")
    other.add_to_hass(ready.hass)
    identifiers: Any
    others = list[str]()
    for identifiers in {("another", "a", "b")}, {("another",)}:
        of_another = registry.async_get_or_create(
            config_entry_id=other.entry_id, identifiers=identifiers
        )
        registry.async_update_device(of_another.id, area_id=area)
        others.append(of_another.id)
    er.async_get(ready.hass).async_update_entity(
        "binary_sensor.red_bike_connectivity", disabled_by=er.RegistryEntryDisabler.USER
    )
    targets: list[tuple[dict[str, Any], set[str]]] = [
        ({"device_id": [red.id]}, {RED}),
        ({"device_id": [red.id, blue.id]}, {RED, BLUE}),
        ({"entity_id": ["sensor.red_bike_total_distance", "sun.sun"]}, {RED}),
        ({"entity_id": ["binary_sensor.red_bike_connectivity"]}, {RED}),
        ({"area_id": [area]}, {RED}),
        ({"area_id": ["other"]}, set()),
        ({"device_id": others}, set()),
        ({"floor_id": [floor]}, {RED}),
        ({"label_id": [label], "device_id": [blue.id]}, {RED, BLUE}),
    ]
    disabler = dr.DeviceEntryDisabler
    for disabled_by, hidden in ((None, set()), (disabler.USER, {RED})):
        registry.async_update_device(red.id, disabled_by=disabled_by)
        for target, found in targets:
            assert trackers_in(ready.hass, target) == found - hidden, target
            for tracker in (RED, BLUE):
                is_in = is_in_target(ready.hass, target, ready.device(tracker))
                assert is_in is (tracker in found - hidden), target


@pytest.mark.skipif(
    not hasattr(TargetSelection({}), "exclude"), reason="new in Home Assistant 2026.11"
)
async def test_excluded(ready: Bikes, area_registry: ar.AreaRegistry) -> None:
    """If the device or the device tracker of a bike is excluded, the bike leaves the target. Other entities change nothing."""
    area, devices = area_registry.async_create("Garage"), dr.async_get(ready.hass)
    for tracker in (RED, BLUE):
        devices.async_update_device(ready.device(tracker).id, area_id=area.id)
    for exclude, left in (
        ({"entity_id": ["binary_sensor.red_bike_connectivity"]}, {RED, BLUE}),
        ({"entity_id": ["device_tracker.red_bike"]}, {BLUE}),
        ({"device_id": [ready.device(RED).id]}, {BLUE}),
    ):
        target = {"area_id": area.id, "exclude": exclude}
        assert trackers_in(ready.hass, target) == left
        is_in = is_in_target(ready.hass, target, ready.device(RED))
        assert is_in is (RED in left)
