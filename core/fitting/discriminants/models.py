"""The three models of Buro 1995, section 2: logistic regression, Fisher's and the quadratic discriminant.

All say P(W | x) = 1 / (1 + exp(-f(x))) with f linear, or quadratic in the features. They are fitted to rows of features
with the share of their trials that were won, chunk by chunk, so that memory does not grow with the data. A draw is half
a win; doubled as in the paper's section 4 it is two trials, one of them won, with equal estimates.

Positions of one game share its result, so the errors are those of the sandwich formula over games (Liang and Zeger
1986): with the inverse information A and the sums u_g of the slopes of a game's rows, A (sum_g u_g u_g') A times
G / (G - 1) (N - 1) / (N - k), as statistics packages have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError

Vector = NDArray[np.float64]

_CHUNK = 4096
"""Rows that stay in the cache while they are summed up."""
_START = 1 << 16
"""Rows of the first, rough fit."""
_ITERATIONS, _FIRTH_ITERATIONS = 50, 2000
_SETTLED = 2e-9
"""Log odds: the shortest step."""
_LONG, _LITTLE, _STALLED = 0.1, 1e-9, 3
"""Steps so long, in log odds, that gain so little of the likelihood, so often in a row, lead nowhere."""
_WIDE = 64
"""Features, of more than which a fit without those that separate alone is better than to wait for Firth's."""
_MOST_NOTES, _MOST_NAMED = 4, 10
"""Features left out at once that get a note each, and those that an error names."""
_SEPARATED, _MOST_OBJECTIONS = 1e-6, 2000
"""Least distance from the boundary that is one, in what features differ by, and rows that a program gains at once."""
_COLLINEAR = 1e-10
"""Share of a feature's variance that the features before it leave, below which it is one of them."""
_ROUNDED = 1e-24
"""Variance of a constant by rounding, in its square."""


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
            The lengths differ, a number is not finite, a share is not between 0 and 1, or trials are negative.
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

        sample = cls(labels, chunks, games, in_order)
        for rows in chunks():
            if not np.isfinite(rows.features).all():
                place = int(np.flatnonzero(~np.isfinite(rows.features).all(axis=0))[0])
                raise BadInputError(f"feature {labels[place]!r} is not finite everywhere")
        return sample


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

    def scores(self, features: NDArray[Any]) -> Vector:
        """Discriminant of rows [N, k], the log odds of a win: float64 [N]."""
        found: Vector = np.asarray(features, np.float64) @ self.weights[:-1] + self.weights[-1]
        return found

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
    squares
        float64 [k, k], symmetric.
    linear
        float64 [k].
    constant
        What is added: f(x) = x squares x' + linear x' + constant.
    means, covariances
        float64 [2, k], [2, k, k], of lost and won rows.
    shares
        float64 [2], of lost and won trials.
    """

    names: tuple[str, ...]
    squares: Vector = field(repr=False)
    linear: Vector
    constant: float
    means: Vector = field(repr=False)
    covariances: Vector = field(repr=False)
    shares: Vector

    def scores(self, features: NDArray[Any]) -> Vector:
        """Discriminant of rows [N, k], the log odds of a win: float64 [N]."""
        values = np.asarray(features, np.float64)
        found: Vector = np.einsum("nk,nk->n", values @ self.squares + self.linear, values) + self.constant
        return found


class Moments(NamedTuple):
    """Trials and means of lost and won rows, [2], [2, k], and sums of products about the means, [1 or 2, k, k].

    The products are those of either class, or of both together.
    """

    trials: Vector
    means: Vector
    products: Vector

    @property
    def shared(self) -> Vector:
        """Covariance that both classes have in common: float64 [k, k]."""
        return np.asarray(self.products.sum(axis=0) / self.trials.sum())


def moments_of(sample: Sample, *, by_class: bool = False) -> Moments:
    """Sum up a sample in one pass; a row counts in either class with its trials.

    Raises
    ------
    BadInputError
        A class has no row.
    """
    width = len(sample.names)
    trials, sums, products = np.zeros(2), np.zeros((2, width)), np.zeros((1 + by_class, width, width))
    shift = np.zeros(width)
    for number, rows in enumerate(sample.chunks()):
        if number == 0:
            shift = rows.features.mean(axis=0, dtype=np.float64)
        values = rows.features - shift
        times = np.stack([rows.trials * (1 - rows.won), rows.trials * rows.won])
        trials += times.sum(axis=1)
        sums += times @ values
        for place, own in enumerate(times if by_class else [rows.trials]):
            products[place] += values.T @ (values * own[:, None])
    for place, name in enumerate(("lost", "won")):
        if not trials[place] > 0:
            raise BadInputError(f"no row is {name}: a discriminant needs both classes")
    means = sums / trials[:, None]
    about = np.einsum("ci,cj->cij", sums, means)
    return Moments(trials, means + shift, products - (about if by_class else about.sum(axis=0)))


def _log_prior(priors: str | Sequence[float], trials: Vector) -> float:
    """Log odds of a win before anything is seen: 0 for ``equal``, or of ``shares``, or of two numbers."""
    if isinstance(priors, str):
        if priors not in ("equal", "shares"):
            raise BadInputError(f"priors are equal, shares or two numbers, not {priors!r}")
        return math.log(trials[1] / trials[0]) if priors == "shares" else 0.0
    lost, won = map(float, priors)
    if not (lost > 0 and won > 0 and math.isfinite(lost + won)):
        raise BadInputError("priors are two numbers above 0: of a loss and of a win")
    return math.log(won / lost)


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
        A class without rows, or features that are linear combinations of others, by name.
    """
    moments = moments_of(sample)
    check_collinear(moments.shared, sample.names, _ROUNDED * np.square(moments.means).max(axis=0))
    inverse = np.linalg.inv(moments.shared)
    lost, won = moments.means
    apart, middle = won - lost, (won + lost) / 2
    slopes = inverse @ apart
    weights = np.append(slopes, _log_prior(priors, moments.trials) - slopes @ middle)
    rates = moments.trials.sum() / moments.trials

    def influence(rows: Rows) -> Vector:
        # With x about the middle, the sign s of a class and y = x - s apart / 2, a row moves S^-1 (mW - mL) by
        # S^-1 ((s rate - y slopes) y + apart), and the middle by rate / 2 y.
        values = rows.features - middle
        score, half = values @ slopes, apart @ slopes / 2
        of_lost, of_won = rows.trials * (1 - rows.won), rows.trials * rows.won
        lost_factor, won_factor = of_lost * (-rates[0] - score - half), of_won * (rates[1] - score + half)
        pulls = of_lost * rates[0], of_won * rates[1]
        constant = (pulls[0] * (score + half) + pulls[1] * (score - half)) / 2
        if priors == "shares":
            constant += of_lost - pulls[0] + pulls[1] - of_won
        found = np.empty((len(values), len(weights) + 1))
        found[:, :-2] = values * (lost_factor + won_factor)[:, None]
        found[:, -2] = (lost_factor - won_factor) / 2 + rows.trials
        found[:, -1] = constant
        return found

    (sums, likelihood), total = _sums_by_game(sample, weights, influence), float(moments.trials.sum())
    to_slopes = np.column_stack([inverse, slopes, np.zeros(len(slopes))])
    to_constant = np.append(-middle @ to_slopes[:, :-1], -1.0)
    turned = np.vstack([to_slopes, to_constant]) / total
    covariance, naive = (turned @ each @ turned.T for each in (sums.filling(len(weights)), sums.by_row))
    return LinearModel(sample.names, weights, covariance, naive, sums.rows, sums.games, total, likelihood, 2)


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
        A class without rows, or features that are linear combinations of others within a class, by name.
    """
    moments = moments_of(sample, by_class=True)
    covariances = moments.products / moments.trials[:, None, None]
    for covariance in covariances:
        check_collinear(covariance, sample.names, _COLLINEAR * np.diag(moments.shared))
    of_lost, of_won = np.linalg.inv(covariances)
    lost, won = moments.means
    determinants = np.linalg.slogdet(covariances)[1]
    constant = (lost @ of_lost @ lost - won @ of_won @ won + determinants[0] - determinants[1]) / 2
    return QuadraticModel(
        sample.names,
        (of_lost - of_won) / 2,
        won @ of_won - lost @ of_lost,
        float(constant) + _log_prior(priors, moments.trials),
        moments.means,
        covariances,
        moments.trials / moments.trials.sum(),
    )


def check_collinear(covariance: Vector, names: Sequence[str], least: Vector) -> None:
    """Refuse features that others determine, and those with a variance of at most ``least`` [k].

    Raises
    ------
    CollinearError
        Names such features, and those that they are linear combinations of, or says that they are constant.
    """
    constant = np.diag(covariance) <= least
    found = {place: f"feature {names[place]!r} is constant" for place in np.flatnonzero(constant).tolist()}
    spread = np.where(constant, 1.0, np.sqrt(np.abs(np.diag(covariance))))
    scaled = covariance / np.outer(spread, spread)
    kept: list[int] = []
    for place in np.flatnonzero(~constant).tolist():
        own = scaled[np.ix_(kept, kept)]
        by = np.linalg.solve(own, scaled[kept, place]) if kept else np.zeros(0)
        if 1 - by @ scaled[kept, place] < _COLLINEAR:
            others = ", ".join(repr(names[kept[each]]) for each in np.flatnonzero(np.abs(by) > 1e-6))
            found[place] = f"feature {names[place]!r} is a linear combination of {others}: leave one of them out"
        else:
            kept.append(place)
    if found:
        raise CollinearError(found)


class Pass(NamedTuple):
    """What one pass finds: log likelihood, its slopes and the information, [k + 1], [k + 1, k + 1]."""

    likelihood: float
    slopes: Vector
    information: Vector


def _odds_and_chances(rows: Rows, weights: Vector) -> tuple[float, Vector]:
    """Log likelihood of some rows, and how likely each is to be won: float64 [n]."""
    odds: Vector = rows.features @ weights[:-1]
    odds += weights[-1]
    odds += rows.offset
    small = np.exp(-np.abs(odds))
    likelihood = float(rows.trials @ (rows.won * odds - np.maximum(odds, 0) - np.log1p(small)))
    return likelihood, np.where(odds > 0, 1.0, small) / (1 + small)


def _pass(chunks: Iterable[Rows], weights: Vector, shrink: Vector | None = None) -> Pass:
    """Sum up a sample; ``shrink``, the inverse information, adds Firth's correction to the slopes."""
    width = len(weights)
    likelihood, slopes, information = 0.0, np.zeros(width), np.zeros((width, width))
    values = np.ones((_CHUNK, width))
    for rows in chunks:
        if len(values) < len(rows.won):
            values = np.ones((len(rows.won), width))
        with_one = values[: len(rows.won)]
        with_one[:, :-1] = rows.features
        own, chance = _odds_and_chances(rows, weights)
        likelihood += own
        left = rows.trials * (rows.won - chance)
        times = rows.trials * chance * (1 - chance)
        if shrink is not None:
            left += times * np.einsum("nk,nk->n", with_one @ shrink, with_one) * (0.5 - chance)
        slopes += left @ with_one
        information += with_one.T @ (with_one * times[:, None])
    return Pass(likelihood, slopes, information)


def fit_logistic(sample: Sample, *, firth: bool = False) -> LinearModel:
    """Fit a logistic regression by Newton's method (Buro 1995, section 2.2).

    It starts at Fisher's discriminant, and goes over the first rows alone until it settles there: then two or three
    passes over all rows suffice.

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
        A class without rows; collinear features, or separating ones (:class:`SeparationError`), by name; no maximum
        found.
    """
    moments = moments_of(sample)
    check_collinear(moments.shared, sample.names, _ROUNDED * np.square(moments.means).max(axis=0))
    spread = np.append(np.sqrt(np.diag(moments.shared)), 1.0)
    weights = np.zeros(len(spread))
    if not firth:
        lost, won = moments.means
        slopes = np.linalg.solve(moments.shared, won - lost)
        weights = np.append(slopes, math.log(moments.trials[1] / moments.trials[0]) - slopes @ (won + lost) / 2)
        if len(sample.names) > _WIDE:
            # Some of so many features are rare enough to separate the first rows, and to be looked for is cheap.
            refuse_separating_alone(sample)
        else:
            first = climb(lambda *at: _pass(_first(sample), *at), weights, spread)
            if first is None:
                refuse_separated(sample, spread)
            else:
                weights = first[0]
    found = climb(lambda *at: _pass(sample.chunks(), *at), weights, spread, firth=firth)
    if found is None:
        if not firth:
            refuse_separated(sample, spread)
        raise BadInputError("no maximum of the likelihood was found")
    weights, inverse, iterations = found

    def slopes_of(rows: Rows) -> Vector:
        left = rows.trials * (rows.won - _odds_and_chances(rows, weights)[1])
        return np.column_stack([rows.features * left[:, None], left])

    (sums, likelihood), total = _sums_by_game(sample, weights, slopes_of), float(moments.trials.sum())
    covariance = inverse @ sums.filling(len(weights)) @ inverse
    return LinearModel(sample.names, weights, covariance, inverse, sums.rows, sums.games, total, likelihood, iterations)


def _first(sample: Sample) -> Iterator[Rows]:
    left = _START
    for rows in sample.chunks():
        yield rows
        left -= len(rows.won)
        if left <= 0:
            return


def climb(
    pass_at: Callable[..., Pass], weights: Vector, spread: Vector, *, firth: bool = False
) -> tuple[Vector, Vector, int] | None:
    """Go uphill by Newton's method; return the weights, the inverse information there, and the number of passes.

    ``pass_at`` makes one pass at some weights, and for Firth's correction with the inverse information there.

    None where there is no end to it. A short step tells the end only if it is short in log odds, at which ``spread``
    is what the features usually differ by: where classes are separated, standard errors grow faster than steps.
    """
    last, step, stalled = -math.inf, np.zeros_like(weights), 0
    for iteration in range(1, (_FIRTH_ITERATIONS if firth else _ITERATIONS) + 1):
        found = pass_at(weights)
        sign, log_determinant = np.linalg.slogdet(found.information)
        likelihood = found.likelihood + (log_determinant / 2 if firth else 0)
        if not (sign > 0 and likelihood >= last - 1e-12 * abs(last)):
            step = step / 2
            weights = weights - step
            continue
        inverse = np.asarray(np.linalg.inv(found.information), np.float64)
        if firth:
            found = pass_at(weights, inverse)
        gain, last = likelihood - last, likelihood
        step = inverse @ found.slopes
        weights = weights + step
        # What is left after a step of Newton's is about its square.
        longest = float(np.abs(step * spread).max())
        if longest < _SETTLED:
            return weights, inverse, iteration
        stalled = stalled + 1 if longest > _LONG and gain < _LITTLE * abs(last) else 0
        if stalled == _STALLED and not firth:
            return None
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
            return fit_logistic(sample, firth=True), kept, notes


class GameSums:
    """Sums over games of the squares of what their rows add up to: the filling of the sandwich formula.

    Parameters
    ----------
    games
        Number of games; those of the rows are below it.
    in_order
        Whether the rows of a game follow one another: then no table of all games is needed.
    """

    def __init__(self, games: int, *, in_order: bool) -> None:
        self._games, self._in_order = games, in_order
        self._table: Vector | None = None
        self._seen = np.zeros(0 if in_order else games, bool)
        self._open_game, self._open_sum = -1, np.zeros(0)
        self._filling: Any = 0.0
        self.by_row: Any = 0.0
        self.rows = self.games = 0

    def add(self, changes: Vector, game: NDArray[np.int64]) -> None:
        """Add rows: float64 [n, k], and their games [n]."""
        if not len(game):
            return
        self.rows += len(game)
        self.by_row = self.by_row + changes.T @ changes
        if not self._in_order:
            if self._table is None:
                self._table = np.zeros((self._games, changes.shape[1]))
            np.add.at(self._table, game, changes)
            self._seen[game] = True
            return
        starts = np.concatenate([[0], np.flatnonzero(game[1:] != game[:-1]) + 1])
        sums = np.add.reduceat(changes, starts, axis=0)
        if game[0] == self._open_game:
            sums[0] += self._open_sum
        elif self._open_game >= 0:
            self._close()
        self._filling = self._filling + sums[:-1].T @ sums[:-1]
        self.games += len(sums) - 1
        self._open_game, self._open_sum = int(game[-1]), sums[-1]

    def _close(self) -> None:
        self._filling = self._filling + np.outer(self._open_sum, self._open_sum)
        self.games += 1

    def filling(self, parameters: int) -> Vector:
        """Give the sums, corrected for the numbers of games, rows and parameters; nan where there are too few."""
        if self._in_order:
            if self._open_game >= 0:
                self._close()
                self._open_game = -1
        elif self._table is not None:
            self._filling, self.games = self._table.T @ self._table, int(self._seen.sum())
        if self.games > 1 and self.rows > parameters:
            share = self.games / (self.games - 1) * (self.rows - 1) / (self.rows - parameters)
            return np.asarray(self._filling * share)
        return np.asarray(self._filling * math.nan)


def _sums_by_game(sample: Sample, weights: Vector, influence: Callable[[Rows], Vector]) -> tuple[GameSums, float]:
    """Sum up what rows say of some weights: ``influence`` of some rows is float64 [n, k]; and their log likelihood."""
    sums, likelihood = GameSums(sample.games, in_order=sample.in_order), 0.0
    for rows in sample.chunks():
        kept = rows.trials > 0
        likelihood += _odds_and_chances(rows, weights)[0]
        sums.add(influence(rows)[kept], rows.game[kept])
    return sums, likelihood


def refuse_separated(sample: Sample, spread: Vector) -> None:
    """Find out whether a combination of features tells lost from won rows without a mistake.

    Then some weights have no finite maximum (Albert and Anderson 1984), and a fit that stops somewhere on the way gives
    what nobody should believe.

    Parameters
    ----------
    sample
        The rows.
    spread
        float64 [k + 1], what the features, and last a constant, usually differ by.

    Raises
    ------
    SeparationError
        Names features of which none can be spared for such a combination.
    """
    refuse_separating_alone(sample)
    by = _separating(sample, spread, np.ones(len(spread), bool))
    if by is None:
        return
    needed = by != 0
    for place in np.flatnonzero(needed[:-1]).tolist():
        needed[place] = False
        needed[place] = _separating(sample, spread, needed) is None
    _refuse(sample, np.flatnonzero(needed[:-1]).tolist())


def refuse_separating_alone(sample: Sample) -> None:
    """Find the features that separate the classes alone: all of a value, or beyond it, were won, or all lost.

    A feature that occurs in a few rows of one class is such a one.

    Raises
    ------
    SeparationError
        Names them.
    """
    width = len(sample.names)
    least, most = np.full((2, width), np.inf), np.full((2, width), -np.inf)
    for rows in sample.chunks():
        for place, own in enumerate((rows.won < 1, rows.won > 0)):
            values = rows.features[own & (rows.trials > 0)]
            if len(values):
                least[place] = np.minimum(least[place], values.min(axis=0))
                most[place] = np.maximum(most[place], values.max(axis=0))
    alone = np.flatnonzero((most[0] <= least[1]) | (most[1] <= least[0])).tolist()
    if alone:
        _refuse(sample, alone[:1] if width <= _WIDE else alone, alone)


def _refuse(sample: Sample, places: Sequence[int], alone: Sequence[int] = ()) -> None:
    names = [repr(sample.names[place]) for place in places[:_MOST_NAMED]]
    if len(places) > len(names):
        names[-1] += f" and {len(places) - len(names)} more"
    what = f"feature {names[0]} separates" if len(names) == 1 else f"features {', '.join(names)} separate"
    raise SeparationError(
        f"{what} won from lost rows: their weights have no finite maximum; leave some out, or use Firth's correction",
        alone,
    )


def _separating(sample: Sample, spread: Vector, used: NDArray[np.bool_]) -> Vector | None:
    """Find a combination of the features that are used that is nowhere wrong, and somewhere right: float64 [k + 1].

    A linear program looks for it (Konis 2007); all rows are asked whether they agree, and some that do not become
    constraints of the program, until there is no combination or no objection.
    """
    from scipy.optimize import linprog

    def turned(rows: Rows) -> Vector:
        """Rows of either class, turned so that a separating combination is nowhere below 0; draws count as both."""
        values = np.column_stack([rows.features, np.ones(len(rows.won))]) / spread
        known = rows.trials > 0
        return np.concatenate([values[known & (rows.won > 0)], -values[known & (rows.won < 1)]])

    bounds = [(-1.0, 1.0) if own else (0.0, 0.0) for own in used]
    total = sum(turned(rows).sum(axis=0) for rows in sample.chunks())
    program = np.zeros((0, len(spread)))
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
