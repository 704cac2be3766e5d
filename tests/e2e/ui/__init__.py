"""Browser tests: they do the steps of a user in Home Assistant's frontend."""
