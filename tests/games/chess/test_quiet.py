"""Quiet positions, by chess's tactical moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glem.core.discovery.game_positions import read_game_positions
from glem.core.game.game import Game, load_game
from glem.core.positions.selection.selection import ALL, SelectionRule
from glem.core.search.quiet import quiet_positions

_POSITIONS = {
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3": True,
    # The pawn on d5 can be taken, and takes.
    "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2": False,
    # In check: no standing still.
    "rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3": False,
    # A defended pawn and a queen that would be lost for it.
    "4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1": True,
    # A promotion.
    "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1": False,
}


def _columns(game: Game) -> object:
    positions = [game.parse_position(text) for text in _POSITIONS]
    return game.position_type(*(np.array(column) for column in zip(*positions, strict=True)))


def test_quiet_is_what_has_no_tactical_move() -> None:
    chess = load_game("chess")
    assert quiet_positions(chess, _columns(chess)).tolist() == list(_POSITIONS.values())


def test_a_game_without_tactical_moves_is_always_quiet(othello: Game) -> None:
    columns = othello.position_type(*(np.array([value] * 3) for value in othello.initial_position))
    assert quiet_positions(othello, columns).tolist() == [True] * 3


def test_fits_read_quiet_positions_alone(tmp_path: Path) -> None:
    chess = load_game("chess")
    path = tmp_path / "game.pgn"
    path.write_text('[Result "1-0"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 1-0\n')
    rule = SelectionRule(ALL, 0, 0.0)
    (everything,) = read_game_positions(chess, [path], rule)
    (quiet,) = read_game_positions(chess, [path], rule, quiet=True)
    # Both pawns can be taken after 1. ... d5, White's after 2. exd5.
    chosen = quiet_positions(chess, everything.positions)
    assert len(everything) == 6
    assert chosen[:4].tolist() == [True, True, False, False]
    np.testing.assert_array_equal(quiet.positions.key, everything.positions.key[chosen])
    np.testing.assert_array_equal(quiet.result, everything.result[chosen])
    assert len(set(quiet.game_key)) == 1


@pytest.mark.parametrize("count", [0, 1])
def test_any_number_of_positions(count: int) -> None:
    chess = load_game("chess")
    columns = chess.position_type(*(np.array([value] * count, value.dtype) for value in chess.initial_position))
    assert quiet_positions(chess, columns).tolist() == [True] * count
