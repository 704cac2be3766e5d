"""Simulated nights of a guarded bike: false alarms while it is parked, and messages about thefts."""
