"""Diagnostics: what a maintainer needs, and nothing that tells who or where."""

from collections.abc import Collection
from dataclasses import asdict
import re
from typing import Any, Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    CONF_EMAIL,
    CONF_PASSWORD,
    CONF_URL,
    __version__ as ha_version,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.redact import REDACTED, async_redact_data

from .api.address import host_of
from .coordinator import BikeTrackerCoordinator
from .entity import BikeTrackerConfigEntry
from .live import LiveState
from .registry.devices import tracker_of
from .tracking import Tracker

_TO_REDACT = {
    "address",
    "altitude",
    "latitude",
    "longitude",
    "name",
    "unique_id",
    # When a ride and its fixes were.
    "moved_at",
    "started_at",
    "time",
    CONF_EMAIL,
    CONF_PASSWORD,
    CONF_URL,
}
_OFFERED = {None: "not asked", True: "offered", False: "not offered"}
_PLAIN_WORD = re.compile(r"[A-Za-z_]{1,40}\d{0,3}")
# Of whatever tracker, telephone or card: no version or date has so many digits.
_LONG_NUMBER = re.compile(r"\d{9}|(?:\d[ /-]?){14}")


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry
) -> dict[str, Any]:
    """Return what is known of an account, its polls and its trackers."""
    diagnostics = {"home_assistant": ha_version, "entry": _entry(entry)}
    if entry.state is not ConfigEntryState.LOADED:
        return diagnostics
    coordinator, identities = entry.runtime_data.coordinator, _identities(entry)
    trackers = coordinator.data.trackers
    return {
        **diagnostics,
        **_connection(coordinator),
        "counts": {
            "trackers": len(trackers),
            "missing": len(coordinator.data.states) - len(trackers),
            "in_another_account": len(coordinator.registry.devices.elsewhere),
            "left_out": len(entry.runtime_data.left_out),
            "rides": len(coordinator.registry.rides.rides),
        },
        "trackers": [
            _tracker(tracker, identities, coordinator) for tracker in trackers.values()
        ],
    }


async def async_get_device_diagnostics(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry, device: DeviceEntry
) -> dict[str, Any]:
    """Return what is known of one tracker."""
    if entry.state is not ConfigEntryState.LOADED:
        return {"entry": _entry(entry)}
    coordinator, identities = entry.runtime_data.coordinator, _identities(entry)
    unique_id = tracker_of(device) or ""
    tracker = coordinator.data.trackers.get(unique_id)
    return {
        **_connection(coordinator),
        "tracker": tracker and _tracker(tracker, identities, coordinator),
    }


def _entry(entry: BikeTrackerConfigEntry) -> dict[str, Any]:
    return {
        "version": entry.version,
        "state": entry.state.value,
        "reason": entry.reason,
        "data": async_redact_data(dict(entry.data), _TO_REDACT),
        "encrypted": entry.data[CONF_URL].startswith("https:"),
        "polling_disabled": entry.pref_disable_polling,
    }


def _connection(coordinator: BikeTrackerCoordinator) -> dict[str, Any]:
    """Return how polls and the live connection are, and what the server offers."""
    service, live = coordinator.service, asdict(coordinator.live.report)
    success = coordinator.last_update_success
    if live["state"] is LiveState.LIVE and not success:
        # Of what it tells nothing is shown without polls.
        live["state"] = "connected, but polls fail"
    positions, history = service.positions, service.history
    return {
        "poll": {"success": success, **asdict(service.poll)},
        "live": live,
        "service": {
            "positions": _OFFERED[positions.support.is_supported],
            "history": _OFFERED[history.support.is_supported],
            "history_waiting": len(coordinator.data.gaps),
            "position_error": positions.support.error and str(positions.support.error),
        },
    }


def _identities(entry: BikeTrackerConfigEntry) -> set[str]:
    """Return what tells who it is, or whose, in small letters."""
    trackers = entry.runtime_data.coordinator.data.trackers.values()
    identities = [
        entry.data[CONF_EMAIL],
        entry.data[CONF_PASSWORD],
        host_of(entry.data[CONF_URL]),
        *(tracker.device.name for tracker in trackers),
        *(tracker.device.unique_id for tracker in trackers),
    ]
    return {identity.casefold() for identity in identities if identity}


def _tracker(
    tracker: Tracker, identities: Collection[str], coordinator: BikeTrackerCoordinator
) -> dict[str, Any]:
    state = tracker.state
    days_left = coordinator.registry.rides.days_left(tracker.device.unique_id)
    position = _plain(tracker.position, identities)
    if position:
        # Of alarms there is more, and an address is none that anybody needs.
        del position["alarm"], position["address"]
    redacted = async_redact_data(
        {
            **_plain(tracker.device, identities),
            "position": position,
            "ride_state": _plain(state.ride_state, identities),
            "gap": _plain(state.gap, identities),
            "guard": _plain(state.guard, identities),
            "rides_from_before": {"days_left": days_left},
        },
        _TO_REDACT,
    )
    return {**redacted, "alarms": _plain(state.alarms, identities)}


def _plain(value: Any, identities: Collection[str], name: str = "") -> Any:
    """Return a value of ours as Home Assistant writes it, fields by their names."""
    if hasattr(value, "_asdict"):
        fields = value._asdict().items()
        return {key: _plain(field, identities, key) for key, field in fields}
    if isinstance(value, tuple):
        return [_plain(item, identities) for item in value]
    if name in _IS_HARMLESS and value is not None:
        tells = any(identity in value.casefold() for identity in identities)
        return REDACTED if tells or not _IS_HARMLESS[name](value) else value
    return value


def _is_word(text: str) -> bool:
    return _PLAIN_WORD.fullmatch(text) is not None


def _is_text(text: str) -> bool:
    return "@" not in text and not _LONG_NUMBER.search(text)


# What a server or a tracker made may hold anything, but for words and versions.
_IS_HARMLESS: Final = {
    "alarm": _is_word,
    "word": _is_word,
    "model": _is_text,
    "firmware": _is_text,
}
