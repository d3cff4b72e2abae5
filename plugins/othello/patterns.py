"""Pattern sets of Othello. One instance of each pattern is named; its images under the symmetries share its weights."""

from collections.abc import Mapping


def _squares(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LOGISTELLO: Mapping[str, tuple[str, ...]] = {
    "diagonal_4": _squares("a4 b3 c2 d1"),
    "diagonal_5": _squares("a5 b4 c3 d2 e1"),
    "diagonal_6": _squares("a6 b5 c4 d3 e2 f1"),
    "diagonal_7": _squares("a7 b6 c5 d4 e3 f2 g1"),
    "diagonal_8": _squares("a8 b7 c6 d5 e4 f3 g2 h1"),
    "row_2": _squares("a2 b2 c2 d2 e2 f2 g2 h2"),
    "row_3": _squares("a3 b3 c3 d3 e3 f3 g3 h3"),
    "row_4": _squares("a4 b4 c4 d4 e4 f4 g4 h4"),
    "edge_2x": _squares("b2 a1 b1 c1 d1 e1 f1 g1 h1 g2"),
    "corner_2x5": _squares("a1 b1 c1 d1 e1 a2 b2 c2 d2 e2"),
    "corner_3x3": _squares("a1 b1 c1 a2 b2 c2 a3 b3 c3"),
}
"""Logistello's 46 instances (GLEM, Fig. 7): lines, edge with both X-squares, 2x5 and 3x3 corners."""

LOGISTELLO_1995: Mapping[str, tuple[str, ...]] = {
    "edge": _squares("a1 b1 c1 d1 e1 f1 g1 h1"),
    **{name: LOGISTELLO[name] for name in ("row_2", "row_3", "row_4", "edge_2x")},
    "diagonal_3": _squares("a3 b2 c1"),
    **{name: LOGISTELLO[name] for name in LOGISTELLO if name.startswith("diagonal")},
}
"""Lines, most diagonals, and edges with their X-squares: eleven tables, as many as Logistello had in 1995 (Buro 1995,
section 4). Which they were, the paper does not say.
"""

PATTERN_SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "logistello": LOGISTELLO,
    "logistello-1995": LOGISTELLO_1995,
}
"""Named sets; the first is the default."""
