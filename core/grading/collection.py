"""Grading evaluations on files: positions in Parquet, or game records in any format of the game.

Files are read ahead in threads, part by part. Of game records only the selected positions are replayed to; of each
selected position a result, a game number, its groups and its values are kept. Positions that are searched are kept as
well, until the search of all of them; and the features of drawishness where one is fitted from them.
"""

import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, GlemWarning, PluginError, checked, described
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.provenance import fitted_among
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import Covariate, Learning, load_learning
from glem.core.files.names import distinct_names
from glem.core.game.game import Game, load_game
from glem.core.grading.calibration import Prediction
from glem.core.grading.correctness import GradingSettings, mean_by_game
from glem.core.grading.drawishness import DrawishnessRows, drawishness_values, featured_drawishness
from glem.core.grading.grading import Grading, grade_predictions
from glem.core.grading.groupings import Grouping, groupings_of
from glem.core.grading.scorers.scorer import Scorer
from glem.core.grading.scorers.scorers import scorers_of
from glem.core.positions.positions import Positions
from glem.core.positions.selection.reading import FileSummary, read_selected, reading_remarks, why_nothing_is_left
from glem.core.positions.selection.selection import SelectionCounts, SelectionRule
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table
from glem.core.tasks.threads import THREADS, read_ahead

Files = Sequence[str | os.PathLike[str]]

OWN, FIT = "own", "fit"
"""Scale or drawishness of the evaluation itself, fitted where it has none; or fitted whatever it has."""

FEATURES = "features"
"""Drawishness fitted from features of the positions (:mod:`glem.core.grading.drawishness`)."""

ALL = "all"
"""Stands for all groupings."""

_MOST_ROWS = 12
_FEWEST_GAMES = 10
_SURE = 4
"""Standard errors by which missing values must depend on who moves or wins."""
_LARGE_DIFFERENCE = 0.05


@define(frozen=True, eq=False, repr=False)
class CollectionGrading:
    """Grades on a collection of games.

    Parameters
    ----------
    counts
        What the selection found.
    label_kinds
        What the labels of the files are; results of games are graded best by ``result``.
    remarks
        What a reader of the grades should know about the collection, one sentence each.
    tables
        What the scorers found out, and the weights of drawishness fitted from features.
    featured
        Names of the evaluations whose drawishness was fitted from features.
    phases
        What the names of the phases say, if the game tells.
    """

    grading: Grading
    rule: SelectionRule
    counts: SelectionCounts
    label_kinds: tuple[str, ...]
    remarks: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    featured: frozenset[str] = frozenset()
    phases: str = ""

    def __repr__(self) -> str:
        return f"CollectionGrading({self.rule}: {self.grading!r})"

    def _repr_html_(self) -> str:
        return self.grading._repr_html_()

    def lines(self, groupings: Sequence[str]) -> Iterator[str | Table]:
        """Say what was graded and how well, by all groupings of these names or by :data:`ALL` that there are."""
        grading, counts = self.grading, self.counts
        first = grading.baselines[0].grade
        yield f"{counted(first.positions, 'position')} of {counted(first.games, 'game')}: {self.rule}"
        won, drawn, lost = grading.results
        read = counted(counts.positions, "position")
        yield f"the side to move won {won:,}, drew {drawn:,} and lost {lost:,}; {read} read\n"
        yield from first_rows(self.tables)
        yield grading.table(self.featured)
        if any(one.calibration is not None for one in grading.evaluations):
            yield (
                "grade: recalibrated, scale and drawishness of each fifth of the games fitted to the others; as given: "
                "with the b and drawishness beside it, which are fitted to these games where they have an error (±)\n"
            )
        for one in grading.evaluations:
            if one.fit is not None and one.fit.message:
                yield f"{one.name}: {one.fit.message}"
        for grouping in grading.groups:
            if grouping in groupings or ALL in groupings:
                yield grading.group_table(grouping)
        unknown = [name for name in groupings if name not in (ALL, *grading.groups)]
        if unknown:
            yield f"note: --group-by {', '.join(unknown)}: there are {', '.join(grading.groups)} and {ALL}"
        if grading.comparisons:
            yield grading.comparison_table()
            yield from (comparison.verdict for comparison in grading.comparisons)
        yield from (f"note: {remark}" for remark in (*grading.notes, *self.remarks))

    def as_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            **facts_of(self, label_kinds=self.label_kinds),
            "drawishness_from_features": sorted(self.featured),
            **attrs.asdict(self.grading),
            "comparisons": [
                {**attrs.asdict(one), "is_significant": one.is_significant, "verdict": one.verdict}
                for one in self.grading.comparisons
            ],
        }


def facts_of(found: Any, **more: Any) -> dict[str, Any]:
    """Give what a result on a collection says of the collection, and more that it knows of it, as JSON values."""
    return {
        "selection": {**attrs.asdict(found.rule), "text": str(found.rule)},
        "counts": attrs.asdict(found.counts),
        **more,
        "remarks": found.remarks,
        "tables": [table._asdict() for table in found.tables],
    }


def first_rows(tables: Iterable[Table]) -> Iterator[str | Table]:
    """Give the beginning of each of some tables."""
    for table in tables:
        yield Table(table.title, table.header, table.rows[:_MOST_ROWS])
        if len(table.rows) > _MOST_ROWS:
            yield f"{len(table.rows) - _MOST_ROWS} more rows: --json and --report have all\n"


@define(eq=False)
class CollectedPositions:
    """What is kept of the selected positions of files, in the order of the files, and the values that they get.

    Parameters
    ----------
    learning
        What it gives to learning; its phases and groupings are kept.
    scorers
        What gives values: part by part where it takes no search, and that is kept.
    is_featured
        Whether the features of drawishness and the keys of the games are kept.
    keeps_positions
        Whether the positions are kept; they are in any case where a scorer searches.
    covariates
        Covariates of the positions that are kept, by name.
    columns
        What was read, by name: ``result``, ``game``, ``ply``, ``side`` and so on, each [N].
    """

    game: Game
    learning: Learning | None = None
    scorers: Sequence[Scorer] = ()
    is_featured: bool = False
    keeps_positions: bool = False
    covariates: Mapping[str, Covariate] = field(factory=dict)
    summaries: list[FileSummary] = field(factory=list, init=False)
    counts: SelectionCounts = field(factory=SelectionCounts, init=False)
    columns: dict[str, NDArray[Any]] = field(factory=dict, init=False)
    _parts: defaultdict[str, list[Prediction]] = field(factory=lambda: defaultdict(list), init=False)
    _group_names: dict[str, tuple[str, ...]] = field(factory=dict, init=False)

    def read(
        self,
        files: Files,
        rule: SelectionRule,
        *,
        names: Mapping[str | os.PathLike[str], str] | None = None,
        format: str | None = None,  # noqa: A002 # the word of the command line
        skip_bad: bool = False,
        threads: int = 1,
        observe: Callable[[Positions], None] | None = None,
        progress: Progress = SILENT,
    ) -> None:
        """Read files; the arguments are those of :func:`grade`, and names that distinguish the files.

        Raises
        ------
        BadInputError
            A file is bad, or no position is left; the text says why.
        """
        self.keeps_positions |= any(scorer.is_search for scorer in self.scorers)
        for scorer in self.scorers:
            scorer.begin()
        games, kept = 0, defaultdict[str, list[Any]](list)

        def opened(file: str | os.PathLike[str]) -> Callable[[], Iterator[Positions | FileSummary]]:
            name = None if names is None else names[file]
            return lambda: read_selected(self.game, file, rule, format=format, skip_bad=skip_bad, name=name)

        with progress("Reading", len(files)) as bar:
            bar.note(Path(files[0]).name if files else "")
            for part in read_ahead([opened(file) for file in files], threads=threads):
                if isinstance(part, Positions):
                    if observe is not None:
                        observe(part)
                    if len(part):
                        for name, column in self._kept(part, games).items():
                            kept[name].append(column)
                    continue
                self.summaries.append(part)
                self.counts.add(part.counts)
                games += part.games
                bar.advance()
                bar.note(Path(files[min(len(self.summaries), len(files) - 1)]).name)
        if not kept:
            raise BadInputError(f"no position is left to grade: {why_nothing_is_left(self.summaries)}")
        # One by one: two copies of all columns would be too much.
        self.columns = {name: np.concatenate(kept.pop(name)) for name in list(kept)}

    def _kept(self, part: Positions, first_game: int) -> dict[str, Any]:
        for scorer in self.scorers:
            if not scorer.is_search:
                self._parts[scorer.name].append(scorer.predict(part))
        kept: dict[str, Any] = {
            "label": part.label,
            "result": part.result,
            "length": part.extra["length"],
            "rating": part.extra["rating_difference"],
            "ply": part.ply,
            "game": first_game + part.record,
            "side": part.side,
        }
        if self.learning is not None:
            groups = {"phase": (self.learning.phases.names, self.learning.phases.of(part.positions))}
            groups |= {name: group(part.positions) for name, group in self.learning.groupings.items()}
            for name, (group_names, group) in groups.items():
                self._group_names[name] = tuple(group_names)
                kept[f"by {name}"] = np.asarray(group, np.int16)
            if self.is_featured:
                kept["features"] = drawishness_values(self.learning, part.positions)
                kept["game key"] = part.game_key
        for name, covariate in self.covariates.items():
            kept[f"covariate {name}"] = np.asarray(covariate.of(part.positions), np.float32)
        if self.keeps_positions:
            kept |= {f"field {number}": column for number, column in enumerate(part.positions)}
        return kept

    @property
    def selected(self) -> Positions:
        """All N positions without their records, where they are kept."""
        fields = (column for name, column in self.columns.items() if name.startswith("field "))
        label, record, ply, side = (self.columns[name] for name in ("label", "game", "ply", "side"))
        positions = self.game.position_type(*fields)
        return Positions(self.game, positions, label, record=record, ply=ply, extra={"side": side})

    @property
    def groupings(self) -> dict[str, Grouping]:
        """Divisions of the positions by what the game gives to learning, and those that every game has."""
        known = (self.columns[name] for name in ("label", "ply", "length", "rating"))
        found = {name: Grouping(names, self.columns[f"by {name}"], True) for name, names in self._group_names.items()}
        return {**found, **groupings_of(self.game, *known)}

    def predictions(self, progress: Progress) -> dict[str, Prediction]:
        """Give what each scorer says of the positions; what the scorers gave to the parts is dropped."""
        found, searched = {}, self.selected if self.keeps_positions else None
        for scorer in self.scorers:
            if searched is not None and scorer.is_search:
                prediction = scorer.predict(searched, progress=progress)
            else:
                prediction = _joined(self._parts.pop(scorer.name))
            found[scorer.name] = scorer.complete(prediction)
            self._warn_of_missing(scorer.name, found[scorer.name])
        return found

    def _warn_of_missing(self, name: str, prediction: Prediction) -> None:
        """Warn where the values that are missing are rather those of one player, or of one sign."""
        missing = ~prediction.is_known
        for sign, one, other in (
            (self.columns["side"], "where the first player is to move", "where the second is"),
            (self.columns["result"], "that the side to move won", "that it lost"),
        ):
            if missing.any() and (shares := _different_shares(missing, sign, self.columns["game"])):
                text = (
                    f"{name} has no value for {shares[0]:.0%} of the positions {one}, and for {shares[1]:.0%} of those "
                    f"{other}: what is left to grade is no fair sample"
                )
                warnings.warn(text, GlemWarning, stacklevel=2)

    def remarks(self, files: Files, rule: SelectionRule) -> list[str]:
        """Say what a reader should know about the selected positions, their files, and who was fitted to these."""
        provenances = {scorer.name: scorer.provenance for scorer in self.scorers}
        found = [
            f"{name} was fitted to {' and '.join(known)}: its grade there says little about other games"
            for name, known in fitted_among(provenances, files).items()
        ]
        others = sorted({summary.label_kind for summary in self.summaries} - {"result"})
        if others:
            found.append(
                f"labels are of the kind {', '.join(others)}: their sign is graded, which need not be the game's "
                "result (glem positions --label result)"
            )
        counts = self.counts
        if counts.without:
            found.append(f"{counted(counts.without, 'game')} without any position that the selection leaves")
        if counts.incomplete and rule.skip_end:
            found.append(
                f"{counted(counts.incomplete, 'game')} with positions missing: the last {rule.skip_end:.0%} is counted "
                "from the last one that is there"
            )
        if counts.unknown_ply:
            found.append(f"{counted(counts.unknown_ply, 'position')} of unknown ply, not left out for it")
        if counts.without_result:
            found.append(f"{counted(counts.without_result, 'game')} without a result left out")
        return found + reading_remarks(self.summaries)

    def drawishness_rows(self, prediction: Prediction) -> DrawishnessRows:
        """Return what a drawishness of a scorer's values is fitted to."""
        features, phase, result, key = (self.columns[name] for name in ("features", "by phase", "result", "game key"))
        return DrawishnessRows(features, phase, prediction.value, result, key)


def _different_shares(missing: NDArray[np.bool_], sign: NDArray[Any], game: NDArray[Any]) -> tuple[float, float] | None:
    """Shares of what is missing [N] where a sign is 1, and where it is -1; None where they hardly differ."""
    rows = np.flatnonzero(sign)
    missing, sign = missing[rows], sign[rows].astype(np.float64)
    if len(set(sign.tolist())) < 2:
        return None
    shares = float(missing[sign > 0].mean()), float(missing[sign < 0].mean())
    mean, error, games = mean_by_game((missing - missing.mean()) * (sign - sign.mean()), game[rows])
    is_sure = games >= _FEWEST_GAMES and abs(mean) > _SURE * error
    return shares if is_sure and abs(shares[0] - shares[1]) >= _LARGE_DIFFERENCE else None


def _joined(parts: Sequence[Prediction]) -> Prediction:
    own = parts[0].drawishness
    if any(np.ndim(part.drawishness) for part in parts):
        own = np.concatenate([np.broadcast_to(part.drawishness, len(part.value)) for part in parts])
    return attrs.evolve(parts[0], value=np.concatenate([part.value for part in parts]), drawishness=own)


@checked
def grade(
    game: Game | str,
    files: str | os.PathLike[str] | Files,
    *evaluations: str | LinearEvaluation | ResultEvaluation | Scorer,
    select: str | SelectionRule = "random",
    settings: GradingSettings | None = None,
    seed: int = 0,
    scales: Sequence[float | str | None] = (None,),
    drawishness: Sequence[float | str | None] = (None,),
    tuning: Files = (),
    tuning_rule: SelectionRule | None = None,
    format: str | None = None,  # noqa: A002 # the word of the command line
    skip_bad: bool = False,
    jobs: int = THREADS,
    observe: Callable[[Positions], None] | None = None,
    progress: Progress = SILENT,
) -> CollectionGrading:
    """Grade evaluations by how well they predict the results of games (Ban 2012), as ``glem grade`` does.

    Parameters
    ----------
    game
        The game or its name.
    files
        Game records, or positions with results or scores, of which the signs count.
    evaluations
        Evaluations of distinct names, or texts: a file or ``default``, with ``depth=``, ``nodes=`` or ``seconds=``
        after a search, ``comments``, ``csv:FILE`` and so on (:mod:`~glem.core.grading.scorers.scorers`).
    select
        Positions of each game: ``random`` (one), ``last`` (one), ``all``, or ``every:N``; or a whole rule.
    settings
        How grades are taken; by default with the seed.
    seed
        Chooses positions and resamples.
    scales, drawishness
        b and alpha of each evaluation: a number, :data:`FIT`, or :data:`OWN` or None for the evaluation's own, fitted
        where it has none; a single entry is for all of them. A number for alpha yields to an evaluation's own
        drawishness. :data:`FEATURES` for alpha fits one from features of the positions, in place of an evaluation's
        own.
    tuning
        Files with the games that a drawishness from features is fitted to; none divides the graded games and fits for
        each part to the others.
    tuning_rule
        Which of their positions; those of ``select`` if None.
    format
        Name of the files' format, if their names and content do not tell.
    skip_bad
        Leave bad records out instead of stopping.
    jobs
        Files that are read at a time, and threads; they change no result.
    observe
        Is shown the selected positions, part by part in the order of the files; their games are numbered from 0 in
        each file.

    Raises
    ------
    BadInputError
        No such files or evaluations, no positions are left, positions were merged, a file is bad, evaluations share a
        name, a drawishness is none, or no evaluation has a value. One that has none is left out, and told in the
        remarks, where another has some.
    """
    game, files = load_game(game), paths_of(files)
    scorers, rule = scorers_of(game, evaluations, jobs), rule_of(select, seed)
    settings = settings or GradingSettings(seed=seed)
    names = [scorer.name for scorer in scorers]
    if len(set(names)) < len(names):
        raise BadInputError(f"evaluations need names of their own (name=...), got {', '.join(names)}")
    given_scales, given_drawishness = _one_each("scale", scales, names), _one_each("drawishness", drawishness, names)
    for alpha in given_drawishness:
        if isinstance(alpha, float | int) and not 0 <= alpha <= 1:
            raise BadInputError(f"drawishness must be between 0 and 1, got {alpha:g}")
    featured = frozenset(name for name, alpha in zip(names, given_drawishness, strict=True) if alpha == FEATURES)
    learning = learning_of(game)
    if featured and learning is None:
        raise BadInputError(f"{game.name} has no features that a drawishness could be fitted from; fit one constant")
    if tuning and not featured:
        raise BadInputError(f"tuning games serve to fit a drawishness: give {FEATURES!r} for that of an evaluation")
    every = [*tuning, *files]
    distinct = dict(zip(every, distinct_names(every), strict=True))

    def collected(paths: Files, chosen: SelectionRule, own: Sequence[Scorer], **more: Any) -> CollectedPositions:
        found = CollectedPositions(game, learning, own, is_featured=bool(featured))
        reading = {"names": distinct, "format": format, "skip_bad": skip_bad, "threads": jobs, **more}
        found.read(paths, chosen, progress=progress, **reading)
        return found

    tuned: dict[str, DrawishnessRows] = {}
    if tuning:
        fitted = collected(tuning, tuning_rule or rule, [scorer for scorer in scorers if scorer.name in featured])
        tuned = {name: fitted.drawishness_rows(found) for name, found in fitted.predictions(progress).items()}
    columns = collected(files, rule, scorers, observe=observe)
    given = zip(columns.predictions(progress).items(), given_scales, given_drawishness, strict=True)
    predictions = {name: with_parameters(prediction, scale, alpha) for (name, prediction), scale, alpha in given}
    told = [text for scorer in scorers for text in scorer.remarks()]
    tables = [table for scorer in scorers for table in scorer.tables()]
    result, side = columns.columns["result"], columns.columns["side"]
    ungraded = [name for name, prediction in predictions.items() if not prediction.is_known.any()]
    have = "has" if len(ungraded) == 1 else "have"
    without = f"{' and '.join(ungraded)} {have} no value for any of the {counted(len(result), 'position')}"
    if len(ungraded) == len(names):
        raise BadInputError("; ".join([without, *told]))
    for name in ungraded:
        del predictions[name]
    fitted_remarks = []
    for name in [name for name in predictions if name in featured]:
        assert learning is not None
        rows = columns.drawishness_rows(predictions[name])
        own, remark, table = featured_drawishness(learning, name, rows, tuned.get(name), settings)
        predictions[name] = attrs.evolve(predictions[name], drawishness=own)
        fitted_remarks.append(remark)
        tables.append(table)
    grading = grade_predictions(
        result,
        predictions,
        game=columns.columns["game"],
        side=side if side.all() else None,
        groupings=columns.groupings,
        settings=settings,
    )
    return CollectionGrading(
        grading,
        rule,
        columns.counts,
        tuple(sorted({summary.label_kind for summary in columns.summaries})),
        (
            *([f"{without}: not graded"] if ungraded else []),
            *columns.remarks(files, rule),
            *_missing(grading),
            *fitted_remarks,
            *told,
        ),
        tuple(tables),
        featured,
        "" if learning is None else learning.phases.description,
    )


def paths_of(files: str | os.PathLike[str] | Files) -> Files:
    """Give the paths of one file or several, checked before work begins."""
    paths = [files] if isinstance(files, str | os.PathLike) else files
    for path in paths if isinstance(paths, Sequence) else [paths]:
        if not isinstance(path, str | os.PathLike):
            raise BadInputError(f"files of games are needed, got {described(path)}")
    return paths


def rule_of(select: str | SelectionRule, seed: int) -> SelectionRule:
    """Read the text of a rule."""
    return SelectionRule.parse(select, seed=seed) if isinstance(select, str) else select


def _one_each(what: str, given: Sequence[float | str | None], names: Sequence[str]) -> Sequence[float | str | None]:
    words = (OWN, FIT) if what == "scale" else (OWN, FIT, FEATURES)
    for value in given:
        if isinstance(value, str) and value not in words:
            raise BadInputError(f"a {what} is a number, {' or '.join(map(repr, words))}, got {value!r}")
    if len(given) == 1:
        return [given[0]] * len(names)
    if len(given) != len(names):
        raise BadInputError(
            f"{counted(len(given), 'value')} of {what} for {counted(len(names), 'evaluation')}: give one, or one each"
        )
    return given


def with_parameters(prediction: Prediction, scale: float | str | None, alpha: float | str | None) -> Prediction:
    """Give a prediction the scale and the drawishness that :func:`grade` is given for it."""
    chosen: Any = {}
    if scale == FIT:
        chosen["scale"] = None
    elif isinstance(scale, float | int):
        chosen["scale"] = scale
    if alpha in (FIT, FEATURES):
        chosen["drawishness"] = None
        if alpha == FEATURES:
            # The scale that probabilities have goes with the drawishness that they have.
            chosen.setdefault("scale", None)
    elif isinstance(alpha, float | int) and prediction.drawishness is None:
        chosen["drawishness"] = alpha
    return attrs.evolve(prediction, **chosen)


def learning_of(game: Game) -> Learning | None:
    """Load what a game gives to learning; None where it gives nothing."""
    try:
        return load_learning(game.name)
    except PluginError:
        return None


def _missing(grading: Grading) -> list[str]:
    found = [
        f"{one.name} has no value for {one.missing:,} of {counted(one.missing + one.grade.positions, 'position')}, "
        "left out of its grade and of its comparisons"
        for one in grading.evaluations
        if one.missing
    ]
    return found + [f"{first} and {second} have no position in common" for first, second in grading.uncompared]
