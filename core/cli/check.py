"""``glem check``."""

from __future__ import annotations

import click

from glem.core.cli.display import display_progress, print_json

__all__ = ["command"]


@click.command("check")
@click.argument("game_name", metavar="GAME")
@click.option("--games", type=click.IntRange(min=1), default=40, show_default=True, help="Random games to play.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random moves.")
@click.option("--plain", is_flag=True, help="Look at the plain Python rules alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(game_name: str, games: int, seed: int, plain: bool, as_json: bool) -> int:
    """Run the conformance suite on a game: its rules, and what it gives to learning.

    The exit status is 1 when a promise is broken.
    """
    from glem.core.conformance import check_game, check_learning
    from glem.core.game import load_game
    from glem.core.learning import learning_names, load_learning

    game = load_game(game_name)
    reports = [check_game(game, games=games, seed=seed, plain=plain, progress=display_progress(quiet=as_json))]
    if reports[0].passed and not plain and game_name in learning_names():
        reports.append(check_learning(load_learning(game_name), games=games, seed=seed))
    if as_json:
        print_json(
            {
                "game": game_name,
                "passed": all(report.passed for report in reports),
                "checks": [
                    {
                        "subject": report.subject,
                        "name": result.name,
                        "promise": result.promise,
                        "cases": result.cases,
                        "failures": list(result.failures),
                        "failure_count": result.failure_count,
                        "skipped": result.skipped,
                    }
                    for report in reports
                    for result in report.results
                ],
            }
        )
    else:
        for report in reports:
            click.echo(str(report))
    return 0 if all(report.passed for report in reports) else 1
