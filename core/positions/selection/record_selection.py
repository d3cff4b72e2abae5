"""Selecting positions of game records from the lengths of the games, and replaying to these positions only.

A game of L plies has L positions in which a move was made, and those can be graded; the one after its last move cannot.
The random position of a game depends on its moves and the seed alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled, kernel, mix
from glem.core.game.game import Game, legal_moves, play
from glem.core.game.records import GameRecords
from glem.core.positions.replay import first_positions
from glem.core.positions.selection.selected import SelectedPositions
from glem.core.positions.selection.selection import EVERY, LAST, RANDOM, SelectionRule

__all__ = ["chosen_plies", "plies_of_games", "selected_from_records"]

Integers = NDArray[np.int64]


@kernel
def _write_game_keys(moves: Any, offsets: Any, salt: Any, keys: Any) -> None:
    for game in range(len(keys)):
        key = salt
        for place in range(offsets[game], offsets[game + 1]):
            key = mix(key ^ np.uint64(moves[place]))
        keys[game] = key


def _only_pass(rules: Any, position: Any, buffer: Any, pass_move: Any, wanted: Any) -> bool:
    """Whether a position has no move but the pass, and the record another one next."""
    if wanted == pass_move:
        return False
    return bool(legal_moves(rules, position, buffer, 0) == 1 and buffer[0] == pass_move)


def _write_plies(rules: Any, starts: Any, moves: Any, offsets: Any, pass_move: Any, buffer: Any, plies: Any) -> None:
    for game in range(len(plies)):
        position = position_at(starts, min(game, len(starts[0]) - 1))
        count = np.int64(0)
        for place in range(offsets[game], offsets[game + 1]):
            if _only_pass(rules, position, buffer, pass_move, np.int64(moves[place])):
                position = play(rules, position, np.int64(pass_move))
                count += 1
            position = play(rules, position, np.int64(moves[place]))
            count += 1
        plies[game] = count


def _write_chosen(
    rules: Any, starts: Any, moves: Any, offsets: Any, chosen_offsets: Any, chosen: Any, columns: Any, move: Any
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


def _write_chosen_with_passes(
    rules: Any,
    starts: Any,
    moves: Any,
    offsets: Any,
    pass_move: Any,
    buffer: Any,
    chosen_offsets: Any,
    chosen: Any,
    columns: Any,
    move: Any,
) -> None:
    """As above, for games whose records leave out passes."""
    for game in range(len(offsets) - 1):
        row, end = chosen_offsets[game], chosen_offsets[game + 1]
        position = position_at(starts, min(game, len(starts[0]) - 1))
        place = offsets[game]
        ply = np.int64(0)
        while row < end:
            passes = _only_pass(rules, position, buffer, pass_move, np.int64(moves[place]))
            if ply == chosen[row]:
                store_position(columns, row, position)
                move[row] = np.int64(-1) if passes else place
                row += 1
            if passes:
                position = play(rules, position, np.int64(pass_move))
            else:
                position = play(rules, position, np.int64(moves[place]))
                place += 1
            ply += 1


def plies_of_games(game: Game, records: GameRecords) -> Integers:
    """Plies of each game, passes included: int64 [G]. Only a game that knows passes is replayed for it."""
    if game.pass_move is None:
        return records.lengths.astype(np.int64)
    plies = np.zeros(len(records), np.int64)
    compiled(_write_plies)(
        game.rules,
        first_positions(game, records)[0],
        np.ascontiguousarray(records.moves, np.int16),
        np.ascontiguousarray(records.offsets, np.int64),
        np.int64(game.pass_move),
        np.zeros(game.max_moves, np.int32),
        plies,
    )
    return plies


def chosen_plies(records: GameRecords, plies: Integers, rule: SelectionRule) -> tuple[Integers, Integers]:
    """Plies before each selected position, game after game and rising within a game.

    Parameters
    ----------
    records
        G games.
    plies
        Their lengths, passes included [G].
    rule
        Which positions.

    Returns
    -------
    chosen
        int64 [N].
    offsets
        int64 [G + 1]: those of game ``g`` are ``chosen[offsets[g]:offsets[g + 1]]``.
    """
    first = np.int64(2 * rule.skip_moves)
    # A product that is a whole number but for the last digit counts as that number.
    end = plies - np.floor(plies * rule.skip_end + 1e-9).astype(np.int64)
    eligible = np.maximum(end - first, 0)
    step = rule.step if rule.kind == EVERY else 1
    counts = np.minimum(eligible, 1) if rule.kind in (RANDOM, LAST) else -(-eligible // step)
    offsets = np.zeros(len(plies) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    if rule.kind == LAST:
        return (end - 1)[eligible > 0], offsets
    if rule.kind == RANDOM:
        keys = np.empty(len(plies), np.uint64)
        _write_game_keys(
            np.ascontiguousarray(records.moves, np.int16),
            np.ascontiguousarray(records.offsets, np.int64),
            mix(np.uint64(rule.seed % (1 << 64))),
            keys,
        )
        # 32 random bits times the number of positions, divided by 2^32, are a uniform number below it.
        drawn = (keys >> np.uint64(32)) * eligible.astype(np.uint64) >> np.uint64(32)
        return (first + drawn.astype(np.int64))[eligible > 0], offsets
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    return first + step * within, offsets


def selected_from_records(
    game: Game, records: GameRecords, rule: SelectionRule, *, first_number: int = 0
) -> tuple[SelectedPositions, Integers]:
    """Select positions of games, and replay each game no further than to the last one selected.

    Parameters
    ----------
    game
        Whose rules count; the moves are trusted to be legal, as those of
        :func:`~glem.core.positions.reading.read_records` are.
    records
        G games.
    rule
        Which positions of each game.
    first_number
        Number of the first game.

    Returns
    -------
    selected
        N positions with their records.
    plies
        int64 [G]: plies of each game, passes included.
    """
    plies = plies_of_games(game, records)
    chosen, offsets = chosen_plies(records, plies, rule)
    starts, start_side = first_positions(game, records)
    columns = game.empty_columns(len(chosen))
    move = np.full(len(chosen), -1, np.int64)
    moves = np.ascontiguousarray(records.moves, np.int16)
    move_offsets = np.ascontiguousarray(records.offsets, np.int64)
    if game.pass_move is None:
        compiled(_write_chosen)(game.rules, starts, moves, move_offsets, offsets, chosen, columns, move)
    else:
        compiled(_write_chosen_with_passes)(
            game.rules,
            starts,
            moves,
            move_offsets,
            np.int64(game.pass_move),
            np.zeros(game.max_moves, np.int32),
            offsets,
            chosen,
            columns,
            move,
        )
    record = np.repeat(np.arange(len(records)), np.diff(offsets))
    begun = start_side[np.minimum(record, len(start_side) - 1)]
    return SelectedPositions(
        positions=columns,
        ply=chosen.astype(np.int32),
        game_number=first_number + record,
        # The sides alternate, passes included.
        side=(begun * (1 - 2 * (chosen % 2))).astype(np.int8),
        records=records,
        record=record,
        move=move,
        source=records.source,
    ), plies
