"""What the benchmark makes of its figures: its page, and what it says is not reached."""

from collections import defaultdict
import csv
from dataclasses import asdict
from pathlib import Path
from xml.etree.ElementTree import fromstring

import orjson
import pytest

from custom_components.bike_tracker import (
    binary_sensor as our_binary_sensor,
    sensor as our_sensor,
)
from custom_components.bike_tracker.entity import always

from .tools.benchmark import measured, plan
from .tools.benchmark.automations import FEW, MANY, ONE, TITLES as TITLES_OF_AUTOMATIONS
from .tools.benchmark.candidates import CANDIDATES, LISTENERS
from .tools.benchmark.chart import Chart, draw
from .tools.benchmark.counters import Counts
from .tools.benchmark.expected import differences
from .tools.benchmark.goals import FULL_KINDS, LIVE_PEER, goals
from .tools.benchmark.live_results import Heard, LiveResults
from .tools.benchmark.measured import Finding, NotMeasuredError, load, save
from .tools.benchmark.meter import Cost
from .tools.benchmark.plan import (
    BEYOND_THE_LIMIT,
    IDLERS,
    LARGE,
    MOST,
    OURS,
    SMALL,
    TOLD_OF,
    UNRECORDED,
    USUAL,
)
from .tools.benchmark.report import report, tables
from .tools.benchmark.reports import (
    READ_ALL,
    READ_SOME,
    RIDING,
    STANDING,
    TITLES as REPORT_TITLES,
    measure,
)
from .tools.benchmark.results import FullCost, Limit, Results
from .tools.benchmark.scenarios import (
    ALL_TOLD,
    FULL_TITLES,
    GUARDING,
    KEEP_ALIVE,
    NOTHING,
    ONE_TOLD,
    PING,
    POLLS,
    SAME_BODY,
    SET_UP,
    SET_UP_AGAIN,
    SHUFFLED,
    SOME_REPORTED,
    TITLES,
    TOLD,
    TRIGGERED,
    UNGUARDED,
)
from .tools.benchmark.service.fleet import EMAIL as RIDER, Fleet
from .tools.benchmark.usual_way import binary_sensor, sensor
from .tools.simulator import Simulator

IDLE = Counts(requests=1, bytes=100, changed=0, written=0, different=0, rows=0)
WRITTEN = Counts(requests=2, bytes=200, changed=3, written=3, different=3, rows=3)


def cost(cpu: float) -> Cost:
    """Return what a poll cost that took so many seconds of CPU."""
    return Cost(cpu=cpu, wall=cpu, block=cpu, busy=0.01, collecting=0)


@pytest.mark.parametrize("full", [False, True])
async def test_rows_are_as_long_as_real_ones(*, full: bool) -> None:
    """What costs by the byte is measured with as many bytes as Traccar sends, 450 and 780."""
    async with Simulator() as simulator:
        fleet = Fleet(simulator, 3, full=full)
        for _ in range(2):
            for row in simulator.listed("devices", RIDER):
                assert 430 <= len(orjson.dumps(row)) <= 470
            for row in simulator.listed("positions", RIDER):
                assert 730 <= len(orjson.dumps(row)) <= 830
            fleet.commands["report"](3)


RUNS = {
    "polls": "a machine.",
    "live": "a live machine, and for the others what they ask for. Commit `abc`.",
    "reports": "another machine.",
    "automations": "one more machine.",
    "guard": "a guarded machine.",
}


def heard(*, seconds: float = 0.002, cpu: float = 0.003, busy: float = 0.01) -> Heard:
    """Return what it took to show two messages, in a time in which a millisecond passes without any."""
    return Heard(seconds, cpu, busy, busy, messages=2, changed=4)


def live_results() -> LiveResults:
    """Return results of listening with which every goal is reached."""
    found = LiveResults()
    for trackers in TOLD_OF:
        for candidate, cpu in ((OURS, 0.003), (LIVE_PEER, 0.005)):
            found.quiet[trackers, candidate] = [0.001]
            for told in TOLD:
                found.heard[trackers, candidate, told.key] = [heard(cpu=cpu)]
    for trackers in IDLERS:
        found.memory[trackers] = 2_048 * trackers
        for candidate in LISTENERS:
            for work, ms in ((NOTHING, 1), (KEEP_ALIVE, 6), (PING, 7), (POLLS, 11)):
                found.idle[trackers, candidate, work] = [ms / 1000]
    return found


@pytest.fixture
def results() -> Results:
    """Return results with which every goal is reached: a hundredth of what others cost."""
    found = Results(costs=defaultdict(list))
    for trackers in (*SMALL, *LARGE, MOST):
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
    found.limits[BEYOND_THE_LIMIT] = Limit(shown=2_500, left_out=1_500, changed=7_500)
    found.reports = [{READ_ALL: 6e-6, READ_SOME: 5e-6, STANDING: 4e-6, RIDING: 7e-6}]
    for watched in (FEW, MANY):
        found.automations[watched] = [dict.fromkeys(TITLES_OF_AUTOMATIONS, 0.0002)]
    for trackers in IDLERS:
        guards = {TRIGGERED: [0.002], UNGUARDED: [0.001], GUARDING: [0.000005]}
        found.add(plan.GUARD, OURS, trackers, guards)
    found.live = live_results()
    return found


def test_page(results: Results) -> None:
    """It says what is not reached, and has every candidate beside this integration."""
    assert "All are reached." in report(results, RUNS)
    results.automations[FEW][0][ONE] = 0.0004
    results.costs[1_000, OURS, "all_reported"] = [cost(0.2)]

    page = report(results, RUNS)

    assert page.count("| **no** |") == 1
    assert "| all changed | CPU below that of the usual way | 1,000: 2.00 ×" in page
    assert "\n1. Each field is checked" in page
    assert "100.0 (100.0 ×)" in page
    assert "- live at commit `abc`: a live machine\n" in page
    assert "| 1 | one reports | 2.0 | 2.0 | 1000 | 2000 |" in page
    assert "| an idle poll | 0.20 | 0.20 |" in page
    assert "| 1,000 | 2.0 | 1000 | 5.0 | 0.50 % |" in page


def test_tables(results: Results) -> None:
    """They have every figure: each goal, and each candidate with every fleet and work."""
    found = {
        name: list(csv.DictReader(text.splitlines()))
        for name, text in tables(results).items()
    }

    assert {row["Reached"] for row in found["goals"]} == {"yes"}
    assert len(found["goals"]) == len(goals(results))
    works = len(TITLES) * len((*SMALL, *LARGE))
    rows = [row for row in found["polls"] if row["Candidate"] == "scorpiontrack"]
    assert len(rows) == works
    assert {row["CPU ms"] for row in rows} == {"100.00"}
    ours = found["live"][0]
    assert (ours["CPU µs per message"], ours["Messages"]) == ("1000", "2")
    assert [row["Part"] for row in found["profile"]] == ["sensor.py", "api.py"]
    assert {row["Ratio"] for row in found["everything"]} == {"0.10"}


@pytest.mark.parametrize(
    ("work", "seconds", "missed"),
    [
        (SAME_BODY.key, 0.09, 1),
        (SHUFFLED.key, 0.09, 1),
        (SOME_REPORTED.key, 0.02, 2),
        (SOME_REPORTED.key, 0.2, 3),
        ("all_reported", 0.2, 1),
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
    results.limits[BEYOND_THE_LIMIT] = Limit(shown=2_499, left_out=1_501, changed=7_497)
    results.costs[100, OURS, SHUFFLED.key].append(Cost(0, 0, 0, 0.06, 0))
    results.reports[0][READ_ALL] = 6.6e-6
    results.automations[FEW][0][ONE] = 0.0011
    results.guards[1][TRIGGERED] += [0.011, 0.011]
    results.guards[1_000][GUARDING] = [0.000011]

    found = [goal.work for goal in goals(results) if not goal.reached]

    assert found == [
        SAME_BODY.title,
        SOME_REPORTED.title,
        "memory per tracker",
        "set-up and polls",
        SHUFFLED.title,
        REPORT_TITLES[READ_ALL],
        f"10 automations, {TITLES_OF_AUTOMATIONS[ONE]}",
        "live, a guarded bike begins to move",
        "live, all report, none is guarded",
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


def test_live_goals(results: Results) -> None:
    """News is shown soon, costs no more than elsewhere and never blocks; and listening is cheap."""
    results.live.heard[10, OURS, ONE_TOLD.key] = [heard(seconds=0.011)]
    results.live.heard[100, OURS, ONE_TOLD.key] = [heard(cpu=0.0051)]
    results.live.heard[1_000, OURS, ALL_TOLD.key] = [
        heard(),
        heard(),
        heard(busy=0.051),
    ]
    results.live.idle[1_000, OURS, KEEP_ALIVE] = [0.012]

    found = [goal for goal in goals(results) if not goal.reached]

    assert [(goal.trackers, goal.work, goal.found) for goal in found] == [
        (10, "live, one reports", "11.0 ms"),
        (100, "live, one reports", "1.03 × (2050 µs, 2000 µs)"),
        (1_000, "live, all report", "51.0 ms"),
        (1_000, "live, an hour without news", "1.10 × (11.0 ms, 10.0 ms)"),
    ]


def test_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured is the same when it is read again."""
    monkeypatch.setattr(measured, "FOLDER", tmp_path / "measured")
    with pytest.raises(NotMeasuredError, match="live"):
        load(plan.LIVE, Results())
    news = asdict(heard(cpu=0.00212345678))
    findings = [
        Finding(
            plan.LIVE, OURS, 10, {"one": [news], "some": [], "all": [], NOTHING: [0.1]}
        ),
        Finding(plan.IDLE, OURS, 10, {KEEP_ALIVE: [0.3], NOTHING: [0.1]}),
        Finding(plan.LIVE_MEMORY, OURS, 10, {"bytes": 7}),
    ]
    save(plan.LIVE, "a machine.", findings)
    found = Results()

    assert load(plan.LIVE, found) == "a machine."

    assert found.live.heard[10, OURS, "one"] == [heard(cpu=0.0021235)]
    assert found.live.quiet[10, OURS] == [0.1]
    assert found.live.idle_cpu(10, OURS, KEEP_ALIVE) == pytest.approx(0.2)
    assert found.live.memory == {10: 7}


def test_reports() -> None:
    """Each has a figure."""
    assert measure(50).keys() == REPORT_TITLES.keys()


def test_picture() -> None:
    """Dearer is higher up and more trackers further right, by powers of ten, on light pages and dark ones."""
    chart = Chart("Polls", {"a": {1: 0.1, 10: 1.0, 100: 10.0}, "b": {1: 10, 100: 10}})

    root = fromstring(  # noqa: S314 - what we wrote ourselves
        draw([chart], {"a": "this one", "b": "`another`"})
    )

    svg = "{http://www.w3.org/2000/svg}"
    paths = [path.get("d", "") for path in root.iter(f"{svg}path")]
    assert "M66.0 224.0L194.0 129.0L322.0 34.0" in paths
    assert "M66.0 34.0L322.0 34.0" in paths
    texts = [text.text for text in root.iter(f"{svg}text")]
    assert {"Polls", "0.1 ms", "10 ms", "100", "this one", "another"} <= set(texts)
    style = root.findtext(f"{svg}style", "")
    assert "prefers-color-scheme:dark" in style


def test_same_entities() -> None:
    """The usual way has no entity that this integration has not, so that both are alike."""
    ours = {
        (kind.key, kind.entity_registry_enabled_default, kind.reported_fn is not always)
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
        SET_UP: Counts(2, 1, 5, 5, 5, 5),
        "same_body": IDLE,
        "shuffled": IDLE,
        "some_reported": WRITTEN,
        "all_reported": WRITTEN,
        "all_touched": Counts(1, 1, 0, 0, 0, 0),
    }
    assert differences(OURS, 1, found) == []

    found["shuffled"] = Counts(1, 1, 0, 1, 0, 0)

    assert differences(OURS, 1, found) == [
        "bike_tracker, 1 trackers, shuffled: written 1 instead of 0"
    ]
