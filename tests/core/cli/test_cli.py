"""The commands as a user runs them: output, JSON, wrong, empty and damaged input."""

import os
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from attrs import evolve

import glem
from glem.core.cli import command_group, main
from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.provenance import FITTED_FILES
from glem.core.features.learning import Learning
from glem.core.positions import files
from glem.core.positions.files import read_positions, write_positions
from glem.core.positions.positions import Positions
from glem.core.tasks import progress
from tests.core.cli.terminal import Terminal
from tests.system import not_on_windows

_OWN_FITTERS = Path(__file__).parents[3] / "docs" / "how-to" / "my_fitters.py"


@pytest.fixture(scope="module")
def positions(othello_learning: Learning, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """File with the positions of 150 games of the sample."""
    assert othello_learning.sample is not None
    sample: Positions = othello_learning.sample()
    path = tmp_path_factory.mktemp("positions") / "positions.parquet"
    write_positions(path, sample.select(sample.record < 150))
    return path


@pytest.fixture(scope="module")
def model(positions: Path) -> Path:
    """Evaluation fitted by the command."""
    path = positions.with_name("model.npz")
    with pytest.raises(SystemExit) as exit_info:
        main(["fit", str(positions), "-o", str(path), "--iterations", "5", "--smoothing", "0", "--jobs", "1"])
    assert exit_info.value.code == 0
    return path


@pytest.mark.parametrize(
    ("text", "expected"), [("4GB", 4e9), ("1.5 gib", 1.5 * 2**30), ("900m", 9e8), ("700000000", 7e8)]
)
def test_memory_is_promised_for_one_command(
    positions: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, text: str, expected: float
) -> None:
    promised: list[int | None] = []
    monkeypatch.setattr("glem.core.machine.memory.promise_memory", promised.append)
    output = positions.with_name("little.npz")
    terminal("fit", positions, "-o", output, "--iterations", 1, "--patterns", "none", "--memory", text)
    assert promised == [int(expected), None]


@pytest.mark.parametrize("text", ["4", "much", "-4GB", "4XB", "1e9", ""])
def test_a_size_that_is_none_is_refused(positions: Path, terminal: Terminal, text: str) -> None:
    error = terminal.fails("fit", positions, "-o", positions.with_name("none.npz"), "--memory", text)
    assert "expected a size of 500MB or more, such as 4GB" in error


def test_help_names_all_commands_and_others_are_refused(terminal: Terminal) -> None:
    printed = terminal("--help")
    for name in command_group.list_commands(click.Context(command_group)):
        first, *second = name.split()
        assert f"`glem {name}` " in " ".join(terminal(first, "--help").split()) if second else f"  {name} " in printed
    assert "--help" in terminal("fit", "--help")
    assert terminal("--version").endswith(f" {glem.__version__}\n")
    assert "No such command" in terminal("discovr", status=2)


def test_no_threads_for_numba_is_one_line(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "0")
    told = terminal("search", "perft", "connect_four", 1, status=2)
    assert told == "glem: NUMBA_NUM_THREADS is 0: numba needs 1 or more; unset it, glem does not use it\n"


def test_a_reader_that_has_gone_is_no_answer() -> None:
    with subprocess.Popen([sys.executable, "-m", "glem", "games"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 141


def test_games_are_listed(terminal: Terminal) -> None:
    assert "Othello" in terminal("games")
    listing = {game["name"]: game for game in terminal.json("games")["games"]}
    assert listing["othello"]["pattern_sets"] == ["logistello", "logistello-1995"]
    assert "wthor" in listing["othello"]["record_formats"]


def test_fit_evaluate_and_compare_agree(terminal: Terminal, positions: Path, model: Path, tmp_path: Path) -> None:
    assert not Path(f"{model}.work").exists()
    scored = read_positions(positions)
    report = terminal.json("evaluate", model, positions)
    residual = LinearEvaluation.load(model).predict(scored.positions) - scored.label
    assert report["rmse"][str(model)][-1] == pytest.approx(float(np.sqrt(np.mean(residual**2))), rel=1e-5)
    assert report["mean_absolute"][str(model)][-1] == pytest.approx(float(np.mean(np.abs(residual))), rel=1e-5)
    assert report["mean"][str(model)][-1] == pytest.approx(float(np.mean(residual)), rel=1e-3)
    assert report["counts"][-1] == len(scored)
    empty = np.array(
        [
            64 - (own | opponent).bit_count()
            for own, opponent in zip(*map(np.ndarray.tolist, scored.positions), strict=True)
        ]
    )
    last = report["moves_left"]["mean_absolute"][str(model)][3]
    assert last == pytest.approx(float(np.mean(np.abs(residual[empty == 3]))), rel=1e-5)
    assert report["moves_left"]["counts"][3] == (empty == 3).sum() > 0
    assert report["moves_left"]["moves"][-1] == "all"
    assert "57-60" in terminal("evaluate", model, positions, "-o", tmp_path / "values.npy")
    np.testing.assert_allclose(np.load(tmp_path / "values.npy") - scored.label, residual, atol=1e-4)
    assert terminal.json("show", model, model)["equal"]
    again = tmp_path / "again.npz"
    fitted = terminal.json("fit", positions, "-o", again, "--iterations", "5", "--smoothing", "0", "--jobs", "2")
    assert len(fitted["fits"]) == 13
    assert terminal.json("show", model, again)["equal"]
    assert model.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("kind", ["standard input", pytest.param("pipe", marks=not_on_windows)])
def test_input_comes_through_a_pipe(
    terminal: Terminal, positions: Path, model: Path, tmp_path: Path, kind: str
) -> None:
    expected = terminal("evaluate", model, positions)
    if kind == "pipe":
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as other_end:
            other_end.submit(pipe.write_bytes, positions.read_bytes())
            assert terminal("evaluate", model, pipe) == expected
    else:
        assert terminal("evaluate", model, "-", typed=positions.read_bytes()) == expected
    assert not list(Path(tempfile.gettempdir()).glob("glem-*/pipe.parquet"))


@not_on_windows
def test_a_pipe_that_nobody_writes_to_ends_the_wait(
    terminal: Terminal, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glem.core.cli.options.piped._LONGEST_WAIT", 0.1)
    os.mkfifo(tmp_path / "pipe")
    assert "no program writes to it" in terminal.fails("evaluate", model, tmp_path / "pipe")
    assert "is a pipe, a file is needed" in terminal.fails("grade", "othello", model, "--evaluation", tmp_path / "pipe")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_full_disk_behind_standard_output_is_named(as_json: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "glem", "games", *as_json]
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert "glem: standard output: No space left on device" in found.stderr.splitlines()


@not_on_windows
def test_output_that_is_cut_short_is_an_error_without_a_buffer_too(tmp_path: Path) -> None:
    import resource

    command = [sys.executable, "-u", "-m", "glem", "fit", "likelihood", "--help"]
    with (tmp_path / "help.txt").open("w") as cut_short:
        found = subprocess.run(
            command,
            stdout=cut_short,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
        )
    assert (found.returncode, found.stderr) == (2, "glem: standard output: File too large\n")
    assert (tmp_path / "help.txt").stat().st_size == 3000


def test_a_fit_that_learns_nothing_warns(terminal: Terminal, positions: Path, tmp_path: Path) -> None:
    scored = read_positions(positions)
    noise = tmp_path / "noise.parquet"
    write_positions(noise, evolve(scored, label=np.random.default_rng(2).permutation(scored.label)))
    arguments = ("fit", noise, "-o", tmp_path / "model.npz", "--smoothing", "0", "--l2", "0", "--held-out", "0.3")
    fits = terminal.json(*arguments)["fits"]
    unlearned = [fit for fit in fits if not fit["improved"]]
    assert unlearned
    assert all(fit["best"] == 0 and fit["reason"].startswith("the held-out error never improved") for fit in unlearned)
    assert "has only a linear fit" in terminal.error
    assert "all weights stay as at the start" in terminal(*arguments, "--no-linear")
    assert "has weights of 0 alone" in terminal.error


def test_merged_positions_are_evaluated_by_their_weight(
    terminal: Terminal, positions: Path, model: Path, tmp_path: Path
) -> None:
    merged = read_positions(positions).merge_duplicates()
    path = tmp_path / "merged.parquet"
    write_positions(path, merged)
    report = terminal.json("evaluate", model, path)
    assert report["counts"][-1] == len(merged)
    assert report["weights"][-1] == merged.weight.sum() > len(merged)
    rows = np.array(report["rmse"][str(model)][:-1], np.float64)
    overall = np.sqrt(np.average(rows**2, weights=report["weights"][:-1]))
    assert report["rmse"][str(model)][-1] == pytest.approx(overall, rel=1e-6)
    assert f"{merged.weight.sum():,.0f}" in terminal("evaluate", model, path)
    assert "weight" not in terminal("evaluate", model, positions)


@pytest.mark.parametrize("arguments", [("evaluate", "-q"), ("-q", "evaluate"), ("evaluate", "--quiet")])
def test_quiet_commands_print_results_only(
    terminal: Terminal, model: Path, positions: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    results = terminal("evaluate", model, positions)
    assert "glem: evaluate: " in terminal.error
    assert terminal(*arguments, model, positions) == results
    assert terminal.error == ""


@pytest.mark.parametrize("arguments", [("evaluate", "-v"), ("--verbose", "evaluate")])
def test_verbose_commands_name_files_kernels_and_their_folder(
    terminal: Terminal,
    model: Path,
    positions: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    # An evaluation that this process has read before is not read again.
    model = Path(shutil.copy(model, tmp_path))
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path))
    assert terminal(*arguments, model, positions)
    told = terminal.error.splitlines()
    assert told[0] == f"glem: machine code is kept in {tmp_path}"
    assert f"glem: reading {model}" in told
    assert f"glem: reading {positions}" in told
    terminal("evaluate", model, positions)
    assert terminal.error == ""


def test_evaluating_takes_no_more_memory_for_more_positions(
    terminal: Terminal, positions: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = files.stream_positions
    monkeypatch.setattr(files, "stream_positions", lambda path, game: stream(path, 2000, game))
    scored = read_positions(positions)
    peaks = []
    for copies in (2, 32):
        path = tmp_path / f"{copies}.parquet"
        write_positions(path, Positions.concatenate([scored] * copies))
        tracemalloc.start()
        try:
            terminal("evaluate", model, path, "-o", tmp_path / "values.npy")
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert np.load(tmp_path / "values.npy").shape == (copies * len(scored),)
    # The packed bytes of a row group are held at a time, 1 MiB, and the values of -o; all positions would take ten.
    assert peaks[1] < peaks[0] + (3 << 19) + 4 * 32 * len(scored)


def test_explain_shows_board_and_items(terminal: Terminal, model: Path) -> None:
    printed = terminal("show", model, "start", "--top", "3")
    assert "  4 - - - O X - - - 4" in printed
    assert "3 of" in printed
    position = "-" * 27 + "OX------XO" + "-" * 27 + " X"
    explained = terminal.json("show", model, position)
    assert explained["sum"] == pytest.approx(sum(item["amount"] for item in explained["contributions"]), abs=1e-6)
    assert explained == terminal.json("show", model, "start")
    printed = terminal("show", model, "-" * 27 + "OX------OO" + "-" * 27 + " O")
    assert "  5 - - - O O - - - 5" in printed
    assert "for the side to move (O)" in printed


def test_patterns_of_a_file_and_other_phases_are_fitted(
    terminal: Terminal, positions: Path, model: Path, tmp_path: Path
) -> None:
    path, patterns = tmp_path / "model.npz", tmp_path / "patterns.txt"
    patterns.write_text("corner: a1 b1 a2 b2\nrow: a3 b3 c3 d3 e3 f3 g3 h3\n", encoding="utf-8")
    terminal("fit", positions, "-o", path, "--patterns", patterns, "--phases", 4, "--iterations", "3")
    evaluation = LinearEvaluation.load(path)
    assert evaluation.patterns is not None and [*evaluation.patterns.names] == ["corner", "row"]
    assert evaluation.learning.phases.names == ("4-19", "20-34", "35-49", "50-64")
    assert terminal.json("show", path, "start")["phase"] == "4-19"
    assert "not comparable: phases" in terminal("show", path, model)
    # A large one gets weights for what enough positions have, and 0 for all else.
    squares = " ".join(f"{column}{row}" for row in (1, 2) for column in "abcdefgh")
    patterns.write_text(f"corner: a1 b1 a2 b2\nsparse: {squares}\n", encoding="utf-8")
    terminal("fit", positions, "-o", path, "--patterns", patterns, "-n", 5, "--iterations", "3")
    evaluation = LinearEvaluation.load(path)
    assert evaluation.patterns is not None
    contents = evaluation.patterns.patterns[1].contents
    assert contents is not None and 100 < len(contents) == evaluation.patterns.weight_sizes[1] - 1
    assert (evaluation.pattern_weights[:, -1] == 0).all() and (evaluation.pattern_weights[:, -100:-1] != 0).any()
    explained = terminal.json("show", path, "start")
    assert sum(item["name"] == "sparse" for item in explained["contributions"]) == (0 in contents) * 4
    assert terminal.json("evaluate", path, positions)["rmse"][str(path)][-1] < 40
    assert terminal.json("search", "othello", "--evaluation", path, "--depth", 4)
    patterns.write_text("corner: a1 b1 a9", encoding="utf-8")
    error = terminal.fails("fit", positions, "-o", tmp_path / "x.npz", "--patterns", patterns)
    assert "patterns.txt:1: pattern 'corner': othello has no feature 'a9'" in error


def test_a_fitter_of_the_users_has_its_own_options(terminal: Terminal, positions: Path, tmp_path: Path) -> None:
    path, fitter = tmp_path / "ridge.npz", f"{_OWN_FITTERS}:Ridge"
    command = ("fit", fitter, positions, "-o", path)
    assert "wrote" in terminal(*command, "--penalty", "25")
    found, data = LinearEvaluation.load(path), read_positions(positions)
    phase = found.learning.phases.of(data.positions)
    number = int(np.bincount(phase).argmax())
    rows = phase == number
    # The normal equations of the centred features.
    values = found.learning.features.values(data.positions)[rows][:, list(found.linear)].astype(np.float64)
    weight, label = data.weight[rows].astype(np.float64), data.label[rows].astype(np.float64)
    centred, middle = values - np.average(values, 0, weight), np.average(label, weights=weight)
    squares = centred.T @ (centred * weight[:, None]) + 25 * np.eye(values.shape[1])
    expected = np.linalg.solve(squares, centred.T @ (weight * (label - middle)))
    np.testing.assert_allclose(found.linear_weights[number], expected, rtol=1e-3, atol=1e-4)
    assert found.provenance["fitter"] == "Ridge(penalty=25.0)"
    assert " from " in found.provenance["positions"]
    assert "Penalty on squared weights." in terminal("fit", fitter, "--help")
    for words, problem in ((("--penalty", "-1"), "not in the range x>=0"), (("--l2", "1"), "--l2")):
        terminal(*command, *words, status=2)
        assert problem in terminal.error
    for first, told in {
        f"{_OWN_FITTERS}:Lasso": "has no 'Lasso'",
        str(_OWN_FITTERS): f"name the fitter that is in it, {_OWN_FITTERS}:CLASS",
        "least-square": "there is no fitter 'least-square', nor such a file; did you mean 'least-squares'? Fitters: ",
        "huber": "there is no fitter 'huber', nor such a file. Fitters: fisher, ",
        "none.parquet": "none.parquet: cannot be read: No such file",
    }.items():
        assert told in terminal.fails("fit", first, positions, "-o", path)
    kept = terminal.json("show", path)
    assert [Path(file["name"]).name for file in kept["read"]] == [_OWN_FITTERS.name]


def test_the_old_names_of_fitters_work_with_a_notice(terminal: Terminal, positions: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    terminal("fit", positions, "--method=fisher", "--baseline", "mobility", "-o", old)
    assert "`--method fisher` is called `glem fit fisher` now" in terminal.error
    terminal("fit", "fisher", positions, "--baseline", "mobility", "-o", new)
    assert old.read_bytes() == new.read_bytes()


@pytest.mark.parametrize("link", ["sigmoid", "logistic"])
def test_other_links_and_methods_are_fitted(
    terminal: Terminal, positions: Path, model: Path, tmp_path: Path, link: str
) -> None:
    path = tmp_path / "model.npz"
    options = ("--method", "descent", "--iterations", "3", "--smoothing", "0")
    terminal("fit", positions, "-o", path, *options, "--link", link)
    values = LinearEvaluation.load(path).predict(read_positions(positions).positions)
    low, high = (-64, 64) if link == "sigmoid" else (0, 1)
    assert low <= values.min() < values.max() <= high
    report = terminal.json("evaluate", path, positions)
    unit = "discs" if link == "sigmoid" else "winning chance"
    assert report["unit"] == unit
    assert report["rmse"][str(path)][-1] < (high - low) / 2
    assert f"({unit})" in terminal("show", path, "start")
    assert link in terminal("show", path, "start")
    if link == "logistic":
        assert "different units" in terminal.fails("evaluate", path, model, positions)


def test_formats_that_several_games_have(terminal: Terminal, positions: Path, model: Path, tmp_path: Path) -> None:
    """The game is named before the other arguments, or told by an evaluation's file."""
    lines = tmp_path / "a.pos"
    columns = read_positions(positions)
    rows = [columns.game.format_position(columns[row]) for row in range(0, len(columns), len(columns) // 200)]
    lines.write_text("".join(f"{text} {row % 9 - 4}\n" for row, text in enumerate(rows)))
    options = (lines, "--format", "positions")
    advice = "name the game as the first argument: one of"
    assert advice in terminal.fails("evaluate", "default", *options)
    assert advice in terminal.fails("discover", *options, "-o", tmp_path / "found")
    assert "Errors by phase" in terminal("evaluate", "othello", "default", *options)
    assert "Errors by phase" in terminal("evaluate", model, *options)
    found = ("-o", tmp_path / "found")
    assert "at least 1,000 and 100 are needed" in terminal.fails("discover", "othello", *options, *found)
    assert "one file of positions is needed, got 2" in terminal.fails("discover", lines, positions, *found)
    assert "a.pos: damaged, or no Parquet file" in terminal.fails("search", "probcut", "default", lines, *found)


def test_wrong_arguments_are_one_line(terminal: Terminal, positions: Path, model: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.parquet"
    picture = tmp_path / "picture.parquet"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    empty = tmp_path / "empty.npz"
    empty.touch()
    out = tmp_path / "out.npz"
    folder = tmp_path / "folder"
    assert "missing.parquet" in terminal.fails("fit", missing, "-o", out)
    assert "picture.parquet" in terminal.fails("discover", picture, "-o", folder)
    assert "picture.parquet" in terminal.fails("evaluate", model, picture)
    assert "empty.npz" in terminal.fails("evaluate", empty, positions)
    assert "empty.npz" in terminal.fails("show", empty, "start")
    assert "name the game before it" in terminal.fails("show", "default", "start")
    assert "empty.npz" in terminal.fails("fit", positions, "-o", out, "--configurations", empty)
    assert "no pattern set 'edges'" in terminal.fails("fit", positions, "-o", out, "--patterns", "edges")
    assert "64 squares" in terminal.fails("show", model, "X" * 63)
    assert "no feature group 'smell'" in terminal.fails("discover", positions, "-o", folder, "--groups", "smell")
    assert "no configuration matches 9,999,999" in terminal.fails("discover", positions, "-o", folder, "-n", "9999999")
    assert "does not exist" in terminal.fails("discover", positions, "-o", tmp_path / "no" / "folder")
    configurations = tmp_path / "mined.npz"
    table = RelationTable(np.zeros(1, np.int32), np.zeros(1, np.int16))
    ConfigurationSet.from_relations(table, [[0]]).save(configurations)
    assert "configurations without weights" in terminal.fails("show", configurations, "start")
    assert "missing.npz" in terminal.fails("show", model, tmp_path / "missing.npz")
    assert "needs patterns" in terminal.fails("fit", positions, "-o", out, "--patterns", "none", "--no-linear")
    assert "no game 'go'" in terminal.fails("search", "perft", "go", "3")
    assert "no game 'go'" in terminal.fails("discover", "--demo", "go", "-o", folder)
    full = "XXOXOOOOXXOXXXXOOXOXOOXXOOXOXOXXXOXOOXOOXO X"
    assert "the game is over, with the score +0" in terminal.fails("show", "connect_four", "default", full)


@pytest.fixture
def discovered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What ``glem discover --demo`` asks a discovery for, which is interrupted."""
    called: dict[str, Any] = {}

    def discover(positions: Positions, learning: Learning, folder: Path, plan: Any, **rest: Any) -> Any:
        called.update(positions=len(positions), folder=folder, plan=plan)
        raise KeyboardInterrupt

    monkeypatch.setattr("glem.core.discovery.discovery.discover", discover)
    return called


def test_the_end_of_a_file_is_no_interruption(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: Any, **__: Any) -> None:
        raise EOFError("No data left in file")

    monkeypatch.setattr("glem.core.cli.search_perft.command.callback", read)
    with pytest.raises(EOFError, match="No data left"):
        terminal("search", "perft", "connect_four", 1)


def test_demo_is_a_discovery_with_its_files(terminal: Terminal, tmp_path: Path, discovered: dict[str, Any]) -> None:
    terminal("discover", "--demo", "-o", tmp_path / "demo", status=130)
    assert discovered["positions"] > 200_000
    assert discovered["folder"] == tmp_path / "demo"
    assert "interrupted; the same command continues" in terminal.error
    small = discovered["plan"]
    assert f"--sample {small.sample}, " in " ".join(terminal("discover", "--help").split())
    terminal("demo", "-o", tmp_path / "demo", "--sample", 7000, status=130)
    assert "interrupted; the same command continues" in terminal.error
    assert discovered["plan"] == evolve(small, sample=7000)


def test_demo_of_a_game_without_a_sample_lets_it_play(
    terminal: Terminal,
    othello_learning: Learning,
    tmp_path: Path,
    discovered: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from glem.core.labelling.first_games import sample_positions

    monkeypatch.setattr("glem.core.features.learning.load_learning", lambda name: evolve(othello_learning, sample=None))
    monkeypatch.setattr(
        "glem.core.labelling.first_games.sample_positions",
        lambda game, **named: sample_positions(game, positions=500, **named),
    )
    terminal("discover", "--demo", "othello", "-o", tmp_path / "demo", status=130)
    assert 500 <= discovered["positions"] < 8000
    assert "No sample of positions comes with Othello" in terminal.output


def test_a_fit_goes_on_from_a_prior(terminal: Terminal, positions: Path, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "later.npz"
    common = ("fit", positions, "-o", path, "--prior", model, "--iterations", "3", "--held-out", "0")
    terminal(*common)
    before, after = LinearEvaluation.load(model), LinearEvaluation.load(path)
    assert after.provenance["prior"] == str(model)
    assert after.provenance[FITTED_FILES] == before.provenance[FITTED_FILES]
    scored = read_positions(positions)
    one, other = (np.mean((each.predict(scored.positions) - scored.label) ** 2) for each in (after, before))
    assert one < other
    assert "with its own linear features" in terminal.fails(*common, "--link", "sigmoid")
    assert "two patterns have one name" in terminal.fails(*common, "--patterns", "logistello")
    more = tmp_path / "more.txt"
    more.write_text("corner: a1 b1 a2 b2\n", encoding="utf-8")
    terminal(*common, "--patterns", more)
    grown = LinearEvaluation.load(path)
    assert before.patterns is not None and grown.patterns is not None
    assert grown.patterns.names == {**before.patterns.names, "corner": ["a1", "b1", "a2", "b2"]}
    assert grown.pattern_weights[:, before.patterns.weight_count :].any()
    assert np.mean((grown.predict(scored.positions) - scored.label) ** 2) < other
    relations = RelationTable(np.array([0, 9, 18]), np.array([1, 1, 2]))
    mined = ConfigurationSet.from_relations(relations, [(0, 1), (1, 2)], [100, 100], 1000)
    mined.save(tmp_path / "mined.npz", before.learning.features)
    beside = (*common, "--configurations", tmp_path / "mined.npz")
    terminal(*beside)
    both = LinearEvaluation.load(path)
    np.testing.assert_array_equal(both.pattern_weights, before.pattern_weights)
    assert both.patterns is not None and both.configuration_weights.any()
    assert "one at a time" in terminal.fails(*beside, "--patterns", more)
    again = ("fit", positions, "--prior", path, "--configurations", tmp_path / "mined.npz", "-o", tmp_path / "no.npz")
    assert "where the prior has any" in terminal.fails(*again)
    assert "missing.npz" in terminal.fails(*common[:5], "missing.npz")


def test_a_fit_of_a_baseline_has_its_features_alone(terminal: Terminal, positions: Path, tmp_path: Path) -> None:
    path = tmp_path / "mobility.npz"
    terminal("fit", positions, "-o", path, "--baseline", "mobility", "--iterations", "3")
    evaluation = LinearEvaluation.load(path)
    names = [evaluation.learning.features[place].name for place in evaluation.linear]
    assert names == ["mobility", "opponent_mobility"]
    assert evaluation.patterns is None
    assert "has: disc difference, mobility" in terminal.fails("fit", positions, "-o", path, "--baseline", "constant")
    error = terminal.fails("fit", positions, "-o", path, "--baseline", "mobility", "--patterns", "logistello")
    assert "name no patterns" in error
