"""Evaluations: link(sum of the weights of everything that is active), with weights by phase (GLEM, section 2).

An evaluation may combine three kinds of terms: patterns, mined configurations, and features that enter linearly. A
hidden layer (:mod:`~glem.core.evaluation.network`) may stand beside them.
Its files are ``.npz`` archives with a JSON header; loading one runs no code.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import kernel
from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError, reading
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, result_labels
from glem.core.evaluation.network import NETWORK_ARRAYS, Network, active_rows
from glem.core.evaluation.result_distribution import blocks_of
from glem.core.features.features import AtomicFeatures, Relation
from glem.core.features.learning import Learning, load_learning, with_phases
from glem.core.features.own import described_sources, sources_of
from glem.core.files.archives import ArchiveFormat
from glem.core.game.equal_positions import contiguous_columns
from glem.core.game.families import check_named_by_file
from glem.core.machine.large_arrays import let_go, new_array
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.configurations.matching.matcher import ConfigurationMatcher

_LARGEST_INT16 = 32767
_SHOWN = 12
_MOST_HIDDEN = 1 << 12

EVALUATION_ARRAYS = ("bias", "pattern_weights", "configuration_weights", "linear_weights")
"""Arrays that every evaluation file holds."""

_CONFIGURATION_ARRAYS = (
    "relation_features",
    "relation_values",
    "configuration_relations",
    "configuration_offsets",
    "configuration_match_counts",
)

OPTIONAL_EVALUATION_ARRAYS = (
    *_CONFIGURATION_ARRAYS,
    *NETWORK_ARRAYS,
    "sparse_sizes",
    "sparse_contents",
    "coefficients",
)
"""Arrays of an evaluation with configurations, with a hidden layer, with sparse patterns (the numbers of contents of
each pattern, -1 for a dense one, and all contents, one pattern after the other), with coefficients and their errors.
"""

_FORMAT = ArchiveFormat(
    "glem evaluation",
    version=1,
    required=EVALUATION_ARRAYS,
    optional=OPTIONAL_EVALUATION_ARRAYS,
    largest=4 << 30,
    foreign={
        "match_counts": "holds configurations without weights, no evaluation",
        "value_bias": "is an evaluation with a drawishness",
        "squares": "is a quadratic evaluation",
    },
)

Weights = NDArray[np.float32]


def check_shapes(source: Path, header: Any, shapes: Mapping[str, tuple[int, ...]], part: str = "") -> None:
    """Refuse arrays of a file that are larger than phases, features and terms of its header make them.

    Parameters
    ----------
    header, shapes
        Of :meth:`LinearEvaluation.parts`.
    part
        What stands before the names in the file.

    Raises
    ------
    BadInputError
        The text names the array; or the header fits no evaluation.
    """
    with reading(source, "glem evaluation file"):
        learning = _learning_of(source, header)
        patterns = [[learning.features.index(name) for name in names] for names in (header["patterns"] or {}).values()]
        linear = [learning.features.index(name) for name in header["linear"]]
    phases = len(learning.phases)
    values = [feature.high - feature.low + 1 for feature in learning.features.features]
    contents = sum(math.prod(values[member] for member in members) for members in patterns)
    relations, terms = sum(values), len(patterns) + len(linear)

    def count(name: str) -> int:
        return math.prod(shapes.get(name, (0,)))

    configurations, hidden = count("configuration_match_counts"), count("hidden_bias")
    most = {
        "bias": phases,
        "pattern_weights": phases * contents,
        "configuration_weights": phases * configurations,
        "linear_weights": phases * len(linear),
        "relation_features": relations,
        "relation_values": relations,
        "configuration_relations": configurations * relations,
        "configuration_offsets": configurations + 1,
        "hidden_weights": hidden * max(relations, contents),
        "hidden_bias": _MOST_HIDDEN,
        "hidden_output": 2 * phases * hidden,
        "sparse_sizes": len(patterns),
        "sparse_contents": contents,
        "coefficients": 2 * phases * (terms + 1),
        "slopes": phases * terms,
        "squares": phases * terms**2,
    }
    for name, greatest in most.items():
        if count(name) > greatest:
            raise BadInputError(f"{part}{name} have shape {shapes[name]}, the header allows {greatest:,} numbers")


@kernel
def _add_pattern_sums(indices: Any, offsets: Any, weights: Any, phases: Any, terms: Any, sums: Any) -> None:
    for instance in range(indices.shape[0]):
        offset = offsets[instance]
        column = indices[instance]
        own = sums[terms[instance]]
        for row in range(indices.shape[1]):
            own[row] += weights[phases[row], offset + column[row]]


@define(frozen=True)
class Contribution:
    """What one active item adds to the sum of a position.

    Parameters
    ----------
    kind
        ``bias``, ``pattern``, ``configuration``, ``linear`` or ``network``.
    name
        Name of the pattern or feature; for a configuration, its relations.
    relations
        What holds in the position, on its own squares; empty for a bias or linear feature.
    amount
        The addend, in units of the sum (label units under the identity link).
    """

    kind: str
    name: str
    relations: tuple[Relation, ...]
    amount: float

    def __str__(self) -> str:
        return f"{self.amount:+.3f} {self.kind} {self.name}"


@define(frozen=True, repr=False)
class Explanation:
    """Everything that adds up to an evaluation of one position.

    Parameters
    ----------
    phase
        Phase of the position.
    contributions
        All active items, the bias included, by descending size of their amounts.
    total
        Their sum.
    value
        The link of the sum: the evaluation.
    drawishness
        The same of the drawishness, where the evaluation has one.
    """

    phase: int
    contributions: tuple[Contribution, ...]
    total: float
    value: float
    drawishness: Explanation | None = None

    def __repr__(self) -> str:
        return f"Explanation(value {self.value:+.3f}, phase {self.phase}, {len(self.contributions)} contributions)"

    def __str__(self) -> str:
        lines: list[str] = []
        for part, own in self._parts().items():
            lines += [f"{part} {own.value:+.3f}, the sum of:", *map(str, own.contributions)]
        return "\n".join(lines)

    def rows(self) -> list[dict[str, Any]]:
        """Return the contributions as rows of a table: kind, name and amount; first the part where there are two."""
        return [
            ({} if self.drawishness is None else {"part": part})
            | {"kind": item.kind, "name": item.name, "amount": item.amount}
            for part, own in self._parts().items()
            for item in own.contributions
        ]

    def _repr_html_(self) -> str:
        return "".join(
            Table(
                f"{part.capitalize()} {own.value:+.3f}",
                ("kind", "name", "adds"),
                [(item.kind, item.name, f"{item.amount:+.3f}") for item in own.contributions],
            ).html()
            for part, own in self._parts().items()
        )

    def _parts(self) -> dict[str, Explanation]:
        return {"value": self} | ({} if self.drawishness is None else {"drawishness": self.drawishness})


@define(frozen=True, eq=False)
class PlayWeights:
    """Weights as 16-bit integers, for play.

    Parameters
    ----------
    scale
        An integer weight is the rounded product of the weight and this power of two.
    bias
        int32 [K].
    patterns, configurations, linear
        int16 [K, M] each; M is 0 where the evaluation has no such terms.
    """

    scale: float
    bias: NDArray[np.int32]
    patterns: NDArray[np.int16]
    configurations: NDArray[np.int16]
    linear: NDArray[np.int16]


def no_weights() -> Weights:
    """Weights that an evaluation does without."""
    return np.zeros((0, 0), np.float32)


@define(frozen=True, eq=False, repr=False)
class LinearEvaluation:
    """A generalized linear evaluation of a game's positions.

    Parameters
    ----------
    learning
        The game's features and phases; K phases.
    bias
        float32 [K].
    link
        From the sum to label units.
    patterns, pattern_weights
        Optional pattern set and its weights, float32 [K, weight_count]; beside a hidden layer, none may stand for 0.
    configurations, configuration_weights
        Optional configurations and their weights, float32 [K, C].
    most_specific
        Only active configurations without active specializations count (GLEM, section 4.3).
    linear, linear_weights
        Indices of features that enter as weight times value, and their weights, float32 [K, L].
    provenance
        Where the weights come from; names and texts, kept in files.
    coefficients
        Optional float32 [2, K, T + 1]: of each of the :attr:`terms` and, last, of the constant, the coefficient and its
        standard error where they were fitted as few numbers (:mod:`~glem.core.fitting.discriminants.by_phase`); an
        error is nan where there is none.
    network
        Optional hidden layer, whose value is added to the sum.

    Raises
    ------
    BadInputError
        Shapes do not fit, or a weight is not finite.
    """

    learning: Learning
    bias: Weights
    link: Link = IDENTITY
    patterns: PatternSet | None = None
    pattern_weights: Weights = field(factory=no_weights)
    configurations: ConfigurationSet | None = None
    configuration_weights: Weights = field(factory=no_weights)
    most_specific: bool = True
    linear: tuple[int, ...] = ()
    linear_weights: Weights = field(factory=no_weights)
    provenance: Mapping[str, str] = field(factory=dict)
    coefficients: NDArray[np.float32] | None = None
    network: Network | None = None
    archive: ClassVar[ArchiveFormat] = _FORMAT
    _matcher: ConfigurationMatcher | None = field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        phases = len(self.learning.phases)
        if self.bias.shape != (phases,):
            raise BadInputError(
                f"bias has shape {self.bias.shape}, {self.learning.game.name} has {counted(phases, 'phase')}"
            )
        if not np.isfinite(self.bias).all():
            raise BadInputError("bias holds values that are not finite")
        widths = {
            "pattern_weights": self.patterns.weight_count if self.patterns is not None else 0,
            "configuration_weights": len(self.configurations) if self.configurations is not None else 0,
            "linear_weights": len(self.linear),
        }
        object.__setattr__(self, "bias", np.ascontiguousarray(self.bias, np.float32))
        for name, width in widths.items():
            weights = np.ascontiguousarray(getattr(self, name), np.float32)
            if weights.size == 0 and (width == 0 or self.network is not None):
                weights = np.zeros((phases, width), np.float32)
            if weights.shape != (phases, width):
                raise BadInputError(f"{name} have shape {weights.shape}, expected ({phases}, {width})")
            if not np.isfinite(weights).all():
                raise BadInputError(f"{name} hold values that are not finite")
            object.__setattr__(self, name, weights)
        if self.patterns is not None and self.pattern_weights[:, self.patterns.null_weights].any():
            raise BadInputError("pattern_weights: the null weight of a sparse pattern is not 0")
        for feature in self.linear:
            if not 0 <= feature < len(self.learning.features):
                raise BadInputError(f"linear feature {feature} is none of the {len(self.learning.features)} features")
        shape = (2, phases, len(self.terms) + 1)
        if self.coefficients is not None and (
            self.coefficients.shape != shape or not np.isfinite(self.coefficients[0]).all()
        ):
            raise BadInputError(f"coefficients have shape {self.coefficients.shape}, expected finite ones {shape}")
        if self.network is not None:
            self.network.check(self.learning, self.patterns)
        if self.configurations is not None and len(self.configurations):
            # Most evaluations have none, and an engine starts sooner without what finds them.
            from glem.core.configurations.matching.matcher import ConfigurationMatcher

            object.__setattr__(self, "_matcher", ConfigurationMatcher(self.configurations))

    def __repr__(self) -> str:
        counts = {
            "pattern weights": self.pattern_weights.size,
            "configuration weights": self.configuration_weights.size,
            "linear weights": self.linear_weights.size,
            "hidden units": 0 if self.network is None else self.network.bias.size,
        }
        parts = [f"{count} {name}" for name, count in counts.items() if count]
        return f"LinearEvaluation({self.learning.game.name}: {', '.join(parts) or 'no weights'}, {self.unit})"

    def _repr_html_(self) -> str:
        return self.strongest_weights(repr(self)).html()

    def strongest_weights(self, caption: str) -> Table:
        """List the items of greatest weight: of each pattern one, and single others.

        A row of a hidden layer counts as what it adds where nothing is, to first order.
        """
        features, names, configurations = self.learning.features, self.learning.phases.names, self.configurations
        found: list[tuple[float, int, str]] = []

        def add(weights: Weights, describe: Callable[[int], str], shown: int = 1) -> None:
            greatest = np.abs(weights).max(axis=0, initial=0)
            for place in np.argsort(-greatest, kind="stable")[:shown].tolist():
                phase = int(np.abs(weights[:, place]).argmax())
                found.append((float(weights[phase, place]), phase, describe(place)))

        if self.patterns is not None:
            patterns, starts = self.patterns, self.patterns.weight_starts.tolist()
            weights = self.pattern_weights
            if self.network is not None and not self.network.has_views:
                weights = weights + self.network.first_slopes
            for start, end in pairwise(starts):

                def described(place: int, start: int = start) -> str:
                    name, relations = patterns.describe(start + place)
                    return f"{name}: {' '.join(map(features.describe, relations))}"

                add(weights[:, start:end], described)
        if configurations is not None:
            add(self.configuration_weights, lambda place: configurations.describe(place, features), _SHOWN)
        add(self.linear_weights, lambda place: features[self.linear[place]].name, _SHOWN)
        found.sort(key=lambda item: -abs(item[0]))
        rows = [(text, names[phase], f"{weight:+.3f}") for weight, phase, text in found[:_SHOWN] if weight]
        return Table(caption, ("strongest", "phase", "weight"), rows)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the patterns and of the linear features."""
        names = () if self.patterns is None else tuple(pattern.name for pattern in self.patterns.patterns)
        return (*names, *(self.learning.features[feature].name for feature in self.linear))

    @property
    def unit(self) -> str:
        """Unit of values: the game's label unit, or ``winning chance`` under the logistic link."""
        return "winning chance" if self.link == LOGISTIC else self.learning.label_unit

    def labels_of(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Labels to compare values with: the scores, or winning chances for them under the logistic link.

        They are those that the evaluation was fitted to: hidden layers take whole winning chances, others 0.1 to 0.9.
        """
        if self.link != LOGISTIC:
            return scores
        return result_labels(scores, self.learning.game.score_bounds, most=0.9 if self.network is None else 1)

    def final_values(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Values of finished positions among those of others: the scores where these tell by how much a game is won.

        Elsewhere they are infinite, or 0 for a draw: the end of a game outweighs every estimate.
        """
        if self.link == IDENTITY and self.learning.game.greatest_score > 1:
            return scores
        return np.where(scores == 0, 0, np.copysign(np.inf, scores)).astype(np.float32)

    def terms_of_values(self, values: NDArray[np.int16], phase: NDArray[Any]) -> NDArray[np.float32]:
        """Sum up what each of the :attr:`terms` adds: float32 [T, N]; arguments as of :meth:`sums_of_values`."""
        phase = np.ascontiguousarray(phase, np.uint8)
        found = np.zeros((len(self.terms), len(phase)), np.float32)
        if self.patterns is not None:
            owner = np.array([instance.pattern for instance in self.patterns.instances], np.int64)
            indices = self.patterns.indices(values)
            _add_pattern_sums(indices, self.patterns.column_offsets, self.pattern_weights, phase, owner, found)
        first = len(found) - len(self.linear)
        for place, feature in enumerate(self.linear):
            found[first + place] = self.linear_weights[phase, place] * values[:, feature]
        return found

    def sums_of_values(self, values: NDArray[np.int16], phase: NDArray[Any], *, jobs: int = 1) -> NDArray[np.float32]:
        """Sum of active weights, before the link, for feature values: float32 [N].

        Parameters
        ----------
        values
            int16 [N, F] as :meth:`~glem.core.features.features.AtomicFeatures.values` gives them.
        phase
            Phase of each position [N].
        jobs
            Threads; the result does not depend on them.
        """
        phase = np.ascontiguousarray(phase, np.uint8)
        sums: NDArray[np.float32] = self.bias[phase]
        if self.patterns is not None:
            indices = self.patterns.indices(values)
            only = np.zeros(len(indices), np.int64)
            _add_pattern_sums(
                indices, self.patterns.column_offsets, self.pattern_weights, phase, only, sums.reshape(1, -1)
            )
        for place, feature in enumerate(self.linear):
            sums += self.linear_weights[phase, place] * values[:, feature]
        if self._matcher is not None:
            sums += self._matcher.sums(
                values, self.configuration_weights, phase=phase, most_specific=self.most_specific, jobs=jobs
            )
        if self.network is not None:
            sums += self.layer_values(values, phase)
        return sums

    def layer_values(self, values: NDArray[np.int16], phase: NDArray[Any]) -> NDArray[np.float32]:
        """Value of the hidden layer, which the sums hold: float32 [N]; arguments as of :meth:`sums_of_values`."""
        assert self.network is not None
        patterns = None if self.network.has_views else self.patterns
        return self.network.values(active_rows(self.learning, patterns, values), phase)

    def sums(self, positions: Any, *, jobs: int = 1, progress: Progress = SILENT) -> NDArray[np.float32]:
        """Sum the active weights of positions, before the link: float32 [N]; arguments as of :meth:`predict`."""
        game = self.learning.game
        if isinstance(positions, game.position_type) and np.ndim(positions[0]) == 0:
            single: NDArray[np.float32] = self.sums([positions], jobs=jobs, progress=progress)[0]
            return single
        positions = contiguous_columns(game, positions)
        count = len(positions[0])
        sums = new_array(count, np.float32)
        with progress("evaluate", count) as task:
            for rows in blocks_of(count):
                block = rows_of(positions, rows)
                values = self.learning.features.values(block)
                sums[rows] = self.sums_of_values(values, self.learning.phases.of(block), jobs=jobs)
                let_go(sums, *positions)
                task.advance(rows.stop - rows.start)
        return sums

    def predict(self, positions: Any, *, jobs: int = 1, progress: Progress = SILENT) -> NDArray[np.float32]:
        """Evaluate positions.

        Parameters
        ----------
        positions
            N positions, taken in blocks: a set of them, a table with its columns ``position_FIELD`` (pandas, polars,
            Arrow), a sequence, or a position of columns; or one position.
        jobs
            Threads; the result does not depend on them.
        progress
            Display.

        Returns
        -------
        values
            float32 [N], in units of :attr:`unit`, from the side to move. Under the identity link nothing keeps them
            within the game's scores. Of one position a single number.
        """
        values: NDArray[np.float32] = self.link(self.sums(positions, jobs=jobs, progress=progress)).astype(np.float32)
        return values[()]

    def evaluate(self, position: Any) -> float:
        """Value of one position, in label units, from the side to move."""
        return self.explain(position).value

    def explain(self, position: Any) -> Explanation:
        """List what is active in one position and how much each item adds.

        Of a hidden layer over patterns, each pattern has its share (:meth:`.Network.shares`).
        """
        features = self.learning.features
        values = features.values_of(position)
        phase = int(self.learning.phases.phase_of(position))
        found = [Contribution("bias", f"phase {self.learning.phases.names[phase]}", (), float(self.bias[phase]))]
        if self.patterns is not None:
            active = self.patterns.indices(values[None, :])[:, 0] + self.patterns.column_offsets
            amounts = self.pattern_weights[phase, active].astype(np.float64)
            if self.network is not None and not self.network.has_views:
                start, shares = self.network.shares(active, phase)
                amounts = amounts + shares
                found.append(Contribution("network", self._layer_name, (), start))
            for instance, weight, amount in zip(
                self.patterns.instances, active.tolist(), amounts.tolist(), strict=True
            ):
                if weight in self.patterns.null_weights:
                    continue
                relations = tuple(Relation(feature, int(values[feature])) for feature in instance.features)
                name = self.patterns.patterns[instance.pattern].name
                found.append(Contribution("pattern", name, relations, amount))
        for place, feature in enumerate(self.linear):
            amount = float(self.linear_weights[phase, place]) * int(values[feature])
            found.append(Contribution("linear", f"{features[feature].name}={values[feature]}", (), amount))
        if self._matcher is not None and self.configurations is not None:
            for active in self._matcher.active_one(values, most_specific=self.most_specific):
                members = self.configurations.relations_of(int(active)).tolist()
                relations = tuple(self.configurations.table[relation] for relation in members)
                name = self.configurations.describe(int(active), features)
                amount = float(self.configuration_weights[phase, active])
                found.append(Contribution("configuration", name, relations, amount))
        if self.network is not None and self.network.has_views:
            (amount,) = self.layer_values(values[None, :], np.array([phase], np.uint8)).tolist()
            found.append(Contribution("network", self._layer_name, (), amount))
        total = sum(item.amount for item in found)
        found.sort(key=lambda item: -abs(item.amount))
        return Explanation(phase, tuple(found), total, float(self.link(np.array(total))))

    @property
    def _layer_name(self) -> str:
        return "" if self.network is None else f"hidden layer of {counted(self.network.bias.size, 'unit')}"

    def of_plugin(self) -> Self | None:
        """Return the same evaluation over the features of the game's plugin; None where it reads added ones."""
        plugin = self.learning.features.plugin
        if plugin is None:
            return self
        patterns = () if self.patterns is None else self.patterns.patterns
        read = [*self.linear, *(feature for pattern in patterns for feature in pattern.features)]
        read += [] if self.configurations is None else self.configurations.table.features.tolist()
        if max(read, default=-1) >= len(plugin):
            return None
        own = None if self.patterns is None else PatternSet(plugin, patterns)
        return evolve(self, learning=evolve(self.learning, features=plugin), patterns=own)

    @property
    def weights(self) -> Weights:
        """All weights, float32 [K, items]: of patterns, configurations and linear features, and last the bias."""
        return np.concatenate(
            [self.pattern_weights, self.configuration_weights, self.linear_weights, self.bias[:, None]], axis=1
        )

    def with_weights(self, weights: NDArray[np.floating]) -> LinearEvaluation:
        """Return the evaluation with other weights, [K, items] in the order of :attr:`weights`."""
        tables = (self.pattern_weights, self.configuration_weights, self.linear_weights)
        ends = np.cumsum([table.shape[1] for table in tables])
        patterns, configurations, linear, bias = np.split(weights.astype(np.float32), ends, axis=1)
        return evolve(
            self,
            bias=bias[:, 0],
            pattern_weights=patterns,
            configuration_weights=configurations,
            linear_weights=linear,
            coefficients=None,
        )

    def with_patterns(self, more: PatternSet) -> LinearEvaluation:
        """Return the evaluation with further patterns behind its own, their weights 0.

        Raises
        ------
        BadInputError
            A pattern has the name of another.
        """
        own = () if self.patterns is None else self.patterns.patterns
        patterns = PatternSet(more.features, (*own, *more.patterns))
        width = patterns.weight_count - self.pattern_weights.shape[1]
        weights, network = np.pad(self.pattern_weights, ((0, 0), (0, width))), self.network
        if network is not None and not network.has_views:
            network = network.with_rows(width)
        return evolve(self, patterns=patterns, pattern_weights=weights, coefficients=None, network=network)

    def extended(self, learning: Learning, linear: Iterable[str] = ()) -> Self:
        """Return the same evaluation over these and further features; those named linear enter with weights of 0."""
        own = tuple(map(learning.features.index, linear))
        return evolve(
            self,
            learning=learning,
            patterns=None if self.patterns is None else PatternSet(learning.features, self.patterns.patterns),
            linear=(*self.linear, *own),
            linear_weights=np.pad(self.linear_weights, ((0, 0), (0, len(own)))),
            coefficients=None if own else self.coefficients,
        )

    def in_play(self) -> PlayWeights:
        """Round the weights to 16-bit integers with one common power of two as scale.

        The scale is the greatest at which no weight overflows, at most 2^10 steps a label unit. A sum of m
        active items then differs by at most (m + 1) / (2 scale) from the one in float32.
        """
        tables = (self.pattern_weights, self.configuration_weights, self.linear_weights)
        largest = max((float(np.abs(table).max(initial=0)) for table in tables), default=0.0)
        scale = 1024.0
        while largest * scale > _LARGEST_INT16:
            scale /= 2
        rounded = [np.rint(table * scale).astype(np.int16) for table in tables]
        return PlayWeights(scale, np.rint(self.bias * scale).astype(np.int32), *rounded)

    def as_played(self) -> LinearEvaluation:
        """Return the evaluation whose weights are those of :meth:`in_play`."""
        weights = self.in_play()
        tables: tuple[NDArray[Any], ...] = (weights.patterns, weights.configurations, weights.linear)
        played = self.with_weights(np.concatenate([*tables, weights.bias[:, None]], axis=1) / weights.scale)
        return played if self.network is None else evolve(played, network=self.network.as_played(self.layer_bound))

    @property
    def layer_bound(self) -> float | None:
        """Greatest absolute sum that a unit of a layer over patterns can be; None for other evaluations."""
        if self.network is None or self.patterns is None or self.network.has_views:
            return None
        largest = np.maximum.reduceat(np.abs(self.network.weights), self.patterns.weight_starts[:-1], axis=0)
        counts = np.diff(self.patterns.group_starts)[:, None]
        return float(((counts * largest).sum(axis=0) + np.abs(self.network.bias)).max())

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of which :meth:`from_parts` makes the evaluation again."""
        learning = self.learning
        features = learning.features
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in EVALUATION_ARRAYS}
        configurations = self.configurations
        if configurations is not None:
            table, members = configurations.table, (configurations.relations, configurations.offsets)
            parts = (table.features, table.values, *members, configurations.match_counts)
            arrays |= dict(zip(_CONFIGURATION_ARRAYS, parts, strict=True))
        if self.patterns is not None and self.patterns.hash_tables:
            contents = [pattern.contents for pattern in self.patterns.patterns]
            arrays["sparse_sizes"] = np.array([-1 if own is None else len(own) for own in contents], np.int64)
            arrays["sparse_contents"] = np.array([entry for own in contents for entry in own or ()], np.int64)
        if self.coefficients is not None:
            arrays["coefficients"] = self.coefficients
        if self.network is not None:
            arrays |= dict(zip(NETWORK_ARRAYS, self.network.arrays, strict=True))
            if not self.pattern_weights.any():
                arrays["pattern_weights"] = no_weights()
        header: dict[str, Any] = {
            "game": learning.game.name,
            "phases": list(learning.phases.names),
            "features": [[feature.name, feature.low, feature.high] for feature in features.features],
            "link": {"name": self.link.name, "span": self.link.span, "low": self.link.low},
            "patterns": None if self.patterns is None else self.patterns.names,
            "linear": [features[feature].name for feature in self.linear],
            "most_specific": self.most_specific,
            "position_count": None if configurations is None else configurations.position_count,
            "provenance": dict(self.provenance),
        }
        if learning.feature_set:
            header["feature_set"] = learning.feature_set
        if features.sources:
            header["own_features"] = described_sources(features.sources, learning.game.name)
        return header, arrays

    @classmethod
    def from_parts(cls, source: Path, header: Any, arrays: Mapping[str, NDArray[Any]], **more: Any) -> Self:
        """Make the evaluation of :meth:`parts`, which were read from a file; ``more`` are fields of other classes.

        Raises
        ------
        BadInputError
            They fit no evaluation, or one of other features or phases.
        """
        with reading(source, "glem evaluation file"):
            learning = _learning_of(source, header)
            patterns = None
            if header["patterns"] is not None:
                patterns = _patterns_from(learning.features, header["patterns"], arrays)
            configurations = None
            if header["position_count"] is not None:
                features, values, relations, offsets, counts = (arrays[name] for name in _CONFIGURATION_ARRAYS)
                table, positions = RelationTable(features, values), int(header["position_count"])
                configurations = ConfigurationSet(table, relations, offsets, counts, positions)
            return cls(
                learning=learning,
                bias=arrays["bias"],
                link=Link(str(header["link"]["name"]), float(header["link"]["span"]), float(header["link"]["low"])),
                patterns=patterns,
                pattern_weights=arrays["pattern_weights"],
                configurations=configurations,
                configuration_weights=arrays["configuration_weights"],
                most_specific=bool(header["most_specific"]),
                linear=tuple(learning.features.index(name) for name in header["linear"]),
                linear_weights=arrays["linear_weights"],
                provenance={str(name): str(text) for name, text in header["provenance"].items()},
                coefficients=arrays.get("coefficients"),
                network=Network(*(arrays[name] for name in NETWORK_ARRAYS)) if NETWORK_ARRAYS[0] in arrays else None,
                **more,
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an ``.npz`` file, atomically."""
        self.archive.write(path, *self.parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that :meth:`save` wrote; :class:`BadInputError` when it is anything else.

        :func:`glem.core.evaluation.named.load_value` also reads the value of one with a drawishness.
        """
        source = Path(path)
        return cls.from_parts(source, *cls.archive.read(source, partial(check_shapes, source)))


def _patterns_from(features: AtomicFeatures, names: Any, arrays: Mapping[str, NDArray[Any]]) -> PatternSet:
    if "sparse_sizes" not in arrays:
        return PatternSet.from_names(features, names)
    sizes, contents = arrays["sparse_sizes"].tolist(), arrays["sparse_contents"].tolist()
    patterns = []
    for (name, members), size in zip(names.items(), sizes, strict=True):
        own, contents = contents[: max(size, 0)], contents[max(size, 0) :]
        members = tuple(features.index(member) for member in members)
        patterns.append(Pattern(name, members, None if size < 0 else tuple(own)))
    if contents:
        raise BadInputError("more contents than the sparse patterns have")
    return PatternSet(features, tuple(patterns))


def _learning_of(path: Path, header: Any) -> Learning:
    """Give what a game gives to learning the phases of a file, and check that its features are the same."""
    sources = sources_of(path, header.get("own_features", ()))
    learning = load_learning(check_named_by_file(header["game"], path), str(header.get("feature_set", "")), sources)
    names = tuple(header["phases"])
    if names != learning.phases.names:
        if learning.phases_of is not None:
            learning = with_phases(learning, len(names))
        if names != learning.phases.names:
            raise BadInputError(f"{path}: made for other phases than {learning.game.name} has now: {header['phases']}")
    now = [[feature.name, feature.low, feature.high] for feature in learning.features.features]
    if header["features"] != now:
        changed = [str(there[0]) for there, here in zip(header["features"], now, strict=False) if there != here]
        first = changed[0] if changed else f"{len(header['features'])} of them, now {len(now)}"
        raise BadInputError(f"{path}: made with other features than {learning.game.name} has now ({first})")
    return learning
