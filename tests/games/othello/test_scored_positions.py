"""Positions with scores from outside: lines, tables, OBF."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.game.game import Game, PositionFormat, load_game
from glem.core.positions.reading import format_of, read_scored_positions
from glem.games.othello.notation import format_position
from glem.games.othello.rules import INITIAL_POSITION, Position
from tests.games.othello.record_files import PACKINGS, packed_by_name
from tests.oracles.obf import solved_positions
from tests.oracles.replay import random_game, replay_game

OTHELLO = load_game("othello")
START = "---------------------------OX------XO---------------------------"


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    """Positions of some random games, those with a forced pass and finished ones included."""
    random = np.random.default_rng(7)
    steps = [step for _ in range(8) for step in replay_game(OTHELLO, random_game(OTHELLO, random)).steps]
    passes = [step.position for step in steps if step.move == OTHELLO.pass_move]
    assert passes
    return [*(step.position for step in steps[::9]), steps[-1].position, *passes]


def read_all(path: Path, **options: Any) -> tuple[list[Position], list[float], list[str]]:
    """Positions, labels and problems of all chunks."""
    chunks = list(read_scored_positions(OTHELLO, path, **options))
    return (
        [position_at(chunk.positions, row) for chunk in chunks for row in range(len(chunk.label))],
        [float(value) for chunk in chunks for value in chunk.label],
        [problem for chunk in chunks for problem in chunk.problems],
    )


def fails(path: Path, text: str) -> None:
    """The file is refused in one line that names it, and skipping counts what was refused."""
    with pytest.raises(BadInputError, match=text) as caught:
        read_all(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value) in read_all(path, skip_bad=True)[2]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(
    "layout",
    [
        "{board} {side} {score}",
        "  {board}{side};{score:+d}\r",
        "{board} {side}; {score}.0",
        "{lower}\t{lower_side},{score}",
    ],
)
def test_lines(tmp_path: Path, positions: list[Position], layout: str, packing: str) -> None:
    path = tmp_path / f"positions.txt{packing}"
    scores = [place * 7 % 129 - 64 for place in range(len(positions))]
    lines = []
    for place, (position, score) in enumerate(zip(positions, scores, strict=True)):
        board, side = format_position(position, black_to_move=place % 2 == 0).split()
        lower = board.replace("X", "b").replace("O", "w").replace("-", ".")
        lower_side = {"X": "b", "O": "w"}[side]
        lines.append(layout.format(board=board, side=side, lower=lower, lower_side=lower_side, score=score))
    packed_by_name(path, "\n".join([*lines[:3], "", *lines[3:]]).encode())
    assert read_all(path, chunk_positions=9) == (positions, scores, [])


def test_without_a_side_black_is_to_move(tmp_path: Path) -> None:
    path = tmp_path / "positions.txt"
    path.write_text(f"{START} 2.5\n{START} 0\n")
    assert read_all(path) == ([INITIAL_POSITION, INITIAL_POSITION], [2.5, 0.0], [])


SWAPPED = Position(INITIAL_POSITION.opponent, INITIAL_POSITION.own)


@pytest.mark.parametrize(
    ("line", "position", "score"),
    [
        (START.translate(str.maketrans("XO-", "\u25cf\u25cb\u30fb")) + " \u25cb 4", SWAPPED, 4),
        (START.translate(str.maketrans("XO-", "\u26ab\u26aa\u25a1")) + "\u30008", INITIAL_POSITION, 8),
        (START.translate(str.maketrans("XO-", "120")) + " 3", INITIAL_POSITION, 3),
        (START.translate(str.maketrans("XO-", "120")) + " 2 -3", SWAPPED, -3),
        (" ".join(START[row : row + 8] for row in range(0, 64, 8)) + " O 2", SWAPPED, 2),
        (START.translate(str.maketrans("XO-", "@O+")) + ",6", INITIAL_POSITION, 6),
        ("0x810000000, 0x1008000000, -6", INITIAL_POSITION, -6),
        ("0000000810000000 0000001008000000 X +6", INITIAL_POSITION, 6),
        (START + " X; D3:+2; C4:-8 % the start", INITIAL_POSITION, 2),
        (START + " White to move -4 # a remark", SWAPPED, -4),
        (START + " (black) 2.5", INITIAL_POSITION, 2.5),
        ("#40 " + START + " X +38 d3", INITIAL_POSITION, 38),
        (START + " O; e3 -4", SWAPPED, -4),
        (START.translate(str.maketrans("XO", "#O")) + " 1", INITIAL_POSITION, 1),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.obf", "a.csv"])
def test_positions_as_strangers_write_them(
    tmp_path: Path, name: str, line: str, position: Position, score: float
) -> None:
    path = tmp_path / name
    if name == "a.csv":
        board = line.rstrip("0123456789+-.").rstrip(" ,\u3000")
        if ":" in line or "#" in line or "e3" in line or board.endswith("2"):
            return
        path.write_text(f"board;score\n{board};{score}\n", "utf-8")
    else:
        path.write_text(f"# a remark\n% another\n{line}\n\n{line}\n", "utf-8")
    found, labels, problems = read_all(path)
    assert found == [position] * (1 if name == "a.csv" else 2)
    assert set(labels) == {score}
    assert problems == []
    path.rename(tmp_path / "b.dat")
    assert isinstance(format_of(OTHELLO, tmp_path / "b.dat"), PositionFormat)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (START.translate(str.maketrans("XO-", "10.")) + " X 4", "digits 0, 1 are is not clear; `tr 01 XO` makes"),
        (START.translate(str.maketrans("XO-", "12.")) + " X 4", "digits 1, 2 are is not clear; `tr 12 XO` makes"),
        (START.translate(str.maketrans("XO-", "120")) + " 2", "whether 2 is the side to move or a score is not clear"),
        ("0x1818000000 0x810000000 4", "the two boards share squares"),
        ("0x810000000 0x1008000000 O 4", "whose discs come first is not clear"),
        (START + " X 4 a1", "a1 is no legal move there"),
        (START + " X +65", "'[+]65' is no score from -64 to 64"),
    ],
)
def test_positions_of_several_meanings_are_refused(tmp_path: Path, line: str, problem: str) -> None:
    for name in ("a.txt", "a.obf"):
        (tmp_path / name).write_text(f"{START} X 3\n{line}\n")
        with pytest.raises(BadInputError, match=rf":2: .*{problem}|:2: the score 65 is not"):
            read_all(tmp_path / name, format={"a.txt": "positions", "a.obf": "obf"}[name])


def test_table(tmp_path: Path) -> None:
    path = tmp_path / "positions.csv"
    path.write_text(f'obf,count,score\n{START} X;,5,-3\n"{START} O;",5,"12"\n\r\n\n{START},1,0\r\n')
    swapped = Position(INITIAL_POSITION.opponent, INITIAL_POSITION.own)
    assert read_all(path) == ([INITIAL_POSITION, swapped, INITIAL_POSITION], [-3, 12, 0], [])


@pytest.mark.parametrize(
    ("name", "line", "text"),
    [
        ("a.txt", START[1:] + " X 3", r"a\.txt:2: '-+' begins with 63 squares; a board has 64, of X, O and -"),
        ("a.txt", START + "-X 3", r":2: '-X 3' is no score from -64 to 64"),
        ("a.txt", START + " Z 3", ":2: 'Z 3' is no score"),
        ("a.txt", START + " X", ":2: there is no score"),
        ("a.txt", START + " X 3 4", ":2: '3 4' is no score"),
        ("a.txt", START + " X 65", ":2: the score 65 is not between -64 and 64"),
        ("a.txt", START[:30], ":2: '-+' begins with 30 squares"),
        ("a.csv", START + ",", ":2: there is no score"),
        ("a.csv", START, ":2: there is no score"),
        ("a.csv", ",4", ":2: there is no position"),
        ("a.csv", START + " X 3,4", ":2: '-+'... is no position without a score"),
        ("a.csv", START + ",1e9", ":2: '1e9' is no score"),
        ("a.obf", START + " X; D3:+4; D3:+2;", ":2: D3 has two scores"),
        ("a.obf", START + " X; A1:+4;", ":2: A1 is no legal move there"),
        ("a.obf", START + " X; D3:+99;", ":2: the score [+]99 of D3 is not between -64 and 64"),
        ("a.obf", START + " X; D3 4 5;", ":2: 'D3 4 5' is no score .* no moves with theirs, like E1:[+]4"),
        ("a.obf", START + " Z; D3:4;", ":2: 'Z' is no move with its score"),
        ("a.obf", START[1:] + " X; D3:4;", ":2: '-+' begins with 63 squares"),
        ("a.obf", "x; D3:4;", ":2: 'x; D3:4;' begins with 1 square;"),
        ("a.obf", "; D3:4;", ":2: '; D3:4;' begins with 0 squares"),
    ],
)
def test_bad_lines(tmp_path: Path, name: str, line: str, text: str) -> None:
    good = {"a.txt": START + " X 3", "a.csv": "position,score", "a.obf": START + " X; D3:+4;"}[name]
    path = tmp_path / name
    path.write_text(f"{good}\n{line}\n{good if name != 'a.csv' else START + ',4'}\n")
    fails(path, text)
    assert len(read_all(path, skip_bad=True)[0]) == (1 if name == "a.csv" else 2)


@pytest.mark.parametrize("name", ["a.csv", "a.obf", "a.csv.gz", "a.obf.xz"])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))])
def test_files_without_positions(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    packed_by_name(path, content)
    fails(path, "no positions|the file is empty|names no position|a board has 64")
    assert read_all(path, skip_bad=True)[0] == []


def test_obf_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.obf"
    path.write_text(f"% two positions\n\n{START} X; d3:+4; C4:-2; --:-127;\n{START} O\n{START}\n")
    assert read_all(path) == ([INITIAL_POSITION], [4.0], [])
    assert np.isnan(read_all(path, unscored=True)[1]).tolist() == [False, True, True]


def test_lines_without_scores(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"{START} X\n\n{START} X 3\n{START}\n{START} X;\n")
    with pytest.raises(BadInputError, match="there is no score"):
        read_all(path, format="positions")
    found, labels, problems = read_all(path, format="positions", unscored=True)
    assert found == [INITIAL_POSITION] * 4
    assert np.isnan(labels).tolist() == [True, False, True, True]
    assert problems == []


@pytest.mark.shared
def test_exact_scores(shared: Path, othello: Game) -> None:
    path = shared / "othello" / "endgame" / "exact_scores_0-8_empties.txt.xz"
    (chunk,) = read_scored_positions(othello, path)
    empties = 64 - np.bitwise_count(chunk.positions.own | chunk.positions.opponent)
    assert np.bincount(empties).tolist() == [1000] * 9
    full = empties == 0
    own, opponent = (np.bitwise_count(column[full]).astype(int) for column in chunk.positions)
    assert np.array_equal(chunk.label[full], own - opponent)
    assert not (chunk.label % 2).any()


@pytest.mark.shared
def test_predicted_scores(shared: Path, othello: Game) -> None:
    path = shared / "othello" / "positions" / "empty50_tasklist_edax_knowledge.csv"
    (chunk,) = read_scored_positions(othello, path)
    assert len(chunk.label) == 2587
    assert (chunk.label.min(), chunk.label.max()) == (-46, 62)
    assert set(np.bitwise_count(chunk.positions.own | chunk.positions.opponent).tolist()) == {14}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("names", "positions"),
    [
        (("ffo/fforum-1-19", "ffo/fforum-20-39", "ffo/fforum-40-59", "ffo/fforum-60-79"), 79),
        (("endgame/hard-20",), 276),
        (("endgame/hard-25",), 311),
        (("endgame/hard-30",), 289),
    ],
)
def test_solved_positions(shared: Path, othello: Game, names: tuple[str, ...], positions: int) -> None:
    count = 0
    for path in (shared / "othello" / f"{name}.obf" for name in names):
        solved = solved_positions(path)
        (chunk,) = read_scored_positions(othello, path)
        assert [position_at(chunk.positions, row) for row in range(len(chunk.label))] == [one for one, _ in solved]
        assert chunk.label.tolist() == [max(scores.values()) for _, scores in solved]
        count += len(solved)
    assert count == positions
