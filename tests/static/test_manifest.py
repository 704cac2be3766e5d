"""manifest.json: what hassfest, HACS and Home Assistant's loader accept."""

import re
from typing import Any, get_args
from urllib.parse import urlsplit

from awesomeversion import AwesomeVersion
from homeassistant.loader import Manifest
import pytest

from .project import INTEGRATION, read_json

REQUIRED = {
    "codeowners",
    "documentation",
    "domain",
    "integration_type",
    "iot_class",
    "issue_tracker",
    "name",
    "version",
}
# Of these 2026.11 tells its frontend, also from a custom integration; older releases pass over them.
NEW = {"categories", "connectivity"}
# hassfest takes no others from a custom integration.
ALLOWED = REQUIRED | {
    *NEW,
    "after_dependencies",
    "config_flow",
    "dependencies",
    "dhcp",
    "loggers",
    "quality_scale",
    "requirements",
    "single_config_entry",
    "zeroconf",
}
IOT_CLASSES = {
    "assumed_state",
    "calculated",
    "cloud_polling",
    "cloud_push",
    "local_polling",
    "local_push",
}
QUALITY_SCALES = {"bronze", "silver", "gold", "platinum", "custom"}


@pytest.fixture(name="manifest", scope="module")
def manifest_fixture() -> dict[str, Any]:
    """Return the manifest."""
    manifest: dict[str, Any] = read_json(INTEGRATION / "manifest.json")
    return manifest


def test_keys_are_known_and_complete(manifest: dict[str, Any]) -> None:
    """No key is missing, none is one that hassfest or the loader does not know."""
    assert manifest.keys() >= REQUIRED
    assert manifest.keys() <= ALLOWED
    assert manifest.keys() <= Manifest.__annotations__.keys() | NEW


def test_keys_are_in_order(manifest: dict[str, Any]) -> None:
    """The domain comes first, then the name, then the rest by the alphabet."""
    first = ["domain", "name"]
    assert list(manifest) == first + sorted(manifest.keys() - first)


def test_domain_is_the_folder(manifest: dict[str, Any]) -> None:
    """The domain is the name of the integration's folder."""
    assert manifest["domain"] == INTEGRATION.name == "bike_tracker"
    assert manifest["name"] == "Bike Tracker"


def test_kind_is_one_there_is(manifest: dict[str, Any]) -> None:
    """Home Assistant knows the type, the IoT class and the quality scale."""
    types = get_args(Manifest.__annotations__["integration_type"])
    assert manifest["integration_type"] in set(types) - {"virtual"}
    assert manifest["iot_class"] in IOT_CLASSES
    assert manifest["quality_scale"] in QUALITY_SCALES


def test_is_found_where_it_is_looked_for(manifest: dict[str, Any]) -> None:
    """Bikes come first. Most services are in the cloud, some in the own network."""
    assert manifest["categories"] == [
        "vehicles_transport.bikes_scooters",
        "presence_location.trackers",
    ]
    assert manifest["connectivity"] == ["cloud", "network"]


def test_class_is_what_can_be_relied_on(manifest: dict[str, Any]) -> None:
    """There is one class only: polls are always there, while live depends on the service."""
    assert manifest["iot_class"] == "cloud_polling"


def test_config_flow_is_announced(manifest: dict[str, Any]) -> None:
    """Home Assistant only offers what says that it has a flow."""
    assert manifest["config_flow"] is True
    assert (INTEGRATION / "config_flow.py").is_file()


def test_nothing_is_installed_beside_it(manifest: dict[str, Any]) -> None:
    """The integration needs no package that Home Assistant does not bring."""
    assert not manifest.get("requirements")


def test_codeowners_are_accounts(manifest: dict[str, Any]) -> None:
    """There is somebody to turn to, named as GitHub names people and teams."""
    assert manifest["codeowners"]
    for owner in manifest["codeowners"]:
        assert re.fullmatch(r"@[A-Za-z0-9](-?[A-Za-z0-9])*(/[\w.-]+)?", owner)


@pytest.mark.parametrize("key", ["documentation", "issue_tracker"])
def test_addresses_are_the_projects_own(manifest: dict[str, Any], key: str) -> None:
    """Both addresses are whole, safe and not those of Home Assistant's own."""
    url = urlsplit(manifest[key])
    assert url.scheme == "https"
    assert url.hostname
    assert not url.query
    assert not url.fragment
    assert not manifest[key].startswith("https://www.home-assistant.io/integrations")


def test_version_is_a_release(manifest: dict[str, Any]) -> None:
    """The version is of a form that the loader accepts and that can be compared."""
    assert re.fullmatch(r"\d+\.\d+\.\d+(b\d+)?", manifest["version"])
    assert AwesomeVersion(manifest["version"]).valid
