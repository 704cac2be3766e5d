"""quality_scale.yaml: every rule of Home Assistant's quality scale has an answer."""

from typing import Any

from homeassistant.util.yaml import load_yaml_dict
import pytest
import yaml

from .project import INTEGRATION, read_json

TIERS_AND_RULES = """
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
"""
TIERS: dict[str, list[str]] = {
    tier: rules.split() for tier, rules in yaml.safe_load(TIERS_AND_RULES).items()
}
RULES = frozenset().union(*TIERS.values())


@pytest.fixture(name="answers", scope="module")
def answers_fixture() -> dict[str, Any]:
    """Return the answer to each rule."""
    scale = load_yaml_dict(str(INTEGRATION / "quality_scale.yaml"))
    assert scale.keys() == {"rules"}
    answers: dict[str, Any] = scale["rules"]
    return answers


def status_of(answer: Any) -> str:
    """Return the status of an answer, which may come with a comment."""
    status: str = answer["status"] if isinstance(answer, dict) else answer
    return status


def test_every_rule_is_answered(answers: dict[str, Any]) -> None:
    """There are 54 rules, each with one answer."""
    assert len(RULES) == 54
    assert RULES - answers.keys() == set(), "rules without an answer"
    assert answers.keys() - RULES == set(), "answers to no rule"


def test_answers_are_done_or_exempt(answers: dict[str, Any]) -> None:
    """An exemption says why."""
    for rule, answer in answers.items():
        assert status_of(answer) in {"done", "exempt", "todo"}, rule
        if isinstance(answer, dict):
            assert answer.keys() <= {"status", "comment"}, rule
        if status_of(answer) == "exempt":
            assert isinstance(answer, dict), rule
            assert answer["comment"].strip(), rule


def test_the_manifest_claims_what_is_done(answers: dict[str, Any]) -> None:
    """Every rule of the claimed tier and of those below it is met."""
    claimed = read_json(INTEGRATION / "manifest.json")["quality_scale"]
    tiers = list(TIERS)
    needed = frozenset().union(*(TIERS[t] for t in tiers[: tiers.index(claimed) + 1]))
    assert not {rule for rule in needed if status_of(answers[rule]) == "todo"}
