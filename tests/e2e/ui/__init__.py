"""Browser tests that use only the user interface."""
