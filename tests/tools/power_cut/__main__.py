"""Kills Home Assistant: python -m tests.tools.power_cut --help."""

import argparse
import asyncio
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

from .cut import run


def main() -> int:
    """Run, and return 0 if nothing was lost or doubled."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.power_cut",
        description="Kills Home Assistant with SIGKILL at random moments, and fails if its database lacks a ride,"
        " an arming, an alarm or a total that is older than ten seconds, or has a ride twice.",
    )
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        cuts = asyncio.run(run(Path(folder), chosen.kills, chosen.seed, print))
    for title, counts in (("counts", cuts.counts), ("lost", cuts.lost)):
        print(f"{title}:")
        for what, count in sorted(counts.items()):
            print(f"{count:>9,} {what}")
    return int(bool(cuts.lost))


if __name__ == "__main__":
    sys.exit(main())
