"""Tables of measured pages: in short on the page, in full as CSV beside it."""

from collections import Counter
from collections.abc import Iterable, Sequence
import csv
from io import StringIO
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
DATA = DOCS / "data"


def as_markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of a page."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_csv(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as a file that spreadsheets read, without what marks code."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue().replace("`", "")


def with_usual_ones_together(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the rows; those that all say what most rows say are one, the last."""
    usual, number = Counter(tuple(row[1:]) for row in rows).most_common(1)[0]
    others = [row for row in rows if tuple(row[1:]) != usual]
    return [*others, (f"the other {number}", *usual)]
