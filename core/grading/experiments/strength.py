"""Correctness against playing strength (Ban 2012, section 4.3 and figure 2).

Ban grades versions of one program on the same games and finds their grades roughly linear in their ratings, about a
6000th of them (equation 16). Two ways to look at that here:

- :func:`strength_of_players`: the players of a collection, by the scores that they left in the comments of their own
  games and the ratings that the records give. Their games differ, and with them how hard results are to predict. So
  each player's *advantage* is taken too: its mean log correctness less that of its opponents in the same games, beside
  the difference of the ratings. What makes a game hard cancels out of it.
- :func:`strength_of_evaluations`: evaluations graded on the same positions, with ratings from a tournament.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.files.json_values import read_json, real_of
from glem.core.fitting.sandwich import mean_of_games
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.grading.calibration import Prediction, ScaleFit, log_correctness_of
from glem.core.grading.correctness import Grade, GradingSettings, grade_of
from glem.core.grading.experiments.lines import Correlation, LineFit, correlate, fit_line
from glem.core.grading.grading import Grading
from glem.core.grading.scorers.comments import CommentScorer
from glem.core.positions.positions import Positions
from glem.core.positions.selection.reading import read_selected
from glem.core.positions.selection.selection import ALL, SelectionRule
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

_RATING = "_rating"
_LARGEST_RATINGS = 1 << 26


@define(frozen=True)
class Advantage:
    """How a player's scores predict results compared with its opponents' in the same games.

    Parameters
    ----------
    difference
        Mean log correctness of the player less that of the opponents.
    error
        Its standard error by game.
    rating_difference
        Mean rating of the player in these games less that of the opponents.
    games
        Games in which both left scores.
    """

    difference: float
    error: float
    rating_difference: float
    games: int


@define(frozen=True)
class StrengthPoint:
    """A player or an evaluation.

    Parameters
    ----------
    rating
        Elo.
    grade
        Of its values.
    fit
        Scale and drawishness; None where these are part of what was graded.
    advantage
        Over its opponents; None where opponents are unknown.
    """

    name: str
    rating: float
    grade: Grade
    fit: ScaleFit | None = None
    advantage: Advantage | None = None


@define(frozen=True)
class StrengthExperiment:
    """Grades beside ratings.

    Parameters
    ----------
    points
        The strongest first.
    by_rating
        Correlation of grade and rating.
    line
        Grade over rating; equation (16) has the slope 1/6000 and no intercept. None where all ratings are one.
    by_difference
        Correlation of advantage and rating difference; None without advantages.
    left_out
        Players with too few games or without ratings.
    """

    points: tuple[StrengthPoint, ...]
    by_rating: Correlation
    line: LineFit | None
    by_difference: Correlation | None
    left_out: int

    def told(self) -> Iterator[str | Table]:
        """Word all that was found."""
        yield self.table()
        yield self.by_rating.text("grade and rating")
        if self.line is not None and self.line.slope:
            yield (
                f"straight line: {self.line.intercept:.3f} + rating / {1 / self.line.slope:,.0f}, "
                f"R² = {self.line.r_squared:.2f} (Ban 2012, equation 16: rating / 6,000)"
            )
        if self.by_difference is not None:
            yield self.by_difference.text("advantage and rating difference")
        if self.left_out:
            yield f"{counted(self.left_out, 'player')} with too few games left out"

    def table(self) -> Table:
        """Make the table of all grades."""
        return Table.of(
            "Grades by rating",
            self.points,
            {
                "name": lambda one: one.name,
                "rating": lambda one: f"{one.rating:.0f}",
                "games": lambda one: f"{one.grade.games:,}",
                "grade": lambda one: f"{one.grade.grade:.4f}",
                "error": lambda one: f"{one.grade.error:.4f}",
                "interval": lambda one: one.grade.interval,
                "b": lambda one: one.fit and f"{one.fit.scale:.3g}",
                "drawishness": lambda one: one.fit and one.fit.drawishness_text,
                "advantage": lambda one: (
                    one.advantage and f"{one.advantage.difference:+.3f} ± {one.advantage.error:.3f}"
                ),
                "rating difference": lambda one: one.advantage and f"{one.advantage.rating_difference:+.0f}",
            },
        )


def _experiment(points: Sequence[StrengthPoint], left_out: int, confidence: float) -> StrengthExperiment:
    if len(points) < 3:
        raise BadInputError(f"a correlation needs at least three players with ratings, found {len(points)}")
    ordered = tuple(sorted(points, key=lambda point: (-point.rating, point.name)))
    ratings = [point.rating for point in ordered]
    grades = [point.grade.grade for point in ordered]
    advantages = [point.advantage for point in ordered if point.advantage is not None]
    by_difference = None
    if len(advantages) >= 3:
        ahead, better = zip(*((one.rating_difference, one.difference) for one in advantages), strict=True)
        by_difference = correlate(ahead, better, confidence=confidence)
    by_rating = correlate(ratings, grades, confidence=confidence)
    line = fit_line(ratings, grades) if len(set(ratings)) > 1 else None
    return StrengthExperiment(ordered, by_rating, line, by_difference, left_out)


def read_ratings(path: str | os.PathLike[str]) -> dict[str, float]:
    """Read the ratings of players: Elo by name, from what ``glem match --json`` prints.

    Raises
    ------
    BadInputError
        The file is no such JSON, or has no joint ratings.
    """
    what = "output of glem match --json for three players or more"
    found = read_json(path, what)
    with reading(path, what):
        ratings = {str(entry["name"]): real_of(entry["elo"]) for entry in found["ratings"]}
    if not ratings:
        raise BadInputError(f"{path}: the tournament has no joint ratings; it needs three players that have met")
    return ratings


def strength_of_evaluations(
    grading: Grading, ratings: Mapping[str, float], *, confidence: float = 0.95
) -> StrengthExperiment:
    """Set grades of evaluations beside ratings.

    Parameters
    ----------
    grading
        The grades, all on the same positions.
    ratings
        Elo of each evaluation by its name.
    confidence
        Of the interval of the correlation.

    Raises
    ------
    BadInputError
        An evaluation has no rating, or there are fewer than three.
    """
    for one in grading.evaluations:
        if one.name not in ratings:
            raise BadInputError(f"there is no rating of {one.name!r}, but of {', '.join(ratings) or 'nobody'}")
    points = [StrengthPoint(one.name, ratings[one.name], one.grade, one.fit) for one in grading.evaluations]
    return _experiment(points, 0, confidence)


def strength_of_players(
    game: Game,
    files: Sequence[str | os.PathLike[str]],
    *,
    fewest: int = 100,
    skip_moves: int = 10,
    skip_end: float = 0.1,
    seed: int = 0,
    confidence: float = 0.95,
    skip_bad: bool = False,
    progress: Progress = SILENT,
) -> StrengthExperiment:
    """Grade the players of a collection by the scores that they left in its comments.

    Of each game two consecutive positions are taken at random, among those that the selection leaves and that both
    players gave a score. Scale and drawishness are fitted for every player, as their units differ.

    Parameters
    ----------
    files
        Game records with comments, names and ratings.
    fewest
        Players with fewer games are left out.
    skip_moves, skip_end
        As for :class:`~glem.core.positions.selection.selection.SelectionRule`.
    seed
        Draws the positions.
    confidence
        Of intervals.
    skip_bad
        Leave bad records out instead of stopping.

    Raises
    ------
    BadInputError
        A file is bad or holds no comments, names or ratings; or fewer than three players are left.
    """
    found = _Scores(seed)
    rule = SelectionRule(ALL, skip_moves, skip_end)
    with progress("Reading", len(files)) as bar:
        for file in files:
            bar.note(Path(file).name)
            for part in read_selected(game, file, rule, skip_bad=skip_bad):
                if isinstance(part, Positions):
                    found.add(part)
            bar.advance()
    return found.experiment(fewest, GradingSettings(confidence=confidence))


class _Scores:
    """What the players of a collection said of two consecutive positions of each game, in columns."""

    def __init__(self, seed: int) -> None:
        self._scorer = CommentScorer("comments")
        self._random = np.random.default_rng(seed)
        self._names: dict[str, int] = {}
        self._columns: defaultdict[str, list[NDArray[Any]]] = defaultdict(list)
        self._games = 0

    def add(self, part: Positions) -> None:
        records = part.records
        if records is None:
            raise BadInputError("players are found in game records; positions do not tell who played")
        scores = records.move_columns.get("comment_score")
        if scores is None:
            raise BadInputError(f"the format of {records.source or 'these records'} has no scores in comments")
        record, move = part.extra["row"], part.extra["move"]
        scored = (move >= 0) & ~np.isnan(scores[move])
        # Consecutive scores, one of either player, are of almost the same position.
        both = np.flatnonzero(scored[:-1] & scored[1:] & (record[:-1] == record[1:]))
        # One of them in each game, each as likely.
        shuffled = both[self._random.permutation(len(both))]
        first = shuffled[np.unique(record[shuffled], return_index=True)[1]]
        rows = np.sort(np.concatenate([first, first + 1]))
        players, ratings = self._players(records)
        chosen = part.select(rows)
        side = (chosen.side < 0).astype(np.int64)
        for name, column in {
            "value": self._scorer.predict(chosen).value,
            "game": self._games + record[rows],
            "side": side,
            "player": players[side, record[rows]],
            "rating": ratings[side, record[rows]],
            "result": chosen.result,
        }.items():
            self._columns[name].append(column)
        self._games += len(records)

    def _players(self, records: GameRecords) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Numbers of the players and their ratings: [2, G] each."""
        sides = [name.removesuffix(_RATING) for name in records.extra if name.endswith(_RATING)]
        if len(sides) != 2 or any(side not in records.names for side in sides):
            raise BadInputError(f"{records.source or 'these records'}: no names and ratings of two players")
        players = []
        for side in sides:
            numbers = [self._names.setdefault(name, len(self._names)) for name in records.names[side]]
            players.append(np.array([*numbers, -1])[records.extra[side]])
        ratings = np.stack([records.extra[f"{side}{_RATING}"] for side in sides]).astype(np.float64)
        return np.stack(players), np.where(ratings > 0, ratings, np.nan)

    def experiment(self, fewest: int, settings: GradingSettings) -> StrengthExperiment:
        if not self._columns:
            raise BadInputError("no scores of players are left: the files hold no finished game with comments")
        columns = {name: np.concatenate(parts) for name, parts in self._columns.items()}
        value = np.asarray(self._scorer.complete(Prediction(columns["value"])).value, np.float64)
        # Where one of two players has no opinion, there is no pair.
        both = np.repeat(~np.isnan(value).reshape(-1, 2).any(axis=1), 2)
        kept = both & ~np.isnan(columns["rating"]) & (columns["player"] >= 0)
        columns = {name: column[kept] for name, column in {**columns, "value": value}.items()}
        counts = np.bincount(columns["player"], minlength=len(self._names))
        logs = np.full(int(kept.sum()), np.nan)
        graded: dict[int, tuple[float, Grade, ScaleFit]] = {}
        for player in np.flatnonzero(counts >= max(fewest, 2)).tolist():
            rows = np.flatnonzero(columns["player"] == player)
            game = columns["game"][rows]
            fit, own = log_correctness_of(Prediction(columns["value"][rows]), columns["result"][rows], game)
            logs[rows] = settings.floored(own)
            graded[player] = float(columns["rating"][rows].mean()), grade_of(own, game, settings), fit
        advantages, names = _advantages(columns, logs, graded), list(self._names)
        points = [
            StrengthPoint(names[player], rating, grade, fit, advantages.get(player))
            for player, (rating, grade, fit) in graded.items()
        ]
        return _experiment(points, int((counts > 0).sum()) - len(points), settings.confidence)


def _advantages(
    columns: Mapping[str, NDArray[Any]], logs: NDArray[np.float64], rated: Iterable[int]
) -> dict[int, Advantage]:
    """Advantage of each player over those opponents that are rated too, in games in which both left scores."""
    order = np.lexsort((columns["side"], columns["game"]))
    order = order[~np.isnan(logs[order])]
    one, other = order[:-1], order[1:]
    paired = columns["game"][one] == columns["game"][other]
    one, other = one[paired], other[paired]
    # Every game counts for both of its players.
    first, second = np.concatenate([one, other]), np.concatenate([other, one])
    found = {}
    for player in rated:
        rows = columns["player"][first] == player
        count = int(rows.sum())
        if count < 2:
            continue
        difference = logs[first[rows]] - logs[second[rows]]
        rating = columns["rating"][first[rows]] - columns["rating"][second[rows]]
        found[player] = Advantage(*mean_of_games(difference, np.ones(count)), float(rating.mean()), count)
    return found
