"""Games as they were played, made into records that any format's writer takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define

from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.players.spec import MoveChoice
from glem.core.tournament.games import End, PlayedGame
from glem.core.tournament.openings import Opening

__all__ = ["Transcript", "records_of_openings", "records_of_transcripts", "transcript_of"]


@define(frozen=True)
class Transcript:
    """A game as it was played; its first player is the one who moves in the game's initial position.

    Parameters
    ----------
    moves
        Its moves, passes included.
    choices
        What its player said of each move; None where nothing is known.
    players
        Names of the first and of the second player.
    opening_plies
        How many first moves were given, not chosen.
    score
        Score from the first player's view; None where it is unknown.
    is_final
        Whether the game ended with that score; else it is the exact one of the position that the moves lead to.
    result
        1, 0 or -1 from the first player's view; None where it is unknown.
    end
        Why it ended, a value of :class:`~glem.core.tournament.games.End`; "" for a game that was left.
    start
        Its first position; None for the game's own.
    first_began
        Whether the first player was to move there.
    """

    moves: Sequence[int]
    choices: Sequence[MoveChoice | None]
    players: tuple[str, str]
    opening_plies: int = 0
    score: float | None = None
    is_final: bool = True
    result: int | None = None
    end: str = ""
    start: Any = None
    first_began: bool = True


def transcript_of(game: Game, played: PlayedGame) -> Transcript:
    """Transcript of a game between players, whose first one is whoever moved first."""
    start = played.opening.start
    first_began = not start or game.first_moves_in(start)
    sign = 1 if first_began else -1
    return Transcript(
        moves=(*played.opening.moves, *(choice.move for choice in played.moves)),
        choices=(*(None for _ in played.opening.moves), *played.moves),
        players=played.players if first_began else (played.players[1], played.players[0]),
        opening_plies=len(played.opening.moves),
        score=None if played.score is None else sign * played.score,
        is_final=played.end != End.ADJUDICATED,
        result=sign * played.result,
        end=str(played.end),
        start=game.parse_position(start) if start else None,
        first_began=first_began,
    )


def records_of_openings(game: Game, openings: Iterable[Opening]) -> GameRecords:
    """Make records of openings alone, to try whether a format has room for games that begin so."""
    names = ("", "")
    played = (PlayedGame(0, names, opening, (), None, 0, End.FINISHED, (0, 0)) for opening in openings)
    return records_of_transcripts(game, [transcript_of(game, one) for one in played])


def records_of_transcripts(game: Game, transcripts: Sequence[Transcript]) -> GameRecords:
    """Make records of games, with all that :class:`~glem.core.game.game.WriteRecords` tells of.

    Forced passes are left out. The theoretical score is the first exact one that a player, or whoever ended the game,
    knew.
    """
    moves: list[int] = []
    notes: list[tuple[float, float, int, float, bool]] = []
    offsets = [0]
    exact: list[tuple[float, int]] = []
    for one in transcripts:
        known = (np.nan, -1)
        for place, (move, choice) in enumerate(zip(one.moves, one.choices, strict=True)):
            if known[1] < 0 and choice is not None and choice.exact and choice.score is not None:
                is_first = one.first_began == (place % 2 == 0)
                known = (choice.score if is_first else -choice.score, len(moves) - offsets[-1])
            if move != game.pass_move:
                moves.append(move)
                notes.append((*_told(choice), place < one.opening_plies))
        if known[1] < 0 and one.score is not None and not one.is_final:
            known = (one.score, len(moves) - offsets[-1])
        offsets.append(len(moves))
        exact.append(known)
    ends = tuple(dict.fromkeys(one.end for one in transcripts))
    players = tuple(dict.fromkeys(name for one in transcripts for name in one.players))
    starts = None
    if any(one.start is not None for one in transcripts):
        positions = [game.initial_position if one.start is None else one.start for one in transcripts]
        columns = zip(*positions, strict=True)
        starts = game.position_type(
            *(np.array(column, like.dtype) for column, like in zip(columns, game.empty_columns(0), strict=True))
        )
    dtype: Any = np.uint8 if game.move_count <= 1 << 8 else np.int16
    score, result, depth, seconds, book = zip(*notes, strict=True) if notes else ((), (), (), (), ())
    return GameRecords(
        moves=np.array(moves, dtype),
        offsets=np.array(offsets, np.int64),
        score=_floats(one.score if one.is_final else None for one in transcripts),
        theoretical_score=np.array([value for value, _ in exact], np.float32),
        theoretical_ply=np.array([ply for _, ply in exact], np.int16),
        extra={
            "result": _floats(one.result for one in transcripts),
            "end": np.array([ends.index(one.end) for one in transcripts], np.int32),
            "first_player": np.array([players.index(one.players[0]) for one in transcripts], np.int32),
            "second_player": np.array([players.index(one.players[1]) for one in transcripts], np.int32),
        },
        names={"end": ends, "first_player": players, "second_player": players},
        starts=starts,
        start_side=None if starts is None else np.array([1 if one.first_began else -1 for one in transcripts], np.int8),
        move_columns={
            "comment_score": np.array(score, np.float32),
            "known_result": np.array(result, np.float32),
            "depth": np.array(depth, np.int16),
            "seconds": np.array(seconds, np.float32),
            "book": np.array(book, np.bool_),
        },
    )


def _told(choice: MoveChoice | None) -> tuple[float, float, int, float]:
    if choice is None:
        return np.nan, np.nan, 0, 0.0
    score, result = (np.nan if value is None else float(value) for value in (choice.score, choice.result))
    return score, result, choice.depth, choice.seconds


def _floats(values: Iterable[float | None]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array([np.nan if value is None else value for value in values], np.float32)
