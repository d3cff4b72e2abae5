"""Openings: the positions from which the games of a tournament begin, read from files of many kinds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError, check_regular, reading
from glem.core.files.atomic import atomic_path
from glem.core.files.packed import bare_suffix, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.game_lines import GAME_LINES
from glem.core.positions.reading import head_of, read_records, read_scored_positions, record_formats
from glem.core.positions.replay import FINISHED, Replay, replay
from glem.core.tasks.counts import counted

LINES = "lines"
"""Name of the format that every game has: a position, or moves from the start, on each line."""

_LINES_AT_ONCE = 10_000
_MOVE_NUMBERS = re.compile(r"\b\d+\.+")


@define(frozen=True)
class Opening:
    """How a game begins.

    Parameters
    ----------
    moves
        Moves from the start, passes included.
    start
        The first position as text; "" for the game's own.
    """

    moves: tuple[int, ...] = ()
    start: str = ""

    def positions(self, game: Game) -> list[Any]:
        """All positions, from the start to the one where the players take over.

        Raises
        ------
        BadInputError
            A move is illegal, or the game is over.
        """
        position = game.parse_position(self.start) if self.start else game.initial_position
        passed = [position]
        for place, move in enumerate(self.moves):
            if move not in game.list_legal_moves(position):
                name = game.format_move(move) if 0 <= move < game.move_count else str(move)
                raise BadInputError(f"move {place + 1}, {name}, is illegal")
            position = game.play(position, move)
            passed.append(position)
        _check_goes_on(game, position)
        return passed

    def to_json(self, game: Game) -> str:
        """Text of the opening: its moves, or its position."""
        moves = " ".join(game.format_move(move) for move in self.moves)
        return f"{self.start} : {moves}" if self.start else moves

    @classmethod
    def from_json(cls, game: Game, text: str) -> Opening:
        """Read what :meth:`to_json` wrote."""
        start, colon, moves = text.rpartition(" : ")
        return cls(tuple(game.parse_move(word) for word in moves.split()), start if colon else "")


def canonical_position(game: Game, position: Any) -> tuple[int, ...]:
    """Least image of a position under the game's symmetries; equal for positions that are images of each other."""
    images = [position]
    if game.transform is not None:
        images += [game.transform(position, symmetry) for symmetry in range(1, game.symmetry_count)]
    return min(tuple(int(value) for value in image) for image in images)


def distinct_openings(game: Game, openings: Iterable[Opening]) -> Iterator[Opening]:
    """Pass on the first of those openings that lead to the same position, or to images of it."""
    seen: set[tuple[int, ...]] = set()
    for opening in openings:
        image = canonical_position(game, opening.positions(game)[-1])
        if image not in seen:
            seen.add(image)
            yield opening


def read_openings(
    game: Game,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 # the word of the command line and of the field
    plies: int | None = None,
    count: int | None = None,
    seed: int = 0,
    tell: Callable[[str], None] | None = None,
) -> list[Opening]:
    """Read openings from a file of games or positions; those that lead to the same position are one.

    Parameters
    ----------
    path
        Game records, also glem's own ``.games``, or positions in one of the game's formats; or lines with a position or
        with moves from the start, as the game writes them, separated by blanks. Empty lines and those that begin with
        ``#`` or ``%`` are skipped.
    format
        Name of a record or position format of the game, or ``lines``; guessed if not given.
    plies
        Only so many first moves of each game; games that are shorter are bad.
    count
        Draw so many of them at random, and look at no others; all if not given.
    tell
        Called with one sentence where bad games, positions or lines were left out; None raises instead.

    Returns
    -------
    openings
        In the order of the file.

    Raises
    ------
    BadInputError
        The file cannot be read, has no good openings or too few; without ``tell`` also where an opening is illegal,
        too short or ends the game. The text names file and line or record.
    """
    source = Path(path)
    check_regular(source)
    if not source.is_file():
        raise BadInputError(f"{source}: no such file")
    candidates: list[_Candidate] = []
    bad: list[_Bad] = []
    place_of: dict[Opening, int] = {}

    def made(order: Iterable[int]) -> Iterator[Opening]:
        for place in order:
            found = candidates[place]()
            if isinstance(found, Opening):
                place_of.setdefault(found, place)
                yield found
            elif tell is None:
                raise BadInputError(found.problem)
            else:
                bad.append(found)

    with reading(source, "openings"):
        kind, name = _format_of(game, source, format)
        for one in _SOURCES[kind](game, source, name, plies, tell is not None):
            if isinstance(one, _Bad):
                bad.append(one)
            else:
                candidates.append(one)
        total = len(candidates) + sum(one.count for one in bad)
        # Of a book of a million lines only those are looked at that are drawn.
        order = list(range(len(candidates)))
        if count is not None:
            order = np.random.default_rng(seed).permutation(len(candidates)).tolist()
        drawn = list(islice(distinct_openings(game, made(order)), count))
    if not drawn:
        raise BadInputError(f"{source}: no openings" + (f"; {bad[0].problem}" if bad else ""))
    if tell is not None and bad:
        tell(f"left out {sum(one.count for one in bad)} of {counted(total, 'opening')}; the first: {bad[0].problem}")
    if count is not None and len(drawn) < count:
        raise BadInputError(f"{source}: has {counted(len(drawn), 'distinct opening')}, {count} are wanted")
    return sorted(drawn, key=place_of.__getitem__)


def write_openings(game: Game, openings: Iterable[Opening], path: str | os.PathLike[str]) -> None:
    """Write openings as lines that :func:`read_openings` reads: a position, or moves from the game's start.

    Raises
    ------
    BadInputError
        An opening has both a first position of its own and moves: the lines have no room for them.
    """
    openings = list(openings)
    if any(opening.start and opening.moves for opening in openings):
        raise BadInputError("openings with moves from a position of their own cannot be written as lines")
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        # Without a move the line would be empty.
        initial = game.format_position(game.initial_position)
        file.writelines(f"{opening.start or opening.to_json(game) or initial}\n" for opening in openings)


def _format_of(game: Game, path: Path, name: str | None) -> tuple[str, str]:
    """Which kind of file it is, and the format's name."""
    records = record_formats(game)
    kinds: dict[str, Mapping[str, Any]] = {"record": records, "position": game.position_formats}
    if name == LINES:
        return LINES, LINES
    if name is not None:
        for kind, formats in kinds.items():
            if name in formats:
                return kind, name
        known = ", ".join(dict.fromkeys([*records, *game.position_formats, LINES]))
        raise BadInputError(f"there is no format {name!r} of openings; known: {known}")
    head = head_of(path)
    if GAME_LINES.recognizes(head):
        return "record", GAME_LINES.name
    suffix = bare_suffix(path)
    for kind, formats in kinds.items():
        for known_format in formats.values():
            if known_format.recognizes(head) and (not known_format.suffixes or suffix in known_format.suffixes):
                return kind, known_format.name
    return LINES, LINES


@define(frozen=True)
class _Bad:
    """Openings that are none, and the problem of the first."""

    problem: str
    count: int = 1


_Candidate = Callable[[], Opening | _Bad]
_Found = Iterator[_Candidate | _Bad]


def _tried(place: str, make: Callable[..., Opening], *arguments: Any) -> Opening | _Bad:
    try:
        return make(*arguments)
    except BadInputError as error:
        return _Bad(f"{place}: {error}")


def _check_goes_on(game: Game, position: Any) -> None:
    if game.is_over(position):
        raise BadInputError("the game is over after the opening")


def _of_position(game: Game, position: Any) -> Opening:
    _check_goes_on(game, position)
    return Opening(start=game.format_position(position))


def _of_row(game: Game, positions: Any, row: int) -> Opening:
    return _of_position(game, position_at(positions, row))


def _beginning(moves: Sequence[int], plies: int | None) -> tuple[int, ...]:
    if plies is not None and len(moves) < plies:
        raise BadInputError(f"the game has {counted(len(moves), 'move')}, but openings need {plies}")
    return tuple(moves[:plies])


def _from_records(game: Game, path: Path, name: str, plies: int | None, skip_bad: bool) -> _Found:
    first = 1
    for records in read_records(game, path, format=name, skip_bad=skip_bad):
        if records.skipped:
            yield _Bad(records.problems[0], records.skipped)
        played = replay(game, records)
        for index in range(len(records)):
            number = records.extra["number"][index] if "number" in records.extra else first + index
            yield partial(_tried, f"{path}:{number}", _of_game, game, records, played, index, plies)
        first += len(records)


def _of_game(game: Game, records: GameRecords, played: Replay, index: int, plies: int | None) -> Opening:
    # The last row of a game is its last position, which has no move.
    moves = played.move[played.offsets[index] : played.offsets[index + 1] - 1].tolist()
    opening = _beginning(moves, plies)
    if len(opening) == len(moves) and played.status[index] == FINISHED:
        raise BadInputError("the game is over after the opening; take fewer plies, as with --opening-plies")
    start = "" if records.starts is None else game.format_position(records.start_of(index))
    return Opening(opening, "" if start == game.format_position(game.initial_position) else start)


def _from_positions(game: Game, path: Path, name: str, _plies: int | None, skip_bad: bool) -> _Found:
    number = 0
    for part in read_scored_positions(game, path, format=name, skip_bad=skip_bad, unscored=True):
        if part.problems:
            yield _Bad(part.problems[0], len(part.problems))
        for row in range(len(part.label)):
            number += 1
            yield partial(_tried, f"{path}: position {number}", _of_row, game, part.positions, row)


def _from_lines(game: Game, path: Path, _name: str, plies: int | None, _skip_bad: bool) -> _Found:
    for block in line_blocks(path, lines=_LINES_AT_ONCE):
        for row in range(len(block.starts)):
            text = block.text(row).strip()
            if text and text[0] not in "#%":
                yield partial(_tried, f"{path}:{block.first_number + row}", _from_line, game, text, plies)


def _moves_of(game: Game, text: str) -> tuple[int, ...]:
    if game.parse_move_at is None:
        return tuple(game.parse_move(word) for word in text.split())
    moves = []
    position = game.initial_position
    for word in _MOVE_NUMBERS.sub(" ", text).split():
        moves.append(game.parse_move_at(position, word))
        position = game.play(position, moves[-1])
    return tuple(moves)


def _from_line(game: Game, text: str, plies: int | None) -> Opening:
    try:
        position = game.parse_position(text)
    except BadInputError as no_position:
        try:
            moves = _moves_of(game, text)
        except BadInputError as no_move:
            raise BadInputError(f"neither a position ({no_position}) nor moves ({no_move})") from None
        opening = Opening(_beginning(moves, plies))
        opening.positions(game)
        return opening
    return _of_position(game, position)


_SOURCES: Mapping[str, Callable[[Game, Path, str, int | None, bool], _Found]] = {
    "record": _from_records,
    "position": _from_positions,
    LINES: _from_lines,
}
