"""Recorded answers of real servers lead to the expected values."""

from collections.abc import Mapping
from datetime import UTC, datetime
import json
from pathlib import Path
from typing import Any

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest
import yaml

from custom_components.bike_tracker.const import DOMAIN

from .conftest import PASSWORD, Bikes, MakeEntry, async_setup
from .traccar import VERSIONS, recorded

type Values = dict[str, Any]
type Answer = tuple[list[Any], list[Any]]
"""The rows of devices and the rows of positions that the server sent."""


def answers(version: str, what: str) -> dict[str, Answer]:
    """Return the devices and positions in a recorded file, by the name of the answer."""
    content = recorded(version, what)
    match what:
        case "osmand-cases":
            known = content["full"]["device"]
            return {
                name: ([device | {"positionId": position["id"]}], [position])
                for name, case in content.items()
                for device in case.get("device") or known
                for position in case["position"]
            }
        case "position-never-a-fix" | "position-h02-invalid":
            return {"positions": (list(map(device_of, content)), content)}
        case "fix-100-days-old":
            device = content.pop("device")
            return {question: (device, found) for question, found in content.items()}
        case "websocket-messages":
            messages = [json.loads(text) for _, text in content]
            positions = [it for said in messages for it in said.get("positions", ())]
            last = [*{it["deviceId"]: it for it in positions}.values()]
            return {"positions": (list(map(device_of, last)), last)}
    return {"devices": (content, [])}


def device_of(position: Values) -> Values:
    """Return a device for a position that was recorded without one."""
    ids = {"id": position["deviceId"], "uniqueId": str(position["deviceId"])}
    times = {"lastUpdate": position["serverTime"], "positionId": position["id"]}
    known = {"name": "Bike", "status": "online", "groupId": 0, "disabled": False}
    return {**known, **ids, **times}


def shown(hass: HomeAssistant) -> dict[str, Values]:
    """Return the values that Home Assistant shows of each tracker, by `uniqueId`."""
    devices = dr.async_get(hass)
    values: dict[str, Values] = {}
    for entity in er.async_get(hass).entities.values():
        state = hass.states.get(entity.entity_id)
        if entity.platform != DOMAIN or state is None:
            continue
        device = devices.async_get(entity.device_id or "")
        assert isinstance(device, dr.DeviceEntry)
        tracker, _, key = entity.unique_id.partition("_")
        of_tracker = values.setdefault(tracker, {"name": device.name})
        if entity.domain == Platform.DEVICE_TRACKER:
            at = [state.attributes.get(it) for it in ("latitude", "longitude")]
            of_tracker["place"] = at if at[0] else None
        else:
            of_tracker[key] = state.attributes.get("event_type", state.state)
        if device.model:
            of_tracker["model"] = device.model
    return values


FOLDER = Path(__file__).parent / "traccar"
EXPECTED: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    (FOLDER / "expected.yaml").read_text()
)
SIGN_INS = "auth-answers"
MESSAGES = "websocket-messages"
ONE_BY_ONE = "one by one"
"""Key in `expected.yaml` of the values after all messages, which only `test_messages` checks."""
LISTED = {"4.11": "e-disabled", "6.14.5": "devices-unknown"}
"""The recorded list of devices to use with the messages of each version."""
ANSWERS = [
    (file, name, trackers)
    for file, expected in EXPECTED.items()
    for name, trackers in expected.items()
    if name != ONE_BY_ONE
]


def test_every_file_is_listed() -> None:
    """For each recorded answer, `expected.yaml` has the expected values."""
    # Answers to sign-ins are tested in tests/api.
    files = {path.stem for path in FOLDER.glob("*.json") if SIGN_INS not in path.stem}
    assert files == EXPECTED.keys()
    for file in files:
        version, _, what = file.partition("-")
        one_by_one = {ONE_BY_ONE} if what == MESSAGES else set()
        assert answers(version, what).keys() | one_by_one == EXPECTED[file].keys()


@pytest.mark.parametrize(("file", "name", "trackers"), ANSWERS)
@pytest.mark.usefixtures("all_enabled")
async def test_values(
    bikes: Bikes, file: str, name: str, trackers: Mapping[str, Any]
) -> None:
    """After a poll with a recorded answer, Home Assistant shows exactly the values in `expected.yaml`."""
    version, _, what = file.partition("-")
    devices, positions = answers(version, what)[name]
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
    """After all recorded messages, in order, Home Assistant shows the values in `expected.yaml` for the listed trackers."""
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
