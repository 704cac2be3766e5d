"""manifest.json: what hassfest, HACS and Home Assistant's loader accept."""

import re
from typing import Any

from awesomeversion import AwesomeVersion
import pytest

from .project import INTEGRATION, read_json


@pytest.fixture(name="manifest", scope="module")
def manifest_fixture() -> dict[str, Any]:
    """Return the manifest."""
    manifest: dict[str, Any] = read_json(INTEGRATION / "manifest.json")
    return manifest


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


def test_nothing_is_installed_beside_it(manifest: dict[str, Any]) -> None:
    """The integration needs no package that Home Assistant does not bring."""
    assert not manifest.get("requirements")


def test_version_is_a_release(manifest: dict[str, Any]) -> None:
    """The version is of a form that the loader accepts and that can be compared."""
    assert re.fullmatch(r"\d+\.\d+\.\d+(b\d+)?", manifest["version"])
    assert AwesomeVersion(manifest["version"]).valid
