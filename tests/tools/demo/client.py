"""Home Assistant's own HTTP and WebSocket interfaces, as its frontend uses them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
import secrets
from typing import Any, NamedTuple

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse

DOMAIN = "bike_tracker"
_SECONDS_BETWEEN_TRIES = 0.1

type Event = dict[str, Any]


class CommandError(Exception):
    """Home Assistant refused something."""


class State(NamedTuple):
    """The state of an entity."""

    state: str
    attributes: Mapping[str, Any]


class HomeAssistantClient:
    """Somebody who is signed in."""

    def __init__(self, session: ClientSession, url: str) -> None:
        """Talk to the Home Assistant at this address; the first thing to do is to sign in."""
        self.url = url
        self._session = session
        self._client_id = f"{url}/"
        self._token = ""

    # Signing in

    async def wait_for_answer(self) -> None:
        """Wait until Home Assistant answers anything at all."""
        while True:
            try:
                await self.get("/manifest.json")
            except ClientError, CommandError:
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
            else:
                return

    async def create_user(self, name: str) -> None:
        """Create the owner, with a password that nobody needs to know, and sign in."""
        created = await self.post(
            "/api/onboarding/users",
            {
                "client_id": self._client_id,
                "name": name,
                "username": name.lower(),
                "password": secrets.token_urlsafe(),
                "language": "en",
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

    async def _take_token(self, code: str) -> None:
        data = {
            "client_id": self._client_id,
            "grant_type": "authorization_code",
            "code": code,
        }
        async with self._session.post(f"{self.url}/auth/token", data=data) as response:
            self._token = (await response.json())["access_token"]

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
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        async with self._session.request(
            method, self.url + path, json=data, headers=headers
        ) as response:
            if response.status >= 400:
                text = await response.text()
                raise CommandError(f"{method} {path}: {response.status} {text}")
            return await response.json(content_type=None)

    async def states(self) -> dict[str, State]:
        """Return all states by entity ID."""
        return {
            state["entity_id"]: State(state["state"], state["attributes"])
            for state in await self.get("/api/states")
        }

    async def wait_for_state(self, entity_id: str, state: str) -> None:
        """Wait until an entity has a state."""
        async with asyncio.timeout(120):
            while (await self.states())[entity_id].state != state:
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def set_state(
        self, entity_id: str, state: str, attributes: Mapping[str, Any]
    ) -> None:
        """Show something that no integration has."""
        await self.post(
            f"/api/states/{entity_id}", {"state": state, "attributes": attributes}
        )

    async def save_script(
        self, key: str, name: str, icon: str, *sequence: Mapping[str, Any]
    ) -> None:
        """Save a script."""
        script = {"alias": name, "icon": f"mdi:{icon}", "sequence": sequence}
        await self.post(f"/api/config/script/config/{key}", script)

    async def save_automation(self, key: str, config: Mapping[str, Any]) -> None:
        """Save an automation, and wait until it is loaded: Home Assistant answers before."""
        async with self.listen("automation_reloaded") as events, asyncio.timeout(60):
            await self.post(f"/api/config/automation/config/{key}", config)
            await anext(events)

    async def automations(self) -> list[str]:
        """Return the keys of all automations that were saved and are loaded."""
        return [
            state.attributes["id"]
            for entity_id, state in (await self.states()).items()
            if entity_id.startswith("automation.")
        ]

    # WebSocket

    async def call(self, command: str, **arguments: object) -> Any:
        """Return the result of a command, such as `config/entity_registry/list`."""
        async with self._connection() as socket:
            return await _send(socket, 1, command, arguments)

    async def action(
        self, name: str, data: Mapping[str, Any] | None = None, **target: object
    ) -> None:
        """Perform an action, such as `homeassistant.update_entity`, and wait until it is done."""
        await self._action(name, data, target=target)

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

    @asynccontextmanager
    async def listen(self, *event_types: str) -> AsyncIterator[AsyncIterator[Event]]:
        """Listen to events of these types; they are yielded as they happen, until Home Assistant hangs up."""
        async with self._connection() as socket:
            for number, event_type in enumerate(event_types, 1):
                arguments = {"event_type": event_type}
                await _send(socket, number, "subscribe_events", arguments)
            yield _events(socket)

    @asynccontextmanager
    async def events(self, event_type: str) -> AsyncIterator[list[Event]]:
        """Collect the events of a type in a list, in the order they happen."""
        seen = list[Event]()

        async def collect(events: AsyncIterator[Event]) -> None:
            async for event in events:
                seen.append(event)

        async with self.listen(event_type) as events:
            collecting = asyncio.create_task(collect(events))
            try:
                yield seen
            finally:
                collecting.cancel()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[ClientWebSocketResponse]:
        async with self._session.ws_connect(
            f"{self.url}/api/websocket", max_msg_size=0
        ) as socket:
            await socket.receive_json()
            await socket.send_json({"type": "auth", "access_token": self._token})
            answer = await socket.receive_json()
            if answer["type"] != "auth_ok":
                raise CommandError(answer)
            yield socket

    # Config flows

    async def start_flow(self, handler: str) -> dict[str, Any]:
        """Start a config flow."""
        form: dict[str, Any] = await self.post(
            "/api/config/config_entries/flow", {"handler": handler}
        )
        return form

    async def add_account(self, url: str, email: str, password: str) -> str:
        """Add an account of the tracking service; return the ID of its config entry.

        Its entities follow a moment later.
        """
        form = await self.start_flow(DOMAIN)
        result = await self.post(
            f"/api/config/config_entries/flow/{form['flow_id']}",
            {"url": url, "email": email, "password": password},
        )
        if result["type"] != "create_entry":
            raise CommandError(result)
        entry_id: str = result["result"]["entry_id"]
        return entry_id

    # Registries

    async def entities(self) -> list[dict[str, Any]]:
        """Return what the entity registry has from the integration."""
        entities = await self.call("config/entity_registry/list")
        return [entity for entity in entities if entity["platform"] == DOMAIN]

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
            if entity["unique_id"] == unique_id and entity_id.startswith(f"{domain}."):
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


async def _send(
    socket: ClientWebSocketResponse,
    number: int,
    command: str,
    arguments: Mapping[str, object],
) -> Any:
    """Return the result of a command."""
    await socket.send_json({"id": number, "type": command, **arguments})
    while True:
        answer = await socket.receive_json()
        if answer["id"] == number and answer["type"] == "result":
            break
    if not answer["success"]:
        raise CommandError(f"{command}: {answer['error']}")
    return answer["result"]


async def _events(socket: ClientWebSocketResponse) -> AsyncIterator[Event]:
    async for message in socket:
        answer = message.json()
        if answer["type"] == "event":
            yield answer["event"]
