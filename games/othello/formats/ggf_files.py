"""Files of games in the Generic Game Format (:mod:`.ggf`), one or more a line, as GGS keeps them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from attrs import define, field

from glem.core.errors import BadInputError
from glem.core.files.packed import MAX_BYTES, LineBlock, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import CHUNK_SIZE, GameRecords
from glem.core.positions.replay import replay
from glem.core.positions.validation import BadRecords
from glem.games.othello import rules
from glem.games.othello.formats.ggf import game_of, parse_move_item, tags_of
from glem.games.othello.formats.score_conventions import Convention
from glem.games.othello.formats.text_fields import not_empty
from glem.games.othello.formats.transcripts import validated_games
from glem.games.othello.notation import format_position, format_square

__all__ = ["read_ggf", "recognizes", "write_ggf"]

_GAME = re.compile(rb"[\s\d]*\(;[^\]]*\bGM\[othello", re.IGNORECASE)
_RESULT = re.compile(r"\s*([+-]?\d{1,2}(?:\.\d*)?)(?::[a-z])?\s*")
_BRACKETS = str.maketrans("[]", "()")
_PASSING = "PA"
_ENDS = {"time": ":t", "failure": ":l", "resigned": ":r"}
_MOST = 64
_LEAST_SECONDS = 0.0005


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like GGF of Othello."""
    return _GAME.match(head) is not None


@define
class _Game:
    """One game as its tags have it; ``problem`` says what is wrong with it."""

    line: int
    moves: list[int] = field(factory=list)
    sides: list[int] = field(factory=list)
    position: rules.Position = rules.INITIAL_POSITION
    start_side: int = 1
    score: float = math.nan
    players: tuple[str, str] = ("", "")
    problem: str = ""


def _games(line: int, text: str) -> Iterator[_Game]:
    at = 0
    while text[at:].strip():
        one = _Game(line)
        try:
            tags, at = tags_of(text, at)
            begun = game_of(tags)
            one.position, one.start_side = begun.position, 1 if begun.black_to_move else -1
            values = dict(tags)
            result = _RESULT.fullmatch(values.get("RE", ""))
            one.score = math.nan if result is None else float(result[1])
            one.players = (values.get("PB", ""), values.get("PW", ""))
            items = [(1 if name == "B" else -1, *parse_move_item(value)) for name, value in tags if name in {"B", "W"}]
            one.sides, one.moves = [side for side, _, _ in items], [move for _, move, _ in items]
        except BadInputError as error:
            one.problem, at = str(error), len(text)
        yield one


def read_ggf(
    game: Game,
    path: str | os.PathLike[str],
    /,
    *,
    skip_bad: bool = False,
    chunk_games: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[GameRecords]:
    """Read and check games in GGF, also from ``.gz``, ``.xz`` and ``.zst``.

    A game is bad when it is no game of Othello on 64 squares, has an illegal move or one of the wrong side, or a result
    that a finished game's moves contradict. Arguments and errors are those of
    :func:`glem.games.othello.formats.transcripts.read_transcripts`.

    Yields
    ------
    GameRecords
        Columns ``number`` (of the line), ``black_player``, ``white_player`` and ``stored_score``.
    """
    blocks = line_blocks(path, lines=chunk_games, max_bytes=max_bytes)
    records = _records(game, Path(path), blocks, skip_bad)
    return not_empty(records, path, "no games; expected lines like (;GM[Othello]...B[f5]W[d6]...;)")


def _records(game: Game, path: Path, blocks: Iterable[LineBlock], skip_bad: bool) -> Iterator[GameRecords]:
    convention: Convention | None = None
    for block in blocks:
        lines = zip(block.starts, block.ends, strict=True)
        texts = [block.data[start:end].tobytes().decode("utf-8", "replace") for start, end in lines]
        games = [one for number, text in enumerate(texts, block.first_number) for one in _games(number, text)]
        records, convention = _checked(game, path, games, convention, skip_bad=skip_bad)
        yield records


def _checked(
    game: Game, path: Path, games: list[_Game], convention: Convention | None, *, skip_bad: bool
) -> tuple[GameRecords, Convention | None]:
    bad = BadRecords(len(games), lambda index: f"{path}:{games[index].line}")
    bad.mark(np.array([bool(one.problem) for one in games], np.bool_), lambda index: games[index].problem)
    names = tuple(dict.fromkeys(name for one in games for name in one.players))
    boards = np.array([one.position for one in games], np.uint64).reshape(-1, 2)
    records = GameRecords.from_moves(
        np.array([move for one in games for move in one.moves], np.uint8),
        np.cumsum([0, *(len(one.moves) for one in games)], dtype=np.int64),
        np.array([one.score for one in games], np.float32),
        extra={
            "number": np.array([one.line for one in games], np.int64),
            **{
                column: np.array([names.index(one.players[place]) for one in games], np.int32)
                for place, column in enumerate(("black_player", "white_player"))
            },
        },
        names={"black_player": names, "white_player": names},
        starts=game.position_type(*boards.T),
        start_side=np.array([one.start_side for one in games], np.int8),
        source=path.name,
    )
    sides = np.array([side for one in games for side in one.sides], np.int8)
    return validated_games(game, records, sides, convention, bad, skip_bad=skip_bad)


def write_ggf(game: Game, records: GameRecords, /) -> Iterator[bytes]:
    """Yield a line per game, with the players, the result, and of each move what its player expected and its seconds.

    Parameters
    ----------
    game
        Othello.
    records
        The games; see :class:`~glem.core.game.game.WriteRecords`.
    """
    reached = replay(game, records)
    for index in range(len(records)):
        start = game.initial_position if records.starts is None else records.start_of(index)
        side = 1 if records.start_side is None else int(records.start_side[index])
        board = format_position(start, black_to_move=side > 0).translate(str.maketrans("X", "*"))
        tags = {
            "GM": "Othello",
            "PC": "glem",
            "PB": _name(records, index, "first_player"),
            "PW": _name(records, index, "second_player"),
            "RE": _result(records, index),
            "TY": "8",
            "BO": f"8 {board}",
        }
        begin, end = int(records.offsets[index]), int(records.offsets[index + 1])
        moves = "".join(_move(records, place, int(reached.move_side[place])) for place in range(begin, end))
        heading = "".join(f"{name}[{value}]" for name, value in tags.items())
        yield f"(;{heading}{moves};)\n".encode()


def _name(records: GameRecords, index: int, column: str) -> str:
    if column not in records.names:
        return "?"
    return records.names[column][int(records.extra[column][index])].translate(_BRACKETS) or "?"


def _result(records: GameRecords, index: int) -> str:
    score, ending = float(records.score[index]), ""
    if math.isnan(score) and records.theoretical_ply[index] == records.lengths[index]:
        score = float(records.theoretical_score[index])
    if math.isnan(score) and "result" in records.extra:
        score = _MOST * float(records.extra["result"][index])
        ending = _ENDS.get(_name(records, index, "end"), "")
    return "?" if math.isnan(score) else f"{score:+.3f}{ending}"


def _move(records: GameRecords, place: int, side: int) -> str:
    move = int(records.moves[place])
    parts = [_PASSING if move == rules.PASS else format_square(move).upper()]
    notes = records.move_columns
    if notes:
        score, seconds = float(notes["comment_score"][place]), float(notes["seconds"][place])
        parts += [f"{score:.2f}" if math.isfinite(score) else "", f"{seconds:.3f}" if seconds >= _LEAST_SECONDS else ""]
    return f"{'B' if side > 0 else 'W'}[{'/'.join(parts).rstrip('/')}]"
