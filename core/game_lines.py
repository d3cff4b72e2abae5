"""Text files of games (``.games``) that glem writes and reads for every game.

After the line ``# glem games 1 NAME`` each line is a game, in four fields between tabs: the moves as the game writes
them, between blanks and without forced passes; the final score from the first player's view; the exact score of one
of the positions, from the same view, and the number of moves before it. What is not known is left empty. Lines that
are empty or begin with ``#`` are skipped. Where a game can be drawn although moves are left (:mod:`glem.core.draws`), a
final score of 0 is believed; any other one must be that of the last position.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files import atomic_path
from glem.core.game import Game
from glem.core.record_files import LineBlock, line_blocks, open_packed
from glem.core.record_validation import BadRecords, validated
from glem.core.records import GameRecords, RecordFormat
from glem.core.replay import FINISHED, outcomes

__all__ = [
    "GAME_LINES",
    "SUFFIX",
    "SingleGame",
    "game_in_header",
    "reads_transcripts",
    "write_games",
    "write_single_games",
]

SUFFIX = ".games"

_HEADER = "# glem games 1"
_FIELDS = 4
_SAMPLE_MOVES = 6

_DRAWS = {"is_drawn", "reversible_plies"}
"""Operations of games that may be drawn although moves are left."""


def _header(game: Game) -> str:
    return f"{_HEADER} {game.name}"


def game_in_header(head: bytes) -> str | None:
    """Name of the game that the first bytes of a file say it holds; None where it is not such a file."""
    first, _, _ = head.partition(b"\n")
    text = first.decode("utf-8", "replace").rstrip("\r")
    return text.removeprefix(f"{_HEADER} ") if text.startswith(f"{_HEADER} ") else None


def write_games(game: Game, path: str | os.PathLike[str], records: GameRecords) -> None:
    """Write a file of games; equal games give equal files.

    Parameters
    ----------
    game
        The game.
    path
        Replaced only when all is written; packed if it ends in ``.gz`` or ``.xz``.
    records
        The games; of their further columns nothing is kept.
    """
    names = {move: game.format_move(move) for move in np.unique(records.moves).tolist() if move != game.pass_move}
    lines = [_header(game)]
    for number in range(len(records)):
        moves = " ".join(names[move] for move in records.moves_of(number).tolist() if move in names)
        score, exact = (_number(float(column[number])) for column in (records.score, records.theoretical_score))
        lines.append(f"{moves}\t{score}\t{exact}\t{int(records.theoretical_ply[number]) if exact else ''}")
    with atomic_path(path) as temporary, open_packed(temporary) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


@define(frozen=True)
class SingleGame:
    """A game that was just played, to be written.

    Parameters
    ----------
    moves
        Its moves, passes included.
    score
        Score from the first player's view; None where it is unknown.
    is_over
        Whether the moves end the game; else the score is the exact one of the position that they lead to.
    start
        Text of its first position; "" where that is the game's own.
    """

    moves: tuple[int, ...]
    score: int | None = None
    is_over: bool = True
    start: str = ""


def write_single_games(game: Game, path: str | os.PathLike[str], games: Iterable[SingleGame]) -> None:
    """Write games that were just played, in their order; arguments as in :func:`write_games`.

    Files of games have no field for a first position: a game that begins elsewhere becomes a remark, which readers
    skip.
    """
    lines = [_header(game)]
    initial = game.format_position(game.initial_position)
    for single in games:
        names = [game.format_move(move) for move in single.moves if move != game.pass_move]
        score = "" if single.score is None else str(single.score)
        fields = f"{score}\t\t" if single.is_over or not score else f"\t{score}\t{len(names)}"
        line = f"{' '.join(names)}\t{fields}"
        lines.append(line if single.start in {"", initial} else f"# begins at {single.start}: {line}")
    with atomic_path(path) as temporary, open_packed(temporary) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def reads_transcripts(game: Game) -> bool:
    """Whether a record format of the game itself reads bare lines of moves, as people write games down."""
    position = game.initial_position
    names: list[str] = []
    while len(names) < _SAMPLE_MOVES and not game.is_over(position):
        move = game.list_legal_moves(position)[0]
        names.append(game.format_move(move))
        position = game.play(position, move)
    line = f"{' '.join(names)}\n".encode()
    return any(known.recognizes(line) for known in game.record_formats.values())


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:g}"


def _recognizes(head: bytes) -> bool:
    return head.startswith(_HEADER.encode())


class _Line:
    """One game as its line has it; ``problem`` says what is wrong with the line."""

    def __init__(self, text: str, moves_by_name: Callable[[str], int]) -> None:
        self.moves: list[int] = []
        self.score = self.exact = float("nan")
        self.exact_ply = -1
        self.problem = ""
        fields = text.split("\t")
        if len(fields) != _FIELDS:
            self.problem = f"it has {len(fields)} fields between tabs, expected {_FIELDS}"
            return
        try:
            self.moves = [moves_by_name(word) for word in fields[0].split()]
            if fields[1]:
                self.score = float(fields[1])
            if fields[2]:
                self.exact, self.exact_ply = float(fields[2]), int(fields[3])
        except (ValueError, BadInputError) as error:
            self.problem, self.moves = str(error), []
        if self.exact_ply > len(self.moves):
            self.problem = f"its exact score is that after {self.exact_ply} of {len(self.moves)} moves"
            self.exact_ply = -1


class _MoveNames(dict[str, int]):
    """Moves by name, each name parsed once."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self._parse = game.parse_move

    def __missing__(self, name: str) -> int:
        self[name] = self._parse(name)
        return self[name]


def _read(game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int) -> Iterator[GameRecords]:
    names = _MoveNames(game)
    for block in line_blocks(path, lines=chunk_games, max_bytes=max_bytes):
        if block.first_number == 1 and (found := block.text(0)) != _header(game):
            raise BadInputError(f"{path}:1: expected {_header(game)!r}, got {found[:80]!r}")
        yield _checked(game, path, block, names, skip_bad=skip_bad)


def _checked(game: Game, path: Path, block: LineBlock, names: _MoveNames, *, skip_bad: bool) -> GameRecords:
    filled = np.flatnonzero(block.ends > block.starts).tolist()
    texts = {block.first_number + row: block.text(row) for row in filled}
    numbers = [number for number, text in texts.items() if text and not text.startswith("#")]
    lines = [_Line(texts[number], names.__getitem__) for number in numbers]
    bad = BadRecords(len(lines), lambda index: f"{path}:{numbers[index]}")
    bad.mark(np.array([bool(line.problem) for line in lines], np.bool_), lambda index: lines[index].problem)
    dtype: Any = np.uint8 if game.move_count <= 1 << 8 else np.int16
    moves: NDArray[Any] = np.array([move for line in lines for move in line.moves], dtype)
    records = GameRecords(
        moves=moves,
        offsets=np.cumsum([0, *(len(line.moves) for line in lines)], dtype=np.int64),
        score=np.array([line.score for line in lines], np.float32),
        theoretical_score=np.array([line.exact for line in lines], np.float32),
        theoretical_ply=np.array([line.exact_ply for line in lines], np.int16),
        extra={"number": np.array(numbers, np.int64)},
        source=path.name,
    )
    reached = outcomes(game, records)
    stored = np.where(reached.status == FINISHED, reached.final_score, np.nan).astype(np.float32)
    judged = validated(game, records, reached, stored, bad, skip_bad=skip_bad)
    if not _DRAWS & game.search_functions.keys():
        return judged
    drawn = np.isnan(judged.score) & (judged.extra["stored_score"] == 0)
    return attrs.evolve(judged, score=np.where(drawn, np.float32(0), judged.score))


GAME_LINES = RecordFormat(
    name="games",
    description="Text that glem writes for every game: moves, score and an exact score, a game a line.",
    suffixes=(SUFFIX,),
    read=_read,
    recognizes=_recognizes,
)
"""The format as :func:`glem.core.records.read_records` knows it."""
