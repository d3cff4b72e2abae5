"""Fits of hidden layers: gradients against differences, what is learned, resuming, threads, bad input."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from attrs import evolve
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation import network as layers_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC, scaled_sigmoid
from glem.core.evaluation.named import load_value
from glem.core.evaluation.result_distribution import result_distribution
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.features.learning import Learning, load_learning
from glem.core.fitting import network as fits
from glem.core.fitting.discriminants.by_phase import parts_of
from glem.core.fitting.fitters.by_layer import Network
from glem.core.fitting.fitters.fitter import Run
from glem.core.fitting.likelihood import LikelihoodSettings, fit_likelihood, prior_of
from glem.core.fitting.minimizing.minimizer import FileCheckpoint
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT
from glem.functions import fit
from glem.games.chess import CHESS as GAME
from glem.games.chess.boards import from_board
from glem.plugins.chess import CHESS
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import random_layer, random_network, random_weights
from tests.core.labelling.labelling_examples import some_positions
from tests.oracles.chess_boards import random_game
from tests.oracles.grading import mean_log_likelihood


def network_of(evaluation: LinearEvaluation | ResultEvaluation) -> layers_of.Network:
    network = value_part(evaluation).network
    assert network is not None
    return network


@pytest.fixture(scope="module")
def positions() -> Positions:
    """Positions of random games, labelled by what material lets expect."""
    found, games = [], []
    for seed in range(40):
        boards = [from_board(board) for board, _ in random_game(seed, 80)]
        found += boards
        games += [seed] * len(boards)
    values = CHESS.features.values(GAME.columns_of(found))
    names = ("pawns", "knights", "bishops", "rooks", "queens")
    pawns = values[:, [CHESS.features.index(name) for name in names]] @ np.array([1, 3, 3, 5, 9])
    return evolve(Positions.from_positions(GAME, found, np.tanh(pawns / 4)), record=np.array(games))


def fitted(
    positions: Positions, passes: int = 6, output: Path | None = None, jobs: int = 1, **how: Any
) -> tuple[LinearEvaluation, Any]:
    """Give a layer, and how its fit went."""
    with Run(output, seed=3, jobs=jobs) as run:
        found = Network(hidden=8, passes=passes, **how).fit(positions, CHESS, run)
    assert isinstance(found.evaluation, LinearEvaluation)
    return found.evaluation, found.course[0]


@pytest.fixture(scope="module")
def balanced(othello_learning: Learning) -> Positions:
    """Positions of random games; labels say how far the own discs on four squares are from half: no sum knows."""
    found = some_positions(othello_learning.game, 3000)
    values = othello_learning.features.values(found.positions)
    own = (values[:, [othello_learning.features.index(name) for name in CORNERS_OF_CENTRE]] == 1).sum(axis=1)
    label = (6 * np.abs(own - 2) - 5).astype(np.float32)
    return evolve(found, label=label, record=np.arange(len(found)) // 10, weight=np.ones(len(found), np.float32))


CORNERS_OF_CENTRE = ("c3", "f3", "c6", "f6")
SQUARE = {"square": ("c3",)}
"""One pattern of one feature, of which there are four instances."""


@pytest.mark.parametrize("kind", ["views", "patterns", "patterns beside terms"])
def test_gradients_are_those_of_differences(positions: Positions, balanced: Positions, kind: str) -> None:
    if kind == "views":
        data, start = positions, random_network(CHESS, 3)
    else:
        data, learning = balanced, load_learning("othello")
        patterns = PatternSet.from_names(learning.features, {**SQUARE, "diagonal": ("c3", "d4", "e5")})
        terms = random_weights(learning, np.random.default_rng(1), patterns=patterns)
        alone = evolve(terms, pattern_weights=0 * terms.pattern_weights)
        start = random_layer(terms if kind == "patterns beside terms" else alone, 5)
    some = evolve(data.select(slice(0, 200)), weight=np.linspace(0.5, 2, 200, dtype=np.float32))
    assert start.network is not None
    rows = fits._Rows(parts_of(some), start, Network(held_out=0.0), 0, SILENT)
    layer = fits._Layer(rows, start.network, start.bias, 2)
    everything = np.arange(len(some))
    error = layer.error(everything, learns=True)
    target = some.label if kind != "views" else (1 + some.label) / 2
    expected = np.sum(some.weight * (start.predict(some) - target) ** 2)
    assert rows.unit**2 * error == pytest.approx(expected, rel=1e-4)
    generator = np.random.default_rng(4)
    for array, gradient in zip(layer.arrays, layer.gradients, strict=True):
        strong = np.argsort(-np.abs(gradient), axis=None)[:50]
        for place in generator.choice(strong, min(6, array.size), replace=False):
            at, step, errors = np.unravel_index(place, array.shape), 1e-3, []
            before = array[at]
            for side in (step, -step):
                array[at] = before + np.float32(side)
                errors.append(layer.error(everything))
            array[at] = before
            # The error is the sum of squares; the gradients are half of its slopes.
            assert gradient[at] == pytest.approx((errors[0] - errors[1]) / (4 * step), rel=0.05, abs=0.02)


def test_a_layer_over_patterns_learns_what_no_sum_does(balanced: Positions, tmp_path: Path) -> None:
    held = balanced.held_out_mask(0.2, 0)
    square = tmp_path / "square.txt"
    square.write_text("square: c3\n")
    found = {
        jobs: fit(
            balanced, "network", patterns=str(square), hidden=16, passes=400, weight_decay=0, held_out=0.2, jobs=jobs
        )
        for jobs in (1, 2)
    }
    layers = [network_of(each.evaluation).arrays for each in found.values()]
    for one, other in zip(*layers, strict=True):
        np.testing.assert_array_equal(one, other)
    evaluation = found[1].evaluation
    assert isinstance(evaluation, LinearEvaluation)
    error = np.sqrt(np.mean((evaluation.predict(balanced) - balanced.label)[held] ** 2))
    course = found[1].course[0] or {}
    assert error == pytest.approx(course["validation"][-1], rel=1e-3)
    linear = fit(balanced, patterns=str(square), linear=False, held_out=0.2).evaluation
    assert isinstance(linear, LinearEvaluation)
    assert error < 0.8 < 3 < np.sqrt(np.mean((linear.predict(balanced) - balanced.label)[held] ** 2))
    # Compared with what the search plays.
    np.testing.assert_allclose(evaluation.as_played().predict(balanced), evaluation.predict(balanced), atol=0.3)


def test_a_layer_stands_beside_linear_features_that_it_could_not_learn(balanced: Positions) -> None:
    learning = load_learning("othello")
    mobility = learning.features.values(balanced.positions)[:, learning.features.index("mobility")]
    both = evolve(balanced, label=balanced.label + 2 * mobility)
    linear = fit(both, baseline="mobility", held_out=0.2).evaluation
    assert isinstance(linear, LinearEvaluation) and linear.patterns is None
    square = PatternSet.from_names(learning.features, SQUARE)
    how = Network(patterns=square, prior=linear, hidden=16, passes=400, weight_decay=0, held_out=0.2)
    found = how.fit(both, learning, Run()).evaluation
    assert isinstance(found, LinearEvaluation)
    np.testing.assert_array_equal(found.linear_weights, linear.linear_weights)
    assert found.patterns is not None and not found.pattern_weights.any()
    held = both.held_out_mask(0.2, 0)
    assert np.sqrt(np.mean((found.predict(both) - both.label)[held] ** 2)) < 1.5


def test_the_terms_of_a_prior_stay_and_its_layer_goes_on(balanced: Positions, tmp_path: Path) -> None:
    terms, layer = str(tmp_path / "terms.npz"), str(tmp_path / "layer.npz")
    fit(balanced, patterns="logistello", output=terms)
    before = LinearEvaluation.load(terms)
    first = fit(balanced, "network", prior=terms, hidden=4, passes=3, output=layer)
    after = LinearEvaluation.load(layer)
    np.testing.assert_array_equal(after.pattern_weights, before.pattern_weights)
    np.testing.assert_array_equal(after.linear_weights, before.linear_weights)
    grown = fit(balanced, "network", prior=layer, hidden=6, passes=3)
    layers = [network_of(each).weights for each in (after, grown.evaluation)]
    patterns, values = before.patterns, before.learning.features.values(balanced.positions)
    assert patterns is not None
    unseen = np.ones(patterns.weight_count, bool)
    unseen[patterns.indices(values) + patterns.column_offsets[:, None]] = False
    assert unseen.any()
    assert not layers[0][unseen].any() and not layers[1][unseen].any()
    assert (layers[0][~unseen] != 0).all()
    marked = evolve(network_of(after), weights=np.where(unseen[:, None], 0.25, layers[0]))
    evolve(after, network=marked).save(tmp_path / "marked.npz")
    more = network_of(fit(balanced, "network", prior=str(tmp_path / "marked.npz"), hidden=6, passes=1).evaluation)
    np.testing.assert_array_equal(more.weights[unseen], [[0.25] * 4 + [0] * 2] * unseen.sum())
    ended, begun = ((each.course[0] or {})["validation"] for each in (first, grown))
    assert begun[0] == pytest.approx(ended[-1], rel=1e-4)
    with pytest.raises(BadInputError, match="the prior is no evaluation by a hidden layer of at most 3 units"):
        fit(balanced, "network", prior=layer, hidden=3)
    with pytest.raises(BadInputError, match="a prior is fitted with its own patterns"):
        fit(balanced, "network", prior=layer, patterns="logistello")
    evolve(before, link=scaled_sigmoid(64)).save(terms)
    with pytest.raises(BadInputError, match="no hidden layer stands beside terms under the link sigmoid"):
        fit(balanced, "network", prior=terms)


def test_material_is_learned(positions: Positions) -> None:
    found = Network(hidden=16, passes=200, held_out=0.2).fit(positions, CHESS, Run())
    evaluation, errors = value_part(found.evaluation), np.square((found.course[0] or {})["validation"])
    assert errors[-1] < 0.2 * errors[0]
    held = positions.select(positions.held_out_mask(0.2, 0))
    error = evaluation.predict(held.positions) - (1 + held.label) / 2
    assert np.mean(error**2) == pytest.approx(errors[-1], rel=1e-4)
    assert np.corrcoef(evaluation.sums(held.positions), held.label)[0, 1] > 0.9


def test_threads_change_nothing_and_a_seed_gives_the_same(positions: Positions) -> None:
    found = [network_of(fitted(positions, jobs=jobs)[0]) for jobs in (1, 3)]
    for one, other in zip(*(layer.arrays for layer in found), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_undecided_is_kept_and_what_is_decided_left_out(positions: Positions) -> None:
    decided = np.abs(positions.label) > 0.5
    assert 0.1 < decided.mean() < 0.9
    label = np.where(decided, np.sign(positions.label), 0).astype(np.float32)
    drawn, _ = fitted(evolve(positions, label=label), undecided=True)
    alone, _ = fitted(evolve(positions, label=label).select(~decided))
    np.testing.assert_array_equal(network_of(drawn).weights, network_of(alone).weights)
    half = evolve(positions, label=np.full(len(positions), 0.5, np.float32))
    rows = fits._Rows(parts_of(half), random_network(CHESS, 2), Network(held_out=0.0, undecided=True), 3, SILENT)
    assert len(rows.fitted) / len(positions) == pytest.approx(0.75, abs=0.05)


def test_an_interrupted_fit_continues(positions: Positions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fitted(positions)
    save = FileCheckpoint.save

    def cut(self: FileCheckpoint, state: dict[str, object]) -> None:
        save(self, state)
        if len(state["training_errors"]) == 4:  # type: ignore[arg-type]
            raise KeyboardInterrupt

    monkeypatch.setattr(FileCheckpoint, "save", cut)
    with pytest.raises(KeyboardInterrupt):
        fitted(positions, output=tmp_path / "layer.npz")
    monkeypatch.undo()
    with pytest.raises(BadInputError, match="unfinished work of other settings"):
        fitted(positions, passes=7, output=tmp_path / "layer.npz")
    with pytest.raises(BadInputError, match="belongs to a fit of other positions or settings"):
        fitted(evolve(positions, label=-positions.label), output=tmp_path / "layer.npz")
    continued = fitted(positions, output=tmp_path / "layer.npz")
    for one, other in zip(*(network_of(evaluation).arrays for evaluation, _ in (whole, continued)), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(whole[1]["training"], continued[1]["training"])


def test_the_function_of_the_command_fits_saves_and_goes_on(positions: Positions, tmp_path: Path) -> None:
    path = tmp_path / "layer.npz"
    first = fit(positions, Network(hidden=8, passes=3), output=path).evaluation
    assert isinstance(first, LinearEvaluation)
    assert [each.name for each in tmp_path.iterdir()] == ["layer.npz"]
    loaded = LinearEvaluation.load(path)
    assert loaded.link == LOGISTIC
    assert loaded.provenance["fitter"].startswith(
        "Network(patterns=None, hidden=8, passes=3, undecided=False, prior='none', "
    )
    before = np.mean((first.predict(positions) - (1 + positions.label) / 2)[~positions.held_out_mask(0.05, 0)] ** 2)
    for hidden in (8, 11):
        course = fit(positions, Network(hidden=hidden, passes=3, prior=str(path))).course[0]
        assert course is not None
        np.testing.assert_allclose(course["training"][0] ** 2, before, rtol=1e-4)
    fits = [fit(positions, "network", prior_share=share, prior=path, hidden=8, passes=3) for share in (0, 0.25, 1)]
    layers = [network_of(each).arrays for each in (first, *(each.evaluation for each in fits))]
    for began, whole, mixed, kept in zip(*layers, strict=True):
        np.testing.assert_allclose(kept, began, atol=1e-6)
        np.testing.assert_allclose(mixed, 0.25 * began + 0.75 * whole, atol=1e-5)
    course = fits[-1].course[0]
    assert course is not None
    assert course["validation"][-1] == pytest.approx(course["validation"][0])
    grown = [
        network_of(fit(positions, "network", prior_share=share, prior=path, hidden=11, passes=3).evaluation)
        for share in (0, 0.25)
    ]
    np.testing.assert_array_equal(grown[1].weights[:, 8:], grown[0].weights[:, 8:])
    further = [layer.output.reshape(-1, 2, 11)[..., 8:] for layer in grown if layer is not None]
    np.testing.assert_allclose(further[1], 0.75 * further[0], atol=1e-6)
    with pytest.raises(BadInputError, match="there is no prior to have a share"):
        fit(positions, "network", hidden=8, prior_share=0.5)
    with pytest.raises(BadInputError, match="is 2, expected a number of at least 0 and at most 1"):
        Network(prior_share=2)
    with pytest.raises(BadInputError, match="a prior with a hidden layer is fitted by the fitter network"):
        fit(positions, prior=str(path))
    with pytest.raises(BadInputError, match="no evaluation by a hidden layer of at most 7 units alone"):
        fit(positions, "network", hidden=7, prior=path)
    with pytest.raises(BadInputError, match="Network has no setting 'link'"):
        fit(positions, "network", link="logistic")


def test_errors_are_those_of_whole_winning_chances(positions: Positions, tmp_path: Path, terminal: Terminal) -> None:
    layer, rows = tmp_path / "layer.npz", tmp_path / "rows.parquet"
    evolve(random_network(CHESS, 6), link=LOGISTIC).save(layer)
    write_positions(rows, positions)
    values = {name: load_value(name, GAME).predict(positions) for name in (str(layer), "default")}
    whole, within = (1 + positions.label) / 2, ((1 + positions.label) / 2).clip(0.1, 0.9)
    assert (whole != within).any()
    for names, target in (("default", str(layer)), whole), (("default",), within):
        told = terminal.json("evaluate", *names, rows)["rmse"]
        for name in names:
            assert told[name][-1] == pytest.approx(np.sqrt(np.mean((values[name] - target) ** 2)), rel=1e-4)


def test_what_cannot_be_fitted_is_refused(positions: Positions) -> None:
    othello = load_learning("othello")
    some = some_positions(othello.game, 5)
    with pytest.raises(
        BadInputError, match="undecided positions are drawn by results; the labels of Othello are score"
    ):
        Network(undecided=True).fit(some, othello, Run())
    with pytest.raises(BadInputError, match="Othello has no views and no patterns that a layer could be over"):
        Network(patterns="none").fit(some, othello, Run())
    with pytest.raises(BadInputError, match="there are no positions to fit"):
        fitted(positions.select(slice(0, 0)))
    with pytest.raises(BadInputError, match="hidden is 0, expected a whole number of at least 1 and at most 4,096"):
        Network(hidden=0)


def test_the_likelihood_fits_a_scale_and_a_drawishness_to_a_layer(positions: Positions) -> None:
    prior = prior_of(evolve(random_network(CHESS, 6), bias=np.zeros(7, np.float32)))
    values = prior.value.sums(positions).astype(float)
    chances = np.cumsum(np.stack(result_distribution(values, 2.0, 0.3), axis=1), axis=1)
    drawn = np.random.default_rng(5).random(len(values))
    results = 1 - (drawn[:, None] > chances[:, :2]).sum(axis=1)
    games = evolve(positions, label=results.astype(np.float32), label_kind="result", record=np.arange(len(values)))
    settings = LikelihoodSettings(l2=0, names=(), drawishness_phases="one")
    found = fit_likelihood([games], prior, settings)

    def error(parameters: NDArray[np.float64]) -> float:
        scale, drawishness = math.exp(parameters[0]), 1 / (1 + math.exp(-parameters[1]))
        return -mean_log_likelihood(values.tolist(), results.tolist(), scale, drawishness)

    best = scipy.optimize.minimize(error, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-12})
    assert found.prior_scale == pytest.approx(math.exp(best.x[0]), rel=1e-3)
    assert found.prior_scale == pytest.approx(2, rel=0.2)
    assert found.evaluation.drawishness.bias == pytest.approx(np.full(7, best.x[1]), rel=1e-3)
    assert found.evaluation.value.sums(positions) == pytest.approx(values / found.prior_scale, rel=1e-4, abs=1e-5)
    assert found.errors is not None
    assert found.errors.value.shape == (7, 1)
    free = fit_likelihood([games], prior, LikelihoodSettings(l2=0.01))
    assert free.grades()[1] > found.grades()[1]
    with pytest.raises(BadInputError, match="a hidden layer, beside which no terms are fitted"):
        fit_likelihood([games], prior, settings, linear=("pawns",))
