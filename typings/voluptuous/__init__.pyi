# Home Assistant serves voluptuous through probatio, under the same name.
from probatio import *  # noqa: F403
