"""A home whose bikes have a story: events, and the runs of automations."""
