"""``import glem``: what a notebook needs, loaded when it is used; the regressor alone and in scikit-learn's hands."""

import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import glem
from glem import functions
from glem.core.errors import BadInputError, PluginError, check_arguments
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.game.equal_positions import position_keys
from glem.core.game.game import Game
from glem.core.grading.correctness import GradingSettings
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.successors import successors_of

IMPORT = """
import sys
before = set(sys.modules)
import glem
assert "fit" in dir(glem)
print(*sorted(set(sys.modules) - before))
"""
LONGEST_REPR = 300
QUICK = GradingSettings(resamples=200)


@pytest.fixture(scope="module")
def positions(othello_learning: Learning) -> glem.Positions:
    assert othello_learning.sample is not None
    sample: glem.Positions = othello_learning.sample()
    return sample[:20_000]


FUNCTIONS = glem.__all__
NUMBERS = ("int", "float", "int | None", "float | None", "int | Workers")
WORDS = ("drawishness_phases", "hold", "value_phases", "within")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_number_and_closed_word_is_checked_before_anything_begins(name: str) -> None:
    function = getattr(functions, name, None)
    if not inspect.isfunction(function) or function.__module__ != functions.__name__:
        return
    arguments = inspect.signature(function).parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [one.name for one in arguments if one.default is one.empty and one.kind not in variable]
    given: dict[str, Any] = dict.fromkeys(required)
    for one in arguments:
        bad = (
            ["nonsense", "LOGISTIC"]
            if one.name in WORDS and "Sequence" not in one.annotation
            else [-1, float("nan"), "2"]
            if one.annotation in NUMBERS
            else []
        )
        for value in bad:
            with pytest.raises(BadInputError, match=f"{one.name} is {value!r}, expected "):
                function(**given | {one.name: value})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            {"fitter": "least-square"},
            "no fitter 'least-square' .* did you mean 'least-squares'",
        ),
        ({"fitter": ConjugateGradient()}, r"fitter is ConjugateGradient\(.*\), expected a name"),
        ({"itertions": 3}, "LeastSquares has no setting 'itertions'; did you mean iterations"),
        ({"minimizer": "nonsense"}, "minimizer is 'nonsense', expected conjugate or descent"),
        ({"iterations": 0}, "iterations is 0, expected a whole number of at least 1$"),
        ({"iterations": 2.5}, "iterations is 2.5, expected a whole number"),
        ({"held_out": 1.5}, "held_out is 1.5, expected a number of at least 0 and at most 0.9"),
        ({"l2": float("inf")}, "l2 is inf, expected a number of at least 0"),
    ],
)
def test_a_fit_says_which_argument_is_wrong(positions: glem.Positions, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises((BadInputError, PluginError), match=problem):
        glem.fit(positions, **arguments)


@pytest.mark.parametrize(
    ("settings", "bad"),
    [
        (
            "discovery.plan.DiscoveryPlan",
            {"within": "all of it", "maximum_size": 0, "smoothing": float("nan"), "held_out": -1},
        ),
        ("fitting.likelihood.LikelihoodSettings", {"value_phases": "linaer", "l2": -1, "iterations": -3, "window": 0}),
        ("fitting.minimizing.conjugate.ConjugateGradient", {"iterations": -1, "patience": -1, "tolerance": -1}),
        ("fitting.minimizing.descent.GradientDescent", {"momentum": 1.0, "step_size": -1, "checkpoint_every": 0}),
        ("grading.correctness.GradingSettings", {"bins": 2.5, "seed": -1, "resamples": 10}),
        ("positions.selection.selection.SelectionRule", {"step": 0, "skip_end": 1.0, "skip_moves": float("nan")}),
        ("search.results.Limits", {"depth": 2.5, "nodes": 0, "seconds": 0, "seconds ": float("nan")}),
        ("tasks.tasks.Workers", {"workers": 2.5, "in_flight": 0}),
        ("tournament.games.Adjudication", {"solve_from": -1, "tolerance": -1}),
        ("tuning.fitting.TermSettings", {"loss": "logistik", "iterations": 0, "scale": 0, "tolerance": float("nan")}),
    ],
)
def test_settings_are_checked_where_they_are_made(settings: str, bad: dict[str, Any]) -> None:
    module, _, name = settings.rpartition(".")
    made = getattr(import_module(f"glem.core.{module}"), name)
    for argument, value in bad.items():
        with pytest.raises(BadInputError, match=f"{argument.strip()} is {value!r}, expected "):
            made(**{argument.strip(): value})


def test_numbers_of_numpy_are_numbers() -> None:
    check_arguments({"one": np.int64(3), "two": np.float32(0.5), "three": None}, one=(1,), two=(0.0, 1.0), three=(1,))


@pytest.fixture(scope="module")
def fitted(positions: glem.Positions) -> LinearEvaluation:
    return value_part(glem.fit(positions, iterations=5, jobs=1).evaluation)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random games of Connect Four."""
    folder = tmp_path_factory.mktemp("games")
    (path,) = glem.generate("connect_four", folder, games=60, players="random", openings="random:0", seed=1).files
    return path


def test_importing_glem_loads_next_to_nothing() -> None:
    loaded = subprocess.check_output([sys.executable, "-c", IMPORT], text=True).split()
    assert [name for name in loaded if name.startswith("glem")] == ["glem", "glem.core", "glem.core.errors"]
    assert {name.split(".")[0] for name in loaded} <= {"glem", *sys.stdlib_module_names}


def test_every_name_is_there_and_no_other() -> None:
    assert set(glem.__all__) <= set(dir(glem))
    assert all(getattr(glem, name) is not None for name in glem.__all__)
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        _ = glem.fitt  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_positions_come_back_from_a_table(positions: glem.Positions, kind: str) -> None:
    if kind != "arrow":
        pytest.importorskip(kind)
    table = getattr(positions, f"to_{kind}")()
    told = {"game": "othello", "label_kind": positions.label_kind} if kind == "polars" else {}
    back = getattr(glem.Positions, f"from_{kind}")(table, **told)
    assert (back.game, back.label_kind, back.sources) == (positions.game, positions.label_kind, positions.sources)
    for name, column in positions.columns().items():
        np.testing.assert_array_equal(back.columns()[name], column)


def test_a_table_needs_no_more_than_its_positions(positions: glem.Positions) -> None:
    table = positions.to_arrow().select(["position_own", "position_opponent"]).replace_schema_metadata(None)
    with pytest.raises(BadInputError, match="does not tell the game"):
        glem.Positions.from_arrow(table)
    made = glem.Positions.from_arrow(table, "othello")
    assert (made.label == 0).all() and (made.weight == 1).all() and (made.source == -1).all()
    np.testing.assert_array_equal(made.positions.own, positions.positions.own)


def test_a_table_that_does_not_fit_is_refused(positions: glem.Positions) -> None:
    table = positions[:3].to_arrow()
    with pytest.raises(BadInputError, match="need the columns position_own"):
        glem.Positions.from_arrow(table.drop_columns(["position_own"]))
    place = table.column_names.index("label")
    with pytest.raises(BadInputError, match="column 'label' has missing values"):
        glem.Positions.from_arrow(table.set_column(place, "label", [[1.0, None, 2.0]]))
    place = table.column_names.index("ply")
    with pytest.raises(BadInputError, match="column 'ply'"):
        glem.Positions.from_arrow(table.set_column(place, "ply", [[1, 2, 100_000]]))


def test_a_missing_library_is_named(positions: glem.Positions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(BadInputError, match="polars is not installed"):
        positions.to_polars()


def test_positions_are_indexed(positions: glem.Positions, othello: Game) -> None:
    assert positions.shape == (len(positions),)
    assert othello.format_position(positions[-1]) == othello.format_position(positions[len(positions) - 1])
    rows = np.array([5, 2])
    np.testing.assert_array_equal(positions[rows, ...].label, positions.label[rows])
    assert len(positions[positions.label > 0]) == (positions.label > 0).sum()
    with pytest.raises(IndexError):
        _ = positions[len(positions)]


def test_train_test_split_keeps_games_together(positions: glem.Positions) -> None:
    training, test = glem.train_test_split(positions, 0.3, seed=1)
    assert len(training) + len(test) == len(positions)
    assert len(test) > 0
    assert not set(training.game_key) & set(test.game_key)


def test_evaluation_predicts_one_position_or_many(positions: glem.Positions) -> None:
    evaluation = glem.load_evaluation("default", "othello")
    assert isinstance(evaluation, LinearEvaluation)
    values = evaluation.predict(positions[:4])
    np.testing.assert_array_equal(evaluation.predict(positions[:4].positions), values)
    assert evaluation.predict(positions[2]) == values[2]
    assert np.ndim(evaluation.predict(positions[2])) == 0


def test_explanation_is_a_table(fitted: LinearEvaluation, othello: Game) -> None:
    found = fitted.explain(othello.initial_position)
    rows = found.rows()
    assert sum(row["amount"] for row in rows) == pytest.approx(found.total)
    assert str(found).count("\n") == len(rows)
    assert found._repr_html_().count("<tr>") == len(rows) + 1


def test_objects_print_themselves_shortly(
    fitted: LinearEvaluation, positions: glem.Positions, othello_learning: Learning, games: Path
) -> None:
    learning = othello_learning
    shown = [learning, learning.game, learning.features, learning.phases, fitted, fitted.patterns, positions]
    shown += [fitted.explain(positions[0]), glem.read_games("connect_four", games)]
    shown += [glem.load_evaluation("default", name) for name in ("chess", "connect_four")]
    assert all(len(repr(one)) < LONGEST_REPR and "\n" not in repr(one) for one in shown)


def test_an_evaluation_shows_its_strongest_patterns(fitted: LinearEvaluation) -> None:
    assert fitted.patterns is not None
    table = fitted._repr_html_()
    assert 2 <= table.count("<tr>") <= 13
    assert any(pattern.name in table for pattern in fitted.patterns.patterns)


def test_games_become_positions_and_grades(games: Path, tmp_path: Path) -> None:
    records = glem.read_games("connect_four", games)
    assert len(records) == 60
    positions = glem.positions_of_games("connect_four", records, per_game=3)
    assert len(positions) == 180
    glem.write_positions(tmp_path / "positions.parquet", positions)
    assert len(glem.read_positions(tmp_path / "positions.parquet")) == 180
    evaluation = glem.load_evaluation("default", "connect_four")
    graded = glem.grade("connect_four", games, "default", evaluation, select="every:5", settings=QUICK, jobs=1)
    named, given = graded.grading.evaluations
    assert (named.name, given.name) == ("default", "evaluation 2")
    assert named.grade.grade == given.grade.grade
    assert len(repr(graded)) < LONGEST_REPR
    assert graded._repr_html_().count("<tr>") == 1 + 2 + len(graded.grading.baselines)


def test_search_solve_and_label(tmp_path: Path) -> None:
    game = glem.load_game("connect_four")
    found = glem.search(game, depth=4, lines=2)
    assert (found.depth, len(found.lines)) == (4, 2)
    position = game.initial_position
    for move in (0, 1, 0, 1, 0, 1):
        position = game.play(position, move)
    assert glem.solve(game, position).move == 0
    text = game.format_position(position)
    assert glem.search("connect_four", text, depth=2).lines[0].moves[0] == 0
    evaluation = glem.load_evaluation("default", game)
    evaluation.save(tmp_path / "own.npz")
    for given in (evaluation, tmp_path / "own.npz"):
        assert glem.search(game, evaluation=given, depth=4, lines=2).lines == found.lines
    with pytest.raises(BadInputError, match="an evaluation is needed, or the name of one, got a Game"):
        glem.search(game, evaluation=game, depth=4)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    given = glem.Positions.from_positions(game, type(position)(*(np.array([one]) for one in position)), [0])
    labelled = glem.label(given, "default,depth=2")
    assert labelled.label_kind == "search"
    assert labelled.label[0] > 0


def test_match_shows_its_standings() -> None:
    result = glem.match("connect_four", "default,depth=2,name=deep", "random", openings=2, opening_plies=2)
    assert result.played == 4
    assert "<td>deep</td>" in result._repr_html_()
    assert len(repr(result)) < LONGEST_REPR
    mine = glem.load_evaluation("default", "connect_four")
    again = glem.match("connect_four", mine, "random", limit="depth=2", openings=2, opening_plies=2)
    assert tuple(again.standings.names) == ("first", "random")
    assert again.standings.totals["first"].score == result.standings.totals["deep"].score


def test_discover_shows_its_report(positions: glem.Positions, tmp_path: Path) -> None:
    found = glem.discover(positions, tmp_path / "found", sample=2_000, keep=20, maximum_size=2, jobs=1)
    assert (tmp_path / "found" / "report.html").is_file()
    assert "patterns" in found.evaluations
    assert found._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert len(repr(found)) - len(str(found.folder)) < 2 * LONGEST_REPR


def test_board_has_its_pieces_and_moves(othello: Game) -> None:
    shown = glem.board(othello, moves={"c4": "+1", "f5": "<b>"})
    assert "c4: +1" in repr(shown)
    picture = shown._repr_html_()
    assert picture.count("<circle") == 4
    assert picture.count("<rect") == 64
    assert ">+1</text>" in picture and "&lt;b&gt;</text>" in picture
    with pytest.raises(BadInputError, match="'a1' is no legal move"):
        glem.board(othello, moves=["a1"])


def test_board_plays_a_text_of_moves_as_commands_do(othello: Game) -> None:
    position = othello.initial_position
    for move in ("f5", "d6", "c3"):
        position = othello.play(position, othello.parse_move(move))
    shown = glem.board("othello", moves="f5d6c3")
    assert tuple(shown.position) == tuple(position)
    assert repr(shown) == repr(glem.board("othello", position, first_to_move=False))
    with pytest.raises(BadInputError, match="is no legal move after the first 1"):
        glem.board("othello", moves="f5a1")


def test_moves_that_are_no_cells_stand_below_the_board() -> None:
    picture = glem.board("chess", moves=["e4", "Nf3"])._repr_html_()
    assert picture.count("<rect") == 64
    assert "2</p>" in picture


def test_registered_game_is_found_by_its_name(positions: glem.Positions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.game.registry._added", {})  # other tests list what is installed
    game = evolve(glem.load_game("connect_four"), name="four-of-mine")
    glem.register(game)
    assert glem.load_game("four-of-mine") is game is pickle.loads(pickle.dumps(game))
    again = evolve(game)
    glem.register(again)
    assert glem.load_game("four-of-mine") is again
    assert len(glem.search(game, evaluation="none", depth=2).lines) == 1
    with pytest.raises(PluginError, match="is installed: choose another name"):
        glem.register(positions.game)
    name: Any = "connect_four"
    with pytest.raises(BadInputError, match="a Game is needed, got a str"):
        glem.register(name)


@pytest.fixture(scope="module")
def few(positions: glem.Positions) -> glem.Positions:
    return positions[:6_000]


def regressor(**more: object) -> glem.PatternRegressor:
    return glem.PatternRegressor("othello", iterations=3, held_out=0.0, **more)  # type: ignore[arg-type]


def test_it_fits_what_the_function_fits(few: glem.Positions) -> None:
    made = regressor().fit(few, few.label)
    fitted = glem.fit(few, iterations=3, held_out=0.0, jobs=1).evaluation
    predicted = made.predict(few)
    np.testing.assert_array_equal(predicted, fitted.predict(few))
    spread = ((few.label - few.label.mean()) ** 2).sum()
    assert made.score(few, few.label) == pytest.approx(1 - ((predicted - few.label) ** 2).sum() / spread, rel=1e-5)


def test_frames_and_structured_arrays_are_positions(few: glem.Positions) -> None:
    made = regressor().fit(few, few.label)
    expected = made.predict(few)
    columns = {name: column for name, column in few.columns().items() if name.startswith("position_")}
    array = np.rec.fromarrays(list(columns.values()), dtype=[(name, column.dtype) for name, column in columns.items()])
    np.testing.assert_array_equal(made.predict(array), expected)
    np.testing.assert_array_equal(made.predict(few.to_arrow()), expected)
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(made.predict(pandas.DataFrame(columns)), expected)
    with pytest.raises(ValueError, match=r"'chess'.* was given positions of othello"):
        glem.PatternRegressor("chess").fit(few, few.label)
    with pytest.raises(ValueError, match="needs the name of the game"):
        glem.PatternRegressor().fit(array, few.label)


def test_parameters_are_told_and_set() -> None:
    made = regressor()
    assert made.set_params(l2=3.0).get_params()["l2"] == 3.0
    assert "l2=3.0" in repr(made)
    with pytest.raises(ValueError, match="no parameter 'l3'"):
        made.set_params(l3=1)


def test_scikit_learn_validates_searches_and_chains_it(few: glem.Positions) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    pipeline = pytest.importorskip("sklearn.pipeline")
    scores = selection.cross_val_score(regressor(), few, few.label, groups=few.game_key, cv=selection.GroupKFold(3))
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    chain = pipeline.Pipeline([("positions", "passthrough"), ("patterns", regressor())])
    chain.fit(few, few.label)
    assert chain.predict(few).shape == few.shape
    search = selection.GridSearchCV(chain, {"patterns__l2": [1.0, 1000.0]}, cv=2).fit(few.to_pandas(), few.label)
    assert search.best_params_["patterns__l2"] in (1.0, 1000.0)


def _tables(positions: glem.Positions) -> dict[str, object]:
    """The same positions in all that holds tables."""
    arrow, columns = positions.to_arrow(), positions.columns()
    named: dict[str, Any] = {"names": ",".join(columns)}
    records = np.rec.fromarrays([*columns.values()], **named)
    return {
        "set": positions,
        "columns": positions.positions,
        "list": [positions[row] for row in range(len(positions))],
        "arrow": arrow,
        "batch": arrow.combine_chunks().to_batches()[0],
        "pandas": positions.to_pandas(),
        "polars": positions.to_polars(),
        "structured array": records,
        "mapping": columns,
    }


def test_whatever_takes_positions_takes_tables_of_them(positions: glem.Positions, othello_learning: Learning) -> None:
    few = positions[:40]
    evaluation, learning = glem.load_evaluation("default", "othello"), othello_learning
    patterns = PatternSet.named(learning, next(iter(learning.pattern_sets)))
    regressor = glem.PatternRegressor("othello", iterations=1, held_out=0)
    regressor.evaluation_ = evaluation  # type: ignore[assignment]
    takers: list[Callable[[Any], Any]] = [
        evaluation.predict, learning.features.values, learning.phases.of, regressor.predict,
        lambda given: patterns.transform(given).toarray(),
        lambda given: position_keys(learning.game, given),
        lambda given: successors_of(learning.game, given).move,
        lambda given: glem.Positions.from_positions(learning.game, given, few.label).positions.own,
    ]  # fmt: skip
    for taker in takers:
        wanted = taker(few)
        for name, given in _tables(few).items():
            np.testing.assert_array_equal(taker(given), wanted, err_msg=name)


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_what_takes_a_set_takes_a_table(positions: glem.Positions, kind: str, tmp_path: Path) -> None:
    few = positions[:400]
    table = getattr(few, f"to_{kind}")()
    if kind == "polars":
        with pytest.raises(BadInputError, match="does not tell the game of its positions; name it"):
            glem.fit(table, iterations=1, jobs=1)
        table = glem.Positions.of(table, "othello")
    fits = [value_part(glem.fit(given, iterations=1, jobs=1).evaluation) for given in (table, few)]
    np.testing.assert_array_equal(fits[0].bias, fits[1].bias)
    glem.write_positions(tmp_path / "few.parquet", table)
    assert len(glem.read_positions(tmp_path / "few.parquet")) == 400
    assert [len(part) for part in glem.train_test_split(table)] == [len(part) for part in glem.train_test_split(few)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (np.zeros((3, 64)), "got a ndarray of shape (3, 64)"),
        ("f5d6", "got a str"),
        (None, "got a NoneType"),
        (7, "got an int"),
        ([[1, 2]], "got a list"),
        ({"own": [1]}, "need the columns position_own, position_opponent; the table has own"),
        ({"position_own": [1.5], "position_opponent": [2]}, "column 'position_own', row 0: 1.5 is no uint64"),
        ({"position_own": [1, None], "position_opponent": [2, 4]}, "column 'position_own', row 1: None is no uint64"),
        ({"position_own": [1, 2], "position_opponent": [-2, 4]}, "column 'position_opponent', row 0: -2 is no uint64"),
        ({"position_own": [1, 2], "position_opponent": [2]}, "columns of different lengths"),
        (glem.Positions.empty(glem.load_game("connect_four")), "positions of connect_four, where those of othello are"),
    ],
)
def test_what_holds_no_positions_is_refused_in_words(given: Any, told: str, othello_learning: Learning) -> None:
    evaluation, learning = glem.load_evaluation("default", "othello"), othello_learning
    regressor = glem.PatternRegressor("othello")
    takers: list[Callable[[Any], Any]] = [
        evaluation.predict, learning.features.values, learning.phases.of,
        lambda given: regressor.fit(given, [0.0]),
    ]  # fmt: skip
    for taker in takers[: 3 if isinstance(given, glem.Positions) else 4]:
        with pytest.raises(BadInputError, match=re.escape(told)):
            taker(given)
    if not isinstance(given, glem.Positions | str):
        for taker in (glem.fit, glem.train_test_split, glem.label, lambda given: glem.discover(given, "x")):
            with pytest.raises(BadInputError, match=r"positions are needed, as Positions or as a table, got an? "):
                taker(given)


def test_functions_of_one_position_say_so(positions: glem.Positions, othello_learning: Learning) -> None:
    evaluation, learning = glem.load_evaluation("default", "othello"), othello_learning
    assert isinstance(evaluation, LinearEvaluation)
    takers: list[Callable[[Any], Any]] = [
        evaluation.evaluate, evaluation.explain, learning.features.values_of,
        lambda given: glem.search("othello", given), lambda given: glem.board("othello", given),
    ]  # fmt: skip
    for taker in takers:
        for given in (positions[:4], positions[:4].positions, positions.to_arrow(), 7):
            with pytest.raises(BadInputError, match=r"one position of othello is needed, got an? "):
                taker(given)


@pytest.mark.parametrize("given", [None, 3, [1], "positions", np.zeros(3)])
def test_what_is_no_game_is_refused_in_words(given: Any, positions: glem.Positions) -> None:
    takers: tuple[Any, ...] = (
        glem.load_game, glem.search, glem.board, lambda given: glem.grade(given, "games.txt", "default"),
        lambda given: glem.tournament(given, ["random", "greedy"]),
    )  # fmt: skip
    for taker in takers:
        with pytest.raises(BadInputError, match=r"a game is needed, by its name or as a Game, got an? "):
            taker(positions if isinstance(given, str) else given)


def test_what_is_no_evaluation_or_file_is_refused_in_words(positions: glem.Positions) -> None:
    few: Any = positions[:4]
    for taker in (
        lambda: glem.evaluate(few, "default"),
        lambda: glem.search("othello", evaluation=few),
        lambda: glem.grade("othello", "games.txt", few),
    ):
        with pytest.raises(BadInputError, match=r"an evaluation is needed, or the name of one, got a Positions?$"):
            taker()
    no_file: Any = 3
    with pytest.raises(BadInputError, match="the name of an evaluation is needed, got an int"):
        glem.load_evaluation(no_file, "othello")
    with pytest.raises(BadInputError, match="the path of a file is needed, got a Positions"):
        glem.read_positions(few)
    with pytest.raises(BadInputError, match="files of games are needed, got a Positions"):
        glem.grade("othello", few, "default")
    with pytest.raises(BadInputError, match="name an evaluation to grade, after the game and the files"):
        glem.grade("othello", "games.txt")
    with pytest.raises(BadInputError, match="moves are needed, as texts or numbers or as one text, got an int"):
        glem.board("othello", moves=no_file)


def test_patterns_are_a_name_a_file_or_a_mapping(positions: glem.Positions) -> None:
    few = positions[:400]
    regressor = glem.PatternRegressor(patterns={"edge": ["a1", "b1", "c1"]}, iterations=1, jobs=1)
    assert regressor.fit(few, few.label).evaluation_.patterns.names == {"edge": ["a1", "b1", "c1"]}  # type: ignore[union-attr]
    # A text has the features as a line of a pattern file does.
    regressor.set_params(patterns={"edge": "a1 b1 c1"})
    assert regressor.fit(few, few.label).evaluation_.patterns.names == {"edge": ["a1", "b1", "c1"]}  # type: ignore[union-attr]
    with pytest.raises(BadInputError, match=r"patterns are the name of a set, a file, or a mapping .* got an int"):
        glem.fit(few, patterns=7)
    with pytest.raises(BadInputError, match="pattern 'edge' needs the names of its features, got an int"):
        glem.fit(few, patterns={"edge": 7})


def test_the_design_of_patterns_is_a_sparse_matrix() -> None:
    evaluation = glem.load_evaluation("default", "connect_four")
    assert isinstance(evaluation, LinearEvaluation)
    assert evaluation.patterns is not None
    learning = evaluation.learning
    game = learning.game
    columns = game.columns_of([game.play(game.initial_position, move) for move in range(7)])
    design = evaluation.patterns.transform(columns)
    assert design.shape == (7, evaluation.patterns.weight_count)
    assert (design.sum(axis=1) == len(evaluation.patterns.instances)).all()
    phase = learning.phases.of(columns)
    sums = np.array([design[row] @ evaluation.pattern_weights[phase[row]] for row in range(7)]).ravel()
    sums += evaluation.bias[phase] + sum(
        evaluation.linear_weights[phase, place] * learning.features.values(columns)[:, feature]
        for place, feature in enumerate(evaluation.linear)
    )
    np.testing.assert_allclose(sums, evaluation.sums(columns), atol=1e-4)


def test_a_notebook_shows_positions(positions: glem.Positions) -> None:
    assert len(positions.head()) == 5
    assert len(positions.head(3)) == 3
    shown = positions._repr_html_()
    assert shown.count("<tr>") == 11
    assert "20,000 positions" in shown
    assert positions.game.format_position(positions[0]) in shown
    assert positions[:2]._repr_html_().count("<tr>") == 3


def test_one_is_counted_as_one(positions: glem.Positions) -> None:
    features = glem.load_learning("connect_four").features
    texts = [repr(positions[:1]), positions[:1]._repr_html_(), repr(PatternSet.from_names(features, {"two": ["a1"]}))]
    with pytest.raises(BadInputError) as refused:
        glem.match("connect_four", "random", "greedy", openings=2, opening_plies=0)
    texts.append(str(refused.value))
    assert [text for text in texts if re.search(r"\b1 [a-z]+s\b", text)] == []
    assert all(re.search(r"\b1 (position|pattern|different opening)\b", text) for text in texts), texts


def test_dir_lists_the_names_of_glem_alone() -> None:
    assert dir(glem) == sorted(glem.__all__)
