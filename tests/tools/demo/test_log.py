"""What counts as a complaint in the log."""

import pytest

from .log import complaints

WARNING = """\
2026-11-20 07:00:00.123+00:00 WARNING (MainThread) [custom_components.bike_tracker] The remembered positions are not readable
"""
ERROR = """\
2026-11-20 07:00:00.123+00:00 ERROR (MainThread) [homeassistant.core] Error doing job
Traceback (most recent call last):
  File "custom_components/bike_tracker/coordinator.py", line 1, in _async_update_data
KeyError: 'id'
"""
CRASH = """\
Fatal Python error: Aborted
  File "custom_components/bike_tracker/coordinator.py", line 1, in _async_update_data
"""
NOTE = """\
2026-11-20 07:00:00.123+00:00 WARNING (SyncWorker_0) [homeassistant.loader] We found a custom integration bike_tracker which has not been tested by Home Assistant.
"""
INFO = """\
2026-11-20 07:00:00.123+00:00 INFO (MainThread) [custom_components.bike_tracker] Fetching bike_tracker data recovered
"""
SLOW = """\
2026-11-20 07:00:00.123+00:00 WARNING (MainThread) [homeassistant.helpers.entity] Updating state for device_tracker.city_bike (<class 'custom_components.bike_tracker.device_tracker.BikeTrackerTracker'>) took 0.576 seconds. Please create a bug report
"""
SLOW_TO_START = """\
2026-11-20 07:00:00.123+00:00 WARNING (MainThread) [homeassistant.setup] Setup of bike_tracker is taking over 10 seconds.
"""
OTHER = """\
2026-11-20 07:00:00.123+00:00 ERROR (MainThread) [homeassistant.components.http] Out of order
"""


@pytest.mark.parametrize("text", [WARNING, ERROR])
def test_a_complaint(text: str) -> None:
    """What the integration says at WARNING or above, and tracebacks that go through it."""
    (complaint,) = complaints(OTHER + NOTE + INFO + text + OTHER, "bike_tracker")
    assert complaint.text == text.rstrip()


def test_a_crash() -> None:
    """What was written past the logging."""
    (complaint,) = complaints(CRASH + OTHER, "bike_tracker")
    assert complaint.text == CRASH.rstrip()


@pytest.mark.parametrize("text", ["", NOTE, INFO, SLOW, SLOW_TO_START, OTHER])
def test_no_complaint(text: str) -> None:
    """What Home Assistant says of every custom integration, how long something took, and what others say."""
    assert complaints(text, "bike_tracker") == []
