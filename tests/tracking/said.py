"""Since when a tracker is what it is, as the service says; None if it is not, or may be otherwise."""

from datetime import datetime

from custom_components.bike_tracker.tracking.state import Flag, Tracker


def online_since(tracker: Tracker) -> datetime | None:
    """Return since when it is online."""
    return _since(tracker.device.status and tracker.state.online, value=True)


def offline_since(tracker: Tracker) -> datetime | None:
    """Return since when it is no longer or not online."""
    return _since(tracker.device.status and tracker.state.online, value=False)


def moving_since(tracker: Tracker) -> datetime | None:
    """Return since when it moves."""
    return _since(tracker.state.moving, value=True)


def standing_since(tracker: Tracker) -> datetime | None:
    """Return since when it stands."""
    return _since(tracker.state.moving, value=False)


def _since(flag: Flag | None, *, value: bool) -> datetime | None:
    return flag.changed_at if flag is not None and flag.value is value else None
