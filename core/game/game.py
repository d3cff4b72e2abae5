"""The interface of a game: rules as plain functions over an immutable position, and the registry.

A game is described by one :class:`Game` value. Its rules are plain module-level functions over a position,
which is a :class:`typing.NamedTuple` of numpy scalars. The same functions run as they are (the oracle, the
debugger, the first draft) and compiled. Generic code calls :func:`play`, :func:`legal_moves` and so on with
``game.rules`` as first argument.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import define, field

from glem.core.compiling.operations import Operations, generic_operation
from glem.core.errors import INTERFACE_VERSION, BadInputError, PluginError, described, versions
from glem.core.game.declarations import explained, game_problems, kind_problems, refuse
from glem.core.game.families import GAME_FAMILIES_GROUP, family_names, family_of, load_member
from glem.core.game.protocols import PositionScoring, ProgramOption, Protocol
from glem.core.game.records import GameRecords, ScoredPositions
from glem.core.game.registry import GAMES_GROUP, load_plugin, plugin_names, plugin_owner
from glem.core.game.solver import Solver
from glem.core.tasks.counts import counted

RULES = ("legal_moves", "play", "is_over", "final_score", "hash_key", "count_moves", "transform")
"""Fields of a game that are its rules, which generic code calls."""


class BoardLayout(NamedTuple):
    """How the cells of a board lie, for drawing: row-major from the top left corner.

    Parameters
    ----------
    rows, columns
        Their numbers.
    cell_names
        Name of each cell as people write it, such as ``a1``; empty, or ``rows * columns`` different texts. Without
        them drawings take the names of moves, where these are cells.
    """

    rows: int
    columns: int
    cell_names: tuple[str, ...] = ()


class ReadRecords(typing.Protocol):
    """Reader of one format of game records."""

    def __call__(
        self, game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int
    ) -> Iterator[GameRecords]:
        """Read, check and hand out the games of a file, at most ``chunk_games`` at once.

        Every game is replayed. A record that is malformed, has an illegal move or contradicts its own score
        raises :class:`~glem.core.errors.BadInputError`, or is left out and counted with ``skip_bad``. Damage to
        the file as a whole raises after the good records before it were handed out.
        """
        ...


class WriteRecords(typing.Protocol):
    """Writer of one format of game records."""

    def __call__(self, game: Game, records: GameRecords, /) -> Iterator[bytes]:
        """Yield the bytes of a file of some games, all of whose moves are legal.

        Of what the records hold a format writes what it has room for. Games that were played
        (:mod:`glem.core.tournament.transcripts`) have, beside what all have, the columns ``first_player`` and
        ``second_player`` (into names), ``result`` (float32: 1, 0, -1 for the first player, nan unknown) and ``end``
        (into names: why it ended), and the columns of moves ``comment_score`` (float32: what the mover expected, nan
        unknown), ``known_result`` (float32: 1, 0, -1 where the mover knew it), ``depth``, ``seconds`` and ``book`` (the
        move was given). Raises :class:`~glem.core.errors.BadInputError` where it has no room for a game.
        """
        ...


class ReadPositions(typing.Protocol):
    """Reader of one format of scored positions."""

    def __call__(
        self, game: Game, path: Path, /, *, skip_bad: bool, chunk_positions: int, max_bytes: int
    ) -> Iterator[ScoredPositions]:
        """Read, check and hand out the positions of a file, at most ``chunk_positions`` at once."""
        ...


@define(frozen=True)
class RecordFormat:
    """A file format of game records.

    Parameters
    ----------
    name
        Short unique name.
    description
        One sentence for people.
    suffixes
        File name suffixes in lower case, with the dot and without that of a packing; may be empty.
    read
        The reader: replays every game. A bad record raises :class:`~glem.core.errors.BadInputError` with file and
        record, or is counted with ``skip_bad``.
    recognizes
        Whether the first 4,096 bytes of an unpacked file look like this format and none of the game's others; decides
        where suffixes do not.
    write
        The writer (:mod:`glem.core.positions.writing`); None where the format is only read.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    read: ReadRecords
    recognizes: Callable[[bytes], bool]
    write: WriteRecords | None = None


@define(frozen=True)
class PositionFormat:
    """A file format of scored positions; the fields are those of :class:`RecordFormat`, but for the last one.

    Parameters
    ----------
    read_unscored
        The reader that also hands out positions without a score, their label nan; None where ``read`` serves.
    label_kind
        What the scores are: ``score``, or ``result`` where they are results of games.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    read: ReadPositions
    recognizes: Callable[[bytes], bool]
    read_unscored: ReadPositions | None = None
    label_kind: str = "score"


@define(frozen=True)
class ExternalPlayers:
    """How a game reaches external engines that play it.

    Parameters
    ----------
    name
        Name of the protocol, lower case: the first word of a player's text, before the colon.
    description
        One sentence for people: which programs, and which further options a player's text may have.
    digest
        ``(game, spec) -> str``: of the program that a player's description names, so that unfinished work is not
        continued with another one. Raises :class:`~glem.core.errors.BadInputError` where there is no such program or
        an option makes no sense.
    make_player
        ``(game, spec) -> Player``: starts the program, once in each worker. Its ``choose`` gives a legal move or
        raises :class:`~glem.core.game.protocols.PlayerFailureError`, by which it loses the game, in a bounded time
        whatever the program does. ``close`` ends the program, and so does the end of this process, however it ends
        (:mod:`glem.core.machine.programs`).
    make_scoring
        Optional ``(game, spec) -> PositionScoring``: the program as what gives scores that are graded. A score does
        not depend on what was scored before.
    list_options
        Optional ``(game, spec) -> options``: starts the program and gives the options that it announces, each a
        :class:`~glem.core.game.protocols.ProgramOption`. What ``make_player`` and ``make_scoring`` give is then
        :class:`~glem.core.game.protocols.Configurable` too.
    """

    name: str
    description: str
    digest: Callable[[Game, Any], str]
    make_player: Callable[[Game, Any], Any]
    make_scoring: Callable[[Game, Any], PositionScoring] | None = None
    list_options: Callable[[Game, Any], Sequence[ProgramOption]] | None = None


@explained
@define(frozen=True, eq=False, repr=False)
class Game:
    """Everything that glem knows of a game.

    Positions are normalized in the functions' own way; scores are from the side to move. Moves are small
    integers in ``range(move_count)``; a forced pass is a move like any other.

    Parameters
    ----------
    name
        Registry name, lower case with underscores, equal to the name of the entry point. Files carry it: under a new
        name, old files are another game's.
    title
        Name for people.
    initial_position
        A NamedTuple of numpy scalars of at most 8 bytes each. All positions have its class (whose annotations are not
        read) and its dtypes, and hold all that decides how the game goes on, repetitions excepted.
    legal_moves
        Dual ``(position, moves, start) -> count``: writes the legal moves into the int32 buffer ``moves``, from index
        ``start`` on and nowhere else, each once, in an order that depends on the position alone. Zero exactly when the
        game is over.
    play
        Dual ``(position, move) -> position``: the position after a legal move, as the other side sees it.
    is_over
        Dual ``(position) -> bool``: True exactly where ``legal_moves`` finds none. The search asks at every leaf.
    final_score
        Dual ``(position) -> int``: score of a finished position from the side to move, in points within
        ``score_bounds``, greater for better results; 0 is a draw.
    hash_key
        Dual ``(position) -> uint64``: equal positions give equal keys, well scattered over all 64 bits
        (:func:`~glem.core.compiling.kernels.mix` scatters a number). It depends on every field that ``play`` or
        ``final_score`` depend on, except a counter that ``reversible_plies`` returns.
    max_moves
        Largest number of legal moves in any position that can be reached or read: the room in every buffer. Compiled
        code does not check it; with too small a number, rules overwrite memory.
    move_count
        Moves are integers from 0 to ``move_count - 1``; at most 32,768.
    max_plies
        Longest game in plies, passes included; at most 32,767.
    score_bounds
        Least and greatest final score, neither greater than 32,767 in size. -1 and 1 say that a game is only won,
        drawn or lost.
    count_moves
        Optional, dual ``(position) -> int``: number of legal moves without writing them (perft).
    transform
        Optional, dual ``(position, symmetry) -> position`` for symmetry 0 (identity) to ``symmetry_count - 1``. The
        symmetries form a group and keep legal moves, play, ends and scores. Equal positions are merged by it.
    transform_move
        Optional ``(move, symmetry) -> move`` that goes with it.
    symmetry_count
        Number of board symmetries, the identity included.
    format_position, parse_position
        To and from one line of text; ``parse_position`` raises :class:`~glem.core.errors.BadInputError` for all other
        text. For drawings, write one character a cell, row by row from the top, then a blank and the side to move.
    format_move, parse_move
        To and from the game's usual move notation, without spaces, one text for each move.
    format_move_at, parse_move_at
        Optional ``(position, move) -> text`` and ``(position, text) -> move``, for games whose people write moves in a
        way that depends on the position, such as ``Nf3`` for a knight; people then see and type these. The move is
        legal; ``parse_move_at`` may read more than ``format_move_at`` writes, and raises
        :class:`~glem.core.errors.BadInputError` for every text that is no legal move there.
    perft_counts_ended
        Whether perft counts a game that ends before the last ply once or not at all; customs differ by game.
    layout
        Cells of the board for drawing, or None.
    pass_move
        The move of a side that has no other, if files of the game leave it out; None if there is none. Replays insert
        it, and a search gives it no depth.
    record_formats
        Name to file format of game records; see :func:`glem.core.positions.reading.read_records`. Every game has
        the format ``games`` besides.
    position_formats
        Name to file format of positions with scores; see :func:`glem.core.positions.reading.read_scored_positions`.
    search_functions
        Dual functions for searching single positions, by operation name. They may replace rules by faster ones of the
        same results (``legal_moves``, ``play``), and add those of :mod:`glem.core.game.optional_operations`.
    quiescence
        By name, other functions ``tactical_moves``, ``checking_moves`` and ``extension``, by operation name: a player
        may ask for them (``quiescence=NAME``) in place of the game's own, or where the game has none.
    make_solver
        Optional ``(evaluator=None, table_mb=64) -> Solver``: exact values of positions near the end
        (:mod:`glem.core.game.solver`); the evaluator, if any, only orders moves. Without it, the search solves a
        game with ``plies_left``.
    protocols
        Name to text protocol by which other programs play the game (:mod:`glem.core.game.protocols`). Every game has
        ``gtp`` besides.
    external_players
        Name to protocol by which external engines are players (:class:`ExternalPlayers`): the text of such
        a player is ``name:program``, then limits and options.
    facts
        Further facts about the game, by name, for ``glem games`` and its page in the documentation.
    invariants
        By a sentence each, plain ``(position) -> bool``: what holds in every position by your rules, such as ``the
        stones sum to 48``. Only ``glem check`` asks.
    interface_version
        The version of this interface that the plugin was written for, as a number: a glem that does not fit says so.

    Raises
    ------
    PluginError
        A field is missing, unknown or not what it should be; the text says what would be right.
    """

    name: str
    title: str
    initial_position: Any
    legal_moves: Callable[..., int]
    play: Callable[..., Any]
    is_over: Callable[..., bool]
    final_score: Callable[..., int]
    hash_key: Callable[..., np.uint64]
    max_moves: int
    move_count: int
    max_plies: int
    score_bounds: tuple[int, int]
    format_position: Callable[[Any], str]
    parse_position: Callable[[str], Any]
    format_move: Callable[[int], str]
    parse_move: Callable[[str], int]
    format_move_at: Callable[[Any, int], str] | None = None
    parse_move_at: Callable[[Any, str], int] | None = None
    count_moves: Callable[..., int] | None = None
    transform: Callable[..., Any] | None = None
    transform_move: Callable[[int, int], int] | None = None
    symmetry_count: int = 1
    perft_counts_ended: bool = False
    layout: BoardLayout | None = None
    pass_move: int | None = None
    record_formats: Mapping[str, RecordFormat] = field(factory=dict)
    position_formats: Mapping[str, PositionFormat] = field(factory=dict)
    search_functions: Mapping[str, Callable[..., Any]] = field(factory=dict)
    quiescence: Mapping[str, Mapping[str, Callable[..., Any]]] = field(factory=dict)
    make_solver: Callable[..., Solver] | None = None
    protocols: Mapping[str, Protocol] = field(factory=dict)
    external_players: Mapping[str, ExternalPlayers] = field(factory=dict)
    facts: Mapping[str, str] = field(factory=dict)
    invariants: Mapping[str, Callable[[Any], bool]] = field(factory=dict)
    interface_version: int = INTERFACE_VERSION
    rules: Operations = field(init=False, repr=False)
    """The rules as one value for generic code."""
    search_rules: Operations = field(init=False, repr=False)
    """The rules as the search uses them: :attr:`rules`, replaced and extended by :attr:`search_functions`."""
    _quiet_rules: Mapping[str, Operations] = field(init=False, repr=False)
    _fast_listing: Callable[..., int] | None = field(init=False, repr=False, default=None)
    _last_listed: tuple[Any, list[int]] = field(init=False, repr=False, default=(None, []))

    def __attrs_post_init__(self) -> None:
        refuse(f"game {self.name!r}", [*kind_problems(self), *game_problems(self)])
        functions = {name: getattr(self, name) for name in RULES}
        object.__setattr__(self, "rules", Operations(self.name, functions))
        searching = {**functions, **self.search_functions}
        object.__setattr__(self, "search_rules", Operations(f"{self.name}-search", searching))
        quiet = {name: Operations(f"{self.name}-search", {**searching, **own}) for name, own in self.quiescence.items()}
        object.__setattr__(self, "_quiet_rules", {"": self.search_rules, **quiet})

    def __repr__(self) -> str:
        return f"Game({self.name!r})"

    def search_rules_with(self, quiescence: str) -> Operations:
        """Return :attr:`search_rules` with another :attr:`quiescence`; "" for the game's own.

        Raises
        ------
        BadInputError
            The game has none of that name.
        """
        if quiescence not in self._quiet_rules:
            known = ", ".join(self.quiescence) or "none"
            raise BadInputError(f"{self.title} has no quiescence {quiescence!r}; it has: {known}")
        return self._quiet_rules[quiescence]

    @property
    def greatest_score(self) -> int:
        """Size of the greatest final score; 1 where nothing but winning counts."""
        return max(map(abs, self.score_bounds))

    @property
    def position_type(self) -> type[Any]:
        """The NamedTuple class of positions."""
        return type(self.initial_position)

    def empty_columns(self, length: int) -> Any:
        """Return a position of columns: the position type with one zeroed array of ``length`` per field."""
        return self.position_type(*(np.zeros(length, np.asarray(value).dtype) for value in self.initial_position))

    def columns_of(self, positions: Sequence[Any]) -> Any:
        """Return positions as a position of columns."""
        # Imported late: it brings numba.
        from glem.core.compiling.columns import store_position

        columns = self.empty_columns(len(positions))
        for row, position in enumerate(positions):
            store_position(columns, row, position)
        return columns

    def list_legal_moves(self, position: Any, *, fast: bool = False) -> list[int]:
        """List the legal moves of a position, in their order; the last list is kept for who asks again.

        Parameters
        ----------
        fast
            By the compiled rules, which takes time once and pays for many positions; else by the plain ones.

        Raises
        ------
        PluginError
            ``legal_moves`` has more of them than :attr:`max_moves`, or does not return their number.
        """
        known, listed = self._last_listed
        if known is not position:
            moves = np.zeros(self.max_moves, np.int32)
            try:
                count = self._list_fast(position, moves) if fast else self.legal_moves(position, moves, 0)
            except IndexError as error:
                raise PluginError(self._broken_listing(f"raised IndexError: {error}", position)) from error
            if not isinstance(count, int | np.integer) or not 0 <= count <= self.max_moves:
                raise PluginError(self._broken_listing(f"returned {count!r}", position))
            listed = moves[:count].tolist()
            object.__setattr__(self, "_last_listed", (position, listed))
        return listed.copy()

    def _list_fast(self, position: Any, moves: Any) -> int:
        if self._fast_listing is not None:
            return self._fast_listing(self.rules, position, moves)
        # Imported late: what only reads needs no compiler.
        from glem.core.compiling.kernels import compiled, direct

        count = compiled(_list_moves)(self.rules, position, moves)
        object.__setattr__(self, "_fast_listing", direct(_list_moves, self.rules, position, moves))
        return count

    def _broken_listing(self, found: str, position: Any) -> str:
        room = f"expected 0 to max_moves = {counted(self.max_moves, 'move')}"
        return f"game {self.name!r}: legal_moves {found}, {room}, in {position}; glem check {self.name} tells more"

    def move_text(self, position: Any, move: int) -> str:
        """Text of a legal move as people write it in a position: by ``Game.format_move_at`` where the game has it."""
        return self.format_move(move) if self.format_move_at is None else self.format_move_at(position, move)

    def move_of_text(self, position: Any, text: str) -> int:
        """Move of a text as people write it in a position; it need not be legal.

        Raises
        ------
        BadInputError
            The text is no move.
        """
        return self.parse_move(text) if self.parse_move_at is None else self.parse_move_at(position, text)

    def move_texts(self, position: Any, moves: Iterable[int]) -> list[str]:
        """Texts of legal moves that follow each other from a position on, as :meth:`move_text` gives them."""
        texts = []
        for move in moves:
            texts.append(self.move_text(position, move))
            if self.format_move_at is not None:
                position = self.play(position, move)
        return texts

    def line_text(self, position: Any, moves: Sequence[int]) -> str:
        """Write moves that follow each other as a line to read, without the passes behind the first move.

        They are forced, and readers of moves put them in again.
        """
        texts = zip(self.move_texts(position, moves), moves, strict=True)
        return " ".join(text for place, (text, move) in enumerate(texts) if place == 0 or move != self.pass_move)

    def first_moves_in(self, text: str) -> bool:
        """Tell whether the first player is to move in a position that is written as the game writes it.

        Who is to move is the second word of such texts. Rules may not tell the players apart; with the first player's
        word in its place the same position comes out if the first player is the one to move.
        """
        words, initial = text.split(), self.format_position(self.initial_position).split()
        if len(words) < 2 or len(initial) < 2:
            return True
        try:
            return bool(self.parse_position(" ".join((words[0], initial[1], *words[2:]))) == self.parse_position(text))
        except BadInputError:
            # The board alone may tell whose turn it is, and another word be refused.
            return False

    def __reduce__(self) -> Any:
        # Games are registered values: another process finds its own by name.
        return (load_game, (self.name,))


@generic_operation
def legal_moves(rules: Operations, position: Any, moves: Any, start: int) -> int:
    """Write the legal moves into ``moves`` from ``start`` on and return their number."""
    return int(rules["legal_moves"](position, moves, start))


def _list_moves(rules: Operations, position: Any, moves: Any) -> int:
    return int(legal_moves(rules, position, moves, 0))


@generic_operation
def play(rules: Operations, position: Any, move: int) -> Any:
    """Position after a legal move."""
    return rules["play"](position, move)


@generic_operation
def is_over(rules: Operations, position: Any) -> bool:
    """Whether the game has ended."""
    return bool(rules["is_over"](position))


@generic_operation
def final_score(rules: Operations, position: Any) -> int:
    """Score of a finished position from the side to move."""
    return int(rules["final_score"](position))


@generic_operation
def hash_key(rules: Operations, position: Any) -> np.uint64:
    """64-bit key of a position."""
    return rules["hash_key"](position)  # type: ignore[no-any-return]


@generic_operation
def count_moves(rules: Operations, position: Any) -> int:
    """Count the legal moves without writing them."""
    return int(rules["count_moves"](position))


@generic_operation
def transform(rules: Operations, position: Any, symmetry: int) -> Any:
    """Image of a position under a board symmetry; 0 is the identity."""
    return rules["transform"](position, symmetry)


def game_names() -> list[str]:
    """Names of all installed games, sorted; nothing is imported."""
    return plugin_names(GAMES_GROUP)


def load_game(name: str | Game) -> Game:
    """Load the installed game of that name, or the member of a family that ``family:text`` names; a game stays itself.

    Raises
    ------
    BadInputError
        Something else is given.
    PluginError
        See :func:`~glem.core.game.registry.load_plugin` and :func:`~glem.core.game.families.load_member`; also when the
        game was written for another interface version or has another name than its entry point.
    """
    if isinstance(name, Game):
        return name
    if not isinstance(name, str):
        raise BadInputError(f"a game is needed, by its name or as a Game, got {described(name)}")
    family = family_of(name)
    if family is not None:
        game: Game = load_member(GAME_FAMILIES_GROUP, name, name.partition(":")[2], Game)
        owner = plugin_owner(GAME_FAMILIES_GROUP, family)
    elif name in family_names() and name not in game_names():
        raise PluginError(f"{name!r} is a family of games: name one of them as {name}:GAME")
    else:
        game = load_plugin(GAMES_GROUP, name, Game)
        owner = plugin_owner(GAMES_GROUP, name)
    if game.interface_version != INTERFACE_VERSION:
        raise PluginError(
            f"{owner} was written for interface version {game.interface_version}, this is "
            f"{versions()}: install a version of the two that fit together"
        )
    if game.name != name:
        raise PluginError(f"{owner} calls itself {game.name!r}: give the entry point and the Game one name")
    return game
