"""Games spelt otherwise than the standard: read by python-chess, with what their comments say."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.core.positions.reading import read_records
from glem.games.chess import CHESS
from glem.games.chess.pgn.fallback import plain_text
from tests.games.chess.test_pgn import FISCHER, FOOL, LONG, RARE, TAGS, read
from tests.oracles.pgn import plain_games


def moves_of(records: GameRecords) -> list[list[int]]:
    return [records.moves_of(game).tolist() for game in range(len(records))]


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        ("1. e2e4 e7e5 2. g1f3 b8c6 3. f1b5 a7a6 4. e1g1 d7d6", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O d6"),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. o-o 0\u20130", "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O O-O"),
        ("1. Pf3 Nf6 2. Nh3 g6 3. g3 Bg7 4. Bg2 OO 5. OO", "1. f3 Nf6 2. Nh3 g6 3. g3 Bg7 4. Bg2 O-O 5. O-O"),
        ("1.Pe4 Pd5 2.Pe4xd5 Qd8xd5 3.nc3 qa5", "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5"),
        ("1. \u2658f3 \u265ef6 2. \u2659c4 c7\u2013c5", "1. Nf3 Nf6 2. c4 c5"),
        (
            "1. a4 b5 2. axb5 a6 3. bxa6 Nc6 4. a7 Rb8 5. axb8(Q) h5 6. Qb5 h4",
            "1. a4 b5 2. axb5 a6 3. bxa6 Nc6 4. a7 Rb8 5. axb8=Q h5 6. Qb5 h4",
        ),
        ("1. Pe4 c5 2. e5 d5 3. exd6e.p. Qxd6 4. Nb1c3+?! ch", "1. e4 c5 2. e5 d5 3. exd6 Qxd6 4. Nc3"),
        ("1.\u2026 1. Pe4 (1. d4 o-o (-- Z0)) $1 {a (comment 0} e5 ; Sf3\n%Sf3\n 2. Ng1-f3", "1. e4 e5 2. Nf3"),
    ],
)
def test_spellings(path: Path, odd: str, plain: str) -> None:
    records = read(f"\ufeff{TAGS}\n{odd} 1-0\n\n{TAGS}\n{plain} 1-0\n", path)
    assert not records.problems
    first, second = moves_of(records)
    assert first == second
    assert records.score.tolist() == [1, 1]
    assert records.remarks == {"read by python-chess": 1}


@pytest.mark.parametrize(
    "moves",
    [
        "1. e4 Sf6 2. e5",
        "1. Pe4 e5 2. Nf3 Nf3",
        "1. Pe4 e5 2. -- Nf6",
        "1. Pe4 e5 2. Z0",
        "1. Pe4 d5 2. ed Qd5",
        "1. Pe4 e5 {",
        "1. Pe4 e5 (2. d4",
        "1. Pe4 e5 1-0 2. Nf3",
        "1. Pe4 e5 2. P@d4",
        "1. Pe4 e5 " + "+" * 30_000 + "z",
        "1. Pe4 e5 2. Nd2",
    ],
)
def test_what_both_refuse_keeps_its_reason(path: Path, moves: str) -> None:
    records = read(f"{TAGS}\n{moves} 1/2-1/2\n\n{TAGS}\n{FOOL}", path)
    assert moves_of(records) == moves_of(read(FOOL, path))
    assert (records.skipped, len(records.problems), dict(records.remarks)) == (1, 1, {})
    assert f"{path}:" in records.problems[0] and "game 1: " in records.problems[0]


def test_castling_that_is_passed_over(path: Path) -> None:
    """Games that the compiled reader takes, without it, for it may lie in a comment."""
    moves = "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. o-o o-o 5. d3 d6 6. a3"
    records = read(f"{TAGS}\n{FOOL}\n{TAGS}\n{moves} 1-0\n\n{TAGS}\n1. f3 {{o-o}} e5 *\n\n{TAGS}\n{FOOL}", path)
    assert records.lengths.tolist() == [4, 11, 2, 4]
    assert records.remarks == {"read by python-chess": 1}


def test_what_is_not_read_again(path: Path) -> None:
    assert len(read(f"{TAGS}\n1. Pe4 e5\n\n{TAGS}\n{FOOL}", path)) == 2
    assert read(f"{TAGS}\n{FOOL}\n{TAGS}\n1. Pe4 e5\n", path).skipped == 1
    # Another variant is not read again.
    assert read(f'[Variant "Atomic"]\n{TAGS}\n1. Pe4 e5 1-0\n', path).skipped == 1


def test_very_long_games_are_refused() -> None:
    many = "Ng1f3 g8f6 Nf3g1 f6g8 " * 2000
    assert plain_text(many.encode(), fen=None, is_chess960=False) is None
    assert plain_text(b"1. Pe4 {" + b"x" * (1 << 20) + b"} 1-0", fen=None, is_chess960=False) is None
    found = plain_text(b"1. Pe4 e5 1-0", fen=None, is_chess960=False)
    assert found is not None
    assert (found.text, found.has_result) == (b"\ne2e4\ne7e5\n1-0\n", True)


def lower_case(board: chess.Board, move: chess.Move) -> str:
    san = board.san(move)
    return san.lower() if san[0] in "NRQKO" else f"P{san}" if san[0] != "B" else san


def figurine(board: chess.Board, move: chess.Move) -> str:
    return re.sub("^[NBRQK]", lambda found: chess.UNICODE_PIECE_SYMBOLS[found[0].lower()], board.san(move))


@pytest.mark.parametrize("spelling", [chess.Board.uci, lower_case, figurine, chess.Board.lan])
def test_random_games_in_other_spellings(path: Path, spelling: Callable[[chess.Board, chess.Move], str]) -> None:
    """Moves, comments, results and first positions are those of the same games as the standard has them."""
    chance = random.Random(3)
    odd, plain = [], []
    for number in range(12):
        is_fischer = number % 3 == 2
        board = chess.Board.from_chess960_pos(chance.randrange(960)) if is_fischer else chess.Board()
        tags = f'{TAGS}[Round "{number}"]\n'
        if is_fischer:
            tags += f'[Variant "Chess960"]\n[FEN "{board.fen()}"]\n'
        words: tuple[list[str], list[str]] = ([], [])
        while not board.is_game_over() and len(words[0]) < 160:
            move = chance.choice(list(board.legal_moves))
            comment = f" {{{chance.uniform(-9, 9):+.2f}/12 3s}}" if chance.random() < 0.5 else ""
            words[0].append(spelling(board, move) + comment)
            words[1].append(board.san(move) + comment)
            board.push(move)
        for content, texts in zip((odd, plain), words, strict=True):
            content.append(f"{tags}\n{' '.join(texts)} 0-1\n\n")
        # Ordinary games between them stay as they are.
        odd.append(f"{RARE}\n")
        plain.append(f"{RARE}\n")
    found, expected = read("".join(odd), path), read("".join(plain), path)
    assert not found.problems
    assert moves_of(found) == moves_of(expected)
    assert np.array_equal(found.score, expected.score, equal_nan=True)
    for name, column in expected.move_columns.items():
        assert np.array_equal(found.move_columns[name], column, equal_nan=column.dtype.kind == "f"), name
    for name, column in expected.extra.items():
        assert np.array_equal(found.extra[name], column), name
    assert found.names == expected.names
    for first, second in zip(found.starts, expected.starts, strict=True):
        assert np.array_equal(first, second)
    if spelling is not chess.Board.lan:
        assert found.remarks["read by python-chess"] == 12
    assert not expected.remarks


@pytest.mark.parametrize("content", [FOOL, LONG, RARE, FISCHER])
def test_ordinary_games(path: Path, content: str) -> None:
    """What the compiled reader takes, the fallback reads alike."""
    path.write_text(content)
    [records] = read_records(CHESS, path)
    [game] = plain_games(content.encode())
    fen = game.tags.get("FEN")
    found = plain_text(content.encode(), fen=None if fen is None else fen.encode(), is_chess960="Variant" in game.tags)
    assert found is not None
    assert list(found.moves) == records.moves_of(0).tolist() == game.moves
    again = read(found.text, path)
    assert moves_of(again) == moves_of(records)


def test_an_error_names_the_game(path: Path) -> None:
    path.write_text(f"{TAGS}\n1. Pe4 e5 1-0\n\n{TAGS}\n1. Pe4 Pe4 1-0\n")
    with pytest.raises(BadInputError, match=r":11: game 2: 'Pe4' is no move"):
        list(read_records(CHESS, path))
