"""Weights of an engine's terms: against a naive fit, by both losses, with held terms, games and errors."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.fitting.minimizing.minimizer import FileCheckpoint
from glem.core.tuning.coefficients import Block, block_of
from glem.core.tuning.fitting import LIKELIHOOD, LOGISTIC, TermSettings, fit_terms
from glem.core.tuning.terms import Terms
from tests.oracles.tuning import Rows, logistic_errors, logistic_weights

COUNT, TERMS = 4000, 7
EXACT = {"tolerance": 1e-15, "iterations": 2000}


@pytest.fixture(scope="module")
def rows() -> Rows:
    random = np.random.default_rng(5)
    coefficients = random.integers(-2, 3, (COUNT, TERMS)) * (random.random((COUNT, TERMS)) < 0.6)
    # Halves and quarters are what single precision holds exactly.
    phase = random.integers(0, 17, COUNT) / 16
    true = random.normal(0, 0.4, (TERMS, 2))
    value = (coefficients * (phase[:, None] * true[:, 0] + (1 - phase[:, None]) * true[:, 1])).sum(axis=1)
    win = random.random(COUNT) < 1 / (1 + np.exp(-value))
    result = np.where(random.random(COUNT) < 0.3, 0, np.where(win, 1, -1))
    return Rows(coefficients.astype(float), phase, result.astype(float), np.repeat(np.arange(COUNT // 4), 4))


def blocks_of(rows: Rows, size: int = 1000, held_out: Any = None, kind: Any = np.int8) -> list[Block]:
    outside = np.zeros(len(rows.result), bool) if held_out is None else held_out
    return [
        block_of(
            rows.coefficients[begin : begin + size].astype(kind),
            rows.phase[begin : begin + size],
            rows.result[begin : begin + size].astype(np.int8),
            rows.game[begin : begin + size],
            outside[begin : begin + size],
        )
        for begin in range(0, len(rows.result), size)
    ]


@pytest.mark.parametrize("l2", [0.0, 30.0])
def test_logistic_weights_are_those_of_a_naive_fit(rows: Rows, l2: float):
    start = np.full((TERMS, 2), 12.0)
    terms = Terms({"some": (TERMS,)}, is_tapered=True)
    fit = fit_terms(terms, blocks_of(rows), start, TermSettings(loss=LOGISTIC, l2=l2, scale=40.0, **EXACT), jobs=2)
    naive = logistic_weights(rows, start.T.ravel() / 40, l2)
    assert np.abs(fit.weights.T.ravel() / 40 - naive).max() < 1e-8
    assert fit.errors is not None
    assert np.allclose(fit.errors.T.ravel() / 40, logistic_errors(rows, naive, l2), rtol=1e-6)


def test_likelihood_is_that_of_the_paper_and_at_its_greatest(rows: Rows):
    terms = Terms({"some": (TERMS,)}, is_tapered=True)
    start = np.full((TERMS, 2), 12.0)
    fit = fit_terms(terms, blocks_of(rows), start, TermSettings(l2=0.0, **EXACT))

    def mean(weights: Any, draws: Any, scale: float) -> float:
        value = rows.design() @ weights.T.ravel()
        odds = rows.phase * draws[0] + (1 - rows.phase) * draws[1]
        return float(log_correctness(value, rows.result, scale, 1 / (1 + np.exp(-odds))).mean())

    assert fit.fitted.after == pytest.approx(mean(fit.weights, fit.draws, fit.scale), abs=1e-12)
    random = np.random.default_rng(2)
    for _ in range(20):
        near = fit.weights + random.normal(0, 1.0, fit.weights.shape), fit.draws + random.normal(0, 0.02, 2)
        assert mean(*near, fit.scale) < fit.fitted.after
    # Of the first weights the scale is the best one.
    assert fit.fitted.before >= max(mean(start, fit.draws * 0, scale) for scale in (5, 20, 80, 320)) - 1e-12


@pytest.mark.parametrize("loss", [LIKELIHOOD, LOGISTIC])
def test_the_way_rows_are_kept_changes_nothing(rows: Rows, loss: str):
    terms = Terms({"some": (TERMS,)}, is_tapered=True)
    settings = TermSettings(loss=loss, **EXACT)
    fits = [
        fit_terms(terms, blocks_of(rows, size, kind=kind), None, settings, jobs=jobs)
        for size, kind, jobs in ((1000, np.int8, 1), (1000, np.float64, 3), (COUNT, np.int8, 1))
    ]
    assert np.array_equal(fits[0].weights, fits[1].weights)
    # Where the likelihood has kinks, a search ends at one of many points that are equally good.
    assert np.allclose(fits[0].weights, fits[2].weights, atol=3e-4)
    errors = [fit.errors for fit in fits if fit.errors is not None]
    assert np.allclose(errors[0], errors[2], rtol=1e-2)


def test_a_killed_fit_continues_to_the_same_weights(rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    terms, settings = Terms({"some": (TERMS,)}, is_tapered=True), TermSettings(tolerance=1e-15)
    whole = fit_terms(terms, blocks_of(rows), None, settings)
    save, states = FileCheckpoint.save, []

    def killing(self: FileCheckpoint, state: Mapping[str, Any]) -> None:
        save(self, state)
        states.append(state)
        if len(states) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(FileCheckpoint, "save", killing)
    with pytest.raises(KeyboardInterrupt):
        fit_terms(terms, blocks_of(rows), None, settings, work=tmp_path)
    with pytest.raises(BadInputError, match="belongs to a fit of other positions or settings"):
        fit_terms(terms, blocks_of(rows), np.ones((TERMS, 2)), settings, work=tmp_path)
    continued = fit_terms(terms, blocks_of(rows), None, settings, work=tmp_path)
    assert len(states) > 1
    assert np.array_equal(whole.weights, continued.weights)
    assert whole.minimum.monitor.training_errors == continued.minimum.monitor.training_errors


def test_held_terms_stay_and_held_out_games_choose_nothing(rows: Rows):
    terms = Terms({"number": (), "others": (TERMS - 1,)}, is_tapered=True)
    start = np.full((TERMS, 2), 9.0)
    outside = rows.game % 5 == 0
    settings = TermSettings(loss=LOGISTIC, scale=30.0, **EXACT)
    fit = fit_terms(terms, blocks_of(rows, held_out=outside), start, settings, held=terms.matching(["num*"]))
    assert (fit.weights[0] == 9).all()
    assert (fit.weights[1:] != 9).all()
    assert fit.errors is not None
    assert (fit.errors[0] == 0).all()
    turned = rows._replace(result=np.where(outside, -rows.result, rows.result))
    other = fit_terms(terms, blocks_of(turned, held_out=outside), start, settings, held=terms.matching(["num*"]))
    assert np.array_equal(fit.weights, other.weights)
    assert fit.held_out.positions == outside.sum()
    assert fit.held_out.after > fit.held_out.before
    assert fit.held_out.p < 0.01
    assert other.held_out.after < other.held_out.before


def test_without_phases_there_is_one_weight(rows: Rows):
    terms = Terms({"some": (TERMS,)}, is_tapered=False)
    blocks = [block._replace(phase=np.ones_like(block.phase)) for block in blocks_of(rows)]
    fit = fit_terms(terms, blocks, None, TermSettings(loss=LOGISTIC, l2=5.0, scale=1.0, **EXACT))
    flat = rows._replace(phase=np.ones(COUNT), coefficients=rows.coefficients)
    alone = logistic_weights(flat, np.zeros(2 * TERMS), 5.0)[:TERMS]
    assert np.abs(fit.weights[:, 0] - alone).max() < 1e-8
    assert np.array_equal(np.array(terms.values_of(fit.weights, 6)["some"]), np.round(fit.weights[:, 0], 6))


def test_scattered_games_are_told(rows: Rows):
    scattered = rows._replace(game=np.arange(COUNT) % 100)
    fit = fit_terms(Terms({"some": (TERMS,)}, is_tapered=True), blocks_of(scattered), None, TermSettings())
    assert "lie apart" in fit.notes[0]


@pytest.mark.parametrize(
    ("more", "words"),
    [({"held": np.ones(TERMS, bool)}, "all terms are held"), ({"blocks": []}, "no position is left")],
)
def test_nothing_to_fit(rows: Rows, more: dict[str, Any], words: str):
    arguments = {"terms": Terms({"some": (TERMS,)}, is_tapered=True), "blocks": blocks_of(rows), **more}
    with pytest.raises(BadInputError, match=words):
        fit_terms(**arguments)


@pytest.mark.parametrize(("factor", "words"), [(-1.0, "the contrary"), (1.0, "they foretell every result")])
def test_weights_without_a_scale_are_refused(factor: float, words: str):
    random = np.random.default_rng(0)
    value = np.where(random.random(400) < 0.5, -1.0, 1.0)
    rows = Rows(value[:, None], np.ones(400), value, np.arange(400))
    with pytest.raises(BadInputError, match=words):
        fit_terms(Terms({"one": ()}, is_tapered=False), blocks_of(rows), np.full((1, 2), factor * 100.0))


@pytest.mark.parametrize(
    ("settings", "words"), [({"loss": "hinge"}, "loss"), ({"scale": 0.0}, "scale"), ({"l2": -1.0}, "l2")]
)
def test_settings_out_of_range(settings: dict[str, Any], words: str):
    with pytest.raises(BadInputError, match=words):
        TermSettings(**settings)
