"""What is graded from outside of glem: files of scores, functions, and the texts that name them."""

import contextlib
import csv
import gzip
import math
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.game.game import load_game
from glem.core.grading import collection
from glem.core.grading.collection import CollectionGrading
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.scorers.scorers import scorer_of
from glem.core.positions.files import write_positions
from glem.core.positions.labels import positions_of_records
from glem.core.positions.reading import read_records
from glem.core.positions.selection.selection import SelectionRule
from glem.core.positions.selection.written_positions import original_text, spreadsheet_text
from tests.core.cli.terminal import Terminal
from tests.core.grading.random_games import write_random_games
from tests.system import not_on_windows

Grade = Callable[..., CollectionGrading]

QUICK = GradingSettings(resamples=100, bins=5)
RULE = SelectionRule(skip_moves=2)
GAME = load_game("connect_four")

FUNCTIONS = """
import numpy as np

def height(positions):
    '''Stones of the side to move less the opponent's, which is 0 or -1: a value that knows little.'''
    columns = zip(positions[0].tolist(), positions[1].tolist())
    return np.array([bin(own).count("1") - bin(other).count("1") for own, other in columns])

def with_drawishness(positions):
    return height(positions), np.full(len(positions[0]), 0.25)

def holes(positions):
    values = np.linspace(-1, 1, len(positions[0]))
    values[::2] = np.nan
    return values

def short(positions):
    return [1, 2, 3]

def word(positions):
    return "nothing"

def wild(positions):
    return np.zeros(len(positions[0])), 2

def broken(positions):
    return 1 / 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sources")
    write_random_games(GAME, path / "one.games", 80)
    write_random_games(GAME, path / "two.games", 40, seed=2)
    (path / "mine.py").write_text(FUNCTIONS)
    return path


@pytest.fixture(scope="module")
def grade(folder: Path) -> Grade:
    def grade(*texts: str, files: tuple[str, ...] = ("one.games",)) -> CollectionGrading:
        scorers = [scorer_of(GAME, text.replace("FOLDER", str(folder))) for text in texts]
        return collection.grade(GAME, [folder / file for file in files], *scorers, select=RULE, settings=QUICK, jobs=2)

    return grade


def test_a_function_of_a_file(grade: Grade) -> None:
    found = grade(
        "python:FOLDER/mine.py:height,name=height", "name=own,evaluation=python:FOLDER/mine.py:with_drawishness"
    )
    height, own = found.grading.evaluations
    assert (height.name, own.name) == ("height", "own")
    assert height.missing == own.missing == 0
    assert own.fit is not None
    assert own.fit.drawishness is None
    assert height.grade.positions > 70


def test_a_function_of_a_module_in_the_current_folder(
    grade: Grade, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # another test's
    monkeypatch.setattr("sys.path", ["/nowhere"])
    assert grade("python:mine:height").grading.evaluations[0].grade.positions > 70
    assert sys.path == ["/nowhere", str(folder)], "what lies beside it stands in for no installed module"


def test_positions_without_a_value_are_left_out_and_told(grade: Grade) -> None:
    found = grade("python:FOLDER/mine.py:holes,name=holes", "python:FOLDER/mine.py:height,name=height")
    holes, height = found.grading.evaluations
    assert holes.missing == (height.grade.positions + 1) // 2
    assert holes.grade.positions + holes.missing == height.grade.positions
    comparison = found.grading.comparisons[0]
    assert comparison.positions == holes.grade.positions
    assert any("holes has no value for" in remark for remark in found.remarks)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("python:FOLDER/mine.py:short", "one of shape 3"),
        ("python:FOLDER/mine.py:word", "gave a str"),
        ("python:FOLDER/mine.py:wild", "drawishness must be between 0 and 1"),
        ("python:FOLDER/mine.py:broken", r"ZeroDivisionError: division by zero \(mine.py:"),
        ("python:FOLDER/mine.py:absent", "has no 'absent'"),
        ("python:FOLDER/absent.py:height", "no such file"),
        ("python:no_such_module:height", "current folder"),
        ("python:mine", "module:function"),
        ("python:FOLDER/mine.py:height,colour=red", "has no option colour"),
        ("comments,side=left", "first or mover"),
        ("comments,mate=soon", "must be a number"),
        ("csv:FOLDER/absent.csv", "cannot be opened"),
        ("random", "gives no values"),
        ("default,solve=10", "no limit"),
        ("default,clock=10", "a clock is for games"),
        ("default,depth=2,result=10", "use solve="),
        ("missing.npz", "no such file"),
    ],
)
def test_what_is_no_source_is_refused(grade: Grade, text: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        grade(text)


@pytest.mark.parametrize(
    "names", [("one.games", "two.games"), ("a/same.games", "b/same.games"), ("a/same.parquet", "b/same.parquet")]
)
def test_scores_of_another_program(terminal: Terminal, folder: Path, tmp_path: Path, names: tuple[str, str]) -> None:
    """Positions are written, scored elsewhere in two ways, and graded as the function is that scores them."""
    table = tmp_path / "positions.csv"
    files = [tmp_path / name for name in names]
    for file, shape in zip(files, ("one.games", "two.games"), strict=True):
        file.parent.mkdir(exist_ok=True)
        if file.suffix == ".parquet":
            write_positions(file, positions_of_records(GAME, read_records(GAME, folder / shape)))
        else:
            file.write_bytes((folder / shape).read_bytes())
    height = f"python:{folder}/mine.py:height"
    graded = terminal.of("grade", "connect_four", *files, "--skip-moves", 2, "--resamples", 100, "--evaluation", height)
    graded("--write-positions", table)
    header, *lines = table.read_text().splitlines()
    assert header == "file,game,ply,position,result"
    fields = [line.split(",") for line in lines]
    assert {line[0] for line in fields} == set(names)
    parsed = [GAME.parse_position(line[3]) for line in fields]
    scores = [bin(int(position[0])).count("1") - bin(int(position[1])).count("1") for position in parsed]
    by_ply, by_text = tmp_path / "ply.csv", tmp_path / "text.csv"
    by_ply.write_text(
        "game,ply,file,score\n"
        + "".join(f"{line[1]},{line[2]},{line[0]},{score}\n" for line, score in zip(fields, scores, strict=True))
    )
    by_text.write_text(
        "position,score\n" + "".join(f"{line[3]},{score}\n" for line, score in zip(fields, scores, strict=True))
    )
    found = graded.json("--evaluation", f"csv:{by_ply}", "--evaluation", f"csv:{by_text}")
    function, ply, text = found["evaluations"]
    assert function["grade"] == ply["grade"] == text["grade"]
    assert function["missing"] == ply["missing"] == text["missing"] == 0


@pytest.mark.parametrize("name", ["=1+1.games", "'=a.games", pytest.param("\ta.games", marks=not_on_windows)])
def test_names_that_a_spreadsheet_would_run(terminal: Terminal, folder: Path, tmp_path: Path, name: str) -> None:
    """They stand behind an apostrophe, and come back with it; a plain one also without."""
    for file in (name, "plain.games"):
        (tmp_path / file).write_bytes((folder / "one.games").read_bytes())
    table = tmp_path / "positions.csv"
    files = (tmp_path / name, tmp_path / "plain.games")
    command = ("grade", "connect_four", *files, "--skip-moves", 2, "--resamples", 100)
    terminal(*command, "--evaluation", f"python:{folder}/mine.py:height", "--write-positions", table)
    with table.open(newline="") as lines:
        fields = list(csv.reader(lines))[1:]
    assert {line[0] for line in fields} == {f"'{name}", "plain.games"}
    assert original_text(f"'{name}") == name
    for file in (f"'{name}", name)[: 1 + (name[0] in "=+-@")]:
        scores = tmp_path / "scores.csv"
        with scores.open("w", newline="") as lines:
            written = csv.writer(lines)
            written.writerow(("file", "game", "ply", "score"))
            written.writerows((file if line[0] == f"'{name}" else line[0], *line[1:3], -3) for line in fields)
        assert ",-3" in scores.read_text()
        (found,) = terminal.json(*command, "--evaluation", f"csv:{scores}")["evaluations"]
        assert found["missing"] == 0


@given(st.text("'=+-@\t\r13.e a"))
def test_texts_come_back_from_a_table(text: str) -> None:
    field = spreadsheet_text(text)
    assert original_text(field) == text
    assert field[:1] not in {"=", "+", "@", "\t", "\r"}
    assert not field.startswith("-") or math.isfinite(float(field))


def test_probabilities_are_graded_as_they_are(terminal: Terminal, grade: Grade, folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "positions.csv"
    graded = ("grade", "connect_four", folder / "one.games", "--evaluation", f"python:{folder}/mine.py:height")
    terminal(*graded, "--skip-moves", 2, "--resamples", 100, "--write-positions", table)
    fields = [line.split(",") for line in table.read_text().splitlines()[1:]]
    scores = tmp_path / "probabilities.csv"
    scores.write_text("game,ply,win,draw,loss\n" + "".join(f"{line[1]},{line[2]},0.5,0.2,0.3\n" for line in fields))
    found = grade(f"csv:{scores},name=guess")
    guess = found.grading.evaluations[0]
    given = {1: 0.5, 0: 0.2, -1: 0.3}
    expected = np.mean([np.log(given[int(line[4])]) for line in fields])
    assert guess.grade.mean_log == pytest.approx(expected)
    assert guess.fit is not None
    assert guess.fit.fitted == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "do not tell which position"),
        ("game,score\n1,2\n", "do not tell which position"),
        ("game,ply,worth\n1,2,3\n", "no column score"),
        ("game,ply,score\n1,2,three\n", ":2: score must be a number"),
        ("game,ply,score\n1,2,1e400\n", ":2: score must be a number"),
        ("game,ply,score\n1,two,3\n", ":2: game and ply must be whole"),
        (f"game,ply,score\n1,2,3\n{'9' * 5000},2,3\n", ":3: game and ply must be whole"),
        ("game,ply,score\n1,2,3\n1,2,4\n", ":3: gives another score to the position of line 2"),
        ("position,score\nnonsense,3\n", ":2: "),
        ("game,ply,win,draw,loss\n1,2,0.5,0.5,0.5\n", "add up to 1"),
        ("game,ply,score,drawishness\n1,2,3,4\n", "between 0 and 1"),
        ("game,ply,score\n" + "1" * 5000 + ",2,3\n", ":2: game and ply must be whole"),
        ("game,ply,score\n9999999999,2,3\n", ":2: games are numbered to"),
        ("game,ply,score\n\n\n1,2,three\n", ":4: score must be a number"),
        ('game,ply,score\n1,2,"3\n' + "4\n" * 200, ":102: no end of a row within 100 lines"),
        ("game,ply,score\n" + "1" * (1 << 21), ":2: no line end within"),
    ],
)
def test_bad_files_of_scores_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(BadInputError, match=reason):
        scorer_of(GAME, f"csv:{path}")


@pytest.mark.parametrize("rest", [b"\n", b'","\n', b"x,y," + b"," * 50_000 + b"\n"])
def test_a_file_of_scores_is_never_held(tmp_path: Path, rest: bytes) -> None:
    path = tmp_path / "scores.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b'position,score,"remark\nof two lines"\n\n')
        for _ in range(40):
            file.write(rest * ((1 << 20) // len(rest)))
    tracemalloc.start()
    try:
        with contextlib.suppress(BadInputError):
            scorer_of(GAME, f"csv:{path}")
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()


def test_lines_must_tell_their_file_where_several_are_graded(grade: Grade, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("game,ply,score\n1,2,3\n")
    with pytest.raises(BadInputError, match="need a column file"):
        grade(f"csv:{path}", files=("one.games", "two.games"))
