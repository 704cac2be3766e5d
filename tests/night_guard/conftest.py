"""Fixtures of the night guard's tests."""

from tests.blueprints.conftest import clock, hass_config_dir, home, house

__all__ = ["clock", "hass_config_dir", "home", "house"]
