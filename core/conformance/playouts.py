"""Random games in plain Python, played with suspicion: the positions that the conformance checks look at."""

import math
import random
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.conformance.report import BrokenPromise, CheckResult, ConformanceReport, NotApplicable
from glem.core.errors import BadInputError
from glem.core.game.declarations import is_whole
from glem.core.game.drawing import draw_position
from glem.core.game.game import Game
from glem.core.tasks.counts import counted

GUARD = -1_234_567
"""Value in the move buffer around the room that the rules may write to."""

GUARD_ROWS = 8
"""Number of guards before and behind that room."""

FIRST_PLIES = 6
"""Plies at the start of games that every sample looks at: rules for openings, such as swaps, hold nowhere else."""

_PLAYERS = ("first", "second")

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
    games
        How many games are played at most.
    seed
        Of the games, and of what :meth:`some` draws.
    positions, legal, played, history
        The rows.
    over
        What ``is_over`` said of each.
    broken_off
        Whether a broken promise ended the games before their time.
    doubt
        Why checks that play moves from these positions would tell nothing new, or empty.
    """

    game: Game
    games: int
    seed: int
    positions: list[Any] = field(factory=list)
    legal: list[list[int]] = field(factory=list)
    played: list[int | None] = field(factory=list)
    history: list[tuple[int, ...]] = field(factory=list)
    over: list[bool] = field(factory=list)
    broken_off: bool = False
    doubt: str = ""

    def __attrs_post_init__(self) -> None:
        if self.games < 1:
            raise BadInputError(f"a conformance check needs at least one game, got {self.games}")

    def rely(self) -> None:
        """Leave a check out where the games, or the rules that they are played by, are not to be relied upon."""
        if self.doubt:
            raise NotApplicable(f"not looked at: {self.doubt}")

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

    def played_at(self, row: int) -> list[int]:
        """List the move played in a row; there is none at the end of a game."""
        played = self.played[row]
        return [] if played is None else [played]

    def add(self, position: Any, legal: list[int], played: int | None, history: tuple[int, ...], over: bool) -> None:
        """Append a row."""
        self.positions.append(position)
        self.legal.append(legal)
        self.played.append(played)
        self.history.append(history)
        self.over.append(over)

    def place(self, row: int) -> str:
        """Text of a position, with the moves that led there."""
        return show_place(self.game, self.positions[row], self.history[row])

    def rows(self, check: CheckResult, rows: Iterable[int] | None = None) -> Iterator[tuple[int, Any]]:
        """Go through rows, all by default, and their positions; failures meanwhile end in the position."""
        for row in range(len(self.positions)) if rows is None else rows:
            check.place = partial(self.place, row)
            yield row, self.positions[row]
        check.place = None

    def columns(self) -> Any:
        """All positions as a position of columns."""
        return self.game.columns_of(self.positions)


def same(one: Any, other: Any) -> bool:
    """Whether two positions are equal, field by field; a plugin's own ``==`` is not asked."""
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: Any, other: Any) -> bool:
    if type(one) is type(other) and isinstance(one, np.number | np.bool_):
        return bool(one == other)
    return np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


def show(game: Game, position: Any) -> str:
    """Text of a position for an error; the plugin's own formatting may be what is broken."""
    try:
        return game.format_position(position)
    except Exception:  # noqa: BLE001 - a stranger's code may raise anything
        return repr(position)


def show_place(game: Game, position: Any, history: tuple[int, ...]) -> str:
    """Text of a position and of the moves that led there, for an error."""
    try:
        moves = " ".join(game.format_move(move) for move in history)
    except Exception:  # noqa: BLE001 - a stranger's code may raise anything
        moves = " ".join(map(str, history))
    return f"in\n{show(game, position)}\nafter {moves or 'no move'}"


def guarded_buffer(game: Game) -> NDArray[np.int32]:
    """Move buffer with guards on both sides of the room for ``max_moves``."""
    return np.full(game.max_moves + 2 * GUARD_ROWS, GUARD, np.int32)


def sample_of(game: Game, games: int, seed: int, report: ConformanceReport) -> Sample:
    """Play random games of a game whose rules are not themselves under examination, no more than tell something."""
    sample = Sample(game, games=games, seed=seed)
    report.run("play", "random games can be played", lambda check: play_sample(sample, check, MOST_POSITIONS))
    return sample


def list_moves(game: Game, position: Any) -> list[int]:
    """Legal moves of a position from the plain rules.

    Raises
    ------
    BrokenPromise
        Too many or repeated moves, moves out of range, or a write outside the room.
    IndexError
        Of the rules' own, one that more room does not cure.
    """
    buffer = guarded_buffer(game)
    try:
        count = game.legal_moves(position, buffer, GUARD_ROWS)
    except IndexError as error:
        if _fits_into_more_room(game, position):
            raise BrokenPromise(f"legal_moves lists more moves than max_moves = {game.max_moves}") from error
        raise
    return moves_in(game, buffer, count)


def _fits_into_more_room(game: Game, position: Any) -> bool:
    """Whether there is no IndexError where every move of the game has room."""
    try:
        game.legal_moves(position, np.full(game.max_moves + game.move_count + GUARD_ROWS, GUARD, np.int32), GUARD_ROWS)
    except IndexError:
        return False
    return True


def moves_in(game: Game, buffer: NDArray[np.int32], count: Any) -> list[int]:
    """Read the moves in a guarded buffer, checked; see :func:`list_moves`."""
    if not is_whole(count):
        raise BrokenPromise(
            f"legal_moves returned {_shown(count)}, expected the number of moves, which it writes into the buffer"
        )
    if not 0 <= count <= game.max_moves:
        raise BrokenPromise(f"legal_moves returned {count}, expected 0 to max_moves = {game.max_moves}")
    if np.any(buffer[:GUARD_ROWS] != GUARD) or np.any(buffer[GUARD_ROWS + game.max_moves :] != GUARD):
        raise BrokenPromise(f"legal_moves wrote outside start to start + max_moves = {game.max_moves}")
    moves = [int(move) for move in buffer[GUARD_ROWS : GUARD_ROWS + count]]
    for move in moves:
        if not 0 <= move < game.move_count:
            raise BrokenPromise(f"move {move} is not in range(move_count = {game.move_count})")
    if len(set(moves)) != len(moves):
        raise BrokenPromise(f"legal_moves lists a move twice: {moves}")
    return moves


def play_sample(sample: Sample, check: CheckResult, most_positions: float = math.inf) -> None:
    """Play the random games of a sample, with every check that needs a game's course.

    No game begins when there are ``most_positions`` or more.
    What has been played when a promise breaks stays in the sample, without the position that broke it.
    """
    game, sample.broken_off = sample.game, True
    generator = random.Random(sample.seed)  # noqa: S311 - no secret depends on it
    for _ in range(sample.games):
        if len(sample.positions) >= most_positions:
            break
        position = game.initial_position
        history: tuple[int, ...] = ()
        while True:
            check.place = partial(show_place, game, position, history)
            moves = list_moves(game, position)
            over = game.is_over(position)
            if not isinstance(over, bool | np.bool_ | int | np.integer):
                raise BrokenPromise(f"is_over returned {_shown(over)}, expected True or False")
            said = "yes" if over else "no"
            check.expect(
                bool(over) == (not moves), f"legal_moves finds {counted(len(moves), 'move')}, is_over says {said}"
            )
            if not moves:
                sample.add(position, moves, None, history, bool(over))
                break
            move = generator.choice(moves)
            if len(history) >= game.max_plies:
                raise BrokenPromise(f"a game goes on after max_plies = {counted(game.max_plies, 'ply')}")
            following = game.play(position, move)
            check_position(game, following, f"play({move}, {move_text(game, move)})")
            sample.add(position, moves, move, history, bool(over))
            position, history = following, (*history, move)
    sample.broken_off = False


def shown_game(game: Game, seed: int) -> list[str]:
    """Lines of the first random game of a seed for its author to read: positions, legal moves, what was played.

    Raises
    ------
    ConformanceError
        Play is broken.
    """
    report = ConformanceReport(game.title)
    sample = sample_of(game, 1, seed, report)
    report.require()
    lines = [f"One random game of {game.title}, of seed {seed}:"]
    for ply, position in enumerate(sample.positions):
        drawing = draw_position(game, position, first_to_move=ply % 2 == 0)
        lines += ["", show(game, position), *("  " + line for line in (drawing.lines() if drawing else []))]
        if played := sample.played_at(ply):
            legal = " ".join(move_text(game, move) for move in sample.legal[ply])
            lines.append(
                f"  ply {ply + 1}, {_PLAYERS[ply % 2]} player: plays {move_text(game, *played)}, legal are {legal}"
            )
    score, mover = int(game.final_score(sample.positions[-1])), (len(sample.positions) - 1) % 2
    end = f"the {_PLAYERS[mover if score > 0 else 1 - mover]} player wins" if score else "a draw"
    return [*lines, f"  over: final_score is {score} for the {_PLAYERS[mover]} player, who is to move: {end}"]


def check_position(game: Game, position: Any, maker: str) -> None:
    """See that a value that a plugin made is a position.

    Raises
    ------
    BrokenPromise
        Another type, or fields of other types than in the initial position.
    """
    kind = game.position_type
    if type(position) is not kind:
        raise BrokenPromise(f"{maker} returned {_shown(position)}, expected a {kind.__name__}")
    for name, value, expected in zip(kind._fields, position, game.initial_position, strict=True):
        if not isinstance(value, np.generic) or value.dtype != expected.dtype:
            raise BrokenPromise(
                f"{maker} gives field {name!r} the {type(value).__name__} {value!r}, expected a numpy "
                f"{expected.dtype} as in the initial position"
            )


def _shown(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}: {value!r}"


def move_text(game: Game, move: int) -> str:
    """Text of a move for an error; the plugin's own formatting may be what is broken."""
    try:
        return str(game.format_move(move))
    except Exception:  # noqa: BLE001 - a stranger's code may raise anything
        return "?"
