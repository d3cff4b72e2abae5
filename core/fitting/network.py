"""Fits hidden layers by stochastic gradient descent.

The method is Adam (Kingma and Ba 2015) with weight decay apart from the gradient (Loshchilov and Hutter 2019).

A layer learns from millions of positions; of each only the rows of weights that its units add up are kept, two bytes a
row. Each pass takes the positions in another order, a batch at a time, with a rate that falls along a cosine to
nothing. Gradients of a batch are summed in a fixed number of shards, so that threads change no result.
"""

import math
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.evaluation import named
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, result_labels
from glem.core.evaluation.network import MOST_RELATIONS, Network, active_rows, check_layered, write_view, write_worth
from glem.core.evaluation.result_distribution import blocks_of
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning
from glem.core.files.digests import arrays_digest
from glem.core.fitting.discriminants.by_phase import Parts, parts_of
from glem.core.fitting.fitters.fitter import Fit, Run
from glem.core.fitting.minimizing.minimizer import LIMIT, FileCheckpoint, FitResult
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import Progress
from glem.core.tasks.threads import ordered_map

_BATCH, _LEAST_BATCH, _LEAST_BATCHES = 8192, 256, 128
"""Positions of a batch: the most; fewer down to the least, so that a pass has at least so many batches."""
_SHARDS = 4
_STEP = 1 << 18
"""Weights that a thread moves at a time."""
_RATE, _LATER_RATE = 2e-3, 1e-3
"""Greatest, and that where a prior must not be forgotten; both for views, over patterns :data:`_PATTERN_RATE` times."""
_PATTERN_RATE = 2.5
_WARM_UP = 200
"""Batches until the rate is reached."""
_KEPT_MEAN, _KEPT_SQUARE = 0.9, 0.999
_LARGEST_SUM = 160.0
"""Of a unit: the search has 16 bits for it."""
_SMALL = np.float32(1e-8)
_HIDDEN, _PATTERN_HIDDEN = 128, 32
_PATTERN_DECAY = 2.0


@kernel
def _add_gradients(
    chosen: Any,
    active: Any,
    phase: Any,
    target: Any,
    weight: Any,
    beside: Any,
    arrays: Any,
    is_logistic: Any,
    sums: Any,
    learns: Any,
) -> Any:
    """Add the gradients of some rows to ``sums``; returns the weighted sum of squared errors."""
    weights, bias, output, offset = arrays
    hidden, views = len(bias), output.shape[1] // len(bias)
    own, other = np.empty(hidden, np.float32), np.empty(hidden, np.float32)
    worth = np.empty(views * hidden, np.float32)
    zero, one = np.float32(0), np.float32(1)
    total = 0.0
    for row in chosen:
        stage = phase[row]
        seen = active.rows[row]
        write_view(weights, bias, seen, active.offsets, active.nothing, own)
        write_worth(own, worth[:hidden])
        if views == 2:
            write_view(weights, bias, active.exchanged[seen], active.offsets, active.nothing, other)
            write_worth(other, worth[hidden:])
        value = np.float64(offset[stage, 0] + beside[row])
        for unit in range(views * hidden):
            value += np.float64(output[stage, unit] * worth[unit])
        chance = 1.0 / (1.0 + math.exp(-value)) if is_logistic else value
        error = chance - target[row]
        total += weight[row] * error * error
        if not learns:
            continue
        slope = np.float32(weight[row] * error * (chance * (1.0 - chance) if is_logistic else 1.0))
        sums[3][stage, 0] += slope
        for unit in range(views * hidden):
            sums[2][stage, unit] += slope * worth[unit]
        slope += slope
        for unit in range(hidden):
            own[unit] = slope * output[stage, unit] * own[unit] if own[unit] < one else zero
            sums[1][unit] += own[unit]
        if views == 2:
            for unit in range(hidden):
                other[unit] = slope * output[stage, hidden + unit] * other[unit] if other[unit] < one else zero
                sums[1][unit] += other[unit]
        for place in range(len(seen)):
            if seen[place] == active.nothing:
                break
            item = active.offsets[place] + seen[place]
            for unit in range(hidden):
                sums[0][item, unit] += own[unit]
            if views == 2:
                opposite = active.exchanged[seen[place]]
                for unit in range(hidden):
                    sums[0][opposite, unit] += other[unit]
    return total


@kernel
def _step(
    values: Any, gradients: Any, mean: Any, square: Any, begin: Any, end: Any, rate: Any, grown: Any, bounds: Any
) -> None:
    """Move some weights against their gradient, and empty it; ``grown`` are the shares of both means that are there."""
    largest, kept = bounds
    for place in range(begin, end):
        slope = gradients[0, place]
        for shard in range(1, len(gradients)):
            slope += gradients[shard, place]
        gradients[:, place] = 0
        mean[place] += np.float32(1 - _KEPT_MEAN) * (slope - mean[place])
        square[place] += np.float32(1 - _KEPT_SQUARE) * (slope * slope - square[place])
        move = rate * (mean[place] / grown[0]) / (math.sqrt(square[place] / grown[1]) + _SMALL)
        values[place] = min(max(kept * values[place] - np.float32(move), -largest), largest)


def _renumber(rows: NDArray[np.uint16], patterns: PatternSet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the weights of patterns that any position has new numbers, in ``rows``: few positions have few of them.

    Returns
    -------
    kept, offsets
        int64: the old numbers, by the new ones; int64 [A], the new offsets of the columns.
    """
    kept, offsets, first = [], np.zeros(rows.shape[1], np.int64), 0
    for place, size in enumerate(patterns.weight_sizes.tolist()):
        columns = slice(*patterns.group_starts[place : place + 2])
        seen = np.zeros(size, bool)
        for column in rows[:, columns].T:
            seen[column] = True
        numbers = (np.cumsum(seen) - 1).astype(np.uint16)
        for column in rows[:, columns].T:
            column[...] = numbers[column]
        offsets[columns] = first
        kept.append(patterns.weight_starts[place] + np.flatnonzero(seen))
        first += len(kept[-1])
    return np.concatenate(kept), offsets


class _Rows:
    """Positions as the fit reads them."""

    def __init__(
        self,
        parts: Parts,
        start: LinearEvaluation,
        how: Any,
        seed: int,
        progress: Progress,
    ) -> None:
        learning, network = start.learning, start.network
        assert network is not None
        is_logistic = start.link == LOGISTIC
        patterns = None if network.has_views else start.patterns
        # What stands beside the layer; the bias is fitted with it.
        beside = evolve(start, network=None, bias=np.zeros_like(start.bias))
        found: list[tuple[Any, ...]] = []
        draw = np.random.default_rng(seed)
        with progress("read positions") as task:
            for part in parts():
                if how.undecided:
                    part = part.select(draw.random(len(part)) < 1 - np.square(part.label))
                held = part.held_out_mask(how.held_out, seed)
                for rows in blocks_of(len(part)):
                    block, target = rows_of(part.positions, rows), part.label[rows]
                    values, phase = learning.features.values(block), learning.phases.of(block)
                    if is_logistic:
                        target = result_labels(target, learning.game.score_bounds, most=1)
                    others = beside.sums_of_values(values, phase)
                    found.append(
                        (active_rows(learning, patterns, values), phase, target, part.weight[rows], others, held[rows])
                    )
                    task.advance(len(phase))
        if not any(len(phase) for _, phase, *_ in found):
            raise BadInputError("there are no positions to fit")
        some = max((active for active, *_ in found), key=lambda active: len(active.offsets))
        width, nothing = len(some.offsets), some.nothing
        all_rows = np.concatenate(
            [
                np.pad(active.rows, ((0, 0), (0, width - active.rows.shape[1])), constant_values=max(nothing, 0))
                for active, *_ in found
            ]
        )
        self.kept, offsets = np.arange(len(network.weights)), some.offsets
        if patterns is not None:
            self.kept, offsets = _renumber(all_rows, patterns)
        self.active = some._replace(rows=all_rows, offsets=offsets)
        columns = zip(*(others for _, *others in found), strict=True)
        self.phase, self.target, self.weight, self.beside, held = map(np.concatenate, columns)
        self.fitted, self.held = np.flatnonzero(~held), np.flatnonzero(held)
        self.is_logistic = is_logistic
        # Units and what they are worth are of the order of 1, whatever labels are.
        self.unit = 1.0 if is_logistic else float(np.sqrt(np.mean(np.square(self.target, dtype=np.float64)))) or 1.0
        self.target, self.beside = self.target / np.float32(self.unit), self.beside / np.float32(self.unit)


class _Layer:
    """Weights that are fitted, with the running means of their gradients and of these squared."""

    def __init__(self, rows: _Rows, network: Network, bias: NDArray[np.float32], jobs: int) -> None:
        self._rows, self._jobs = rows, jobs
        unit = np.float32(rows.unit)
        # The last row stands for nothing.
        first = (
            np.pad(network.weights[rows.kept], ((0, 1), (0, 0))),
            network.bias,
            network.output / unit,
            bias[:, None] / unit,
        )
        self.arrays = tuple(np.array(array, np.float32) for array in first)
        self._means, self._squares = ([np.zeros_like(array) for array in self.arrays] for _ in range(2))
        self._sums = [np.zeros((_SHARDS, *array.shape), np.float32) for array in self.arrays]

    @property
    def state(self) -> dict[str, NDArray[np.float32]]:
        """All of it by name."""
        return {f"{place}": array for place, array in enumerate((*self.arrays, *self._means, *self._squares))}

    @property
    def gradients(self) -> list[NDArray[np.float32]]:
        """Those of the rows that :meth:`error` has seen since the last step."""
        return [own.sum(axis=0) for own in self._sums]

    def error(self, chosen: NDArray[np.int64], *, learns: bool = False) -> float:
        """Weighted sum of the squared errors of some rows, whose gradients are kept for :meth:`step`."""
        rows = self._rows

        def shard(number: int) -> float:
            own = chosen[len(chosen) * number // _SHARDS : len(chosen) * (number + 1) // _SHARDS]
            columns = rows.active, rows.phase, rows.target, rows.weight, rows.beside
            sums = tuple(own[number] for own in self._sums)
            return float(_add_gradients(own, *columns, self.arrays, rows.is_logistic, sums, learns))

        return sum(ordered_map(self._jobs, shard, range(_SHARDS)))

    def step(self, rate: float, steps: int, largest: float, decay: float) -> None:
        """Move the weights against the gradients, for the ``steps``-th time."""
        grown = 1 - _KEPT_MEAN**steps, 1 - _KEPT_SQUARE**steps
        for place, array in enumerate(self.arrays):
            columns = array.reshape(-1), self._sums[place].reshape(_SHARDS, -1)
            means, squares = self._means[place].reshape(-1), self._squares[place].reshape(-1)
            # Of the weights alone: biases and outputs are few.
            bounds = (largest, 1 - rate * decay) if place == 0 else (np.inf, 1.0)

            def part(begin: int, given: Any = (*columns, means, squares), bounds: Any = bounds) -> None:
                values, gradients, mean, square = given
                end = min(begin + _STEP, len(values))
                _step(values, gradients, mean, square, begin, end, rate, grown, tuple(map(np.float32, bounds)))

            for _ in ordered_map(self._jobs, part, range(0, array.size, _STEP)):
                pass


def _start(how: Any, learning: Learning, prior: LinearEvaluation | None, seed: int) -> tuple[LinearEvaluation, int]:
    """Make what a fit begins with; how many of its units are the prior's."""
    if prior is not None:
        if how.patterns is not None and prior.patterns is not None:
            raise BadInputError("a prior is fitted with its own patterns")
        if prior.link not in (IDENTITY, LOGISTIC):
            raise BadInputError(f"no hidden layer stands beside terms under the link {prior.link.name}")
        learning = prior.learning
    network, patterns = None if prior is None else prior.network, None if prior is None else prior.patterns
    is_alone = patterns is None and network is None
    has_views = learning.views is not None and how.patterns is None and (network is None or network.has_views)
    if is_alone and not has_views:
        patterns = how.patterns
        if not isinstance(patterns, PatternSet):
            name = patterns or next(iter(learning.pattern_sets), None)
            if name is None or name == "none":
                raise BadInputError(f"{learning.game.title} has no views and no patterns that a layer could be over")
            patterns = PatternSet.named(learning, name)
    hidden = how.hidden or (_HIDDEN if has_views else _PATTERN_HIDDEN)
    is_larger = network is not None and network.bias.size > hidden
    if is_larger or (has_views and prior is not None and (network is None or prior.terms)):
        alone = " alone" if has_views else ""
        raise BadInputError(f"the prior is no evaluation by a hidden layer of at most {hidden} units{alone}")
    phases, draw = len(learning.phases), np.random.default_rng(seed)
    if has_views:
        assert learning.views is not None
        weights = draw.normal(0, 0.1, (len(learning.views.exchanged) - 1, hidden))
        output: Any = draw.normal(0, 0.05, (phases, hidden))
        # What is good for one side is at first as bad for the other.
        output = np.concatenate([output, -output], axis=1)
    else:
        check_layered(patterns)
        assert patterns is not None
        weights = draw.normal(0, 0.3 / math.sqrt(len(patterns.instances)), (patterns.weight_count, hidden))
        # The same in all phases at first; beside other weights of the patterns little.
        output = np.tile(draw.normal(0, 0.3 if is_alone else 0.05, (1, hidden)), (phases, 1))
    bias, known = np.full(hidden, 0.4), 0
    if network is not None:
        # Further units are worth nothing at first.
        known = network.bias.size
        weights[:, :known], bias[:known] = network.weights, network.bias
        spare = (0, 0), (0, 0), (0, hidden - known)
        output = np.pad(network.output.reshape(phases, -1, known), spare).reshape(phases, -1)
    layer = Network(weights, bias, output)
    if prior is not None:
        return evolve(prior, patterns=patterns, network=layer, coefficients=None), known
    link = LOGISTIC if learning.game.greatest_score == 1 else IDENTITY
    over = None if has_views else patterns
    return LinearEvaluation(learning, np.zeros(phases, np.float32), link, patterns=over, network=layer), 0


def fit_network(how: Any, data: Positions | Parts, learning: Learning, run: Run) -> Fit:
    """Fit a hidden layer to positions, beside the terms of a prior if that has any.

    Where games are only won or lost, labels are results from -1 to 1, known or expected, and the evaluation has the
    logistic link; elsewhere they are scores, under the identity link.

    Parameters
    ----------
    how
        The settings: :class:`~glem.core.fitting.fitters.by_layer.Network`.
    data
        The positions; read once.
    learning
        Features, phases and views of their game, if there is no prior.
    run
        The seed is that of the first weights, and of the order and the draw of the positions.

    Raises
    ------
    BadInputError
        The game has no views and no patterns, there are no positions, or the prior has another layer.
    """
    told = {
        **run.provenance,
        "fitter": repr(how),
        "validation": f"{how.held_out:g} of the games, seed {run.seed}",
        **run.files,
    }
    found = how.prior if isinstance(how.prior, LinearEvaluation) else named.load_prior(how.prior, learning.game)
    prior = None if found is None else value_part(found)
    if prior is not None:
        told["prior"] = str(how.prior)
    elif how.prior_share:
        raise BadInputError("there is no prior to have a share of the weights")
    if how.undecided and learning.game.greatest_score > 1:
        raise BadInputError(f"undecided positions are drawn by results; the labels of {learning.game.title} are scores")
    start, known = _start(how, learning, prior, run.seed)
    first = start.network
    assert first is not None
    work = run.work({"work": "fit", **told})
    seed, passes, hidden = run.seed, how.passes, first.bias.size
    rows = _Rows(parts_of(data), start, how, seed, run.progress)
    layer = _Layer(rows, first, start.bias, run.jobs)
    begun_with = [array.copy() for array in layer.arrays]
    terms = MOST_RELATIONS if first.has_views or start.patterns is None else len(start.patterns.instances)
    unit, largest = rows.unit, _LARGEST_SUM / terms
    decay = how.weight_decay
    if decay is None:
        decay = 0.0 if first.has_views else _PATTERN_DECAY
    fitted, held = (max(float(rows.weight[chosen].sum()), 1e-30) for chosen in (rows.fitted, rows.held))
    checkpoint = None
    if work is not None:
        arrays = [rows.active.rows, rows.phase, rows.target, rows.weight, rows.beside, rows.held, *layer.arrays]
        begun = arrays_digest(arrays, f"{how!r}, {seed=}")
        checkpoint = FileCheckpoint(work / "network.npz", begun)
    state = None if checkpoint is None else checkpoint.load()
    if state is None:
        curves = [[layer.error(rows.fitted) / fitted], [layer.error(rows.held) / held]]
    else:
        curves = [list(state.pop(name)) for name in ("training_errors", "held_out_errors")]
        for name, array in layer.state.items():
            array[...] = state[name]
    size = min(max(len(rows.fitted) // _LEAST_BATCHES, _LEAST_BATCH), _BATCH)
    batches = -(-len(rows.fitted) // size)
    whole, rate = passes * batches, _RATE if known == 0 else _LATER_RATE
    if not first.has_views:
        rate *= _PATTERN_RATE if known or not start.pattern_weights.any() else 1.0
    with run.progress("passes", whole) as task:
        task.advance((len(curves[0]) - 1) * batches)
        for number in range(len(curves[0]) - 1, passes):
            order = np.random.default_rng((seed, number)).permutation(rows.fitted)
            error = 0.0
            for batch in range(batches):
                error += layer.error(order[batch * size : (batch + 1) * size], learns=True)
                done = number * batches + batch
                falling = (1 + math.cos(math.pi * done / whole)) / 2
                layer.step(rate * falling * min(1.0, (done + 1) / min(_WARM_UP, whole / 8)), done + 1, largest, decay)
                task.advance()
            curves[0].append(error / fitted)
            curves[1].append(layer.error(rows.held) / held)
            task.note(f"root mean square error {unit * curves[0][-1] ** 0.5:.4f}")
            if checkpoint is not None:
                checkpoint.save(layer.state | {"training_errors": curves[0], "held_out_errors": curves[1]})
    if how.prior_share:
        for place, (array, began) in enumerate(zip(layer.arrays, begun_with, strict=True)):
            # Further units lose of their output alone: what they began with is no knowledge.
            own = slice(known if place < 2 else None)
            array[..., own] += np.float32(how.prior_share) * (began - array)[..., own]
        curves[1][-1] = layer.error(rows.held) / held
    weights, bias, output, offset = layer.arrays
    # What no position has adds nothing, unless the prior knows of it.
    every = first.weights.copy()
    every[:, known:] = 0
    every[rows.kept] = weights[:-1]
    network = Network(every, bias, np.float32(unit) * output)
    evaluation = evolve(start, bias=np.float32(unit) * offset[:, 0], network=network, provenance=told)
    fitted_errors, held_errors = (unit**2 * np.array(curve) for curve in curves)
    if not len(rows.held):
        held_errors[:] = np.nan
    count = sum(array.size for array in layer.arrays) - hidden
    result = FitResult(repr(how), False, LIMIT, fitted_errors, held_errors, passes, count, fitted)
    return Fit(evaluation, (result.course(),))
