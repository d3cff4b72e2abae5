"""All checks of an installed game, one after the other: what ``glem check`` runs."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from glem.core.conformance.evaluation import check_evaluation, random_evaluation
from glem.core.conformance.fitters_and_measures import check_fitter, check_measure
from glem.core.conformance.learning import check_learning
from glem.core.conformance.report import CheckResult, ConformanceReport
from glem.core.conformance.rules import check_game
from glem.core.errors import BadInputError, GlemError
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning, has_learning, load_learning
from glem.core.fitting.fitters.by_scores import LeastSquares
from glem.core.fitting.fitters.fitter import Fitter
from glem.core.game.game import load_game
from glem.core.measures.measure import Measure
from glem.core.tasks.progress import SILENT, Progress

PARTS = ("rules", "learning", "evaluation", "fitter")
"""Parts of the suite, in order."""

_LEARNING_GAMES = 20
_EVALUATION_GAMES = 10
_FITTER_GAMES = 5


def check_plugin(
    name: str,
    *,
    only: Collection[str] = (),
    games: int = 40,
    seed: int = 0,
    plain: bool = False,
    progress: Progress = SILENT,
) -> tuple[ConformanceReport, ...]:
    """Examine an installed game: its rules, what it gives to learning, an evaluation, and the default fitter on it.

    The evaluation is the one that comes with the game, else one of random weights over its first pattern set; so it is
    where a user adds features. A part that builds on one that breaks a promise is not looked at, and its report says
    so.

    Parameters
    ----------
    only
        Of :data:`PARTS`; all if empty.
    games, seed
        Number of random games for the rules, fewer for the other parts, and the seed of everything that is random.
    plain
        The plain rules alone.

    Returns
    -------
    tuple
        One report per part.

    Raises
    ------
    PluginError
        The game cannot be loaded.
    BadInputError
        There are no games to play.
    """
    if games < 1:
        raise BadInputError(f"a conformance check needs at least one game, got {games}")
    game = load_game(name)
    reports: list[ConformanceReport] = []
    for part in PARTS:
        if (only and part not in only) or (plain and part != "rules"):
            continue
        if part == "rules":
            reports.append(check_game(game, games=games, seed=seed, plain=plain, progress=progress))
            continue
        report = ConformanceReport(f"{part} of {game.title}")
        if not all(earlier.passed for earlier in reports):
            report.results.append(_skipped("what it builds on breaks a promise"))
        elif not has_learning(name):
            report.results.append(_skipped("the game gives nothing to learning"))
        else:
            try:
                report = _examine_part(part, load_learning(name), games, seed, progress)
                # Report by report, so that a set that cannot be loaded says so behind those that can.
                for other in load_learning(name).feature_sets if part == "learning" else ():
                    reports.append(report)
                    report = ConformanceReport(f"feature set {other} of {game.title}")
                    report = _examine_part(part, load_learning(name, other), games, seed, progress)
            except GlemError as error:
                report.results.append(CheckResult("load", "it can be loaded", 1, [str(error)], 1))
        reports.append(report)
    return tuple(reports)


def check_own(
    name: str,
    *,
    fitters: Iterable[Fitter] = (),
    measures: Mapping[str, Measure] | None = None,
    games: int = 20,
    seed: int = 0,
    progress: Progress = SILENT,
) -> tuple[ConformanceReport, ...]:
    """Examine fitters and measures on positions of a game's random games; the game itself is relied upon.

    Parameters
    ----------
    name
        Of the game.
    measures
        By their names.

    Raises
    ------
    PluginError
        The game cannot be loaded, or gives nothing to learning.
    BadInputError
        There are no games to play.
    """
    learning = load_learning(name)
    how: Any = {"games": games, "seed": seed, "progress": progress}
    own = [check_fitter(fitter, learning, **how) for fitter in fitters]
    return (*own, *(check_measure(key, measure, learning, **how) for key, measure in (measures or {}).items()))


def _examine_part(part: str, learning: Learning, games: int, seed: int, progress: Progress) -> ConformanceReport:
    if part == "learning":
        return check_learning(learning, games=min(games, _LEARNING_GAMES), seed=seed, progress=progress)
    if part == "fitter":
        return check_fitter(LeastSquares(), learning, games=min(games, _FITTER_GAMES), seed=seed, progress=progress)
    own = None if learning.features.sources else learning.default_evaluation
    evaluation = random_evaluation(learning, seed) if own is None else value_part(own())
    return check_evaluation(evaluation, games=min(games, _EVALUATION_GAMES), seed=seed, progress=progress)


def _skipped(reason: str) -> CheckResult:
    return CheckResult("all", "see the documentation", skipped=reason)
