"""Machine code that a command will need, made by a second process while the first makes other machine code.

Both keep it in the cache of :mod:`glem.core.compiling.kernels`, where the one who comes second waits for the other.
Commands start the second process; nothing depends on it: what it has not made, the first makes.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glem.core.game.game import Game


FEATURES = "features"
"""Purpose: feature values and phases of positions."""

SEARCH = "search"
"""Purpose: the evaluation and quiescence in the search, then as for :data:`FEATURES`."""

_OFF = "GLEM_NO_COMPILING_AHEAD"


def compile_ahead(purpose: str, game: Game, evaluation: str = "") -> None:
    """Let a second process make machine code, the first time only, and where there are several processors.

    Parameters
    ----------
    purpose
        :data:`FEATURES` or :data:`SEARCH`.
    game
        The game.
    evaluation
        What the search evaluates with, as in a player's text; errors are left to the command.
    """
    from glem.core.compiling.cache_folder import cache_folder
    from glem.core.features.learning import has_learning, load_learning

    folder = cache_folder()
    if folder is None or os.environ.get(_OFF) or (os.cpu_count() or 1) < 2 or not has_learning(game.name):
        return
    operations = load_learning(game.name).features.operations if purpose == FEATURES else game.search_rules
    with contextlib.suppress(OSError):
        # Once, whatever comes of it. A folder as those of kernels, so that it is removed with them.
        (folder / f"ahead-{operations.numba_type.digest}-{purpose}").mkdir()
        arguments = [purpose, game.name, evaluation]
        process = subprocess.Popen(  # noqa: S603 # this module, by this interpreter
            [sys.executable, "-m", __name__, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(_end, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave no process behind: what it has not made is not needed any more."""
    process.kill()
    process.wait()


def _features(game: Game, _evaluation: str) -> None:
    import numpy as np

    from glem.core.features.learning import load_learning

    position = game.initial_position
    columns = type(position)(*(np.array([field]) for field in position))
    learning = load_learning(game.name)
    learning.features.values(columns)
    learning.phases.of(columns)


def _search(game: Game, evaluation: str) -> None:
    from glem.core.evaluation.integers.recomputing import evaluator_of
    from glem.core.evaluation.named import load_value
    from glem.core.search.searcher import Searcher, SearchSettings

    evaluator = evaluator_of(load_value(evaluation, game))
    Searcher(game, evaluator, SearchSettings(table_mb=0)).translate_leaves()
    _features(game, evaluation)


_PURPOSES: dict[str, Callable[[Game, str], None]] = {FEATURES: _features, SEARCH: _search}


def main(arguments: list[str]) -> None:
    """Make machine code; ``arguments`` are purpose, name of the game, evaluation."""
    from glem.core.game.game import load_game

    purpose, game_name, evaluation = arguments
    _PURPOSES[purpose](load_game(game_name), evaluation)


if __name__ == "__main__":
    main(sys.argv[1:])
