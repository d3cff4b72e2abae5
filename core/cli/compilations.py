"""What a verbose command tells of compiling."""

from __future__ import annotations

import logging
import time
from typing import Any

from numba.core.event import Listener

from glem.core.compiling.linking import KernelDispatcher

__all__ = ["Compilations"]


class Compilations(Listener):
    """Logs every kernel that is compiled, not loaded from the disk, and how long that took.

    Parameters
    ----------
    log
        Where to.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._began: dict[int, float] = {}

    def on_start(self, event: Any) -> None:
        """Note when a compilation began."""
        self._began[id(event.data["dispatcher"])] = time.monotonic()

    def on_end(self, event: Any) -> None:
        """Log a compilation of a kernel."""
        dispatcher = event.data["dispatcher"]
        began = self._began.pop(id(dispatcher), None)
        if began is not None and isinstance(dispatcher, KernelDispatcher):
            function = dispatcher.py_func
            name = f"{function.__module__}.{function.__qualname__}"
            self._log.info("compiled %s in %.1f s", name, time.monotonic() - began)
