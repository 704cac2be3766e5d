"""The triggers."""

from typing import Any, ClassVar, override

from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR_DOMAIN
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, ATTR_NAME, CONF_FOR
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

from ..account import Tracker
from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from .kinds import AT_ONCE, KINDS, Item, Kind
from .options import schema
from .targets import Target
from .watch import Watch
from .watches import async_get_watches

_CONF_ALARM = "alarm"


def _schema(kind: Kind) -> vol.Schema:
    more = {}
    if kind.names:
        at_least_one = vol.Length(min=1, msg="choose at least one alarm")
        names = vol.All(cv.ensure_list, [vol.In(kind.names)], at_least_one)
        more[vol.Optional(_CONF_ALARM)] = names
    target = vol.All(dict, vol.Length(min=1, msg="the target is empty"))
    return schema(target, kind.wait, more)


class TrackerTrigger(Trigger):
    """A trigger that tells what became so of a tracker, or happened to it."""

    _kind: ClassVar[Kind]
    _schema: ClassVar[vol.Schema]

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
        self._config = config

    @override
    async def async_attach_runner(
        self,
        run_action: TriggerActionRunner,
        did_not_trigger: TriggerNotTriggeredReporter | None = None,
    ) -> CALLBACK_TYPE:
        """Run the action when there is something to tell."""

        @callback
        def tell(
            coordinator: BikeTrackerCoordinator, tracker: Tracker, item: Item
        ) -> None:
            if variables := self._variables(coordinator, tracker, item):
                run_action(variables, f"{variables[ATTR_NAME]} {self._kind.words}")

        options = self._config.options or {}
        watch = Watch(
            self._config.key,
            self._kind,
            Target.of(self._config.target or {}),
            tell,
            wait=options.get(CONF_FOR, AT_ONCE),
            names=options.get(_CONF_ALARM),
        )
        return (await async_get_watches(self._hass)).async_add(watch)

    def _variables(
        self, coordinator: BikeTrackerCoordinator, tracker: Tracker, item: Item
    ) -> dict[str, Any] | None:
        """Return what a run is given, None for a tracker that was removed just now."""
        unique_id = tracker.device.unique_id
        if (device := coordinator.fleet.device_of(unique_id)) is None:
            return None
        return {
            ATTR_DEVICE_ID: device.id,
            ATTR_ENTITY_ID: er.async_get(self._hass).async_get_entity_id(
                BINARY_SENSOR_DOMAIN, DOMAIN, f"{unique_id}_online"
            ),
            ATTR_NAME: device.name_by_user or device.name,
            "since": item.since,
            "before": item.before,
            **item.more,
        }


TRIGGERS: dict[str, type[Trigger]] = {
    name: type(name, (TrackerTrigger,), {"_kind": kind, "_schema": _schema(kind)})
    for name, kind in KINDS.items()
}
