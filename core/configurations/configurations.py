"""Configurations: conjunctions of relations ``feature == value`` (GLEM, section 2), millions of them in flat arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike, NDArray

from glem.core.compiling.kernels import kernel, mix
from glem.core.errors import BadInputError, reading
from glem.core.features.features import AtomicFeatures, Relation
from glem.core.features.own import described_sources, sources_of, used
from glem.core.files.archives import ArchiveFormat
from glem.core.tasks.counts import counted

_COLUMNS: dict[str, Any] = {
    "table_features": np.int32,
    "table_values": np.int16,
    "relations": np.uint16,
    "sizes": np.uint16,
    "match_counts": np.int64,
}
_MOST_RELATIONS = (1 << 16) - 1
# At most two billion relations.
_FORMAT = ArchiveFormat(
    "glem configurations",
    version=2,
    required=tuple(_COLUMNS),
    largest=1 << 36,
    packed=False,
    foreign={"bias": "is an evaluation; glem discover writes the configurations that it mined beside it, as mined.npz"},
)


def _int16(array: ArrayLike) -> NDArray[np.int16]:
    return np.ascontiguousarray(array, np.int16)


def _uint16(array: ArrayLike) -> NDArray[np.uint16]:
    return np.ascontiguousarray(array, np.uint16)


def _int32(array: ArrayLike) -> NDArray[np.int32]:
    return np.ascontiguousarray(array, np.int32)


def _int64(array: ArrayLike) -> NDArray[np.int64]:
    return np.ascontiguousarray(array, np.int64)


@define(frozen=True, eq=False)
class RelationTable:
    """The relations that configurations are made of; a relation's id is its row.

    Parameters
    ----------
    features
        int32 array [R]: feature indices, ascending.
    values
        int16 array [R]: values, ascending within a feature.
    """

    features: NDArray[np.int32] = field(converter=_int32)
    values: NDArray[np.int16] = field(converter=_int16)

    def __attrs_post_init__(self) -> None:
        if self.features.ndim != 1 or self.features.shape != self.values.shape:
            raise BadInputError(
                f"a relation table needs two equally long columns, not {self.features.shape} and {self.values.shape}"
            )
        if len(self) > _MOST_RELATIONS:
            raise BadInputError(
                f"{len(self)} relations are more than {_MOST_RELATIONS:,}; choose fewer features or more matches"
            )
        key = self.features.astype(np.int64) * 65536 + self.values
        if (self.features < 0).any() or (np.diff(key) <= 0).any():
            raise BadInputError("the relations of a table must be distinct and ordered by feature and value")

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, relation: int) -> Relation:
        return Relation(int(self.features[relation]), int(self.values[relation]))

    def find(self, features: ArrayLike, values: ArrayLike) -> NDArray[np.int64]:
        """Ids of the given relations, -1 for those that the table does not hold: int64 array of the common shape."""
        keys = self.features.astype(np.int64) * 65536 + self.values
        wanted = np.asarray(features, np.int64) * 65536 + np.asarray(values, np.int64)
        if not len(keys):
            return np.full(wanted.shape, -1, np.int64)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, places, -1)


@define(frozen=True, eq=False, repr=False)
class ConfigurationSet:
    """Many configurations, with the number of positions that each of them matches.

    Parameters
    ----------
    table
        The relations.
    relations
        uint16 array [T]: relation ids, one configuration after the other, ascending inside each.
    offsets
        int64 array [C + 1]: configuration ``i`` is ``relations[offsets[i] : offsets[i + 1]]``.
    match_counts
        int64 array [C].
    position_count
        Number of positions that were counted.
    incomplete
        Why configurations are missing that ought to be there (a limit was reached); empty when none are.
    """

    table: RelationTable
    relations: NDArray[np.uint16] = field(converter=_uint16)
    offsets: NDArray[np.int64] = field(converter=_int64)
    match_counts: NDArray[np.int64] = field(converter=_int64)
    position_count: int
    incomplete: str = ""

    def __attrs_post_init__(self) -> None:
        if self.offsets.shape != (len(self.match_counts) + 1,) or self.offsets[0] != 0:
            raise BadInputError(f"{len(self.match_counts)} configurations need as many offsets and one more, from 0 on")
        if self.offsets[-1] != len(self.relations):
            raise BadInputError(f"the offsets end at {self.offsets[-1]}, there are {len(self.relations)} relations")
        # A kernel, as the arrays may be so large that one more of their size matters.
        wrong = int(_first_wrong(self.relations, self.offsets, np.int64(len(self.table))))
        if wrong >= 0:
            start, end = self.offsets[wrong : wrong + 2]
            raise BadInputError(
                f"configuration {wrong}: from {start} to {end}; the offsets must ascend, and its relations must ascend "
                f"within the table of {len(self.table)}"
            )

    @classmethod
    def from_relations(
        cls,
        table: RelationTable,
        configurations: Sequence[Sequence[int]],
        match_counts: ArrayLike | None = None,
        position_count: int = 0,
    ) -> ConfigurationSet:
        """Make a small set of configurations given as lists of relation ids in any order."""
        ordered = [sorted(configuration) for configuration in configurations]
        offsets = np.concatenate([[0], np.cumsum([len(configuration) for configuration in ordered], dtype=np.int64)])
        flat = [relation for configuration in ordered for relation in configuration]
        counts = np.zeros(len(ordered), np.int64) if match_counts is None else match_counts
        return cls(table, np.array(flat, np.uint16), offsets, np.asarray(counts, np.int64), position_count)

    def __len__(self) -> int:
        return len(self.match_counts)

    def __repr__(self) -> str:
        return f"ConfigurationSet({counted(len(self), 'configuration')} of {counted(len(self.table), 'relation')})"

    @property
    def sizes(self) -> NDArray[np.int64]:
        """int64 array [C]: number of relations in each configuration."""
        return np.diff(self.offsets)

    def relations_of(self, place: int) -> NDArray[np.uint16]:
        """Relation ids of one configuration, ascending."""
        return self.relations[self.offsets[place] : self.offsets[place + 1]]

    def select(self, chosen: ArrayLike) -> ConfigurationSet:
        """Only some configurations, by boolean mask [C] or by indices in the wanted order; the table stays."""
        chosen = np.asarray(chosen)
        if chosen.dtype == np.bool_:
            if chosen.shape != (len(self),):
                raise BadInputError(f"a mask over {len(self)} configurations cannot have the shape {chosen.shape}")
            chosen = np.flatnonzero(chosen)
        indices = np.ascontiguousarray(chosen, np.int64)
        if len(indices) and (indices.min() < 0 or indices.max() >= len(self)):
            raise BadInputError(f"an index is outside 0..{len(self) - 1}")
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes[indices])])
        relations = np.empty(offsets[-1], np.uint16)
        _copy_chosen(self.relations, self.offsets, indices, offsets, relations)
        return ConfigurationSet(
            self.table, relations, offsets, self.match_counts[indices], self.position_count, self.incomplete
        )

    def describe(self, place: int, features: AtomicFeatures) -> str:
        """Text of a configuration, e.g. ``a1=own b1=empty``."""
        return " ".join(features.describe(self.table[int(relation)]) for relation in self.relations_of(place))

    def save(self, path: str | os.PathLike[str], features: AtomicFeatures | None = None) -> None:
        """Write an ``.npz`` file, whole or not at all; one of added features names the files that they come from."""
        columns = (
            self.table.features,
            self.table.values,
            self.relations,
            self.sizes.astype(np.uint16),
            self.match_counts,
        )
        header: dict[str, Any] = {"position_count": int(self.position_count), "incomplete": self.incomplete}
        if features is not None and features.sources:
            header["own_features"] = described_sources(features.sources, features.game.name)
        _FORMAT.write(path, header, dict(zip(_COLUMNS, columns, strict=True)))

    @classmethod
    def of(cls, given: ConfigurationSet | str | os.PathLike[str] | None) -> ConfigurationSet | None:
        """Load a file; give a set, or None, as it is."""
        return given if given is None or isinstance(given, ConfigurationSet) else cls.load(given)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ConfigurationSet:
        """Read a file that :meth:`save` wrote.

        Raises
        ------
        BadInputError
            The file is missing, damaged, of another kind, or larger than any machine holds; or it was made with added
            features that this process does not use.
        """
        header, arrays = _FORMAT.read(Path(path), _check_shapes)
        with reading(path, "file of configurations"):
            sources = sources_of(path, header.get("own_features", ()))
            # Relations name features by their places.
            if used()[: len(sources)] != sources:
                files = " and ".join(source.name for source in sources)
                raise BadInputError(f"made with features of {files}: name these first with --features")
            for name, kind in _COLUMNS.items():
                if arrays[name].dtype != kind:
                    raise BadInputError(f"{name} is {arrays[name].dtype} {arrays[name].shape}, not a column of {kind}")
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(arrays["sizes"], dtype=np.int64)])
            table = RelationTable(arrays["table_features"], arrays["table_values"])
            count = int(header["position_count"])
            loaded = cls(table, arrays["relations"], offsets, arrays["match_counts"], count, str(header["incomplete"]))
            if len(loaded) and (loaded.match_counts.min() < 0 or loaded.match_counts.max() > count):
                raise BadInputError(f"a match count is outside 0..{count}, the number of positions")
            return loaded


def _check_shapes(_header: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    for name, shape in shapes.items():
        if len(shape) != 1:
            raise BadInputError(f"{name} has shape {shape}, expected a column")
    size = {name: shapes[name][0] for name in _COLUMNS}
    table, count = size["table_features"], size["sizes"]
    if table > _MOST_RELATIONS or size["table_values"] != table or size["match_counts"] != count:
        raise BadInputError(f"its columns do not go together: {size}")
    if size["relations"] > count * table:
        raise BadInputError(f"{size['relations']} relations in {count} configurations of a table of {table}")


@kernel
def _first_wrong(relations: Any, offsets: Any, relation_count: Any) -> int:
    """Index of the first configuration that is empty, out of order or beyond the table; -1 when there is none."""
    for place in range(offsets.shape[0] - 1):
        start = offsets[place]
        end = offsets[place + 1]
        if start >= end or end > relations.shape[0] or relations[end - np.int64(1)] >= relation_count:
            return place
        for k in range(start + np.int64(1), end):
            if relations[k] <= relations[k - np.int64(1)]:
                return place
    return -1


@kernel
def _copy_chosen(relations: Any, offsets: Any, chosen: Any, new_offsets: Any, new_relations: Any) -> None:
    for place in range(chosen.shape[0]):
        source = offsets[chosen[place]]
        target = new_offsets[place]
        for k in range(new_offsets[place + 1] - target):
            new_relations[target + k] = relations[source + k]


def symmetry_classes(configurations: ConfigurationSet, symmetries: NDArray[np.intp] | None) -> NDArray[np.int32]:
    """Tell which configurations are images of each other under the board's symmetries, so that they share a weight.

    Parameters
    ----------
    configurations
        Any set; images that it does not hold do no harm.
    symmetries
        Array [S, F] as in :class:`~glem.core.features.features.AtomicFeatures`, or None for a game without symmetries.

    Returns
    -------
    classes
        int32 array [C]: equal for images of each other, numbered from 0 by first appearance.
    """
    _, images, relations = _relation_images(configurations, symmetries)
    keys = np.full(len(configurations), ~np.uint64(0))
    for image in images:
        np.minimum(keys, _keys_of(image[relations], configurations.offsets), out=keys)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    classes: NDArray[np.int32] = np.argsort(np.argsort(first)).astype(np.int32)[place]
    return classes


def configuration_keys(configurations: ConfigurationSet) -> NDArray[np.uint64]:
    """Give every configuration a key: uint64 [C].

    It is the exclusive or of the mixed numbers of the relations, so that the key of a generalization differs by those
    of what it lacks. Among ten million different configurations, two have one key with a chance of three in a million.
    """
    return _keys_of(configurations.relations, configurations.offsets)


def close_under_symmetry(
    configurations: ConfigurationSet, symmetries: NDArray[np.intp] | None
) -> tuple[ConfigurationSet, NDArray[np.int64]]:
    """Add every image of every configuration that the set does not hold yet.

    Parameters
    ----------
    configurations
        Any set without duplicates.
    symmetries
        Array [S, F] as in :class:`~glem.core.features.features.AtomicFeatures`, or None for a game without symmetries.

    Returns
    -------
    closed
        The set followed by the missing images, over a table that holds their relations too. The match count of an
        added configuration is 0, as nobody counted it.
    origin
        int64 array [C']: index of the configuration that each one is an image of; its own for the old ones.
    """
    table, images, relations = _relation_images(configurations, symmetries)
    count = len(configurations)
    copies = [relations]
    for image in images[1:]:
        copy = image[relations]
        sort_each(copy, configurations.offsets)
        copies.append(copy)
    sizes = np.tile(configurations.sizes, len(images))
    everything = ConfigurationSet(
        table,
        np.concatenate(copies),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
        np.concatenate([configurations.match_counts, np.zeros(len(sizes) - count, np.int64)]),
        configurations.position_count,
        configurations.incomplete,
    )
    _, first = np.unique(configuration_keys(everything), return_index=True)
    if len(first) and np.count_nonzero(first < count) != count:
        raise BadInputError("the set holds a configuration twice; remove duplicates before closing it")
    first.sort()
    return everything.select(first), first % max(count, 1)


def _relation_images(
    configurations: ConfigurationSet, symmetries: NDArray[np.intp] | None
) -> tuple[RelationTable, NDArray[np.uint16], NDArray[np.uint16]]:
    """Table closed under symmetry, image of each of its relations, uint16 [S, R'], and the set's relations in it."""
    table = configurations.table
    if symmetries is None:
        return table, np.arange(len(table), dtype=np.uint16)[None], configurations.relations
    symmetries = np.asarray(symmetries)
    if len(table) and int(table.features.max()) >= symmetries.shape[1]:
        raise BadInputError(
            f"a relation has feature {table.features.max()}, the symmetries are over {symmetries.shape[1]} features"
        )
    features = symmetries[:, table.features].astype(np.int64)
    keys = np.unique(features * 65536 + table.values)
    values = (keys + 32768) % 65536 - 32768
    closed = RelationTable((keys - values) // 65536, values)
    images = np.stack([closed.find(symmetry[closed.features], closed.values) for symmetry in symmetries])
    if (images < 0).any():
        raise BadInputError("the symmetries are no group: an image of an image is missing")
    own = closed.find(table.features, table.values).astype(np.uint16)
    return closed, images.astype(np.uint16), own[configurations.relations]


@kernel
def sort_each(relations: Any, offsets: Any) -> None:
    """Sort what each configuration has, uint16 between its ``offsets``, in place."""
    for configuration in range(offsets.shape[0] - 1):
        start = offsets[configuration]
        for place in range(start + np.int64(1), offsets[configuration + 1]):
            moving = relations[place]
            hole = np.int64(place)
            while hole > start and relations[hole - np.int64(1)] > moving:
                relations[hole] = relations[hole - np.int64(1)]
                hole -= np.int64(1)
            relations[hole] = moving


def _keys_of(relations: NDArray[np.uint16], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    keys = np.zeros(len(offsets) - 1, np.uint64)
    _fill_keys(relations, offsets, keys)
    return keys


@kernel
def _fill_keys(relations: Any, offsets: Any, keys: Any) -> None:
    for configuration in range(keys.shape[0]):
        for place in range(offsets[configuration], offsets[configuration + 1]):
            keys[configuration] ^= mix(np.uint64(relations[place]) + np.uint64(1))
