"""Replaying game records by a game's own rules: every position of every game, and how each game ended."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of, store_position
from glem.core.compiling.kernels import compiled, kernel
from glem.core.game.game import Game, final_score, legal_moves, play
from glem.core.game.records import GameRecords

FINISHED, UNFINISHED, ILLEGAL = 0, 1, 2
"""How the replay of a game ended: no move left, the record stops early, or it has an illegal move."""


class Replay(NamedTuple):
    """Every position of G games with M recorded moves, P in all, in order.

    Parameters
    ----------
    positions
        Position of columns [P]. A game has one more position than plies.
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
    status
        uint8 [G]: :data:`FINISHED`, :data:`UNFINISHED` or :data:`ILLEGAL`; a game with an illegal move ends before it.
    illegal_at
        int32 [G]: index within its game of the first recorded move that is illegal; -1 if all are legal.
    final_score
        int16 [G]: score of a finished game for the first player, 0 for the others.
    move_side
        int8 [M]: side that made each recorded move; 0 from an illegal move on.
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
    move_side: NDArray[np.int8]

    @property
    def last(self) -> NDArray[np.int64]:
        """Row of each game's last position: int64 [G]."""
        return self.offsets[1:] - 1

    @property
    def finished(self) -> NDArray[np.int64]:
        """Rows of the positions in which a game is over."""
        rows: NDArray[np.int64] = self.last[self.status == FINISHED]
        return rows

    def select(self, games: NDArray[np.int64], moves: NDArray[np.int64]) -> Replay:
        """Pick some of the games by their numbers; ``moves`` are the numbers of their recorded moves."""
        lengths = np.diff(self.offsets)[games]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        rows = np.repeat(self.offsets[games] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Replay(
            positions=rows_of(self.positions, rows),
            record=np.repeat(np.arange(len(games), dtype=np.int32), lengths),
            ply=self.ply[rows],
            side=self.side[rows],
            move=self.move[rows],
            offsets=offsets,
            status=self.status[games],
            illegal_at=self.illegal_at[games],
            final_score=self.final_score[games],
            move_side=self.move_side[moves],
        )


def _replay(
    rules: Any, starts: Any, start_side: Any, moves: Any, offsets: Any, pass_move: Any, buffer: Any, into: Any
) -> None:
    """Replay all games, storing every position in the arrays of a :class:`Replay`."""
    row = 0
    for game in range(offsets.shape[0] - 1):
        # One start stands for all games.
        begin = min(game, start_side.shape[0] - 1)
        position = position_at(starts, begin)
        mover = np.int64(start_side[begin])
        plies = 0
        place = offsets[game]
        end = offsets[game + 1]
        into.offsets[game] = row
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
                    into.move_side[place] = mover
                    place += 1
                elif count == 1 and buffer[0] == pass_move:
                    chosen = np.int32(pass_move)
                else:
                    into.status[game] = ILLEGAL
                    into.illegal_at[game] = place - offsets[game]
            elif count == 0:
                into.status[game] = FINISHED
                into.final_score[game] = final_score(rules, position) * mover
            else:
                into.status[game] = UNFINISHED
            store_position(into.positions, row, position)
            into.record[row] = game
            into.ply[row] = plies
            into.side[row] = mover
            into.move[row] = chosen
            row += 1
            if chosen < 0:
                break
            position = play(rules, position, chosen)
            mover = -mover
            plies += 1
    into.offsets[offsets.shape[0] - 1] = row


def _starts(game: Game, records: GameRecords) -> tuple[Any, NDArray[np.int8]]:
    """Positions in which the games begin, a position of columns [G] or [1] for all, and the sides to move there."""
    columns = game.empty_columns(0)
    if records.starts is not None and records.start_side is not None and len(records):
        starts = (np.ascontiguousarray(c, e.dtype) for c, e in zip(records.starts, columns, strict=True))
        return game.position_type(*starts), np.ascontiguousarray(records.start_side, np.int8)
    starts = (np.full(1, value, column.dtype) for value, column in zip(game.initial_position, columns, strict=True))
    return game.position_type(*starts), np.ones(1, np.int8)


def _moves(records: GameRecords) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Give moves and offsets of records as the kernels take them."""
    return np.ascontiguousarray(records.moves, np.int16), np.ascontiguousarray(records.offsets, np.int64)


def replay(game: Game, records: GameRecords) -> Replay:
    """Replay games move by move and keep every position.

    A move of the record that is illegal ends its game there, with status :data:`ILLEGAL`; so does a move after
    the game is over. Where ``game.pass_move`` is the only legal move and the record has another, the pass is
    inserted and counts as a ply.

    Parameters
    ----------
    game
        Whose rules count.
    records
        The games; scores are not looked at. What their reader has replayed is not replayed again.

    Returns
    -------
    Replay
        About 25 bytes for each position of two 64-bit fields.
    """
    if records.played is not None:
        played: Replay = records.played
        return played
    games, recorded = len(records), len(records.moves)
    # A pass needs a recorded move after it, so passes at most double the plies. Pages never written cost nothing.
    rows = 2 * recorded + games
    found = Replay(
        positions=game.empty_columns(rows),
        record=np.empty(rows, np.int32),
        ply=np.empty(rows, np.int16),
        side=np.empty(rows, np.int8),
        move=np.empty(rows, np.int16),
        offsets=np.zeros(games + 1, np.int64),
        status=np.zeros(games, np.uint8),
        illegal_at=np.full(games, -1, np.int32),
        final_score=np.zeros(games, np.int16),
        move_side=np.zeros(recorded, np.int8),
    )
    pass_move = np.int64(-1 if game.pass_move is None else game.pass_move)
    buffer = np.zeros(game.max_moves, np.int32)
    compiled(_replay)(game.rules, *_starts(game, records), *_moves(records), pass_move, buffer, found)
    used = slice(int(found.offsets[-1]))
    columns = {name: getattr(found, name)[used] for name in ("record", "ply", "side", "move")}
    return found._replace(positions=rows_of(found.positions, used), **columns)


def _write_chosen(
    rules: Any, starts: Any, moves: Any, offsets: Any, chosen: Any, chosen_offsets: Any, columns: Any, move: Any
) -> None:
    """Positions of games without passes before the chosen plies, which rise within each game."""
    for game in range(len(offsets) - 1):
        if chosen_offsets[game] == chosen_offsets[game + 1]:
            continue
        position = position_at(starts, min(game, len(starts[0]) - 1))
        place = offsets[game]
        for row in range(chosen_offsets[game], chosen_offsets[game + 1]):
            while place < offsets[game] + chosen[row]:
                position = play(rules, position, np.int64(moves[place]))
                place += 1
            store_position(columns, row, position)
            move[row] = place


@kernel
def _write_recorded(offsets: Any, made: Any, moves: Any, move_offsets: Any, recorded: Any) -> None:
    """Write which recorded move was made in each position, -1 for a pass that the record leaves out."""
    for game in range(len(offsets) - 1):
        place = move_offsets[game]
        for row in range(offsets[game], offsets[game + 1]):
            recorded[row] = -1
            if place < move_offsets[game + 1] and moves[place] == made[row]:
                recorded[row] = place
                place += 1


def _is_replayed(game: Game, records: GameRecords) -> bool:
    """Whether positions come from a replay of every one: passes are found no other way."""
    return game.pass_move is not None or records.played is not None


def plies_of_games(game: Game, records: GameRecords) -> NDArray[np.int64]:
    """Plies of each game, passes included: int64 [G]."""
    lengths = np.diff(replay(game, records).offsets) - 1 if _is_replayed(game, records) else records.lengths
    return lengths.astype(np.int64)


def positions_before(
    game: Game, records: GameRecords, chosen: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[Any, NDArray[np.int64]]:
    """Positions of games before chosen plies; without passes each game is played no further than to the last of them.

    Parameters
    ----------
    game
        Whose rules count; the moves are trusted to be legal, as those of
        :func:`~glem.core.positions.reading.read_records` are.
    records
        G games.
    chosen
        int64 [N]: plies, rising within each game.
    offsets
        int64 [G + 1]: those of game ``g`` are ``chosen[offsets[g]:offsets[g + 1]]``.

    Returns
    -------
    positions
        Position of columns [N].
    move
        int64 [N]: index in ``records.moves`` of the move that was played there; -1 for a pass that the record leaves
        out, and of no meaning behind the last move.
    """
    moves, move_offsets = _moves(records)
    if not _is_replayed(game, records):
        columns, move = game.empty_columns(len(chosen)), np.empty(len(chosen), np.int64)
        starts, _ = _starts(game, records)
        compiled(_write_chosen)(game.rules, starts, moves, move_offsets, chosen, offsets, columns, move)
        return columns, move
    played = replay(game, records)
    recorded = np.empty(len(played.move), np.int64)
    _write_recorded(played.offsets, played.move, moves, move_offsets, recorded)
    rows = np.repeat(played.offsets[:-1], np.diff(offsets)) + chosen
    return rows_of(played.positions, rows), recorded[rows]


def last_positions(game: Game, records: GameRecords) -> Any:
    """Position in which each game ends or breaks off, a position of columns [G]; the moves are trusted to be legal."""
    return positions_before(game, records, plies_of_games(game, records), np.arange(len(records) + 1))[0]


def first_sides(records: GameRecords) -> NDArray[np.int8]:
    """Side that moves first in each game: int8 [G], 1 or -1."""
    return np.ones(len(records), np.int8) if records.start_side is None else records.start_side
