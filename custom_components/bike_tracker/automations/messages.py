"""Messages about a bike, on phones, in whatever else takes messages, and in Home Assistant."""

import asyncio
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import starmap
import re
from typing import Any, Final

from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, Platform
from homeassistant.core import Context, Event, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import (
    config_validation as cv,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.util import slugify
import voluptuous as vol

from ..const import DOMAIN, LOGGER
from ..registry.devices import name_of, tracker_of
from ..responses.bikes import validation_error

SCHEMA: Final = vol.Schema(
    {
        vol.Required(ATTR_DEVICE_ID): cv.string,
        vol.Optional("message"): cv.string,
        vol.Optional("title"): cv.string,
        vol.Optional("tag", default="message"): cv.slug,
        vol.Optional("phones", default=list): vol.All(cv.ensure_list, [cv.string]),
        vol.Optional("others", default=list): cv.entity_ids,
        vol.Optional("in_home_assistant", default=True): cv.boolean,
        vol.Optional("urgent", default=False): cv.boolean,
        vol.Optional("critical", default=False): cv.boolean,
        vol.Optional("arm_button"): cv.string,
        vol.Optional("disarm_button"): cv.string,
        vol.Optional("map_button"): cv.string,
    }
)

# The actions that send to phones are called after those.
_PHONE: Final = "mobile_app_"
# What the apps for phones call such an event.
EVENT_BUTTON: Final = "mobile_app_notification_action"
# What a phone says when a button is pressed, before the ID of the device.
_BUTTONS: Final = {
    f"{DOMAIN}_arm": "alarm_arm_away",
    f"{DOMAIN}_disarm": "alarm_disarm",
}
# A notification in Home Assistant is Markdown, in which a name stands for itself.
_MARKDOWN: Final = re.compile(r"([!-/:-@\[-`{-~])")
# At once, also where a phone sleeps; and where it is muted.
_AWAKE: Final = {"ttl": 0, "priority": "high"}
_URGENT: Final = {**_AWAKE, "push": {"interruption-level": "time-sensitive"}}
_SOUND: Final = {"name": "default", "critical": 1, "volume": 1.0}
_CRITICAL: Final = {
    **_AWAKE,
    "channel": "alarm_stream",
    "push": {"interruption-level": "critical", "sound": _SOUND},
}

type _Action = tuple[str, str, dict[str, Any]]
"""Its domain, its name and its data."""


async def async_press(hass: HomeAssistant, event: Event[dict[str, Any]]) -> None:
    """Arm or disarm a guard from a message, in the name of whoever presses a button."""
    button, _, device_id = str(event.data.get("action")).rpartition("_")
    guard = _entity(hass, device_id, Platform.ALARM_CONTROL_PANEL)
    if guard and (service := _BUTTONS.get(button)):
        action = (Platform.ALARM_CONTROL_PANEL, service, {ATTR_ENTITY_ID: guard})
        await _async_call(hass, event.context, action)


async def async_send(call: ServiceCall) -> None:
    """Send a message about a bike; without a text, take away the one before."""
    hass, data = call.hass, call.data
    device = dr.async_get(hass).async_get(data[ATTR_DEVICE_ID])
    if not isinstance(device, dr.DeviceEntry) or tracker_of(device) is None:
        raise validation_error("no_tracker")
    phones = list[str]()
    for phone_id in data["phones"]:
        phone = dr.async_get(hass).async_get(phone_id)
        if phone and phone.name:
            phones.append(f"{_PHONE}{slugify(phone.name)}")
        else:
            LOGGER.warning("No message to the phone %s: it is gone", phone_id)
    message = {**data, "title": data.get("title") or name_of(device)}
    await _async_call(hass, call.context, *_actions(hass, message, phones))


async def async_take_away_guard(
    hass: HomeAssistant, context: Context | None, device_id: str
) -> None:
    """Take away the message about a guard, on all phones: a restart forgets which had it."""
    services = hass.services.async_services_for_domain(Platform.NOTIFY)
    phones = [service for service in services if service.startswith(_PHONE)]
    message = {ATTR_DEVICE_ID: device_id, "tag": "guard"}
    await _async_call(hass, context, *_actions(hass, message, phones))


def _actions(
    hass: HomeAssistant, data: dict[str, Any], phones: Iterable[str]
) -> Iterator[_Action]:
    """Yield the actions that show a message, or take away the one before."""
    text, tag = data.get("message"), f"{DOMAIN}_{data['tag']}_{data[ATTR_DEVICE_ID]}"
    message = {"title": data.get("title"), "message": text}
    on_phone = {"message": "clear_notification", "data": {"tag": tag}}
    if text:
        on_phone = message | {"data": {"tag": tag, **_on_phone(hass, data)}}
    for phone in phones:
        yield Platform.NOTIFY, phone, on_phone
    for entity_id in data["others"] if text else ():
        yield Platform.NOTIFY, "send_message", {ATTR_ENTITY_ID: entity_id, **message}
    if text and data["in_home_assistant"]:
        escaped = {"notification_id": tag, "message": _MARKDOWN.sub(r"\\\1", text)}
        yield "persistent_notification", "create", message | escaped
    else:
        yield "persistent_notification", "dismiss", {"notification_id": tag}


def _on_phone(hass: HomeAssistant, data: dict[str, Any]) -> dict[str, Any]:
    """Return how a phone shows a message: a tap on it opens the map."""
    device_id = data[ATTR_DEVICE_ID]
    tracker = _entity(hass, device_id, Platform.DEVICE_TRACKER)
    url = f"/map?entity_id={tracker}" if tracker else "/map"
    buttons = (
        {"action": f"{DOMAIN}_arm_{device_id}", "title": data.get("arm_button")},
        {"action": f"{DOMAIN}_disarm_{device_id}", "title": data.get("disarm_button")},
        {"action": "URI", "title": data.get("map_button"), "uri": url},
    )
    actions = [button for button in buttons if button["title"]]
    level = _CRITICAL if data["critical"] else _URGENT if data["urgent"] else {}
    return {"url": url, "clickAction": url, "actions": actions, **level}


async def _async_call(
    hass: HomeAssistant, context: Context | None, *actions: _Action
) -> None:
    """Call actions for whoever caused them; one that fails keeps no other waiting."""
    call = partial(hass.services.async_call, blocking=True, context=context)
    errors = await asyncio.gather(*starmap(call, actions), return_exceptions=True)
    for (domain, service, _), err in zip(actions, errors, strict=True):
        if isinstance(err, HomeAssistantError | vol.Invalid):
            LOGGER.warning("The action %s.%s failed: %s", domain, service, err)
        elif err:
            # What it says may hold a token, as part of an address.
            name = type(err).__name__
            LOGGER.warning("The action %s.%s failed (%s)", domain, service, name)


def _entity(hass: HomeAssistant, device_id: str, domain: str) -> str | None:
    """Return the entity of a bike, None if there is none."""
    entities = er.async_entries_for_device(er.async_get(hass), device_id)
    kind = (domain, DOMAIN)
    found = (it.entity_id for it in entities if (it.domain, it.platform) == kind)
    return next(found, None)
