"""Text files of games (``.games``) that glem writes and reads for every game.

After the line ``# glem games 1 NAME`` each line is a game, in four fields between tabs: the moves as the game writes
them, between blanks and without forced passes; the final score from the first player's view; the exact score of one
of the positions, from the same view, and the number of moves before it. What is not known is left empty. Two more
fields name the first and the second player where they are known. Lines that are empty or begin with ``#`` are skipped.
Where moves are left the final score is believed: such a game was drawn by a claim (:mod:`glem.core.game.draws`),
resigned or adjudicated. Where none is left it must be that of the last position.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.packed import LineBlock, line_blocks
from glem.core.game.game import Game, RecordFormat
from glem.core.game.records import GameRecords
from glem.core.game.whole_numbers import read_whole_number
from glem.core.positions.replay import FINISHED, replay
from glem.core.positions.validation import BadRecords, validated

SUFFIX = ".games"

_HEADER = "# glem games 1"
_FIELDS = 4
_PLAYERS = ("first_player", "second_player")
_MOST_PLIES = (1 << 15) - 1


def _header(game: Game) -> str:
    return f"{_HEADER} {game.name}"


def game_in_header(head: bytes) -> str | None:
    """Name of the game that the first bytes of a file say it holds; None where it is not such a file."""
    first, _, _ = head.partition(b"\n")
    text = first.decode("utf-8", "replace").rstrip("\r")
    return text.removeprefix(f"{_HEADER} ") if text.startswith(f"{_HEADER} ") else None


def _written(game: Game, records: GameRecords, /) -> Iterator[bytes]:
    """Yield lines; a game that begins elsewhere is a remark, which readers skip: there is no field for its start."""
    names = {move: game.format_move(move) for move in np.unique(records.moves).tolist() if move != game.pass_move}
    yield f"{_header(game)}\n".encode()
    for number in range(len(records)):
        moves = " ".join(names[move] for move in records.moves_of(number).tolist() if move in names)
        score, exact = (_number(float(column[number])) for column in (records.score, records.theoretical_score))
        fields = [moves, score, exact, str(int(records.theoretical_ply[number])) if exact else ""]
        players = [" ".join(records.name(column, number).split()) for column in _PLAYERS if column in records.names]
        line = "\t".join([*fields, *(players if any(players) else ())]) + "\n"
        start = records.start_of(number)
        is_elsewhere = start is not None and tuple(start) != tuple(game.initial_position)
        yield (f"# begins at {game.format_position(start)}: {line}" if is_elsewhere else line).encode()


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:g}"


def _recognizes(head: bytes) -> bool:
    return head.startswith(_HEADER.encode())


class _Line(NamedTuple):
    """One game as its line has it; ``problem`` says what is wrong with the line."""

    moves: list[int]
    score: float = math.nan
    exact: float = math.nan
    exact_ply: int = -1
    players: tuple[str, ...] = ()
    problem: str = ""


def _parsed(text: str, parse_move: Callable[[str], int], bounds: tuple[int, int]) -> _Line:
    fields = text.split("\t")
    try:
        if len(fields) not in (_FIELDS, _FIELDS + len(_PLAYERS)):
            raise BadInputError(f"it has {len(fields)} fields between tabs, expected {_FIELDS}, or 6 with players")
        players = tuple(fields[_FIELDS:])
        moves = [parse_move(word) for word in fields[0].split()]
        score = read_whole_number(fields[1], "its score", *bounds) if fields[1] else math.nan
        if not fields[2] and not fields[3]:
            return _Line(moves, score, players=players)
        exact = read_whole_number(fields[2], "its exact score", *bounds)
        what, most = "the number of moves before its exact score", min(len(moves), _MOST_PLIES)
        return _Line(moves, score, exact, read_whole_number(fields[3], what, 0, most), players)
    except BadInputError as error:
        return _Line([], problem=str(error))


def _read(game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int) -> Iterator[GameRecords]:
    parse_move = cache(game.parse_move)
    for block in line_blocks(path, lines=chunk_games, max_bytes=max_bytes):
        if block.first_number == 1 and (found := block.text(0)) != _header(game):
            raise BadInputError(f"{path}:1: expected {_header(game)!r}, got {found[:80]!r}")
        yield _checked(game, path, block, parse_move, skip_bad)


def _checked(game: Game, path: Path, block: LineBlock, parse_move: Callable[[str], int], skip_bad: bool) -> GameRecords:
    filled = np.flatnonzero(block.ends > block.starts).tolist()
    texts = {block.first_number + row: block.text(row) for row in filled}
    numbers = [number for number, text in texts.items() if text and not text.startswith("#")]
    lines = [_parsed(texts[number], parse_move, game.score_bounds) for number in numbers]
    bad = BadRecords(len(lines), lambda index: f"{path}:{numbers[index]}", skip_bad)
    bad.mark(np.array([bool(line.problem) for line in lines], np.bool_), lambda index: lines[index].problem)
    players: dict[str, NDArray[Any]] = {}
    names: dict[str, tuple[str, ...]] = {}
    if any(line.players for line in lines):
        known = sorted({name for line in lines for name in line.players if name})
        numbered = {"": -1} | {name: number for number, name in enumerate(known)}
        for place, column in enumerate(_PLAYERS):
            own = [numbered[line.players[place]] if line.players else -1 for line in lines]
            players[column], names[column] = np.array(own, np.int32), tuple(known)
    dtype: Any = np.uint8 if game.move_count <= 1 << 8 else np.int16
    moves: NDArray[Any] = np.array([move for line in lines for move in line.moves], dtype)
    records = GameRecords(
        moves=moves,
        offsets=np.cumsum([0, *(len(line.moves) for line in lines)], dtype=np.int64),
        score=np.array([line.score for line in lines], np.float32),
        theoretical_score=np.array([line.exact for line in lines], np.float32),
        theoretical_ply=np.array([line.exact_ply for line in lines], np.int16),
        extra={"number": np.array(numbers, np.int64), **players},
        names=names,
        source=path.name,
    )
    reached = replay(game, records)
    stored = np.where(reached.status == FINISHED, reached.final_score, np.nan).astype(np.float32)
    judged = validated(game, records, reached, stored, bad)
    return attrs.evolve(judged, score=np.where(np.isnan(judged.score), judged.extra["stored_score"], judged.score))


GAME_LINES = RecordFormat(
    name="games",
    description="Text that glem writes for every game: moves, score and an exact score, a game a line.",
    suffixes=(SUFFIX,),
    read=_read,
    recognizes=_recognizes,
    write=_written,
)
"""The format as :func:`glem.core.positions.reading.read_records` knows it."""
