"""What ``import glem`` gives a notebook: thin functions over what the commands call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field

from glem.core.discovery.plan import DiscoveryPlan
from glem.core.errors import (
    BadInputError,
    GlemError,
    GlemWarning,
    check_arguments,
    check_regular,
    checked,
    described,
)
from glem.core.evaluation import named
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.functions import failure_of
from glem.core.features.learning import Learning, load_learning
from glem.core.features.own import use, used
from glem.core.game.equal_positions import one_position
from glem.core.game.game import Game, game_names, load_game
from glem.core.game.records import GameRecords
from glem.core.game.registry import GAMES_GROUP, LEARNING_GROUP, add_plugin
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.settings import made_of
from glem.core.tasks.threads import THREADS

if TYPE_CHECKING:
    from glem.core.fitting.fitters.fitter import Fit, Fitter
    from glem.core.game.solver import Solution
    from glem.core.labelling.training_games import Generated
    from glem.core.measures.evaluating import Evaluated
    from glem.core.measures.named import Given
    from glem.core.report.data import DiscoveryReport
    from glem.core.search.results import SearchResult
    from glem.core.tasks.tasks import Workers
    from glem.core.tournament.sprt import Sprt
    from glem.core.tournament.tournament import TournamentResult

_SOURCES = 8
"""That an evaluation names of its positions at most."""
_SECONDS = 5.0
_PART = 1 << 18
"""Positions that are evaluated at a time."""

Path_ = str | os.PathLike[str]
Evaluation_ = str | os.PathLike[str] | LinearEvaluation | ResultEvaluation


def position_of(game: Game, position: Any = None) -> Any:
    """Read a position from its text; None is the initial one, and a position of the game stays as it is."""
    if position is None:
        return game.initial_position
    return game.parse_position(position) if isinstance(position, str) else one_position(game, position)


def register(game: Game, learning: Learning | None = None) -> None:
    """Let this process know a game of your own, as if a package had installed it; call it again after a change.

    Worker processes do not know it: for them, and for the commands, write a package (``glem games new``).

    An installed game with a learning that you have :meth:`~glem.core.features.learning.Learning.extended` has your
    features from now on, wherever it is loaded, as by ``--features``; files of features reach worker processes.

    Raises
    ------
    BadInputError
        What is given is no game.
    PluginError
        A game of that name is installed.
    """
    if not isinstance(game, Game):
        raise BadInputError(f"a Game is needed, got {described(game)}; glem.load_game(NAME) gives an installed one")
    sources = () if learning is None else learning.features.sources
    if sources and game.name in game_names() and load_game(game.name) is game:
        given = {source.file for source in sources}
        use([*(source for source in used() if source.file not in given), *sources])
        return
    add_plugin(GAMES_GROUP, game.name, game)
    if learning is not None:
        add_plugin(LEARNING_GROUP, game.name, learning)


def read_games(
    game: Game | str,
    *files: Path_,
    format: str | None = None,  # noqa: A002 # the word of the command line
    skip_bad: bool = False,
) -> GameRecords:
    """Read the game records of some files into memory, each game replayed by the rules.

    Parameters
    ----------
    game
        The game or its name.
    files
        Files in any format that the game reads, also packed as ``.gz``, ``.xz`` or ``.zst``.
    format
        Name of their format, if suffix and content do not tell.
    skip_bad
        Leave bad records out, and say why in ``problems``.

    Raises
    ------
    BadInputError
        No such file or format, or a bad record.
    """
    from glem.core.positions.reading import read_all_records

    owner = load_game(game)
    records = list(read_all_records(owner, files, format=format, skip_bad=skip_bad))
    return GameRecords.concatenate(records, initial_position=owner.initial_position)


@checked
def positions_of_games(
    game: Game | str, games: GameRecords, *, label: str = "result", per_game: int | None = None, seed: int = 0
) -> Positions:
    """Make labelled positions of game records.

    Parameters
    ----------
    game
        The game or its name.
    games
        What :func:`read_games` gives.
    label
        ``result``, ``theoretical`` or ``auto`` (:mod:`glem.core.positions.labels`).
    per_game
        At most this many random positions of a game; None for all.
    seed
        Of the draw.
    """
    from glem.core.positions.labels import Selection, positions_of_records

    return positions_of_records(
        load_game(game), [games], label=label, selection=Selection(per_game=per_game), seed=seed
    )


@checked
def train_test_split(positions: Positions, test_size: float = 0.25, seed: int = 0) -> tuple[Positions, Positions]:
    """Split positions into training and test sets, game by game.

    Parameters
    ----------
    positions
        Scored positions, or a table of them; merge duplicates after the split.
    test_size
        Expected share of the games in the test set, 0 to 1.
    seed
        Another seed takes other games.
    """
    return Positions.of(positions).split_by_game(test_size, seed)


@checked
def fit(
    positions: Positions | Path_ | Sequence[Path_],
    fitter: str | Fitter = "least-squares",
    *,
    game: Game | str | None = None,
    format: str | None = None,  # noqa: A002 # the word of the command line
    skip_bad: bool = False,
    output: Path_ | None = None,
    seed: int = 0,
    workers: Workers | None = None,
    jobs: int = THREADS,
    progress: Progress = SILENT,
    **settings: Any,
) -> Fit:
    """Fit an evaluation to scored positions, or to the results of games, as ``glem fit`` does.

    Parameters
    ----------
    positions
        Scored positions, a table of them (:meth:`.Positions.of`), or Parquet files. For fitters that stream, such as
        ``logistic``, files need not fit in memory. For ``likelihood``, files of games or of positions with results.
    fitter
        A name, as ``glem fit`` takes it, ``my_fitters.py:Ridge`` too, or a fitter: ``glem.fit(p, Ridge(penalty=3))``.
    game, format, skip_bad
        Of files of games: the game or its name, which Parquet files name themselves; the name of their format, if names
        and content do not tell; whether bad records are left out.
    output
        Evaluation file to write. The state of an unfinished fit lies beside it, and the same call continues there.
    seed
        Of all that is random, such as the games that are held out.
    workers
        Those of a scheduler, where the fitter is least-squares; they change no result.
    jobs
        Threads; they change no result.
    progress
        Display.
    settings
        Those of the fitter, where it is a name: ``glem.fit(p, "network", hidden=64)``.

    Raises
    ------
    BadInputError
        No such fitter or setting, no positions, or what the fitter raises.
    """
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.fitting.fitters.fitter import Fit, Run, fitter_of
    from glem.core.positions.files import PositionFiles

    chosen = fitter_of(fitter, settings)
    if workers is not None and not chosen.uses_workers:
        raise BadInputError(f"{chosen.name} fits in this process alone: leave out the workers of a scheduler (--dask)")
    given: Any = [positions] if isinstance(positions, str | os.PathLike) else positions
    are_files = isinstance(given, list | tuple) and all(isinstance(path, str | os.PathLike) for path in given)
    if chosen.from_games:
        source: Any = _games(given if are_files else [], game, format, skip_bad)
        owner, told, files = source.game, {}, {}
    else:
        if format is not None or skip_bad:
            raise BadInputError(f"{chosen.name} reads positions in Parquet: leave out format and skip_bad")
        source = PositionFiles.of(given) if are_files else Positions.of(given, game)
        if not len(source):
            raise BadInputError("there are no positions to fit")
        owner = source.game
        more = len(source.sources) - _SOURCES
        named_sources = ", ".join(source.sources[:_SOURCES]) + (f" and {more:,} more" if more > 0 else "")
        told = {"positions": f"{len(source):,} from {named_sources}", "labels": source.label_kind}
        files = {FITTED_FILES: fitted_files_text(given)} if are_files else {}
        if are_files and not chosen.streams:
            source = source.read()
    with Run(output, seed, jobs, progress, told, files, workers) as run:
        found = _fitted(chosen, source, load_learning(owner.name), run)
        if not isinstance(found, Fit):
            raise BadInputError(f"{chosen!r} gives a {type(found).__name__}, expected a Fit")
        if FITTED_FILES not in found.evaluation.provenance:
            # A fitter may leave to glem what the data are.
            own = {"fitter": repr(chosen)} | dict(found.evaluation.provenance)
            found = evolve(found, evaluation=evolve(found.evaluation, provenance={**told, **files, **own}))
        if output is not None:
            found.evaluation.save(output)
    return found


def tune(game: Game | str, files: Path_ | Sequence[Path_], **how: Any) -> ResultEvaluation:
    """Call ``glem.fit(files, "likelihood", game=game, ...)``: what this is called now. Goes in the next version."""
    told = {"rule": "select", "quiet": "quiet_positions"}
    warnings.warn('glem.tune(game, files) is glem.fit(files, "likelihood", game=game) now', GlemWarning, stacklevel=2)
    found = fit(files, "likelihood", game=game, **{told.get(name, name): value for name, value in how.items()})
    assert isinstance(found.evaluation, ResultEvaluation)
    return found.evaluation


def _fitted(fitter: Fitter, data: Any, learning: Learning, run: Any) -> Any:
    """Run a fitter; what a user's own raises is an error of that file."""
    if type(fitter).__module__.startswith("glem."):
        return fitter.fit(data, learning, run)
    try:
        return fitter.fit(data, learning, run)
    except (GlemError, MemoryError):
        raise
    except Exception as error:
        raise BadInputError(f"fitter {fitter.name}: {failure_of(error)}") from error


def _games(paths: Sequence[Path_], game: Game | str | None, form: str | None, skip_bad: bool) -> Any:
    from glem.core.discovery.game_positions import Games
    from glem.core.positions.files import read_header
    from glem.core.positions.reading import is_position_file

    if not paths:
        raise BadInputError("this fitter learns from files of games: give their paths")
    if game is None:
        check_regular(paths[0])
        if not Path(paths[0]).is_file():
            raise BadInputError(f"{os.fspath(paths[0])}: no such file")
        if not is_position_file(paths[0]):
            raise BadInputError(f"{os.fspath(paths[0])}: does not name its game; give game=")
        game = read_header(paths[0]).game
    return Games(load_game(game), paths, form, skip_bad)


@define(frozen=True, repr=False)
class DiscoveryResult:
    """What a discovery found; a notebook shows its report.

    Parameters
    ----------
    folder
        Where report and evaluations lie.
    report
        The report as data.
    evaluations
        What was fitted, by name: ``configurations`` and ``patterns``.
    """

    folder: Path
    report: DiscoveryReport
    evaluations: dict[str, LinearEvaluation] = field(factory=dict)

    def __repr__(self) -> str:
        return f"DiscoveryResult({str(self.folder)!r}: {self.report.summary})"

    def _repr_html_(self) -> str:
        from html import escape

        page = escape((self.folder / "report.html").read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 1px solid #ccc"></iframe>'


@checked
def discover(
    positions: Positions,
    folder: Path_,
    *,
    seed: int = 0,
    provenance: Mapping[str, str] | None = None,
    workers: Workers | None = None,
    jobs: int = THREADS,
    progress: Progress = SILENT,
    **settings: Any,
) -> DiscoveryResult:
    """Mine configurations, fit them and the game's patterns, and write a report, as ``glem discover`` does.

    Parameters
    ----------
    positions
        Scored positions with their games, or a table of them.
    folder
        Where the report and the evaluations go; the same call continues there after a kill.
    seed
        Chooses games and sample.
    provenance
        Kept in the evaluations.
    workers
        Those of a scheduler, which fit; they change no result.
    jobs
        Threads; they change no result.
    progress
        Display.
    settings
        Those of :class:`~glem.core.discovery.plan.DiscoveryPlan`: ``glem.discover(p, "found", keep=300)``.

    Raises
    ------
    BadInputError
        No such setting, too few positions or games, or the folder holds other work.
    """
    from glem.core.discovery.discovery import discover as discovering
    from glem.core.report.discovered import write_discovery

    plan: DiscoveryPlan = made_of(DiscoveryPlan, settings)
    positions = Positions.of(positions)
    place, learning = Path(folder), load_learning(positions.game.name)
    how: dict[str, Any] = {"seed": seed, "provenance": provenance, "workers": workers}
    with discovering(positions, learning, place, plan, **how, jobs=jobs, progress=progress) as found:
        report = write_discovery(found, place)
        evaluations = {name: training.evaluation for name, training in found.trainings.items()}
    return DiscoveryResult(place, report, evaluations)


@checked
def label(
    positions: Positions,
    by: str = "default,depth=6",
    *,
    successors: bool = False,
    seed: int = 0,
    workers: int = 1,
    progress: Progress = SILENT,
    **how: Any,
) -> Positions:
    """Label positions by search and solver, as ``glem label`` does.

    Parameters
    ----------
    positions
        Positions that are not over, or a table of them; equal ones are labelled once.
    by
        Who labels: an evaluation file or ``default``, with ``depth=`` or ``nodes=``, and ``solve=`` moves before the
        end.
    successors
        Add the successor by the principal variation, with the negated label.
    seed
        Of what is drawn.
    workers
        Processes.
    progress
        Display.
    how
        Other settings of :class:`~glem.core.labelling.plan.LabellingPlan`: ``children``, ``sampled``, ``choices`` and
        so on.

    Raises
    ------
    BadInputError
        The text describes no player that labels, or a setting makes no sense.
    """
    from glem.core.labelling.by_search import SearchLabelling, label_by_search
    from glem.core.tasks.tasks import Workers

    positions = Positions.of(positions)
    settings = made_of(SearchLabelling, {"by": by, "successors": successors, "seed": seed, **how})
    with TemporaryDirectory() as work:
        chosen, where = positions.merge_duplicates(), Workers(workers)
        parts = label_by_search(chosen, settings, Path(work), workers=where, progress=progress)
        empty = Positions.empty(positions.game, label_kind=settings.label_kind)
        return Positions.concatenate([*parts, empty], renumber=False)


@checked
def generate(
    game: Game | str,
    folder: Path_,
    *,
    games: int | None = None,
    positions: int | None = None,
    players: str | Sequence[str] = "default",
    seed: int = 0,
    workers: int | Workers = 1,
    progress: Progress = SILENT,
    tell: Callable[[str], None] | None = None,
    **how: Any,
) -> Generated:
    """Let players play among themselves, as material to learn from, as ``glem generate`` does.

    Parameters
    ----------
    game
        The game or its name.
    folder
        Where the files of games go; the same call continues there after a kill.
    games, positions
        Exactly one of them: the number of games, or the least number of positions.
    players
        One player who plays both sides, or two; ``depth=4`` where a player names no limit.
    seed
        Of openings and random moves.
    workers
        Processes, or where games are played; they change no result.
    progress
        Display.
    tell
        Called with one sentence where bad openings of a file were left out; None raises instead.
    how
        Settings of :class:`~glem.core.labelling.plan.GenerationPlan`: ``openings="random:4-8"``, ``exploration=0.05``,
        ``games_per_file``, ``format``.

    Raises
    ------
    BadInputError
        A bad number, a text that describes no player or opening, or a folder with other games.
    """
    from glem.core.labelling.training_games import GenerationSettings
    from glem.core.labelling.training_games import generate as play
    from glem.core.players.spec import parse_player
    from glem.core.search.results import Limits
    from glem.core.tasks.tasks import Workers

    check_arguments({"games": games, "positions": positions}, games=(1,), positions=(1,))
    texts = [players] if isinstance(players, str) else players
    specs = tuple(parse_player(text, limits=Limits(depth=4)) for text in texts)
    settings: GenerationSettings = made_of(GenerationSettings, {"players": specs, "seed": seed, **how})
    return play(
        load_game(game),
        Path(folder),
        settings,
        games=games,
        positions=positions,
        workers=workers if isinstance(workers, Workers) else Workers(workers),
        progress=progress,
        tell=tell,
    )


@checked
def evaluate(
    evaluations: Evaluation_ | Sequence[Evaluation_] | Mapping[str, Evaluation_],
    positions: Any,
    measures: Given | Iterable[Given] | Mapping[str, Given] | None = None,
    *,
    game: Game | str | None = None,
    output: Path_ | None = None,
    format: str | None = None,  # noqa: A002 # the word of the command line
    skip_bad: bool = False,
    jobs: int = THREADS,
    progress: Progress = SILENT,
) -> Evaluated:
    """Measure evaluations on scored positions, by phase and over all, with errors by game, as ``glem evaluate`` does.

    Parameters
    ----------
    evaluations
        One or more: files, names such as ``default``, or objects; a mapping gives names to show. Differences are to the
        first.
    positions
        :class:`Positions`, a table of their columns, or a file, which is read part by part.
    measures
        Names (``rmse``, ``mae``, ``mean-error``, ``choice-error``, ``grade``, ``calibration-error``, ...), texts
        ``FILE.py:NAME``, or measures, classes and functions of your own
        (:class:`~glem.core.measures.measure.Measure`), one or more; a mapping gives names to show. By default the
        errors, and of a choice set the choice errors.
    game
        The game or its name; None for the one that the positions, or else the first evaluation, name.
    output
        File to write the values of the one evaluation to (.npy), or None.
    format, skip_bad
        Format of the file, and whether bad records are left out instead of stopping.
    jobs
        Threads; they change no result.
    progress
        Display.

    Raises
    ------
    BadInputError
        No such evaluation, measure or file, evaluations of several units, or nothing to evaluate on.
    """
    from glem.core.files.atomic import atomic_path
    from glem.core.measures.evaluating import evaluate_positions
    from glem.core.measures.named import measures_of
    from glem.core.measures.whole_games import are_in_order, stream_whole_games, whole_games
    from glem.core.positions.files import read_header
    from glem.core.positions.reading import ReadingNotes, is_position_file

    given = _named_evaluations(evaluations)
    if output is not None and len(given) > 1:
        raise BadInputError("the output takes the values of one evaluation; name one")
    chosen = None if measures is None else measures_of(measures)
    notes, values = ReadingNotes(), list[Any]()
    if isinstance(positions, str | os.PathLike):
        where = os.fspath(positions)
        if game is not None or is_position_file(where):
            owner = load_game(read_header(where).game if game is None else game)
        else:
            owner = named.evaluation_of(next(iter(given.values()))).learning.game
        parts = stream_whole_games(owner, where, format=format, skip_bad=skip_bad, notes=notes)
    else:
        whole, where = Positions.of(positions, game), "the set"
        owner, rows = whole.game, range(0, len(whole) or 1, _PART)
        parts = whole_games(
            (whole.select(slice(row, row + _PART)) for row in rows), in_order=are_in_order([whole.record])
        )
    found = evaluate_positions(
        {name: named.evaluation_of(each, owner) for name, each in given.items()},
        parts,
        chosen,
        observe=None if output is None else values.append,
        remarks=notes.texts,
        jobs=jobs,
        progress=progress,
    )
    if found is None:
        raise BadInputError(f"{where}: holds no positions{''.join(f'; {text}' for text in notes.texts())}")
    if output is not None:
        import numpy as np

        with atomic_path(output) as path, path.open("wb") as file:
            np.save(file, np.concatenate(values))
    return found


def _named_evaluations(
    given: Evaluation_ | Sequence[Evaluation_] | Mapping[str, Evaluation_],
) -> Mapping[str, Evaluation_]:
    """Name evaluations as they are shown."""
    if isinstance(given, Mapping):
        return given
    each = [given] if isinstance(given, str | os.PathLike | LinearEvaluation | ResultEvaluation) else given
    if not each:
        raise BadInputError("name an evaluation")
    return {
        os.fspath(one) if isinstance(one, str | os.PathLike) else f"evaluation {place}": one
        for place, one in enumerate(each, 1)
    }


@checked
def search(
    game: Game | str,
    position: Any = None,
    *,
    evaluation: Path_ | LinearEvaluation | ResultEvaluation = named.STRONGEST_EVALUATION,
    depth: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    lines: int = 1,
) -> SearchResult:
    """Search a position for its best lines, as ``glem search`` does.

    Parameters
    ----------
    game
        The game or its name.
    position
        A position or its text; None for the initial one.
    evaluation
        A file, the name of one that comes with the game, or an evaluation itself.
    depth, nodes, seconds
        Where the search ends; after five seconds without any.
    lines
        How many best moves.

    Raises
    ------
    BadInputError
        The game is over, or there is no such position, evaluation or limit.
    """
    from glem.core.players.engine import Engine
    from glem.core.players.spec import PlayerSpec
    from glem.core.search.results import Limits

    owner = load_game(game)
    limits = Limits(depth=depth, nodes=nodes, seconds=seconds)
    given = Limits(seconds=_SECONDS) if limits == Limits() else limits
    with _in_words(evaluation) as name:
        engine = Engine(owner, PlayerSpec("glem", evaluation=name, limits=given))
        engine.set_position(position_of(owner, position))
        return engine.analyse(lines=lines)


@contextmanager
def _in_words(given: Path_ | LinearEvaluation | ResultEvaluation, player: str = "") -> Iterator[str]:
    """Give text as it is; an evaluation lies in a file for the time being, and is the player of that name."""
    if not isinstance(given, LinearEvaluation | ResultEvaluation):
        if not isinstance(given, str | os.PathLike):
            raise BadInputError(f"an evaluation is needed, or the name of one, got {described(given)}")
        yield os.fspath(given)
        return
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "evaluation.npz")
        given.save(file)
        yield f"evaluation={file},name={player}" if player else file


@checked
def solve(
    game: Game | str,
    position: Any,
    *,
    evaluation: str | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Solution:
    """Solve a position near the end of a game, as ``glem solve`` does.

    Parameters
    ----------
    game
        The game or its name.
    position
        A position or its text.
    evaluation
        What orders the moves: a file or ``default``; None for nothing.
    nodes, seconds
        Where it ends unsolved.

    Raises
    ------
    BadInputError
        The game cannot be solved, or there is no such position, evaluation or limit.
    """
    from glem.core.search.solver import SolverSpec, solve_positions

    owner = load_game(game)
    asked = [position_of(owner, position)]
    ((_, (solution,)),) = solve_positions(SolverSpec(owner.name, evaluation), asked, nodes=nodes, seconds=seconds)
    return solution


@checked
def match(
    game: Game | str,
    first: Path_ | LinearEvaluation | ResultEvaluation,
    second: Path_ | LinearEvaluation | ResultEvaluation,
    *,
    limit: str | None = None,
    openings: int = 100,
    opening_plies: int = 8,
    seed: int = 0,
    workers: int = 1,
) -> TournamentResult:
    """Play two players against each other, from every random opening twice, as ``glem match`` does.

    Parameters
    ----------
    game
        The game or its name.
    first, second
        Players: an evaluation file, ``default``, ``none``, ``greedy`` or ``random``, with options such as
        ``model.npz,depth=6,name=deep``; or evaluations themselves, which play as ``first`` and ``second``.
    limit
        Limit of searching players that name none: ``depth=6``, ``nodes=9999``, ``seconds=1``.
    openings, opening_plies
        Number and length of the openings.
    seed
        Draws them.
    workers
        Processes; without time limits they change no result.

    Raises
    ------
    BadInputError
        A text describes no player, or both have one name.
    """
    from glem.core.tasks.tasks import Workers

    check_arguments({"openings": openings}, openings=(1,))
    with _in_words(first, "first") as one, _in_words(second, "second") as other:
        return tournament(
            game,
            (one, other),
            limit=limit,
            opening_count=openings,
            opening_plies=opening_plies,
            seed=seed,
            workers=Workers(workers),
        )


@checked
def tournament(
    game: Game | str,
    players: Sequence[str],
    *,
    limit: str | None = None,
    adjudicate: int = 0,
    forfeit: bool = False,
    sprt: Sprt | None = None,
    record: Path_ | None = None,
    transcripts: Path_ | None = None,
    seed: int = 0,
    workers: Workers | None = None,
    progress: Progress = SILENT,
    tell: Callable[[str], None] | None = None,
    **openings: Any,
) -> TournamentResult:
    """Play every player against every other one, from every opening twice, as ``glem match`` does.

    Parameters
    ----------
    game
        The game or its name.
    players
        Texts as those of :func:`match`.
    limit
        Limit of searching players that name none: ``depth=6``, ``nodes=9999``, ``seconds=1``.
    adjudicate
        Moves left from which on a solver ends games; 0 for never.
    forfeit
        A player whose clock runs out loses; else overruns are counted.
    sprt
        Ends a tournament of two players when it decides.
    record
        File of the games; the same call continues there.
    transcripts
        File to write the games of the record to; its name tells the format.
    seed
        Draws the openings.
    workers
        Where games are played; without time limits they change no result.
    progress
        Display.
    tell
        Called with one sentence where bad openings of a file were left out; None raises instead.
    openings
        Settings of :class:`~glem.core.tournament.opening_settings.JudgedOpenings`: ``openings="random:8"`` or a file,
        ``opening_count=50``, ``judge="default,depth=6"`` and so on.

    Raises
    ------
    BadInputError
        A text describes no player, two have one name, no such openings, or a file that cannot be written.
    """
    from glem.core.players.spec import parse_limits, parse_player
    from glem.core.positions.writing import check_format_holds, format_to_write, write_games
    from glem.core.tournament import tournament as whole
    from glem.core.tournament.games import Adjudication
    from glem.core.tournament.opening_settings import JudgedOpenings
    from glem.core.tournament.openings import Opening, write_openings
    from glem.core.tournament.transcripts import records_of_games, records_of_openings

    owner = load_game(game)
    limits = None if limit is None else parse_limits(limit)
    specs = tuple(parse_player(text, limits=limits).resolved(owner) for text in players)
    if transcripts is not None:
        if record is None:
            raise BadInputError("transcripts are written from the record; name one with -o")
        format_to_write(owner, transcripts)
    adjudication = Adjudication(solve_from=adjudicate, time_forfeit=forfeit)
    # To judge openings takes long: what is wrong with the players is said before.
    planned = whole.Tournament(owner, specs, (Opening(),), adjudication, sprt)
    settings: JudgedOpenings = made_of(JudgedOpenings, openings)
    kept = None if record is None else os.fspath(record)
    chosen = settings.judged(owner, seed, tell, limits=limits, record=kept, workers=workers, progress=progress)
    if transcripts is not None:
        check_format_holds(owner, transcripts, records_of_openings(owner, chosen))
    if settings.save_openings is not None:
        write_openings(owner, chosen, settings.save_openings)
    planned = evolve(planned, openings=tuple(chosen))
    result = whole.run_tournament(planned, record, workers=workers, progress=progress)
    if transcripts is not None and record is not None:
        games = sorted(whole.read_games(record)[2], key=lambda played: played.number)
        write_games(owner, transcripts, records_of_games(owner, games))
    return result
