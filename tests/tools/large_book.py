"""Measures a set-up with 300 bikes, without and with 50,000 rides: python -m tests.tools.large_book.

Each is measured in five fresh processes. It prints the median of the longest step of the event loop in processor
time, and of the memory: one process differs from the next by some megabytes.
"""

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
import gc
from itertools import product
import json
from multiprocessing import get_context
from pathlib import Path
import sqlite3
from statistics import median
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Final

from custom_components.bike_tracker.const import DOMAIN
from tests.tools.benchmark.home import home, set_up, set_up_again
from tests.tools.benchmark.meter import Meter
from tests.tools.simulator import Simulator

_BIKES: Final = 300
_RIDES: Final = 50_000
_TIMES: Final = 3
_PROCESSES: Final = 5
_EMAIL: Final = "ann@example.com"
_PASSWORD: Final = "correct horse"
_HOUR: Final = 3_600_000_000


async def _measure(folder: Path, rides: int) -> None:
    """Print the longest step in milliseconds, and the memory of the process in MiB."""
    names = [f"86{number:013}" for number in range(_BIKES)]
    async with Simulator() as simulator, home(folder, recorder=False) as hass:
        simulator.add_account(_EMAIL, _PASSWORD)
        for name in names:
            simulator.add_device(name, email=_EMAIL)
        data = {"url": simulator.url, "email": _EMAIL, "password": _PASSWORD}
        entry = await set_up(hass, DOMAIN, data)
        for _ in range(_TIMES):
            simulator.report_many()
            await entry.runtime_data.coordinator.async_refresh()
        await hass.config_entries.async_unload(entry.entry_id)
        file = folder / ".storage" / DOMAIN / f"{entry.entry_id}.db"
        # In a process of its own, which keeps none of the memory.
        adding = get_context("spawn").Process(
            target=_add_rides, args=(file, names, rides)
        )
        adding.start()
        await asyncio.to_thread(adding.join)
        meter, longest = Meter(), list[float]()
        for _ in range(_TIMES):
            gc.collect()
            cost = await meter.measure(partial(set_up_again, hass, entry))
            longest.append(cost["busy"])
            await hass.config_entries.async_unload(entry.entry_id)
        await set_up_again(hass, entry)
        found = {"milliseconds": min(longest) * 1_000, "MiB": _memory()}
        print(json.dumps(found))  # noqa: T201


def _add_rides(file: Path, names: list[str], rides: int) -> None:
    now = int(datetime.now(UTC).timestamp() * 1_000_000)
    place = '{"time":"2026-11-20T12:00:00Z","latitude":49.4415786,"longitude":8.7,"address":"Am Bach 3"}'
    route = "_p~iF~ps|U_ulLnnqC_mqNvxq`@" * 12
    with closing(sqlite3.connect(file)) as database, database:
        database.executemany(
            "INSERT INTO ride VALUES (?, ?, ?, 12.3, 28.4, ?, ?, ?)",
            (
                (names[number % _BIKES], start, start + _HOUR // 2, place, place, route)
                for number in range(rides)
                for start in [now - (number // _BIKES + 2) * 2 * _HOUR]
            ),
        )


def _memory() -> float:
    """Return the memory that belongs to this process alone, in MiB."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    values = dict(line.split(":") for line in lines[1:])
    return int(values["Private_Dirty"].split()[0]) / 1_024


def main() -> None:
    """Measure both in fresh processes."""
    if len(sys.argv) > 1:
        with TemporaryDirectory() as folder:
            asyncio.run(_measure(Path(folder), int(sys.argv[1])))
        return
    found: dict[int, list[dict[str, float]]] = {0: [], _RIDES: []}
    for _, (rides, each) in product(range(_PROCESSES), found.items()):
        command = [sys.executable, "-m", __spec__.name, str(rides)]
        run = subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        each.append(json.loads(run.stdout))
    for rides, each in found.items():
        print(f"{_BIKES} bikes, {rides:,} rides:")  # noqa: T201
        for key in each[0]:
            values = sorted(it[key] for it in each)
            low, middle, high = values[0], median(values), values[-1]
            print(f"  {middle:.1f} {key} ({low:.1f} to {high:.1f})")  # noqa: T201


if __name__ == "__main__":
    main()
