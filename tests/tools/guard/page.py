"""docs/guard.md: what triggers a guard, and what it makes of nights whose truth is known."""

from collections import Counter

from tests.tools.tables import DATA, DOCS, as_markdown, with_usual_ones_together

from .nights import CARRIED, CASES, NEVER, NIGHTS, Case, found_in

PAGE = DOCS / "guard.md"
TABLE = DATA / "guard.csv"
HEAD = (
    "World",
    f"False alarms in {NIGHTS} nights",
    "Carried off",
    "Carried, says it moves",
    "In a van",
    "Ridden off",
)

_PAGE = """\
# The guard of a bike

*Guard* watches a parked bike for you. Arm it when you leave the bike, with a tap or by an automation, and when somebody moves it Home
Assistant knows and can wake you: why, how far, where and when.

**What it does:**

- It is triggered when the bike is somewhere else, begins to move, or its tracker raises an alarm. That shows as *Being moved* on its page, and
  fires the trigger *Guard of bike tracker triggered*.
- It stays so until you disarm it or arm it again; a bike that is armed again is guarded where it is then.
- It is there in an outage too, and after a restart it is as it was. What happened meanwhile triggers it with the first answer.

**What it cannot do:**

- It locks nothing, and changes nothing at the tracking service.
- It knows what the tracker reports. One that is switched off, or has no reception, triggers nothing: have yourself told of trackers that
  are [offline or silent](automations.md#triggers) too.
- It is as quick as the tracker. With a report each minute it triggers with the first that says that the bike moves, with the second of a
  bike that is carried; a tracker that sleeps until it is shaken reports at once, if it notices.
- A bike that is carried off less than 50 to 150 meters, and that its tracker says stands, is not noticed.
- A bike that somebody takes within five minutes of its arrival is noticed only if its tracker says that it moves.

## What triggers it

- **Place:** the bike is somewhere else. That is farther from where it was armed than both positions may be wrong: three times
  their accuracies, at least 50 meters, and at least 150 where the tracker does not report its accuracy, or is known to be
  wrong by more than it says. If the report says that the bike moves (it says so, or 3 km/h and more), or if that is a
  kilometer farther still and can be reached by now, the first such report is enough. Otherwise the second one in a row is:
  if the report says that the bike stands, only one that is at the same place, or the third. Where positions of a bike that
  stood were about as far off for minutes and came back, as indoors, it takes ten minutes: there in the last seven days, or at
  two places, as that is the tracker's own way.
- **Motion:** the tracker says that the bike moves, after it said that it does not.
- **Alarm:** the tracker raises an alarm of the type vibration, movement, tow, tampering, removing, power cut, left an area, or
  signal jamming. It counts by the time of its message.

What was measured before the bike was armed triggers nothing, whenever it comes. A report of a tracker whose clock is ahead is as
old as the service has it. A bike that is armed as it arrives is guarded where it comes to stand within five minutes; until then
only motion and alarms trigger. If its arrival was not reported, it is guarded where it is reported next.

What happens during an outage, or while Home Assistant is off, triggers with the first answer: the guard comes back as it was and
is triggered right after, so that automations see it. What the service's history has of that time counts as if it had come in
time: a bike that was ridden away and brought back triggers, and one that was only moved where it stands.

## Figures

A tracker that reports each minute, also while the bike stands. It is armed half a minute after it arrives, or within two hours,
for {nights} nights, and ridden off in the morning. Each night it is also carried off by {carried} meters, once by somebody of whom
the tracker says that the bike stands, and once by somebody of whom it says that it moves; and it is driven off in a van. The command
`.venv/test/bin/python -m tests.tools.guard` measures it again and writes this page. The numbers say with which report the guard is
triggered: the median and the worst.

{table}

Each world has its line in [a table](data/guard.csv).
In the last worlds the bike that was carried off is the same each night, brought back and guarded again; the house's clock is eight
hours behind or ahead, and put right a minute before the bike is armed or ten minutes after; and a thief who fails moves the bike on
the spot while the service is down (under *Carried off*: the first poll after the outage).

Where it takes more than two reports, a guard that believed sooner would cry wolf, and whoever is woken for nothing three times disarms
it. So this is accepted:

- **Noise of 30 meters without an accuracy:** the seventh report in one night. A bike that was carried off by {carried} meters is then
  hardly farther away than the 150 meters that fixes of such a tracker may be off, and one that falls within them begins anew.
- **Spikes:** the third report where the second one jumped: of two fixes that are far off in different directions both may be
  wrong.
- **Strays indoors:** the eleventh report of a bike that was carried off and is said to stand. Walls that reflect the signals put
  a parked bike {carried} meters away for minutes, with fixes that look no different; what stays there for ten minutes was carried.
  Ridden off, it is told with the first report or the next.
- **A tracker that always says that the bike stands:** the third report of a ride, or the fourth if the first one is not far
  enough away. Each is at another place than the one before, as spikes are.
- **Tunnels, reports that come late:** *never* is before it arrives. Of a ride that takes no longer than the tunnel nothing is heard
  before: the reports of its arrival tell.

Over a live connection Home Assistant shows it some [milliseconds](benchmarks.md#live) after the report.

## What it cannot tell

- A bike that is armed where it is not: if not even a report under way arrived, that of its arrival looks as if it had been
  carried off.
- A tracker whose positions stay a house or two away for minutes, for the first time: that looks as if it had been carried there.
- A tracker whose clock is behind, for that long after the bike was armed: its reports look like old ones that come late.
"""


def measure() -> list[list[str]]:
    """Measure all worlds, and return a row of each."""
    return [_row(case) for case in CASES]


def page(rows: list[list[str]]) -> str:
    """Return the whole page, of what was measured."""
    table = as_markdown(HEAD, with_usual_ones_together(rows)).rstrip()
    return _PAGE.format(nights=NIGHTS, carried=CARRIED, table=table)


def _row(case: Case) -> list[str]:
    found = found_in(case)
    thefts = (found.carried, found.says_so, found.driven, found.ridden)
    return [case.world.name, str(found.false_alarms), *map(_triggered_with, thefts)]


def _triggered_with(with_report: Counter[int]) -> str:
    """Return with which report it was triggered as a rule, and at worst."""
    times = with_report.total()
    never = with_report[NEVER]
    numbers = sorted(number for number in with_report.elements() if number != NEVER)
    if not numbers:
        return "never"
    told = f"{numbers[len(numbers) // 2]}, {numbers[-1]}"
    return f"{told}; never {never} of {times}" if never else told
