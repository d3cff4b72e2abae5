"""Games in GGF: as boards send them, in files, and damaged; and games written as WTHOR."""

from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.core.players.player import MoveChoice
from glem.core.positions.labels import positions_of_records
from glem.core.positions.writing import write_games
from glem.core.search.results import Clock
from glem.core.tournament.games import End, PlayedGame
from glem.core.tournament.openings import Opening
from glem.core.tournament.transcripts import records_of_games
from glem.games.othello import OTHELLO
from glem.games.othello.formats.ggf import parse_ggf, parse_move_item, played
from glem.games.othello.notation import format_position, format_square
from glem.games.othello.rules import INITIAL_POSITION, PASS
from tests.games.othello.record_files import read_all
from tests.oracles.replay import random_game, replay_game

# The example session of C. Welty's description of the NBoard protocol (weltyc/ntest, instructions/Protocol.htm).
NBOARD_GAME = (
    "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[./mEdax]PW[chris]RE[?]TI[15:00]TY[8]"
    "BO[8 ---------------------------O*------*O--------------------------- *]"
    "B[F5]W[F6]B[D3]W[C5]B[E6]W[F7]B[E7]W[F4];)"
)
START = "BO[8 ---------------------------O*------*O--------------------------- *]"


def names(text: str) -> str:
    """Moves of a game, passes included."""
    return "".join(map(format_square, played(parse_ggf(text)[0])[0]))


def clocks(text: str) -> tuple[Clock | None, Clock | None]:
    """Black's and white's clock behind the moves of a game."""
    found = played(parse_ggf(text)[0])[1]
    return found[True], found[False]


def test_the_published_example() -> None:
    game, behind = parse_ggf(NBOARD_GAME)
    assert behind == len(NBOARD_GAME)
    assert game.position == INITIAL_POSITION
    assert game.black_to_move
    assert names(NBOARD_GAME) == "f5f6d3c5e6f7e7f4"
    assert clocks(NBOARD_GAME) == (Clock(900), Clock(900))


@pytest.mark.parametrize(
    "text",
    [
        f"(;GM[Othello]{START}B[f5]W[d6];)",
        f"1 (;GM[Othello]{START}B[f5]W[d6];)",
        "(;B[F5//3.5]W[D6/-1.50/2];)",
        "(; GM[othello]\nB[ f5 ] W[d6/1.2] ;) ",
        "(;TY[8]b[F5]w[D6]CO[a comment (;) of] ;)",
        "(;TY[s8r20]XX[unknown]B[f5]W[d6];)",
        "(;TY[8b]KM[0.000]B[f5]W[d6];)",
    ],
)
def test_variants_of_one_game(text: str) -> None:
    assert names(text) == "f5d6"


def test_a_board_with_white_to_move_and_in_rows() -> None:
    rows = " ".join(["--------"] * 3 + ["---O*---", "---***--"] + ["--------"] * 3)
    text = f"(;GM[Othello]BO[8 {rows} O]W[D6];)"
    game, _ = parse_ggf(text)
    assert not game.black_to_move
    assert names(text) == "d6"
    assert format_position(game.position, black_to_move=False).endswith("O")


@pytest.mark.parametrize("between", ["", "W[PA]", "W[pass/0.00/0.1]", "W[--]"])
def test_passes_may_be_written_or_left_out(between: str) -> None:
    """Black takes one disc in each corner; between the two moves white has none."""
    assert names(f"(;BO[8 *O------{'-' * 48}*O------ *]B[C1]{between}B[C8];)") == "c1--c8"


def test_clocks_run() -> None:
    black, white = clocks(f"(;TI[5:00/0:10]{START}B[f5//20]W[d6//1.5]B[c3/0.5/2.5];)")
    assert black == Clock(300 - 20 - 2.5 + 20, 10)
    assert white == Clock(300 - 1.5 + 10, 10)
    assert clocks("(;TB[1:00:00]TW[1.00:00:01];)") == (Clock(3600), Clock(86401))
    overrun, _ = clocks("(;TI[10//02:00]B[f5//1000];)")
    assert overrun is not None
    assert 0 < overrun.remaining < 1
    for without in ("(;TI[0]B[f5];)", "(;TI[much]B[f5];)", "(;B[f5];)"):
        assert clocks(without)[0] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no game"),
        ("B[f5]", "is no game"),
        (";)(;", "is no game"),
        ("(;GM[Amazons];)", "a game of 'Amazons'"),
        ("(;TY[10];)", "board type '10'"),
        ("(;TY[88];)", "board type '88'"),
        ("(;TY[8a]B[f5];)", "TY[8a] is a game of anti-Othello"),
        ("(;TY[s8r20A]B[f5];)", "TY[s8r20A] is a game of anti-Othello"),
        ("(;TY[8k]B[f5];)", "TY[8k] is a game of Othello with a komi"),
        ("(;TY[8]KM[-2.5]B[f5];)", "KM[-2.5] is a game of Othello with a komi"),
        ("(;TY[8x]B[f5];)", "TY[8x] is a game of an unknown kind, 'x'"),
        ("(;TY[];)", "board type ''"),
        ("(;BO[8 ---];)", "is no board"),
        ("(;BO[8 *O* *];)", "64 squares"),
        ("(;B[f5)];)", "no square"),
        ("(;B[f5]W(d6);)", "where a tag like"),
        ("(;B[f5]B[d6];)", "move 2, d6 of black, is illegal"),
        ("(;B[a1];)", "move 1, a1 of black, is illegal"),
        ("(;W[f5];)", "move 1, f5 of white, is illegal"),
        ("(;B[PA];)", "move 1, -- of black, is illegal"),
        ("(;B[i9];)", "no square"),
        ("(;B[];)", "no square"),
        (f"(;{'B[f5]' * 20_000};)", "move 2, f5 of black, is illegal"),
    ],
)
def test_damaged_games_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message.replace("(", r"\(").replace("[", r"\[")):
        names(text)


@settings(deadline=None)
@given(st.integers(0, len(NBOARD_GAME) - 1), st.characters())
def test_one_wrong_character_never_crashes(place: int, character: str) -> None:
    damaged = NBOARD_GAME[:place] + character + NBOARD_GAME[place + 1 :]
    try:
        assert len(names(damaged)) <= 16
    except BadInputError:
        return


def test_moves_with_evaluation_and_time() -> None:
    assert parse_move_item("F5/1.25/3.5") == (37, 3.5)
    assert parse_move_item("F5//.5") == (37, 0.5)
    assert parse_move_item("PA") == (PASS, 0.0)
    assert parse_move_item("a1/x/y/z") == (0, 0.0)
    assert parse_move_item("a1//" + "9" * 400) == (0, 0.0)


WHITE_BEGINS = f"{'-' * 19}X{'-' * 7}XX------XO{'-' * 27} O"


def random_played(number: int, *, plies: int = 120, end: End = End.FINISHED) -> PlayedGame:
    """A random game, passes included, with a score at every move."""
    steps = replay_game(OTHELLO, random_game(OTHELLO, np.random.default_rng(number))).steps
    moves = [step.move for step in steps if step.move >= 0][:plies]
    score = replay_game(OTHELLO, [move for move in moves if move != OTHELLO.pass_move]).final_score
    choices = tuple(MoveChoice(move, score=-1.25, seconds=0.5) for move in moves[2:])
    known = None if end in {End.TIME, End.FAILURE} else 6 if end == End.ADJUDICATED else score
    result = -1 if known is None else (known > 0) - (known < 0)
    return PlayedGame(number, ("a [1]", "b"), Opening(tuple(moves[:2])), choices, known, result, end, (0, 0))


GAMES = (
    *(random_played(number) for number in range(12)),
    random_played(20, plies=30, end=End.TIME),
    random_played(21, plies=40, end=End.ADJUDICATED),
)


def records_of(*games: PlayedGame) -> GameRecords:
    return records_of_games(OTHELLO, games)


@pytest.mark.parametrize("name", ["games.ggf", "games.ggf.xz", "games.wtb", "games.wtb.gz", "games.txt", "games.games"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    records = records_of(*GAMES)
    write_games(OTHELLO, tmp_path / name, records)
    found = read_all(tmp_path / name)
    assert found.moves.tolist() == records.moves.tolist()
    assert found.offsets.tolist() == records.offsets.tolist()
    assert found.score[:12].tolist() == [one.score for one in GAMES[:12]]
    on_time = -64 if ".ggf" in name else np.nan
    assert np.array_equal(found.score[12:], [on_time, np.nan], equal_nan=True)
    if name != "games.games":
        assert found.extra["stored_score"][13] == 6
        assert found.extra["stored_score"][12] == -64 or name == "games.txt"


def test_ggf_has_players_expectations_and_times(tmp_path: Path) -> None:
    write_games(OTHELLO, tmp_path / "games.ggf", records_of(GAMES[12]))
    [line] = (tmp_path / "games.ggf").read_text().splitlines()
    assert line.startswith(f"(;GM[Othello]PC[glem]PB[a (1)]PW[b]RE[-64.000:t]TY[8]{START}B[")
    assert line.count("/-1.25/0.500]") == 28
    moves, _ = played(parse_ggf(line)[0])
    assert moves == [*GAMES[12].opening.moves, *(choice.move for choice in GAMES[12].moves)]
    found = read_all(tmp_path / "games.ggf")
    assert found.names["black_player"][found.extra["black_player"][0]] == "a (1)"


def test_games_that_begin_elsewhere(tmp_path: Path) -> None:
    """In a game that white begins the first player of a tournament's game has the white discs."""
    position = OTHELLO.parse_position(WHITE_BEGINS)
    moves = OTHELLO.list_legal_moves(position)[:1]
    game = PlayedGame(0, ("x", "y"), Opening((), WHITE_BEGINS), (MoveChoice(moves[0]),), None, 1, End.TIME, (0, 0))
    records = records_of(game)
    write_games(OTHELLO, tmp_path / "games.ggf", records)
    text = (tmp_path / "games.ggf").read_text()
    assert "PB[y]PW[x]RE[-64.000:t]" in text
    assert f"BO[8 {WHITE_BEGINS.replace('X', '*')}]W[" in text
    found = read_all(tmp_path / "games.ggf")
    assert tuple(found.start_of(0)) == tuple(position)
    assert found.start_side is not None
    assert found.start_side.tolist() == [-1]
    for name in ("games.wtb", "games.txt"):
        with pytest.raises(BadInputError, match=r"does not begin at the start, .* name a file \.ggf"):
            write_games(OTHELLO, tmp_path / name, records)
        assert not (tmp_path / name).exists()


def test_lines_as_the_server_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "archive.ggf"
    tags = "GM[Othello]PC[GGS/os]DT[2004.01.02]PB[ann]PW[bob]RB[1800.5]RE[+64.000:r]TI[5:00]TY[8]"
    one = f"(;{tags}{START}B[f5]W[d6/1.5];)"
    path.write_text(f"1 {one}\n\n2 {one}{one.replace('[f5]', '[d3//2.5]').replace('[d6/1.5]', '[C3]')}\n")
    found = read_all(path)
    assert [[OTHELLO.format_move(move) for move in found.moves_of(game)] for game in range(3)] == [
        ["f5", "d6"],
        ["f5", "d6"],
        ["d3", "c3"],
    ]
    assert found.extra["number"].tolist() == [1, 3, 3]
    assert found.extra["stored_score"].tolist() == [64, 64, 64]
    path.rename(tmp_path / "archive.txt")
    assert len(read_all(tmp_path / "archive.txt")) == 3


def test_games_as_other_programs_write_them(tmp_path: Path) -> None:
    """Over several lines, with remarks between them, brackets in names, and passes behind the end."""
    path = tmp_path / "games.txt"
    path.write_text(
        "# a remark\n(;PC[x]PB[a \\[1\\]]GM[Othello]\nPW[C:\\]RE[?]\n\nB[f5]W[d6]\n;)\n% another\n"
        "(;GM[Othello]B[e6]W[f4]B[e3]W[f6]B[g5]W[d6]B[e7]W[f5]B[c5]W[PA]B[PA];)\n(;GM[Othello]\nB[f5]\n"
        "(;GM[Othello]B[f5]W[d6]\n;) (;GM[Othello]B[d3];)\n(;GM[Othello]"
    )
    with pytest.raises(BadInputError, match=r"games\.txt:9: '\(;GM.* ends with ;\)$"):
        read_all(path)
    for chunk in (1, 2, 100):
        found = read_all(path, skip_bad=True, chunk_games=chunk)
        assert found.lengths.tolist() == [2, 9, 2, 1]
        assert found.extra["number"].tolist() == [2, 8, 11, 11]
        assert found.name("black_player", 0) == "a [1]"
        assert found.name("white_player", 0) == "C:\\"
        assert found.skipped == 2


@pytest.mark.parametrize(
    ("result", "moves", "score"),
    [
        ("+64.000:r", "B[f5]W[d6]", 64),
        ("-10:T", "B[f5]W[d6]", -10),
        ("+2.00:s", "B[f5]W[d6]", 2),
        ("-64.000:t", "B[e6]W[f4]B[e3]W[f6]B[g5]W[d6]B[e7]W[f5]B[c5]", 64),
        ("+10", "B[f5]W[d6]", None),
        ("?", "B[f5]W[d6]", None),
    ],
)
def test_resigned_and_timed_out_games_have_a_result(tmp_path: Path, result: str, moves: str, score: int | None) -> None:
    path = tmp_path / "games.ggf"
    path.write_text(f"(;GM[Othello]RE[{result}]{moves};)\n")
    labels = positions_of_records(OTHELLO, [read_all(path)]).label.tolist()
    assert labels == ([] if score is None else [score, -score] * (len(labels) // 2) + [score])
    path.write_text("(;GM[Othello]RE[99:r]B[f5];)\n")
    with pytest.raises(BadInputError, match=r"given as \+99, not between -64 and 64"):
        read_all(path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("(;GM[Othello]B[f5]W[f5];)", "move 2, f5, is illegal"),
        ("(;GM[Othello]B[f5]B[d6];)", "move 2, d6, is written as black's, but white is to move"),
        ("(;GM[Othello]B[f9];)", "'f9' is no square"),
        ("(;GM[Othello]B[f5]", "ends with ;)"),
        ("GM[Othello]", "is no game"),
    ],
)
def test_a_bad_game_is_told_and_left_out(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "games.ggf"
    path.write_text(f"(;GM[Othello]B[f5];)\n{line}\n(;GM[Othello]B[d3];)\n")
    with pytest.raises(BadInputError, match=r"games\.ggf:2: ") as caught:
        read_all(path)
    assert problem in str(caught.value)
    found = read_all(path, skip_bad=True)
    assert (len(found), found.skipped) == (2, 1)


def test_a_result_that_the_moves_contradict(tmp_path: Path) -> None:
    write_games(OTHELLO, tmp_path / "games.ggf", records_of(*GAMES[:4]))
    wrong = attrs.evolve(records_of(GAMES[5]), score=np.array([63], np.float32))
    write_games(OTHELLO, tmp_path / "wrong.ggf", wrong)
    text = (tmp_path / "games.ggf").read_text() + (tmp_path / "wrong.ggf").read_text()
    (tmp_path / "both.ggf").write_text(text)
    with pytest.raises(BadInputError, match=r"the score is given as .63, but the moves end at"):
        read_all(tmp_path / "both.ggf")
