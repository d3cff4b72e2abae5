"""Binpacks, beside a naive writer of them."""

import random
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.game.game import load_game
from glem.core.game.records import GameRecords
from glem.core.positions.reading import format_of, read_records
from tests.core.cli.terminal import Terminal
from tests.oracles.binpacks import NO_VALUE, Line, chunk, line_bytes
from tests.oracles.chess_boards import number_of

CHESS = load_game("chess")


def allows_en_passant(board: chess.Board, move: chess.Move) -> bool:
    if abs(move.to_square - move.from_square) != 16:
        return False
    after = board.copy(stack=False)
    after.push(move)
    return after.has_legal_en_passant()


def lines_of(count: int, seed: int) -> list[Line]:
    """Random games, and parts of such, with castling, en passant and promotions more common than by chance."""
    chooser, found = random.Random(seed), list[Line]()
    while len(found) < count:
        board, moves = chess.Board(), []
        start, wanted, skipped = None, chooser.randrange(1, 90), chooser.randrange(120)
        while len(moves) < wanted and not board.is_game_over() and board.ply() < 240:
            if board.ply() >= skipped and start is None:
                start = board.copy(stack=False)
            legal = list(board.legal_moves)
            pawns = [each for each in legal if board.piece_type_at(each.from_square) == chess.PAWN]
            special = [each for each in legal if board.is_castling(each) or board.is_en_passant(each) or each.promotion]
            if chooser.random() < 0.5:
                special = [each for each in pawns if allows_en_passant(board, each)]
            move = chooser.choice(special or chooser.choice((pawns, legal)) or legal)
            if start is not None:
                moves.append((move, chooser.choice((0, 1, -1, 15, -300, 32000, -32000, NO_VALUE))))
            board.push(move)
        if start is not None and moves:
            found.append(Line(start, tuple(moves), chooser.choice((1, 0, -1))))
    return found


def numbers(line: Line) -> list[int]:
    """Moves as numbers: castling is the king's move onto its rook."""
    board = chess.Board(line.start.fen(), chess960=True)
    found = []
    for move, _ in line.moves:
        own = board.parse_uci(move.uci())
        found.append(number_of(own))
        board.push(own)
    return found


def test_lines_of_play_are_those_written(tmp_path: Path) -> None:
    lines = lines_of(300, 1)
    starts = [line.start for line in lines]
    assert any(board.has_legal_en_passant() for board in starts)
    assert {board.turn for board in starts if board.castling_rights} == {chess.WHITE, chess.BLACK}
    path = tmp_path / "games.binpack"
    path.write_bytes(b"".join(chunk(b"".join(map(line_bytes, lines[at : at + 120]))) for at in range(0, 300, 120)))
    assert format_of(CHESS, path).name == "binpack"
    parts = list(read_records(CHESS, path, chunk_games=50))
    assert [len(part) for part in parts] == [50, 50, 20, 50, 50, 20, 50, 10]
    records = GameRecords.concatenate(parts)
    assert records.extra["number"].tolist() == list(range(1, 301))
    for number, line in enumerate(lines):
        assert records.moves_of(number).tolist() == numbers(line)
        assert (
            CHESS.format_position(records.start_of(number))
            == line.start.fen(en_passant="legal").rsplit(" ", 1)[0] + " 1"
        )
        sign = 1 if line.start.turn else -1
        assert records.score[number] == sign * line.result
        assert records.start_side is not None
        assert records.start_side[number] == sign
        scores = records.move_columns["comment_score"][slice(*records.offsets[number : number + 2])]
        np.testing.assert_array_equal(scores, [np.nan if score == NO_VALUE else score for _, score in line.moves])


def test_a_line_without_a_move_is_a_position(tmp_path: Path) -> None:
    content = bytearray(line_bytes(Line(chess.Board(), ((chess.Move.from_uci("e2e4"), 7),), 1)))
    content[24:26] = b"\0\0"
    path = tmp_path / "one.binpack"
    path.write_bytes(chunk(bytes(content)))
    (records,) = read_records(CHESS, path)
    assert records.lengths.tolist() == [0]
    assert records.score.tolist() == [1]


def test_bad_lines_are_named_or_left_out(tmp_path: Path) -> None:
    good = [line_bytes(line) for line in lines_of(3, 2)]
    other = bytearray(good[0])
    path = tmp_path / "bad.binpack"
    for place, byte, reason in (
        (28, 0xC0, "its result is none of won, drawn and lost"),
        (8, 0x99, "no game of chess leads to its first position"),
        (24, 0x3F, "one of its moves is illegal"),
        (32, 0xFF, "(?:one of its moves is illegal|the chunk ends within its moves)"),
    ):
        changed = bytes(other[:place] + bytes([byte]) + other[place + 1 :])
        path.write_bytes(chunk(good[1] + changed) + chunk(good[2]))
        with pytest.raises(BadInputError, match=rf"bad\.binpack: line of play 2: {reason}; the rest of its chunk"):
            list(read_records(CHESS, path))
        records = GameRecords.concatenate(list(read_records(CHESS, path, skip_bad=True)))
        assert len(records) == 2
        assert records.skipped == 1
    for content, reason in (
        (chunk(good[0])[:-1], "chunk 1 should have .* bytes, the file ends after"),
        (chunk(good[0]) + b"BIN", "chunk 2 begins with b'BIN', expected BINP"),
        (chunk(good[0]) + b"BINP\xff\xff\xff\xff", "chunk 2 begins with"),
    ):
        path.write_bytes(content)
        with pytest.raises(BadInputError, match=reason):
            list(read_records(CHESS, path))


def test_what_comes_before_the_cut_is_read(tmp_path: Path) -> None:
    lines = [line_bytes(line) for line in lines_of(3, 5)]
    path = tmp_path / "cut.binpack"
    for left in (len(lines[2]) - 1, 20, 0):
        path.write_bytes(chunk(b"".join(lines))[: 8 + len(lines[0]) + len(lines[1]) + left])
        with pytest.raises(BadInputError, match=r"cut\.binpack: chunk 1 should have .* bytes, the file ends after"):
            list(read_records(CHESS, path))
        records = GameRecords.concatenate(list(read_records(CHESS, path, skip_bad=True)))
        assert len(records) == 2
        assert records.skipped == 1


@given(data=st.data())
def test_damage_is_an_error_or_another_game(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    content = bytearray(chunk(b"".join(map(line_bytes, lines_of(4, 3)))))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "damaged.binpack"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        for records in read_records(CHESS, path, format="binpack", skip_bad=data.draw(st.booleans())):
            for game in range(len(records)):
                board = chess.Board(CHESS.format_position(records.start_of(game)), chess960=True)
                for move in records.moves_of(game).tolist():
                    named = {number_of(each): each for each in board.legal_moves}
                    board.push(named[move])
    except BadInputError as error:
        assert str(path) in str(error)


def test_their_scores_are_graded(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "games.binpack"
    path.write_bytes(chunk(b"".join(map(line_bytes, lines_of(250, 4)))))
    assert terminal.json("grade", "chess", path, "--evaluation", "default", "--select", "all")
