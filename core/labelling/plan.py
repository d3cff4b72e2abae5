"""What a user states of games to learn from, and of labels. Nothing here imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from attrs import define, evolve

from glem.core.errors import ABOVE_0
from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.players.spec import PlayerSpec
    from glem.core.tournament.opening_choice import OpeningPlan


def _player(text: str | PlayerSpec | None) -> PlayerSpec | None:
    from glem.core.players.spec import parse_player

    return parse_player(text) if isinstance(text, str) else text


def _opening_plan(text: str | OpeningPlan) -> OpeningPlan:
    from glem.core.tournament.opening_choice import OpeningPlan

    return OpeningPlan.parse(text) if isinstance(text, str) else text


@define(frozen=True, slots=False)
class LabellingPlan:
    """How positions are labelled by search and solver, and which are added.

    Parameters
    ----------
    by
        Who labels: an evaluation file, depth= or nodes=, and solve= moves before the end; or a program that scores
        positions (uci:PROGRAM).
    given
        Label the positions of the files themselves.
    choices
        Label the positions after all moves instead: choices, for glem evaluate.

        Of each given position that has several moves; no others are added.
    quiet
        From positions in check, and those whose best move takes something, play on until neither is so: no static
        evaluation foresees what comes.

        They are those where the side to move cannot stand still or takes something by its best move. A best move that
        is a check is followed by none: what else would tell the worth of an attack. No successor is added where a
        program tells more moves than it searched plies: behind the last it takes something.
    children
        Add the positions after N random moves of each.

        They are different moves, drawn at random.
    child_moves
        Up to so many random moves before each of those.
    sampled
        Add N positions that the search of each position evaluates.
    even
        Add N near-even ones of those.
    even_within
        Greatest static score of near-even ones; 1/16 of the greatest score, or a quarter win, by default.

        In label units; by default half of :func:`~glem.core.positions.labels.serious_error`.
    sample_by
        Whose searches positions are drawn from, if not who labels.
    successors
        Add the successor by the principal variation with the negated label, those by all lines of an engine.
    only_successors
        Leave out the labelled positions themselves.
    """

    by: PlayerSpec = setting("default,depth=6", metavar="PLAYER", converter=_player)
    given: bool = setting(True)
    choices: bool = setting(False)
    quiet: bool = setting(False, names=("--quiet-positions/--any-position",))
    children: int = setting(0, least=0, most=1000, metavar="N")
    child_moves: int = setting(1, least=1, most=100, metavar="N")
    sampled: int = setting(0, least=0, most=1000, metavar="N")
    even: int = setting(0, least=0, most=1000, metavar="N")
    even_within: float | None = setting(None, least=0.0, was=("--window",), metavar="VALUE")
    sample_by: PlayerSpec | None = setting(None, metavar="PLAYER", converter=_player)
    successors: bool = setting(True)
    only_successors: bool = setting(False)


@define(frozen=True, slots=False)
class GenerationPlan:
    """How games to learn from are played.

    Parameters
    ----------
    openings
        random:PLIES, random:LEAST-MOST, all:PLIES (every opening of that length), or a file of openings.
    exploration
        Chance of a random move where the player does not know the exact value.
    games_per_file
        Games of each file, which is also one task.
    format
        Format of the files that are written: games, pgn, ggf, ...
    """

    openings: OpeningPlan = setting("random:8", metavar="PLAN", converter=_opening_plan)
    exploration: float = setting(0.0, least=0.0, most=1.0, names=("--explore",))
    games_per_file: int = setting(200, least=1, most=100_000)
    format: str = setting("games", names=("--write-format",), was=("--format",), metavar="NAME")


@define(frozen=True, slots=False)
class TrainingSettings:
    """How the generations of a training are made.

    Parameters
    ----------
    positions
        Positions that the second generation labels; each later one twice as many. 10000 by default, 3000 where the
        rules do not compile.

        They are of games. The first generation has five times as many, without searches.
    depth
        Plies of the searches that label and of those that play matches. 4 by default, 2 where the rules do not compile.
    solve
        Moves left from which on positions are solved, where the game can be.
    pairs
        Most game pairs of a match.
    elo
        Elo by which the tests of matches ask whether a generation is stronger.
    l2
        Penalty on weights, in positions; by default chosen, phase by phase, on held-out games.
    seed
        Seed of all that is random.
    """

    positions: int | None = setting(None, least=1)
    depth: int | None = setting(None, least=1)
    solve: int = setting(10, least=0)
    pairs: int = setting(200, least=1)
    elo: float = setting(20.0, least=ABOVE_0)
    l2: float | None = setting(None, least=0.0, most=1e9)
    seed: int = setting(0, least=0, most=(1 << 32) - 1)

    def resolved(self, game: Game) -> Self:
        """Set what depends on the game."""
        from glem.core.labelling.first_games import play_games
        from glem.core.search.solver import can_solve

        # A first game tells whether the rules compile.
        play_games(game, positions=1)
        positions, depth = (3_000, 2) if game.rules.plain_reason is not None else (10_000, 4)
        return evolve(
            self,
            positions=self.positions or positions,
            depth=self.depth or depth,
            solve=self.solve if can_solve(game) else 0,
        )
