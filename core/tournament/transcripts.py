"""Games of a tournament as text: the moves and the score, one game a line."""

from __future__ import annotations

import os
from collections.abc import Iterable

from glem.core.files import atomic_path
from glem.core.game import Game
from glem.core.tournament.games import PlayedGame

__all__ = ["transcript", "write_transcripts"]


def transcript(game: Game, played: PlayedGame) -> str:
    """Text of a game: its moves by name, passes left out, then the score from the first player's view.

    The score is left out where the clock decided. A game that does not begin at the start has its first position in
    front.
    """
    moves = [*played.opening.moves, *(move.move for move in played.moves)]
    words = [game.format_move(move) for move in moves if move != game.pass_move]
    if played.opening.start:
        words = [played.opening.start, *words]
    if played.score is not None:
        words.append(f"{played.score:+d}")
    return " ".join(words)


def write_transcripts(game: Game, games: Iterable[PlayedGame], path: str | os.PathLike[str]) -> None:
    """Write the transcripts of games in the order of their numbers, atomically."""
    ordered = sorted(games, key=lambda played: played.number)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(f"{transcript(game, played)}\n" for played in ordered)
