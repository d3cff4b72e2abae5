"""The ``glem`` command. Each command lives in a module of its own, imported only when it is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from glem.core.cli.display import add_verbosity, name_document, printable_output, tell
from glem.core.errors import BadInputError, GlemError, GlemWarning, __version__
from glem.core.machine.memory import give_back_arrays

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_TASKS = {
    "Learn from games and positions": {
        "positions": "Turn game records into scored positions.",
        "discover": "Mine configurations and patterns, fit their weights, write a report; --demo needs no input.",
        "fit": "Fit an evaluation to the scores of positions, or to the results of games.",
        "tune-options": "Tune options of an external engine by grades or by matches.",
        "evaluate": "Measure evaluations on scored positions, by phase, with standard errors.",
        "show": "Show what is in a file, how two evaluations differ, what one sees in a position.",
    },
    "Search, solve, play": {
        "search": "Search a position; count move sequences; fit selective search.",
        "solve": "Exact scores of positions near the end of a game.",
        "play": "Play against an evaluation in the terminal.",
        "engine": "Play in programs that speak a text protocol.",
        "match": "Play two players or more against each other.",
    },
    "Make positions to learn from": {
        "generate": "Let players play among themselves, as material to learn from.",
        "label": "Label positions: by search and solver, or by the results of all games.",
        "train": "Train an evaluation from the rules of a game, generation after generation.",
    },
    "Grade on games": {
        "grade": "Grade evaluations by how well they predict the results of games; calibrate them.",
        "improve": "Try changes to an evaluation, one after the other, by grading on games.",
        "style": "Learn players' styles from their games, compare them, say who played.",
        "experiment": "Repeat the experiment with players' styles.",
    },
    "Add a game": {
        "games": "List the installed games; begin one of your own.",
        "check": "Run the conformance suite on a game.",
    },
}
"""Commands by what people do with them, and what ``glem --help`` says of each."""

_SEE_ALSO = {
    "fit likelihood": "fits an evaluation and its drawishness to the results of games",
    "discover patterns": "finds patterns alone, for `glem fit`",
    "games new": "writes a package for a game of your own",
    "grade calibrate": "fits what the values of an evaluation mean for results, for `glem engine --calibration`",
    "label by-results": "labels by the results of all games together, with obvious mistakes corrected",
    "search probcut": "fits selective search to an evaluation",
    "search perft": "counts the move sequences of a game",
}
"""Commands of two words, rarer uses of their first word with options of their own, and what its help says of them."""

_COMMANDS = [name for commands in _TASKS.values() for name in commands] + list(_SEE_ALSO)

RENAMED_COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("calibrate",): ("grade", "calibrate"),
    ("compare",): ("show",),
    ("demo",): ("discover", "--demo"),
    ("explain",): ("show",),
    ("new-game",): ("games", "new"),
    ("patterns",): ("discover", "patterns"),
    ("perft",): ("search", "perft"),
    ("relabel",): ("label", "by-results"),
    ("learn",): ("improve",),
    ("probcut",): ("search", "probcut"),
    ("spsa",): ("tune-options",),
    ("style", "experiment"): ("experiment", "styles"),
    ("tournament",): ("match",),
    ("tune",): ("fit", "likelihood"),
}
"""First words of command lines that were, and those that do the same now; the old work for one version."""

_SCRIPTS = {"power", "players", "strength", "discriminants"}
"""Experiments that are scripts of docs/experiments now; the error that says so goes in the next version."""

_ALSO = "See also: "

_RESUMING = {"discover", "fit", "generate", "label", "improve", "search probcut", "train"}
_RESUMING |= {"experiment", "match", "style", "tune-options"}
"""Commands that continue unfinished work when they are given again."""


def _renamed(words: Sequence[str]) -> tuple[str, list[str]]:
    """Give the old name that a command line begins with, else no text, and the command line as it is written now."""
    for length in (2, 1):
        if new := RENAMED_COMMANDS.get(tuple(words[:length])):
            return " ".join(words[:length]), [*new, *words[length:]]
    return "", list(words)


class _Commands(click.Group):
    """Knows its commands' names and one-line helps without importing them, so that ``--help`` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = re.sub("[- ]", "_", cmd_name)
        command: click.Command = importlib.import_module(f"glem.core.cli.{module}").command
        add_verbosity(command)
        also = [f"`glem {name}` {text}" for name, text in _SEE_ALSO.items() if name.startswith(f"{cmd_name} ")]
        if also and _ALSO not in (command.epilog or ""):
            command.epilog = f"{command.epilog or ''}\n\n{_ALSO}{'; '.join(also)}."
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See click's; old names are notices, and still what JSON calls itself by."""
        was, words = _renamed(args)
        if was and not ctx.resilient_parsing:
            name_document(was)
            if not {"-q", "--quiet"} & set(args):
                now = " ".join(RENAMED_COMMANDS[tuple(was.split())])
                tell(f"glem: notice: `glem {was}` is called `glem {now}` now")
        if words[:1] == ["experiment"] and not _SCRIPTS.isdisjoint(words[1:2]):
            raise BadInputError(
                f"`glem experiment {words[1]}` is a script of glem's sources now: python docs/experiments/{words[1]}.py"
            )
        two = " ".join(words[:2])
        if two in _SEE_ALSO:
            return two, self.get_command(ctx, two), words[2:]
        return super().resolve_command(ctx, words)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """See click's; a command of two words is no one word."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in item.value]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for task, commands in _TASKS.items():
            with formatter.section(task):
                formatter.write_dl([(f"{name:<12}", text) for name, text in commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """See click's, which ends with 1 where the reader of our output (head, less) has gone; 1 is an answer."""
        threads = os.environ.get("NUMBA_NUM_THREADS", "")
        if re.fullmatch(r"-[0-9]+|0+", threads):
            # numba cannot be imported then.
            raise BadInputError(
                f"NUMBA_NUM_THREADS is {threads}: numba needs 1 or more; unset it, glem does not use it"
            )
        give_back_arrays()
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--trust", multiple=True, metavar="GAME", help="Let files be of this game, a member of a family.")
def command_group(trust: tuple[str, ...]) -> None:
    """Learn evaluation functions for board games from positions and game records."""
    if trust:
        from glem.core.game.game import load_game

        for name in trust:
            load_game(name)


add_verbosity(command_group)


@printable_output()
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a :class:`~glem.core.errors.GlemError` becomes one line and exit status 2."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with _short_warnings():
            status = command_group.main(args=words, standalone_mode=False)
    except (KeyboardInterrupt, click.exceptions.Abort) as error:
        # click takes the end of any file for Ctrl-D at a prompt; glem has no prompts that leave it to click.
        if isinstance(error.__cause__, EOFError):
            raise error.__cause__ from None
        _, named = _renamed([word for word in words if not word.startswith("-")])
        continues = not _RESUMING.isdisjoint((*named[:1], " ".join(named[:2])))
        _stop("interrupted; the same command continues where it can" if continues else "interrupted", 130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except GlemError as error:
        _stop(" ".join(str(error).split()), 2)
    except MemoryError as error:
        _stop(f"not enough memory: {error}".removesuffix(": "), 2)
    except OSError as error:
        _stop(f"{error.filename or 'input/output'}: {error.strerror or error}", 2)
    except Exception as error:
        # Where features of a file were loaded, this has done it.
        own = sys.modules.get("glem.core.features.own")
        told = "" if own is None else own.failure_in_features(error)
        if not told:
            raise
        _stop(told, 2)
    sys.exit(status if isinstance(status, int) else 0)


@contextlib.contextmanager
def _short_warnings() -> Iterator[None]:
    """Show glem's own warnings as one line without a place in its source."""
    with warnings.catch_warnings():
        show_others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **named: Any) -> None:
            if issubclass(category, GlemWarning):
                tell(f"glem: warning: {message}")
            else:
                show_others(message, category, *place, **named)

        warnings.showwarning = show
        yield


def _stop(text: str, status: int) -> NoReturn:
    click.echo(f"glem: {text}", err=True)
    sys.exit(status)
