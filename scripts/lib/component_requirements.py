"""Print what parts of Home Assistant need beyond Home Assistant itself.

Home Assistant installs the requirements of a component the first time it runs. With them in the
environment from the start, it runs without a network.

Usage: component_requirements.py SITE_PACKAGES COMPONENTS_FILE
"""

from collections.abc import Iterable, Iterator
import json
from pathlib import Path
import sys
from typing import Any


def read_components(path: Path) -> list[str]:
    """Return the component names in a file with one a line and # comments."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def walk_manifests(components: Path, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the manifests of components and of all they depend on, each once."""
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        manifest = json.loads((components / name / "manifest.json").read_text())
        waiting.extend(manifest.get("dependencies", []))
        yield manifest


def main(site_packages: str, components_file: str) -> None:
    """Print the requirements, sorted, one a line."""
    names = read_components(Path(components_file))
    components = Path(site_packages, "homeassistant", "components")
    requirements = {
        requirement
        for manifest in walk_manifests(components, names)
        for requirement in manifest.get("requirements", [])
    }
    print("\n".join(sorted(requirements)))


if __name__ == "__main__":
    main(*sys.argv[1:])
