"""What every command is made with: examples below its help, old names that still work, and groups of options.

A group is a decorator that adds its options and hands the command one object made of their values.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from glem.core.cli.display import tell

if TYPE_CHECKING:
    from glem.core.files.made import Making

F = TypeVar("F", bound=Callable[..., Any])


MOST_OPTIONS = 15
"""Options of a help page that need no second heading."""

_RARE = {
    *("--config", "--format", "--skip-bad", "--seed", "--jobs", "--workers", "--dask", "--json", "-q", "-v", "--help"),
    "--memory",
    *("--features", "--confidence", "--resamples", "--skip-moves", "--skip-end", "--tuning-select", "--even-within"),
    *("--quiescence", "--opening-format", "--sprt-model", "--alpha", "--beta", "--child-moves"),
    *("--minimum-matches", "--all-active", "--smoothing", "--count-rules", "--drawishness-phases"),
    *("--weights", "--objective", "--hold-term", "--template"),
    *("--feature-set", "--leeway", "--refits", "--td", "--fixed", "--without-event", "--without-player"),
}
"""Options that most commands have, or that make another option more exact: on a long page they stand last."""

_ASIDE = {
    *("--jobs", "--memory", "--workers", "--dask", "--threads"),
    *("--json", "--quiet", "-q", "--verbose", "--report", "--config"),
}
"""Options that change nothing in the files that a command makes."""

_CONFIG, _WORDS = "--config", f"{__name__}.words"


class Option(click.Option):
    """An option that shows its default, with its old names.

    Parameters
    ----------
    was
        Names that it had before. They work for one version, with a notice.
    """

    def __init__(self, *arguments: Any, was: Iterable[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **{"show_default": settings.get("default") != "", **settings})
        self.was = tuple(was)


class Argument(click.Argument):
    """An argument that was an option.

    Parameters
    ----------
    was
        Names of that option. They work for one version, with a notice: the value becomes the first argument.
    """

    def __init__(self, *arguments: Any, was: Iterable[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.was = tuple(was)


class Command(click.Command):
    """A command whose help ends with examples.

    Parameters
    ----------
    examples
        Command lines without ``glem``.
    """

    def __init__(self, *arguments: Any, examples: Iterable[str] = (), **settings: Any) -> None:
        self.examples = tuple(examples)
        lines = ["\b", "Examples:", *(f"  glem {example}" for example in self.examples)]
        super().__init__(*arguments, **{"epilog": "\n".join(lines), **settings})
        text = "Take arguments and options from a TOML file too; what the command line says itself comes first."
        self.params.append(Option([_CONFIG], metavar="FILE", expose_value=False, help=text))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; where they are many, those that few people look for under a heading of their own."""
        shown = [one for one in self.get_params(ctx) if isinstance(one, click.Option) and not one.hidden]
        rare = [one for one in shown if len(shown) > MOST_OPTIONS and not _RARE.isdisjoint(one.opts)]
        for title, options in (("Options", [one for one in shown if one not in rare]), ("More", rare)):
            rows = [row for one in options if (row := one.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command line, old names as what they are called now."""
        words, notices = self._renamed(self._configured(ctx, args))
        ctx.meta[_WORDS] = tuple(words)
        rest = super().parse_args(ctx, words)
        if not ctx.resilient_parsing:
            for notice in notices:
                tell(f"glem: notice: {notice}")
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; files that it writes say that it made them."""
        from glem.core.files.made import making

        with making(self._making(ctx)):
            return super().invoke(ctx)

    def _making(self, ctx: click.Context) -> Making:
        from glem.core.files.made import Making

        values, _, order = self.make_parser(ctx).parse_args(list(ctx.meta[_WORDS]))
        names = [str(context.info_name) for context in _contexts(ctx)]
        trusted = ctx.find_root().params.get("trust", ())
        before = [word for game in trusted for word in ("--trust", game)]
        arguments: list[str] = []
        options: list[tuple[str, list[str]]] = []
        for parameter in dict.fromkeys(order):
            value = values.get(str(parameter.name))
            if isinstance(parameter, click.Argument):
                arguments += _texts(value)
            elif isinstance(parameter, click.Option) and _ASIDE.isdisjoint(parameter.opts):
                name = parameter.opts[-1]
                if parameter.is_flag:
                    options.append((name if value else parameter.secondary_opts[-1], []))
                else:
                    repeated = list(value or ()) if parameter.multiple else [value]
                    options += [(name, _texts(each)) for each in repeated]
        return Making([*before, *shlex.split(" ".join(names))], arguments, options)

    def _configured(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put what a settings file says before the words of the command line, but for what these say themselves."""
        for place, word in enumerate(args):
            name, equals, path = word.partition("=")
            if word == "--":
                break
            if name == _CONFIG:
                if not equals and place + 1 == len(args):
                    break
                rest = [*args[:place], *args[place + (1 if equals else 2) :]]
                return [*self._words_of(ctx, path if equals else args[place + 1], rest), *rest]
        return args

    def _words_of(self, ctx: click.Context, path: str, given: list[str]) -> Iterator[str]:
        from glem.core.cli.options.settings_files import settings_of_file

        values, _, order = self.make_parser(ctx).parse_args(self._renamed(given)[0])
        own = [each for each in order if not isinstance(each, click.Argument) or _texts(values.get(str(each.name)))]
        return settings_of_file(path, " ".join(str(each.info_name) for each in _contexts(ctx)), self.params, own)

    def _renamed(self, args: Iterable[str]) -> tuple[list[str], list[str]]:
        """Translate old names; return the words and the notices."""
        old = {name: parameter for parameter in self.params for name in getattr(parameter, "was", ())}
        first: list[str] = []
        words: list[str] = []
        notices = []
        rest = iter(args)
        for word in rest:
            name, equals, value = word.partition("=")
            parameter = old.get(name)
            if word == "--":
                words += [word, *rest]
            elif parameter is None:
                words.append(word)
            elif isinstance(parameter, click.Argument):
                first.append(value if equals else next(rest, ""))
                notices.append(f"{name} is no option any more: write {first[-1]} as the first argument")
            else:
                words.append(f"{parameter.opts[-1]}{equals}{value}")
                notices.append(f"{name} is called {parameter.opts[-1]} now")
        return [*first, *words], notices


def _contexts(ctx: click.Context | None) -> list[click.Context]:
    """List the contexts beneath that of ``glem`` itself, outermost first."""
    return [] if ctx is None or ctx.parent is None else [*_contexts(ctx.parent), ctx]


def _texts(value: Any) -> list[str]:
    """List the words that a parameter took; what click has for none of them is no word."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else _texts((value,))


argument = functools.partial(click.argument, cls=Argument)
option = functools.partial(click.option, cls=Option)

Names = str | tuple[str, ...]
"""The option as it is written; in a tuple also its short form, or the command's name for its value."""


def _named(names: Names, text: str, settings: dict[str, Any]) -> Callable[[F], F]:
    return option(*((names,) if isinstance(names, str) else names), help=text, **settings)


def flag(names: Names, text: str, **settings: Any) -> Callable[[F], F]:
    """Add an option without a value; the text is its help."""
    return _named(names, text, {"is_flag": True, **settings})


def count(
    names: Names, default: int | None, text: str, *, least: int = 1, most: int | None = None, **settings: Any
) -> Callable[[F], F]:
    """Add an option that takes a whole number from ``least`` to ``most``."""
    return _named(names, text, {"type": click.IntRange(least, most), "default": default, **settings})


def amount(
    names: Names, default: float | None, text: str, *, least: float = 0, most: float | None = None, **settings: Any
) -> Callable[[F], F]:
    """Add an option that takes a number from ``least`` to ``most``."""
    return _named(names, text, {"type": click.FloatRange(least, most), "default": default, **settings})


def choice(names: Names, words: Iterable[str], text: str, **settings: Any) -> Callable[[F], F]:
    """Add an option that takes one of some words, by default the first."""
    known = list(words)
    return _named(names, text, {"type": click.Choice(known), "default": known[0], **settings})


def file(names: Names, text: str, *, path_type: type | None = None, **settings: Any) -> Callable[[F], F]:
    """Add an option that takes the path of a file, which may not be there yet."""
    return _named(names, text, {"type": click.Path(dir_okay=False, path_type=path_type), **settings})


def given_parameters() -> list[click.Parameter]:
    """Parameters of the command that runs which its command line names."""
    context = click.get_current_context()
    return [
        parameter
        for parameter in context.command.params
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Make one decorator of several; their options stand in the help in this order."""
    return lambda function: functools.reduce(lambda made, add: add(made), reversed(options), function)


def group(
    name: str, make: Callable[..., Any], *options: Callable[[Any], Any], needs: Iterable[str] = ()
) -> Callable[[F], F]:
    """Make a decorator that adds options to a command and hands it one object in their place.

    Parameters
    ----------
    name
        Argument of the command.
    make
        Makes the object of the options' values, by their names.
    options
        Decorators that :func:`option` and :func:`argument` give.
    needs
        Names of other arguments of the command that ``make`` takes too: those of options outside the group, or the
        objects of groups that stand above it.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def with_object(**values: Any) -> Any:
            own = {parameter: values.pop(parameter) for parameter in names}
            return function(**{name: make(**own, **{need: values[need] for need in needs})}, **values)

        there: list[click.Parameter] = with_object.__dict__.setdefault("__click_params__", [])
        before = len(there)
        together(*options)(with_object)
        names = [str(parameter.name) for parameter in there[before:]]
        return with_object  # type: ignore[return-value] # a decorator of click sees only what it calls

    return decorate
