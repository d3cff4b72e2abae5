"""An evaluation that a command names, of the game of its positions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation

__all__ = ["named_evaluation"]


def named_evaluation(name: str, positions: str) -> LinearEvaluation:
    """Load an evaluation file, or by its name one that comes with the game of a file of positions.

    Raises
    ------
    BadInputError
        There is no such evaluation.
    """
    from glem.core.errors import BadInputError
    from glem.core.evaluation.named import DEFAULT_EVALUATION, load_value
    from glem.core.positions.files import stream_positions

    if name != DEFAULT_EVALUATION and Path(name).is_file():
        return load_value(name)
    first = next(iter(stream_positions(positions, chunk=1)), None)
    if first is None:
        raise BadInputError(f"{positions} holds no positions")
    return load_value(name, first.game)
