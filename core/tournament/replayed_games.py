"""Games of a tournament's record, replayed: what it says of a game must be what the moves say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glem.core.compiling.columns import position_at
from glem.core.game.draws import drawn_by
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.replay import FINISHED, ILLEGAL, Replay, replay
from glem.core.tournament.games import DRAWN_ENDS, End, PlayedGame
from glem.core.tournament.transcripts import start_columns

__all__ = ["contradictions"]


def contradictions(game: Game, games: Sequence[PlayedGame]) -> list[str]:
    """Tell what is wrong with each game, "" where its moves are legal and end as it says.

    That an adjudicated score is the exact one is believed, if it is a score of the game.
    """
    moves = [[*one.opening.moves, *(choice.move for choice in one.moves)] for one in games]
    records = GameRecords.from_moves(
        np.array([move for line in moves for move in line], np.int16),
        np.cumsum([0, *map(len, moves)], dtype=np.int64),
        starts=start_columns(game, games),
        start_side=np.ones(len(games), np.int8),
    )
    played = replay(game, records)
    return [_contradiction(game, one, played, index) for index, one in enumerate(games)]


def _contradiction(game: Game, one: PlayedGame, played: Replay, index: int) -> str:
    rows = range(int(played.offsets[index]), int(played.offsets[index + 1]))
    made = len(one.opening.moves) + len(one.moves)
    if played.status[index] == ILLEGAL:
        return f"move {int(played.illegal_at[index]) + 1} is illegal"
    if len(rows) != made + 1:
        return "a forced pass is left out"
    if (played.status[index] == FINISHED) != (one.end == End.FINISHED):
        return f"it ended as {one.end!s}, but its moves {'leave' if one.end == End.FINISHED else 'end'} the game"
    score, lost = one.score, None
    if one.end == End.FINISHED:
        score = int(played.final_score[index])
    elif one.end in DRAWN_ENDS.values():
        positions = [position_at(played.positions, row) for row in rows]
        draw = drawn_by(game, positions[-1], positions[:-1])
        if draw is None or DRAWN_ENDS[draw] != one.end:
            return f"it ended as {one.end!s}, which its moves do not show"
        score = 0
    elif one.end == End.ADJUDICATED:
        low, high = game.score_bounds
        if score is None or not low <= score <= high:
            return f"its adjudicated score is {score}, expected one from {low} to {high}"
    else:
        # Who used up the time has moved last, whose program failed was to move.
        score, lost = None, (made if one.end == End.FAILURE else made - 1) % 2
    if one.score != score:
        return f"its score is given as {one.score}, but its moves give {score}"
    result = np.sign(score) if score is not None else 2 * (lost or 0) - 1
    return "" if one.result == result else f"its result is given as {one.result}, but its end gives {result}"
