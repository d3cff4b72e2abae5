"""Patterns by machine: strengths against an oracle, planted patterns found, the command."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.configurations.mining import mine
from glem.core.discovery import pattern_design
from glem.core.discovery.candidates import draw_sample
from glem.core.discovery.pattern_design import DesignPlan, design_patterns, strengths
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning
from glem.core.fitting.least_squares import Terms, train
from glem.core.patterns.pattern import images_of
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions
from tests.core.cli.terminal import Terminal
from tests.oracles import pattern_strengths
from tests.othello import LEARNING, sample_of_games

FEATURES = LEARNING.features
PLAN = DesignPlan(instances=12, maximum_size=4, seeds=3)


@pytest.fixture(scope="module")
def planted() -> Positions:
    """Positions whose labels are what each edge has at c1, d1 and e1, a parity, and noise."""
    sample = draw_sample(sample_of_games(400), 20_000, 1)
    values = FEATURES.values(sample.positions)
    label = np.random.default_rng(2).normal(0, 4, len(sample))
    for image in images_of(FEATURES, [FEATURES.index(name) for name in ("c1", "d1", "e1")]):
        label += 8 * (values[:, image].astype(int).sum(axis=1) % 2)
    return evolve(sample, label=label.astype(np.float32))


@pytest.mark.parametrize("symmetries", [[[0, 1, 2, 3, 4]], [[0, 1, 2, 3, 4], [1, 0, 2, 4, 3]]])
def test_strengths_are_those_of_the_oracle(symmetries: list[list[int]]) -> None:
    generator = np.random.default_rng(0)
    values = generator.integers(0, 3, (300, 5)).astype(np.int16)
    labels = (values[:, 0] * values[:, 1] - 2 * (values[:, 2] == values[:, 3]) + generator.integers(0, 5, 300)).astype(
        float
    )
    mined = mine(values, minimum_matches=1, maximum_size=3).flatten()
    found = strengths(mined, np.asfortranarray(values), labels, np.array(symmetries))
    for own, expected in zip(found, pattern_strengths.strengths(values, labels, symmetries), strict=True):
        np.testing.assert_allclose(own, expected, atol=1e-9)


def test_a_planted_pattern_is_found_first(planted: Positions) -> None:
    found = design_patterns(planted, LEARNING, PLAN)
    names = {FEATURES[feature].name for feature in found[0].features}
    edges = [{FEATURES[feature].name for feature in image} for image in images_of(FEATURES, [2, 3, 4])]
    assert any(edge <= names for edge in edges), names
    assert found[0].gain > 0.2
    assert sum(pattern.instances for pattern in found) <= PLAN.instances
    assert len({pattern.features for pattern in found}) == len(found)
    assert design_patterns(planted, LEARNING, PLAN, jobs=2) == found


@pytest.fixture(scope="module")
def prior(planted: Positions) -> LinearEvaluation:
    """Linear fit to the positions."""
    return train(planted, LEARNING, Terms(linear=LEARNING.linear)).evaluation


def test_a_planted_table_of_two_counts_is_added_first(planted: Positions, prior: LinearEvaluation) -> None:
    pair = tuple(sorted(FEATURES.index(name) for name in ("mobility", "opponent_frontier")))
    values = FEATURES.values(planted.positions)[:, pair].astype(int)
    noise = np.random.default_rng(3).normal(0, 4, len(planted))
    given = evolve(planted, label=prior.predict(planted.positions) + 8 * (values.sum(axis=1) % 2) + noise)
    plan = DesignPlan(instances=8)
    found = design_patterns(given, LEARNING, plan, prior=prior)
    assert found[0].features == pair and found[0].gain > 0.05
    assert design_patterns(given, LEARNING, plan, prior=prior, jobs=2) == found
    # Who has it already is not offered it again.
    owner = prior.with_patterns(PatternSet.from_names(FEATURES, {"own": ("opponent_frontier", "mobility")}))
    assert pair not in [pattern.features for pattern in design_patterns(given, LEARNING, plan, prior=owner)]


def test_little_is_added_where_noise_is_left(planted: Positions, prior: LinearEvaluation) -> None:
    label = prior.predict(planted.positions) + np.random.default_rng(4).normal(0, 4, len(planted))
    # Nothing at all is an error.
    with contextlib.suppress(BadInputError):
        found = design_patterns(evolve(planted, label=label), LEARNING, prior=prior)
        assert len(found) <= 3 and all(pattern.gain < 0.002 for pattern in found)


def test_the_search_ends_where_nothing_explains_more_beside_the_others(
    planted: Positions, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = list[int]()
    unexplained = pattern_design._unexplained

    def never_better(sample: Positions, learning: Learning, chosen: list[tuple[int, ...]], *how: Any) -> Any:
        fits.append(len(chosen))
        return unexplained(sample, learning, (), *how)

    monkeypatch.setattr(pattern_design, "_unexplained", never_better)
    monkeypatch.setattr(pattern_design, "_REFUSALS", 1)
    assert design_patterns(planted, LEARNING, PLAN) == []
    assert fits == [0, 1]


def test_bad_plans_and_labels(planted: Positions) -> None:
    with pytest.raises(BadInputError, match="maximum_size is 1"):
        DesignPlan(maximum_size=1)
    with pytest.raises(BadInputError, match="too few"):
        design_patterns(planted.select(slice(0, 500)), LEARNING)
    with pytest.raises(BadInputError, match="nothing is left"):
        design_patterns(evolve(planted, label=np.zeros(len(planted), np.float32)), LEARNING)


def test_command(terminal: Terminal, tmp_path: Path, planted: Positions) -> None:
    positions, output = tmp_path / "planted.parquet", tmp_path / "patterns.txt"
    write_positions(positions, planted)
    found = terminal.json("discover", "patterns", positions, "--instances", "8", "--size", "3", "-o", output)
    names = PatternSet.named(LEARNING, output).names
    assert names == {pattern["name"]: pattern["features"] for pattern in found["patterns"]}
    assert sum(pattern["instances"] for pattern in found["patterns"]) == 8
    assert output.read_text().count("#") > 3
    counts = {feature.name for feature in FEATURES.features if feature.cell is None}
    model, added = tmp_path / "model.npz", tmp_path / "added.txt"
    terminal.json("fit", positions, "--patterns", output, "--iterations", "8", "-o", model)
    more = terminal.json("discover", "patterns", positions, "--prior", model, "--instances", 8, "-o", added)["patterns"]
    assert (
        more and sum(pattern["instances"] * (4 if set(pattern["features"]) <= counts else 1) for pattern in more) <= 8
    )
    terminal.json("fit", positions, "--prior", model, "--patterns", added, "--iterations", 2, "-o", tmp_path / "b.npz")
    assert "input" in terminal.fails("discover", "patterns", positions, "-o", positions)
    assert "instances explains" in terminal.fails("discover", "patterns", positions, "--instances", "1", "-o", output)
    assert "no such file" in terminal.fails("discover", "patterns", tmp_path / "none.parquet", "-o", output).lower()
