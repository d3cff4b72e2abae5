"""Options that a class describes: its fields made by :func:`~glem.core.tasks.settings.setting`, and its docstring."""

from collections.abc import Callable
from typing import Any

import click

from glem.core.cli.options.making import F, option, together
from glem.core.errors import ABOVE_0
from glem.core.tasks.settings import Setting, settings_of, texts_of_settings


def described(kind: type[Any]) -> Callable[[F], F]:
    """Add an option for each setting of a class; the command gets their values by name."""
    texts = texts_of_settings(kind)
    options = [_option(name, each, default, texts.get(name, "")) for name, (each, default) in settings_of(kind).items()]
    return together(*options) if options else lambda function: function


def _option(name: str, known: Setting, default: Any, text: str) -> Callable[[Any], Any]:
    written = f"--{name.replace('_', '-')}"
    names = known.names or ((f"{written}/--no-{written[2:]}",) if default is True else (written,))
    more: dict[str, Any] = {"help": text, "was": known.was}
    if default is not None:
        more["default"] = default
    if known.metavar is not None:
        more["metavar"] = known.metavar
    if known.words:
        more["type"] = click.Choice(known.words)
    elif isinstance(default, bool):
        more |= {"is_flag": True, "show_default": default or "/" in names[0]}
    elif known.least is not None:
        kind: Any = click.IntRange if isinstance(known.least, int) else click.FloatRange
        # The help shows whole bounds without a point.
        bounds = (bound if bound is None or bound % 1 else int(bound) for bound in (known.least, known.most))
        more["type"] = click.FloatRange(0, min_open=True) if known.least == ABOVE_0 else kind(*bounds)
    elif known.metavar == "FILE":
        more["type"] = click.Path(dir_okay=False)
    elif isinstance(default, int | float):
        more["type"] = type(default)
    return option(*names, name, **more)
