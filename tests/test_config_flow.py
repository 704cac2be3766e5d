"""The forms: to add an account, to sign in again, and to change an account."""

import asyncio
from collections.abc import AsyncIterator
import re
import socket
from typing import Any
from unittest.mock import patch

from aiohttp import ClientTimeout, ThreadedResolver
from homeassistant.config_entries import (
    SOURCE_REAUTH,
    SOURCE_USER,
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

from custom_components.bike_tracker import api, config_flow
from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.const import DOMAIN

from .conftest import (
    BLUE,
    BOB,
    EMAIL,
    PASSWORD,
    RED,
    Bikes,
    MakeEntry,
    async_setup,
    logged,
)
from .long import some
from .tools.faults.decided import DECIDED, DECIDED_PLACES, TROUBLES
from .tools.simulator import Simulator, client_context

# Faults that `test_fault` leaves out: three need no server, and one answers too late.
NOT_HERE = {"name-not-found", "connection-refused", "restart", "late-answer"}
# At least one fault for each error of the form. These faults are always tested. The
# last four are also tested with an address that begins with https.
ALWAYS = (
    *("no-answer", "no-answer-mid-body", "close-before-headers", "not-http", "html"),
    *("status-401", "status-404", "status-503", "redirect-302-other", "json-as-text"),
    *("tls-expired", "tls-self-signed", "tls-other-host", "status-400-sign-in"),
)
FAULTS = [
    name
    for name in dict.fromkeys([*ALWAYS, *some(TROUBLES, every=6)])
    if name not in NOT_HERE
]
PLACES = dict.fromkeys(["no-answer", "status-404", *some(DECIDED_PLACES, every=4)])
# Faults that may be temporary: after one of them, the form does not note that the
# service has no positions.
MAY_PASS = re.compile(
    "close-|gzip-broken|headers-too|late-|length-|no-answer|not-http|reset-|slow-"
    "|status-(408|429|5)"
)

type Typed = dict[str, Any]


@pytest.fixture
def typed(simulator: Simulator) -> Typed:
    """Return the values that a user types to add the account."""
    return {CONF_URL: simulator.url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD}


@pytest.fixture
async def other() -> AsyncIterator[Simulator]:
    """Return another service on the same host. It has an account with the same email, but without trackers."""
    async with Simulator(prefix="/bikes") as other:
        other.add_account(EMAIL, PASSWORD)
        yield other


async def submit(
    hass: HomeAssistant, flow: ConfigFlowResult, typed: Typed
) -> ConfigFlowResult:
    """Submit a form, wait until all tasks that it started have ended, and return the result of the flow."""
    result = await hass.config_entries.flow.async_configure(flow["flow_id"], typed)
    await hass.async_block_till_done(wait_background_tasks=True)
    return result


async def add(hass: HomeAssistant, typed: Typed) -> ConfigFlowResult:
    """Open the form for a new account, and submit it."""
    flows = hass.config_entries.flow
    form = await flows.async_init(DOMAIN, context={"source": SOURCE_USER})
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "user")
    assert not form["errors"]
    return await submit(hass, form, typed)


async def reconfigure(
    hass: HomeAssistant, entry: MockConfigEntry, typed: Typed
) -> ConfigFlowResult:
    """Open the form to change an account, and submit it."""
    return await submit(hass, await entry.start_reconfigure_flow(hass), typed)


def added(result: ConfigFlowResult) -> bool:
    """Return whether a flow has added an account."""
    return result["type"] is FlowResultType.CREATE_ENTRY


def shown(form: ConfigFlowResult) -> Typed:
    """Return the values that a form shows in its fields."""
    assert form["data_schema"]
    fields: Any = form["data_schema"].schema
    values = {str(it): get_schema_suggested_value(fields, it) for it in fields}
    return {field: value for field, value in values.items() if value is not None}


# Adding an account


async def test_user(hass: HomeAssistant, simulator: Simulator, typed: Typed) -> None:
    """A sign-in adds the account. Outer spaces, HTTP in capitals and a missing /api are corrected. The password is not."""
    simulator.set_password(EMAIL, " with spaces ")
    typed[CONF_PASSWORD] = " with spaces "
    url = f"  HTTP://127.0.0.1:{simulator.port}/ "
    result = await add(hass, {**typed, CONF_URL: url, CONF_EMAIL: f" {EMAIL} "})
    assert added(result)
    assert result["title"] == f"127.0.0.1:{simulator.port}"
    assert result["data"] == typed
    assert result["minor_version"] == 2
    assert result["result"].unique_id == f"{EMAIL}@127.0.0.1:{simulator.port}"
    assert result["description"] is None
    assert [*result["result"].supported_subentry_types] == ["night_guard"]
    # The form requests devices and positions, and so does the set-up.
    paths = [request.path for request in simulator.requests]
    assert paths == 2 * ["/api/devices", "/api/positions"]
    assert hass.states.get("device_tracker.red_bike")


async def test_fields(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Types and autocomplete hints let browsers fill in the fields and hide the password."""
    form = await entry.start_reconfigure_flow(hass)
    assert form["data_schema"]
    assert {
        str(name): (selector.config.get("type"), selector.config["autocomplete"])
        for name, selector in form["data_schema"].schema.items()
    } == {
        CONF_URL: (None, "url"),
        CONF_EMAIL: ("email", "username"),
        CONF_PASSWORD: ("password", "current-password"),
    }


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        (CONF_URL, "two words", "invalid_url"),
        (CONF_URL, "https://me:secret@tracker.example.com", "invalid_url"),
        (CONF_URL, "http://tracker.example.com", "insecure_url"),
        (CONF_EMAIL, " ", "invalid_email"),
        (CONF_EMAIL, "ann:bob@example.com", "invalid_email"),
    ],
)
async def test_mistyped(
    bikes: Bikes, typed: Typed, field: str, value: str, error: str
) -> None:
    """An invalid or insecure value is shown as an error at its field, and nothing is sent to the server."""
    form = await add(bikes.hass, {**typed, field: value})
    assert form["errors"] == {field: error}
    assert not bikes.simulator.requests
    assert added(await submit(bikes.hass, form, typed))


@pytest.mark.parametrize("name", PLACES)
async def test_positions_fail(
    hass: HomeAssistant,
    simulator: Simulator,
    typed: Typed,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """The sign-in succeeds even without positions. Unless the fault may be temporary, the dialog notes their absence."""
    if name.startswith(("late-", "no-answer", "slow-")):
        monkeypatch.setattr(config_flow, "_POSITIONS_TIMEOUT_SECONDS", 0.1)
    simulator.fault(name, path="positions", times=1)
    result = await add(hass, typed)
    assert added(result)
    is_answered = DECIDED_PLACES[name].is_kept and not MAY_PASS.match(name)
    assert result["description"] == ("no_positions" if is_answered else None)


async def test_unexpected_error(
    hass: HomeAssistant, typed: Typed, caplog: pytest.LogCaptureFixture
) -> None:
    """After an unexpected error, the form shows an error, and the user can try again."""
    with patch.object(TrackingClient, "async_get_devices", side_effect=RuntimeError):
        form = await add(hass, typed)
    assert form["errors"] == {"base": "unknown"}
    name = typed[CONF_URL].removeprefix("http://").removesuffix("/api")
    assert logged(caplog) == [f"{name}: Unexpected error while signing in"]
    assert added(await submit(hass, form, typed))


@pytest.mark.parametrize(
    ("email", "address", "title"),
    [
        (EMAIL, "127.0.0.1:{port}", ""),
        (EMAIL.upper(), "127.0.0.1:{port}", ""),
        (EMAIL, "localhost:{port}", "localhost:{port}"),
        (EMAIL, "127.0.0.1:{other}/bikes", "127.0.0.1:{other}"),
        (BOB, "127.0.0.1:{port}", "127.0.0.1:{port} (2)"),
    ],
)
async def test_second_account(
    ready: Bikes, other: Simulator, typed: Typed, email: str, address: str, title: str
) -> None:
    """An account with the same host, port, path and email is refused, even if the email is in capitals. Any other is added."""
    hass, entry = ready.hass, ready.entry
    ports = {"port": ready.simulator.port, "other": other.port}
    known = f"127.0.0.1:{ready.simulator.port}"
    hass.config_entries.async_update_entry(entry, title=known)
    for name in (BOB, EMAIL.upper()):
        ready.simulator.add_account(name, PASSWORD)
    # An open form to sign in again to the known account must not change the result.
    await entry.start_reauth_flow(hass)
    address = address.format(**ports)
    typed |= {CONF_EMAIL: email, CONF_URL: f"http://{address}"}
    result = await add(hass, typed)
    if not title:
        assert result["reason"] == "already_configured"
        assert result["description_placeholders"] == {"account": known}
    else:
        assert result["result"].unique_id == f"{email}@{address}"
        assert result["title"] == title.format(**ports)


# Signing in again


async def test_reauth(ready: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """After two polls with an outdated password, Home Assistant requests the new password. Then polls continue."""
    ready.hass.config_entries.async_update_entry(ready.entry, title="My bikes")
    ready.simulator.set_password(EMAIL, "new one")
    await ready.poll()
    assert not ready.hass.config_entries.flow.async_progress()
    await ready.poll()
    [flow] = ready.hass.config_entries.flow.async_progress()
    assert flow["context"]["source"] == SOURCE_REAUTH
    form = await ready.hass.config_entries.flow.async_configure(flow["flow_id"])
    assert form["step_id"] == "reauth_confirm"
    placeholders = {"email": EMAIL, "error": "", "name": "My bikes"}
    assert form["description_placeholders"] == placeholders
    assert shown(form) == {}
    form = await submit(ready.hass, form, {CONF_PASSWORD: "wrong"})
    assert form["errors"] == {"base": "invalid_auth"}
    assert ready.entry.data[CONF_PASSWORD] == PASSWORD
    # The form has no field for the address, so the error is above the form. The log
    # names the account by its title.
    ready.simulator.fault("html")
    caplog.clear()
    form = await submit(ready.hass, form, {CONF_PASSWORD: "new one"})
    assert form["errors"] == {"base": "invalid_response"}
    [line] = logged(caplog)
    assert line.startswith("My bikes: Signing in failed: invalid JSON")
    ready.simulator.fault(None)
    coordinator = ready.coordinator
    result = await submit(ready.hass, form, {CONF_PASSWORD: "new one"})
    assert ready.coordinator is coordinator
    assert result["reason"] == "reauth_successful"
    assert ready.entry.data[CONF_PASSWORD] == "new one"
    await ready.async_report(latitude=1.0)
    await ready.poll()
    assert ready.state(RED).attributes["latitude"] == 1.0


# Changing the account


async def test_reconfigure_password(ready: Bikes) -> None:
    """The form shows address and email, but not the password. A wrong password changes nothing, a right one is stored."""
    hass, entry = ready.hass, ready.entry
    ready.simulator.set_password(EMAIL, "new one")
    form = await entry.start_reconfigure_flow(hass)
    assert form["step_id"] == "reconfigure"
    assert shown(form) == {CONF_URL: ready.simulator.url, CONF_EMAIL: EMAIL}
    typed = {**shown(form), CONF_PASSWORD: "wrong"}
    before, coordinator = dict(entry.data), entry.runtime_data.coordinator
    form = await submit(hass, form, typed)
    assert form["errors"] == {"base": "invalid_auth"}
    assert entry.data == before
    result = await submit(hass, form, {**typed, CONF_PASSWORD: "new one"})
    assert result["reason"] == "reconfigure_successful"
    assert entry.data == {**before, CONF_PASSWORD: "new one"}
    # The entry is not reloaded: after a reload, Activity would show the newest event
    # of each bike again.
    assert entry.state is ConfigEntryState.LOADED
    assert entry.runtime_data.coordinator is coordinator


@pytest.mark.parametrize(
    ("title", "follows"),
    [
        ("127.0.0.1:{port}", True),
        ("127.0.0.1 (2)", True),
        ("127.0.0.1:{port} (12)", True),
        ("127.0.0.1 in the shed", False),
    ],
)
async def test_reconfigure_address(
    ready: Bikes, typed: Typed, title: str, follows: bool
) -> None:
    """After a change of the address, the devices stay. A generated title, also of version 1.1, changes with the address."""
    hass, entry, port = ready.hass, ready.entry, ready.simulator.port
    title = title.format(port=port)
    hass.config_entries.async_update_entry(entry, title=title)
    registry = dr.async_get(hass)
    devices = dr.async_entries_for_config_entry(registry, entry.entry_id)
    form = await reconfigure(hass, entry, {**typed, CONF_URL: "localhost:9"})
    assert form["errors"] == {CONF_URL: "connection_refused"}
    result = await submit(hass, form, {**typed, CONF_URL: f"localhost:{port}"})
    assert result["reason"] == "reconfigure_successful"
    assert entry.data[CONF_URL] == f"http://localhost:{port}/api"
    assert entry.unique_id == f"{EMAIL}@localhost:{port}"
    assert entry.title == (f"localhost:{port}" if follows else title)
    assert dr.async_entries_for_config_entry(registry, entry.entry_id) == devices


@pytest.mark.parametrize(
    ("email", "moves", "tracker", "before", "reason"),
    [
        (EMAIL, True, BLUE, "", "reconfigure_successful"),
        (EMAIL, True, "999", "", "wrong_account"),
        (BOB, False, BLUE, "", "reconfigure_successful"),
        (BOB, False, "999", "", "wrong_account"),
        # The entry has no trackers yet, so none can end up in the wrong account.
        (BOB, False, "999", "empty", "reconfigure_successful"),
        # The typed account already has another entry. Two entries are never merged.
        (BOB, False, RED, "set up", "already_configured"),
    ],
)
async def test_reconfigure_to_another_account(
    bikes: Bikes,
    other: Simulator,
    typed: Typed,
    make_entry: MakeEntry,
    email: str,
    moves: bool,
    tracker: str,
    before: str,
    reason: str,
) -> None:
    """Another email or server is accepted if its account has a tracker of the entry, or if the entry has no tracker yet."""
    for known in (RED, BLUE) if before == "empty" else ():
        bikes.simulator.unassign(EMAIL, known)
    await async_setup(bikes.hass, bikes.entry)
    service, path = (other, "/bikes") if moves else (bikes.simulator, "")
    if email == BOB:
        service.add_account(BOB, PASSWORD)
    if tracker in service.devices:
        service.assign(email, tracker)
    else:
        service.add_device(tracker, email=email)
    known_as = make_entry(BOB).title if before == "set up" else ""
    data, title = dict(bikes.entry.data), bikes.entry.title
    typed |= {CONF_EMAIL: email, CONF_URL: service.url}
    result = await reconfigure(bikes.hass, bikes.entry, typed)
    assert result["reason"] == reason
    if reason != "reconfigure_successful":
        assert bikes.entry.data == data
        assert (result["description_placeholders"] or {}).get("account", "") == known_as
        return
    assert bikes.entry.data == typed
    assert bikes.entry.unique_id == f"{email}@127.0.0.1:{service.port}{path}"
    # The old title has no port, as in version 1.1. Only a new server changes the title.
    assert bikes.entry.title == (f"127.0.0.1:{other.port}" if moves else title)
    assert bikes.state(tracker).state == "not_home"


async def test_reconfigure_an_account_that_is_set_up_twice(
    ready: Bikes, typed: Typed, caplog: pytest.LogCaptureFixture
) -> None:
    """If an account has two entries, a new password is also accepted for the entry without a unique ID."""
    twin = MockConfigEntry(domain=DOMAIN, unique_id=None, data=typed, minor_version=2)
    twin.add_to_hass(ready.hass)
    ready.simulator.set_password(EMAIL, "new one")
    result = await reconfigure(ready.hass, twin, {**typed, CONF_PASSWORD: "new one"})
    assert result["reason"] == "reconfigure_successful"
    assert twin.data[CONF_PASSWORD] == "new one"
    assert twin.unique_id is None
    assert logged(caplog) == []
    assert ready.entry.unique_id == f"{EMAIL}@127.0.0.1:{ready.simulator.port}"


# Connection errors, and the schemes that are tried


@pytest.fixture
async def schemes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each new connection adds its scheme."""
    loop, schemes = asyncio.get_running_loop(), list[str]()
    connect = loop.create_connection

    async def note(*args: Any, **options: Any) -> Any:
        schemes.append("https" if options.get("ssl") else "http")
        return await connect(*args, **options)

    monkeypatch.setattr(loop, "create_connection", note)
    return schemes


@pytest.fixture
async def secure(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Simulator]:
    """Return the service over https. Home Assistant trusts its certificate, and waits at most two seconds for an answer."""
    monkeypatch.setattr(api, "TIMEOUT", ClientTimeout(total=2))
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    async with Simulator(tls=True) as secure:
        secure.add_account(EMAIL, PASSWORD)
        secure.add_device(RED, name="Red bike", email=EMAIL)
        yield secure


@pytest.mark.parametrize(
    ("name", "scheme"),
    [*((name, "") for name in FAULTS), *((name, "https://") for name in ALWAYS[-4:])],
)
async def test_fault(
    hass: HomeAssistant,
    secure: Simulator,
    schemes: list[str],
    typed: Typed,
    caplog: pytest.LogCaptureFixture,
    name: str,
    scheme: str,
) -> None:
    """Each fault has the effect in `DECIDED` on the form and the log. After the fault, a second attempt succeeds."""
    decided, address = DECIDED[name], f"127.0.0.1:{secure.port}"
    typed[CONF_URL] = f"{scheme}{address}"
    secure.fault(name)
    result = await add(hass, typed)
    # After https failed, http is not tried: it would send the password unencrypted.
    assert set(schemes) == {"https"}
    if decided.message is None:
        assert result["data"][CONF_URL] == secure.url
        return
    error = decided.message.form_error
    is_general = error in ("cannot_connect", "invalid_auth")
    assert result["errors"] == {"base" if is_general else CONF_URL: error}
    reason = (result["description_placeholders"] or {})["error"]
    assert reason.startswith(decided.message.error)
    assert shown(result) == typed
    line = f"{address}: Signing in failed: {decided.message.error}"
    is_logged = error not in ("invalid_auth", "redirected")
    assert logged(caplog) == [line] * is_logged
    assert not hass.config_entries.async_entries(DOMAIN)
    secure.fault(None)
    assert added(await submit(hass, result, typed))


@pytest.mark.parametrize("address", ["tracker.example.com", "bikes", "http://bikes"])
async def test_name_is_not_found(
    hass: HomeAssistant, typed: Typed, caplog: pytest.LogCaptureFixture, address: str
) -> None:
    """If the host name does not exist, the form shows an error at the address field, and the log has the reason."""
    error = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    with patch.object(ThreadedResolver, "resolve", side_effect=error):
        form = await add(hass, {**typed, CONF_URL: address})
    assert form["errors"] == {CONF_URL: "unknown_host"}
    name = address.removeprefix("http://")
    assert logged(caplog) == [f"{name}: Signing in failed: name not found"]


@pytest.mark.parametrize(
    ("scheme", "fault", "errors"),
    [
        # If the user typed https, http is never tried.
        ("https://", None, {"base": "cannot_connect"}),
        # Without a scheme, http is tried after https. The form shows the error of the
        # http request: a refused password, or a refused connection.
        ("", None, {"base": "invalid_auth"}),
        ("", "connection-refused", {CONF_URL: "connection_refused"}),
    ],
)
async def test_where_http_is_spoken(
    bikes: Bikes, typed: Typed, scheme: str, fault: str | None, errors: Typed
) -> None:
    """If the sign-in fails, the form shows the error of the scheme that was tried last, and the address as typed."""
    bikes.simulator.fault(fault)
    typed[CONF_URL] = f"{scheme}127.0.0.1:{bikes.simulator.port}"
    typed[CONF_PASSWORD] = "wrong"
    form = await add(bikes.hass, typed)
    assert form["errors"] == errors
    assert shown(form) == typed
    assert len(bikes.simulator.requests) == ("invalid_auth" in errors.values())
