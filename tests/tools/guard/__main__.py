"""Measures what guards make of nights, and writes docs/guard.md: python -m tests.tools.guard."""

from .page import PAGE, page

PAGE.write_text(page())
print(f"Wrote {PAGE.name}")
