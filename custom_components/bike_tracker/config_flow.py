"""Config flow: add an account, sign in again, reconfigure. All three use the same form step."""

import asyncio
from collections.abc import Iterable, Mapping
from itertools import chain, count
import re
from typing import Any, override

from homeassistant.config_entries import (
    SOURCE_REAUTH,
    ConfigEntry,
    ConfigEntryState,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryFlow,
)
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import callback
from homeassistant.data_entry_flow import AbortFlow
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.selector import TextSelector, TextSelectorType
import voluptuous as vol

from .api import TrackingClient, errors
from .api.address import host_of, origin_of, possible_urls, server_of
from .const import DOMAIN, LOGGER
from .devices import trackers_of
from .night_guard.flow import NightGuardFlow

_URL = TextSelector({"autocomplete": "url"})
_EMAIL = TextSelector({"type": TextSelectorType.EMAIL, "autocomplete": "username"})
_PASSWORD = TextSelector(
    {"type": TextSelectorType.PASSWORD, "autocomplete": "current-password"}
)
_PASSWORD_SCHEMA = vol.Schema({vol.Required(CONF_PASSWORD): _PASSWORD})
_ACCOUNT_SCHEMA = vol.Schema(
    {vol.Required(CONF_URL): _URL, vol.Required(CONF_EMAIL): _EMAIL}
).extend(_PASSWORD_SCHEMA.schema)
_ERRORS: dict[type[errors.TrackingError], str] = {
    errors.AuthenticationError: "invalid_auth",
    errors.RedirectedError: "redirected",
    errors.InvalidResponseError: "invalid_response",
}
# Errors shown above the form. All others are shown at their field, if the form has it.
_FORM_ERRORS = ("cannot_connect", "invalid_auth", "unknown")
# Maximum time to find out whether the service has positions: the user waits for the
# result.
_POSITIONS_TIMEOUT_SECONDS = 10
# These errors are also logged, with details such as the status.
_LOGGED_ERRORS = (
    errors.CannotConnectError,
    errors.InvalidResponseError,
    errors.ServiceUnavailableError,
)
type _Account = Mapping[str, Any]


class BikeTrackerConfigFlow(ConfigFlow, domain=DOMAIN):
    """Config flow that tries to sign in to an account before it stores the account."""

    # Minor version 1 is from release 1.0: its unique IDs have no port and no path.
    MINOR_VERSION = 2

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(
        cls, _: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        return {"night_guard": NightGuardFlow}

    async def async_step_reauth(self, _: Mapping[str, Any]) -> ConfigFlowResult:
        """Ask the user for a new password, because the server rejected the old one."""
        return await self.async_step_user()

    @override
    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Show the form until a sign-in with the typed account succeeds, then store the account."""
        entries = self.hass.config_entries
        entry = entries.async_get_entry(self.context.get("entry_id", ""))
        stored: _Account = {} if entry is None else entry.data
        if user_input is None:
            return self._form(stored, {})
        try:
            account, trackers = await self._async_reach({**stored, **user_input})
        except errors.TrackingError as err:
            error = _error_of(err, entry, user_input)
            return self._form(stored, user_input, error, str(err))
        except Exception:  # noqa: BLE001 - the form can show any error
            name = _name(entry, user_input)
            LOGGER.exception("%s: Unexpected error while signing in", name)
            return self._form(stored, user_input, "unknown")
        return await self._async_finish(entry, account, trackers)

    async_step_reauth_confirm = async_step_user
    async_step_reconfigure = async_step_user

    def _form(
        self, stored: _Account, typed: _Account, error: str = "", reason: str = ""
    ) -> ConfigFlowResult:
        is_reauth = self.source == SOURCE_REAUTH
        schema = _PASSWORD_SCHEMA if is_reauth else _ACCOUNT_SCHEMA
        values = {**stored, CONF_PASSWORD: None, **typed}
        placeholders = {CONF_EMAIL: stored.get(CONF_EMAIL, ""), "error": reason}
        field = CONF_EMAIL if error == "invalid_email" else CONF_URL
        if error in _FORM_ERRORS or field not in schema.schema:
            field = "base"
        return self.async_show_form(
            step_id="reauth_confirm" if is_reauth else self.source,
            data_schema=self.add_suggested_values_to_schema(schema, values),
            errors={field: error} if error else {},
            description_placeholders=placeholders,
        )

    async def _async_reach(self, typed: _Account) -> tuple[_Account, Iterable[str]]:
        """Return the account with the URL that works, and its trackers.

        The URL with http is tried only if the server does not support https at all. If
        the server answers over https, even with a wrong certificate, the password must
        not be sent over http.
        """
        url, *others = possible_urls(typed[CONF_URL])
        account = {**typed, CONF_URL: url, CONF_EMAIL: typed[CONF_EMAIL].strip()}
        try:
            return account, await self._client(account).async_get_devices()
        except errors.CannotConnectError as err:
            if not (others and err.can_try_http):
                raise
        return await self._async_reach({**account, CONF_URL: others[0]})

    async def _async_finish(
        self, entry: ConfigEntry | None, account: _Account, trackers: Iterable[str]
    ) -> ConfigFlowResult:
        """Store the account. Abort if another entry has it, or if it has no tracker of the reconfigured entry."""
        if entry is None:
            return await self._async_add(account)
        unique_id = entry.unique_id
        if unique_id_of(account) != unique_id_of(entry.data):
            unique_id = await self._async_claim(account)
            old = trackers_of(self.hass, entry.entry_id)
            if old and old.isdisjoint(trackers):
                return self.async_abort(reason="wrong_account")
        title, reason = self._title(account, entry), f"{self.source}_successful"
        password = account[CONF_PASSWORD]
        is_loaded = entry.state is ConfigEntryState.LOADED
        if is_loaded and account == {**entry.data, CONF_PASSWORD: password}:
            # At most the password changed. Do not reload the entry: after a reload,
            # Activity would show the newest event of each bike again.
            entry.runtime_data.coordinator.async_sign_in(password)
            return self.async_update_and_abort(entry, data=account, reason=reason)
        return self.async_update_reload_and_abort(
            entry, unique_id=unique_id, title=title, data=account, reason=reason
        )

    async def _async_add(self, account: _Account) -> ConfigFlowResult:
        hint = await self._async_description(account)
        await self._async_claim(account)
        title = self._title(account, None)
        return self.async_create_entry(title=title, data=account, description=hint)

    async def _async_claim(self, account: _Account) -> str:
        """Return the unique ID of an account, or abort if another entry has it."""
        unique_id = unique_id_of(account)
        if twin := await self.async_set_unique_id(unique_id, raise_on_progress=False):
            raise AbortFlow("already_configured", {"account": twin.title})
        return unique_id

    async def _async_description(self, account: _Account) -> str | None:
        """Return the key of the final dialog's note: "no_positions" if the service lacks positions, or else None."""
        try:
            async with asyncio.timeout(_POSITIONS_TIMEOUT_SECONDS):
                await self._client(account).async_get_positions(())
        except errors.CannotConnectError, errors.ServiceUnavailableError, TimeoutError:
            return None
        except errors.TrackingError:
            return "no_positions"
        return None

    def _client(self, account: _Account) -> TrackingClient:
        return TrackingClient(async_get_clientsession(self.hass), **account)

    def _title(self, account: _Account, entry: ConfigEntry | None) -> str:
        """Return the title: host and port, and a number if another account already has this title.

        The title never contains the email, because Home Assistant logs titles. An
        existing entry keeps its title if the server is the same, or if the user chose
        the title.
        """
        name = origin_of(account[CONF_URL])
        if entry and _keeps_title(entry, name):
            return entry.title
        titles = {entry.title for entry in self._async_current_entries()}
        numbered = chain([name], (f"{name} ({number})" for number in count(2)))
        return next(title for title in numbered if title not in titles)


def _keeps_title(entry: ConfigEntry, name: str) -> bool:
    old = entry.data[CONF_URL]
    # Version 1.1 generated titles without a port, so a title with the host alone may be
    # generated, too.
    names = {origin_of(old), host_of(old)}
    is_generated = re.sub(r" \(\d+\)$", "", entry.title) in names
    return name == origin_of(old) or not is_generated


def unique_id_of(account: _Account) -> str:
    """Return the unique ID of the config entry for an account."""
    return f"{account[CONF_EMAIL].lower()}@{server_of(account[CONF_URL])}"


def _error_of(
    err: errors.TrackingError, entry: ConfigEntry | None, typed: _Account
) -> str:
    """Return the error key for the form. For an error of `_LOGGED_ERRORS`, also log the details."""
    if isinstance(err, _LOGGED_ERRORS):
        LOGGER.warning("%s: Signing in failed: %s", _name(entry, typed), err)
    return err.code or _ERRORS.get(type(err), "cannot_connect")


def _name(entry: ConfigEntry | None, typed: _Account) -> str:
    """Return the name of the account for log lines."""
    return entry.title if entry else origin_of(possible_urls(typed[CONF_URL])[0])
