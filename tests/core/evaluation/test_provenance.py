"""What evaluations were fitted to is found again among the files that they are graded on."""

from pathlib import Path

from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.provenance import FITTED_FILES, fitted_among, fitted_files_text
from glem.core.features.learning import Learning
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions
from tests.core.cli.terminal import Terminal


def test_files_are_known_by_their_bytes(tmp_path: Path) -> None:
    first, copy, other = (tmp_path / name for name in ("first.pgn", "copy.pgn", "other.pgn"))
    first.write_text("some games")
    copy.write_text("some games")
    other.write_text("other games")
    mine = {FITTED_FILES: fitted_files_text([first, other])}
    assert mine[FITTED_FILES].splitlines()[1].endswith(" other.pgn")
    assert fitted_among({"mine": mine, "hand-set": {}}, [copy]) == {"mine": ["copy.pgn"]}
    assert fitted_among({"mine": mine}, [copy, other]) == {"mine": ["copy.pgn", "other.pgn"]}
    assert fitted_among({"hand-set": {}}, [tmp_path / "no such file"]) == {}
    twin = tmp_path / "twin" / "other.pgn"
    twin.parent.mkdir()
    twin.write_text("neither")
    assert fitted_among({"mine": mine}, [other, twin]) == {"mine": [f"{tmp_path.name}/other.pgn"]}
    other.write_text("changed")
    assert fitted_among({"mine": mine}, [other]) == {}


def test_grades_tell_when_an_evaluation_was_fitted_to_the_same_file(
    terminal: Terminal, othello_learning: Learning, tmp_path: Path
) -> None:
    games, more, fitted = (str(tmp_path / name) for name in ("games.parquet", "more.parquet", "fitted.npz"))
    assert othello_learning.sample is not None
    sample: Positions = othello_learning.sample()
    train, rest = sample.select(sample.record < 100).split_by_game(0.5, 0)
    write_positions(games, train)
    write_positions(more, rest)

    terminal("fit", games, "-o", fitted, "--patterns", "none", "--iterations", "2")
    assert load_evaluation(fitted).provenance[FITTED_FILES].endswith(" games.parquet")
    grade = ("--evaluation", fitted, "--resamples", "100", "--skip-moves", "0", "--skip-end", "0")
    assert "fitted was fitted to games.parquet" in terminal("grade", "othello", games, more, *grade)
    assert "was fitted to" not in terminal("grade", "othello", more, *grade)
