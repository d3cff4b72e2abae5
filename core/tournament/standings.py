"""What a tournament has shown so far: results, ratings, and what the players spent."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import attrs
from attrs import define, field

from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table
from glem.core.tournament.elo import (
    EloEstimate,
    PairCounts,
    binomial_significance,
    elo_estimate,
    pairs_significance,
)
from glem.core.tournament.games import End, PlayedGame


@define(kw_only=True)
class _Results:
    """Games of one side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Winning percentage as a fraction, draws as half a win; nan without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else float("nan")

    def count(self, result: int) -> None:
        """Count a game by its result, 1, 0 or -1."""
        self.wins += result > 0
        self.draws += result == 0
        self.losses += result < 0


@define(kw_only=True)
class PlayerTotals(_Results):
    """What a player did in all of its games.

    Parameters
    ----------
    moves
        Moves that the player chose, the only legal ones included.
    searched
        Moves for which it visited any position.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    processor_seconds
        Processor time of the moves whose time was measured; of an external program, its own.
    processor_moves
        Number of those.
    depth
        Sum of the depths of moves that a search chose.
    depth_moves
        Number of those.
    solved
        Moves whose result or exact score the player knew.
    slowest
        Seconds of the slowest move.
    overruns
        Moves that exceeded their time.
    lost_on_time
        Games.
    failures
        How often the player's program failed and was started anew.
    lost_by_failure
        Games.
    problem
        What the last of those failures was.
    """

    moves: int = 0
    searched: int = 0
    nodes: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    processor_moves: int = 0
    depth: int = 0
    depth_moves: int = 0
    solved: int = 0
    slowest: float = 0.0
    overruns: int = 0
    lost_on_time: int = 0
    failures: int = 0
    lost_by_failure: int = 0
    problem: str = ""

    @property
    def nodes_per_move(self) -> float:
        """Positions visited per move that was searched or solved."""
        return self.nodes / self.searched if self.searched else 0.0

    @property
    def seconds_per_move(self) -> float:
        """Wall-clock seconds per move, the only legal ones included."""
        return self.seconds / self.moves if self.moves else 0.0

    @property
    def processor_seconds_per_move(self) -> float | None:
        """Processor seconds per move; None where none was measured."""
        return self.processor_seconds / self.processor_moves if self.processor_moves else None

    @property
    def mean_depth(self) -> float:
        """Plies of the last completed iteration, on average over the moves that a search chose."""
        return self.depth / self.depth_moves if self.depth_moves else 0.0

    def add(self, game: PlayedGame, side: int) -> None:
        """Add a game in which the player was the first (side 0) or the second (side 1)."""
        result = game.result if side == 0 else -game.result
        self.count(result)
        self.overruns += game.overruns[side]
        self.lost_on_time += game.end == End.TIME and result < 0
        self.failures += game.failures[side]
        if game.end == End.FAILURE and result < 0:
            self.lost_by_failure += 1
            self.problem = game.problem
        for place, move in enumerate(game.moves):
            if game.side_of(place) != side:
                continue
            self.moves += 1
            self.searched += move.nodes > 0
            self.nodes += move.nodes
            self.seconds += move.seconds
            if move.processor_seconds is not None:
                self.processor_seconds += move.processor_seconds
                self.processor_moves += 1
            self.slowest = max(self.slowest, move.seconds)
            self.depth += move.depth
            self.depth_moves += move.depth > 0
            self.solved += move.exact or move.result is not None

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        derived = ("games", "score", "nodes_per_move", "seconds_per_move", "processor_seconds_per_move", "mean_depth")
        return {**attrs.asdict(self), **{name: getattr(self, name) for name in derived}}


@define
class PairingResult(_Results):
    """Games between two players, from the view of the one that comes first in the tournament.

    Parameters
    ----------
    players
        Their names.
    pairs
        Game pairs of which both games were played.
    """

    players: tuple[str, str]
    pairs: PairCounts = field(factory=PairCounts)

    @property
    def elo(self) -> EloEstimate:
        """Elo difference from the pairs; from the single games while there is no whole pair."""
        return elo_estimate(self.pairs.counts if self.pairs.pairs else (self.losses, self.draws, self.wins))

    def significance(self, *, is_reversed: bool) -> tuple[float, float]:
        """One-sided p-values, by the randomization test and as of coins, that the first (second) player is stronger."""
        pairs = self.pairs.reversed() if is_reversed else self.pairs
        return pairs_significance(pairs), binomial_significance(pairs)

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values; p-values test whether the first, and whether the second, is the stronger one."""
        by_pairs, binomial = zip(*(self.significance(is_reversed=each) for each in (False, True)), strict=True)
        names = ("players", "wins", "draws", "losses", "games", "score")
        return {
            **{name: getattr(self, name) for name in names},
            "pairs": self.pairs.counts,
            "elo": attrs.asdict(self.elo),
            "p_pairs": by_pairs,
            "p_binomial": binomial,
        }


@define(repr=False)
class Standings:
    """Results of a tournament's games, added one by one in any order."""

    names: Sequence[str]
    totals: dict[str, PlayerTotals] = field(init=False)
    pairings: dict[tuple[str, str], PairingResult] = field(init=False)
    _halves: dict[int, int] = field(init=False, factory=dict)
    """Number of a pair of which one game was played, to that game's result for the pairing's first player."""

    def __attrs_post_init__(self) -> None:
        self.totals = {name: PlayerTotals() for name in self.names}
        self.pairings = {players: PairingResult(players) for players in combinations(self.names, 2)}

    def __repr__(self) -> str:
        return f"Standings({', '.join(self.names)}: {counted(self.games, 'game')})"

    def _repr_html_(self) -> str:
        ranked = sorted(self.totals.items(), key=lambda item: -item[1].score if item[1].games else 0.0)
        rows = [
            (name, f"{one.wins}-{one.draws}-{one.losses}", f"{100 * one.score:.1f}" if one.games else "")
            for name, one in ranked
        ]
        return Table(f"{counted(self.games, 'game')}", ("player", "W-D-L", "%"), rows).html()

    @property
    def games(self) -> int:
        """Number of games added so far."""
        return sum(pairing.games for pairing in self.pairings.values())

    def add(self, game: PlayedGame) -> None:
        """Add a game; games ``2 n`` and ``2 n + 1`` are a pair."""
        first, second = game.players
        self.totals[first].add(game, 0)
        self.totals[second].add(game, 1)
        pairing = self.pairings.get((first, second))
        result = game.result
        if pairing is None:
            pairing, result = self.pairings[second, first], -game.result
        pairing.count(result)
        other = self._halves.pop(game.number // 2, None)
        if other is None:
            self._halves[game.number // 2] = result
        else:
            counts = [0] * 5
            counts[2 + result + other] = 1
            pairing.pairs += PairCounts(tuple(counts))

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            "games": self.games,
            "players": {name: totals.to_json() for name, totals in self.totals.items()},
            "pairings": [pairing.to_json() for pairing in self.pairings.values()],
        }
