"""Run Home Assistant as long as the parent process lives, without parts that a demo can do without.

Voice, cameras and analytics need packages, programs or servers that not every machine
has. Without these, Home Assistant would show a notification about the failure. This
file imports nothing from the project, so that Home Assistant does not find the
project's modules.
"""

import os
import runpy
import signal
import sys
from threading import Thread
import time
from types import ModuleType

from homeassistant import bootstrap

SECONDS_TO_END = 10
LEFT_OUT = {
    "ai_task",
    "analytics",
    "assist_satellite",
    "camera",
    "conversation",
    "image_processing",
    "stt",
    "tts",
    "wake_word",
}

IMPORTED_ALL_THE_SAME = {"ai_task", "assist_satellite", "camera"}
"""Home Assistant imports these components even if they are not set up, because it reads
which features their platforms have.
"""


def _end_with_parent() -> None:
    """Wait until standard input is closed. The parent keeps it open as long as it lives."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run Home Assistant in this process, with the arguments of this program."""
    bootstrap.DEFAULT_INTEGRATIONS -= LEFT_OUT
    for component in IMPORTED_ALL_THE_SAME:
        name = f"homeassistant.components.{component}"
        sys.modules[name] = ModuleType(name)
    Thread(target=_end_with_parent, daemon=True).start()
    runpy.run_module("homeassistant", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
