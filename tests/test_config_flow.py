"""Signing in, signing in again, and changing the account."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
import json
import logging
from pathlib import Path
import re
import socket
from typing import Any

from aiohttp import ClientTimeout, ThreadedResolver
from homeassistant.config_entries import (
    SOURCE_REAUTH,
    SOURCE_USER,
    ConfigEntryDisabler,
    ConfigEntryState,
    ConfigFlowResult,
)
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import device_registry as dr
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    get_schema_suggested_value,
)

from custom_components.bike_tracker import config_flow
from custom_components.bike_tracker.api import client as client_module
from custom_components.bike_tracker.api.client import TrackingClient
from custom_components.bike_tracker.const import DOMAIN

from .api.conftest import Served, recorded_answer
from .conftest import (
    BLUE,
    BOB,
    EMAIL,
    PASSWORD,
    RED,
    MakeEntry,
    Poll,
    StateOf,
    async_setup,
)
from .long import some
from .tools.faults.decided import DECIDED_PLACES
from .tools.faults.trouble import TROUBLES
from .tools.simulator import Simulator, client_context

# What the simulator fails in, and what the person reads.
SERVER_FAILURES = [
    ("connection-refused", CONF_URL, "connection_refused"),
    ("close-before-headers", "base", "cannot_connect"),
    ("status-503", "base", "cannot_connect"),
    ("status-429", "base", "cannot_connect"),
    ("html", CONF_URL, "invalid_response"),
    ("json-object", CONF_URL, "invalid_response"),
    ("status-404", CONF_URL, "invalid_response"),
    ("status-403", CONF_URL, "invalid_response"),
    ("redirect-302-other", CONF_URL, "redirected"),
    ("status-401", "base", "invalid_auth"),
]

TYPING_ERRORS = [
    (CONF_URL, "", "invalid_url"),
    (CONF_URL, "two words", "invalid_url"),
    (CONF_URL, "ftp://tracker.example.com", "invalid_url"),
    (CONF_URL, "https://me:secret@tracker.example.com", "invalid_url"),
    (CONF_URL, "http://[fe80::1%25eth0]", "invalid_url"),
    (CONF_URL, "http://tracker.example.com", "insecure_url"),
    (CONF_EMAIL, " ", "invalid_email"),
    (CONF_EMAIL, "ann:bob@example.com", "invalid_email"),
]


# Nobody knows after these whether the service offers positions.
MAY_PASS = re.compile(
    "close-|gzip-broken|headers-too|late-|length-|no-answer|not-http|reset-|slow-"
    "|status-(408|429|5)"
)


@pytest.fixture
def typed(simulator: Simulator) -> dict[str, Any]:
    """Return what a person types."""
    return {CONF_URL: simulator.url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD}


@pytest.fixture
async def other() -> AsyncIterator[Simulator]:
    """Return another service on the same host, where the account has no trackers."""
    async with Simulator(prefix="/bikes") as other:
        other.add_account(EMAIL, PASSWORD)
        yield other


async def async_start(hass: HomeAssistant) -> ConfigFlowResult:
    """Open the form for a new account."""
    result = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}
    )
    assert result["type"] is FlowResultType.FORM
    assert result["step_id"] == "user"
    assert not result["errors"]
    return result


async def async_submit(
    hass: HomeAssistant, flow: ConfigFlowResult, typed: dict[str, Any]
) -> ConfigFlowResult:
    """Submit a form."""
    result = await hass.config_entries.flow.async_configure(flow["flow_id"], typed)
    await hass.async_block_till_done(wait_background_tasks=True)
    return result


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the integration wrote into the log for the person to see."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.WARNING and "bike_tracker" in record.name
    ]


def shown(form: ConfigFlowResult) -> dict[str, Any]:
    """Return what stands in a form's fields."""
    schema = form["data_schema"]
    assert schema is not None
    fields = {
        str(key): get_schema_suggested_value(schema.schema, key)
        for key in schema.schema
    }
    return {field: value for field, value in fields.items() if value is not None}


async def test_user(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """A sign-in that works makes an entry whose trackers are there."""
    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == f"127.0.0.1:{simulator.port}"
    assert result["data"] == typed
    assert result["result"].unique_id == f"{EMAIL}@127.0.0.1:{simulator.port}"
    assert hass.states.get("device_tracker.red_bike")


async def test_user_types_as_people_do(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """Spaces, capitals and a missing /api are no mistakes; the password stays as typed."""
    password = " with spaces "
    simulator.set_password(EMAIL, password)
    typed = {
        CONF_URL: f"  HTTP://127.0.0.1:{simulator.port}/ ",
        CONF_EMAIL: f" {EMAIL} ",
        CONF_PASSWORD: password,
    }

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["data"] == {
        CONF_URL: simulator.url,
        CONF_EMAIL: EMAIL,
        CONF_PASSWORD: password,
    }


@pytest.mark.parametrize(("fault", "field", "error"), SERVER_FAILURES)
async def test_user_server_fails(
    hass: HomeAssistant,
    simulator: Simulator,
    typed: dict[str, Any],
    fault: str,
    field: str,
    error: str,
) -> None:
    """Each failure has its own error; what was typed is kept; a second try works."""
    simulator.fault(fault)

    form = await async_submit(hass, await async_start(hass), typed)
    assert form["type"] is FlowResultType.FORM
    assert form["errors"] == {field: error}
    assert shown(form) == typed
    assert not hass.config_entries.async_entries(DOMAIN)

    simulator.fault(None)
    result = await async_submit(hass, form, typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY


@pytest.mark.parametrize(("field", "value", "error"), TYPING_ERRORS)
async def test_user_mistypes(
    hass: HomeAssistant,
    simulator: Simulator,
    typed: dict[str, Any],
    field: str,
    value: str,
    error: str,
) -> None:
    """What cannot be right is said at its field, before anything is sent."""
    form = await async_submit(hass, await async_start(hass), {**typed, field: value})
    assert form["errors"] == {field: error}
    assert not simulator.requests

    result = await async_submit(hass, form, typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_user_traccar_refuses_with_400(
    hass: HomeAssistant, typed: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong password is told as one, as the servers that answer so were recorded."""
    path = Path(__file__).parent / "traccar" / "5.12-auth-answers.json"
    recorded = json.loads(path.read_text())["wrong password"]["basic"]
    served = Served(recorded_answer(*recorded), b"\r\n\r\n")
    server = await served.start()
    typed[CONF_URL] = served.url

    form = await async_submit(hass, await async_start(hass), typed)

    server.close()
    assert form["errors"] == {"base": "invalid_auth"}
    assert "LoginResult" not in caplog.text


async def test_cause_is_named(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """A server that answers, and is not well, is told from one that hangs up."""
    simulator.fault("status-503")
    form = await async_submit(hass, await async_start(hass), typed)
    assert (form["description_placeholders"] or {})["error"] == "status 503"
    simulator.fault("close-before-headers")
    form = await async_submit(hass, form, typed)
    assert (form["description_placeholders"] or {})["error"] == "connection lost"


async def test_service_with_positions(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """Nothing is said of them, which takes one request more than those of a poll."""
    result = await async_submit(hass, await async_start(hass), typed)

    assert result["description"] is None
    paths = [request.path for request in simulator.requests]
    assert paths == 2 * ["/api/devices", "/api/positions"]


@pytest.mark.parametrize("kind", ["documented", "4.11", "5.12", "6.14.5"])
async def test_whether_there_will_be_positions(
    hass: HomeAssistant, kind: str, typed: dict[str, Any]
) -> None:
    """Of a service as it is documented the last dialog says that there will be none."""
    async with Simulator(kind=kind) as service:
        service.add_account(EMAIL, PASSWORD)
        service.add_device(RED, name="Red bike", email=EMAIL)
        typed[CONF_URL] = service.url
        result = await async_submit(hass, await async_start(hass), typed)

    text = "no_positions" if kind == "documented" else None
    assert result["description"] == text
    assert hass.states.get("binary_sensor.red_bike_connectivity")


@pytest.mark.parametrize("name", some(DECIDED_PLACES, every=4))
@pytest.mark.usefixtures("impatient")
async def test_positions_fail(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any], name: str
) -> None:
    """No way in which they do fails the sign-in, and what may pass is no word on them."""
    TROUBLES[name].begin(simulator, "positions")

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    is_answered = DECIDED_PLACES[name].fails and not MAY_PASS.match(name)
    assert result["description"] == ("no_positions" if is_answered else None)


async def test_positions_are_slow(
    hass: HomeAssistant,
    simulator: Simulator,
    typed: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody waits for long in front of the form."""
    monkeypatch.setattr(config_flow, "_POSITIONS_TIMEOUT_SECONDS", 0.1)
    simulator.fault("no-answer", path="positions", times=1)

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["description"] is None


async def test_user_unexpected_error(
    hass: HomeAssistant, typed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug gives a form with an error, and a second try."""

    async def _fail(_: TrackingClient) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(TrackingClient, "async_get_devices", _fail)
        form = await async_submit(hass, await async_start(hass), typed)
    assert form["errors"] == {"base": "unknown"}

    result = await async_submit(hass, form, typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_user_without_trackers(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """An account without trackers is a good account."""
    simulator.unassign(EMAIL, RED)
    simulator.unassign(EMAIL, BLUE)

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_same_account_twice(
    hass: HomeAssistant, setup: MockConfigEntry, typed: dict[str, Any]
) -> None:
    """The same e-mail at the same server is refused, with the account it is."""
    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"
    assert result["description_placeholders"] == {"account": setup.title}


@pytest.mark.usefixtures("setup")
async def test_same_account_in_other_case(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """E-mail addresses that differ only in case are one account."""
    simulator.add_account(EMAIL.upper(), PASSWORD)

    result = await async_submit(
        hass, await async_start(hass), {**typed, CONF_EMAIL: EMAIL.upper()}
    )

    assert result["reason"] == "already_configured"


@pytest.mark.usefixtures("setup")
async def test_same_email_at_another_server(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """The same e-mail at another server is another account."""
    typed[CONF_URL] = f"http://localhost:{simulator.port}"

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == f"localhost:{simulator.port}"


@pytest.mark.usefixtures("setup")
async def test_same_email_at_another_port(
    hass: HomeAssistant, other: Simulator, typed: dict[str, Any]
) -> None:
    """Another service on the same host is another account."""
    result = await async_submit(
        hass, await async_start(hass), {**typed, CONF_URL: other.url}
    )

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == f"127.0.0.1:{other.port}"
    assert result["result"].unique_id == f"{EMAIL}@127.0.0.1:{other.port}/bikes"


async def test_same_account_in_a_disabled_entry_of_1_0(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """What was disabled before the update is known by what it is now."""
    entry = MockConfigEntry(
        domain=DOMAIN,
        unique_id=f"{EMAIL}@127.0.0.1",
        disabled_by=ConfigEntryDisabler.USER,
        data=typed,
    )
    entry.add_to_hass(hass)

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["reason"] == "already_configured"
    assert entry.unique_id == f"{EMAIL}@127.0.0.1:{simulator.port}"


async def test_entry_that_is_called_like_another_account(
    hass: HomeAssistant, other: Simulator, typed: dict[str, Any], make_entry: MakeEntry
) -> None:
    """1.0, installed again for a while, changes addresses and leaves what it cannot read.

    Such an entry stands in nobody's way, and loses nothing.
    """
    entry = make_entry()
    moved = {**entry.data, CONF_URL: other.url}
    hass.config_entries.async_update_entry(entry, data=moved)

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.data == moved
    assert entry.unique_id == f"{EMAIL}@127.0.0.1:{other.port}/bikes"


async def test_titles_differ(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """A second account at a server has a title of its own, without the e-mail."""
    simulator.add_account(BOB, PASSWORD)
    await async_submit(hass, await async_start(hass), typed)

    result = await async_submit(
        hass, await async_start(hass), {**typed, CONF_EMAIL: BOB}
    )

    assert result["title"] == f"127.0.0.1:{simulator.port} (2)"


async def test_reauth(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """After a password change the person is asked, and polling goes on by itself."""
    simulator.set_password(EMAIL, "new one")
    await poll()
    assert not hass.config_entries.flow.async_progress()
    await poll()
    [flow] = hass.config_entries.flow.async_progress()
    assert flow["context"]["source"] == SOURCE_REAUTH

    form = await hass.config_entries.flow.async_configure(flow["flow_id"])
    assert form["step_id"] == "reauth_confirm"
    assert form["description_placeholders"] == {
        "email": EMAIL,
        "error": "",
        "name": setup.title,
    }
    assert shown(form) == {}

    form = await async_submit(hass, form, {CONF_PASSWORD: "wrong"})
    assert form["errors"] == {"base": "invalid_auth"}
    assert setup.data[CONF_PASSWORD] == PASSWORD

    result = await async_submit(hass, form, {CONF_PASSWORD: "new one"})
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "reauth_successful"
    assert setup.data[CONF_PASSWORD] == "new one"
    assert setup.state is ConfigEntryState.LOADED
    simulator.report(RED, latitude=1.0)
    await poll()
    await poll()
    state = state_of(RED)
    assert state is not None
    assert state.attributes["latitude"] == 1.0


async def test_reauth_server_moves(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry
) -> None:
    """An error about the address has a place in a form without that field."""
    form = await setup.start_reauth_flow(hass)
    simulator.fault("html")

    form = await async_submit(hass, form, {CONF_PASSWORD: PASSWORD})

    assert form["errors"] == {"base": "invalid_response"}


async def test_reconfigure_password(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry
) -> None:
    """The form shows address and e-mail, never the password; a failed try changes nothing."""
    simulator.set_password(EMAIL, "new one")
    form = await setup.start_reconfigure_flow(hass)
    assert form["step_id"] == "reconfigure"
    assert shown(form) == {CONF_URL: simulator.url, CONF_EMAIL: EMAIL}
    typed = {**shown(form), CONF_PASSWORD: "wrong"}
    before = dict(setup.data)

    form = await async_submit(hass, form, typed)
    assert form["errors"] == {"base": "invalid_auth"}
    assert setup.data == before

    result = await async_submit(hass, form, {**typed, CONF_PASSWORD: "new one"})
    assert result["reason"] == "reconfigure_successful"
    assert setup.data == {**before, CONF_PASSWORD: "new one"}
    assert setup.state is ConfigEntryState.LOADED


async def test_reconfigure_address(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
    device_registry: dr.DeviceRegistry,
) -> None:
    """A server that moved keeps its trackers: same devices, same entities."""
    devices = dr.async_entries_for_config_entry(device_registry, setup.entry_id)
    form = await setup.start_reconfigure_flow(hass)
    typed[CONF_URL] = "localhost:9"

    form = await async_submit(hass, form, typed)
    assert form["errors"] == {CONF_URL: "connection_refused"}

    typed[CONF_URL] = f"localhost:{simulator.port}"
    result = await async_submit(hass, form, typed)
    assert result["reason"] == "reconfigure_successful"
    assert setup.data[CONF_URL] == f"http://localhost:{simulator.port}/api"
    assert setup.unique_id == f"{EMAIL}@localhost:{simulator.port}"
    assert setup.title == f"localhost:{simulator.port}"
    assert dr.async_entries_for_config_entry(device_registry, setup.entry_id) == devices


@pytest.mark.parametrize("tracker", [BLUE, "999"], ids=["shared", "foreign"])
async def test_reconfigure_to_another_port(
    hass: HomeAssistant,
    other: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
    tracker: str,
) -> None:
    """Another service on the same host must have one of the trackers."""
    other.add_device(tracker, email=EMAIL)
    before = dict(setup.data)
    form = await setup.start_reconfigure_flow(hass)

    result = await async_submit(hass, form, {**typed, CONF_URL: other.url})

    if tracker == BLUE:
        assert result["reason"] == "reconfigure_successful"
        assert setup.data[CONF_URL] == other.url
        assert setup.unique_id == f"{EMAIL}@127.0.0.1:{other.port}/bikes"
        assert setup.title == f"127.0.0.1:{other.port}"
    else:
        assert result["reason"] == "wrong_account"
        assert setup.data == before


async def test_reconfigure_an_account_that_is_set_up_twice(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
) -> None:
    """An entry without a unique ID takes a new password all the same."""
    twin = MockConfigEntry(domain=DOMAIN, unique_id=None, data=typed, minor_version=2)
    twin.add_to_hass(hass)
    simulator.set_password(EMAIL, "new one")
    form = await twin.start_reconfigure_flow(hass)

    result = await async_submit(hass, form, {**typed, CONF_PASSWORD: "new one"})

    assert result["reason"] == "reconfigure_successful"
    assert twin.data[CONF_PASSWORD] == "new one"
    assert twin.unique_id is None
    assert setup.unique_id == f"{EMAIL}@127.0.0.1:{simulator.port}"


@pytest.mark.parametrize(
    ("title", "follows"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1 (2)", True),
        ("127.0.0.1:{port}", True),
        ("127.0.0.1:{port} (2)", True),
        ("My bikes", False),
        ("127.0.0.1 in the shed", False),
    ],
)
async def test_reconfigure_keeps_a_title_a_person_gave(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
    title: str,
    follows: bool,
) -> None:
    """Only a title that names the old server, as 1.1 or this version gave, follows."""
    title = title.format(port=simulator.port)
    hass.config_entries.async_update_entry(setup, title=title)
    form = await setup.start_reconfigure_flow(hass)
    typed[CONF_URL] = f"http://localhost:{simulator.port}"

    await async_submit(hass, form, typed)

    assert setup.title == (f"localhost:{simulator.port}" if follows else title)


async def test_reconfigure_to_another_email_keeps_the_title(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
) -> None:
    """It is of the server; one of 1.1 stays without its port."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    form = await setup.start_reconfigure_flow(hass)

    await async_submit(hass, form, {**typed, CONF_EMAIL: BOB})

    assert setup.unique_id == f"{BOB}@127.0.0.1:{simulator.port}"
    assert setup.title == "127.0.0.1"


async def test_reconfigure_to_an_account_with_a_tracker_in_common(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
    state_of: StateOf,
) -> None:
    """Another e-mail may take over if it has one of the trackers."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, BLUE)
    form = await setup.start_reconfigure_flow(hass)

    result = await async_submit(hass, form, {**typed, CONF_EMAIL: BOB})

    assert result["reason"] == "reconfigure_successful"
    assert setup.unique_id == f"{BOB}@127.0.0.1:{simulator.port}"
    blue = state_of(BLUE)
    assert blue is not None
    assert blue.state == "not_home"


async def test_reconfigure_to_a_strangers_account(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
) -> None:
    """An account without any of the trackers is not the one that was set up."""
    simulator.add_account(BOB, PASSWORD)
    simulator.add_device("999", email=BOB)
    before = dict(setup.data)
    form = await setup.start_reconfigure_flow(hass)

    result = await async_submit(hass, form, {**typed, CONF_EMAIL: BOB})

    assert result["reason"] == "wrong_account"
    assert setup.data == before


async def test_reconfigure_an_entry_without_trackers(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    typed: dict[str, Any],
) -> None:
    """Where there are no trackers yet nothing can be moved to the wrong place."""
    simulator.unassign(EMAIL, RED)
    simulator.unassign(EMAIL, BLUE)
    simulator.add_account(BOB, PASSWORD)
    simulator.add_device("999", email=BOB)
    await async_setup(hass, entry)
    form = await entry.start_reconfigure_flow(hass)

    result = await async_submit(hass, form, {**typed, CONF_EMAIL: BOB})

    assert result["reason"] == "reconfigure_successful"


async def test_reconfigure_to_an_account_that_is_set_up(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
    make_entry: MakeEntry,
) -> None:
    """Two entries cannot become one."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    bobs = make_entry(BOB)
    form = await setup.start_reconfigure_flow(hass)

    result = await async_submit(hass, form, {**typed, CONF_EMAIL: BOB})

    assert result["reason"] == "already_configured"
    assert result["description_placeholders"] == {"account": bobs.title}


async def test_no_session_is_left(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """A cookie of one try is not sent with the next, nor are connections piled up."""
    simulator.set_password(EMAIL, "another")
    form = await async_submit(hass, await async_start(hass), typed)
    for _ in range(3):
        form = await async_submit(hass, form, typed)

    assert len(simulator.requests) == 4
    assert not any(request.header("Cookie") for request in simulator.requests)


# Why a server is not reached, and what goes to it over which scheme


class Tap:
    """What comes to a port, on its way to a server or to nobody."""

    def __init__(self, to: int | None = None) -> None:
        """Pass it on to a port, or keep it and answer http alone."""
        self.port = 0
        self.schemes: list[str] = []
        """Of each connection."""
        self.secrets = 0
        """How many of them carried a password that everybody can read."""
        self._to = to

    async def take(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection."""
        data = await reader.read(2**16)
        self.schemes.append("https" if data.startswith(b"\x16") else "http")
        self.secrets += b"Authorization" in data
        if self._to is not None:
            await self._pass_on(data, reader, writer)
        elif self.schemes[-1] == "http":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        else:
            await reader.read()
        writer.close()

    async def _pass_on(
        self, data: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", self._to)
        here.write(data)
        await asyncio.wait(
            [
                asyncio.create_task(_copy(reader, here)),
                asyncio.create_task(_copy(there, writer)),
            ]
        )


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(2**16):
            writer.write(data)
    writer.close()


type MakeTap = Callable[..., Awaitable[Tap]]


@pytest.fixture
async def make_tap() -> AsyncIterator[MakeTap]:
    """Return a function that starts a tap."""
    servers: list[asyncio.Server] = []

    async def _make_tap(to: int | None = None) -> Tap:
        tap = Tap(to)
        server = await asyncio.start_server(tap.take, "127.0.0.1", 0)
        servers.append(server)
        tap.port = server.sockets[0].getsockname()[1]
        return tap

    yield _make_tap
    for server in servers:
        server.close()
        server.close_clients()
        await server.wait_closed()


@pytest.fixture
async def secure(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Simulator]:
    """Return the service over https, which this machine trusts."""
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    async with Simulator(tls=True) as secure:
        secure.add_account(EMAIL, PASSWORD)
        secure.add_device(RED, name="Red bike", email=EMAIL)
        yield secure


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a second for a connection, and two for an answer."""
    monkeypatch.setattr(
        client_module, "TIMEOUT", ClientTimeout(total=2, sock_connect=1)
    )


CERTIFICATE_FAULTS = ("tls-expired", "tls-self-signed", "tls-other-host")


@pytest.mark.parametrize("scheme", ["", "https://"])
@pytest.mark.parametrize("fault", CERTIFICATE_FAULTS)
async def test_certificate_is_not_valid(
    hass: HomeAssistant,
    make_tap: MakeTap,
    secure: Simulator,
    typed: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    scheme: str,
    fault: str,
) -> None:
    """It is named, the log knows what about it, and nothing is sent over http instead.

    Who wants the password could show a wrong certificate just to get it unencrypted.
    """
    tap = await make_tap(secure.port)
    typed[CONF_URL] = f"{scheme}127.0.0.1:{tap.port}"
    secure.fault(fault)

    form = await async_submit(hass, await async_start(hass), typed)

    assert form["errors"] == {CONF_URL: "invalid_certificate"}
    assert shown(form) == typed
    assert tap.schemes == ["https"]
    assert not secure.requests
    [line] = warnings(caplog)
    name = f"127.0.0.1:{tap.port}"
    assert line.startswith(f"{name}: Signing in failed: certificate not valid: ")

    secure.fault(None)
    result = await async_submit(hass, form, typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY


@pytest.mark.parametrize("address", ["tracker.example.com", "bikes", "http://bikes"])
async def test_name_is_not_found(
    hass: HomeAssistant,
    typed: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    """A name that no host has is named as the cause."""

    async def _resolve(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(ThreadedResolver, "resolve", _resolve)
    typed[CONF_URL] = address

    form = await async_submit(hass, await async_start(hass), typed)

    assert form["errors"] == {CONF_URL: "unknown_host"}
    name = address.removeprefix("http://")
    assert warnings(caplog) == [f"{name}: Signing in failed: name not found"]


@pytest.mark.usefixtures("impatient")
async def test_no_answer_in_time(
    hass: HomeAssistant,
    simulator: Simulator,
    typed: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A server that says nothing is told from one that is not there."""
    simulator.fault("no-answer")

    form = await async_submit(hass, await async_start(hass), typed)

    assert form["errors"] == {CONF_URL: "timeout"}
    name = f"127.0.0.1:{simulator.port}"
    assert warnings(caplog) == [f"{name}: Signing in failed: no answer in time"]


async def test_https_where_http_is_spoken(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """Who types https gets https or nothing."""
    typed[CONF_URL] = simulator.url.replace("http:", "https:")

    form = await async_submit(hass, await async_start(hass), typed)

    assert form["errors"] == {"base": "cannot_connect"}
    assert not simulator.requests


@pytest.mark.parametrize("door", ["start_reauth_flow", "start_reconfigure_flow"])
async def test_which_account_it_is(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    door: str,
) -> None:
    """The log calls an account that there is what it is called."""
    hass.config_entries.async_update_entry(setup, title="My bikes")
    form = await getattr(setup, door)(hass)
    simulator.fault("html")
    is_reauth = door == "start_reauth_flow"

    await async_submit(hass, form, {CONF_PASSWORD: PASSWORD} if is_reauth else typed)

    [line] = warnings(caplog)
    name = "My bikes"
    assert line.startswith(f"{name}: Signing in failed: invalid JSON")


async def test_http_without_a_scheme(
    hass: HomeAssistant, simulator: Simulator, make_tap: MakeTap, typed: dict[str, Any]
) -> None:
    """In the own network http is found where no https is, and is stored."""
    tap = await make_tap(simulator.port)
    typed[CONF_URL] = f"127.0.0.1:{tap.port}"

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"][CONF_URL] == f"http://127.0.0.1:{tap.port}/api"
    assert tap.schemes[:2] == ["https", "http"]


async def test_http_without_a_scheme_and_a_wrong_password(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """What is said over http is what the person reads."""
    typed |= {CONF_URL: f"127.0.0.1:{simulator.port}", CONF_PASSWORD: "wrong"}

    form = await async_submit(hass, await async_start(hass), typed)

    assert form["errors"] == {"base": "invalid_auth"}
    assert shown(form) == typed
    assert len(simulator.requests) == 1


@pytest.mark.usefixtures("impatient")
async def test_http_where_https_gets_no_answer(
    hass: HomeAssistant, make_tap: MakeTap, typed: dict[str, Any]
) -> None:
    """A server that waits for the rest of what it takes for http is found, too."""
    tap = await make_tap()
    typed[CONF_URL] = f"127.0.0.1:{tap.port}"

    result = await async_submit(hass, await async_start(hass), typed)

    assert result["data"][CONF_URL] == f"http://127.0.0.1:{tap.port}/api"
    assert tap.schemes[:2] == ["https", "http"]


async def test_nothing_listens(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """Where both are tried in vain the cause is named all the same."""
    simulator.fault("connection-refused")
    typed[CONF_URL] = f"127.0.0.1:{simulator.port}"

    form = await async_submit(hass, await async_start(hass), typed)

    assert form["errors"] == {CONF_URL: "connection_refused"}


@pytest.mark.parametrize(
    ("fault", "errors"),
    [
        (None, None),
        ("status-401", {"base": "invalid_auth"}),
        ("status-400", {CONF_URL: "invalid_response"}),
        ("status-404", {CONF_URL: "invalid_response"}),
        ("status-503", {"base": "cannot_connect"}),
        ("html", {CONF_URL: "invalid_response"}),
        ("redirect-302-other", {CONF_URL: "redirected"}),
        ("close-before-headers", {"base": "cannot_connect"}),
        ("reset-before-headers", {"base": "cannot_connect"}),
        ("not-http", {"base": "cannot_connect"}),
        ("no-answer", {CONF_URL: "timeout"}),
        ("no-answer-mid-body", {CONF_URL: "timeout"}),
    ],
)
@pytest.mark.usefixtures("impatient")
async def test_https_answers(
    hass: HomeAssistant,
    make_tap: MakeTap,
    secure: Simulator,
    typed: dict[str, Any],
    fault: str | None,
    errors: dict[str, str] | None,
) -> None:
    """Where https is spoken nothing goes over http, whatever https says."""
    tap = await make_tap(secure.port)
    typed[CONF_URL] = f"127.0.0.1:{tap.port}"
    secure.fault(fault)

    result = await async_submit(hass, await async_start(hass), typed)

    assert result.get("errors") == errors
    if errors is None:
        assert result["data"][CONF_URL] == f"https://127.0.0.1:{tap.port}/api"
    assert tap.schemes
    assert set(tap.schemes) == {"https"}
    assert tap.secrets == 0
