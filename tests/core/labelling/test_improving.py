from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import scaled_sigmoid
from glem.core.evaluation.named import load_value
from glem.core.evaluation.provenance import FITTED_FILES
from glem.core.fitting.conjugate import ConjugateGradient
from glem.core.fitting.least_squares import FitSettings
from glem.core.labelling.by_search import SearchLabelling
from glem.core.labelling.improving import Generation, ImproveSettings, improve
from glem.core.players.spec import parse_player
from glem.core.players.thinker import Thinker
from glem.core.positions.files import read_positions, write_positions
from glem.core.positions.positions import Positions
from glem.core.tasks.tasks import Workers
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.labelling.labelling_examples import exact_value, some_positions
from tests.othello import LEARNING, OTHELLO

FIRST = mobility_evaluation(LEARNING)
SETTINGS = ImproveSettings(
    SearchLabelling(parse_player("depth=2,solve=6,table=1"), positions_per_task=100),
    FitSettings(ConjugateGradient(iterations=20), l2=1.0),
    positions_per_phase=60,
    validation=0.0,
)


@pytest.fixture(scope="module")
def positions() -> Positions:
    return some_positions(OTHELLO, 1500)


def test_a_generation_of_another_link_is_refused(positions: Positions, tmp_path: Path) -> None:
    settings = attrs.evolve(SETTINGS, fit=FitSettings(ConjugateGradient(iterations=20), link=scaled_sigmoid(64)))
    with pytest.raises(BadInputError, match="has the identity link, the next generation would have the sigmoid one"):
        improve(positions, FIRST, settings, tmp_path / "work")


@pytest.fixture(scope="module")
def made(positions: Positions, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("generations") / "work"
    return improve(positions, FIRST, SETTINGS, folder), folder


def test_every_phase_is_fitted_to_searches_with_the_phases_behind_it(
    positions: Positions, made: tuple[Generation, Path]
) -> None:
    found, folder = made
    phases = LEARNING.phases
    counts = np.bincount(phases.of(positions.positions), minlength=len(phases))
    assert found.given == tuple(np.minimum(counts, 60))
    for phase in (5, 9):
        # The labels were made with the new weights behind the phase and the old ones from it on.
        weights, bias = FIRST.linear_weights.copy(), FIRST.bias.copy()
        weights[phase + 1 :] = found.evaluation.linear_weights[phase + 1 :]
        bias[phase + 1 :] = found.evaluation.bias[phase + 1 :]
        before = attrs.evolve(FIRST, linear_weights=weights, bias=bias)
        path = folder / "before.npz"
        before.save(path)
        labeller = Thinker(OTHELLO, parse_player(f"{path},depth=2,solve=6,table=1"))
        labelled = read_positions(folder / f"labelled-{phase:02d}.parquet")
        assert len(labelled) == found.labelled[phase] > found.given[phase]
        for row in range(0, 20, 2):
            assert labelled.label[row] == np.float32(labeller.judge(position_at(labelled.positions, row)).score)
    assert not np.array_equal(found.evaluation.linear_weights, FIRST.linear_weights)


def test_labels_of_the_last_phase_are_exact(made: tuple[Generation, Path]) -> None:
    _, folder = made
    labelled = read_positions(folder / "labelled-12.parquet")
    assert len(labelled) > 60
    for row in range(20):
        assert labelled.label[row] == exact_value(OTHELLO, position_at(labelled.positions, row))


def test_an_interrupted_run_continues_and_workers_do_not_matter(
    positions: Positions, made: tuple[Generation, Path], tmp_path: Path
) -> None:
    found, folder = made
    for phase in (3, 2, 1, 0):
        (folder / f"fitted-{phase:02d}.npz").unlink()
    (folder / "labelled-02.parquet").unlink()
    again = improve(positions, FIRST, SETTINGS, folder, workers=Workers(2))
    assert again.labelled == found.labelled
    assert np.array_equal(again.evaluation.linear_weights, found.evaluation.linear_weights)
    assert np.array_equal(again.evaluation.bias, found.evaluation.bias)
    with pytest.raises(BadInputError, match="other settings"):
        improve(positions, FIRST, attrs.evolve(SETTINGS, seed=1), folder)
    (folder / "work.json").unlink()
    with pytest.raises(BadInputError, match=r"no work\.json that tells how it came about"):
        improve(positions, FIRST, attrs.evolve(SETTINGS, seed=1), folder)


def test_a_phase_without_positions_keeps_its_weights(positions: Positions, tmp_path: Path) -> None:
    phase = LEARNING.phases.of(positions.positions)
    few = positions.select((phase >= 10) & (phase != 11))
    found = improve(few, FIRST, attrs.evolve(SETTINGS, validation=0.3), tmp_path / "work")
    assert found.given[11] == 0
    kept = [row for row in range(len(LEARNING.phases)) if row not in {10, 12}]
    assert np.array_equal(found.evaluation.linear_weights[kept], FIRST.linear_weights[kept])
    assert not np.array_equal(found.evaluation.linear_weights[10], FIRST.linear_weights[10])
    assert np.isfinite([found.errors[10], found.errors[12]]).all()
    assert np.isnan(found.errors[11])


def test_a_labeller_that_cannot_be_made_leaves_nothing_behind(positions: Positions, tmp_path: Path) -> None:
    for text in ("depth=2,table=99999999", f"depth=2,probcut={tmp_path}"):
        labelling = attrs.evolve(SETTINGS.labelling, labeller=parse_player(text))
        with pytest.raises(BadInputError, match=r"MB|directory"):
            improve(positions, FIRST, attrs.evolve(SETTINGS, labelling=labelling), tmp_path / "work")
        assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("settings", "changes", "message"),
    [
        (SETTINGS.fit, {"l2": float("nan")}, "penalty"),
        (SETTINGS.fit, {"l2": -1.0}, "penalty"),
        (SETTINGS.fit, {"smoothing": float("nan")}, "smoothing"),
        (SETTINGS, {"positions_per_phase": 0}, "one position"),
        (SETTINGS, {"validation": 1.0}, "share"),
    ],
)
def test_bad_settings_are_refused(settings: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        attrs.evolve(settings, **changes)


def test_command(positions: Positions, terminal: Terminal, tmp_path: Path) -> None:
    first, some, target = (tmp_path / name for name in ("first.npz", "some.parquet", "second.npz"))
    told = {"labels": "result", "fitter": "by hand", FITTED_FILES: "0123 old.parquet"}
    given = load_value("default", OTHELLO)
    attrs.evolve(given, provenance=told).save(first)
    write_positions(some, positions.select(positions.ply >= 50))
    common = (some, "-o", target, "--workers", 1, "--held-out", 0)
    out = terminal("improve", first, *common, "--by", "depth=1,solve=4", "--positions-per-phase", 5)
    assert "Fitted from the end backwards" in out
    improved = LinearEvaluation.load(target)
    assert improved.linear == given.linear
    assert improved.provenance["labels"].startswith("search; ")
    assert improved.provenance["labelled by"] == "the newest generation, depth=1, solve=4"
    assert improved.provenance["generation before"] == "labels: result; fitter: by hand"
    assert improved.provenance["fitter"].startswith("ConjugateGradient(")
    files = [line.split()[1] for line in improved.provenance[FITTED_FILES].splitlines()]
    assert files == ["some.parquet", "old.parquet"]
    assert not Path(f"{target}.work").exists()
    finite = "near-even positions must be finite"
    for words, told_of in (("--by other.npz", "--by"), ("--even-within inf", finite), ("--even-within nan", finite)):
        assert told_of in terminal.fails("improve", "default", *common, *words.split())
