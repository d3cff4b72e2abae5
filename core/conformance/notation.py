"""Checks of how positions, moves and games are written down, and of how they reach another process."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

from glem.core.conformance.playouts import Sample, check_position, same
from glem.core.conformance.report import BrokenPromise, CheckResult, Suite
from glem.core.errors import BadInputError
from glem.core.game.game import Game, game_names

NOTATION = Suite()

_WHOLE_LISTS = 64


@NOTATION.promise("text", "positions and moves survive being written and read")
def _check_text(check: CheckResult, game: Game, sample: Sample) -> None:
    for _, position in sample.rows(check):
        text = game.format_position(position)
        if not isinstance(text, str):
            raise BrokenPromise(f"format_position gives {text!r}, expected a text")
        check.expect("\n" not in text, f"format_position writes more than one line: {text!r}")
        read_position = game.parse_position(text)
        check_position(game, read_position, f"parse_position({text!r})")
        reread = same(read_position, position)
        check.expect(reread, f"format_position writes {text!r}, parse_position reads another position")
    names: dict[str, int] = {}
    for move in sorted({move for moves in sample.legal for move in moves}):
        name = game.format_move(move)
        if not isinstance(name, str) or not name:
            raise BrokenPromise(f"format_move writes move {move} as {name!r}, expected a text")
        check.expect(" " not in name, f"format_move writes move {move} as {name!r}, expected no blank")
        twin = names.setdefault(name, move)
        check.expect(twin == move, f"format_move writes {twin} and {move} as {name!r}")
        read = game.parse_move(name)
        check.expect(read == move, f"format_move writes move {move} as {name!r}, parse_move reads {read}")
    parsers: dict[str, Callable[[str], Any]] = {
        "parse_position": game.parse_position,
        "parse_move": game.parse_move,
    }
    if game.format_move_at is not None and game.parse_move_at is not None:
        _check_texts_at(game.format_move_at, game.parse_move_at, sample, check)
        parsers["parse_move_at"] = partial(game.parse_move_at, game.initial_position)
    for kind, parse in parsers.items():
        for text in ("", "\0", "no such thing?"):
            found = _answer(parse, text)
            check.expect(found is None, f"{kind}({text!r}) {found}, expected BadInputError")


def _check_texts_at(
    format_move: Callable[[Any, int], str], parse_move: Callable[[Any, str], int], sample: Sample, check: CheckResult
) -> None:
    """Examine the texts of moves that depend on the position, of every move played and of all moves here and there."""
    whole = set(sample.some(_WHOLE_LISTS))
    for row, position in sample.rows(check):
        texts: dict[str, int] = {}
        for move in sample.legal[row] if row in whole else sample.played_at(row):
            text = format_move(position, move)
            if not isinstance(text, str) or not text or " " in text:
                raise BrokenPromise(f"format_move_at writes move {move} as {text!r}, expected one word")
            twin = texts.setdefault(text, move)
            check.expect(twin == move, f"format_move_at writes {twin} and {move} as {text!r}")
            read = parse_move(position, text)
            check.expect(read == move, f"format_move_at writes {move} as {text!r}, parse_move_at reads {read}")


def _answer(parse: Callable[[str], Any], text: str) -> str | None:
    """Tell what a parser does with a text that is none of its own; None if it refuses it properly."""
    try:
        return f"gives {parse(text)!r}"
    except BadInputError:
        return None
    except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
        return f"raises {type(error).__name__}: {error}"


@NOTATION.promise("formats", "file formats and protocols stand under their own names")
def _check_formats(check: CheckResult, game: Game, sample: Sample) -> None:
    for kind, known in (
        ("record_formats", game.record_formats),
        ("position_formats", game.position_formats),
        ("protocols", game.protocols),
        ("external_players", game.external_players),
    ):
        for name, entry in known.items():
            stated = getattr(entry, "name", None)
            check.expect(stated == name, f"{kind}[{name!r}] calls itself {stated!r}, expected one name for both")
            plain = name == name.lower() and " " not in name
            check.expect(plain, f"{kind} has {name!r}, expected lower case without blanks: it is a command's option")
            description = getattr(entry, "description", "")
            check.expect(description, f"{kind}[{name!r}] has no description, expected one sentence")
    check.cases += 1


@NOTATION.promise("pickling", "positions and rules reach another process unchanged")
def _check_pickling(check: CheckResult, game: Game, sample: Sample) -> None:
    for _, position in sample.rows(check, sample.some(20)):
        copy = pickle.loads(pickle.dumps(position))  # noqa: S301 - made one call ago
        check.expect(type(copy) is type(position) and same(copy, position), "a position changes under pickling")
    rules = pickle.loads(pickle.dumps(game.rules))  # noqa: S301 - made one call ago
    check.expect(rules.functions == game.rules.functions, "the rules change under pickling")
    if game.name in game_names():
        check.expect(
            pickle.loads(pickle.dumps(game)) is game,  # noqa: S301 - made one call ago
            f"the name {game.name!r} is registered for another game",
        )
