"""Whatever a server sends or a person types: nothing breaks, and everything readable is read."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
import ipaddress
import socket
from typing import Any
from unittest.mock import patch

from aiohttp import ClientSession, DummyCookieJar
from homeassistant.config_entries import SOURCE_USER, ConfigFlowResult
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from hypothesis import HealthCheck, given, strategies as st
import pytest
from yarl import URL

from custom_components.bike_tracker.api.address import canonical_url
from custom_components.bike_tracker.api.client import TrackingClient
from custom_components.bike_tracker.api.errors import (
    InvalidResponseError,
    TrackingError,
)
from custom_components.bike_tracker.api.models import DeviceReader, read_positions
from custom_components.bike_tracker.const import DOMAIN

from . import any_values as values
from .conftest import EMAIL, PASSWORD
from .long import examples
from .tools.simulator import Simulator

every = examples(
    30,
    suppress=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)

OWN_SUFFIXES = (
    ".localhost",
    ".local",
    ".lan",
    ".home",
    ".home.arpa",
    ".internal",
    ".fritz.box",
)
SHARED = ipaddress.ip_network("100.64.0.0/10")

FLOW_ERRORS = {
    (CONF_URL, "invalid_url"),
    (CONF_URL, "insecure_url"),
    (CONF_EMAIL, "invalid_email"),
    ("base", "invalid_auth"),
}


# Answers


@pytest.fixture
async def client(simulator: Simulator) -> AsyncIterator[TrackingClient]:
    """Return a client of the account."""
    async with ClientSession(cookie_jar=DummyCookieJar()) as session:
        yield TrackingClient(session, simulator.url, EMAIL, PASSWORD)


@every
@given(answer=values.any_json.map(values.body) | st.binary())
async def test_any_answer(
    simulator: Simulator, client: TrackingClient, answer: bytes
) -> None:
    """It is a list of trackers or one of the client's own errors."""
    simulator.raw_devices(answer)
    simulator.raw_positions(answer)
    with suppress(TrackingError):
        assert isinstance(await client.async_get_devices(), dict)
    with suppress(TrackingError):
        assert isinstance(await client.async_get_positions(range(10)), dict)


@every
@given(rows=values.lists_of(values.devices))
def test_any_list_of_devices(rows: list[Any]) -> None:
    """It is read the same in whatever order it comes."""
    reader = DeviceReader()
    try:
        read = reader.read(values.body(rows))
    except InvalidResponseError:
        assert rows
        return
    assert all(device.unique_id == key for key, device in read.items())
    assert reader.read(values.body(rows[::-1])) is read


@every
@given(rows=values.lists_of(values.positions))
def test_any_list_of_positions(rows: list[Any]) -> None:
    """So is one of positions."""
    try:
        read = read_positions(values.body(rows))
    except InvalidResponseError:
        assert rows
        return
    assert Counter(read_positions(values.body(rows[::-1]))) == Counter(read)


# What a person types


@every
@given(typed=values.addresses)
def test_any_address(typed: str) -> None:
    """It is refused, or it is the base address of a server, and stays that."""
    url = refusal = ""
    try:
        url = canonical_url(typed)
    except TrackingError as err:
        refusal = err.code
    if refusal:
        assert refusal in {"invalid_url", "insecure_url"}
        return
    assert canonical_url(url) == url
    assert url.isascii()
    assert url.isprintable()
    assert url.endswith("/api")
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    assert scheme == "https" or (scheme == "http" and is_in_own_network(host))
    assert host
    assert "@" not in host
    assert not set("?# ") & set(url)
    assert ".." not in path.split("/")


def is_in_own_network(host: str) -> bool:
    """Return whether a host, with its port, is one that http is good enough for."""
    name = (URL(f"http://{host}").host or "").removesuffix(".")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return is_no_number(name) and ("." not in name or name.endswith(OWN_SUFFIXES))
    return address.is_private or address in SHARED


def is_no_number(name: str) -> bool:
    """Return whether this system reads a name as a name, and not as an address."""
    try:
        socket.inet_aton(name)
    except OSError:
        return True
    return False


@pytest.fixture
def no_entries() -> Iterator[None]:
    """Set up nothing of what a flow makes."""
    package = "custom_components.bike_tracker"
    with (
        patch(f"{package}.async_setup_entry", return_value=True),
        patch(f"{package}.async_unload_entry", return_value=True),
    ):
        yield


async def submit(hass: HomeAssistant, **typed: str) -> ConfigFlowResult:
    """Type an account, and tidy up whatever became of it."""
    flow = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}, data=typed
    )
    if flow["type"] is FlowResultType.CREATE_ENTRY:
        await hass.config_entries.async_remove(flow["result"].entry_id)
    else:
        hass.config_entries.flow.async_abort(flow["flow_id"])
    return flow


def is_known_error(flow: ConfigFlowResult) -> bool:
    """Return whether the form says what is wrong with what was typed, and still shows it."""
    assert flow["type"] is FlowResultType.FORM
    [error] = (flow["errors"] or {}).items()
    return error in FLOW_ERRORS


@every
@given(email=values.any_text, password=values.any_text)
@pytest.mark.usefixtures("no_entries")
async def test_any_account_over_a_socket(
    hass: HomeAssistant, simulator: Simulator, email: str, password: str
) -> None:
    """What leaves is what the service takes, to the character."""
    simulator.record.clear()
    simulator.accounts.clear()
    simulator.add_account(email.strip(), password)
    flow = await submit(
        hass, **{CONF_URL: simulator.url, CONF_EMAIL: email, CONF_PASSWORD: password}
    )
    if flow["type"] is FlowResultType.CREATE_ENTRY:
        assert {request.account for request in simulator.requests} == {email.strip()}
        paths = [(request.method, request.path) for request in simulator.requests]
        assert paths == [("GET", "/api/devices"), ("GET", "/api/positions")]
    else:
        assert is_known_error(flow)
        assert simulator.requests == []
