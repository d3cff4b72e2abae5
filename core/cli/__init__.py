"""The ``glem`` command. Each command lives in a module of its own, imported only when it is called."""

import contextlib
import importlib
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import click

from glem.core.cli.display import add_verbosity, printable_output, tell
from glem.core.errors import BadInputError, GlemError, GlemWarning, __version__

_TASKS = {
    "Learn from games and positions": {
        "demo": "Discover patterns in a sample that comes with a game; needs no input.",
        "positions": "Turn game records into scored positions.",
        "discover": "Mine configurations and patterns, fit their weights, write a report.",
        "patterns": "Find patterns in scored positions.",
        "fit": "Fit an evaluation to the scores of positions.",
        "tune": "Fit an evaluation and its drawishness to the results of games.",
        "spsa": "Tune options of an external engine by grades or by matches.",
        "evaluate": "Measure evaluations on scored positions, by phase, with standard errors.",
        "compare": "Compare two evaluation files.",
        "explain": "Show what an evaluation sees in a position.",
    },
    "Search, solve, play": {
        "search": "Search a position.",
        "solve": "Exact scores of positions near the end of a game.",
        "play": "Play against an evaluation in the terminal.",
        "engine": "Play in programs that speak a text protocol.",
        "match": "Play two players against each other.",
        "tournament": "Play several players against each other.",
        "probcut": "Fit selective search to an evaluation.",
        "perft": "Count the move sequences of a game.",
    },
    "Make positions to learn from": {
        "generate": "Let players play among themselves, as material to learn from.",
        "label": "Label positions by search and solver.",
        "relabel": "Label positions by the results of all games, with obvious mistakes corrected.",
        "train": "Train an evaluation from the rules of a game, generation after generation.",
    },
    "Grade on games": {
        "grade": "Grade evaluations by how well they predict the results of games.",
        "calibrate": "Fit what an evaluation's values mean for the results of games.",
        "learn": "Try changes to an evaluation, one after the other, by grading on games.",
        "style": "Learn players' styles from their games, and tell whose moves some are.",
        "experiment": "Experiments on what grades tell: of processing power and of playing strength.",
    },
    "Add a game": {
        "games": "List the installed games.",
        "new-game": "Write a package for a game of your own.",
        "check": "Run the conformance suite on a game.",
    },
}
"""Commands by what people do with them, and what ``glem --help`` says of each."""

_COMMANDS = {name: text for commands in _TASKS.values() for name, text in commands.items()}

_RESUMING = {"demo", "discover", "fit", "generate", "label", "learn", "train"}
_RESUMING |= {"experiment", "match", "probcut", "relabel", "spsa", "style", "tournament", "tune"}
"""Commands that continue unfinished work when they are given again."""


class _Commands(click.Group):
    """Knows its commands' names and one-line helps without importing them, so that ``--help`` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"glem.core.cli.{cmd_name.replace('-', '_')}").command
        add_verbosity(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for task, commands in _TASKS.items():
            with formatter.section(task):
                formatter.write_dl([(f"{name:<10}", text) for name, text in commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """See click's, which ends with 1 where the reader of our output (head, less) has gone; 1 is an answer."""
        threads = os.environ.get("NUMBA_NUM_THREADS", "")
        if re.fullmatch(r"-[0-9]+|0+", threads):
            # numba cannot be imported then.
            raise BadInputError(
                f"NUMBA_NUM_THREADS is {threads}: numba needs 1 or more; unset it, glem does not use it"
            )
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
        continues = next((word for word in words if not word.startswith("-")), "") in _RESUMING
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
