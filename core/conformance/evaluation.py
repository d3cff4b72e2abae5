"""Checks of an evaluation: its values, its files, and its form in the search."""

import functools
import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.conformance.playouts import Sample, sample_of
from glem.core.conformance.report import BrokenPromise, CheckResult, ConformanceReport, NotApplicable, Suite
from glem.core.errors import PluginError
from glem.core.evaluation.integers.recomputing import evaluator_of, recomputing_evaluator
from glem.core.evaluation.linear import EVALUATION_ARRAYS, LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.network import ONE_UNIT, Network, NetworkInPlay, can_be_layered
from glem.core.features.evaluators import NULL_MOVE, Evaluator, start, static_score, update
from glem.core.features.learning import Learning, load_learning
from glem.core.patterns.patterns import PatternSet
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.tasks.progress import SILENT, Progress

_ROUNDING = 1e-5
"""Share of the sum of all active weights' sizes by which sums in float32 may differ."""

_FIRST_PLY = 3
"""Plies of the accumulators before that at which a line begins: nothing may be written there."""

_PLAIN_GAMES = 2
_SEARCHED_POSITIONS = 4
_SEARCH_DEPTH = 2
_SEARCH_TABLE_MB = 1
_SENTINEL = np.uint16(0xA5A5)

_EVALUATION = Suite()

_Values = Callable[[int], NDArray[np.int16]]
"""Values of the features in a row of the sample, from plain code."""


def random_evaluation(learning: Learning, seed: int = 0) -> LinearEvaluation:
    """Make an evaluation of random weights over the game's first pattern set and its linear features.

    Linear features that are images of each other share a weight, and those with an image outside of them have none, so
    that a position and its images have one value.
    """
    generator = np.random.default_rng(seed)
    phases = len(learning.phases)
    patterns = None
    if learning.pattern_sets:
        patterns = PatternSet.from_names(learning.features, next(iter(learning.pattern_sets.values())))
    # A tenth of the scores' range in all, so that hardly any score is cut off at the limit.
    size = 0.1 * max(1, learning.game.greatest_score)
    linear = _closed(learning, [learning.features.index(name) for name in learning.linear])

    def weights(*shape: int) -> NDArray[np.float32]:
        return (generator.standard_normal(shape) * size / max(1, len(linear) + 4)).astype(np.float32)

    own = weights(phases, len(learning.features))
    if learning.features.symmetries is not None:
        own = np.mean([own[:, image] for image in learning.features.symmetries], axis=0).astype(np.float32)
    return LinearEvaluation(
        learning,
        bias=weights(phases),
        patterns=patterns,
        pattern_weights=weights(phases, patterns.weight_count if patterns is not None else 0),
        linear=linear,
        linear_weights=own[:, list(linear)] / np.float32(8),
    )


def _closed(learning: Learning, features: list[int]) -> tuple[int, ...]:
    """Those of some features all of whose images are among them."""
    symmetries = learning.features.symmetries
    if symmetries is None:
        return tuple(features)
    return tuple(feature for feature in features if set(symmetries[:, feature].tolist()) <= set(features))


def check_evaluation(
    evaluation: LinearEvaluation,
    *,
    games: int = 10,
    seed: int = 0,
    plain: bool = False,
    progress: Progress = SILENT,
) -> ConformanceReport:
    """Examine an evaluation on the positions of random games.

    Its values must be the sums of what is active, equal for a position and its images, and survive a file; its forms in
    the search (:attr:`Learning.make_evaluator <glem.core.features.learning.Learning.make_evaluator>` and the general
    ones) must give the integer scores of :meth:`~glem.core.evaluation.linear.LinearEvaluation.in_play` along games, and
    the plain and the compiled search must agree.

    Parameters
    ----------
    evaluation
        Of a game that passes :func:`~glem.core.conformance.check_game`, with a learning that passes
        :func:`~glem.core.conformance.check_learning`.
    games, seed
        Number of random games, fewer of long ones (:data:`~glem.core.conformance.playouts.MOST_POSITIONS`), and the
        seed of their moves.
    plain
        Leave compiled code out where plain code does.

    Raises
    ------
    BadInputError
        There are no games to play.
    """
    game = evaluation.learning.game
    report = ConformanceReport(f"evaluation of {game.title}")
    sample = sample_of(game, games, seed, report)
    features = evaluation.learning.features
    values = functools.cache(lambda row: features.values_of(sample.positions[row]))
    return report.examine(_EVALUATION.of(evaluation, sample, values, plain), progress)


def _active_weights(evaluation: LinearEvaluation, values: Any, phase: int) -> list[float]:
    """Amounts that add up to the sum of a position, found item by item without any table of the fast code."""
    found = [float(evaluation.bias[phase])]
    rows = _active_rows(evaluation, values)
    found += [float(evaluation.pattern_weights[phase, row]) for row in rows]
    if (network := evaluation.network) is not None and not network.has_views:
        for unit, bias in enumerate(network.bias.tolist()):
            amount = bias + sum(float(network.weights[row, unit]) for row in rows)
            found.append(float(network.output[phase, unit]) * min(max(amount, 0.0), 1.0) ** 2)
    for place, feature in enumerate(evaluation.linear):
        found.append(float(evaluation.linear_weights[phase, place]) * int(values[feature]))
    if evaluation.configurations is not None:
        active = _active(evaluation.configurations, values, most_specific=evaluation.most_specific)
        found.extend(float(evaluation.configuration_weights[phase, place]) for place in active)
    return found


def _active_rows(evaluation: LinearEvaluation, values: Any) -> list[int]:
    """Weight of each pattern instance."""
    features, patterns = evaluation.learning.features, evaluation.patterns
    found: list[int] = []
    for instance in () if patterns is None else patterns.instances:
        entry = 0
        for feature in instance.features:
            entry = entry * features[feature].cardinality + int(values[feature]) - features[feature].low
        assert patterns is not None
        found.append(int(patterns.weight_starts[instance.pattern]) + patterns.weight_of(instance.pattern, entry))
    return found


def _layer_steps(evaluation: LinearEvaluation, played: NetworkInPlay, scale: float, values: Any, phase: int) -> int:
    """Value of a hidden layer over patterns in the search's integers, in steps, of which ``scale`` are a label unit."""
    rows, total = _active_rows(evaluation, values), 0
    for unit, bias in enumerate(played.bias.tolist()):
        amount = bias + sum(int(played.weights[row, unit]) for row in rows)
        amount = min(max(amount, 0), ONE_UNIT << played.fine)
        total += (amount * amount >> 2 * played.fine) * int(played.output[phase, unit])
    return round(total * scale / (played.scale * ONE_UNIT**2))


def _active(configurations: ConfigurationSet, values: Any, *, most_specific: bool) -> list[int]:
    """Active configurations; only the most specific ones where just these count."""
    table = configurations.table
    active: dict[int, frozenset[int]] = {}
    for place in range(len(configurations)):
        relations = frozenset(int(relation) for relation in configurations.relations_of(place))
        if all(values[table.features[relation]] == table.values[relation] for relation in relations):
            active[place] = relations
    return [
        place
        for place, relations in active.items()
        if not (most_specific and any(relations < other for other in active.values()))
    ]


@_EVALUATION.promise(
    "values", "values are finite and the link of the sum of active weights, for a batch and for one position"
)
def _check_values(
    check: CheckResult, evaluation: LinearEvaluation, sample: Sample, values: _Values, plain: bool
) -> None:
    learning, game = evaluation.learning, evaluation.learning.game
    found = evaluation.predict(sample.columns())
    for row, position in sample.rows(check):
        phase = learning.phases.phase_of(position)
        if not 0 <= phase < len(learning.phases):
            raise BrokenPromise(f"phase_of gives {phase!r}, expected 0 to {len(learning.phases) - 1}")
        amounts = _active_weights(evaluation, values(row), int(phase))
        wanted = float(evaluation.link(np.array(sum(amounts))))
        room = _ROUNDING * (1 + sum(map(abs, amounts))) * max(1.0, evaluation.link.largest_slope)
        check.expect(np.isfinite(found[row]), f"the value is {found[row]}")
        if evaluation.network is not None:
            room += _ROUNDING * _largest_sum(evaluation)
        close = abs(found[row] - wanted) <= room
        check.expect(close, f"a batch gives {found[row]}, the active weights {wanted}")
        single = evaluation.evaluate(position)
        check.expect(abs(single - wanted) <= room, f"evaluate gives {single}, the weights {wanted}")
    half = len(found) // 2
    apart = evaluation.predict(game.columns_of(sample.positions[half:]))
    for _ in sample.rows(check, (half + np.flatnonzero(apart != found[half:])).tolist()):
        check.fail("the value depends on the batch")


@_EVALUATION.promise("values and symmetries", "a position and its symmetric images have one value")
def _check_images(
    check: CheckResult, evaluation: LinearEvaluation, sample: Sample, values: _Values, plain: bool
) -> None:
    game = evaluation.learning.game
    if game.transform is None or evaluation.learning.features.symmetries is None:
        raise NotApplicable("no symmetries are given")
    own = evaluation.predict(sample.columns())
    room = _ROUNDING * (1 + float(np.abs(own).max(initial=0)) + _largest_sum(evaluation))
    for symmetry in range(1, game.symmetry_count):
        images = [game.transform(position, symmetry) for position in sample.positions]
        found = evaluation.predict(game.columns_of(images))
        check.cases += len(found)
        for row, _ in sample.rows(check, np.flatnonzero(np.abs(found - own) > room).tolist()):
            check.fail(f"the value is {own[row]}, under symmetry {symmetry} {found[row]}")


def _largest_sum(evaluation: LinearEvaluation) -> float:
    """Size that sums may reach on the way, whose rounding counts."""
    instances = len(evaluation.patterns.instances) if evaluation.patterns is not None else 0
    layer = 0.0 if evaluation.network is None else float(np.abs(evaluation.network.output).sum(axis=1).max())
    return instances * (float(np.abs(evaluation.pattern_weights).max(initial=0)) + layer)


@_EVALUATION.promise("file", "an evaluation read from its file has the same weights and values, bit for bit")
def _check_file(check: CheckResult, evaluation: LinearEvaluation, sample: Sample, values: _Values, plain: bool) -> None:
    learning, game = evaluation.learning, evaluation.learning.game
    try:
        # An evaluation that comes with the game has none of the features that a user adds to it.
        registered = load_learning(game.name, sources=learning.features.sources) is learning
    except PluginError:
        registered = False
    if not registered:
        raise NotApplicable("files name the game, and this one is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evaluation.npz"
        evaluation.save(path)
        read = LinearEvaluation.load(path)
        for name in EVALUATION_ARRAYS:
            one, other = getattr(evaluation, name), getattr(read, name)
            check.expect(one.tobytes() == other.tobytes() and one.shape == other.shape, f"{name} change in the file")
        check.expect(read.link == evaluation.link, f"the link {evaluation.link} becomes {read.link}")
        columns = sample.columns()
        own, found = evaluation.predict(columns), read.predict(columns)
        for row, _ in sample.rows(check, np.flatnonzero(own != found).tolist()):
            check.fail(f"the value is {own[row]}, after reading {found[row]}")


class _Memory(NamedTuple):
    data: Any
    accumulators: Any


def _begin(operations: Any, position: Any, memory: Any, ply: Any) -> Any:
    start(operations, position, memory.data, memory.accumulators, ply)
    return static_score(operations, position, memory.data, memory.accumulators, ply)


def _step(operations: Any, before: Any, move: Any, after: Any, memory: Any, ply: Any) -> Any:
    update(operations, before, move, after, memory.data, memory.accumulators, ply)
    return static_score(operations, after, memory.data, memory.accumulators, ply + np.int64(1))


def _games_of(sample: Sample) -> list[range]:
    """Rows of each game of a sample."""
    starts = [row for row, history in enumerate(sample.history) if not history]
    return [range(first, last) for first, last in zip(starts, [*starts[1:], len(sample.positions)], strict=True)]


def _expected_totals(evaluation: LinearEvaluation, sample: Sample, values: _Values) -> list[int]:
    """Integer score of every row without a limit: the sum of 16-bit weights, through a sigmoid link."""
    terms = evolve(evaluation, network=None)
    played, scale = terms.as_played(), terms.in_play().scale
    network = evaluation.network
    layer = None if network is None or network.has_views else network.in_play(evaluation.layer_bound)
    totals = []
    for row, position in enumerate(sample.positions):
        phase = int(evaluation.learning.phases.phase_of(position))
        total = sum(_active_weights(played, values(row), phase))
        if layer is not None:
            total += _layer_steps(evaluation, layer, scale, values(row), phase) / scale
        if evaluation.link.span and evaluation.link != LOGISTIC:
            total = float(evaluation.link(np.array(total)))
        totals.append(round(total * scale))
    return totals


@_EVALUATION.step
def _check_evaluators(
    report: ConformanceReport, evaluation: LinearEvaluation, sample: Sample, values: _Values, plain: bool
) -> None:
    """Examine every form that an evaluation has in the search."""
    forms: dict[str, Evaluator] = {}
    totals: list[int] = []

    def look(check: CheckResult) -> None:
        make, known = evaluation.learning.make_evaluator, evaluation.of_plugin()
        own = None if make is None or known is None else make(known)
        if own is not None:
            forms["of the game"] = own
        chosen = evaluator_of(evaluation)
        if own is None and chosen.width:
            forms["in use"] = chosen
        forms["recomputed"] = recomputing_evaluator(evaluation)
        check.expect(
            make is None or known is None or _keeps_layers(make, known),
            "make_evaluator gives a form without the hidden layer of an evaluation; None is expected",
        )
        for name, form in forms.items():
            check.expect(isinstance(form, Evaluator), f"the form {name} is a {type(form).__name__}, not an Evaluator")
            check.expect(form.limit >= 1, f"the form {name} has the limit {form.limit}, expected at least 1")
            steps = form.steps_per_unit
            check.expect(np.isfinite(steps) and steps > 0, f"the form {name} has {steps} steps a unit")
            phases = len(evaluation.learning.phases)
            check.expect(form.phase_count == phases, f"the form {name} has {form.phase_count} phases, not {phases}")
        totals.extend(_expected_totals(evaluation, sample, values))

    report.run("evaluators", "an evaluation has a form for the search, with sensible settings", look)
    if len(totals) < len(sample.positions):
        # The check before says what was raised.
        return
    text = "the search's form of the evaluation gives its integer score, from scratch and move by move"
    for name, form in forms.items():
        follow = partial(_follow_games, evaluation, form, totals, sample)
        report.run(f"evaluator {name}", text, partial(follow, _games_of(sample)[:_PLAIN_GAMES], True))
        if not plain:
            why_plain = partial(getattr, form.operations, "plain_reason")
            report.run(f"evaluator {name} compiled", text, partial(follow, _games_of(sample), False), why_plain)


def _keeps_layers(make: Callable[[Any], Evaluator | None], evaluation: LinearEvaluation) -> bool:
    """Whether the game's form of an evaluation is another one where that gets a hidden layer."""
    patterns, phases = evaluation.patterns, len(evaluation.bias)
    if evaluation.network is not None or patterns is None or not can_be_layered(patterns):
        return True
    position, score = evaluation.learning.game.initial_position, []
    for worth in (0, 1):
        # One unit that is 1 everywhere.
        layer = Network(np.zeros((patterns.weight_count, 1)), np.ones(1), np.full((phases, 1), worth))
        form = make(evolve(evaluation, network=layer))
        if form is None:
            return True
        accumulators = form.empty_accumulators(1)
        score.append(_begin(form.operations, position, _Memory(form.data, accumulators), 0))
    return bool(score[0] != score[1])


def _follow_games(
    evaluation: LinearEvaluation,
    form: Evaluator,
    totals: list[int],
    sample: Sample,
    games: list[range],
    plain: bool,
    check: CheckResult,
) -> None:
    """Score the positions of games as the search does, with a move that is taken back before each one played."""
    game = evaluation.learning.game
    generator = random.Random(sample.seed)  # noqa: S311 - no secret depends on it
    begin, step = (_begin, _step) if plain else (compiled(_begin), compiled(_step))
    expected = [min(max(total, -form.limit), form.limit) for total in totals]
    operations = form.operations
    for rows in games:
        accumulators = form.empty_accumulators(_FIRST_PLY + len(rows) + 1)
        accumulators[:] = _SENTINEL
        fields = _Memory(form.data, accumulators)
        memory: Any = fields if plain else Borrowed(fields)
        for ply, (row, position) in enumerate(sample.rows(check, rows), start=_FIRST_PLY):
            if row == rows[0]:
                score = int(begin(operations, position, memory, np.int64(ply)))
            else:
                before, move = sample.positions[row - 1], sample.played[row - 1]
                assert move is not None
                other = generator.choice(sample.legal[row - 1])
                place = np.int64(ply - 1)
                step(operations, before, np.int64(other), game.play(before, other), memory, place)
                score = int(step(operations, before, np.int64(move), position, memory, place))
            wanted = expected[row]
            check.expect(score == wanted, f"the score is {score} steps, the sum of the weights {wanted}")
            if not abs(score) <= form.limit:
                check.fail(f"the score {score} is beyond the limit {form.limit}")
            if "null_move" in game.search_functions and row != rows[-1] and game.search_functions["can_pass"](position):
                passed, below = game.search_functions["null_move"](position), np.int64(ply + 1)
                score = int(step(operations, position, np.int64(NULL_MOVE), passed, memory, np.int64(ply)))
                anew = int(begin(operations, passed, memory, below))
                check.expect(score == anew, f"after passing, update gives a score of {score} steps, start {anew}")
            phase = form.operations["search_phase"](position)
            if not 0 <= phase < form.phase_count:
                check.fail(f"search_phase gives {phase!r}, expected 0 to {form.phase_count - 1}")
        first, last = _FIRST_PLY * form.width, (_FIRST_PLY + len(rows)) * form.width
        for _ in sample.rows(check, rows[-1:]):
            for side, beyond in (("before the first", accumulators[:first]), ("behind the last", accumulators[last:])):
                check.expect(np.all(beyond == _SENTINEL), f"accumulators {side} ply are written in the game")


@_EVALUATION.step
def _check_search(
    report: ConformanceReport, evaluation: LinearEvaluation, sample: Sample, values: _Values, plain: bool
) -> None:
    """Search some positions both ways."""
    if plain:
        return
    game, evaluator, settings = evaluation.learning.game, evaluator_of(evaluation), SearchSettings(_SEARCH_TABLE_MB)
    inner = [row for row, moves in enumerate(sample.legal) if moves]
    generator = random.Random(sample.seed)  # noqa: S311 - no secret depends on it
    rows = sorted(generator.sample(inner, min(_SEARCHED_POSITIONS, len(inner))))

    def look(check: CheckResult) -> None:
        searchers = [Searcher(game, evaluator, settings, plain=plain) for plain in (True, False)]
        for _, position in sample.rows(check, rows):
            one, other = (searcher.search(position, Limits(depth=_SEARCH_DEPTH)) for searcher in searchers)
            for name in ("lines", "depth", "nodes"):
                found, wanted = getattr(other, name), getattr(one, name)
                check.expect(found == wanted, f"{name}: the plain search finds {wanted}, the compiled one {found}")

    text = f"the plain and the compiled search of {_SEARCH_DEPTH} plies find the same scores, moves and nodes"
    rules, operations = game.search_rules, evaluator.operations
    report.run("search compiled", text, look, lambda: rules.plain_reason or operations.plain_reason)
