"""The code: what hassfest reads from it without running it."""

import ast
from collections.abc import Iterator

from homeassistant.const import Platform

from custom_components.bike_tracker import PLATFORMS

from .project import INTEGRATION, read_json, syntax_trees


def components_in(tree: ast.Module) -> Iterator[str]:
    """Yield the parts of Home Assistant that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("homeassistant.components."):
                yield name.split(".")[2]


def lines_in(tree: ast.Module) -> Iterator[str]:
    """Yield what a module writes to the log for a person to see."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == "LOGGER"
            and node.func.attr != "debug"
        ):
            line, *_ = node.args
            assert isinstance(line, ast.Constant)
            yield str(line.value)


def test_imported_components_are_there_in_time() -> None:
    """What is imported is a platform, has a module here or is a dependency."""
    manifest = read_json(INTEGRATION / "manifest.json")
    # Home Assistant sets itself up before all others.
    allowed = {"homeassistant"} | {platform.value for platform in Platform}
    allowed |= {path.stem for path in INTEGRATION.glob("*.py")}
    allowed |= {*manifest.get("dependencies", [])}
    allowed |= {*manifest.get("after_dependencies", [])}
    imported = {
        component
        for tree in syntax_trees().values()
        for component in components_in(tree)
    }
    assert imported <= allowed


def test_client_knows_nothing_of_home_assistant() -> None:
    """The client could be published on its own."""
    for path, tree in syntax_trees().items():
        if path.parent.name == "api":
            assert "homeassistant" not in ast.unparse(tree), path.name


def test_each_line_of_the_log_begins_with_the_account() -> None:
    """But for those of triggers and conditions, which are of all accounts."""
    nameless = {
        line
        for path, tree in syntax_trees().items()
        if path.parent.name != "automations"
        and path.stem != "messages"
        and path.stem not in {"trigger", "condition"}
        for line in lines_in(tree)
        if not line.startswith("%s")
    }
    assert nameless == set()


def test_each_platform_says_how_many_updates_may_run() -> None:
    """Each platform has a module that sets PARALLEL_UPDATES; they come in order."""
    assert sorted(PLATFORMS) == PLATFORMS
    for platform in PLATFORMS:
        tree = syntax_trees()[INTEGRATION / f"{platform.value}.py"]
        names = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert "PARALLEL_UPDATES" in names, platform
