"""Read and write the tables on pages of docs/ that contain measurements."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
import re
import subprocess
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"
_TABLE: Final = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_COMMIT: Final = re.compile(r"^Measured at commit `\w+`", re.MULTILINE)


def current_commit() -> str:
    """Return the short hash of the current commit."""
    command = ["git", "rev-parse", "--short=10", "HEAD"]
    return subprocess.check_output(command, cwd=DOCS, text=True).strip()  # noqa: S603


def as_markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown with this head and these rows."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_same_ones_together(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Merge rows that differ only in their first cell, the name. The largest such row is last, named "the other 20"."""
    names = defaultdict[tuple[str, ...], list[str]](list)
    for name, *values in rows:
        names[tuple(values)].append(name)
    usual = max(names, key=lambda values: len(names[values]))
    number = len(names.pop(usual))
    others = [("; ".join(of), *values) for values, of in names.items()]
    return [*others, (f"the other {number}", *usual)]


def tables_of(page: Path) -> list[str]:
    """Return the tables on a page, as Markdown."""
    return _TABLE.findall(page.read_text())


def fill(page: Path, tables: Sequence[str]) -> None:
    """Replace a page's tables, and the commit in its text. Raise ValueError if the page has more or fewer tables."""
    text = page.read_text()
    prose = _TABLE.split(text)
    if len(prose) != len(tables) + 1:
        raise ValueError(f"{page.name} has {len(prose) - 1} tables")
    text = "".join(chain(*zip(prose, (*tables, ""), strict=True)))
    measured_at = f"Measured at commit `{current_commit()}`"
    page.write_text(_COMMIT.sub(measured_at, text))
    print(f"Wrote the tables of {page.name}")  # noqa: T201
