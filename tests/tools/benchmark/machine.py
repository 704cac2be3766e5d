"""What the benchmark runs on and with."""

from importlib import resources
from importlib.metadata import version
import json
import os
from pathlib import Path
import platform
import sqlite3

from tests.tools.commit import current_commit

from .goals import LIVE_PEER, PEERS


class LibraryError(Exception):
    """Another version of a library is installed than the peer's manifest asks for."""


def describe() -> str:
    """Return it in one sentence; raise LibraryError."""
    libraries = ", ".join(map(_library, (*PEERS, LIVE_PEER)))
    return (
        f"{os.cpu_count()} cores ({_processor()}), Python {platform.python_version()}, Home Assistant"
        f" {version('homeassistant')}, aiohttp {version('aiohttp')}, SQLite {sqlite3.sqlite_version}, and for the others"
        f" what their manifests ask for: {libraries}. Commit `{current_commit()}`."
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [
        line.partition(": ")[2] for line in lines if line.startswith("model name")
    ]
    return models[0] if models else platform.machine()


def _library(peer: str) -> str:
    """Return the library that a peer of Home Assistant's asks for."""
    manifest = resources.files("homeassistant.components") / peer / "manifest.json"
    (requirement,) = json.loads(manifest.read_text())["requirements"]
    name, _, wanted = requirement.partition("==")
    if version(name) != wanted:
        raise LibraryError(
            f"{peer} asks for {requirement}, but {version(name)} is installed: run scripts/compile"
        )
    return f"{name} {wanted}"
