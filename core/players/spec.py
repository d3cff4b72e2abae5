"""Descriptions of players, and the texts that they are written in.

A :class:`PlayerSpec` says what a player is made of. It is small and picklable, and goes into record files. Its text is
the same in every command::

    model.npz,depth=6,solve=14
    name=fast,evaluation=model.npz,clock=60+1,probcut=off
    greedy,evaluation=mobility
    none,depth=6
    random,seed=3
    PROTOCOL:program,nodes=1000,Hash=16

The first word may be an evaluation file, ``default`` (the game's own evaluation) or ``none`` (all positions are even)
for a searching player, or a function of one position (``python:FILE.py:FUNCTION``), or the name of another kind of
player. A protocol and a colon begin the text of an external
engine: ``gtp``, or one that the game knows (:class:`~glem.core.game.game.ExternalPlayers`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, check_regular, reading
from glem.core.evaluation.named import (
    DEFAULT_EVALUATION,
    FUNCTION_PREFIX,
    STRONGEST_EVALUATION,
    load_searched,
    shipped_name,
)
from glem.core.evaluation.quadratic import QuadraticEvaluation
from glem.core.features.learning import has_learning, load_learning
from glem.core.files.digests import arrays_digest
from glem.core.files.json_values import instance_of
from glem.core.game.game import ExternalPlayers, Game
from glem.core.game.whole_numbers import whole_number
from glem.core.players.gtp_programs import GTP_PLAYERS
from glem.core.search.probcut import DEFAULT_PROBCUT, ProbCut
from glem.core.search.results import Clock, Limits
from glem.core.search.solver import can_solve

MOBILITY = "mobility"
"""Stands, with a greedy player, for the opponent's number of moves, negated: an evaluation that every game has."""

SEARCH, GREEDY, RANDOM, EXTERNAL = "search", "greedy", "random", "external"
_KINDS = (SEARCH, GREEDY, RANDOM, EXTERNAL)
USUAL_SOLVE_FROM = 20
"""Moves left from which on opponents without a limit of time solve positions, where the game has a solver."""

_HAVE_LIMITS = (SEARCH, EXTERNAL)
_LONGEST_NAME = 60
_SEPARATOR = ":"


def _as_pairs(pairs: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    """Pairs as they stand in a description, also where JSON made lists of them."""
    return tuple((name, value) for name, value in pairs)


@define(frozen=True)
class PlayerSpec:
    """What a player is made of.

    Parameters
    ----------
    name
        For people and records; unique within a tournament.
    kind
        ``search``, ``greedy`` (the move after which the evaluation is best), ``random`` or ``external``.
    evaluation
        File of an evaluation, ``default`` for the one that the game's plugin ships, ``none`` for one that calls all
        positions even, ``python:FILE.py:FUNCTION`` for a function of one position, or for a greedy player ``mobility``.
        Of an external player the protocol and the program.
    limits
        Of each search. A clock here is the player's time for a whole game.
    solve_from
        Positions with at most so many moves left are solved exactly; 0 for never. None is 0 too, but for moves limited
        by time without ``result_from``: they are solved, exactly or for the result, where that is likely to fit in.
    result_from
        Positions with at most so many moves left are solved for win, draw or loss; 0 for never.
    selective
        Whether the search may be selective; full-width where it is false.
    probcut
        File of the parameters of the selective search, or ``default`` for those that the game's plugin ships; "" for
        these where the evaluation and the quiescence are the plugin's too, else for none.
    quiescence
        Name of one of :attr:`Game.quiescence <glem.core.game.game.Game.quiescence>`; "" for the game's own, if any.
    table_mb
        Size of the transposition table and of the solver's, in MiB.
    threads
        Threads that search a position together (:class:`~glem.core.search.searcher.SearchSettings`).
    seed
        Of random choices.
    options
        Names and values of an external player's further options, which its protocol reads.
    digest
        Of the evaluation and other data, set by :meth:`resolved`; a player made from other data is refused.
    """

    name: str
    kind: str = SEARCH
    evaluation: str = DEFAULT_EVALUATION
    limits: Limits = field(factory=Limits)
    solve_from: int | None = None
    result_from: int = 0
    selective: bool = True
    probcut: str = ""
    quiescence: str = ""
    table_mb: int = 16
    threads: int = 1
    seed: int = 0
    options: tuple[tuple[str, str], ...] = field(default=(), converter=_as_pairs)
    digest: str = ""

    def __attrs_post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > _LONGEST_NAME or not self.name.isprintable():
            raise BadInputError(f"a player's name has 1 to {_LONGEST_NAME} printable characters, got {self.name!r}")
        if self.kind not in _KINDS:
            raise BadInputError(f"player {self.name!r} is of kind {self.kind!r}; known: {', '.join(_KINDS)}")
        for what, value, least in (
            ("solve", self.solve_from, 0),
            ("result", self.result_from, 0),
            ("table", self.table_mb, 1),
            ("threads", self.threads, 1),
            ("seed", self.seed, 0),
        ):
            if value is not None and value < least:
                raise BadInputError(f"{what} of player {self.name!r} must be at least {least}, got {value}")
        if self.kind == SEARCH and self.evaluation == MOBILITY:
            raise BadInputError(f"player {self.name!r}: evaluation=mobility is for greedy players; name a file")
        if self.kind == GREEDY and self.evaluation.startswith(FUNCTION_PREFIX):
            raise BadInputError(f"player {self.name!r}: functions are for players that search; depth=1 looks as far")
        if self.kind == EXTERNAL and split_program(self.evaluation) is None:
            raise BadInputError(
                f"player {self.name!r}: an external player is written PROTOCOL:PROGRAM, got {self.evaluation!r}"
            )
        if self.kind in (GREEDY, RANDOM) and self.limits != Limits():
            raise BadInputError(f"player {self.name!r} does not search: leave depth=, nodes=, seconds= and clock= out")
        if self.kind != SEARCH and self.quiescence:
            raise BadInputError(f"player {self.name!r} does not search: leave quiescence= out")
        if self.kind == EXTERNAL and (self.solve_from or self.result_from):
            raise BadInputError(
                f"player {self.name!r}: a program of others solves nothing; leave solve= and result= out"
            )
        # Whether a program of others needs one, its protocol knows.
        if self.kind == SEARCH and self.limits == Limits():
            raise BadInputError(f"player {self.name!r} has no limit: give depth=, nodes=, seconds= or clock=")

    @property
    def solves_as_time_allows(self) -> bool:
        """Whether positions are solved that are likely to fit into the time of a move."""
        return self.solve_from is None and not self.result_from and self.limits.is_timed

    def check_repeatable(self, why: str) -> None:
        """Raise :class:`BadInputError` for a player that may choose otherwise the next time; say why that is bad."""
        if self.limits.is_timed:
            raise BadInputError(f"player {self.name!r} goes by the clock: {why}; limit its depth or nodes")
        if self.threads > 1:
            raise BadInputError(f"player {self.name!r} searches with several threads: {why}; leave threads= out")

    def resolved(self, game: Game) -> PlayerSpec:
        """Check that the player can be made, and note a digest of its data.

        Raises
        ------
        BadInputError
            An evaluation is unknown or another game's, or the game has no solver.
        """
        self._check_game(game)
        return attrs.evolve(self, digest=_data_digest(self, game))

    def check(self, game: Game) -> None:
        """Check that the player can be made, of the data that :attr:`digest` was made of if there is one.

        Raises
        ------
        BadInputError
            The game has no solver, or the data have changed.
        """
        self._check_game(game)
        if self.digest and self.digest != _data_digest(self, game):
            raise BadInputError(f"player {self.name!r}: {self.evaluation} is not what it was when the work began")

    def _check_game(self, game: Game) -> None:
        game.search_rules_with(self.quiescence)
        if (self.solve_from or self.result_from) and not can_solve(game):
            raise BadInputError(
                f"player {self.name!r}: {game.title} cannot be solved, it has neither a solver nor the search function "
                "plies_left; leave solve= and result= out"
            )

    def load_probcut(self, game: Game) -> ProbCut | None:
        """Load the parameters of the player's selective search; None where it is full-width.

        Raises
        ------
        BadInputError
            The file is none of parameters or another game's, or the plugin ships none.
        """
        best = (DEFAULT_EVALUATION, shipped_name(STRONGEST_EVALUATION, game))
        is_shipped = shipped_name(self.evaluation, game) in best and not self.quiescence
        if not self.selective or (self.probcut == "" and not is_shipped):
            return None
        if self.probcut not in ("", DEFAULT_PROBCUT):
            loaded = ProbCut.load(self.probcut)
            if loaded.game != game.name:
                raise BadInputError(f"{self.probcut}: made for {loaded.game}, the game is {game.name}")
            return loaded
        make = load_learning(game.name).default_probcut if has_learning(game.name) else None
        if make is None and self.probcut == DEFAULT_PROBCUT:
            raise BadInputError(
                f"{game.name} comes without parameters of selective search; make a file with glem search probcut"
            )
        shipped: ProbCut | None = None if make is None else make()
        return shipped

    def to_json(self) -> dict[str, Any]:
        """Everything that determines the player's moves, as plain JSON values."""
        value = attrs.asdict(self)
        # Records from before there were such options go on.
        added = {"options": (), "quiescence": "", "threads": 1}
        return {name: item for name, item in value.items() if name not in added or item != added[name]}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> PlayerSpec:
        """Read what :meth:`to_json` gave; :class:`BadInputError` when it is anything else."""
        with reading("a player", "description of a player"):
            limits = dict(value["limits"])
            if limits["clock"] is not None:
                limits["clock"] = instance_of(Clock, limits["clock"])
            return instance_of(cls, {**value, "limits": instance_of(Limits, limits)})


def _data_digest(spec: PlayerSpec, game: Game) -> str:
    """Digest of all that a player reads from files or plugins; "" where it reads nothing."""
    if spec.kind == EXTERNAL:
        return external_players_of(game, spec).digest(game, spec)
    if spec.kind == RANDOM or (spec.kind == GREEDY and spec.evaluation == MOBILITY):
        return ""
    evaluation = load_searched(spec.evaluation, game)
    text = f"{evaluation.link} {evaluation.most_specific};"
    if spec.evaluation.startswith(FUNCTION_PREFIX):
        text += evaluation.provenance["code"]
    arrays: list[NDArray[Any]] = [
        evaluation.bias,
        evaluation.pattern_weights,
        evaluation.configuration_weights,
        evaluation.linear_weights,
        np.array(evaluation.linear, np.int64),
    ]
    if evaluation.configurations is not None:
        arrays += [evaluation.configurations.relations, evaluation.configurations.offsets]
    if evaluation.network is not None:
        arrays += evaluation.network.arrays
    if isinstance(evaluation, QuadraticEvaluation):
        arrays += [evaluation.slopes, evaluation.squares]
    probcut = spec.load_probcut(game) if spec.kind == SEARCH else None
    if probcut is not None:
        text += f"{probcut.threshold};"
        arrays += [probcut.check_depths, probcut.slopes, probcut.offsets, probcut.deviations]
    return arrays_digest(arrays, text)


def split_program(text: str) -> tuple[str, str] | None:
    """Divide ``NAME:PROGRAM`` into the name of a protocol and the program; None where a text is nothing of the kind."""
    name, separator, program = text.partition(_SEPARATOR)
    # One letter is a drive of Windows.
    is_name = len(name) > 1 and name.isascii() and name.replace("_", "").isalnum() and name == name.lower()
    is_name = is_name and name[0].isalpha()
    return (name, program) if separator and is_name and program.strip() else None


def protocols_of_programs(game: Game) -> Mapping[str, ExternalPlayers]:
    """Protocols by which external engines are players of a game: those that it declares, and that of every game."""
    return {GTP_PLAYERS.name: GTP_PLAYERS, **game.external_players}


def external_players_of(game: Game, spec: PlayerSpec) -> ExternalPlayers:
    """Find how to reach the program of an external player.

    Raises
    ------
    BadInputError
        The game has no such protocol.
    """
    parts = split_program(spec.evaluation)
    name = "" if parts is None else parts[0]
    protocols = protocols_of_programs(game)
    if name not in protocols:
        known = ", ".join(f"{known}:" for known in protocols)
        raise BadInputError(f"player {spec.name!r}: {game.title} knows no programs {name}:... (known: {known})")
    return protocols[name]


def _whole(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise ValueError
    return number


def _path(text: str) -> str:
    """Path, perhaps in quotes, and with ~ for somebody's home, which shells leave alone within a word."""
    bare = text[1:-1] if len(text) > 1 and text[0] in "'\"" and text[0] == text[-1] else text
    return os.path.expanduser(bare)  # noqa: PTH111 - a Path would raise for a user who is not


def _positive_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e9:
        raise ValueError
    return seconds


def _clock(text: str) -> Clock:
    remaining, plus, increment = text.partition("+")
    return Clock(_positive_seconds(remaining), float(increment) if plus else 0.0)


_PARTS = re.compile(r"""(?:^|,)((?:(?<![^\s=:,])(?:'[^']*'|"[^"]*")|[^,])*)""")
"""Parts of a player's text; commas in quotes divide nothing."""
_PROGRAM = re.compile(r"""('[^']*'|"[^"]*"|\S+)(.*)""")
"""Path and arguments of a program."""
_OPTIONS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "name": ("name", str, "a name"),
    "kind": ("kind", str, f"one of {', '.join(_KINDS)}"),
    "evaluation": ("evaluation", _path, "a file"),
    "solve": ("solve_from", _whole, "a number of moves left"),
    "result": ("result_from", _whole, "a number of moves left"),
    "probcut": ("probcut", _path, "off, on, default or a file"),
    "quiescence": ("quiescence", str, "a name of the game's"),
    "table": ("table_mb", _whole, "MiB"),
    "threads": ("threads", _whole, "a number of threads"),
    "seed": ("seed", _whole, "a number"),
    "depth": ("depth", _whole, "a number of plies"),
    "nodes": ("nodes", _whole, "a number of positions"),
    "seconds": ("seconds", _positive_seconds, "seconds a move"),
    "clock": ("clock", _clock, "seconds a game, perhaps with an increment: 60 or 60+0.5"),
}
"""Options of a player's text: name of the field, how its value is read, and what it must be."""
_LIMITS = {"depth", "nodes", "seconds", "clock"}


def parse_player(text: str, *, limits: Limits | None = None) -> PlayerSpec:
    """Read the text of a player.

    Parameters
    ----------
    text
        Comma-separated ``option=value``: ``name``, ``kind``, ``evaluation``, ``depth``, ``nodes``, ``seconds`` (a
        move), ``clock`` (seconds a game, ``60+0.5`` with an increment), ``solve`` and ``result`` (moves left from which
        on positions are solved exactly or for win, draw and loss), ``probcut`` (a file, ``default``, or ``off`` for
        full-width search), ``quiescence`` (a name of the game's), ``table`` (MiB), ``threads``, ``seed``. The first
        one may be a kind, an evaluation or a program of others alone; a program may have further options, which its
        protocol reads. A path with a comma stands in quotes.
    limits
        Limits of a searching player that names none of its own.

    Returns
    -------
    PlayerSpec
        Named by the text if it names no name.

    Raises
    ------
    BadInputError
        An option is unknown, there twice, or makes no sense; there is neither a limit nor the file of the evaluation.
    """
    fields: dict[str, Any] = {}
    further: dict[str, str] = {}
    parts = _PARTS.findall(text)
    is_external = _is_external(parts)
    if is_external:
        fields["kind"] = EXTERNAL
    for place, part in enumerate(parts):
        option, equals, value = (word.strip() for word in part.partition("="))
        if place == 0 and (not equals or (is_external and split_program(part.strip()) is not None)):
            option, value = ("kind" if part.strip() in _KINDS else "evaluation"), part.strip()
        is_further = is_external and bool(equals) and option not in {*_LIMITS, "name", "evaluation", "kind"}
        if is_external and option == "kind":
            raise BadInputError(f"player {text!r} is a program of others, of no other kind")
        if not is_further and option not in _OPTIONS:
            raise BadInputError(f"player {text!r} has an unknown option {option!r}; known: {', '.join(_OPTIONS)}")
        name, read, meaning = (option, str, "") if is_further else _OPTIONS[option]
        target = further if is_further else fields
        if name in target:
            raise BadInputError(f"player {text!r} has {option} twice")
        try:
            if not value and not is_further:
                raise ValueError
            target[name] = read(value)
        except ValueError:
            raise BadInputError(f"player {text!r}: {option} must be {meaning}, got {value!r}") from None
    named = {name: fields.pop(name) for name in _LIMITS & fields.keys()}
    chosen = Limits(**named)
    if not named and limits is not None and fields.get("kind", SEARCH) in _HAVE_LIMITS:
        chosen = limits
    if fields.get("probcut") in {"on", "off"}:
        fields["selective"] = fields.pop("probcut") == "on"
    if further:
        fields["options"] = tuple(sorted(further.items()))
    evaluation = Path(fields.get("evaluation", DEFAULT_EVALUATION))
    if chosen == Limits() and not is_external and evaluation.suffix == ".npz" and not evaluation.is_file():
        # Before the lack of a limit, which would send its author looking in the wrong place.
        check_regular(evaluation)
        raise BadInputError(f"player {text!r}: {evaluation}: no such file")
    return PlayerSpec(name=fields.pop("name", None) or _name_of(text, fields), limits=chosen, **fields)


def parse_limits(text: str) -> Limits:
    """Read limits alone, written as in the text of a player: ``depth=6`` or ``nodes=9999``.

    Raises
    ------
    BadInputError
        The text says anything else.
    """
    player = parse_player(f"{DEFAULT_EVALUATION},{text}")
    if attrs.evolve(player, name=DEFAULT_EVALUATION) != parse_player(DEFAULT_EVALUATION, limits=player.limits):
        raise BadInputError(f"--limit must be limits alone, depth=, nodes=, seconds= or clock=, got {text!r}")
    return player.limits


def _is_external(parts: list[str]) -> bool:
    """Whether the parts of a player's text name a program of others, and no file that is called so."""
    named = [part.partition("=")[2].strip() for part in parts if part.partition("=")[0].strip() == "evaluation"]
    program = named[0] if named else parts[0].strip()
    is_function = program.startswith(FUNCTION_PREFIX)
    return split_program(program) is not None and not is_function and not Path(program).exists()


def _name_of(text: str, fields: dict[str, Any]) -> str:
    """Name of a player that has none: its text, with files by their stems."""
    name = ",".join(part.strip() for part in _PARTS.findall(text))
    program = split_program(str(fields.get("evaluation", ""))) if fields.get("kind") == EXTERNAL else None
    if program is not None:
        found = _PROGRAM.match(program[1].strip())
        path, arguments = ("", "") if found is None else (found[1].strip("'\""), found[2])
        return name.replace(fields["evaluation"], f"{Path(path).stem}{arguments}".strip())[:_LONGEST_NAME]
    for option in ("evaluation", "probcut"):
        file = str(fields.get(option, ""))
        if file:
            name = name.replace(file, Path(file).stem)
    return name[:_LONGEST_NAME]
