"""Serve Bike Tracker's cards and its dashboard to Home Assistant's frontend."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from homeassistant.components.frontend import add_extra_js_url
from homeassistant.components.http import StaticPathConfig
from homeassistant.core import HomeAssistant

from .const import DOMAIN

_FOLDER: Final = Path(__file__).with_name("frontend")


async def async_serve_frontend(hass: HomeAssistant) -> None:
    """Serve the modules and styles of the cards, and let browsers load them. Do nothing without a frontend.

    The path of the files contains a hash of all files, because browsers cache each path
    for a month: after a change, they must load the files again.
    """
    if not {"frontend", "http"} <= hass.config.components:
        return
    content = await hass.async_add_executor_job(_hash_of_files)
    url = f"/{DOMAIN}_frontend/{content}"
    path = StaticPathConfig(url, str(_FOLDER), cache_headers=True)
    await hass.http.async_register_static_paths([path])
    add_extra_js_url(hass, f"{url}/bike-tracker.js")


def _hash_of_files() -> str:
    """Return a short hash of the content of all modules and styles."""
    files = sorted(_FOLDER.iterdir())
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
