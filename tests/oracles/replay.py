"""Replaying one game in plain Python, move by move."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.replay import FINISHED, ILLEGAL, UNFINISHED


class Step(NamedTuple):
    """A position, the side to move (+1 or -1) and the move made there (-1: none)."""

    position: Any
    side: int
    move: int


class PlainReplay(NamedTuple):
    """One game replayed."""

    steps: list[Step]
    status: int
    illegal_at: int
    final_score: int


def replay_game(game: Game, moves: Sequence[int], start: Any = None) -> PlainReplay:
    """Replay the recorded moves of one game, inserting the forced passes that the record leaves out."""
    position = game.initial_position if start is None else start
    side = 1
    steps: list[Step] = []
    used = 0
    while True:
        legal = game.list_legal_moves(position)
        if used == len(moves):
            steps.append(Step(position, side, -1))
            if legal:
                return PlainReplay(steps, UNFINISHED, -1, 0)
            return PlainReplay(steps, FINISHED, -1, side * int(game.final_score(position)))
        if moves[used] in legal:
            move = int(moves[used])
            used += 1
        elif game.pass_move is not None and legal == [game.pass_move]:
            move = game.pass_move
        else:
            steps.append(Step(position, side, -1))
            return PlainReplay(steps, ILLEGAL, used, 0)
        steps.append(Step(position, side, move))
        position = game.play(position, move)
        side = -side


def records_of(games: Sequence[Sequence[int]]) -> GameRecords:
    """Records of the moves of games."""
    moves = np.array([move for game in games for move in game], np.int16)
    return GameRecords.from_moves(moves, np.cumsum([0, *map(len, games)], dtype=np.int64))


def random_game(game: Game, random: np.random.Generator, plies: int = 10_000, choices: int | None = None) -> list[int]:
    """Moves of a random game, passes left out, broken off after a number of plies, each of the first few choices."""
    position = game.initial_position
    moves: list[int] = []
    for _ in range(plies):
        legal = game.list_legal_moves(position)
        if not legal:
            break
        move = int(random.choice(legal[:choices]))
        if move != game.pass_move:
            moves.append(move)
        position = game.play(position, move)
    return moves
