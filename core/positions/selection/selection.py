"""Which positions of a game are graded (Ban 2012, section 4.2).

The paper's rule, :data:`PAPER_RULE`: one position of each game at random, none of the first ten moves of either side,
which may come from an opening book, none of the last tenth of the moves, where the result is often apparent. One
position a game keeps the correctness of the positions independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, fields
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel, mix
from glem.core.errors import BELOW_1, BadInputError, check_arguments
from glem.core.game.equal_positions import scatter
from glem.core.game.records import GameRecords
from glem.core.game.whole_numbers import whole_number
from glem.core.tasks.counts import counted

RANDOM, ALL, LAST, EVERY = "random", "all", "last", "every"

_LAST_PLY = 1 << 15
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_UNRANKED = np.uint64(0xFFFFFFFFFFFFFFFF)

Bools = NDArray[np.bool_]


@define(frozen=True)
class SelectionRule:
    """Which positions of each game are graded.

    Parameters
    ----------
    kind
        ``random``: one of those left, each as likely. ``last``: the last of them. ``all``: all. ``every``: every
        ``step``-th ply, from the first one left on.
    skip_moves
        First moves of each side whose positions are left out: positions with fewer than twice as many plies before.
    skip_end
        Share of the game's plies at its end whose positions are left out, rounded down to whole plies.
    step
        For ``every``.
    seed
        For ``random``. The position of a game depends on the game and the seed alone: not on the other games, nor on
        the order of the file. Records know a game by its moves, position files by its key.
    """

    kind: str = RANDOM
    skip_moves: int = 10
    skip_end: float = 0.1
    step: int = 1
    seed: int = 0

    def __attrs_post_init__(self) -> None:
        if self.kind not in (RANDOM, ALL, LAST, EVERY):
            raise BadInputError(f"positions are selected {RANDOM}, {LAST}, {ALL} or {EVERY}:N, not {self.kind!r}")
        check_arguments(self, skip_moves=(0,), skip_end=(0.0, BELOW_1), step=(1,), seed=(0,))

    @classmethod
    def parse(cls, text: str, *, skip_moves: int = 10, skip_end: float = 0.1, seed: int = 0) -> SelectionRule:
        """Read ``random``, ``last``, ``all`` or ``every:N``."""
        kind, colon, number = text.partition(":")
        step = whole_number(number) if colon else 1
        if (kind == EVERY) != bool(colon) or step is None:
            raise BadInputError(f"positions are selected {RANDOM}, {LAST}, {ALL} or {EVERY}:N, not {text!r}")
        return cls(kind, skip_moves, skip_end, step, seed)

    def end_of(self, plies: NDArray[Any]) -> NDArray[np.int64]:
        """First ply that is left out at the end of each game, from the lengths of the games [G]: int64 [G]."""
        # A product that is a whole number but for the last digit counts as that number.
        return plies - np.floor(plies * self.skip_end + 1e-9).astype(np.int64)

    def __str__(self) -> str:
        which = {
            RANDOM: f"one random position a game (seed {self.seed})",
            ALL: "all positions",
            LAST: "the last position of each game",
            EVERY: f"every {_ordinal(self.step)} position",
        }[self.kind]
        return (
            f"{which}, without the first {counted(self.skip_moves, 'move')} of each side and the last "
            f"{self.skip_end:.0%}"
        )


def _ordinal(number: int) -> str:
    """Write 1st, 2nd, 7th, 11th, 22nd."""
    last = 0 if number // 10 % 10 == 1 else number % 10
    return str(number) + {1: "st", 2: "nd", 3: "rd"}.get(last, "th")


PAPER_RULE = SelectionRule()
"""One random position a game, without the first 10 moves of each side and the last 10 % (Ban 2012, section 4.2)."""


@define
class SelectionCounts:
    """What a selection found; counts up from file to file.

    Parameters
    ----------
    positions
        Positions read.
    games
        Games that they belong to; a position without a game counts as one.
    chosen
        Positions selected.
    without
        Games of which no position is left.
    incomplete
        Games of which positions are missing. How long they are is then known only from the last one that is there.
    unknown_ply
        Positions that do not tell their ply, and so cannot be left out for it.
    alone
        Positions that tell no game: each counts as one.
    without_result
        Games of which no result is known; left out, and not among ``games``.
    skipped
        Bad records left out; not among ``games``.
    tactical
        Of the positions selected, those left out for their tactical moves.
    """

    positions: int = 0
    games: int = 0
    chosen: int = 0
    without: int = 0
    incomplete: int = 0
    unknown_ply: int = 0
    alone: int = 0
    without_result: int = 0
    skipped: int = 0
    tactical: int = 0

    def add(self, other: SelectionCounts) -> None:
        """Add what was found in another file."""
        for name in (entry.name for entry in fields(SelectionCounts)):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@kernel
def _write_game_keys(moves: Any, offsets: Any, salt: Any, keys: Any) -> None:
    for game in range(len(keys)):
        key = salt
        for place in range(offsets[game], offsets[game + 1]):
            key = mix(key ^ np.uint64(moves[place]))
        keys[game] = key


def chosen_plies(
    records: GameRecords, plies: NDArray[np.int64], rule: SelectionRule
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Plies before each selected position, game after game and rising within a game.

    Parameters
    ----------
    records
        G games.
    plies
        Their lengths, passes included [G].
    rule
        Which positions.

    Returns
    -------
    chosen
        int64 [N].
    offsets
        int64 [G + 1]: those of game ``g`` are ``chosen[offsets[g]:offsets[g + 1]]``.
    """
    first = np.int64(2 * rule.skip_moves)
    end = rule.end_of(plies)
    eligible = np.maximum(end - first, 0)
    step = rule.step if rule.kind == EVERY else 1
    counts = np.minimum(eligible, 1) if rule.kind in (RANDOM, LAST) else -(-eligible // step)
    offsets = np.zeros(len(plies) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    if rule.kind == LAST:
        return (end - 1)[eligible > 0], offsets
    if rule.kind == RANDOM:
        keys = np.empty(len(plies), np.uint64)
        _write_game_keys(
            np.ascontiguousarray(records.moves, np.int16),
            np.ascontiguousarray(records.offsets, np.int64),
            mix(np.uint64(rule.seed % (1 << 64))),
            keys,
        )
        # 32 random bits times the number of positions, divided by 2^32, are a uniform number below it.
        drawn = (keys >> np.uint64(32)) * eligible.astype(np.uint64) >> np.uint64(32)
        return (first + drawn.astype(np.int64))[eligible > 0], offsets
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    return first + step * within, offsets


class PositionChooser:
    """Selects the positions of a file whose games may lie scattered in it, chunk by chunk, in three passes.

    Call :meth:`observe` for all chunks, then :meth:`rank` for all chunks, then :meth:`choose` for all chunks. Memory
    holds a few bytes per game, no positions.

    Parameters
    ----------
    rule
        Which positions.
    """

    def __init__(self, rule: SelectionRule) -> None:
        self._rule = rule
        # Sorted numbers of games, which a file may choose as it likes; what is known of each stands at the same place.
        self._games = np.zeros(0, np.int64)
        self._lengths = np.zeros(0, np.int32)
        self._present = np.zeros(0, np.int32)
        self._ranks = np.zeros(0, np.uint64)
        self._served = np.zeros(0, np.bool_)
        self._alone = 0
        self._alone_chosen = 0
        self._counts = SelectionCounts()
        self._ranked = self._chosen_from = 0

    def observe(self, record: NDArray[Any], ply: NDArray[Any]) -> None:
        """Note how long the games are, from record numbers (-1 for none) and plies (-1 if unknown) of a chunk [N]."""
        known = record >= 0
        before = self._games
        self._games = np.union1d(before, record[known]).astype(np.int64)
        if len(self._games) > len(before):
            place = self._place(before)
            for name in ("_lengths", "_present"):
                larger = np.zeros(len(self._games), np.int32)
                larger[place] = getattr(self, name)
                setattr(self, name, larger)
        place = self._place(record[known])
        np.maximum.at(self._lengths, place, ply[known].astype(np.int32) + 1)
        self._present += np.bincount(place, minlength=len(self._present)).astype(np.int32)
        self._counts.positions += len(record)
        self._counts.unknown_ply += int((ply < 0).sum())
        self._alone += int((~known).sum())

    def rank(self, record: NDArray[Any], ply: NDArray[Any], game_key: NDArray[np.uint64]) -> None:
        """Find out which position of each game is the one, where the rule takes one; ``game_key`` [N] are hashes."""
        if self._rule.kind not in (RANDOM, LAST):
            return
        if len(self._ranks) == 0:
            self._ranks = np.full(len(self._lengths), _UNRANKED)
        rows = self._eligible(record, ply) & (record >= 0)
        ranks = self._rank_of(ply, game_key, self._ranked)
        np.minimum.at(self._ranks, self._place(record[rows]), ranks[rows])
        self._ranked += len(record)

    def choose(self, record: NDArray[Any], ply: NDArray[Any], game_key: NDArray[np.uint64]) -> Bools:
        """Mark the selected positions of a chunk: bool [N]."""
        chosen = self._eligible(record, ply)
        known = record >= 0
        if self._rule.kind in (RANDOM, LAST):
            ranks = self._rank_of(ply, game_key, self._chosen_from)
            chosen[known] &= ranks[known] == self._ranks[self._place(record[known])]
        if len(self._served) == 0:
            self._served = np.zeros(len(self._lengths), np.bool_)
        self._served[self._place(record[chosen & known])] = True
        self._alone_chosen += int((chosen & ~known).sum())
        self._chosen_from += len(record)
        self._counts.chosen += int(chosen.sum())
        return chosen

    def counts(self) -> SelectionCounts:
        """Return what was found, after the last pass."""
        seen = self._present > 0
        served = self._served if len(self._served) else np.zeros(len(seen), np.bool_)
        self._counts.games = int(seen.sum()) + self._alone
        self._counts.alone = self._alone
        self._counts.without = int((seen & ~served).sum()) + self._alone - self._alone_chosen
        self._counts.incomplete = int((seen & (self._present != self._lengths)).sum())
        return self._counts

    def lengths_of(self, record: NDArray[Any]) -> NDArray[np.int32]:
        """Plies of the game of each position [N] as far as they are known; -1 for positions without a game."""
        lengths = np.append(self._lengths, np.int32(-1))
        known: NDArray[np.int32] = lengths[np.where(record >= 0, self._place(record), -1)]
        return np.where(known > 0, known, -1).astype(np.int32)

    def _place(self, record: NDArray[Any]) -> NDArray[np.int64]:
        """Where games [N] stand among those that were observed."""
        return np.searchsorted(self._games, record)

    def _eligible(self, record: NDArray[Any], ply: NDArray[Any]) -> Bools:
        rule = self._rule
        first = 2 * rule.skip_moves
        eligible: Bools = (ply < 0) | (ply >= first)
        known = np.flatnonzero((record >= 0) & (ply >= 0))
        eligible[known] &= ply[known] < rule.end_of(self._lengths[self._place(record[known])])
        if rule.kind == EVERY:
            eligible &= (ply < 0) | ((ply - first) % rule.step == 0)
        return eligible

    def _rank_of(self, ply: NDArray[Any], game_key: NDArray[np.uint64], first_row: int) -> NDArray[np.uint64]:
        # Positions of unknown ply are told apart by their place in the file.
        place = np.where(ply >= 0, ply, _LAST_PLY + first_row + np.arange(len(ply))).astype(np.uint64)
        if self._rule.kind == LAST:
            return _UNRANKED - np.uint64(1) - place
        keys = scatter(game_key, self._rule.seed)
        return scatter(keys + place * _GOLDEN, self._rule.seed)
