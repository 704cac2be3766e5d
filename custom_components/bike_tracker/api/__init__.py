"""Client for the tracking service. This package does not import Home Assistant."""
