"""Atomic features and relations: what configurations and patterns are built from (GLEM, sections 2 and 4.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations, bound, generic_operation
from glem.core.errors import BadInputError, PluginError
from glem.core.game.equal_positions import contiguous_columns, one_position
from glem.core.game.game import Game
from glem.core.tasks.counts import counted

_BLOCK = 64
_INT16 = np.iinfo(np.int16)
_PIECE = re.compile(r"(own|opponent)(?:'s)?(?:[ _-]+(.+))?")


class Relation(NamedTuple):
    """``feature == value``, the feature given by its index in an :class:`AtomicFeatures`."""

    feature: int
    value: int


@define(frozen=True)
class AtomicFeature:
    """One integer-valued property of a position.

    Parameters
    ----------
    name
        Short unique name, e.g. ``e4`` or ``mobility``.
    low, high
        Least and greatest value, both inclusive.
    description
        One sentence for the report.
    value_names
        Name of each value from ``low`` to ``high``, or empty. In a cell, ``own`` and ``opponent``, alone or before a
        kind of piece (``own king``, ``opponent_man``), say whose piece stands there; reports draw and compare by it.
    cell
        Board cell that the feature describes (row-major from the top left), or None.
    group
        Features of a kind carry one group name (``squares``, ``mobility``, ...), for choosing subsets.
    example
        A position in which it is greater than 0, in the game's notation, for pictures; or empty.
    """

    name: str
    low: int
    high: int
    description: str
    value_names: tuple[str, ...] = ()
    cell: int | None = None
    group: str = ""
    example: str = ""

    def __attrs_post_init__(self) -> None:
        if not -32768 <= self.low <= self.high <= 32767:
            raise BadInputError(f"feature {self.name!r}: range {self.low}..{self.high} is empty or no int16")
        if self.value_names and len(self.value_names) != self.high - self.low + 1:
            raise BadInputError(
                f"feature {self.name!r} has {counted(self.high - self.low + 1, 'value')} and "
                f"{len(self.value_names)} value names"
            )

    @property
    def cardinality(self) -> int:
        """Number of possible values."""
        return self.high - self.low + 1

    def value_name(self, value: int) -> str:
        """Name of a value, the number itself where it has none."""
        return self.value_names[value - self.low] if self.value_names else str(value)


@define(frozen=True)
class OwnFeature:
    """An atomic feature that a user adds to a game's own (:mod:`~glem.core.features.own`).

    Parameters
    ----------
    game
        Name of the game.
    feature
        What it is; the same for mirror images.
    value
        Dual ``(position) -> int``.
    linear
        Whether it also enters linearly.
    """

    game: str
    feature: AtomicFeature
    value: Callable[[Any], int]
    linear: bool


@define(frozen=True)
class FeatureSource:
    """Where features of a user's own come from.

    Parameters
    ----------
    file
        Path of their file; empty for functions that were given themselves.
    digest
        Of their source text.
    features
        The features, perhaps of several games.
    """

    file: str
    digest: str
    features: tuple[OwnFeature, ...]

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.file or "functions of your own"

    def of(self, game: str) -> tuple[OwnFeature, ...]:
        """Features of one game."""
        return tuple(own for own in self.features if own.game == game)


def side_and_kind(value_name: str) -> tuple[str, str]:
    """Whose piece a value's name tells of, and its kind: ("own", "king") for ``own king``; no side for other names."""
    found = _PIECE.fullmatch(value_name)
    return (found[1], found[2] or "") if found else ("", value_name)


@generic_operation
def write_values(operations: Operations, position: Any, values: Any) -> None:
    """Write all feature values of a position into the int16 buffer ``values``."""
    operations["write_values"](position, values)


write_others: Any = None
value_of: Any = None
place: Any = None
least: Any = None
most: Any = None
"""Stand for functions and numbers in copies of the one below; see :func:`~glem.core.compiling.operations.bound`."""


def _write_one_more(position: Any, values: Any) -> None:
    write_others(position, values)
    values[place] = min(max(np.int64(value_of(position)), least), most)


def _fill(operations: Any, columns: Any, count: int, row_values: Any, values: Any) -> None:
    features = values.shape[0]
    for start in range(0, count, _BLOCK):
        end = min(start + _BLOCK, count)
        for row in range(start, end):
            write_values(operations, position_at(columns, row), row_values[row - start])
        for feature in range(features):
            for row in range(start, end):
                values[feature, row] = row_values[row - start, feature]


@define(frozen=True, eq=False, repr=False)
class AtomicFeatures:
    """The atomic features of a game, computed together.

    Parameters
    ----------
    game
        Whose positions they describe.
    features
        In the order in which ``write`` writes them. Saved evaluations name their features: with a new name, old files
        cannot be read.
    write
        Dual ``(position, values)``: writes the value of every feature into the int16 buffer [F], and nothing else.
        Compiled code does not check values: one outside its range reads the weight of another feature.
    symmetries
        Optional array [S, F] of feature indices: feature ``f`` of a position has the value of feature
        ``symmetries[s, f]`` of the position's image under board symmetry ``s``. Row 0 is the identity, every row a
        permutation; features that change places have one range.
    plugin
        Where features of a user's own were added (:meth:`extended`), those without them; else None.
    sources
        Where the added ones come from, in their order.
    write_in_search
        Optional: what the search calls in place of ``write``.
    """

    game: Game
    features: tuple[AtomicFeature, ...]
    write: Callable[..., None]
    symmetries: NDArray[np.intp] | None = None
    plugin: AtomicFeatures | None = None
    sources: tuple[FeatureSource, ...] = ()
    write_in_search: Callable[..., None] | None = None
    operations: Operations = field(init=False, repr=False)
    _index: dict[str, int] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not callable(self.write):
            raise PluginError(f"features of {self.game.name!r}: write is {self.write!r}, expected a function")
        index = {feature.name: place for place, feature in enumerate(self.features)}
        if len(index) != len(self.features):
            raise BadInputError("two atomic features have one name")
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "operations", Operations(f"{self.game.name}-features", {"write_values": self.write}))

    def __len__(self) -> int:
        return len(self.features)

    def __reduce__(self) -> Any:
        # What write is made of where features were added has no name by which another process finds it.
        if self.plugin is not None:
            return self.plugin.extended, (self.sources,)
        return AtomicFeatures, (self.game, self.features, self.write, self.symmetries)

    def __repr__(self) -> str:
        return f"AtomicFeatures({self.game.name}: {counted(len(self), 'feature')})"

    def __getitem__(self, place: int) -> AtomicFeature:
        return self.features[place]

    def index(self, name: str) -> int:
        """Index of the feature of that name; :class:`BadInputError` when there is none."""
        try:
            return self._index[name]
        except KeyError:
            raise BadInputError(f"{self.game.name} has no atomic feature {name!r}") from None

    def select(self, groups: Sequence[str] | None = None, names: Sequence[str] | None = None) -> NDArray[np.intp]:
        """Sorted indices of the features in the named groups and of the named ones; all when neither is given."""
        if groups is None and names is None:
            return np.arange(len(self.features), dtype=np.intp)
        known = {feature.group for feature in self.features}
        for group in groups or ():
            if group not in known:
                raise BadInputError(f"{self.game.name} has no feature group {group!r}; it has: {sorted(known)}")
        chosen = {place for place, feature in enumerate(self.features) if feature.group in (groups or ())}
        chosen.update(self.index(name) for name in names or ())
        return np.array(sorted(chosen), dtype=np.intp)

    def extended(self, sources: Sequence[FeatureSource]) -> AtomicFeatures:
        """Add the features of some sources, behind those of the game's plugin.

        A value that is out of its range is an error where values are computed; a search takes the nearest that is not.

        Raises
        ------
        BadInputError
            There is a feature of that name.
        """
        plugin = self.plugin or self
        write = searched = plugin.write
        features = list(plugin.features)
        taken = dict.fromkeys(plugin._index, f"{self.game.name} itself")
        for source in sources:
            for own in source.of(self.game.name):
                name = own.feature.name
                if name in taken:
                    raise BadInputError(
                        f"{source.name}: {taken[name]} has a feature {name!r} too; give it another name"
                    )
                taken[name] = source.name
                named = {"value_of": own.value, "place": len(features)}
                write = bound(_write_one_more, write_others=write, least=int(_INT16.min), most=int(_INT16.max), **named)
                low, high = own.feature.low, own.feature.high
                searched = bound(_write_one_more, write_others=searched, least=low, most=high, **named)
                features.append(own.feature)
        symmetries = plugin.symmetries
        if symmetries is not None:
            images = np.arange(len(plugin), len(features), dtype=np.intp)
            symmetries = np.hstack([symmetries, np.tile(images, (len(symmetries), 1))])
        return AtomicFeatures(
            self.game, tuple(features), write, symmetries, plugin, tuple(sources), write_in_search=searched
        )

    def _refuse_outside(self, values: NDArray[np.int16], position_of: Callable[[int], Any]) -> None:
        """Refuse added features [F, N] that are out of their ranges: what is learned of them would be another's."""
        for place in range(len(self if self.plugin is None else self.plugin), len(self)):
            feature, found = self.features[place], values[place]
            outside = (found < feature.low) | (found > feature.high)
            if outside.any():
                row = int(outside.argmax())
                position = self.game.format_position(position_of(row))
                raise BadInputError(
                    f"feature {feature.name!r} is {found[row]}, expected {feature.low} to {feature.high}, for the "
                    f"position {position}"
                )

    def values(self, positions: Any) -> NDArray[np.int16]:
        """Compute all features of some positions.

        Parameters
        ----------
        positions
            N positions, however :func:`~glem.core.game.equal_positions.contiguous_columns` takes them.

        Returns
        -------
        values
            int16 array [N, F], stored feature by feature (Fortran order), so that ``values[:, f]`` is contiguous.

        Raises
        ------
        BadInputError
            An added feature is out of its range.
        """
        columns = contiguous_columns(self.game, positions)
        count = len(columns[0])
        values = np.empty((len(self.features), count), np.int16)
        row_values = np.zeros((_BLOCK, len(self.features)), np.int16)
        compiled(_fill)(self.operations, columns, count, row_values, values)
        self._refuse_outside(values, lambda row: position_at(columns, row))
        return values.T

    def values_of(self, position: Any) -> NDArray[np.int16]:
        """Compute all features of one position in plain Python: int16 array [F]."""
        values, position = np.zeros(len(self.features), np.int16), one_position(self.game, position)
        self.write(position, values)
        self._refuse_outside(values[:, None], lambda _: position)
        return values

    def describe(self, relation: Relation) -> str:
        """Text of a relation, e.g. ``a1=own``."""
        feature = self.features[relation.feature]
        return f"{feature.name}={feature.value_name(relation.value)}"
