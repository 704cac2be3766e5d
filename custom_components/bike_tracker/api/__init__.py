"""The tracking service as Python. Nothing in here knows of Home Assistant."""
