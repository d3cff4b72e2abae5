"""``glem check``."""

from __future__ import annotations

import click

from glem.core.cli.display import display_progress, print_json

__all__ = ["command"]


@click.command("check")
@click.argument("game_name", metavar="GAME")
@click.option(
    "--only",
    type=click.Choice(["rules", "learning", "evaluation", "fitter"]),
    multiple=True,
    help="Run this part alone; may be given more than once.",
)
@click.option("--games", type=click.IntRange(min=1), default=40, show_default=True, help="Random games to play.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random moves.")
@click.option("--plain", is_flag=True, help="Look at the plain Python rules alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(game_name: str, only: tuple[str, ...], games: int, seed: int, plain: bool, as_json: bool) -> int:
    """Run the conformance suite on a game: rules, what it gives to learning, evaluation and search, fitting.

    Each failure names the promise that is broken and shows the position. The exit status is 1 when there is one.
    """
    from glem.core.conformance.plugin import check_plugin

    progress = display_progress(quiet=as_json)
    reports = check_plugin(game_name, only=only, games=games, seed=seed, plain=plain, progress=progress)
    if as_json:
        import attrs

        print_json(
            {
                "game": game_name,
                "passed": all(report.passed for report in reports),
                "parts": [
                    {
                        "subject": report.subject,
                        "passed": None if report.not_looked_at else report.passed,
                        "not_looked_at": report.not_looked_at,
                        "notes": list(report.notes),
                    }
                    for report in reports
                ],
                "checks": [
                    {"subject": report.subject, **attrs.asdict(result)}
                    for report in reports
                    for result in report.results
                ],
            }
        )
    else:
        for report in reports:
            click.echo(str(report))
    return 0 if all(report.passed for report in reports) else 1
