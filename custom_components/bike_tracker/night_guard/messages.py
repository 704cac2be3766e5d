"""Send messages about bikes: to phones, to `notify` entities, and as notifications in Home Assistant."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import starmap
import re
from typing import Any, Final, NamedTuple

from homeassistant.components.notify import NotifyEntityFeature
from homeassistant.const import (
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_SUPPORTED_FEATURES,
    Platform,
)
from homeassistant.core import Context, Event, HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import (
    config_validation as cv,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.util import slugify
import voluptuous as vol

from ..const import DOMAIN, LOGGER
from ..devices import name_of, tracker_of
from ..responses import async_bikes_in, validation_error

MESSAGE_SCHEMA: Final = vol.Schema(
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

# Prefix of the notify actions of phones.
_PHONE_PREFIX: Final = "mobile_app_"
EVENT_BUTTON: Final = "mobile_app_notification_action"
"""The event that the phone apps fire when a button is tapped."""
GUARD_TAG: Final = f"{DOMAIN}_guard_"
"""Prefix of the tags of messages about guards; the device ID follows."""
PANEL_ACTIONS: Final = {"arm": "alarm_arm_away", "disarm": "alarm_disarm"}
"""The action of `alarm_control_panel` for each button."""
# Notifications in Home Assistant are Markdown: escape punctuation.
_MARKDOWN: Final = re.compile(r"([!-/:-@\[-`{-~])")
# Home Assistant's Telegram bot reads messages as Markdown, and Telegram refuses a message
# with an unpaired one of these characters, such as the bike's name "Bike_1".
_MARKS: Final = re.compile(r"[_*`\[]")
# Maximum number of characters of a text on phones and in chats: push services refuse
# messages of more than 4 KiB, and the message about an outage names all bikes.
_LONGEST_TEXT: Final = 1_000
# Without `ttl`, the push service keeps a message for a phone that has no reception.
_AWAKE: Final = {"priority": "high"}
_SOUND: Final = {"name": "default", "critical": 1, "volume": 1.0}
URGENT: Final = {**_AWAKE, "push": {"interruption-level": "time-sensitive"}}
"""Data of a message that wakes a sleeping phone."""
CRITICAL: Final = {
    **_AWAKE,
    "channel": "alarm_stream",
    "push": {"interruption-level": "critical", "sound": _SOUND},
}
"""Data of a message that makes a sound even on a muted phone."""

type Button = dict[str, str]
type _Action = tuple[str, str, dict[str, Any]]
"""Domain, name and data of an action."""


class Message(NamedTuple):
    """A message with its recipients. It replaces their last message with the same tag."""

    tag: str
    title: str = ""
    text: str = ""
    """Without a text, the last message with this tag is removed."""
    url: str = "/map"
    buttons: tuple[Button, ...] = ()
    level: Mapping[str, Any] = {}
    phones: Iterable[str] = ()
    """Names of the `notify` actions of phones."""
    others: Iterable[str] = ()
    """IDs of `notify` entities."""
    in_home_assistant: bool = True


def pressed(event: Event[dict[str, Any]], prefix: str) -> tuple[str, str]:
    """Return the name of the tapped button (empty if its action has another prefix), and the device ID."""
    action, _, device_id = str(event.data.get("action")).rpartition("_")
    return action.removeprefix(prefix) if action.startswith(prefix) else "", device_id


async def async_press(hass: HomeAssistant, event: Event[dict[str, Any]]) -> None:
    """Arm or disarm a guard after a tap on a button, as the user who tapped."""
    button, device_id = pressed(event, f"{DOMAIN}_")
    guard = entity_of(hass, device_id, Platform.ALARM_CONTROL_PANEL)
    if guard and (service := PANEL_ACTIONS.get(button)):
        action = (Platform.ALARM_CONTROL_PANEL, service, {ATTR_ENTITY_ID: guard})
        await async_call(hass, event.context, action)


async def async_send(call: ServiceCall) -> None:
    """Send a message about a bike or, without a text, remove the last message with its tag.

    Raise an error if none of the given recipients of a text exists.
    """
    hass, data, device_id = call.hass, call.data, call.data[ATTR_DEVICE_ID]
    device = dr.async_get(hass).async_get(device_id)
    if not isinstance(device, dr.DeviceEntry) or tracker_of(device) is None:
        raise validation_error("no_tracker")
    # Raise an error if the user may not read the bike.
    await async_bikes_in(call)
    url, text = map_of(hass, device_id), data.get("message", "")
    buttons = [
        {"action": f"{DOMAIN}_{it}_{device_id}", "title": data.get(f"{it}_button", "")}
        for it in PANEL_ACTIONS
    ]
    buttons.append(link_button(url, data.get("map_button", "")))
    shown = tuple(button for button in buttons if button["title"])
    level = CRITICAL if data["critical"] else URGENT if data["urgent"] else {}
    tag = f"{DOMAIN}_{data['tag']}_{device_id}"
    title = data.get("title") or name_of(device)
    phones = phones_of(hass, data["phones"])
    recipients = phones, data["others"], data["in_home_assistant"]
    message = Message(tag, title, text, url, shown, level, *recipients)
    await async_deliver(hass, call.context, message)
    chats = set(hass.states.async_entity_ids((Platform.NOTIFY, "group")))
    exists = phones or chats & set(data["others"]) or data["in_home_assistant"]
    if text and (data["phones"] or data["others"]) and not exists:
        raise validation_error("no_recipient")


@callback
def async_remove_guard_message(
    hass: HomeAssistant, context: Context | None, device_id: str
) -> None:
    """Remove the message about a bike's guard from all phones and from Home Assistant, in a task."""
    services = hass.services.async_services_for_domain(Platform.NOTIFY)
    phones = [service for service in services if service.startswith(_PHONE_PREFIX)]
    message = Message(GUARD_TAG + device_id, phones=phones)
    hass.async_create_task(async_deliver(hass, context, message))


async def async_deliver(
    hass: HomeAssistant, context: Context | None, message: Message
) -> None:
    """Show a message to its recipients or, if it has no text, remove the last message with its tag.

    If a chat refuses a message with Markdown, send it again without Markdown.
    """
    failed = await async_call(hass, context, *_actions(hass, message))
    texts = ("title", "message")
    plain = [
        (domain, service, data | {key: _MARKS.sub("-", data[key]) for key in texts})
        for domain, service, data in failed
        if ATTR_ENTITY_ID in data
    ]
    await async_call(hass, context, *(it for it in plain if it not in failed))


def _actions(hass: HomeAssistant, message: Message) -> Iterator[_Action]:
    """Yield the actions that show or remove a message. `notify` entities cannot remove a message."""
    tag, text = message.tag, message.text
    start = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
    shown = {"title": message.title, "message": start}
    on_phone = {"message": "clear_notification", "data": {"tag": tag}}
    if text:
        links = {"url": message.url, "clickAction": message.url}
        actions = list(message.buttons)
        data = {"tag": tag, **links, "actions": actions, **message.level}
        on_phone = shown | {"data": data}
    for phone in message.phones:
        yield Platform.NOTIFY, phone, on_phone
    for entity_id in message.others if text else ():
        # Some chats, such as Discord, leave out titles.
        said = start if _shows_titles(hass, entity_id) else f"{message.title}\n{start}"
        data = {ATTR_ENTITY_ID: entity_id, **shown, "message": said}
        yield Platform.NOTIFY, "send_message", data
    if text and message.in_home_assistant:
        escaped = {"notification_id": tag, "message": _MARKDOWN.sub(r"\\\1", text)}
        yield "persistent_notification", "create", shown | escaped
    else:
        yield "persistent_notification", "dismiss", {"notification_id": tag}


def _shows_titles(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether a `notify` entity shows the titles of messages. Return True if the entity does not exist."""
    state = hass.states.get(entity_id)
    title = NotifyEntityFeature.TITLE
    return not state or bool(state.attributes.get(ATTR_SUPPORTED_FEATURES, 0) & title)


def phones_of(hass: HomeAssistant, device_ids: Iterable[str]) -> list[str]:
    """Return the notify actions of phones, given their device IDs. Log a warning for each phone that does not exist."""
    actions = {device_id: action_of(hass, device_id) for device_id in device_ids}
    for device_id in (it for it, action in actions.items() if not action):
        LOGGER.warning("No message to the phone %s: it is gone", device_id)
    return [*filter(None, actions.values())]


def action_of(hass: HomeAssistant, device_id: str) -> str | None:
    """Return the notify action of a phone, given its device ID, or None if no message can reach the phone."""
    phone = dr.async_get(hass).async_get(device_id)
    action = f"{_PHONE_PREFIX}{slugify((phone and phone.name) or '')}"
    return action if hass.services.has_service(Platform.NOTIFY, action) else None


def map_of(hass: HomeAssistant, device_id: str) -> str:
    """Return the path of the map page that shows a bike."""
    tracker = entity_of(hass, device_id, Platform.DEVICE_TRACKER)
    return f"/map?entity_id={tracker}" if tracker else "/map"


def link_button(url: str, title: str) -> Button:
    """Return a button that opens a URL."""
    return {"action": "URI", "title": title, "uri": url}


async def async_call(
    hass: HomeAssistant, context: Context | None, *actions: _Action
) -> list[_Action]:
    """Call actions concurrently, and wait for them. Log their errors instead of raising them, and return the failed actions."""
    call = partial(hass.services.async_call, blocking=True, context=context)
    errors = await asyncio.gather(*starmap(call, actions), return_exceptions=True)
    for (domain, service, _), err in zip(actions, errors, strict=True):
        if isinstance(err, HomeAssistantError | vol.Invalid):
            LOGGER.warning("The action %s.%s failed: %s", domain, service, err)
        elif err:
            # Log only the class: the text of the error may contain an address with a
            # token.
            name = type(err).__name__
            LOGGER.warning("The action %s.%s failed (%s)", domain, service, name)
    return [it for it, err in zip(actions, errors, strict=True) if err]


def entity_of(hass: HomeAssistant, device_id: str, domain: str) -> str | None:
    """Return the ID of the first entity of a bike in a domain, or None."""
    entities = er.async_entries_for_device(er.async_get(hass), device_id)
    kind = (domain, DOMAIN)
    found = (it.entity_id for it in entities if (it.domain, it.platform) == kind)
    return next(found, None)
