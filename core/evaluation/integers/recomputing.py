"""Evaluations for the search: the game's own fast form where it has one, else one that works for every game.

The general form keeps nothing from move to move. It computes all feature values of a position, then adds up the 16-bit
weights of what is active: the bias, patterns, configurations, linear features.
"""

import math
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled, inlined
from glem.core.compiling.operations import Operations, bound
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.configuration_sums import ActiveTables, build_active_tables, sum_of_active
from glem.core.evaluation.integers.layer_sums import NO_LAYER, LayerTables, build_layer, layer_steps
from glem.core.evaluation.integers.pattern_sums import (
    BLOCK,
    PatternTables,
    build_pattern_tables,
    sum_of_patterns,
    values_in,
    write_indices,
)
from glem.core.evaluation.integers.quadratic_sums import (
    MOST_TERMS,
    NO_QUADRATIC,
    QUADRATIC_STEPS,
    QuadraticTables,
    build_quadratic_tables,
    quadratic_score,
)
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.quadratic import QuadraticEvaluation
from glem.core.features.evaluators import Evaluator, start_nothing, update_nothing
from glem.core.patterns.patterns import PatternSet

_LARGEST_LOG_ODDS = 16
"""Winning chances of one in nine million and less count as such."""

_LARGEST_SCORE = 32767
"""Steps, where neither a link nor graded results bound an evaluation."""


def evaluator_of(evaluation: LinearEvaluation) -> Evaluator:
    """Make the form of an evaluation of any game that the search uses.

    Returns
    -------
    Evaluator
        Of :attr:`Learning.make_evaluator <glem.core.features.learning.Learning.make_evaluator>` (for quadratic ones
        ``make_quadratic_evaluator``) where that covers the evaluation, else :func:`recomputing_evaluator`; plugins
        cover no added features. Its score is the integer sum of the weights of :meth:`LinearEvaluation.in_play`, in
        steps of 1 / :attr:`PlayWeights.scale`, within :func:`score_limit`; under the logistic link these are log odds,
        not winning chances.
    """
    known = evaluation.of_plugin()
    make_evaluator = evaluation.learning.make_evaluator
    if isinstance(evaluation, QuadraticEvaluation):
        make_evaluator = evaluation.learning.make_quadratic_evaluator
    fast = make_evaluator(known) if make_evaluator is not None and known is not None else None
    # A plugin that computes its features by what is no plain function says so by its own form.
    plugin = evaluation.learning.features.plugin
    plain = plugin is not None and not isinstance(plugin.write, FunctionType)
    return fast if fast is not None else recomputing_evaluator(evaluation, plain=plain)


def score_limit(evaluation: LinearEvaluation, steps_per_unit: float) -> int:
    """Greatest absolute score, in steps, that an evaluation is given in the search.

    No evaluation promises more than the greatest final score where a game's scores tell by how much it is won; log odds
    are cut off where they no longer mean anything.
    """
    if evaluation.link == LOGISTIC:
        return round(_LARGEST_LOG_ODDS * steps_per_unit)
    return round(_greatest_final_score(evaluation) * steps_per_unit) if _is_graded(evaluation) else _LARGEST_SCORE


def search_unit(evaluation: LinearEvaluation) -> str:
    """Name the unit of the evaluation's scores in the search."""
    return "log odds" if evaluation.link == LOGISTIC else evaluation.learning.label_unit


def _greatest_final_score(evaluation: LinearEvaluation) -> int:
    return evaluation.learning.game.greatest_score


def _is_graded(evaluation: LinearEvaluation) -> bool:
    """Whether final scores tell more than who has won."""
    return _greatest_final_score(evaluation) > 1


class WeightTables(NamedTuple):
    """An evaluation as :func:`_static_score` reads it; F features, K phases, L linear features.

    Parameters
    ----------
    width, index_start
        int64: words of a row of the accumulators, which is room for feature values, and from ``index_start`` on for
        indices of patterns.
    features, linear_count
        int64: F and L.
    patterns
        The patterns.
    linear, linear_weights
        int32 [L] features; int16 [K * L].
    bias
        int64 [K].
    active
        The configurations.
    layer
        The hidden layer; its instances are those of the patterns.
    quadratic
        The form of a quadratic evaluation; its terms stand in the words from ``index_start`` on, behind the indices.
    span, low, steps
        float64: height and lower bound of a sigmoid link, steps per label unit; span 0 for other links.
    limit
        int64: greatest absolute score.
    """

    width: np.int64
    index_start: np.int64
    features: np.int64
    linear_count: np.int64
    patterns: PatternTables
    linear: NDArray[np.int32]
    linear_weights: NDArray[np.int16]
    bias: NDArray[np.int64]
    active: ActiveTables
    layer: LayerTables
    quadratic: QuadraticTables
    span: np.float64
    low: np.float64
    steps: np.float64
    limit: np.int64


write_values: Any = None
phase_of: Any = None
"""Stand for the game's functions, in copies of those below; see :func:`~glem.core.compiling.operations.bound`."""


def _static_score(position: Any, data: WeightTables, accumulators: Any, ply: int) -> np.int64:
    row = np.int64(ply) * data.width
    write_values(position, values_in(accumulators, row, data.features))
    return _score_of_values(accumulators, row, data, np.int64(phase_of(position)))


@inlined
def _score_of_values(words: Any, row: np.int64, data: WeightTables, phase: np.int64) -> np.int64:
    """Score of the position whose feature values begin at a word of the accumulators."""
    values = values_in(words, row, data.features)
    if data.quadratic.terms > np.int64(0):
        first = row + data.index_start
        write_indices(values, data.patterns, words, first)
        room = first + np.int64(BLOCK) * data.patterns.blocks
        found = quadratic_score(data.quadratic, values, words, first, room, data.patterns, phase)
        return min(max(found, -data.limit), data.limit)
    total: np.int64 = data.bias[phase]
    if data.patterns.instances > np.int64(0):
        total += sum_of_patterns(values, data.patterns, phase, words, row + data.index_start)
    if data.layer.units > np.int64(0):
        patterns = data.patterns
        total += layer_steps(words, row + data.index_start, patterns.instances, patterns.starts, data.layer, phase)
    for place in range(data.linear_count):
        weight = np.int64(data.linear_weights[phase * data.linear_count + place])
        total += weight * np.int64(values[data.linear[place]])
    if data.active.configurations > np.int64(0):
        total += sum_of_active(values, data.active, phase)
    if data.span != np.float64(0.0):
        # The link with one rounding: 1 / (1 + exp(-x)) is (1 + tanh(x / 2)) / 2.
        share = 0.5 * (1.0 + math.tanh(0.5 * np.float64(total) / data.steps))
        total = np.int64(np.rint((data.span * share + data.low) * data.steps))
    return min(max(total, -data.limit), data.limit)


class _PlainScore:
    """:func:`_static_score` for functions that numba cannot compile, with all that comes after them compiled."""

    def __init__(self, write: Callable[..., None], phase_of: Callable[..., int]) -> None:
        self.write, self.phase_of = write, phase_of
        self._known: tuple[Any, Any] = (None, None)

    def __reduce__(self) -> Any:
        # Addresses hold in one process.
        return _PlainScore, (self.write, self.phase_of)

    def __call__(self, position: Any, data: WeightTables, accumulators: Any, ply: int) -> int:
        known = self._known
        if known[0] is not data:
            # One assignment: another thread may search with another evaluation.
            known = self._known = data, Borrowed(data)
        row = np.int64(ply) * data.width
        self.write(position, values_in(accumulators, row, data.features))
        score: Callable[..., Any] = compiled(_score_of_values)
        return int(score(accumulators, row, known[1], np.int64(self.phase_of(position))))


@cache
def _operations(game: str, write: Callable[..., None], phase: Callable[..., int], plain: bool) -> Operations:
    static_score = _PlainScore(write, phase) if plain else bound(_static_score, write_values=write, phase_of=phase)
    functions: dict[str, Callable[..., Any]] = {
        "start": start_nothing,
        "update": update_nothing,
        "static_score": static_score,
        "search_phase": phase,
    }
    return Operations(f"{game}-evaluation", functions)


def recomputing_evaluator(evaluation: LinearEvaluation, *, plain: bool = False) -> Evaluator:
    """Make an evaluator of any linear evaluation of any game, which computes everything from the position.

    Under a sigmoid link scores are the link's values; else see :func:`evaluator_of`.

    Parameters
    ----------
    plain
        Whether the game's features and phases are known not to compile: their sums are compiled without them. As
        :attr:`Learning.make_evaluator <glem.core.features.learning.Learning.make_evaluator>` of such a game give
        ``partial(recomputing_evaluator, plain=True)``.
    """
    learning = evaluation.learning
    if evaluation.network is not None and evaluation.network.has_views:
        raise BadInputError(f"no search of {learning.game.title} takes a hidden layer over views beside other terms")
    data, features = _weight_tables(evaluation), learning.features
    return Evaluator(
        name="quadratic evaluation" if data.quadratic.terms else "linear evaluation",
        operations=_operations(
            learning.game.name, features.write_in_search or features.write, learning.phases.phase_of, plain
        ),
        data=data,
        width=int(data.width),
        phase_count=len(learning.phases),
        steps_per_unit=float(data.steps),
        limit=int(data.limit),
        unit=search_unit(evaluation),
        result_only=evaluation.link == LOGISTIC or not _is_graded(evaluation),
        keeps_scores=True,
    )


def _weight_tables(evaluation: LinearEvaluation) -> WeightTables:
    features = evaluation.learning.features
    patterns = PatternSet(features, ()) if evaluation.patterns is None else evaluation.patterns
    no_weights, quadratic = np.zeros((len(evaluation.bias), 0), np.int16), NO_QUADRATIC
    linear, bias, layer = no_weights, np.zeros(len(evaluation.bias), np.int64), NO_LAYER
    if isinstance(evaluation, QuadraticEvaluation):
        steps, configurations = QUADRATIC_STEPS, no_weights
        quadratic, weights = build_quadratic_tables(evaluation)
    else:
        played = evaluation.in_play()
        steps, configurations = played.scale, played.configurations
        layer = build_layer(evaluation, steps)
        weights, linear, bias = played.patterns, played.linear, played.bias.astype(np.int64)
    tables = build_pattern_tables(patterns, weights, apart=bool(quadratic.terms))
    index_start = -(-len(features) // BLOCK) * BLOCK
    is_sigmoid = evaluation.link.span != 0.0 and evaluation.link != LOGISTIC
    return WeightTables(
        width=np.int64(index_start + BLOCK * int(tables.blocks) + (MOST_TERMS if quadratic.terms else 0)),
        index_start=np.int64(index_start),
        features=np.int64(len(features)),
        linear_count=np.int64(linear.shape[1]),
        patterns=tables,
        linear=np.array(evaluation.linear, np.int32),
        linear_weights=linear.ravel(),
        bias=bias,
        active=build_active_tables(evaluation.configurations, configurations, evaluation.most_specific),
        layer=layer,
        quadratic=quadratic,
        span=np.float64(evaluation.link.span if is_sigmoid else 0.0),
        low=np.float64(evaluation.link.low if is_sigmoid else 0.0),
        steps=np.float64(steps),
        limit=np.int64(score_limit(evaluation, steps)),
    )
