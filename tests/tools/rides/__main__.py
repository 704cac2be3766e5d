"""Measures how near to the truth rides are, and writes docs/rides.md: python -m tests.tools.rides."""

from tests.tools.commit import measured_at
from tests.tools.tables import as_csv

from .page import HEAD, PAGE, TABLE, WORLDS_HEAD, WORLDS_TABLE, measure, page

rows = measure()
PAGE.write_text(page(rows) + measured_at())
TABLE.write_text(as_csv(HEAD, rows.trackers))
WORLDS_TABLE.write_text(as_csv(WORLDS_HEAD, rows.worlds))
print(f"Wrote {PAGE.name}")
