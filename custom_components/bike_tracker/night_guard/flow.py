"""Add and change a night guard: a config subentry of the account."""

from typing import Any

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_NAME
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.selector import (
    BooleanSelector,
    DeviceSelector,
    EntitySelector,
    NumberSelector,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorMode,
    TextSelector,
    TimeSelector,
)
import voluptuous as vol

from ..devices import name_of, tracker_of
from ..responses.texts import text
from . import DEFAULTS

# Do not import this constant from `mobile_app`: the import would require the libraries
# of that integration.
_PHONES = "mobile_app"
_PHONE_SELECTOR = DeviceSelector(
    {"multiple": True, "filter": [{"integration": _PHONES}]}
)
_RIDERS = EntitySelector({"multiple": True, "filter": [{"domain": ["person"]}]})
_OTHERS = EntitySelector({"multiple": True, "filter": [{"domain": ["notify"]}]})
_METERS = NumberSelector(
    {
        "min": 50,
        "max": 5000,
        "unit_of_measurement": "m",
        "mode": NumberSelectorMode.BOX,
    }
)
_NIGHT_FIELDS = ("night_begins", "night_ends")


class NightGuardFlow(ConfigSubentryFlow):
    """A flow of one form, with defaults that suit most people."""

    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Show the form, then add a night guard or store its changes."""
        is_change = self.source == SOURCE_RECONFIGURE
        changed = self._get_reconfigure_subentry() if is_change else None
        stored = changed and {**changed.data, CONF_NAME: changed.title}
        shown = user_input or stored or {**DEFAULTS, **self._suggested()}
        errors = {key: "half_a_night" for key in _NIGHT_FIELDS if not shown.get(key)}
        if user_input is None or len(errors) == 1:
            names = self._bikes()
            device_of = dr.async_get(self.hass).async_get
            known = {
                "bikes": [it for it in shown.get("bikes", ()) if it in names],
                "phones": [it for it in shown.get("phones", ()) if device_of(it)],
            }
            schema = self.add_suggested_values_to_schema(
                _schema_of(names), {**shown, **known}
            )
            if user_input is None:
                # An empty field would silently mean all bikes.
                is_empty = shown.get("bikes") and not known["bikes"]
                errors = {"bikes": "bikes_gone"} if is_empty else {}
            return self.async_show_form(
                step_id="user", data_schema=schema, errors=errors
            )
        name = user_input[CONF_NAME] or self._suggested()[CONF_NAME]
        if not changed:
            return self.async_create_entry(title=name, data=user_input)
        entry = self._get_entry()
        return self.async_update_and_abort(entry, changed, title=name, data=user_input)

    async_step_reconfigure = async_step_user

    def _bikes(self) -> dict[str, str]:
        """Return the names of the account's bikes by device ID."""
        registry, entry_id = dr.async_get(self.hass), self._get_entry().entry_id
        devices = dr.async_entries_for_config_entry(registry, entry_id)
        return {it.id: name_of(it) for it in devices if tracker_of(it)}

    def _suggested(self) -> dict[str, Any]:
        """Return the suggested values: a name in Home Assistant's language, and all phones."""
        registry = dr.async_get(self.hass)
        phones = [
            device.id
            for entry in self.hass.config_entries.async_entries(_PHONES)
            for device in dr.async_entries_for_config_entry(registry, entry.entry_id)
        ]
        name = text(self.hass, "config_subentries.night_guard.entry_type")
        return {CONF_NAME: name, "phones": phones}


def _schema_of(names: dict[str, str]) -> vol.Schema:
    """Return the fields of the form, given the names of the account's bikes by device ID."""
    return vol.Schema(
        {
            vol.Required(CONF_NAME): vol.All(TextSelector(), vol.Strip),
            vol.Optional("bikes"): _selector_of(names),
            vol.Optional("night_begins"): TimeSelector(),
            vol.Optional("night_ends"): TimeSelector(),
            vol.Optional("riders"): _RIDERS,
            vol.Required("away_distance", default=DEFAULTS["away_distance"]): _METERS,
            vol.Optional("phones"): _PHONE_SELECTOR,
            vol.Optional("others"): _OTHERS,
            vol.Required("critical", default=True): BooleanSelector(),
            vol.Required("follow", default=True): BooleanSelector(),
        }
    )


def _selector_of(names: dict[str, str]) -> SelectSelector:
    """Return a selector of bikes, given their names by device ID.

    A device selector would also offer the bikes of other accounts.
    """
    options = [SelectOptionDict(value=key, label=name) for key, name in names.items()]
    return SelectSelector(
        {
            "options": options,
            "multiple": True,
            "sort": True,
            "mode": SelectSelectorMode.DROPDOWN,
        }
    )
