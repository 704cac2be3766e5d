"""The triggers."""

from abc import abstractmethod
from datetime import datetime, timedelta
from typing import Any, ClassVar, override

from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR_DOMAIN
from homeassistant.const import (
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_NAME,
    CONF_FOR,
    CONF_OPTIONS,
    CONF_TARGET,
)
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.trigger import (
    Trigger,
    TriggerActionRunner,
    TriggerConfig,
    TriggerNotTriggeredReporter,
)
from homeassistant.helpers.typing import ConfigType
import voluptuous as vol

from ..account import Ride, Tracker
from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from .marks import async_get_marks
from .watch import Watch, Watched

_AT_ONCE = timedelta()
_SILENT_FOR = timedelta(hours=24)


def _schema(wait: timedelta | None) -> vol.Schema:
    """Return what is to be filled in; with how long to wait unless told otherwise."""
    options = (
        {}
        if wait is None
        else {vol.Optional(CONF_FOR, default=wait): cv.positive_time_period}
    )
    return vol.Schema(
        {
            vol.Required(CONF_TARGET): vol.All(
                dict, vol.Length(min=1, msg="the target is empty")
            ),
            vol.Required(CONF_OPTIONS, default=dict): options,
        }
    )


class TrackerTrigger(Trigger):
    """A trigger that tells what became so of a tracker."""

    _schema: ClassVar[vol.Schema] = _schema(_AT_ONCE)
    _words: ClassVar[str]
    _is_absence: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def _since(tracker: Tracker) -> datetime | None:
        """Return since when it is so."""

    @staticmethod
    def _more(_tracker: Tracker) -> dict[str, Any]:
        """Return what else there is to say of it."""
        return {}

    @staticmethod
    def _otherwise(tracker: Tracker) -> datetime | None:
        """Return since when it is the opposite."""
        return None

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Return the configuration with what was not filled in, or refuse it."""
        validated: ConfigType = cls._schema(config)
        return validated

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        """Take in what to watch."""
        super().__init__(hass, config)
        self._watched = Watched(
            key=config.key,
            target=config.target or {},
            wait=(config.options or {}).get(CONF_FOR, _AT_ONCE),
            since=self._since,
            otherwise=self._otherwise,
            is_absence=self._is_absence,
        )

    @override
    async def async_attach_runner(
        self,
        run_action: TriggerActionRunner,
        did_not_trigger: TriggerNotTriggeredReporter | None = None,
    ) -> CALLBACK_TYPE:
        """Run the action when there is something to tell."""

        @callback
        def tell(
            coordinator: BikeTrackerCoordinator,
            tracker: Tracker,
            since: datetime,
            before: datetime | None,
        ) -> None:
            unique_id = tracker.device.unique_id
            if (device := coordinator.fleet.device_of(unique_id)) is None:
                return
            name = device.name_by_user or device.name
            variables = {
                ATTR_DEVICE_ID: device.id,
                ATTR_ENTITY_ID: er.async_get(self._hass).async_get_entity_id(
                    BINARY_SENSOR_DOMAIN, DOMAIN, f"{unique_id}_online"
                ),
                ATTR_NAME: name,
                "since": since,
                "before": before,
                **self._more(tracker),
            }
            run_action(variables, f"{name} {self._words}")

        marks = await async_get_marks(self._hass)
        return Watch(self._hass, self._watched, marks, tell).async_start()


class WentOffline(TrackerTrigger):
    """When the service says no longer that a tracker is online."""

    _words = "went offline"

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.offline_since

    @staticmethod
    @override
    def _otherwise(tracker: Tracker) -> datetime | None:
        return tracker.online_since


class CameOnline(TrackerTrigger):
    """When the service says that a tracker is online again."""

    _schema = _schema(None)
    _words = "came online"

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.online_since

    @staticmethod
    @override
    def _otherwise(tracker: Tracker) -> datetime | None:
        return tracker.offline_since


class BecameSilent(TrackerTrigger):
    """When the service did not hear of a tracker for a while."""

    _schema = _schema(_SILENT_FOR)
    _words = "became silent"
    _is_absence = True

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.silent_since


class StartedMoving(TrackerTrigger):
    """When a tracker reports that it moves."""

    _words = "started moving"

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.moving_since

    @staticmethod
    @override
    def _otherwise(tracker: Tracker) -> datetime | None:
        return tracker.standing_since


class StoppedMoving(TrackerTrigger):
    """When a tracker reports that it moves no more."""

    _words = "stopped moving"

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        return tracker.standing_since

    @staticmethod
    @override
    def _otherwise(tracker: Tracker) -> datetime | None:
        return tracker.moving_since


class RideStarted(TrackerTrigger):
    """When a tracker sets off."""

    _schema = _schema(None)
    _words = "started a ride"

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        ride = _last_ride(tracker, "started")
        return ride and ride.started_at

    @staticmethod
    @override
    def _more(tracker: Tracker) -> dict[str, Any]:
        ride = _last_ride(tracker, "started")
        return ride.described(is_over=False) if ride else {}


class RideEnded(TrackerTrigger):
    """When a tracker has arrived."""

    _schema = _schema(None)
    _words = "ended a ride"

    @staticmethod
    @override
    def _since(tracker: Tracker) -> datetime | None:
        ride = _last_ride(tracker, "ended")
        return ride and ride.moved_at

    @staticmethod
    @override
    def _more(tracker: Tracker) -> dict[str, Any]:
        ride = _last_ride(tracker, "ended")
        return ride.described(is_over=True) if ride else {}


def _last_ride(tracker: Tracker, kind: str) -> Ride | None:
    rides = [event.ride for event in tracker.ride_events if event.type == kind]
    return rides[-1] if rides else None


TRIGGERS: dict[str, type[Trigger]] = {
    "became_silent": BecameSilent,
    "came_online": CameOnline,
    "ride_ended": RideEnded,
    "ride_started": RideStarted,
    "started_moving": StartedMoving,
    "stopped_moving": StoppedMoving,
    "went_offline": WentOffline,
}
