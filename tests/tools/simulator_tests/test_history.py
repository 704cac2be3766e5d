"""What trackers reported in the past, as Traccar tells it."""

from datetime import UTC, datetime, timedelta

from aiohttp import ClientSession
import pytest

from tests.tools.simulator import Simulator

from .conftest import EMAIL, PASSWORD, Answer, Ask

BIKE = "860000000000001"
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def question(
    simulator: Simulator,
    *,
    start: datetime = NOON,
    minutes: float = 60,
    device_id: object = None,
) -> str:
    """Return what is asked for: what the first tracker reported from noon on."""
    device_id = device_id or simulator.devices[BIKE].id
    times = [
        moment.isoformat().replace("+00:00", "Z")
        for moment in (start, start + timedelta(minutes=minutes))
    ]
    return f"positions?deviceId={device_id}&from={times[0]}&to={times[1]}"


def ride(simulator: Simulator, reports: int = 5) -> list[int]:
    """Have the tracker report once a minute from noon on; return the IDs of its positions."""
    return [
        simulator.report(BIKE, last_update=NOON + timedelta(minutes=minute)).id
        for minute in range(reports)
    ]


def ids(answer: Answer) -> list[int]:
    """Return the IDs in an answer, as they came."""
    return [position["id"] for position in answer.json()]


async def test_every_report_by_its_fix(simulator: Simulator, ask: Ask) -> None:
    """From and to are part of it, others and those of other trackers are not."""
    reported = ride(simulator)
    simulator.report("860000000000002", last_update=NOON)
    assert ids(await ask(question(simulator))) == reported
    assert ids(await ask(question(simulator, minutes=2))) == reported[:3]
    assert ids(await ask(question(simulator, start=NOON - timedelta(days=1)))) == []


async def test_a_report_that_was_kept_by_the_tracker(
    simulator: Simulator, ask: Ask
) -> None:
    """It is in the history alone, where its fix puts it."""
    reported = ride(simulator)
    before = await ask(), await ask("positions")
    late = simulator.report(
        BIKE, fix_time=NOON + timedelta(seconds=90), is_buffered=True
    )
    assert ids(await ask(question(simulator))) == [
        *reported[:2],
        late.id,
        *reported[2:],
    ]
    devices, positions = await ask(), await ask("positions")
    assert sorted(ids(devices)) == sorted(ids(before[0]))
    assert sorted(ids(positions)) == sorted(ids(before[1]))


async def test_no_more_than_the_operator_lets_out(
    simulator: Simulator, ask: Ask
) -> None:
    """The first ones of those asked for."""
    reported = ride(simulator)
    simulator.set_max_positions(3)
    assert ids(await ask(question(simulator))) == reported[:3]


@pytest.mark.parametrize("kind", ["4.11", "5.12", "6.14.5"])
async def test_account_without_reports(session: ClientSession, kind: str) -> None:
    """Newer servers refuse it as they refuse a wrong question, older ones do not know of it."""
    async with Simulator(kind=kind) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(BIKE, email=EMAIL)
        reported = ride(simulator)
        ask = Ask(simulator, session)
        assert ids(await ask(question(simulator))) == reported
        simulator.set_disable_reports(EMAIL, True)
        answer = await ask(question(simulator))
        assert (answer.status == 400) is (kind != "4.11")
        assert (b"SecurityException" in answer.body) is (kind != "4.11")
        assert b"SecurityRequestFilter" not in answer.body
        assert (await ask("positions")).status == 200
