"""What a user states of openings. Nothing here imports numpy."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define

from glem.core.errors import BadInputError
from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.search.results import Limits
    from glem.core.tournament.openings import Opening

_USUAL_PLIES = 8


@define(frozen=True, slots=False)
class OpeningSettings:
    """Which openings are played.

    Parameters
    ----------
    openings
        random:PLIES, random:LEAST-MOST, all:PLIES, or a file; else random:8.
    opening_format
        Format of that file, if the file does not tell.
    opening_plies
        Plies; 8 for random ones.
    opening_count
        How many; 100 for random ones.
    """

    openings: Any = setting(None, metavar="PLAN|FILE")
    opening_format: str | None = setting(None, metavar="NAME")
    opening_plies: int | None = setting(None, least=0, most=1000, metavar="N")
    opening_count: int | None = setting(None, least=1, most=1_000_000, metavar="N")

    def chosen(self, game: Game, seed: int, tell: Callable[[str], None] | None, **choice: Any) -> list[Opening]:
        """Read or plan the openings.

        Parameters
        ----------
        seed
            Draws them.
        tell
            Called with one sentence where bad openings of a file were left out; None raises instead.
        choice
            What :func:`~glem.core.tournament.opening_choice.planned_openings` takes besides.

        Raises
        ------
        BadInputError
            No such openings.
        """
        from glem.core.tournament.opening_choice import ALL, RANDOM, OpeningPlan, planned_openings
        from glem.core.tournament.openings import read_openings

        plies, count, form = self.opening_plies, self.opening_count, self.opening_format
        text = (
            f"{RANDOM}:{_USUAL_PLIES if plies is None else plies}"
            if self.openings is None
            else os.fspath(self.openings)
        )
        if text.partition(":")[0] not in {RANDOM, ALL}:
            return read_openings(game, text, format=form, plies=plies, count=count, seed=seed, tell=tell)
        if self.openings is not None and (plies is not None or form is not None):
            raise BadInputError(
                f"--openings {text} says how long they are and reads no file: leave other lengths and formats out"
            )
        return planned_openings(game, OpeningPlan.parse(text), count=count, seed=seed, **choice)


@define(frozen=True, slots=False)
class JudgedOpenings(OpeningSettings):
    """Openings, perhaps of those that a player finds near-even.

    Parameters
    ----------
    judge
        Take only random openings that are near-even for this player.
    even_within
        Greatest value of a near-even opening.
    save_openings
        Write the openings, for --openings.
    """

    judge: str | None = setting(None, metavar="PLAYER")
    even_within: float = setting(0.4, least=0.0, was=("--window",), metavar="VALUE")
    save_openings: Any = setting(None, metavar="FILE")

    def judged(
        self,
        game: Game,
        seed: int,
        tell: Callable[[str], None] | None,
        *,
        limits: Limits | None = None,
        record: str | None = None,
        **where: Any,
    ) -> list[Opening]:
        """Read or plan the openings; a judge's own work is kept beside the record of the games.

        Raises
        ------
        BadInputError
            No such openings, or a judge of those that others name.
        """
        from glem.core.players.spec import parse_player
        from glem.core.tournament.opening_choice import OpeningJudge

        if self.judge is None:
            return self.chosen(game, seed, tell, **where)
        if self.openings is not None and not os.fspath(self.openings).startswith("random:"):
            raise BadInputError(
                f"--judge chooses among random openings, --openings {self.openings} names others; give one of them"
            )
        judge = OpeningJudge(parse_player(self.judge, limits=limits), self.even_within)
        kept = None if record is None else f"{record}.openings"
        return self.chosen(game, seed, tell, judge=judge, record=kept, **where)
