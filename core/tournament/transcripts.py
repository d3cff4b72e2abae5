"""Games of a tournament as text: the moves and the score, one game a line."""

from __future__ import annotations

import os
from collections.abc import Iterable

from glem.core.files import atomic_path
from glem.core.game import Game
from glem.core.game_lines import SUFFIX, SingleGame, reads_transcripts, write_single_games
from glem.core.record_files import bare_suffix
from glem.core.tournament.games import End, PlayedGame

__all__ = ["transcript", "write_transcripts"]


def transcript(game: Game, played: PlayedGame) -> str:
    """Text of a game: its moves by name, passes left out, then the score from the first player's view.

    The score is left out where the clock decided. A game that does not begin at the start has its first position in
    front.
    """
    moves = [*played.opening.moves, *(move.move for move in played.moves)]
    start = game.parse_position(played.opening.start) if played.opening.start else game.initial_position
    texts = zip(game.move_texts(start, moves), moves, strict=True)
    words = [text for text, move in texts if move != game.pass_move]
    if played.opening.start:
        words = [played.opening.start, *words]
    if played.score is not None:
        words.append(f"{played.score:+d}")
    return " ".join(words)


def _single(played: PlayedGame) -> SingleGame:
    return SingleGame(
        moves=(*played.opening.moves, *(move.move for move in played.moves)),
        score=played.score,
        is_final=played.end != End.ADJUDICATED,
        start=played.opening.start,
    )


def write_transcripts(game: Game, games: Iterable[PlayedGame], path: str | os.PathLike[str]) -> None:
    """Write games in the order of their numbers, atomically, so that :func:`glem.core.records.read_records` reads them.

    They become transcripts where the game has a format of its own that reads such. For other games, and in files called
    ``.games``, they are lines of :mod:`glem.core.game_lines`; the score of an adjudicated game is there an exact one.
    """
    ordered = sorted(games, key=lambda played: played.number)
    if bare_suffix(path) == SUFFIX or not reads_transcripts(game):
        write_single_games(game, path, map(_single, ordered))
        return
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(f"{transcript(game, played)}\n" for played in ordered)
