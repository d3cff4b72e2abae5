"""Errors of the labels that game records give, against a deep search, as a table for the documentation.

``python -m tests.benchmarks.label_errors GAMES EVALUATION RELABELLED``, where ``RELABELLED`` is the file that
``glem label by-results`` wrote for the same games.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of
from glem.core.features.learning import load_learning
from glem.core.game.equal_positions import position_keys
from glem.core.game.game import load_game
from glem.core.players.spec import parse_player
from glem.core.players.thinker import Thinker
from glem.core.positions.files import read_positions
from glem.core.positions.game_tree import GameTree
from glem.core.positions.reading import read_records
from tests.benchmarks.measuring import table_header, table_row

POSITIONS_PER_PHASE = 40
LIMITS = "depth=10,solve=20,table=16"


def main(games: str, evaluation: str, relabelled: str) -> None:
    othello = load_game("othello")
    phases = load_learning("othello").phases
    tree = GameTree.from_records(othello, read_records(othello, games))
    propagated = tree.propagate()
    corrected_set = read_positions(relabelled).merge_duplicates()
    corrected = dict(zip(position_keys(othello, corrected_set.positions), corrected_set.label, strict=True))
    labels: dict[str, NDArray[np.float32]] = {
        "result": tree.labels_of_games("result"),
        "auto": tree.labels_of_games("auto"),
        "all games": propagated[tree.node],
    }
    phase = phases.of(tree.played.positions)
    labeller = Thinker(othello, parse_player(f"{evaluation},{LIMITS}"))
    generator = np.random.default_rng(0)
    usable = ~np.isnan(labels["result"]) & (tree.played.move >= 0) & (tree.played.move != othello.pass_move)
    table_header("discs", *labels, "corrected")
    for number, name in enumerate(phases.names[:10]):
        drawn = generator.choice(np.flatnonzero(usable & (phase == number)), POSITIONS_PER_PHASE, replace=False)
        columns = rows_of(tree.played.positions, drawn)
        reference = np.array([labeller.judge(position_at(columns, row)).score for row in range(len(drawn))])
        keys = position_keys(othello, columns)
        found = [label[drawn] for label in labels.values()]
        found.append(np.array([corrected[key] for key in keys]))
        errors = [float(np.sqrt(np.mean((label - reference) ** 2))) for label in found]
        table_row(name, *(f"{error:.1f}" for error in errors))


if __name__ == "__main__":
    main(*sys.argv[1:])
