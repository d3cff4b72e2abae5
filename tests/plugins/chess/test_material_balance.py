"""Groups of chess positions by material."""

from __future__ import annotations

import pytest

from glem.core.compiling.columns import column_of_one
from glem.games.chess import CHESS as GAME
from glem.plugins.chess.material_balance import group_by_material


@pytest.mark.parametrize(
    ("fen", "name"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "even"),
        ("rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "1 ahead"),
        ("rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", "1 behind"),
        ("r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1", "even"),
        ("4k3/8/8/8/8/8/8/Q3K3 b - - 0 1", "4 and more behind"),
        ("r3k3/8/8/8/8/8/8/N3K3 w - - 0 1", "2 behind"),
    ],
)
def test_material_is_counted_from_the_side_to_move(fen: str, name: str) -> None:
    position = GAME.parse_position(fen)
    columns = column_of_one(position)
    names, group = group_by_material(columns)
    assert names[group[0]] == name
