"""Counts requests, states and rows of a work, and compares them with the expected counts."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from homeassistant.const import EVENT_STATE_CHANGED, EVENT_STATE_REPORTED
from homeassistant.core import Event, HomeAssistant, callback

from .home import count_rows, settle
from .plan import Finding, Work
from .service import Service

_ENTITIES: Final = 5
"""Enabled entities of each tracker."""
_CHANGED: Final = 2
"""States that a report changes: the place and the status. The last update follows in steps of five minutes."""
_REQUESTS: Final = {
    # A set-up requests both lists, the history, and ten days of rides from before.
    Work.SET_UP: 13,
    Work.IDLE: 1,
    Work.SOME: 2,
    Work.CONTACT: 1,
    Work.ALL: 2,
    # Both lists, and the next ten days.
    Work.RESTART: 12,
}


async def count(
    hass: HomeAssistant, service: Service, work: Callable[[], Awaitable[Any]]
) -> dict[str, float]:
    """Do the work and count. Counting costs time, so a counted work is not timed.

    `changed` counts `state_changed` events, `written` all writes of states, `rows` states in the recorder's database.
    """
    events = list[str]()

    @callback
    def note(event: Event[Any]) -> None:
        events.append(str(event.event_type))

    rows = await count_rows(hass)
    service.do("count")
    listeners = [
        hass.bus.async_listen(name, note, event_filter=callback(lambda _: True))
        for name in (EVENT_STATE_CHANGED, EVENT_STATE_REPORTED)
    ]
    await work()
    await settle(hass)
    for remove in listeners:
        remove()
    return {
        "requests": service.do("count"),
        "changed": events.count(str(EVENT_STATE_CHANGED)),
        "written": len(events),
        "rows": await count_rows(hass) - rows,
    }


def differences(findings: Iterable[Finding]) -> list[str]:
    """Return a line for each wrong count."""
    return [
        f"{finding.trackers} trackers, {work}: {name} {found[name]} instead of {number}"
        for finding in findings
        for work in _REQUESTS
        for name, number in _expected(work, finding.trackers).items()
        for found in finding.found[work]
        if found[name] != number
    ]


def _expected(work: Work, trackers: int) -> dict[str, int]:
    if work in {Work.SET_UP, Work.RESTART}:
        changed = _ENTITIES * trackers
    else:
        changed = _CHANGED * work.reporting(trackers)
    numbers = dict.fromkeys(("changed", "written", "rows"), changed)
    return {"requests": _REQUESTS[work], **numbers}
