from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.positions.files import read_positions
from glem.core.positions.labels import LabelCounts, Selection, label_records, positions_of_records
from glem.core.positions.positions import Positions
from glem.core.positions.reading import read_records
from glem.core.positions.selection.reading import FileSummary, read_selected
from glem.core.positions.selection.selection import SelectionRule
from glem.games.othello.formats.transcripts import write_transcripts
from glem.plugins.othello.sample import sample_games
from tests.core.cli.terminal import Terminal


@pytest.fixture(scope="module")
def games(othello: Game, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.txt"
    path.write_bytes(b"".join(write_transcripts(othello, sample_games().select(slice(60)))))
    return path


@pytest.fixture
def run(terminal: Terminal) -> Terminal:
    return terminal.of("positions")


def assert_written(path: Path, expected: Positions) -> None:
    found = read_positions(path).columns()
    for name, column in expected.columns().items():
        assert np.array_equal(column, found[name]), name


def test_games_become_a_file_of_positions(othello: Game, games: Path, tmp_path: Path, run: Terminal) -> None:
    output = tmp_path / "positions.parquet"
    out = run(games, "-o", output)
    expected = positions_of_records(othello, read_records(othello, games), label="auto")
    assert out == f"{len(expected):,} positions in {output}\nfrom 60 games\n"
    assert_written(output, expected)


def test_files_of_equal_names_in_different_folders_are_two(othello: Game, tmp_path: Path, run: Terminal) -> None:
    paths = [tmp_path / folder / "games.txt" for folder in ("one", "other")]
    for seed, path in enumerate(paths):
        path.parent.mkdir()
        path.write_bytes(b"".join(write_transcripts(othello, sample_games().select(slice(20 * seed, 20 * seed + 20)))))
    output = tmp_path / "positions.parquet"
    run(*paths, "-o", output, "--label", "result")
    found = read_positions(output)
    assert np.unique(found.record).tolist() == list(range(40))
    assert found.sources == ("one/games.txt", "other/games.txt")
    assert [found.sources[found.source[found.record == game][0]][:3] for game in (0, 20)] == ["one", "oth"]
    rule = SelectionRule(skip_moves=0, skip_end=0)
    *parts, summary = read_selected(othello, output, rule)
    assert isinstance(summary, FileSummary)
    assert sum(len(part) for part in parts if isinstance(part, Positions)) == summary.counts.chosen == 40


def test_split_unseen_and_merge(othello: Game, games: Path, tmp_path: Path, run: Terminal) -> None:
    output = tmp_path / "positions.parquet"
    options = ("--held-out", 0.25, "--unseen", "--merge", "--spread", "--seed", 4)
    summary = run.json(games, "-o", output, *options)
    whole = positions_of_records(othello, read_records(othello, games), label="auto")
    training, held_out = whole.split_by_game(0.25, 4)
    expected = [
        training.merge_duplicates(keep_spread=True),
        held_out.without(training).merge_duplicates(keep_spread=True),
    ]
    paths = [tmp_path / "positions.train.parquet", tmp_path / "positions.heldout.parquet"]
    assert summary["records"] == 60
    assert summary["files"] == [
        {"path": str(path), "positions": len(part)} for path, part in zip(paths, expected, strict=True)
    ]
    for path, part in zip(paths, expected, strict=True):
        assert_written(path, part)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(path.name for path in paths)


def test_selections_arrive(
    othello: Game, othello_learning: Learning, games: Path, tmp_path: Path, run: Terminal
) -> None:
    output = tmp_path / "positions.parquet"
    options = ("--label", "result", "--plies", "10-50", "--phases", "3-5,8", "--per-game", 4, "--seed", 2)
    run(games, "-o", output, *options)
    selection = Selection(plies=(10, 50), phases=(3, 4, 5, 8), stages=othello_learning.phases, per_game=4)
    expected = positions_of_records(othello, read_records(othello, games), selection=selection, seed=2)
    found = read_positions(output)
    assert len(found) > 200
    assert np.array_equal(found.positions.own, expected.positions.own)


def test_scored_positions(othello: Game, tmp_path: Path, run: Terminal) -> None:
    source, output = tmp_path / "scores.txt", tmp_path / "positions.parquet"
    source.write_text("".join(f"{othello.format_position(othello.initial_position)} {score}\n" for score in (4, -6)))
    assert run(source, "-o", output, "--label", "score") == f"2 positions in {output}\n"
    found = read_positions(output)
    assert found.label.tolist() == [4, -6]
    assert found.label_kind == "score"


def test_bad_records_stop_or_are_counted(games: Path, tmp_path: Path, run: Terminal) -> None:
    damaged, output = tmp_path / "damaged.txt", tmp_path / "positions.parquet"
    lines = games.read_text().splitlines()
    lines[7] = "f5a1"
    damaged.write_text("\n".join(lines) + "\n")
    assert "damaged.txt" in run.fails(damaged, "-o", output)
    assert run.output == ""
    assert [file.name for file in tmp_path.iterdir()] == ["damaged.txt"]
    assert "from 59 games\n  1 bad record skipped\n" in run(damaged, "-o", output, "--skip-bad")
    assert run.error.startswith("skipped: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unseen",), "--unseen needs --held-out"),
        (("--spread",), "--spread needs --merge"),
        (("--plies", "a-b"), "--plies must be a number or a range like 20-50, got 'a-b'"),
        (("--plies", "9-3"), "plies must be a range like 20-50, got 9-3"),
        (("--phases", "1-99999999999"), "there is no phase 13"),
        (("go",), "there is no file and no game 'go'"),
        (("--label", "score", "--plies", "3"), "cannot be selected by game, ply or phase"),
        (("--of-player", "Buro"), "the games name no players"),
        (("--format", "sgf"), "format 'sgf'"),
    ],
)
def test_wrong_options_are_explained_in_one_line(
    games: Path, tmp_path: Path, run: Terminal, options: tuple[str, ...], message: str
) -> None:
    assert message in run.fails(*options, games, "-o", tmp_path / "positions.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_and_a_missing_file(games: Path, tmp_path: Path, run: Terminal) -> None:
    assert "does not exist" in run.fails(games, "-o", tmp_path / "none" / "positions.parquet")
    assert "no such file" in run.fails(tmp_path / "none.txt", "-o", tmp_path / "positions.parquet")


def test_players_are_found_by_pattern_and_shown(othello: Game) -> None:
    played = sample_games().select(slice(6))
    columns = {"black_player": [0, 0, 1, 2, 3, 3], "white_player": [1, 2, 3, 3, 0, -1]}
    records = evolve(
        played,
        extra={**played.extra, **{name: np.array(numbers) for name, numbers in columns.items()}},
        names=dict.fromkeys(columns, ("Ann Smith", "ANNE (x)", "Bob [y]", "Cy")),
    )
    for players, caught in (
        ({"ann*"}, {"Ann Smith": 3, "ANNE (x)": 2}),
        ({"cy"}, {"Cy": 4}),
        ({"bob [Y]", "*(X)"}, {"Bob [y]": 2, "ANNE (x)": 2}),
        ({"ann"}, {"Ann Smith": 3}),
        ({"an"}, {}),
    ):
        counts = LabelCounts()
        selection = Selection(players=frozenset(players))
        parts = list(label_records(othello, [records], selection=selection, counts=counts))
        assert counts.players == caught
        chosen = [
            number
            for number in range(6)
            if {records.names[name][column[number]] for name, column in columns.items() if column[number] >= 0}
            & set(caught)
        ]
        assert sorted({int(number) for part in parts for number in part.record}) == chosen
        assert counts.other_players == 6 - len(chosen)


@pytest.mark.shared
def test_players_that_were_caught_are_printed(shared: Path, tmp_path: Path, run: Terminal) -> None:
    games = shared / "othello" / "wthor" / "WTH_2001.wtb"
    command = (games, "-o", tmp_path / "p.parquet", "--of-player")
    assert "7 games of Nakajima Tetsuya" in run(*command, "*NAKAJIMA*")
    assert run.json(*command, "*a*")["players"]["Nakajima Tetsuya"] == 7
    out = run(*command, "*a*")
    assert out.count(" games of ") == 20
    assert "and those of " in out
    assert "'*part of a name*' finds more" in run.fails(*command, "nakajim")
    assert run.json(*command, "nakajima")["players"]["Nakajima Tetsuya"] == 7


@pytest.mark.shared
def test_players_and_errors_of_tournament_games(shared: Path, tmp_path: Path, run: Terminal) -> None:
    output = tmp_path / "positions.parquet"
    years = [shared / "othello" / "wthor" / f"WTH_{year}.wtb" for year in (1984, 1985)]
    options = ("--minimum-games", 30, "--errors", "10-64", "--plies", "36", "--label", "theoretical")
    summary = run.json(*years, "-o", output, *options)
    assert summary["records"] == 587 + 954
    assert summary["other_players"] > 0
    assert summary["other_errors"] > 0
    found = read_positions(output)
    assert 0 < len(found) == summary["positions"]
    assert set(found.ply.tolist()) == {36}
