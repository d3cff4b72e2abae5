"""The three models of Buro 1995, section 2: logistic regression, Fisher's and the quadratic discriminant.

All say P(W | x) = 1 / (1 + exp(-f(x))) with f linear, or quadratic in the features. They are fitted to rows of features
with the share of their trials that were won, chunk by chunk, so that memory does not grow with the data. A draw is half
a win; doubled as in the paper's section 4 it is two trials, one of them won, with equal estimates.

Errors are those by game of :mod:`~glem.core.fitting.sandwich`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.fitting.sandwich import GameSums, Vector

_CHUNK = 4096
"""Rows that stay in the cache while they are summed up."""
_START = 1 << 16
"""Rows of the first, rough fit."""
_ITERATIONS, _FIRST_ITERATIONS, _FIRTH_ITERATIONS = 100, 20, 1000
"""Of Newton's method, each of which comes one log odd nearer to a maximum that is far away: alone, before Firth's
correction, and with it.
"""
_SETTLED = 2e-9
"""Log odds: the shortest step."""
_WIDE = 64
"""Features, of more than which a fit without those that separate alone is better than to wait for Firth's, whose
exact curvature takes too long."""
_MOST_NOTES, _MOST_NAMED = 4, 10
"""Features left out at once that get a note each, and those that an error names."""
_SEPARATED, _MOST_OBJECTIONS = 1e-6, 2000
"""Least distance from the boundary that is one, in what features differ by, and rows that a program gains at once."""
_COLLINEAR = 1e-10
"""Share of a feature's variance that the features before it leave, below which it is one of them."""
_GREATEST = 1e100
"""Greatest value, and inverse of the least difference, whose squares are numbers."""
_BLURRED = 5e-7
"""Most that a value may be rounded by, in what features differ by: it changes chances by less than 1e-6."""
_CLASSES = ("lost", "won")


class CollinearError(BadInputError):
    """Features are constant or linear combinations of others.

    Parameters
    ----------
    found
        Index of each such feature, and what is wrong with it.
    """

    def __init__(self, found: Mapping[int, str]) -> None:
        super().__init__(next(iter(found.values())) + (f", and {len(found) - 1} more such" if len(found) > 1 else ""))
        self.found = dict(found)


class SeparationError(BadInputError):
    """Features separate the classes, so that their weights have no finite maximum; the text names them.

    Parameters
    ----------
    text
        What is wrong.
    alone
        Indices of features each of which does so alone.
    """

    def __init__(self, text: str, alone: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.alone = tuple(alone)


class Rows(NamedTuple):
    """Some rows of a sample.

    Parameters
    ----------
    features
        float64 or float32 [n, k].
    won
        float64 [n], share of the trials won, 0 to 1.
    trials
        float64 [n], how often a row counts.
    game
        int64 [n], what the rows have in common that depend on each other.
    offset
        float64 [n], what is added to the discriminant of a row.
    """

    features: NDArray[Any]
    won: Vector
    trials: Vector
    game: NDArray[np.int64]
    offset: Vector


@define(frozen=True, eq=False)
class Sample:
    """Rows to fit to, in memory or read anew on every pass.

    Parameters
    ----------
    names
        Names of the k features.
    chunks
        Called on every pass: the rows, in chunks of any size, the same each time.
    games
        Number of games; those of the rows are below it.
    in_order
        Whether the rows of a game follow one another, so that errors by game need no table of all games.
    """

    names: tuple[str, ...]
    chunks: Callable[[], Iterable[Rows]] = field(repr=False)
    games: int
    in_order: bool = False

    @classmethod
    def of_arrays(
        cls,
        features: NDArray[Any],
        won: NDArray[Any],
        *,
        trials: NDArray[Any] | None = None,
        game: NDArray[Any] | None = None,
        offset: NDArray[Any] | None = None,
        names: Sequence[str] | None = None,
    ) -> Sample:
        """Make a sample of arrays.

        Parameters
        ----------
        features
            [N, k].
        won
            [N], shares of trials won: 1, 0, and 0.5 for a draw.
        trials
            [N], 1 if not given.
        game
            [N] of any kind, equal for rows of one game; every row is one of its own if not given.
        offset
            [N], 0 if not given.
        names
            Of the features; ``x0``, ``x1``, ... if not given.

        Raises
        ------
        BadInputError
            The lengths differ, a share is not between 0 and 1, or trials or offsets are not finite, or negative trials.
        """
        count, width = features.shape
        labels = tuple(names) if names is not None else tuple(f"x{place}" for place in range(width))
        columns = {"won": won, "trials": trials, "game": game, "offset": offset}
        for name, column in columns.items():
            if column is not None and np.shape(column) != (count,):
                raise BadInputError(f"{count:,} rows of features and {np.shape(column)} values of {name!r}")
        if len(labels) != width:
            raise BadInputError(f"{width} features and {len(labels)} names")
        shares = np.ascontiguousarray(won, np.float64)
        times = np.ones(count) if trials is None else np.ascontiguousarray(trials, np.float64)
        added = np.zeros(count) if offset is None else np.ascontiguousarray(offset, np.float64)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise BadInputError("the share of trials won is not between 0 and 1 everywhere")
        if not (np.isfinite(times).all() and np.isfinite(added).all() and (times >= 0).all()):
            raise BadInputError("trials or offsets are not finite, or trials are negative")
        keys, games = _numbered(game, count)
        in_order = not count or bool((keys[1:] >= keys[:-1]).all())

        def chunks() -> Iterator[Rows]:
            for start in range(0, count, _CHUNK):
                part = slice(start, start + _CHUNK)
                yield Rows(features[part], shares[part], times[part], keys[part], added[part])

        return cls(labels, chunks, games, in_order)


def _numbered(game: NDArray[Any] | None, count: int) -> tuple[NDArray[np.int64], int]:
    """Give the games of rows numbers from 0 on."""
    if game is None:
        return np.arange(count), count
    keys = np.asarray(game)
    if count and (keys[1:] >= keys[:-1]).all():
        numbers = np.concatenate([[0], np.cumsum(keys[1:] != keys[:-1])]).astype(np.int64)
        return numbers, int(numbers[-1]) + 1
    found, numbers = np.unique(keys, return_inverse=True)
    return numbers.astype(np.int64), len(found)


@define(frozen=True, eq=False)
class LinearModel:
    """A discriminant that is linear in the features.

    Parameters
    ----------
    names
        Names of the k features.
    weights
        float64 [k + 1], the constant last.
    covariance, naive_covariance
        float64 [k + 1, k + 1], of the weights: by game, and as if all rows were independent.
    rows, games
        Numbers of rows with trials and of games.
    trials, log_likelihood
        Number of trials, and the natural logarithm of the likelihood of them all.
    iterations
        Passes that the fit took.
    centre, middle
        Features float64 [k] in the midst of the sample, and the discriminant of such a row. Scores are counted from
        there: the constant alone would round away what features far from 0 differ by.
    """

    names: tuple[str, ...]
    weights: Vector
    covariance: Vector = field(repr=False)
    naive_covariance: Vector = field(repr=False)
    rows: int
    games: int
    trials: float
    log_likelihood: float
    iterations: int
    centre: Vector = field(repr=False)
    middle: float = field(repr=False)

    def scores(self, features: NDArray[Any]) -> Vector:
        """Discriminant of rows [N, k], the log odds of a win: float64 [N]."""
        values = _columns(features, self.names) - self.centre[:, None]
        return np.asarray(self.weights[:-1] @ values + self.middle)

    def errors(self, *, naive: bool = False) -> Vector:
        """Return the standard errors of the weights, float64 [k + 1]: by game, or ``naive``."""
        return np.sqrt(np.diag(self.naive_covariance if naive else self.covariance))


@define(frozen=True, eq=False)
class QuadraticModel:
    """The quadratic discriminant for features that are normally distributed in either class (section 2.1).

    Parameters
    ----------
    names
        Names of the k features.
    centre
        float64 [k]: what features are counted from.
    means, covariances
        float64 [2, k], [2, k, k], of lost and won rows; the means from the centre.
    whitening
        float64 [2, k, k]: what the features of either class, less its mean, are multiplied by to have unit covariance.
    shares
        float64 [2], of lost and won trials.
    constant
        What half the difference of both squared distances misses of the discriminant.
    """

    names: tuple[str, ...]
    centre: Vector = field(repr=False)
    means: Vector = field(repr=False)
    covariances: Vector = field(repr=False)
    whitening: Vector = field(repr=False)
    shares: Vector
    constant: float

    def scores(self, features: NDArray[Any]) -> Vector:
        """Discriminant of rows [N, k], the log odds of a win: float64 [N]."""
        values = _columns(features, self.names) - self.centre[:, None]
        lost, won = (
            np.square(turn.T @ (values - mean[:, None])).sum(axis=0)
            for mean, turn in zip(self.means, self.whitening, strict=True)
        )
        return np.asarray((lost - won) / 2 + self.constant)

    def polynomial(self) -> tuple[Vector, Vector, float]:
        """Squares float64 [k, k], symmetric, slopes [k] and a constant: f(x) = x squares x' + slopes x' + constant."""
        of_lost, of_won = (turn @ turn.T for turn in self.whitening)
        lost, won = self.means + self.centre
        constant = (lost @ of_lost @ lost - won @ of_won @ won) / 2 + self.constant
        return (of_lost - of_won) / 2, won @ of_won - lost @ of_lost, float(constant)


class Moments(NamedTuple):
    """What one pass over a sample finds of lost and of won rows; a drawn one is half of either.

    Parameters
    ----------
    origin
        float64 [k]: what features are counted from in ``means``, ``least`` and ``most``.
    trials
        float64 [2], of lost and of won rows.
    means, products
        float64 [2, k], [2, k, k]: means, and sums of products about them.
    least, most
        float64 [2, k].
    """

    origin: Vector
    trials: Vector
    means: Vector
    products: Vector
    least: Vector
    most: Vector

    @property
    def within(self) -> Vector:
        """Covariance that both classes have in common: float64 [k, k]."""
        return np.asarray(self.products.sum(axis=0) / self.trials.sum())


def _columns(features: NDArray[Any], names: Sequence[str]) -> Vector:
    """Copy features [n, k] feature by feature, with which much is many times as fast: float64 [k, n]."""
    columns: Vector = features.astype(np.float64, order="F").T
    least, most = columns.min(axis=1, initial=0), columns.max(axis=1, initial=0)
    for place in np.flatnonzero(~(np.maximum(-least, most) <= _GREATEST)).tolist():
        if not np.isfinite(columns[place]).all():
            raise BadInputError(f"feature {names[place]!r} is not finite everywhere")
        raise BadInputError(
            f"feature {names[place]!r} reaches from {least[place]:g} to {most[place]:g}: divide it, so that nothing is "
            f"beyond {_GREATEST:g}"
        )
    return columns


def moments_of(sample: Sample) -> Moments:
    """Sum up a sample in one pass; a row counts in either class with its trials.

    Raises
    ------
    BadInputError
        A class has no row, or a feature is not finite or too large.
    """
    width = len(sample.names)
    origin, trials = np.zeros(width), np.zeros(2)
    means, products = np.zeros((2, width)), np.zeros((2, width, width))
    least, most = np.full((2, width), np.inf), np.full((2, width), -np.inf)
    for rows in sample.chunks():
        columns = _columns(rows.features, sample.names)
        if not trials.any() and len(rows.won):
            origin = columns.mean(axis=1)
        columns -= origin[:, None]
        for place, share in enumerate((1 - rows.won, rows.won)):
            times = rows.trials * share
            own = np.flatnonzero(times)
            if not len(own):
                continue
            values, times = columns.take(own, axis=1), times[own]
            least[place] = np.minimum(least[place], values.min(axis=1))
            most[place] = np.maximum(most[place], values.max(axis=1))
            # About the mean of the chunk, so that no great numbers cancel out (Chan, Golub and LeVeque 1983).
            count = trials[place] + times.sum()
            mean = values @ times / times.sum()
            values -= mean[:, None]
            apart, share_before = mean - means[place], trials[place] / count
            products[place] += (values * times) @ values.T
            products[place] += np.outer(apart, apart) * (share_before * times.sum())
            means[place] += apart * (1 - share_before)
            trials[place] = count
    for place, name in enumerate(_CLASSES):
        if not trials[place] > 0:
            raise BadInputError(f"no row is {name}: a discriminant needs both classes")
    return Moments(origin, trials, means, products, least, most)


def _check_priors(priors: str | Sequence[float]) -> None:
    if isinstance(priors, str):
        if priors not in ("equal", "shares"):
            raise BadInputError(f"priors are equal, shares or two numbers, not {priors!r}")
    elif len(priors) != 2 or not all(0 < each < math.inf for each in priors):
        raise BadInputError(f"priors are two finite numbers above 0, of a loss and of a win, not {priors!r}")


def _log_prior(priors: str | Sequence[float], trials: Vector) -> float:
    """Log odds of a win before anything is seen: 0 for ``equal``, or of ``shares``, or of two numbers."""
    if isinstance(priors, str):
        return math.log(trials[1] / trials[0]) if priors == "shares" else 0.0
    return math.log(priors[1]) - math.log(priors[0])


def fit_fisher(sample: Sample, priors: str | Sequence[float] = "equal") -> LinearModel:
    """Fit Fisher's linear discriminant (Buro 1995, section 2.1).

    f(x) = (mW - mL) S^-1 (x - (mW + mL) / 2)' with the covariance S that both classes share, divided by the number of
    all trials. Errors come from the influence of each row on means and covariance.

    Parameters
    ----------
    sample
        The rows; offsets are not looked at.
    priors
        ``equal`` as in the paper, ``shares`` of the sample, or those of a loss and of a win.

    Raises
    ------
    BadInputError
        A class without rows, or features that are constant within either class, linear combinations of others, or
        beyond what numbers hold, by name.
    """
    _check_priors(priors)
    moments = moments_of(sample)
    whitening = _whitening(sample, moments, moments.within, [0, 1], " within either class")
    lost, won = moments.means
    # Here S is 1, and the middle of the classes 0.
    own = _Coordinates(sample, moments.origin, (won + lost) / 2, whitening)
    slopes = (won - lost) @ whitening
    weights = np.append(slopes, _log_prior(priors, moments.trials))
    rates = moments.trials.sum() / moments.trials

    def influence(rows: Rows) -> Vector:
        # With the sign s of a class and y = x - s (mW - mL) / 2, a row moves S^-1 (mW - mL) by
        # S^-1 ((s rate - y slopes) y + mW - mL), and the middle by rate / 2 y.
        values = rows.features[:, :-1]
        score, half = values @ slopes, slopes @ slopes / 2
        of_lost, of_won = rows.trials * (1 - rows.won), rows.trials * rows.won
        lost_factor, won_factor = of_lost * (-rates[0] - score - half), of_won * (rates[1] - score + half)
        pulls = of_lost * rates[0], of_won * rates[1]
        constant = -(pulls[0] * (score + half) + pulls[1] * (score - half)) / 2
        if priors == "shares":
            constant -= of_lost - pulls[0] + pulls[1] - of_won
        along = (lost_factor - won_factor) / 2 + rows.trials
        found = values * (lost_factor + won_factor)[:, None] + along[:, None] * slopes
        return np.asarray(np.column_stack([found, constant]) / moments.trials.sum())

    sums, likelihood = _sums_by_game(own.sample, weights, influence)
    # The changes are those of the weights themselves.
    by_game = sums.covariance(np.eye(len(weights)), len(weights))
    return own.model(weights, (by_game, sums.by_row), sums, float(moments.trials.sum()), likelihood, 2)


def fit_quadratic(sample: Sample, priors: str | Sequence[float] = "equal") -> QuadraticModel:
    """Fit the quadratic discriminant of normally distributed features (Buro 1995, section 2.1).

    Parameters
    ----------
    sample
        The rows; offsets and games are not looked at.
    priors
        As of :func:`fit_fisher`.

    Raises
    ------
    BadInputError
        A class without rows, or features that are constant or linear combinations of others among lost or among won
        rows, or beyond what numbers hold, by name.
    """
    _check_priors(priors)
    moments = moments_of(sample)
    covariances = moments.products / moments.trials[:, None, None]
    whitening = np.stack(
        [
            _whitening(sample, moments, covariance, [place], f" among {_CLASSES[place]} rows")
            for place, covariance in enumerate(covariances)
        ]
    )
    # Half the logarithms of the determinants of both covariances.
    lost, won = (-np.log(np.abs(np.diag(turn))).sum() for turn in whitening)
    return QuadraticModel(
        sample.names,
        moments.origin,
        moments.means,
        covariances,
        whitening,
        moments.trials / moments.trials.sum(),
        float(lost - won) + _log_prior(priors, moments.trials),
    )


def _whitening(sample: Sample, moments: Moments, covariance: Vector, classes: list[int], among: str) -> Vector:
    """Find what features are multiplied by to have unit covariance, as :func:`whitening_of`.

    Those are refused too that hardly differ by more than they are rounded: nobody knows what they would be without.
    The covariance is that of the ``classes``, among which ``among`` says that a feature is constant.
    """
    size = np.abs(moments.origin) + np.maximum(np.abs(moments.least), np.abs(moments.most)).max(axis=0)
    rounded = np.spacing(size)
    overall = moments.most.max(axis=0) - moments.least.min(axis=0)
    extent = overall if not among else (moments.most - moments.least)[classes].max(axis=0)
    small = np.flatnonzero((extent > 0) & (extent < 1 / _GREATEST))
    if len(small):
        name = sample.names[small[0]]
        raise BadInputError(f"feature {name!r} varies by no more than {extent[small[0]]:g}: multiply it")
    where = ["" if every else among for every in overall <= 4 * rounded]
    whitening = whitening_of(covariance, sample.names, extent <= 4 * rounded, where)
    # What the other features leave of each one's deviation.
    left = 1 / np.sqrt(np.square(whitening).sum(axis=1))
    for place in np.flatnonzero(rounded > _BLURRED * left).tolist():
        # Where the last three bits of all values are 0, as of most whole numbers, nothing was rounded.
        if any((rows.features[:, place] % (8 * rounded[place]) != 0).any() for rows in sample.chunks()):
            raise BadInputError(
                f"feature {sample.names[place]!r} differs by {left[place]:.2g} near {size[place]:.6g}, where numbers "
                f"are {rounded[place]:.2g} apart: take a constant off, before it is rounded"
            )
    return whitening


def whitening_of(
    covariance: Vector, names: Sequence[str], constant: NDArray[np.bool_], among: Sequence[str] | None = None
) -> Vector:
    """Find a matrix B with B' covariance B = 1, upper triangular: float64 [k, k].

    Parameters
    ----------
    covariance
        float64 [k, k].
    names, constant
        Of the features, and which of them are constant [k].
    among
        Where they are, for the error [k].

    Raises
    ------
    CollinearError
        Names features that others determine, and those that they are linear combinations of, or that are constant.
    """
    width = len(names)
    found = {
        place: f"feature {names[place]!r} is constant{among[place] if among else ''}"
        for place in np.flatnonzero(constant).tolist()
    }
    spread = np.where(constant, 1.0, np.sqrt(np.abs(np.diag(covariance))))
    scaled = covariance / spread / spread[:, None]
    kept: list[int] = []
    # The inverse of Cholesky's factor, column by column.
    inverse = np.zeros((width, width))
    for place in np.flatnonzero(~constant).tolist():
        before = inverse[kept, : len(kept)]
        row = scaled[place, kept] @ before
        left = 1 - float(row @ row)
        by = before @ row
        if left < _COLLINEAR:
            others = ", ".join(repr(names[kept[each]]) for each in np.flatnonzero(np.abs(by) > 1e-6))
            found[place] = f"feature {names[place]!r} is a linear combination of {others}: leave one of them out"
        else:
            inverse[kept, len(kept)] = -by / math.sqrt(left)
            inverse[place, len(kept)] = 1 / math.sqrt(left)
            kept.append(place)
    if found:
        raise CollinearError(found)
    return np.asarray(inverse / spread[:, None])


class _Coordinates:
    """A sample in coordinates of its own, in which its weights are fitted: (x - origin - middle) turn, and 1 behind."""

    def __init__(self, sample: Sample, origin: Vector, middle: Vector, turn: Vector) -> None:
        self._origin, self._middle, self._turn = origin, middle, turn
        self.sample = evolve(sample, chunks=lambda: self._chunks(sample))

    def _chunks(self, sample: Sample) -> Iterator[Rows]:
        columns = np.ones((len(self._turn) + 1, 0))
        for rows in sample.chunks():
            if columns.shape[1] < len(rows.won):
                columns = np.ones((len(self._turn) + 1, len(rows.won)))
            own = columns[:, : len(rows.won)]
            values = _columns(rows.features, sample.names)
            values -= self._origin[:, None]
            values -= self._middle[:, None]
            own[:-1] = self._turn.T @ values
            yield rows._replace(features=own.T)

    def model(
        self, weights: Vector, covariances: tuple[Vector, Vector], sums: GameSums, trials: float, likelihood: float,
        iterations: int,
    ) -> LinearModel:  # fmt: skip
        """Make a model of weights in these coordinates and their covariances, by game and naive."""
        slopes = self._turn @ weights[:-1]
        middle = float(weights[-1] - self._middle @ slopes)
        back = np.eye(len(weights))
        back[:-1, :-1] = self._turn
        back[-1, :-1] = -(self._origin + self._middle) @ self._turn
        own = np.append(slopes, middle - self._origin @ slopes)
        by_game, naive = (back @ each @ back.T for each in covariances)
        return LinearModel(
            self.sample.names, own, by_game, naive, sums.rows, sums.games, trials, likelihood, iterations,
            self._origin, middle,
        )  # fmt: skip


class Pass(NamedTuple):
    """What one pass finds: log likelihood, its slopes and the information, [k], [k, k]."""

    likelihood: float
    slopes: Vector
    information: Vector


class _Odds(NamedTuple):
    """Log likelihood of n rows, what pulls at the log odds of each, chances of a win and of a loss, their product.

    The product is times the trials. All keep their precision where a chance is next to 0.
    """

    likelihood: float
    pull: Vector
    win: Vector
    loss: Vector
    spread: Vector


def _odds_of(rows: Rows, weights: Vector) -> _Odds:
    odds = rows.features @ weights + rows.offset
    small = np.exp(-np.abs(odds))
    likelihood = float(rows.trials @ (rows.won * odds - np.maximum(odds, 0) - np.log1p(small)))
    greater, lesser = 1 / (1 + small), small / (1 + small)
    win, loss = np.where(odds > 0, greater, lesser), np.where(odds > 0, lesser, greater)
    return _Odds(
        likelihood, rows.trials * (rows.won * loss - (1 - rows.won) * win), win, loss, rows.trials * greater * lesser
    )


def _pass(chunks: Iterable[Rows], weights: Vector) -> Pass:
    """Sum up a sample at some weights."""
    width = len(weights)
    likelihood, slopes, information = 0.0, np.zeros(width), np.zeros((width, width))
    for rows in chunks:
        odds = _odds_of(rows, weights)
        likelihood += odds.likelihood
        slopes += odds.pull @ rows.features
        information += rows.features.T @ (rows.features * odds.spread[:, None])
    return Pass(likelihood, slopes, information)


def _firth_pass(sample: Sample, weights: Vector) -> Pass:
    """Sum up the likelihood times the root of the determinant of the information, in two passes.

    The curvature is the exact one. Where that is no hill, or would take too long, it is that of a likelihood to which
    each row adds its leverage h as h / 2 wins and h / 2 losses, whose slopes are the same (Heinze and Schemper 2002).
    """
    plain = _pass(sample.chunks(), weights)
    width = len(weights)
    try:
        factor = np.linalg.cholesky(plain.information)
    except np.linalg.LinAlgError:
        return plain._replace(likelihood=-math.inf)
    half = np.linalg.inv(factor).T
    slopes, exact, steady = np.zeros(width), plain.information.copy(), np.zeros((width, width))
    changes = np.zeros((width if width <= _WIDE else 0, width, width))
    for rows in sample.chunks():
        odds, values = _odds_of(rows, weights), rows.features
        turned, apart = values @ half, odds.loss - odds.win
        reach = np.square(turned).sum(axis=1)
        leverage = odds.spread * reach
        slopes += (odds.pull + leverage * apart / 2) @ values
        steady += values.T @ (values * (odds.spread * (1 + leverage))[:, None])
        exact -= values.T @ (values * (leverage * (1 - 6 * odds.win * odds.loss) / 2)[:, None])
        # How the information, in units of itself, changes with each weight.
        for place in range(len(changes)):
            changes[place] += values.T @ (turned * (odds.spread * apart * turned[:, place])[:, None])
    exact += np.tensordot(changes, changes, ([0, 2], [0, 2])) / 2
    try:
        np.linalg.cholesky(exact)
    except np.linalg.LinAlgError:
        exact = steady
    return Pass(plain.likelihood + float(np.log(np.diag(factor)).sum()), slopes, exact if len(changes) else steady)


def fit_logistic(sample: Sample, *, firth: bool = False) -> LinearModel:
    """Fit a logistic regression by Newton's method (Buro 1995, section 2.2).

    It goes over the first rows alone until it settles there: then two or three passes over all rows suffice.

    Parameters
    ----------
    sample
        The rows.
    firth
        Maximize the likelihood times the root of the determinant of the information (Firth 1993), which has a maximum
        also where features separate the classes. The log likelihood of the model is without it.

    Raises
    ------
    BadInputError
        A class without rows; features that are collinear, separate the classes (:class:`SeparationError`), or are
        beyond what numbers hold, by name; no maximum found.
    """
    moments = moments_of(sample)
    trials, shares = moments.trials.sum(), moments.trials / moments.trials.sum()
    apart = moments.means[1] - moments.means[0]
    covariance = moments.within + np.outer(apart, apart) * shares.prod()
    own = _Coordinates(
        sample, moments.origin, shares @ moments.means, _whitening(sample, moments, covariance, [0, 1], "")
    )
    weights = np.zeros(len(apart) + 1)
    if firth:
        # Features that are far from normal make several hills; the way to the greatest likelihood passes most of them.
        passed: list[tuple[float, Vector]] = []

        def watched(at: Vector) -> Pass:
            plain = _pass(own.sample.chunks(), at)
            passed.append((plain.likelihood + float(np.linalg.slogdet(plain.information)[1]) / 2, at))
            return plain

        climb(watched, weights, most=_FIRST_ITERATIONS)
        begin = weights, max(passed, key=lambda each: each[0])[1]
        ends = [climb(lambda at: _firth_pass(own.sample, at), start, most=_FIRTH_ITERATIONS) for start in begin]
        found = max(filter(None, ends), key=lambda end: end[1].likelihood, default=None)
    else:
        _refuse_separating_alone(sample.names, moments)
        if len(sample.names) <= _WIDE:
            # Of more features, some are rare enough to separate the first rows.
            first = climb(lambda at: _pass(_first(own.sample), at), weights)
            weights = weights if first is None else first[0]
        found = climb(lambda at: _pass(own.sample.chunks(), at), weights)
    if found is None:
        if not firth:
            spread = np.sqrt(np.diag(covariance))
            scaled = _Coordinates(sample, moments.origin, shares @ moments.means, np.diag(1 / spread))
            _refuse_separated(scaled.sample)
        raise BadInputError("no maximum of the likelihood was found")
    weights, last, iterations = found
    information = (_pass(own.sample.chunks(), weights) if firth else last).information
    inverse = np.asarray(np.linalg.inv(information), np.float64)
    sums, likelihood = _sums_by_game(
        own.sample, weights, lambda rows: rows.features * _odds_of(rows, weights).pull[:, None]
    )
    return own.model(
        weights, (sums.covariance(inverse, len(weights)), inverse), sums, float(trials), likelihood, iterations
    )


def _first(sample: Sample) -> Iterator[Rows]:
    left = _START
    for rows in sample.chunks():
        yield rows
        left -= len(rows.won)
        if left <= 0:
            return


def climb(
    pass_at: Callable[[Vector], Pass], weights: Vector, spread: Vector | float = 1.0, *, most: int = _ITERATIONS
) -> tuple[Vector, Pass, int] | None:
    """Go uphill by Newton's method; return the weights, what the last pass found, and the number of passes.

    ``pass_at`` makes one pass at some weights. None where there is no end to it in ``most`` passes. A short step shows
    the end only if it is short in log odds, at which ``spread`` is what the features usually differ by: where classes
    are separated, standard errors grow faster than steps.
    """
    last, step = -math.inf, np.zeros_like(weights)
    for iteration in range(1, most + 1):
        found = pass_at(weights)
        if not found.likelihood >= last - 1e-12 * abs(last):
            step = step / 2
            weights = weights - step
            continue
        last = found.likelihood
        try:
            step = np.asarray(np.linalg.solve(found.information, found.slopes), np.float64)
        except np.linalg.LinAlgError:
            return None
        weights = weights + step
        # What is left after a step of Newton's is about its square.
        if np.abs(step * spread).max() < _SETTLED:
            return weights, found, iteration
    return None


def fit_with_remedies(
    fit: Callable[[Sample], Any], features: NDArray[Any], won: NDArray[Any], names: Sequence[str], **columns: Any
) -> tuple[Any, list[int], list[str]]:
    """Fit to arrays without features that others determine, and with Firth's correction where features separate.

    Parameters
    ----------
    fit
        One of the fits above.
    features, won, names, columns
        As of :meth:`Sample.of_arrays`.

    Returns
    -------
    model, kept, notes
        The model, the columns that it has, and what was done about which feature.

    Raises
    ------
    BadInputError
        What else the fit raises.
    """
    kept, notes = list(range(features.shape[1])), list[str]()
    while True:
        # All of them are not copied.
        used = features if len(kept) == features.shape[1] else features[:, kept]
        sample = Sample.of_arrays(used, won, names=[names[place] for place in kept], **columns)
        try:
            return fit(sample), kept, notes
        except CollinearError as error:
            few = len(error.found) <= _MOST_NOTES
            texts = error.found.values() if few else [str(error)]
            notes += [f"{text}; fitted without {'it' if few else 'them'}" for text in texts]
            kept = [column for place, column in enumerate(kept) if place not in error.found]
        except SeparationError as error:
            if error.alone and len(kept) > _WIDE:
                notes.append(f"{error}; fitted without")
                kept = [column for place, column in enumerate(kept) if place not in error.alone]
                continue
            notes.append(f"{error}; fitted with Firth's correction")
            fit = partial(fit_logistic, firth=True)


def _sums_by_game(sample: Sample, weights: Vector, influence: Callable[[Rows], Vector]) -> tuple[GameSums, float]:
    """Sum up what rows say of some weights: ``influence`` of some rows is float64 [n, k]; and their log likelihood."""
    sums, likelihood = GameSums(sample.games, in_order=sample.in_order), 0.0
    for rows in sample.chunks():
        kept = rows.trials > 0
        likelihood += _odds_of(rows, weights).likelihood
        sums.add(influence(rows)[kept], rows.game[kept])
    return sums, likelihood


def _refuse_separated(sample: Sample) -> None:
    """Find out whether a combination of features tells lost from won rows without a mistake.

    Then some weights have no finite maximum (Albert and Anderson 1984), and a fit that stops somewhere on the way gives
    what nobody should believe. The features of the sample are in units of their deviations, the last is 1.

    Raises
    ------
    SeparationError
        Names features of which none can be spared for such a combination.
    """
    by = _separating(sample, np.ones(len(sample.names) + 1, bool))
    if by is None:
        return
    needed = by != 0
    for place in np.flatnonzero(needed[:-1]).tolist():
        needed[place] = False
        needed[place] = _separating(sample, needed) is None
    _refuse(sample.names, np.flatnonzero(needed[:-1]).tolist())


def _refuse_separating_alone(names: Sequence[str], moments: Moments) -> None:
    """Find the features that separate the classes alone: all of a value, or beyond it, were won, or all lost.

    A feature that occurs in a few rows of one class is such a one.

    Raises
    ------
    SeparationError
        Names them.
    """
    least, most = moments.least, moments.most
    alone = np.flatnonzero((most[0] <= least[1]) | (most[1] <= least[0])).tolist()
    if alone:
        _refuse(names, alone[:1] if len(names) <= _WIDE else alone, alone)


def _refuse(names: Sequence[str], places: Sequence[int], alone: Sequence[int] = ()) -> None:
    named = [repr(names[place]) for place in places[:_MOST_NAMED]]
    if len(places) > len(named):
        named[-1] += f" and {len(places) - len(named)} more"
    what = f"feature {named[0]} separates" if len(named) == 1 else f"features {', '.join(named)} separate"
    raise SeparationError(
        f"{what} won from lost rows: their weights have no finite maximum; leave some out, or use Firth's correction",
        alone,
    )


def _separating(sample: Sample, used: NDArray[np.bool_]) -> Vector | None:
    """Find a combination of the features that are used that is nowhere wrong, and somewhere right: float64 [k + 1].

    A linear program looks for it (Konis 2007); all rows are asked whether they agree, and some that do not become
    constraints of the program, until there is no combination or no objection.
    """
    from scipy.optimize import linprog

    def turned(rows: Rows) -> Vector:
        """Rows of either class, turned so that a separating combination is nowhere below 0; draws count as both."""
        known = rows.trials > 0
        return np.concatenate([rows.features[known & (rows.won > 0)], -rows.features[known & (rows.won < 1)]])

    bounds = [(-1.0, 1.0) if own else (0.0, 0.0) for own in used]
    total = sum(turned(rows).sum(axis=0) for rows in sample.chunks())
    program = np.zeros((0, len(used)))
    while True:
        # The greatest sum over all rows, of weights between -1 and 1 that are wrong about none of the program's.
        found = linprog(-np.asarray(total), A_ub=-program, b_ub=np.zeros(len(program)), bounds=bounds)
        if not found.success or -found.fun < _SEPARATED:
            return None
        objections: list[Vector] = []
        for rows in sample.chunks():
            values = turned(rows)
            objections.append(values[values @ found.x < -_SEPARATED][:_MOST_OBJECTIONS])
            if sum(map(len, objections)) >= _MOST_OBJECTIONS:
                break
        if not any(map(len, objections)):
            return np.asarray(found.x, np.float64)
        program = np.concatenate([program, *objections])
