"""Tuning options of an external engine, as a user states it. Nothing here imports numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, evolve

from glem.core.errors import BadInputError
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.settings import setting
from glem.core.tournament.opening_settings import OpeningSettings

if TYPE_CHECKING:
    from glem.core.discovery.game_positions import Games
    from glem.core.positions.positions import Positions
    from glem.core.positions.selection.reading import FileSummary
    from glem.core.tasks.tasks import Workers
    from glem.core.tuning.option_tuning import OptionsTuning

_POSITIONS, _PAIRS = 100, 16


@define(frozen=True, slots=False)
class OptionTuning(OpeningSettings):
    """How options of an engine are tuned: by games against itself, or by the results of games that were played.

    Parameters
    ----------
    adjudicate
        End games by solver, N moves left.
    iterations
        Most iterations; steps shrink towards the last.
    batch
        Comparisons of an iteration: 16 pairs of games, or 100 positions, by default.
    select
        Positions of each game: random (one), last (one), all, or every:N.
    skip_moves
        Leave out the first moves of each side.
    skip_end
        Leave out this share of each game, at its end.
    held_out
        Hold out this share of the games, which tell what was gained.
    check_positions
        Positions of the held-out games for this, at most.
    """

    adjudicate: int = setting(0, least=0, most=100, metavar="N")
    iterations: int = setting(500, least=1)
    batch: int | None = setting(None, least=1)
    select: str = setting("every:7", metavar="RULE")
    skip_moves: int = setting(10, least=0)
    skip_end: float = setting(0.1, least=0.0, most=0.99)
    held_out: float = setting(0.1, least=0.0, most=0.9, metavar="SHARE")
    check_positions: int = setting(2000, least=1)

    def tune(
        self,
        games: Games,
        player: str,
        parameters: Sequence[tuple[str, str]],
        folder: Path,
        *,
        seed: int = 0,
        workers: Workers | None = None,
        progress: Progress = SILENT,
        tell: Callable[[str], None] | None = None,
    ) -> OptionsTuning:
        """Tune options by SPSA (:mod:`~glem.core.tuning.spsa`); the same call continues after a kill.

        Parameters
        ----------
        games
            The game, and files of games or of positions with results: values are compared by how well scores of their
            positions predict the results. No files: they are compared by games of the engine against itself.
        player
            The engine with its limit: ``uci:./engine,nodes=2000``.
        parameters
            Lines (:mod:`~glem.core.tuning.engine_options`), and where each stands.
        folder
            For the journal and the result.
        seed
            Of all that is chance.
        workers
            Where games are played or positions scored; they change no result.
        tell
            Called with one sentence where bad openings of a file were left out; None raises instead.

        Raises
        ------
        BadInputError
            No such engine, options, files or openings, or the folder holds other work.
        """
        from glem.core.players.spec import parse_player
        from glem.core.positions.selection.reading import reading_remarks
        from glem.core.tasks.tasks import kept_workers
        from glem.core.tournament.games import Adjudication
        from glem.core.tuning.engine_options import parameters_of
        from glem.core.tuning.option_comparisons import ByGrade, ByMatch
        from glem.core.tuning.option_tuning import tune
        from glem.core.tuning.spsa import Schedule

        game = games.game
        spec, chosen = parameters_of(game, parse_player(player), parameters)
        spec = spec.resolved(game)
        schedule = Schedule(self.iterations, self.batch or (_POSITIONS if games.paths else _PAIRS), seed)
        summaries: list[FileSummary] = []
        outside: Positions | None = None
        with kept_workers(workers) as where:
            comparing: ByGrade | ByMatch
            if games.paths:
                inside, outside = self._positions(games, seed, summaries.append, progress)
                comparing = ByGrade(game, spec, chosen, inside, where)
            else:
                openings = self.chosen(game, seed, tell)
                comparing = ByMatch(game, spec, chosen, openings, Adjudication(solve_from=self.adjudicate), where)
            found = tune(game, spec, chosen, schedule, comparing, folder, held_out=outside, progress=progress)
        found = evolve(found, notes=(*found.notes, *reading_remarks(summaries)))
        found.write(folder)
        return found

    def _positions(
        self, games: Games, seed: int, observe: Callable[[FileSummary], None], progress: Progress
    ) -> tuple[Positions, Positions]:
        """Read positions to tune by, and some of the held-out games."""
        import numpy as np

        from glem.core.positions.positions import Positions
        from glem.core.positions.selection.selection import SelectionRule

        rule = SelectionRule.parse(self.select, skip_moves=self.skip_moves, skip_end=self.skip_end, seed=seed)
        parts = [*games.positions(rule, observe=observe, progress=progress)]
        whole = Positions.concatenate([evolve(part, label_kind=parts[0].label_kind) for part in parts], renumber=False)
        mask = whole.held_out_mask(self.held_out, seed)
        if mask.all():
            raise BadInputError(f"all games are held out; take a smaller share than {self.held_out:g}, or more games")
        rows = np.random.default_rng(seed).permutation(np.flatnonzero(mask))[: self.check_positions]
        return whole.select(~mask), whole.select(rows)
