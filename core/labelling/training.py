"""From the rules of a game to an evaluation that plays, generation after generation (GLEM, sections 3 and 5).

The first generation learns from quick games in which both sides see only how games end, or from given games; so do
others until one is as good as an empty evaluation. Each later one learns from quick games of the best evaluation so
far, whose positions its searches, and the solver near the end, label; it has twice as many positions as the one before.
The last game stage is labelled first. Its weights are fitted before searches that meet it label the stage before. A
match with a sequential test against the best so far decides whether it takes its place: an evaluation with a smaller
error need not play better.

All files of a folder depend on the settings alone, but for the seconds in them: not on workers, nor on kills, nor on
how many generations were asked for at once.
"""

import contextlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.discovery.pattern_design import design_pattern_set
from glem.core.errors import ABOVE_0, BadInputError, check_arguments, reading
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, scaled_sigmoid
from glem.core.evaluation.named import NO_EVALUATION, load_value
from glem.core.evaluation.network import can_be_layered
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning
from glem.core.files.atomic import write_text
from glem.core.files.digests import arrays_digest
from glem.core.files.json_values import instance_of, read_json, real_of, shortened, whole_of
from glem.core.fitting.fitters.by_layer import Network
from glem.core.fitting.fitters.fitter import Run
from glem.core.fitting.least_squares import FitSettings, Terms, train
from glem.core.game.records import GameRecords
from glem.core.labelling.by_search import SearchLabelling, label_by_search
from glem.core.labelling.first_games import play_games
from glem.core.labelling.plan import TrainingSettings
from glem.core.measures.choices import ChoiceError
from glem.core.measures.errors import RootMeanSquareError
from glem.core.measures.measure import Judged, judged_by
from glem.core.measures.sums import measured
from glem.core.patterns.patterns import PatternSet
from glem.core.players.spec import PlayerSpec
from glem.core.positions.files import PositionWriter, read_positions, write_positions
from glem.core.positions.game_tree import GameTree
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from glem.core.positions.replay import plies_of_games
from glem.core.search.results import Limits
from glem.core.search.solver import solver_of
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Parts, Progress
from glem.core.tasks.run_folder import remove_work, run_folder
from glem.core.tasks.tasks import Workers, kept_workers
from glem.core.tournament.elo import EloEstimate, elo_of_score
from glem.core.tournament.opening_choice import choose_openings
from glem.core.tournament.openings import Opening
from glem.core.tournament.sprt import Sprt, SprtVerdict
from glem.core.tournament.tournament import Tournament, run_tournament

BEST = "best.npz"
_RESULTS = "generations.json"
_MARK = "training.json"
_RANDOM_SHARE = 4
"""At most this part of a quick game are random moves at its beginning."""
_OPENING_SHARE = 6
"""This part of a game is the opening of a match."""
_EXPLORATION = 0.03
_HELD_OUT = 0.05
_CHOICES = 400
_GROWTH = 2
_DESIGN_SAMPLE = 100_000
"""Positions that patterns are designed from."""


@define(frozen=True)
class Generation:
    """What became of one generation.

    Parameters
    ----------
    number
        From 0 on.
    games, positions, labels
        Games and positions that it began with, and labelled positions that it was fitted to, those of the generation
        before included.
    error
        Root mean square error on held-out games, of each phase and over all; nan where there are none.
    choice_error, choice_error_spread
        Mean choice error and its standard error, on positions of the first games that the solver has labelled; nan for
        games that cannot be solved.
    wins, draws, losses
        Of the match against the best before.
    elo
        What they say.
    verdict
        Of the sequential test.
    is_best
        Whether it is the best from now on.
    rating
        Elo over an evaluation that calls all positions even: sum of the differences of the matches that were won.
    linear_phases
        Names of phases that have only a linear fit.
    patterns
        Whose patterns it has: given by the game, of the best before, or designed from its labels; and whether a hidden
        layer is over them.
    seconds
        Since the generation began, or since the last interruption of it.
    """

    number: int
    games: int
    positions: int
    labels: int
    error: tuple[float, ...]
    choice_error: float
    choice_error_spread: float
    wins: int
    draws: int
    losses: int
    elo: EloEstimate
    verdict: str
    is_best: bool
    rating: float
    linear_phases: tuple[str, ...] = ()
    patterns: str = ""
    seconds: float = 0.0


def train_generations(
    learning: Learning,
    folder: Path,
    settings: TrainingSettings | None = None,
    *,
    generations: int | None = None,
    seconds: float | None = None,
    records: Sequence[GameRecords] = (),
    sources: str = "",
    workers: Workers | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> list[Generation]:
    """Train an evaluation in a folder, or go on there; ``best.npz`` is always playable.

    Parameters
    ----------
    learning
        What the game gives to learning; patterns are those of its first set.
    folder
        Made if absent.
    generations
        How many there are to be in all.
    seconds
        Time: no generation is begun that would probably end later, as each takes about twice the time of the one
        before.
    records
        Games to begin with instead of those that see only how games end.
    sources
        Says which games these are.
    workers
        Where positions are labelled and matches played.
    jobs
        Threads of fits.

    Returns
    -------
    list
        All generations in the folder.

    Raises
    ------
    BadInputError
        Neither a number nor a time is given, or the folder holds other work.
    """
    check_arguments({"generations": generations, "seconds": seconds}, generations=(1,), seconds=(ABOVE_0,))
    if generations is None and seconds is None:
        raise BadInputError("say how many generations there are to be, or how much time there is")
    chosen = (settings or TrainingSettings()).resolved(learning.game)
    digest = arrays_digest([part.moves for part in records]) if records else ""
    described = {"game": learning.game.name, "games": sources, "digest": digest, **attrs.asdict(chosen)}
    with run_folder(folder, described, keep=True, mark=_MARK, content="training", remedy="name another folder"):
        run = _Training(learning, folder, chosen, records, workers, jobs, progress)
        began, last = time.perf_counter(), 0.0
        while generations is None or len(run.done) < generations:
            start = time.perf_counter()
            if seconds is not None and start - began + _GROWTH * last > seconds:
                break
            run.next()
            last = time.perf_counter() - start
        return run.done


@define(eq=False)
class _Training:
    learning: Learning
    folder: Path
    settings: TrainingSettings
    records: Sequence[GameRecords]
    workers: Workers | None
    jobs: int
    progress: Progress
    done: list[Generation] = field(init=False)

    def __attrs_post_init__(self) -> None:
        path = self.folder / _RESULTS
        told = read_json(path, "generations of a training") if path.exists() else []
        with reading(path, "generations of a training"):
            self.done = [_generation(each, number) for number, each in enumerate(told)]

    def _file(self, kind: str, number: int, suffix: str) -> Path:
        return self.folder / f"{kind}-{number:02d}{suffix}"

    @property
    def best(self) -> str:
        """The best evaluation so far: a file, or one that calls all positions even."""
        numbers = [each.number for each in self.done if each.is_best]
        return str(self._file("generation", numbers[-1], ".npz")) if numbers else NO_EVALUATION

    def _is_searched(self, number: int) -> bool:
        """Whether searches label the positions of a generation: those of an empty evaluation would tell too little."""
        return number > 0 and (bool(self.records) or any(each.is_best for each in self.done[:number]))

    def next(self) -> None:
        """Make one more generation; what a killed run has finished of it is not made again."""
        number, began = len(self.done), time.perf_counter()
        self._label(number)
        games, count, _ = self._facts(number)
        evaluation, labels, errors, linear, patterns = self._fit(number)
        result = self._match(number)
        (pairing,) = result.standings.pairings.values()
        assert result.sprt is not None
        is_best = (
            result.sprt.verdict == SprtVerdict.ACCEPT_H1
            or (result.sprt.verdict == SprtVerdict.CONTINUE and pairing.elo.score > 0.5)
            # In games that are over soon both sides see the end. There is something to play with all the same.
            or (self.best == NO_EVALUATION and pairing.elo.score >= 0.5)
        )
        rating = self.done[-1].rating if self.done else 0.0
        if is_best:
            # Of a match without a lost point, the estimate is infinite.
            rating += elo_of_score((pairing.wins + pairing.draws / 2 + 0.5) / (pairing.games + 1))
        choice_error, spread = self._choice_error(evaluation)
        found = Generation(
            number, games, count, labels, errors, choice_error, spread, pairing.wins, pairing.draws, pairing.losses,
            pairing.elo, str(result.sprt.verdict), is_best, rating, linear, patterns,
            round(time.perf_counter() - began, 1),
        )  # fmt: skip
        if is_best:
            evaluation.save(self.folder / BEST)
        told = [attrs.asdict(each, value_serializer=_json_value) for each in [*self.done, found]]
        write_text(self.folder / _RESULTS, json.dumps(told, indent=1, allow_nan=False) + "\n")
        self.done.append(found)

    def _wanted(self, number: int) -> int:
        """Positions that a generation labels."""
        assert self.settings.positions is not None
        return self.settings.positions << max(number - 1, 0)

    def _quick_games(self, number: int) -> list[GameRecords]:
        """Give the games that a generation begins with."""
        wanted, game = self._wanted(number), self.learning.game
        if self.records:
            return list(self.records)
        if not self._is_searched(number):
            return [play_games(game, positions=5 * wanted, seed=self.settings.seed + number, progress=self.progress)]
        return [
            play_games(
                game,
                positions=2 * wanted,
                evaluation=load_value(self.best, game),
                random_plies=self._facts(0)[2] // _RANDOM_SHARE,
                exploration=_EXPLORATION,
                seed=self.settings.seed + number,
                progress=self.progress,
            )
        ]

    def _facts(self, number: int) -> tuple[int, int, int]:
        """Numbers of games and positions that a generation began with, and the median of the games' plies."""
        path = self._file("given", number, ".json")
        found = read_json(path, "numbers of games, positions and plies")
        with reading(path, "numbers of games, positions and plies"):
            games, positions, plies = (whole_of(each, 1) for each in found)
        return games, positions, plies

    def _label(self, number: int) -> None:
        """Label the positions of a generation."""
        target, work = self._file("labelled", number, ".parquet"), self._file("labels", number, "")
        if target.exists():
            remove_work(work)
            return
        records = self._quick_games(number)
        if not self._is_searched(number):
            tree = GameTree.from_records(self.learning.game, records)
            given = tree.labelled(tree.propagate())
        else:
            given = self._chosen(positions_of_records(self.learning.game, records).merge_duplicates(), number)
        plies = np.concatenate([plies_of_games(self.learning.game, part) for part in records])
        facts = [len(plies), len(given), int(np.median(plies))]
        write_text(self._file("given", number, ".json"), json.dumps(facts))
        if not self._is_searched(number):
            write_positions(target, given)
            return
        with PositionWriter(target, given.game, "search") as writer, kept_workers(self.workers) as workers:
            for part in self._labelled(given, work, workers):
                writer.append(part)
        remove_work(work)

    def _labelled(self, given: Positions, work: Path, workers: Workers) -> Iterator[Positions]:
        """Label positions by searches, stage after stage from the end (GLEM, section 3).

        The best evaluation so far labels the last stage. Its weights there are fitted to these labels before it labels
        the stage before, and so on.
        """
        evaluation, phase = load_value(self.best, given.game), self.learning.phases.of(given.positions)
        # Beside a hidden layer, no weights of one stage are fitted.
        stages = [None] if evaluation.network is not None else np.unique(phase)[::-1].tolist()
        work.mkdir(exist_ok=True)
        with self.progress("labels", len(stages)) as task:
            for number, stage in enumerate(stages):
                name = f"stage-{number:02d}"
                file = work / f"{name}.npz"
                evaluation.save(file)
                how = SearchLabelling(self._player("labels", str(file)), children=1, sampled=1, seed=self.settings.seed)
                rows = given if stage is None else given.select(phase == stage)
                parts = list(label_by_search(rows, how, work / name, workers=workers, progress=Parts(task)))
                yield from parts
                if stage is None or stage == stages[-1]:
                    break
                labelled = Positions.concatenate(parts)
                labelled = labelled.select(self.learning.phases.of(labelled.positions) == stage)
                settings, terms = attrs.evolve(self._fit_settings, smoothing=0.0), Terms.of(evaluation)
                fit = train(labelled, self.learning, terms, settings, prior=evaluation, jobs=self.jobs)
                evaluation = fit.evaluation

    @property
    def _fit_settings(self) -> FitSettings:
        bound = self.learning.game.greatest_score
        # Where games are only won or lost, twice the weights make a win surer, not greater.
        link = scaled_sigmoid(bound) if bound == 1 else IDENTITY
        return attrs.evolve(FitSettings.default(), link=link, l2=self.settings.l2)

    def _chosen(self, given: Positions, number: int) -> Positions:
        """Draw the positions that are labelled, of each phase as many as there are, up to an equal number."""
        wanted = self._wanted(number)
        order = np.random.default_rng((self.settings.seed, number)).permutation(len(given))
        phase = self.learning.phases.of(given.positions)[order].astype(np.int64)
        # Number of each position within its phase: the first ones of all phases are taken.
        by_phase = np.argsort(phase, kind="stable")
        starts = np.searchsorted(phase[by_phase], np.arange(len(self.learning.phases)))
        rank = np.empty(len(given), np.int64)
        rank[by_phase] = np.arange(len(given)) - starts[phase[by_phase]]
        chosen = given.select(np.sort(order[np.argsort(rank, kind="stable")[:wanted]]))
        # A search does not tell more of a position that more games have reached.
        return attrs.evolve(chosen, weight=np.ones(len(chosen), np.float32))

    def _fit(self, number: int) -> tuple[LinearEvaluation, int, tuple[float, ...], tuple[str, ...], str]:
        """Fit a generation to its labels and to those of the one before, which are searches' too.

        Returns the evaluation, the number of labels, errors by phase, phases with a linear fit, and whose patterns.
        """
        sets = [
            read_positions(self._file("labelled", each, ".parquet"), self.learning.game)
            for each in range(max(number - 1, 0) if self._is_searched(number - 1) else number, number + 1)
        ]
        pool = Positions.concatenate([attrs.evolve(each, label_kind="search", label_spread=None) for each in sets])
        labels = len(pool)
        drawn = pool.held_out_mask(_HELD_OUT, self.settings.seed)
        unseen = pool.select(drawn)
        settings = self._fit_settings
        searched = self._is_searched(number)
        labels_by = "search by the best generations before" if searched else "propagated results of games"
        phase = self.learning.phases.of(unseen.positions)
        made = {
            "command": "train",
            "generation": str(number),
            "labels": labels_by,
            "positions": f"{labels:,}",
            "settings": json.dumps(attrs.asdict(self.settings)),
        }
        found: list[tuple[float, str, LinearEvaluation, tuple[int, ...], NDArray[np.float64]]] = []

        def judge(patterns: str, evaluation: LinearEvaluation, linear: tuple[int, ...] = ()) -> None:
            values = evaluation.predict(unseen.positions, jobs=self.jobs)
            if evaluation.link == LOGISTIC:
                values = 2 * values - 1
            judged = Judged(values, unseen.label)
            errors = measured(RootMeanSquareError(), judged, group=phase, groups=len(self.learning.phases)).value[0]
            found.append((float(errors[-1]), patterns, evaluation, linear, errors))

        for patterns, terms, prior in self._terms(number, pool.select(~drawn), settings):
            training = train(
                pool,
                self.learning,
                terms,
                settings,
                held_out=drawn,
                prior=prior,
                provenance=made | {"patterns": patterns},
                jobs=self.jobs,
                progress=self.progress,
            )
            judge(patterns, training.evaluation, training.linear_phases)
        # All are judged by the same positions; a match judges the best of them.
        best = min(found, key=lambda each: each[0])
        layered = best[2].patterns
        if searched and layered is not None and can_be_layered(layered):
            beside: Any = NO_EVALUATION
            if self.learning.linear:
                # Units that add up patterns would have to learn what a count of pieces says at once.
                terms, link = Terms(linear=self.learning.linear), IDENTITY if settings.link == IDENTITY else LOGISTIC
                linked = attrs.evolve(settings, link=link)
                beside = train(pool, self.learning, terms, linked, held_out=drawn, jobs=self.jobs).evaluation
            how = Network(patterns=layered, prior=beside, held_out=_HELD_OUT)
            run = Run(seed=self.settings.seed, jobs=self.jobs, progress=self.progress, provenance=made)
            judge(f"{best[1]}, hidden layer", value_part(how.fit(pool, self.learning, run).evaluation))
            best = min(found, key=lambda each: each[0])
        _, patterns, evaluation, linear, errors = best
        evaluation.save(self._file("generation", number, ".npz"))
        names = tuple(self.learning.phases.names[each] for each in linear)
        return evaluation, labels, tuple(map(float, errors)), names, patterns

    def _terms(
        self, number: int, pool: Positions, settings: FitSettings
    ) -> Iterator[tuple[str, Terms, LinearEvaluation | None]]:
        """Give what a generation may be made of: what the best is made of, and patterns designed from its labels.

        They stand beside those that the game gives.
        """
        learning = self.learning
        name = next(iter(learning.pattern_sets), None)
        given = None if name is None else PatternSet.named(learning, name)
        prior = load_value(self.best, pool.game) if self._is_searched(number) and self.best != NO_EVALUATION else None
        if prior is not None and prior.network is not None:
            # What a layer is over has weights of its own, too.
            yield "of the best", Terms(prior.patterns, linear=learning.linear), None
        elif prior is not None:
            yield "of the best", Terms.of(prior), prior
        else:
            yield "none" if given is None else "given", Terms(given, linear=learning.linear), None
        if self._is_searched(number):
            how: dict[str, Any] = {"jobs": self.jobs, "progress": self.progress}
            seed = self.settings.seed + number
            designed = design_pattern_set(pool, learning, given, settings, sample=_DESIGN_SAMPLE, seed=seed, **how)
            if designed is not None:
                patterns = PatternSet(learning.features, (*(given.patterns if given else ()), *designed.patterns))
                yield "designed" if given is None else "given, designed", Terms(patterns, linear=learning.linear), None

    def _player(self, name: str, evaluation: str) -> PlayerSpec:
        limits = Limits(depth=self.settings.depth)
        return PlayerSpec(name, evaluation=evaluation, limits=limits, solve_from=self.settings.solve)

    def _match(self, number: int) -> Any:
        """Play a generation against the best before, from openings of its own."""
        openings = self._openings((self.settings.seed << 16) + number)
        players = (
            self._player("new", str(self._file("generation", number, ".npz"))),
            self._player("best", self.best),
        )
        tournament = Tournament(self.learning.game, players, tuple(openings), sprt=Sprt(0.0, self.settings.elo))
        record = self._file("match", number, ".jsonl")
        result = run_tournament(tournament, record, workers=self.workers, progress=self.progress)
        record.unlink()
        return result

    def _openings(self, seed: int) -> list[Opening]:
        """Choose the openings of a match: a share of a game long, or longer where there are too few so short."""
        length = self._facts(0)[2]
        for plies in range(max(length // _OPENING_SHARE, 2), length):
            with contextlib.suppress(BadInputError):
                return choose_openings(self.learning.game, plies=plies, count=self.settings.pairs, seed=seed)
        raise BadInputError(
            f"{self.learning.game.name} has too few openings for matches of "
            f"{counted(self.settings.pairs, 'pair')}; take fewer"
        )

    def _choice_error(self, evaluation: LinearEvaluation) -> tuple[float, float]:
        """Measure choices against the solver's, on positions of the first games."""
        if not self.settings.solve:
            return float("nan"), float("nan")
        path, work = self.folder / "choices.parquet", self.folder / "choices"
        game = self.learning.game
        if path.exists():
            remove_work(work)
        else:
            first = read_positions(self._file("labelled", 0, ".parquet"), game)
            plies_left = solver_of(game, table_mb=1).plies_left
            order = np.random.default_rng(self.settings.seed).permutation(len(first)).tolist()
            near = (row for row in order if 0 < plies_left(first[row]) <= self.settings.solve)
            rows = np.sort([row for row, _ in zip(near, range(_CHOICES), strict=False)]).astype(np.int64)
            settings = SearchLabelling(self._player("solver", NO_EVALUATION), choices=True, successors=False)
            with PositionWriter(path, game, settings.label_kind) as writer:
                for part in label_by_search(first.select(rows), settings, work, workers=self.workers):
                    writer.append(part)
            remove_work(work)
        choices = read_positions(path, game)
        if len(choices) == 0:
            return float("nan"), float("nan")
        found = measured(ChoiceError(), judged_by(evaluation, choices))
        return float(found.value[0, -1]), float(found.error[0, -1])


def _json_value(_instance: object, _attribute: object, value: Any) -> Any:
    # JSON knows no infinite Elo and no mean of nothing: they become texts, which `float` reads.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _unquoted(value: Any) -> Any:
    return float(value) if value in {"inf", "-inf", "nan"} else value


def _generation(told: Any, number: int) -> Generation:
    for name in ("games", "positions", "labels", "wins", "draws", "losses"):
        whole_of(told[name])
    if told["number"] != number:
        raise ValueError(f"generation {shortened(told['number'])} where {number} is expected")
    numbers = {name: _unquoted(told[name]) for name in ("choice_error", "choice_error_spread", "rating")}
    error = tuple(each if isinstance(each, float) else real_of(each) for each in map(_unquoted, told["error"]))
    elo = instance_of(EloEstimate, {name: _unquoted(value) for name, value in told["elo"].items()})
    made = {"error": error, "elo": elo, "linear_phases": tuple(told["linear_phases"])}
    return instance_of(Generation, {**told, **numbers, **made, "verdict": str(SprtVerdict(told["verdict"]))})
