"""Since when a tracker is what it is, as the service says; None if it is not, or may be otherwise."""

from datetime import datetime

from custom_components.bike_tracker.tracking import Said, Tracker


def online_since(tracker: Tracker) -> datetime | None:
    """Return since when it is online."""
    return _since(tracker.online, is_so=True)


def offline_since(tracker: Tracker) -> datetime | None:
    """Return since when it is no longer or not online."""
    return _since(tracker.online, is_so=False)


def moving_since(tracker: Tracker) -> datetime | None:
    """Return since when it moves."""
    return _since(tracker.story.since.moving, is_so=True)


def standing_since(tracker: Tracker) -> datetime | None:
    """Return since when it stands."""
    return _since(tracker.story.since.moving, is_so=False)


def _since(said: Said | None, *, is_so: bool) -> datetime | None:
    return said.since if said is not None and said.is_so is is_so else None
