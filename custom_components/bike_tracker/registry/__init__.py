"""What Home Assistant keeps of an account's trackers."""
