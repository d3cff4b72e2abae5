"""Settings files, and the command that a file says it was made by: given again, it makes the same bytes."""

import shlex
from pathlib import Path

import pytest

import glem
from glem.core.features.learning import Learning
from glem.core.files.made import Making
from glem.core.positions.files import write_positions
from tests.core.cli.terminal import Terminal
from tests.system import IS_WINDOWS

_OWN_FITTERS = Path(__file__).parents[3] / "docs" / "how-to" / "my_fitters.py"
SETTINGS = """
command = "fit least-squares"
arguments = ["games.parquet"]
baseline = "mobility"
iterations = 9
held_out = 0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text(SETTINGS)


def test_a_file_says_which_command_makes_it_again(terminal: Terminal, othello_learning: Learning) -> None:
    assert othello_learning.sample is not None
    sample = othello_learning.sample()
    write_positions("games.parquet", sample.select(sample.record < 60))
    assert "names no command" in terminal.fails("show", "games.parquet", "--command")
    fitting = ("fit", "least-squares", "--config", "run.toml", "--jobs", 1, "--iterations", 2, "-o")
    terminal(*fitting, "one model.npz")
    Path("one model.npz").rename("model.npz")
    made = terminal("show", "model.npz", "--command").strip()
    assert made == (
        "glem fit least-squares games.parquet --baseline mobility --held-out 0 --iterations 2 --output model.npz"
    )
    assert f"Made with glem {glem.__version__} by\n  {made}" in terminal("show", "model.npz")
    terminal(*shlex.split(made.replace("model.npz", "again.npz"))[1:])
    assert Path("again.npz").read_bytes() == Path("model.npz").read_bytes()
    Path("own fitters.py").write_bytes(_OWN_FITTERS.read_bytes())
    terminal("fit", "own fitters.py:Ridge", "games.parquet", "-o", "ridge.npz")
    made = "glem fit 'own fitters.py:Ridge' games.parquet --output ridge.npz\n"
    assert terminal("show", "ridge.npz", "--command") == made
    assert [file["name"] for file in terminal.json("show", "ridge.npz")["read"]] == ["own fitters.py"]
    terminal("generate", "connect_four", "--games", 3, "--player", "random", "-o", "played", "--seed", 2)
    [games] = Path("played").glob("*.games")
    terminal("positions", games, "-o", "again.parquet")
    assert terminal.json("show", "again.parquet")["read"][0]["name"] == str(games)
    assert terminal("show", "again.parquet", "--command") == f"glem positions {games} --output again.parquet\n"


def test_outputs_are_no_words_of_the_command() -> None:
    command = Making(["work"], ["in"], [("--output", ["found"]), ("--weights", ["w.json"]), ("--fast", [])])
    assert command.of("found/model.npz")["command"] == ["work", "in", "--weights", "w.json", "--fast"]
    assert command.of("found/model.npz")["in_folder"]
    assert command.of("./w.json")["command"] == ["work", "in", "--output", "found", "--fast"]
    assert command.of(".found.part/0")["output"] == "--output"
    assert Making(["work"], [], []).of("x.npz")["output"] == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("command = 'grade'", "run.toml: is for `glem grade`, this is `glem fit least-squares`"),
        ("itertions = 3", "'itertions' is no option of `glem fit least-squares`; did you mean 'iterations'?"),
        ("iterations = [1, 2]", "run.toml: iterations: expected one value, got [1, 2]"),
        ("iterations = true", "run.toml: iterations: expected a text or a number, got True"),
        ("count-rules = 1", "run.toml: count-rules: expected true or false, got 1"),
        ("arguments = 'a.parquet'", "run.toml: arguments: expected a list"),
        ("iterations 3", "run.toml: not TOML: "),
    ],
)
def test_wrong_settings_files_are_refused(terminal: Terminal, text: str, words: str) -> None:
    Path("run.toml").write_text(text)
    assert words in terminal.fails("fit", "least-squares", "a.parquet", "-o", "m.npz", "--config", "run.toml")


def test_settings_files_that_are_missing_or_endless_are_refused(terminal: Terminal) -> None:
    assert "none.toml: No such file" in terminal.fails("search", "othello", "--config", "none.toml")
    if not IS_WINDOWS:
        assert "/dev/zero" in terminal.fails("search", "othello", "--config=/dev/zero")
