"""Results propagated through the graph of all games by the negamax principle (Buro 1995, section 3).

The positions of many games make one graph: a node for each distinct position, an arc for each move that some game
played there. A node's value, from its side to move, is the largest negated value of the *examined* successors, those
that its arcs lead to. Where none of these has a value it is the result of the node's games, which mostly ended there.
An exact value that is known for a position stands, whatever lies below it. So a label tells what all games together
know of a position, not only the game that it was taken from.

Where a game can return to an earlier position the graph has circles. Of the arcs inside a circle (between positions
that can be reached from each other) only those count that lead to a position first seen at a later ply: a move that
goes back examines nothing new. All other arcs count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.game.equal_positions import group_equal, position_keys
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.labels import KnownScores, labels_of_games, numbered_records
from glem.core.positions.positions import Positions
from glem.core.positions.replay import ILLEGAL, Replay, replay


@kernel
def _link_parents(parents: Any, children: Any, start: Any, by_child: Any, pending: Any) -> None:
    """Sort the parents of all arcs by child, and count the successors of every node.

    ``start`` [N + 2] is zero before; the parents of node ``n`` then stand from ``start[n]`` to ``start[n + 1]``.
    """
    for arc in range(len(children)):
        start[children[arc] + 2] += 1
        pending[parents[arc]] += 1
    for place in range(2, len(start)):
        start[place] += start[place - 1]
    # Filling moves each beginning to its end, which is the next one's beginning.
    for arc in range(len(children)):
        child = children[arc]
        by_child[start[child + 1]] = parents[arc]
        start[child + 1] += 1


@kernel
def _propagate(start: Any, by_child: Any, pending: Any, result: Any, exact: Any, known: Any, ready: Any) -> np.int64:
    """Give nodes their values, each after all its successors, and return how many got their turn.

    ``known`` [N] comes with the values of examined successors outside of the graph, nan for none, and leaves with the
    values of all nodes that got their turn. ``pending`` [N] is the number of successors, ``ready`` [N] room for nodes.
    """
    waiting = 0
    for node in range(len(pending)):
        if pending[node] == 0:
            ready[waiting] = node
            waiting += 1
    done = np.int64(0)
    while waiting > 0:
        waiting -= 1
        node = ready[waiting]
        done += 1
        if not np.isnan(exact[node]):
            known[node] = exact[node]
        elif np.isnan(known[node]):
            known[node] = result[node]
        value = -known[node]
        for place in range(start[node], start[node + 1]):
            parent = by_child[place]
            # An unknown value is nan, which is larger than nothing.
            if value > known[parent] or (np.isnan(known[parent]) and not np.isnan(value)):
                known[parent] = value
            pending[parent] -= 1
            if pending[parent] == 0:
                ready[waiting] = parent
                waiting += 1
    return done


def _without_returns(
    parents: NDArray[np.int32], children: NDArray[np.int32], ply: NDArray[np.int16]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Arcs without those inside a circle that lead to no later ply."""
    # Imported late: it takes a third of a second, and few games have circles.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(parents), np.int8)
    graph = coo_array((ones, (parents, children)), shape=(len(ply), len(ply)))
    _, circle = connected_components(graph, connection="strong")
    kept = (circle[parents] != circle[children]) | (ply[children] > ply[parents])
    return parents[kept], children[kept]


def propagate(
    parents: NDArray[np.int32],
    children: NDArray[np.int32],
    result: NDArray[np.float32],
    *,
    exact: NDArray[np.float32] | None = None,
    alternative: NDArray[np.float32] | None = None,
    ply: NDArray[np.int16] | None = None,
) -> NDArray[np.float32]:
    """Values of the nodes of a graph of positions.

    Parameters
    ----------
    parents, children
        int32 [A]: nodes of each arc; the same arc may come several times.
    result
        float32 [N]: value of a node, from its side to move, that has no examined successor of known value; nan where
        there is none.
    exact
        float32 [N]: value of a node that stands whatever lies below it; nan for the others.
    alternative
        float32 [N]: negated value of one more examined successor, which is no node; nan for none.
    ply
        int16 [N]: when each position was first seen; needed if the graph has circles.

    Returns
    -------
    float32 [N]
        Value of each node from its side to move; nan where nothing is known.

    Raises
    ------
    BadInputError
        The graph has circles, and plies are not given.
    """
    count = len(result)
    unknown = np.full(count, np.nan, np.float32)
    result = np.ascontiguousarray(result, np.float32)
    exact = unknown if exact is None else np.ascontiguousarray(exact, np.float32)
    while True:
        start, by_child = np.zeros(count + 2, np.int64), np.empty(len(parents), np.int32)
        pending = np.zeros(count, np.int32)
        _link_parents(parents, children, start, by_child, pending)
        value = np.array(unknown if alternative is None else alternative, np.float32)
        if _propagate(start, by_child, pending, result, exact, value, np.empty(count, np.int32)) == count:
            return value
        if ply is None:
            raise BadInputError("the positions of these games form circles: the plies of the nodes are needed")
        parents, children = _without_returns(parents, children, ply)


@define(frozen=True, eq=False)
class GameTree:
    """The graph of all positions of some games: P positions of games on N nodes.

    Parameters
    ----------
    records
        The games, those with illegal moves left out.
    number
        int32 [G]: record number of each game in the set.
    source, sources
        int16 [G]: file of each game, among the names.
    played
        All positions of all games [P].
    node
        int32 [P]: node of each position.
    first
        int64 [N]: row of ``played`` where a node occurs first, in which form (mirrored or not) its position is meant.
    result
        float32 [N]: mean result of the games that came there, from the side to move; nan where none of them has one.
    exact
        float32 [N]: exact value that a record gives; nan where none does.
    """

    game: Game
    records: GameRecords
    number: NDArray[np.int32]
    source: NDArray[np.int16]
    sources: tuple[str, ...]
    played: Replay
    node: NDArray[np.int32]
    first: NDArray[np.int64]
    result: NDArray[np.float32]
    exact: NDArray[np.float32]

    @classmethod
    def from_records(cls, game: Game, chunks: Iterable[GameRecords]) -> GameTree:
        """Replay games and unite their equal positions, images under the symmetries of the board too.

        Parameters
        ----------
        chunks
            Game records, for instance from :func:`glem.core.positions.reading.read_records`. Memory holds all of them:
            about 100 bytes a position of two 64-bit fields.
        """
        parts: list[GameRecords] = []
        numbers: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
        source: list[NDArray[np.int16]] = [np.zeros(0, np.int16)]
        sources: dict[str, int] = {}
        for part, number in numbered_records(chunks):
            parts.append(part)
            numbers.append(number)
            source.append(np.full(len(part), sources.setdefault(part.source, len(sources)), np.int16))
        records = GameRecords.concatenate(parts, initial_position=game.initial_position)
        number, file = np.concatenate(numbers), np.concatenate(source)
        records = evolve(records, played=replay(game, records))
        legal = records.played.status != ILLEGAL
        if not legal.all():
            records, number, file = records.select(legal), number[legal], file[legal]
        played: Replay = records.played
        first, node = group_equal(game, played.positions)
        result, exact = _known_values(game, records, played, node, len(first))
        return cls(game, records, number, file, tuple(sources), played, node, first, result, exact)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def positions(self) -> Any:
        """Position of each node: position of columns [N]."""
        return rows_of(self.played.positions, self.first)

    @property
    def arcs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Parents and children of all moves that were played, one arc a move: int32 [A] each."""
        follows = np.ones(len(self.node), np.bool_)
        follows[self.played.last] = False
        rows = np.flatnonzero(follows)
        return self.node[rows], self.node[rows + 1]

    @property
    def ply(self) -> NDArray[np.int16]:
        """Earliest ply at which each node was seen: int16 [N]."""
        earliest = np.full(len(self), np.iinfo(np.int16).max, np.int16)
        np.minimum.at(earliest, self.node, self.played.ply)
        return earliest

    def propagate(
        self,
        *,
        exact: NDArray[np.float32] | None = None,
        alternative: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float32]:
        """Value of each node from its side to move: float32 [N], nan where nothing is known.

        Parameters
        ----------
        exact
            Exact values [N]; by default those of the records, :attr:`exact`.
        alternative
            Negated values [N] of successors that a search examined and no game reached; nan for none.
        """
        parents, children = self.arcs
        exact = self.exact if exact is None else exact
        return propagate(parents, children, self.result, exact=exact, alternative=alternative, ply=self.ply)

    def labels_of_games(self, label: str) -> NDArray[np.float32]:
        """Label [P] that each position has from its own game alone; see :data:`glem.core.positions.labels.LABELS`."""
        return labels_of_games(self.game, self.records, self.played, label)

    def labelled(self, value: NDArray[np.float32], *, distinct: bool = False) -> Positions:
        """Scored positions of the games; their labels are ``propagated``.

        Parameters
        ----------
        value
            Value of each node [N]; nodes without one are left out, and so are finished positions.
        distinct
            One position for each node, where its first game has it, with the number of occurrences as its weight.
        """
        played = self.played
        wanted = ~np.isnan(value[self.node])
        wanted[played.finished] = False
        weight = np.ones(len(wanted), np.float32)
        if distinct:
            weight = np.bincount(self.node, wanted, len(self))[self.node].astype(np.float32)
            is_first = np.zeros(len(wanted), np.bool_)
            is_first[self.first] = True
            wanted &= is_first
        rows = np.flatnonzero(wanted)
        game_of_row = played.record[rows]
        key = position_keys(self.game, rows_of(played.positions, played.last))
        return Positions(
            self.game,
            rows_of(played.positions, rows),
            value[self.node[rows]],
            weight[rows],
            self.number[game_of_row],
            played.ply[rows],
            self.source[game_of_row],
            key[game_of_row],
            self.sources,
            "propagated",
        )


@kernel
def _write_known(scores: Any, node: Any, sums: Any, counts: Any, exact: Any) -> None:
    """Write what the records know of their nodes: sums and counts of results, and exact values."""
    offsets, side = scores.offsets, scores.side
    result, theoretical = scores.result, scores.theoretical
    for game in range(len(offsets) - 1):
        moves_made = 0
        for row in range(offsets[game], offsets[game + 1]):
            if moves_made == scores.exact_move[game] and not np.isnan(theoretical[game]):
                exact[node[row]] = theoretical[game] * side[row]
            moves_made += scores.move[row] != scores.pass_move
            if not np.isnan(result[game]):
                sums[node[row]] += result[game] * side[row]
                counts[node[row]] += 1


def _known_values(
    game: Game, records: GameRecords, played: Replay, node: NDArray[np.int32], nodes: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return result and exact value of each node, nan where there is none."""
    sums = np.zeros(nodes, np.float64)
    counts = np.zeros(nodes, np.int32)
    exact = np.full(nodes, np.nan, np.float32)
    _write_known(KnownScores.of(game, records, played), node, sums, counts, exact)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.float32(np.nan)).astype(np.float32), exact


@define(frozen=True)
class LabelChanges:
    """How labels differ from others of the same positions, by phase.

    Parameters
    ----------
    name
        Name of the phase.
    positions
        Number of positions with both labels.
    changed
        How many have another label.
    turned
        How many have another winner: the signs differ.
    mean_change
        Mean absolute change over all positions.
    """

    name: str
    positions: int
    changed: int
    turned: int
    mean_change: float


def label_changes(
    before: NDArray[np.float32], after: NDArray[np.float32], phase: NDArray[np.uint8], names: Sequence[str]
) -> list[LabelChanges]:
    """Count changed labels phase by phase, then over all phases.

    Parameters
    ----------
    before, after
        float32 [P]: labels of the same positions; those without both, nan, are not counted.
    phase
        uint8 [P]: phase of each position.
    names
        Names of the phases.
    """
    both = ~(np.isnan(before) | np.isnan(after))
    one, other, phase = before[both].astype(np.float64), after[both].astype(np.float64), phase[both]
    columns = [
        np.bincount(phase, values, len(names))
        for values in (None, one != other, np.sign(one) != np.sign(other), np.abs(other - one))
    ]
    rows = [*zip(names, *columns, strict=True), ("all", *(column.sum() for column in columns))]
    return [
        LabelChanges(name, int(count), int(changed), int(turned), float(change / max(count, 1)))
        for name, count, changed, turned, change in rows
    ]
