"""Counts what a piece of work does, and says what is not as it has to be."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.const import EVENT_STATE_CHANGED, EVENT_STATE_REPORTED
from homeassistant.core import Event, HomeAssistant, callback

from .home import count_rows, settle
from .results import Finding
from .scenarios import SCENARIOS, SET_UP
from .service import Service


async def count(
    hass: HomeAssistant, service: Service, work: Callable[[], Awaitable[Any]]
) -> dict[str, float]:
    """Do the work and count. That costs, so what is counted is not timed.

    `changed` are `state_changed` events, `written` all states written, `different` entities that show something else than
    before, `rows` states in the recorder's database.
    """
    changed = reported = 0

    @callback
    def note_changed(_: Event[Any]) -> None:
        nonlocal changed
        changed += 1

    @callback
    def note_reported(_: Event[Any]) -> None:
        nonlocal reported
        reported += 1

    rows = await count_rows(hass)
    before = states(hass)
    service.do("count")
    listeners = (
        hass.bus.async_listen(EVENT_STATE_CHANGED, note_changed),
        hass.bus.async_listen(
            EVENT_STATE_REPORTED, note_reported, event_filter=callback(lambda _: True)
        ),
    )
    await work()
    await settle(hass)
    for remove in listeners:
        remove()
    return {
        "requests": service.do("count"),
        "changed": changed,
        "written": changed + reported,
        "different": len(states(hass).items() - before.items()),
        "rows": await count_rows(hass) - rows,
    }


def states(hass: HomeAssistant) -> dict[str, str]:
    """Return what each entity shows."""
    return {
        state.entity_id: f"{state.state} {state.attributes}"
        for state in hass.states.async_all()
    }


@dataclass(frozen=True, slots=True)
class _Habit:
    """What one kind of work makes of a fleet of which some trackers report."""

    requests: int
    changed: int = 0
    """`state_changed` events per tracker, whether it reports or not."""
    more_changed: int = 0
    """And how many more per tracker that reports."""
    written: int = 0
    """States written per tracker."""
    more_written: int = 0
    different: int = 0
    """Entities that have another value, per tracker that reports."""

    def expected(self, trackers: int, reporting: int) -> dict[str, int]:
        changed = self.changed * trackers + self.more_changed * reporting
        return {
            "requests": self.requests,
            "changed": changed,
            "written": self.written * trackers + self.more_written * reporting,
            "different": self.different * reporting,
            "rows": changed,
        }


# A tracker that reports has another place, status and last update: three of five entities. The last update of the
# integration follows in steps of five minutes, and reports are a minute apart. Home Assistant forces every write of a
# device tracker to be a change, unless the entity says otherwise. Of set-up, idle polls and reports:
_HABITS: Final = {
    # A set-up requests both lists, the history, and ten days of rides from before.
    "bike_tracker": (
        _Habit(13, changed=5, written=5, different=5),
        _Habit(1),
        _Habit(2, more_changed=2, more_written=2, different=2),
    ),
    "floor": (
        _Habit(2, changed=4, written=4, different=4),
        _Habit(2),
        _Habit(2, more_changed=3, more_written=3, different=3),
    ),
}


def differences(findings: Iterable[Finding]) -> list[str]:
    """Return which counts are other than they have to be."""
    return [
        f"{finding.candidate}, {finding.trackers} trackers, {work}: {name} {found[name]} instead of {number}"
        for finding in findings
        if finding.kind == "count"
        for work, expected in _expected(finding.candidate, finding.trackers)
        for found in finding.found[work]
        for name, number in expected.items()
        if found[name] != number
    ]


def _expected(candidate: str, trackers: int) -> Iterable[tuple[str, dict[str, int]]]:
    set_up, idle, reported = _HABITS[candidate]
    yield SET_UP, set_up.expected(trackers, trackers)
    for scenario in SCENARIOS:
        reporting = scenario.reporting(trackers)
        habit = reported if reporting else idle
        yield scenario.key, habit.expected(trackers, reporting)
