"""``glem engine``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glem.core.cli import options
from glem.core.cli.options import playing

if TYPE_CHECKING:
    from glem.core.evaluation.result_models import ResultModels
    from glem.core.game.game import Game
    from glem.core.players.spec import PlayerSpec


@options.command("engine", "engine GAME", "engine GAME --player model.npz,nodes=20000 --protocol gtp", json=False)
@playing.game
@options.option("--protocol", "name", default="auto", help="auto tells it by the first line.")
# Without any limit a player takes its share of so many seconds for each move: about two.
@playing.opponent(clock=40.0)
@options.file(
    "--calibration",
    "What the player's values mean for results, from `glem grade calibrate`, where a protocol has win, draw and loss; "
    "by default the evaluation's own drawishness says it.",
    metavar="FILE",
)
def command(game: Game, name: str, player: PlayerSpec, calibration: str | None) -> None:
    """Play GAME in programs that speak a text protocol, on standard input and output.

    Every game has gtp; games may have further protocols, such as the one of their graphical boards. The limits hold
    for each move, besides the clock that the other side keeps; without any, a move takes a few seconds.
    """
    import os
    import signal
    import sys
    from concurrent.futures import ThreadPoolExecutor

    from glem.core.errors import BadInputError
    from glem.core.players.engine import Engine
    from glem.core.players.protocols.conversation import DescriptorLines
    from glem.core.players.protocols.gtp import GTP
    from glem.core.tasks.threads import interruptible_result

    protocols = {"gtp": GTP, **game.protocols}
    if name not in {"auto", *protocols}:
        known = ", ".join(("auto", *protocols))
        raise BadInputError(f"{game.title} has no protocol {name!r}; known: {known}")
    models = None if calibration is None else _models(game, player, calibration)
    if models is not None and name == GTP.name:
        raise BadInputError("--calibration: gtp has no word for win, draw and loss")
    engine = Engine(game, player, models)
    spoken = protocols.values() if name == "auto" else (protocols[name],)
    if any(protocol.prepares for protocol in spoken):
        # Errors come at once all the same.
        player.resolved(game)
    else:
        engine.prepare()
    lines = DescriptorLines(sys.stdin.fileno())
    if name == "auto":
        opening = set(lines.first().split()[:1])
        name = next((one for one, known in protocols.items() if opening & set(known.opening)), GTP.name)
    protocol = protocols[name]
    if not protocol.prepares:
        engine.prepare()

    def write(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    # The main thread hears Ctrl-C while compiled code runs in another, which is made here and not for every move.
    with ThreadPoolExecutor(1, "protocol") as executor:
        serving = executor.submit(protocol.serve, engine, lines, write)
        try:
            interruptible_result(serving)
        except KeyboardInterrupt:
            # The other thread may think for long or wait for a line for ever.
            sys.stdout.flush()
            os._exit(128 + signal.SIGINT)
    if engine.preparing is not None:
        # Whoever says quit does not wait for machine code that may still be made, nor for what Python tidies up. Files
        # of the cache are never half written, and programs that are players end with this process.
        sys.stdout.flush()
        os._exit(0)


def _models(game: Game, player: PlayerSpec, calibration: str) -> ResultModels:
    """Load a calibration; :class:`BadInputError` where it is not of what the player's values are."""
    from glem.core.errors import reading
    from glem.core.evaluation.result_models import ResultModels
    from glem.core.players.chances import ResultChances

    with reading(calibration):
        models = ResultModels.load(calibration)
        if player.kind == "search":
            ResultChances(game, player.evaluation, models)
        return models
