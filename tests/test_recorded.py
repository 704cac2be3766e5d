"""What a person reads out of each recorded answer of a real server comes out."""

from collections.abc import Mapping
from datetime import UTC, datetime
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import PASSWORD, Bikes, MakeEntry, async_setup
from .traccar import VERSIONS, recorded
from .traccar.reading import answers, shown

FOLDER = Path(__file__).parent / "traccar"
EXPECTED: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    (FOLDER / "expected.yaml").read_text()
)
SIGN_INS = "auth-answers"
MESSAGES = "websocket-messages"
ONE_BY_ONE = "one by one"
"""Messages as they came, and not the last position of each tracker."""
LISTED = {"4.11": "e-disabled", "6.14.5": "devices-unknown"}
"""What the server listed when the first message came."""
ANSWERS = [
    (file, name, trackers)
    for file, expected in EXPECTED.items()
    for name, trackers in expected.items()
    if name != ONE_BY_ONE
]


def test_every_file_is_listed() -> None:
    """With each answer that it holds."""
    # Sign-ins are with the client, in tests/api.
    files = {path.stem for path in FOLDER.glob("*.json") if SIGN_INS not in path.stem}
    assert files == EXPECTED.keys()
    for file in files:
        version, _, what = file.partition("-")
        one_by_one = {ONE_BY_ONE} if what == MESSAGES else set()
        assert dict(answers(version, what)).keys() | one_by_one == EXPECTED[file].keys()


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
