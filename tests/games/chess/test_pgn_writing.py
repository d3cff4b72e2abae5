"""Chess games written as PGN: read again by glem, by python-chess and, where it is installed, by pgn-extract."""

import io
from collections.abc import Sequence
from pathlib import Path

import chess.pgn
import numpy as np
import pytest

from glem.core.game.records import GameRecords
from glem.core.players.player import MoveChoice
from glem.core.positions.reading import read_records
from glem.core.positions.writing import write_games
from glem.core.tournament.games import End, PlayedGame
from glem.core.tournament.openings import Opening
from glem.core.tournament.transcripts import records_of_games
from glem.games.chess import CHESS
from glem.games.chess.boards import move_number
from tests.core.cli.terminal import Terminal
from tests.oracles.chess_boards import random_game

FISCHER = "brkbrnqn/pppppppp/8/8/8/8/PPPPPPPP/BRKBRNQN w KQkq - 0 1"
BLACK_BEGINS = "r3k2r/1P4pp/8/3pP3/1N3N2/2n3n1/1p4PP/R3K2R b KQkq - 0 1"
PLAYERS = ('Ann "the\\rook"', "Bøb")


def chosen(start: str, plies: int, seed: int) -> list[MoveChoice]:
    """Random moves with a score each; captures, promotions, castling and checks come by themselves."""
    random = np.random.default_rng(seed)
    return [
        MoveChoice(move, score=round(float(random.normal(0, 3)), 2), depth=7, seconds=0.25)
        for _, move in random_game(seed, plies, start or chess.STARTING_FEN)
        if move is not None
    ]


def played(number: int, start: str, end: End, result: int, score: int | None, plies: int = 300) -> PlayedGame:
    moves = chosen(start, plies, number)
    opening = Opening(tuple(choice.move for choice in moves[:4]), start)
    return PlayedGame(number, PLAYERS, opening, tuple(moves[4:]), score, result, end, (0, 0))


def written(games: Sequence[PlayedGame], path: Path) -> GameRecords:
    records = records_of_games(CHESS, games)
    write_games(CHESS, path, records)
    return records


GAMES = (
    played(0, "", End.TIME, -1, None, 61),
    played(1, "", End.REPETITION, 0, 0, 80),
    played(2, FISCHER, End.FAILURE, 1, None),
    played(3, BLACK_BEGINS, End.FINISHED, 1, 1, 40),
    played(4, "", End.ADJUDICATED, 1, 1, 12),
)


@pytest.mark.parametrize("name", ["games.pgn", "games.pgn.gz"])
def test_glem_reads_moves_players_results_and_scores_again(tmp_path: Path, name: str) -> None:
    records = written(GAMES, tmp_path / name)
    [found] = read_records(CHESS, tmp_path / name)
    assert found.moves.tolist() == records.moves.tolist()
    assert found.offsets.tolist() == records.offsets.tolist()
    # The fourth game was begun, and won, by the player with the black pieces.
    assert found.score.tolist() == [-1, 0, 1, -1, 1]
    for color, order in (("white", (0, 0, 0, 1, 0)), ("black", (1, 1, 1, 0, 1))):
        assert [found.names[color][name] for name in found.extra[color]] == [PLAYERS[place] for place in order]
    starts = [CHESS.format_position(found.start_of(index)) for index in range(5)]
    assert [starts[index] for index in (2, 3)] == [FISCHER, BLACK_BEGINS]
    assert len(set(starts)) == 3
    scores, given = found.move_columns["comment_score"], records.move_columns["comment_score"]
    assert np.array_equal(scores, given, equal_nan=True)
    assert np.isfinite(scores).sum() == sum(len(game.moves) for game in GAMES)
    assert found.move_columns["book"].tolist() == records.move_columns["book"].tolist()
    assert not found.problems


def test_python_chess_reads_what_is_written(tmp_path: Path) -> None:
    records = written(GAMES, tmp_path / "games.pgn")
    text = io.StringIO((tmp_path / "games.pgn").read_text(encoding="utf-8"))
    for index in range(len(GAMES)):
        game = chess.pgn.read_game(text)
        assert game is not None
        assert not game.errors
        board, moves = game.board(), []
        for move in game.mainline_moves():
            moves.append(move_number(board, move))
            board.push(move)
        assert moves == records.moves_of(index).tolist()
        ends = ("time forfeit", "normal", "abandoned", "normal", "adjudication")
        assert game.headers["Termination"] == ends[index]
        assert game.headers["Result"] == ("0-1", "1/2-1/2", "1-0", "0-1", "1-0")[index]
        assert ("FEN" in game.headers) == (index in {2, 3})
    assert chess.pgn.read_game(text) is None


def test_what_a_player_knows_and_what_is_unknown(tmp_path: Path) -> None:
    first, second, *rest = chosen("", 5, 9)
    moves = (
        MoveChoice(first.move, result=1, depth=12),
        MoveChoice(second.move, score=-1.0, exact=True, result=-1),
        MoveChoice(rest[0].move, score=float("inf"), depth=3),
        MoveChoice(rest[1].move, seconds=1.5),
        MoveChoice(rest[2].move),
    )
    written([PlayedGame(0, ("a", "b"), Opening(), moves, None, 1, End.TIME, (0, 0))], tmp_path / "games.pgn")
    text = " ".join((tmp_path / "games.pgn").read_text().split())
    assert text.count("{") == 3
    assert all(f"{{ {comment} }}" in text for comment in ("won/12", "lost", "1.500s"))


def test_a_match_writes_pgn_and_refuses_other_names_before_it_plays(terminal: Terminal, tmp_path: Path) -> None:
    match = ("match", "greedy,evaluation=mobility", "random", "--game", "chess", "--opening-count", "2", "--workers", 1)
    match = (*match, "-o", tmp_path / "record.jsonl", "--transcripts")
    for name, known in (("m.epd", ".epd"), ("m.ggf", ".ggf"), ("m.parquet", ".parquet")):
        error = terminal(*match, tmp_path / name, status=2)
        assert f"games of Chess are not written as {known}; name a file .pgn (pgn), .games" in error
    assert not list(tmp_path.iterdir())
    terminal(*match, tmp_path / "m.pgn")
    [found] = read_records(CHESS, tmp_path / "m.pgn")
    assert len(found) == 4
    assert not np.isnan(found.score).any()
    assert set(found.names["white"]) == {"greedy,evaluation=mobility", "random"}


def test_generated_games_may_be_pgn(terminal: Terminal, tmp_path: Path) -> None:
    command = ("generate", "chess", "--player", "random", "--games", "6", "--games-per-file", "3", "--workers", "1")
    terminal(*command, "--format", "pgn", "-o", tmp_path / "pgn")
    terminal(*command, "-o", tmp_path / "own")
    assert "other settings" in terminal(*command, "--format", "pgn", "-o", tmp_path / "own", status=2)
    for file in ("games-000000", "games-000001"):
        [found], [own] = (
            read_records(CHESS, tmp_path / folder / f"{file}.{suffix}")
            for folder, suffix in (("pgn", "pgn"), ("own", "games"))
        )
        assert found.moves.tolist() == own.moves.tolist()
        # A game that its length ended has no result in glem's own files.
        assert np.array_equal(found.score[~np.isnan(own.score)], own.score[~np.isnan(own.score)])
