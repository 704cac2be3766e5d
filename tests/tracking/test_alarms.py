"""Alarms: each alarm is fired once. Occurrences: which of them are kept."""

from datetime import timedelta

import pytest

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.occurrences import (
    ALARM_TYPES,
    MAX_WAITING,
    Alarm,
    is_known,
)
from custom_components.bike_tracker.tracking.state import TrackerState

from .conftest import NOW, Service, a_device, a_position

# Traccar's names of alarms, with the types of this integration if they differ.
TYPES = """
sos vibration movement tow tampering removing accident overspeed lock unlock door fault
jamming shock=vibration fallDown=fall_down geofenceExit=geofence_exit powerOff=power_off
geofenceEnter=geofence_enter lowBattery=low_battery lowPower=low_power powerOn=power_on
powerCut=power_cut powerRestored=power_restored
general=other geofence=other SOS=other Weg!=other fall_Down=other other
"""


def poll(service: Service, position: Position | None = None) -> list[str]:
    """Poll the red bike, with or without a position. Return the alarms that are fired."""
    device = a_device(position_id=position and position.id)
    service.poll(device, **({"red": position} if position else {}))
    return service.alarms()


def test_alarm(service: Service) -> None:
    """An alarm is fired once, when its report arrives. Later reports without an alarm do not change the known alarms."""
    poll(service, a_position(1))
    position = a_position(2, alarm="sos")
    assert poll(service, position) == ["sos"]
    # Home Assistant logs the occurrence if a listener fails, so its text must not
    # contain the place.
    [fired] = service.red().state.occurrences
    assert repr(fired) == "alarm_raised 1"
    assert position.fix_time and fired.since == position.fix_time
    time = position.fix_time.isoformat()
    assert fired.attributes == {"type": "sos", "alarm": "sos", "time": time}
    for later in (position, a_position(3)):
        assert poll(service, later) == []
        assert service.red().state.alarms == (Alarm("sos", 2, position.fix_time),)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("sos,vibration", ["sos", "vibration"]),
        (" sos , ,sos,\tvibration\n", ["sos", "vibration"]),
        (",", []),
        ("x" * 500, ["x" * 100]),
        (",".join(map(str, range(100))), list(map(str, range(20)))),
    ],
)
def test_words(service: Service, said: str, words: list[str]) -> None:
    """Up to 20 alarms in one report are fired one by one. Each name is one line of at most 100 characters."""
    poll(service, a_position(1))
    assert poll(service, a_position(2, alarm=said)) == words


def test_types() -> None:
    """Alarms have the types in `TYPES`. Alarms without a type of their own have the type `other`."""
    names, types = zip(*((it.split("=") * 2)[:2] for it in TYPES.split()), strict=True)
    assert [Alarm(name, 1, None).type for name in names] == [*types]
    assert set(types) == set(ALARM_TYPES)


def test_first_report(service: Service) -> None:
    """The alarm in the first report of a new tracker is not fired: it may be old.

    If the tracker was listed before its first report, this alarm is fired.
    """
    known = Service()
    assert poll(known) == []
    assert poll(known, a_position(1, alarm="sos")) == ["sos"]
    for _ in range(2):
        assert poll(service, a_position(1, alarm="sos")) == []
    assert [it.word for it in service.red().state.alarms] == ["sos"]
    assert poll(service, a_position(2, alarm="tow")) == ["tow"]


# Storms: a tracker raises an alarm each second


def _storm(many: int, words: int = 1) -> list[Position]:
    """Return one report for each of the last `many` seconds before `NOW`. Each report has `words` alarms."""
    said = ",".join(f"word{number}" for number in range(words))
    times = [NOW - timedelta(seconds=left) for left in range(many, 0, -1)]
    return [
        a_position(number, fix_time=time, device_time=time, alarm=said)
        for number, time in enumerate(times, 2)
    ]


def _recall(service: Service, reports: list[Position]) -> list[str]:
    state = service.red().state.with_history(HistoryAnswer(reports, NOW), NOW)
    service.account.apply_history("red", state, NOW)
    return service.alarms()


def test_storm_in_the_history(service: Service) -> None:
    """Of many alarms in the history, the last 50 are fired in order. If the history repeats them, none is fired."""
    poll(service, a_position(1))
    storm = _storm(1_000, words=20)
    fired = _recall(service, storm)
    assert len(fired) == MAX_WAITING
    assert fired[-20:] == [f"word{number}" for number in range(20)]
    assert _recall(service, storm) == []
    assert _recall(service, storm[:100]) == []
    late = storm[-2]._replace(id=-1, alarm="late")
    assert _recall(service, [late]) == ["late"]
    later = [it._replace(id=it.id + 2_000, alarm=f"{it.id}") for it in _storm(60)]
    assert _recall(service, later) == [it.alarm for it in later[-MAX_WAITING:]]
    # The IDs of a new server begin at 1 again. A new alarm with a low ID is fired, too.
    position = a_position(3, fix_time=NOW, device_time=NOW, alarm="sos")
    assert poll(service, position) == ["sos"]


def test_storm_over_live(service: Service) -> None:
    """Each of 120 alarms is fired when its push message arrives. The history does not fire them again."""
    poll(service, a_position(1))
    storm, fired = _storm(120), 0
    for report in storm:
        service.hear(report)
        fired += len(service.alarms())
    assert fired == 120
    assert len(service.red().state.alarms) <= MAX_WAITING
    assert _recall(service, storm) == []
    assert poll(service, a_position(500, alarm="sos")) == ["sos"]


@pytest.mark.parametrize(
    ("alarm", "many", "known"),
    [
        (Alarm("tow", 2, NOW), 50, True),
        (Alarm("tow", 3, NOW), 1, True),
        (Alarm("sos", 3, NOW), 50, True),
        (Alarm("sos", 3, None), 50, True),
        (Alarm("sos", 3, NOW), 49, False),
        (Alarm("sos", 4, NOW), 50, False),
        (Alarm("sos", 2, NOW + timedelta(seconds=1)), 50, False),
    ],
)
def test_forgotten(alarm: Alarm, many: int, known: bool) -> None:
    """If 50 alarms are known, an alarm that is not newer than any of them counts as known: it may have been dropped."""
    others = [Alarm("tow", 3, NOW)] * (many - 1)
    assert is_known(alarm, [Alarm("tow", 3, NOW), *others]) is known


# Occurrences of all types


def test_storm() -> None:
    """If more than 50 alarms were raised, the oldest alarms are dropped. Occurrences of other types are kept."""
    story = TrackerState().with_occurrence("ride_started", NOW, NOW)
    for _ in range(MAX_WAITING + 20):
        story = story.with_occurrence("alarm_raised", NOW, NOW)
    occurrences = story.occurrences
    assert len(occurrences) == MAX_WAITING + 1
    assert occurrences[0].type == "ride_started"
    assert occurrences[-1].seq == MAX_WAITING + 21


def test_kept() -> None:
    """The newest event of each type, the newest occurrence, and all occurrences that were not fired yet are stored."""
    story = TrackerState()
    for step in ("alarm_raised", "alarm_raised", "ride_started", "ride_ended"):
        story = story.with_occurrence(step, NOW, NOW)
    for _ in range(2):
        story = story.with_occurrence("went_offline", NOW, NOW)
    assert [it.seq for it in story.stored(5).occurrences] == [2, 3, 4, 6]
    assert [it.seq for it in story.stored(4).occurrences] == [2, 3, 4, 5, 6]
