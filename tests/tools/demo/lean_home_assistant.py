"""Run Home Assistant for no longer than the process that started it, and without parts that a demo does without.

Voice, cameras and analytics need packages, programs or servers that are not on every machine. Without those they fail, and
Home Assistant greets people with a notification about it. Stands alone, so that Home Assistant finds nothing of this
project beside itself.
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
"""Home Assistant imports all components with such a platform to read their features."""


def _end_with_parent() -> None:
    """Wait for the end of standard input, which the parent holds open as long as it lives."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run it in this process, with the same arguments."""
    bootstrap.DEFAULT_INTEGRATIONS -= LEFT_OUT
    for component in IMPORTED_ALL_THE_SAME:
        name = f"homeassistant.components.{component}"
        sys.modules[name] = ModuleType(name)
    Thread(target=_end_with_parent, daemon=True).start()
    runpy.run_module("homeassistant", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
