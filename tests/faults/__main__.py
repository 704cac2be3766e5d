"""Writes docs/faults.md: python -m tests.faults."""

from .page import PAGE, page

PAGE.parent.mkdir(exist_ok=True)
PAGE.write_text(page())
print(f"Wrote {PAGE.name}")
