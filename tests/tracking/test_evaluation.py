"""Waits fire once each and none is lost, however often the clock is set."""

from datetime import UTC, datetime, timedelta
import json
from random import Random

import pytest

from custom_components.bike_tracker.tracking.evaluation import Evaluation
from custom_components.bike_tracker.tracking.stored import reader, to_json
from tests.long import some

BEGINNING = datetime(2026, 11, 20, tzinfo=UTC)


class World:
    """Bikes whose state changes at times, and a clock that is set now and then."""

    def __init__(self, seed: int) -> None:
        """Begin with three bikes of which nothing is known."""
        self.rng = Random(seed)  # noqa: S311
        self.clock = BEGINNING
        self.evaluation = Evaluation(BEGINNING, BEGINNING)
        self.starts: dict[int, datetime] = {}
        self.waits = {bike: timedelta(minutes=3 + 13 * bike) for bike in range(3)}
        self.fired: dict[int, int] = {}

    def step(self, *, is_quiet: bool = False) -> None:
        """Let a minute pass, and perhaps set the clock or change a bike."""
        rng = self.rng
        self.clock += timedelta(seconds=60, microseconds=rng.randrange(999))
        if not is_quiet and rng.random() < 0.1:
            self.clock += timedelta(minutes=rng.uniform(-50, 30))
        if not is_quiet and rng.random() < 0.2:
            bike = rng.choice(list(self.waits))
            self.starts[bike] = self.clock
            self.fired[bike] = 0
        if not is_quiet and rng.random() < 0.1:
            stored = json.dumps(to_json(self.evaluation))
            self.evaluation = reader(Evaluation)(json.loads(stored))
        last, now = self.evaluation, self.clock
        self.evaluation = last.next(now, now, self.starts.values())
        for bike, start in self.starts.items():
            due = start + self.waits[bike]
            self.fired[bike] += last.of_wait(start).at < due <= now


@pytest.mark.parametrize("seed", some(range(400), every=8))
def test_once(seed: int) -> None:
    """No wait fires twice, and each that goes on fires in the end."""
    world = World(seed)
    for _ in range(300):
        world.step()
        assert all(count <= 1 for count in world.fired.values())
    for _ in range(2_000):
        world.step(is_quiet=True)
    assert world.fired == dict.fromkeys(world.starts, 1)
    assert world.evaluation.ahead == ()
