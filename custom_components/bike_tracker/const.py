"""Constants of the whole integration."""

import logging
from typing import Final

DOMAIN: Final = "bike_tracker"
LOGGER: Final = logging.getLogger(__package__)
