"""The conditions."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import ClassVar, Final, NamedTuple, Unpack, override

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

from ..account import Tracker
from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from .kinds import AT_ONCE, SILENT_FOR
from .options import schema
from .targets import Target, async_get_targets


class _Asked(NamedTuple):
    """What a condition asks of a tracker."""

    since: Callable[[Tracker], datetime | None]
    """Returns since when it is so, None if it is not or that is not known."""
    wait: timedelta | None = AT_ONCE
    """For how long unless told otherwise, None if that is not asked."""
    is_silence: bool = False
    """Whether it takes an answer that was asked for later to say so."""


_ASKED: Final = {
    "is_moving": _Asked(lambda tracker: tracker.moving_since, None),
    "is_not_moving": _Asked(lambda tracker: tracker.standing_since),
    "is_offline": _Asked(lambda tracker: tracker.offline_since),
    "is_online": _Asked(lambda tracker: tracker.online_since, None),
    "is_silent": _Asked(
        lambda tracker: tracker.silent_since, SILENT_FOR, is_silence=True
    ),
}


def _schema(asked: _Asked) -> vol.Schema:
    behaviors = vol.In([BEHAVIOR_ANY, BEHAVIOR_ALL])
    behavior = {vol.Optional(ATTR_BEHAVIOR, default=BEHAVIOR_ANY): behaviors}
    return schema(dict, asked.wait, behavior)


class TrackerCondition(Condition):
    """A condition that is true if one of the trackers is so, or if all of them are.

    Nothing is so of a tracker that is not listed, or while the service does not answer.
    """

    _asked: ClassVar[_Asked]
    _schema: ClassVar[vol.Schema]

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Return the configuration with what was not filled in, or refuse it."""
        validated: ConfigType = cls._schema(config)
        return validated

    def __init__(self, hass: HomeAssistant, config: ConditionConfig) -> None:
        """Take in what to look at."""
        super().__init__(hass, config)
        options = config.options or {}
        self._targets = async_get_targets(hass)
        self._target = Target.of(config.target or {})
        self._for: timedelta = options.get(CONF_FOR, AT_ONCE)
        self._combine = all if options[ATTR_BEHAVIOR] == BEHAVIOR_ALL else any

    @override
    def _async_check(self, **kwargs: Unpack[ConditionCheckParams]) -> bool:
        """Return whether it is so."""
        unique_ids = self._targets.trackers_in(self._target)
        return bool(unique_ids) and self._combine(self._are_so(unique_ids))

    def _are_so(self, unique_ids: frozenset[str]) -> Iterator[bool]:
        now = dt_util.utcnow()
        coordinators: list[BikeTrackerCoordinator] = [
            entry.runtime_data.coordinator
            for entry in self._hass.config_entries.async_loaded_entries(DOMAIN)
            if entry.runtime_data.coordinator.last_update_success
        ]
        for unique_id in unique_ids:
            yield any(
                self._is_so(coordinator, tracker, now)
                for coordinator in coordinators
                if (tracker := coordinator.data.now.get(unique_id))
            )

    def _is_so(
        self, coordinator: BikeTrackerCoordinator, tracker: Tracker, now: datetime
    ) -> bool:
        by = (coordinator.asked_at or now) if self._asked.is_silence else now
        since = self._asked.since(tracker)
        return since is not None and since + self._for <= by


CONDITIONS: dict[str, type[Condition]] = {
    name: type(name, (TrackerCondition,), {"_asked": asked, "_schema": _schema(asked)})
    for name, asked in _ASKED.items()
}
