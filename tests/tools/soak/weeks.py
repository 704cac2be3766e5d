"""Weeks of rides and alarms in a Home Assistant that is restarted, killed and in trouble."""

from datetime import UTC, datetime, timedelta
from random import Random

from tests.conftest import EMAIL, RED
from tests.tools.rides.trackers import Report, Tracker, reports
from tests.tools.rides.trips import Journey
from tests.tools.simulator.world import Json
from tests.tools.story.story import Alarm, Ride, Story

# A trouble begins about every twenty minutes of riding, and lasts up to this.
_OFTEN = 1 / 120
_LONGEST = timedelta(minutes=40)
# An alarm is raised with one of so many reports.
_ALARMED = 1 / 25
# A tracker that says nothing is waited for no longer than this with all that is due.
_PATIENCE = timedelta(minutes=45)
_DOWN = 30
# Sockets that stay open, and say nothing of use.
_LIVE = ("session-503", "ends", "says-nothing", "tells-nothing-new", "dies", "halves")
_HISTORY = ("status-400", "status-404", "status-503", "html", "huge-body", "no-answer")


class Weeks:
    """Lets a bike ride, and things go wrong."""

    def __init__(self, story: Story, journey: Journey, seed: int) -> None:
        """Begin with a bike that stands."""
        self._story = story
        self._journey = journey
        self._seed = seed
        self._random = Random(f"weeks-{seed}")  # noqa: S311 - no secret
        self._well_at: datetime | None = None
        story.begin([RED])
        # What it reports comes from the journey alone.
        story.bikes[0].reports_at = datetime.max.replace(tzinfo=UTC)
        story.rides = [
            Ride(RED, trip.starts_at, trip.ends_at, timedelta())
            for trip in journey.trips
        ]

    async def run(self, days: float) -> None:
        """Live for so many days."""
        story, tracker = self._story, Tracker("real", 10, repeats=3_600)
        begin = story.now + timedelta(minutes=1)
        end = begin + timedelta(days=days)
        for report in reports(tracker, self._journey, begin, end, self._seed):
            await self._wait_until(report.comes_at)
            self._report(report)
            await self._go_wrong()
        self._be_well()
        await story.home.async_wait(_PATIENCE.total_seconds())

    async def _wait_until(self, time: datetime) -> None:
        """Wait, but for long hours in which nothing comes."""
        story = self._story
        if time - story.now > 2 * _PATIENCE:
            self._be_well()
            await story.home.async_wait(_PATIENCE.total_seconds())
            await story.home.async_skip((time - story.now - _PATIENCE).total_seconds())
        await story.home.async_wait(max(0, (time - story.now).total_seconds()))

    def _report(self, report: Report) -> None:
        """Let the bike report this, as a tracker does, and raise an alarm now and then."""
        story, position = self._story, report.position
        words = story.words(1) if self._random.random() < _ALARMED else []
        attributes: dict[str, Json] = {
            "motion": position.motion,
            "totalDistance": (position.total_distance or 0) * 1_000,
        }
        if words:
            attributes["alarm"] = words[0]
        made = story.service.report(
            RED,
            latitude=position.latitude,
            longitude=position.longitude,
            accuracy=position.accuracy,
            speed=(position.speed or 0) / 1.852,
            fix_time=position.fix_time,
            attributes=attributes,
        )
        for word in words:
            story.alarms.append(Alarm(RED, word, made.id, made.fix_time))

    async def _go_wrong(self) -> None:
        """Let one thing go wrong at a time: live tells rides while polls fail, or polls do."""
        story, random = self._story, self._random
        if self._well_at:
            if story.now >= self._well_at:
                self._be_well()
            return
        if random.random() > _OFTEN:
            return
        await story.home.async_settle()
        match random.choice(
            ["list", "list", "live", "live", "history", "reload", "restart", "kill"]
        ):
            case "list":
                story.let_list_fail(True)
                self._well_at = story.now + random.random() * _LONGEST
            case "live":
                story.service.live_fault(random.choice(_LIVE))
                self._well_at = story.now + random.random() * _LONGEST
            case "history":
                story.service.fault(random.choice(_HISTORY), path="history")
                self._well_at = story.now + random.random() * _LONGEST
            case "reload":
                await story.home.async_reload(EMAIL)
            case "restart":
                await story.home.async_restart(down=_DOWN)
            case _:
                await story.async_kill(_DOWN)

    def _be_well(self) -> None:
        self._well_at = None
        self._story.let_all_be_well()
