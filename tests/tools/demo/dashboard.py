"""The first screen of the demo: a story to try, above the cards that everybody gets as the dashboard *Bikes*."""

from typing import Any

from .client import HomeAssistantClient

_PATH = "bike-tracker"
_TITLE = "Bikes"
_COLUMNS = 3

type Card = dict[str, Any]


async def add_dashboard(client: HomeAssistantClient) -> None:
    """Add the dashboard and make it the one that opens first."""
    await client.call(
        "lovelace/dashboards/create",
        url_path=_PATH,
        title=_TITLE,
        icon="mdi:bicycle",
    )
    await client.call(
        "frontend/set_system_data", key="core", value={"default_panel": _PATH}
    )


async def fill_dashboard(client: HomeAssistantClient, *pages: Card) -> None:
    """Replace all pages, for example after a bike got another name."""
    await client.call("lovelace/config/save", url_path=_PATH, config={"views": pages})


def bikes_page(*story: Card) -> Card:
    """Return a page with the story on top and the cards below it."""
    return page(
        _TITLE,
        "bikes",
        _COLUMNS,
        *story,
        _section(_COLUMNS, _card("bikes")),
        _section(2, _card("rides", show="map")),
        _section(1, _card("distance"), _card("rides", show="list")),
    )


def page(title: str, path: str, columns: int, *sections: Card) -> Card:
    """Return a page."""
    return {
        "title": title,
        "path": path,
        "type": "sections",
        "max_columns": columns,
        "sections": sections,
    }


def button(script: str, title: str, watch: str) -> Card:
    """Return a section with a button that runs a script, and what to watch then."""
    tile = tile_that_runs(script, script) | {
        "name": title,
        "color": "primary",
        "grid_options": {"columns": "full"},
    }
    text = {"type": "markdown", "content": watch, "text_only": True}
    return {"type": "grid", "cards": [tile, text]}


def tile_that_runs(script: str, entity_id: str) -> Card:
    """Return a tile of an entity; a tap on it runs a script."""
    run = {
        "action": "perform-action",
        "perform_action": "script.turn_on",
        "target": {"entity_id": script},
    }
    return {
        "type": "tile",
        "entity": entity_id,
        "hide_state": True,
        "tap_action": run,
        "icon_tap_action": run,
    }


def _section(columns: int, *cards: Card) -> Card:
    return {"type": "grid", "column_span": columns, "cards": cards}


def _card(kind: str, **options: str) -> Card:
    return {"type": f"custom:bike-tracker-{kind}-card", **options}
