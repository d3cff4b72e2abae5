"""The configuration DAG of GLEM, section 4.3, as the paper tells it: the readable form of matching.

:class:`ConfigurationDAG` is plain Python, for reading, drawing and checking. :mod:`glem.core.configurations.matching`
gives the same answers, compiled.
"""

import numpy as np
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet
from glem.core.errors import BadInputError


class ConfigurationDAG:
    """Configurations ordered from general to special.

    The root is the empty configuration. An arc leads from a configuration to each of its *direct specializations*:
    those that contain it with no other configuration of the set in between. In a set with all subsets of its members an
    arc adds one relation; in a thinner one it may add several.

    Parameters
    ----------
    configurations
        Any set of different configurations.

    Attributes
    ----------
    roots
        Configurations that the root's arcs lead to: those without a generalization in the set.
    specializations
        For every configuration the direct specializations, ascending.

    Raises
    ------
    BadInputError
        Two configurations are equal.

    Notes
    -----
    Building takes up to 2**k steps for a configuration of k relations whose subsets are not in the set.
    """

    def __init__(self, configurations: ConfigurationSet) -> None:
        self.configurations = configurations
        table = configurations.table
        relations = list(zip(table.features.tolist(), table.values.tolist(), strict=True))
        self._conditions = [
            [relations[relation] for relation in configurations.relations_of(configuration)]
            for configuration in range(len(configurations))
        ]
        index: dict[frozenset[int], int] = {}
        for configuration in range(len(configurations)):
            key = frozenset(configurations.relations_of(configuration).tolist())
            if key in index:
                raise BadInputError(f"configurations {configuration} and {index[key]} are equal")
            index[key] = configuration
        self.roots: list[int] = []
        self.specializations: list[list[int]] = [[] for _ in index]
        for members, configuration in index.items():
            generalizations = _largest_proper_subsets(members, index)
            for general in generalizations:
                self.specializations[general].append(configuration)
            if not generalizations:
                self.roots.append(configuration)

    def __len__(self) -> int:
        return len(self.configurations)

    def active(self, values: NDArray[np.int16], most_specific: bool = False) -> NDArray[np.int32]:
        """Find the active configurations of one position by depth-first search from the root.

        The search marks what it visits and goes on only from active configurations (GLEM, Fig. 4).

        Parameters
        ----------
        values
            int16 [F], the position's feature values.
        most_specific
            Leave out configurations with an active specialization: keep the leaves of the active part of the DAG.

        Returns
        -------
        indices
            int32, ascending.
        """
        row = values.tolist()
        visited: set[int] = set()
        active: set[int] = set()
        pending = list(self.roots)
        while pending:
            configuration = pending.pop()
            if configuration in visited:
                continue
            visited.add(configuration)
            if all(row[feature] == value for feature, value in self._conditions[configuration]):
                active.add(configuration)
                pending.extend(self.specializations[configuration])
        if most_specific:
            active = {
                configuration for configuration in active if active.isdisjoint(self.specializations[configuration])
            }
        return np.array(sorted(active), np.int32)


def _largest_proper_subsets(members: frozenset[int], index: dict[frozenset[int], int]) -> list[int]:
    """Find the configurations that are proper subsets of ``members`` and not of one another, the largest first."""
    found: list[frozenset[int]] = []
    level = {members}
    while level:
        smaller = {subset - {relation} for subset in level for relation in subset}
        smaller = {subset for subset in smaller if not any(subset < larger for larger in found)}
        present = {subset for subset in smaller if subset in index}
        found.extend(present)
        level = smaller - present
    return [index[subset] for subset in found]
