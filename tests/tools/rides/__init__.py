"""Rides whose truth is known, what trackers report of them, and what is made of that.

`python -m tests.tools.rides` writes docs/rides.md; `scripts/soak --rides` rides for a year.
"""
