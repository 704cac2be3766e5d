"""What Home Assistant has to show of what the service knows, without the integration's own code."""

from datetime import UTC, datetime, timedelta
from itertools import count

from homeassistant.const import STATE_OFF, STATE_ON, STATE_UNAVAILABLE
from homeassistant.util import dt as dt_util

from tests.tools.simulator import SimDevice, SimPosition, Simulator

from .home import Home, States

_KILOMETRES_PER_HOUR = 1.852
"""In a knot."""
_STEP = timedelta(minutes=5)
"""In which the time of the last report follows."""
_turns = count(1)


def change(simulator: Simulator, tracker: str) -> None:
    """Change all values of a tracker."""
    turn = next(_turns)
    simulator.rename(tracker, f"Bike {turn}")
    simulator.set_status(tracker, ("online", "offline")[turn % 2])
    simulator.set_disabled(tracker, turn % 3 == 0)
    simulator.set_group(tracker, turn)
    simulator.report(
        tracker,
        latitude=round(47 + turn % 10_000 / 10_000, 4),
        speed=float(turn % 30),
        course=float(turn % 360),
        altitude=float(turn % 500),
        battery_level=turn % 100,
        motion=turn % 2 == 0,
    )


def wrong(home: Home) -> set[tuple[str, str]]:
    """Return which entities, by tracker and key, show anything but what is true now.

    What depends on more than the last answer, as a ride does, has to be available.
    """
    known = truth(home.simulator)
    shown = home.states()
    assert shown.keys() == known.keys()
    return {
        (tracker, key)
        for tracker, values in shown.items()
        for key, value in values.items()
        if value == STATE_UNAVAILABLE
        or not _is_right(key, value, known[tracker].get(key, value))
    }


def _is_right(key: str, value: str, true: str) -> bool:
    if key != "last_update" or (shown := dt_util.parse_datetime(value)) is None:
        return value == true
    return timedelta() <= datetime.fromisoformat(true) - shown < _STEP


def truth(simulator: Simulator) -> States:
    """Return the states that say what the service knows of its trackers."""
    return {
        tracker: _of_device(device) | _of_position(device.position)
        for tracker, device in simulator.devices.items()
    }


def _of_device(device: SimDevice) -> dict[str, str]:
    return {
        "name": device.name,
        "online": _on(device.status == "online"),
        "disabled": _on(device.disabled),
        "last_update": _time(device.last_update),
        "position_id": str(device.position_id),
        "group_id": str(device.group_id),
    }


def _of_position(position: SimPosition | None) -> dict[str, str]:
    if position is None:
        return {}
    return {
        "tracker": f"{position.latitude}, {position.longitude}",
        "position_time": _time(position.fix_time),
        "speed": str(round(position.speed * _KILOMETRES_PER_HOUR, 3)),
        "course": str(position.course),
        "altitude": str(position.altitude),
        "battery": str(position.attributes["batteryLevel"]),
        "motion": _on(position.attributes["motion"] is True),
    }


def _on(value: bool) -> str:
    return STATE_ON if value else STATE_OFF


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
