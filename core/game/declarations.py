"""What a plugin's declaration must be, said in one sentence where it is not.

The constructors of :class:`~glem.core.game.game.Game`, :class:`~glem.core.features.learning.Learning` and what they
hold call these functions: a mistake that would surface deep inside a search is told where it was made. What needs
positions to be seen is left to :mod:`glem.core.conformance`.
"""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import attrs
import numpy as np

from glem.core.errors import INTERFACE_VERSION, PluginError, likely, versions
from glem.core.tasks.counts import counted

T = TypeVar("T")

_FIELD_KINDS = "biuf"
_FIELD_BYTES = 8
_MOST_PHASES = 256

_KINDS: Mapping[str, tuple[str, Any]] = {
    "Callable": ("a function", callable),
    "Mapping": ("a mapping from names", lambda value: isinstance(value, Mapping)),
    "tuple": ("a tuple", lambda value: isinstance(value, tuple | list)),
    "str": ("a text", lambda value: isinstance(value, str)),
    **{
        name: (name, lambda value, name=name: name in {base.__name__ for base in type(value).__mro__})
        for name in ("AtomicFeatures", "BoardLayout", "Covariate", "Game", "Phases")
    },
}
"""Kinds of fields by the words with which their annotations begin: what they are called, and whether a value is one."""


def explained(kind: type[T]) -> type[T]:
    """Have the constructor of an attrs class refuse arguments that do not fit before Python does.

    The words are for the author of a plugin: they name the interface versions, and the argument that was meant.
    """
    construct: Any = kind.__init__

    @functools.wraps(construct)
    def explain(self: T, *arguments: Any, **named: Any) -> None:
        fields = {field.name: field for field in attrs.fields(kind) if field.init}  # type: ignore[arg-type]
        given = {**dict(zip(fields, arguments, strict=False)), **named}
        label = kind.__name__.lower() + (f" {given.get('name', '')!r}" if "name" in fields else "")
        refuse(label, _argument_problems(kind.__name__, fields, arguments, named))
        construct(self, *arguments, **named)

    kind.__init__ = explain  # type: ignore[method-assign,assignment]
    return kind


def _argument_problems(
    kind: str, fields: Mapping[str, Any], arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> Iterable[str]:
    if len(arguments) > len(fields):
        yield f"{counted(len(arguments), 'argument')} without names, {kind} takes {len(fields)}"
        return
    placed = list(fields)[: len(arguments)]
    if twice := [name for name in placed if name in named]:
        yield f"{kind} got {', '.join(twice)} twice"
    if unknown := [name for name in named if name not in fields]:
        stated = named.get("interface_version", INTERFACE_VERSION)
        advice = f"it was written for interface version {stated}: use a glem that has that one"
        if stated == INTERFACE_VERSION:
            advice = likely(unknown[0], fields, "the plugin may have been written for another version")
        yield f"{kind} has no {', '.join(unknown)} in {versions()}; {advice}"
    required = [name for name, field in fields.items() if field.default is attrs.NOTHING]
    if missing := [name for name in required if name not in placed and name not in named]:
        yield f"{kind} needs {', '.join(missing)}, which it was not given"


def kind_problems(declared: Any) -> list[str]:
    """Tell which fields of a declaration are not of the kind that their annotations say.

    Parameters
    ----------
    declared
        Of an attrs class whose annotations are texts, under construction.

    Returns
    -------
    list
        One sentence per problem.
    """
    fields = [field for field in attrs.fields(type(declared)) if field.init]
    return [text for field in fields for text in _misfits(field.name, getattr(declared, field.name), str(field.type))]


def _misfits(name: str, value: Any, kind: str) -> Iterable[str]:
    optional = kind.endswith(" | None")
    outer, _, inner = kind.removesuffix(" | None").partition("[")
    called, fits = _KINDS.get(outer, ("", None))
    if fits is None or (value is None and optional):
        return
    if value is None or not fits(value):
        yield f"{name} is {_shown(value)}, expected {called}{' or None' if optional else ''}"
    elif outer == "Mapping":
        for key, item in value.items():
            yield from _misfits(f"{name}[{key!r}]", item, inner.removeprefix("str, ").removesuffix("]"))


def refuse(label: str, problems: Iterable[str]) -> None:
    """Raise :class:`PluginError` with all problems of a declaration, if there are any."""
    found = "; ".join(problems)
    if found:
        raise PluginError(f"{label}: {found}")


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or numpy; truth values are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _position_problems(position: Any) -> Iterator[str]:
    if not (isinstance(position, tuple) and hasattr(position, "_fields")):
        yield f"initial_position is a {type(position).__name__}, expected a NamedTuple of numpy scalars"
        return
    if not position:
        yield "initial_position has no fields, expected at least one numpy scalar"
    for name, value in zip(getattr(position, "_fields", ()), position, strict=True):
        field = f"field {name!r} of the initial position"
        if not isinstance(value, np.generic):
            yield f"{field} is a {type(value).__name__}, expected a numpy scalar such as np.uint64(0)"
        elif value.dtype.kind not in _FIELD_KINDS or value.dtype.itemsize > _FIELD_BYTES:
            yield f"{field} is a numpy {value.dtype}, expected a whole number, a bool or a float of at most 8 bytes"


def _size_problems(game: Any) -> Iterator[str]:
    """Tell which numbers are none; without these problems :func:`_number_problems` can tell what they say together."""
    for name in ("max_moves", "move_count", "max_plies", "symmetry_count"):
        size = getattr(game, name)
        if not is_whole(size) or size < 1:
            yield f"{name} is {size!r}, expected a whole number of at least 1"
    bounds = game.score_bounds
    if not (isinstance(bounds, tuple | list) and len(bounds) == 2 and all(map(is_whole, bounds))):
        yield f"score_bounds is {bounds!r}, expected two whole numbers"
    elif bounds[0] > bounds[1]:
        yield f"score_bounds are {bounds}, expected the least first"


def _number_problems(game: Any) -> Iterator[str]:
    for name, size, most, what in (
        ("move_count", game.move_count, 1 << 15, "moves"),
        ("max_plies", game.max_plies, (1 << 15) - 1, "plies"),
        ("the greatest size of score_bounds", game.greatest_score, (1 << 15) - 1, "scores"),
    ):
        if size > most:
            yield f"{name} is {size}, expected at most {most}: {what} are kept in 16 bits"
    if game.pass_move is not None and not (is_whole(game.pass_move) and 0 <= game.pass_move < game.move_count):
        yield f"pass_move is {game.pass_move!r}, expected None or a move below move_count = {game.move_count}"
    absent = [name for name in ("transform", "transform_move") if getattr(game, name) is None]
    if game.symmetry_count > 1 and absent:
        missing = " and no ".join(absent)
        yield f"symmetry_count is {game.symmetry_count}, but there is no {missing}: they belong together"


def _layout_problems(layout: Any) -> Iterator[str]:
    if not hasattr(layout, "cell_names"):
        return
    rows, columns, names = layout
    if not (is_whole(rows) and is_whole(columns) and rows >= 1 and columns >= 1):
        yield f"layout has {rows!r} rows and {columns!r} columns, expected whole numbers of at least 1"
    elif not isinstance(names, tuple) or not all(isinstance(name, str) and name for name in names):
        yield f"layout.cell_names is {names!r}, expected a tuple of texts"
    elif names and len(names) != rows * columns:
        yield f"layout.cell_names has {len(names)} names, expected {rows * columns}, row by row from the top left"
    elif twice := [name for name, count in Counter(names).items() if count > 1]:
        yield f"layout.cell_names has {twice[0]!r} twice, expected different names"


def game_problems(game: Any) -> Iterator[str]:
    """Tell what is wrong with the fields of a game beside their kinds, without asking for any position.

    Parameters
    ----------
    game
        A :class:`~glem.core.game.game.Game` under construction.

    Yields
    ------
    str
        One sentence per problem.
    """
    if isinstance(game.name, str) and not (game.name and game.name == game.name.strip()):
        yield f"name is {game.name!r}, expected a text such as 'my_game'"
    if (game.format_move_at is None) != (game.parse_move_at is None):
        absent = "format_move_at" if game.format_move_at is None else "parse_move_at"
        yield f"there is no {absent}: format_move_at and parse_move_at belong together"
    yield from _position_problems(game.initial_position)
    yield from list(_size_problems(game)) or _number_problems(game)
    yield from _layout_problems(game.layout)


def phases_problems(phases: Any) -> list[str]:
    """Tell what is wrong with the names of :class:`~glem.core.features.learning.Phases`; as :func:`game_problems`."""
    names = phases.names
    if not isinstance(names, tuple | list) or not 1 <= len(names) <= _MOST_PHASES:
        return [f"names are {names!r}, expected a tuple of 1 to {_MOST_PHASES} texts"]
    return [f"names are {names!r}, expected no name twice"] if len(set(names)) < len(names) else []


def _shown(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
