"""Add the demo's dashboard: the page *Bikes*, with a story of a theft above the cards, and the page *Try it*."""

from typing import Any

from .client import HomeAssistantClient
from .phone import BUTTONS, SHOWN, TRIED
from .phone.config_flow import NAME
from .tricks import TRICKS, Trick

_PATH = "bike-tracker"
_DONE = """\
{{% set at = state_attr('{tried}', '{name}') %}}{{{{ '**Done at ' ~ at ~ '.** ' if at }}}}"""
_MESSAGE = f"""\
{{% set shown = states['{SHOWN}'].attributes %}}
{{%- if shown.message %}}**{{{{ shown.title }}}}**

{{{{ shown.message }}}}

[Open]({{{{ shown.url }}}})
{{%- else %}}No message yet: guard a bike, and let the thief come.{{% endif %}}"""

type Card = dict[str, Any]


async def add_dashboard(client: HomeAssistantClient, guard: str) -> None:
    """Add the dashboard as the default page. Its story is about the bike whose guard has this entity ID."""
    config = {"url_path": _PATH, "title": "Bikes", "icon": "mdi:bicycle"}
    await client.call("lovelace/dashboards/create", **config)
    try_it = _page("Try it", "try", 4, *map(_trick, TRICKS))
    pages = [bikes_page(*_story(guard)), try_it]
    await client.call("lovelace/config/save", url_path=_PATH, config={"views": pages})
    first = {"default_panel": _PATH}
    await client.call("frontend/set_system_data", key="core", value=first)


def bikes_page(*story: Card) -> Card:
    """Return the page *Bikes*: the sections of the story, and below them the integration's cards."""
    return _page(
        "Bikes",
        "bikes",
        3,
        *story,
        _section(3, _card("bikes")),
        _section(2, _card("rides", show="map")),
        _section(1, _card("distance"), _card("rides", show="list")),
    )


def phone(heading: str = NAME) -> Card:
    """Return a section with the newest message on the phone, and with the buttons of that message."""
    return _section(
        1,
        {"type": "heading", "heading": heading, "icon": "mdi:cellphone"},
        {"type": "markdown", "content": _MESSAGE},
        *map(_phone_button, BUTTONS),
    )


def _story(guard: str) -> list[Card]:
    """Return three sections: the two steps of a theft as buttons, and the phone."""
    arm = "alarm_control_panel.alarm_arm_away"
    return [
        _button(
            _tile("shield-lock", arm, {"entity_id": guard}, guard),
            "1 Park and guard",
            "**Long-tail bike** stops where it is and is guarded, as if you had tapped **Guard** below.",
        ),
        _button(
            _tile("bike-fast", "mobile_app.try", {"try": "stolen"}),
            "2 A thief comes",
            "Somebody rides off with Long-tail bike. Within half a minute it is **Being moved**, with its way on the map.",
        ),
        phone("3 Your phone"),
    ]


def _trick(trick: Trick) -> Card:
    done = _DONE.format(tried=TRIED, name=trick.name)
    tile = _tile(trick.icon, "mobile_app.try", {"try": trick.name})
    return _button(tile, trick.title, done + trick.watch)


def _button(tile: Card, title: str, watch: str) -> Card:
    """Return a section with a wide button that has this title, and the text `watch` about the expected effect."""
    wide = {"name": title, "color": "primary", "grid_options": {"columns": "full"}}
    text = {"type": "markdown", "content": watch, "text_only": True}
    return _section(1, tile | wide, text)


def _phone_button(entity_id: str) -> Card:
    tile = _tile(
        "gesture-tap-button", "mobile_app.press", {"button": entity_id}, entity_id
    )
    is_shown = {"condition": "state", "entity": entity_id, "state": "on"}
    return tile | {"visibility": [is_shown]}


def _tile(icon: str, action: str, data: Card, entity_id: str = "zone.home") -> Card:
    """Return a tile that calls an action when it is tapped. If the caller adds no `name`, it shows the entity's name."""
    tap = {"action": "perform-action", "perform_action": action, "data": data}
    tile = {"type": "tile", "entity": entity_id, "icon": f"mdi:{icon}"}
    return tile | {"hide_state": True, "tap_action": tap, "icon_tap_action": tap}


def _page(title: str, path: str, columns: int, *sections: Card) -> Card:
    page = {"type": "sections", "title": title, "path": path}
    return page | {"max_columns": columns, "sections": sections}


def _section(columns: int, *cards: Card) -> Card:
    return {"type": "grid", "column_span": columns, "cards": cards}


def _card(kind: str, **options: str) -> Card:
    return {"type": f"custom:bike-tracker-{kind}-card", **options}
