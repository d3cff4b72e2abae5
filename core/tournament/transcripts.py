"""Games as they were played, made into records that any format's writer takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.players.player import MoveChoice
from glem.core.tournament.games import End, PlayedGame
from glem.core.tournament.openings import Opening

__all__ = ["records_of_games", "records_of_openings"]


def records_of_openings(game: Game, openings: Iterable[Opening]) -> GameRecords:
    """Make records of openings alone, to try whether a format has room for games that begin so."""
    names = ("", "")
    return records_of_games(game, [PlayedGame(0, names, one, (), None, 0, End.FINISHED, (0, 0)) for one in openings])


def records_of_games(game: Game, games: Sequence[PlayedGame]) -> GameRecords:
    """Make records of games, with all that :class:`~glem.core.game.game.WriteRecords` tells of.

    The first player of a record is the one who moves in the game's initial position. Forced passes are left out. The
    theoretical score is the first exact one that a player, or whoever ended the game, knew.
    """
    texts = {one.opening.start for one in games}
    # Where there is no first position, whoever moves first is the first player.
    began = {text: not text or game.first_moves_in(text) for text in texts}
    signs = [1 if began[one.opening.start] else -1 for one in games]
    moves: list[int] = []
    notes: list[tuple[float, float, int, float, bool]] = []
    offsets = [0]
    exact: list[tuple[float, int]] = []
    for one, sign in zip(games, signs, strict=True):
        known = (np.nan, -1)
        given = [MoveChoice(move) for move in one.opening.moves]
        for place, choice in enumerate((*given, *one.moves)):
            if known[1] < 0 and choice.exact and choice.score is not None:
                known = (choice.score * sign * (-1 if place % 2 else 1), len(moves) - offsets[-1])
            if choice.move != game.pass_move:
                moves.append(choice.move)
                notes.append((*_told(choice), place < len(given)))
        if known[1] < 0 and one.score is not None and one.end == End.ADJUDICATED:
            known = (sign * one.score, len(moves) - offsets[-1])
        offsets.append(len(moves))
        exact.append(known)
    ends = tuple(dict.fromkeys(str(one.end) for one in games))
    named = [one.players[::sign] for one, sign in zip(games, signs, strict=True)]
    players = tuple(dict.fromkeys(name for names in named for name in names))
    starts = None
    if any(texts):
        positions = {text: game.parse_position(text) if text else game.initial_position for text in texts}
        columns = zip(*(positions[one.opening.start] for one in games), strict=True)
        starts = game.position_type(
            *(np.array(column, like.dtype) for column, like in zip(columns, game.empty_columns(0), strict=True))
        )
    dtype: Any = np.uint8 if game.move_count <= 1 << 8 else np.int16
    score, result, depth, seconds, book = zip(*notes, strict=True) if notes else ((), (), (), (), ())
    final = [None if one.end == End.ADJUDICATED else one.score for one in games]
    results = [one.result if one.end else None for one in games]
    return GameRecords(
        moves=np.array(moves, dtype),
        offsets=np.array(offsets, np.int64),
        score=_floats(final, signs),
        theoretical_score=np.array([value for value, _ in exact], np.float32),
        theoretical_ply=np.array([ply for _, ply in exact], np.int16),
        extra={
            "result": _floats(results, signs),
            "end": np.array([ends.index(str(one.end)) for one in games], np.int32),
            "first_player": np.array([players.index(first) for first, _ in named], np.int32),
            "second_player": np.array([players.index(second) for _, second in named], np.int32),
        },
        names={"end": ends, "first_player": players, "second_player": players},
        starts=starts,
        start_side=None if starts is None else np.array(signs, np.int8),
        move_columns={
            "comment_score": np.array(score, np.float32),
            "known_result": np.array(result, np.float32),
            "depth": np.array(depth, np.int16),
            "seconds": np.array(seconds, np.float32),
            "book": np.array(book, np.bool_),
        },
    )


def _told(choice: MoveChoice) -> tuple[float, float, int, float]:
    score, result = (np.nan if value is None else float(value) for value in (choice.score, choice.result))
    return score, result, choice.depth, choice.seconds


def _floats(values: Sequence[int | None], signs: Sequence[int]) -> NDArray[np.float32]:
    pairs = zip(values, signs, strict=True)
    return np.array([np.nan if value is None else sign * value for value, sign in pairs], np.float32)
