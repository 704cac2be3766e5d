"""Measures what guards make of nights, and writes the tables of docs/guard.md: python -m tests.tools.guard."""

from tests.tools.tables import as_csv, fill

from .page import HEAD, NIGHT_HEAD, NIGHT_TABLE, PAGE, TABLE, measure, tables

rows = measure()
fill(PAGE, tables(rows))
TABLE.write_text(as_csv(HEAD, rows.guard))
NIGHT_TABLE.write_text(as_csv(NIGHT_HEAD, rows.night))
