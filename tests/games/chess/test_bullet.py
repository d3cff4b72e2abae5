"""Records of bullet's trainer, beside a naive writer of them."""

from pathlib import Path

import chess
import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.game.game import load_game
from glem.core.positions.reading import format_of, read_scored_positions
from tests.core.cli.terminal import Terminal
from tests.oracles.chess_boards import bullet_record, random_game

CHESS = load_game("chess")


def boards_of(seeds: int) -> list[chess.Board]:
    return [board.copy(stack=False) for seed in range(seeds) for board, _ in random_game(seed, 100)]


def test_positions_and_results_are_those_written(tmp_path: Path) -> None:
    boards = boards_of(12)[:700]
    path = tmp_path / "games.data"
    path.write_bytes(b"".join(bullet_record(board, -17, number % 3) for number, board in enumerate(boards)))
    assert format_of(CHESS, path).name == "bullet"
    assert format_of(CHESS, path.rename(tmp_path / "games")).name == "bullet"
    (*parts,) = read_scored_positions(CHESS, tmp_path / "games", chunk_positions=300)
    assert [len(part.label) for part in parts] == [300, 300, 100]
    labels = np.concatenate([part.label for part in parts])
    np.testing.assert_array_equal(labels, [number % 3 - 1 for number in range(700)])
    for number, board in enumerate(boards):
        part, row = parts[number // 300], number % 300
        seen = board.copy() if board.turn else board.mirror()
        seen.castling_rights, seen.ep_square, seen.halfmove_clock = 0, None, 0
        assert position_at(part.positions, row) == CHESS.parse_position(seen.fen())


def test_bad_records_are_named_or_left_out(tmp_path: Path) -> None:
    good = bullet_record(chess.Board(), 0, 1)
    changed = {
        "its result is none of 0, 1 and 2": good[:26] + b"\3" + good[27:],
        "its pieces are not those of a board": good[:8] + b"\x77" + good[9:],
        "no game of chess leads to this position": good[:8] + b"\x55" + good[9:],
    }
    path = tmp_path / "bad.bullet"
    for reason, record in changed.items():
        path.write_bytes(good + record + good)
        with pytest.raises(BadInputError, match=rf"bad.bullet, record 2: {reason}"):
            list(read_scored_positions(CHESS, path))
        (part,) = read_scored_positions(CHESS, path, skip_bad=True)
        assert len(part.label) == 2
        assert len(part.problems) == 1
    path.write_bytes(good[:8].replace(good[:8], b"\xff" * 8) + good[8:])
    with pytest.raises(BadInputError, match="record 1: its pieces"):
        list(read_scored_positions(CHESS, path))
    path.write_bytes(good * 3 + good[:5])
    with pytest.raises(BadInputError, match="ends within a record of 32 bytes, after 3 whole ones"):
        list(read_scored_positions(CHESS, path))


def test_evaluations_are_graded_on_them(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "games.data"
    path.write_bytes(b"".join(bullet_record(board, 0, number % 3) for number, board in enumerate(boards_of(9))))
    graded = terminal.json("grade", "chess", path, "--evaluation", "default", "--select", "all")
    assert "grade" in str(graded)
