"""The operating system that glem believes to run on: that of this machine, or one that ``tests/platforms`` emulates."""

import pytest

from glem.core.machine import locks

IS_WINDOWS = locks.sys.platform == "win32"
not_on_windows = pytest.mark.skipif(IS_WINDOWS, reason="Windows has no such thing")
