"""Rides whose truth is known, what trackers report of them, and what is made of that."""
