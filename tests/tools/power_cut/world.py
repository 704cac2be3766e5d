"""Bikes that are ridden, with every report at a known time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from random import Random
from typing import Final

from tests.tools.simulator import Simulator
from tests.tools.simulator.streets import METRES_PER_DEGREE

TRACKERS: Final = ("860000000000011", "860000000000022")
_EVERY: Final = timedelta(seconds=20)
_PARKED_EVERY: Final = timedelta(minutes=5)
_METERS: Final = 120.0
_KNOTS: Final = 11.7


@dataclass
class World:
    """Two bikes with rides of some minutes, stops of some more, and alarms."""

    simulator: Simulator
    random: Random
    begin: datetime
    rides: Counter[str] = field(default_factory=Counter)
    """How often each bike was ridden."""

    def __post_init__(self) -> None:
        """Plan the first report of each bike."""
        self._reports = {tracker: self._plan(tracker) for tracker in TRACKERS}
        self._next = {key: next(plan) for key, plan in self._reports.items()}

    def move(self, until: datetime) -> None:
        """Let the bikes report up to this time."""
        for tracker, plan in self._reports.items():
            while self._next[tracker][0] <= until:
                time, meters, alarm = self._next[tracker]
                self._report(tracker, time, meters, alarm)
                self._next[tracker] = next(plan)

    def _plan(self, tracker: str) -> Iterator[tuple[datetime, float, str | None]]:
        """Yield time, meters since the report before, and alarm of each report."""
        time, random, alarms = self.begin, self.random, count(1)
        while True:
            for _ in range(random.randint(3, 5)):
                alarm = f"alarm {next(alarms)}" if random.random() < 0.2 else None
                yield time, 0, alarm
                time += _PARKED_EVERY
            for _ in range(random.randint(8, 25)):
                time += _EVERY
                yield time, _METERS, None
            self.rides[tracker] += 1
            time += _EVERY

    def _report(
        self, tracker: str, time: datetime, meters: float, alarm: str | None
    ) -> None:
        position = self.simulator.devices[tracker].position
        assert position is not None
        # There and back: the bike stays in its town.
        north = meters if self.rides[tracker] % 2 else -meters
        self.simulator.report(
            tracker,
            latitude=position.latitude + north / METRES_PER_DEGREE,
            accuracy=5.0,
            speed=_KNOTS if meters else 0.0,
            attributes={"motion": meters > 0} | ({"alarm": alarm} if alarm else {}),
            last_update=time,
        )
