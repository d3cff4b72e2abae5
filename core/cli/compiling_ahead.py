"""Machine code that a command will need, made by a second process while the first makes other machine code.

Both keep it in the cache of :mod:`glem.core.compiling.kernels`, where the one who comes second waits for the other.
Commands start the second process; nothing depends on it: what it has not made, the first makes. It is a fork, which has
all modules and takes a second less than another interpreter; where systems do not fork well, there is none.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glem.core.game.game import Game

_OFF = "GLEM_NO_COMPILING_AHEAD"


def compile_features_ahead(game: Game) -> None:
    """Let a second process make the machine code of features and phases, the first time only.

    Not where there is one processor alone, nor where other threads may hold locks, which nobody would open in a fork.
    """
    from glem.core.compiling.cache_folder import cache_folder
    from glem.core.compiling.cache_index import load_compiler
    from glem.core.features.learning import has_learning, load_learning

    folder = cache_folder()
    can_fork = sys.platform == "linux" and (os.cpu_count() or 1) > 1 and threading.active_count() == 1
    if folder is None or os.environ.get(_OFF) or not can_fork or not has_learning(game.name):
        return
    try:
        # Once, whatever comes of it. A folder as those of kernels, so that it is removed with them.
        digest = load_learning(game.name).features.operations.numba_type.digest
        (folder / f"ahead-{digest}-features").mkdir()
        load_compiler()
        with warnings.catch_warnings():
            # Python warns of the threads of libraries, which sleep.
            warnings.simplefilter("ignore", DeprecationWarning)
            number = os.fork()
    except OSError:
        return
    if number:
        atexit.register(_end, number)
        return
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _compile_features(game)
    finally:
        # What the first process tidies up at its end is not for the second, whatever happened.
        os._exit(0)


def _end(number: int) -> None:
    """Leave no process behind: what it has not made is not needed any more."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def _compile_features(game: Game) -> None:
    from glem.core.compiling.columns import column_of_one
    from glem.core.features.learning import load_learning

    columns = column_of_one(game.initial_position)
    learning = load_learning(game.name)
    learning.features.values(columns)
    learning.phases.of(columns)
