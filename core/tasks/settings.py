"""Settings that are described once: fields of an attrs class, and its numpydoc docstring.

The command line makes options of them, constructors validate them, and errors name what may be given.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
from attrs import define

from glem.core.errors import BadInputError, check_arguments

_METADATA = "glem.setting"
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


@define(frozen=True)
class Setting:
    """What a field says of itself beside its default; its text stands in the docstring of the class.

    Parameters
    ----------
    least, most
        Bounds of a number; an int as the least asks for whole numbers.
    words
        What it may be, if that is a closed list.
    names
        How the option is written; by default as the field.
    was
        Names that the option had before.
    metavar
        What stands for a value in the help.
    """

    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    was: tuple[str, ...] = ()
    metavar: str | None = None


def setting(
    default: Any,
    *,
    least: float | None = None,
    most: float | None = None,
    words: Iterable[str] = (),
    names: Iterable[str] = (),
    was: Iterable[str] = (),
    metavar: str | None = None,
    converter: Callable[[Any], Any] | None = None,
) -> Any:
    """Make a field of an attrs class that is a setting.

    The ``converter`` is that of the field, for instance from a text to what it describes; the other arguments are those
    of :class:`Setting`.
    """
    known = Setting(least, most, tuple(words), tuple(names), tuple(was), metavar)
    allowed: tuple[Any, ...] = known.words or tuple(bound for bound in (least, most) if bound is not None)

    def check(owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if allowed:
            check_arguments({field.name: value}, **{field.name: allowed})
        elif isinstance(default, bool) and not isinstance(value, bool):
            raise BadInputError(f"{field.name} is {value!r}, expected True or False")

    return attrs.field(default=default, converter=converter, validator=check, metadata={_METADATA: known})


def settings_of(kind: type[Any]) -> dict[str, tuple[Setting, Any]]:
    """Give the settings of an attrs class by name, with their defaults; other fields are settings without bounds."""
    return {
        field.name: (field.metadata.get(_METADATA) or Setting(), field.default)
        for field in attrs.fields(kind)
        if field.init
    }


def text_of(kind: type[Any]) -> str:
    """Say what a class is for: its docstring before the first section."""
    return _SECTION.split(inspect.cleandoc(kind.__doc__ or ""))[0].strip()


def texts_of_settings(kind: type[Any]) -> dict[str, str]:
    """Give the text of each setting: the first paragraph of what the docstring of the class, or a base, says."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__[:-1]):
        parts = _SECTION.split(inspect.cleandoc(each.__dict__.get("__doc__") or ""))
        section = dict(zip(parts[1::2], parts[2::2], strict=True)).get("Parameters", "")
        for names, text in re.findall(r"^(\S.*)\n((?:(?:[ \t].*)?(?:\n|\Z))+)", section + "\n", re.MULTILINE):
            first = inspect.cleandoc(text).split("\n\n")[0]
            words = " ".join(re.sub(r":\w+:`[~.]?([^`]+)`", r"\1", first).replace("``", "`").split())
            found.update({name.strip(): words for name in names.partition(":")[0].split(",")})
    return found


def made_of(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Make an object of its settings.

    Raises
    ------
    BadInputError
        There is no such setting, or it cannot have that value.
    """
    known = settings_of(kind)
    for name in values:
        if name not in known:
            likely = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {likely[0]}?" if likely else f"; it has: {', '.join(known) or 'none'}"
            raise BadInputError(f"{kind.__name__} has no setting {name!r}{hint}")
    return kind(**values)
