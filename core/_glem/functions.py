"""What ``import glem`` gives a notebook: thin functions over what the commands call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import define, field

from glem.core.configurations.configurations import ConfigurationSet
from glem.core.evaluation import named
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import Learning, load_learning
from glem.core.game.game import Game, load_game
from glem.core.game.records import GameRecords
from glem.core.game.registry import GAMES_GROUP, LEARNING_GROUP, add_plugin
from glem.core.positions.files import read_positions, write_positions
from glem.core.positions.positions import Positions

if TYPE_CHECKING:
    from glem.core.game.solver import Solution
    from glem.core.grading.collection import CollectionGrading
    from glem.core.labelling.training_games import Generated
    from glem.core.report.data import DiscoveryReport
    from glem.core.search.results import SearchResult
    from glem.core.tournament.tournament import TournamentResult

__all__ = [
    "DiscoveryResult",
    "Positions",
    "discover",
    "fit",
    "generate",
    "grade",
    "label",
    "load_evaluation",
    "load_game",
    "load_learning",
    "match",
    "position_of",
    "positions_of_games",
    "read_games",
    "read_positions",
    "register",
    "search",
    "solve",
    "train_test_split",
    "write_positions",
]

_SECONDS = 5.0
_THREADS = os.cpu_count() or 1

Path_ = str | os.PathLike[str]


def _game(game: Game | str) -> Game:
    return load_game(game) if isinstance(game, str) else game


def position_of(game: Game, position: Any = None) -> Any:
    """Read a position from its text; None is the initial one, and a position of the game stays as it is."""
    if position is None:
        return game.initial_position
    return game.parse_position(position) if isinstance(position, str) else position


# -------------------------------------------------------------------------------------------------- loading


def register(game: Game, learning: Learning | None = None) -> None:
    """Let this process know a game of your own, as if a package had installed it; call it again after a change.

    Worker processes do not know it: for them, and for the commands, write a package (``glem new-game``).

    Raises
    ------
    PluginError
        A game of that name is installed.
    """
    add_plugin(GAMES_GROUP, game.name, game)
    if learning is not None:
        add_plugin(LEARNING_GROUP, game.name, learning)


def load_evaluation(
    name: Path_ = named.DEFAULT_EVALUATION, game: Game | str | None = None
) -> LinearEvaluation | ResultEvaluation:
    """Load an evaluation: a file, or one that comes with a game: ``load_evaluation("default", game)``.

    Parameters
    ----------
    name
        A file. With a game also ``default``, another evaluation of the game's plugin, or ``none`` for one that calls
        all positions even.
    game
        The game or its name; None for the game that the file names.

    Raises
    ------
    BadInputError
        There is no such evaluation, or it belongs to another game.
    """
    return named.load_evaluation(name, None if game is None else _game(game))


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

    owner = _game(game)
    records = list(read_all_records(owner, files, format=format, skip_bad=skip_bad))
    return GameRecords.concatenate(records, initial_position=owner.initial_position)


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

    return positions_of_records(_game(game), [games], label=label, selection=Selection(per_game=per_game), seed=seed)


def train_test_split(positions: Positions, test_size: float = 0.25, seed: int = 0) -> tuple[Positions, Positions]:
    """Split positions into training and test sets, game by game.

    Parameters
    ----------
    positions
        Scored positions; merge duplicates after the split.
    test_size
        Expected share of the games in the test set, 0 to 1.
    seed
        Another seed takes other games.
    """
    return positions.split_by_game(test_size, seed)


# ------------------------------------------------------------------------------------------------- learning


def fit(
    positions: Positions,
    *,
    patterns: str | None = None,
    configurations: ConfigurationSet | None = None,
    iterations: int = 60,
    l2: float = 25.0,
    smoothing: float = 0.25,
    validation: float = 0.05,
    seed: int = 0,
    jobs: int = _THREADS,
) -> LinearEvaluation:
    """Fit an evaluation to scored positions by least squares, as ``glem fit`` does.

    Parameters
    ----------
    positions
        Scored positions.
    patterns
        Name of a pattern set of the game; None for its first, ``none`` for none.
    configurations
        Mined configurations to use as well.
    iterations
        Most iterations of the conjugate gradient.
    l2
        Penalty on squared weights, in positions.
    smoothing
        Factor for positions of adjacent phases.
    validation
        Share of games for early stopping; 0 fits to the last iteration.
    seed
        Chooses these games.
    jobs
        Threads; they change no result.

    Raises
    ------
    BadInputError
        There is no such pattern set, or there are no positions or terms.
    """
    from glem.core.fitting.conjugate import ConjugateGradient
    from glem.core.fitting.least_squares import FitSettings, Terms, train
    from glem.core.patterns.patterns import PatternSet

    learning = load_learning(positions.game.name)
    name = next(iter(learning.pattern_sets), "none") if patterns is None else patterns
    chosen = None if name == "none" else PatternSet.named(learning, name)
    terms = Terms(patterns=chosen, configurations=configurations, linear=learning.linear)
    fitter = ConjugateGradient(iterations=iterations, patience=5 if validation else None)
    settings = FitSettings(fitter, l2=l2, smoothing=smoothing)
    held_out = positions.held_out_mask(validation, seed) if validation else None
    provenance = {"positions": repr(positions), "fitter": repr(fitter), "l2": f"{l2:g}", "smoothing": f"{smoothing:g}"}
    return train(positions, learning, terms, settings, held_out=held_out, provenance=provenance, jobs=jobs).evaluation


@define(frozen=True, repr=False)
class DiscoveryResult:
    """What a discovery found; a notebook shows its report.

    Parameters
    ----------
    folder
        Where report and evaluations lie.
    report
        The report as data.
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


def discover(
    positions: Positions,
    folder: Path_,
    *,
    sample: int = 200_000,
    keep: int = 4_000,
    minimum_matches: int | None = None,
    maximum_size: int | None = None,
    patterns: str | None = None,
    held_out: float = 0.1,
    seed: int = 0,
    jobs: int = _THREADS,
) -> DiscoveryResult:
    """Mine configurations, fit them and the game's patterns, and write a report, as ``glem discover`` does.

    Parameters
    ----------
    positions
        Scored positions with their games.
    folder
        Where the report and the evaluations go; the same call continues there after a kill.
    sample
        Positions to mine.
    keep
        Symmetry classes of configurations to keep.
    minimum_matches
        Minimal match count; None for half a percent of the sample.
    maximum_size
        Most relations in a configuration; None for 4.
    patterns
        Name of a pattern set of the game; None for its first, ``none`` for none.
    held_out
        Share of games that only the errors in the report see.
    seed
        Chooses games and sample.
    jobs
        Threads; they change no result.

    Raises
    ------
    BadInputError
        Too few positions or games, or the folder holds other work.
    """
    from glem.core.discovery.candidates import MiningPlan
    from glem.core.discovery.discovery import DiscoverySettings
    from glem.core.discovery.discovery import discover as discovering
    from glem.core.report.discovered import write_discovery

    plan = MiningPlan(sample=sample, keep=keep, minimum_matches=minimum_matches, maximum_size=maximum_size)
    settings = DiscoverySettings(
        mining=plan, pattern_set="" if patterns == "none" else patterns, held_out=held_out, seed=seed
    )
    place = Path(folder)
    with discovering(positions, load_learning(positions.game.name), place, settings, jobs=jobs) as found:
        report = write_discovery(found, place)
        evaluations = {name: training.evaluation for name, training in found.trainings.items()}
    return DiscoveryResult(place, report, evaluations)


def label(
    positions: Positions, by: str = "default,depth=6", *, successors: bool = False, seed: int = 0, workers: int = 1
) -> Positions:
    """Label positions by search and solver, as ``glem label`` does.

    Parameters
    ----------
    positions
        Positions that are not over; equal ones are labelled once.
    by
        Who labels: an evaluation file or ``default``, with ``depth=`` or ``nodes=``, and ``solve=`` moves before the
        end.
    successors
        Add the successor by the principal variation, with the negated label.
    seed
        Of what is drawn.
    workers
        Processes.

    Raises
    ------
    BadInputError
        The text describes no player that labels.
    """
    from glem.core.labelling.by_search import SearchLabelling, label_by_search
    from glem.core.players.spec import parse_player
    from glem.core.tasks.chunked_work import Workers

    settings = SearchLabelling(parse_player(by), successors=successors, seed=seed)
    with TemporaryDirectory() as work:
        parts = label_by_search(positions.merge_duplicates(), settings, Path(work), workers=Workers(workers=workers))
        empty = Positions.empty(positions.game, label_kind="search")
        return Positions.concatenate([*parts, empty], renumber=False)


def generate(
    game: Game | str,
    folder: Path_,
    *,
    games: int | None = None,
    positions: int | None = None,
    players: str | Sequence[str] = "default",
    openings: str = "random:8",
    exploration: float = 0.0,
    seed: int = 0,
    games_per_file: int = 200,
    format: str = "games",  # noqa: A002 # the word of the command line
    workers: int = 1,
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
    openings
        ``random:PLIES``, ``random:LEAST-MOST``, ``all:PLIES``, or a file of openings.
    exploration
        Chance of a random move where the player does not know the exact value.
    seed
        Of openings and random moves.
    games_per_file
        Games of one file, which is also one task.
    format
        Name of the record format: ``games``, ``pgn`` and so on.
    workers
        Processes; they change no result.

    Raises
    ------
    BadInputError
        A bad number, a text that describes no player or opening, or a folder with other games.
    """
    from glem.core.labelling.training_games import GenerationSettings
    from glem.core.labelling.training_games import generate as play
    from glem.core.players.spec import parse_player
    from glem.core.search.results import Limits
    from glem.core.tournament.opening_plans import OpeningPlan

    texts = [players] if isinstance(players, str) else players
    settings = GenerationSettings(
        players=tuple(parse_player(text, limits=Limits(depth=4)) for text in texts),
        openings=OpeningPlan.parse(openings),
        exploration=exploration,
        seed=seed,
        games_per_file=games_per_file,
        format=format,
    )
    return play(_game(game), Path(folder), settings, games=games, positions=positions, workers=workers)


# -------------------------------------------------------------------------------------------------- judging


def grade(
    game: Game | str,
    files: Path_ | Sequence[Path_],
    *evaluations: str | LinearEvaluation | ResultEvaluation,
    select: str = "random",
    skip_bad: bool = False,
    resamples: int = 10_000,
    seed: int = 0,
    jobs: int = _THREADS,
) -> CollectionGrading:
    """Grade evaluations by how well they predict the results of games (Ban 2012), as ``glem grade`` does.

    Parameters
    ----------
    game
        The game or its name.
    files
        Game records, or Parquet files of positions labelled with results.
    evaluations
        Evaluations, or texts: a file or ``default``, with ``depth=``, ``nodes=`` or ``seconds=`` after a search,
        ``comments``, ``csv:FILE`` and so on.
    select
        Positions of each game: ``random`` (one), ``last`` (one), ``all``, or ``every:N``.
    skip_bad
        Leave bad game records out.
    resamples
        Samples of each test.
    seed
        Chooses positions and resamples.
    jobs
        Threads; they change no result.

    Raises
    ------
    BadInputError
        No such files or evaluations, or nothing to grade.
    """
    from glem.core.grading.collection import grade_collection
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.scorers.scorers import StaticScorer, scorer_of
    from glem.core.positions.selection.selection import SelectionRule

    owner = _game(game)
    return grade_collection(
        owner,
        [files] if isinstance(files, str | os.PathLike) else files,
        [
            scorer_of(owner, one, jobs=jobs)
            if isinstance(one, str)
            else StaticScorer(f"evaluation {number}", one, jobs=jobs)
            for number, one in enumerate(evaluations, 1)
        ],
        rule=SelectionRule.parse(select, seed=seed),
        settings=GradingSettings(resamples=resamples, seed=seed),
        skip_bad=skip_bad,
        jobs=jobs,
    )


def search(
    game: Game | str,
    position: Any = None,
    *,
    evaluation: str = named.DEFAULT_EVALUATION,
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
        A file, ``default``, or ``none``.
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

    owner = _game(game)
    limits = Limits(depth=depth, nodes=nodes, seconds=seconds)
    given = Limits(seconds=_SECONDS) if limits == Limits() else limits
    engine = Engine(owner, PlayerSpec("glem", evaluation=evaluation, limits=given))
    engine.set_position(position_of(owner, position))
    return engine.analyse(lines=lines)


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
    from glem.core.search.solve_many import SolverSpec, solve_positions

    owner = _game(game)
    asked = [position_of(owner, position)]
    ((_, (solution,)),) = solve_positions(SolverSpec(owner.name, evaluation), asked, nodes=nodes, seconds=seconds)
    return solution


def match(
    game: Game | str,
    first: str,
    second: str,
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
        ``model.npz,depth=6,name=deep``.
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
    from glem.core.players.spec import parse_player
    from glem.core.tournament.opening_choice import choose_openings
    from glem.core.tournament.tournament import Tournament, run_tournament

    owner = _game(game)
    limits = None if limit is None else parse_player(f"default,{limit}").limits
    players = tuple(parse_player(text, limits=limits).resolved(owner) for text in (first, second))
    chosen = choose_openings(owner, plies=opening_plies, count=openings, seed=seed, workers=workers)
    return run_tournament(Tournament(owner, players, tuple(chosen)), workers=workers)
