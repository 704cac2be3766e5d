"""What Home Assistant calls the places bikes are at."""

from homeassistant.components.zone import async_active_zone
from homeassistant.core import HomeAssistant, callback

from ..account import Fix


@callback
def async_zone_name(hass: HomeAssistant, place: Fix) -> str | None:
    """Return the name of the zone that a place is in, None outside of all."""
    zone = async_active_zone(hass, place.latitude, place.longitude)
    return None if zone is None else zone.name
