"""Measures how near to the truth rides are, and writes docs/rides.md: python -m tests.tools.rides."""

from .page import PAGE, page

PAGE.write_text(page())
print(f"Wrote {PAGE.name}")
