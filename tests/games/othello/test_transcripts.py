"""Transcripts, tables of them, and Logistello's book format."""

import functools
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.game.game import Game, load_game
from glem.core.game.records import GameRecords
from glem.core.positions.reading import read_records
from glem.core.positions.writing import write_games
from glem.games.othello.formats.score_conventions import CONVENTIONS, Convention
from glem.games.othello.formats.transcripts import write_transcripts
from glem.games.othello.notation import format_square, parse_square
from tests.games.othello.record_files import PACKINGS, fails, games_of, packed_by_name, read_all
from tests.oracles.replay import PlainReplay, random_game, replay_game

OTHELLO = load_game("othello")


WIPEOUT = "e6f4e3f6g5d6e7f5c5"
"""The shortest game there is: all 13 discs are black after 9 moves."""


def moves_of(text: str) -> list[int]:
    return [parse_square(text[place : place + 2]) for place in range(0, len(text), 2)]


@functools.cache
def _replayed(moves: tuple[int, ...]) -> PlainReplay:
    return replay_game(OTHELLO, moves)


def replayed(moves: list[int]) -> PlainReplay:
    return _replayed(tuple(moves))


def text_of(moves: list[int]) -> str:
    return "".join(format_square(move) for move in moves)


def colored(moves: list[int]) -> str:
    """Moves with the sign of their side, as in the book."""
    steps = [step for step in replayed(moves).steps[:-1] if step.move != OTHELLO.pass_move]
    return "".join(("+" if step.side > 0 else "-") + format_square(step.move) for step in steps)


def raw_score(moves: list[int]) -> int:
    last = replayed(moves).steps[-1]
    own, opponent = (int(board).bit_count() for board in last.position)
    return (own - opponent) * last.side


@pytest.fixture(scope="module")
def games() -> list[list[int]]:
    """Random games, some with passes, and one that is over before the board is full."""
    random = np.random.default_rng(5)
    return [*(random_game(OTHELLO, random) for _ in range(30)), moves_of(WIPEOUT)]


LAYOUTS: dict[str, Callable[[list[int], int], str]] = {
    "games.txt": lambda moves, score: f"{text_of(moves)} {score}",
    "comma.txt": lambda moves, score: f"{text_of(moves).upper()},{score:+d}\r",
    "spaced.txt": lambda moves, score: f"  {' '.join(map(format_square, moves))}\t{score}  ",
    "passes.txt": lambda moves, score: (
        "".join(format_square(step.move) for step in replayed(moves).steps[:-1]) + f" {score}"
    ),
    "book.gam": lambda moves, score: f"{colored(moves)}: {score:+03d} 10",
    "table.csv": lambda moves, score: f"17,{score},{text_of(moves)}",
    "quoted.csv": lambda moves, score: f'"17","{score}","{text_of(moves)}"\r',
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout(tmp_path: Path, games: list[list[int]], name: str, packing: str) -> None:
    path = tmp_path / f"{name}{packing}"
    lines = [LAYOUTS[name](moves, raw_score(moves)) for moves in games]
    if name.endswith(".csv"):
        lines.insert(0, "game_id,winner,game_moves")
    packed_by_name(path, "\n".join(lines).encode())
    records = read_all(path, chunk_games=7)
    without_passes = [[move for move in moves if move != OTHELLO.pass_move] for moves in games_of(records)]
    assert without_passes == games
    assert records.score.tolist() == [replayed(moves).final_score for moves in games]
    assert records.extra["stored_score"].tolist() == [raw_score(moves) for moves in games]
    first = 2 if name.endswith(".csv") else 1
    assert records.extra["number"].tolist() == list(range(first, first + len(games)))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_conventions_are_told_from_the_games(tmp_path: Path, games: list[list[int]], convention: Convention) -> None:
    path = tmp_path / "games.txt"
    final = [replayed(moves).final_score for moves in games]
    stored = {"standard": final, "raw": [raw_score(moves) for moves in games], "sign": np.sign(final).tolist()}
    lines = (f"{text_of(moves)} {score}\n" for moves, score in zip(games, stored[convention], strict=True))
    path.write_text("".join(lines))
    again = read_all(path)
    assert games_of(again) == games
    assert again.score.tolist() == final
    assert again.extra["stored_score"].tolist() == stored[convention]


@pytest.mark.parametrize(
    ("name", "lines", "text"),
    [
        ("a.txt", ["f5d6c3", "f5d6c9"], r"a\.txt:2: 'c9' is neither a move \(a1 to h8\) nor the score"),
        ("a.txt", ["f5d6c3", "f5d6c"], r":2: 'c' is neither"),
        ("a.txt", ["f5d6c3", "", "f5d65"], r":3: '5' is neither"),
        ("a.txt", ["f5d6c3", "f5d6 3 4"], r":2: '3 4' is neither"),
        ("a.txt", ["f5d6c3", "f5d6 1234567890"], ":2: '1234567890' is neither"),
        ("a.txt", ["f5d6c3", "f5d6 +-3"], r":2: '\+-3' is neither"),
        ("a.txt", ["f5d6c3 1", "12"], ":2: the line has no moves"),
        ("a.txt", ["f5d6c3", "f5f5"], ":2: move 2, f5, is illegal"),
        ("a.txt", ["f5d6c3", "\0\x01\x1b[2J f5 " + "long " * 20], r":2: '\\x00\\x01\\x1b\[2J"),
        ("a.txt", [f"{WIPEOUT} 13", f"{WIPEOUT}a1 64"], ":2: move 10, a1, is illegal"),
        ("a.txt", [f"{WIPEOUT} 13", f"{WIPEOUT} -13"], r":2: the score is given as -13, but the moves end at \+13"),
        ("a.gam", ["+f5-d6+c3:", "+f5+d6+c3:"], r":2: move 2, d6, is written as black's, but white is to move"),
        ("a.gam", ["+f5-d6+c3:", "+f5-d6c3:"], ":2: 'c3:' is neither"),
        ("a.gam", ["+f5-d6+c3:", "+f5-d6+c3: 4 5 6"], ":2: '4 5 6' is neither"),
        ("a.gam", ["+f5-d6+c3:", ": 4 5"], ":2: the line has no moves"),
        ("a.gam", ["+f5-d6+c3:", "+f5-d6+c"], r":2: '\+c' is neither"),
        ("a.csv", ["moves,score", "f5d6c3,x"], ":2: 'x' is neither"),
        ("a.csv", ["moves,score", "f5d6c3 7,7"], ":2: '7,7' is neither"),
        ("a.txt", ["f5d6c3", "12. f5 13. d6"], ":2: its first number of a move is 12, not 1"),
        ("a.txt", ["f5d6c3", "1. f5 3. d6"], ":2: '1. f5 3. d6' is neither"),
        ("a.txt", ["f5d6c3", "f5d6 2-1"], ":2: '2-1' is neither"),
        ("a.txt", ["f5d6c3 1", "d6"], ":2: move 1, d6, is illegal"),
        ("a.txt", ["f5d6c3d3", "c4f4f6"], ":2: move 2, f4, is illegal"),
        ("a.txt", ["f5d6c3", "f5d6#c3"], ":2: '#c3' is neither"),
        ("a.csv", ["score,moves", "3"], ":2: the line has no moves"),
        ("a.csv", ["id,score", "3"], ":1: the header 'id,score' names no moves; expected one of: game_moves"),
        ("a.csv", ["moves,transcript", "3"], ":1: the header 'moves,transcript' has 2 columns for the moves"),
    ],
)
def test_bad_lines(tmp_path: Path, name: str, lines: list[str], text: str) -> None:
    path = tmp_path / name
    path.write_text("\n".join([*lines, lines[0]]))
    fails(path, text)
    records = read_all(path, skip_bad=True)
    assert records.skipped == len(records.problems) >= 1
    assert str(path) in records.problems[0]
    if name != "a.csv":
        assert len(records) == 2
        assert len(games_of(records)) == 2


LONG = "f5 d6 c3 d3 c4 f4 f6 f3 e6 e7"


@pytest.mark.parametrize(
    ("text", "games"),
    [
        ("1. f5 d6 2. c3 d3", ["f5d6c3d3"]),
        ("1.F5 2.d6 3.C3", ["f5d6c3"]),
        ("1) f5 2) d6\n1 f5 2 f6", ["f5d6", "f5f6"]),
        ("# a remark\nf5d6 # good\n% more\n\nf5f6", ["f5d6", "f5f6"]),
        ("f5-d6-c3 - d3", ["f5d6c3d3"]),
        ('["f5", "d6", "c3"]', ["f5d6c3"]),
        ("1. f5 d6 2.\nc3 d3 3. c4\nf4 4. f6", ["f5d6c3d3c4f4f6"]),
        ("\uff46\uff15\uff24\uff16\u3000\uff43\uff13", ["f5d6c3"]),
        ('[Event "x"]\n[Black "a"]\n\n1. f5 d6\n2. c3 37-27\n\n1. f5 f6', ["f5d6c3", "f5f6"]),
        ("f5 d6 c3\nd3 c4 f4\nf6 f3\ne6 e7\n\nf5 f6", ["f5d6c3d3c4f4f6f3e6e7", "f5f6"]),
        ("f5d6c3d3\nc4f4f6f3\nf5d6c3d3\nc4f4f6f3\ne6e7", ["f5d6c3d3c4f4f6f3", "f5d6c3d3c4f4f6f3e6e7"]),
        ("1. f5 d6 2. c3\nd3 3. c4 f4\n4. f6", ["f5d6c3d3c4f4f6"]),
        ("\n".join([*LONG.split(), "37 - 27", *LONG.split()]), [LONG.replace(" ", "")] * 2),
        (f"{WIPEOUT}----", [WIPEOUT]),
        (f"{WIPEOUT} pass PA 13-0", [WIPEOUT]),
    ],
)
def test_games_as_people_write_them(tmp_path: Path, text: str, games: list[str]) -> None:
    path = tmp_path / "games.txt"
    path.write_text(text, "utf-8")
    for chunk in (1000, 5):
        assert list(map(text_of, games_of(read_all(path, chunk_games=chunk)))) == games


@pytest.mark.parametrize(
    ("ending", "score"),
    [
        ("black resigns", -64),
        ("(White resigned)", 64),
        ("-12, W timed out", -12),
        ("resigned", None),
        ("20-30 resign", -10),
        ("64:t", 64),
        ("W+R", -64),
        ("lost on time +3", 3),
        ("37-27", None),
        ("5", None),
    ],
)
def test_resigned_and_timed_out_games_have_a_result(tmp_path: Path, ending: str, score: int | None) -> None:
    """And games that stop without such a word have none."""
    path = tmp_path / "games.txt"
    path.write_text(f"f5d6c3\nf5d6c3 {ending}\n")
    records = read_all(path)
    assert np.array_equal(records.score, [np.nan, np.nan if score is None else score], equal_nan=True)
    path.write_text(f"{WIPEOUT} 1\nf5d6c3 1 white resigns\n")
    assert read_all(path).score.tolist() == [64, 64]


@pytest.mark.parametrize("result", ["13-0", "(13 - 0)", "13\u20130", "1-0", "Black wins", "+13.0", "64-0"])
def test_results_of_finished_games(tmp_path: Path, result: str) -> None:
    path = tmp_path / "games.txt"
    path.write_text(f"{WIPEOUT} {result}\n", "utf-8")
    assert read_all(path).score.tolist() == [64]
    (tmp_path / "games.csv").write_text(f"moves,result\n1. {WIPEOUT},{result}\n", "utf-8")
    assert read_all(tmp_path / "games.csv").score.tolist() == [64]
    path.write_text(f"{WIPEOUT} 0-13\n")
    fails(path, ":1: the score is given as -13, but the moves end at")


def format_of(name: str) -> str:
    return {"gam": "logbook", "csv": "table"}.get(name.split(".")[1], "transcripts")


@pytest.mark.parametrize("name", ["a.txt", "a.gam", "a.csv", "a.txt.gz", "a.gam.xz"])
@pytest.mark.parametrize("content", [b"", b"\n\n \r\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 4])
def test_files_without_games(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    packed_by_name(path, content)
    fails(
        path,
        "no games|neither a move|names no moves|the file is empty",
        format=format_of(name),
    )
    records = read_all(path, skip_bad=True)
    assert len(records) == 0
    assert records.skipped > 0


@pytest.mark.parametrize("name", ["games.txt", "games.txt.gz", "games.txt.xz"])
def test_write_and_read(tmp_path: Path, games: list[list[int]], name: str) -> None:
    path = tmp_path / name
    cut = [moves[: len(moves) - place % 3] for place, moves in enumerate(games)]
    records = GameRecords.from_moves(
        np.array([move for moves in cut for move in moves], np.uint8), np.cumsum([0, *map(len, cut)])
    )
    write_games(OTHELLO, path, records)
    again = read_all(path)
    assert games_of(again) == cut
    assert np.isnan(again.score).sum() == sum(replayed(moves).status != 0 for moves in cut)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_written_passes_are_left_out(games: list[list[int]]) -> None:
    passing = next(moves for moves in games if any(step.move == 64 for step in replayed(moves).steps))
    written = [step.move for step in replayed(passing).steps[:-1]]
    records = GameRecords.from_moves(np.array(written, np.uint8), np.array([0, len(written)]))
    [line] = write_transcripts(OTHELLO, records)
    assert line.decode() == f"{text_of(passing)} {replayed(passing).final_score}\n"


def test_illegal_games_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_text("as it was")
    records = GameRecords.from_moves(np.array([37, 43, 0], np.uint8), np.array([0, 2, 3]))
    with pytest.raises(BadInputError, match="game 2 of 2: move 1 is illegal"):
        write_games(OTHELLO, path, records)
    assert path.read_text() == "as it was"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "count", "unfinished", "distinct"),
    [
        ("logbook.gam.gz", 121_123, 0, 121_123),
        ("egaroucid3-selfplay.txt.xz", 83_593, 0, 79_549),
        ("egaroucid-early-selfplay.txt.xz", 40_653, 0, 39_644),
        ("eothello_dataset.csv.xz", 25_657, 2, 25_649),
    ],
)
def test_real_files(shared: Path, othello: Game, name: str, count: int, unfinished: int, distinct: int) -> None:
    records = GameRecords.concatenate(list(read_records(othello, shared / "othello" / "games" / name)))
    assert len(records) == count
    assert records.skipped == 0
    assert np.isnan(records.score).sum() == unfinished
    moves, offsets = records.moves.tobytes(), records.offsets.tolist()
    assert len({moves[first:last] for first, last in itertools.pairwise(offsets)}) == distinct
    if name.startswith("logbook"):
        stored = records.extra["stored_score"]
        assert ((stored > 0).sum(), (stored == 0).sum(), (stored < 0).sum()) == (35_180, 25_467, 60_476)
        assert (stored.min(), stored.max()) == (-44, 56)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "count"), [("xot-small.txt", 3623), ("xot-large.txt", 10_784)])
def test_openings(shared: Path, othello: Game, name: str, count: int) -> None:
    records = GameRecords.concatenate(list(read_records(othello, shared / "othello" / "openings" / name)))
    assert len(records) == count
    assert set(records.lengths.tolist()) == {8}
    assert np.isnan(records.score).all()
