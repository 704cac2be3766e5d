"""The guard: one tap, and nobody moves the bike unnoticed."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final, override

from homeassistant.components.alarm_control_panel import (
    AlarmControlPanelEntity,
    AlarmControlPanelEntityDescription,
    AlarmControlPanelEntityFeature,
    AlarmControlPanelState,
)
from homeassistant.helpers.entity_registry import RegistryEntryDisabler
from homeassistant.util import dt as dt_util

from .entity import BikeTrackerDescription, BikeTrackerTeller, async_register_entities
from .responses.errors import validation_error
from .tracking import Tracker, Triggered

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0

# That of an account that is not there for a while is armed once it is.
_SWITCHED_OFF_BY: Final = (RegistryEntryDisabler.USER, RegistryEntryDisabler.DEVICE)


@dataclass(frozen=True, kw_only=True)
class BikeTrackerGuardDescription(
    BikeTrackerDescription[tuple[Triggered, ...]], AlarmControlPanelEntityDescription
):
    """The guard of a tracker: its value is what triggered it, None while disarmed."""


def _triggers(tracker: Tracker) -> tuple[Triggered, ...] | None:
    if (guard := tracker.story.guard) is None:
        return None
    return (guard.triggered,) if guard.triggered else ()


DESCRIPTIONS: Final = (
    BikeTrackerGuardDescription(
        key="guard",
        translation_key="guard",
        reported_fn=lambda tracker: tracker.position and tracker.position.latitude,
        value_fn=_triggers,
    ),
)


class BikeTrackerGuard(BikeTrackerTeller[Triggered], AlarmControlPanelEntity):
    """The guard of a tracker.

    It comes back armed, and is triggered once automations notice that.
    """

    entity_description: BikeTrackerGuardDescription
    _attr_code_arm_required = False
    _attr_supported_features = AlarmControlPanelEntityFeature.ARM_AWAY

    @property
    @override
    def alarm_state(self) -> AlarmControlPanelState:
        """Return whether it is armed, and triggered."""
        if self._value is None:
            return AlarmControlPanelState.DISARMED
        if self._triggered:
            return AlarmControlPanelState.TRIGGERED
        return AlarmControlPanelState.ARMED_AWAY

    @property
    @override
    def extra_state_attributes(self) -> dict[str, Any]:
        """Return what triggered it."""
        if (triggered := self._triggered) is None:
            return {}
        return {**triggered.described(), "since": triggered.since.isoformat()}

    @override
    async def async_alarm_arm_away(self, code: str | None = None) -> None:
        """Guard the bike where it is."""
        account = self.coordinator.account
        changes = account.arm(self.coordinator_context, dt_util.utcnow())
        if changes is None:
            raise validation_error("guard_without_place")
        self.coordinator.async_tell(changes)

    @override
    async def async_alarm_disarm(self, code: str | None = None) -> None:
        """Guard the bike no more."""
        changes = self.coordinator.account.disarm(self.coordinator_context)
        self.coordinator.async_tell(changes)

    @override
    def _switched_off(self) -> None:
        """Guard it no more if it or its device is switched off: nobody could disarm it."""
        entry, unique_id = self.registry_entry, self.coordinator_context
        tracker = self.coordinator.account.trackers.get(unique_id)
        is_off = entry and entry.disabled_by in _SWITCHED_OFF_BY
        if is_off and tracker and tracker.story.guard:
            self.coordinator.async_tell(self.coordinator.account.disarm(unique_id))

    @property
    def _triggered(self) -> Triggered | None:
        """Return what triggered it, once that is told."""
        told = self._told
        items = self._value or ()
        return next((item for item in items if told and item.heard_at <= told), None)


async_setup_entry = partial(async_register_entities, BikeTrackerGuard, DESCRIPTIONS)
