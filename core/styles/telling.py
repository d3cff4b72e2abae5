"""What styles say of moves: whose they are, and where two of them differ most."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.fitting.sandwich import mean_of_games
from glem.core.game.game import Game
from glem.core.positions.replay import Replay
from glem.core.search.quiet import LeafSearch, leaf_signs
from glem.core.styles.choice_model import chances_of
from glem.core.styles.chosen_moves import ChosenMoves
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

_LIKE = 100
SHOWN = 15
"""Rows of a table, the greatest first."""


def evaluated_moves(
    styles: Sequence[LinearEvaluation],
    replay: Replay,
    rows: NDArray[np.int64],
    *,
    depth: int = 0,
    quiescence: str = "",
    progress: Progress = SILENT,
) -> ChosenMoves:
    """Make the legal moves of some rows of a replay, with what each style gives to each of them as its features.

    All styles look at the same leaves, those of searches by the first: what they differ by is their taste alone.
    """
    search = LeafSearch(styles[0], depth, quiescence)

    def values(after: Any) -> NDArray[Any]:
        leaves, plies, _ = search.leaves(after)
        signs = -leaf_signs(plies)
        return np.stack([signs * style.sums(leaves) for style in styles], axis=1)

    names = tuple(str(number) for number in range(len(styles)))
    return ChosenMoves.made(styles[0].learning, names, replay, rows, values, progress)


def log_likelihoods(moves: ChosenMoves) -> NDArray[np.float64]:
    """Logarithm of the likelihood of each choice under each style of :func:`evaluated_moves`: float64 [m, P]."""
    return np.stack([moves.told_by(one)[0] for one in np.eye(len(moves.names))], axis=1)


class Verdict(NamedTuple):
    """Whose moves some are.

    Parameters
    ----------
    style
        Index of the likeliest style.
    is_told
        Whether the next one is out of the interval: otherwise the moves cannot tell.
    difference, error
        Mean log likelihood of a move less that by the next one, and its standard error.
    moves
        Number of moves.
    """

    style: int
    is_told: bool
    difference: float
    error: float
    moves: int

    def to_json(self, names: Sequence[str]) -> dict[str, Any]:
        """All figures as JSON values, with the names of the styles."""
        figures = {"difference": self.difference, "error": self.error, "moves": self.moves}
        return {"style": names[self.style], "told": self.is_told, **figures}


def verdict(likelihoods: NDArray[np.float64], groups: NDArray[Any], confidence: float = 0.95) -> Verdict:
    """Ask whose moves these are, float64 [m, P], with errors by group: games, or single moves of one game."""
    sums = likelihoods.sum(axis=0)
    first, second = np.argsort(-sums, kind="stable")[:2]
    apart = likelihoods[:, first] - likelihoods[:, second]
    _, numbers = np.unique(groups, return_inverse=True)
    mean = mean_of_games(np.bincount(numbers, apart), np.bincount(numbers))
    return Verdict(int(first), mean.limits(confidence)[0] > 0, *mean, len(apart))


@define(frozen=True)
class TellingPosition:
    """A position in which two styles want different moves.

    Parameters
    ----------
    position
        The position.
    game, ply
        Number of the game, and plies before.
    played
        The move that was made there.
    wanted
        The likeliest move by each of the two.
    chances
        What the two give to each of these two moves.
    divergence
        Jensen-Shannon divergence of what the two give to all moves, in bits.
    """

    position: Any
    game: int
    ply: int
    played: int
    wanted: Sequence[int]
    chances: Sequence[Sequence[float]]
    divergence: float

    def to_json(self, game: Game) -> dict[str, Any]:
        """Give position, moves and divergence as JSON values."""
        return {
            "position": game.format_position(self.position),
            "wanted": [*map(game.format_move, self.wanted)],
            "played": game.format_move(self.played),
            "divergence": self.divergence,
        }


def telling_positions(moves: ChosenMoves, replay: Replay, count: int = 10) -> list[TellingPosition]:
    """Find the positions of different games in which the first two styles of :func:`evaluated_moves` differ most.

    Of those in which they want different moves, each position once.
    """
    choices = moves.choices
    both = np.stack([chances_of(choices, own)[0] for own in np.eye(len(moves.names))[:2]])
    begin = choices.starts[:-1]
    middle = np.maximum(both.sum(axis=0) / 2, 1e-300)
    bits = np.where(both > 0, both * np.log2(np.maximum(both, 1e-300) / middle), 0.0).sum(axis=0)
    divergence = np.add.reduceat(bits, begin) / 2 if len(begin) else np.zeros(0)
    found: list[TellingPosition] = []
    seen, keys = set[int](), set[Any]()
    for choice in np.argsort(-divergence, kind="stable").tolist():
        game, row = int(choices.game[choice]), int(moves.rows[choice])
        first, end = choices.starts[choice : choice + 2].tolist()
        best = first + both[:, first:end].argmax(axis=1)
        position = position_at(replay.positions, row)
        key = moves.learning.game.hash_key(position)
        if best[0] == best[1] or game in seen or key in keys:
            continue
        seen.add(game)
        keys.add(key)
        played, wanted, chances = int(replay.move[row]), moves.moves[best].tolist(), both[:, best].tolist()
        found.append(
            TellingPosition(position, game, int(replay.ply[row]), played, wanted, chances, float(divergence[choice]))
        )
        if len(found) == count:
            break
    return found


class Taste(NamedTuple):
    """One feature in two styles.

    Parameters
    ----------
    name
        Of the feature.
    weights, errors
        In each of the two.
    score
        Their difference in standard errors; 0 where these are not known.
    share
        Share of other styles that have a smaller weight than the first; nan without others.
    """

    name: str
    weights: tuple[float, float]
    errors: tuple[float, float]
    score: float
    share: float


def coefficients_of(style: LinearEvaluation) -> Mapping[str, tuple[float, float]]:
    """Coefficients and errors of a style, the same in all phases, by feature; weights where none were kept."""
    names = [style.learning.features[at].name for at in style.linear]
    values, errors = style.linear_weights.mean(axis=0), np.full(len(names), math.nan)
    if style.coefficients is not None:
        values, errors = style.coefficients[:, 0, len(style.terms) - len(style.linear) : -1]
    return dict(zip(names, zip(values.tolist(), errors.tolist(), strict=True), strict=True))


def of_like_strength(style: LinearEvaluation, others: Sequence[LinearEvaluation]) -> list[LinearEvaluation]:
    """Keep the styles of players whose mean ratings differ by at most 100 points; all where ratings are not known."""
    own, theirs = _rating(style), [_rating(other) for other in others]
    return [
        other
        for other, rating in zip(others, theirs, strict=True)
        if own is None or rating is None or abs(own - rating) <= _LIKE
    ]


def _rating(style: LinearEvaluation) -> int | None:
    text = style.provenance.get("rating", "")
    return int(text) if text.isdecimal() else None


def compare_tastes(
    first: LinearEvaluation, second: LinearEvaluation, others: Sequence[LinearEvaluation] = ()
) -> list[Taste]:
    """Compare two styles feature by feature, the most different first."""
    one, two, many = coefficients_of(first), coefficients_of(second), [coefficients_of(each) for each in others]
    found = []
    for name, (weight, error) in one.items():
        if name not in two:
            continue
        theirs, their_error = two[name]
        spread = math.hypot(error, their_error)
        score = (weight - theirs) / spread if spread > 0 else 0.0
        known = [each[name][0] for each in many if name in each]
        share = sum(value < weight for value in known) / len(known) if known else math.nan
        found.append(Taste(name, (weight, theirs), (error, their_error), score, share))
    return sorted(found, key=lambda each: -abs(each.score))


def _with_error(weight: float, error: float) -> str:
    return f"{weight:+.3f} ± {error:.3f}"


def weights_table(style: LinearEvaluation, shares: Mapping[str, float]) -> Table:
    """Put the strongest features in rows, with the shares of other styles that have less, if there are any."""
    found = coefficients_of(style).items()
    strongest = sorted(found, key=lambda item: -abs(item[1][0] / item[1][1] if item[1][1] > 0 else item[1][0]))
    descriptions = {feature.name: feature.description for feature in style.learning.features.features}
    greater = {"greater than": lambda item: f"{shares[item[0]]:.0%}" if item[0] in shares else ""} if shares else {}
    return Table.of(
        "Log odds of a choice",
        strongest[:SHOWN],
        {
            "strongest": lambda item: item[0],
            "weight": lambda item: "{:+.4f} ± {:.4f}".format(*item[1]).removesuffix(" ± nan"),
            **greater,
            "what it counts": lambda item: descriptions[item[0]],
        },
    )


def taste_table(tastes: Sequence[Taste], names: Sequence[str]) -> Table:
    """Put the most different features of two styles in rows."""
    has_shares = any(not math.isnan(taste.share) for taste in tastes)
    rows = [
        (
            taste.name,
            *map(_with_error, taste.weights, taste.errors),
            f"{taste.score:+.1f}",
            *([f"{taste.share:.0%}"] if has_shares else []),
        )
        for taste in tastes[:SHOWN]
    ]
    shares = [f"{names[0]} greater than"] if has_shares else []
    header = ("feature", *names, "difference in errors", *shares)
    return Table(f"Where {names[0]} and {names[1]} differ most", header, rows)


def drift_table(periods: Sequence[tuple[str, LinearEvaluation]]) -> Table:
    """Put what changed most from the first to the last period in rows."""
    known = [coefficients_of(style) for _, style in periods]
    rows = [
        (taste.name, f"{taste.score:+.1f}", *(_with_error(*own[taste.name]) for own in known))
        for taste in compare_tastes(periods[-1][1], periods[0][1])[:SHOWN]
    ]
    return Table("Drift", ("feature", "change in errors", *(label for label, _ in periods)), rows)
