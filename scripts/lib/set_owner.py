"""Replace the name of the project's GitHub repository in each file that contains it.

Usage: set_owner.py OWNER[/REPOSITORY]
"""

from collections.abc import Iterator
import json
from pathlib import Path
import re
import sys
from typing import NamedTuple, Self

ROOT = Path(__file__).parents[2]
MANIFEST = Path("custom_components/bike_tracker/manifest.json")
# All files that contain the name of the repository.
PLACES = (
    str(MANIFEST),
    "README.md",
    "docs/troubleshooting.md",
    "CHANGELOG.md",
    "blueprints/automation/bike_tracker/*.yaml",
    ".github/ISSUE_TEMPLATE/config.yml",
)


class Repository(NamedTuple):
    """A repository on GitHub."""

    owner: str
    name: str

    @classmethod
    def parse(cls, text: str, name: str) -> Self:
        """Parse OWNER or OWNER/REPOSITORY (default: `name`). Raise ValueError if GitHub allows no such name."""
        given = re.fullmatch(
            r"([A-Za-z0-9](?:-?[A-Za-z0-9]){0,38})(?:/(?!\.\.?$)([\w.-]{1,100}))?",
            text,
            re.ASCII,
        )
        if given is None:
            raise ValueError(f"{text} is not a repository on GitHub: OWNER/REPOSITORY")
        return cls(given[1], given[2] or name)

    def spellings(self) -> Iterator[str]:
        """Yield the forms in which files contain the name: three in addresses, and the owner in the manifest."""
        yield f"/{self.owner}/{self.name}"
        yield f"%2F{self.owner}%2F{self.name}"
        yield f"owner={self.owner}&repository={self.name}"
        yield f'"@{self.owner}"'


def current() -> Repository:
    """Return the repository that the manifest names now."""
    documentation = json.loads((ROOT / MANIFEST).read_text())["documentation"]
    owner, name = documentation.removeprefix("https://github.com/").split("/")
    return Repository(owner, name)


def replace(text: str, old: Repository, new: Repository) -> tuple[str, int]:
    """Return the text with the new repository instead of the old one, and the number of replacements."""
    spellings = dict(zip(old.spellings(), new.spellings(), strict=True))
    found = "|".join(map(re.escape, spellings))
    return re.subn(rf"(?:{found})(?![\w-])", lambda match: spellings[match[0]], text)


def main(argument: str) -> None:
    """Replace the name in each file, and print the number of replacements in the file."""
    old = current()
    new = Repository.parse(argument, old.name)
    for pattern in PLACES:
        for path in sorted(ROOT.glob(pattern)):
            text, count = replace(path.read_text(), old, new)
            path.write_text(text)
            print(f"{path.relative_to(ROOT)}: {count}")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except ValueError as err:
        sys.exit(f"Failed: {err}")
