"""What a user states of games to learn from, and of labels. Nothing here imports numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define

from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.labelling.by_search import SearchLabelling
    from glem.core.labelling.training_games import GenerationSettings


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
    quiet
        From positions in check, and those whose best move takes something, play on until neither is so: no static
        evaluation foresees what comes.
    children
        Add the positions after N random moves of each.
    child_moves
        Up to so many random moves before each of those.
    sampled
        Add N positions that the search of each position evaluates.
    even
        Add N near-even ones of those.
    even_within
        Greatest static score of near-even ones; 1/16 of the greatest score, or a quarter win, by default.
    sample_by
        Whose searches positions are drawn from, if not who labels.
    successors
        Add the successor by the principal variation with the negated label, those by all lines of an engine.
    only_successors
        Leave out the labelled positions themselves.
    """

    by: str = setting("default,depth=6", metavar="PLAYER")
    given: bool = setting(True)
    choices: bool = setting(False)
    quiet: bool = setting(False, names=("--quiet-positions/--any-position",))
    children: int = setting(0, least=0, most=1000, metavar="N")
    child_moves: int = setting(1, least=1, most=100, metavar="N")
    sampled: int = setting(0, least=0, most=1000, metavar="N")
    even: int = setting(0, least=0, most=1000, metavar="N")
    even_within: float | None = setting(None, least=0.0, was=("--window",), metavar="VALUE")
    sample_by: str | None = setting(None, metavar="PLAYER")
    successors: bool = setting(True)
    only_successors: bool = setting(False)

    def settings(self, seed: int) -> SearchLabelling:
        """Make what :func:`~glem.core.labelling.by_search.label_by_search` takes."""
        from attrs import asdict

        from glem.core.labelling.by_search import SearchLabelling
        from glem.core.players.spec import parse_player

        values = asdict(self)
        sampler = None if self.sample_by is None else parse_player(self.sample_by)
        more = {"window": values.pop("even_within"), "sample_by": sampler, "seed": seed}
        return SearchLabelling(parse_player(values.pop("by")), **{**values, **more})


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

    openings: str = setting("random:8", metavar="PLAN")
    exploration: float = setting(0.0, least=0.0, most=1.0, names=("--explore",))
    games_per_file: int = setting(200, least=1, most=100_000)
    format: str = setting("games", names=("--write-format",), was=("--format",), metavar="NAME")

    def settings(self, players: Sequence[str], seed: int) -> GenerationSettings:
        """Make what :func:`~glem.core.labelling.training_games.generate` takes; players without a limit get depth 4."""
        from glem.core.labelling.training_games import GenerationSettings
        from glem.core.players.spec import parse_player
        from glem.core.search.results import Limits
        from glem.core.tournament.opening_choice import OpeningPlan

        return GenerationSettings(
            players=tuple(parse_player(text, limits=Limits(depth=4)) for text in players),
            openings=OpeningPlan.parse(self.openings),
            exploration=self.exploration,
            seed=seed,
            games_per_file=self.games_per_file,
            format=self.format,
        )
