"""Perft: the number of move sequences of a given length, the usual check of a move generator.

The compiled form goes through the tree in blocks of positions, so that playing the moves of a block and
counting the replies are plain loops over columns, which LLVM vectorizes where a game's rules allow it.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import by_presence
from glem.core.errors import BadInputError
from glem.core.game.game import Game, count_moves, legal_moves, play
from glem.core.tasks.progress import SILENT, Progress

_BLOCK_ROWS = 4096
_SPLIT_PLIES = 3
_LEAST_SPLIT_DEPTH = 7


def _counted(rules: Any, position: Any, moves: Any, start: Any) -> Any:
    return count_moves(rules, position)


_number_of_moves = by_presence("count_moves", _counted, legal_moves, np.int64)
"""Count the legal moves, by listing them behind ``start`` where the game cannot do it otherwise."""


def _count_leaves(
    rules: Any,
    columns: Any,
    moves: Any,
    first: np.int64,
    last: np.int64,
    depth: np.int64,
    block: np.int64,
    ended: np.int64,
) -> np.int64:
    """Count the leaves ``depth`` plies below the positions in rows ``first`` to ``last``; later rows are scratch."""
    leaves = np.int64(0)
    for block_start in range(first, last, block):
        end = last
        for parent in range(block_start, min(block_start + block, last)):
            position = position_at(columns, parent)
            count = np.int64(legal_moves(rules, position, moves, end))
            if count == np.int64(0):
                leaves += ended
            for row in range(end, end + count):
                store_position(columns, row, position)
            end += count
        if depth > np.int64(2):
            for row in range(last, end):
                store_position(columns, row, play(rules, position_at(columns, row), moves[row]))
            leaves += _count_leaves(rules, columns, moves, last, end, depth - np.int64(1), block, ended)
        elif ended != np.int64(0):
            # One leaf at least: for a game with forced passes LLVM sees that who is stuck need not be asked.
            for row in range(last, end):
                child = play(rules, position_at(columns, row), moves[row])
                leaves += max(_number_of_moves(rules, child, moves, end), np.int64(1))
        else:
            for row in range(last, end):
                child = play(rules, position_at(columns, row), moves[row])
                leaves += _number_of_moves(rules, child, moves, end)
    return leaves


def _count_compiled(game: Game, position: Any, depth: int) -> int:
    """Leaves ``depth`` >= 2 plies below one position."""
    block = max(1, _BLOCK_ROWS // game.max_moves)
    rows = 1 + ((depth - 1) * block + 1) * game.max_moves
    columns = game.empty_columns(rows)
    moves = np.zeros(rows, np.int32)
    store_position(columns, 0, position)
    integers = np.array([0, 1, depth, block, game.perft_counts_ended], np.int64)
    return int(compiled(_count_leaves)(game.rules, columns, moves, *integers))


def _children(game: Game, position: Any) -> list[Any]:
    return [game.play(position, move) for move in game.list_legal_moves(position)]


def _count_plain(game: Game, position: Any, depth: int) -> int:
    if depth == 0:
        return 1
    children = _children(game, position)
    if not children:
        return int(game.perft_counts_ended)
    return len(children) if depth == 1 else sum(_count_plain(game, child, depth - 1) for child in children)


def perft(
    game: Game,
    depth: int,
    position: Any = None,
    *,
    plain: bool = False,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> int:
    """Count the move sequences of exactly ``depth`` plies from a position; passes count as plies.

    Parameters
    ----------
    game
        Any game; one with the operation ``count_moves`` is counted faster.
    depth
        Number of plies, at least 0.
    position
        Where to start; default is the initial position.
    plain
        Run the plain Python rules instead of the compiled ones.
    jobs
        Number of threads; the count does not depend on it.

    Returns
    -------
    int
        Number of sequences. One that ends early counts once where ``game.perft_counts_ended``, else not at all: customs
        differ by game.

    Raises
    ------
    BadInputError
        The depth is negative or there are no jobs.
    """
    if depth < 0:
        raise BadInputError(f"perft depth must not be negative, got {depth}")
    if jobs < 1:
        raise BadInputError(f"perft needs at least one job, got {jobs}")
    roots = [game.initial_position if position is None else position]
    leaves = 0
    # Deep trees are cut into subtrees: for the threads, the display and Ctrl-C, which compiled code does not see.
    cuts = _SPLIT_PLIES if depth >= _LEAST_SPLIT_DEPTH else 0
    for _ in range(cuts):
        families = [_children(game, root) for root in roots]
        leaves += sum(not children for children in families) * int(game.perft_counts_ended)
        roots = [child for children in families for child in children]
    below = depth - cuts
    count = _count_plain if plain or below < 2 else _count_compiled
    with progress(f"perft {depth} of {game.title}", len(roots)) as task, ThreadPoolExecutor(jobs) as executor:
        for subtree in executor.map(lambda root: count(game, root, below), roots):
            leaves += subtree
            task.advance()
    return leaves
