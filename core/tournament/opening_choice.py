"""Openings drawn by chance, near-even ones if a player judges them (Buro 1995, section 4).

Buro's tournaments began from 100 positions with 14 discs whose 11-ply value lay within a narrow window around zero:
both sides then have chances, and the result depends on the players.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any

import attrs
import numpy as np
from attrs import define

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.players.spec import SEARCH, PlayerSpec
from glem.core.players.thinker import kept_thinker
from glem.core.search.results import Bound
from glem.core.tasks.journal import Journal
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import run_tasks
from glem.core.tournament.openings import Opening, canonical_position

__all__ = ["OpeningJudge", "choose_openings"]

_MOST_VAIN_DRAWS = 1000
"""So many random openings in a row that ended the game or were known: there are no further ones, or hardly any."""


_MOST_JUDGED = 1000
"""So many judged openings for each that is wanted: the window is too narrow for this player."""


@define(frozen=True)
class OpeningJudge:
    """What makes an opening near-even.

    Parameters
    ----------
    player
        Whose search values the position.
    window
        Greatest distance of the value from zero, in label units of the player's evaluation (before the link).
    """

    player: PlayerSpec
    window: float

    def __attrs_post_init__(self) -> None:
        limits = self.player.limits
        if self.player.kind != SEARCH:
            raise BadInputError(f"player {self.player.name!r} does not search; openings are judged by a search")
        if limits.seconds is not None or limits.clock is not None:
            raise BadInputError(f"player {self.player.name!r} judges by time; give depth= or nodes= for equal openings")
        if not self.window > 0:
            raise BadInputError(f"the window of near-even openings must be positive, got {self.window}")


@define(frozen=True)
class _Judgement:
    game: Game
    opening: Opening
    judge: OpeningJudge


def choose_openings(
    game: Game,
    *,
    plies: int,
    count: int,
    judge: OpeningJudge | None = None,
    seed: int = 0,
    record: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    workers: int = 1,
    make_executor: Callable[[], Executor] | None = None,
    in_flight: int | None = None,
    progress: Progress = SILENT,
) -> list[Opening]:
    """Draw openings of random moves that lead to different positions, none an image of another one.

    Parameters
    ----------
    game
        The game.
    plies
        Their length, passes included.
    count
        Their number.
    judge
        Which of them are near-even; all are taken if not given.
    seed
        Of the draw; the openings depend on it alone, not on the workers.
    record
        Journal of the values, from which a killed choice goes on; None keeps none.
    executor, workers, make_executor, in_flight
        Where openings are judged; see :func:`~glem.core.tasks.tasks.run_tasks`.
    progress
        Display.

    Raises
    ------
    BadInputError
        The game has too few such openings; the player cannot be made; the record belongs to another choice.
    """
    if plies < 0 or count < 1:
        raise BadInputError(f"openings need a length from 0 and a count from 1 on, got {plies} and {count}")
    drawn = _distinct(game, plies, seed)
    if judge is None:
        openings = [opening for opening, _ in zip(drawn, range(count), strict=False)]
        if len(openings) < count:
            raise BadInputError(_too_few(game, plies, len(openings), count))
        return openings
    judge = attrs.evolve(judge, player=judge.player.resolved(game))
    settings = {"game": game.name, "plies": plies, "seed": seed, "judge": attrs.asdict(judge)}
    with contextlib.ExitStack() as stack:
        journal = None
        choice = _Choice(game, count)
        if record is not None:
            journal = stack.enter_context(Journal(record, "choice of openings", settings))
            choice.values.update(journal.records(_opening_and_value))
        task = stack.enter_context(progress("choose openings", count))
        tasks = (_Judgement(game, opening, judge) for opening in choice.unknown(drawn))
        values = run_tasks(
            _value, tasks, executor=executor, workers=workers, make_executor=make_executor, in_flight=in_flight
        )
        shown = 0
        with contextlib.closing(values):
            for index, value in values:
                opening = choice.asked[index].to_json(game)
                if journal is not None:
                    journal.append({"opening": opening, "value": value})
                choice.values[opening] = value
                choice.accept()
                task.advance(len(choice.openings) - shown)
                shown = len(choice.openings)
                task.note(f"{len(choice.values)} judged")
                if shown >= count:
                    break
                if len(choice.values) > _MOST_JUDGED * count:
                    raise BadInputError(
                        f"{len(choice.values)} openings judged, {shown} of them within {judge.window:g} of even, "
                        f"{count} are wanted; take a wider window or another player"
                    )
    if len(choice.openings) < count:
        raise BadInputError(_too_few(game, plies, len(choice.openings), count))
    return choice.openings


def _opening_and_value(line: Any) -> tuple[str, float | None]:
    value = line["value"]
    return str(line["opening"]), None if value is None else float(value)


def _too_few(game: Game, plies: int, found: int, wanted: int) -> str:
    # Short openings run out because there are few; very long ones because they end the game.
    return (
        f"{game.name}: found {found} different openings of {plies} plies that do not end the game, "
        f"{wanted} are wanted; take another length"
    )


def _distinct(game: Game, plies: int, seed: int) -> Iterator[Opening]:
    """Random openings that lead to different positions."""
    seen: set[tuple[int, ...]] = set()
    generator = np.random.default_rng(seed)
    vain = 0
    while vain < _MOST_VAIN_DRAWS:
        position = game.initial_position
        moves: list[int] = []
        while len(moves) < plies and not game.is_over(position):
            legal = game.list_legal_moves(position)
            moves.append(legal[generator.integers(len(legal))])
            position = game.play(position, moves[-1])
        image = canonical_position(game, position)
        if game.is_over(position) or image in seen:
            vain += 1
            continue
        vain = 0
        seen.add(image)
        yield Opening(tuple(moves))


class _Choice:
    """Judged openings, accepted in the order in which they were drawn."""

    def __init__(self, game: Game, count: int) -> None:
        self._game = game
        self._count = count
        self._drawn: list[Opening] = []
        self._place = 0
        self.values: dict[str, float | None] = {}
        """Value by the opening's text, None where it is not near-even."""
        self.asked: list[Opening] = []
        self.openings: list[Opening] = []

    def unknown(self, drawn: Iterator[Opening]) -> Iterator[Opening]:
        """Pass on the openings whose values are still needed."""
        for opening in drawn:
            self._drawn.append(opening)
            self.accept()
            if len(self.openings) >= self._count:
                return
            if opening.to_json(self._game) not in self.values:
                self.asked.append(opening)
                yield opening

    def accept(self) -> None:
        """Go on to the first opening whose value is missing."""
        while self._place < len(self._drawn) and len(self.openings) < self._count:
            text = self._drawn[self._place].to_json(self._game)
            if text not in self.values:
                return
            if self.values[text] is not None:
                self.openings.append(self._drawn[self._place])
            self._place += 1


def _value(task: _Judgement) -> float | None:
    """Value of an opening for the side to move if it is near-even.

    Most searches end at once: to show that a value lies outside takes a fraction of the nodes of finding it.
    """
    position, player = task.opening.positions(task.game)[-1], task.judge.player
    thinker = kept_thinker(task.game, player)
    steps = round(task.judge.window * thinker.evaluator.steps_per_unit)
    found = thinker.searcher.search(position, player.limits, window=(-steps - 1, steps + 1))
    return found.value if found.bound == Bound.EXACT and abs(found.score) <= steps else None
