"""The coordinator, with Home Assistant's defaults."""

from datetime import timedelta
import logging
from typing import override

import aiohttp
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .api import Api, Bike

_LOGGER = logging.getLogger(__name__)


class UsualCoordinator(DataUpdateCoordinator[dict[str, Bike]]):
    """Asks for all trackers."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Ask every minute."""
        super().__init__(
            hass,
            _LOGGER,
            config_entry=entry,
            name="usual_way",
            update_interval=timedelta(seconds=60),
        )
        self._api = Api(
            async_get_clientsession(hass),
            entry.data[CONF_URL],
            entry.data[CONF_EMAIL],
            entry.data[CONF_PASSWORD],
        )

    @override
    async def _async_update_data(self) -> dict[str, Bike]:
        try:
            bikes = await self._api.get_bikes()
        except aiohttp.ClientError as err:
            raise UpdateFailed(str(err)) from err
        return {bike.unique_id: bike for bike in bikes}
