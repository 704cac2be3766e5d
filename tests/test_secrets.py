"""Nobody gets the password, and nothing written tells who or what somebody has.

The name and the serial number of a tracker are shown on purpose: on its device page, and the name in its states. The
e-mail is shown to the person it belongs to, in the form that asks for the password again. None of it is in a log,
in diagnostics, in a repair issue or in system health.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
import json
import logging
import time
from typing import Any, override
from urllib.parse import quote, quote_plus

from aiohttp.test_utils import TestClient
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.models import User
from homeassistant.config_entries import SOURCE_USER, ConfigEntryState, ConfigFlowResult
from homeassistant.const import (
    CONF_EMAIL,
    CONF_PASSWORD,
    CONF_URL,
    EVENT_LOGGING_CHANGED,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import device_registry as dr, issue_registry as ir
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import get_system_health_info
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
    get_diagnostics_for_device,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.bike_tracker.const import DOMAIN

from .conftest import BLUE, RED, MakeEntry, async_setup
from .long import IS_LONG, some
from .tools.faults.decided import DECIDED, SERIAL_NUMBER
from .tools.faults.home import Home
from .tools.faults.trouble import TROUBLES
from .tools.simulator import LIVE_FAULTS, Simulator, authorization, client_context
from .tools.simulator.world import Json

EMAIL = "ann.private@example.com"
PASSWORD = "pä:ss wörd"
BLUETOOTH_KEY = "0badc0ffee"
PHONE = "+49 171 5550123"
STRANGER = "stranger@example.com"

SECRETS = {
    "password": PASSWORD,
    "password in a URL": quote(PASSWORD),
    "password in a form": quote_plus(PASSWORD),
    "password in base64": b64encode(PASSWORD.encode()).decode(),
    "header": authorization(EMAIL, PASSWORD),
    "value of the header": authorization(EMAIL, PASSWORD).removeprefix("Basic "),
    "e-mail": EMAIL,
    "e-mail in a URL": quote(EMAIL),
    "Bluetooth key": BLUETOOTH_KEY,
    "phone number": PHONE,
    "web page": "Sign in</title>",
    "stack trace": "NullPointerException",
    "body": '"uniqueId":',
    "serial number": RED,
    "other serial number": BLUE,
}

NAMELESS = {
    name
    for name, decided in DECIDED.items()
    if ("name", SERIAL_NUMBER) in decided.changes
}
"""Faults that leave nothing to call a tracker but its serial number."""

DAY = 24 * 60 * 60

type LookAround = Callable[[], Awaitable[None]]


class Written(logging.Handler):
    """Everything that was written, and where."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        # In place of Home Assistant's storage, and more talkative.
        self.addFilter(lambda record: not record.name.startswith("pytest_"))
        self.texts: list[tuple[str, str]] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(("log", self.format(record)))

    def add(self, where: str, value: Any) -> None:
        """Take in anything that is written as JSON."""
        text = json.dumps(value, default=str, ensure_ascii=False)
        self.texts.append((where, text))

    def add_flow(self, result: ConfigFlowResult) -> None:
        """Take in what a flow says, but for the account that a form shows to its owner."""
        said = {"errors", "reason", "title"}
        if result["type"] is not FlowResultType.FORM:
            said |= {"description_placeholders"}
        self.add("flow", {key: value for key, value in result.items() if key in said})

    def found(self) -> set[tuple[str, str]]:
        """Return each secret that was written, and where."""
        return {
            (secret, where)
            for where, text in self.texts
            for secret, value in SECRETS.items()
            if value in text or json.dumps(value)[1:-1] in text
        }


@pytest.fixture(autouse=True)
def enable_event_loop_debug() -> None:
    """Do without: writing down where each task was made takes half of the time."""


@pytest.fixture
def written() -> Iterator[Written]:
    """Return what is written by anybody at any level from now on."""
    written = Written()
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(written)
    yield written
    root.removeHandler(written)
    root.setLevel(level)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """Return the service, encrypted, with all that servers hold beyond the interface."""
    async with Simulator(tls=True) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        for tracker, name in ((RED, "Red bike"), (BLUE, "Blue bike")):
            attributes: dict[str, Json] = {
                "bluetoothKey": BLUETOOTH_KEY,
                BLUETOOTH_KEY: 1,
            }
            simulator.add_device(tracker, name=name, email=EMAIL, attributes=attributes)
            simulator.report(tracker, attributes={**attributes, "batteryLevel": 80})
            simulator.override_field(tracker, "phone", PHONE)
            simulator.override_field(tracker, f"x{BLUETOOTH_KEY}", True)
        yield simulator


@pytest.fixture
async def home(
    request: pytest.FixtureRequest,
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    make_entry: MakeEntry,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    written: Written,
    hass_storage: dict[str, object],
) -> Home:
    """Return a home, set up."""
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    entry = make_entry(EMAIL, PASSWORD, simulator.url.replace("127.0.0.1", "localhost"))
    home = Home(hass, freezer, simulator, entry, TROUBLES["name-not-found"], caplog)
    home.is_live = "with_live" in request.fixturenames
    home.watch(monkeypatch)
    # Home Assistant writes down events from now on, too.
    hass.bus.async_fire(EVENT_LOGGING_CHANGED)
    await async_setup(hass, entry)
    assert home.state is ConfigEntryState.LOADED
    return home


@pytest.fixture
def look_around(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    hass_admin_user: User,
    device_registry: dr.DeviceRegistry,
    home: Home,
    written: Written,
) -> LookAround:
    """Return a function that takes in all that can be read of an entry."""

    async def _client() -> TestClient[Any, Any]:
        # A token of before has expired meanwhile.
        token = await hass.auth.async_create_refresh_token(hass_admin_user, "https://x")
        return await hass_client(hass.auth.async_create_access_token(token))

    async def _look_around() -> None:
        written.add("reason", home.reason)
        written.add("states", [state.as_dict() for state in hass.states.async_all()])
        issues = ir.async_get(hass).issues.values()
        written.add("issues", [issue.to_json() for issue in issues])
        assert await async_setup_component(hass, "system_health", {})
        health = await get_system_health_info(hass, DOMAIN)
        written.add(
            "health", {**health, "can_reach_server": await health["can_reach_server"]}
        )
        if home.state is not ConfigEntryState.LOADED:
            return
        entry = home.entry
        written.add(
            "diagnostics", await get_diagnostics_for_config_entry(hass, _client, entry)
        )
        for device in dr.async_entries_for_config_entry(
            device_registry, entry.entry_id
        ):
            written.add(
                "diagnostics",
                await get_diagnostics_for_device(hass, _client, entry, device),
            )

    return _look_around


async def live_through(home: Home, names: Iterable[str]) -> None:
    """Be in each of these troubles for three polls, and well in between."""
    for name in names:
        home.trouble = TROUBLES[name]
        home.simulator.report_many()
        with home.in_trouble():
            for seconds in (61, 70, 140):
                await home.wait(seconds)
        if home.asks_to_sign_in:
            await home.sign_in_again(PASSWORD)
        await home.wait(300)
        assert home.state is ConfigEntryState.LOADED


async def test_hours_of_troubles(
    home: Home, written: Written, look_around: LookAround
) -> None:
    """One after another, and polls for the rest of a day."""
    end = time.time() + (DAY if IS_LONG else DAY // 4)
    names = some(sorted(TROUBLES.keys() - NAMELESS), every=4)
    await live_through(home, names)
    await look_around()
    while time.time() < end:
        await home.wait(61)
    await look_around()
    assert home.polls > 4 * len(names)
    assert written.found() == set()


async def test_trackers_without_names(
    home: Home, written: Written, look_around: LookAround
) -> None:
    """There the serial number is the name, as people have to call it something."""
    await live_through(home, NAMELESS)
    await look_around()
    assert written.found() == {("serial number", "log"), ("other serial number", "log")}
    lines = [text for where, text in written.texts if where == "log" and RED in text]
    assert all(line.startswith("homeassistant.core Bus:") for line in lines)


@pytest.mark.parametrize(
    "name", ["connection-refused", "status-401", "status-400", "html", "json-truncated"]
)
async def test_trouble_that_is_looked_at(
    home: Home, written: Written, look_around: LookAround, name: str
) -> None:
    """While it lasts, at a restart and after it."""
    home.trouble = TROUBLES[name]
    with home.in_trouble():
        await home.wait(61)
        await look_around()
        await home.wait(61)
        await look_around()
        await home.unload()
        await home.set_up()
        await look_around()
    assert written.found() == set()


async def test_repairs(home: Home, written: Written, look_around: LookAround) -> None:
    """The account without trackers is known by its title."""
    for tracker in (RED, BLUE):
        home.simulator.unassign(EMAIL, tracker)
    await home.wait(61)
    assert ir.async_get(home.hass).issues
    await look_around()
    assert written.found() == set()


@pytest.mark.parametrize(
    "typed",
    [
        {CONF_PASSWORD: "wrong"},
        {CONF_PASSWORD: "half \ud83d"},
        {CONF_EMAIL: f"{EMAIL}:{PASSWORD}"},
        {CONF_EMAIL: ""},
        {CONF_URL: f"https://{EMAIL}:{PASSWORD}@localhost"},
        {CONF_URL: f"http://tracker.example.com/{PASSWORD}"},
        {CONF_URL: f"{PASSWORD} {EMAIL}"},
        {},
    ],
)
async def test_flows(
    hass: HomeAssistant, home: Home, written: Written, typed: dict[str, str]
) -> None:
    """Whatever is typed wrong, and an account that is there already."""
    account = {CONF_URL: home.entry.data[CONF_URL], CONF_EMAIL: EMAIL}
    account |= {CONF_PASSWORD: PASSWORD, **typed}
    result = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}, data=account
    )
    assert bool(result.get("errors")) is bool(typed)
    written.add_flow(result)
    result = await home.entry.start_reconfigure_flow(hass)
    result = await hass.config_entries.flow.async_configure(result["flow_id"], account)
    assert bool(result.get("errors")) is bool(typed)
    written.add_flow(result)
    await hass.async_block_till_done()
    assert written.found() == set()


@pytest.mark.parametrize("name", [None, "html", "status-500", "redirect-302-other"])
async def test_signing_in_again(
    hass: HomeAssistant, home: Home, written: Written, name: str | None
) -> None:
    """The form says whose password is asked for; nothing else repeats it."""
    result = await home.entry.start_reauth_flow(hass)
    placeholders = result["description_placeholders"]
    assert placeholders is not None
    assert placeholders[CONF_EMAIL] == EMAIL
    home.simulator.fault(name)
    result = await hass.config_entries.flow.async_configure(
        result["flow_id"], {CONF_PASSWORD: "wrong"}
    )
    assert result["errors"]
    written.add_flow(result)
    assert written.found() == set()


async def test_other_accounts_trackers(
    hass: HomeAssistant, home: Home, written: Written
) -> None:
    """Whose trackers another account has is not told either."""
    home.simulator.add_account(STRANGER, PASSWORD)
    result = await home.entry.start_reconfigure_flow(hass)
    result = await hass.config_entries.flow.async_configure(
        result["flow_id"], {**home.entry.data, CONF_EMAIL: STRANGER}
    )
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "wrong_account"
    written.add_flow(result)
    assert written.found() == set()


@pytest.mark.parametrize(
    "name", [name for name in TROUBLES if name.startswith("redirect-")]
)
async def test_nobody_else_gets_a_request(home: Home, name: str) -> None:
    """Wherever a server sends it on to, neither a poll nor a person's sign-in goes there."""
    home.trouble = TROUBLES[name]
    requests = len(home.simulator.requests)
    with home.in_trouble():
        await home.wait(61)
        result = await home.entry.start_reauth_flow(home.hass)
        result = await home.hass.config_entries.flow.async_configure(
            result["flow_id"], {CONF_PASSWORD: PASSWORD}
        )
    assert result["errors"] == {"base": "redirected"}
    assert len(home.simulator.requests) == requests + 2
    assert home.simulator.other_requests == []


@pytest.mark.usefixtures("with_live")
async def test_live(home: Home, written: Written, look_around: LookAround) -> None:
    """The password goes out in one form, the cookie to one socket, and both nowhere else."""
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
    assert written.found() == set()
    assert not [text for _, text in written.texts if simulator.live.knows_cookie(text)]
    assert simulator.other_requests == []
    assert simulator.live.cookies > len(LIVE_FAULTS)
    # The page on system health asks without an account whether the server is there.
    requests = [item for item in simulator.requests if item.path != "/api"]
    for request in requests:
        is_sign_in = (request.method, request.path) == ("POST", "/api/session")
        is_socket = (request.method, request.path) == ("GET", "/api/socket")
        cookie = request.header("Cookie")
        assert (cookie is not None) is is_socket
        assert (request.header("Authorization") is None) is (is_sign_in or is_socket)
        assert request.query == "" or request.path == "/api/positions"
        assert not simulator.live.knows_cookie(str(request.headers)) or is_socket
    assert {request.path for request in requests} == {
        *("/api/devices", "/api/positions", "/api/session", "/api/socket")
    }


@pytest.mark.parametrize("secret", SECRETS)
def test_what_is_written_is_found(written: Written, secret: str) -> None:
    """The tests above would find each of the secrets, wherever it was written."""
    value = SECRETS[secret]
    logging.getLogger("homeassistant.core").debug("<%s>", value)
    assert (secret, "log") in written.found()
    written.texts.clear()
    logging.getLogger(DOMAIN).error("Failed", exc_info=ValueError(value))
    assert (secret, "log") in written.found()
    written.add("states", {"a": [{"b": f"<{value}>"}]})
    assert (secret, "states") in written.found()
