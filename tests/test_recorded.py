"""What a person reads out of each recorded answer of a real server comes out."""

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import yaml

from custom_components.bike_tracker.api import AuthenticationError, TrackingClient

from .api.conftest import Served, recorded_answer
from .conftest import EMAIL, PASSWORD, Poll, async_setup
from .simulator import Simulator
from .traccar.reading import answers, shown

FOLDER = Path(__file__).parent / "traccar"
EXPECTED: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    (FOLDER / "expected.yaml").read_text()
)
REFUSALS = "auth-answers"
ANSWERS = [
    (file, name, trackers)
    for file, expected in EXPECTED.items()
    if not file.endswith(REFUSALS)
    for name, trackers in expected.items()
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
        assert held.keys() == EXPECTED[file].keys()


@pytest.mark.parametrize(("file", "name", "trackers"), ANSWERS)
@pytest.mark.usefixtures("all_enabled", "freezer")
async def test_values(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    file: str,
    name: str,
    trackers: Mapping[str, Any],
) -> None:
    """Everything that is expected is shown, and nothing else."""
    version, _, what = file.partition("-")
    devices, positions = dict(answers(version, what))[name]
    simulator.raw_devices([device | {"positionId": 0} for device in devices])
    simulator.raw_positions([])
    await async_setup(hass, entry)
    simulator.raw_devices(devices)
    simulator.raw_positions(positions)
    await poll()
    assert shown(hass) == trackers


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
        seen: str | list[str] = list((await client.async_get_devices()).now)
    except AuthenticationError:
        seen = "refused"
    server.close()
    assert seen == outcome
