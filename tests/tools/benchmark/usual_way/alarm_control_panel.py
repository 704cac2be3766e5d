"""The guard."""

from typing import override

from homeassistant.components.alarm_control_panel import (
    AlarmControlPanelEntity,
    AlarmControlPanelEntityDescription,
    AlarmControlPanelEntityFeature,
    AlarmControlPanelState,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import UsualCoordinator
from .entity import UsualEntity, add_new

PARALLEL_UPDATES = 0

DESCRIPTION = AlarmControlPanelEntityDescription(key="guard", translation_key="guard")


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ConfigEntry[UsualCoordinator],
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the guards."""
    add_new(
        entry,
        async_add_entities,
        lambda coordinator, unique_id: [
            UsualGuard(coordinator, unique_id, DESCRIPTION)
        ],
    )


class UsualGuard(UsualEntity, AlarmControlPanelEntity):
    """A guard that remembers whether it is armed."""

    _attr_alarm_state = AlarmControlPanelState.DISARMED
    _attr_code_arm_required = False
    _attr_supported_features = AlarmControlPanelEntityFeature.ARM_AWAY

    @override
    async def async_alarm_arm_away(self, code: str | None = None) -> None:
        self._attr_alarm_state = AlarmControlPanelState.ARMED_AWAY
        self.async_write_ha_state()

    @override
    async def async_alarm_disarm(self, code: str | None = None) -> None:
        self._attr_alarm_state = AlarmControlPanelState.DISARMED
        self.async_write_ha_state()
