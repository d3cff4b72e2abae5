"""``glem engine``."""

from __future__ import annotations

from typing import Any

import click

from glem.core.cli.printable import raw
from glem.core.cli.thinking import opponent_of, opponent_options

__all__ = ["command"]

_USUAL_CLOCK = 40.0
"""Seconds of which a player without any limit takes its share for each move: about two."""


@click.command("engine")
@click.argument("game_name", metavar="GAME")
@click.option("--protocol", "protocol_name", default="auto", show_default=True, help="auto tells it by the first line.")
@opponent_options
def command(game_name: str, protocol_name: str, **player: Any) -> None:
    """Play GAME in programs that speak a text protocol, on standard input and output.

    Every game has gtp; games may have further protocols, such as the one of their graphical boards. The limits hold
    for each move, besides the clock that the other side keeps; without any, a move takes a few seconds.
    """
    import io
    import os
    import sys

    from glem.core.cli.compiling_ahead import SEARCH, compile_ahead
    from glem.core.errors import BadInputError
    from glem.core.game.game import load_game
    from glem.core.players.engine import Engine
    from glem.core.players.protocols.conversation import DescriptorLines
    from glem.core.players.protocols.gtp import GTP
    from glem.core.search.results import Clock, Limits

    game = load_game(game_name)
    protocols = {"gtp": GTP, **game.protocols}
    if protocol_name not in {"auto", *protocols}:
        known = ", ".join(("auto", *protocols))
        raise BadInputError(f"{game.title} has no protocol {protocol_name!r}; known: {known}")
    spec = opponent_of(game, default=Limits(clock=Clock(_USUAL_CLOCK)), **player)
    compile_ahead(SEARCH, game, spec.evaluation)
    engine = Engine(game, spec)
    spoken = protocols.values() if protocol_name == "auto" else (protocols[protocol_name],)
    if any(protocol.prepares for protocol in spoken):
        # Errors come at once all the same.
        engine.spec.resolved(game)
    else:
        engine.prepare()
    lines = DescriptorLines(sys.stdin.fileno())
    if protocol_name == "auto":
        opening = set(lines.first().split()[:1])
        protocol_name = next((name for name, known in protocols.items() if opening & set(known.opening)), GTP.name)
    protocol = protocols[protocol_name]
    if not protocol.prepares:
        engine.prepare()

    if isinstance(raw(sys.stdout), io.TextIOWrapper):
        # What others sent comes back in answers, whatever it was.
        raw(sys.stdout).reconfigure(errors="backslashreplace")

    def write(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    protocol.serve(engine, lines, write)
    if engine.preparing is not None:
        # Whoever says quit does not wait for machine code that may still be made, nor for what Python tidies up. Files
        # of the cache are never half written, and programs that are players end with this process.
        sys.stdout.flush()
        os._exit(0)
