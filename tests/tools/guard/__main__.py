"""Measures what guards make of nights, and writes docs/guard.md: python -m tests.tools.guard."""

from tests.tools.commit import measured_at
from tests.tools.tables import as_csv

from .page import HEAD, PAGE, TABLE, measure, page

rows = measure()
PAGE.write_text(page(rows) + measured_at())
TABLE.write_text(as_csv(HEAD, rows))
print(f"Wrote {PAGE.name}")
