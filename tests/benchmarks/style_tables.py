"""Processor time of learning a style from 1,000 games of chess.

``python -m tests.benchmarks.style_tables GAMES.pgn NAME``
"""

import sys
from typing import Any

import numpy as np
from attrs import evolve

from glem.core.compiling.columns import rows_of
from glem.core.game.game import load_game
from glem.core.positions.reading import read_all_records
from glem.core.positions.replay import replay
from glem.core.search.quiet import STATIC
from glem.core.styles.chosen_moves import own_moves, starts_of_games
from glem.core.styles.persons import person_of
from glem.core.styles.styles import StyleSettings, learn_style, learning_of_styles
from glem.core.styles.temporal_difference import SearchedValues, TemporalDifference, learn_by_search
from tests.benchmarks.measuring import timed

GAMES, POSITIONS = 1000, 111_000


def main() -> None:
    chess, learning = load_game("chess"), learning_of_styles("chess")
    person = person_of(chess, read_all_records(chess, sys.argv[1:-1], skip_bad=True), sys.argv[-1:])
    person = person.select(np.random.default_rng(0).permutation(len(person))[:GAMES])
    played = replay(chess, person.records)
    rows = own_moves(played, person.side, (8, 69))
    settings = StyleSettings(learning.linear, depth=STATIC)
    values = SearchedValues(learning, learning.linear, TemporalDifference().scale, 3, "captures-and-checks")
    begin, fixed = np.where(np.arange(140) == 0, 25.0, 1.0), np.arange(140) == 0
    starts = starts_of_games(played.record[rows])
    every = np.resize(np.arange(len(played.record)), POSITIONS)

    def learn(count: int) -> Any:
        part = rows_of(played.positions, rows[: starts[count]])
        return learn_by_search(values, part, starts[: count + 1], begin, fixed, TemporalDifference())

    # Compiled before it is timed.
    learn(2)
    learn_style(learning, played, rows[:500], settings)
    learn_style(learning, played, rows[:500], evolve(settings, depth=0, refits=1))
    print(f"{len(person):,} games, {len(rows):,} moves")
    positions = rows_of(played.positions, every)
    print(f"features of {POSITIONS:,} positions: {timed(lambda: learning.features.values(positions))[1]:.2f} s")
    style, taken = timed(lambda: learn_style(learning, played, rows, settings))
    alternatives = len(style.moves.moves)
    print(f"choice model, static, {alternatives:,} alternatives: {taken:.1f} s")
    _, taken = timed(lambda: learn_style(learning, played, rows, evolve(settings, depth=0)))
    print(f"choice model by quiescence, four times: {taken:.1f} s")
    course, taken = timed(lambda: learn(len(starts) - 1))
    print(f"temporal differences, 3 plies with checks and all captures, {course.steps:,} steps: {taken:.1f} s")


if __name__ == "__main__":
    main()
