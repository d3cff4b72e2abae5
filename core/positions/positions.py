"""Scored positions in columns: the training and test sets of evaluation functions (GLEM, section 3)."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import Factory, define, evolve, field
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError, described
from glem.core.game.equal_positions import contiguous_columns, group_equal, position_keys, scatter
from glem.core.game.families import check_named_by_file
from glem.core.game.game import Game, load_game
from glem.core.game.records import GameRecords
from glem.core.machine.large_arrays import let_go, new_array, pieces, taken
from glem.core.positions.replay import last_positions
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

_DTYPES = {
    "label": np.float32,
    "weight": np.float32,
    "record": np.int32,
    "ply": np.int16,
    "source": np.int16,
    "game_key": np.uint64,
    "label_spread": np.float32,
}
CHOICES = "choices"
"""Label kind of choice sets; the record of a position is there the number of the choice that it belongs to."""

_TABLE_KEY = "glem positions"
_SHOWN = 10
_MANY = 1 << 25
"""Rows of which all numbers would take much memory."""


def _each(value: int, dtype: Any) -> Any:
    """Default of a column: the same value for each position."""
    return Factory(lambda self: np.full(len(self.positions[0]), value, dtype), takes_self=True)


@define(frozen=True, eq=False, repr=False)
class Positions:
    """N positions of one game with their labels, weights and games: what is read, selected, fitted to and graded on.

    Columns that are not given are filled with what stands for unknown.
    :func:`glem.core.positions.labels.positions_of_records` makes a set of game records,
    :func:`glem.core.positions.selection.reading.read_selected` of files whose results are known, and
    :mod:`glem.core.positions.files` reads and writes sets.

    Parameters
    ----------
    game
        The game.
    positions
        Position of columns [N]: the game's position type with one array per field.
    label
        float32 [N], score from the side to move.
    weight
        float32 [N], how many observations the label stands for, not negative; 1 if not given.
    record
        int32 [N], number of the game record within the set, -1 where unknown.
    ply
        int16 [N], plies played before the position, passes included, -1 where unknown.
    source
        int16 [N], index into ``sources``, -1 where unknown.
    game_key
        uint64 [N], a hash of the game that the position was played in, modulo the symmetries of the board: the
        same game has the same key in every file. A position without a game has its own hash. If not given, it is
        found when it is asked for first.
    sources
        Names of the files that the positions come from.
    label_kind
        What the labels are: ``result``, ``theoretical``, ``auto`` (see :mod:`glem.core.positions.labels`), ``score``,
        ...
    label_spread
        float32 [N], standard deviation of the labels that were merged into this one; None where not kept.
    records
        The games that the positions come from, with the columns ``row`` and ``move`` in ``extra``; None where they are
        not at hand. No file keeps them, and :meth:`concatenate` leaves them out.
    extra
        Further columns of N values, which no file keeps. Selected positions
        (:mod:`glem.core.positions.selection.reading`) have ``length`` (plies of the game, -1 where unknown) and
        ``rating_difference`` (rating of the side to move less the opponent's, nan where one is unknown); those of game
        records also ``side``, ``row`` (index of the game in ``records``), ``move`` (index in ``records.moves`` of the
        move that was played, -1 for a pass that the record leaves out) and ``number`` (of the game in its file).

    Raises
    ------
    BadInputError
        Columns differ in length, a label or weight is not finite, a weight is negative, a record, ply or source is less
        than -1, or a source is none of ``sources``.
    """

    game: Game
    positions: Any
    label: NDArray[np.float32]
    weight: NDArray[np.float32] = field(default=_each(1, np.float32))
    record: NDArray[np.int32] = field(default=_each(-1, np.int32))
    ply: NDArray[np.int16] = field(default=_each(-1, np.int16))
    source: NDArray[np.int16] = field(default=_each(-1, np.int16))
    _game_key: NDArray[np.uint64] | None = field(default=None, alias="game_key")
    sources: tuple[str, ...] = ()
    label_kind: str = "score"
    label_spread: NDArray[np.float32] | None = None
    records: GameRecords | None = None
    extra: Mapping[str, NDArray[Any]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "positions", contiguous_columns(self.game, self.positions))
        known = self._known()
        for name, column in {**self._fields_of_positions(), **known, **self.extra}.items():
            if len(column) != len(self):
                raise BadInputError(
                    f"a set of {counted(len(self), 'position')} has {counted(len(column), 'value')} of {name!r}"
                )
        for name, column in known.items():
            stored = "_game_key" if name == "game_key" else name
            object.__setattr__(self, stored, np.ascontiguousarray(column, _DTYPES[name]))
        for part in pieces(len(self), self.label, self.weight):
            label, weight = self.label[part], self.weight[part]
            if not (good := np.isfinite(label)).all():
                row = part.start + int(np.flatnonzero(~good)[0])
                raise BadInputError(f"label of position {row} is {self.label[row]}, a finite score is needed")
            if not (good := np.isfinite(weight) & (weight >= 0)).all():
                row = part.start + int(np.flatnonzero(~good)[0])
                raise BadInputError(
                    f"weight of position {row} is {self.weight[row]}, it must be finite and not negative"
                )
        for name in ("record", "ply", "source"):
            if (least := int(getattr(self, name).min(initial=-1))) < -1:
                raise BadInputError(f"a position has {name} {least}; -1 stands for unknown, known ones begin with 0")
        if int(self.source.max(initial=-1)) >= len(self.sources):
            raise BadInputError(f"a position names source {int(self.source.max())} of {len(self.sources)}, from 0")
        let_go(self.record, self.ply, self.source)

    def _fields_of_positions(self) -> dict[str, NDArray[Any]]:
        return {f"position_{name}": column for name, column in self.positions._asdict().items()}

    def _known(self) -> dict[str, NDArray[Any]]:
        """Columns that are there beside those of positions; keys of games only if they were given or asked for."""
        found = {name: self._game_key if name == "game_key" else getattr(self, name) for name in _DTYPES}
        return {name: column for name, column in found.items() if column is not None}

    @classmethod
    def from_positions(
        cls,
        game: Game,
        positions: Any,
        label: NDArray[Any] | Sequence[float],
        *,
        source: str | None = None,
        **more: Any,
    ) -> Positions:
        """Make a set of positions with externally given scores.

        Parameters
        ----------
        game
            The game.
        positions
            N positions, however :func:`~glem.core.game.equal_positions.contiguous_columns` takes them.
        label
            Scores [N] from the side to move.
        source
            Name of the file or program that the scores come from.
        more
            Other columns and ``label_kind``, as the constructor takes them.
        """
        positions = contiguous_columns(game, positions)
        if source is not None:
            more |= {"source": np.zeros(len(positions[0]), np.int16), "sources": (source,)}
        return cls(game, positions, np.asarray(label, np.float32), **more)

    @classmethod
    def empty(cls, game: Game, *, label_kind: str = "score") -> Positions:
        """Set without positions."""
        keys = np.zeros(0, np.uint64)
        return cls(game, game.empty_columns(0), np.zeros(0, np.float32), game_key=keys, label_kind=label_kind)

    @classmethod
    def concatenate(cls, sets: Sequence[Positions], *, renumber: bool = True) -> Positions:
        """Join sets one after the other.

        Parameters
        ----------
        sets
            At least one set, all of one game and label kind. Sources of equal names become one; the label
            spread and further columns are kept when every set has them.
        renumber
            Give the records of each set new numbers after those before. Off for chunks of one set, whose
            numbers already agree.

        Raises
        ------
        BadInputError
            No set, or sets of different games or label kinds.
        """
        if not sets:
            raise BadInputError("no position sets to concatenate")
        games = sorted({part.game.name for part in sets})
        kinds = sorted({part.label_kind for part in sets})
        if len(games) > 1 or len(kinds) > 1:
            raise BadInputError(
                f"sets of different kinds cannot be joined: games {', '.join(games)}; labels {', '.join(kinds)}"
            )
        sources: list[str] = []
        parts = []
        next_record = 0
        for part in sets:
            columns = part.columns()
            columns["source"] = part.renumbered_sources(sources)
            if renumber:
                columns["record"] = np.where(part.record < 0, np.int32(-1), part.record + np.int32(next_record))
                next_record += int(part.record.max(initial=-1)) + 1
            parts.append(columns)
        joined = cls.from_columns(sets[0].game, _joined(parts), tuple(sources), kinds[0])
        extra = _joined([part.extra for part in sets])
        return evolve(joined, extra=extra) if extra else joined

    @classmethod
    def from_columns(
        cls, game: Game, columns: Mapping[str, NDArray[Any]], sources: tuple[str, ...], label_kind: str
    ) -> Positions:
        """Set of the columns that :meth:`columns` gives; all but ``label`` and those of positions may be absent."""
        positions = game.position_type(*(columns[f"position_{name}"] for name in game.position_type._fields))
        others: dict[str, Any] = {name: columns[name] for name in _DTYPES if name in columns}
        return cls(game=game, positions=positions, sources=sources, label_kind=label_kind, **others)

    @classmethod
    def of(cls, given: Any, game: Game | str | None = None) -> Positions:
        """Make a set of whatever holds one: a set, which stays as it is, or a table of pandas, polars or Arrow.

        Parameters
        ----------
        given
            A set, or a table as :meth:`from_arrow` takes it.
        game
            The game or its name; None for the one that the table names. Tables of polars name none.

        Raises
        ------
        BadInputError
            Something else, or what :meth:`from_arrow` refuses.
        """
        if isinstance(given, Positions):
            return given
        if any(hasattr(given, name) for name in ("iloc", "to_arrow", "column_names")):
            return cls.from_arrow(given, game)
        raise BadInputError(f"positions are needed, as Positions or as a table, got {described(given)}")

    def to_arrow(self) -> Any:
        """Arrow table of all columns; sources by name, null where unknown. Its metadata tell the game and label kind.

        The columns of positions are called ``position_FIELD``.
        """
        import pyarrow as pa

        columns = {name: pa.array(column) for name, column in self.columns().items()}
        numbers = pa.array(self.source, mask=self.source < 0)
        columns["source"] = pa.DictionaryArray.from_arrays(numbers, pa.array(self.sources, pa.string()))
        return pa.table(columns, metadata={_TABLE_KEY: json.dumps(self._facts())})

    @classmethod
    def from_arrow(cls, table: Any, game: Game | str | None = None, *, label_kind: str | None = None) -> Positions:
        """Make a set of a table of Arrow, pandas or polars.

        Parameters
        ----------
        table
            The columns that :meth:`to_arrow` gives. Those of positions must be there; others have their unknown
            values where they are missing: label 0, weight 1, no record, ply or source. Further columns are left out.
        game
            The game or its name; None for the one that the table's metadata name. Tables of polars name none.
        label_kind
            What the labels are; None for what the metadata say, else ``score``.

        Raises
        ------
        BadInputError
            Nothing names the game, or a column is missing, has missing values, or does not fit.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        facts: dict[str, str] = {}
        if hasattr(table, "iloc"):
            facts = table.attrs.get(_TABLE_KEY, {})
            table = pa.Table.from_pandas(table, preserve_index=False)
        elif hasattr(table, "to_arrow"):
            table = table.to_arrow()
        else:
            facts = json.loads((table.schema.metadata or {}).get(_TABLE_KEY.encode(), b"{}"))
        if game is None:
            if "game" not in facts:
                raise BadInputError("the table does not tell the game of its positions; name it")
            game = check_named_by_file(facts["game"], "the table")
        owner = load_game(game)

        def column(name: str, dtype: Any) -> NDArray[Any]:
            values = table[name]
            if values.null_count:
                raise BadInputError(f"column {name!r} has missing values")
            try:
                return np.asarray(values.cast(pa.from_numpy_dtype(dtype)).to_numpy())
            except pa.ArrowInvalid as error:
                raise BadInputError(f"column {name!r}: {error}") from error

        positions = contiguous_columns(owner, table)
        columns = {f"position_{name}": values for name, values in positions._asdict().items()}
        wanted = {name: np.dtype(kind) for name, kind in _DTYPES.items() if name != "source"}
        columns |= {name: column(name, kind) for name, kind in wanted.items() if name in table.column_names}
        columns.setdefault("label", np.zeros(len(table), np.float32))
        sources: tuple[str, ...] = ()
        if "source" in table.column_names:
            source = table["source"]
            if pa.types.is_integer(source.type):
                # Numbers into a list that is lost; -1 is unknown.
                source = pc.call_function(
                    "if_else", [pc.call_function("less", [source, pa.scalar(0)]), pa.scalar(None), source]
                )
            named = source.cast(pa.string()).combine_chunks().dictionary_encode()
            columns["source"] = named.indices.fill_null(-1).to_numpy().astype(np.int16)
            sources = tuple(named.dictionary.to_pylist())
        return cls.from_columns(owner, columns, sources, label_kind or facts.get("label_kind", "score"))

    from_pandas = from_arrow
    from_polars = from_arrow

    def to_pandas(self) -> Any:
        """Pandas frame of the columns of :meth:`to_arrow`; its ``attrs`` tell the game and label kind."""
        _optional("pandas")
        frame = self.to_arrow().to_pandas()
        frame.attrs[_TABLE_KEY] = self._facts()
        return frame

    def to_polars(self) -> Any:
        """Polars frame of the columns of :meth:`to_arrow`, which does not tell the game."""
        return _optional("polars").from_arrow(self.to_arrow())

    def _facts(self) -> dict[str, str]:
        return {"game": self.game.name, "label_kind": self.label_kind}

    def __len__(self) -> int:
        return len(self.positions[0])

    @property
    def shape(self) -> tuple[int]:
        """``(N,)``, as an array of positions would have it."""
        return (len(self),)

    def __getitem__(self, rows: Any) -> Any:
        """One position by its number; by a slice, a mask or row numbers the set of :meth:`select`."""
        chosen = rows[0] if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis else rows
        if isinstance(chosen, int | np.integer):
            return position_at(self.positions, range(len(self))[chosen])
        return self.select(chosen if isinstance(chosen, slice) else np.asarray(chosen))

    def head(self, count: int = 5) -> Positions:
        """First positions."""
        return self.select(slice(0, count))

    def _repr_html_(self) -> str:
        shown = self.head(_SHOWN)
        rows = [
            (self.game.format_position(shown[row]), f"{shown.label[row]:g}", f"{shown.weight[row]:g}",
             *("" if number < 0 else str(number) for number in (shown.record[row], shown.ply[row])),
             "" if shown.source[row] < 0 else shown.sources[shown.source[row]])
            for row in range(len(shown))
        ]  # fmt: skip
        return Table(repr(self), ("position", "label", "weight", "record", "ply", "source"), rows).html()

    def __repr__(self) -> str:
        return (
            f"Positions({self.game.name}: {counted(len(self), 'position')} of {counted(self.game_count, 'record')}, "
            f"labels {self.label_kind!r}, sources {len(self.sources)})"
        )

    @property
    def game_count(self) -> int:
        """Number of games; positions without one do not count."""
        return len(np.unique(self.record[self.record >= 0]))

    @property
    def different_games(self) -> int:
        """Number of different hashes of games."""
        found = np.zeros(0, np.uint64)
        for part in pieces(len(self), self.game_key):
            found = np.union1d(found, self.game_key[part])
        return len(found)

    @property
    def game_key(self) -> NDArray[np.uint64]:
        """Hash of each position's game: uint64 [N]."""
        if self._game_key is None:
            keys = position_keys(self.game, self.positions)
            if self.records is not None:
                # As position files have it: the last position of a game stands for the game.
                keys = position_keys(self.game, last_positions(self.game, self.records))[self.extra["row"]]
            object.__setattr__(self, "_game_key", keys)
        assert self._game_key is not None
        return self._game_key

    @property
    def result(self) -> NDArray[np.int8]:
        """Sign of the label, int8 [N]: 1, 0 or -1 for a game that the side to move won, drew or lost."""
        return np.sign(self.label).astype(np.int8)

    @property
    def side(self) -> NDArray[np.int8]:
        """Side to move, int8 [N]: 1 for the first player, -1 for the second, 0 where that is unknown."""
        if "side" in self.extra:
            return self.extra["side"]
        # The sides alternate, passes included.
        return np.where(self.ply < 0, 0, 1 - 2 * (self.ply % 2)).astype(np.int8)

    @property
    def number(self) -> NDArray[Any]:
        """Number of each position's game in its file [N], from 1, as people count."""
        return self.extra["number"] if "number" in self.extra else self.record + 1

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns that files hold, by name and in their order; those of positions as ``position_FIELD``."""
        others = {name: getattr(self, name) for name in _DTYPES}
        return self._fields_of_positions() | {name: column for name, column in others.items() if column is not None}

    def renumbered_sources(self, sources: list[str]) -> NDArray[np.int16]:
        """Source numbers [N] within a longer list of names, to which unknown names are added."""
        known = {name: place for place, name in enumerate(sources)}
        for name in self.sources:
            if name not in known:
                known[name] = len(sources)
                sources.append(name)
        numbers = np.array([*(known[name] for name in self.sources), -1], np.int16)
        renumbered: NDArray[np.int16] = numbers[self.source]
        return renumbered

    def select(self, rows: slice | NDArray[Any]) -> Positions:
        """Positions of a slice, a mask [N] or row numbers, in that order."""
        known: dict[str, Any] = {name: taken(column, rows) for name, column in self._known().items()}
        extra = {name: taken(column, rows) for name, column in self.extra.items()}
        positions = type(self.positions)(*(taken(column, rows) for column in self.positions))
        return evolve(self, positions=positions, extra=extra, **known)

    def held_out_mask(self, fraction: float, seed: int = 0) -> NDArray[np.bool_]:
        """Positions of about ``fraction`` of the games: bool array [N].

        Whether a game is held out depends on its key and the seed alone: the positions of a game stay
        together, and the same game, or its mirror image, in another file falls on the same side.
        """
        if not 0 <= fraction <= 1:
            raise BadInputError(f"the held-out fraction must be between 0 and 1, got {fraction}")
        limit = min(int(fraction * 2.0**64), (1 << 64) - 1)
        mask = new_array(len(self), np.bool_)
        for part in pieces(len(self), self.game_key):
            mask[part] = scatter(self.game_key[part], seed) < np.uint64(limit)
        return mask

    def drawn(self, most: int, seed: int) -> Positions:
        """Draw so many at random where there are more, in the order in which they are."""
        return self if len(self) <= most else self.select(drawn_rows(np.random.default_rng(seed), len(self), most))

    def split_by_game(self, fraction: float, seed: int = 0) -> tuple[Positions, Positions]:
        """Split into training and held-out positions, game by game.

        Split before merging duplicates: a merged position stands for several games.

        Parameters
        ----------
        fraction
            Expected share of games that are held out, 0 to 1.
        seed
            Another seed holds out other games.

        Returns
        -------
        training, held_out
            See :meth:`held_out_mask`; the order of positions is kept.
        """
        held_out = self.held_out_mask(fraction, seed)
        return self.select(~held_out), self.select(held_out)

    def without(self, other: Positions, *, symmetries: bool = True) -> Positions:
        """Positions that do not occur in another set: opening positions occur in games of both sides of a split.

        Positions are compared by their 64-bit keys; a false match would only drop a position too many.
        """
        mine = position_keys(self.game, self.positions, symmetries=symmetries)
        theirs = position_keys(other.game, other.positions, symmetries=symmetries)
        return self.select(~np.isin(mine, theirs))

    def some_of_each_game(self, count: int, seed: int = 0) -> Positions:
        """Draw at most so many positions of each game; those whose game is unknown all stay."""
        order = np.random.default_rng(seed).permutation(len(self))
        record = self.record[order]
        by_game = np.argsort(record, kind="stable")
        sorted_record = record[by_game]
        rank = np.arange(len(self)) - np.searchsorted(sorted_record, sorted_record)
        return self.select(np.sort(order[by_game[(rank < count) | (sorted_record < 0)]]))

    def merge_duplicates(self, symmetries: bool = True, *, keep_spread: bool = False) -> Positions:
        """Merge equal positions into the first of them.

        Parameters
        ----------
        symmetries
            Images under the symmetries of the board count as equal.
        keep_spread
            Keep the standard deviation of the merged labels as ``label_spread``.

        Returns
        -------
        Positions
            One position per group of equals, in the order of their first rows, with that row's position,
            record, ply, source and game key, the weighted mean label and the sum of the weights.
        """
        merger = Merger(symmetries=symmetries, keep_spread=keep_spread)
        merger.add(self)
        return merger.merged()


def drawn_rows(random: np.random.Generator, count: int, most: int) -> NDArray[np.int64]:
    """Draw so many of ``count`` rows, or all, in their order: int64."""
    if count > max(_MANY, most):
        return np.sort(random.choice(count, most, replace=False, shuffle=False))
    return np.sort(random.permutation(count)[:most])


def keys_digest(keys: NDArray[np.uint64]) -> str:
    """Digest of a set of games, from their keys in any order."""
    return hashlib.sha256(np.unique(keys).astype("<u8").tobytes()).hexdigest()[:32]


def _joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Join the columns that all parts have."""
    shared = [name for name in parts[0] if all(name in part for part in parts)]
    return {name: np.concatenate([part[name] for part in parts]) for name in shared}


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise BadInputError(f"{name} is not installed: pip install {name}") from error


class Merger:
    """Merges equal positions into the first of them; holds only what is different.

    Parameters
    ----------
    symmetries, keep_spread
        See :meth:`Positions.merge_duplicates <glem.core.positions.positions.Positions.merge_duplicates>`.
    """

    def __init__(self, *, symmetries: bool = True, keep_spread: bool = False) -> None:
        self._symmetries = symmetries
        self._keep_spread = keep_spread
        self._first: Positions | None = None
        # Sums of weights, weighted deviations from the group's first label, and squares: squares of equal labels then
        # cancel exactly.
        self._sums: NDArray[np.float64] = np.zeros((3, 0))

    def add(self, part: Positions) -> None:
        """Merge a set into those before; the sets are parts of one, as a file has them."""
        joined = part if self._first is None else Positions.concatenate([self._first, part], renumber=False)
        before = self._sums.shape[1]
        first, group = group_equal(joined.game, joined.positions, symmetries=self._symmetries)
        self._first, group = joined.select(first), group[before:]
        weight = part.weight.astype(np.float64)
        deviation = part.label - self._first.label[group].astype(np.float64)
        sums = np.zeros((3, len(first)))
        sums[:, :before] = self._sums
        sums[0] += np.bincount(group, weight, len(first))
        sums[1] += np.bincount(group, weight * deviation, len(first))
        if self._keep_spread:
            inner = 0.0 if part.label_spread is None else part.label_spread.astype(np.float64) ** 2
            sums[2] += np.bincount(group, weight * (deviation**2 + inner), len(first))
        self._sums = sums

    def merged(self) -> Positions:
        """Return one position per group of equals, in the order of their first rows."""
        if self._first is None:
            raise RuntimeError("nothing was added to be merged")
        total, deviations, squares = self._sums
        # A group whose weights are all zero has no mean; its first label stands.
        divisor = np.where(total > 0, total, 1)
        mean = deviations / divisor
        columns = self._first.columns()
        columns["label"] = (self._first.label.astype(np.float64) + mean).astype(np.float32)
        columns["weight"] = total.astype(np.float32)
        columns.pop("label_spread", None)
        if self._keep_spread:
            columns["label_spread"] = np.sqrt(np.maximum(squares / divisor - mean**2, 0)).astype(np.float32)
        return Positions.from_columns(self._first.game, columns, self._first.sources, self._first.label_kind)
