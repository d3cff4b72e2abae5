"""Games as they were played, made into records that any format's writer takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import store_position
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.players.player import MoveChoice
from glem.core.tournament.games import End, PlayedGame
from glem.core.tournament.openings import Opening

__all__ = ["records_of_games", "records_of_openings", "start_columns"]


def records_of_openings(game: Game, openings: Iterable[Opening]) -> GameRecords:
    """Make records of openings alone, to try whether a format has room for games that begin so."""
    names = ("", "")
    return records_of_games(game, [PlayedGame(0, names, one, (), None, 0, End.FINISHED, (0, 0)) for one in openings])


def records_of_games(game: Game, games: Sequence[PlayedGame]) -> GameRecords:
    """Make records of games, with all that :class:`~glem.core.game.game.WriteRecords` tells of.

    The first player of a record is the one who moves in the game's initial position. Forced passes are left out. The
    theoretical score is the first exact one that a player, or whoever ended the game, knew.
    """
    # Where there is no first position, whoever moves first is the first player.
    texts = {one.opening.start for one in games}
    began = {text: not text or game.first_moves_in(text) for text in texts}
    signs = [1 if began[one.opening.start] else -1 for one in games]
    signed = list(zip(games, signs, strict=True))
    choices: list[MoveChoice] = []
    book: list[bool] = []
    offsets = [0]
    exact: list[tuple[float, int]] = []
    for one, sign in signed:
        known = (np.nan, -1)
        given = [MoveChoice(move) for move in one.opening.moves]
        for place, choice in enumerate((*given, *one.moves)):
            if known[1] < 0 and choice.exact and choice.score is not None:
                known = (choice.score * sign * (-1 if place % 2 else 1), len(choices) - offsets[-1])
            if choice.move != game.pass_move:
                choices.append(choice)
                book.append(place < len(given))
        if known[1] < 0 and one.score is not None and one.end == End.ADJUDICATED:
            known = (sign * one.score, len(choices) - offsets[-1])
        offsets.append(len(choices))
        exact.append(known)
    ends = tuple(dict.fromkeys(str(one.end) for one in games))
    named = [one.players[::sign] for one, sign in signed]
    players = tuple(dict.fromkeys(name for names in named for name in names))
    begin_elsewhere = any(texts)
    final = [None if one.end == End.ADJUDICATED or one.score is None else sign * one.score for one, sign in signed]
    return GameRecords(
        moves=np.array([choice.move for choice in choices], np.uint8 if game.move_count <= 1 << 8 else np.int16),
        offsets=np.array(offsets, np.int64),
        score=_floats(final),
        theoretical_score=np.array([value for value, _ in exact], np.float32),
        theoretical_ply=np.array([ply for _, ply in exact], np.int16),
        extra={
            "result": _floats([sign * one.result if one.end else None for one, sign in signed]),
            "end": np.array([ends.index(str(one.end)) for one in games], np.int32),
            "first_player": np.array([players.index(first) for first, _ in named], np.int32),
            "second_player": np.array([players.index(second) for _, second in named], np.int32),
        },
        names={"end": ends, "first_player": players, "second_player": players},
        starts=start_columns(game, games) if begin_elsewhere else None,
        start_side=np.array(signs, np.int8) if begin_elsewhere else None,
        move_columns={
            "comment_score": _floats([choice.score for choice in choices]),
            "known_result": _floats([choice.result for choice in choices]),
            "depth": np.array([choice.depth for choice in choices], np.int16),
            "seconds": np.array([choice.seconds for choice in choices], np.float32),
            "book": np.array(book, np.bool_),
        },
    )


def start_columns(game: Game, games: Sequence[PlayedGame]) -> Any:
    """Columns of the positions with which games begin, before their openings."""
    texts = {one.opening.start for one in games}
    known = {text: game.parse_position(text) if text else game.initial_position for text in texts}
    starts = game.empty_columns(len(games))
    for row, one in enumerate(games):
        store_position(starts, row, known[one.opening.start])
    return starts


def _floats(values: Sequence[float | None]) -> NDArray[np.float32]:
    return np.array([np.nan if value is None else value for value in values], np.float32)
