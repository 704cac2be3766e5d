"""A home whose service has faults, and all texts that Home Assistant writes during a test.

The password must appear nowhere, and no text may identify the user or a bike, with these
exceptions. A device page shows the tracker's name and serial number. States show its name
or, without a name, its serial number, which is then in the log, too. The forms of an
existing account show its email. Diagnostics, issues and system health show none of these.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import product
import json
import logging
from typing import Any, override
from urllib.parse import quote, quote_plus

from aiohttp.test_utils import TestClient
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.models import User
from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult
from homeassistant.const import EVENT_LOGGING_CHANGED
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

from ..conftest import BLUE, RED, MakeEntry, async_setup
from ..tools.faults.decided import DECIDED, NAME_NOT_FOUND, SERIAL_NUMBER, TROUBLES
from ..tools.faults.home import Home
from ..tools.simulator import Simulator, authorization, client_context
from ..tools.simulator.faults import Fault
from ..tools.simulator.world import Json

HOST = "bikes.home.arpa"
EMAIL = "ann.private@example.com"
PASSWORD = "pä:ss wörd"
BLUETOOTH_KEY = "0badc0ffee"
PHONE = "+49 171 5550123"

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

type LookAround = Callable[[], Awaitable[None]]


class Written(logging.Handler):
    """Texts that Home Assistant wrote, each with its place, such as `log` or `states`."""

    def __init__(self) -> None:
        """Begin without texts."""
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        # Leave out messages of pytest's plugins.
        self.addFilter(lambda record: not record.name.startswith("pytest_"))
        self.texts: list[tuple[str, str]] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(("log", self.format(record)))

    def add(self, where: str, value: Any) -> None:
        """Add an object as JSON. `where` is the place at which it was written."""
        text = json.dumps(value, default=str, ensure_ascii=False)
        self.texts.append((where, text))

    def add_flow(self, result: ConfigFlowResult) -> None:
        """Add the texts of a flow's result. Leave out a form's fields and placeholders, which show the user's account."""
        said = {"errors", "reason", "title"}
        if result["type"] is not FlowResultType.FORM:
            said |= {"description_placeholders"}
        self.add("flow", {key: value for key, value in result.items() if key in said})

    def found(self) -> set[tuple[str, str]]:
        """Return, for each secret in the texts, its name in `SECRETS` and the place of the text."""
        return {
            (secret, where)
            for where, text in self.texts
            for secret, value in SECRETS.items()
            if value in text or json.dumps(value)[1:-1] in text
        }


@pytest.fixture
def written(caplog: pytest.LogCaptureFixture) -> Iterator[Written]:
    """Yield a recorder of texts. It records everything that is logged during the test, at any level."""
    caplog.set_level(logging.DEBUG)
    written = Written()
    logging.getLogger().addHandler(written)
    yield written
    logging.getLogger().removeHandler(written)


@pytest.fixture
def trouble(request: pytest.FixtureRequest) -> Fault:
    """Return the fault of this test, by default a server name that does not resolve."""
    return TROUBLES[getattr(request, "param", NAME_NOT_FOUND)]


@pytest.fixture
async def simulator(trouble: Fault) -> AsyncIterator[Simulator]:
    """Yield a service with all fields that real servers send. For a fault of TLS, the service uses TLS."""
    async with Simulator(tls=trouble.certificate is not None) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        for tracker, name in ((RED, "Red bike"), (BLUE, "Blue bike")):
            more: dict[str, Json] = {"bluetoothKey": BLUETOOTH_KEY, BLUETOOTH_KEY: 1}
            simulator.add_device(
                tracker, name=name, email=EMAIL, group_id=3, attributes=more
            )
            simulator.report(tracker, attributes={**more, "batteryLevel": 80})
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
    trouble: Fault,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    written: Written,
    all_enabled: None,
    hass_storage: dict[str, object],
) -> AsyncIterator[Home]:
    """Yield a home before the fault. Random waits are as long as possible. After the test, check that no secret was written."""
    monkeypatch.setattr("random.uniform", lambda _, most: most)
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    # The certificates are for the IP address, so use the host name only without TLS.
    url = (
        simulator.url
        if trouble.certificate
        else simulator.url.replace("127.0.0.1", HOST)
    )
    entry = make_entry(EMAIL, PASSWORD, url)
    home = Home(hass, freezer, simulator, entry, trouble, caplog)
    home.is_live = "with_live" in request.fixturenames
    home.watch(monkeypatch)
    # Let Home Assistant read the log level again, so that it logs each event from now on.
    hass.bus.async_fire(EVENT_LOGGING_CHANGED)
    await async_setup(hass, entry)
    assert home.entry.state is ConfigEntryState.LOADED
    home.log()
    yield home
    assert written.found() <= shown_in(trouble)
    assert simulator.other_requests == []


def shown_in(trouble: Fault) -> set[tuple[str, str]]:
    """Return the secrets that may be shown: serial numbers, but only if the fault leaves the trackers without a name."""
    if ("name", SERIAL_NUMBER) not in DECIDED[trouble.name].changes:
        return set()
    return set(product(("serial number", "other serial number"), ("log", "states")))


@pytest.fixture
def look_around(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    hass_admin_user: User,
    device_registry: dr.DeviceRegistry,
    home: Home,
    written: Written,
) -> LookAround:
    """Return a function that collects, in `written`, all texts about the account that users can read."""

    async def _client() -> TestClient[Any, Any]:
        # Use a new access token: the clock has moved, so earlier tokens have expired.
        token = await hass.auth.async_create_refresh_token(hass_admin_user, "https://x")
        return await hass_client(hass.auth.async_create_access_token(token))

    async def _look_around() -> None:
        entry = home.entry
        written.add("reason", entry.reason)
        written.add("states", [state.as_dict() for state in hass.states.async_all()])
        issues = ir.async_get(hass).issues.values()
        written.add("issues", [issue.to_json() for issue in issues])
        assert await async_setup_component(hass, "system_health", {})
        health = await get_system_health_info(hass, DOMAIN)
        health["can_reach_server"] = await health["can_reach_server"]
        written.add("health", health)
        if home.entry.state is not ConfigEntryState.LOADED:
            return
        found = await get_diagnostics_for_config_entry(hass, _client, entry)
        written.add("diagnostics", found)
        for device in dr.async_entries_for_config_entry(
            device_registry, entry.entry_id
        ):
            found = await get_diagnostics_for_device(hass, _client, entry, device)
            written.add("diagnostics", found)

    return _look_around
