"""A garage with two bikes, and automations that record their runs. Tests use this notation for stories.

`House` has more steps. After `=` comes the number of runs so far.

    of went_offline                    chooses the trigger of the story
    prepare, become, undo              puts the red bike into the preceding state, into the trigger's state, and back
    become at_once                     like `become`, but a silence began almost a day (the default wait) ago
    listen for=10                      saves an automation whose trigger waits for 10 minutes
    forget                             forgets the runs so far
    mark, before                       notes the time; checks that the newest run has this time as variable `before`
    begin server, end server           begins or ends an interruption; `interrupt` runs all, so that each follows every other
    stop, start, load                  stops Home Assistant; starts it; only sets up the account
    clock -15                          sets Home Assistant's clock 15 minutes behind the real time
    touch, silent 20                   sets the time of the red bike's newest report: now, or 20 minutes ago
    move 300 motion=yes                lets the red bike report from 300 meters farther north
    guard blue                         arms the guard of a bike, by default of the red bike
    true is_online is_moving           checks that exactly these conditions are true
"""

from datetime import datetime, timedelta
from typing import Any, override

from homeassistant.config_entries import ConfigEntryState
from homeassistant.helpers import area_registry as ar, condition, device_registry as dr
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.bike_tracker.const import DOMAIN
from tests.blueprints.house import House
from tests.conftest import EMAIL, PASSWORD, RED, Bikes
from tests.riding import go

_MOVES, _STANDS = "move 0 motion=yes", "move 0 motion=no"
# For each trigger: the steps before its state or event, the steps to its state or
# event, and, if the trigger has a state, the steps back.
STEPS = {
    "went_offline": ("touch, wait 2", "offline red", "online red"),
    "came_online": ("offline red, touch, wait 2", "online red", "offline red"),
    "became_silent": ("touch, wait 2", "silent 0", "silent 0"),
    "started_moving": ("touch, wait 2", _MOVES, _STANDS),
    "stopped_moving": (f"{_MOVES}, touch, wait 2", _STANDS, _MOVES),
    "alarm_raised": ("touch, wait 2", "alarm fallDown"),
    "guard_triggered": ("guard, touch, wait 2", "move 1112 motion=yes"),
    "ride_started": ("wait", "move 300 speed=9 motion=yes"),
    "ride_ended": (
        "move 300 speed=9 motion=yes, wait, move 300 speed=0 motion=no, wait",
        "move 0",
    ),
}
TRIGGERS = tuple(trigger for trigger, steps in STEPS.items() if len(steps) > 2)
WAITING = tuple(trigger for trigger in TRIGGERS if trigger != "came_online")
CONDITIONS = (
    *("is_online", "is_offline", "is_silent", "is_moving", "is_not_moving"),
    "is_on_ride",
)
INTERRUPTIONS = ("server", "restart", "reload", "sign-in", "unassigned")
# Walks around the list in steps of 1, 2, 3 and 4. As five is prime, each walk visits
# all five interruptions and returns to the first. So each follows every other.
_EACH_AFTER_EACH = [
    INTERRUPTIONS[number * step % 5] for step in (1, 2, 3, 4) for number in range(6)
]
_NEVER_WAIT = ("is_online", "is_moving", "is_on_ride")
_FIRED = "fired"
_VARIABLES = (
    *("device_id", "entity_id", "name", "since", "before", "description"),
    *("alarm", "type", "time", "cause", "place"),
    *("started_at", "ended_at", "distance", "duration", "maximum_speed"),
)
# Minutes after an interruption until everything surely works again.
_AGAIN = 7


class Garage(House):
    """A house with automations whose runs are recorded."""

    def __init__(self, bikes: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
        """Record the runs of automations, and let `clock` steps move Home Assistant's clock."""
        super().__init__(bikes)
        self.runs = async_capture_events(self.hass, _FIRED)
        self._trigger, self._marked, self._behind = "", dt_util.utcnow(), timedelta()
        # Replace only Home Assistant's clock: the service keeps the real clock.
        for name in ("now", "utcnow"):
            right = getattr(dt_util, name)
            shown = lambda *zone, right=right: right(*zone) - self._behind  # noqa: E731
            monkeypatch.setattr(dt_util, name, shown)

    def given(self, variable: str = "description") -> list[str]:
        """Return the value of a trigger variable in each recorded run, the oldest run first."""
        return [run.data[variable] for run in self.runs]

    def area(self, *trackers: str) -> dict[str, str]:
        """Put these bikes into an area, and return the area as a target."""
        area = ar.async_get(self.hass).async_get_or_create("Garage")
        for device in map(self.bikes.device, trackers):
            dr.async_get(self.hass).async_update_device(device.id, area_id=area.id)
        return {"area_id": area.id}

    def automation(
        self,
        trigger: str,
        *,
        target: dict[str, Any] | None = None,
        alias: str = "Bikes",
        **options: Any,
    ) -> dict[str, Any]:
        """Return the configuration of an automation that records the variables of its trigger in each run."""
        on = {
            "trigger": f"{DOMAIN}.{trigger}",
            "target": target or {"device_id": self.bikes.device().id},
            "options": options,
        }
        given = {it: f"{{{{ trigger.{it} | default(none) }}}}" for it in _VARIABLES}
        return {
            "id": alias,
            "alias": alias,
            "mode": "queued",
            "triggers": [on],
            "actions": [{"event": _FIRED, "event_data": given}],
        }

    async def async_listen(self, trigger: str, **more: Any) -> None:
        """Replace all automations by an automation with this trigger."""
        await self.async_save(self.automation(trigger, **more))
        assert self.bikes.state("automation.bikes").state == "on"

    async def async_ask(
        self, kind: str, target: dict[str, Any] | None = None, **options: Any
    ) -> bool:
        """Return whether a condition is true for a target, by default for the red bike."""
        assert await async_setup_component(self.hass, "homeassistant", {})
        config = {
            "condition": f"{DOMAIN}.{kind}",
            "target": target or {"device_id": self.bikes.device().id},
            "options": options,
        }
        config = await condition.async_validate_condition_config(self.hass, config)
        checker = await condition.async_from_config(self.hass, config)
        try:
            return bool(checker.async_check())
        finally:
            checker.async_unload()

    # Steps of a story: the method `_become` is the step `become`

    @override
    def _check(self, expected: str, step: str) -> None:
        assert len(self.runs) == int(expected), step

    async def _before(self) -> None:
        """Check that the variable `before` of the newest run is the time of `mark`, or less than a minute earlier."""
        before = datetime.fromisoformat(self.runs[-1].data["before"])
        assert timedelta() <= self._marked - before < timedelta(minutes=1)

    async def _true(self, *expected: str, **options: float) -> None:
        """Check that exactly these conditions are true. With a wait, check only conditions that can wait."""
        waits = {key: {"minutes": minutes} for key, minutes in options.items()}
        kinds = [it for it in CONDITIONS if not waits or it not in _NEVER_WAIT]
        assert [it for it in kinds if await self.async_ask(it, **waits)] == [*expected]

    async def _of(self, trigger: str = "") -> None:
        self._trigger = trigger

    async def _listen(self, **options: float) -> None:
        waits = {key: {"minutes": minutes} for key, minutes in options.items()}
        await self.async_listen(self._trigger, **waits)

    async def _prepare(self) -> None:
        """Bring the bike into the state that precedes the trigger's state."""
        await self.async_tell(STEPS[self._trigger][0])

    async def _become(self, how: str = "") -> None:
        """Bring the bike into the trigger's state. With `how`, the bike becomes silent only a minute later."""
        is_old = how and self._trigger == "became_silent"
        # A minute later, the tracker has been silent for a day, the default wait.
        steps = f"silent {24 * 60 - 1}" if is_old else STEPS[self._trigger][1]
        await self.async_tell(steps)

    async def _undo(self) -> None:
        await self.async_tell(STEPS[self._trigger][2])

    async def _mark(self) -> None:
        self._marked = dt_util.utcnow()

    async def _forget(self) -> None:
        self.runs.clear()

    async def _touch(self) -> None:
        self.simulator.touch([RED])

    async def _silent(self, minutes: str) -> None:
        last = dt_util.utcnow() - timedelta(minutes=int(minutes))
        self.simulator.set_last_update(RED, last)

    async def _move(self, meters: str, **more: Any) -> None:
        go(self.simulator, float(meters), **more)

    async def _guard(self, bike: str = "red") -> None:
        await self.bikes.async_guard(bike=bike)

    async def _clock(self, minutes: str) -> None:
        self._behind = timedelta(minutes=-int(minutes))

    async def _load(self) -> None:
        await self.hass.config_entries.async_setup(self.entry.entry_id)

    async def _begin(self, interruption: str) -> None:
        """Begin an interruption, and wait three minutes, so that Home Assistant notices it."""
        match interruption:
            case "server":
                await self._fail()
            case "restart":
                await self._stop()
            case "reload" if self.hass.is_running:
                await self.hass.config_entries.async_unload(self.entry.entry_id)
            case "sign-in":
                self.simulator.set_password(EMAIL, "another")
            case "unassigned":
                self.simulator.unassign(EMAIL, RED)
        await self._async_pass(3)

    async def _end(self, interruption: str) -> None:
        """End the interruption, and wait `_AGAIN` minutes, until everything works again."""
        is_unloaded = self.entry.state is ConfigEntryState.NOT_LOADED
        match interruption:
            case "server":
                await self._work()
            case "restart":
                await self._start()
            case "reload" if self.hass.is_running and is_unloaded:
                await self._load()
            case "sign-in":
                self.simulator.set_password(EMAIL, PASSWORD)
            case "unassigned":
                self.simulator.assign(EMAIL, RED)
        await self._async_pass(_AGAIN)

    async def _interrupt(self) -> None:
        """Begin and end interruptions, one after the other, in the order of `_EACH_AFTER_EACH`."""
        for interruption in _EACH_AFTER_EACH:
            await self._begin(interruption)
            await self._end(interruption)

    async def _async_pass(self, minutes: int) -> None:
        if self.hass.is_running:
            await self.async_minutes(minutes)
        else:
            self._freezer.tick(60 * minutes)
