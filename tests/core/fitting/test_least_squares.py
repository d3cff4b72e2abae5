"""From positions to an evaluation: phases that cannot be fitted."""

import numpy as np
import pytest

from glem.core.evaluation.links import LINKS, link_of
from glem.core.fitting.conjugate import ConjugateGradient
from glem.core.fitting.least_squares import FitSettings, Terms, train
from glem.core.patterns.patterns import PatternSet
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
