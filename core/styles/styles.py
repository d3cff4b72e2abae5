"""A player's style: the weights under which the player's own moves are likely, and how well they foretell others."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.features.learning import Learning, load_learning
from glem.core.fitting.sandwich import mean_of_games
from glem.core.positions.replay import Replay
from glem.core.search.quiet import STATIC, LeafSearch
from glem.core.styles.choice_model import ChoiceModel, fit_choices, typical_changes
from glem.core.styles.chosen_moves import SCORE, ChosenMoves
from glem.core.tasks.counts import counted, with_limits
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

_FIRST_LEEWAY = 1.0
_LEEWAY = 0.3
_SCORE_LEEWAY = 30.0


@define(frozen=True)
class StyleSettings:
    """How styles are learned.

    Parameters
    ----------
    features
        Names of those that count.
    plies
        First and last ply of the games, both inclusive; the default is the paper's moves 5 to 35.
    depth
        Plies that are searched behind each move before quiescence, or :data:`~glem.core.search.quiet.STATIC`: moves
        count by the positions right after them.
    quiescence
        Name of one of :attr:`Game.quiescence <glem.core.game.game.Game.quiescence>`; "" for the game's own.
    refits
        How often moves are searched again with the weights that were found, where no prior tells what to search with.
    leeway
        How far the effect of a feature's usual change may well be from the prior's, in log odds: the standard deviation
        of a normal distribution. None for 0.3, or 1 about zero where there is no prior.
    """

    features: tuple[str, ...]
    plies: tuple[int, int] = (8, 69)
    depth: int = 0
    quiescence: str = ""
    refits: int = 3
    leeway: float | None = None

    def __attrs_post_init__(self) -> None:
        if not (0 <= self.plies[0] <= self.plies[1]):
            raise BadInputError(f"plies must be a range like 8-69, got {self.plies[0]}-{self.plies[1]}")
        if self.leeway is not None and not 0 < self.leeway < math.inf:
            raise BadInputError(f"the leeway of a style must be positive, got {self.leeway:g}")

    def search(self, evaluation: LinearEvaluation) -> LeafSearch:
        """Make the search by which moves are told."""
        return LeafSearch(evaluation, self.depth, self.quiescence)


def learning_of_styles(game: str, feature_set: str | None = None) -> Learning:
    """Load what styles of a game are learned by.

    Parameters
    ----------
    feature_set
        One of its sets; "" for the first; None for the one that is called ``style``, if any, else the first.

    Raises
    ------
    PluginError, BadInputError
        See :func:`~glem.core.features.learning.load_learning`.
    """
    learning = load_learning(game)
    if feature_set is None:
        feature_set = "style" if "style" in learning.feature_sets else ""
    return load_learning(game, feature_set) if feature_set else learning


def style_features(learning: Learning, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the features that count: the given features and groups, or those that enter linearly.

    Raises
    ------
    BadInputError
        There is no such feature or group, or none that enters linearly.
    """
    groups = {feature.group for feature in learning.features.features}
    chosen = learning.linear
    if names:
        places = learning.features.select([name for name in names if name in groups], [*set(names) - groups])
        chosen = tuple(learning.features[int(place)].name for place in places)
    if not chosen:
        raise BadInputError(f"{learning.game.name} has no features that enter linearly: name some")
    return chosen


@define(frozen=True, eq=False)
class Style:
    """Weights of a player.

    Parameters
    ----------
    model
        The weights: with a prior first that of its score (:data:`~glem.core.styles.chosen_moves.SCORE`), then by how
        much those of features differ from the prior's.
    moves
        The moves that they were fitted to.
    prior
        What the moves were searched with, and the weights were held to.
    """

    model: ChoiceModel
    moves: ChosenMoves = field(repr=False)
    prior: LinearEvaluation | None = None

    def evaluation(self, told: Mapping[str, str]) -> LinearEvaluation:
        """Make an ordinary evaluation, of which ``told`` says where it comes from.

        Its values are log odds of choices. Under the logistic link they are played and graded as log odds of winning,
        whose order is the same. The coefficients are what was fitted, the same in all phases, with
        :meth:`cautious errors <.ChoiceModel.cautious_errors>`.
        """
        learning, model = self.moves.learning, self.model
        told = {"weights": f"moves that were chosen: {model.choices:,} of {counted(model.games, 'game')}", **told}
        if self.prior is None:
            return evaluation_of(learning, model, told)
        factor = model.weights[0] * evaluator_of(self.prior).steps_per_unit
        scaled = self.prior.with_weights(self.prior.weights * factor)
        changed = dict(zip(model.names[1:], model.weights[1:], strict=True))
        errors = dict(zip(model.names[1:], model.cautious_errors()[1:], strict=True))
        own = {learning.features[at].name: scaled.linear_weights[:, place] for place, at in enumerate(scaled.linear)}
        names = [*own, *(name for name in changed if name not in own)]
        phases = len(learning.phases)
        weights = [own.get(name, np.zeros(phases)) + changed.get(name, 0.0) for name in names]
        apart = [[0.0, math.nan]] * (len(scaled.terms) - len(scaled.linear))
        fitted = [*apart, *([changed.get(name, 0.0), errors.get(name, math.nan)] for name in names), [0.0, math.nan]]
        coefficients = np.repeat(np.array(fitted, np.float32).T[:, None], phases, axis=1)
        return evolve(
            scaled,
            link=LOGISTIC,
            linear=tuple(learning.features.index(name) for name in names),
            linear_weights=np.stack(weights, axis=1).astype(np.float32),
            provenance={**told, "prior": self.prior.provenance.get("weights", "an evaluation")},
            coefficients=coefficients,
        )


def evaluation_of(learning: Learning, model: ChoiceModel, told: Mapping[str, str]) -> LinearEvaluation:
    """Make an evaluation of a model without a prior, the same in all phases; see :meth:`Style.evaluation`."""
    fitted = np.stack([np.append(model.weights, 0.0), np.append(model.cautious_errors(), np.nan)]).astype(np.float32)
    coefficients = np.repeat(fitted[:, None, :], len(learning.phases), axis=1)
    return evaluation_with(learning, model.names, model.weights, provenance=told, coefficients=coefficients)


def evaluation_with(
    learning: Learning, names: Sequence[str], weights: NDArray[np.float64], **more: Any
) -> LinearEvaluation:
    """Make an evaluation that gives features the same weights in all phases."""
    phases = len(learning.phases)
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        LOGISTIC,
        linear=tuple(learning.features.index(name) for name in names),
        linear_weights=np.tile(weights.astype(np.float32), (phases, 1)),
        **more,
    )


def make_moves(
    learning: Learning,
    replay: Replay,
    rows: NDArray[np.int64],
    settings: StyleSettings,
    searched: LinearEvaluation | None = None,
    progress: Progress = SILENT,
    *,
    scored: bool = True,
) -> ChosenMoves:
    """Make the legal moves of some rows of a replay, by the leaves that an evaluation's search leads to, if any."""
    search, scored = (None, False) if searched is None else (settings.search(searched), scored)
    return ChosenMoves.of(learning, settings.features, replay, rows, search, progress, scored=scored)


def learn_style(
    learning: Learning,
    replay: Replay,
    rows: NDArray[np.int64],
    settings: StyleSettings,
    *,
    prior: LinearEvaluation | None = None,
    progress: Progress = SILENT,
) -> Style:
    """Learn the weights of a player by the choice model.

    Parameters
    ----------
    replay, rows
        Games, and the rows in which the player moved (:func:`~glem.core.styles.chosen_moves.own_moves`).
    prior
        What all players have in common: a style that many games taught, or any evaluation of these features. Moves are
        searched with it; the player's weights are a multiple of its own and what features add to that, which is held to
        zero. Without one moves are searched again and again with what was found.

    Raises
    ------
    BadInputError
        The prior has other features, or what :func:`~glem.core.styles.choice_model.fit_choices` raises.
    """
    if prior is not None and prior.learning is not learning:
        raise BadInputError("the prior has other features than those that the style is learned by")
    leeway = settings.leeway
    searched, style = prior, None
    for _ in range(1 if prior is not None or settings.depth == STATIC else settings.refits + 1):
        moves = make_moves(learning, replay, rows, settings, searched, progress, scored=prior is not None)
        style = Style(fit_moves(moves, leeway), moves, prior)
        searched = style.evaluation({})
    assert style is not None
    return style


def fit_moves(moves: ChosenMoves, leeway: float | None = None) -> ChoiceModel:
    """Fit a model to moves, held to zero, or to a multiple of the score where moves have one.

    ``leeway`` is that of :class:`StyleSettings`.
    """
    leeway = leeway or (_LEEWAY if SCORE in moves.names else _FIRST_LEEWAY)
    free = np.array([_SCORE_LEEWAY if name == SCORE else leeway for name in moves.names])
    return fit_choices(moves.choices, moves.names, precision=(typical_changes(moves.choices) / free) ** 2)


@define(frozen=True, eq=False)
class Foretelling:
    """How well weights foretell moves, by game.

    Parameters
    ----------
    name
        Whose weights.
    log_likelihood
        float64 [G]: natural logarithm of the likelihood of a game's moves.
    best
        float64 [G]: moves that have the greatest value of all; where several have, each counts for a part.
    moves
        int64 [G].
    """

    name: str
    log_likelihood: NDArray[np.float64]
    best: NDArray[np.float64]
    moves: NDArray[np.int64]

    def per_move(self, other: "Foretelling | None" = None, confidence: float = 0.95) -> tuple[float, float, float]:
        """Mean logarithm of a move's likelihood, less that of another prediction, with an interval by game."""
        own = self.log_likelihood - (0.0 if other is None else other.log_likelihood)
        mean = mean_of_games(own, self.moves)
        return mean.value, *mean.limits(confidence)

    def share_of_best(self, confidence: float = 0.95) -> tuple[float, float, float]:
        """Share of the moves that were foretold, with an interval by game."""
        mean = mean_of_games(self.best, self.moves)
        return mean.value, *mean.limits(confidence)

    def to_json(self, confidence: float) -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            "name": self.name,
            "log_likelihood": self.per_move(None, confidence),
            "foretold": self.share_of_best(confidence),
            "moves": int(self.moves.sum()),
        }


def prediction_table(predictions: Sequence[Foretelling], confidence: float) -> Table:
    """Put predictions of the same moves in rows; the first is that of the style."""
    own = predictions[0] if predictions else None
    moves = 0 if own is None else int(own.moves.sum())
    games = "no unseen game" if own is None else counted(len(own.moves), "unseen game")
    return Table.of(
        f"Foretold: {counted(moves, 'move')} of {games}",
        predictions,
        {
            "by": lambda one: one.name,
            "log likelihood a move": lambda one: with_limits("+.3f", *one.per_move(None, confidence)),
            "own less this": lambda one: (
                None if own is None or one is own else with_limits("+.3f", *own.per_move(one, confidence))
            ),
            "moves foretold": lambda one: with_limits(".1%", *one.share_of_best(confidence)),
        },
    )


def of_score_alone(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of a prior's score, which is the first feature, without those that a style adds."""
    return np.where(np.arange(len(weights)) > 0, 0.0, weights)


def predict(name: str, moves: ChosenMoves, weights: NDArray[np.float64]) -> Foretelling:
    """Ask weights for the moves that were chosen."""
    likelihood, best = moves.told_by(weights)
    games, numbers = np.unique(moves.choices.game, return_inverse=True)
    count = len(games)
    return Foretelling(
        name,
        np.bincount(numbers, likelihood, count).astype(np.float64),
        np.bincount(numbers, best, count).astype(np.float64),
        np.bincount(numbers, minlength=count).astype(np.int64),
    )
