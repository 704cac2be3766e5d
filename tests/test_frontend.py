"""The cards as Home Assistant serves them."""

from http import HTTPStatus
from pathlib import Path

from homeassistant.components.frontend import DATA_EXTRA_MODULE_URL
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.bike_tracker.const import DOMAIN

from .static.project import INTEGRATION, read_json

_MODULES = INTEGRATION / "frontend"


@pytest.fixture
def frontend(tmp_path: Path) -> dict[str, object]:
    """Return the settings of a frontend with empty pages: these tests need only the integration's files."""
    root = tmp_path / "hass_frontend"
    for folder in ("static", "frontend_latest", "frontend_es5"):
        (root / folder).mkdir(parents=True)
    (root / "index.html").touch()
    return {"frontend": {"development_repo": str(tmp_path)}}


async def _url(hass: HomeAssistant, frontend: dict[str, object]) -> str:
    assert await async_setup_component(hass, "frontend", frontend)
    assert await async_setup_component(hass, DOMAIN, {})
    [url] = hass.data[DATA_EXTRA_MODULE_URL].urls
    return url


async def test_served(
    hass: HomeAssistant,
    hass_client_no_auth: ClientSessionGenerator,
    frontend: dict[str, object],
) -> None:
    """Home Assistant loads the first module in every page.

    It serves all files from the same folder, and browsers may cache them.
    """
    url = await _url(hass, frontend)
    client = await hass_client_no_auth()
    for path in _MODULES.iterdir():
        response = await client.get(f"{url.rpartition('/')[0]}/{path.name}")
        assert response.status == HTTPStatus.OK
        assert "max-age" in response.headers["Cache-Control"]
        assert await response.text() == path.read_text()


async def test_path_changes(
    hass: HomeAssistant,
    frontend: dict[str, object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The path contains the version and a hash of all files, so that browsers load the new cards after an update."""
    folder = tmp_path / "cards"
    folder.mkdir()
    (folder / "bike-tracker.js").touch()
    (folder / "cards.css").write_text("a")
    monkeypatch.setattr("custom_components.bike_tracker.frontend._FOLDER", folder)
    version = read_json(INTEGRATION / "manifest.json")["version"]
    assert await _url(hass, frontend) == (
        f"/bike_tracker_frontend/{version}-ca978112/bike-tracker.js"
    )


async def test_without_frontend(hass: HomeAssistant) -> None:
    """Without a frontend, the set-up of the integration succeeds, and adds no module."""
    assert await async_setup_component(hass, DOMAIN, {})
    assert DATA_EXTRA_MODULE_URL not in hass.data
