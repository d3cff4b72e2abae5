"""A game that numba cannot compile does everything that its compilable twin does, and one warning says so."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.failures import UncompilableError
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations, generic_operation
from glem.core.compiling.plain_python import PlainRulesWarning
from glem.core.discovery.candidates import draw_sample
from glem.core.features.learning import Learning, load_learning
from glem.core.game.equal_positions import canonical_positions, group_equal, position_keys
from glem.core.game.game import load_game
from glem.core.game.perft import perft
from glem.core.positions.labels import positions_of_records
from glem.core.positions.replay import replay
from glem.core.tasks.tasks import Workers, run_tasks
from tests.core.cli.terminal import Terminal
from tests.core.game import plain_game
from tests.core.game.installed_games import write_distribution
from tests.core.game.plain_game import COMPILED, COMPILED_LEARNING, PLAIN, PLAIN_LEARNING, learning_of, mirror_nim
from tests.core.grading.random_games import random_records
from tests.core.search.duel_game import Position as Cells

ROOT = Path(__file__).parents[3]
silently = pytest.mark.filterwarnings("ignore::glem.core.compiling.plain_python.PlainRulesWarning")

GROUPS = {
    "glem.games": {
        "mirror_nim": "tests.core.game.plain_game:COMPILED",
        "plain_nim": "tests.core.game.plain_game:PLAIN",
    },
    "glem.learning": {
        "mirror_nim": "tests.core.game.plain_game:COMPILED_LEARNING",
        "plain_nim": "tests.core.game.plain_game:PLAIN_LEARNING",
    },
}


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_distribution(tmp_path_factory.mktemp("site"), GROUPS)


@pytest.fixture
def installed(distribution: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both twins, as installed games."""
    monkeypatch.syspath_prepend(str(distribution))
    assert load_game("plain_nim") is PLAIN
    assert load_learning("plain_nim") is PLAIN_LEARNING


@silently
def test_keys_groups_and_samples_of_the_twins_are_equal() -> None:
    """What no command below shows."""

    def found(learning: Learning) -> list[Any]:
        game = learning.game
        played = replay(game, random_records(game, 30))
        positions = played.positions
        groups = group_equal(game, positions)
        sample = draw_sample(positions_of_records(game, [random_records(game, 30)]), 50, seed=3)
        return [
            *positions, played.move, played.side, played.status, played.final_score, played.move_side,
            *canonical_positions(game, positions), position_keys(game, positions), groups.first, groups.group,
            *sample.positions, learning.features.values(positions), learning.phases.of(positions),
        ]  # fmt: skip

    for one, other in zip(found(COMPILED_LEARNING), found(PLAIN_LEARNING), strict=True):
        assert np.array_equal(one, other)


@silently
@pytest.mark.usefixtures("installed")
def test_every_command_runs_on_plain_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal) -> None:
    """From generated games to a match: the twins' outputs differ in the game's name and in times alone."""
    run = terminal.json
    found: dict[str, list[Any]] = {}
    for name in ("mirror_nim", "plain_nim"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        alone = ("--workers", "1")
        games = [f"games/games-{number:06d}.games" for number in range(2)]
        labeller = "model.npz,depth=3"
        found[name] = [
            run("search", "perft", name, "5"),
            run("generate", name, "-o", "games", "--games", "40", "--games-per-file", "20", "--player", "random",
                "--openings", "random:1-2", *alone),
            run("positions", *games, "--game", name, "-o", "positions.parquet", "--merge"),
            run("fit", "positions.parquet", "-o", "model.npz", "--validation", "0", "--jobs", "1"),
            run("evaluate", "model.npz", "positions.parquet"),
            run("show", "model.npz", "3+2"),
            run("search", name, "--evaluation", "model.npz", "--depth", "5"),
            run("label", *games, "--game", name, "-o", "labels.parquet", "--by", labeller, "--sampled", "2", "--even",
                "1", *alone),
            run("label", "by-results", *games, "--game", name, "-o", "again.parquet", "--by", labeller, "--again",
                "model.npz,depth=6", "--threshold", "0.1", "--loss", "0.1", *alone),
            run("match", labeller, "random", "--game", name, "--opening-plies", "1", "--opening-count", "3", *alone),
        ]  # fmt: skip
    plain, twin = (json.dumps(_without_times(found[name])) for name in ("plain_nim", "mirror_nim"))
    assert plain.replace("plain_nim", "mirror_nim") == twin


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(inner) for key, inner in value.items() if not re.search("second|slowest|nps", key)}
    return [_without_times(inner) for inner in value] if isinstance(value, list) else value


def test_one_warning_names_the_function_and_the_reason() -> None:
    game = mirror_nim("warned_nim", play=plain_game.plain_play, legal_moves=plain_game.plain_legal_moves)
    with pytest.warns(PlainRulesWarning) as caught:
        perft(game, 3)
        replay(game, random_records(game, 30))
        canonical_positions(game, replay(game, random_records(game, 30)).positions)
        learning_of(game, plain_game.plain_write_values).features.values(game.empty_columns(2))
    # numba warns of itself, from Python 3.13 on.
    [text] = [str(warning.message) for warning in caught if issubclass(warning.category, PlainRulesWarning)]
    assert "\n" not in text
    assert re.match(
        r"warned_nim runs as plain Python, .*: \S+\.plain_legal_moves cannot be compiled: .*plain_game\.py", text
    )


FUNCTIONS = ["legal_moves", "play", "is_over", "final_score", "hash_key", "transform"]


@silently
@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_code_that_reaches_the_function_becomes_plain(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.compiling.failures._uncompilable", {})  # other tests know of the same functions
    game = mirror_nim(f"odd_{name}", **{name: getattr(plain_game, f"plain_{name}")})
    assert game.rules.plain_reason is None
    assert perft(game, 4) == perft(COMPILED, 4)
    assert COMPILED.rules.plain_reasons == {}
    assert set(game.rules.plain_reasons) == ({name} & {"legal_moves", "play"})
    records = random_records(game, 30)
    assert np.array_equal(replay(game, records).final_score, replay(COMPILED, records).final_score)
    positions = replay(COMPILED, records).positions
    assert np.array_equal(position_keys(game, positions), position_keys(COMPILED, positions))
    expected = {name} - {"is_over"}  # none of these asks for it
    assert set(game.rules.plain_reasons) == expected
    if expected:
        assert f"plain_{name}" in (game.rules.plain_reason or "")


def test_functions_of_no_python_module_run_as_they_are() -> None:
    taken = partial(plain_game.play)
    game = mirror_nim("partial_nim", play=taken)
    with pytest.warns(PlainRulesWarning, match="partial_nim .* play cannot be compiled: it is a partial"):
        assert perft(game, 4) == perft(COMPILED, 4)
    assert set(game.rules.plain_reasons) == {"play"}


def test_a_failed_kernel_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    game = mirror_nim("again_nim", play=plain_game.plain_play)
    with pytest.warns(PlainRulesWarning):
        perft(game, 3)
    with monkeypatch.context() as patch:
        patch.setattr("glem.core.compiling.failures._explanation", None)  # would be called for another failure
        assert perft(game, 4) == perft(COMPILED, 4)


@generic_operation
def strange(operations: Operations, number: int) -> Any:
    """Test operation."""
    return operations["strange"](number)


def _doubled(number: Any) -> Any:
    return number + number


def _core_mistake(operations: Any, number: Any) -> Any:
    return strange(operations, number) + "text"


def test_a_mistake_outside_the_functions_stays_an_error() -> None:
    with pytest.raises(UncompilableError):
        compiled(_core_mistake)(Operations("honest", {"strange": _doubled}), np.int64(1))


def _add_up(operations: Any, numbers: Any, count: Any) -> Any:
    total = np.int64(0)
    for place in range(count):
        total += np.int64(strange(operations, numbers.own[place]))
    return total


def _by_dictionary(number: Any) -> int:
    return {number: 2 * int(number)}[number] if isinstance(number, np.generic) else 0


@silently
def test_borrowed_arrays_are_given_back_to_plain_code() -> None:
    numbers: Any = Cells._make([np.arange(3, dtype=np.uint64), np.zeros(3, np.uint64), np.zeros(3, np.uint8)])
    for number, function in enumerate((_doubled, _by_dictionary)):
        operations = Operations(f"borrowing_{number}", {"strange": function})
        assert compiled(_add_up)(operations, Borrowed(numbers), np.int64(3)) == 6
        assert (operations.plain_reason is None) == (function is _doubled)


def _perft_of(depth: int) -> int:
    return perft(load_game("plain_nim"), depth)


def test_workers_hand_their_warning_to_this_process(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.compiling.plain_python._warned", set())
    with pytest.warns(PlainRulesWarning) as caught:
        found = dict(run_tasks(_perft_of, [3, 4, 3, 4], Workers(2)))
    assert found == {0: 164, 1: 634, 2: 164, 3: 634}
    assert [str(warning.message).split()[0] for warning in caught] == ["plain_nim"]


def test_the_command_line_warns_in_one_line(distribution: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(distribution)])}
    command = [sys.executable, "-m", "glem", "generate", "plain_nim", "-o", "games", "--games", "4", "--games-per-file"]
    command += ["1", "--player", "random", "--openings", "all:1", "--workers", "2"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "plain" in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("glem: warning: plain_nim runs as plain Python")
