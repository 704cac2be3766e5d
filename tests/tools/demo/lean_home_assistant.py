"""Run Home Assistant as long as the parent process lives, without parts that a demo does not need.

Voice, cameras and analytics need packages, programs or servers that not every machine
has. On a machine without them, Home Assistant would show a notification about the
failure. This file imports nothing from the project, because the project's folder must
not be on Home Assistant's import path.
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
    *("ai_task", "analytics", "assist_satellite", "camera", "conversation"),
    *("image_processing", "stt", "tts", "wake_word"),
}

IMPORTED_ALL_THE_SAME = {"ai_task", "assist_satellite", "camera"}
"""Home Assistant imports these components even if they are not set up, because it reads
which features their platforms have. Empty modules take their places.
"""


def _end_with_parent() -> None:
    """Wait until the parent ends, which closes standard input. Then end this process."""
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
