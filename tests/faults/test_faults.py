"""Tests of each fault: during the set-up, while the integration runs, and only for requests for positions.

The fixtures in conftest.py search for secrets in everything that was written.
"""

import logging
from typing import Any

from homeassistant.config_entries import SOURCE_USER, ConfigEntryState
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
import pytest

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import MakeEntry, async_setup
from ..long import some
from ..tools.faults.__main__ import PAGE, tables
from ..tools.faults.decided import (
    DECIDED,
    DECIDED_PLACES,
    SERIAL_NUMBER,
    SOMETHING_ELSE,
    TROUBLES,
    UNKNOWN,
    Decided,
    Outcome,
)
from ..tools.faults.home import Home, States
from ..tools.simulator import LIVE_FAULTS
from ..tools.simulator.faults import Fault
from ..tools.tables import tables_of
from .conftest import EMAIL, PASSWORD, SECRETS, LookAround, Written

HOUR = 60 * 60
RECOVERED = "Fetching bike_tracker 127.0.0.1 data recovered"
"""The line that is logged when polls succeed again after a fault."""
LONG_TROUBLES = (
    *("field-uniqueId-missing", "html", "json-truncated", "name-not-found"),
    *("no-answer", "status-401", "status-404", "status-429-date", "status-500"),
)
"""Faults of each kind (connection, body, status, value). In test_right_again, they last for an hour or a day."""


def changes(before: States, after: States) -> set[tuple[str, str]]:
    """Return the changed entities and the kinds of their new states (see `_in_words`). All trackers must change alike."""
    by_tracker = [
        {
            (key, _in_words(tracker, after[tracker][key]))
            for key, value in values.items()
            if after[tracker][key] != value
        }
        for tracker, values in before.items()
    ]
    assert all(found == by_tracker[0] for found in by_tracker)
    return by_tracker[0]


def _in_words(tracker: str, value: str) -> str:
    if value in {UNKNOWN, STATE_UNAVAILABLE}:
        return value
    return SERIAL_NUMBER if value == tracker else SOMETHING_ELSE


def outcome_of(home: Home) -> Outcome:
    """Return the effect of the fault on the account. Its entities must be all available or all unavailable."""
    if home.asks_to_sign_in:
        return Outcome.SIGN_IN
    if home.entry.state is ConfigEntryState.SETUP_RETRY:
        return Outcome.TRIED_AGAIN
    assert home.entry.state is ConfigEntryState.LOADED
    [unavailable] = {
        value == STATE_UNAVAILABLE
        for values in home.states().values()
        for key, value in values.items()
        # Leave out entities that stay available, because they do not need the service.
        if key not in {"name", "guard", "rides", "ride", "alarm"}
    }
    return Outcome.UNAVAILABLE if unavailable else Outcome.AVAILABLE


def failed(decided: Decided) -> str:
    """Return the line that is logged when polls fail after a success."""
    assert decided.message is not None
    return f"Error fetching bike_tracker 127.0.0.1 data: {decided.message.text}"


def test_page() -> None:
    """The table in docs/faults.md shows the effects in `DECIDED`, which the tests below expect."""
    assert tables_of(PAGE) == tables()


@pytest.mark.parametrize("trouble", some(TROUBLES, every=2), indirect=True)
async def test_trouble(home: Home, look_around: LookAround, trouble: Fault) -> None:
    """Each fault has exactly the effects in `DECIDED`, and no secret is written."""
    decided = DECIDED[trouble.name]
    await while_running(home, decided, look_around)
    await at_setup(home, decided, look_around)


async def at_setup(home: Home, decided: Decided, look_around: LookAround) -> None:
    """Set the account up during the fault. Expect the decided effects and, after the fault, the original states."""
    before, registries = home.states(), home.registries()
    await home.unload()
    await home.wait(61)
    polls, requests = home.polls, home.requests
    with home.in_trouble():
        await home.set_up()
        assert outcome_of(home) is decided.at_setup
        assert home.polls == polls + 1
        assert home.requests == requests + decided.requests
        assert home.entry.reason == (decided.message and decided.message.text)
        assert home.log() == []
        if decided.at_setup is Outcome.AVAILABLE:
            assert changes(before, home.states()) == decided.changes
            assert await home.next_poll(60) == 60
        else:
            assert home.registries() == registries
            assert await home.next_poll(5, 60) == 5
        assert home.log() == []
        await look_around()
    if decided.at_setup is Outcome.SIGN_IN and home.asks_to_sign_in:
        await home.sign_in_again(PASSWORD)
    else:
        await home.next_poll(10, 60)
    assert outcome_of(home) is Outcome.AVAILABLE
    assert home.states() == before
    assert home.registries() == registries
    assert home.log() == []


async def while_running(home: Home, decided: Decided, look_around: LookAround) -> None:
    """Run two polls during the fault. Expect the decided effects and, after the fault, the original states."""
    before, registries = home.states(), home.registries()
    polls, requests = home.polls, home.requests
    with home.in_trouble():
        await home.wait(61)
        first = outcome_of(home)
        assert first is (Outcome.UNAVAILABLE if decided.message else Outcome.AVAILABLE)
        assert home.polls == polls + 1
        assert home.requests == requests + decided.requests
        if first is Outcome.AVAILABLE:
            assert changes(before, home.states()) == decided.changes
            assert home.log() == []
        else:
            assert home.log() == [failed(decided)]
            assert home.registries() == registries
        assert await home.next_poll(60, 120) == decided.next_poll
        assert outcome_of(home) is (decided.then or first)
        await look_around()
    await home.next_poll(60, 120, 290)
    assert outcome_of(home) is Outcome.AVAILABLE
    assert home.states() == before
    assert home.registries() == registries
    assert home.log() == [RECOVERED] * (decided.message is not None)
    assert await home.next_poll(60) == 60


@pytest.mark.parametrize("trouble", some(DECIDED_PLACES, every=2), indirect=True)
async def test_positions(home: Home, trouble: Fault) -> None:
    """If only requests for positions fail, polls succeed. After the fault, bikes are shown at their current places."""
    decided = DECIDED_PLACES[trouble.name]
    registries = home.registries()
    places = home.places()
    with home.in_trouble(path="positions"):
        home.simulator.report_many()
        requests = home.position_requests
        await home.wait(61)
        assert outcome_of(home) is Outcome.AVAILABLE
        assert home.position_requests == requests + decided.requests
        assert (home.places() == places) is decided.is_kept
        times = {values["position_time"] for values in home.states().values()}
        assert (times == {UNKNOWN}) is not decided.has_time
        began = [line.rpartition(" (")[0] for line in home.log()]
        line = "127.0.0.1: Positions cannot be fetched"
        assert began == [line] * decided.is_kept
        again = await home.next_poll(60, 120, 3600, of_positions=True)
        assert again == decided.asked_again
    home.simulator.report_many()
    await home.wait(300)
    await home.wait(61)
    assert home.places() == home.true_places()
    assert home.registries() == registries
    line = "127.0.0.1: Positions are fetched again"
    assert home.log() == [line] * decided.is_kept


def is_right(home: Home) -> bool:
    """Return whether entities are available, and each bike has the name and the place that the service sends."""
    names = {it.unique_id: it.name for it in home.simulator.devices.values()}
    return (
        outcome_of(home) is Outcome.AVAILABLE
        and {tracker: it["name"] for tracker, it in home.states().items()} == names
        and home.places() == home.true_places()
    )


@pytest.mark.parametrize("lasted", some([HOUR, 24 * HOUR], every=2))
@pytest.mark.parametrize("trouble", LONG_TROUBLES, indirect=True)
async def test_right_again(home: Home, trouble: Fault, lasted: int) -> None:
    """After a fault of an hour or a day, names and places are right within five minutes (an hour after refused sign-ins)."""
    clock = home.hass.loop.time
    parked, ridden = home.simulator.devices
    with home.in_trouble():
        home.simulator.rename(parked, "The old bike")
        home.simulator.report_many([parked])
        end = clock() + lasted
        while clock() < end:
            await home.wait_until_due(end - clock())
        polls = home.polls
        while home.polls == polls:
            home.simulator.report_many([ridden])
            await home.wait_until_due(HOUR)
        assert not is_right(home)
    # After refused sign-ins, wait longer: the integration retries less often, so that the
    # server does not lock the account.
    end = clock() + (HOUR + 10 if trouble.name == "status-401" else 5 * 60)
    while not is_right(home):
        assert clock() < end
        await home.wait_until_due(end - clock())


async def test_neighbor(hass: HomeAssistant, home: Home, make_entry: MakeEntry) -> None:
    """If an account has to sign in again, another account at the same server is not affected."""
    home.simulator.add_account("bob@example.com", "old password")
    home.simulator.add_device("860000000000033", email="bob@example.com")
    other = make_entry("bob@example.com", "old password", home.entry.data["url"])
    await async_setup(hass, other)
    before = home.states()
    home.simulator.set_password("bob@example.com", "new password")
    home.log()
    for _ in range(3):
        await home.wait(61)
    assert list(other.async_get_active_flows(hass, {"reauth"}))
    assert not home.asks_to_sign_in
    assert home.states() == before
    assert len(home.log()) == 1


STRANGER = "stranger@example.com"


@pytest.mark.parametrize(
    ("fault", "typed"),
    [
        *((fault, {}) for fault in (None, "html", "status-500")),
        *((fault, {}) for fault in DECIDED if fault.startswith("redirect-")),
        (None, {CONF_PASSWORD: "wrong"}),
        (None, {CONF_PASSWORD: "half \ud83d"}),
        (None, {CONF_EMAIL: f"{EMAIL}:{PASSWORD}"}),
        (None, {CONF_EMAIL: ""}),
        (None, {CONF_URL: f"https://{EMAIL}:{PASSWORD}@localhost"}),
        (None, {CONF_URL: f"http://tracker.example.com/{PASSWORD}"}),
        (None, {CONF_URL: f"{PASSWORD} {EMAIL}"}),
        # The error about an account with other trackers contains no secret, either.
        (None, {CONF_EMAIL: STRANGER}),
    ],
)
async def test_flows(
    hass: HomeAssistant,
    home: Home,
    written: Written,
    fault: str | None,
    typed: dict[str, str],
) -> None:
    """No flow writes a secret, even after wrong input, after a wrong answer or for an existing account.

    Only the forms of an existing account contain its email.
    """
    home.simulator.add_account(STRANGER, PASSWORD)
    home.simulator.fault(fault)
    account: dict[str, Any] = {**home.entry.data, **typed}
    result = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}, data=account
    )
    fails = fault is not None or (bool(typed) and STRANGER not in typed.values())
    assert bool(result.get("errors")) is fails
    written.add_flow(result)
    password = {CONF_PASSWORD: account[CONF_PASSWORD]}
    is_refused = fault is not None or CONF_PASSWORD in typed
    for form, filled_in, is_wrong in (
        (await home.entry.start_reconfigure_flow(hass), account, fails),
        (await home.entry.start_reauth_flow(hass), password, is_refused),
    ):
        placeholders = form["description_placeholders"]
        assert placeholders and placeholders[CONF_EMAIL] == EMAIL
        result = await hass.config_entries.flow.async_configure(
            form["flow_id"], filled_in
        )
        assert bool(result.get("errors")) is is_wrong
        written.add_flow(result)
    await hass.async_block_till_done()


@pytest.mark.usefixtures("with_live")
async def test_live(home: Home, written: Written, look_around: LookAround) -> None:
    """A minute after a fault of the live connection begins, places are correct. Only websocket requests have the cookie."""
    simulator = home.simulator
    await home.wait(11)
    for name in (None, *LIVE_FAULTS):
        simulator.live_fault(name)
        simulator.live.drop()
        simulator.report_many()
        await home.wait(62)
        assert home.places() == home.true_places(), name
        for seconds in (120, 240):
            await home.wait(seconds)
        await look_around()
        simulator.live_fault(None)
        await home.wait(16 * 60)
        assert len(simulator.live.sockets) == 1, name
    assert not [text for _, text in written.texts if simulator.live.knows_cookie(text)]
    assert simulator.live.cookies > len(LIVE_FAULTS)
    # Leave out requests for `/api` itself: the page *System health* sends them without
    # credentials.
    requests = [item for item in simulator.requests if item.path != "/api"]
    for request in requests:
        is_socket = request.path == "/api/socket"
        assert (request.header("Cookie") is not None) is is_socket
        assert not simulator.live.knows_cookie(str(request.headers)) or is_socket
    assert {request.path for request in requests} == {
        *("/api/devices", "/api/positions", "/api/session", "/api/socket")
    }


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_are_found(written: Written, secret: str) -> None:
    """Each secret is found in the log, in a traceback and in a state. Otherwise, the tests above could not fail."""
    value = SECRETS[secret]
    logging.getLogger("homeassistant.core").debug("<%s>", value)
    assert (secret, "log") in written.found()
    written.texts.clear()
    logging.getLogger(DOMAIN).error("Failed", exc_info=ValueError(value))
    assert (secret, "log") in written.found()
    written.add("states", {"a": [{"b": f"<{value}>"}]})
    assert (secret, "states") in written.found()
