"""Diagnostics for maintainers, without names, places and times of rides."""

from dataclasses import asdict
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.redact import REDACTED, async_redact_data

from .api.errors import TrackingError
from .coordinator import BikeTrackerCoordinator
from .devices import tracker_of
from .entity import BikeTrackerConfigEntry
from .night_guard import NightGuard

_TO_REDACT = {
    *(CONF_EMAIL, CONF_PASSWORD, CONF_URL, "name", "unique_id"),
    *("address", "altitude", "latitude", "longitude", "route"),
    # Times of rides, and of the fixes in `ride_state` and `guard`.
    *("moved_at", "started_at", "time"),
    # Texts from the server, which may contain names and numbers.
    *("alarm", "firmware", "model", "word"),
}
_OFFERED = {None: "not asked", True: "offered", False: "not offered"}


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry
) -> dict[str, Any]:
    """Return the state of an account, its polls and trackers. If the account is not loaded, return only its entry."""
    if entry.state is not ConfigEntryState.LOADED:
        return {"entry": _entry(entry)}
    return {
        "entry": _entry(entry),
        **_connection(entry.runtime_data.coordinator),
        "database": await entry.runtime_data.coordinator.database.async_info(),
        "counts": _counts(entry),
        "night_guards": [*map(_night_guard, NightGuard.all_of(entry))],
        "trackers": [*_trackers(entry).values()],
    }


async def async_get_device_diagnostics(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry, device: DeviceEntry
) -> dict[str, Any]:
    """Return the state of a tracker and of its account's connection, or the entry if the account is not loaded."""
    if entry.state is not ConfigEntryState.LOADED:
        return {"entry": _entry(entry)}
    tracker = _trackers(entry).get(tracker_of(device))
    return {**_connection(entry.runtime_data.coordinator), "tracker": tracker}


def _entry(entry: BikeTrackerConfigEntry) -> dict[str, Any]:
    return {
        "version": entry.version,
        "state": entry.state.value,
        "reason": entry.reason,
        "data": async_redact_data(dict(entry.data), _TO_REDACT),
        "encrypted": entry.data[CONF_URL].startswith("https:"),
        "polling_disabled": entry.pref_disable_polling,
    }


def _counts(entry: BikeTrackerConfigEntry) -> dict[str, int]:
    coordinator = entry.runtime_data.coordinator
    return {
        "trackers": len(coordinator.data.trackers),
        "missing": len(coordinator.data.states) - len(coordinator.data.trackers),
        "in_another_account": len(coordinator.devices.elsewhere),
    }


def _night_guard(guard: NightGuard) -> dict[str, Any]:
    """Return the settings of a night guard, without its times. Of lists, return only the lengths."""
    return {
        "has_night": guard.night is not None,
        "critical": guard.critical,
        "follow": guard.follow,
        "bikes": len(guard.bikes),
        "riders": len(guard.riders),
        "phones": len(guard.phones),
        "others": len(guard.others),
    }


def _connection(coordinator: BikeTrackerCoordinator) -> dict[str, Any]:
    """Return the state of polls and push messages, and whether the server offers positions and a history."""
    service, live = coordinator.service, asdict(coordinator.live.report)
    if live["state"] == "live" and not coordinator.last_update_success:
        # Do not report "live": entities are unavailable while polls fail, even if
        # messages arrive.
        live["state"] = "connected, but polls fail"
    positions, history = service.positions.support, service.history.support
    offered = {
        "positions": _OFFERED[positions.is_supported],
        "history": _OFFERED[history.is_supported],
        "history_waiting": len(coordinator.data.gaps),
        "position_error": positions.error and str(positions.error),
    }
    return {"poll": _poll(coordinator), "live": live, "service": offered}


def _poll(coordinator: BikeTrackerCoordinator) -> dict[str, Any]:
    error = getattr(coordinator.last_exception, "__cause__", None)
    return {
        "success": coordinator.last_update_success,
        "time": coordinator.service.asked_at,
        "answered": coordinator.service.answered_at,
        "last_error": repr(error) if isinstance(error, TrackingError) else None,
    }


def _trackers(entry: BikeTrackerConfigEntry) -> dict[str | None, dict[str, Any]]:
    """Return the redacted state of each tracker, by `uniqueId`."""
    coordinator = entry.runtime_data.coordinator
    return {
        key: async_redact_data(_tracker(coordinator, key), _TO_REDACT)
        for key in coordinator.data.trackers
    }


def _tracker(coordinator: BikeTrackerCoordinator, key: str) -> dict[str, Any]:
    tracker = coordinator.data.trackers[key]
    names, gap = ("ride_state", "guard", "alarms"), tracker.state.gap
    return {
        **_plain(tracker.device),
        "position": _plain(tracker.state.position),
        **{name: _plain(getattr(tracker.state, name)) for name in names},
        # Hide the start of a gap: if reports of a ride are missing, this time may be
        # the start of the ride.
        "gap": gap and {**_plain(gap), "start": REDACTED},
        "rides_from_before_until": coordinator.database.content.backfill.get(key),
    }


def _plain(value: Any) -> Any:
    """Convert named tuples to dictionaries, so that JSON shows the field names."""
    if hasattr(value, "_asdict"):
        return {key: _plain(field) for key, field in value._asdict().items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
