"""``glem match``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, tell_note
from glem.core.cli.options.described import described
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted, rating_text
from glem.core.tasks.tables import Table
from glem.core.tournament.opening_settings import JudgedOpenings

if TYPE_CHECKING:
    from glem.core.tournament.sprt import Sprt
    from glem.core.tournament.tournament import TournamentResult


def _sprt(sprt: str | None, sprt_model: str, alpha: float, beta: float) -> Sprt | None:
    if sprt is None:
        return None
    from glem.core.tournament.sprt import Sprt

    try:
        elo0, elo1 = (float(part) for part in sprt.split(","))
    except ValueError:
        raise BadInputError(f"--sprt must be two Elo differences like 0,10, got {sprt!r}") from None
    return Sprt(elo0, elo1, alpha=alpha, beta=beta, model=sprt_model)


adjudicate = options.count("--adjudicate", 0, "End games by solver, N moves left.", least=0, most=100, metavar="N")


_BARE_PLAYERS = ("default", "strongest", "none", "greedy", "random")
"""Players of one word; another first word before two players is the name of a game that is not there."""


@options.command(
    "match",
    "match GAME name=new,evaluation=model.npz default --limit nodes=9999 --sprt 0,10 -o match.jsonl",
    "match model.npz,name=new old.npz,name=old default --limit nodes=5000 -o games.jsonl --transcripts all.games",
)
@options.argument("words", nargs=-1, required=True, metavar="[GAME] PLAYER PLAYER...", was=("--game",))
@options.file(("-o", "--output", "record"), "Record of the games; continued if there.", was=("--record",))
@options.option(
    "--limit",
    metavar="LIMIT",
    help="Limit of searching players that name none, needed for these: depth=6, nodes=9999, seconds=1.",
)
@described(JudgedOpenings)
@adjudicate
@options.flag("--forfeit", "A player whose clock runs out loses; else overruns are counted.")
@options.file(
    "--transcripts",
    "Write the games of the record, which -o names, as its name tells: .pgn, .ggf, .games, .txt, ...",
)
@options.group(
    "sprt",
    _sprt,
    options.option("--sprt", metavar="ELO0,ELO1", help="Stop when a sequential test of two players decides."),
    options.choice("--sprt-model", ["logistic", "normalized"], "Kind of Elo of --sprt."),
    options.option("--alpha", default=0.05, help="Chance that --sprt wrongly finds ELO1."),
    options.option("--beta", default=0.05, help="Chance that --sprt wrongly finds ELO0."),
)
@options.seed
@options.workers
def command(words: tuple[str, ...], *, record: str | None, **how: Any) -> None:
    """Play two players or more, every PLAYER against every other one, from every opening twice with colours reversed.

    A PLAYER is an evaluation file, default, none (a search that sees only how games end), greedy or random, with
    options: model.npz,depth=6,solve=14 or name=fast,evaluation=model.npz,clock=60+1,probcut=off. With -o the same
    command continues after a kill.
    """
    from glem.core.cli.game_choice import choose_game
    from glem.core.players.spec import parse_limits, parse_player
    from glem.functions import tournament

    outputs = (how["save_openings"], how["transcripts"], None if record is None else f"{record}.openings")
    check_outputs(record, *outputs)
    game_name, players = options.split_game(words)
    if game_name is None and len(players) > 2 and players[0].isidentifier() and players[0] not in _BARE_PLAYERS:
        game_name, players = words[0], words[1:]
    limits = None if how["limit"] is None else parse_limits(how["limit"])
    evaluations = [parse_player(text, limits=limits).evaluation for text in players]
    result = tournament(
        choose_game(game_name, evaluations=evaluations),
        players,
        record=record,
        progress=display_progress(),
        tell=tell_note,
        **how,
    )
    print_result(result.to_json(), _told(result))


def _figure(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.4f}"


def _told(result: TournamentResult) -> Iterator[str | Table]:
    from glem.core.tournament.ratings import ratings_of

    standings = result.standings
    surplus = result.played - standings.games
    yield Table.of(
        f"{counted(standings.games, 'game')}"
        + (f" ({surplus} more were played after the decision)" if surplus else ""),
        sorted(standings.totals.items(), key=lambda item: -item[1].wins - item[1].draws / 2),
        {
            "player": lambda item: item[0],
            "W-D-L": lambda item: _results(item[1]),
            "%": lambda item: f"{item[1].score:.1%}"[:-1],
            "depth": lambda item: f"{item[1].mean_depth:.1f}",
            "nodes/move": lambda item: f"{item[1].nodes_per_move:,.0f}",
            "s/move": lambda item: f"{item[1].seconds_per_move:.4f}",
            "CPU s/move": lambda item: _figure(item[1].processor_seconds_per_move),
            "slowest": lambda item: f"{item[1].slowest:.3f}",
            "overruns": lambda item: (
                f"{item[1].overruns}" + (f" ({item[1].lost_on_time} lost)" if item[1].lost_on_time else "")
            ),
            "nodes": lambda item: f"{item[1].nodes:,}",
            "seconds": lambda item: f"{item[1].seconds:.1f}",
        },
    )
    for name, totals in standings.totals.items():
        if totals.failures:
            lost = f", {counted(totals.lost_by_failure, 'game')} lost by it" if totals.lost_by_failure else ""
            if totals.problem:
                lost += f"; the last: {totals.problem}"
            yield f"note: the program of {name} failed {counted(totals.failures, 'time')} and was started anew{lost}"
    # With each pairing the p-values of whoever is ahead.
    pairings = [(one, one.significance(is_reversed=one.score < 0.5)) for one in standings.pairings.values()]
    yield Table.of(
        "Pairings",
        pairings,
        {
            "players": lambda pair: " - ".join(pair[0].players),
            "W-D-L": lambda pair: _results(pair[0]),
            "%": lambda pair: f"{pair[0].score:.1%}"[:-1],
            "pairs": lambda pair: "-".join(map(str, pair[0].pairs.counts)),
            "Elo": lambda pair: rating_text(pair[0].elo.elo, pair[0].elo.error),
            "normalized": lambda pair: rating_text(pair[0].elo.normalized_elo, pair[0].elo.normalized_error),
            "p pairs": lambda pair: f"{pair[1][0]:.2g}",
            "p binomial": lambda pair: f"{pair[1][1]:.2g}",
            "significant": lambda pair: "yes" if pair[1][0] <= 0.05 else "no",
        },
    )
    ratings = ratings_of(standings)
    if ratings:
        yield Table.of(
            "Ratings by all games together, mean 0",
            ratings,
            {
                "player": lambda rating: rating.name,
                "Elo": lambda rating: rating_text(rating.elo, rating.error),
                "%": lambda rating: f"{rating.score:.1%}"[:-1],
                "games": lambda rating: str(rating.games),
            },
        )
    if pairings:
        yield (
            "Pairs are an opening played twice, colours reversed; counted are those that brought the first player "
            "0 - 1/2 - 1 - 3/2 - 2 points."
        )
    if result.sprt is not None:
        state = result.sprt
        yield f"SPRT: {state.verdict}, LLR {state.llr:.3f} within ({state.lower:.3f}, {state.upper:.3f})"


def _results(counts: Any) -> str:
    return f"{counts.wins}-{counts.draws}-{counts.losses}"
