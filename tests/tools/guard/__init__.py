"""Nights of a guarded bike: false alarms at rest, and messages about thefts."""
