"""Features of a user's own: beside those of each game, in commands and workers, and refused where they are wrong."""

import copy
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import glem
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning, load_learning
from glem.core.features.own import feature, load_features, use
from glem.core.game.records import GameRecords
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.files import write_positions
from glem.core.positions.labels import positions_of_records
from glem.core.tasks.run_folder import claim_folder
from glem.core.tasks.tasks import Workers, run_tasks
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.evaluator_scores import line_scores, random_line
from tests.core.evaluation.linear_evaluations import linear_evaluation, random_evaluation, random_weights

SOURCE = """import glem
import numpy as np
from glem.core.compiling.kernels import popcount

CORNERS, LEVELS = np.uint64(0x8100000000000081), np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])

def lead(position):
    return popcount(position.own) - popcount(position.opponent)

@glem.feature("othello", -64, 64, linear=True)
def more_discs(position):
    '''Own discs less
    the opponent's.

    Not of the description.'''
    return lead(position)

@glem.feature("othello", 0, 2, value_names=("behind", "even", "ahead"), group="levels")
def level(position):
    lead = popcount(position.own & CORNERS) - popcount(position.opponent & CORNERS)
    return LEVELS[4 + lead]

@glem.feature("connect_four", -21, 21, linear=True)
def more_stones(position):
    return lead(position)

@glem.feature("chess", 0, 8, linear=True)
def own_pawns(position):
    return popcount(position.pawns & (position.white if position.turn == 0 else ~position.white))

@glem.feature("open_spiel:tic_tac_toe", 0, 9, linear=True)
def plies(position):
    return int(position.length)
"""
NAMES = {
    "othello": ("more_discs", "level"),
    "connect_four": ("more_stones",),
    "chess": ("own_pawns",),
    "open_spiel:tic_tac_toe": ("plies",),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_features.py"
    path.write_text(SOURCE)
    return path


def written(folder: Path, text: str) -> Path:
    path = folder / "wrong.py"
    path.write_text(f"import glem\n{text}\n")
    return path


@pytest.mark.filterwarnings("ignore::glem.core.compiling.plain_python.PlainRulesWarning")
@pytest.mark.parametrize("name", NAMES)
def test_search_and_prediction_agree(name: str, file: Path) -> None:
    if name.startswith("open_spiel:"):
        pytest.importorskip("pyspiel", reason="open_spiel is not installed; pip install 'pyglem[open-spiel]'")
    own = load_learning(name)
    learning = own.extended(file)
    added = [learning.features.index(each) for each in NAMES[name]]
    assert added == [*range(len(own.features), len(learning.features))]
    assert learning.extended(str(file)) is learning
    assert set(learning.linear) - set(own.linear) == set(NAMES[name]) - {"level"}
    generator = np.random.default_rng(1)
    positions, moves = random_line(learning.game, generator)
    plain = np.array([learning.features.values_of(position) for position in positions])
    np.testing.assert_array_equal(learning.features.values(positions), plain)
    assert (np.ptp(plain[:, added], axis=0) > 0).all()
    np.testing.assert_array_equal(own.features.values(positions), plain[:, : added[0]])
    patterns = PatternSet.from_names(learning.features, {"own": NAMES[name]})
    chosen = [
        random_weights(learning, generator, patterns=patterns, linear=(0, *added)),
        # Of the plugin's features alone, and what its fast form might take for them.
        random_weights(learning, generator, linear=(added[0] - 1,)),
        random_weights(learning, generator, linear=(added[0] - 1, added[0])),
        random_evaluation(learning, generator),
    ]
    for evaluation in chosen:
        evaluator, played = evaluator_of(evaluation), evaluation.as_played()
        expected = np.rint(played.sums(positions) * evaluator.steps_per_unit)
        found = line_scores(evaluator, positions, moves, plain=False)
        np.testing.assert_array_equal(found, np.clip(expected, -evaluator.limit, evaluator.limit))


def test_what_the_plugin_knows_is_searched_as_fast_as_without(othello_learning: Learning, file: Path) -> None:
    learning = othello_learning.extended(file)
    patterns = PatternSet.from_names(learning.features, learning.pattern_sets["logistello"])
    generator = np.random.default_rng(2)
    assert evaluator_of(random_weights(learning, generator, patterns=patterns)).name == "patterns"
    both = random_weights(learning, generator, patterns=patterns, linear=(learning.features.index("more_discs"),))
    assert evaluator_of(both).name == "linear evaluation"
    again = copy.deepcopy(learning.features)
    assert again.features == learning.features.features
    assert learning.features[again.index("more_discs")].description == "Own discs less the opponent's."


def test_a_search_keeps_values_in_range_and_others_refuse_them(othello_learning: Learning, tmp_path: Path) -> None:
    text = "@glem.feature('othello', 0, 1, linear=True)\ndef wide(position):\n    return 2 * (position.own == 0)"
    learning = othello_learning.extended(written(tmp_path, text))
    gone = othello_learning.game.position_type(np.uint64(0), np.uint64(1))
    evaluation = linear_evaluation(learning, wide=1.0)
    assert line_scores(evaluator_of(evaluation), [gone], [], plain=False) == [1024]
    for see in (learning.features.values_of, evaluation.predict):
        with pytest.raises(BadInputError, match="'wide' is 2, expected 0 to 1, for the position"):
            see(gone)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@glem.feature('othello', 0, 1)\ndef a1(position): return 0", "othello itself has a feature 'a1' too"),
        ("@glem.feature('othello', 0, 5)\ndef far(position): return 7", "'far' is 7, expected a whole number from 0"),
        ("@glem.feature('othello', 0, 5)\ndef half(position): return 0.5", "'half' is 0.5, expected a whole number"),
        ("@glem.feature('othello', 0, 1)\ndef odd(position): return position.own & 1", "mirror image"),
        ("@glem.feature('othello', 0, 1)\ndef bad(position): return position.mine", r"'bad' fails: Attr.*wrong.py:3"),
        ("@glem.feature('othello', 2, 1)\ndef none(position): return 0", "range 2..1 is empty"),
        ("@glem.feature('chess', 0, 1)\ndef other(position): return 0", "has no features of othello"),
        ("def unmarked(position): return 0", "has no features: mark functions"),
        ("raise ValueError('x')", r"cannot be loaded: ValueError: x \(wrong.py:2\)"),
        ("@glem.feature('othello', 0, 1)\ndef one(position): return 0\ntwo = 1 /", "SyntaxError"),
    ],
)
def test_wrong_features_are_refused(othello_learning: Learning, tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        othello_learning.extended(written(tmp_path, text))


def test_one_that_raises_late_ends_commands_in_a_line(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # No game by which features are tried at load begins with two discs in the first column.
    text = "@glem.feature('connect_four', 0, 1, linear=True)\ndef mine(position):\n    "
    text += "if position.own | position.opponent == 3:\n        raise ValueError('late')\n    return 0"
    own = ("--features", written(tmp_path, text))
    linear_evaluation(load_learning("connect_four").extended(own[1]), mine=1.0).save("model.npz")
    learning = load_learning("connect_four")
    games = GameRecords.from_moves(np.array([0, 0, 1, 1, 2, 2, 3], np.int16), np.array([0, 7]))
    write_positions("positions.parquet", positions_of_records(learning.game, [games]))
    told = f"{own[1]}: feature 'mine' fails: ValueError: late (wrong.py:5)"
    assert told in terminal.fails("fit", "positions.parquet", "-o", "other.npz", "--patterns", "none", *own)
    assert told in terminal.fails("evaluate", "model.npz", "positions.parquet", *own)
    assert told in terminal.fails("search", "connect_four", "--evaluation", "model.npz", "--depth", 3, *own)
    match = ("match", "model.npz,depth=3", "default,depth=1", "--opening-count", 4, "--openings", "all:1")
    assert told in terminal.fails(*match, "--workers", 2, *own)


def test_evaluations_name_the_file_that_they_need(
    othello_learning: Learning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "needed.py"
    file.write_text(SOURCE + "# needed")
    model = tmp_path / "model.npz"
    linear_evaluation(othello_learning.extended(file), more_discs=1.0).save(model)
    assert LinearEvaluation.load(model).learning is othello_learning.extended(file)
    monkeypatch.setattr("glem.core.features.own._known", {})
    with pytest.raises(BadInputError, match=r"model.npz: made with features of needed.py \(more_discs, level\): name"):
        LinearEvaluation.load(model)
    file.write_text(SOURCE + "# changed")
    othello_learning.extended(file)
    with pytest.raises(BadInputError, match=r"made with another needed.py than .*needed.py is now \(digest .*, now "):
        LinearEvaluation.load(model)


def test_functions_are_added_and_registered(
    othello_learning: Learning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @feature("othello", 0, 1, linear=True)
    def is_start(position):  # type: ignore[no-untyped-def]
        return int(position.own | position.opponent == np.uint64(0x0000001818000000))

    learning = othello_learning.extended(is_start)
    before = use(())
    claim_folder(tmp_path, {"work": "fit"})
    try:
        glem.register(learning.game, learning)
        with pytest.raises(BadInputError, match=r"other settings or input \(features: "):
            claim_folder(tmp_path, {"work": "fit"})
        assert load_learning("othello") is learning
        # What ships has the features that it was made with.
        assert glem.load_evaluation("default", "othello").learning is othello_learning
    finally:
        use(before)
    assert load_learning("othello") is othello_learning
    model = tmp_path / "model.npz"
    linear_evaluation(learning, is_start=1.0).save(model)
    monkeypatch.setattr("glem.core.features.own._known", {})
    with pytest.raises(BadInputError, match=r"of no file \(is_start\): in Python, .* write them into a file, name it"):
        LinearEvaluation.load(model)
    text = "@glem.feature('othello', 0, 1)\ndef is_start(position): return 0"
    load_features(written(tmp_path, text))
    with pytest.raises(BadInputError, match=r"\(is_start\), with another text than that of .*wrong.py: in Python, "):
        LinearEvaluation.load(model)
    with pytest.raises(BadInputError, match="'len' is no feature"):
        othello_learning.extended(len)


def test_a_changed_file_ends_only_work_that_uses_it(file: Path) -> None:
    source = load_features(file)
    file.write_text(SOURCE.replace("level", "changed"))
    assert sorted(done for _, done in run_tasks(abs, [-1, -2], workers=Workers(2))) == [1, 2]
    before = use([source])
    try:
        with pytest.raises(BadInputError, match="has changed since the work began"):
            list(run_tasks(abs, [-1, -2], workers=Workers(2)))
    finally:
        use(before)


@pytest.mark.filterwarnings("always::glem.core.errors.GlemWarning")
def test_a_file_without_features_of_the_game_is_warned_of(terminal: Terminal, file: Path) -> None:
    file.write_text(SOURCE.replace('"connect_four"', '"othello"'))
    terminal("search", "connect_four", "--evaluation", "default", "--depth", 2, "--features", file)
    assert f"glem: warning: {file}: has no features of connect_four" in terminal.error


def test_evaluations_with_them_are_checked(
    terminal: Terminal, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glem.core.conformance.evaluation.tempfile.TemporaryDirectory", lambda: nullcontext(tmp_path))
    checking = ("check", "connect_four", "--games", 2, "--only", "evaluation", "--features", file)
    found = {each["name"]: each for each in terminal.json(*checking)["checks"]}
    assert found["file"]["cases"] == 5
    assert not any(each["skipped"] for each in found.values())
    saved = LinearEvaluation.load(tmp_path / "evaluation.npz")
    assert "more_stones" in [saved.learning.features[place].name for place in saved.linear]


def test_commands_take_them_to_every_process(
    terminal: Terminal, othello_learning: Learning, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert othello_learning.sample is not None
    sample = othello_learning.sample()
    write_positions("positions.parquet", sample.select(sample.record < 150))
    Path("patterns.txt").write_text("corner: a1 b1 a2 level\n")
    own = ("--features", "my_features.py")
    fitting = ("fit", "positions.parquet", "-o", "model.npz", "--iterations", 5)
    terminal(*fitting, *own, "--patterns", "patterns.txt")
    monkeypatch.setattr("glem.core.features.own._known", {})
    told = terminal.fails("evaluate", "model.npz", "positions.parquet")
    assert "model.npz: made with features of my_features.py (more_discs, level): name that file with --features" in told
    assert "othello has no feature 'level'" in terminal.fails(*fitting, "--patterns", "patterns.txt")
    fast = terminal.json("evaluate", "model.npz", "positions.parquet", *own)
    assert fast["rmse"]["model.npz"][-1] > 0
    assert any(row["name"] == "corner" for row in terminal.json("show", "model.npz", "start", *own)["contributions"])
    found = terminal.json("search", "othello", "--evaluation", "model.npz", "--depth", 3, *own)
    assert found["depth"] == 3
    terminal(*fitting[:3], "prior.npz", "--prior", "default", "--iterations", 5, *own)
    begun = terminal.json("show", "prior.npz", "start", *own)["contributions"]
    assert [row["name"] for row in begun if row["kind"] == "linear" and "discs" in row["name"]] == ["more_discs=0"]
    match = ("match", "model.npz,depth=2", "default,depth=1", "--opening-count", 2, "--openings", "random:8")
    assert terminal.json(*match, "--workers", 2, *own)["games"]
    # Twenty games must judge what is found.
    write_positions("more.parquet", sample.select(sample.record < 600))
    discovering = ("discover", "more.parquet", "-o", "found", "--groups", "levels")
    terminal(*discovering, "--sample", 9000, "--patterns", "none", *own)
    mined = LinearEvaluation.load("found/configurations.npz")
    assert mined.configurations is not None
    assert set(mined.configurations.table.features) == {mined.learning.features.index("level")}
    fitting = ("fit", "positions.parquet", "-o", "found.npz", "--iterations", 1, "--configurations", "found/mined.npz")
    assert "my_features.py: name these first with --features" in terminal.fails(*fitting)
    terminal(*fitting, *own)
    file.write_text(SOURCE + "# later\n")
    monkeypatch.setattr("glem.core.features.own._known", {})
    # Under this name nothing is kept of it.
    Path("model.npz").rename("moved.npz")
    assert "made with another my_features.py than" in terminal.fails("evaluate", "moved.npz", "positions.parquet", *own)
