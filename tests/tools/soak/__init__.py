"""A month of polls with troubles between them, in a few minutes, and what it leaves behind.

`scripts/soak` runs the month, tests/test_soak.py a day.
"""
