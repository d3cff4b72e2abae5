"""How games begin where no list of openings is given: at random, by all openings of a length, or by those of a file.

Buro ensured the variance of features by playing all openings of seven plies, most of which are unbalanced (1995,
section 3). His tournaments began from 100 positions with 14 discs whose 11-ply value lay within a narrow window around
zero (section 4): both sides then have chances, and the result depends on the players.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of
from glem.core.errors import BadInputError
from glem.core.files.json_values import real_of
from glem.core.game.equal_positions import group_equal
from glem.core.game.game import Game
from glem.core.game.whole_numbers import whole_number
from glem.core.players.spec import SEARCH, PlayerSpec
from glem.core.players.thinker import kept_thinker
from glem.core.positions.successors import successors_of
from glem.core.tasks.counts import counted
from glem.core.tasks.journal import Journal
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import Workers, run_tasks
from glem.core.tournament.openings import Opening, canonical_position, read_openings

RANDOM, ALL = "random", "all"

_MOST_OPENINGS = 2_000_000
_MOST_RANDOM_PLIES = 1000

_MOST_VAIN_DRAWS = 1000
"""So many random openings in a row that ended the game or were known: there are no further ones, or hardly any."""

_MOST_JUDGED = 1000
"""So many judged openings for each that is wanted: the window is too narrow for this player."""


def _random_line(game: Game, plies: int, generator: np.random.Generator) -> tuple[Opening, Any]:
    """Play random legal moves, each with equal chance, until the game ends; return them and where they lead."""
    position = game.initial_position
    moves: list[int] = []
    while len(moves) < plies and not game.is_over(position):
        legal = game.list_legal_moves(position)
        moves.append(legal[generator.integers(len(legal))])
        position = game.play(position, moves[-1])
    return Opening(tuple(moves)), position


@define(frozen=True)
class OpeningPlan:
    """Where openings come from.

    Parameters
    ----------
    kind
        ``random``, ``all``, or the name of a file.
    fewest, most
        Plies of random openings, both inclusive; of all openings, and of those in files the first ``most`` plies. 0
        takes the openings of a file whole.
    """

    kind: str
    fewest: int = 0
    most: int = 0

    @classmethod
    def parse(cls, text: str) -> OpeningPlan:
        """Read ``random:8``, ``random:4-11``, ``all:7``, or the name of a file of openings.

        Raises
        ------
        BadInputError
            Neither a plan nor a file, or a bad number of plies.
        """
        kind, colon, plies = text.partition(":")
        if kind not in {RANDOM, ALL} or not colon:
            if not Path(text).is_file():
                raise BadInputError(
                    f"openings must be random:PLIES, random:LEAST-MOST, all:PLIES or a file, got {text!r}"
                )
            return cls(text)
        fewest, dash, most = plies.partition("-")
        least, greatest = whole_number(fewest), whole_number(most if dash else fewest)
        if least is None or greatest is None or (dash and kind == ALL):
            raise BadInputError(f"openings {text!r}: the number of plies must be like 8, or like 4-11 for random ones")
        if not least <= greatest <= _MOST_RANDOM_PLIES:
            raise BadInputError(f"openings {text!r}: the plies must rise and be at most {_MOST_RANDOM_PLIES}")
        return cls(kind, least, greatest)

    def listed(self, game: Game, *, tell: Callable[[str], None] | None = None) -> list[Opening] | None:
        """All openings, in order; None for random ones.

        Parameters
        ----------
        tell
            As of :func:`~glem.core.tournament.openings.read_openings`.

        Raises
        ------
        BadInputError
            The file cannot be read or has no openings, or there are too many openings of that length.
        """
        if self.kind == RANDOM:
            return None
        if self.kind == ALL:
            return all_openings(game, self.most)
        return read_openings(game, self.kind, plies=self.most or None, tell=tell)


def random_opening(game: Game, plan: OpeningPlan, seed: tuple[int, ...]) -> Opening:
    """Random legal moves, each with equal chance; begun anew where they end the game.

    Raises
    ------
    BadInputError
        They always end it: games are hardly ever so long.
    """
    generator = np.random.default_rng(seed)
    for _ in range(_MOST_VAIN_DRAWS):
        opening, position = _random_line(game, int(generator.integers(plan.fewest, plan.most + 1)), generator)
        if not game.is_over(position):
            return opening
    raise BadInputError(
        f"{game.name}: {_MOST_VAIN_DRAWS} random openings of {plan.fewest} to "
        f"{counted(plan.most, 'ply')} all ended the game; "
        "take shorter ones"
    )


def all_openings(game: Game, plies: int) -> list[Opening]:
    """One line of moves to each position that can be reached in so many plies, in a fixed order.

    Positions that are images of each other count once; those that end the game do not count.

    Raises
    ------
    BadInputError
        More than two million positions.
    """
    columns = game.columns_of([game.initial_position])
    lines: NDArray[np.int32] = np.zeros((1, 0), np.int32)
    for _ in range(plies):
        after = successors_of(game, columns)
        first = group_equal(game, after.positions).first
        if len(first) > _MOST_OPENINGS:
            raise BadInputError(
                f"there are more than {_MOST_OPENINGS:,} openings of {counted(plies, 'ply')}; name fewer plies"
            )
        columns = rows_of(after.positions, first)
        lines = np.column_stack([lines[after.parent[first]], after.move[first]])
    alive = [not game.is_over(position_at(columns, row)) for row in range(len(columns[0]))]
    return [Opening(tuple(line)) for line in lines[np.array(alive, np.bool_)].tolist()]


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
        if self.player.kind != SEARCH:
            raise BadInputError(f"player {self.player.name!r} does not search; openings are judged by a search")
        self.player.check_repeatable("its openings could not be chosen again")
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
    plies: int | tuple[int, int],
    count: int,
    judge: OpeningJudge | None = None,
    seed: int = 0,
    record: str | os.PathLike[str] | None = None,
    workers: Workers | None = None,
    progress: Progress = SILENT,
) -> list[Opening]:
    """Draw openings of random moves that lead to different positions, none an image of another one.

    Parameters
    ----------
    plies
        Their length, passes included; or the least and the greatest.
    judge
        Which of them are near-even; all are taken if not given.
    seed
        Of the draw; the openings depend on it alone, not on the workers.
    record
        Journal of the values, from which a killed choice goes on; None keeps none.

    Raises
    ------
    BadInputError
        The game has too few such openings; the player cannot be made; the record belongs to another choice.
    """
    least, most = (plies, plies) if isinstance(plies, int) else plies
    if not 0 <= least <= most or count < 1:
        raise BadInputError(f"openings need a length from 0 and a count from 1 on, got {plies} and {count}")
    length = str(least) if least == most else f"{least} to {most}"
    drawn = _distinct(game, least, most, seed)
    if judge is None:
        openings = [opening for opening, _ in zip(drawn, range(count), strict=False)]
        if len(openings) < count:
            raise BadInputError(_too_few(game, length, len(openings), count))
        return openings
    resolved = attrs.evolve(judge, player=judge.player.resolved(game))
    settings = {
        "game": game.name,
        "plies": least if least == most else [least, most],
        "seed": seed,
        "judge": attrs.asdict(resolved),
    }
    values: dict[str, float | None] = {}
    chosen: list[Opening] = []
    # In the order of the draw; the value of the first is not known yet.
    waiting: deque[Opening] = deque()

    def accept() -> None:
        while waiting and len(chosen) < count and (text := waiting[0].to_json(game)) in values:
            opening = waiting.popleft()
            if values[text] is not None:
                chosen.append(opening)

    def unknown() -> Iterator[_Judgement]:
        for opening in drawn:
            waiting.append(opening)
            accept()
            if len(chosen) >= count:
                return
            if opening.to_json(game) not in values:
                yield _Judgement(game, opening, resolved)

    with contextlib.ExitStack() as stack:
        journal = None
        if record is not None:
            journal = stack.enter_context(Journal(record, "choice of openings", settings))
            values.update(journal.records(_opening_and_value))
        task = stack.enter_context(progress("choose openings", count))
        judged = run_tasks(_judged, unknown(), workers)
        for _, (text, value) in stack.enter_context(contextlib.closing(judged)):
            if journal is not None:
                journal.append({"opening": text, "value": value})
            values[text] = value
            before = len(chosen)
            accept()
            task.advance(len(chosen) - before)
            task.note(f"{len(values)} judged")
            if len(chosen) >= count:
                break
            if len(values) > _MOST_JUDGED * count:
                raise BadInputError(
                    f"{counted(len(values), 'opening')} judged, {len(chosen)} of them within {judge.window:g} of even, "
                    f"{count} are wanted; take a wider window or another player"
                )
    if len(chosen) < count:
        raise BadInputError(_too_few(game, length, len(chosen), count))
    return chosen


def planned_openings(
    game: Game, plan: OpeningPlan, *, count: int | None = None, seed: int = 0, **choice: Any
) -> list[Opening]:
    """Give openings that no file lists: so many of all, drawn at random, or random ones, 100 by default.

    ``choice`` are further arguments of :func:`choose_openings`, which names the errors.
    """
    every = plan.listed(game)
    if every is None:
        length = plan.fewest, plan.most
        return choose_openings(game, plies=length, count=100 if count is None else count, seed=seed, **choice)
    if count is None:
        return every
    if len(every) < count:
        raise BadInputError(_too_few(game, str(plan.most), len(every), count))
    return [every[place] for place in np.sort(np.random.default_rng(seed).permutation(len(every))[:count])]


def _opening_and_value(line: Any) -> tuple[str, float | None]:
    value = line["value"]
    return str(line["opening"]), None if value is None else real_of(value)


def _too_few(game: Game, length: str, found: int, wanted: int) -> str:
    # Short openings run out because there are few; very long ones because they end the game.
    return (
        f"{game.name}: found {counted(found, 'different opening')} of {length} {'ply' if length == '1' else 'plies'} "
        f"before the end of the game, {wanted} are wanted; take another length"
    )


def _distinct(game: Game, least: int, most: int, seed: int) -> Iterator[Opening]:
    """Random openings that lead to different positions."""
    seen: set[tuple[int, ...]] = set()
    generator = np.random.default_rng(seed)
    vain = 0
    while vain < _MOST_VAIN_DRAWS:
        plies = least if least == most else int(generator.integers(least, most + 1))
        opening, position = _random_line(game, plies, generator)
        image = canonical_position(game, position)
        if game.is_over(position) or image in seen:
            vain += 1
            continue
        vain = 0
        seen.add(image)
        yield opening


def _judged(task: _Judgement) -> tuple[str, float | None]:
    """Text of an opening, and its value for the side to move if it is near-even.

    Most searches end at once: to show that a value lies outside takes a fraction of the nodes of finding it.
    """
    position = task.opening.positions(task.game)[-1]
    thinker = kept_thinker(task.game, task.judge.player)
    per_unit = thinker.evaluator.steps_per_unit
    steps = round(task.judge.window * per_unit)
    score = thinker.judge(position, window=(-steps - 1, steps + 1)).score
    assert score is not None
    value = score if abs(round(score * per_unit)) <= steps else None
    return task.opening.to_json(task.game), value
