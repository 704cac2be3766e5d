"""Conditions of automations."""

from collections.abc import Iterator
from datetime import timedelta
from typing import ClassVar, Unpack, override

from homeassistant.const import CONF_FOR
from homeassistant.core import HomeAssistant
from homeassistant.helpers.condition import (
    ATTR_BEHAVIOR,
    BEHAVIOR_ALL,
    BEHAVIOR_ANY,
    Condition,
    ConditionCheckParams,
    ConditionConfig,
)
from homeassistant.helpers.typing import ConfigType
from homeassistant.util import dt as dt_util
import voluptuous as vol

from .targets import coordinators, trackers_in
from .types import AT_ONCE, CONDITION_TYPES, StateType, schema

_BEHAVIOR = {
    vol.Optional(ATTR_BEHAVIOR, default=BEHAVIOR_ANY): vol.In(
        [BEHAVIOR_ANY, BEHAVIOR_ALL]
    )
}


class TrackerCondition(Condition):
    """A condition that is true if one of the trackers is so, or if all of them are.

    Nothing is so of a tracker that is not listed, nor while the service does not answer,
    but that it is guarded.
    """

    _type: ClassVar[StateType]

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Return the configuration with its defaults, or refuse it."""
        validated: ConfigType = schema(dict, cls._type.wait, _BEHAVIOR)(config)
        return validated

    def __init__(self, hass: HomeAssistant, config: ConditionConfig) -> None:
        """Initialize the condition."""
        super().__init__(hass, config)
        self._config = config

    @override
    def _async_check(self, **kwargs: Unpack[ConditionCheckParams]) -> bool:
        """Return whether it is so."""
        target, options = self._config.target or {}, self._config.options or {}
        unique_ids = trackers_in(self._hass, target)
        is_for_all = options[ATTR_BEHAVIOR] == BEHAVIOR_ALL
        number = sum(self._states(unique_ids, options.get(CONF_FOR, AT_ONCE)))
        return 0 < (len(unique_ids) if is_for_all else 1) <= number

    def _states(self, unique_ids: frozenset[str], wait: timedelta) -> Iterator[bool]:
        """Yield for each tracker that is known whether it is so."""
        for coordinator in coordinators(self._hass):
            if coordinator.last_update_success or self._type.is_ours:
                is_silence = self._type.is_silence
                now = coordinator.asked_at if is_silence else dt_util.utcnow()
                trackers = coordinator.data.trackers
                for unique_id in unique_ids & trackers.keys():
                    flag = self._type.flag(trackers[unique_id])
                    # A clock that was set back makes nothing untrue.
                    yield bool(flag and (not wait or flag.changed_at + wait <= now))


_CONDITIONS: dict[str, type[Condition]] = {
    name: type(name, (TrackerCondition,), {"_type": condition_type})
    for name, condition_type in CONDITION_TYPES.items()
}


async def async_get_conditions(_hass: HomeAssistant) -> dict[str, type[Condition]]:
    """Return the conditions by name."""
    return _CONDITIONS
