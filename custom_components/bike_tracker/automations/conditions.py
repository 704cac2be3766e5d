"""The conditions."""

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

from .kinds import ASKED, AT_ONCE, Kind
from .options import schema
from .targets import coordinators, trackers_in

_BEHAVIOR = {
    vol.Optional(ATTR_BEHAVIOR, default=BEHAVIOR_ANY): vol.In(
        [BEHAVIOR_ANY, BEHAVIOR_ALL]
    )
}


class TrackerCondition(Condition):
    """A condition that is true if one of the trackers is so, or if all of them are.

    Nothing is so of a tracker that is not listed, or while the service does not answer.
    """

    _kind: ClassVar[Kind]

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Return the configuration with what was not filled in, or refuse it."""
        validated: ConfigType = schema(dict, cls._kind.wait, _BEHAVIOR)(config)
        return validated

    def __init__(self, hass: HomeAssistant, config: ConditionConfig) -> None:
        """Take in what to look at."""
        super().__init__(hass, config)
        self._config = config

    @override
    def _async_check(self, **kwargs: Unpack[ConditionCheckParams]) -> bool:
        """Return whether it is so."""
        target, options = self._config.target or {}, self._config.options or {}
        unique_ids = trackers_in(self._hass, target)
        is_for_all = options[ATTR_BEHAVIOR] == BEHAVIOR_ALL
        number = sum(self._so(unique_ids, options.get(CONF_FOR, AT_ONCE)))
        return 0 < (len(unique_ids) if is_for_all else 1) <= number

    def _so(self, unique_ids: frozenset[str], wait: timedelta) -> Iterator[bool]:
        """Yield of those that are listed by a service that answers whether it is so."""
        kind = self._kind
        for coordinator in coordinators(self._hass):
            if coordinator.last_update_success:
                by = kind.judged_at(coordinator.account.asked_at, dt_util.utcnow())
                for unique_id in unique_ids & coordinator.data.after.keys():
                    items = kind.items_of(coordinator.data.after[unique_id])
                    yield any(
                        item.since + wait <= by and not item.is_over for item in items
                    )


_CONDITIONS: dict[str, type[Condition]] = {
    name: type(name, (TrackerCondition,), {"_kind": kind})
    for name, kind in ASKED.items()
}


async def async_get_conditions(_hass: HomeAssistant) -> dict[str, type[Condition]]:
    """Return the conditions by name."""
    return _CONDITIONS
