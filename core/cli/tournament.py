"""``glem tournament``, and what ``glem match`` shares with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.executors import executor_options, opened_executor
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.cli.executors import WhereToRun
    from glem.core.game.game import Game
    from glem.core.search.results import Limits
    from glem.core.tasks.progress import Progress
    from glem.core.tournament.openings import Opening
    from glem.core.tournament.sprt import Sprt
    from glem.core.tournament.tournament import TournamentResult

__all__ = ["command", "play_tournament", "tournament_options"]

F = TypeVar("F", bound=Callable[..., Any])

_PERCENT = 100.0

_OPTIONS = (
    click.option("-o", "--record", type=click.Path(dir_okay=False), help="Record of the games; continued if there."),
    click.option("--game", "game_name", metavar="NAME", help="The game; needed where no file of an evaluation tells."),
    click.option(
        "--limit",
        metavar="LIMIT",
        help="Limit of searching players that name none, needed for these: depth=6, nodes=9999, seconds=1.",
    ),
    click.option("--openings", type=click.Path(dir_okay=False), help="File of games or positions; else random."),
    click.option("--opening-format", metavar="NAME", help="Format of that file, if its name and content do not tell."),
    click.option("--opening-plies", type=click.IntRange(0, 1000), metavar="N", help="Plies; 8 for random ones."),
    click.option(
        "--opening-count", type=click.IntRange(1, 1_000_000), metavar="N", help="How many; 100 for random ones."
    ),
    click.option("--judge", metavar="PLAYER", help="Take only random openings that are near-even for this player."),
    click.option("--window", type=float, default=0.4, show_default=True, help="Greatest value of a near-even opening."),
    click.option(
        "--adjudicate", type=click.IntRange(0, 100), default=0, metavar="N", help="End games by solver, N moves left."
    ),
    click.option("--forfeit", is_flag=True, help="A player whose clock runs out loses; else overruns are counted."),
    click.option("--sprt", metavar="ELO0,ELO1", help="Stop when a sequential test of two players decides."),
    click.option(
        "--sprt-model", type=click.Choice(["logistic", "normalized"]), default="logistic", help="Kind of Elo of --sprt."
    ),
    click.option("--alpha", type=float, default=0.05, show_default=True, help="Chance that --sprt wrongly finds ELO1."),
    click.option("--beta", type=float, default=0.05, show_default=True, help="Chance that --sprt wrongly finds ELO0."),
    click.option("--save-openings", type=click.Path(dir_okay=False), help="Write the openings, for --openings."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the openings."),
    click.option(
        "--transcripts",
        type=click.Path(dir_okay=False),
        help="Write the games of the record, which -o names, as its name tells: .pgn, .ggf, .games, .txt, ...",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
)


def tournament_options(command: F) -> F:
    """Add everything but the players to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return executor_options(command)


@click.command("tournament")
@click.argument("players", nargs=-1, required=True, metavar="PLAYER...")
@tournament_options
def command(players: tuple[str, ...], **options: Any) -> None:
    """Play every PLAYER against every other one, from every opening twice with colours reversed.

    A PLAYER is an evaluation file, default, none (a search that sees only how games end), greedy or random, with
    options: model.npz,depth=6,solve=14 or name=fast,evaluation=model.npz,clock=60+1,probcut=off. With -o the same
    command continues after a kill.
    """
    play_tournament(players, **options)


def play_tournament(
    players: tuple[str, ...],
    *,
    record: str | None,
    game_name: str | None,
    limit: str | None,
    adjudicate: int,
    forfeit: bool,
    sprt: str | None,
    sprt_model: str,
    alpha: float,
    beta: float,
    save_openings: str | None,
    transcripts: str | None,
    as_json: bool,
    workers: int,
    dask: str | None,
    **openings: Any,
) -> None:
    """Play a tournament as the options say and print what it has shown."""
    from glem.core.cli.game_choice import choose_game
    from glem.core.players.spec import parse_player
    from glem.core.positions.writing import check_format_holds, format_to_write, write_games
    from glem.core.tournament.games import Adjudication
    from glem.core.tournament.openings import write_openings
    from glem.core.tournament.tournament import Tournament, read_games, run_tournament
    from glem.core.tournament.transcripts import records_of_games, records_of_openings

    check_outputs(record, save_openings, transcripts, None if record is None else f"{record}.openings")
    if transcripts is not None and record is None:
        from glem.core.errors import BadInputError

        raise BadInputError("--transcripts are written from the record; name one with -o")
    limits = None if limit is None else _limits(limit)
    given = [parse_player(text, limits=limits) for text in players]
    game = choose_game(game_name, evaluations=[spec.evaluation for spec in given])
    if transcripts is not None:
        format_to_write(game, transcripts)
    specs = tuple(spec.resolved(game) for spec in given)
    test = None if sprt is None else _sprt(sprt, alpha, beta, sprt_model)
    progress = display_progress(quiet=as_json)
    with opened_executor(workers, dask) as where:
        chosen = _openings(game, limits, record, where, progress, **openings)
        if transcripts is not None:
            check_format_holds(game, transcripts, records_of_openings(game, chosen))
        if save_openings is not None:
            write_openings(game, chosen, save_openings)
        tournament = Tournament(
            game, specs, tuple(chosen), Adjudication(solve_from=adjudicate, time_forfeit=forfeit), test
        )
        result = run_tournament(tournament, record, **where, progress=progress)
    if transcripts is not None and record is not None:
        games = sorted(read_games(record)[2], key=lambda played: played.number)
        write_games(game, transcripts, records_of_games(game, games))
    if as_json:
        print_json(result.to_json())
    else:
        _print(result)


def _limits(text: str) -> Limits:
    import attrs

    from glem.core.errors import BadInputError
    from glem.core.players.spec import parse_player

    player = parse_player(f"default,{text}")
    if attrs.evolve(player, name="default") != parse_player("default", limits=player.limits):
        raise BadInputError(f"--limit must be limits alone, depth=, nodes=, seconds= or clock=, got {text!r}")
    return player.limits


def _sprt(text: str, alpha: float, beta: float, model: str) -> Sprt:
    from glem.core.errors import BadInputError
    from glem.core.tournament.sprt import Sprt

    try:
        elo0, elo1 = (float(part) for part in text.split(","))
    except ValueError:
        raise BadInputError(f"--sprt must be two Elo differences like 0,10, got {text!r}") from None
    return Sprt(elo0, elo1, alpha=alpha, beta=beta, model=model)


def _openings(
    game: Game,
    limits: Limits | None,
    record: str | None,
    where: WhereToRun,
    progress: Progress,
    *,
    openings: str | None,
    opening_format: str | None,
    opening_plies: int | None,
    opening_count: int | None,
    judge: str | None,
    window: float,
    seed: int,
) -> list[Opening]:
    from glem.core.errors import BadInputError
    from glem.core.players.spec import parse_player
    from glem.core.tournament.opening_choice import OpeningJudge, choose_openings
    from glem.core.tournament.openings import read_openings

    if openings is not None:
        if judge is not None:
            raise BadInputError("--judge chooses among random openings, --openings reads a file; give one of them")
        return read_openings(
            game,
            openings,
            format=opening_format,
            plies=opening_plies,
            count=opening_count,
            seed=seed,
            tell=lambda text: click.echo(f"note: {text}", err=True),
        )
    return choose_openings(
        game,
        plies=8 if opening_plies is None else opening_plies,
        count=100 if opening_count is None else opening_count,
        judge=None if judge is None else OpeningJudge(parse_player(judge, limits=limits), window),
        seed=seed,
        record=None if record is None or judge is None else f"{record}.openings",
        **where,
        progress=progress,
    )


def _print(result: TournamentResult) -> None:
    standings = result.standings
    surplus = result.played - standings.games
    print_table(
        f"{counted(standings.games, 'game')}"
        + (f" ({surplus} more were played after the decision)" if surplus else ""),
        ("player", "W-D-L", "%", "depth", "nodes/move", "s/move", "slowest", "overruns", "nodes", "seconds"),
        [
            (
                name,
                f"{totals.wins}-{totals.draws}-{totals.losses}",
                f"{_PERCENT * totals.score:.1f}",
                f"{totals.mean_depth:.1f}",
                f"{totals.nodes_per_move:,.0f}",
                f"{totals.seconds_per_move:.4f}",
                f"{totals.slowest:.3f}",
                str(totals.overruns) + (f" ({totals.lost_on_time} lost)" if totals.lost_on_time else ""),
                f"{totals.nodes:,}",
                f"{totals.seconds:.1f}",
            )
            for name, totals in sorted(standings.totals.items(), key=lambda item: -item[1].wins - item[1].draws / 2)
        ],
    )
    for name, totals in standings.totals.items():
        if totals.failures:
            lost = f", {counted(totals.lost_by_failure, 'game')} lost by it" if totals.lost_by_failure else ""
            click.echo(
                f"note: the program of {name} failed {counted(totals.failures, 'time')} and was started anew{lost}"
            )
    rows = []
    for pairing in standings.pairings.values():
        figures = pairing.to_json()
        elo = pairing.elo
        stronger = 0 if pairing.score >= 0.5 else 1
        rows.append(
            (
                " - ".join(pairing.players),
                f"{pairing.wins}-{pairing.draws}-{pairing.losses}",
                f"{_PERCENT * pairing.score:.1f}",
                "-".join(str(count) for count in figures["pairs"]),
                _with_error(elo.elo, elo.error),
                _with_error(elo.normalized_elo, elo.normalized_error),
                f"{figures['p_pairs'][stronger]:.2g}",
                f"{figures['p_binomial'][stronger]:.2g}",
                "yes" if figures["p_pairs"][stronger] <= 0.05 else "no",
            )
        )
    print_table(
        "Pairings",
        ("players", "W-D-L", "%", "pairs", "Elo", "normalized", "p pairs", "p binomial", "significant"),
        rows,
    )
    _print_ratings(result)
    if rows:
        click.echo(
            "Pairs are an opening played twice, colours reversed; counted are those that brought the first player "
            "0 - 1/2 - 1 - 3/2 - 2 points."
        )
    if result.sprt is not None:
        state = result.sprt
        click.echo(f"SPRT: {state.verdict}, LLR {state.llr:.3f} within ({state.lower:.3f}, {state.upper:.3f})")


def _print_ratings(result: TournamentResult) -> None:
    from glem.core.tournament.ratings import ratings_of

    ratings = ratings_of(result.standings)
    if ratings:
        print_table(
            "Ratings by all games together, mean 0",
            ("player", "Elo", "%", "games"),
            [
                (
                    rating.name,
                    _with_error(rating.elo, rating.error),
                    f"{_PERCENT * rating.score:.1f}",
                    str(rating.games),
                )
                for rating in ratings
            ],
        )


def _with_error(value: float, error: float) -> str:
    """Rating with its error; without one, or a dash, where so few or so one-sided games do not tell."""
    if not math.isfinite(value):
        return "-"
    return f"{value:+.0f}" + (f" ± {error:.0f}" if math.isfinite(error) and error > 0 else "")
