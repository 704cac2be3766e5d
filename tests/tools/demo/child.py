"""Run a module as `python -m` does, for no longer than the process that started it: child.py MODULE [ARGUMENT…].

Stands alone, so that what it runs finds nothing of this project beside itself.
"""

import os
import runpy
import signal
import sys
from threading import Thread
import time

SECONDS_TO_END = 10


def _end_with_parent() -> None:
    """Wait for the end of standard input, which the parent holds open as long as it lives."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run the module in this process."""
    del sys.argv[0]
    Thread(target=_end_with_parent, daemon=True).start()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
