"""What a verbose command tells of compiling."""

import logging
import time
from typing import Any

from numba.core.event import Listener


class Compilations(Listener):
    """Logs every kernel that is compiled, not loaded from the disk, and how long that took with all that it calls."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._began: dict[int, float] = {}

    def on_start(self, event: Any) -> None:
        """Note when a compilation began."""
        self._began[id(event.data["dispatcher"])] = time.monotonic()

    def on_end(self, event: Any) -> None:
        """Log a compilation that is no part of another."""
        function = event.data["dispatcher"].py_func
        began = self._began.pop(id(event.data["dispatcher"]), None)
        if began is not None and not self._began:
            name = f"{function.__module__}.{function.__qualname__}"
            self._log.info("compiled %s in %.1f s", name, time.monotonic() - began)
