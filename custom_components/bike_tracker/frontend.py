"""The cards and the dashboard of Home Assistant's frontend."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from homeassistant.components.frontend import add_extra_js_url
from homeassistant.components.http import StaticPathConfig
from homeassistant.core import HomeAssistant
from homeassistant.loader import async_get_integration

from .const import DOMAIN

_FOLDER: Final = Path(__file__).with_name("frontend")


async def async_serve_frontend(hass: HomeAssistant) -> None:
    """Serve the JavaScript modules. Do nothing if Home Assistant has no frontend.

    Browsers cache the files for a month, so the path changes with the version and content.
    """
    if not {"frontend", "http"} <= hass.config.components:
        return
    version = (await async_get_integration(hass, DOMAIN)).version
    content = await hass.async_add_executor_job(_hash_of_files)
    url = f"/{DOMAIN}_frontend/{version}-{content}"
    path = StaticPathConfig(url, str(_FOLDER), cache_headers=True)
    await hass.http.async_register_static_paths([path])
    add_extra_js_url(hass, f"{url}/bike-tracker.js")


def _hash_of_files() -> str:
    """Return a short hash of all modules and styles."""
    files = sorted(_FOLDER.iterdir())
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
