"""Words for what a search has found."""

from __future__ import annotations

import numpy as np

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.search.results import Line, SearchResult

__all__ = ["depth_texts", "line_text", "value_text"]


def value_text(evaluation: LinearEvaluation, value: float) -> str:
    """Word a value before the link: a signed number of label units, or a winning chance."""
    if evaluation.link == LOGISTIC:
        return f"{float(evaluation.link(np.array(value))):.1%}"
    return f"{value:+.2f}"


def line_text(evaluation: LinearEvaluation, line: Line) -> str:
    """Word the value of a line: as :func:`value_text`, or ``won`` and ``lost``."""
    if line.plies_to_end is not None:
        return "won" if line.value > 0 else "lost"
    return value_text(evaluation, line.value)


def depth_texts(found: SearchResult) -> list[str]:
    """Word the depth of each line; empty words where all are as deep as the search."""
    if all(line.depth == found.depth for line in found.lines):
        return [""] * len(found.lines)
    return [f"depth {line.depth:>2}  " for line in found.lines]
