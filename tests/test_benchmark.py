"""What the benchmark makes of its figures: its page, and what it says is not reached."""

from collections import defaultdict

import pytest

from custom_components.bike_tracker import (
    binary_sensor as our_binary_sensor,
    sensor as our_sensor,
)

from .benchmark.candidates import CANDIDATES
from .benchmark.counters import Counts
from .benchmark.expected import differences
from .benchmark.goals import FULL_KINDS, goals
from .benchmark.meter import Cost
from .benchmark.plan import BEYOND_THE_LIMIT, LARGE, OURS, SMALL, UNRECORDED, USUAL
from .benchmark.report import report
from .benchmark.results import FullCost, Limit, Results
from .benchmark.scenarios import (
    FULL_TITLES,
    SAME_BODY,
    SET_UP,
    SET_UP_AGAIN,
    SHUFFLED,
    SOME_REPORTED,
    TITLES,
)
from .benchmark.usual_way import binary_sensor, sensor

IDLE = Counts(requests=1, bytes=100, changed=0, written=0, different=0, rows=0)
WRITTEN = Counts(requests=2, bytes=200, changed=3, written=3, different=3, rows=3)


def cost(cpu: float) -> Cost:
    """Return what a poll cost that took so many seconds of CPU."""
    return Cost(cpu=cpu, wall=cpu, block=cpu, busy=0.01, collecting=0)


@pytest.fixture
def results() -> Results:
    """Return results with which every goal is reached: a hundredth of what others cost."""
    found = Results(costs=defaultdict(list))
    for trackers in (*SMALL, *LARGE, BEYOND_THE_LIMIT):
        for candidate in CANDIDATES:
            found.memory[trackers, candidate] = trackers * (
                1 if candidate == OURS else 2
            )
            found.counts[trackers, candidate] = dict.fromkeys(TITLES, WRITTEN) | {
                SAME_BODY.key: IDLE,
                SHUFFLED.key: IDLE,
            }
            for work in TITLES:
                seconds = 0.001 if candidate == OURS else 0.1
                found.costs[trackers, candidate, work].append(cost(seconds))
    for kind in FULL_KINDS:
        for work in FULL_TITLES:
            found.full[kind, OURS, work] = [FullCost(0.09, 0.01, 9_000)]
            found.full[kind, USUAL, work] = [FullCost(0.9, 0.9, 9_000)]
    found.profiles = {OURS: {"sensor.py": 2.0, "turns.py": 0.4}, USUAL: {"api.py": 3.0}}
    found.limits[BEYOND_THE_LIMIT] = Limit(shown=2_500, left_out=7_500, changed=7_500)
    return found


def test_page(results: Results) -> None:
    """It has every candidate with every fleet, and every goal."""
    page = report(results, "a machine.")

    assert "**no**" not in page
    assert page.count("| yes |") == len(goals(results))
    for trackers in (*SMALL, *LARGE):
        assert f"### {trackers:,} tracker" in page
    # One of what it is, one for the CPU of each work, one for memory, and all figures.
    rows = 1 + len(TITLES) + 1 + len(TITLES) * len((*SMALL, *LARGE))
    assert page.count("| `paj_gps` | ") == rows
    assert "1.00 (1.00 ×)" in page
    assert "| `sensor.py` | 2.0 | 0.0 |\n| `api.py` | 0.0 | 3.0 |\n" in page
    assert "turns.py" not in page
    assert "| set-up after a restart | without it | 10.0 | 100.0 | 0.10 × |" in page
    assert "100.00 (100.00 ×)" in page


@pytest.mark.parametrize(
    ("work", "seconds", "missed"),
    [
        (SAME_BODY.key, 0.09, 1),
        (SHUFFLED.key, 0.11, 1),
        (SOME_REPORTED.key, 0.02, 4),
        (SOME_REPORTED.key, 0.2, 5),
        ("all_reported", 0.2, 1),
        ("all_reported", 0.3, 2),
        (SET_UP, 0.2, 1),
    ],
)
def test_too_dear(results: Results, work: str, seconds: float, missed: int) -> None:
    """Each goal that is not reached is named, and no other."""
    results.costs[1_000, OURS, work] = [cost(seconds)]

    found = [goal for goal in goals(results) if not goal.reached]

    assert [(goal.trackers, goal.work) for goal in found] == [
        (1_000, TITLES[work])
    ] * missed


def test_other_goals(results: Results) -> None:
    """So are writes, memory, the limit and blocks."""
    results.counts[1_000, OURS][SAME_BODY.key] = WRITTEN
    results.counts[1_000, OURS][SOME_REPORTED.key] = Counts(2, 1, 4, 4, 3, 4)
    results.memory[1_000, OURS] = 3_000
    results.limits[BEYOND_THE_LIMIT] = Limit(shown=2_499, left_out=7_501, changed=7_497)
    results.costs[100, OURS, SHUFFLED.key].append(Cost(0, 0, 0, 0.06, 0))

    found = [goal.work for goal in goals(results) if not goal.reached]

    assert found == [
        SAME_BODY.title,
        SOME_REPORTED.title,
        "memory per tracker",
        "set-up and polls",
        SHUFFLED.title,
    ]


def test_full_goals(results: Results) -> None:
    """What trackers cost that report everything is judged by states, not by polls."""
    kind = UNRECORDED
    results.full[kind, OURS, SET_UP_AGAIN] = [FullCost(0.901, 0.01, 9_000)]
    results.full[kind, OURS, SET_UP] = [FullCost(0.901, 0.06, 9_010)]

    found = [goal.work for goal in goals(results) if not goal.reached]

    assert found == [
        "set-up after a restart, everything reported, without it",
        "set-up, everything reported",
    ]


def test_same_entities() -> None:
    """The usual way has no entity that this integration has not, so that both are alike."""
    ours = {
        (kind.key, kind.entity_registry_enabled_default, kind.only_if_reported)
        for kind in (*our_binary_sensor.DESCRIPTIONS, *our_sensor.DESCRIPTIONS)
    }
    usual = {
        (kind.key, kind.entity_registry_enabled_default, kind.only_if_reported)
        for kind in (*binary_sensor.DESCRIPTIONS, *sensor.DESCRIPTIONS)
    }
    assert usual <= ours


def test_wrong_counts() -> None:
    """One write too many is said, with where it was."""
    found = {
        SET_UP: Counts(2, 1, 4, 4, 4, 4),
        "same_body": IDLE,
        "shuffled": IDLE,
        "some_reported": WRITTEN,
        "all_reported": WRITTEN,
        "all_touched": Counts(1, 1, 1, 1, 1, 1),
    }
    assert differences(OURS, 1, found) == []

    found["shuffled"] = Counts(1, 1, 0, 1, 0, 0)

    assert differences(OURS, 1, found) == [
        "bike_tracker, 1 trackers, shuffled: written 1 instead of 0"
    ]
