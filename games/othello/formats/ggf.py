"""Games in the Generic Game Format of the game server GGS: ``(;GM[Othello]...BO[8 ... *]B[f5]W[d6]...;)``.

M. Buro and I. Durdanovic, "Generic Game Format", https://www.skatgame.net/mburo/ggsa/ggf. Moves may carry an evaluation
and a time, ``B[F5/1.2/0.5]``; clocks are ``TI[15:00/00:10/02:00]``: time, increment, time after the first overrun.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs
from attrs import define

from glem.core.errors import BadInputError
from glem.core.search.results import Clock
from glem.games.othello import rules
from glem.games.othello.notation import format_square, parse_position, parse_square

__all__ = ["GgfGame", "game_of", "parse_ggf", "parse_move_item", "tags_of"]

_TAG = re.compile(r"\s*([A-Za-z]+)\s*\[([^\]]*)\]")
_END = re.compile(r"\s*;\)")
_BOARD = re.compile(r"8\s*([-*OoXx.\s]+?)\s*([*OoXx])\s*")
_BOARD_TYPE = re.compile(r"[^\d]*(\d+)", re.ASCII)
_DURATION = re.compile(r"(?:(?:(?:(\d+)\.)?(\d+):)?(\d+):)?(\d+(?:\.\d*)?)", re.ASCII)
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)
_LONGEST = 1 << 16
_LEAST_SECONDS = 0.1
_BLACK = "*Xx"
_SIDES = frozenset({"B", "W"})


@define(frozen=True)
class GgfGame:
    """A game, perhaps unfinished.

    Parameters
    ----------
    position
        Where it began.
    black_to_move
        Whether black moved first.
    moves
        Its moves, passes included.
    black_clock, white_clock
        What is left on the clocks after the moves; None for a player without a clock.
    """

    position: rules.Position = rules.INITIAL_POSITION
    black_to_move: bool = True
    moves: tuple[int, ...] = ()
    black_clock: Clock | None = None
    white_clock: Clock | None = None


def parse_ggf(text: str) -> GgfGame:
    """Read one game and check its moves.

    Parameters
    ----------
    text
        The game; a number of games may stand before it, as GGS writes it.

    Raises
    ------
    BadInputError
        It is no game of Othello on 64 squares, or a move is illegal.
    """
    if len(text) > _LONGEST:
        raise BadInputError(f"a game of {len(text)} characters is too long, at most {_LONGEST} are read")
    tags, _ = tags_of(text, 0)
    return _played(game_of(tags), [(name == "B", value) for name, value in tags if name in _SIDES])


def tags_of(text: str, at: int) -> tuple[list[tuple[str, str]], int]:
    """Names, in capitals, and values of the tags of the first game from an index on, and the index behind it.

    Raises
    ------
    BadInputError
        There is no game, or something else than tags in it.
    """
    first, begin = at, text.find("(;", at)
    at = begin + 2
    tags: list[tuple[str, str]] = []
    while (end := _END.match(text, at)) is None:
        tag = _TAG.match(text, at)
        if begin < 0 or not text[at:].strip():
            raise BadInputError(f"{text[first : first + 20]!r} is no game: it begins with (; and ends with ;)")
        if tag is None:
            raise BadInputError(f"{text[at : at + 20]!r} in a game where a tag like B[f5] is expected")
        at = tag.end()
        tags.append((tag.group(1).upper(), tag.group(2).strip()))
    return tags, end.end()


def game_of(tags: Sequence[tuple[str, str]]) -> GgfGame:
    """Game of some tags, its moves not yet made."""
    game = GgfGame()
    for name, value in tags:
        if name not in _SIDES:
            game = _with_tag(game, name, value)
    return game


def _with_tag(game: GgfGame, name: str, value: str) -> GgfGame:
    if name == "GM" and value.lower() != "othello":
        raise BadInputError(f"a game of {value!r}, not of Othello")
    if name == "TY":
        size = _BOARD_TYPE.match(value)
        if size is None or size.group(1) != "8":
            raise BadInputError(f"board type {value!r}, only that of 8x8 squares is known")
    if name == "BO":
        board = _BOARD.fullmatch(value)
        if board is None:
            raise BadInputError(f"{value[:80]!r} is no board: 8, 64 of - * and O, and the side to move are needed")
        position = parse_position(f"{''.join(board.group(1).split())} {board.group(2)}")
        return attrs.evolve(game, position=position, black_to_move=board.group(2) in _BLACK)
    if name in {"TI", "TB"}:
        game = attrs.evolve(game, black_clock=_clock(value))
    if name in {"TI", "TW"}:
        game = attrs.evolve(game, white_clock=_clock(value))
    return game


def _clock(text: str) -> Clock | None:
    """Clock of ``time/increment/grace``; none where no time is given."""
    parts = [_seconds(part) for part in text.split("/")]
    return Clock(parts[0], parts[1] if len(parts) > 1 else 0.0) if parts[0] > 0 else None


def _seconds(text: str) -> float:
    """Seconds of ``days.hours:minutes:seconds``, of which leading parts may be missing; 0 for other texts."""
    found = _DURATION.match(text.strip())
    if found is None or len(found.group()) > 20:
        return 0.0
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def parse_move_item(text: str) -> tuple[int, float]:
    """Square and seconds of ``F5``, ``F5/evaluation`` or ``F5/evaluation/seconds``.

    Raises
    ------
    BadInputError
        It does not begin with a square or a pass.
    """
    name, *rest = text.strip().split("/")
    seconds = _NUMBER.match(rest[1].strip()) if len(rest) > 1 else None
    return parse_square(name.strip()), float(seconds.group()) if seconds and len(seconds.group()) < 20 else 0.0


def _played(game: GgfGame, items: Sequence[tuple[bool, str]]) -> GgfGame:
    """Play the moves of a game, each with whether it is black's, from its first position."""
    position, black = game.position, game.black_to_move
    clocks = {True: game.black_clock, False: game.white_clock}
    moves: list[int] = []

    def play(move: int) -> None:
        nonlocal position, black
        position, black = rules.play(position, move), not black
        moves.append(move)

    for is_black, text in items:
        move, seconds = parse_move_item(text)
        if is_black != black and _is_legal(position, rules.PASS):
            play(rules.PASS)
        if is_black != black or not _is_legal(position, move):
            side = "black" if is_black else "white"
            raise BadInputError(f"move {len(moves) + 1}, {format_square(move)} of {side}, is illegal")
        clocks[is_black] = after_move(clocks[is_black], seconds)
        play(move)
    return attrs.evolve(game, moves=tuple(moves), black_clock=clocks[True], white_clock=clocks[False])


def after_move(clock: Clock | None, seconds: float) -> Clock | None:
    """Clock of a player after a move that took so long; it never runs out, since the server lets play go on."""
    if clock is None:
        return None
    return Clock(max(clock.remaining - seconds + clock.increment, _LEAST_SECONDS), clock.increment)


def _is_legal(position: rules.Position, move: int) -> bool:
    places = int(rules.mobility(position.own, position.opponent))
    if move == rules.PASS:
        return not places and bool(rules.mobility(position.opponent, position.own))
    return bool(places >> move & 1)
