"""Measures what guards make of nights, and writes docs/guard.md: python -m tests.tools.guard."""

from tests.tools.commit import measured_at

from .page import PAGE, page

PAGE.write_text(page() + measured_at())
print(f"Wrote {PAGE.name}")
