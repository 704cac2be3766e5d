"""Measures how soon all is right again, and writes docs/faults.md with its tables: python -m tests.tools.faults.

It takes some minutes. With --page it writes the page alone, with what was measured before.
"""

import argparse

from .cases import PATHS
from .measured import measure, write
from .page import PAGE, write as write_page


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
    write_page()
    print(f"Wrote {PAGE.name}")


if __name__ == "__main__":
    main()
