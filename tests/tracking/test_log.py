"""The log of a tracker's reports: rides do not depend on the order in which reports arrive."""

from datetime import timedelta

import pytest

from custom_components.bike_tracker.tracking import log
from custom_components.bike_tracker.tracking.history import (
    HistoryAnswer,
    in_order,
    rides_before,
)

from .conftest import NOW, a_position
from .house import (
    SECOND,
    House,
    lived,
    minute_of,
    minutes,
    rows,
    story,
    time_of,
    true_rides,
)

# Left of each arrow: a script, as in house.py. Right of it: the fired starts and ends of
# rides with their minutes, and the total distance of the stored rides.
RIDES = """
The history makes a ride that polls saw exact, even after a silence, and fires nothing again.
  bike every=10, receive sixth, stand 5, ride 5.5 @15, ride 0.5 @-15, ride 5 @15, wait 31, wait 1, history -> started 5, ended 16, 2.75 km
Fixes show all rides of a tracker that always reports rest, even each ten seconds.
  says motion=no speed=0, bike every=10, receive sixth, stand 5, ride 10 @15, stand 9, history -> started 5, ended 15, 2.5 km
Rides of an outage, in one answer, in answers that are cut, and in portions.
  bike every=10, stand 5, receive outage, ride 10 @15, stand 9, ride 10 @15, stand 9, receive poll, stand 0.1, history -> started 5, ended 15, started 24, ended 34, 5 km
  bike every=10, stand 5, receive outage, ride 10 @15, stand 9, ride 10 @15, stand 9, receive poll, stand 0.1, history rows=40, history rows=40, history rows=40, history -> started 5, ended 15, started 24, ended 34, 5 km
  bike every=10, stand 5, receive outage, ride 10 @15, stand 9, receive poll, stand 0.1, history until=12 -> started 5, 0 km
  bike every=10, stand 5, receive outage, ride 10 @15, stand 9, ride 10 @15, stand 9, receive poll, stand 0.1, history until=12, history until=20 -> 2.5 km
  bike every=10, stand 5, receive outage, ride 10 @15, stand 9, ride 10 @15, stand 9, receive poll, stand 0.1, history until=12, history until=30, history -> started 5, ended 15, started 24, ended 34, 5 km
The history lacks everything, or all but the newest report.
  bike every=10, receive sixth, stand 5, ride 10 @15, stand 9, history rows=0 -> started 5, ended 15, 2.5 km
  bike every=10, stand 5, receive outage, ride 10 @15, stand 9, receive poll, stand 0.1, history rows=1 -> 0 km
The 1,000th report of an answer has no place.
  bike every=10, stand 5, receive outage, ride 10 @15, stand 156.33, stand 0.16 latitude=none fix_time=none, ride 10 @-15, stand 9, receive poll, stand 0.16, history -> started 5, ended 15, started 171.33, ended 181.5, 5 km
Two rides around an outage.
  bike every=10, receive sixth, stand 5, ride 5 @15, receive outage, ride 5 @15, stand 9, ride 5 @15, receive poll, ride 0.1 @15, receive sixth, ride 5 @15, stand 9, history -> started 5, ended 35, started 24, ended 34.17, 5.04 km
A report dated ahead keeps the gap.
  bike every=10, stand 5, receive outage, ride 2.5 @15, ride 2.5 @-15, receive poll, ride 0.1 @15, bike behind=-20000, ride 0.1 @15, bike behind=0, receive sixth, ride 5 @15, stand 9, history -> started 10.17, ended 16, 2.58 km
A ride there and back that a tracker buffered: in order, newest first, at once.
  bike every=10, receive live, stand 5, receive hold, ride 5 @15, ride 5 @-15, deliver in order, stand 9, history -> started 5, ended 15, 2.5 km
  bike every=10, receive live, stand 5, receive hold, ride 5 @15, ride 5 @-15, stand 2, deliver newest, stand 9, history -> started 14.83, ended 15, 2.5 km
  bike every=10, receive live, stand 5, receive hold, ride 5 @15, ride 5 @-15, stand 2, deliver at once, stand 9, history -> started 5, ended 15, 2.5 km
A late report and newer ones in one message.
  receive live, stand 3, receive hold, stand 1, receive live, stand 1, receive hold, ride 3 @15, deliver at once, stand 9 -> started 5, ended 8, 0.75 km
A dead zone under way: its reports or the history come two minutes after it at the latest, or it was a stop.
  bike every=10, receive live, stand 5, ride 2 @15, receive hold, ride 10 @15, ride 7 @-15, receive live, ride 1 @-15, deliver newest, ride 4 @-15, stand 9, history -> started 5, ended 29, 6 km
  bike every=10, receive live, stand 5, ride 2 @15, receive hold, ride 10 @15, ride 7 @-15, receive live, ride 2 @-15 -> started 5, 0.5 km
  bike every=10, receive live, stand 5, ride 2 @15, receive hold, ride 10 @15, ride 7 @-15, receive live, ride 2.1 @-15 -> started 5, ended 7, started 24.17, 0.5 km
  bike every=10, receive live, stand 5, ride 2 @15, receive hold, ride 10 @15, ride 7 @-15, receive live, ride 1.8 @-15, history, ride 4 @-15, stand 9 -> started 5, ended 29.83, 6.21 km
  bike every=10, receive live, stand 5, ride 2 @15, receive hold, ride 10 @15, ride 7 @-15, receive live, ride 1.8 @-15, stand 9 -> started 5, ended 7, started 24.17, ended 25.83, 1.62 km
  bike every=10, receive live, stand 5, ride 2 @15, receive hold, ride 10 @15, ride 7 @-15, receive live, ride 1.8 @-15, kill, stand 9 -> started 5, ended 7, started 24.17, ended 25.83, 1.63 km
  bike every=10, receive live, stand 5, ride 2 @15, receive hold, stand 17, receive live, ride 1 @15, deliver newest, ride 1 @15, history, stand 9 -> started 5, ended 7, started 24, ended 26, 1 km
  clock 480, bike every=10, receive live, stand 5, ride 2 @15, receive hold, ride 10 @15, ride 7 @-15, receive live, ride 0.1 @-15, clock 0, ride 1 @-15 -> started 5, ended 7, started 24.17, 0.5 km
A message that comes while the history is requested voids nothing.
  bike every=10, receive sixth, stand 5, ride 5 @15, receive outage, ride 15 @15, receive live, ride 0.5 @15, history rows=50, ride 9 @15, stand 9, history -> started 5, ended 34.5, 7.37 km
A kill and a restart under way.
  bike every=10, receive sixth, stand 5, ride 10 @15, kill, ride 10 @15, stand 9, history -> started 5, ended 25, 5 km
  bike every=10, receive sixth, stand 5, ride 10 @15, kill, receive outage, ride 9 @15, stand 20, receive poll, stand 1, history -> started 5, ended 24, 4.75 km
  bike every=10, receive live, stand 5, ride 10 @15, kill, receive poll, ride 0.1 @15, receive live, ride 10 @15, stand 9, history -> started 5, ended 25.17, 5.04 km
A kill before a report confirms a ride's only place, without a history.
  service has_history=no, stand 3, sleep 60, jump 3000, stand 1, bike fix_age=1, stand 1, kill, bike fix_age=0, sleep 60, ride 3 @15, stand 9 -> started 64, ended 64, started 126, ended 128, 3.75 km
  service has_history=no, stand 3, jump 3000, stand 1, bike fix_age=1, stand 1, kill, bike fix_age=0, sleep 60, ride 3 @15, stand 9 -> started 3, ended 4, started 66, ended 68, 3.75 km
The history replaces the state of before a kill, if it reaches that far, and nothing that came since.
  bike every=10, receive sixth, stand 5, ride 5 @15, ride 0.5 @15, ride 0.5 @-15, ride 5 @15, kill, ride 5 @15, stand 9, history -> started 5, ended 21, 4 km
  bike every=10, receive sixth, stand 5, ride 5 @15, ride 5 @-15, kill, ride 1 @15, history rows=20, ride 5 @15, stand 9 -> started 5, ended 21, 4 km
  bike every=10, receive sixth, stand 5, ride 5 @15, kill, ride 2 @15, request, ride 1 @15, ride 2 @-15, respond, stand 9 -> started 5, ended 15, 2.5 km
  stand 5, ride 1 @40, ride 1 @-40, stand 6, kill, stand 1, history lacks=7 -> started 5, ended 7, 1.33 km
A ride under way while its account is added is one ride, from its start on.
  bike every=10, receive outage, ride 9 @15, stand 9, ride 5 @15, receive poll, ride 0.1 @15, history, receive sixth, ride 15 @15, stand 9, history -> started 18, ended 39, 7.29 km
  bike every=10, receive outage, stand 30, receive poll, stand 0.1, receive sixth, ride 10 @15, stand 9, history -> started 30.17, ended 41, 2.5 km
Late reports from before the first report count only if they are at most fifteen minutes older, or part of a ride under way.
  receive hold, stand 3, sleep 1440, jump 20000, receive live, stand 3, deliver newest, stand 9 -> 0 km
  receive hold, stand 3, sleep 1440, jump 20000, receive live, stand 3, ride 3 @15, deliver newest, stand 9 -> started 1446, ended 1449, 0.75 km
  receive hold, stand 3, sleep 14, jump 2000, receive live, stand 1, deliver newest, stand 9 -> started 18, ended 18, 2 km
  receive hold, stand 3, sleep 15, jump 2000, receive live, stand 1, deliver newest, stand 9 -> 0 km
  bike every=10, receive hold, stand 20, ride 20 @15, receive live, ride 1 @15, deliver newest, stand 9 -> started 40.17, ended 41, 5.25 km
A ride that the clock ended goes on: its rest is another one for whoever was told.
  bike every=10, receive sixth, stand 5, ride 5 @15, receive outage, ride 40 @15, receive poll, wait 0, history, receive sixth, ride 5 @15, stand 9, history -> started 5, ended 10, 12.5 km
  bike every=10, receive sixth, stand 5, ride 5 @15, receive outage, wait 31, ride 5 @15, receive poll, ride 0.1 @15, history, receive sixth, ride 5 @15, stand 9, history -> started 5, ended 10, started 46.17, ended 52, 3.79 km
A round trip between two polls, if the server counts it.
  bike every=10, receive sixth, says total_distance=10, stand 1, ride 0.33 @40 total_distance=10.3, ride 0.33 @-40 total_distance=10.6, says total_distance=10.6, stand 9, history -> started 1, ended 1.67, 0.44 km
  bike every=10, receive sixth, says total_distance=10, stand 1, ride 0.33 @40 total_distance=10.03, ride 0.33 @-40 total_distance=10.1, says total_distance=10.1, stand 9, history -> 0 km
The server's total counts in the history, too.
  says total_distance=1000, stand 5, receive outage, ride 1 @15 total_distance=1000.3, says total_distance=1000.3, stand 9, receive poll, stand 1, history -> started 5, ended 6, 0.3 km
  says total_distance=1000, stand 130, receive outage, ride 1 @15, receive poll, ride 1 @15 total_distance=1000.32, history, says total_distance=1000.32, stand 9 -> started 130, ended 132, 0.57 km
After a report that an answer lacks, the server's total knows bends, as others may be missing.
  bike every=30, says total_distance=1000, stand 3, ride 1 @15, receive outage, ride 0.5 @15 total_distance=1000.4, says total_distance=1000.4, receive poll, stand 9, request lacks=3, respond -> started 3, ended 5, 0.65 km
  bike every=30, says total_distance=1000, stand 3, ride 1 @15, receive outage, ride 0.5 @15 total_distance=1000.4, says total_distance=1000.4, receive poll, stand 9, request, respond -> started 3, ended 5, 0.37 km
  bike every=30, says total_distance=1000, stand 30, receive outage, ride 0.5 @15 total_distance=1000.4, says total_distance=1000.4, receive poll, stand 25, history, stand 5 -> started 30, ended 31, 0.12 km
  says total_distance=10, bike every=30, receive live, stand 3, jump 200, stand 0.5 total_distance=10.3, jump 200, stand 9 total_distance=10.6 -> started 3, ended 4, 0.4 km
A ride of many hours settles while it goes on.
  receive live, bike every=10, ride 316 @15, stand 9 -> started 0, ended 316, 79 km
A report with the fix of an earlier one counts from its own time: it says that the bike moves.
  receive live, stand 3, bike fix_age=3, stand 3 motion=yes, bike fix_age=0, ride 3 @15, stand 6, history -> started 3, ended 9, 0.75 km
  receive live, stand 3, receive outage, bike fix_age=3, stand 3 motion=yes, bike fix_age=0, ride 3 @15, stand 6, receive poll, stand 1, history -> started 3, ended 9, 0.75 km
  receive live, stand 3, kill, receive live, stand 1, bike fix_age=2, stand 1 motion=yes, bike fix_age=0, ride 3 @15, stand 6 -> started 4, ended 8, 0.75 km
  bike every=10, receive live, stand 3, receive hold, stand 0.3, bike fix_age=0.5, stand 0.3 motion=yes, bike fix_age=0, deliver newest, ride 3 @15, stand 6, history -> started 3.33, ended 6.67, 0.75 km
  receive live, stand 3, receive hold, stand 1, receive live, bike fix_age=1.5, stand 1 is_fix=no motion=yes, bike fix_age=0, deliver newest, ride 3 @15, stand 9 -> started 4, ended 8, 0.75 km
  bike every=30, receive live, stand 3, receive hold, stand 0.5 latitude=none fix_time=none motion=yes, receive live, bike fix_age=0.7, stand 0.5, deliver newest, stand 1, ride 3 @15, stand 9 -> started 4.3, ended 7.3, 0.75 km
A report that the server announces as current keeps its time, whichever fix it has.
  stand 15, ride 3 @15, stand 12, receive live, bike fix_age=3, ride 5 @-9, bike fix_age=0, stand 6 -> started 15, ended 18, started 28, ended 32, 1.5 km
The tracker's clock falls back under way: what it reports has the time of its receipt, until that changes no order.
  bike every=10, receive live, stand 15, ride 8 @15, bike behind=10, ride 8 @15, stand 6, bike behind=0, stand 20, history -> started 15, ended 31, 4 km
  bike every=10, receive sixth, stand 5, ride 15 @15, bike behind=10, ride 15 @15, stand 6, bike behind=0, stand 20, history -> started 5, ended 35, 7.5 km
  bike every=4, receive live, stand 15, ride 8 @15, bike behind=10, ride 8 @15, stand 9, history -> started 15, ended 31, 4 km
  bike every=10, receive live, stand 15, ride 8 @15, bike behind=5, ride 8 @15, stand 9 -> started 15, ended 31, 4 km
  bike every=10, receive live, stand 5, kill, bike behind=10, ride 8 @15, stand 9 -> started 5, ended 13, 2 km
  bike every=10, receive live, stand 15, ride 8 @15, bike behind=10, ride 8 @15, stand 25, sleep 40, ride 5 @15, stand 9, history -> started 15, ended 31, started 86.17, ended 91, 5.25 km
  stand 15, bike behind=10, ride 3 @15, bike every=600, ride 15 @15, stand 15 -> started 15, ended 38, 5.75 km
It falls back to a settled time: nothing can be inserted there.
  service has_history=no, bike every=10, receive live, stand 5, ride 5 @15, wait 31, wait 1, bike behind=50, ride 8 @15, stand 9 -> started 5, ended 10, started 42.17, ended 50, 3.25 km
  bike every=10, receive live, stand 60, bike behind=360, ride 8 @15, stand 9 -> started 60, ended 68, 2 km
  says server_time=none, receive live, stand 60, bike behind=360, ride 8 @15, stand 9 -> started 60, ended 68, 2 km
  stand 60, bike behind=50, ride 8 @15, stand 9 -> started 60, ended 68, 2 km
The first report after an arming continues those before it: all are late by the same time, the clock is right.
  receive live, stand 30, sleep 12, arm, sleep 1, bike age=8, ride 6 @15, stand 20 -> started 36, ended 41, 1.5 km
  receive live, stand 3, ride 4 @15, sleep 14, arm, sleep 1, bike age=15, ride 10 @15, stand 9 -> started 3, ended 17, 3.5 km
Late reports from just before a long ride count: that time is not settled.
  receive live, stand 4, receive hold, ride 1 @15, ride 1 @-15, receive live, stand 2, ride 25 @15, deliver newest, stand 9 -> started 8, ended 33, 6.75 km
"""
# Right of the arrow: the minute from which on the history is requested, because reports
# may be missing.
GAPS = """
A ride that polls saw, from the last report before it.
  stand 5, ride 3 @15, stand 6 -> 5 of a ride
A live ride, if its reports are more than 90 s apart, or the bike was seen 300 m away.
  receive live, bike every=90, stand 6, ride 9 @15, stand 6 -> none
  receive live, bike every=91, stand 6, ride 9 @15, stand 9 -> 6.07 of a ride
  receive live, stand 3, sleep 1, jump 49.5, ride 1 @15, stand 6 -> none
  receive live, stand 3, sleep 1, jump 50.5, ride 1 @15, stand 6 -> 3 of a ride
  receive live, stand 5, ride 2 @9, sleep 1, ride 1 @9, stand 6 -> 5 of a ride
  receive live, stand 5, ride 3 @15, wait 31 -> none
A server's total that grew unseen: by more than 150 m, and than twice the noise or the known drift.
  receive live, stand 3 total_distance=10, stand 1 total_distance=10.1499, stand 1 total_distance=10.3004 -> 4
  receive live, stand 3 total_distance=10, jump 25, stand 1 total_distance=10.1745 -> none
  receive live, stand 3 total_distance=10, jump 25, stand 1 total_distance=10.1755 -> 3
  says accuracy=30, receive live, stand 3 total_distance=10, stand 1 total_distance=10.355, stand 1 total_distance=10.72 -> 4
  receive live, stand 3, jump 400, stand 1, jump -400, stand 2 total_distance=10, stand 1 total_distance=10.795 -> none
  receive live, stand 3, jump 400, stand 1, jump -400, stand 2 total_distance=10, stand 1 total_distance=10.805 -> 6
  receive live, stand 3 total_distance=10, ride 2 @15 total_distance=11, stand 9 total_distance=11 -> none
An outage, a kill and a ride under way at the first report.
  receive live, stand 5, receive outage, ride 3 @15, receive poll, stand 1 -> 5 of a ride
  receive live, stand 5, kill, receive poll, stand 1 -> 5
  receive live, stand 5, receive outage, stand 3, receive poll, stand 1 -> 5
  says speed=15 motion=yes, ride 3 @15 -> -360 of a ride
  says speed=15 motion=yes, receive live, ride 3 @15, wait 31 -> -360 of a ride
  stand 3, receive missed, stand 1 -> 3
  stand 3, receive missed, stand 1, history, stand 2 -> none
Late reports that show a ride.
  receive live, stand 3, receive hold, ride 2 @15, receive live, stand 9 -> 3 of a ride
  receive live, stand 3, receive hold, ride 2 @15, ride 2 @-15, receive live, stand 9, deliver newest -> 3 of a ride
  receive live, stand 3, receive hold, stand 2, receive live, stand 3, deliver newest -> none
  receive live, bike every=30, stand 3, ride 1 @15, receive hold, ride 0.5 @15, receive live, ride 0.5 @15, deliver newest, stand 9 -> 3 of a ride
  receive live, bike every=30, stand 3, ride 1 @15, receive hold, ride 0.5 @15, receive live, ride 0.5 @15, deliver newest -> none
  receive live, bike every=30, stand 3, bike fix_age=0.5, stand 0.5, bike fix_age=0, receive hold, ride 0.5 @15, ride 0.5 @-15, receive live, stand 3, deliver newest, stand 9 -> 3.5 of a ride
A part that the answer lacks, unless the ride is under way and its last 90 s lack.
  bike every=10, stand 5, receive outage, ride 10 @15, receive poll, ride 0.1 @15, history rows=40 -> 11.5 of a ride
  bike every=10, stand 5, receive outage, ride 10 @15, receive poll, ride 0.1 @15, history rows=60 -> none
  bike every=10, stand 5, receive outage, ride 10 @15, receive poll, ride 0.1 @15, history rows=60, wait 31 -> 14.83 of a ride
No more than seven days, until they are all older.
  stand 1, receive outage, sleep 28800, receive poll, stand 1 -> 18782
  stand 1, receive outage, sleep 28800, receive poll, stand 1, sleep 119, stand 1 -> none
An answer without a report, or without those after a request at rest.
  stand 3, receive outage, stand 3, receive poll, stand 3, history rows=4 -> none
  stand 3, ride 3 @15, stand 6, history rows=0 -> none
  stand 3, receive outage, stand 1, bike fix_age=2, receive poll, stand 1 -> none
Fixes that are older than their reports: none is missing, or those from the last fix before the ride on.
  receive live, stand 3, bike fix_age=2, stand 1, ride 3 @15, bike fix_age=0, stand 9 -> 2 of a ride
Reports that came after the request, with a fix or with none.
  stand 3, receive outage, ride 3 @15, stand 3, receive poll, stand 1, request, stand 1, respond -> 10 of a ride
  stand 3, receive outage, ride 3 @15, receive poll, ride 1 @15, wait 1, request, ride 1 @15, respond -> 8 of a ride
  stand 3, receive outage, ride 3 @15, stand 6, receive poll, stand 1, wait 1, request, receive outage, wait 1, receive poll, stand 1 latitude=none, respond -> 14 of a ride
A clock that is ahead, whose history has other times.
  bike behind=-120, stand 5, receive outage, ride 10 @15, receive poll, stand 1 -> none
A service without a history; if it had one before, the gap stays for a week.
  service has_history=no, stand 5, ride 10 @15, stand 7 -> none
  stand 5, ride 10 @15, stand 7, service has_history=no, sleep 9000, stand 1 -> 5 of a ride
  stand 5, ride 10 @15, stand 7, service has_history=no, sleep 11000, stand 1 -> none
"""
# Right of the arrow: the number of inputs in the log. Inputs that can no longer change
# are settled: they leave the log.
INPUTS = """
Inputs of a standing bike are settled each five minutes, except those of the last fifteen.
  receive live, stand 20 -> 21
  receive live, stand 21 -> 16
  bike every=600, stand 10, bike fix_age=10, stand 10, bike fix_age=20, stand 10, bike fix_age=30, stand 10 -> 3
Those of a ride, from before its start on, and those of a place in doubt.
  receive live, stand 30, ride 30 @15 -> 35
  receive live, stand 30, ride 25 @15, stand 30 -> 19
  receive live, bike every=10, ride 256 @15 -> 1001
  receive live, stand 30, jump 400, stand 1, stand 30 is_fix=no -> 35
All, once silence ended a ride.
  receive live, stand 3, ride 3 @15, wait 31 -> 7
  receive live, stand 3, ride 3 @15, wait 31, wait 1, stand 1 -> 1
  receive live, bike every=30, stand 3, ride 2 @15, receive hold, ride 0.5 @15, receive live, ride 1 @15, wait 31, deliver newest -> 0
  receive live, stand 3, wait 31, stand 1 -> 5
Those of a gap, until the history answers.
  stand 30, receive outage, stand 3, receive poll, stand 30 -> 30
  stand 30, receive outage, stand 3, receive poll, stand 1, history, stand 1 -> 16
A report without a time, also of an armed bike.
  stand 3, arm, stand 1 device_time=none fix_time=none -> 6
  receive live, stand 3, receive hold, stand 1, receive live, stand 1 device_time=none fix_time=none, deliver newest -> 6
A late report of an armed bike whose tracker's clock is always behind.
  bike behind=180, receive live, stand 3, arm, receive hold, stand 1, receive live, stand 1, deliver newest -> 7
None for a minute after a late report.
  clock 20000, bike every=10, receive live, stand 5, receive hold, stand 1, receive live, stand 1, deliver in order, clock 0, stand 60 -> 93
  receive live, bike every=10, stand 19, receive hold, stand 0.3, receive live, stand 0.3, deliver newest, stand 0.8 -> 124
  receive live, bike every=10, stand 19, receive hold, stand 0.3, receive live, stand 0.3, deliver newest, stand 1 -> 91
"""
# Right of the arrow: the fired alarms and changes of flags.
OTHERS = """
In one message, a report without a fix comes after the fix that was sent before it.
  receive live, stand 3, receive hold, stand 1, stand 1 fix_time=none latitude=none motion=yes, deliver at once -> started_moving
A late alarm counts, also without a guard.
  receive live, stand 3, receive hold, stand 1 alarm=tow, receive live, stand 1, deliver newest -> tow
Alarms and motion of a history are fired in the order of their times, alarms only of the last hour.
  stand 3, receive outage, stand 1, receive poll, stand 1, receive outage, stand 1 alarm=tow, ride 2 @15, stand 1 alarm=sos, history -> tow, sos, started_moving, stopped_moving
  stand 3, receive outage, ride 1 @15 alarm=tow, stand 1, receive poll, stand 1, history rows=2 -> tow
  stand 3, receive outage, stand 1 alarm=tow, stand 1 alarm=sos, stand 59, receive poll, stand 1, history -> sos
  says device_time=none, stand 3, receive outage, stand 1 alarm=tow, stand 1 alarm=sos, stand 59, receive poll, stand 1, history -> sos
"""
TABLES = {"rides": RIDES, "gap": GAPS, "inputs": INPUTS, "others": OTHERS}
CASES = [(name, *it.values) for name, table in TABLES.items() for it in rows(table)]


@pytest.mark.parametrize(("name", "script", "expected"), CASES)
def test_log(name: str, script: str, expected: str) -> None:
    """After each script, the house has the expected value: rides, gap, number of inputs, or other occurrences."""
    house = lived(script)
    values = {"rides": house.rides, "gap": house.gap, "others": house.others}
    values["inputs"] = f"{len(house.state.log.inputs)}"
    assert values[name] == expected
    assert house.totals == sorted(house.totals)


def test_many_late_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a long upload, the log exceeds its limit by at most one input. The uploaded ride is stored as one ride."""
    monkeypatch.setattr(log, "_MAX_INPUTS", 50)
    script = "bike every=10, receive live, stand 5, receive hold, ride 30 @15, stand 9"
    house = lived(f"{script}, receive live, stand 1, deliver in order")
    assert len(house.state.log.inputs) <= 51
    [ride] = house.book
    assert (ride.started_at, ride.moved_at) == (minutes(5), minutes(35))
    assert ride.distance == pytest.approx(7.5)


def test_many_rides_at_once() -> None:
    """After an answer with 110 rides, later reports fire no ride again. Without an answer, 110 rides are fired once."""
    legs = "bike every=360, " + "ride 6 @15, stand 6, " * 110
    rides = f"{legs}bike every=60, receive poll, stand 1"
    house = lived(f"stand 1, receive outage, {rides}, history")
    assert (len(house.book), len(house.kinds)) == (110, 100)
    house.live(f"stand 3, receive outage, stand 1, receive poll, {rides}")
    assert (len(house.book), len(house.kinds)) == (220, 320)


def test_order_of_reports() -> None:
    """Reports are sorted by fix time (without a fix, by message time), then by ID. Without a time, they are first."""
    same, sent = a_position(3, fix_time=NOW), a_position(1, fix_time=None)
    reports = [sent._replace(device_time=minutes(1)), same, same._replace(id=2)]
    assert [it.id for it in in_order([*reports, sent._replace(id=4)])] == [4, 2, 3, 1]


def test_last_arming_is_stored() -> None:
    """While a gap waits for the history, only the last of several armings and disarmings is stored."""
    house = lived("stand 3, receive outage, stand 1, receive poll, stand 1")
    house.live("arm, stand 1, disarm, stand 1, arm")
    assert house.state.gap
    kept, snapshot = house.state.stored(0).log.inputs
    assert kept.guard and kept.guard.armed_at == minutes(7.5)
    assert snapshot.is_snapshot
    house.live("kill")
    restored, _ = house.state.log.inputs
    assert restored.core.guard


def test_answer_in_the_middle_of_an_upload() -> None:
    """If a tracker uploads older reports after a history answer, these reports are requested, too."""
    legs = "stand 5, ride 8 @15, ride 8 @-15, ride 14 @15, stand 9"
    reports, house = story(legs, every=10), House()
    house.poll(reports[0])
    # The newest report arrived first, over a parallel connection.
    house.poll(reports[120], minutes(37), recovering=True)
    house.answer([*reports[:40], reports[120]], minutes(37) + SECOND)
    house.polls(reports[-40::6])
    house.answer(reports, minutes(45))
    true = true_rides(reports, minutes(60))
    assert [it[:3] for it in house.book] == [it[:3] for it in true]


def test_numbers_out_of_order() -> None:
    """The server's total distance is used only if the IDs of reports are in the order of their fixes."""
    ride = "ride 1 @15 total_distance=10.3, ride 1 @15 total_distance=10.8"
    for ids, kilometers in (((3, 4), 0.8), ((4, 3), 0.5)):
        legs = f"stand 1, {ride}, stand 9 total_distance=10.8"
        reports, house = story(legs, total_distance=10), House()
        for index, number in enumerate(ids, 2):
            reports[index] = reports[index]._replace(id=number)
        house.poll(reports[0])
        for report in reports[1:]:
            house.hear([report], time_of(report))
        [found] = house.book
        assert found.distance == pytest.approx(kilometers)


# Left of the arrow: a script, first and last requested minute, and days since the first
# minute. Right of it: starts of the returned rides, and end of the next request.
BEFORE = """
All complete rides are returned, even a last ride whose end is not in the answer.
  stand 30, ride 10 @15, stand 60, ride 10 @-15; -60 112 1 -> 30, 100; -60
A ride that may have begun earlier is left to the next request, which contains it completely.
  stand 10, ride 30 @15, stand 60, ride 10 @-15, stand 600; 15 1440 1 -> 100; 45
  stand 10, ride 30 @15, stand 60, ride 10 @-15, stand 600; 31 1440 1 -> 100; 45
  stand 10, ride 30 @15, stand 60, ride 10 @-15, stand 600; 15 100 1 -> none; 45
  stand 10, ride 30 @15, stand 60, ride 10 @-15, stand 600; -1395 45 2 -> 10; -1395
A ride that is longer than half of the requested time is returned, even if its start may be missing.
  ride 800 @15, stand 300; 10 1440 1 -> 10; 10
A request from 30 days ago is the last: its first ride is returned, even if its start may be missing.
  ride 30 @15, stand 30; 10 1440 30 -> 10; none
  ride 30 @15, stand 30; 10 1440 29.999 -> none; 35
A service that ignores the requested time sends only its newest report.
  sleep 4320, stand 1; 1 1440 4 -> none; 1
"""


@pytest.mark.parametrize(("script", "expected"), rows(BEFORE))
def test_rides_before(script: str, expected: str) -> None:
    """Each answer about the time before the set-up yields the expected rides, and the end of the next request."""
    legs, numbers = script.split(";")
    start, until, days = map(float, numbers.split())
    answer, begin = HistoryAnswer(story(legs), minutes(until)), minutes(start)
    rides, rest = rides_before(answer, begin, begin + timedelta(days=days))
    found = ", ".join(minute_of(it.started_at) for it in rides) or "none"
    assert f"{found}; {minute_of(rest) if rest else 'none'}" == expected
