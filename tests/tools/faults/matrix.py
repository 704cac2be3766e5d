"""Measures what `python -m tests.tools.faults` writes down; no part of a usual run of the tests."""

import pytest

from .cases import Case
from .home import Home
from .measured import MOST, Work, rounded
from .recovery import recovery


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Measure what this process was told to."""
    [work] = (
        plugin
        for plugin in metafunc.config.pluginmanager.get_plugins()
        if isinstance(plugin, Work)
    )
    metafunc.parametrize("work", [work], ids=[""])
    metafunc.parametrize("case", work.cases, ids=str)


async def test_measure(home: Home, work: Work, case: Case) -> None:
    """Wait for twice as long as anything may take."""
    seconds = await recovery(home, case, MOST)
    work.measured[case] = rounded(seconds)
