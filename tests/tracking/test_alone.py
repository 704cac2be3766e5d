"""What is known of trackers needs no Home Assistant."""

import subprocess
import sys

import custom_components.bike_tracker

PROGRAM = """
import sys
from types import ModuleType

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "homeassistant":
            raise ImportError(name)

sys.meta_path.insert(0, Refused())
package = ModuleType("bike_tracker")
package.__path__ = [sys.argv[1]]
sys.modules["bike_tracker"] = package
import bike_tracker.api.client, bike_tracker.api.websocket
from bike_tracker.tracking.account import Account
print(Account("Bikes", {}).trackers)
"""


def test_imported_alone() -> None:
    """Neither package imports Home Assistant, nor anything beside the two."""
    [folder] = custom_components.bike_tracker.__path__
    done = subprocess.run(  # noqa: S603 - this very Python
        [sys.executable, "-c", PROGRAM, folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("{}", "")
