"""The conditions."""

from abc import abstractmethod
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import ClassVar, Unpack, override

from homeassistant.const import CONF_FOR, CONF_OPTIONS, CONF_TARGET
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.condition import (
    ATTR_BEHAVIOR,
    BEHAVIOR_ALL,
    BEHAVIOR_ANY,
    Condition,
    ConditionCheckParams,
    ConditionConfig,
)
from homeassistant.helpers.typing import ConfigType, VolDictType
from homeassistant.util import dt as dt_util
import voluptuous as vol

from ..account import Tracker
from ..const import DOMAIN
from .targets import trackers_in

_AT_LEAST = timedelta()
_SILENT_FOR = timedelta(hours=24)


def _schema(wait: timedelta | None) -> vol.Schema:
    """Return what is to be filled in; with for how long unless told otherwise."""
    options: VolDictType = {
        vol.Optional(ATTR_BEHAVIOR, default=BEHAVIOR_ANY): vol.In(
            [BEHAVIOR_ANY, BEHAVIOR_ALL]
        )
    }
    if wait is not None:
        options[vol.Optional(CONF_FOR, default=wait)] = cv.positive_time_period
    return vol.Schema(
        {
            vol.Required(CONF_TARGET): dict,
            vol.Required(CONF_OPTIONS, default=dict): options,
        }
    )


class TrackerCondition(Condition):
    """A condition that is true if one of the trackers is so, or if all of them are.

    Nothing is so of a tracker that is not listed, or while the service does not answer.
    """

    _schema: ClassVar[vol.Schema] = _schema(_AT_LEAST)

    @staticmethod
    @abstractmethod
    def _since(tracker: Tracker) -> datetime | None:
        """Return since when it is so."""

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
        self._target = config.target or {}
        self._for: timedelta = options.get(CONF_FOR, _AT_LEAST)
        self._combine = all if options[ATTR_BEHAVIOR] == BEHAVIOR_ALL else any

    @override
    def _async_check(self, **kwargs: Unpack[ConditionCheckParams]) -> bool:
        """Return whether it is so."""
        trackers = trackers_in(self._hass, self._target)
        return bool(trackers) and self._combine(self._are_so(trackers))

    def _are_so(self, unique_ids: set[str]) -> Iterator[bool]:
        before = dt_util.utcnow() - self._for
        known = self._known()
        for unique_id in unique_ids:
            tracker = known.get(unique_id)
            since = self._since(tracker) if tracker else None
            yield since is not None and since <= before

    def _known(self) -> dict[str, Tracker]:
        """Return the trackers that the service lists now."""
        known: dict[str, Tracker] = {}
        for entry in self._hass.config_entries.async_loaded_entries(DOMAIN):
            coordinator = entry.runtime_data.coordinator
            if coordinator.last_update_success:
                known |= coordinator.data.now
        return known


class IsOnline(TrackerCondition):
    """Whether the service says that a tracker is online."""

    _schema = _schema(None)

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.online_since


class IsOffline(TrackerCondition):
    """Whether the service says anything but that a tracker is online."""

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.offline_since


class IsSilent(TrackerCondition):
    """Whether the service did not hear of a tracker for a while."""

    _schema = _schema(_SILENT_FOR)

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.silent_since


class IsMoving(TrackerCondition):
    """Whether a tracker reported last that it moves."""

    _schema = _schema(None)

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.moving_since


class IsNotMoving(TrackerCondition):
    """Whether a tracker reported last that it does not move."""

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.standing_since


CONDITIONS: dict[str, type[Condition]] = {
    "is_moving": IsMoving,
    "is_not_moving": IsNotMoving,
    "is_offline": IsOffline,
    "is_online": IsOnline,
    "is_silent": IsSilent,
}
