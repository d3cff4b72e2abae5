"""``glem match``."""

from typing import Any

from glem.core.cli import options
from glem.core.cli.tournament import play_tournament, tournament_options


@options.command(
    "match",
    "match GAME model.npz,depth=6 default,depth=6 --opening-count 50",
    "match GAME name=new,evaluation=model.npz default --limit nodes=9999 --sprt 0,10 -o match.jsonl",
)
@options.argument("words", nargs=-1, required=True, metavar="[GAME] PLAYER PLAYER", was=("--game",))
@tournament_options
def command(**how: Any) -> None:
    """Play two players against each other, from every opening twice with colours reversed.

    A PLAYER is an evaluation file, default, none (a search that sees only how games end), greedy or random, with
    options: model.npz,depth=6,solve=14 or name=fast,evaluation=model.npz,clock=60+1,probcut=off. With -o the same
    command continues after a kill.
    """
    play_tournament(most=2, **how)
