"""Mine configurations of chess: pieces on squares, attacks, defences and material; print and keep the significant ones.

    glem positions GAMES.pgn.xz --game chess --label result --sample 12 --plies 16-400 -o positions.parquet
    python -m tests.benchmarks.chess_configurations positions.parquet configurations.npz [MINIMUM [KEPT]]

Only what is there makes relations: empty squares, attacks that are not, and even material are left out. A configuration
is significant by the correlation of its matches with the results (Benjamini-Hochberg, level 0.05), the positions of a
game counting once. Kept are those of them that correlate most with what the evaluation ``default`` leaves unexplained.
"""

import sys
import time
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from glem.core.configurations.mining import label_significance, label_statistics, mine
from glem.core.evaluation.named import load_value
from glem.core.positions.files import read_positions
from glem.games.chess import CHESS as GAME
from glem.plugins.chess import CHESS

_GROUPS = ("squares", "attacks", "defences", "material")
_LARGEST = 4
_POSITIONS_PER_GAME = 12.0
_LEVEL = 0.05


def _without_absences(values: Any, minimum: int) -> Any:
    """Scatter the value 0 over so many others that none of them is frequent."""
    chosen = CHESS.features.select(groups=_GROUPS)
    scattered = np.asfortranarray(values)
    rows = np.arange(len(values))
    kinds = 2 * len(values) // minimum + 1
    for feature in chosen:
        column = scattered[:, feature]
        column[column == 0] = (1000 + rows % kinds)[column == 0]
    return scattered, chosen


def _unexplained(positions: Any, labels: Any) -> Any:
    """Expected score less that of the evaluation, its scale fitted."""
    won = (labels + 1) / 2
    chance = np.clip(load_value("default", GAME).predict(positions).astype(float), 1e-6, 1 - 1e-6)
    odds = np.log(chance / (1 - chance))

    def loss(factor: float) -> float:
        expected = np.clip(1 / (1 + np.exp(-factor * odds)), 1e-9, 1 - 1e-9)
        return float(-(won * np.log(expected) + (1 - won) * np.log(1 - expected)).mean())

    factor = minimize_scalar(loss, bounds=(0.05, 5), method="bounded").x
    return won - 1 / (1 + np.exp(-factor * odds))


def main() -> None:
    """Mine, test, print, save."""
    source, target = sys.argv[1:3]
    minimum = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    kept = int(sys.argv[4]) if len(sys.argv) > 4 else 12_000
    began = time.process_time()
    found = read_positions(source)
    labels = np.asarray(found.label, np.float64)
    values, chosen = _without_absences(CHESS.features.values(found.positions), minimum)
    mined = mine(values, minimum_matches=minimum, maximum_size=_LARGEST, features=chosen).flatten()
    print(f"{len(labels):,} positions; {len(mined):,} configurations of up to {_LARGEST} relations in {minimum:,}")
    by_result = label_significance(label_statistics(mined, values, labels), positions_per_label=_POSITIONS_PER_GAME)
    residuals = label_statistics(mined, values, _unexplained(found.positions, labels))
    beyond = label_significance(residuals, positions_per_label=_POSITIONS_PER_GAME)
    significant = by_result <= _LEVEL
    print(f"{significant.sum():,} significant; {(beyond <= _LEVEL).sum():,} beyond the evaluation")
    strength = np.where(significant, np.abs(np.nan_to_num(residuals.correlations())), -1.0)
    strongest = np.sort(np.argsort(-strength, kind="stable")[: min(kept, int(significant.sum()))])
    for place in np.argsort(-strength, kind="stable")[:12]:
        correlation = residuals.correlations()[place]
        print(f"  {correlation:+.3f} {mined.match_counts[place]:>7,}  {mined.describe(int(place), CHESS.features)}")
    mined.select(strongest).save(target)
    print(f"{len(strongest):,} kept in {target}; {time.process_time() - began:.0f} s")


if __name__ == "__main__":
    main()
