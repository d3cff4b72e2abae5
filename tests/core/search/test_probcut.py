"""Multi-ProbCut: the regression on scores of known law, parameters as arrays, files, and fitting end to end."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.features.learning import Learning, load_learning
from glem.core.game.game import Game
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions
from glem.core.search.probcut import _FORMAT, CHECKS, ProbCut
from glem.core.search.probcut_fitting import (
    ProbCutSample,
    check_depths_of,
    choose_positions,
    fit_probcut,
    regress_scores,
)
from glem.core.search.results import Limits, SearchResult
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.tasks.tasks import Workers
from glem.games.othello.solver.endgame import EndgameSolver
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.evaluation.linear_evaluations import change_header, mobility_evaluation
from tests.core.search.test_negascout import random_positions

SEARCHED = 8
NAMES = ("early", "middle", "late")


def scores_of_known_law(counts: tuple[int, ...], seed: int = 0) -> tuple[Any, Any]:
    """Scores that grow by phase-dependent noise from depth to depth of one parity, and phases."""
    generator = np.random.default_rng(seed)
    phases = np.repeat(np.arange(len(counts)), counts)
    scores = np.full((len(phases), SEARCHED + 1), np.nan)
    for depth in range(SEARCHED + 1):
        noise = generator.normal(scale=1.0 + phases)
        scores[:, depth] = (
            generator.normal(scale=12.0, size=len(phases)) if depth < 2 else 0.9 * scores[:, depth - 2] + 1 + noise
        )
    return scores, phases


def regressed(scores: Any, phases: Any, **options: Any) -> ProbCut:
    return regress_scores(scores, phases, NAMES, game="othello", unit="discs", **options)


@pytest.fixture(scope="module")
def probcut() -> ProbCut:
    return regressed(*scores_of_known_law((500, 500, 500)))


def test_checks_are_shallower_and_of_the_same_parity() -> None:
    for depth in range(61):
        checks = check_depths_of(depth)
        assert len(checks) <= CHECKS
        assert list(checks) == sorted(set(checks))
        assert all(0 <= check < depth and (depth - check) % 2 == 0 for check in checks)


def test_the_law_is_found(probcut: ProbCut) -> None:
    for depth in range(2, SEARCHED + 1):
        for place, check in enumerate(check_depths_of(depth)):
            steps = (depth - check) // 2
            powers = 0.9 ** np.arange(steps)
            expected = np.sqrt((powers**2).sum()) * (1.0 + np.arange(3))
            np.testing.assert_allclose(probcut.slopes[:, depth, place], 0.9**steps, atol=0.06)
            np.testing.assert_allclose(probcut.offsets[:, depth, place], powers.sum(), atol=0.6)
            np.testing.assert_allclose(probcut.deviations[:, depth, place], expected, rtol=0.12)
            assert (probcut.counts[:, depth, place] == 500).all()


def test_depths_beyond_the_searched_ones_are_extrapolated(probcut: ProbCut) -> None:
    assert len(probcut.check_depths) == 61
    for depth in range(SEARCHED + 1, 61):
        nearest = SEARCHED - (SEARCHED - depth) % 2
        for place, check in enumerate(check_depths_of(depth)):
            assert (probcut.counts[:, depth, place] == 0).all()
            assert (np.diff(probcut.deviations[:, depth, place]) > 0).all()
            assert set(probcut.slopes[:, depth, place]) <= set(probcut.slopes[:, nearest].ravel())
            if depth <= 2 * SEARCHED:
                true = np.sqrt((0.81 ** np.arange((depth - check) // 2)).sum()) * (1.0 + np.arange(3))
                np.testing.assert_allclose(probcut.deviations[:, depth, place], true, rtol=0.2)
    searched_alone = regressed(*scores_of_known_law((500, 500, 500)), deepest=SEARCHED)
    np.testing.assert_array_equal(searched_alone.deviations, probcut.deviations[:, : SEARCHED + 1])


def test_a_phase_with_few_positions_borrows_from_its_neighbours() -> None:
    scores, phases = scores_of_known_law((200, 5, 200))
    borrowed = regressed(scores, phases, least_positions=50)
    assert (borrowed.counts[1, 4] == [405 if check >= 0 else 0 for check in borrowed.check_depths[4]]).all()
    assert borrowed.counts[0, 4, 0] == 200


def test_scores_that_are_missing_are_left_out() -> None:
    scores, phases = scores_of_known_law((200, 200, 200))
    scores[:160, 6:] = np.nan
    fitted = regressed(scores, phases)
    assert fitted.counts[0, 4, 0] == 200
    assert fitted.counts[0, 6, 0] == 240


def test_too_little_is_refused() -> None:
    scores, phases = scores_of_known_law((3, 3, 3))
    with pytest.raises(BadInputError, match="for 9 positions only, at least 10"):
        regressed(scores, phases)
    with pytest.raises(BadInputError, match="depths up to 4"):
        regressed(scores[:, :5], phases)


def test_arrays_are_in_steps_of_the_evaluator(othello_learning: Learning, probcut: ProbCut) -> None:
    evaluator = evaluator_of(mobility_evaluation(othello_learning))
    with pytest.raises(BadInputError, match="3 phases and discs"):
        probcut.arrays(evaluator)
    names = tuple(othello_learning.phases.names)
    scores, phases = scores_of_known_law((60,) * len(names))
    fitted = regress_scores(scores, phases, names, game="othello", unit="discs").with_threshold(1.5)
    arrays = fitted.arrays(evaluator)
    assert arrays.depth_count == 61
    assert arrays.threshold == 1.5
    phase, depth, place = 7, 6, 0
    index = (phase * 61 + depth) * CHECKS + place
    assert arrays.check_depths[index] == check_depths_of(depth)[place]
    assert arrays.deviations[index] == fitted.deviations[phase, depth, place] * evaluator.steps_per_unit
    assert arrays.offsets[index] == fitted.offsets[phase, depth, place] * evaluator.steps_per_unit
    assert arrays.slopes[index] == fitted.slopes[phase, depth, place]


def test_a_file_gives_back_what_was_saved(probcut: ProbCut, tmp_path: Path) -> None:
    file = tmp_path / "probcut.npz"
    kept = evolve(probcut, provenance={"positions": "many"}, threshold=1.25)
    kept.save(file)
    loaded = ProbCut.load(file)
    assert (loaded.game, loaded.phases, loaded.unit) == (kept.game, kept.phases, kept.unit)
    assert (loaded.threshold, loaded.provenance) == (kept.threshold, kept.provenance)
    for name in ("check_depths", "slopes", "offsets", "deviations", "counts"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(kept, name))


@pytest.mark.parametrize(
    ("change", "explanation"),
    [({"phases": None}, "no glem probcut file"), ({"phases": ["one"]}, "shape"), ({"threshold": -1}, "threshold")],
)
def test_damaged_headers_are_refused(
    probcut: ProbCut, tmp_path: Path, change: dict[str, Any], explanation: str
) -> None:
    file = tmp_path / "probcut.npz"
    probcut.save(file)
    change_header(file, change)
    with pytest.raises(BadInputError, match=explanation):
        ProbCut.load(file)


def test_numbers_of_another_type_are_not_taken_for_others(probcut: ProbCut, tmp_path: Path) -> None:
    file = tmp_path / "probcut.npz"
    probcut.save(file)
    header, arrays = _FORMAT.read(file)
    _FORMAT.write(file, header, {**arrays, "check_depths": arrays["check_depths"].view(np.uint64)})
    with pytest.raises(BadInputError, match="check_depths is of uint64, expected int64"):
        ProbCut.load(file)


def test_parameters_that_make_no_sense_are_refused(probcut: ProbCut) -> None:
    with pytest.raises(BadInputError, match="positive"):
        evolve(probcut, deviations=np.zeros_like(probcut.deviations))
    with pytest.raises(BadInputError, match="not finite"):
        evolve(probcut, offsets=np.full_like(probcut.offsets, np.nan))
    with pytest.raises(BadInputError, match="do not fit the depth 4"):
        deeper = probcut.check_depths.copy()
        deeper[4, 0] = 4
        evolve(probcut, check_depths=deeper)


@pytest.fixture(scope="module")
def positions(othello_learning: Learning) -> Positions:
    """Positions of random games."""
    game = othello_learning.game
    found = [position for seed in range(12) for position in random_line(game, np.random.default_rng(seed))[0][8:52]]
    return Positions.from_positions(game, found, np.zeros(len(found)))


SAMPLE = ProbCutSample(depth=5, per_phase=12, deepest=8, seed=3)


def test_the_choice_does_not_depend_on_order_or_cutting(othello_learning: Learning, positions: Positions) -> None:
    evaluation = mobility_evaluation(othello_learning)
    whole = choose_positions(evaluation, [positions], 5, seed=1)
    order = np.random.default_rng(0).permutation(len(positions))
    shuffled = positions.select(order)
    parts = [shuffled.select(np.arange(start, min(start + 50, len(order)))) for start in range(0, len(order), 50)]
    cut = choose_positions(evaluation, parts, 5, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(whole, cut, strict=True))
    assert (np.bincount(othello_learning.phases.of(whole)) <= 5).all()
    other = choose_positions(evaluation, [positions], 5, seed=2)
    assert not all(np.array_equal(a, b) for a, b in zip(whole, other, strict=True))


def test_fitted_parameters_save_nodes(othello_learning: Learning, positions: Positions, tmp_path: Path) -> None:
    evaluation = mobility_evaluation(othello_learning)
    fitted = fit_probcut(evaluation, [positions], SAMPLE, folder=tmp_path / "work")
    assert len(fitted.check_depths) == 9
    with pytest.raises(BadInputError, match="other settings"):
        fit_probcut(evaluation, [positions], evolve(SAMPLE, seed=8), folder=tmp_path / "work")
    again = fit_probcut(evaluation, [positions], SAMPLE, workers=Workers(2))
    np.testing.assert_array_equal(fitted.deviations, again.deviations)
    position = position_at(positions.positions, 16)
    nodes = []
    for selective in (None, fitted.with_threshold(2.0), fitted.with_threshold(1.0)):
        searcher = Searcher(othello_learning.game, evaluator_of(evaluation), SearchSettings(probcut=selective))
        nodes.append(searcher.search(position, Limits(depth=8)).nodes)
    assert nodes[0] > nodes[1] > nodes[2]
    assert nodes[2] < 0.5 * nodes[0]


def test_at_the_end_of_the_game_searches_go_on_until_nothing_is_selective(othello: Game) -> None:
    evaluator = evaluator_of(load_value("default", othello))
    selective = load_learning("othello").default_probcut
    assert selective is not None
    searcher = Searcher(othello, evaluator, SearchSettings(probcut=selective()))
    wrong = 0
    for position in random_positions(othello, 20, range(48, 53), seed=9):
        score = EndgameSolver().solve(position).score * evaluator.steps_per_unit
        left = 64 - int(position.own | position.opponent).bit_count()
        seen: list[SearchResult] = []
        found = searcher.search(position, Limits(), on_iteration=seen.append)
        assert (found.proven, found.depth, found.lines[0].depth, found.score) == (True, left, left, score)
        assert not any(each.proven for each in seen[:-1])
        assert max(each.depth for each in seen) == left
        # Checks begin at depth 2, below a root of depth 3.
        assert [each.depth_text for each in seen[:4]] == ["1", "2", "3@68%", "4@68%"]
        beyond = [each.confidence or 0 for each in seen if each.depth == left and not each.proven]
        assert beyond == sorted(set(beyond))
        assert beyond[4] == pytest.approx(0.9545, abs=1e-4)  # Twice the threshold of one standard deviation.
        assert (seen[-1].depth_text, found.confidence) == (str(left), None)
        searcher.clear()
        to_a_depth = searcher.search(position, Limits(depth=60))
        assert (to_a_depth.depth, to_a_depth.proven) == (left, False)
        wrong += to_a_depth.score != score
    assert wrong


def test_the_command(terminal: Terminal, mobility: str, positions: Positions, tmp_path: Path) -> None:
    scored, output = tmp_path / "positions.parquet", tmp_path / "probcut.npz"
    write_positions(scored, positions)
    options = ("--depth", "5", "--per-phase", "6", "--deepest", "6", "--workers", "1", "--threshold", "1.7")
    printed = terminal("search", "probcut", mobility, scored, "-o", output, *options)
    assert "from depth" in printed
    assert printed.endswith(f"wrote {output}\n")
    loaded = ProbCut.load(output)
    assert (loaded.threshold, len(loaded.check_depths), loaded.unit) == (1.7, 7, "discs")
    assert not Path(f"{output}.work").exists()
