"""Whose moves are these? Many players, each with a model of its own, and games that no model has seen.

Beyond the paper (Levene and Fenner 2009 tell two players apart): games of one player are put together, and openings
can be matched: from every opening that all have played, each gets as many games as any other, so that a player's
favourite openings give nothing away.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError, reading
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning
from glem.core.files.archives import ArchiveFormat
from glem.core.files.digests import file_digest
from glem.core.game.equal_positions import position_keys
from glem.core.positions.replay import Replay
from glem.core.search.quiet import leaf_signs
from glem.core.styles.choice_model import fit_choices, typical_changes
from glem.core.styles.chosen_moves import ChosenMoves, starts_of_games
from glem.core.styles.persons import PersonGames
from glem.core.styles.styles import (
    Foretelling,
    StyleSettings,
    learn_style,
    make_moves,
    of_score_alone,
    predict,
)
from glem.core.styles.temporal_difference import TemporalDifference, differences_of, learn_differences
from glem.core.tasks.counts import with_limits
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

CHOICE_MODEL, BASELINE, DIFFERENCES, EQUAL = "choice model", "fewer features", "temporal differences", "equal weights"
"""What guesses."""

RESAMPLES = 200
_WEIGHTS = ("choice", "baseline", "differences", "reference")
_PART = ArchiveFormat("glem player", version=1, required=_WEIGHTS, packed=False)
_REFERENCE_MOVES = 6000
_DRAWS = 300
_POOL_GAMES = 60

Floats = NDArray[np.float64]


@define(frozen=True, eq=False)
class UnseenGames:
    """Scores of unseen games.

    Parameters
    ----------
    player
        int64 [G]: whose game it is.
    opening
        int64 [G]: a number for side and opening.
    scores
        Name of a method to float64 [G, P]: what the models of the P players give to the player's moves of a game; the
        greatest is the guess.
    """

    player: NDArray[np.int64]
    opening: NDArray[np.int64]
    scores: Mapping[str, Floats] = field(repr=False)

    @classmethod
    def together(cls, parts: Sequence[UnseenGames]) -> UnseenGames:
        """Put the games of all players together."""
        scores = {name: np.concatenate([part.scores[name] for part in parts]) for name in parts[0].scores}
        return cls(
            np.concatenate([part.player for part in parts]), np.concatenate([part.opening for part in parts]), scores
        )

    def matched(self, players: int) -> Floats:
        """Weights of games, float64 [G], that give all players the same openings; 0 in those that some never played."""
        weights = np.zeros(len(self.player))
        for opening in np.unique(self.opening):
            own = np.flatnonzero(self.opening == opening)
            counts = np.bincount(self.player[own], minlength=players)
            if counts.min() > 0:
                weights[own] = counts.min() / counts[self.player[own]]
        return weights

    def share(self, method: str, weights: Floats, size: int, random: np.random.Generator, *, resampled: bool) -> float:
        """Share of right guesses from so many games of a player, all players alike, perhaps of resampled games."""
        scores, shares = self.scores[method], []
        for own in range(scores.shape[1]):
            games = np.flatnonzero((self.player == own) & (weights > 0))
            if resampled:
                games = random.choice(games, len(games))
            chances = weights[games] / weights[games].sum()
            if size == 1:
                shares.append(float(chances @ _right(scores[games], own)))
                continue
            drawn = random.choice(games, (_DRAWS, size), p=chances)
            shares.append(float(_right(scores[drawn].sum(axis=1), own).mean()))
        return float(np.mean(shares))


@define(frozen=True)
class Accuracy:
    """How often the guess is right.

    Parameters
    ----------
    method
        What guesses.
    games
        Games of one player that are put together.
    matched
        Whether all players' games have the same openings.
    share, low, high
        Share of right guesses, all players alike, with an interval by resampled games; nan where there are too few.
    used
        Games with a weight.
    """

    method: str
    games: int
    matched: bool
    share: float
    low: float
    high: float
    used: int

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        how = {"by": self.method, "games": self.games, "matched": self.matched}
        return {**how, "right": self.share, "interval": [self.low, self.high], "used": self.used}


def accuracies(
    test: UnseenGames, players: int, sizes: Sequence[int] = (1, 5, 20), *, confidence: float = 0.95, seed: int = 0
) -> list[Accuracy]:
    """Guess who played, from so many games of one player together.

    Groups are drawn with replacement from a player's games, by their weights; intervals are percentiles over resamples
    of the games, which leave out what the choice of training games adds.
    """
    found = []
    everything = 1 / np.maximum(np.bincount(test.player, minlength=players), 1)[test.player]
    for matched, weights in ((False, everything), (True, test.matched(players))):
        used = int((weights > 0).sum())
        for method in test.scores:
            for size in sizes:
                generator = np.random.default_rng([seed, size, int(matched)])
                if not all((weights[test.player == player] > 0).sum() >= 2 for player in range(players)):
                    found.append(Accuracy(method, size, matched, np.nan, np.nan, np.nan, used))
                    continue
                shares = [
                    test.share(method, weights, size, generator, resampled=bool(number))
                    for number in range(RESAMPLES + 1)
                ]
                tail = 50 * (1 - confidence)
                low, high = np.percentile(shares[1:], [tail, 100 - tail]).tolist()
                found.append(Accuracy(method, size, matched, shares[0], low, high, used))
    return found


def _right(scores: Floats, own: int) -> Floats:
    """Chance that the guess is right: 1 where the own score is the greatest, shared where several are."""
    greatest = scores.max(axis=1, keepdims=True)
    ties = (scores == greatest).sum(axis=1)
    return np.where(scores[:, own] == greatest[:, 0], 1 / ties, 0.0)


@define(frozen=True, eq=False)
class Study:
    """What is done with the games of some players.

    Parameters
    ----------
    learning, settings
        How styles are learned.
    training, test
        Games of each player to learn from, at most, and to guess; at least two thirds of a player's are learned from.
    opening_plies
        Length of what is taken for an opening.
    reference
        An evaluation whose searches' scores are made a choice model of one feature, to compare with.
    baseline
        Fewer features, to compare with.
    begin, fixed
        float64 [k] and bool [k]: weights that temporal differences begin with, and which of them stay.
    how
        Their constants.
    seed
        Of the draws of games.
    """

    learning: Learning
    settings: StyleSettings
    training: int
    test: int
    opening_plies: int
    reference: LinearEvaluation | None
    baseline: tuple[str, ...]
    begin: Floats
    fixed: NDArray[np.bool_]
    how: TemporalDifference
    seed: int

    def divided(self, person: PersonGames) -> tuple[PersonGames, PersonGames]:
        """Divide a person's games into those to learn from and those to guess, at random."""
        return person.divided(self.seed, min(self.test, len(person) // 3), self.training)

    def positions(
        self, played: Replay, rows: NDArray[np.int64], pool: LinearEvaluation
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Features at the leaves of a person's own positions, float64 [N, k], and where games begin: int64 [G + 1]."""
        leaves, plies, _ = self.settings.search(pool).leaves(rows_of(played.positions, rows))
        items = [self.learning.features.index(name) for name in self.settings.features]
        features = leaf_signs(plies)[:, None] * self.learning.features.values(leaves)[:, items]
        return features.astype(np.float64), starts_of_games(played.record[rows])

    def scored(self, played: Replay, rows: NDArray[np.int64]) -> ChosenMoves:
        """Make the same moves with the scores of the reference alone."""
        assert self.reference is not None
        search = self.settings.search(self.reference)
        return ChosenMoves.of(self.reference.learning, (), played, rows, search, scored=True)

    def moves(self, person: PersonGames) -> tuple[Replay, NDArray[np.int64]]:
        """Replay a person's games, and find the rows in which the person moved."""
        return person.moves(self.learning.game, self.settings.plies)

    def pooled(self, persons: Sequence[PersonGames], games: int, progress: Progress = SILENT) -> LinearEvaluation:
        """Learn what is common to so many games of each person's."""
        some = [self.divided(person)[0] for person in persons]
        generator = np.random.default_rng(self.seed)
        some = [one.select(np.sort(generator.permutation(len(one))[:games])) for one in some]
        together = PersonGames.together(self.learning.game, some)
        told = {"players": f"{len(persons)} players, {len(together):,} games"}
        return learn_style(self.learning, *self.moves(together), self.settings, progress=progress).evaluation(told)


@define(frozen=True, eq=False)
class Learned:
    """What was learned of a player.

    Parameters
    ----------
    evaluation
        The style by the choice model.
    choice, baseline, differences
        float64: weights by the choice model; the same of fewer features; by temporal differences.
    reference
        float64 [1]: the temperature of the reference, or empty.
    games
        Games that it was learned from.
    """

    evaluation: LinearEvaluation
    choice: Floats = field(repr=False)
    baseline: Floats = field(repr=False)
    differences: Floats = field(repr=False)
    reference: Floats = field(repr=False)
    games: int = 0

    def save(self, folder: Path, number: int) -> None:
        """Write the evaluation into a folder, then the other parts, which know what belongs to them."""
        path = folder / f"player-{number:02d}.npz"
        self.evaluation.save(path)
        facts = {"games": self.games, "evaluation": file_digest(path)}
        _PART.write(path.with_suffix(".parts.npz"), facts, {name: getattr(self, name) for name in _WEIGHTS})

    @classmethod
    def load(cls, folder: Path, number: int) -> Learned | None:
        """Read what :meth:`save` wrote; None where it is not there, is damaged, or belongs elsewhere."""
        path = folder / f"player-{number:02d}.npz"
        with contextlib.suppress(BadInputError), reading(path):
            header, weights = _PART.read(path.with_suffix(".parts.npz"))
            if header["evaluation"] == file_digest(path):
                return cls(LinearEvaluation.load(path), **weights, games=header["games"])
        return None


def learn_player(study: Study, person: PersonGames, pool: LinearEvaluation, progress: Progress = SILENT) -> Learned:
    """Learn a player's weights in every way that is compared, from the games to learn from."""
    training, _ = study.divided(person)
    played, rows = study.moves(training)
    style = learn_style(study.learning, played, rows, study.settings, prior=pool, progress=progress)
    small = style.moves.of_features(study.baseline)
    baseline = fit_choices(small.choices, small.names, precision=typical_changes(small.choices) ** 2).weights
    features, starts = study.positions(played, rows, pool)
    differences = learn_differences(features, starts, study.begin, study.fixed, study.how).weights
    reference = np.zeros(0)
    if study.reference is not None:
        scored = study.scored(played, rows[:_REFERENCE_MOVES])
        reference = fit_choices(scored.choices, scored.names).weights
    return Learned(
        style.evaluation(training.facts()), style.model.weights, baseline, differences, reference, len(training)
    )


def ask(
    study: Study, person: PersonGames, number: int, learned: Sequence[Learned], pool: LinearEvaluation
) -> tuple[UnseenGames, list[Foretelling]]:
    """Ask all players' weights about the unseen games of one; the predictions are of the player's own weights."""
    _, test = study.divided(person)
    played, rows = study.moves(test)
    moves = make_moves(study.learning, played, rows, study.settings, pool)
    games = np.unique(moves.choices.game)
    small = moves.of_features(study.baseline)
    features, starts = study.positions(played, rows, pool)
    errors = [differences_of(features, starts, one.differences, study.how.scale) for one in learned]
    sums = np.add.reduceat(np.nan_to_num(np.stack(errors, axis=1)), starts[:-1], axis=0)
    # A game with forced moves alone is none to guess.
    told = np.searchsorted(np.unique(played.record[rows]), games)
    scores = {
        CHOICE_MODEL: np.stack([moves.by_game(one.choice) for one in learned], axis=1),
        BASELINE: np.stack([small.by_game(one.baseline) for one in learned], axis=1),
        DIFFERENCES: -sums[told],
        EQUAL: np.zeros((len(games), len(learned))),
    }
    begin, length = played.offsets[games], np.diff(played.offsets)[games]
    at = np.minimum(begin + study.opening_plies, begin + length - 1)
    keys = position_keys(study.learning.game, rows_of(played.positions, at))
    opening = (keys ^ np.uint64(1) * (test.side[games] > 0)).view(np.int64)
    predictions = [predict("own style", moves, learned[number].choice)]
    # The scores of the pool, with the player's own temperature.
    predictions.append(predict("all players", moves, of_score_alone(learned[number].choice)))
    if study.reference is not None:
        predictions.append(predict("reference", study.scored(played, rows), learned[number].reference))
    return UnseenGames(np.full(len(games), number), opening, scores), predictions


def confusion(test: UnseenGames, players: int, method: str) -> Floats:
    """Share of each player's games, [P, P], that a method gives to each player."""
    guess = test.scores[method].argmax(axis=1)
    found = np.zeros((players, players))
    np.add.at(found, (test.player, guess), 1)
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1))


def accuracy_table(found: Sequence[Accuracy], players: int) -> Table:
    """Put accuracies in rows."""
    return Table.of(
        f"Which of {players} is it? By chance {1 / players:.1%}",
        found,
        {
            "by": lambda each: each.method,
            "games together": lambda each: each.games,
            "openings": lambda each: "matched" if each.matched else "as played",
            "right": lambda each: f"{each.share:.1%}",
            "interval": lambda each: f"{each.low:.1%} to {each.high:.1%}",
            "test games": lambda each: f"{each.used:,}",
        },
    )


def guess_players(
    study: Study,
    persons: Sequence[PersonGames],
    folder: Path,
    common: LinearEvaluation | None,
    confidence: float,
    progress: Progress,
) -> tuple[list[Table], dict[str, Any]]:
    """Learn all players' weights, and guess who played games that no model has seen: the tables, and JSON values.

    Parameters
    ----------
    folder
        Has what was learned before, and gets the rest.
    common
        The prior of all players; None to learn it from some games of each.
    """
    pool = folder / "pool.npz"
    if common is None:
        # A missing or damaged one is learned again.
        with contextlib.suppress(BadInputError):
            common = LinearEvaluation.load(pool)
    if common is None:
        common = study.pooled(persons, _POOL_GAMES, progress)
        common.save(pool)
    learned = []
    with progress("Learning players", len(persons)) as task:
        for number, person in enumerate(persons):
            one = Learned.load(folder, number)
            if one is None:
                one = learn_player(study, person, common)
                one.save(folder, number)
            learned.append(one)
            task.advance()
    unseen, rows, predictions = [], [], {}
    less, foretold = dict[str, Any](), dict[str, Any]()
    with progress("Guessing", len(persons)) as task:
        for number, (person, one) in enumerate(zip(persons, learned, strict=True)):
            games, (own, *others) = ask(study, person, number, learned, common)
            unseen.append(games)
            less = {f"own less {other.name}": own.per_move(other, confidence) for other in others}
            foretold = {f"by {each.name}": each.share_of_best(confidence) for each in (own, *others[1:])}
            intervals = (with_limits("+.3f", *each) for each in less.values())
            rows.append((person.name, str(one.games), *intervals, *(f"{share:.1%}" for share, *_ in foretold.values())))
            predictions[person.name] = {"games": one.games, "foretold": own.share_of_best(confidence), **less}
            task.advance()
    header = ("player", "games", *less, "foretold", *[*foretold][1:])
    test, names = UnseenGames.together(unseen), [person.name for person in persons]
    found = accuracies(test, len(names), confidence=confidence, seed=study.seed)
    shares = confusion(test, len(names), CHOICE_MODEL)
    guesses = [(name, *(f"{share:.0%}" for share in row)) for name, row in zip(names, shares, strict=True)]
    tables = [
        accuracy_table(found, len(names)),
        Table("Log likelihood a move of unseen games", header, rows),
        Table("Single games guessed by the choice model", ("player", *names), guesses),
    ]
    accuracy = [each.to_json() for each in found]
    return tables, {"players": names, "accuracies": accuracy, "predictions": predictions, "guesses": shares.tolist()}
