"""Games of OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453) as games of glem, without writing rules.

The family ``open_spiel`` wraps any game of the package that two players play in turns, with perfect information and
without chance, for a result that is one's gain and the other's loss. ``load_game("open_spiel:breakthrough(rows=6)")``
loads one; what stands behind the colon is a game as OpenSpiel writes it. The rules are OpenSpiel's own: numba cannot
compile them, so everything runs as plain Python, with a warning.
"""

import re
from functools import cache
from typing import Any

from glem.core.game.game import BoardLayout, Game
from glem.games.open_spiel.rules import rules_of

_FAMILY = "open_spiel"
_LARGEST_BOARD = 19
_SIZE = r"(?:board_size|columns|k|m|n|num_cols|num_rows|rows|size|x_in_row)=[0-9]{1,2}"
_SMALL = re.compile(rf"[a-z0-9_]+(?:\((?P<sizes>{_SIZE}(?:,{_SIZE})*)?\))?")
_NUMBER = re.compile(r"[0-9]+")


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
        name=f"{_FAMILY}:{text}",
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
