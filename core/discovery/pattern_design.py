"""Patterns by machine: GenConf proposes sets of features, what they explain decides (GLEM, sections 4.2 and 4.4).

GLEM takes its patterns from a strong player's eye and calls it the hard part to find the variables that matter. Here
configurations of up to three relations are mined, and each set of features gets a *strength*: how much of the labels'
variance its joint values explain beyond what its subsets do. A pattern's strength is that of all sets within it. From
the strongest sets patterns grow feature by feature; all of them are fitted to what is left of the labels, and the one
that explains most of it on held-out games, for each of its symmetric instances (these are what a search pays for),
enters. Then all patterns so far are fitted together, and the next one is looked for in what they leave.

Patterns can also be added to an evaluation, best designed on games that it was not fitted to: of those it was fitted
to, it leaves too little. What a game counts, such as moves or stable discs, people let enter linearly. So counts are
proposed there too, alone and in pairs: a table of two counts says what a sum of them cannot.
"""

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.configurations.mining import label_statistics, mine
from glem.core.discovery.candidates import cell_features, draw_sample
from glem.core.errors import BadInputError, check_arguments
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY
from glem.core.features.features import AtomicFeatures
from glem.core.features.learning import Learning
from glem.core.fitting.least_squares import FitSettings, Terms, train
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.patterns.pattern import images_of
from glem.core.patterns.patterns import MAX_TABLE_SIZE, PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

Floats = NDArray[np.float64]
_Members = tuple[int, ...]

LEAST_POSITIONS = 2_000
"""Fewer say nothing of patterns."""
_HELD_OUT = 0.4
_L2 = 25.0
_ITERATIONS = 30
_STEPS = 6
_TRIED_AT_ONCE = 16
_SWAPPED = 2
_REFUSALS = 4
"""Sets in a row that explain nothing beside the others; then none is looked for any more."""
_MEAN = 0.5
"""Power of the mean error of the phases. With 2, the first phases would decide, most of whose error is noise. The
nearer to 0, the more counts the share of a phase's error that goes, however little is left of it."""
_SMALLEST = 4
_MOST_FEATURES = 256
"""The strengths of triples take 8 bytes for each three features."""
_MOST_COUNTS = 64
_ADDED_INSTANCES = 25
"""With Logistello's 46 and a table or two, what two vector registers hold of a side's indices."""
_FITTED_POSITIONS = 1_000_000
_HALF_SEED = 1 << 21
"""Other games than those that any command holds out."""
_COUNTS_COST = 4
"""What a table of counts takes in a search, in instances of patterns of cells: counts are no sums over cells."""
_MOST_MINED = 20_000_000


@define(frozen=True)
class DesignPlan:
    """How to look for patterns.

    Parameters
    ----------
    instances
        Instances of all patterns together, symmetric ones counted; 46 are as many as Logistello's (GLEM, Fig. 7). A
        table of counts that is added to an evaluation stands for four.
    maximum_size
        Most features of a pattern; a table has at most :data:`~glem.core.patterns.patterns.MAX_TABLE_SIZE` entries.
    minimum_matches
        Least match count of a mined configuration; None for 1 of 2,000 positions, and 100.
    seeds
        Strongest pairs, and strongest triples, that patterns grow from.
    """

    instances: int = 46
    maximum_size: int = 10
    minimum_matches: int | None = None
    seeds: int = 12

    def __attrs_post_init__(self) -> None:
        check_arguments(self, instances=(1,), seeds=(1,), maximum_size=(2,), minimum_matches=(1,))


@define(frozen=True)
class DesignedPattern:
    """A pattern that was found.

    Parameters
    ----------
    features
        Indices of its features, ascending.
    instances
        How many instances it has.
    gain
        Share of the squared mean error left before it that it explains on held-out games, all fitted together.
    left
        Share of the squared mean error at the beginning that is left with it.
    """

    features: tuple[int, ...]
    instances: int
    gain: float
    left: float


class Strengths(NamedTuple):
    """Share of the variance that the joint values of F features explain beyond their subsets' values, not negative.

    float64 [F], [F, F] and [F, F, F], the same for any order of the features and for images; 0 on diagonals.
    """

    singles: Floats
    pairs: Floats
    triples: Floats


def strengths(
    mined: ConfigurationSet,
    values: NDArray[np.int16],
    labels: Floats,
    symmetries: NDArray[np.intp],
    jobs: int = 1,
) -> Strengths:
    """Measure sets of up to three of F features.

    A configuration of n matches whose mean label differs by d from what its generalizations lead one to expect
    (inclusion and exclusion) explains n d^2; chance alone would give the labels' variance, which is taken off.

    Parameters
    ----------
    mined
        All configurations of up to three relations with enough matches, of these features.
    values
        int16 [N, F].
    labels
        float64 [N].
    symmetries
        [S, F]: images of the features under the symmetries; the strengths of images are averaged.
    jobs
        Threads.
    """
    count = values.shape[1]
    found = label_statistics(mined, values, labels, jobs=jobs)
    matches, means, table = found.match_counts, found.means, mined.table
    overall = found.label_total / len(values)
    variance = found.label_squares / len(values) - overall**2
    own = np.full(len(table), overall)
    joint = np.zeros((len(table), len(table)))
    parts: list[Floats] = []
    for size in (1, 2, 3):
        rows = np.flatnonzero(mined.sizes == size)
        members = [mined.relations[mined.offsets[rows] + place].astype(np.intp) for place in range(size)]
        mean = means[rows]
        if size == 1:
            own[members[0]] = mean
            expected: Any = overall
        elif size == 2:
            first, second = members
            joint[first, second] = joint[second, first] = mean
            expected = own[first] + own[second] - overall
        else:
            first, second, third = members
            pairs = joint[first, second] + joint[first, third] + joint[second, third]
            expected = pairs - own[first] - own[second] - own[third] + overall
        part: Floats = np.zeros((count,) * size)
        # Relations ascend within a configuration, and so do their features.
        explained = matches[rows] * (mean - expected) ** 2 - variance
        np.add.at(part, tuple(table.features[member] for member in members), explained)
        # Each set of features stands at one place: spread it over all orders, then over its images.
        part = np.sum([np.transpose(part, order) for order in permutations(range(size))], axis=0)
        part = np.mean([part[np.ix_(*[image] * size)] for image in symmetries], axis=0)
        parts.append(np.maximum(part, 0) / (len(values) * max(variance, 1e-300)))
    return Strengths(*parts)


def design_patterns(
    sample: Positions,
    learning: Learning,
    plan: DesignPlan | None = None,
    *,
    prior: LinearEvaluation | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> list[DesignedPattern]:
    """Find patterns for a game's evaluation, the most useful first.

    The game's linear features are fitted first, or the prior is taken off. Patterns are looked for in what is left.

    Parameters
    ----------
    sample
        Scored positions with their games, some 100,000 or more, best each under a random symmetry
        (:func:`~glem.core.discovery.candidates.draw_sample`).
    learning
        Features and phases of the game. Patterns are made of the features that lie on a board cell, of all where none
        does.
    plan
        How to look; :class:`DesignPlan` by default.
    prior
        Evaluation that the patterns are to be added to, best of other games. Then one or two features that lie on no
        board cell make a pattern, too.
    jobs
        Threads; they change no result.
    progress
        Display.

    Raises
    ------
    BadInputError
        Too few positions, all labels equal, or too many features.

    Returns
    -------
    list
        Patterns; none where nothing explains the labels of held-out games.
    """
    chosen = plan if plan is not None else DesignPlan()
    features = learning.features
    held_out = sample.held_out_mask(_HELD_OUT)
    if not (len(sample) >= LEAST_POSITIONS and 0 < held_out.sum() < len(sample)):
        raise BadInputError(f"too few positions to find patterns: {len(sample):,}, some 100,000 are wanted")
    left, error = _unexplained(sample, learning, (), held_out, prior, jobs)
    if not error > 0:
        raise BadInputError("nothing is left of the labels: all are equal, or linear features explain them")
    at_first, squares = error, float(np.mean(left[held_out] ** 2))
    values = features.values(sample.positions)
    sets_of_cells = _sets_of_cells(learning, chosen, values, ~held_out, jobs, progress)
    found: list[DesignedPattern] = []
    fitted = np.flatnonzero(~held_out)
    proposed: list[_Members] = []
    refusals = 0

    def gain_of(members: _Members) -> float:
        predicted = _fitted(features, members, values, left, fitted)
        return 1 - float(np.mean((left - predicted)[held_out] ** 2)) / squares

    with progress("Designing patterns", chosen.instances) as task, ThreadPoolExecutor(jobs) as pool:
        trials = _Trials(learning, chosen, prior, partial(pool.map, gain_of))
        while trials.room > 0 and refusals < _REFUSALS:
            if refusals == 0:
                proposed = sets_of_cells(left)
            best = trials.best(proposed)
            if best is None:
                break
            together = [*(pattern.features for pattern in found), best]
            without, now = _unexplained(sample, learning, together, held_out, prior, jobs)
            trials.known.append(set(best))
            if now >= error:
                # What it explains alone the others explain, too.
                refusals += 1
                continue
            refusals = 0
            shares = 1 - (now / error) ** 2, (now / at_first) ** 2
            found.append(DesignedPattern(best, len(images_of(features, best)), *shares))
            left, error, squares = without, now, float(np.mean(without[held_out] ** 2))
            cost = trials.cost(best)
            trials.room -= cost
            task.advance(cost)
    return found


class _Trials:
    """Tries sets of features: what each explains of what is left, for each instance that it takes.

    Parameters
    ----------
    learning, plan, prior
        As for :func:`design_patterns`.
    gains_of
        What sets explain of what is left now.
    """

    def __init__(
        self,
        learning: Learning,
        plan: DesignPlan,
        prior: LinearEvaluation | None,
        gains_of: Callable[[list[_Members]], Iterable[float]],
    ) -> None:
        patterns = () if prior is None or prior.patterns is None else prior.patterns.patterns
        self.known = [set(each.features) for each in patterns]
        self.room = plan.instances
        self._features, self._plan, self._gains_of = learning.features, plan, gains_of
        self._cells = cell_features(learning).tolist()
        self._counts = {} if prior is None else _counts_and_pairs(learning)
        self._worth: dict[_Members, float] = {}

    def cost(self, members: _Members) -> int:
        """Instances that a set takes, or stands for."""
        return (_COUNTS_COST if members in self._counts else 1) * len(images_of(self._features, members))

    def best(self, proposed: Iterable[_Members]) -> _Members | None:
        """Find what explains most: of sets of cells, of these with a cell changed, of counts; None if nothing does."""
        tried: set[_Members] = set()
        best, before = self._best_of([*proposed, *self._counts], tried), None
        while best is not None and best != before and best not in self._counts:
            before = best
            smaller = self._smaller(best)
            best = self._best_of([*smaller, *self._larger(best)], tried, best)
            # Another feature in place of one of those that explain least.
            smaller.sort(key=lambda members: -self._worth.get(members, -math.inf))
            best = self._best_of(chain(*map(self._larger, smaller[:_SWAPPED])), tried, best)
        return best if best is not None and self._worth[best] > 0 else None

    def _best_of(
        self, proposed: Iterable[_Members], tried: set[_Members], best: _Members | None = None
    ) -> _Members | None:
        """Find the best of some sets and one that is known."""
        worth = self._worth
        trials = [
            each
            for each in dict.fromkeys(proposed)
            if each not in tried and set(each) not in self.known and self.cost(each) <= self.room
        ]
        # What a set explains falls as others enter: the gain when it was last tried says whether to try it again.
        trials.sort(key=lambda members: -worth.get(members, math.inf))
        for start in range(0, len(trials), _TRIED_AT_ONCE):
            batch = trials[start : start + _TRIED_AT_ONCE]
            if best is not None and worth[best] >= worth.get(batch[0], math.inf):
                break
            tried.update(batch)
            for members, gain in zip(batch, self._gains_of(batch), strict=True):
                worth[members] = gain / self.cost(members)
                best = members if best is None or worth[members] > worth[best] else best
        return best

    def _smaller(self, members: _Members) -> list[_Members]:
        """Leave one feature out."""
        if len(members) <= 2:
            return []
        return [_canonical(self._features, (each for each in members if each != one)) for one in members]

    def _larger(self, members: _Members) -> list[_Members]:
        """Add one cell, as long as the table may be so large."""
        size = math.prod(self._features[each].cardinality for each in members)
        return [
            _canonical(self._features, (*members, one))
            for one in self._cells
            if len(members) < self._plan.maximum_size
            and one not in members
            and size * self._features[one].cardinality <= MAX_TABLE_SIZE
        ]


def _canonical(features: AtomicFeatures, members: Iterable[int]) -> _Members:
    return min(tuple(sorted(image)) for image in images_of(features, tuple(members)))


def design_pattern_set(
    positions: Positions,
    learning: Learning,
    given: PatternSet | None,
    settings: FitSettings,
    *,
    sample: int,
    seed: int,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> PatternSet | None:
    """Design patterns for scored positions, to stand beside given ones, or alone; None where nothing helps.

    Of the games that it is fitted to, an evaluation leaves too little of what it does not know. So the given patterns
    are fitted to one half of the games, to a million positions at most, and others are designed on the other half.

    Parameters
    ----------
    positions, learning
        Scored positions with their games; features and phases of the game.
    given
        Patterns that there are. They leave room for :data:`_ADDED_INSTANCES`.
    settings
        How the given patterns are fitted.
    sample, seed
        Positions to design on, and what chooses them.
    jobs
        Threads; they change no result.
    progress
        Display.
    """
    prior, plan, first = None, DesignPlan(), 1
    if given is not None:
        fitted, positions = positions.split_by_game(0.5, seed + _HALF_SEED)
        fitted = fitted.drawn(_FITTED_POSITIONS, seed)
        if min(len(fitted), len(positions)) < LEAST_POSITIONS:
            return None
        terms = Terms(given, linear=learning.linear)
        prior = train(fitted, learning, terms, settings, jobs=jobs, progress=progress).evaluation
        plan, first = DesignPlan(instances=_ADDED_INSTANCES), 1 + len(given.patterns)
    drawn = draw_sample(positions, sample, seed)
    try:
        found = design_patterns(drawn, learning, plan, prior=prior, jobs=jobs, progress=progress)
    except BadInputError:
        # Too few positions, or nothing is left.
        return None
    return PatternSet.from_names(learning.features, names_of(learning, found, first)) if found else None


def names_of(learning: Learning, found: Iterable[DesignedPattern], first: int = 1) -> dict[str, list[str]]:
    """Names of designed patterns, numbered or of what they count, and of their features."""
    names: dict[str, list[str]] = {}
    for number, pattern in enumerate(found, first):
        features = [learning.features[member] for member in pattern.features]
        own = [feature.name for feature in features]
        counts = " and ".join(own) if len(own) > 1 else f"{own[0]} by value"
        names[f"pattern_{number}" if any(each.cell is not None for each in features) else counts] = own
    return names


def _unexplained(
    sample: Positions,
    learning: Learning,
    chosen: Iterable[_Members],
    held_out: NDArray[np.bool_],
    prior: LinearEvaluation | None,
    jobs: int,
) -> tuple[Floats, float]:
    """Take from the labels what prior or linear features and patterns explain.

    Returns what is left, scaled so that squares count as their changes change the mean error, and the mean error:
    that of held-out positions, over phases (:data:`_MEAN`).
    """
    names = {str(members): [learning.features[member].name for member in members] for members in chosen}
    left = sample.label.astype(np.float64)
    phase = learning.phases.of(sample.positions)
    patterns = PatternSet.from_names(learning.features, names) if names else None
    terms = Terms(patterns, linear=learning.linear if prior is None else ())
    fitted = prior
    if names or terms.linear:
        link = IDENTITY if prior is None else prior.link
        settings = FitSettings(ConjugateGradient(iterations=_ITERATIONS), link, smoothing=0.25)
        fitted = train(sample.select(~held_out), learning, terms, settings, prior=prior, jobs=jobs).evaluation
    if fitted is not None:
        left -= fitted.predict(sample.positions, jobs=jobs)
    error = 0.0
    for number in np.unique(phase):
        rows = phase == number
        left[rows] -= left[rows].mean()
        deviation = float(np.std(left[rows & held_out])) if (rows & held_out).any() else 0.0
        left[rows] /= deviation ** (1 - _MEAN / 2) or 1.0
        error += deviation**_MEAN * (rows & held_out).sum() / held_out.sum()
    return left, float(error) ** (1 / _MEAN)


def _sets_of_cells(
    learning: Learning,
    plan: DesignPlan,
    values: NDArray[np.int16],
    fitted: NDArray[np.bool_],
    jobs: int,
    progress: Progress,
) -> Callable[[Floats], list[_Members]]:
    """Mine some of the positions, for what proposes sets of cells that say most of what is left of the labels."""
    features = learning.features
    cells = cell_features(learning).tolist()
    if len(cells) > _MOST_FEATURES:
        raise BadInputError(f"patterns can be made of {_MOST_FEATURES} features at most, {len(cells)} are too many")
    own = np.asfortranarray(values[fitted][:, cells])
    minimum = plan.minimum_matches or max(100, len(values) // 2000)
    mining = mine(own, minimum_matches=minimum, maximum_size=3, limit=_MOST_MINED, jobs=jobs, progress=progress)
    if len(mining) >= _MOST_MINED:
        raise BadInputError(
            f"{_MOST_MINED:,} configurations or more match {counted(minimum, 'position')}: ask for more matches"
        )
    mined, symmetries = mining.flatten(), _symmetries_of(features, cells)
    return lambda left: _proposals(
        strengths(mined, own, left[fitted], symmetries, jobs), features, cells, symmetries, plan
    )


def _counts_and_pairs(learning: Learning) -> dict[_Members, None]:
    """Features that lie on no board cell, and all pairs of them with a dense table, one of each set of images."""
    features = learning.features
    # What enters linearly is computed anyway, and comes first where there are too many.
    counts = [place for place, feature in enumerate(features.features) if feature.cell is None]
    counts.sort(key=lambda place: features[place].name not in learning.linear)
    counts = sorted(counts[:_MOST_COUNTS])
    found: dict[tuple[int, ...], None] = {}
    for members in (*combinations(counts, 1), *combinations(counts, 2)):
        if math.prod(features[member].cardinality for member in members) <= MAX_TABLE_SIZE:
            found[_canonical(features, members)] = None
    return found


def _symmetries_of(features: AtomicFeatures, cells: list[int]) -> NDArray[np.intp]:
    """Symmetries as permutations of the chosen features [S, F]."""
    if features.symmetries is None:
        return np.arange(len(cells))[None]
    place = {cell: number for number, cell in enumerate(cells)}
    return np.array([[place[int(symmetry[cell])] for cell in cells] for symmetry in features.symmetries], np.intp)


def _proposals(
    measured: Strengths, features: AtomicFeatures, cells: list[int], symmetries: NDArray[np.intp], plan: DesignPlan
) -> list[_Members]:
    """Grow patterns from the strongest pairs and triples; all sizes on the way are proposed."""

    def canonical(members: Any) -> _Members:
        return min(tuple(sorted(int(image[member]) for member in members)) for image in symmetries)

    proposed: dict[tuple[int, ...], None] = {}
    for strength in (measured.pairs, measured.triples):
        seeds: dict[tuple[int, ...], None] = {}
        for place in np.argsort(-strength, axis=None, kind="stable"):
            members = tuple(int(member) for member in np.unravel_index(place, strength.shape))
            if len(seeds) == plan.seeds or not strength[members] > 0:
                break
            if len(set(members)) == len(members):
                seeds[canonical(members)] = None
        for seed in seeds:
            grown = list(seed)
            size = int(np.prod([features[cells[member]].cardinality for member in grown]))
            while size <= MAX_TABLE_SIZE and len(grown) <= plan.maximum_size:
                if len(grown) >= min(_SMALLEST, plan.maximum_size):
                    proposed[canonical(grown)] = None
                if len(grown) == len(cells):
                    break
                gain = measured.singles + measured.pairs[grown].sum(0)
                gain += measured.triples[np.ix_(grown, grown)].sum((0, 1)) / 2
                gain[grown] = -1
                grown.append(int(gain.argmax()))
                size *= features[cells[grown[-1]]].cardinality
    return [tuple(sorted(cells[member] for member in members)) for members in proposed]


@kernel
def _add_sums(indices: Any, weights: Any, sums: Any) -> None:
    for instance in range(indices.shape[0]):
        for row in range(indices.shape[1]):
            sums[row] += weights[indices[instance, row]]


@kernel
def _add_gradients(indices: Any, residuals: Any, gradients: Any) -> None:
    for instance in range(indices.shape[0]):
        for row in range(indices.shape[1]):
            gradients[indices[instance, row]] += residuals[row]


def _fitted(
    features: AtomicFeatures,
    members: tuple[int, ...],
    values: NDArray[np.int16],
    labels: Floats,
    rows: NDArray[np.intp],
) -> Floats:
    """Fit one pattern to the labels of some rows by a few steps of normalized descent (GLEM 5.1); predict all."""
    patterns = PatternSet.from_names(features, {"pattern": [features[member].name for member in members]})
    indices = patterns.indices(values)
    fitted, residual = np.ascontiguousarray(indices[:, rows]), labels[rows]
    matches = np.bincount(fitted.ravel(), minlength=patterns.weight_count) + _L2
    weights = np.zeros(patterns.weight_count)
    # Contents of one instance exclude each other: the first step ends at the least squares.
    for _ in range(_STEPS if len(indices) > 1 else 1):
        gradient = -_L2 * weights
        _add_gradients(fitted, residual, gradient)
        direction = gradient / matches
        change = np.zeros(len(residual))
        _add_sums(fitted, direction, change)
        curvature = change @ change + _L2 * (direction @ direction)
        if not curvature > 0:
            break
        step = (direction @ gradient) / curvature
        weights += step * direction
        residual -= step * change
    predicted = np.zeros(len(labels))
    _add_sums(indices, weights, predicted)
    return predicted
