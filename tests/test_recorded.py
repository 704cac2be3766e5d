"""What a person reads out of each recorded answer of a real server comes out."""

from collections.abc import Mapping
from datetime import UTC, datetime
import json
from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
import pytest
import yaml

from custom_components.bike_tracker.api.client import TrackingClient
from custom_components.bike_tracker.api.errors import AuthenticationError

from .api.conftest import Served, recorded_answer
from .conftest import EMAIL, PASSWORD, Bikes, MakeEntry, async_setup
from .traccar import VERSIONS, recorded
from .traccar.reading import answers, shown

FOLDER = Path(__file__).parent / "traccar"
EXPECTED: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    (FOLDER / "expected.yaml").read_text()
)
REFUSALS = "auth-answers"
MESSAGES = "websocket-messages"
ONE_BY_ONE = "one by one"
"""Messages as they came, and not the last position of each tracker."""
LISTED = {"4.11": "e-disabled", "6.14.5": "devices-unknown"}
"""What the server listed when the first message came."""
ANSWERS = [
    (file, name, trackers)
    for file, expected in EXPECTED.items()
    if not file.endswith(REFUSALS)
    for name, trackers in expected.items()
    if name != ONE_BY_ONE
]
SIGN_INS = [
    (file, name, outcome)
    for file, expected in EXPECTED.items()
    if file.endswith(REFUSALS)
    for name, outcome in expected.items()
]


def test_every_file_is_listed() -> None:
    """With each answer that it holds."""
    files = {path.stem: path for path in FOLDER.glob("*.json")}
    assert files.keys() == EXPECTED.keys()
    for file, path in files.items():
        version, _, what = file.partition("-")
        held = (
            json.loads(path.read_bytes())
            if what == REFUSALS
            else dict(answers(version, what))
        )
        if what == MESSAGES:
            held[ONE_BY_ONE] = None
        assert held.keys() == EXPECTED[file].keys()


@pytest.mark.parametrize(("file", "name", "trackers"), ANSWERS)
@pytest.mark.usefixtures("all_enabled", "freezer")
async def test_values(
    bikes: Bikes, file: str, name: str, trackers: Mapping[str, Any]
) -> None:
    """Everything that is expected is shown, and nothing else."""
    version, _, what = file.partition("-")
    devices, positions = dict(answers(version, what))[name]
    bikes.simulator.raw_devices([device | {"positionId": 0} for device in devices])
    bikes.simulator.raw_positions([])
    await async_setup(bikes.hass, bikes.entry)
    bikes.simulator.raw_devices(devices)
    bikes.simulator.raw_positions(positions)
    await bikes.poll()
    assert shown(bikes.hass) == trackers


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.usefixtures("all_enabled", "with_live")
async def test_messages(bikes: Bikes, make_entry: MakeEntry, version: str) -> None:
    """What was said by and by is shown as it was said, of the trackers that are listed."""
    messages = recorded(version, MESSAGES)
    bikes.freezer.move_to(datetime.fromtimestamp(messages[0][0], UTC))
    bikes.simulator.add_account("listener@example.com", PASSWORD)
    bikes.simulator.raw_devices(recorded(version, LISTED[version]))
    bikes.simulator.raw_positions(json.loads(messages[0][1])["positions"])
    entry = make_entry("listener@example.com")
    await bikes.hass.config_entries.async_setup(entry.entry_id)
    await bikes.async_wait(11)
    assert len(bikes.simulator.live.sockets) == 1
    for _, text in messages:
        bikes.simulator.live.tell(["listener@example.com"], json.loads(text))
        await bikes.async_wait(1.1)
    assert shown(bikes.hass) == EXPECTED[f"{version}-{MESSAGES}"][ONE_BY_ONE]


@pytest.mark.parametrize(("file", "name", "outcome"), SIGN_INS)
async def test_sign_ins(
    hass: HomeAssistant, file: str, name: str, outcome: str | list[str]
) -> None:
    """Whoever the server took in sees the trackers; all others are refused."""
    recorded = json.loads((FOLDER / f"{file}.json").read_bytes())[name]["basic"]
    served = Served(recorded_answer(*recorded), b"\r\n\r\n")
    server = await served.start()
    client = TrackingClient(async_get_clientsession(hass), served.url, EMAIL, PASSWORD)
    try:
        seen: str | list[str] = list(await client.async_get_devices())
    except AuthenticationError:
        seen = "refused"
    server.close()
    assert seen == outcome
