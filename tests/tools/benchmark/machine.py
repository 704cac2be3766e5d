"""What the benchmark runs on and with."""

from importlib.metadata import version
import os
from pathlib import Path
import platform
import sqlite3

from tests.tools.commit import current_commit


def describe() -> str:
    """Return it in one line."""
    return (
        f"commit `{current_commit()}`: {os.cpu_count()} cores ({_processor()}), Python {platform.python_version()},"
        f" Home Assistant {version('homeassistant')}, aiohttp {version('aiohttp')}, SQLite {sqlite3.sqlite_version},"
        f" pytraccar {version('pytraccar')}"
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [
        line.partition(": ")[2] for line in lines if line.startswith("model name")
    ]
    return models[0] if models else platform.machine()
