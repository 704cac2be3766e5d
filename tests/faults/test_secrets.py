"""Nobody gets the password, whatever people type and servers say; see also the home in conftest.py."""

import logging
from typing import Any

from homeassistant.config_entries import SOURCE_USER
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
import pytest

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import BLUE, RED
from ..tools.faults.decided import DECIDED
from ..tools.faults.home import Home
from ..tools.simulator import LIVE_FAULTS
from .conftest import EMAIL, PASSWORD, SECRETS, LookAround, Written

STRANGER = "stranger@example.com"


async def test_repairs(home: Home, look_around: LookAround) -> None:
    """The account without trackers is known by its title."""
    for tracker in (RED, BLUE):
        home.simulator.unassign(EMAIL, tracker)
    await home.wait(61)
    assert ir.async_get(home.hass).issues
    await look_around()


@pytest.mark.parametrize(
    ("fault", "typed"),
    [
        (None, {}),
        ("html", {}),
        ("status-500", {}),
        *((fault, {}) for fault in DECIDED if fault.startswith("redirect-")),
        (None, {CONF_PASSWORD: "wrong"}),
        (None, {CONF_PASSWORD: "half \ud83d"}),
        (None, {CONF_EMAIL: f"{EMAIL}:{PASSWORD}"}),
        (None, {CONF_EMAIL: ""}),
        (None, {CONF_URL: f"https://{EMAIL}:{PASSWORD}@localhost"}),
        (None, {CONF_URL: f"http://tracker.example.com/{PASSWORD}"}),
        (None, {CONF_URL: f"{PASSWORD} {EMAIL}"}),
        # Whose trackers another account has is not told either.
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
    """Whatever is typed wrong or answered, and an account that is there already.

    The form that asks for the password again says whose it is; nothing else repeats it.
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
    assert not [text for _, text in written.texts if simulator.live.knows_cookie(text)]
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
