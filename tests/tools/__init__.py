"""Programs that tests, measurements and the demo use."""
