"""A home whose bikes live through a story, and the runs of automations there."""
