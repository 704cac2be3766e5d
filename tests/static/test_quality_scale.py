"""The quality scale: every rule has an answer, and the document shows where it is met."""

import re
from typing import Any

from homeassistant.util.yaml import load_yaml_dict
import pytest

from .project import INTEGRATION, ROOT

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
    """Each rule is done, or exempt for a reason, and the document says the same."""
    for rule, answer in ANSWERS.items():
        assert STATUS[rule] == "done" or answer["comment"].strip(), rule
        assert STATUS[rule] in {"done", "exempt"}, rule
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
