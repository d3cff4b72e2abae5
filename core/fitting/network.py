"""Fits hidden layers to expected results by stochastic gradient descent (Adam: Kingma and Ba 2015).

A layer learns from millions of positions; only what stands where is kept of each, some 75 bytes. Each pass takes the
positions in another order, a batch at a time, with a rate that falls along a cosine to nothing. Gradients of a batch
are summed in a fixed number of shards, so that threads change no result.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.evaluation import named
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC, result_labels
from glem.core.evaluation.network import Network, relations_of, write_view
from glem.core.evaluation.result_distribution import blocks_of
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning
from glem.core.files.digests import arrays_digest
from glem.core.fitting.discriminants.by_phase import Parts, parts_of
from glem.core.fitting.fitters.fitter import Fit, Run
from glem.core.fitting.minimizing.minimizer import LIMIT, FileCheckpoint, FitResult
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import Progress
from glem.core.tasks.threads import ordered_map

_BATCH = 8192
_SHARDS = 4
_RATE, _LATER_RATE = 2e-3, 1e-3
"""Greatest, and that where a prior must not be forgotten."""
_WARM_UP = 200
"""Batches until the rate is reached."""
_KEPT_MEAN, _KEPT_SQUARE = 0.9, 0.999
_LARGEST_WEIGHT = 2.5
"""Of a relation: the search has 16 bits for a unit."""
_SMALL = np.float32(1e-8)


@kernel
def _add_gradients(
    rows: Any, active: Any, phase: Any, target: Any, weight: Any, exchanged: Any, arrays: Any, sums: Any, learns: Any
) -> Any:
    """Add the gradients of some rows to ``sums``; returns the weighted sum of squared errors."""
    weights, bias, output, offset = arrays
    hidden, nothing = len(bias), len(exchanged) - 1
    own, other = np.empty(hidden, np.float32), np.empty(hidden, np.float32)
    worth = np.empty(hidden + hidden, np.float32)
    zero, one = np.float32(0), np.float32(1)
    total = 0.0
    for row in rows:
        stage = phase[row]
        write_view(weights, bias, active[row], own)
        write_view(weights, bias, exchanged[active[row]], other)
        for unit in range(hidden):
            own[unit] = min(max(own[unit], zero), one)
            other[unit] = min(max(other[unit], zero), one)
            worth[unit], worth[hidden + unit] = own[unit] * own[unit], other[unit] * other[unit]
        value = np.float64(offset[stage, 0])
        for unit in range(hidden + hidden):
            value += np.float64(output[stage, unit] * worth[unit])
        chance = 1.0 / (1.0 + math.exp(-value))
        error = chance - target[row]
        total += weight[row] * error * error
        if not learns:
            continue
        slope = np.float32(weight[row] * error * chance * (1.0 - chance))
        sums[3][stage, 0] += slope
        for unit in range(hidden + hidden):
            sums[2][stage, unit] += slope * worth[unit]
        slope += slope
        for unit in range(hidden):
            own[unit] = slope * output[stage, unit] * own[unit] if own[unit] < one else zero
            other[unit] = slope * output[stage, hidden + unit] * other[unit] if other[unit] < one else zero
            sums[1][unit] += own[unit] + other[unit]
        for place in range(active.shape[1]):
            relation = active[row, place]
            if relation == nothing:
                break
            opposite = exchanged[relation]
            for unit in range(hidden):
                sums[0][relation, unit] += own[unit]
            for unit in range(hidden):
                sums[0][opposite, unit] += other[unit]
    return total


@kernel
def _step(values: Any, gradient: Any, mean: Any, square: Any, rate: Any, grown: Any, largest: Any) -> None:
    """Move some weights against their gradient; ``grown`` are the shares of both means that have come together."""
    for place in range(len(values)):
        slope = gradient[place]
        mean[place] += np.float32(1 - _KEPT_MEAN) * (slope - mean[place])
        square[place] += np.float32(1 - _KEPT_SQUARE) * (slope * slope - square[place])
        move = rate * (mean[place] / grown[0]) / (math.sqrt(square[place] / grown[1]) + _SMALL)
        values[place] = min(max(values[place] - np.float32(move), -largest), largest)


class _Rows:
    """Positions as the fit reads them."""

    def __init__(
        self, parts: Parts, learning: Learning, held_out: float, undecided: bool, seed: int, progress: Progress
    ) -> None:
        assert learning.views is not None
        self.exchanged = learning.views.exchanged
        found: list[tuple[NDArray[Any], ...]] = []
        draw = np.random.default_rng(seed)
        with progress("read positions") as task:
            for part in parts():
                if undecided:
                    part = part.select(draw.random(len(part)) < 1 - np.square(part.label))
                held = part.held_out_mask(held_out, seed)
                for rows in blocks_of(len(part)):
                    block = rows_of(part.positions, rows)
                    active = relations_of(learning, learning.features.values(block))
                    target = result_labels(part.label[rows], learning.game.score_bounds, most=1)
                    found.append((active, learning.phases.of(block), target, part.weight[rows], held[rows]))
                    task.advance(len(active))
        if not any(len(active) for active, *_ in found):
            raise BadInputError("there are no positions to fit")
        width, nothing = max(active.shape[1] for active, *_ in found), len(self.exchanged) - 1
        self.active, self.phase, self.target, self.weight, held = (
            np.concatenate(columns)
            for columns in zip(
                *(
                    (np.pad(active, ((0, 0), (0, width - active.shape[1])), constant_values=nothing), *others)
                    for active, *others in found
                ),
                strict=True,
            )
        )
        self.fitted, self.held = np.flatnonzero(~held), np.flatnonzero(held)


class _Layer:
    """Weights that are fitted, with the running means of their gradients and of these squared."""

    def __init__(self, rows: _Rows, network: Network, bias: NDArray[np.float32], jobs: int) -> None:
        self._rows, self._jobs = rows, jobs
        # The last row stands for no relation.
        first = (np.pad(network.weights, ((0, 1), (0, 0))), network.bias, network.output, bias[:, None])
        self.arrays = tuple(np.array(array, np.float32) for array in first)
        self._means, self._squares = ([np.zeros_like(array) for array in self.arrays] for _ in range(2))
        self._sums = [tuple(np.zeros_like(array) for array in self.arrays) for _ in range(_SHARDS)]

    @property
    def state(self) -> dict[str, NDArray[np.float32]]:
        """All of it by name."""
        return {f"{place}": array for place, array in enumerate((*self.arrays, *self._means, *self._squares))}

    def error(self, chosen: NDArray[np.int64], *, learns: bool = False) -> float:
        """Weighted sum of the squared errors of some rows, whose gradients are kept for :meth:`step`."""
        rows = self._rows

        def shard(number: int) -> float:
            own = chosen[len(chosen) * number // _SHARDS : len(chosen) * (number + 1) // _SHARDS]
            columns = rows.active, rows.phase, rows.target, rows.weight, rows.exchanged
            return float(_add_gradients(own, *columns, self.arrays, self._sums[number], learns))

        return sum(ordered_map(self._jobs, shard, range(_SHARDS)))

    def step(self, rate: float, steps: int) -> None:
        """Move the weights against the gradients, for the ``steps``-th time."""
        grown = 1 - _KEPT_MEAN**steps, 1 - _KEPT_SQUARE**steps
        for place, array in enumerate(self.arrays):
            gradient = np.sum([own[place] for own in self._sums], axis=0)
            means, squares = self._means[place].reshape(-1), self._squares[place].reshape(-1)
            largest = np.float32(_LARGEST_WEIGHT if place == 0 else np.inf)
            _step(array.reshape(-1), gradient.reshape(-1), means, squares, rate, grown, largest)
            for own in self._sums:
                own[place][...] = 0


def fit_network(how: Any, data: Positions | Parts, learning: Learning, run: Run) -> Fit:
    """Fit a hidden layer to positions whose labels are results from -1 to 1, known or expected.

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
        Scores of the game are no results, it does not tell how its players see the board, there are no positions, or
        the prior has another layer.
    """
    told = {
        **run.provenance,
        "fitter": repr(how),
        "validation": f"{how.held_out:g} of the games, seed {run.seed}",
        **run.files,
    }
    found = named.load_prior(how.prior, learning.game)
    prior = None if found is None else value_part(found)
    if prior is not None:
        learning, told["prior"] = prior.learning, how.prior
    if learning.game.greatest_score > 1:
        raise BadInputError(f"hidden layers learn expected results; the labels of {learning.game.title} are scores")
    if learning.views is None:
        raise BadInputError(f"{learning.game.title} does not tell how its players see the board: no hidden layer")
    work = run.work({"work": "fit", **told})
    hidden, passes, seed = how.hidden, how.passes, run.seed
    generator = np.random.default_rng(seed)
    relations, phases = len(learning.views.exchanged) - 1, len(learning.phases)
    weights, first = generator.normal(0, 0.1, (relations, hidden)), np.full(hidden, 0.4)
    output: NDArray[Any] = generator.normal(0, 0.05, (phases, hidden))
    bias = np.zeros(phases, np.float32)
    known = 0
    if prior is None and how.prior_share:
        raise BadInputError("there is no prior to have a share of the weights")
    if prior is not None:
        if prior.network is None or prior.network.bias.size > hidden or prior.terms:
            raise BadInputError(f"the prior is no evaluation by a hidden layer of at most {hidden} units alone")
        # Further units are worth nothing at first.
        known = prior.network.bias.size
        weights[:, :known], first[:known], bias = prior.network.weights, prior.network.bias, prior.bias
        spare = (0, 0), (0, 0), (0, hidden - known)
        output = np.pad(prior.network.output.reshape(phases, 2, known), spare).reshape(phases, 2 * hidden)
    network = Network(weights, first, output)
    rows = _Rows(parts_of(data), learning, how.held_out, how.undecided, seed, run.progress)
    layer = _Layer(rows, network, bias, run.jobs)
    begun_with = [array.copy() for array in layer.arrays]
    fitted, held = (max(float(rows.weight[chosen].sum()), 1e-30) for chosen in (rows.fitted, rows.held))
    checkpoint = None
    if work is not None:
        arrays = [rows.active, rows.phase, rows.target, rows.weight, rows.held, *layer.arrays]
        begun = arrays_digest(arrays, f"{how!r}, {seed=}")
        checkpoint = FileCheckpoint(work / "network.npz", begun)
    state = None if checkpoint is None else checkpoint.load()
    if state is None:
        curves = [[layer.error(rows.fitted) / fitted], [layer.error(rows.held) / held]]
    else:
        curves = [list(state.pop(name)) for name in ("training_errors", "held_out_errors")]
        for name, array in layer.state.items():
            array[...] = state[name]
    batches = -(-len(rows.fitted) // _BATCH)
    whole, rate = passes * batches, _RATE if prior is None else _LATER_RATE
    with run.progress("passes", whole) as task:
        task.advance((len(curves[0]) - 1) * batches)
        for number in range(len(curves[0]) - 1, passes):
            order = np.random.default_rng((seed, number)).permutation(rows.fitted)
            error = 0.0
            for batch in range(batches):
                error += layer.error(order[batch * _BATCH : (batch + 1) * _BATCH], learns=True)
                done = number * batches + batch
                falling = (1 + math.cos(math.pi * done / whole)) / 2
                layer.step(rate * falling * min(1.0, (done + 1) / min(_WARM_UP, whole / 8)), done + 1)
                task.advance()
            curves[0].append(error / fitted)
            curves[1].append(layer.error(rows.held) / held)
            task.note(f"root mean square error {curves[0][-1] ** 0.5:.4f}")
            if checkpoint is not None:
                checkpoint.save(layer.state | {"training_errors": curves[0], "held_out_errors": curves[1]})
    if how.prior_share:
        for array, began in zip(layer.arrays, begun_with, strict=True):
            # Further units lose of their output alone: what they began with is no knowledge.
            own = slice(known if array.shape[-1] == hidden else None)
            array[..., own] += np.float32(how.prior_share) * (began - array)[..., own]
        curves[1][-1] = layer.error(rows.held) / held
    fitted_weights, *others, offset = layer.arrays
    network = Network(fitted_weights[:-1], *others)
    evaluation = LinearEvaluation(learning, offset[:, 0], LOGISTIC, network=network, provenance=told)
    held_errors = np.array(curves[1]) if len(rows.held) else np.full(len(curves[1]), np.nan)
    count = sum(array.size for array in layer.arrays) - hidden
    result = FitResult(repr(how), False, LIMIT, np.array(curves[0]), held_errors, passes, count, fitted)
    return Fit(evaluation, (result.course(),))
