"""Home Assistant's limit of entities for one config entry, and what gives way at it."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..registry.repair_issues import async_create_issue, async_delete_issue

OPTIONAL_KINDS: Final = (
    *("motion", "battery", "alarm", "lock", "charging", "ride", "rides", "guard"),
    *("total_distance", "ride_distance", "ride_duration"),
    *("speed", "course", "battery_voltage", "power_voltage"),
    *("altitude", "position_time", "address"),
)
"""Kinds of entities that not every tracker has, by their key: the most useful first.

Those at the end give way in an account with more entities than there is room for.
"""
MOST_ENTITIES = 10_000
"""Home Assistant adds no more enabled entities than this."""
_KEY: Final = "too_many_trackers"


def room(hass: HomeAssistant, entry: ConfigEntry) -> int:
    """Return how many more enabled entities there can be."""
    enabled = er.async_get(hass).entities.get_enabled_count_for_config_entry_id
    return MOST_ENTITIES - enabled(entry.entry_id)


def fitting(
    taking: Mapping[str, Mapping[str, object]],
) -> tuple[set[str], dict[str, int]]:
    """Return the kinds that give way, and trackers that are left out with what they need.

    Takes the kinds with which each tracker takes up room, and what there is of them: a
    tracker of which there is something stays. Of the others each has all or nothing, and
    they are the same at every start.
    """
    counts = Counter(chain.from_iterable(taking.values()))
    gone = set[str]()
    for kind in reversed(OPTIONAL_KINDS):
        if counts.total() > MOST_ENTITIES and counts.pop(kind, 0):
            gone.add(kind)
    new = {key for key, kinds in taking.items() if kinds and not any(kinds.values())}
    room, left_out = MOST_ENTITIES, dict[str, int]()
    for unique_id in (*(taking.keys() - new), *sorted(new)):
        needed = len(taking[unique_id].keys() - gone)
        if needed > room and unique_id in new:
            left_out[unique_id] = needed
        else:
            room -= needed
    return gone, left_out


@callback
def async_tell(
    hass: HomeAssistant, entry: ConfigEntry, trackers: int, left_out: int
) -> None:
    """Tell the person how many of so many trackers are left out, or stop telling."""
    if not left_out:
        async_delete_issue(hass, entry, _KEY)
        return
    async_create_issue(
        hass,
        entry,
        _KEY,
        total=str(trackers),
        left_out=str(left_out),
        limit=str(MOST_ENTITIES),
    )
