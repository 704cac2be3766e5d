"""A client for Home Assistant's HTTP and WebSocket interfaces, which its frontend uses, too."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse

from .config_folder import USER_ID

DOMAIN = "bike_tracker"
_SECONDS_BETWEEN_TRIES = 0.1

type Event = dict[str, Any]


class CommandError(Exception):
    """Raised if Home Assistant refuses a request."""


class State(NamedTuple):
    """The state of an entity."""

    state: str
    attributes: Mapping[str, Any]


class HomeAssistantClient:
    """Sends requests to a Home Assistant as the user of the demo."""

    def __init__(self, session: ClientSession, url: str) -> None:
        """Prepare requests to the Home Assistant at this address. Call `sign_in` before any other request."""
        self.url = url
        self._session = session
        self._headers: dict[str, str] = {}

    async def sign_in(self) -> None:
        """Sign in without a password, as a browser on this machine can."""
        page = f"{self.url}/"
        client = {"client_id": page}
        trusted = {"handler": ["trusted_networks", None], "redirect_uri": page}
        self._headers = {}
        flow = await self.post("/auth/login_flow", client | trusted)
        if "result" not in flow:
            # More users exist, so Home Assistant wants to know which one signs in.
            path = f"/auth/login_flow/{flow['flow_id']}"
            flow = await self.post(path, client | {"user": USER_ID})
        data = client | {"grant_type": "authorization_code", "code": flow["result"]}
        async with self._session.post(f"{self.url}/auth/token", data=data) as response:
            token = (await response.json())["access_token"]
        self._headers = {"Authorization": f"Bearer {token}"}

    async def wait_until_running(self) -> None:
        """Sign in as soon as this is possible. Then wait until Home Assistant has started."""
        while True:
            try:
                if not self._headers:
                    await self.sign_in()
                if (await self.get("/api/config"))["state"] == "RUNNING":
                    return
            except ClientError, CommandError:
                pass
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    # Requests over HTTP

    async def get(self, path: str) -> Any:
        """Return the JSON at a path of Home Assistant, such as `/api/config`."""
        return await self._request("GET", path)

    async def post(self, path: str, data: Mapping[str, Any] | None = None) -> Any:
        """Send JSON to a path, and return the JSON in the answer."""
        return await self._request("POST", path, data or {})

    async def delete(self, path: str) -> Any:
        """Delete the object at a path, and return the JSON in the answer."""
        return await self._request("DELETE", path)

    async def _request(
        self, method: str, path: str, data: Mapping[str, Any] | None = None
    ) -> Any:
        async with self._session.request(
            method, self.url + path, json=data, headers=self._headers
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
        """Wait until an existing entity has this state. Raise TimeoutError after two minutes."""
        async with asyncio.timeout(120):
            while (await self.states())[entity_id].state != state:
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def save_automation(self, key: str, config: Mapping[str, Any]) -> None:
        """Save an automation, and wait until it is loaded, which happens after Home Assistant's answer."""
        async with self.listen("automation_reloaded") as events, asyncio.timeout(60):
            await self.post(f"/api/config/automation/config/{key}", config)
            await anext(events)

    async def start_flow(self, handler: str) -> Any:
        """Start the config flow of an integration, and return its first step."""
        path = "/api/config/config_entries/flow"
        return await self.post(path, {"handler": handler})

    async def add_account(self, url: str, email: str, password: str) -> str:
        """Add an account, and return the ID of its config entry.

        The account's entities appear a moment later.
        """
        path = f"/api/config/config_entries/flow/{(await self.start_flow(DOMAIN))['flow_id']}"
        account = {"url": url, "email": email, "password": password}
        entry_id: str = (await self.post(path, account))["result"]["entry_id"]
        return entry_id

    # Commands over WebSocket

    async def call(self, command: str, **arguments: object) -> Any:
        """Send a command, such as `config/entity_registry/list`, and return the result."""
        async with self._connection() as socket:
            return await _send(socket, 1, command, arguments)

    async def action(
        self,
        name: str,
        data: Mapping[str, Any] | None = None,
        *,
        answers: bool = False,
        **target: object,
    ) -> Any:
        """Call an action, such as `bike_tracker.where`. With `answers`, return its response, otherwise None."""
        domain, _, service = name.partition(".")
        result = await self.call(
            "call_service",
            domain=domain,
            service=service,
            service_data=data or {},
            target=target,
            return_response=answers,
        )
        return result.get("response")

    @asynccontextmanager
    async def listen(self, *event_types: str) -> AsyncIterator[AsyncIterator[Event]]:
        """Listen to events of these types. The yielded iterator ends when Home Assistant closes the connection."""
        async with self._connection() as socket:
            for number, event_type in enumerate(event_types, 1):
                arguments = {"event_type": event_type}
                await _send(socket, number, "subscribe_events", arguments)
            yield (
                answer["event"]
                async for message in socket
                if (answer := message.json())["type"] == "event"
            )

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[ClientWebSocketResponse]:
        async with self._session.ws_connect(
            f"{self.url}/api/websocket", max_msg_size=0
        ) as socket:
            await socket.receive_json()
            token = self._headers["Authorization"].removeprefix("Bearer ")
            await socket.send_json({"type": "auth", "access_token": token})
            answer = await socket.receive_json()
            if answer["type"] != "auth_ok":
                raise CommandError(answer)
            yield socket

    # Entries of the registries, and polls

    async def entities(self) -> list[dict[str, Any]]:
        """Return the integration's entries in the entity registry."""
        entities = await self.call("config/entity_registry/list")
        return [entity for entity in entities if entity["platform"] == DOMAIN]

    async def wait_for_entities(self, number: int) -> None:
        """Wait until the integration has at least this number of entities, including disabled entities."""
        async with asyncio.timeout(60):
            while len(await self.entities()) < number:
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)

    async def devices(self) -> dict[str, dict[str, Any]]:
        """Return the integration's devices, by the `uniqueId` of their trackers."""
        devices = await self.call("config/device_registry/list")
        return {
            value: device
            for device in devices
            for domain, value in device["identifiers"]
            if domain == DOMAIN
        }

    async def entity_id(self, domain: str, unique_id: str) -> str:
        """Return the entity ID of the integration's entity with this domain and unique ID."""
        entity_id: str
        [entity_id] = [
            entity["entity_id"]
            for entity in await self.entities()
            if entity["unique_id"] == unique_id
            and entity["entity_id"].startswith(f"{domain}.")
        ]
        return entity_id

    async def poll(self) -> None:
        """Let all accounts poll.

        Home Assistant leaves ten seconds between two such polls of an account, so the poll
        may come only after this method has returned.
        """
        states = await self.states()
        entity_ids = [it for it in states if it.startswith("device_tracker.")]
        await self.action("homeassistant.update_entity", {"entity_id": entity_ids})


async def _send(
    socket: ClientWebSocketResponse,
    number: int,
    command: str,
    arguments: Mapping[str, object],
) -> Any:
    """Send a command, and return the result. Raise CommandError if Home Assistant refuses the command."""
    await socket.send_json({"id": number, "type": command, **arguments})
    while True:
        answer = await socket.receive_json()
        if answer["id"] == number and answer["type"] == "result":
            break
    if not answer["success"]:
        raise CommandError(f"{command}: {answer['error']}")
    return answer["result"]
