"""Othello: rules, notations and file formats."""

from __future__ import annotations

from glem.core.game import BoardLayout, Game
from glem.games.othello import notation, rules

__all__ = ["OTHELLO"]

OTHELLO = Game(
    name="othello",
    title="Othello",
    initial_position=rules.INITIAL_POSITION,
    legal_moves=rules.legal_moves,
    play=rules.play,
    is_over=rules.is_over,
    final_score=rules.final_score,
    hash_key=rules.hash_key,
    # 33 is the largest mobility known in a reachable position; 60 bounds every position.
    max_moves=60,
    move_count=65,
    max_plies=120,
    score_bounds=(-64, 64),
    format_position=notation.format_position,
    parse_position=notation.parse_position,
    format_move=notation.format_square,
    parse_move=notation.parse_square,
    count_moves=rules.count_moves,
    transform=rules.transform,
    transform_move=rules.transform_square,
    symmetry_count=8,
    perft_counts_ended=True,
    layout=BoardLayout(rows=8, columns=8),
)
"""The game as the registry knows it."""
