"""Ways, times and speeds for people to read, in the units of their house."""

from typing import Final

from homeassistant.const import UnitOfLength, UnitOfSpeed
from homeassistant.core import HomeAssistant
from homeassistant.util.unit_conversion import SpeedConverter

_SPEEDS: Final = {
    UnitOfLength.KILOMETERS: UnitOfSpeed.KILOMETERS_PER_HOUR,
    UnitOfLength.MILES: UnitOfSpeed.MILES_PER_HOUR,
}


def distance(hass: HomeAssistant, kilometres: float) -> str:
    """Return a way, as "4.2 km"."""
    units = hass.config.units
    way = units.length(kilometres, UnitOfLength.KILOMETERS)
    return f"{way:.1f} {units.length_unit}"


def speed(hass: HomeAssistant, kilometres_per_hour: float) -> str:
    """Return a speed, as "27 km/h"."""
    unit = _SPEEDS[UnitOfLength(hass.config.units.length_unit)]
    value = SpeedConverter.convert(
        kilometres_per_hour, UnitOfSpeed.KILOMETERS_PER_HOUR, unit
    )
    return f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """Return how long something took, as "1 h 5 min"."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
