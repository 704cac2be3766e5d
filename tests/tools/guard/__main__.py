"""Measures what guards make of nights, and writes the table of docs/guard.md: python -m tests.tools.guard."""

from tests.tools.tables import as_csv, fill

from .page import HEAD, PAGE, TABLE, measure, tables

rows = measure()
fill(PAGE, tables(rows))
TABLE.write_text(as_csv(HEAD, rows))
