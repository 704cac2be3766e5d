"""Home Assistant serves the files of the cards."""

from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from homeassistant.components.frontend import DATA_EXTRA_MODULE_URL
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.bike_tracker.const import DOMAIN

from .static.project import INTEGRATION


async def test_served(
    hass: HomeAssistant, hass_client_no_auth: ClientSessionGenerator, tmp_path: Path
) -> None:
    """Home Assistant loads `bike-tracker.js` in every page, and serves all files of the cards from the same path.

    Browsers may cache the files, so the path contains a hash of the files.
    """
    # Create a frontend for the test: it has an empty page and no other file.
    root = tmp_path / "hass_frontend"
    for folder in ("static", "frontend_latest", "frontend_es5"):
        (root / folder).mkdir(parents=True)
    (root / "index.html").touch()
    settings = {"frontend": {"development_repo": str(tmp_path)}}
    assert await async_setup_component(hass, "frontend", settings)
    assert await async_setup_component(hass, DOMAIN, {})
    files = sorted((INTEGRATION / "frontend").iterdir())
    content = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    url = f"/bike_tracker_frontend/{content[:8]}"
    assert hass.data[DATA_EXTRA_MODULE_URL].urls == {f"{url}/bike-tracker.js"}
    client = await hass_client_no_auth()
    for file in files:
        response = await client.get(f"{url}/{file.name}")
        assert response.status == HTTPStatus.OK
        assert "max-age" in response.headers["Cache-Control"]
        assert await response.text() == file.read_text()
