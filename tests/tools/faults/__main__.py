"""Measures how soon all is right again, and writes the tables of docs/faults.md: python -m tests.tools.faults.

It takes some minutes. With --page it writes the page alone, with what was measured before.
"""

import argparse

from tests.tools.tables import fill

from .cases import PATHS
from .measured import commit, measure, write
from .page import PAGE, tables


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.faults", description=__doc__
    )
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--only", choices=PATHS, help="measure nothing but this anew")
    arguments = parser.parse_args()
    if not arguments.page:
        write(measure([arguments.only] if arguments.only else PATHS))
    fill(PAGE, tables(), commit=commit())


if __name__ == "__main__":
    main()
