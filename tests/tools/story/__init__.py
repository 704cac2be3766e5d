"""Stories of bikes, a home in which they happen, and the automations that run in that home."""
