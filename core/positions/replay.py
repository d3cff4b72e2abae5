"""Replaying game records by a game's own rules: every position of every game, and how each game ended."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of, store_position
from glem.core.compiling.kernels import compiled
from glem.core.game.game import Game, final_score, legal_moves, play
from glem.core.game.records import GameRecords

__all__ = ["FINISHED", "ILLEGAL", "UNFINISHED", "Outcomes", "Replay", "first_positions", "outcomes", "replay"]

FINISHED, UNFINISHED, ILLEGAL = 0, 1, 2
"""How the replay of a game ended: no move left, the record stops early, or it has an illegal move."""


@define(frozen=True, eq=False)
class Outcomes:
    """How each of G games with M recorded moves ended.

    Parameters
    ----------
    positions
        Position of columns [G]: the last position that was reached.
    side
        int8 [G]: side to move there, +1 the first player, -1 the second.
    status
        uint8 [G]: :data:`FINISHED`, :data:`UNFINISHED` or :data:`ILLEGAL`.
    illegal_at
        int32 [G]: index within its game of the first recorded move that is illegal; -1 if all are legal.
    final_score
        int16 [G]: score of a finished game for the first player, 0 for the others.
    move_side
        int8 [M]: side that made each recorded move; 0 from an illegal move on.
    """

    positions: Any
    side: NDArray[np.int8]
    status: NDArray[np.uint8]
    illegal_at: NDArray[np.int32]
    final_score: NDArray[np.int16]
    move_side: NDArray[np.int8]


@define(frozen=True, eq=False)
class Replay:
    """Every position of G games, P in all, in order; a game has one more position than plies.

    Parameters
    ----------
    positions
        Position of columns [P].
    record
        int32 [P]: index of the game.
    ply
        int16 [P]: plies made before, passes included; 0 for the starting position.
    side
        int8 [P]: side to move, +1 the first player, -1 the second.
    move
        int16 [P]: move made there, also the passes that the record leaves out; -1 in a game's last position.
    offsets
        int64 [G + 1]: the positions of game ``g`` are the rows ``offsets[g]`` to ``offsets[g + 1] - 1``.
    status, illegal_at, final_score
        As in :class:`Outcomes`; a game with an illegal move ends before it.
    """

    positions: Any
    record: NDArray[np.int32]
    ply: NDArray[np.int16]
    side: NDArray[np.int8]
    move: NDArray[np.int16]
    offsets: NDArray[np.int64]
    status: NDArray[np.uint8]
    illegal_at: NDArray[np.int32]
    final_score: NDArray[np.int16]


def _replay(
    rules: Any,
    starts: Any,
    start_side: Any,
    moves: Any,
    offsets: Any,
    pass_move: Any,
    buffer: Any,
    every_position: Any,
    columns: Any,
    record: Any,
    ply: Any,
    side: Any,
    played: Any,
    rows: Any,
    status: Any,
    illegal_at: Any,
    scores: Any,
    move_side: Any,
) -> None:
    """Replay all games, storing every position or only the last of each."""
    row = 0
    for game in range(offsets.shape[0] - 1):
        # One start stands for all games.
        begin = min(game, start_side.shape[0] - 1)
        position = position_at(starts, begin)
        mover = np.int64(start_side[begin])
        plies = 0
        place = offsets[game]
        end = offsets[game + 1]
        rows[game] = row
        while True:
            count = legal_moves(rules, position, buffer, 0)
            chosen = np.int32(-1)
            if place < end:
                wanted = np.int32(moves[place])
                for index in range(count):
                    if buffer[index] == wanted:
                        chosen = wanted
                        break
                if chosen >= 0:
                    move_side[place] = mover
                    place += 1
                elif count == 1 and buffer[0] == pass_move:
                    chosen = np.int32(pass_move)
                else:
                    status[game] = ILLEGAL
                    illegal_at[game] = place - offsets[game]
            elif count == 0:
                status[game] = FINISHED
                scores[game] = final_score(rules, position) * mover
            else:
                status[game] = UNFINISHED
            if chosen < 0 or every_position != 0:
                store_position(columns, row, position)
                record[row] = game
                ply[row] = plies
                side[row] = mover
                played[row] = chosen
                row += 1
            if chosen < 0:
                break
            position = play(rules, position, chosen)
            mover = -mover
            plies += 1
    rows[offsets.shape[0] - 1] = row


def first_positions(game: Game, records: GameRecords, start: Any = None) -> tuple[Any, NDArray[np.int8]]:
    """Positions in which the games begin, a position of columns [G] or [1] for all, and the sides to move there."""
    columns = game.empty_columns(0)
    if start is None and records.starts is not None and records.start_side is not None and len(records):
        starts = (np.ascontiguousarray(c, e.dtype) for c, e in zip(records.starts, columns, strict=True))
        return game.position_type(*starts), np.ascontiguousarray(records.start_side, np.int8)
    position = game.initial_position if start is None else start
    starts = (np.full(1, value, column.dtype) for value, column in zip(position, columns, strict=True))
    return game.position_type(*starts), np.ones(1, np.int8)


def _run(game: Game, records: GameRecords, start: Any, *, every_position: bool) -> tuple[Replay, NDArray[np.int8]]:
    games = len(records)
    moves = np.ascontiguousarray(records.moves, np.int16)
    # A pass needs a recorded move after it, so passes at most double the plies. Pages never written cost nothing.
    rows = 2 * len(moves) + games if every_position else games
    replayed = Replay(
        positions=game.position_type(*(np.empty(rows, column.dtype) for column in game.empty_columns(0))),
        record=np.empty(rows, np.int32),
        ply=np.empty(rows, np.int16),
        side=np.empty(rows, np.int8),
        move=np.empty(rows, np.int16),
        offsets=np.zeros(games + 1, np.int64),
        status=np.zeros(games, np.uint8),
        illegal_at=np.full(games, -1, np.int32),
        final_score=np.zeros(games, np.int16),
    )
    move_side = np.zeros(len(moves), np.int8)
    starts, start_side = first_positions(game, records, start)
    compiled(_replay)(
        game.rules,
        starts,
        start_side,
        moves,
        np.ascontiguousarray(records.offsets, np.int64),
        np.int64(-1 if game.pass_move is None else game.pass_move),
        np.zeros(game.max_moves, np.int32),
        np.int64(every_position),
        replayed.positions,
        replayed.record,
        replayed.ply,
        replayed.side,
        replayed.move,
        replayed.offsets,
        replayed.status,
        replayed.illegal_at,
        replayed.final_score,
        move_side,
    )
    return replayed, move_side


def replay(game: Game, records: GameRecords, *, start: Any = None) -> Replay:
    """Replay games move by move and keep every position.

    A move of the record that is illegal ends its game there, with status :data:`ILLEGAL`; so does a move after
    the game is over. Where ``game.pass_move`` is the only legal move and the record has another, the pass is
    inserted and counts as a ply.

    Parameters
    ----------
    game
        Whose rules count.
    records
        The games; scores are not looked at.
    start
        Position in which every game starts, the first player to move; if not given, where the records say, by default
        the initial position.

    Returns
    -------
    Replay
        About 25 bytes for each position of two 64-bit fields.
    """
    replayed, _ = _run(game, records, start, every_position=True)
    count = int(replayed.offsets[-1])
    return Replay(
        positions=rows_of(replayed.positions, slice(count)),
        record=replayed.record[:count],
        ply=replayed.ply[:count],
        side=replayed.side[:count],
        move=replayed.move[:count],
        offsets=replayed.offsets,
        status=replayed.status,
        illegal_at=replayed.illegal_at,
        final_score=replayed.final_score,
    )


def outcomes(game: Game, records: GameRecords, *, start: Any = None) -> Outcomes:
    """Replay games as :func:`replay` does and keep only how each of them ended."""
    replayed, move_side = _run(game, records, start, every_position=False)
    return Outcomes(
        positions=replayed.positions,
        side=replayed.side,
        status=replayed.status,
        illegal_at=replayed.illegal_at,
        final_score=replayed.final_score,
        move_side=move_side,
    )
