"""Random games of any game, as records and as files."""

from pathlib import Path

import chess.pgn
import numpy as np

from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.replay import FINISHED, replay
from glem.core.positions.writing import write_games
from tests.oracles.replay import random_game, records_of


def random_records(game: Game, count: int, seed: int = 1) -> GameRecords:
    """Games of random moves to the end, without their passes, and their scores."""
    generator = np.random.default_rng(seed)
    records = records_of([random_game(game, generator) for _ in range(count)])
    reached = replay(game, records)
    assert (reached.status == FINISHED).all()
    return GameRecords.from_moves(records.moves, records.offsets, reached.final_score.astype(np.float32))


def write_random_games(game: Game, path: Path, count: int, *, unfinished: int = 0, seed: int = 1) -> GameRecords:
    """Write a file of such games, of which the first lack their last moves and a score; give back the records."""
    records = random_records(game, count, seed)
    lengths = records.lengths.copy()
    lengths[:unfinished] -= 3
    kept = np.concatenate([records.moves_of(number)[:length] for number, length in enumerate(lengths)])
    score = records.score.copy()
    score[:unfinished] = np.nan
    cut = GameRecords.from_moves(kept, np.concatenate([[0], np.cumsum(lengths)]), score)
    write_games(game, path, cut)
    return cut


def random_pgn(seed: int) -> str:
    """Some random moves, with a random result."""
    generator = np.random.default_rng(seed)
    game = chess.pgn.Game()
    node: chess.pgn.GameNode = game
    while node.ply() < 80 and not node.board().is_game_over():
        moves = list(node.board().legal_moves)
        node = node.add_variation(moves[generator.integers(len(moves))])
    game.headers["Result"] = str(generator.choice(["1-0", "0-1", "1/2-1/2"]))
    return f"{game}\n\n"
