"""Random games in plain Python, played with suspicion: the positions that the conformance checks look at."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.columns import store_position
from glem.core.conformance.report import BrokenPromise, Examination, OpenCheck
from glem.core.errors import BadInputError
from glem.core.game.game import Game

__all__ = [
    "FIRST_PLIES",
    "GUARD",
    "GUARD_ROWS",
    "MOST_POSITIONS",
    "Sample",
    "check_position",
    "columns_of",
    "guarded_buffer",
    "list_moves",
    "move_text",
    "moves_in",
    "play_sample",
    "same",
    "sample_of",
    "show",
]

GUARD = -1_234_567
"""Value in the move buffer around the room that the rules may write to."""

GUARD_ROWS = 8
"""Number of guards before and behind that room."""

FIRST_PLIES = 6
"""Plies at the start of games that every sample looks at: rules for openings, such as swaps, hold nowhere else."""

MOST_POSITIONS = 2500
"""Positions after which :func:`sample_of` begins no further game: of games that last for hundreds of plies few do."""


@define
class Sample:
    """Positions of random games, in order of play.

    Row ``i`` of every list belongs to one position: the position itself, its legal moves in the order of the
    rules, the move played there (None at the end of a game) and the moves that led there.

    Parameters
    ----------
    game
        The game.
    positions, legal, played, history
        The rows.
    over
        What ``is_over`` said of each.
    broken_off
        Whether a broken promise ended the games before their time.
    doubt
        Why checks that play moves from these positions would tell nothing new, or empty.
    seed
        Of the games, and of what :meth:`some` draws.
    """

    game: Game
    positions: list[Any] = field(factory=list)
    legal: list[list[int]] = field(factory=list)
    played: list[int | None] = field(factory=list)
    history: list[tuple[int, ...]] = field(factory=list)
    over: list[bool] = field(factory=list)
    broken_off: bool = False
    doubt: str = ""
    seed: int = 0
    places: dict[int, str] = field(factory=dict)
    """Texts of rows that were asked for, which every check needs again."""

    @property
    def ends(self) -> list[int]:
        """Rows of the positions without moves."""
        return [row for row, moves in enumerate(self.legal) if not moves]

    def some(self, count: int) -> list[int]:
        """Rows of all different positions of the first plies, and of ``count`` others at random, ascending.

        Every n-th row would keep step with games of one length, and miss what happens at one ply.
        """
        first: dict[tuple[Any, ...], int] = {}
        others = []
        for row, position in enumerate(self.positions):
            if len(self.history[row]) < FIRST_PLIES:
                first.setdefault(tuple(value.item() for value in position), row)
            else:
                others.append(row)
        generator = random.Random(self.seed)  # noqa: S311 - no secret depends on it
        return sorted([*first.values(), *generator.sample(others, min(count, len(others)))])

    def place(self, row: int) -> str:
        """Text of a position, with the moves that led there."""
        if row not in self.places:
            self.places[row] = "in\n" + show(self.game, self.positions[row], self.history[row])
        return self.places[row]

    def rows(self, check: OpenCheck, rows: Iterable[int] | None = None) -> Iterator[int]:
        """Go through rows, all by default; what a plugin's code raises meanwhile is shown with the position."""
        for row in range(len(self.positions)) if rows is None else rows:
            check.place = lambda row=row: self.place(row)
            yield row
        check.place = None

    def columns(self) -> Any:
        """All positions as a position of columns."""
        return columns_of(self.game, self.positions)

    def drop_last(self) -> None:
        """Take the last row away."""
        for rows in (self.positions, self.legal, self.played, self.history, self.over):
            rows.pop()
        self.places.pop(len(self.positions), None)


def same(one: Any, other: Any) -> bool:
    """Whether two positions are equal, field by field; a plugin's own ``==`` is not asked."""
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: Any, other: Any) -> bool:
    if type(one) is type(other) and isinstance(one, np.number | np.bool_):
        return bool(one == other)
    return np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


def show(game: Game, position: Any, history: tuple[int, ...] | None = None) -> str:
    """Text of a position for an error; the plugin's own formatting may be what is broken."""
    try:
        text = game.format_position(position)
    except Exception:  # noqa: BLE001 - a stranger's code may raise anything
        text = repr(position)
    if history is None:
        return text
    try:
        moves = " ".join(game.format_move(move) for move in history)
    except Exception:  # noqa: BLE001 - a stranger's code may raise anything
        moves = " ".join(map(str, history))
    return f"{text}\nafter {moves or 'no move'}"


def guarded_buffer(game: Game) -> NDArray[np.int32]:
    """Move buffer with guards on both sides of the room for ``max_moves``."""
    return np.full(game.max_moves + 2 * GUARD_ROWS, GUARD, np.int32)


def columns_of(game: Game, positions: list[Any]) -> Any:
    """Positions as a position of columns."""
    columns = game.empty_columns(len(positions))
    for row, position in enumerate(positions):
        store_position(columns, row, position)
    return columns


def sample_of(game: Game, games: int, seed: int, examination: Examination) -> Sample:
    """Play random games of a game whose rules are not themselves under examination, no more than tell something."""
    if games < 1:
        raise BadInputError(f"a conformance check needs at least one game, got {games}")
    sample = Sample(game)
    with examination.check("play", "random games can be played") as check:
        play_sample(sample, games, seed, check, most_positions=MOST_POSITIONS)
    return sample


def list_moves(game: Game, position: Any, where: str) -> list[int]:
    """Legal moves of a position from the plain rules.

    Raises
    ------
    BrokenPromise
        Too many or repeated moves, moves out of range, or a write outside the room. The text ends in ``where``.
    IndexError
        Of the rules' own, one that more room does not cure.
    """
    buffer = guarded_buffer(game)
    try:
        count = game.legal_moves(position, buffer, GUARD_ROWS)
    except IndexError as error:
        if _fits_into_more_room(game, position):
            raise BrokenPromise(f"legal_moves lists more moves than max_moves = {game.max_moves}, {where}") from error
        raise
    return moves_in(game, buffer, count, where)


def _fits_into_more_room(game: Game, position: Any) -> bool:
    """Whether there is no IndexError where every move of the game has room."""
    try:
        game.legal_moves(position, np.full(game.max_moves + game.move_count + GUARD_ROWS, GUARD, np.int32), GUARD_ROWS)
    except IndexError:
        return False
    return True


def moves_in(game: Game, buffer: NDArray[np.int32], count: Any, where: str) -> list[int]:
    """Read the moves in a guarded buffer, checked; see :func:`list_moves`."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool):
        raise BrokenPromise(
            f"legal_moves returned {_shown(count)}, expected the number of moves, which it writes into the buffer, "
            f"{where}"
        )
    if not 0 <= count <= game.max_moves:
        raise BrokenPromise(f"legal_moves returned {count}, expected 0 to max_moves = {game.max_moves}, {where}")
    if np.any(buffer[:GUARD_ROWS] != GUARD) or np.any(buffer[GUARD_ROWS + game.max_moves :] != GUARD):
        raise BrokenPromise(f"legal_moves wrote outside start to start + max_moves = {game.max_moves}, {where}")
    moves = [int(move) for move in buffer[GUARD_ROWS : GUARD_ROWS + count]]
    for move in moves:
        if not 0 <= move < game.move_count:
            raise BrokenPromise(f"move {move} is not in range(move_count = {game.move_count}), {where}")
    if len(set(moves)) != len(moves):
        raise BrokenPromise(f"legal_moves lists a move twice: {moves}, {where}")
    return moves


def play_sample(sample: Sample, games: int, seed: int, check: OpenCheck, *, most_positions: int | None = None) -> None:
    """Play random games into ``sample``, with every check that needs the game's course.

    No game begins when there are ``most_positions`` or more.
    What has been played when a promise breaks stays in the sample, without the position that broke it.
    """
    game, sample.broken_off, sample.seed = sample.game, True, seed
    generator = random.Random(seed)  # noqa: S311 - no secret depends on it
    for _ in range(games):
        if most_positions is not None and len(sample.positions) >= most_positions:
            break
        position = game.initial_position
        history: tuple[int, ...] = ()
        while True:
            where = sample.places[len(sample.positions)] = f"in\n{show(game, position, history)}"
            check.place = lambda where=where: where
            moves = list_moves(game, position, where)
            over = game.is_over(position)
            if not isinstance(over, bool | np.bool_ | int | np.integer):
                raise BrokenPromise(f"is_over returned {_shown(over)}, expected True or False, {where}")
            check.expect(bool(over) == (not moves), _disagreement(moves, where))
            move = generator.choice(moves) if moves else None
            sample.positions.append(position)
            sample.legal.append(moves)
            sample.history.append(history)
            sample.over.append(bool(over))
            sample.played.append(move)
            if move is None:
                break
            try:
                if len(history) >= game.max_plies:
                    raise BrokenPromise(f"a game goes on after max_plies = {game.max_plies} plies, {where}")
                following = game.play(position, move)
                check_position(game, following, f"play({move}, {move_text(game, move)})", where)
            except Exception:
                sample.drop_last()
                raise
            position = following
            history = (*history, move)
    sample.broken_off = False


def _disagreement(moves: list[int], where: str) -> str:
    return f"legal_moves finds {len(moves)} moves, is_over says {'no' if moves == [] else 'yes'}, {where}"


def check_position(game: Game, position: Any, maker: str, where: str) -> None:
    """See that a value that a plugin made is a position.

    Raises
    ------
    BrokenPromise
        Another type, or fields of other types than in the initial position. The text ends in ``where``.
    """
    kind = game.position_type
    if type(position) is not kind:
        raise BrokenPromise(f"{maker} returned {_shown(position)}, expected a {kind.__name__}, {where}")
    for name, value, expected in zip(kind._fields, position, game.initial_position, strict=True):
        if not isinstance(value, np.generic) or value.dtype != expected.dtype:
            raise BrokenPromise(
                f"{maker} gives field {name!r} the {type(value).__name__} {value!r}, expected a numpy "
                f"{expected.dtype} as in the initial position, {where}"
            )


def _shown(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}: {value!r}"


def move_text(game: Game, move: int) -> str:
    """Text of a move for an error; the plugin's own formatting may be what is broken."""
    try:
        return str(game.format_move(move))
    except Exception:  # noqa: BLE001 - a stranger's code may raise anything
        return "?"
