"""The rules of a wrapped game, asked of OpenSpiel."""

import contextlib
import difflib
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from glem.core.compiling.kernels import mix
from glem.core.errors import BadInputError, GlemError
from glem.core.tasks.counts import counted
from glem.games.open_spiel.positions import ActionPacking

PASS = "--"  # noqa: S105 - a move, no password
"""How the forced pass of a player is written who is not to move in OpenSpiel."""

MOST_WORDS = 256
"""Most 64-bit words that a position may take."""

_SHORTENING = {"board_size", "columns", "m", "max_game_length", "n", "num_cols", "num_rows", "rows", "size"}
"""Parameters of OpenSpiel's games on which depends how long they last."""

_KINDS = {"kInt": "a whole number", "kDouble": "a number", "kBool": "true or false", "kString": "a text"}
_MOST_ACTIONS = 32767
_START = "start"
_KEPT_STATES = 1 << 15
_WORD = 1 << 64
_GOLDEN = 0x9E3779B97F4A7C15


class OpenSpielRules:
    """The functions of :class:`~glem.core.game.game.Game`, for a game of OpenSpiel.

    A position is the sequence of actions that led to it. Players alternate in glem: where OpenSpiel lets one of them
    act again, the other passes, which is his only legal move then. The states behind the positions met last are kept.

    Parameters
    ----------
    text
        The game as OpenSpiel writes it.
    game
        The game of ``pyspiel``.
    packing
        How its positions are packed.
    """

    def __init__(self, text: str, game: Any, packing: ActionPacking) -> None:
        self.text = text
        self.game = game
        self.packing = packing
        self.pass_move = int(game.num_distinct_actions())
        self._names = _action_names(game)
        self._moves = {name: move for move, name in enumerate(self._names)}
        self._states: dict[Any, Any] = {}
        self.initial_position = packing.empty(int(game.new_initial_state().current_player()))

    def __reduce__(self) -> Any:
        return (rules_of, (self.text,))

    def state(self, position: Any) -> Any:
        """State of ``pyspiel`` behind a position; not to be changed."""
        state = self._states.pop(position, None)
        if state is None:
            state = self.game.new_initial_state()
            for action in self.packing.actions(position):
                state.apply_action(action)
        self._keep(position, state)
        return state

    def _keep(self, position: Any, state: Any) -> None:
        # The one used last stands last; the first goes.
        self._states[position] = state
        if len(self._states) > _KEPT_STATES:
            self._states.pop(next(iter(self._states)), None)

    def legal_moves(self, position: Any, moves: Any, start: int) -> int:
        """Write the legal actions, or the pass."""
        state = self.state(position)
        if state.is_terminal():
            return 0
        if state.current_player() != position.mover:
            moves[start] = self.pass_move
            return 1
        actions: list[int] = state.legal_actions()
        moves[start : start + len(actions)] = actions
        return len(actions)

    def play(self, position: Any, move: int) -> Any:
        """Position after an action or a pass."""
        other = 1 - int(position.mover)
        if move == self.pass_move:
            return position._replace(mover=np.uint8(other))
        state = self.state(position).clone()
        state.apply_action(int(move))
        after = self.packing.appended(position, int(move), other)
        self._keep(after, state)
        return after

    def is_over(self, position: Any) -> bool:
        """Whether the state is terminal."""
        return bool(self.state(position).is_terminal())

    def final_score(self, position: Any) -> int:
        """Return of the player to move; :class:`GlemError` when it is no whole number."""
        value = self.state(position).returns()[int(position.mover)]
        score: int = round(value)
        if score != value:
            raise GlemError(f"OpenSpiel's {self.text} ends with a return of {value}; glem takes whole numbers")
        return score

    def hash_key(self, position: Any) -> np.uint64:
        """64-bit key of the actions and the player to move."""
        key = 0
        for value in self.packing.used(position):
            key = (int(mix(np.uint64(key ^ value))) + _GOLDEN) % _WORD
        return np.uint64(key)

    def format_move(self, move: int) -> str:
        """OpenSpiel's name of an action without the player's, where it has one of its own; else its number."""
        return PASS if move == self.pass_move else self._names[move]

    def parse_move(self, text: str) -> int:
        """Find the number of an action; :class:`BadInputError` when there is none of that name."""
        move = self.pass_move if text == PASS else self._moves.get(text)
        if move is None:
            raise BadInputError(f"{self.text}: {text!r} is no move; moves are written as {', '.join(self._names[:3])}")
        return move

    def format_position(self, position: Any) -> str:
        """Write the moves that led to a position, or ``start``; of the passes only one that has just been made."""
        actions = self.packing.actions(position)
        words = [self._names[action] for action in actions] or [_START]
        return " ".join([*words, PASS] if self._has_passed(position, actions) else words)

    def _has_passed(self, position: Any, actions: Sequence[int]) -> bool:
        if not actions:
            return bool(position.mover != self.initial_position.mover)
        before = self.game.new_initial_state()
        for action in actions[:-1]:
            before.apply_action(action)
        return bool(position.mover == before.current_player())

    def parse_position(self, text: str) -> Any:
        """Play moves from the start; :class:`BadInputError` when there are none, or one is unknown or illegal."""
        position = self.initial_position
        words = text.split()
        if not words:
            raise BadInputError(f"{self.text}: a position is written as the moves that lead there, or {_START}")
        for word in words[1:] if words[0] == _START else words:
            move = self.parse_move(word)
            if move == self.pass_move:
                position = self.play(position, move)
                continue
            state = self.state(position)
            if state.is_terminal() or move not in state.legal_actions():
                raise BadInputError(f"{self.text}: {word} is illegal after {self.format_position(position)}")
            if state.current_player() != position.mover:
                position = self.play(position, self.pass_move)
            position = self.play(position, move)
        return position


def _pyspiel() -> Any:
    try:
        import pyspiel
    except ImportError:
        raise GlemError("games of OpenSpiel need the package open_spiel: pip install 'pyglem[open-spiel]'") from None
    return pyspiel


@cache
def rules_of(text: str) -> OpenSpielRules:
    """Rules of the game that OpenSpiel writes as ``text``, if it is one for glem."""
    pyspiel = _pyspiel()
    name = text.partition("(")[0].strip()
    known = pyspiel.registered_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise BadInputError(f"OpenSpiel has no game {name!r}{hint}")
    parameters = next(kind.parameter_specification for kind in pyspiel.registered_games() if kind.short_name == name)
    taken = f"it takes {', '.join(sorted(parameters)) or 'no parameters'}"
    try:
        with _silenced():
            game = pyspiel.load_game(text)
    except Exception as error:  # its own class is not part of the package's interface
        raise BadInputError(f"OpenSpiel cannot make {text!r}{_said(error)}; {taken}") from error
    _check_kind(pyspiel, text, game)
    if game.max_game_length() < 1:
        raise BadInputError(f"OpenSpiel's {text} has no moves; {taken}")
    packing = ActionPacking(game.num_distinct_actions(), game.max_game_length())
    if packing.words > MOST_WORDS:
        shorter = [name for name in sorted(parameters) if name in _SHORTENING]
        raise BadInputError(
            f"OpenSpiel's {text} can last {counted(game.max_game_length(), 'action')} of "
            f"{game.num_distinct_actions():,} kinds: "
            f"a position would take {counted(packing.words, 'word')}, glem takes {MOST_WORDS}"
            + (f"; a smaller {' or '.join(shorter)} may do" if shorter else "")
        )
    return OpenSpielRules(text, game, packing)


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Keep from standard error what OpenSpiel writes there besides raising it."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a device, no path of a user
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _said(error: Exception) -> str:
    """Say what an error of OpenSpiel tells people: no places in its sources, no types of C++."""
    lines = str(error).splitlines() or [""]
    said = lines[0].partition(" Available ")[0].removesuffix(".")
    for kind, word in _KINDS.items():
        said = said.replace(kind, word)
    return "" if re.search(r"::|CHECK_|\.(?:cc|h):", said) else f": {said}"


def _check_kind(pyspiel: Any, text: str, game: Any) -> None:
    kind = game.get_type()
    type_class = pyspiel.GameType
    reasons = {
        f"it has {counted(game.num_players(), 'player')}, not two": game.num_players() != 2,
        "players move at the same time": kind.dynamics != type_class.Dynamics.SEQUENTIAL,
        "chance plays a part": kind.chance_mode != type_class.ChanceMode.DETERMINISTIC,
        "players do not see everything": kind.information != type_class.Information.PERFECT_INFORMATION,
        "one's gain is not the other's loss": kind.utility != type_class.Utility.ZERO_SUM,
        f"its results are no whole numbers ({game.min_utility()} to {game.max_utility()})": (
            not float(game.min_utility()).is_integer() or not float(game.max_utility()).is_integer()
        ),
        f"it has {counted(game.num_distinct_actions(), 'action')}, more than {_MOST_ACTIONS}": (
            game.num_distinct_actions() > _MOST_ACTIONS
        ),
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if found:
        raise BadInputError(
            f"OpenSpiel's {text} is no game for glem: {', '.join(found)}; glem takes games that two players play in "
            "turns, with perfect information, without chance, for opposite results"
        )


def _action_names(game: Any) -> list[str]:
    """One name without spaces for each action, the same for both players."""
    names = []
    state = game.new_initial_state()
    for action in range(game.num_distinct_actions()):
        try:
            names.append(_shared(*(state.action_to_string(player, action) for player in (0, 1))))
        except Exception:  # noqa: BLE001 - OpenSpiel raises what it likes for actions that it cannot name
            names.append("")
    known = {PASS, _START, ""}
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    return [f"@{action}" if name in known or name in twice else name for action, name in enumerate(names)]


def _shared(first: str, second: str) -> str:
    """Name of an action without its player: what both players' names end in."""
    if first.lower() == second.lower():
        return "".join((first if first == second else first.lower()).split())
    common = 0
    while common < min(len(first), len(second)) and first[-1 - common] == second[-1 - common]:
        common += 1
    return "".join(first[len(first) - common :].split())
