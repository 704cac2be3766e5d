"""Clients on sessions of their own: cookies of one account must not speak for another."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import aiohttp
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_create_clientsession

from ..api import TrackingClient


def create_client(hass: HomeAssistant, account: Mapping[str, Any]) -> TrackingClient:
    """Return a client that lives as long as the config entry that is being set up.

    Raises the same errors as TrackingClient.
    """
    session = async_create_clientsession(hass, cookie_jar=aiohttp.DummyCookieJar())
    return _client(session, account)


@contextmanager
def client_for_now(
    hass: HomeAssistant, account: Mapping[str, Any]
) -> Iterator[TrackingClient]:
    """Give a client that is closed afterwards; raises the same errors."""
    session = async_create_clientsession(
        hass, auto_cleanup=False, cookie_jar=aiohttp.DummyCookieJar()
    )
    try:
        yield _client(session, account)
    finally:
        session.detach()


def _client(
    session: aiohttp.ClientSession, account: Mapping[str, Any]
) -> TrackingClient:
    return TrackingClient(
        session, account[CONF_URL], account[CONF_EMAIL], account[CONF_PASSWORD]
    )
