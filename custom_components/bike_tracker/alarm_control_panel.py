"""The guard: one tap, and nobody moves the bike unnoticed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple, override

from homeassistant.components.alarm_control_panel import (
    DOMAIN as ALARM_CONTROL_PANEL_DOMAIN,
    AlarmControlPanelEntity,
    AlarmControlPanelEntityDescription,
    AlarmControlPanelEntityFeature,
    AlarmControlPanelState,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .account import Tracker, Triggered
from .answers.refusals import refused
from .entities.entry import BikeTrackerConfigEntry
from .entity import BikeTrackerDescription, BikeTrackerEntity

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0


class Guarded(NamedTuple):
    """What is shown of a guard."""

    since: datetime | None
    """None is that it is disarmed."""
    triggered: Triggered | None


@dataclass(frozen=True, kw_only=True)
class BikeTrackerGuardDescription(
    BikeTrackerDescription[Guarded], AlarmControlPanelEntityDescription
):
    """The guard of a tracker."""


_DISARMED: Final = Guarded(None, None)


def _guarded(tracker: Tracker) -> Guarded:
    guard = tracker.guard
    return Guarded(guard.armed_at, guard.triggered) if guard else _DISARMED


DESCRIPTIONS: Final = (
    BikeTrackerGuardDescription(
        key="guard",
        translation_key="guard",
        only_if_reported=True,
        reported_fn=lambda tracker: tracker.position and tracker.position.latitude,
        value_fn=_guarded,
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Say that a tracker can be guarded."""
    entry.runtime_data.entities.async_register(
        BikeTrackerGuard, DESCRIPTIONS, async_add_entities
    )


class BikeTrackerGuard(BikeTrackerEntity[Guarded], AlarmControlPanelEntity):
    """The guard of a tracker.

    It comes back armed, and is triggered once automations notice that.
    """

    entity_description: BikeTrackerGuardDescription
    platform_domain: ClassVar[str] = ALARM_CONTROL_PANEL_DOMAIN
    _attr_code_arm_required = False
    _attr_supported_features = AlarmControlPanelEntityFeature.ARM_AWAY

    @property
    @override
    def alarm_state(self) -> AlarmControlPanelState:
        """Return whether it is armed, and triggered."""
        if self._value is None or self._value.since is None:
            return AlarmControlPanelState.DISARMED
        if self._triggered(is_told=True):
            return AlarmControlPanelState.TRIGGERED
        return AlarmControlPanelState.ARMED_AWAY

    @property
    @override
    def extra_state_attributes(self) -> dict[str, Any]:
        """Return what triggered it."""
        if not (triggered := self._triggered(is_told=True)):
            return {}
        return {**triggered.described(), "since": triggered.since.isoformat()}

    @override
    async def async_alarm_arm_away(self, code: str | None = None) -> None:
        """Guard the bike where it is."""
        if not self.coordinator.async_arm(self.coordinator_context):
            raise refused("guard_without_place")

    @override
    async def async_alarm_disarm(self, code: str | None = None) -> None:
        """Guard the bike no more."""
        self.coordinator.async_disarm(self.coordinator_context)

    @override
    async def async_added_to_hass(self) -> None:
        """Tell what is not told yet, once it is there and automations listen."""
        await super().async_added_to_hass()
        self.async_on_remove(self.hass.loop.call_soon(self._tell).cancel)

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        super()._handle_coordinator_update()
        self._tell()

    @callback
    def _tell(self) -> None:
        """Be triggered, if that is not told yet."""
        triggered, coordinator = self._triggered(is_told=False), self.coordinator
        if triggered and self._available and coordinator.automations_listen:
            tracker, key = self.coordinator_context, self.entity_description.key
            coordinator.account.note_told(tracker, key, triggered.heard_at)
            coordinator.async_remember()
            self.async_write_ha_state()

    def _triggered(self, *, is_told: bool) -> Triggered | None:
        """Return what triggered it, if that is told by now, or if it is not."""
        if not self._value or not (triggered := self._value.triggered):
            return None
        account, key = self.coordinator.account, self.entity_description.key
        told = account.told(self.coordinator_context, key)
        was_told = told is not None and triggered.heard_at <= told
        return triggered if was_told is is_told else None
