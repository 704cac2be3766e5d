"""What one piece of work makes of requests, bytes, states and rows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from aiohttp.client_proto import ResponseHandler
from homeassistant.const import EVENT_STATE_CHANGED, EVENT_STATE_REPORTED
from homeassistant.core import Event, HomeAssistant, callback

from .home import count_rows, settle
from .service import Service


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers that are the same each time."""

    requests: int
    bytes: int
    """Received over HTTP, with headers."""
    changed: int
    """`state_changed` events."""
    written: int
    """States written, changed or not."""
    different: int
    """Entities whose state or attributes are others than before, as they have to be written."""
    rows: int
    """Of states, in the recorder's database."""


async def count(
    hass: HomeAssistant, service: Service, work: Callable[[], Awaitable[Any]]
) -> Counts:
    """Do the work and count. That costs, so what is counted is not timed."""
    received = changed = reported = 0
    data_received = ResponseHandler.data_received

    def receive(handler: ResponseHandler, data: bytes) -> None:
        nonlocal received
        received += len(data)
        data_received(handler, data)

    @callback
    def note_changed(_: Event[Any]) -> None:
        nonlocal changed
        changed += 1

    @callback
    def note_reported(_: Event[Any]) -> None:
        nonlocal reported
        reported += 1

    rows = await count_rows(hass)
    before = states(hass)
    service.do("count")
    listeners = (
        hass.bus.async_listen(EVENT_STATE_CHANGED, note_changed),
        hass.bus.async_listen(
            EVENT_STATE_REPORTED, note_reported, event_filter=callback(lambda _: True)
        ),
    )
    with patch.object(ResponseHandler, "data_received", receive):
        await work()
        await settle(hass)
    for remove in listeners:
        remove()
    return Counts(
        requests=service.do("count"),
        bytes=received,
        changed=changed,
        written=changed + reported,
        different=len(states(hass).items() - before.items()),
        rows=await count_rows(hass) - rows,
    )


def states(hass: HomeAssistant) -> dict[str, str]:
    """Return what each entity shows."""
    return {
        state.entity_id: f"{state.state} {state.attributes}"
        for state in hass.states.async_all()
    }
