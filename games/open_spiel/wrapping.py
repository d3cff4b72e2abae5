"""Making a game of glem out of one of OpenSpiel, or saying why that cannot be."""

from __future__ import annotations

import difflib
import re
from functools import cache
from typing import Any

from glem.core.errors import BadInputError, GlemError
from glem.core.game.game import BoardLayout, Game
from glem.games.open_spiel.positions import ActionPacking
from glem.games.open_spiel.rules import OpenSpielRules

__all__ = ["FAMILY", "MOST_WORDS", "open_spiel_game", "rules_of"]

FAMILY = "open_spiel"
MOST_WORDS = 256
"""Most 64-bit words that a position may take."""

_MOST_ACTIONS = 32767

_LARGEST_BOARD = 19
_SIZE = r"(?:board_size|columns|k|m|n|num_cols|num_rows|rows|size|x_in_row)=[0-9]{1,2}"
_SMALL = re.compile(rf"[a-z0-9_]+(?:\((?P<sizes>{_SIZE}(?:,{_SIZE})*)?\))?")
_NUMBER = re.compile(r"[0-9]+")


def _pyspiel() -> Any:
    try:
        import pyspiel
    except ImportError:
        raise GlemError("games of OpenSpiel need the package open_spiel: pip install 'glem[open-spiel]'") from None
    return pyspiel


@cache
def rules_of(text: str) -> OpenSpielRules:
    """Rules of the game that OpenSpiel writes as ``text``; see :func:`open_spiel_game`."""
    pyspiel = _pyspiel()
    name = text.partition("(")[0].strip()
    known = pyspiel.registered_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise BadInputError(f"OpenSpiel has no game {name!r}{hint}")
    try:
        game = pyspiel.load_game(text)
    except Exception as error:  # its own class is not part of the package's interface
        raise BadInputError(f"OpenSpiel refuses {text!r}: {' '.join(str(error).split())}") from error
    _check_kind(pyspiel, text, game)
    packing = ActionPacking(game.num_distinct_actions(), game.max_game_length())
    if packing.words > MOST_WORDS:
        raise BadInputError(
            f"OpenSpiel's {text} can last {game.max_game_length()} actions of {game.num_distinct_actions()} kinds: a "
            f"position would take {packing.words} words, glem takes {MOST_WORDS}; a smaller board or a lower limit of "
            "moves may do"
        )
    return OpenSpielRules(text, game, packing)


def _check_kind(pyspiel: Any, text: str, game: Any) -> None:
    kind = game.get_type()
    type_class = pyspiel.GameType
    reasons = {
        f"it has {game.num_players()} players, not two": game.num_players() != 2,
        "players move at the same time": kind.dynamics != type_class.Dynamics.SEQUENTIAL,
        "chance plays a part": kind.chance_mode != type_class.ChanceMode.DETERMINISTIC,
        "players do not see everything": kind.information != type_class.Information.PERFECT_INFORMATION,
        "one's gain is not the other's loss": kind.utility != type_class.Utility.ZERO_SUM,
        f"its results are no whole numbers ({game.min_utility()} to {game.max_utility()})": (
            not float(game.min_utility()).is_integer() or not float(game.max_utility()).is_integer()
        ),
        f"it has {game.num_distinct_actions()} actions, more than {_MOST_ACTIONS}": (
            game.num_distinct_actions() > _MOST_ACTIONS
        ),
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if found:
        raise BadInputError(
            f"OpenSpiel's {text} is no game for glem: {', '.join(found)}; glem takes games that two players play in "
            "turns, with perfect information, without chance, for opposite results"
        )


@cache
def open_spiel_game(text: str) -> Game:
    """Wrap a game of OpenSpiel.

    Parameters
    ----------
    text
        The game as OpenSpiel writes it, with its parameters: ``tic_tac_toe``, ``breakthrough(rows=6,columns=6)``.

    Returns
    -------
    Game
        The same object at every call. Its moves are OpenSpiel's actions and, as the last one, a pass for the player who
        is not to move in OpenSpiel. Final scores are OpenSpiel's returns.

    Raises
    ------
    BadInputError
        There is no such game, it is of another kind, or it can last too long.
    GlemError
        OpenSpiel is not installed.
    """
    rules = rules_of(text)
    game = rules.game
    bound = int(max(abs(game.min_utility()), abs(game.max_utility())))
    actions = int(game.num_distinct_actions())
    return Game(
        name=f"{FAMILY}:{text}",
        title=f"{game.get_type().long_name} (OpenSpiel)",
        initial_position=rules.initial_position,
        legal_moves=rules.legal_moves,
        play=rules.play,
        is_over=rules.is_over,
        final_score=rules.final_score,
        hash_key=rules.hash_key,
        max_moves=actions,
        move_count=actions + 1,
        # A pass can come before every action.
        max_plies=2 * int(game.max_game_length()),
        score_bounds=(-bound, bound),
        format_position=rules.format_position,
        parse_position=rules.parse_position,
        format_move=rules.format_move,
        parse_move=rules.parse_move,
        layout=_layout(game),
        pass_move=rules.pass_move,
        facts={"OpenSpiel's name": str(game)},
    )


def _is_small(text: str) -> bool:
    found = _SMALL.fullmatch(text)
    return found is not None and all(int(number) <= _LARGEST_BOARD for number in _NUMBER.findall(found["sizes"] or ""))


open_spiel_game.is_harmless = _is_small  # type: ignore[attr-defined]


def _layout(game: Any) -> BoardLayout | None:
    """Board of the observation, if it is planes over a board."""
    if not game.get_type().provides_observation_tensor:
        return None
    shape = game.observation_tensor_shape()
    return BoardLayout(rows=int(shape[1]), columns=int(shape[2])) if len(shape) == 3 else None
