"""Players: what chooses the moves of a game, and the texts that describe them.

A :class:`PlayerSpec` says what a player is made of. It is small and picklable, goes into record files, and makes the
:class:`Player` itself where the games are played. Its text is the same in every command::

    model.npz,depth=6,solve=14
    name=fast,evaluation=model.npz,clock=60+1,probcut=off
    greedy,evaluation=mobility
    none,depth=6
    random,seed=3
    PROTOCOL:program,nodes=1000,Hash=16

The first word may be an evaluation file, ``default`` (the game's own evaluation) or ``none`` (all positions are even)
for a searching player, or the name of another kind of player. A protocol and a colon begin the text of a program of
others, where the game knows the protocol (:mod:`glem.core.players.external`).
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs
from attrs import define, field

from glem.core.errors import BadInputError, reading
from glem.core.evaluation.named import DEFAULT_EVALUATION
from glem.core.game.game import Game
from glem.core.game.whole_numbers import whole_number
from glem.core.players.external import external_players_of, split_program
from glem.core.search.results import Clock, Limits
from glem.core.search.solver import can_solve

__all__ = ["MOBILITY", "MoveChoice", "Player", "PlayerSpec", "parse_player"]

MOBILITY = "mobility"
"""Stands, with a greedy player, for the opponent's number of moves, negated: an evaluation that every game has."""

SEARCH, GREEDY, RANDOM, EXTERNAL = "search", "greedy", "random", "external"
_KINDS = (SEARCH, GREEDY, RANDOM, EXTERNAL)
_NEED_LIMITS = (SEARCH, EXTERNAL)
_LONGEST_NAME = 60


@define(frozen=True)
class MoveChoice:
    """A player's decision.

    Parameters
    ----------
    move
        The move.
    score
        What the player expects, in label units of its evaluation before the link, from its own view; the exact final
        score where a solver found it; None where it has no score.
    depth
        Plies of the last completed iteration; 0 without a search.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    exact
        The score is the exact final score.
    result
        1, 0 or -1 where the player knows that it can win, draw, or must lose; else None.
    failures
        How often the player's program failed over this move and was started anew.
    """

    move: int
    score: float | None = None
    depth: int = 0
    nodes: int = 0
    seconds: float = 0.0
    exact: bool = False
    result: int | None = None
    failures: int = 0


class Player(Protocol):
    """Chooses moves. One thread at a time may use it."""

    name: str

    def new_game(self, number: int = 0) -> None:
        """Forget what earlier games left behind; the moves of a game depend on its number and the seed alone."""
        ...

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        """Choose a legal move in a position that is not over.

        Parameters
        ----------
        position
            The position.
        previous
            The game's earlier positions, in order; as many as plies were played.
        clock
            The player's own clock, where the game is played with one.
        stop
            When it is set, the player chooses at once.

        Raises
        ------
        PlayerFailureError
            It is a program that does not give a legal move.
        """
        ...

    def close(self) -> None:
        """Give back what the player holds; it is not used again."""
        ...


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
        positions even, or for a greedy player ``mobility``. Of an external player the protocol and the program.
    limits
        Of each search. A clock here is the player's time for a whole game.
    solve_from
        Positions with at most so many moves left are solved exactly; 0 for never.
    result_from
        Positions with at most so many moves left are solved for win, draw or loss; 0 for never.
    selective
        Whether the search may be selective; full-width where it is false.
    probcut
        File of the parameters of the selective search, or ``default`` for those that the game's plugin ships; "" for
        these where the evaluation is the plugin's too, else for none.
    table_mb
        Size of the transposition table and of the solver's, in MiB.
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
    solve_from: int = 0
    result_from: int = 0
    selective: bool = True
    probcut: str = ""
    table_mb: int = 16
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
            ("seed", self.seed, 0),
        ):
            if value < least:
                raise BadInputError(f"{what} of player {self.name!r} must be at least {least}, got {value}")
        if self.kind == SEARCH and self.evaluation == MOBILITY:
            raise BadInputError(f"player {self.name!r}: evaluation=mobility is for greedy players; name a file")
        if self.kind == EXTERNAL and split_program(self.evaluation) is None:
            raise BadInputError(
                f"player {self.name!r}: an external player is written PROTOCOL:PROGRAM, got {self.evaluation!r}"
            )
        if self.kind == EXTERNAL and (self.solve_from or self.result_from):
            raise BadInputError(
                f"player {self.name!r}: a program of others solves nothing; leave solve= and result= out"
            )
        if self.kind in _NEED_LIMITS and self.limits == Limits():
            raise BadInputError(f"player {self.name!r} has no limit: give depth=, nodes=, seconds= or clock=")

    def resolved(self, game: Game) -> PlayerSpec:
        """Check that the player can be made, and note a digest of its data.

        Raises
        ------
        BadInputError
            An evaluation is unknown or another game's, or the game has no solver.
        """
        self._check_solver(game)
        return attrs.evolve(self, digest=_data_digest(self, game))

    def make(self, game: Game) -> Player:
        """Make the player.

        Raises
        ------
        BadInputError
            As :meth:`resolved`; or its data are not those that :attr:`digest` was made of.
        """
        self._check_solver(game)
        if self.kind == RANDOM:
            from glem.core.players.simple_players import RandomPlayer

            return RandomPlayer(self, game)
        self.check_data(game)
        if self.kind == EXTERNAL:
            player: Player = external_players_of(game, self).make_player(game, self)
            return player
        if self.kind == GREEDY:
            from glem.core.players.simple_players import GreedyPlayer

            return GreedyPlayer(self, game)
        from glem.core.players.search_player import SearchPlayer

        return SearchPlayer(self, game)

    def check_data(self, game: Game) -> None:
        """Raise :class:`BadInputError` where the player's data are not those that :attr:`digest` was made of."""
        if self.digest and self.digest != _data_digest(self, game):
            raise BadInputError(f"player {self.name!r}: {self.evaluation} is not what it was when the work began")

    def _check_solver(self, game: Game) -> None:
        if (self.solve_from or self.result_from) and not can_solve(game):
            raise BadInputError(
                f"player {self.name!r}: {game.title} cannot be solved, it has neither a solver nor the search function "
                "plies_left; leave solve= and result= out"
            )

    def to_json(self) -> dict[str, Any]:
        """Everything that determines the player's moves, as plain JSON values."""
        value = attrs.asdict(self)
        if not self.options:
            del value["options"]
        return value

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> PlayerSpec:
        """Read what :meth:`to_json` gave; :class:`BadInputError` when it is anything else."""
        with reading("a player", "description of a player"):
            limits = dict(value["limits"])
            if limits["clock"] is not None:
                limits["clock"] = Clock(**limits["clock"])
            return cls(**{**value, "limits": Limits(**limits)})


def _data_digest(spec: PlayerSpec, game: Game) -> str:
    from glem.core.players.player_data import data_digest

    return data_digest(spec, game)


# -------------------------------------------------------------------------------------------------- texts


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


_LIMITS: dict[str, tuple[Callable[[str], Any], str]] = {
    "depth": (_whole, "a number of plies"),
    "nodes": (_whole, "a number of positions"),
    "seconds": (_positive_seconds, "seconds a move"),
    "clock": (_clock, "seconds a game, perhaps with an increment: 60 or 60+0.5"),
}
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
    "table": ("table_mb", _whole, "MiB"),
    "seed": ("seed", _whole, "a number"),
}


def parse_player(text: str, *, limits: Limits | None = None) -> PlayerSpec:
    """Read the text of a player.

    Parameters
    ----------
    text
        Comma-separated ``option=value``: ``name``, ``kind``, ``evaluation``, ``depth``, ``nodes``, ``seconds`` (a
        move), ``clock`` (seconds a game, ``60+0.5`` with an increment), ``solve`` and ``result`` (moves left from which
        on positions are solved exactly or for win, draw and loss), ``probcut`` (a file, ``default``, or ``off`` for
        full-width search), ``table`` (MiB), ``seed``. The first one may be a kind, an evaluation or a program of others
        alone; a program may have further options, which its protocol reads. A path with a comma stands in quotes.
    limits
        Limits of a searching player that names none of its own.

    Returns
    -------
    PlayerSpec
        Named by the text if it names no name.

    Raises
    ------
    BadInputError
        An option is unknown, there twice, or has no sense; there is neither a limit nor the file of the evaluation.
    """
    fields: dict[str, Any] = {}
    limit_fields: dict[str, Any] = {}
    further: dict[str, str] = {}
    parts = _PARTS.findall(text)
    is_external = _is_external(parts)
    if is_external:
        fields["kind"] = EXTERNAL
    for place, part in enumerate(parts):
        option, equals, value = (word.strip() for word in part.partition("="))
        if place == 0 and (not equals or (is_external and split_program(part.strip()) is not None)):
            option, value = ("kind" if part.strip() in _KINDS else "evaluation"), part.strip()
        if is_external and option not in {*_LIMITS, "name", "evaluation", "kind"} and equals:
            if option in further:
                raise BadInputError(f"player {text!r} has {option} twice")
            further[option] = value
            continue
        if is_external and option == "kind":
            raise BadInputError(f"player {text!r} is a program of others, of no other kind")
        if option not in _LIMITS and option not in _OPTIONS:
            known = ", ".join((*_OPTIONS, *_LIMITS))
            raise BadInputError(f"player {text!r} has an unknown option {option!r}; known: {known}")
        name, read, meaning = _OPTIONS[option] if option in _OPTIONS else (option, *_LIMITS[option])
        target = limit_fields if option in _LIMITS else fields
        if name in target:
            raise BadInputError(f"player {text!r} has {option} twice")
        try:
            if not value:
                raise ValueError
            target[name] = read(value)
        except ValueError:
            raise BadInputError(f"player {text!r}: {option} must be {meaning}, got {value!r}") from None
    if fields.get("probcut") in {"on", "off"}:
        fields["selective"] = fields.pop("probcut") == "on"
    if fields.get("kind", SEARCH) in _NEED_LIMITS and not limit_fields and limits is not None:
        chosen = limits
    else:
        chosen = Limits(**limit_fields)
    if further:
        fields["options"] = tuple(sorted(further.items()))
    evaluation = Path(fields.get("evaluation", DEFAULT_EVALUATION))
    if chosen == Limits() and not is_external and evaluation.suffix == ".npz" and not evaluation.is_file():
        # Before the lack of a limit, which would send its author looking in the wrong place.
        raise BadInputError(f"player {text!r}: {evaluation}: no such file")
    return PlayerSpec(name=fields.pop("name", None) or _name_of(text, fields), limits=chosen, **fields)


def _is_external(parts: list[str]) -> bool:
    """Whether the parts of a player's text name a program of others, and no file that is called so."""
    named = [part.partition("=")[2].strip() for part in parts if part.partition("=")[0].strip() == "evaluation"]
    program = named[0] if named else parts[0].strip()
    return split_program(program) is not None and not Path(program).exists()


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
