"""The quality scale: every rule has an answer, and the document shows where it is met."""

import re
from typing import Any

from homeassistant.util.yaml import load_yaml_dict
import pytest
import yaml

from .project import INTEGRATION, ROOT, read_json

TIERS: dict[str, str] = yaml.safe_load("""
bronze: action-setup appropriate-polling brands common-modules config-flow config-flow-test-coverage dependency-transparency
 docs-actions docs-conditions docs-high-level-description docs-installation-instructions docs-removal-instructions docs-triggers
 entity-event-setup entity-unique-id has-entity-name runtime-data test-before-configure test-before-setup unique-config-entry
silver: action-exceptions config-entry-unloading docs-configuration-parameters docs-installation-parameters entity-unavailable
 integration-owner log-when-unavailable parallel-updates reauthentication-flow test-coverage
gold: devices diagnostics discovery discovery-update-info docs-data-update docs-examples docs-known-limitations
 docs-supported-devices docs-supported-functions docs-troubleshooting docs-use-cases dynamic-devices entity-category
 entity-device-class entity-disabled-by-default entity-translations exception-translations icon-translations
 reconfiguration-flow repair-issues stale-devices
platinum: async-dependency inject-websession strict-typing
""")
ANSWERS: Any = load_yaml_dict(str(INTEGRATION / "quality_scale.yaml"))["rules"]
STATUS: dict[str, str] = {
    rule: answer if isinstance(answer, str) else answer["status"]
    for rule, answer in ANSWERS.items()
}
ROW = re.compile(r"^\| ([a-z][a-z-]+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = {
    rule: row
    for rule, *row in ROW.findall((ROOT / "docs" / "quality-scale.md").read_text())
}
DONE = [rule for rule, status in STATUS.items() if status == "done"]
IN_README = re.compile(r"README \[([^\]]+)\]\(\.\./README\.md#")


def test_every_rule_is_answered() -> None:
    """Each rule of the claimed tier and the tiers below is done, or exempt for a reason."""
    claimed = read_json(INTEGRATION / "manifest.json")["quality_scale"]
    assert claimed == list(TIERS)[-1]
    assert STATUS.keys() == {rule for rules in TIERS.values() for rule in rules.split()}
    for rule, answer in ANSWERS.items():
        assert STATUS[rule] == "done" or answer["comment"].strip(), rule
        assert STATUS[rule] in {"done", "exempt"}, rule


def test_the_document_agrees() -> None:
    """The document lists each rule, and the exempt rules as such."""
    assert ROWS.keys() == STATUS.keys()
    exempt = {rule for rule, row in ROWS.items() if row[0].startswith("exempt: ")}
    assert exempt == STATUS.keys() - set(DONE)


@pytest.mark.parametrize("rule", DONE)
def test_pointers_lead_somewhere(rule: str) -> None:
    """Each file, test and section of the README that the document names exists."""
    where, test = ROWS[rule]
    for name in re.findall(r"`([\w./]+)`", where):
        assert (INTEGRATION / name).exists() or (ROOT / name).exists(), name
    pointers = re.findall(r"`([^`]+)`", test)
    assert pointers
    for pointer in pointers:
        path, _, function = pointer.partition("::")
        assert (ROOT / path).exists(), path
        if function:
            assert f"def {function}(" in (ROOT / path).read_text(), function
    readme = (ROOT / "README.md").read_text()
    for section in IN_README.findall(where):
        _, _, text = readme.partition(f"# {section}\n")
        assert len(text.partition("\n## ")[0].strip()) > 100, section


def test_docs_rules_point_to_the_readme() -> None:
    """Each rule about documentation of the integration itself names its section."""
    pages = {"docs-actions", "docs-conditions", "docs-triggers"}
    rules = {rule for rule in DONE if rule.startswith("docs-")} - pages
    assert not [rule for rule in rules if not IN_README.search(ROWS[rule][0])]
