"""The triggers."""

from datetime import datetime
import json
from typing import Any, ClassVar, override

from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR_DOMAIN
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, ATTR_NAME, CONF_FOR
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.trigger import (
    Trigger,
    TriggerActionRunner,
    TriggerConfig,
    TriggerNotTriggeredReporter,
)
from homeassistant.helpers.typing import ConfigType
from homeassistant.util import dt as dt_util
import voluptuous as vol

from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from .attached_trigger import AttachedTrigger
from .attached_triggers import attached_triggers
from .kinds import AT_ONCE, KINDS, Item, Kind
from .options import schema
from .sentences import sentence

_CONF_ALARM = "alarm"
_AT_LEAST_ONE = vol.Length(min=1, msg="choose at least one alarm")


def _target(chosen: ConfigType) -> ConfigType:
    """Return the target, or refuse one that names nothing."""
    if not any(chosen.values()):
        raise vol.Invalid("the target is empty")
    return chosen


class TrackerTrigger(Trigger):
    """A trigger that tells what became so of a tracker, or happened to it."""

    _kind: ClassVar[Kind]
    _name: ClassVar[str]

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Return the configuration with what was not filled in, or refuse it."""
        more = {}
        if names := cls._kind.names:
            chosen = vol.All(cv.ensure_list, [vol.In(names)], _AT_LEAST_ONE)
            more[vol.Optional(_CONF_ALARM)] = chosen
        validated: ConfigType = schema(vol.All(dict, _target), cls._kind.wait, more)(
            config
        )
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
        def tell(account: BikeTrackerCoordinator, unique_id: str, item: Item) -> None:
            # None is one that was removed just now.
            if device := account.devices.device_of(unique_id):
                variables = self._variables(device, unique_id, item)
                name = str(variables[ATTR_NAME])
                run_action(variables, sentence(self._hass, self._name, name, item))

        target, options = self._config.target or {}, self._config.options or {}
        wait, names = options.get(CONF_FOR, AT_ONCE), options.get(_CONF_ALARM)
        known_by = [self._config.key, target, wait.total_seconds()]
        if names:
            known_by.append(sorted(names))
        key = json.dumps(known_by, sort_keys=True)
        attached = AttachedTrigger(
            key, self._kind, json.dumps(target), tell, wait, names
        )
        return attached_triggers(self._hass).async_add(attached)

    def _variables(
        self, device: DeviceEntry, unique_id: str, item: Item
    ) -> dict[str, Any]:
        """Return what an automation is told."""
        told = {"since": item.since, "before": item.before, **item.more}
        return {
            ATTR_DEVICE_ID: device.id,
            ATTR_ENTITY_ID: er.async_get(self._hass).async_get_entity_id(
                BINARY_SENSOR_DOMAIN, DOMAIN, f"{unique_id}_online"
            ),
            ATTR_NAME: device.name_by_user or device.name,
            **{key: _shown(value) for key, value in told.items()},
        }


def _shown(value: object) -> object:
    """Return a time as people in the house read it, anything else as it is."""
    if isinstance(value, datetime):
        return dt_util.as_local(value).replace(microsecond=0)
    return value


_TRIGGERS: dict[str, type[Trigger]] = {
    name: type(name, (TrackerTrigger,), {"_kind": kind, "_name": name})
    for name, kind in KINDS.items()
}


async def async_get_triggers(_hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the triggers by name."""
    return _TRIGGERS
