"""From positions to an evaluation: phases that cannot be fitted, and fits that begin with a prior."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError
from glem.core.evaluation.links import LINKS, link_of
from glem.core.fitting.least_squares import FitSettings, Terms, Training, train
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import Positions
from tests.othello import LEARNING


@pytest.mark.parametrize("name", LINKS)
def test_phases_that_cannot_be_fitted_get_a_linear_fit(name: str) -> None:
    assert LEARNING.sample is not None
    positions = LEARNING.sample()
    link = link_of(name, 64)
    phase = LEARNING.phases.of(positions.positions)
    empty, noisy = 12, 4
    positions = positions.select(phase != empty)
    phase = phase[phase != empty]
    label = 0.5 + positions.label / 200 if name == "logistic" else positions.label.copy()
    label[phase == noisy] = np.random.default_rng(1).permutation(label[phase == noisy])
    held_out = positions.held_out_mask(0.2)
    found = train(
        type(positions)(positions.game, positions.positions, label, game_key=positions.game_key),
        LEARNING,
        Terms(PatternSet.named(LEARNING, "logistello"), linear=LEARNING.linear),
        FitSettings(ConjugateGradient(iterations=8, patience=2), link=link, l2=0),
        held_out=held_out,
    )
    assert {empty, noisy} <= set(found.linear_phases)
    assert "has only a linear fit" in found.warnings[0]
    evaluation = found.evaluation
    assert evaluation.provenance["fitter"].startswith("ConjugateGradient(iterations=8, patience=2")
    for number in (empty, noisy):
        assert not evaluation.pattern_weights[number].any()
        assert evaluation.linear_weights[number].any()
        # The phase without positions learns of the last one with any, which has enough.
        rows = ~held_out & (phase == min(number, 11))
        features = [LEARNING.features.index(each) for each in LEARNING.linear]
        values = LEARNING.features.values(positions.select(rows).positions)[:, features].astype(np.float64)
        columns = np.column_stack([np.ones(len(values)), values])
        expected = np.linalg.lstsq(columns, link.sums_of(label[rows]))[0]
        weights = [evaluation.bias[number], *evaluation.linear_weights[number]]
        np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["identity", "sigmoid"])
def test_what_is_added_to_a_prior_is_fitted_to_what_it_leaves(name: str) -> None:
    assert LEARNING.sample is not None
    positions = LEARNING.sample()
    phase = LEARNING.phases.of(positions.positions)
    positions = positions.select(phase != 12)
    terms = Terms(PatternSet.named(LEARNING, "logistello"), linear=LEARNING.linear)
    settings = FitSettings(ConjugateGradient(iterations=6, tolerance=0), link=link_of(name, 64), l2=20, smoothing=0.25)
    prior = train(positions, LEARNING, terms, settings).evaluation
    own = prior.predict(positions.positions)
    later = evolve(positions, label=np.clip(own + np.random.default_rng(2).normal(0, 4, len(own)), -64, 64))
    found = train(later, LEARNING, Terms.of(prior), settings, prior=prior)
    weights = ("bias", "pattern_weights", "linear_weights")
    if name == "identity":
        left = evolve(later, label=later.label - own)
        added = train(left, LEARNING, terms, evolve(settings, l2=20)).evaluation
        for each in weights:
            expected = getattr(prior, each)[:12] + getattr(added, each)[:12]
            np.testing.assert_allclose(getattr(found.evaluation, each)[:12], expected, atol=2e-3)
    before, after = (np.mean((later.label - each) ** 2) for each in (own, found.evaluation.predict(later.positions)))
    assert after < before
    for each in weights:
        np.testing.assert_array_equal(getattr(found.evaluation, each)[12], getattr(prior, each)[12])
    with pytest.raises(BadInputError, match="linear features where the prior has any"):
        train(later, LEARNING, Terms(linear=LEARNING.linear[:2]), settings, prior=prior)
    with pytest.raises(BadInputError, match="its phases and link"):
        train(later, LEARNING, terms, evolve(settings, link=link_of("logistic", 64)), prior=prior)


def test_other_terms_than_the_priors_are_fitted_to_what_it_leaves() -> None:
    assert LEARNING.sample is not None
    positions = LEARNING.sample()
    settings = FitSettings(ConjugateGradient(iterations=6, tolerance=0), l2=20, smoothing=0.25)
    edges = PatternSet.from_names(LEARNING.features, {"edge": ("a1", "b1", "c1", "d1")})
    counts = PatternSet.from_names(LEARNING.features, {"moves": ("mobility", "opponent_mobility")})
    relations = RelationTable(np.array([0, 9, 18]), np.array([1, 1, 2]))
    configurations = ConfigurationSet.from_relations(relations, [(0,), (0, 1), (1, 2)])
    prior = train(positions, LEARNING, Terms(edges), settings).evaluation
    left = evolve(positions, label=positions.label - prior.predict(positions.positions))
    for terms in (
        Terms(counts, linear=LEARNING.linear[:3]),
        Terms(configurations=configurations, classes=np.array([0, 1, 1], np.int32), most_specific=False),
    ):
        found = train(positions, LEARNING, terms, settings, prior=prior)
        alone = train(left, LEARNING, terms, settings)
        evaluation = found.evaluation
        assert evaluation.patterns is not None
        assert [each.name for each in evaluation.patterns.patterns] == ["edge", *(["moves"] if terms.patterns else [])]
        assert evaluation.most_specific == terms.most_specific
        start = edges.weight_count
        np.testing.assert_array_equal(evaluation.pattern_weights[:, :start], prior.pattern_weights)
        assert np.isnan(found.weights.match_counts[:, :start]).all()
        np.testing.assert_array_equal(found.weights.match_counts[:, start:], alone.weights.match_counts)
        both = prior.predict(positions.positions) + alone.evaluation.predict(positions.positions)
        np.testing.assert_allclose(evaluation.predict(positions.positions), both, atol=2e-2)


def test_a_phase_that_cannot_be_fitted_keeps_its_prior() -> None:
    assert LEARNING.sample is not None
    positions = LEARNING.sample()
    terms = Terms(PatternSet.named(LEARNING, "logistello"), linear=LEARNING.linear)
    settings = FitSettings(ConjugateGradient(iterations=6, patience=2), l2=20, smoothing=0)
    prior = train(positions, LEARNING, terms, settings).evaluation
    own = prior.predict(positions.positions)
    noise = np.random.default_rng(2).normal(0, 4, len(own))
    later = evolve(positions, label=own + noise)
    found = train(later, LEARNING, Terms.of(prior), settings, held_out=later.held_out_mask(0.2), prior=prior)
    kept = [number for number, result in enumerate(found.weights.results) if result and not result.improved]
    assert kept
    assert "keeps its prior" in found.warnings[0]
    for number in kept:
        np.testing.assert_array_equal(found.evaluation.pattern_weights[number], prior.pattern_weights[number])


def test_chosen_penalties_follow_the_noise() -> None:
    assert LEARNING.sample is not None
    positions = LEARNING.sample()
    corner = PatternSet.from_names(LEARNING.features, {"corner": ("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3")})
    generator = np.random.default_rng(3)
    truth = generator.normal(size=corner.weight_count)[corner.indices(LEARNING.features.values(positions.positions))]
    truth = truth.sum(0) - truth.sum(0).mean()
    noise = generator.normal(size=len(truth))
    for deviation in (1.0, 12.0):
        noisy = evolve(positions, label=(truth + deviation * noise).astype(np.float32))

        def error(l2: float | tuple[float, ...] | None, noisy: Positions = noisy) -> tuple[float, Training]:
            training = train(noisy, LEARNING, Terms(corner), FitSettings(ConjugateGradient(iterations=30), l2=l2))
            return float(np.mean((training.evaluation.predict(positions.positions) - truth) ** 2)), training

        found, training = error(None)
        # The variance of the noise by that of the weights.
        assert all(deviation**2 / 4 < each < deviation**2 * 4 for each in training.penalties)
        assert found < error(0.0)[0]
        assert all(found < error(tuple(factor * each for each in training.penalties))[0] for factor in (1 / 64, 64))
        assert training.evaluation.provenance["l2"].split()[0] == f"{training.penalties[0]:.3g}"


def test_a_few_held_out_games_are_fitted() -> None:
    assert LEARNING.sample is not None
    positions = LEARNING.sample()
    terms = Terms(PatternSet.from_names(LEARNING.features, {"edge": ("a1", "b1", "c1", "d1")}))
    games = np.unique(positions.game_key)
    weights = [
        train(positions, LEARNING, terms, held_out=held_out).evaluation.pattern_weights
        for held_out in (None, np.isin(positions.game_key, games[:19]), np.isin(positions.game_key, games[:20]))
    ]
    np.testing.assert_array_equal(weights[0], weights[1])
    assert (weights[0] != weights[2]).any()


@pytest.mark.parametrize("l2", [-1.0, float("inf"), float("nan"), "25", (1.0, -2.0), (1.0, float("inf"))])
def test_bad_penalties(l2: Any) -> None:
    with pytest.raises(BadInputError, match=r"l2 is .*, expected a number of at least 0"):
        FitSettings(ConjugateGradient(), l2=l2)


def test_a_penalty_for_each_phase_or_one_for_all() -> None:
    assert LEARNING.sample is not None
    terms = Terms(linear=LEARNING.linear)
    with pytest.raises(BadInputError, match="3 penalties for 13 fits"):
        train(LEARNING.sample(), LEARNING, terms, FitSettings(ConjugateGradient(iterations=1), l2=(1.0, 2.0, 3.0)))
