"""The guard of a bike as an alarm panel: one tap guards the bike where it stands."""

from functools import partial
from typing import Final, override

from homeassistant.components.alarm_control_panel import (
    AlarmControlPanelEntity,
    AlarmControlPanelEntityFeature,
    AlarmControlPanelState,
)
from homeassistant.core import callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .night_guard.messages import async_remove_guard_message
from .responses import validation_error
from .tracking.state import Changes, Tracker

# 0 means no limit. The coordinator updates all entities.
PARALLEL_UPDATES = 0

# If a user disabled the entity or its device, the guard is disarmed. If the entity is
# disabled because its account is disabled, the guard stays armed.
_DISABLED_BY_PERSON: Final = (
    er.RegistryEntryDisabler.USER,
    er.RegistryEntryDisabler.DEVICE,
)

DESCRIPTIONS: Final = (
    BikeTrackerDescription[tuple[object, ...]](
        key="guard",
        reported_fn=lambda tracker: (it := tracker.state.position) and it.latitude,
    ),
)


class BikeTrackerGuard(BikeTrackerEntity[tuple[object, ...]], AlarmControlPanelEntity):
    """The guard of a tracker as an alarm panel.

    Users can also arm and disarm the guard while polls fail. After a restart, the panel
    shows *triggered* only when automations are loaded and can notice the change.
    """

    _attr_code_arm_required = False
    _attr_supported_features = AlarmControlPanelEntityFeature.ARM_AWAY
    _is_available_in_outage = True

    @override
    def _new_value(self, tracker: Tracker) -> tuple[object, ...]:
        state, guard = tracker.state, tracker.state.guard
        triggered = guard and guard.triggered
        last_fired = self.coordinator.database.content.last_fired
        last = last_fired[self.coordinator_context]
        new = state.occurrences_after(last)
        if triggered and any(it.type == "guard_triggered" for it in new):
            triggered = None
        if triggered:
            self._attr_alarm_state = AlarmControlPanelState.TRIGGERED
        elif guard:
            self._attr_alarm_state = AlarmControlPanelState.ARMED_AWAY
        else:
            self._attr_alarm_state = AlarmControlPanelState.DISARMED
        key = "guard_again" if state.rearming else state.panel_key
        self._attr_translation_key = key if triggered else "guard"
        self._attr_changed_by = state.changed_by or None
        described = triggered.described(state.clock_error) if triggered else {}
        self._attr_extra_state_attributes = described
        return self._attr_alarm_state, state.changed_by, triggered

    @override
    def _read(self) -> bool:
        """Read the guard; return whether the state changed. A triggered guard is shown with one of four texts.

        The texts are *Being moved*, *Was moved*, *Alarm*, and an answer to *Guard again*.
        They belong to different translation keys of the same state. The frontend reads the
        key from the entity registry, so store a changed key there.
        """
        is_new, entry = super()._read(), self.registry_entry
        if entry and entry.translation_key != (key := self.translation_key):
            registry = er.async_get(self.hass)
            registry.async_update_entity(self.entity_id, translation_key=key)
        return is_new

    @override
    async def async_alarm_arm_away(self, code: str | None = None) -> None:
        """Arm the guard at the bike's current place, or raise an error if no place is known.

        If the guard is triggered and the bike is moving, the guard is armed later, when
        the bike stands. Its state informs the user: Home Assistant would log an error.
        """
        changed_by, account = await self._async_person(), self.coordinator.data
        changes = account.arm(self.coordinator_context, dt_util.utcnow(), changed_by)
        if changes is None:
            raise validation_error("guard_without_place")
        self._async_set(changes)
        # Inside an update, `_async_set` notifies entities only after the update. The
        # next action of an automation must already see the new state.
        self._handle_coordinator_update()

    @override
    async def async_alarm_disarm(self, code: str | None = None) -> None:
        self._disarm(await self._async_person())
        self._handle_coordinator_update()

    @callback
    def _async_set(self, changes: Changes) -> None:
        """Store the changed guard. Remove the old guard's message, unless the guard will be armed when the bike stands."""
        hass, key = self.coordinator.hass, self.coordinator_context
        self.coordinator.async_set_changes(changes)
        before, after = changes.before[key].state, changes.after[key].state
        if before.guard and self.device_entry and not after.rearming:
            async_remove_guard_message(hass, self._context, self.device_entry.id)

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Disarm the guard if its entity is removed because a user disabled the entity or its device."""
        self._disarm_disabled()

    @callback
    @override
    def add_to_platform_abort(self) -> None:
        """Disarm the guard if a user had disabled its entity or device before the entity was added."""
        super().add_to_platform_abort()
        self._disarm_disabled()

    def _disarm_disabled(self) -> None:
        """Disarm the guard if a user disabled its panel or device."""
        entry, tracker = self.registry_entry, self.tracker
        is_disabled = entry and entry.disabled_by in _DISABLED_BY_PERSON
        if is_disabled and tracker and tracker.state.guard:
            self._disarm()

    def _disarm(self, changed_by: str | None = None) -> None:
        account, now = self.coordinator.data, dt_util.utcnow()
        self._async_set(account.disarm(self.coordinator_context, now, changed_by))

    async def _async_person(self) -> str:
        """Return the name of the user that arms or disarms the guard; empty for an automation."""
        user_id = self._context and self._context.user_id
        user = await self.hass.auth.async_get_user(user_id) if user_id else None
        return (user and user.name) or ""


async_setup_entry = partial(async_register_entities, BikeTrackerGuard, DESCRIPTIONS)
