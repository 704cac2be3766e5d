"""Print the packages that some components need in addition to Home Assistant's own packages.

Home Assistant installs the packages of a component, or of a second sign-in factor, when
it first uses the component or factor. If the environment already contains these packages,
Home Assistant runs without a network.

Usage: component_requirements.py SITE_PACKAGES COMPONENTS_FILE
"""

import ast
from collections.abc import Iterable, Iterator
import json
from pathlib import Path
import sys
from typing import Any


def read_components(path: Path) -> list[str]:
    """Return the component names in a file with one name per line and comments that begin with #."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def walk_manifests(components: Path, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the manifest of each component and of all its dependencies, each once."""
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        manifest = json.loads((components / name / "manifest.json").read_text())
        waiting += manifest.get("dependencies", []) + manifest.get(
            "after_dependencies", []
        )
        yield manifest


def read_constant(module: Path, name: str) -> Any:
    """Return the value of a constant in a module without running the module, or raise LookupError."""
    for statement in ast.parse(module.read_text()).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                return ast.literal_eval(statement.value)
    raise LookupError(f"{module} has no {name}")


def main(site_packages: str, components_file: str) -> None:
    """Print the sorted packages, one per line."""
    home_assistant = Path(site_packages, "homeassistant")
    names = read_components(Path(components_file))
    requirements: set[str] = set()
    for manifest in walk_manifests(home_assistant / "components", names):
        requirements.update(manifest.get("requirements", []))
    # Home Assistant always loads this second factor of the sign-in, without any
    # configuration.
    totp = home_assistant / "auth" / "mfa_modules" / "totp.py"
    requirements.update(read_constant(totp, "REQUIREMENTS"))
    print("\n".join(sorted(requirements)))


if __name__ == "__main__":
    main(*sys.argv[1:])
