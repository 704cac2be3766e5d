"""A process ends with the one that started it."""

from pathlib import Path
import subprocess
import sys

from .process import CHILD

PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, sys.argv[1], "grandchild"], stdin=subprocess.PIPE)
time.sleep(60)
"""
GRANDCHILD = """
import sys, time
print(sys.argv[1:], flush=True)
time.sleep(60)
"""


def test_killing_the_parent_ends_the_child(tmp_path: Path) -> None:
    """However the parent ended, the child does not stay behind."""
    (tmp_path / "grandchild.py").write_text(GRANDCHILD)
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", PARENT, CHILD],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(tmp_path)},
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"[]\n"
        parent.kill()
        # Comes to an end when nobody can write any more.
        assert parent.stdout.read() == b""


def test_runs_a_module_with_its_arguments(tmp_path: Path) -> None:
    """As `python -m` does."""
    (tmp_path / "module.py").write_text(
        "import sys; print(__name__, sys.argv[1:]); sys.exit(3)"
    )
    with subprocess.Popen(  # noqa: S603
        [sys.executable, CHILD, "module", "--port", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(tmp_path)},
    ) as child:
        assert child.stdout is not None
        assert child.stdout.read() == b"__main__ ['--port', '1']\n"
        assert child.wait() == 3
