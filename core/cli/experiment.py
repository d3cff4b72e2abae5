"""``glem experiment``: grades beside processing power and playing strength, discriminants, and players' styles."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_with_page, tell
from glem.core.cli.outputs import check_outputs
from glem.core.cli.style import experiment_styles
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.grading.experiments.strength import StrengthExperiment
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.tasks import Workers


@click.group("experiment")
def command() -> None:
    """Experiments of the papers: on grades (Ban 2012), discriminants (Buro 1995), styles (Levene and Fenner 2009)."""


command.add_command(experiment_styles)


def _limits(limits: str) -> tuple[str, list[float]]:
    from glem.core.grading.experiments.power import LIMIT_KINDS, check_limits

    kind, equals, numbers = limits.partition("=")
    try:
        sizes = [float(number) for number in numbers.split(",")]
    except ValueError:
        sizes = []
    if not equals or kind not in LIMIT_KINDS or not sizes:
        raise BadInputError(f"--limits must be {'|'.join(LIMIT_KINDS)}=A,B,..., got {limits!r}")
    check_limits(sizes)
    return kind, sizes


@command.command(
    "power",
    cls=options.Command,
    short_help="Grade evaluations after searches of growing size.",
    examples=(
        "experiment power games.pgn --evaluation default --evaluation model.npz",
        "experiment power games.pgn --evaluation default --limits depth=1,2,4,8 --report power.html",
    ),
)
@options.files("GAMES...", options.skip_bad)
@options.evaluations("As for `glem grade`, without a limit. May be repeated.")
@options.group(
    "limits",
    _limits,
    options.option(
        "--limits",
        default="nodes=64,256,1024,4096,16384",
        metavar="KIND=A,B,...",
        help="Sizes of the searches, in nodes, depth or seconds.",
    ),
)
@options.option("--static/--no-static", default=True, help="Grade evaluations without a search too.")
@options.count("--positions", 2000, "One of each game.", least=2)
@options.seed
@options.selection(None)
@options.confidence
@options.report
@options.file("--journal", "File for values; the same command continues with it.")
@options.jobs
@options.workers
@options.as_json
def power(
    files: options.GameFiles,
    evaluations: tuple[str, ...],
    limits: tuple[str, list[float]],
    static: bool,
    positions: int,
    seed: int,
    rule: SelectionRule,
    confidence: float,
    report: str | None,
    journal: str | None,
    jobs: int,
    workers: Workers,
) -> None:
    """Grade evaluations of GAME after searches of growing size (Ban 2012, figure 1).

    All evaluations judge the same positions. A straight line is fitted to the grades over the logarithm of the limit;
    each step to the next greater limit is tested on the same positions.
    """
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.experiments.power import measure_power, sample_positions
    from glem.core.grading.scorers.scorer import Scorer
    from glem.core.grading.scorers.scorers import scorer_of
    from glem.core.report.pages.power import render_power

    game, progress = files.game(), display_progress()
    kind, sizes = limits
    check_outputs(report, journal)

    def scorer_at(text: str, limit: float | None) -> Scorer:
        told = text if limit is None else f"{text},{kind}={limit:g}"
        return scorer_of(game, told, jobs=jobs, workers=workers)

    sampled, counts = sample_positions(
        game, files.paths, rule=rule, most=positions, skip_bad=files.skip_bad, progress=progress
    )
    found = measure_power(
        sampled,
        {text: partial(scorer_at, text) for text in evaluations},
        kind=kind,
        limits=sizes,
        games=counts.games,
        static=static,
        settings=GradingSettings(confidence=confidence, seed=seed),
        journal=journal,
        progress=progress,
    )
    judged = f"{counted(found.positions, 'position')} of {counted(found.games, 'game')}: {rule}\n"
    told = (judged, found.table(), found.line_table())
    plain = attrs.asdict(found, recurse=True)
    for curve, entry in zip(found.curves, plain["curves"], strict=True):
        entry["rising_steps"], entry["steps"] = curve.rising_steps
    page = render_power(found, game_title=game.title) if report else ""
    print_with_page({"rule": str(rule), **plain}, told, page, report)


@command.command(
    "players",
    cls=options.Command,
    short_help="Grade players by the scores in their comments.",
    examples=("experiment players games.pgn --fewest 50", "experiment players games.pgn --report players.html"),
)
@options.files("GAMES...", options.skip_bad)
@options.count("--fewest", 100, "Least games of a player.", least=2)
@options.seed
@options.selection(None)
@options.confidence
@options.report
@options.as_json
def players(files: options.GameFiles, rule: SelectionRule, report: str | None, **how: Any) -> None:
    """Grade the players of GAMES by the scores in their comments, beside their ratings (Ban 2012, figure 2)."""
    from glem.core.grading.experiments.strength import strength_of_players

    game = files.game()
    check_outputs(report)
    found = strength_of_players(
        game,
        files.paths,
        skip_moves=rule.skip_moves,
        skip_end=rule.skip_end,
        skip_bad=files.skip_bad,
        progress=display_progress(),
        **how,
    )
    _show_strength(found, report, game.title)


@command.command(
    "strength",
    cls=options.Command,
    short_help="Grade evaluations beside their playing strength.",
    examples=(
        "experiment strength games.pgn --evaluation a.npz --evaluation b.npz --evaluation default --ratings cup.json",
        "experiment strength games.pgn --evaluation a.npz,depth=2,name=a2 --evaluation a.npz --evaluation b.npz "
        "--ratings cup.json",
    ),
)
@options.files("GAMES...", options.skip_bad)
@options.evaluations("As for `glem grade`. At least three.")
@options.file("--ratings", "JSON of `glem match --json` with players of the same names (name=...).", required=True)
@options.seed
@options.confidence
@options.report
@options.workers
@options.as_json
def strength(
    files: options.GameFiles,
    evaluations: tuple[str, ...],
    ratings: str,
    seed: int,
    confidence: float,
    report: str | None,
    workers: Workers,
) -> None:
    """Grade evaluations of GAME on the same positions, beside their ratings from a tournament (Ban 2012, figure 2)."""
    from glem.core.grading.collection import grade
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.experiments.strength import read_ratings, strength_of_evaluations
    from glem.core.grading.scorers.scorers import scorer_of

    game = files.game()
    check_outputs(report)
    rated = read_ratings(ratings)
    graded = grade(
        game,
        files.paths,
        *(scorer_of(game, text, workers=workers) for text in evaluations),
        seed=seed,
        settings=GradingSettings(confidence=confidence, seed=seed),
        skip_bad=files.skip_bad,
        progress=display_progress(),
    )
    _show_strength(strength_of_evaluations(graded.grading, rated, confidence=confidence), report, game.title)


@command.command(
    "discriminants",
    cls=options.Command,
    short_help="Compare logistic regression, Fisher's and the quadratic discriminant.",
    examples=(
        "experiment discriminants results.parquet -o discriminants --opening-count 0 --report page.html",
        "experiment discriminants results.parquet -o discriminants --patterns lines.txt --opening-count 300",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="POSITIONS...", type=options.INPUT)
@options.output("Folder for the evaluations, the openings and the games; the same command continues.", is_folder=True)
@options.patterns(", whose contents become terms by tables of other games; none by default")
@options.baseline
@options.plies
@options.held_out(0.2, " for what is told of all three", least=0.01)
@options.count("--opening-count", 100, "Openings of each pairing, played twice; 0 plays none.", least=0, metavar="N")
@options.count("--opening-plies", 10, "Their length.", metavar="N")
@options.amount(
    "--even-within",
    0.4,
    "Greatest value of a near-even opening, in log odds.",
    metavar="VALUE",
    was=("--window",),
)
@options.count("--judge-depth", 11, "Plies by which LOG judges openings.", metavar="N")
@options.amount("--game-seconds", 3.0, "What stands for the paper's 30 minutes of a player's game.", least=0.01)
@options.quiescence
@options.seed
@options.confidence
@options.report
@options.workers
@options.as_json
def discriminants(
    files: tuple[str, ...],
    output: str,
    patterns: str | None,
    baseline: str | None,
    plies: tuple[int, int] | None,
    held_out: float,
    seed: int,
    confidence: float,
    report: str | None,
    workers: Workers,
    **playing: Any,
) -> None:
    """Fit logistic regression, Fisher's and the quadratic discriminant to who won, and compare them (Buro 1995).

    Positions that many games share tell little; leave the first plies out by --plies. Held-out games tell which knows
    more, with errors by game, and whether a value means the same in every phase. Then the seven pairings of table 1 are
    played with their time handicaps, full width, from near-even openings.
    """
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.features.learning import load_learning
    from glem.core.files.digests import file_digest
    from glem.core.fitting.discriminants.by_phase import select_parts
    from glem.core.grading.experiments.discriminants import (
        DiscriminantStudy,
        Playing,
        fit_all,
        pairing_table,
        play_pairings,
    )
    from glem.core.patterns.patterns import PatternSet
    from glem.core.positions.files import PositionFiles
    from glem.core.report.pages.discriminants import render_discriminants
    from glem.core.tasks.run_folder import run_folder

    check_outputs(report)
    source, progress = PositionFiles.of(files), display_progress()
    game, learning = source.game, load_learning(source.game.name)
    if baseline is not None and baseline not in learning.baselines:
        raise BadInputError(f"{game.name} has no baseline {baseline!r}; it has: {', '.join(learning.baselines)}")
    how = Playing(**playing)
    game.search_rules_with(how.quiescence)
    names = learning.linear if baseline is None else learning.baselines[baseline]
    valued = None if patterns in (None, "none") else PatternSet.named(learning, patterns)
    terms = {"linear": names, "patterns": None if valued is None else valued.names}
    of = {"files": [file_digest(file) for file in files], "held_out": held_out, "seed": seed, "plies": plies}
    mark = {"work": "discriminants", **of, **terms}
    first, last = plies or (-1, math.inf)
    parts = select_parts(source, lambda part: (part.ply >= first) & (part.ply <= last))
    training = select_parts(parts, lambda part: ~part.held_out_mask(held_out, seed))
    held = select_parts(parts, lambda part: part.held_out_mask(held_out, seed))
    told = {
        "positions": f"{len(source):,} from {', '.join(source.sources)}, {held_out:g} of the games held out"[:2000],
        "labels": source.label_kind,
        FITTED_FILES: fitted_files_text(files),
    }
    with run_folder(Path(output), mark, keep=True, mark="run.json") as folder:
        evaluations, warnings = fit_all(
            training, learning, names, valued, folder, seed=seed, provenance=told, progress=progress
        )
        for warning in warnings:
            tell(f"glem: warning: {warning}")
        study = DiscriminantStudy.of(evaluations, held, confidence=confidence, progress=progress)
        played = play_pairings(game, folder, how, seed=seed, workers=workers, progress=progress)
    tables = [pairing_table(played, how.game_seconds)] if played else []
    tables += [study.loss_table(), study.meaning_table()]
    page = render_discriminants(study, played, seconds=how.game_seconds, game_title=game.title) if report else ""
    verdict = study.verdict()
    data = {**study.to_json(), "verdict": verdict, "pairings": [each.to_json() for each in played]}
    print_with_page(data, (*tables, verdict), page, report)


def _show_strength(found: StrengthExperiment, report: str | None, title: str) -> None:
    from glem.core.report.pages.strength import render_strength

    page = render_strength(found, game_title=title) if report else ""
    print_with_page(attrs.asdict(found, recurse=True), found.told(), page, report)
