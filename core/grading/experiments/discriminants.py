"""The three discriminants of Buro 1995 beside each other: on held-out games, and in play (section 4).

The paper finds the quadratic discriminant no better than Fisher's, since the classes have about equal covariances, and
concludes from a look at these. Here held-out games tell: by the log loss, whose errors are by game. They also tell
whether a value means the same in every phase, as the paper has it.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_value
from glem.core.evaluation.quadratic import QuadraticEvaluation
from glem.core.features.learning import Learning
from glem.core.fitting.discriminants.by_phase import METHODS, WARNINGS, Parts, TermRows, fit_rows, rows_to_fit
from glem.core.fitting.discriminants.models import Sample, fit_logistic
from glem.core.fitting.sandwich import Mean
from glem.core.game.game import Game
from glem.core.grading.correctness import checked_games, mean_by_game
from glem.core.patterns.patterns import PatternSet
from glem.core.players.spec import parse_player
from glem.core.tasks.counts import interval_text, rating_text
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table
from glem.core.tasks.tasks import Workers
from glem.core.tournament.opening_choice import OpeningJudge, choose_openings
from glem.core.tournament.standings import PairingResult, PlayerTotals
from glem.core.tournament.tournament import Tournament, run_tournament

LOG, FISHER, QUAD = METHODS
NAMES = {LOG: "LOG", FISHER: "FISHER", QUAD: "QUAD"}
"""What the paper calls the players."""

PAIRINGS = (
    (LOG, QUAD, 30, 30, 61.8),
    (FISHER, QUAD, 30, 30, 59.8),
    (LOG, FISHER, 30, 30, 55.3),
    (LOG, FISHER, 30, 36, 49.0),
    (LOG, QUAD, 30, 38, 54.8),
    (FISHER, QUAD, 30, 38, 49.5),
    (LOG, QUAD, 30, 45, 50.5),
)
"""Players, their minutes for a game, and the first one's percentage in 200 games (Buro 1995, table 1)."""

_UNIT = 30
_BINS = 24
_FEWEST = 200
"""Held-out positions of a phase or a bin, below which nothing is said of it."""


def fit_all(
    parts: Parts,
    learning: Learning,
    names: tuple[str, ...],
    patterns: PatternSet | None,
    folder: Path,
    *,
    seed: int = 0,
    provenance: Mapping[str, str] | None = None,
    progress: Progress = SILENT,
) -> tuple[dict[str, LinearEvaluation], list[str]]:
    """Fit all three to the same terms of the same positions, or load what is in the folder.

    Parameters
    ----------
    parts, learning, names, patterns, seed
        As for :func:`~glem.core.fitting.discriminants.by_phase.rows_to_fit`.
    folder
        Gets ``logistic.npz``, ``fisher.npz`` and ``quadratic.npz``.
    provenance
        Kept in them.

    Returns
    -------
    evaluations, warnings
        By method; and what was left out or corrected.
    """
    files = {method: folder / f"{method}.npz" for method in METHODS}
    if not all(file.exists() for file in files.values()):
        rows = rows_to_fit(parts, learning, names, patterns, seed=seed, progress=progress)
        for method, file in files.items():
            told = {**(provenance or {}), "fitter": method}
            fit_rows(rows, method, provenance=told, progress=progress).evaluation.save(file)
    evaluations = {method: load_value(file, learning.game) for method, file in files.items()}
    warnings = [
        f"{NAMES[method]}, {text}"
        for method, evaluation in evaluations.items()
        for text in evaluation.provenance.get(WARNINGS, "").splitlines()
    ]
    return evaluations, warnings


class Meaning(NamedTuple):
    """What one unit of a discriminant, and none, means in a phase: a logistic regression of held-out results on it.

    The slope is 1 and the constant 0 where values mean what they say.
    """

    phase: int
    slope: Mean
    constant: Mean


@define(frozen=True, eq=False)
class DiscriminantStudy:
    """What held-out games say of three discriminants.

    Parameters
    ----------
    rows
        Terms of the held-out positions, by phase.
    evaluations
        By method.
    odds
        float64 [N] for each method: its discriminant.
    confidence
        Of intervals.
    """

    rows: TermRows
    evaluations: Mapping[str, LinearEvaluation]
    odds: Mapping[str, NDArray[np.float64]]
    confidence: float

    @classmethod
    def of(
        cls,
        evaluations: Mapping[str, LinearEvaluation],
        held_out: Parts,
        *,
        confidence: float = 0.95,
        progress: Progress = SILENT,
    ) -> "DiscriminantStudy":
        """Evaluate held-out positions.

        Raises
        ------
        BadInputError
            There are too few of them.
        """
        study = cls.of_rows(evaluations, TermRows.of(evaluations[QUAD], held_out, progress), confidence)
        if not study.told_phases:
            raise BadInputError(
                f"too few held-out positions ({len(study.rows.won):,}): no phase has {_FEWEST}, won and lost; give "
                "more games, or --held-out"
            )
        return study

    @classmethod
    def of_rows(
        cls, evaluations: Mapping[str, LinearEvaluation], rows: TermRows, confidence: float
    ) -> "DiscriminantStudy":
        """Evaluate the terms of held-out positions."""
        odds = {}
        for method, evaluation in evaluations.items():
            own = np.empty(len(rows.won))
            for phase, part in rows.phases():
                own[part] = _odds(evaluation, phase, rows.values[part].astype(np.float64))
            odds[method] = own
        return cls(rows, evaluations, odds, confidence)

    @property
    def phase_names(self) -> tuple[str, ...]:
        """Names of the phases."""
        return self.rows.terms.learning.phases.names

    @property
    def told_phases(self) -> list[int]:
        """Phases with enough held-out positions, won and lost."""
        won = {phase: self.rows.won[part] for phase, part in self.rows.phases()}
        return [phase for phase, own in won.items() if len(own) >= _FEWEST and 0 < float(own.mean()) < 1]

    def _mean(self, values: NDArray[Any], part: slice | NDArray[Any]) -> Mean:
        """Mean of values of some rows."""
        game = checked_games(self.rows.game[part], len(values))
        return Mean(*mean_by_game(np.asarray(values, np.float64), game, self.rows.trials[part])[:2])

    def losses(self, method: str, part: slice = slice(None)) -> NDArray[Any]:
        """Log loss of held-out positions: -log of the probability of the result, half and half for a draw."""
        won, odds = self.rows.won[part], self.odds[method][part]
        return won * np.logaddexp(0, -odds) + (1 - won) * np.logaddexp(0, odds)

    def loss_of(self, method: str, phase: int | None = None, *, less: str | None = None) -> Mean:
        """Mean log loss, or the difference to that of another method, in a phase or in all."""
        part = slice(None) if phase is None else self.rows.part(phase)
        return self._mean(self.losses(method, part) - (0 if less is None else self.losses(less, part)), part)

    def loss_table(self) -> Table:
        """Log losses by phase, and the differences whose intervals tell which is better."""
        pairs = [(QUAD, FISHER), (FISHER, LOG), (QUAD, LOG)]
        header = ("", "positions", *NAMES.values(), *(f"{NAMES[one]} - {NAMES[other]}" for one, other in pairs))
        rows = []
        for phase in [None, *self.told_phases]:
            count = len(self.rows.won) if phase is None else int(np.diff(self.rows.starts)[phase])
            means = [f"{self.loss_of(method, phase).value:.4f}" for method in NAMES]
            apart = [self.loss_of(one, phase, less=other).limits(self.confidence) for one, other in pairs]
            name = "all" if phase is None else self.phase_names[phase]
            rows.append((name, f"{count:,}", *means, *(f"{low:+.4f} to {high:+.4f}" for low, high in apart)))
        title = f"Log loss of held-out games, less is better; {self.confidence:g} intervals of differences, by game"
        return Table(title, header, rows)

    def verdict(self) -> str:
        """One sentence: whether the quadratic term pays."""
        low, high = self.loss_of(QUAD, less=FISHER).limits(self.confidence)
        found = f"QUAD - FISHER in held-out log loss is {interval_text(low, high, 4)}"
        said = "the quadratic term pays" if high < 0 else "no telling whether the quadratic term pays"
        return f"{'the quadratic term costs' if low > 0 else said}: {found}"

    def meanings(self, method: str) -> list[Meaning]:
        """Measure what values mean in each phase: the paper claims that they compare."""
        found = []
        for phase in self.told_phases:
            part = self.rows.part(phase)
            sample = Sample.of_arrays(
                self.odds[method][part, None],
                self.rows.won[part],
                trials=self.rows.trials[part],
                game=self.rows.game[part],
                names=[NAMES[method]],
            )
            try:
                model = fit_logistic(sample)
            except BadInputError:
                continue
            slope, constant = map(Mean, model.weights.tolist(), model.errors().tolist())
            found.append(Meaning(phase, slope, constant))
        return found

    def meaning_table(self) -> Table:
        """Slopes and constants of :meth:`meanings`, with standard errors."""
        by_method = {method: {each.phase: each for each in self.meanings(method)} for method in NAMES}
        header = ("phase", *(f"{name}, {what}" for name in NAMES.values() for what in ("slope", "constant")))
        rows = []
        for phase in self.told_phases:
            cells = []
            for own in by_method.values():
                each = own.get(phase)
                means = () if each is None else (each.slope, each.constant)
                cells += [f"{mean.value:+.3f} ± {mean.error:.3f}" for mean in means] or ["", ""]
            rows.append((self.phase_names[phase], *cells))
        title = "What a value means, with standard errors by game: slope 1 and constant 0 where it means what it says"
        return Table(title, header, rows)

    def chances(self, method: str) -> list[tuple[float, Mean]]:
        """Share of wins against the discriminant, in bins of as many positions: the paper's second figure."""
        odds = self.odds[method]
        order = np.argsort(odds, kind="stable")
        bins = max(1, min(_BINS, len(order) // _FEWEST))
        return [
            (float(odds[part].mean()), self._mean(self.rows.won[part], part)) for part in np.array_split(order, bins)
        ]

    def chance_table(self) -> Table:
        """Bins of :meth:`chances`."""
        rows = [
            [text for odds, mean in cells for text in (f"{odds:+.2f}", f"{mean.value:.3f}")]
            for cells in zip(*(self.chances(method) for method in NAMES), strict=True)
        ]
        header = [f"{name}{what}" for name in NAMES.values() for what in ("", ", won")]
        return Table("Discriminant, and share of wins, in bins of as many held-out positions", header, rows)

    @property
    def middle(self) -> int:
        """Phase in the middle of those with enough positions, which stands for all in pictures."""
        return self.told_phases[len(self.told_phases) // 2]

    def densities(self, place: int) -> tuple[list[float], list[float], list[float]]:
        """Edges of bins of a term in the middle phase, and the densities of lost and of won positions there."""
        part = self.rows.part(self.middle)
        values, won, trials = self.rows.values[part, place], self.rows.won[part], self.rows.trials[part]
        low, high = np.quantile(values, (0.002, 0.998)).tolist()
        integers = bool((values == np.rint(values)).all())
        if integers:
            low, high = math.floor(low), math.ceil(high)
            step = math.ceil((high - low + 1) / 40)
            edges = np.arange(low - 0.5, high + step, step)
        else:
            edges = np.linspace(low, high if high > low else low + 1, 41)
        lost, good = (
            np.histogram(values, edges, weights=own, density=True)[0].tolist()
            for own in (trials * (1 - won), trials * won)
        )
        return edges.tolist(), lost, good

    def class_moments(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Means [2, T] and covariances [2, T, T] of lost and won positions in the middle phase."""
        part = self.rows.part(self.middle)
        values, won, trials = self.rows.values[part].astype(np.float64), self.rows.won[part], self.rows.trials[part]
        shares = [trials * (1 - won), trials * won]
        means = np.stack([np.average(values, axis=0, weights=own) for own in shares])
        spread = [np.cov(values.T, aweights=own, ddof=0).reshape(values.shape[1], -1) for own in shares]
        return means, np.stack(spread)

    def class_table(self) -> Table:
        """Means and deviations of the terms in either class."""
        means, spread = self.class_moments()
        deviations = np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
        rows = []
        for place, name in enumerate(self.rows.terms.terms):
            lost, won = deviations[:, place]
            apart = (means[1, place] - means[0, place]) / np.sqrt((lost**2 + won**2) / 2) if lost + won else 0.0
            numbers = (*means[:, place], lost, won)
            rows.append(
                (name, *(f"{number:.3f}" for number in numbers), f"{won / lost:.2f}" if lost else "", f"{apart:.2f}")
            )
        header = ("term", "mean, lost", "won", "deviation, lost", "won", "ratio", "apart in deviations")
        return Table(f"Terms by class, phase {self.phase_names[self.middle]}", header, rows)

    def correlation_table(self) -> Table:
        """Correlations of terms: of lost positions below the diagonal, of won ones above it."""
        _, spread = self.class_moments()
        names = self.rows.terms.terms
        scales = np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
        with np.errstate(divide="ignore", invalid="ignore"):
            lost, won = spread / scales[:, :, None] / scales[:, None, :]
        both = np.tril(np.nan_to_num(lost), -1) + np.triu(np.nan_to_num(won))
        rows = [(name, *(f"{each:.2f}" for each in row)) for name, row in zip(names, both.tolist(), strict=True)]
        title = (
            f"Correlations, phase {self.phase_names[self.middle]}: lost positions below the diagonal, won ones above"
        )
        return Table(title, ("", *names), rows)

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            "terms": list(self.rows.terms.terms),
            "positions": len(self.rows.won),
            "log_loss": {NAMES[method]: self.loss_of(method)._asdict() for method in NAMES},
            "differences": {
                f"{NAMES[one]} - {NAMES[other]}": self.loss_of(one, less=other)._asdict()
                for one, other in combinations(reversed(NAMES), 2)
            },
            "meanings": {
                NAMES[method]: [
                    {"phase": self.phase_names[each.phase], "slope": each.slope, "constant": each.constant}
                    for each in self.meanings(method)
                ]
                for method in NAMES
            },
        }


def _odds(evaluation: LinearEvaluation, phase: int, terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Discriminant of rows of terms [n, T] in a phase."""
    if isinstance(evaluation, QuadraticEvaluation):
        return evaluation.sums_of_terms(terms, phase)
    if evaluation.coefficients is None:
        raise BadInputError("an evaluation without coefficients is no discriminant of terms")
    weights = evaluation.coefficients[0, phase].astype(np.float64)
    return np.asarray(terms @ weights[:-1] + weights[-1])


class Played(NamedTuple):
    """One pairing: who played with how much time, the paper's percentage, and what was found."""

    methods: tuple[str, str]
    minutes: tuple[int, int]
    paper: float
    result: PairingResult
    totals: tuple[PlayerTotals, PlayerTotals]

    @property
    def name(self) -> str:
        """The pairing as the paper writes it."""
        return " - ".join(NAMES[method] for method in self.methods)

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        what = {"players": self.name, "minutes": self.minutes, "paper": self.paper}
        return {**what, **self.result.to_json(), "totals": [one.to_json() for one in self.totals]}


@define(frozen=True)
class Playing:
    """How pairings are played.

    Parameters
    ----------
    opening_count
        Openings, each played twice.
    opening_plies
        Their length.
    even_within, judge_depth
        Openings are near-even whose value by a search of LOG so deep lies within the window, in log odds.
    game_seconds
        What stands for the paper's 30 minutes of a player's game.
    quiescence
        Of all players; one of the game's, "" for its own, if any.
    """

    opening_count: int
    opening_plies: int
    even_within: float
    judge_depth: int
    game_seconds: float
    quiescence: str = ""


def play_pairings(
    game: Game,
    folder: Path,
    how: Playing,
    *,
    seed: int = 0,
    workers: Workers | None = None,
    progress: Progress = SILENT,
) -> list[Played]:
    """Play the seven pairings of table 1, full width, from near-even openings, if any; killed, they go on.

    Parameters
    ----------
    folder
        With the evaluations of :func:`fit_all`; gets the openings and the games.
    seed
        Of the openings.
    workers
        Where games are played.
    """
    if not how.opening_count:
        return []
    common = f"probcut=off,quiescence={how.quiescence}" if how.quiescence else "probcut=off"
    judge = parse_player(f"evaluation='{folder / LOG}.npz',depth={how.judge_depth},{common}")
    chosen = choose_openings(
        game,
        plies=how.opening_plies,
        count=how.opening_count,
        judge=OpeningJudge(judge, how.even_within),
        seed=seed,
        record=folder / "openings.jsonl",
        workers=workers,
        progress=progress,
    )
    found = []
    for one, other, mine, theirs, paper in PAIRINGS:
        players = tuple(
            parse_player(
                f"name={NAMES[method]},evaluation='{folder / method}.npz',"
                f"clock={how.game_seconds * minutes / _UNIT:g},{common}"
            )
            for method, minutes in ((one, mine), (other, theirs))
        )
        record = folder / f"{one}-{other}-{mine}-{theirs}.jsonl"
        played = run_tournament(Tournament(game, players, tuple(chosen)), record, workers=workers, progress=progress)
        (result,) = played.standings.pairings.values()
        totals = played.standings.totals
        found.append(Played((one, other), (mine, theirs), paper, result, (totals[NAMES[one]], totals[NAMES[other]])))
    return found


def pairing_table(found: Sequence[Played], seconds: float) -> Table:
    """Results beside the paper's, with errors over pairs of games from an opening, depths and positions a second."""

    def rate(totals: PlayerTotals) -> float:
        return totals.nodes / totals.seconds if totals.seconds else np.nan

    def significance(each: Played) -> float:
        return each.result.significance(is_reversed=each.result.score < 0.5)[0]

    return Table.of(
        f"Pairings of table 1, where {seconds:g} s stand for 30 minutes",
        found,
        {
            "pairing": lambda each: each.name,
            "time": lambda each: " - ".join(map(str, each.minutes)),
            "W-D-L": lambda each: f"{each.result.wins}-{each.result.draws}-{each.result.losses}",
            "%": lambda each: f"{100 * each.result.score:.1f}",
            "paper": lambda each: f"{each.paper:.1f}",
            "Elo": lambda each: rating_text(each.result.elo.elo, each.result.elo.error),
            "p": lambda each: f"{significance(each):.2g}",
            "depth": lambda each: " - ".join(f"{one.mean_depth:.1f}" for one in each.totals),
            "million nodes/s": lambda each: " - ".join(f"{rate(one) / 1e6:.2f}" for one in each.totals),
            "ratio": lambda each: f"{rate(each.totals[1]) / rate(each.totals[0]):.2f}",
        },
    )
