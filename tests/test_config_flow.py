"""Signing in, signing in again, and changing the account."""

from typing import Any

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

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.const import DOMAIN

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
from .simulator.server import Simulator

# What the simulator fails in, and what the person reads.
SERVER_FAILURES = [
    ("connection-refused", "base", "cannot_connect"),
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
    (CONF_URL, "http://tracker.example.com", "insecure_url"),
    (CONF_EMAIL, " ", "invalid_email"),
    (CONF_EMAIL, "ann:bob@example.com", "invalid_email"),
]


@pytest.fixture
def typed(simulator: Simulator) -> dict[str, Any]:
    """Return what a person types."""
    return {CONF_URL: simulator.url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD}


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


def shown(form: ConfigFlowResult) -> dict[str, Any]:
    """Return what stands in a form's fields."""
    schema = form["data_schema"]
    assert schema is not None
    fields = {
        str(key): get_schema_suggested_value(schema.schema, key)
        for key in schema.schema
    }
    return {field: value for field, value in fields.items() if value is not None}


async def test_user(hass: HomeAssistant, typed: dict[str, Any]) -> None:
    """A sign-in that works makes an entry whose trackers are there."""
    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "127.0.0.1"
    assert result["data"] == typed
    assert result["result"].unique_id == f"{EMAIL}@127.0.0.1"
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


@pytest.mark.usefixtures("setup")
async def test_same_account_twice(hass: HomeAssistant, typed: dict[str, Any]) -> None:
    """The same e-mail at the same server is refused."""
    result = await async_submit(hass, await async_start(hass), typed)

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"


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
    assert result["title"] == "localhost"


@pytest.mark.usefixtures("setup")
async def test_titles_are_told_apart(
    hass: HomeAssistant, simulator: Simulator, typed: dict[str, Any]
) -> None:
    """A second account at a server has a title of its own, without the e-mail."""
    simulator.add_account(BOB, PASSWORD)

    result = await async_submit(
        hass, await async_start(hass), {**typed, CONF_EMAIL: BOB}
    )

    assert result["title"] == "127.0.0.1 (2)"


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
    assert form["description_placeholders"] == {"email": EMAIL, "name": setup.title}
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
    typed[CONF_URL] = f"localhost:{simulator.port}"

    form = await async_submit(hass, form, typed)
    assert form["errors"] == {"base": "cannot_connect"}

    typed[CONF_URL] = f"http://localhost:{simulator.port}"
    result = await async_submit(hass, form, typed)
    assert result["reason"] == "reconfigure_successful"
    assert setup.unique_id == f"{EMAIL}@localhost"
    assert setup.title == "localhost"
    assert dr.async_entries_for_config_entry(device_registry, setup.entry_id) == devices


async def test_reconfigure_keeps_a_title_a_person_gave(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    typed: dict[str, Any],
) -> None:
    """Only a title that is the old host follows the host."""
    hass.config_entries.async_update_entry(setup, title="My bikes")
    form = await setup.start_reconfigure_flow(hass)
    typed[CONF_URL] = f"http://localhost:{simulator.port}"

    await async_submit(hass, form, typed)

    assert setup.title == "My bikes"


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
    assert setup.unique_id == f"{BOB}@127.0.0.1"
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
    make_entry(BOB)
    form = await setup.start_reconfigure_flow(hass)

    result = await async_submit(hass, form, {**typed, CONF_EMAIL: BOB})

    assert result["reason"] == "already_configured"


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
