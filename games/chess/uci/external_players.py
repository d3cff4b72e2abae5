"""UCI engines as players, and as what gives scores that are graded.

A player's text is ``uci:PROGRAM``, then limits and options, as in ``uci:/usr/games/stockfish,nodes=1000,Hash=16``. The
program may have arguments: ``uci:gnuchess --uci,seconds=0.1``. ``timeout`` is the time in seconds after which the
engine counts as hung; every other name is a UCI option of the engine, and ``option.NAME`` is one as well, should its
name be that of a limit.

An engine that crashes, prints nonsense or chooses an illegal move is started anew and asked once more. If it fails
again, or has hung, the player has failed over this move: its game is lost, or its position has no score.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from glem.core.files.digests import file_digest
from glem.core.game.game import ExternalPlayers

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.players.spec import PlayerSpec
    from glem.games.chess.uci.player import UciPlayer, UciScoring


# Imported late in these functions: python-chess's engines need asyncio, and chess alone does not.


def _digest(_game: Game, spec: PlayerSpec) -> str:
    from glem.games.chess.uci.player import engine_of

    program = Path(engine_of(spec)[0].command[0]).resolve()
    found = program.stat()
    return _file_digest(str(program), found.st_mtime_ns, found.st_size)


@lru_cache(64)
def _file_digest(path: str, _modified: int, _size: int) -> str:
    try:
        return file_digest(path)
    except PermissionError:
        # What may be executed need not be readable.
        return ""


def _make_player(_game: Game, spec: PlayerSpec) -> UciPlayer:
    from glem.games.chess.uci.player import UciPlayer

    return UciPlayer(spec)


def _make_scoring(_game: Game, spec: PlayerSpec) -> UciScoring:
    from glem.games.chess.uci.player import UciScoring

    return UciScoring(spec)


UCI_PLAYERS = ExternalPlayers(
    name="uci",
    description="UCI engines: uci:PROGRAM, limits, timeout= in seconds, and options of the engine such as Hash=16.",
    digest=_digest,
    make_player=_make_player,
    make_scoring=_make_scoring,
)
