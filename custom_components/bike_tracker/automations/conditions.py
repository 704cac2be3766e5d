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

from ..coordinator import coordinators
from ..database.file import Evaluation
from ..responses.targets import trackers_in
from . import AT_ONCE, CONDITION_TYPES, StateType

_BEHAVIORS = vol.In([BEHAVIOR_ANY, BEHAVIOR_ALL])
_CONDITION_OPTIONS = {vol.Optional(ATTR_BEHAVIOR, default=BEHAVIOR_ANY): _BEHAVIORS}


class TrackerCondition(Condition):
    """A condition that is true if the state holds for any or for all trackers in the target.

    During an outage, only the state of the guard is known; all other conditions are
    false. No state holds for a tracker that the service does not list.
    """

    _type: ClassVar[StateType]

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        return cls._type.validated(config, dict, _CONDITION_OPTIONS)

    def __init__(self, hass: HomeAssistant, config: ConditionConfig) -> None:
        super().__init__(hass, config)
        self._config = config

    @override
    def _async_check(self, **kwargs: Unpack[ConditionCheckParams]) -> bool:
        target, options = self._config.target or {}, self._config.options or {}
        unique_ids = trackers_in(self._hass, target)
        found = set(self._matching(unique_ids, options.get(CONF_FOR, AT_ONCE)))
        is_any = options[ATTR_BEHAVIOR] == BEHAVIOR_ANY
        return bool(found) and (is_any or found == unique_ids)

    def _matching(self, unique_ids: frozenset[str], wait: timedelta) -> Iterator[str]:
        """Yield the trackers whose state has held for at least `wait`."""
        kind = self._type
        for coordinator in coordinators(self._hass):
            answered_at = coordinator.service.answered_at
            now = kind.time_of(Evaluation(dt_util.utcnow(), answered_at))
            trackers = coordinator.data.trackers
            if coordinator.last_update_success or kind.is_ours:
                for unique_id in unique_ids & trackers.keys():
                    flag = kind.flag(trackers[unique_id])
                    # Without a wait, do not compare times: if the clock was set back,
                    # `changed_at` may be in the future.
                    if flag and (not wait or flag.changed_at + wait <= now):
                        yield unique_id


_CONDITIONS: dict[str, type[Condition]] = {
    name: type(name, (TrackerCondition,), {"_type": condition_type})
    for name, condition_type in CONDITION_TYPES.items()
}


async def async_get_conditions(_hass: HomeAssistant) -> dict[str, type[Condition]]:
    """Return the class of each condition, by the name of the condition."""
    return _CONDITIONS
