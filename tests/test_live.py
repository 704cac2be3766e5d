"""Changes that arrive over the live connection are shown at once. Polls continue as without this connection."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntryState
from homeassistant.const import STATE_OFF, STATE_ON, STATE_UNAVAILABLE, Platform
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.bike_tracker.api.errors import ServiceUnavailableError
from custom_components.bike_tracker.api.websocket import Message
from custom_components.bike_tracker.database import Database
from custom_components.bike_tracker.polling.history import History, HistoryRequest
from custom_components.bike_tracker.tracking import Account
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.log import Gap
from custom_components.bike_tracker.tracking.state import TrackerState

from .conftest import BLUE, EMAIL, PASSWORD, RED, Bikes, async_setup, logged
from .tools.settle import settle
from .tools.simulator import Simulator
from .tools.simulator.render import position_json
from .tools.simulator.wire import pause

pytestmark = pytest.mark.usefixtures("with_live")

LISTS, SECOND = {"/api/devices", "/api/positions"}, timedelta(seconds=1)
BEGINS = 11
"""Number of seconds from a set-up until the live connection is surely open."""


@pytest.fixture(autouse=True)
def longest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the random part of each wait be as long as possible, so that tests know the length of the wait."""
    monkeypatch.setattr("random.uniform", lambda _, most: most)


@pytest.fixture
async def live(bikes: Bikes) -> Bikes:
    """Return the bikes of an account with a live connection. The clock is frozen."""
    await async_setup(bikes.hass, bikes.entry)
    await bikes.async_wait(BEGINS)
    assert len(bikes.simulator.live.sockets) == 1
    return bikes


def sign_ins(simulator: Simulator) -> int:
    """Return how often the live connection tried to sign in."""
    return simulator.record.counts["/api/session"]


def latitude(bikes: Bikes) -> float:
    """Return the latitude that is shown for the red bike."""
    shown: float = bikes.state(RED).attributes["latitude"]
    return shown


def is_online(bikes: Bikes) -> str | None:
    """Return the state of the red bike's connectivity."""
    return bikes.value_of(f"{RED}_online", Platform.BINARY_SENSOR)


def polls(simulator: Simulator) -> int:
    """Return the number of polls. Each poll requests the list of devices one time."""
    return simulator.record.counts["/api/devices"]


async def test_a_message_is_shown_at_once(live: Bikes) -> None:
    """A message is shown without a further request. It does not postpone the next poll."""
    requests = live.simulator.record.counts.total()
    contact = dt_util.utcnow().replace(microsecond=0) + timedelta(minutes=9)
    live.simulator.touch([BLUE], last_update=contact)
    await settle(live.hass)
    shown = live.value_of(f"{BLUE}_last_update", Platform.SENSOR)
    assert shown == contact.isoformat()
    live.simulator.report(RED, latitude=48.5, battery_level=7)
    await settle(live.hass)
    assert latitude(live) == 48.5
    assert live.value_of(f"{RED}_battery", Platform.SENSOR) == "7"
    assert live.simulator.record.counts.total() == requests
    # The next poll is due a minute after the set-up, not a minute after the message.
    await live.async_wait(60 - BEGINS - 2)
    assert live.simulator.record.counts.total() == requests
    await live.async_wait(3)
    assert live.simulator.record.counts.total() == requests + 1


async def test_no_news(live: Bikes, all_enabled: None, writes: list[str]) -> None:
    """A poll with the same values as an earlier message writes no state, and requests no position."""
    live.simulator.report(RED, latitude=48.5)
    await settle(live.hass)
    assert writes
    writes.clear()
    positions = live.simulator.record.counts["/api/positions"]
    await live.async_wait(61)
    await live.async_wait(61)
    assert writes == []
    assert live.simulator.record.counts["/api/positions"] == positions


async def test_a_poll_that_began_before(live: Bikes) -> None:
    """A message that arrives during a poll is applied after the poll. The next poll replaces the values of the message."""
    live.simulator.raw_devices(list(live.simulator.listed("devices", EMAIL)))
    live.simulator.fault("late-answer", path="devices", late=5)
    await live.async_wait(61)
    live.simulator.set_status(RED, "offline")
    await settle(live.hass)
    assert is_online(live) == STATE_ON
    await live.async_wait(6)
    live.simulator.fault(None)
    # What the service answered late may be as old as the request.
    assert dt_util.utcnow() - live.coordinator.service.answered_at == 6 * SECOND
    assert is_online(live) == STATE_OFF
    await live.async_wait(61)
    assert is_online(live) == STATE_ON


async def test_while_polls_fail(live: Bikes) -> None:
    """Messages during an outage are applied, even while a poll fails. After the outage, their newest values are shown."""
    live.simulator.fault("no-answer", path="devices")
    await live.async_wait(61)
    live.simulator.report(RED, latitude=48.5)
    await settle(live.hass)
    await live.async_wait(31)
    live.simulator.set_status(RED, "offline")
    await settle(live.hass)
    assert live.value_of(RED) == STATE_UNAVAILABLE
    assert not live.coordinator.live.messages
    live.simulator.fault(None)
    # Let the request for positions fail, so that the new place comes from the message.
    live.simulator.fault("status-500", path="positions")
    await live.async_wait(61)
    assert latitude(live) == 48.5
    assert is_online(live) == STATE_OFF


async def test_polling_that_is_disabled_later(live: Bikes) -> None:
    """While polling is disabled, the live connection is closed. A new title of the account does not interrupt it."""
    entries = live.hass.config_entries

    async def disable(is_disabled: bool) -> None:
        # If a user changes this option, Home Assistant also reloads the account.
        entries.async_update_entry(live.entry, pref_disable_polling=is_disabled)
        await entries.async_reload(live.entry.entry_id)
        await settle(live.hass)

    entries.async_update_entry(live.entry, title="127.0.0.2")
    await settle(live.hass)
    assert len(live.simulator.live.sockets) == 1
    await disable(True)
    assert live.simulator.live.sockets == []
    assert live.simulator.live.goodbyes == 1
    await live.async_wait(3600)
    assert sign_ins(live.simulator) == 1
    await disable(False)
    await live.async_wait(BEGINS)
    assert len(live.simulator.live.sockets) == 1


async def test_end(live: Bikes) -> None:
    """When Home Assistant stops, the connection ends with a close frame, and nothing more is requested."""
    connection = live.coordinator.live
    stopping = asyncio.create_task(live.hass.async_stop(force=True))
    while not stopping.done():
        await pause(0.002)
    await stopping
    await live.coordinator.async_refresh()
    assert live.coordinator.last_update_success
    assert connection.task and connection.task.done()
    assert live.simulator.live.sockets == []
    assert live.simulator.live.goodbyes == 1
    assert sign_ins(live.simulator) == 1
    assert {request.method for request in live.simulator.requests} == {"GET", "POST"}


# Retries


async def test_while_polls_fail_nothing_more_is_asked(live: Bikes) -> None:
    """A refused password is not sent again by the live connection until a poll succeeds."""
    live.simulator.set_password(EMAIL, "another one")
    await live.async_wait(61)
    live.simulator.live.drop()
    for _ in range(25):
        await live.async_wait(61)
    assert sign_ins(live.simulator) == 1
    live.simulator.set_password(EMAIL, PASSWORD)
    await live.coordinator.async_refresh()
    await live.async_wait(61)
    assert len(live.simulator.live.sockets) == 1
    assert sign_ins(live.simulator) == 2
    assert live.entry.state is ConfigEntryState.LOADED


async def test_waits_where_it_never_worked(bikes: Bikes) -> None:
    """If the live connection never worked, it is tried again after an hour, then daily, or after a reload.

    Once it has worked, it is tried again within seconds, even after a reload.
    """
    bikes.simulator.live_fault("session-404")
    await async_setup(bikes.hass, bikes.entry)
    await bikes.async_wait(BEGINS)
    for tried, hours in enumerate((1, 24, 24), start=1):
        await bikes.async_wait(hours * 3600 - 10)
        assert sign_ins(bikes.simulator) == tried
        await bikes.async_wait(11)
        assert sign_ins(bikes.simulator) == tried + 1
    for fault in (None, "session-404"):
        bikes.simulator.live_fault(fault)
        await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
        await bikes.async_wait(BEGINS)
        bikes.simulator.live_fault(None)
        await bikes.async_wait(5)
        assert len(bikes.simulator.live.sockets) == 1


async def test_waits_after_a_connection(live: Bikes) -> None:
    """The wait before the next attempt grows until a connection lasts for five minutes."""
    for lasted, seconds in ((0, 5), (0, 60), (280, 120), (320, 5)):
        await live.async_wait(lasted)
        live.simulator.live.drop()
        await live.async_wait(0)
        await live.async_wait(seconds - 1)
        assert live.simulator.live.sockets == []
        await live.async_wait(2)
        assert len(live.simulator.live.sockets) == 1


async def test_connected_since_before(live: Bikes) -> None:
    """`connected_since_before` is true only while a connection exists that began before the given time."""
    connection = live.coordinator.live
    since, counts = connection.report.since, connection.connected_since_before
    assert [counts(since + it * SECOND) for it in (-1, 0, 1)] == [False, False, True]
    connection.report.state = "off"
    assert not counts(since + SECOND)


# Changes while the connection was closed


async def test_what_happened_while_it_was_not_there(live: Bikes) -> None:
    """After a reconnect, a poll follows at once, because the server first sends positions, but no devices."""
    before = polls(live.simulator)
    live.simulator.live.drop()
    await settle(live.hass)
    live.simulator.set_status(RED, "offline")
    await live.async_wait(6)
    assert len(live.simulator.live.sockets) == 1
    assert polls(live.simulator) == before + 1
    assert is_online(live) == STATE_OFF


@pytest.mark.parametrize("lasts", [10, 330])
async def test_a_connection_that_flaps(live: Bikes, lasts: int) -> None:
    """Even if the connection fails often, at most 30 requests for lists are sent in ten minutes."""
    live.simulator.record.clear()
    for step in range(360):
        if step % (lasts // 10) == 0:
            live.simulator.live.drop()
        if step % 6 == 0:
            live.simulator.fault("status-503", path="positions", times=1)
        live.simulator.live_fault("tells-nothing-new")
        live.simulator.report(RED)
        live.simulator.live_fault(None)
        await live.async_wait(10)
    times = [it.time for it in live.simulator.requests if it.path in LISTS]
    ten_minutes = timedelta(minutes=10)
    for begin in times:
        assert sum(begin <= time < begin + ten_minutes for time in times) <= 30
    assert 59 <= polls(live.simulator) <= 80


# Effects of faults


async def test_diagnostics(live: Bikes, hass_client: ClientSessionGenerator) -> None:
    """Diagnostics show the connection's state, start and newest error, and the numbers of messages and reconnects."""

    async def report() -> Any:
        args = live.hass, hass_client, live.entry
        return (await get_diagnostics_for_config_entry(*args))["live"]

    since = datetime.now(UTC).isoformat()
    expected: dict[str, Any] = {"state": "live", "since": since, "why": None}
    expected |= {"messages": 1, "reconnects": 0}
    assert await report() == expected
    live.simulator.live_fault("session-401")
    await settle(live.hass)
    expected |= {"state": "waiting to reconnect", "why": "connection closed"}
    assert await report() == expected
    live.simulator.live_fault(None)
    await live.async_wait(6)
    live.simulator.live.drop()
    await live.async_wait(0)
    await live.async_wait(61)
    found = await report()
    assert (found["state"], found["reconnects"], found["messages"]) == ("live", 2, 3)
    # If only the live connection's sign-in is refused, no new password is requested.
    assert not list(live.entry.async_get_active_flows(live.hass, {SOURCE_REAUTH}))
    # While polls fail, messages are not shown, so the state is not `live`.
    live.simulator.fault("status-401")
    await live.async_wait(61)
    assert (await report())["state"] == "connected, but polls fail"


async def test_errors_that_nobody_thought_of(
    live: Bikes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If applying messages fails, an error is logged for each, and later messages work. If reading fails, the client reconnects."""
    account = live.coordinator.data
    apply_message = account.apply_message
    monkeypatch.setattr(account, "apply_message", None)
    # A report arrives as two messages.
    live.simulator.report(RED)
    await settle(live.hass)
    line = "127.0.0.1: Unexpected error handling a push message"
    assert logged(caplog) == [line] * 2
    monkeypatch.setattr(account, "apply_message", apply_message)
    await live.async_wait(2)
    live.simulator.report(RED, latitude=48.5)
    await settle(live.hass)
    assert latitude(live) == 48.5
    monkeypatch.setattr(
        "custom_components.bike_tracker.api.websocket.parse_message", None
    )
    live.simulator.touch([RED])
    await settle(live.hass)
    assert live.simulator.live.sockets == []
    monkeypatch.undo()
    assert "127.0.0.1: Not live (TypeError); next try in 5 s" in caplog.text
    await live.async_wait(6)
    assert len(live.simulator.live.sockets) == 1


async def test_requested_wait(live: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the server requests a longer wait than the usual one, the client waits that long, but at most an hour."""
    waits = {600: 600, 10: 120, 9_999: 3_600}
    asked_for, tries = iter(waits), 0

    async def refuse(_: object) -> AsyncIterator[Message]:
        nonlocal tries
        tries += 1
        raise ServiceUnavailableError("status 429", retry_after=next(asked_for))
        yield  # type: ignore[unreachable]

    monkeypatch.setattr(
        "custom_components.bike_tracker.polling.live.async_messages", refuse
    )
    live.simulator.live.drop()
    await live.async_wait(0)
    for number, seconds in enumerate([5, *waits.values()]):
        await live.async_wait(seconds - 2)
        assert tries == number
        await live.async_wait(3)
        assert tries == number + 1


async def test_long_message(live: Bikes) -> None:
    """A long message is applied in steps of at most 200 positions, so that no step blocks Home Assistant for long."""
    applied, apply = list[Any](), Account.apply_message
    device = live.simulator.devices[RED]
    position = device.position
    assert position

    def spy(account: Account, devices: Any, positions: Any, context: Any) -> Any:
        applied.append(positions)
        return apply(account, devices, positions, context)

    first, moved = position.id + 1, replace(position, latitude=48.5)
    rows = [
        position_json(replace(moved, id=number), device.id)
        for number in range(first, first + 1_299)
    ]
    with patch.object(Account, "apply_message", spy):
        live.simulator.live.tell([EMAIL], {"positions": rows})
        await settle(live.hass)
    sizes = [*map(len, applied)]
    assert (sum(sizes), max(sizes)) == (1_299, 200)
    assert latitude(live) == 48.5
    # Before its own answer, a poll applies waiting messages, also in steps of 200.
    coordinator = live.coordinator
    known = coordinator.data.trackers[RED]
    assert known.state.position
    long = Message([], [known.state.position] * 300)
    # Reports of several messages are applied together, because late ones cost a replay.
    single = Message([], [known.state.position._replace()])
    offline = Message([known.device._replace(status="offline")], [])
    with patch.object(Account, "apply_message", spy):
        coordinator.live.messages += [long, offline, single]
        await coordinator.async_refresh()
    assert [*map(len, applied[-3:])] == [200, 0, 101]
    assert applied[-1][-1] is single.positions[0]
    assert is_online(live) == STATE_ON
    # The message changed the status before the poll did, so each change is an event.
    kinds = [it.type for it in coordinator.data.states[RED].occurrences]
    assert kinds == ["went_offline", "came_online"]


@pytest.mark.parametrize("changes", [False, True])
async def test_long_history(live: Bikes, changes: bool) -> None:
    """If the tracker changes while a thread replays a long history, it keeps its change: the history is requested again."""
    coordinator = live.coordinator
    account, replay = coordinator.data, TrackerState.with_history
    known = account.trackers[RED].state.position
    assert known and known.fix_time
    now = known.fix_time
    reports = [
        known._replace(id=-number, fix_time=now - timedelta(seconds=number))
        for number in range(201)
    ]
    answer = HistoryAnswer(reports, now)
    request = HistoryRequest(RED, 1, now - timedelta(hours=1), now)

    def spy(state: TrackerState, answer: HistoryAnswer, at: datetime) -> Any:
        if changes:
            account.states[RED] = state._replace(changed_by="Ann")
        return replay(state, answer, at)

    with (
        patch.object(TrackerState, "with_history", spy),
        patch.object(History, "async_ask", return_value=answer),
    ):
        await coordinator._async_ask_history(request)  # noqa: SLF001
    assert (len(account.states[RED].log.inputs) > 200) is not changes
    assert (account.states[RED].changed_by == "Ann") is changes
    # If the tracker was removed, the answer with its history changes nothing.
    gone = request._replace(tracker="gone")
    await coordinator._async_apply_history(gone, answer)  # noqa: SLF001
    assert "gone" not in account.states


async def test_failing_history(live: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If applying a history answer fails, an error is logged, the tracker keeps its state, and its next request waits."""
    coordinator, now = live.coordinator, dt_util.utcnow()
    known, history = coordinator.data.states[RED], coordinator.service.history
    gaps = {RED: Gap(now - timedelta(hours=1), wanted_at=now)}
    arguments = gaps, coordinator.data.trackers, now
    assert history.next_gap(*arguments)
    with (
        patch.object(TrackerState, "with_history", side_effect=RuntimeError),
        patch.object(History, "async_ask", return_value=HistoryAnswer([], now)),
    ):
        request = HistoryRequest(RED, 1, now - timedelta(hours=1), now)
        await coordinator._async_ask_history(request)  # noqa: SLF001
    assert f"{live.entry.title}: Unexpected error in a history" in caplog.text
    assert coordinator.data.states[RED] is known
    assert history.next_gap(*arguments) is None


async def test_message_during_the_unload(live: Bikes) -> None:
    """A message during an unload is not applied: it could not be written to the database."""
    coordinator, close = live.coordinator, Database.async_close

    async def slowly(self: Database, *args: Any) -> None:
        await close(self, *args)
        live.simulator.report(RED, latitude=48.7)
        await settle(live.hass)

    live.simulator.report(RED, latitude=48.6)
    await settle(live.hass)
    with patch.object(Database, "async_close", slowly):
        await live.hass.config_entries.async_unload(live.entry.entry_id)
    known = coordinator.data.states[RED].position
    live.simulator.fault("status-500", path="positions")
    await async_setup(live.hass, live.entry)
    stored = live.coordinator.data.states[RED].position
    assert known and stored
    assert stored.latitude == known.latitude == 48.6


async def test_gap_is_requested_with_a_message(live: Bikes) -> None:
    """If reports may be missing, the history is requested after the next message, unless polls fail."""
    now = dt_util.utcnow()
    gap = Gap(now - timedelta(hours=1), wanted_at=now)
    live.coordinator.data.gaps[BLUE] = gap
    live.simulator.record.clear()
    for works in (False, True):
        live.coordinator.last_update_success = works
        live.simulator.report(RED)
        await settle(live.hass)
        assert bool(live.simulator.record.counts["/api/positions"]) is works
    assert polls(live.simulator) == 0
