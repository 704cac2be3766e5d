"""Download a track as GPX, also by a signed link that needs no sign-in."""

from datetime import datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from aiohttp import hdrs, web
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.http import KEY_HASS, KEY_HASS_USER, HomeAssistantView
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.util import dt as dt_util, slugify

from ..const import DOMAIN
from .bikes import Bike, bike_of
from .track import MAX_TRACK, async_best_track, async_gpx, time_range

_TYPE: Final = "application/gpx+xml"


@callback
def async_register_gpx_view(hass: HomeAssistant) -> None:
    """Register the download, unless Home Assistant runs without its web server."""
    if "http" in hass.config.components:
        hass.http.register_view(_GpxView)


class _GpxView(HomeAssistantView):
    """Serve the track of a bike between two times."""

    url = f"/api/{DOMAIN}/gpx/{{device_id}}"
    name = f"api:{DOMAIN}:gpx"

    async def get(self, request: web.Request, device_id: str) -> web.Response:
        """Return the service's track, or the stored routes if it has none."""
        hass, user = request.app[KEY_HASS], request[KEY_HASS_USER]
        if (bike := bike_of(hass, device_id)) is None:
            return self.json_message("Not a bike tracker", HTTPStatus.NOT_FOUND)
        if not user.permissions.check_entity(bike.entity.entity_id, POLICY_READ):
            raise Unauthorized
        try:
            start = datetime.fromisoformat(request.query.get("start", ""))
            end = datetime.fromisoformat(request.query.get("end", ""))
            start, end = time_range(start, end, MAX_TRACK)
        except ValueError, ServiceValidationError:
            return self.json_message("Not a time range", HTTPStatus.BAD_REQUEST)
        try:
            track = await async_best_track(hass, bike, start, end)
        except HomeAssistantError as err:
            return self.json_message(str(err), HTTPStatus.NOT_FOUND)
        text = await async_gpx(hass, bike, track)
        day = f"{dt_util.as_local(start):%Y-%m-%d}"
        headers = {hdrs.CONTENT_DISPOSITION: _attachment(bike, day)}
        return web.Response(text=text, content_type=_TYPE, headers=headers)


def _attachment(bike: Bike, day: str) -> str:
    """Return the header for a file name, with a variant for old browsers."""
    plain = f"{slugify(bike.name)}_{day}.gpx"
    exact = quote(f"{bike.name} {day}.gpx", safe="")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"
