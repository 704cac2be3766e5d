"""Each rule of the quality scale can be pointed to, and the pointers hold."""

from functools import cache
import re

import pytest
import yaml

from .project import INTEGRATION, ROOT

DOCUMENT = ROOT / "docs" / "quality-scale.md"
ROW = re.compile(r"\| ([a-z-]+) \| (done|exempt) \| (.+) \| (.+) \|")
README_SECTIONS = {
    "docs-high-level-description": "What it is for",
    "docs-installation-instructions": "Installation",
    "docs-installation-parameters": "Sign in",
    "docs-removal-instructions": "Removal",
    "docs-data-update": "How data is updated",
    "docs-examples": "Your first automation",
    "docs-known-limitations": "Known limitations",
    "docs-supported-devices": "Supported services and trackers",
    "docs-supported-functions": "Entities",
    "docs-troubleshooting": "Troubleshooting",
    "docs-use-cases": "What it is for",
}


@cache
def rows() -> dict[str, tuple[str, str, str]]:
    """Return status, place and test of each rule."""
    return {
        rule: (status, where, test)
        for rule, status, where, test in ROW.findall(DOCUMENT.read_text())
    }


def test_table_says_what_the_integration_says() -> None:
    """The document and `quality_scale.yaml` agree on each rule."""
    rules = yaml.safe_load((INTEGRATION / "quality_scale.yaml").read_text())["rules"]

    assert {rule: status for rule, (status, _, _) in rows().items()} == {
        rule: value if isinstance(value, str) else value["status"]
        for rule, value in rules.items()
    }


@pytest.mark.parametrize(
    "rule", [rule for rule, row in rows().items() if row[0] == "done"]
)
def test_pointers_lead_somewhere(rule: str) -> None:
    """Each file and each test that a row names exists."""
    _, where, test = rows()[rule]
    for name in re.findall(r"`([\w./]+)`", where):
        assert (INTEGRATION / name).exists() or (ROOT / name).exists(), name
    pointers = re.findall(r"`([^`]+)`", test)
    assert pointers
    for pointer in pointers:
        path, _, function = pointer.partition("::")
        assert (ROOT / path).exists(), path
        if function:
            assert f"def {function}(" in (ROOT / path).read_text(), function


@pytest.mark.parametrize(("rule", "section"), README_SECTIONS.items())
def test_readme_has_the_sections(rule: str, section: str) -> None:
    """Each docs rule has its section in the README, with something in it."""
    readme = (ROOT / "README.md").read_text()
    _, _, text = readme.partition(f"# {section}\n")

    assert f"README [{section}](" in rows()[rule][1]
    assert len(text.partition("\n## ")[0].strip()) > 100
