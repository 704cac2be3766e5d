"""The night guard of a house with two bikes: when it arms and disarms bikes, and which messages it sends."""

from homeassistant.util import dt as dt_util
import pytest

from tests.blueprints.house import BIKES, stories
from tests.conftest import RED

from .night import Night

NIGHTS = """
A bike is armed with the first answer, where it is then, and disarmed in an outage. (2.0 raised a false alarm.)
night red, fail, wait 2, until 22, wait 1 = disarmed, report meters=1100, work, wait 15 = armed
fail, until 6 = disarmed
22:00 time-sensitive: No contact with the tracking service / Red bike: Not guarded
22:04 quiet: Contact with the tracking service again / Red bike: guarded as before.

A bike is armed with the first answer after a start in an outage, too.
night red, fail, wait 2, restart, until 22, report meters=1100, work, wait 15 = armed
22:00 time-sensitive: No contact with the tracking service / Red bike: Not guarded
22:02 quiet: Contact with the tracking service again / Red bike: guarded as before.

Bikes are guarded while nobody is near, by day too.
ann 0, ben 1000, night red riders=ann+ben, ann 150 = disarmed, ann 250, wait 2 = disarmed, wait 1 = armed, ann 0 = disarmed, ann unknown, wait 3 = armed, ben unknown = armed

A rider sets off by day, and the phone reports it before the bike.
ann 0, night red riders=ann follow=no, stand 5, ann 300, ride 4, stand 9 = armed, ann 1990 = disarmed
clock 5, ann 600, clock -5, wait 4 = armed

A rider sets off by day on a bike that reports each five minutes. A bike that stays is guarded after its next report, or without it soon after.
ann 0, night red riders=ann, report, wait 4, report, ann 300, wait 3 = disarmed, ride 1 = disarmed
wait 4, ride 1, stand 1, wait 4, stand 1, ann 5000, stand 1, wait 2 = armed, ann 1000 = disarmed
stand 1, wait 4, stand 1, ann 5000, wait 4 = disarmed, wait 2 = armed

A tracker that reports each 20 minutes at rest reports sooner if the bike moves.
ann 0, night red riders=ann, report, wait 20, report, ann 5000, wait 4 = armed

By day, a fix of a mobile network does not show that the rider is away.
ann 0, night red riders=ann, report meters=900 accuracy=1500, ann 5, wait 4 = disarmed

A bike that is ridden is guarded once it has stood, though disarmed by hand before.
night red begins=12:05, disarm, ride 6 = disarmed, stand 10 = armed

A bike that was only shifted when a night began, or when its rider left, is guarded once it has stood.
night red begins=12:05, wait 1, report motion=yes, wait 1 = disarmed, stand 5 = armed
ann 0, night red riders=ann, report motion=yes, ann 600 = disarmed, stand 7 = armed

A ride that began just before the night rings no alarm, even after a stop where the tracker slept.
night red begins=12:27, ride 3, stand 1, wait 21, ride 8 = disarmed

A bike that the service disabled when its ride ended, or when its rider left, is guarded once it is enabled.
night red begins=12:05, stand 1, ride 4, lock red, stand 12 = disarmed, unlock red, wait 1 = armed
ann 2000, night red riders=ann, lock red, wait 1, ann 2600, wait 3 = disarmed, unlock red, wait 1 = armed

A bike that the service disabled or no longer lists is disarmed all the same.
night begins=12:05 ends=12:20, stand 9, lock red, leave blue, wait 11, unlock red, ride 4, assign blue, ride 9 blue = disarmed, = blue disarmed
night begins=12:40, wait 4, leave red, wait 1, night blue begins=12:40, assign red, wait 1 = disarmed

What a person disarmed is guarded at night, even if the service enables the bike only then.
night red begins=12:05, disarm, lock red, wait 6, unlock red, wait 2 = armed
12:05 time-sensitive: Not guarded tonight / Red bike: disabled
12:08 dusk removed

A bike with an alarm that is disabled when the night begins is armed again once it is enabled; a guarded bike is taken over once it is listed.
arm, automate arm_away blue, now blue alarm=vibration, night begins=12:10 ends=12:40, leave red, lock blue, wait 15, assign red, unlock blue, wait 2 = armed, = blue armed
wait 25 = disarmed, = blue disarmed
12:10 time-sensitive: Not guarded tonight / Blue bike: disabled / Red bike is no longer in the account
12:17 dusk removed

*It's me*: the bike is not guarded until it has stood, even across a restart.
ann 0, night red riders=ann, until 22, report alarm=shock, tap disarm, restart = disarmed, ann 500 = disarmed
ride 3, stand 10 = armed
22:01 critical: Red bike: Vibration / Alarm, Am Bach 3, 22:00
22:02 guard removed

*It's me* after the ride is over: the bike is guarded where it stands.
night red begins=12:05 follow=no, wait 5, ride 3, stand 12, tap disarm = armed
12:07 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:06
12:22 guard removed

*It's me* while the bike is shifted after the ride: it is guarded once it has stood.
night red begins=12:05 follow=no, wait 5, ride 3, stand 12, report meters=1500 motion=yes, tap disarm, stand 6 = armed
12:07 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:06
12:23 guard removed

*It's me* on a bike whose tracker the service disabled in the meantime.
night red follow=no, until 22, ride 1 = triggered, lock red, wait 1, tap disarm = disarmed
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:03 guard removed

What was disarmed by hand stays so until the next night begins, also after a restart.
night red, until 22, disarm, restart, wait 2 = disarmed, until 22 = armed, until 6 = disarmed
22:00 guard removed
22:00 time-sensitive: Red bike has not reported since 2026-11-20 12:00 / Red bike: guarded, but without contact since 2026-11-20 12:00. A theft would go unnoticed.
06:00 quiet: Red bike has not reported since 2026-11-20 12:00 / Red bike is at home, position from 2026-11-20 12:00, battery 80%.

An alarm is told, too, if a night began and a minute ends before the first update after a start.
night red begins=12:14 follow=no, arm, stand 8, stop, report alarm=vibration, wait 6, seconds 22, start, wait 2 = armed
12:17 critical: Red bike: Vibration / Alarm, Am Bach 3, 12:09

What was disarmed by hand is guarded again after a start if a night began before the start.
night red begins=12:05, disarm, restart 10, wait 2 = armed

What was disarmed by hand stays so until the next night begins, even if the last night ends only then.
ann 0, night red riders=ann ends=22:00, disarm, until 22, ann 500 = armed
22:00 guard removed

What a person or an automation armed stays so while somebody is near, also after *Guard again*.
ann 0, night riders=ann, arm, automate arm_away blue, report alarm=shock, tap arm, ann 10 = armed, = blue armed
until 6 = disarmed, = blue disarmed
12:03 critical: Red bike: Vibration / Alarm, Am Bach 3, 12:02
12:04 guard removed

*Guard again* by day: the night guard decides if it has riders. Otherwise, the bike stays armed, also after an outage.
ann 500, night red riders=ann begins=23:00, wait 4, report alarm=shock, tap arm = armed, ann 0 = disarmed
night red begins=23:00, tap arm, fail, wait 2, work, wait 5 = armed
12:07 critical: Red bike: Vibration / Alarm, Am Bach 3, 12:06
12:08 guard removed
12:10 guard removed

Without a night, what a person disarmed stays so until the end of a ride.
ann 0, night red riders=ann night_begins=none night_ends=none, disarm, ann 600, wait 4 = disarmed
ride 2, ann 1000, stand 9 = disarmed, ann 5000, wait 3 = armed

What a person or an automation armed or disarmed in an outage after the night began stays so, also after a restart.
arm, night begins=12:05, fail, wait 10, disarm, automate arm_away blue, restart, wait 10, work, wait 5 = disarmed
until 6 = disarmed, = blue armed
12:11 guard removed
12:16 time-sensitive: No contact with the tracking service / Blue bike: guarded, but without contact since 12:01. A theft would go unnoticed.
12:27 quiet: Contact with the tracking service again / Blue bike: guarded as before.

A tracker that was offline for a day when night begins is in one message, not in one for each night. It stays until contact is back.
offline red, until 13, night red, until 22 = armed, until 6, until 22 = armed
until 6, until 22 = armed, online red, stand 1
22:00 time-sensitive: Red bike has been offline since 2026-11-20 12:00 / Red bike: guarded, but without contact since 2026-11-20 12:00. A theft would go unnoticed.
06:00 quiet: Red bike has been offline since 2026-11-20 12:00 / Red bike is at home, position from 2026-11-20 12:00, battery 80%, its tracker is offline.
22:01 silent removed

What is triggered after the night began in an outage is not armed again for that night.
arm, night red begins=12:20 follow=no, stand 9, fail, wait 12, ride 4, stand 9, work, wait 6 = triggered
12:25 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 12:10. A theft would go unnoticed.
12:38 critical: Red bike is being moved / 2.0 km from where it stood, Roonstraße 12, 12:34
12:38 contact removed

A moved bike stays triggered if a night began and ended in an outage.
arm, ride 2, stand 9, night red begins=12:16 ends=12:20, fail, wait 9, work, wait 6 = triggered

A person's choice ends if a night began and ended in an outage.
ann 0, disarm, night red riders=ann begins=12:10 ends=12:14, stand 4, fail, wait 7, work, wait 6 = disarmed, ann 600, wait 3 = armed

What is triggered stays so until the next night, and is armed anew then. Its tracker may sleep where it stands.
night red follow=no, until 22, wait 30, ride 1, stand 9, until 6, restart, until 21 = triggered, until 22 = armed
22:31 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:30

A cat rings no alarm at breakfast, and at night none on phones that need not ring.
night red critical=no, until 22, report alarm=vibration, until 6 = disarmed, ride 10, stand 8
22:01 time-sensitive: Red bike: Vibration / Alarm, Am Bach 3, 22:00

A cat rings no alarm at breakfast after a tap on *Guard again*, even after *It's me*. It is no arming by hand.
night red, until 22, report alarm=vibration, tap arm = armed, tap disarm, tap arm, until 6 = disarmed, ride 10, stand 8
22:01 critical: Red bike: Vibration / Alarm, Am Bach 3, 22:00
22:02 guard removed
22:03 guard removed
22:04 guard removed

A thief who arrives after the night: the bike is guarded there, as was asked.
night red, until 22, until 5, wait 55, ride 2, tap arm, ride 5 = triggered, stand 10 = armed
report meters=5000 motion=yes = triggered
05:56 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 05:55
05:58 quiet: Red bike: Guard again / It will be guarded again once it has stood for five minutes.
06:06 critical: Red bike is being moved / Red bike is at Roonstraße 12, 3.5 km north of home, position from 06:05, battery 80%. It will be guarded again once it has stood for five minutes.
06:12 critical: Red bike has stopped / Red bike is at Roonstraße 12, 3.5 km north of home, position from 06:11, battery 80%, guarded.
06:14 critical: Red bike is being moved / 1.5 km from where it stood, Roonstraße 12, 06:13

*Guard again* on the dashboard while the bike moves: its message stays. With *Follow it*, the end of the ride replaces it.
night red, arm, report motion=yes, arm, stand 8 = armed, ride 2, arm, stand 10 = armed
night red follow=no, ride 2, arm, stand 10 = armed
12:02 critical: Red bike is being moved / The bike moves, Am Bach 3, 12:01
12:11 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:10
12:21 critical: Red bike has stopped / Red bike is at Roonstraße 12, 1.0 km north of home, position from 12:20, battery 80%, guarded.
12:23 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:22

A bike that no night guard is for any longer is disarmed. Other buttons change nothing.
night begins=12:00, wait 1, tap other = armed, = blue armed, night red begins=12:00 = blue disarmed, = armed

Two riders move the bike together.
ann 1112, ben 1112, night red riders=ann+ben begins=12:00, wait 2, report meters=1112 motion=yes
12:06 time-sensitive: Red bike is moving with ann, ben / 1.1 km from where it stood, Roonstraße 12, 12:05

While the rider stays with the moved bike, no message rings on a muted phone, even after *Guard again*.
ann 1112, ben 0, night red riders=ann+ben begins=12:00, wait 2, report meters=1112 motion=yes, ride 8, ann 5612, ride 1, tap arm, stand 9
12:06 time-sensitive: Red bike is moving with ann / 1.1 km from where it stood, Roonstraße 12, 12:05
12:16 time-sensitive: Red bike is moving with ann / Red bike is at Work, 5.6 km north of home, position from 12:15, battery 80%.
12:17 quiet: Red bike: Guard again / It will be guarded again once it has stood for five minutes.
12:25 time-sensitive: Red bike has stopped / Red bike is at Work, 5.6 km north of home, position from 12:24, battery 80%, guarded.

A phone of two night guards gets each message about a bike once. It rings only if none of them recognizes the rider.
ann 1112, night red critical=no begins=22:00 ends=22:00, night red also=yes riders=ann begins=22:00 ends=22:00
wait 1, report meters=1112 motion=yes, automate disarm, stand 1, automate, stand 7, ride 12, tap arm
12:04 time-sensitive: Red bike is moving with ann / 1.1 km from where it stood, Roonstraße 12, 12:03
12:05 guard removed
12:13 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:12
12:23 critical: Red bike is being moved / Red bike is at Roonstraße 12, 6.6 km north of home, position from 12:22, battery 80%.
12:25 quiet: Red bike: Guard again / It will be guarded again once it has stood for five minutes.

Every ten minutes where it is now is told, while that changes, until it is disarmed.
night red, until 22, ride 25, stand 30, automate disarm, wait 30
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:11 critical: Red bike is being moved / Red bike is at Work, 5.5 km north of home, position from 22:10, battery 80%.
22:21 critical: Red bike is being moved / Red bike is at Roonstraße 12, 10.5 km north of home, position from 22:20, battery 80%.
22:31 critical: Red bike is being moved / Red bike is at Roonstraße 12, 12.5 km north of home, position from 22:30, battery 80%.
22:34 critical: Red bike has stopped / 12.5 km from where it stood / Red bike is at Roonstraße 12, 12.5 km north of home, position from 22:33, battery 80%.
22:56 guard removed

The end of another guarded bike's ride tells no place of a moved one (defect 51).
night, until 22, ride 4, ride 3 red blue, ride 7 red stands=blue
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:05 critical: Blue bike is being moved / 500 m from where it stood, Roonstraße 12, 22:04
22:11 critical: Red bike is being moved / Red bike is at Work, 5.5 km north of home, position from 22:10, battery 80%.

The message that a bike stands has the distance, because it may come with the alarm if the tracker sleeps.
night red begins=12:05, stand 15, wait 59, report, wait 59, report meters=90, wait 59, report meters=90
15:16 critical: Red bike is being moved / 90 m from where it stood, Roonstraße 12, 15:15
15:16 critical: Red bike has stopped / 90 m from where it stood / Red bike is at home, position from 15:15, battery 80%.

A tracker slept before the thief rode on: the report that ends one ride and begins the next does not say that the bike stopped.
night red, until 22, ride 3, stand 1, tap arm, wait 20, ride 5
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:05 quiet: Red bike: Guard again / It will be guarded again once it has stood for five minutes.
22:11 critical: Red bike is being moved / Red bike is at Roonstraße 12, 1.5 km north of home, position from 22:03, battery 80%. It will be guarded again once it has stood for five minutes.
22:26 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:25

A guarded bike that is being moved when another night begins is still guarded where it stood.
night red begins=12:02, night red also=yes begins=12:07, stand 5, report meters=200, stand 5
12:08 critical: Red bike is being moved / 200 m from where it stood, Roonstraße 12, 12:07

Of a bike that only moved at home there is no more to tell than why.
night red, until 22, report motion=yes address=none, stand 30
22:01 critical: Red bike is being moved / The bike moves, test home, 22:00

The end of the owner's ride, which a later report shows, is not the arrival of a thief.
night red, ride 3, stand 1, arm, wait 20, report meters=1500 alarm=vibration
disarm, ride 3, stand 1, arm, wait 20, report meters=3000 motion=yes
12:26 critical: Red bike: Vibration / Alarm, Roonstraße 12, 12:25
12:27 guard removed
12:51 critical: Red bike is being moved / The bike moves, Roonstraße 12, 12:50

A bike that is ridden only a few meters after an alarm has not been moved.
night red, stand 2, arm, report alarm=vibration, report meters=45 motion=none speed=9, stand 12
12:04 critical: Red bike: Vibration / Alarm, Am Bach 3, 12:03

A moved bike is followed on after a restart, but the restart sends no place: the ten minutes begin with the start.
night red, until 22, ride 12, restart, ride 6, restart, ride 11
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:11 critical: Red bike is being moved / Red bike is at Work, 5.5 km north of home, position from 22:10, battery 80%.
22:30 critical: Red bike is being moved / Red bike is at Roonstraße 12, 14.0 km north of home, position from 22:29, battery 80%.

While its account is reloaded nothing is told, and nothing is taken away.
night red, until 22, ride 2, reload, ride 11
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:22 critical: Red bike is being moved / Red bike is at Roonstraße 12, 6.0 km north of home, position from 22:21, battery 80%.

While its account is unloaded, nothing is told, even if a night begins and a rider moves.
ann 500, night red riders=ann begins=12:24, wait 4, fail, wait 11, reload
12:27 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 12:06. A theft would go unnoticed.

A clock that was half a day ahead costs no night, and a moved bike is followed on.
clock 12, wait 1, night red, wait 1, disarm, clock -12, until 22 = armed, ride 2, clock -3, ride 13
12:03 guard removed
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
19:12 critical: Red bike is being moved / Red bike is at Roonstraße 12, 6.0 km north of home, position from 19:11, battery 80%.

A moved bike is followed, too, if the clock of its tracker is behind.
behind 3, night red begins=12:05, stand 8, ride 12
12:10 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:09
12:20 critical: Red bike is being moved / Red bike is at Work, 5.5 km north of home, position from 12:19, battery 80%.

After 15 minutes of an outage one message says that a theft would go unnoticed, and one that it is over.
new, night begins=12:05, wait 6, fail, wait 10, wait 30, work, wait 7
12:05 time-sensitive: Not guarded tonight / New bike: its place is not known
12:22 time-sensitive: No contact with the tracking service / Blue bike, Red bike: guarded, but without contact since 12:07. A theft would go unnoticed.
12:50 quiet: Contact with the tracking service again / Blue bike, Red bike: guarded as before.

A bike that is being moved is not called guarded, unlike one that is shaken.
night begins=12:02, wait 2, report blue alarm=vibration, report meters=300 motion=yes, fail, wait 20, work, wait 3
12:04 critical: Blue bike: Vibration / Alarm, Am Bach 3, 12:03
12:05 critical: Red bike is being moved / 300 m from where it stood, Roonstraße 12, 12:04
12:20 time-sensitive: No contact with the tracking service / Blue bike: guarded, but without contact since 12:05. A theft would go unnoticed. / Red bike is at Roonstraße 12, 0.3 km north of home, position from 12:04, battery 80%, being moved, the service does not answer at the moment.
12:28 quiet: Contact with the tracking service again / Blue bike: guarded as before.

A message about an outage also comes for a single bike that is being moved. After a restart, its last place is in the database.
night red begins=12:02, wait 3, report meters=300 motion=yes, fail, wait 2, restart, wait 20, work, wait 5
12:05 critical: Red bike is being moved / 300 m from where it stood, Roonstraße 12, 12:04
12:23 time-sensitive: No contact with the tracking service / Red bike is at Roonstraße 12, 0.3 km north of home, position from 12:04, battery 80%, being moved, the service does not answer at the moment.
12:33 contact removed

After a restart in an outage the phone is told once, and of its end.
night red, until 22, stand 2, fail, wait 5, restart, wait 27, restart, wait 20, work, restart, wait 2 = armed
22:17 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 22:02. A theft would go unnoticed.
22:57 quiet: Contact with the tracking service again / Red bike: guarded as before.

A theft in an outage is noticed even if Home Assistant starts after the night.
night red begins=12:05 ends=12:50, stand 18, fail, wait 3, restart 1, ride 2, report meters=1000 speed=0, wait 38, restart 1, work, wait 12 = triggered
12:38 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 12:19. A theft would go unnoticed.
12:58 contact removed
13:06 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:23

A first ride of the morning in an outage after a restart rings no alarm.
night red begins=12:05 ends=12:50, stand 18, fail, wait 3, restart 1, wait 40, ride 2, report meters=1000 speed=0, wait 8, restart 1, work, wait 12 = disarmed
12:38 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 12:19. A theft would go unnoticed.
12:58 contact removed

A silence that ended while the clock was ahead does not make the next one wait.
night red begins=12:05 ends=23:00, stand 8, offline red, wait 20, clock 9, online red, stand 1, clock -9, stand 3, offline red, wait 18
12:25 time-sensitive: Red bike has been offline since 12:10 / Red bike: guarded, but without contact since 12:10. A theft would go unnoticed.
21:30 silent removed
12:49 time-sensitive: Red bike has been offline since 12:34 / Red bike: guarded, but without contact since 12:34. A theft would go unnoticed.

A night guard that is no longer for a silent bike removes its message.
night red begins=12:05 ends=14:00, stand 15, wait 85, until 14, night blue begins=12:05 ends=14:00, wait 2
13:31 time-sensitive: Red bike has not reported since 12:15 / Red bike: guarded, but without contact since 12:15. A theft would go unnoticed.
14:00 quiet: Red bike has not reported since 12:15 / Red bike is at home, position from 12:15, battery 80%.
14:00 silent removed

A thief pulls the plug: a tracker that falls silent under way has not stopped. This is told once, until contact is back.
night red follow=no, until 22, ride 3, offline red, wait 60, online red, ride 2
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:33 critical: Red bike has been offline since 22:02 / 1.5 km from where it stood / Red bike is at Roonstraße 12, 1.5 km north of home, position from 22:02, battery 80%, its tracker is offline, was moved.
23:04 quiet: Red bike: Being moved / Red bike is at Roonstraße 12, 2.0 km north of home, position from 23:03, battery 80%.

A thief pulls the plug where the stolen bike stands: this is told once, until contact is back, also to a night guard that does not follow it.
night red, night red also=yes follow=no, until 22, ride 2, stand 10, offline red, wait 20, restart, wait 5
online red, stand 1, offline red, wait 56
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:11 critical: Red bike has stopped / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 22:10, battery 80%.
22:28 time-sensitive: Red bike has been offline since 22:13 / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 22:11, battery 80%, its tracker is offline, was moved.
22:39 quiet: Red bike: Was moved / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 22:38, battery 80%.
23:32 time-sensitive: Red bike has been offline since 22:40 / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 22:38, battery 80%, its tracker is offline, was moved.

A stolen bike whose tracker was cut off is told of by a night guard that is for it only later. Contact while it moves is told once.
arm, night blue, ride 2, stand 10, offline red, wait 60, night red, wait 2, online red, stand 1, offline red, wait 130, online red, ride 1
13:14 time-sensitive: Red bike has been offline since 12:14 / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 12:12, battery 80%, its tracker is offline, was moved.
13:16 quiet: Red bike: Was moved / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 13:15, battery 80%.
15:20 time-sensitive: Red bike has been offline since 13:17 / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 13:15, battery 80%, its tracker is offline, was moved.
15:27 critical: Red bike is being moved / Red bike is at Roonstraße 12, 1.5 km north of home, position from 15:26, battery 80%.

A stolen bike that leaves the account: this is told once, and its buttons work.
night red follow=no, until 22, ride 2, leave red, wait 18, restart, wait 20
tap disarm, tap arm, assign red, wait 1 = armed
22:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 22:00
22:18 time-sensitive: Red bike is no longer in the account / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 22:01, battery 80%, was moved.
22:42 guard removed
22:43 quiet: Red bike: Guard again / Red bike is no longer in the account

A bike that is on its way with its guard triggered is not guarded, which is told each night. Without `follow`, no more is.
night red begins=12:05 follow=no, automate, ride 25, stand 10, until 12, automate, ride 25
12:02 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:01
12:05 time-sensitive: Not guarded tonight / Red bike: being moved, its alarm is still on
12:35 dusk removed
12:01 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:00
12:05 time-sensitive: Not guarded tonight / Red bike: being moved, its alarm is still on

The message about unguarded bikes is removed when the last one can be guarded: a new bike has a place, a person disarmed the other.
new, night begins=12:05, automate, ride 5 red = triggered, place new, wait 1 = new armed, disarm, wait 1
12:02 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:01
12:05 time-sensitive: Not guarded tonight / New bike: its place is not known / Red bike: being moved, its alarm is still on
12:07 quiet: Not guarded tonight / Red bike: being moved, its alarm is still on
12:08 dusk removed
12:08 guard removed

A bike that cannot be guarded for a while is guarded and named again, also after a restart.
night begins=12:05, lock blue, wait 5 = blue disarmed, unlock blue, restart 10, wait 2 = blue armed
lock blue, wait 1, night begins=12:20, wait 5, lock red, wait 1, night begins=12:27, wait 4
12:05 time-sensitive: Not guarded tonight / Blue bike: disabled
12:16 dusk removed
12:20 time-sensitive: Not guarded tonight / Blue bike: disabled
12:25 dusk removed
12:27 time-sensitive: Not guarded tonight / Blue bike: disabled / Red bike: disabled

The message about unguarded bikes is removed when the night guard is not for them any more.
lock blue, night begins=12:05, wait 5, night red begins=12:05, wait 1
12:05 time-sensitive: Not guarded tonight / Blue bike: disabled
12:06 dusk removed

Each night guard of a bike names it when its night begins, and removes its message.
new, night begins=12:05, night red also=yes begins=12:05, night also=yes begins=12:08 ends=12:12, wait 14, place new, wait 1 = new armed
12:05 time-sensitive: Not guarded tonight / New bike: its place is not known
12:08 time-sensitive: Not guarded tonight / New bike: its place is not known
12:12 dusk removed
12:16 dusk removed

A thief who arrives after the night that began with an alarm: the bike is guarded there.
night red begins=12:05 ends=12:08 follow=no, automate, ride 10 = triggered, stand 9 = armed
12:02 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:01
12:05 time-sensitive: Not guarded tonight / Red bike: being moved, its alarm is still on
12:08 dusk removed

A bike that was on a ride when the outage began is named as not guarded.
night red begins=12:05, ride 10, fail, wait 20
12:26 time-sensitive: No contact with the tracking service / Red bike: Not guarded

Of two bikes that should be guarded, the other one is told of.
night begins=12:05, wait 6, automate disarm, offline blue, wait 20
12:08 guard removed
12:23 time-sensitive: Blue bike has been offline since 12:08 / Blue bike: guarded, but without contact since 12:08. A theft would go unnoticed.

Each silence of a guarded bike is told once, until contact is back, whatever comes of another one.
night begins=12:02, stand 12 red blue, stand 20 blue, wait 60, stand 1, wait 25, wait 60
13:28 time-sensitive: Red bike has not reported since 12:12 / Red bike: guarded, but without contact since 12:12. A theft would go unnoticed.
13:34 silent removed
13:48 time-sensitive: Blue bike has not reported since 12:32 / Blue bike: guarded, but without contact since 12:32. A theft would go unnoticed.

A tracker that reported while the bike stood falls silent right after the bike was armed. After a ride, it may sleep.
night begins=12:25, ride 2, stand 16, ride 2 blue stands=red, stand 8 red blue = armed, wait 80 = blue armed
13:44 time-sensitive: Red bike has not reported since 12:28 / Red bike: guarded, but without contact since 12:28. A theft would go unnoticed.

A tracker that reports each twelve hours while the bike stands is in a message once a week, not each night.
night red, until 22, until 23, stand 1, until 1, until 11, stand 1, until 22, until 23, stand 1, until 11, stand 1
until 22, until 23, stand 1, until 11, stand 1, until 22, until 23, stand 1, until 11, stand 1, until 22, until 23, stand 1, until 11, stand 1
until 22, until 23, stand 1, until 11, stand 1, until 22, until 23, stand 1, until 11, stand 1, until 22, until 23, stand 1, until 11, stand 1
until 22, until 23, stand 1, until 1
01:00 time-sensitive: Red bike has not reported since 2026-11-20 23:00 / Red bike: guarded, but without contact since 2026-11-20 23:00. A theft would go unnoticed.
11:00 quiet: Red bike has not reported since 2026-11-20 23:00 / Red bike is at home, position from 2026-11-20 23:00, battery 80%.
11:01 silent removed
01:00 time-sensitive: Red bike has not reported since 2026-11-28 23:00 / Red bike: guarded, but without contact since 2026-11-28 23:00. A theft would go unnoticed.

A tracker that reports each minute after a silence does not sleep, so the next night, a silence of an hour is in a message again.
night red, until 22, stand 12, until 1, stand 2, until 11, stand 62, until 22, stand 12, until 0
01:00 time-sensitive: Red bike has not reported since 2026-11-20 22:11 / Red bike: guarded, but without contact since 2026-11-20 22:11. A theft would go unnoticed.
01:01 silent removed
00:00 time-sensitive: Red bike has not reported since 2026-11-21 22:11 / Red bike: guarded, but without contact since 2026-11-21 22:11. A theft would go unnoticed.

A tracker that reports each hour, a bit late now and then, is in no message.
night red, until 22, stand 12, wait 60, stand 1, wait 62, stand 1, wait 64, stand 1, wait 60

A tracker that sleeps leaves the account: this does not count as sleep.
night red, until 22, stand 12, until 1, stand 2, leave red, wait 17, until 6
01:00 time-sensitive: Red bike has not reported since 2026-11-20 22:11 / Red bike: guarded, but without contact since 2026-11-20 22:11. A theft would go unnoticed.
01:01 silent removed
01:18 time-sensitive: Red bike is no longer in the account / Red bike: guarded, but without contact since 01:03. A theft would go unnoticed.
06:00 quiet: Red bike is no longer in the account / Red bike is at home, position from 01:01, battery 80%.

A tracker that reports for an hour at rest after a silence is not in another message that night until its silence is twice as long.
night red, until 22, until 23, stand 1, until 1, stand 70, wait 115
01:00 time-sensitive: Red bike has not reported since 2026-11-20 23:00 / Red bike: guarded, but without contact since 2026-11-20 23:00. A theft would go unnoticed.
01:01 silent removed

A tracker that was silent before the theft is in a message as soon as the thief cuts it off.
night red follow=no, until 22, until 23, stand 1, until 1, stand 1, ride 2, stand 10, offline red, wait 17
01:00 time-sensitive: Red bike has not reported since 2026-11-20 23:00 / Red bike: guarded, but without contact since 2026-11-20 23:00. A theft would go unnoticed.
01:01 silent removed
01:02 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 01:01
01:29 time-sensitive: Red bike has been offline since 01:14 / 1.0 km from where it stood / Red bike is at Roonstraße 12, 1.0 km north of home, position from 01:12, battery 80%, its tracker is offline, was moved.

A tracker that fell silent before the bike was armed may sleep, even if it reported at rest before.
night red begins=12:52, ride 2, stand 16, wait 102 = armed

A guarded bike that the service disables is named once it is silent.
night begins=12:02, stand 12 red blue, lock blue, stand 80
13:28 time-sensitive: Blue bike: disabled / Blue bike: guarded, but without contact since 12:12. A theft would go unnoticed.

A bike that left the account with its guard on is not among those that are told of.
night begins=12:05, wait 6, leave blue, wait 1, fail, wait 20
12:23 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 12:08. A theft would go unnoticed.

Nobody is told that a bike is guarded that a person or an automation disarmed before an outage.
night begins=12:00, wait 2, disarm, automate disarm blue, wait 1, fail, wait 20, work, wait 7 = disarmed, = blue disarmed
12:04 guard removed
12:04 guard removed

The message about an outage follows its bikes. It is urgent if a bike or its state is new.
new, wait 2, automate arm_away blue, night begins=12:40 ends=12:50, fail, wait 42, automate disarm blue, wait 6, until 12, wait 45, automate, wait 2
12:18 time-sensitive: No contact with the tracking service / Blue bike: guarded, but without contact since 12:03. A theft would go unnoticed.
12:40 time-sensitive: No contact with the tracking service / Blue bike: guarded, but without contact since 12:03. A theft would go unnoticed. / Red bike: Not guarded
12:46 guard removed
12:46 quiet: No contact with the tracking service / Red bike: Not guarded
12:50 contact removed
12:40 time-sensitive: No contact with the tracking service / Blue bike, Red bike: Not guarded
12:46 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 2026-11-20 12:03. A theft would go unnoticed. / Blue bike: Not guarded

Each time a rider leaves a bike in an outage, a message says so.
ann 0, night red riders=ann begins=23:00, fail, wait 1, ann 600, wait 16, ann 0, wait 1, ann 600, wait 1, ann 0, work, wait 6
12:17 time-sensitive: No contact with the tracking service / Red bike: Not guarded
12:20 contact removed
12:22 time-sensitive: No contact with the tracking service / Red bike: Not guarded
12:24 contact removed

A night guard sends nothing about a bike that is not its own.
night blue begins=12:05, automate, offline red, wait 20

Trackers that fall silent within five minutes are one message.
night begins=12:02, stand 12 red blue, stand 5 blue, wait 71, restart, wait 2, automate disarm, wait 3
13:28 time-sensitive: Bikes: No contact / Blue bike has not reported since 12:17 / Red bike has not reported since 12:12 / Blue bike, Red bike: guarded, but without contact since 12:12. A theft would go unnoticed.
13:33 quiet: Blue bike has not reported since 12:17 / Blue bike: guarded, but without contact since 12:17. A theft would go unnoticed.
13:33 guard removed

A message about a later silence replaces the first. Both bikes are told of again after they were armed again.
night begins=12:02, stand 12 red blue, stand 6 blue, wait 76
offline blue, offline red, automate disarm, automate, wait 20
13:28 time-sensitive: Red bike has not reported since 12:12 / Red bike: guarded, but without contact since 12:12. A theft would go unnoticed.
13:34 time-sensitive: Bikes: No contact / Blue bike has not reported since 12:18 / Red bike has not reported since 12:12 / Blue bike, Red bike: guarded, but without contact since 12:12. A theft would go unnoticed.
13:36 quiet: Blue bike has not reported since 12:18 / Blue bike: guarded, but without contact since 12:18. A theft would go unnoticed.
13:36 guard removed
13:51 time-sensitive: Bikes: No contact / Blue bike has been offline since 13:36 / Red bike has been offline since 13:36 / Blue bike, Red bike: guarded, but without contact since 13:36. A theft would go unnoticed.

A guarded bike that leaves the account is in one message. A bike that returns, or that a user deletes, is in none.
night begins=12:02, wait 3, leave blue, wait 10, assign blue, wait 3, leave blue, wait 15
wait 20, leave red, wait 2, delete red, wait 20
12:33 time-sensitive: Blue bike is no longer in the account / Blue bike: guarded, but without contact since 12:18. A theft would go unnoticed.

A bike that is unlisted when a night begins is named, and guarded when it returns. After the night, it is disarmed when it returns.
night begins=12:05 ends=12:15, automate disarm blue, leave blue, wait 5, assign blue, wait 1 = blue armed
leave blue, wait 9, assign blue, wait 1 = blue disarmed
12:05 time-sensitive: Not guarded tonight / Blue bike is no longer in the account
12:07 dusk removed

The owner takes a bike along that leaves the account. *It's me* disarms it, even if Home Assistant restarts before the bike returns.
night red begins=12:02, wait 3, report meters=90 motion=yes, leave red, wait 1, tap disarm, reload, assign red, wait 1 = disarmed
12:05 critical: Red bike is being moved / 90 m from where it stood, Roonstraße 12, 12:04
12:07 guard removed

If the bike's device is deleted instead, the bike is a new one when it returns, and is guarded.
night red begins=12:02, wait 3, report meters=90 motion=yes, leave red, wait 1, tap disarm, delete red, wait 1, assign red, report meters=90, stand 5 = armed
12:05 critical: Red bike is being moved / 90 m from where it stood, Roonstraße 12, 12:04
12:07 guard removed

A thief cuts the tracker off after an alarm. Contact ends the message. The tracker may sleep, so its next silence must be twice as long.
night begins=12:02, stand 15 red blue, report alarm=powerCut, offline red, offline blue, wait 20, online blue, stand 1 blue, online red, stand 1
offline red, wait 43
12:17 critical: Red bike: Power cut / Alarm, Am Bach 3, 12:16
12:33 time-sensitive: Bikes: No contact / Blue bike has been offline since 12:18 / Red bike has been offline since 12:18 / Blue bike, Red bike: guarded, but without contact since 12:18. A theft would go unnoticed.
12:38 quiet: Red bike has been offline since 12:18 / Red bike: guarded, but without contact since 12:18. A theft would go unnoticed.
12:39 silent removed
13:22 time-sensitive: Red bike has been offline since 12:40 / Red bike: guarded, but without contact since 12:40. A theft would go unnoticed.

Of a bike whose device a person disabled nothing is told, not even in an outage, and it is not guarded.
disable blue, night begins=12:00, wait 2 = armed
report meters=1100 motion=yes, report blue meters=1100 motion=yes, fail, wait 20
12:04 critical: Red bike is being moved / 1.1 km from where it stood, Roonstraße 12, 12:03
12:20 time-sensitive: No contact with the tracking service / Red bike is at Roonstraße 12, 1.1 km north of home, position from 12:03, battery 80%, being moved, the service does not answer at the moment.
"""


@pytest.mark.parametrize(("script", "told"), stories(NIGHTS))
async def test_nights(night: Night, script: str, told: list[str]) -> None:
    """In each story, the guards have the expected states, and the phone gets the expected messages. Nothing is remembered of deleted bikes."""
    await night.async_tell(script)
    assert night.told == told
    content = night.entry.runtime_data.coordinator.database.content
    gone = {*BIKES.values()} - content.states.keys()
    assert not [it for it in gone if it in str(content.sent)]


LATE = """
A bike that is moved in an outage in which the night begins is still guarded where it stood.
arm, night red begins=12:20, stand 5, fail, wait 3, report meters=500, wait 15, report meters=500, work, wait 5
12:21 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 12:06. A theft would go unnoticed.
12:29 quiet: Contact with the tracking service again / Red bike: guarded as before.
12:29 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:25
12:29 critical: Red bike has stopped / 500 m from where it stood / Red bike is at Roonstraße 12, 0.5 km north of home, position from 12:25, battery 80%.

If an outage hid several rides of a thief, the phone gets only the last place where the bike stopped.
night red, until 22, fail, ride 3, stand 9, ride 3, stand 9, work, wait 20
22:15 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 22:00. A theft would go unnoticed.
22:28 critical: Red bike is being moved / 3.0 km from where it stood, Roonstraße 12, 22:23
22:28 contact removed
22:28 critical: Red bike has stopped / 3.0 km from where it stood / Red bike is at Roonstraße 12, 3.0 km north of home, position from 22:23, battery 80%.

A bike that is ridden again is guarded at night where it stood, though its tracker slept there. So the owner's ride rings, too. A red light or, by day, a silent tracker changes nothing.
ann 0, night red riders=ann, ride 3, stand 1, wait 20, ride 5 = disarmed, night red begins=12:30, stand 1, wait 3, ride 3 = disarmed
stand 1, wait 20, ride 4 = triggered, tap disarm, stand 1, wait 20, now alarm=shock = triggered
13:00 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:59
13:04 guard removed
13:25 critical: Red bike: Vibration / Alarm, Roonstraße 12, 13:25

If an outage hid the begin of the night and two rides, the bike is guarded where it stood in between. When contact is back, the night guard first disarms the bike, because it is on its second ride.
night red begins=12:05, fail, wait 3, ride 1, stand 9, ride 3, work, wait 6 = triggered
12:16 time-sensitive: No contact with the tracking service / Red bike: Not guarded
12:19 contact removed
12:19 critical: Red bike is being moved / 500 m from where it stood, Roonstraße 12, 12:14
"""


@pytest.mark.parametrize(("script", "told"), stories(LATE))
async def test_late_history(night: Night, script: str, told: list[str]) -> None:
    """The messages are the same, whether or not the answer of the history needs a minute more. Their times are not."""
    await night.async_tell(script)
    assert [it[6:] for it in night.told] == [it[6:] for it in told]


async def test_time_zone(night: Night) -> None:
    """If the user changes the time zone, the night begins and ends by the new time."""
    await night.async_tell("night red, wait 2 = disarmed")
    change = night.hass.config.async_update
    # It is 21:03 in Tokyo, and an hour later 14:01 in Berlin.
    await change(time_zone="Asia/Tokyo")
    await night.async_tell("wait 55 = disarmed, wait 2 = armed")
    await change(time_zone="Europe/Berlin")
    await night.async_tell("wait 1 = disarmed")


@pytest.mark.parametrize(
    ("times", "before", "after"),
    [
        ("begins=02:30", "disarmed", "armed"),
        ("begins=00:30 ends=02:30", "armed", "disarmed"),
    ],
)
async def test_spring(night: Night, times: str, before: str, after: str) -> None:
    """A night begins and ends even if its time does not exist, because clocks are set forward in spring."""
    await night.hass.config.async_update(time_zone="Europe/Berlin")
    # It is 1:00 on March 28, an hour before 3:00.
    await night.async_tell(f"clock 3060, night red {times}, wait 1 = {before}")
    await night.async_tell(f"until 1, wait 1 = {after}")


CUT_OFF = """
A theft in an outage in which the night ended, and a restart of the account.
night red begins=12:05 ends=12:30, stand 9, fail, wait 3, ride 2, stand 9, wait 6 = disarmed, reload, work, wait 9 = triggered

A ride in an outage, after the night ended in it.
night red begins=12:05 ends=12:20, stand 9, fail, wait 12 = disarmed, ride 2, stand 9, work, wait 9 = disarmed

The same with trackers whose clocks fell behind by hours, or always were behind.
behind 3, night red begins=12:05 ends=12:20, stand 9, fail, wait 12 = disarmed, ride 2, stand 9, work, wait 9 = disarmed
behind 1, until 14, stand 5, night red begins=14:05 ends=14:20, stand 9 = armed, fail, wait 12 = disarmed, ride 2, stand 9, work, wait 9 = disarmed

A theft in an outage, after the night began in it, with a clock that always was behind: the bike is not armed where the thief left it.
behind 1, until 14, stand 5, arm, night red begins=14:20 ends=14:59, stand 3, fail, wait 15, ride 1, stand 12, work, wait 9 = triggered

A theft in an outage, far from the riders. After it, the night guard arms the bike before the history shows the theft.
ann 0, night red riders=ann begins=12:05 ends=12:30, stand 9 = armed, fail, wait 3, ride 4, stand 20 = disarmed, work, wait 6 = triggered, arm = armed

A theft in an outage, in which a person disarmed the bike after the night.
night red begins=12:05 ends=12:30, stand 9, fail, wait 3, ride 2, stand 18 = disarmed, disarm, work, wait 9 = disarmed

A theft while the tracker was silent. Later, it sends the report about it.
night red begins=12:05 ends=12:50, stand 14, offline red, wait 25
report is_buffered=yes motion=yes speed=16 meters=500, wait 10 = disarmed
online red, ride 1, stand 9, wait 9 = triggered

A theft while the account does not list the bike.
night red begins=12:05 ends=12:30, stand 9, leave red, wait 2, ride 3, stand 18, assign red, wait 9 = triggered

A ride just after the night, with a clock that is three minutes behind.
behind 0.05, night red begins=12:05 ends=12:20, stand 19 = disarmed, ride 6, stand 9 = disarmed

A theft in the last minutes of the night. Without reception, the tracker sends the report about it later.
night red begins=12:05 ends=12:20, stand 17, report is_buffered=yes motion=yes speed=16 meters=500, wait 5 = disarmed
restart, ride 1, stand 9, wait 9 = triggered

A ride after the night, while Home Assistant was not running.
night red begins=12:05 ends=12:20, stand 9, stop, wait 12, ride 2, stand 9, start, wait 9 = disarmed

A theft after the night, while Home Assistant was not running. A person had armed the bike.
night red begins=12:05 ends=12:20, stand 9, arm, stop, wait 12, ride 2, stand 9, start, wait 9 = triggered

The same while all riders are away.
ann 2000, night red riders=ann begins=12:05 ends=12:20, stand 9, stop, wait 12, ride 2, stand 9, start, wait 9 = triggered

The own ride between two nights.
night red begins=12:05 ends=12:20, night red also=yes begins=12:50 ends=13:00, stand 9, stop, wait 12, ride 2, stand 9, start, wait 9 = disarmed

A theft in the night, while Home Assistant was not running until after the night.
night red begins=12:05 ends=12:30, stand 9, stop, wait 3, ride 2, stand 18, start, wait 9 = triggered

A theft after *Guard again*, in an outage and while Home Assistant was not running. The night ended earlier in this outage.
night red begins=12:05 ends=12:30 follow=no, stand 9, ride 1, stand 13, fail, wait 20, tap arm = armed, restart, ride 2, work, wait 2 = triggered

A theft at night that the tracker reports nine minutes later, after the night.
night red begins=12:05 ends=12:20, stand 5, wait 16 = disarmed, behind 0.15, ride 1 = triggered
"""


@pytest.mark.parametrize(("script", "_told"), stories(CUT_OFF))
async def test_late_reports(night: Night, script: str, _told: list[str]) -> None:
    """If older reports show that a bike was moved before the night ended, its guard is triggered, though it is disarmed."""
    await night.async_tell(script)


async def test_no_night_guard(night: Night) -> None:
    """If no night guard is for a bike, its guard stays armed after a day without Home Assistant: an automation of 2.0 armed it."""
    await night.async_tell("night blue")
    coordinator = night.entry.runtime_data.coordinator
    if changes := coordinator.data.arm(RED, dt_util.utcnow()):
        coordinator.async_set_changes(changes)
    await night.async_tell("restart 1500, wait 2 = armed")
