"""Who was White? The experiment of Levene and Fenner (2009, section 3), with both learners and null controls."""

import contextlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import asdict, define, evolve, field, fields
from numpy.typing import NDArray
from scipy.stats import t

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.files.archives import ArchiveFormat
from glem.core.positions.replay import Replay, replay
from glem.core.styles.chosen_moves import own_moves
from glem.core.styles.persons import PersonGames
from glem.core.styles.styles import (
    StyleSettings,
    learn_style,
    learning_of_styles,
    make_moves,
)
from glem.core.styles.temporal_difference import (
    SearchedValues,
    TemporalDifference,
    differences_of,
    learn_by_search,
)
from glem.core.tasks.counts import with_limits
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table
from glem.core.tasks.tasks import Workers, run_tasks

METHODS = ("temporal differences", "choice model")
"""In the order of hits."""

START_MOVES = range(25, 35)
"""Of the paper's figure 3, less its last, at which no position is left that has a next one."""

LAST_PLY = 69
"""The paper's move 35."""

_POOL_MOVES = 3000
"""Of either player, for what both are held to."""


class Repetition(NamedTuple):
    """One repetition to do.

    Parameters
    ----------
    game, feature_set
        Names of the game and of its set of features.
    players
        The two players' games, without those between them.
    mutual
        The games between them, from the first one's side.
    settings, how, first_weights, fixed
        How styles are learned; the weights that temporal differences begin with, and which of them stay.
    games
        Training games of each player, drawn at random.
    seed
        Of the draw.
    permuted
        Whether the training games of both are mixed and dealt out at random: a null control.
    """

    game: str
    feature_set: str
    players: tuple[PersonGames, PersonGames]
    mutual: PersonGames
    settings: StyleSettings
    how: TemporalDifference
    first_weights: NDArray[np.float64]
    fixed: NDArray[np.bool_]
    games: int
    seed: int
    permuted: bool = False


@define(frozen=True, eq=False)
class Outcome:
    """What a repetition found.

    Parameters
    ----------
    weights
        float64 [2, k]: by temporal differences.
    course
        float64 [2, games]: mean absolute error of each training game when it was learned from, nan without positions.
    errors
        float64 [2, 2, m]: absolute error by the weights of each player (second axis) in each position of the mutual
        games that the first, or the second, player had to move in (first axis); shorter rows are filled with nan.
    likelihoods
        float64 [2, 2, m]: the same of the logarithm of the move's likelihood by the choice model.
    game, ply
        int64 [2, m]: which mutual game, and the ply; -1 where rows are filled.
    choice
        float64 [2, 1 + k]: weights of the common score and of features by the choice model.
    """

    weights: NDArray[np.float64]
    course: NDArray[np.float64]
    errors: NDArray[np.float64] = field(repr=False)
    likelihoods: NDArray[np.float64] = field(repr=False)
    game: NDArray[np.int64] = field(repr=False)
    ply: NDArray[np.int64] = field(repr=False)
    choice: NDArray[np.float64] = field(repr=False)

    def hits(self, method: str, plies: tuple[int, int]) -> NDArray[np.float64]:
        """Tell whose weights fit each mutual game better, from both sides.

        Returns
        -------
        hits
            float64 [2, games]: 1 where the weights of whoever had the side fit better than the other's between the
            plies, both inclusive, 0 where they do not, nan without positions (equations 4 and 5, threshold 0).
        """
        values = -self.errors if method == METHODS[0] else self.likelihoods
        games = int(self.game.max(initial=-1)) + 1
        found = np.full((2, games), np.nan)
        for own in range(2):
            chosen = (self.ply[own] >= plies[0]) & (self.ply[own] <= plies[1]) & ~np.isnan(values[own, 0])
            apart = values[own, own, chosen] - values[own, 1 - own, chosen]
            sums = np.bincount(self.game[own, chosen], apart, games)
            counts = np.bincount(self.game[own, chosen], minlength=games)
            found[own] = np.where(counts > 0, sums > 0, np.nan)
        return found


_PART = ArchiveFormat(
    "glem repetition", version=1, required=tuple(field.name for field in fields(Outcome)), packed=False
)


def repeat(task: Repetition) -> Outcome:
    """Learn both players' weights from random games, and ask them about the games between the two."""
    learning, settings = learning_of_styles(task.game, task.feature_set), task.settings
    generator = np.random.default_rng([task.seed, int(task.permuted)])
    drawn = [_drawn(person, task.games, generator) for person in task.players]
    together = PersonGames.together(learning.game, drawn)
    played, rows = together.moves(learning.game, settings.plies)
    starts = np.searchsorted(played.record[rows], np.arange(len(together) + 1))

    def rows_of_games(games: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([rows[starts[each] : starts[each + 1]] for each in games])

    order = generator.permutation(len(together))
    owner = np.repeat([0, 1], [len(person) for person in drawn])
    if task.permuted:
        owner = generator.permutation(owner)
    # In the order in which they are learned from.
    parts = [order[owner[order] == whose] for whose in range(2)]
    mutual = replay(learning.game, task.mutual.records)
    asked = [own_moves(mutual, side, settings.plies) for side in (task.mutual.side, -task.mutual.side)]
    width = max(map(len, asked))
    errors, game, ply = np.full((2, 2, width), np.nan), np.full((2, width), -1), np.full((2, width), -1)
    course = np.full((2, max(map(len, parts))), np.nan)
    values = SearchedValues(learning, settings.features, task.how.scale, settings.depth, settings.quiescence)
    weights = []
    for whose, games in enumerate(parts):
        ends = np.concatenate([[0], np.cumsum(np.diff(starts)[games])]).astype(np.int64)
        positions = rows_of(played.positions, rows_of_games(games))
        learned = learn_by_search(values, positions, ends, task.first_weights, task.fixed, task.how)
        for place in range(len(games)):
            absolute = np.abs(learned.errors[ends[place] : max(ends[place + 1] - 1, ends[place])])
            course[whose, place] = absolute.mean() if len(absolute) else np.nan
        weights.append(learned.weights)
        for side, of_side in enumerate(asked):
            features = values.features(rows_of(mutual.positions, of_side), learned.weights)
            ends = np.append(np.searchsorted(mutual.record[of_side], np.arange(len(task.mutual))), len(of_side))
            found = differences_of(features, ends, learned.weights, task.how.scale)
            errors[side, whose, : len(of_side)] = found
    for side, of_side in enumerate(asked):
        game[side, : len(of_side)], ply[side, : len(of_side)] = mutual.record[of_side], mutual.ply[of_side]
    by_choice = [rows_of_games(np.sort(games)) for games in parts]
    likelihoods, choice = _choices(learning, settings, played, by_choice, mutual, asked)
    return Outcome(np.stack(weights), course, errors, likelihoods, game, ply, choice)


def _drawn(person: PersonGames, games: int, generator: np.random.Generator) -> PersonGames:
    chosen = generator.choice(len(person), min(games, len(person)), replace=False)
    return person.select(np.sort(chosen))


def _choices(
    learning: Learning,
    settings: StyleSettings,
    played: Replay,
    rows: Sequence[NDArray[np.int64]],
    mutual: Replay,
    asked: Sequence[NDArray[np.int64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log likelihoods of the moves of the mutual games, [2, 2, m], and weights, [2, 1 + k], by the choice model.

    Moves are searched by quiescence with what both players' games together teach, to which both are held.
    """
    settings = evolve(settings, depth=min(settings.depth, 0), quiescence="")
    some = np.sort(np.concatenate([own[:_POOL_MOVES] for own in rows]))
    pool = learn_style(learning, played, some, settings).evaluation({})
    models = [learn_style(learning, played, own, settings, prior=pool).model for own in rows]
    found = np.full((2, 2, max(map(len, asked))), np.nan)
    for side, of_side in enumerate(asked):
        moves = make_moves(learning, mutual, of_side, settings, pool)
        # Forced moves are no choices.
        places = np.searchsorted(of_side, moves.rows)
        for whose, model in enumerate(models):
            found[side, whose, places] = moves.told_by(model.weights)[0]
    return found, np.stack([model.weights for model in models])


def repeat_all(
    task: Repetition, count: int, permuted: bool, folder: Path, workers: Workers, progress: Progress = SILENT
) -> list[Outcome]:
    """Do repetitions with the seeds from the task's on; those that the folder holds unharmed are read."""
    paths = [folder / f"{'control' if permuted else 'repetition'}-{number:03d}.npz" for number in range(count)]
    facts: list[dict[str, Any]] = [{"seed": task.seed + number, "permuted": permuted} for number in range(count)]
    found: dict[int, Outcome] = {}
    for number, path in enumerate(paths):
        # A missing or damaged part is done again, and so is one that belongs elsewhere.
        with contextlib.suppress(BadInputError):
            header, arrays = _PART.read(path)
            if facts[number].items() <= header.items():
                found[number] = Outcome(**arrays)
    missing = [number for number in range(count) if number not in found]
    tasks = [task._replace(**facts[number]) for number in missing]
    with progress("Dealt out at random" if permuted else "Repetitions", len(missing)) as told:
        for index, outcome in run_tasks(repeat, tasks, workers):
            number = missing[index]
            _PART.write(paths[number], facts[number], asdict(outcome))
            found[number] = outcome
            told.advance()
    return [found[number] for number in range(count)]


def hit_rows(
    outcomes: Sequence[Outcome], method: str, plies: tuple[int, int], confidence: float = 0.95
) -> list[tuple[float, float, float]]:
    """Hit ratios from the first and from the second player's side (section 3.2), with :func:`ratio_interval`."""
    hits = np.stack([outcome.hits(method, plies) for outcome in outcomes])
    return [ratio_interval(hits[:, side, ~np.isnan(hits[:, side]).any(axis=0)], confidence) for side in range(2)]


def ratio_interval(hits: NDArray[np.float64], confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean of hits and its interval, where both the training games and the mutual games might have been others.

    The variance is that of a two-way layout whose rows and columns are both drawn at random, by the mean squares of
    analysis of variance, with Satterthwaite's degrees of freedom; limits lie within 0 and 1.

    Parameters
    ----------
    hits
        float64 [repetitions, games].

    Returns
    -------
    mean, low, high
        Limits are nan for fewer than two repetitions or games, which do not show how much draws differ.
    """
    rows, columns = hits.shape
    if not hits.size:
        return math.nan, math.nan, math.nan
    mean = float(hits.mean())
    if rows < 2 or columns < 2:
        return mean, math.nan, math.nan
    by_row, by_column = hits.mean(axis=1), hits.mean(axis=0)
    rest = hits - by_row[:, None] - by_column + mean
    one, other = float(by_row.var(ddof=1)) / rows, float(by_column.var(ddof=1)) / columns
    # What is by chance in single cells is in both.
    twice = float(np.square(rest).sum()) / ((rows - 1) * (columns - 1)) / hits.size
    variance = max(one + other - twice, one, other)
    if variance == 0:
        return mean, mean, mean
    freedom = variance**2 / (one**2 / (rows - 1) + other**2 / (columns - 1))
    reach = float(t.ppf((1 + confidence) / 2, freedom)) * math.sqrt(variance)
    return mean, max(mean - reach, 0.0), min(mean + reach, 1.0)


def hit_table(
    players: Sequence[str], outcomes: Sequence[Outcome], permuted: Sequence[Outcome], confidence: float = 0.95
) -> tuple[Table, list[dict[str, Any]]]:
    """Put hit ratios in rows: from moves 12 and 25 to 35, and the mean over start moves 25 to 34."""
    rows: list[tuple[str, ...]] = []
    data: list[dict[str, Any]] = []
    one, two = players
    for name, of in (("", outcomes), ("dealt out at random", permuted)):
        for method in METHODS if of else ():
            for start in (12, 25):
                ratios = hit_rows(of, method, (2 * (start - 1), LAST_PLY), confidence)
                rows.append((method, name, f"{start}-35", *(with_limits(".3f", *each) for each in ratios)))
                data.append({"by": method, "control": bool(name), "start": start, "hits": ratios})
            means = np.mean(
                [[ratio[0] for ratio in hit_rows(of, method, (2 * (start - 1), LAST_PLY))] for start in START_MOVES],
                axis=0,
            )
            rows.append((method, name, "mean of starts 25 to 34", *(f"{mean:.3f}" for mean in means)))
            data.append({"by": method, "control": bool(name), "start": "mean", "hits": means.tolist()})
    caption = "Hit ratios: how often the moves of the one fit the one's own weights better than the other's"
    return Table(caption, ("by", "games", "moves", f"h({one}, {two})", f"h({two}, {one})"), rows), data
