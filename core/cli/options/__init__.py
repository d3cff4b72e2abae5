"""Options that commands share. One option has one meaning; one meaning has one name.

The game is always the first argument. Where files tell it, you may leave it out.

=====================  ===============================================  ==================================
Name                   Meaning                                          Was
=====================  ===============================================  ==================================
``GAME``               the game, the first argument                     ``--game``
``-o, --output``       what the command writes
``--format``           format of the files that are read
``--write-format``     format of the files that are written             ``--format`` of ``generate``
``--held-out SHARE``   share of the games that is held out              ``--validation``, ``--split``
``--per-game N``       random positions of each game, at most           ``--sample`` of ``positions``
``--sample N``         positions that ``discover`` mines
``--of-player NAME``   games of this player                             ``--player`` of ``positions``
``--player PLAYER``    who plays: the text of a player
``--by PLAYER``        who labels: the text of a player
``--quick PLAYER``     who searches all positions first                 ``--by`` of ``relabel``
``--features FILE``    a file of features of your own
``--group-by NAME``    print grades by this                             ``--by`` of ``grade``
``--keep N``           configurations that ``discover`` keeps
``--memory SIZE``      what a command may hold in memory
``--scores FOLDER``    where scores of external engines are kept        ``--keep`` of ``grade``
``--covariate NAME``   what calibrations depend on, such as material    ``--measure`` of ``calibrate``
``--measure NAME``     a number that ``evaluate`` gives
``--even-within``      a position is near-even up to this value         ``--window``
``--suspect-above``    a label is suspicious above this                 ``--threshold`` of ``relabel``
``--threshold``        standard deviations of ProbCut's check searches
``--all-moves``        score every move                                 ``--moves`` of ``solve``
``--baseline NAME``    fit the features of a baseline of the game
``--start``            evaluation that ``learn`` begins with            ``--baseline`` of ``learn``
``--quiet-positions``  leave positions with tactical moves out          ``--quiet``
=====================  ===============================================  ==================================

Metavars: EVALUATION is an evaluation file or ``default``, PLAYER the text of a player, FILE and FOLDER are paths,
NAME is one of a list, SHARE is from 0 to 1, RULE selects positions. A FILE that is read may be a pipe where it is
an argument, and ``-`` is standard input.

Old names work for one version, with a notice on standard error: ``was=("--old",)`` of :func:`option` is all it takes.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import define

from glem.core.cli.display import ask_for_json
from glem.core.cli.options.making import (
    Command,
    F,
    amount,
    argument,
    choice,
    count,
    file,
    flag,
    given_parameters,
    group,
    option,
    together,
)
from glem.core.cli.options.piped import InputPath
from glem.core.errors import BadInputError
from glem.core.game.whole_numbers import whole_number
from glem.core.tasks.threads import THREADS

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.tasks import Workers

# Commands find here what all options are made with.
__all__ = [
    "Command", "amount", "argument", "choice", "count", "file", "flag", "given_parameters", "group", "option",
    "together",
]  # fmt: skip

_LOCAL = "local"
_IN_FLIGHT_PER_THREAD = 2
_CONNECT_SECONDS = 10
_LEAST_MEMORY = 500_000_000

as_json = flag("--json", "Print JSON.", expose_value=False, callback=ask_for_json)
"""The command asks :func:`~glem.core.cli.display.prints_json`."""


def _use_features(context: click.Context, _: click.Parameter, files: tuple[str, ...]) -> None:
    if files:
        from glem.core.features.own import load_features, use

        before = use(load_features(file) for file in files)
        context.call_on_close(lambda: use(before))


own_features = file(
    "--features",
    "Add the features that this file marks (@glem.feature); may be repeated.",
    multiple=True,
    metavar="FILE.py",
    expose_value=False,
    is_eager=True,
    callback=_use_features,
)


def command(
    name: str, *examples: str, features: bool = True, json: bool = True, **settings: Any
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function.

    Parameters
    ----------
    examples
        Command lines without ``glem``.
    features, json
        Whether it has ``--features`` and ``--json``, which stand behind its own options.
    """

    def make(function: Callable[..., Any]) -> Command:
        last = [each for each, is_there in ((own_features, features), (as_json, json)) if is_there]
        own = function.__dict__.pop("__click_params__", [])
        together(*last)(function)
        function.__dict__.setdefault("__click_params__", []).extend(own)
        making: Any = click.command(name, **{"cls": Command, "examples": examples, **settings})
        made: Command = making(function)
        return made

    return make


jobs = count("--jobs", THREADS, "Threads; the result does not depend on their number.", show_default="processors")

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt]?)(i?)b?", re.IGNORECASE)


def _promise(context: click.Context, _: click.Parameter, text: str | None) -> None:
    if text is None:
        return
    from glem.core.machine.memory import promise_memory

    match, size = _SIZE.fullmatch(text.strip()), 0.0
    if match is not None:
        size = float(match[1]) * (1024 if match[3] else 1000) ** " kmgt".index(match[2].lower() or " ")
    if size < _LEAST_MEMORY:
        raise BadInputError(f"--memory {text}: expected a size of 500MB or more, such as 4GB or 900MB")
    promise_memory(int(size))
    context.call_on_close(lambda: promise_memory(None))


memory = option(
    "--memory",
    metavar="SIZE",
    help="Hold about so much in memory at most, such as 4GB: large columns and terms then lie in files, in TMPDIR or "
    "beside the output.  [default: what the machine or container allows]",
    expose_value=False,
    callback=_promise,
)
seed = count("--seed", 0, "Seed of all that is random.", least=0, most=(1 << 32) - 1)


def output(text: str, *, required: bool = True, is_folder: bool = False) -> Callable[[F], F]:
    """Add ``-o``: the file or folder to write, of which the text tells."""
    kind = click.Path(file_okay=not is_folder, dir_okay=is_folder)
    return option("-o", "--output", required=required, type=kind, help=text)


evaluation_output = output("Evaluation file to write (.npz).")


def held_out(
    default: float | None, purpose: str, *, least: float = 0, most: float = 0.9, was: Iterable[str] = ()
) -> Callable[[F], F]:
    """Add ``--held-out``: the share of the games that something else is done with than with the others."""
    text = f"Hold out this share of the games{purpose}."
    return amount("--held-out", default, text, least=least, most=most, metavar="SHARE", was=was)


INPUT = InputPath()
"""What an argument is that names a file to read."""

file_format = option("--format", "file_format", metavar="NAME", help="Format of the files, if names do not tell.")
skip_bad = flag("--skip-bad", "Leave bad records out instead of stopping.")
merge = flag("--merge", "Merge equal positions, mirror images too; labels are averaged.")


class Range(click.ParamType):  # type: ignore[type-arg] # generic from click 8.4 on alone
    """First and last whole number of a range like 20-50; of a number alone both are that number."""

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read the text."""
        first, dash, last = value.partition("-")
        least, greatest = whole_number(first.strip()), whole_number((last if dash else first).strip())
        if least is None or greatest is None:
            raise BadInputError(
                f"{param.opts[0] if param else self.name} must be a number or a range like 20-50, got {value!r}"
            )
        return least, greatest


class Ranges(click.ParamType):  # type: ignore[type-arg] # as above
    """Ranges like 3-8,10."""

    name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[tuple[int, int]]:
        """Read the text."""
        return [Range().convert(part, param, ctx) for part in value.split(",")]


plies = option(
    "--plies", type=Range(), metavar="FIRST-LAST", help="Only these plies of game records; 0 is the starting position."
)
of_player = option(
    "--of-player",
    "players",
    multiple=True,
    metavar="NAME",
    help="Only games of this player; may be repeated. A whole or family name or a pattern ('*kasparov*'), in any case.",
    was=("--player",),
)
per_game = count(
    "--per-game", None, "At most N random positions of each game.", most=1_000_000, metavar="N", was=("--sample",)
)


def split_game(words: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Take the name of a game from the front of arguments, if it stands there; the rest names files or players."""
    from glem.core.game.families import family_names, family_of
    from glem.core.game.game import game_names

    if words and (words[0] in game_names() or family_of(words[0]) in family_names()):
        return words[0], tuple(words[1:])
    return None, tuple(words)


@define(frozen=True)
class GameFiles:
    """Files and how they are read; a game or format that was not named is None."""

    game_name: str | None
    paths: tuple[str, ...]
    format: str | None = None
    skip_bad: bool = False

    def game(self) -> Game:
        """Find the game: the named one, else that of the files.

        Raises
        ------
        BadInputError
            Nothing tells the game, or a file cannot be read.
        """
        from glem.core.cli.game_choice import choose_game

        return choose_game(self.game_name, files=self.paths, format=self.format)


def refuse_equal_files(paths: Sequence[str]) -> None:
    """Raise BadInputError where a file is named twice: what it holds would count twice."""
    known: set[str] = set()
    for path in paths:
        if os.path.realpath(path) in known:
            raise BadInputError(f"{path} is named twice")
        known.add(os.path.realpath(path))


def files(
    metavar: str = "FILES...", *settings: Callable[[Any], Any], is_required: bool = True, was_option: bool = False
) -> Callable[[F], F]:
    """Add the arguments ``[GAME] FILES...``; the command gets :class:`GameFiles` as ``files``.

    Parameters
    ----------
    metavar
        What the files are.
    settings
        Of :data:`file_format` and :data:`skip_bad` those that the command has.
    is_required
        There must be a file.
    was_option
        The game was named by ``--game`` before.
    """
    old = ("--game",) if was_option else ()
    words = argument("words", nargs=-1, required=is_required, metavar=f"[GAME] {metavar}", was=old)

    def make(words: tuple[str, ...], file_format: str | None = None, skip_bad: bool = False) -> GameFiles:
        game_name, paths = split_game(words)
        if is_required and not paths:
            raise click.UsageError(f"Missing argument '{metavar}'.", click.get_current_context())
        refuse_equal_files(paths)
        # Not the argument's own type: a folder may have the name of a game.
        paths = tuple(INPUT.convert(path, None, click.get_current_context()) for path in paths)
        return GameFiles(game_name, paths, file_format, skip_bad)

    return group("files", make, words, *settings)


def _rule(*, select: str, skip_moves: int, skip_end: float, seed: int) -> SelectionRule:
    from glem.core.positions.selection.selection import SelectionRule

    return SelectionRule.parse(select, skip_moves=skip_moves, skip_end=skip_end, seed=seed)


selection = group(
    "rule",
    _rule,
    option(
        "--select",
        default="random",
        metavar="RULE",
        help="Positions of each game: random (one), last (one), all, or every:N.",
    ),
    count("--skip-moves", 10, "Leave out the first moves of each side.", least=0),
    amount("--skip-end", 0.1, "Leave out this share of each game, at its end.", most=0.99),
    needs=("seed",),
)
"""Options that say which positions are graded; the command, which has ``--seed`` too, gets them as ``rule``."""


def quiet_positions(*, default: bool) -> Callable[[F], F]:
    """Add ``--quiet-positions``; the command gets ``quiet``."""
    text = "Leave out positions with tactical moves, which a search never evaluates."
    return flag(("--quiet-positions/--any-position", "quiet"), text, default=default, was=("--quiet",))


LIMITS = {
    "depth": count("--depth", None, "Search this many plies deep at most."),
    "nodes": count("--nodes", None, "Visit this many positions at most."),
    "seconds": option("--seconds", type=click.FloatRange(0, min_open=True), help="Search this many seconds at most."),
}


quiescence = option(
    "--quiescence", default="", metavar="NAME", help="One of the game's quiescences, in place of its own."
)
table_mb = count(("--table", "table_mb"), 64, "Table, in MB.")


def opened_workers(workers: int, dask: str | None) -> Workers:
    """Connect to what the options name, until the command ends.

    Parameters
    ----------
    workers
        Local processes; also those of a local dask cluster.
    dask
        Address of a scheduler, ``local``, or None for plain processes.

    Raises
    ------
    BadInputError
        dask.distributed is not installed, or nothing answers at the address.
    """
    from glem.core.tasks.tasks import SAFE_PATH, Member, Workers, importing_nothing_from_here

    if dask is None:
        return Workers(workers)
    try:
        import distributed
        from dask import config as configuration
    except ImportError:
        raise BadInputError("--dask needs dask.distributed: pip install 'pyglem[distributed]'") from None
    dask_distributed: Any = distributed  # it has no types
    # Positions are sent on purpose, and once.
    configuration.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
    context = click.get_current_context()
    address: Any = dask
    if dask == _LOCAL:
        # Also of workers that are started anew, for which dask sets it in this process.
        if SAFE_PATH not in os.environ:
            context.call_on_close(lambda: os.environ.pop(SAFE_PATH, None))
        safe_path = {f"distributed.nanny.pre-spawn-environ.{SAFE_PATH}": "1"}
        with configuration.set(safe_path), importing_nothing_from_here():
            address = context.with_resource(
                dask_distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    # Without an address the scheduler tries a fixed port, which another cluster here may have.
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            )
    try:
        client = context.with_resource(dask_distributed.Client(address, timeout=_CONNECT_SECONDS))
    except (OSError, ValueError) as error:
        raise BadInputError(f"--dask {dask}: no scheduler answers there ({error})") from error
    if dask == _LOCAL and SAFE_PATH not in os.environ:
        # Programs that workers start, engines in Python for one, find their modules as ever.
        client.run(os.environ.pop, SAFE_PATH, None)
    threads = sum(client.nthreads().values())

    def members() -> dict[str, Member]:
        return {
            name: Member(client.get_executor(workers=[name], pure=False), threads)
            for name, threads in client.nthreads().items()
        }

    executor = client.get_executor()
    # Tasks that nobody waits for any more are not waited for.
    context.call_on_close(lambda: executor.shutdown(wait=False))
    return Workers(workers, executor, _IN_FLIGHT_PER_THREAD * max(1, threads), members)


_dask = option(
    "--dask",
    metavar="ADDRESS",
    help="Run on the workers of a dask.distributed scheduler (tcp://host:8786), or of a local one (local).",
)
workers = group(
    "workers",
    opened_workers,
    count(
        "--workers",
        THREADS,
        "Local processes; the result does not depend on their number.",
        most=4096,
        show_default="processors",
    ),
    _dask,
)
fitting_workers = group("workers", lambda dask: opened_workers(THREADS, dask) if dask else None, _dask)


prior = option(
    "--prior",
    metavar="EVALUATION",
    default="none",
    help="What the fit begins with and is held to: a file, `default`, or `none`.",
)


def evaluations(text: str) -> Callable[[F], F]:
    """Add ``--evaluation``, which may be repeated; the text says what it may be."""
    return option("--evaluation", "evaluations", multiple=True, required=True, metavar="EVALUATION", help=text)


scores = option(
    "--scores",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to keep the scores of external engines in; continue there.",
    was=("--keep",),
)


def number_or_word(text: str, name: str, *words: str) -> float | str:
    """Read the value of an option: a number, or `fit` or one of some words."""
    known = ("fit", *words)
    if text in known:
        return text
    try:
        return float(text)
    except ValueError:
        told = ", ".join(f"`{word}`" for word in known[:-1])
        raise BadInputError(f"{name} must be a number, {told} or `{known[-1]}`, got {text!r}") from None


resamples = count("--resamples", 10_000, "Samples of each test.", least=100)
confidence = option("--confidence", default=0.95, help="Confidence level.")
report = file("--report", "Write an HTML report.", metavar="FILE")


@define(frozen=True)
class TuningGames:
    """Games that something is fitted to, and not graded on."""

    files: tuple[str, ...]
    rule: SelectionRule


def tuning(text: str) -> Callable[[F], F]:
    """Add ``--tuning`` and ``--tuning-select``; the text says what the games serve for.

    It stands below the selection of the games that are graded; the command gets :class:`TuningGames` as ``tuning``.
    """

    def make(rule: SelectionRule, tuning: tuple[str, ...], tuning_select: str) -> TuningGames:
        from glem.core.positions.selection.selection import SelectionRule

        chosen = SelectionRule.parse(tuning_select, skip_moves=rule.skip_moves, skip_end=rule.skip_end, seed=rule.seed)
        return TuningGames(tuning, chosen)

    return group(
        "tuning",
        make,
        file("--tuning", text, multiple=True, metavar="FILE"),
        option("--tuning-select", default="every:7", metavar="RULE", help="Positions of each tuning game."),
        needs=("rule",),
    )
