"""What the constants of temporal differences do that the text of Levene and Fenner (2009) leaves out.

``python -m tests.benchmarks.style_constants GAMES.pgn... --players Kasparov Kramnik``

Each row changes one of them. Weights of two players are learned from so many games at leaves of quiescence; beside the
mean absolute errors of both stand the rank correlations of the weights with those of the defaults, and hit ratios in
the games between the two, from moves 25 to 35.
"""

from typing import Any

import numpy as np
from attrs import evolve
from scipy.stats import spearmanr

from glem.core.compiling.columns import rows_of
from glem.core.game.game import load_game
from glem.core.positions.reading import read_all_records
from glem.core.positions.replay import replay
from glem.core.styles.chosen_moves import own_moves, starts_of_games
from glem.core.styles.persons import PersonGames, between, person_of
from glem.core.styles.styles import learning_of_styles
from glem.core.styles.temporal_difference import SearchedValues, TemporalDifference, differences_of, learn_by_search
from tests.benchmarks.measuring import command_line

PLIES = (8, 69)
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("defaults", {}),
    ("scale halved", {"scale": TemporalDifference().scale / 2}),
    ("scale doubled", {"scale": TemporalDifference().scale * 2}),
    ("rates 0.1 to 10", {"least_rate": 0.1, "most_rate": 10.0}),
    ("rates 10 to 1000", {"least_rate": 10.0, "most_rate": 1000.0}),
    ("up 1.05", {"up": 1.05}),
    ("up 1.2", {"up": 1.2}),
    ("down 0.7", {"down": 0.7}),
    ("momentum 0.5", {"momentum": 0.5}),
    ("momentum 0.9", {"momentum": 0.9}),
    ("lambda 0.5", {"trace": 0.5}),
    ("lambda 0.9", {"trace": 0.9}),
    ("32 steps together", {"batch": 32}),
    ("weights of any sign", {"positive": False}),
]


def positions_of(person: PersonGames, side: Any) -> tuple[Any, Any]:
    """Positions in which a side is to move, and where each game begins."""
    played = replay(load_game("chess"), person.records)
    rows = own_moves(played, side, PLIES)
    return rows_of(played.positions, rows), starts_of_games(played.record[rows])


def main() -> None:
    parser = command_line(__doc__, files=[str], games=1000)
    parser.add_argument("--players", nargs=2, required=True)
    given = parser.parse_args()
    chess, learning = load_game("chess"), learning_of_styles("chess")
    names = learning.linear
    records = list(read_all_records(chess, given.files, skip_bad=True))
    everyone = [
        person_of(chess, records, [name], without=[other for other in given.players if other != name])
        for name in given.players
    ]
    mutual = between(person_of(chess, records, given.players[:1]), given.players[1])
    asked = [positions_of(mutual, side) for side in (mutual.side, -mutual.side)]
    generator = np.random.default_rng(0)
    drawn = [person.select(generator.permutation(len(person))[: given.games]) for person in everyone]
    games = [positions_of(person, person.side) for person in drawn]
    begin, fixed = np.where(np.arange(len(names)) == 0, 25.0, 1.0), np.arange(len(names)) == 0
    usual: list[Any] = []
    print(f"{'':22} {'mean absolute error':>20} {'rank correlation':>17} {'hits':>13}")
    for label, changes in VARIANTS:
        how = evolve(TemporalDifference(), **changes)
        values = SearchedValues(learning, names, how.scale, 0)
        courses = [learn_by_search(values, *of, begin, fixed, how) for of in games]
        usual = usual or courses
        errors = [float(np.nanmean(np.abs(course.errors))) for course in courses]
        ranks: list[float] = []
        for course, same in zip(courses, usual, strict=True):
            found: Any = spearmanr(course.weights, same.weights)
            ranks.append(float(found.statistic))
        hits = []
        for side, (positions, starts) in enumerate(asked):
            found = [
                differences_of(values.features(positions, one.weights), starts, one.weights, how.scale)
                for one in courses
            ]
            late = np.concatenate([np.arange(size) >= 21 for size in np.diff(starts)])
            apart = np.where(late, np.nan_to_num(found[side] - found[1 - side]), 0.0)
            sums = np.add.reduceat(apart, starts[:-1])
            hits.append(float((sums[sums != 0] < 0).mean()))
        columns = f"{errors[0]:10.4f} {errors[1]:9.4f} {ranks[0]:9.2f} {ranks[1]:7.2f} {hits[0]:7.2f} {hits[1]:5.2f}"
        print(f"{label:22} {columns}", flush=True)


if __name__ == "__main__":
    main()
