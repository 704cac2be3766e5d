"""The guard: which reports trigger it, and which do not. house.py explains the scripts and their summaries."""

import pytest

from custom_components.bike_tracker.tracking import Account
from custom_components.bike_tracker.tracking.history import UpdateContext

from .conftest import NOW, a_device, no_fix
from .house import METER, lived, minutes, rows

TABLE = """
It rides off: place, time and distance.
  stand 3, arm, jump 120, stand 1 motion=yes -> place 4 120 m, triggered
  says device_time=none, stand 3, arm, jump 30, stand 1 alarm=tow -> alarm 4 30 m, triggered
  stand 3, jump 20, stand 1, arm, jump 100, stand 1 motion=yes -> place 5 120 m, triggered
It says that it moves, wherever it is.
  stand 3, arm, jump 5, stand 1 motion=yes -> motion 4 5 m, triggered
The first report of motion proves no beginning, noise is none.
  says motion=none, stand 3, arm, stand 3 motion=yes -> armed
  stand 3, arm, jump 20, stand 5 motion=yes speed=2.9, stand 1 motion=yes speed=3 -> motion 9 20 m, triggered
Motion that is always reported proves nothing; a speed does.
  says motion=yes, stand 3, arm, stand 1, jump 60, stand 1 -> armed
  says motion=yes, stand 3, arm, stand 1, jump 60, stand 1 speed=9 -> place 5 60 m, triggered
Carried: the second report tells if it is there too, else the third.
  stand 3, arm, jump 200, stand 1, jump 20, stand 1 -> place 5 220 m, triggered
  stand 3, arm, jump 200, stand 1, jump -1000, stand 1, jump 1300, stand 1 -> place 6 500 m, triggered
  stand 3, arm, jump 200, stand 1, jump -200, stand 1, jump 200, stand 1 -> armed
Ridden straight away by a tracker that reports rest: the second tells, unless fixes jumped here.
  stand 3, arm, jump 200, stand 1, jump -450, stand 1 -> armed
  stand 3, arm, jump 200, stand 1, jump 770, stand 1 -> place 5 970 m, triggered
  stand 3, arm, jump 200, stand 1, jump 790, stand 1 -> armed
  stand 3, jump 200, stand 1, jump -200, stand 3, arm, jump 300, stand 1, jump 100, stand 1 -> armed
A tracker that does not report motion is believed with the second.
  says motion=none, stand 3, arm, jump 200, stand 1, jump -450, stand 1 -> place 5 250 m, triggered
Beyond the accuracies, at least 50 m, or 150 m without them.
  says speed=5, stand 3, arm, stand 1, jump 49, stand 1, jump 2, stand 1 -> place 6 51 m, triggered
  says speed=5 accuracy=30, stand 3, arm, stand 1, jump 179, stand 1, jump 2, stand 1 -> place 6 181 m, triggered
  says speed=5 accuracy=0, stand 3, arm, stand 1, jump 149, stand 1, jump 2, stand 1 -> place 6 151 m, triggered
A kilometer beyond that one report is enough, if it is no jump.
  stand 3, arm, sleep 5, jump 1049.5, stand 1 -> armed
  stand 3, arm, sleep 5, jump 1050.5, stand 1 -> place 9 1050 m, triggered
  stand 3, arm, jump 3000, stand 1 -> armed
  stand 3, arm, sleep 5, jump 1060, receive missed, stand 1 -> armed
A fix of a mobile network tells neither the place nor that the bike is back.
  stand 3, arm, jump 300, stand 3 is_fix=no -> armed
  says motion=none, ride 3 @15, jump 800, stand 9 accuracy=1500, jump -800, arm, stand 6, ride 3 @15 -> place 20 500 m, triggered
  stand 9, arm, jump 400, stand 1, stand 1 accuracy=1500, stand 1 -> place 12 400 m, triggered
  says motion=no, stand 9, jump 400, stand 1, jump -400, stand 20 accuracy=1500, arm, jump 9000, stand 5 -> place 32 9000 m, triggered
  says motion=none, stand 9, arm, jump 400, stand 1, jump -400, stand 40 accuracy=1500, jump 400, stand 1 -> armed
At home, only some fixes are exact. The first of them shows where the ride ended.
  stand 3, ride 9 @15, ride 3 @15 accuracy=1500, stand 30 accuracy=1500, arm, stand 30 accuracy=1500, stand 9 -> armed
  stand 3, ride 9 @15, ride 3 @15 accuracy=1500, stand 30 accuracy=1500, arm, stand 1, stand 5 accuracy=1500, jump 200, stand 9 -> place 53 200 m, triggered
  says accuracy=0, stand 3, ride 9 @15, ride 3 @15 accuracy=1500, stand 30 accuracy=1500, arm, stand 1, stand 5 accuracy=1500, jump 200, stand 9 -> place 53 200 m, triggered
  stand 3, ride 9 @15, stand 1, stand 30 accuracy=1500, arm, stand 5 accuracy=1500, jump 200, stand 9 -> place 50 200 m, triggered
Where walls reflect its signals the bike has to be away for ten minutes.
  stand 3, jump 100, stand 2, jump -100, stand 2, jump 200, stand 2, jump -200, stand 3, arm, jump 200, stand 9, jump -200, stand 1, jump 200, stand 11 -> place 33 200 m, triggered
  stand 3, jump 100, stand 2, jump -100, stand 2, jump 200, stand 2, jump -200, stand 3, arm, jump 290, stand 11 -> place 23 290 m, triggered
  stand 3, jump 100, stand 2, jump -100, stand 2, jump 200, stand 2, jump -200, stand 3, arm, jump 310, stand 2 -> place 14 310 m, triggered
Where fixes jumped, 150 m are no other place; after a ride the third report tells, too.
  stand 9, jump 400, stand 1, jump -400, stand 2, arm, stand 1, jump 100, stand 2 -> armed
  stand 9, jump 400, stand 1, jump -400, stand 2, ride 2 @15, ride 2 @-15, stand 9, arm, jump 200, stand 1, jump 200, stand 1 -> armed
Jumps are known for seven days; a single one does not count as drift for minutes.
  stand 9, jump 400, stand 1, jump -400, stand 2, sleep 10000, stand 1, arm, stand 1, jump 100, stand 2 -> armed
  stand 9, jump 400, stand 1, jump -400, stand 2, sleep 10100, stand 1, arm, stand 1, jump 100, stand 2 -> place 10116 100 m, triggered
  stand 3, jump 200, stand 1, jump -200, stand 3, arm, jump 200, stand 2 -> place 9 200 m, triggered
Drift at one place is no excuse at another one.
  stand 3, jump 100, stand 2, jump -100, stand 2, jump 200, stand 2, jump -200, stand 3, ride 3 @50 speed=none, stand 10, arm, stand 1, jump 200, stand 2 -> place 28 200 m, triggered
Alarms.
  stand 3, arm, stand 1 alarm=vibration, arm, stand 1 alarm=shock, arm, stand 1 alarm=movement, arm, stand 1 alarm=tow, arm, stand 1 alarm=tampering, arm, stand 1 alarm=removing, arm, stand 1 alarm=powerCut, arm, stand 1 alarm=geofenceExit, arm, stand 1 alarm=jamming -> alarm 4 0 m, alarm 5 0 m, alarm 6 0 m, alarm 7 0 m, alarm 8 0 m, alarm 9 0 m, alarm 10 0 m, alarm 11 0 m, alarm 12 0 m, triggered
  stand 3, arm, stand 1 alarm=sos, stand 1 alarm=lowBattery -> armed
An alarm that lasts counts once it was over.
  stand 3 alarm=powerCut, arm, stand 3 alarm=powerCut, stand 1, stand 1 alarm=powerCut -> alarm 8 0 m, triggered
  stand 3 alarm=vibration, arm, stand 3 alarm=vibration -> alarm 4 0 m, triggered
Motion or a place after an alarm alerts again, once.
  stand 3, arm, stand 1 alarm=vibration, stand 1 alarm=tow, stand 1, stand 2 motion=yes, ride 3 @15 -> alarm 4 0 m, motion 7 0 m, triggered
  stand 3, arm, ride 1 @15, stand 1 alarm=tow, jump 900, stand 3 -> place 4 250 m, triggered
What came before the arming triggers nothing.
  stand 3, bike age=30, arm, stand 1 motion=yes alarm=tow, bike age=20, jump 300, stand 1, bike age=10, stand 1 -> armed
The place of the arming: where two reports saw it, whatever is in doubt.
  stand 3, jump 210, stand 1, arm, stand 4, jump 210, stand 2 -> place 10 210 m, triggered
  stand 3, arm, jump 210, stand 2, disarm, arm, stand 4, jump 210, stand 2 -> place 5 210 m, place 11 210 m, triggered
  stand 3, jump 210, stand 1, jump 80, stand 1, arm, jump -290, stand 9, jump 200, stand 1 motion=yes -> place 15 200 m, triggered
  stand 3, jump 210, stand 1, arm, jump 15, stand 1 motion=yes speed=9 -> motion 5 225 m, triggered
Fixes before the arming that strayed: the bike is back where it stood, and is guarded there.
  stand 9, jump 210, stand 2, arm, jump -210, stand 30 -> armed
  stand 9, jump 210, stand 2, arm, jump -210, stand 3, jump 400, stand 2 -> place 16 400 m, triggered
  stand 9, jump 210, stand 2, arm, jump -210, stand 1 motion=yes -> motion 12 0 m, triggered
  stand 9, jump 210, stand 2, arm, jump -210, stand 1 speed=9 -> place 12 210 m, triggered
  stand 9, jump 210, stand 12, arm, jump -210, stand 2 -> place 23 210 m, triggered
Where fixes are known to be off, the last one is the place.
  stand 9, jump 400, stand 1, jump -400, stand 2, jump 300, stand 2, arm, ride 3 @30 -> motion 15 500 m, triggered
  stand 3, jump 210, stand 2, arm, jump 300, stand 1 motion=yes -> place 6 300 m, triggered
  stand 3, jump 210, stand 2, arm, jump -210, stand 2, jump 210, stand 2 -> armed
  ride 3 @15, jump 25, stand 1, arm, stand 2, jump 200, stand 1 motion=yes -> place 7 200 m, triggered
A report or a fix from before the arming moves the place, and triggers nothing.
  stand 3, jump 210, stand 2, arm, bike age=0.6, jump 100, stand 1 motion=yes alarm=powerCut, bike age=0, stand 4 motion=yes alarm=powerCut -> armed
  stand 3, jump 210, stand 2, arm, bike fix_age=0.6, jump 200, stand 1 speed=9 -> armed
  stand 3, jump 210, stand 2, arm, bike fix_age=0.4, jump 200, stand 1 speed=9 -> place 5.6 200 m, triggered
  receive live, clock 480, stand 3, receive hold, stand 1 alarm=tow, receive live, arm, stand 2, deliver newest -> armed
  receive live, clock -480, stand 3, receive hold, stand 1 alarm=tow, receive live, stand 1, arm, stand 1, deliver newest -> armed
Armed on arrival: it is guarded where it comes to rest.
  ride 3 @18, arm, jump 200, stand 3, jump 195, stand 1 motion=yes -> place 7 195 m, triggered
Nobody arrives for more than five minutes.
  ride 3 @18, arm, ride 6 @18 speed=18 -> place 9 300 m, triggered
  ride 3 @18, arm, bike every=30, ride 0.5 @18, sleep 5, jump 100, stand 1 -> place 9.5 100 m, triggered
An arrival that is not reported: guarded where it is received again, or triggered if it moves.
  ride 1 @18, arm, sleep 60, jump 600, stand 3, jump 200, stand 1 motion=yes -> place 65 800 m, triggered
  ride 1 @18, arm, sleep 60, jump 600, stand 1 motion=yes -> place 62 600 m, triggered
  ride 3 @18, arm, sleep 25, jump 400, stand 1, sleep 58, stand 1, sleep 58, stand 1, jump 200, stand 1 motion=yes -> place 148 200 m, triggered
Armed again while it rides: the alarm stays, and it is guarded where it stands.
  stand 3, arm, ride 3 @18, arm, ride 1 @18, stand 4 -> place 4 300 m, triggered
  stand 3, arm, ride 3 @18, arm, ride 1 @18, stand 6, ride 1 @18 -> place 4 300 m, place 14 300 m, triggered
  stand 3, arm, ride 3 @18, arm, disarm, stand 9 -> place 4 300 m, disarmed
  stand 3, arm, ride 3 @18, arm, sleep 6, stand 1 alarm=tow -> place 4 300 m, alarm 13 0 m, triggered
  stand 3, arm, ride 3 @18, arm, sleep 3, stand 1 alarm=tow, wait 31 -> place 4 300 m, armed
One report ends that ride and begins the next: it was guarded where it stood.
  stand 3, arm, ride 3 @18, arm, stand 2, sleep 6, ride 1 @18 -> place 4 300 m, place 15 300 m, triggered
  stand 3, arm, ride 3 @18, arm, stand 2, sleep 3, ride 1 @18, stand 4 -> place 4 300 m, triggered
Clocks: of a tracker that is behind, of a house that was ahead or behind.
  bike behind=5, stand 3, arm, stand 1, jump 120, stand 1 motion=yes -> place 5 120 m, triggered
  says device_time=none, bike behind=5, stand 3, arm, stand 1, jump 120, stand 1 motion=yes -> place 5 120 m, triggered
  bike behind=180, stand 3, arm, stand 1, jump 120, stand 1 motion=yes -> place 5 120 m, triggered
  bike behind=-4, stand 3, arm, stand 1, jump 120, stand 1 motion=yes -> place 5 120 m, triggered
  says server_time=none, receive live, stand 3, arm, jump 120, stand 1 motion=yes -> place 4 120 m, triggered
  bike behind=4, stand 3, arm, stand 1, jump 120, stand 1 motion=yes -> armed
  clock -480, stand 3, clock 0, stand 1, arm, jump 200, stand 1 motion=yes -> place 5 200 m, triggered
  clock 480, stand 3, arm, clock 0, stand 1 alarm=tow -> alarm 4 0 m, triggered
  clock 480, stand 3, arm, jump 200, stand 1 motion=yes -> place 4 200 m, triggered
  clock 4, stand 3, arm, jump 200, stand 1 motion=yes -> armed
A tracker's clock that falls back before the theft: the second report tells.
  stand 30, arm, stand 30, bike behind=50, ride 2 @15 -> place 61 250 m, triggered
  receive live, stand 30, arm, stand 30, bike behind=360, ride 2 @15 -> place 61 250 m, triggered
  says server_time=none, receive live, stand 30, arm, stand 30, bike behind=360, jump 300, stand 2 -> place 62 300 m, triggered
  stand 5, sleep 32, bike behind=15, arm, ride 1 @15, bike behind=15.1, ride 1 @15 -> place 38 250 m, triggered
  stand 5, sleep 240, arm, kill, bike behind=50, ride 2 @15 -> place 246 250 m, triggered
Reports that a right clock buffered come together: they trigger nothing.
  stand 3, sleep 60, bike age=40, jump 100, stand 1 motion=yes, bike age=36, jump 100, stand 1 motion=yes, bike age=32, arm, jump 100, stand 1 motion=yes -> armed
Reports that are late by the same time continue those from before the arming.
  receive live, stand 30, sleep 12, arm, sleep 1, bike age=8, ride 6 @15, stand 20 -> armed
  receive live, stand 3, ride 4 @15, sleep 30, arm, sleep 60, bike behind=70, ride 6 @15 -> place 98 250 m, triggered
Reports of a settled time change nothing, neither the last motion nor the last alarms.
  receive live, stand 30, receive hold, ride 3 @15, receive live, jump -750, stand 30, arm, deliver at once, stand 1 motion=yes -> motion 64 0 m, triggered
  receive live, stand 30, receive hold, stand 3, receive live, stand 30 alarm=powerCut, arm, deliver at once, stand 1 alarm=powerCut -> armed
In an outage: the history decides.
  stand 3, receive outage, jump 200, stand 1 motion=yes, arm, sleep 9, receive poll, stand 1, history -> armed
  stand 3, arm, receive outage, jump 400, stand 2 motion=yes, jump -400, stand 9, receive poll, stand 1, history -> place 4 400 m, triggered
  stand 3, arm, receive outage, jump 400, stand 2, jump -400, stand 9, receive poll, stand 1, history -> place 5 400 m, triggered
  stand 3, arm, receive outage, stand 2 motion=yes, stand 9, receive poll, stand 1, history -> motion 4 0 m, triggered
  stand 3, arm, receive outage, stand 2 alarm=tow, stand 9, receive poll, stand 1, history -> alarm 4 0 m, triggered
  stand 3, arm, stand 2, receive outage, jump 400, stand 1, receive poll, stand 1, history -> place 7 400 m, triggered
  stand 3, arm, stand 2, receive outage, jump 400, stand 1, jump -400, stand 1, jump 400, receive poll, stand 1, history -> armed
  stand 3, arm, stand 2, receive outage, jump 400, stand 1, jump -800, receive poll, stand 1, history -> armed
  stand 3, arm, receive outage, stand 9, jump 5000, receive poll, stand 1, history -> armed
  stand 3, arm, receive outage, stand 9, jump 5000, receive poll, stand 2 -> place 14 5000 m, triggered
  stand 3, arm, stand 1, receive outage, stand 9, jump 5000, receive poll, stand 1 -> place 14 5000 m, triggered
Night guards disarm it at a time: what came before still counts, even after later nights, unless a person disarms it; what came after does not.
  stand 9, arm, receive outage, stand 9, disarm cut_off, ride 3 @15, disarm cut_off, receive poll, stand 3, history -> disarmed
  bike behind=60, stand 9, arm, receive outage, stand 9, disarm cut_off, ride 3 @15, receive poll, stand 3, history -> disarmed
  stand 9, arm, stand 2, receive outage, ride 3 @15, disarm cut_off, stand 20, receive live, stand 20, arm, history -> place 12 250 m, triggered
  stand 9, arm, receive outage, stand 9, disarm cut_off, ride 3 @15, stand 9, arm, receive poll, stand 3, history, ride 3 @15 -> place 32 750 m, triggered
  receive live, stand 9, arm, receive hold, ride 3 @15, stand 9, disarm cut_off, stand 30, arm, stand 9, disarm cut_off, stand 30, arm, deliver -> place 10 250 m, triggered
  receive live, stand 9, arm, receive hold, sleep 5, jump 1500, stand 1, jump -1500, stand 9, disarm cut_off, stand 30, arm, deliver -> place 15 1500 m, triggered
  stand 9, arm, receive outage, sleep 5, jump 1500, stand 1, jump -1500, stand 9, disarm cut_off, stand 30, arm, receive poll, stand 1, history -> armed
  receive live, stand 9, arm, stand 9, disarm cut_off, stand 3, arm, receive hold, ride 3 @15, disarm cut_off, stand 30, arm, deliver -> place 22 250 m, triggered
  receive live, stand 9, arm, receive hold, stand 9, disarm cut_off, ride 3 @15, stand 9, arm, stand 9, deliver -> armed
  receive live, stand 9, arm, receive hold, ride 3 @15, stand 9, disarm cut_off, stand 30, arm, disarm, arm, deliver -> armed
A late alarm counts by the time of its message.
  receive live, stand 3, arm, stand 1, bike fix_age=2.5, stand 1 alarm=tow -> alarm 5 0 m, triggered
  receive live, stand 3, arm, stand 1, bike age=2.5, stand 1 alarm=tow -> armed
  receive live, stand 3, arm, receive hold, stand 1 alarm=tow, receive live, stand 1, deliver newest -> alarm 4 0 m, triggered
  receive live, stand 3, arm, receive hold, ride 3 @15, deliver newest -> place 6 750 m, triggered
It stays triggered, also after a kill.
  jump 120, stand 3 alarm=tow, jump -210, arm, kill, stand 1, history, stand 3 -> place 5 210 m, triggered
  stand 3, arm, jump 200, stand 2, jump -200, stand 9 -> place 5 200 m, triggered
  stand 3, arm, kill, jump 120, stand 2 motion=yes -> place 4 120 m, triggered
  stand 3, arm, jump 120, stand 1 motion=yes, kill, stand 9 -> place 4 120 m, triggered
"""


@pytest.mark.parametrize(("script", "summary"), rows(TABLE))
def test_guard(script: str, summary: str) -> None:
    """Each script triggers the guard with the expected causes, minutes and distances, and leaves the expected state."""
    assert lived(f"says speed=none, {script}").guard == summary


def test_where_it_was_seen() -> None:
    """A triggered guard shows where the bike was seen, and the type of the alarm that was the cause."""
    house = lived("stand 3, arm, jump 120, stand 1 motion=yes address=Canal")
    guard = house.state.guard
    assert guard and guard.triggered
    seen = {"seen_latitude": 47.9 + 120 * METER, "seen_longitude": 7.8}
    described = {"cause": "place", "since": minutes(4).isoformat(), "distance": 120}
    described |= {"address": "Canal", **seen}
    assert guard.triggered.described() == described
    occurrence = {it.type: it for it in house.state.occurrences}["guard_triggered"]
    assert occurrence.noticed_at == occurrence.since == minutes(4)
    assert occurrence.attributes == described | {"alarm": None}
    guard = lived("stand 3, arm, stand 1 alarm=shock").state.guard
    assert guard and guard.triggered and guard.triggered.alarm == "vibration"


def test_who_did_it() -> None:
    """The guard shows the user of the last arming or disarming; None if no user did it.

    If the guard is armed again during a theft, the user of this arming is shown as soon
    as the bike stands.
    """
    house, names = lived("stand 3"), list[str | None]()
    account = house.account
    account.arm("red", minutes(3), "Ada")
    names.append(house.live("stand 1").state.changed_by)
    account.disarm("red", minutes(4), "Bob")
    names.append(house.state.changed_by)
    account.arm("red", minutes(4))
    names.append(house.live("ride 2 @15").state.changed_by)
    account.arm("red", minutes(6), "Eve")
    names.append(house.state.changed_by)
    names.append(house.live("stand 9").state.changed_by)
    assert names == ["Ada", "Bob", None, None, "Eve"]


def test_last_theft() -> None:
    """A triggered guard is kept when the bike is guarded again or disarmed, and after a restart.

    It is the guard of the last theft until the owner rides.
    """
    house = lived("stand 3")
    account = house.account
    account.arm("red", minutes(3), "Ada")
    house.live("ride 2 @15")
    during = house.state.guard
    assert house.state.stolen_guard == during
    account.arm("red", minutes(6), "Eve")
    before = house.state.last_theft
    house.live("ride 1 @15, stand 9, disarm, kill, receive poll, stand 1")
    theft = house.state.last_theft
    assert before is None
    assert during and theft and theft.changed_by == "Ada"
    assert theft.guard.triggered and during.triggered
    assert theft.guard.triggered[:2] == during.triggered[:2]
    assert house.state.stolen_guard == theft.guard
    assert house.live("ride 1 @15").state.stolen_guard is None
    assert house.state.last_theft == theft


THEFTS = """
An alarm where the thief parked the bike does not replace the theft. Another ride does.
  stand 3, arm, ride 3 @15, stand 9, arm, stand 2, stand 1 alarm=tow, kill, receive poll, stand 1 -> 3.5
  stand 3, arm, ride 3 @15, stand 9, arm, stand 2, stand 1 motion=yes, disarm, kill -> 3.5
  stand 3, arm, ride 3 @15, stand 9, arm, stand 2, stand 1 alarm=tow, arm, stand 9 -> 3.5
  stand 3, arm, ride 3 @15, stand 9, arm, stand 2, stand 1 alarm=tow, ride 3 @15 -> 15.5
  stand 3, arm, ride 3 @15, stand 9, disarm, ride 3 @15, stand 9, arm, stand 1 alarm=tow, disarm -> 27.5
In a theft without a ride, the last alarm counts. The owner's ride may begin with the last report.
  stand 3, ride 3 @15, stand 9, arm, stand 1 alarm=tow, arm, stand 2, stand 1 alarm=tow, disarm -> 16.5
  stand 3, ride 3 @15, stand 9, arm, stand 1 alarm=tow, disarm, ride 1 @15 -> none
"""


@pytest.mark.parametrize(("script", "armed_at"), rows(THEFTS))
def test_theft_to_report(script: str, armed_at: str) -> None:
    """After each script, the theft to report begins with the guard that was armed in the expected minute."""
    guard = lived(script).state.stolen_guard
    expected = None if armed_at == "none" else minutes(float(armed_at))
    assert (guard and guard.armed_at) == expected


def test_taken_over() -> None:
    """The night guard takes over a guard with its place. The change is stored soon, like an arming."""
    house = lived("stand 3, arm, stand 2")
    before = house.state
    house.account.take_over("red", minutes(9))
    assert house.state == before._replace(changed_by=None, changed_at=minutes(9))


def test_without_a_place() -> None:
    """If the place of a bike is unknown, the bike cannot be guarded."""
    account, devices = Account("Bikes", {}), {"red": a_device(position_id=1)}
    for positions in ({}, {"red": no_fix(1)}):
        [_] = account.apply_poll(devices, positions, UpdateContext(NOW))
        assert account.arm("red", NOW) is None


def test_tracker_that_left_the_list() -> None:
    """A tracker that has left the list cannot be armed, but it can be disarmed. It does not return to the list."""
    house = lived("stand 3, arm")
    [_] = house.account.apply_poll({}, {}, UpdateContext(minutes(4)))
    assert house.account.arm("red", minutes(5)) is None
    assert house.guard == "armed"
    assert house.account.disarm("red", minutes(5)).keys == {"red"}
    assert not house.account.trackers
    assert house.guard == "disarmed"
    assert house.state.position
