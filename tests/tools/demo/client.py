"""Home Assistant's own HTTP and WebSocket interfaces, as its frontend uses them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
import secrets
from typing import Any

from aiohttp import (
    ClientConnectionResetError,
    ClientError,
    ClientSession,
    ClientWebSocketResponse,
)

DOMAIN = "bike_tracker"
_SECONDS_BETWEEN_TRIES = 0.1


class RequestError(Exception):
    """Home Assistant refused a request."""


class CommandError(Exception):
    """Home Assistant refused a WebSocket command."""


class FlowError(Exception):
    """A config flow did not end as it should; the result says how it did."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        """Keep the result of the step."""
        super().__init__(result.get("errors") or result.get("reason") or result)
        self.result = result


@dataclass(frozen=True, slots=True)
class State:
    """The state of an entity."""

    entity_id: str
    state: str
    attributes: Mapping[str, Any]
    last_changed: str
    last_updated: str


class HomeAssistantClient:
    """Somebody who is signed in."""

    def __init__(self, session: ClientSession, url: str) -> None:
        """Talk to the Home Assistant at this address; the first thing to do is to sign in."""
        self.url = url
        self._session = session
        self._headers: dict[str, str] = {}
        self._token = ""
        self._socket: ClientWebSocketResponse | None = None
        self._ids = count(1)
        self._turn = asyncio.Lock()

    # Signing in

    async def wait_for_answer(self) -> None:
        """Wait until Home Assistant answers anything at all."""
        while True:
            try:
                async with self._session.get(f"{self.url}/manifest.json") as response:
                    if response.status == 200:
                        return
            except ClientError:
                pass
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def create_user(self, name: str, language: str = "en") -> None:
        """Create the owner, with a password that nobody needs to know, and sign in."""
        created = await self.post(
            "/api/onboarding/users",
            {
                "client_id": self._client_id,
                "name": name,
                "username": name.lower(),
                "password": secrets.token_urlsafe(),
                "language": language,
            },
        )
        await self._take_token(created["auth_code"])

    async def sign_in(self) -> None:
        """Sign in as the one user there is, as a browser on this machine does."""
        result = await self.post(
            "/auth/login_flow",
            {
                "client_id": self._client_id,
                "handler": ["trusted_networks", None],
                "redirect_uri": f"{self._client_id}?auth_callback=1",
            },
        )
        await self._take_token(result["result"])

    async def wait_until_running(self) -> None:
        """Wait until Home Assistant has finished starting."""
        while (await self.get("/api/config"))["state"] != "RUNNING":
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            await self._socket.close()
            self._socket = None

    @property
    def _client_id(self) -> str:
        return f"{self.url}/"

    async def _take_token(self, code: str) -> None:
        async with self._session.post(
            f"{self.url}/auth/token",
            data={
                "client_id": self._client_id,
                "grant_type": "authorization_code",
                "code": code,
            },
        ) as response:
            self._token = (await response.json())["access_token"]
        self._headers = {"Authorization": f"Bearer {self._token}"}

    # HTTP

    async def get(self, path: str) -> Any:
        """Return the JSON at a path, such as `/api/config`."""
        return await self._request("GET", path)

    async def post(self, path: str, data: Mapping[str, Any] | None = None) -> Any:
        """Send JSON to a path; return the JSON that comes back."""
        return await self._request("POST", path, data or {})

    async def delete(self, path: str) -> Any:
        """Delete what is at a path."""
        return await self._request("DELETE", path)

    async def _request(
        self, method: str, path: str, data: Mapping[str, Any] | None = None
    ) -> Any:
        async with self._session.request(
            method, self.url + path, json=data, headers=self._headers
        ) as response:
            if response.status >= 400:
                text = await response.text()
                raise RequestError(f"{method} {path}: {response.status} {text}")
            return await response.json()

    async def states(self) -> dict[str, State]:
        """Return all states by entity ID."""
        states = await self.get("/api/states")
        fields = State.__slots__
        return {
            state["entity_id"]: State(**{field: state[field] for field in fields})
            for state in states
        }

    async def wait_for_state(self, entity_id: str, state: str) -> None:
        """Wait until an entity has a state."""
        async with asyncio.timeout(120):
            while (await self.states())[entity_id].state != state:
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def action(
        self, name: str, data: Mapping[str, Any] | None = None, **target: object
    ) -> None:
        """Perform an action, such as `homeassistant.update_entity`, and wait until it is done."""
        await self._action(name, data, target=target)

    async def save_automation(self, key: str, config: Mapping[str, Any]) -> None:
        """Save an automation, and wait until it is loaded: Home Assistant answers before."""
        async with self.events("automation_reloaded") as reloads, asyncio.timeout(60):
            await self.post(f"/api/config/automation/config/{key}", config)
            while not reloads:
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def automations(self) -> list[str]:
        """Return the keys of all automations that were saved and are loaded."""
        return [
            state.attributes["id"]
            for state in (await self.states()).values()
            if state.entity_id.startswith("automation.")
        ]

    async def answer(self, name: str, data: Mapping[str, Any]) -> Any:
        """Perform an action that answers, such as `bike_tracker.where`; return its answer."""
        return (await self._action(name, data, return_response=True))["response"]

    async def _action(
        self, name: str, data: Mapping[str, Any] | None, **arguments: object
    ) -> Any:
        domain, _, service = name.partition(".")
        return await self.call(
            "call_service",
            domain=domain,
            service=service,
            service_data=dict(data or {}),
            **arguments,
        )

    async def diagnostics(self, entry_id: str, device_id: str | None = None) -> Any:
        """Download the diagnostics of a config entry or of one of its devices."""
        path = f"/api/diagnostics/config_entry/{entry_id}"
        return await self.get(f"{path}/device/{device_id}" if device_id else path)

    # WebSocket

    async def call(self, command: str, **arguments: object) -> Any:
        """Return the result of a command, such as `config/entity_registry/list`."""
        async with self._turn:
            if self._socket is None or self._socket.closed:
                self._socket = await self._connect()
            try:
                return await self._send(self._socket, command, arguments)
            except ClientConnectionResetError:
                # Home Assistant hangs up on who is silent; nothing was sent.
                self._socket = await self._connect()
                return await self._send(self._socket, command, arguments)

    @asynccontextmanager
    async def events(self, event_type: str) -> AsyncIterator[list[dict[str, Any]]]:
        """Collect the events of a type in a list, in the order they happen."""
        socket = await self._connect()
        await self._send(socket, "subscribe_events", {"event_type": event_type})
        seen: list[dict[str, Any]] = []
        collecting = asyncio.create_task(_collect(socket, seen))
        try:
            yield seen
        finally:
            collecting.cancel()
            await socket.close()

    @asynccontextmanager
    async def listen(
        self, *event_types: str
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Listen to events of these types; they are yielded as they happen, until Home Assistant hangs up."""
        async with await self._connect() as socket:
            for event_type in event_types:
                await self._send(socket, "subscribe_events", {"event_type": event_type})
            yield _events(socket)

    async def _connect(self) -> ClientWebSocketResponse:
        socket = await self._session.ws_connect(
            f"{self.url}/api/websocket", max_msg_size=0
        )
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": self._token})
        answer = await socket.receive_json()
        if answer["type"] != "auth_ok":
            raise CommandError(answer)
        return socket

    async def _send(
        self,
        socket: ClientWebSocketResponse,
        command: str,
        arguments: Mapping[str, object],
    ) -> Any:
        number = next(self._ids)
        await socket.send_json({"id": number, "type": command, **arguments})
        while True:
            answer = await socket.receive_json()
            if answer["id"] == number and answer["type"] == "result":
                break
        if not answer["success"]:
            raise CommandError(f"{command}: {answer['error']}")
        return answer["result"]

    # Config flows

    async def start_flow(self, handler: str, **options: object) -> dict[str, Any]:
        """Start a config flow; with `entry_id` the one that reconfigures that entry."""
        return await self._flow("", {"handler": handler, **options})

    async def submit(self, flow_id: str, **fields: object) -> dict[str, Any]:
        """Fill in the form that a config flow shows; return its next step."""
        return await self._flow(f"/{flow_id}", fields)

    async def _flow(self, path: str, data: Mapping[str, object]) -> dict[str, Any]:
        result: dict[str, Any] = await self.post(
            f"/api/config/config_entries/flow{path}", data
        )
        return result

    async def add_account(self, url: str, email: str, password: str) -> str:
        """Add an account of the tracking service; return the ID of its config entry.

        Its entities follow a moment later. Raises FlowError when the form shows an error, or the flow ends without an entry.
        """
        form = await self.start_flow(DOMAIN, show_advanced_options=False)
        result = await self.submit(
            form["flow_id"], url=url, email=email, password=password
        )
        if result["type"] != "create_entry":
            raise FlowError(result)
        entry_id: str = result["result"]["entry_id"]
        return entry_id

    # Registries

    async def entities(self, platform: str = DOMAIN) -> list[dict[str, Any]]:
        """Return what the entity registry has from an integration."""
        entities = await self.call("config/entity_registry/list")
        return [entity for entity in entities if entity["platform"] == platform]

    async def wait_for_entities(self, number: int) -> None:
        """Wait until the integration has so many entities, disabled ones counted."""
        async with asyncio.timeout(60):
            while len(await self.entities()) < number:
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def devices(self) -> dict[str, dict[str, Any]]:
        """Return the devices that are trackers, by `uniqueId`."""
        devices = await self.call("config/device_registry/list")
        return {
            value: device
            for device in devices
            for domain, value in device["identifiers"]
            if domain == DOMAIN
        }

    async def entity_id(self, domain: str, unique_id: str) -> str:
        """Return the entity ID of one of the integration's entities."""
        for entity in await self.entities():
            entity_id: str = entity["entity_id"]
            if (
                entity["unique_id"] == unique_id
                and entity_id.partition(".")[0] == domain
            ):
                return entity_id
        raise LookupError(f"no {domain} with unique ID {unique_id}")

    async def poll(self) -> None:
        """Have all accounts polled now.

        Home Assistant waits ten seconds between two such polls, so this may return before the poll is made.
        """
        entity_ids = [
            entity["entity_id"]
            for entity in await self.entities()
            if entity["entity_id"].startswith("device_tracker.")
        ]
        await self.action("homeassistant.update_entity", {"entity_id": entity_ids})


async def _events(socket: ClientWebSocketResponse) -> AsyncIterator[dict[str, Any]]:
    async for message in socket:
        answer = message.json()
        if answer["type"] == "event":
            yield answer["event"]


async def _collect(socket: ClientWebSocketResponse, seen: list[dict[str, Any]]) -> None:
    async for message in socket:
        answer = message.json()
        if answer["type"] == "event":
            seen.append(answer["event"])
