"""What may happen next in a story."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, override

from homeassistant.helpers import entity_registry as er

from custom_components.bike_tracker.const import DOMAIN

from .story import Bike, TrackerState

# After a failure of all polls are tried again within so many seconds.
_WELL_AGAIN = 190


@dataclass(frozen=True)
class Step:
    """One thing that happens."""

    async def run(self, story: TrackerState) -> None:
        """Let it happen."""
        raise NotImplementedError


@dataclass(frozen=True)
class OfBike(Step):
    """One thing that happens to a bike."""

    bike: int

    def of(self, story: TrackerState) -> Bike:
        """Return the bike."""
        return story.bikes[self.bike % len(story.bikes)]


@dataclass(frozen=True)
class RaiseAlarm(OfBike):
    """A report with one or several words."""

    words: int
    how: Literal["fix", "late", "no fix"]
    twice: bool

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it come alone."""
        words = story.words(self.words)
        if self.twice:
            words.append(words[0])
        story.report(self.of(story), *words, how=self.how)
        await story.home.async_settle()


@dataclass(frozen=True)
class RaiseMany(OfBike):
    """Reports at once, some of which raise alarms."""

    number: int
    every: int
    in_one_message: bool
    settles: bool

    @override
    async def run(self, story: TrackerState) -> None:
        """Let them come in one message, in one read, or one after the other."""
        if self.in_one_message:
            with story.service.live.in_one_message():
                self._report(story)
        else:
            self._report(story)
        if self.settles:
            await story.home.async_settle()

    def _report(self, story: TrackerState) -> None:
        for number in range(self.number):
            words = story.words(1) if number % self.every == 0 else []
            # As a tracker tells what it kept: each fix is newer than the one before.
            age = (self.number - number) / 1000
            story.report(self.of(story), *words, age=age)


@dataclass(frozen=True)
class SetOff(OfBike):
    """A bike begins to ride."""

    minutes: int
    every: int

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it."""
        await story.async_set_off(self.of(story), self.minutes, self.every)


@dataclass(frozen=True)
class Guard(OfBike):
    """Somebody guards a bike that stands."""

    @override
    async def run(self, story: TrackerState) -> None:
        """Let them."""
        await story.async_arm(self.of(story))


@dataclass(frozen=True)
class Pass(Step):
    """Time passes."""

    seconds: int

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it."""
        await story.async_pass(self.seconds)


@dataclass(frozen=True)
class ListFails(Step):
    """The list fails, or is well again, while live goes on."""

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it, unless live fails."""
        if not story.live_fails:
            story.let_list_fail(not story.list_fails)


@dataclass(frozen=True)
class LiveFails(Step):
    """Live fails, or is well again, while polls go on."""

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it, unless the list fails."""
        if not story.list_fails:
            await story.home.async_settle()
            story.let_live_fail(not story.live_fails)
            # Connections are cut off by then.
            await story.home.async_settle()


@dataclass(frozen=True)
class HistoryFails(Step):
    """The history fails, or is well again, while all else goes on."""

    fault: Literal["status-400", "status-503", "html"]

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it."""
        story.history_failed = True
        story.history_fails = not story.history_fails
        fault = self.fault if story.history_fails else None
        story.service.fault(fault, path="history")


@dataclass(frozen=True)
class HistoryIsShort(Step):
    """The history has the first rows of what it is asked for, no more."""

    rows: int

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it."""
        story.service.set_max_positions(self.rows)


@dataclass(frozen=True)
class Outage(Step):
    """Nothing of the service is in reach for a while."""

    seconds: int

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it be, and be over."""
        await story.async_may_be_out_of_reach()
        # What was said by then is out.
        await story.home.async_settle()
        story.service.fault("status-503")
        story.service.live_fault("session-503")
        await story.async_pass(self.seconds)
        story.let_all_be_well()
        await story.async_pass(_WELL_AGAIN)


@dataclass(frozen=True)
class Reload(Step):
    """An account is reloaded."""

    account: int

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it be, and have an answer."""
        await story.async_may_be_out_of_reach()
        await story.home.async_settle()
        emails = list(story.service.accounts)
        await story.home.async_reload(emails[self.account % len(emails)])
        await _async_end(story)


@dataclass(frozen=True)
class Restart(Step):
    """Home Assistant is restarted."""

    down: int
    automations_first: bool

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it be down, start, and have an answer."""
        await story.async_may_be_out_of_reach()
        await story.home.async_settle()
        await story.home.async_stop()
        await story.async_pass(self.down)
        await story.home.async_start(automations_first=self.automations_first)
        await _async_end(story)


@dataclass(frozen=True)
class Kill(Step):
    """Home Assistant is killed."""

    down: int

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it be down, start, and have an answer."""
        await story.async_may_be_out_of_reach()
        await story.async_kill(self.down)
        await _async_end(story)


async def _async_end(story: TrackerState) -> None:
    """Let a set-up that failed succeed: nobody listens until it does."""
    if story.list_fails:
        await story.async_pass(20)
        story.let_list_fail(False)
        await story.async_pass(_WELL_AGAIN)
    await story.async_pass(1)


@dataclass(frozen=True)
class SetClock(Step):
    """The clock of the house is put forward, back, or right again."""

    minutes_ahead: int

    @override
    async def run(self, story: TrackerState) -> None:
        """Let it."""
        await story.home.async_settle()
        story.home.clock_off = timedelta(minutes=self.minutes_ahead)


@dataclass(frozen=True)
class Rename(OfBike):
    """Somebody gives an event entity another ID."""

    key: Literal["alarm", "ride"]

    @override
    async def run(self, story: TrackerState) -> None:
        """Let them."""
        entities = er.async_get(story.home.hass)
        tracker = self.of(story).tracker
        entity_id = entities.async_get_entity_id(
            "event", DOMAIN, f"{tracker}_{self.key}"
        )
        if entity_id is not None:
            [name] = story.words(1)
            entities.async_update_entity(
                entity_id, new_entity_id=f"event.{name.replace(' ', '_')}"
            )
            await story.home.async_settle()
