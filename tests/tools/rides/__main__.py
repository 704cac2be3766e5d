"""Measures how near to the truth rides are, and writes docs/rides.md: python -m tests.tools.rides."""

from tests.tools.commit import measured_at

from .page import PAGE, page

PAGE.write_text(page() + measured_at())
print(f"Wrote {PAGE.name}")
