"""What a plugin's declaration must be, said in one sentence where it is not.

The constructors of :class:`~glem.core.game.game.Game`, :class:`~glem.core.features.learning.Learning` and what they
hold call these functions: a mistake that would surface deep inside a search is told where it was made. What needs
positions to be seen is left to :mod:`glem.core.conformance`.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from glem.core.errors import PluginError, __version__

__all__ = [
    "INTERFACE_VERSION",
    "explain_arguments",
    "game_problems",
    "learning_problems",
    "phases_problems",
    "refuse",
    "versions",
]

INTERFACE_VERSION = 1
"""Version of the game interface; a plugin states the one that it was written for."""

_REQUIRED = (
    "legal_moves",
    "play",
    "is_over",
    "final_score",
    "hash_key",
    "format_position",
    "parse_position",
    "format_move",
    "parse_move",
)
_OPTIONAL = ("format_move_at", "parse_move_at", "count_moves", "transform", "transform_move", "make_solver")
_MAPPINGS = ("record_formats", "position_formats", "search_functions", "protocols", "external_players", "facts")
_FIELD_KINDS = "biuf"
_FIELD_BYTES = 8
_MOST_PHASES = 256


def versions() -> str:
    """Name this glem and the interface version that it has, for errors."""
    # Imported late: the package imports this module.
    return f"glem {__version__} with interface version {INTERFACE_VERSION}"


def explain_arguments(kind: type[Any], label: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise where the arguments of a declaration do not fit its class, in words that name the interface versions.

    Parameters
    ----------
    kind
        An attrs class.
    label
        What is declared, for the error.
    arguments, named
        As the caller gave them.

    Raises
    ------
    PluginError
        Arguments are missing, unknown, given twice or too many.
    """
    fields = [field for field in attrs.fields(kind) if field.init]
    names = [field.name for field in fields]
    if len(arguments) > len(names):
        raise PluginError(f"{label}: {len(arguments)} arguments without names, {kind.__name__} takes {len(names)}")
    given = set(names[: len(arguments)])
    twice = sorted(given & set(named))
    if twice:
        raise PluginError(f"{label}: {kind.__name__} got {', '.join(twice)} twice")
    unknown = [name for name in named if name not in names]
    if unknown:
        stated = named.get("interface_version", INTERFACE_VERSION)
        likely = difflib.get_close_matches(unknown[0], names, 1)
        if stated != INTERFACE_VERSION:
            advice = f"it was written for interface version {stated}: use a glem that has that one"
        elif likely:
            advice = f"did you mean {likely[0]!r}?"
        else:
            advice = "the plugin may have been written for another version"
        raise PluginError(f"{label}: {kind.__name__} has no {', '.join(unknown)} in {versions()}; {advice}")
    missing = [
        field.name
        for field in fields
        if field.default is attrs.NOTHING and field.name not in given and field.name not in named
    ]
    if missing:
        raise PluginError(f"{label}: {kind.__name__} needs {', '.join(missing)}, which it was not given")


def refuse(label: str, problems: Iterable[str]) -> None:
    """Raise :class:`PluginError` with all problems of a declaration, if there are any."""
    found = "; ".join(problems)
    if found:
        raise PluginError(f"{label}: {found}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _position_problems(position: Any) -> list[str]:
    if not (isinstance(position, tuple) and hasattr(position, "_fields")):
        return [f"initial_position is a {type(position).__name__}, expected a NamedTuple of numpy scalars"]
    if not position:
        return ["initial_position has no fields, expected at least one numpy scalar"]
    problems = []
    for name, value in zip(getattr(position, "_fields", ()), position, strict=True):
        if not isinstance(value, np.generic):
            problems.append(
                f"field {name!r} of the initial position is a {type(value).__name__}, expected a numpy scalar such as "
                "np.uint64(0)"
            )
        elif value.dtype.kind not in _FIELD_KINDS or value.dtype.itemsize > _FIELD_BYTES:
            problems.append(
                f"field {name!r} of the initial position is a numpy {value.dtype}, expected a whole number, a bool or "
                "a float of at most 8 bytes"
            )
    return problems


def _number_problems(game: Any) -> list[str]:
    problems = [
        f"{name} is {getattr(game, name)!r}, expected a whole number of at least 1"
        for name in ("max_moves", "move_count", "max_plies", "symmetry_count")
        if not _is_whole(getattr(game, name)) or getattr(game, name) < 1
    ]
    bounds = game.score_bounds
    if not (isinstance(bounds, tuple | list) and len(bounds) == 2 and all(map(_is_whole, bounds))):
        problems.append(f"score_bounds is {bounds!r}, expected two whole numbers")
    elif bounds[0] > bounds[1]:
        problems.append(f"score_bounds are {bounds}, expected the least first")
    if problems:
        return problems
    problems += [
        f"{name} is {size}, expected at most {most}: {what} are kept in 16 bits"
        for name, size, most, what in (
            ("move_count", game.move_count, 1 << 15, "moves"),
            ("max_plies", game.max_plies, (1 << 15) - 1, "plies"),
            ("the greatest size of score_bounds", max(map(abs, bounds)), (1 << 15) - 1, "scores"),
        )
        if size > most
    ]
    if game.pass_move is not None and not (_is_whole(game.pass_move) and 0 <= game.pass_move < game.move_count):
        problems.append(
            f"pass_move is {game.pass_move!r}, expected None or a move below move_count = {game.move_count}"
        )
    absent = [name for name in ("transform", "transform_move") if getattr(game, name) is None]
    if game.symmetry_count > 1 and absent:
        problems.append(
            f"symmetry_count is {game.symmetry_count}, but there is no {' and no '.join(absent)}: they belong together"
        )
    return problems


def _layout_problems(layout: Any) -> list[str]:
    if layout is None:
        return []
    if not (isinstance(layout, tuple) and hasattr(layout, "cell_names")):
        return [f"layout is {_shown(layout)}, expected BoardLayout(rows, columns) or None"]
    rows, columns, names = layout
    if not (_is_whole(rows) and _is_whole(columns) and rows >= 1 and columns >= 1):
        return [f"layout has {rows!r} rows and {columns!r} columns, expected whole numbers of at least 1"]
    if not isinstance(names, tuple) or not all(isinstance(name, str) and name for name in names):
        return [f"layout.cell_names is {names!r}, expected a tuple of texts"]
    if names and len(names) != rows * columns:
        return [f"layout.cell_names has {len(names)} names, expected {rows * columns}, row by row from the top left"]
    twice = [name for name, count in Counter(names).items() if count > 1]
    return [f"layout.cell_names has {twice[0]!r} twice, expected different names"] if twice else []


def game_problems(game: Any) -> list[str]:
    """Tell what is wrong with the fields of a game, without asking for any position.

    Parameters
    ----------
    game
        A :class:`~glem.core.game.game.Game` under construction.

    Returns
    -------
    list
        One sentence per problem.
    """
    problems = []
    if not (isinstance(game.name, str) and game.name and game.name == game.name.strip()):
        problems.append(f"name is {game.name!r}, expected a text such as 'my_game'")
    for name in (*_REQUIRED, *_OPTIONAL):
        function = getattr(game, name)
        if not callable(function) and not (function is None and name in _OPTIONAL):
            problems.append(f"{name} is {_shown(function)}, expected a function")
    for name in _MAPPINGS:
        mapping = getattr(game, name)
        if not isinstance(mapping, Mapping):
            problems.append(f"{name} is {_shown(mapping)}, expected a mapping from names")
    if isinstance(game.search_functions, Mapping):
        problems.extend(
            f"search_functions[{name!r}] is {_shown(function)}, expected a function"
            for name, function in game.search_functions.items()
            if not callable(function)
        )
    if (game.format_move_at is None) != (game.parse_move_at is None):
        absent = "format_move_at" if game.format_move_at is None else "parse_move_at"
        problems.append(f"there is no {absent}: format_move_at and parse_move_at belong together")
    positions = _position_problems(game.initial_position)
    return [*problems, *positions, *_number_problems(game), *_layout_problems(game.layout)]


def phases_problems(phases: Any, game_class: type[Any]) -> list[str]:
    """Tell what is wrong with the fields of :class:`~glem.core.features.learning.Phases`; as :func:`game_problems`."""
    problems = []
    if not isinstance(phases.game, game_class):
        problems.append(f"game is {_shown(phases.game)}, expected a Game")
    names = phases.names
    if not isinstance(names, tuple | list) or not 1 <= len(names) <= _MOST_PHASES:
        problems.append(f"names are {names!r}, expected a tuple of 1 to {_MOST_PHASES} texts")
    elif len(set(names)) < len(names):
        problems.append(f"names are {names!r}, expected no name twice")
    if not callable(phases.phase_of):
        problems.append(f"phase_of is {_shown(phases.phase_of)}, expected a function")
    if not isinstance(phases.description, str):
        problems.append(f"description is {_shown(phases.description)}, expected a text")
    return problems


def learning_problems(learning: Any, kinds: Mapping[str, type[Any]]) -> list[str]:
    """Tell what is wrong with the fields of a :class:`~glem.core.features.learning.Learning`; as :func:`game_problems`.

    Parameters
    ----------
    learning
        Under construction.
    kinds
        Class that each of some fields must have.
    """
    problems = [
        f"{name} is {_shown(getattr(learning, name))}, expected {kind.__name__}"
        for name, kind in kinds.items()
        if not isinstance(getattr(learning, name), kind)
    ]
    if not isinstance(learning.pattern_sets, Mapping):
        problems.append(f"pattern_sets is {_shown(learning.pattern_sets)}, expected a mapping from names")
    else:
        problems.extend(
            f"pattern_sets[{name!r}] is {_shown(patterns)}, expected a mapping from pattern name to feature names"
            for name, patterns in learning.pattern_sets.items()
            if not isinstance(patterns, Mapping)
        )
    problems.extend(
        f"{name} is the text {getattr(learning, name)!r}, expected a tuple of feature names"
        for name in ("linear", "drawishness")
        if isinstance(getattr(learning, name), str)
    )
    for name in ("groupings", "evaluations"):
        functions = getattr(learning, name)
        if not isinstance(functions, Mapping) or not all(callable(function) for function in functions.values()):
            problems.append(f"{name} is {functions!r}, expected a mapping from names to functions")
    for name in ("make_evaluator", "default_evaluation", "default_probcut", "sample"):
        value = getattr(learning, name)
        if value is not None and not callable(value):
            problems.append(f"{name} is {_shown(value)}, expected a function")
    return problems


def _shown(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
