"""The steps of a story. Each public method is a step."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, override

from homeassistant.helpers import entity_registry as er

from custom_components.bike_tracker.const import DOMAIN

from .story import Bike, TrackerState

# After a failure of all, polls are tried again within so many seconds.
_WELL_AGAIN = 190


@dataclass(frozen=True)
class Step:
    """A method of `Steps` and its arguments."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    @override
    def __repr__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        return (
            f"step({', '.join([*map(repr, (self.name, *self.arguments)), *options])})"
        )

    async def run(self, steps: Steps) -> None:
        """Run the step."""
        await getattr(steps, self.name)(*self.arguments, **self.options)


def step(name: str, *arguments: Any, **options: Any) -> Step:
    """Return a step."""
    return Step(name, arguments, options)


@dataclass
class Steps(TrackerState):
    """All that may happen next. Bikes and accounts are numbers, of any size."""

    def _bike(self, number: int) -> Bike:
        return self.bikes[number % len(self.bikes)]

    async def pass_time(self, seconds: int) -> None:
        """Let time pass."""
        await self.async_pass(seconds)

    # Bikes

    async def raise_alarm(
        self, bike: int, words: int, how: Literal["fix", "late", "no fix"], twice: bool
    ) -> None:
        """Send a report with one or several alarms."""
        alarms = self.words(words)
        if twice:
            alarms.append(alarms[0])
        self.report(self._bike(bike), *alarms, how=how)
        await self.home.async_settle()

    async def raise_many(
        self, bike: int, number: int, every: int, in_one_message: bool, settles: bool
    ) -> None:
        """Send reports in one message, in one read, or one after the other. Some raise alarms."""
        if in_one_message:
            with self.service.live.in_one_message():
                self._report_many(bike, number, every)
        else:
            self._report_many(bike, number, every)
        if settles:
            await self.home.async_settle()

    def _report_many(self, bike: int, reports: int, every: int) -> None:
        for number in range(reports):
            words = self.words(1) if number % every == 0 else []
            # A tracker sends its buffer in order: each fix is newer than the one before.
            self.report(self._bike(bike), *words, age=(reports - number) / 1000)

    async def set_off(self, bike: int, minutes: int, every: int) -> None:
        """Let a bike begin to ride."""
        await self.async_set_off(self._bike(bike), minutes, every)

    async def guard(self, bike: int) -> None:
        """Guard a bike that stands."""
        await self.async_arm(self._bike(bike))

    async def rename(self, bike: int, key: Literal["alarm", "ride"]) -> None:
        """Give an event entity another ID."""
        entities = er.async_get(self.home.hass)
        entity_id = entities.async_get_entity_id(
            "event", DOMAIN, f"{self._bike(bike).tracker}_{key}"
        )
        if entity_id is not None:
            [name] = self.words(1)
            entities.async_update_entity(
                entity_id, new_entity_id=f"event.{name.replace(' ', '_')}"
            )
            await self.home.async_settle()

    # The service

    async def switch_list(self) -> None:
        """Let the list fail, or be well again, unless live fails."""
        if not self.live_fails:
            self.let_list_fail(not self.list_fails)

    async def switch_live(self) -> None:
        """Let live fail, or be well again, unless the list fails."""
        if not self.list_fails:
            await self.home.async_settle()
            self.let_live_fail(not self.live_fails)
            # Connections are cut off by then.
            await self.home.async_settle()

    async def switch_history(
        self, fault: Literal["status-400", "status-503", "html"]
    ) -> None:
        """Let the history fail, or be well again."""
        self.history_failed = True
        self.history_fails = not self.history_fails
        self.service.fault(fault if self.history_fails else None, path="history")

    async def shorten_history(self, rows: int) -> None:
        """Let the history send only the first rows of each answer."""
        self.service.set_max_positions(rows)

    async def outage(self, seconds: int) -> None:
        """Let the whole service be out of reach for a while."""
        await self.async_may_be_out_of_reach()
        # All messages before it arrive.
        await self.home.async_settle()
        self.service.fault("status-503")
        self.service.live_fault("session-503")
        await self.async_pass(seconds)
        self.let_all_be_well()
        await self.async_pass(_WELL_AGAIN)

    # Home Assistant

    async def reload(self, account: int) -> None:
        """Reload an account."""
        await self.async_may_be_out_of_reach()
        await self.home.async_settle()
        emails = list(self.service.accounts)
        await self.home.async_reload(emails[account % len(emails)])
        await self._async_answer()

    async def restart(self, down: int, automations_first: bool) -> None:
        """Restart Home Assistant."""
        await self.async_may_be_out_of_reach()
        await self.home.async_settle()
        await self.home.async_stop()
        await self.async_pass(down)
        await self.home.async_start(automations_first=automations_first)
        await self._async_answer()

    async def kill(self, down: int) -> None:
        """Kill Home Assistant, and start it again."""
        await self.async_may_be_out_of_reach()
        await self.async_kill(down)
        await self._async_answer()

    async def set_clock(self, minutes_ahead: int) -> None:
        """Set the clock of the house."""
        await self.home.async_settle()
        self.home.clock_off = timedelta(minutes=minutes_ahead)

    async def _async_answer(self) -> None:
        """Let a failed set-up succeed: without it, nobody listens."""
        if self.list_fails:
            await self.async_pass(20)
            self.let_list_fail(False)
            await self.async_pass(_WELL_AGAIN)
        await self.async_pass(1)
