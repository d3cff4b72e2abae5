"""What the score of a game may mean in a file: three conventions, all from black's view.

``standard``
    Disc difference with the empty squares counted for the winner, as the rules have it (WTHOR, OBF).
``raw``
    Plain disc difference (Logistello's book, most self-play transcripts).
``sign``
    1, 0 or -1 for won, drawn and lost.

They are checked against the replay; what glem works with is ``standard``.
"""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from glem.core.positions.replay import FINISHED, Replay

Convention: TypeAlias = Literal["standard", "raw", "sign"]
"""Name of a convention."""

CONVENTIONS: tuple[Convention, ...] = get_args(Convention)
"""All conventions by which a final score may be counted."""


def stored_scores(reached: Replay, convention: Convention) -> NDArray[np.float32]:
    """Score for black that a file of a convention holds for each game: float32 [G], right for finished games only."""
    if convention == "standard":
        return reached.final_score.astype(np.float32)
    own, opponent = (np.bitwise_count(discs[reached.last]).astype(np.float32) for discs in reached.positions)
    raw = (own - opponent) * reached.side[reached.last]
    return np.asarray(np.sign(raw) if convention == "sign" else raw)


def likely_convention(reached: Replay, score: NDArray[np.float32]) -> Convention:
    """Tell the convention that most finished games with a score agree with; ``raw`` before ``standard`` when equal."""
    known = (reached.status == FINISHED) & ~np.isnan(score)
    agreeing: dict[Convention, int] = {
        convention: int(np.count_nonzero(known & (stored_scores(reached, convention) == score)))
        for convention in ("raw", "standard", "sign")
    }
    return max(agreeing, key=lambda convention: agreeing[convention])
