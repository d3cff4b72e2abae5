"""``glem check``."""

from typing import Any

import attrs
import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result


@options.command("check", "check GAME --only rules --games 5", "check GAME --fitter my_fitters.py:Ridge")
@options.argument("game_name", metavar="GAME")
@options.option(
    "--only",
    type=click.Choice(["rules", "learning", "evaluation", "fitter"]),
    multiple=True,
    help="Run this part alone; may be repeated.",
)
@options.option("--fitter", "fitters", multiple=True, metavar="NAME", help="Check a fitter, not the game.")
@options.option("--measure", "measures", multiple=True, metavar="NAME", help="Check a measure, not the game.")
@options.count("--games", 40, "Random games to play.")
@options.seed
@options.flag("--plain", "Use the plain Python rules instead of the compiled ones.")
@options.flag("--show-game", "Print a random game as well, with all legal moves, for you to read.")
def command(game_name: str, show_game: bool, fitters: tuple[str, ...], measures: tuple[str, ...], **how: Any) -> int:
    """Run the conformance suite on GAME: rules, what it gives to learning, evaluation and search, fitting.

    With --fitter or --measure (a name, FILE.py:CLASS or FILE.py:FUNCTION), run the suite of fitters and measures on
    positions of random games of GAME.

    Each failure names the promise that is broken and shows the position. The exit status is 1 when there is one.
    Whether the rules are those that you mean, no promise shows.
    """
    from glem.core.conformance.playouts import shown_game
    from glem.core.conformance.plugin import check_own, check_plugin
    from glem.core.game.game import load_game

    if fitters or measures:
        from glem.core.fitting.fitters.fitter import fitter_of
        from glem.core.measures.named import measures_of

        if how["only"] or how["plain"] or show_game:
            raise click.UsageError("--only, --plain and --show-game do not go with --fitter and --measure.")
        own = [fitter_of(name, {}) for name in fitters]
        reports = check_own(
            game_name,
            fitters=own,
            measures=measures_of(measures),
            games=how["games"],
            seed=how["seed"],
            progress=display_progress(),
        )
    else:
        reports = check_plugin(game_name, progress=display_progress(), **how)
    passed = all(report.passed for report in reports)
    parts = [
        {
            "subject": report.subject,
            "passed": None if report.not_looked_at else report.passed,
            "not_looked_at": report.not_looked_at,
            "notes": report.notes,
        }
        for report in reports
    ]
    checks = [
        {"subject": report.subject, **attrs.asdict(result, filter=attrs.filters.exclude("place"))}
        for report in reports
        for result in report.results
    ]
    shown = shown_game(load_game(game_name), how["seed"]) if show_game and passed else []
    print_result(
        {
            "game": game_name,
            "passed": passed,
            "parts": parts,
            "checks": checks,
            **({"shown_game": shown} if shown else {}),
        },
        [*map(str, reports), *shown],
    )
    return 0 if passed else 1
