from typing import Any

import pytest
from attrs import evolve

from glem.core.game.game import load_game
from glem.core.players.player import MoveChoice
from glem.core.players.spec import PlayerSpec
from glem.core.tournament.games import End, GameTask, PlayedGame, play_game
from glem.core.tournament.openings import Opening
from glem.core.tournament.transcripts import contradictions
from tests.core.search import duel_game
from tests.core.search.duel_game import duel

DUEL = duel(reversible_plies=duel_game.reversible_plies, is_drawn=duel_game.is_drawn)
FOUR = load_game("connect_four")
WON = (0, 1, 0, 1, 0, 1, 0)


def four(moves: tuple[int, ...], **fields: Any) -> PlayedGame:
    """Game of Connect Four that the first player wins, after an opening of one move."""
    known: dict[str, Any] = {"score": 1, "result": 1, "end": End.FINISHED, "opening": Opening(moves[:1])}
    choices = tuple(MoveChoice(move) for move in moves[1:])
    return PlayedGame(0, ("one", "two"), moves=choices, overruns=(0, 0), **{**known, **fields})


def test_games_that_were_played_say_what_their_moves_say() -> None:
    spec = PlayerSpec("walker", kind="random")
    start = "3 192 0"
    games = [
        play_game(GameTask(DUEL, number, Opening((), start if number % 2 else ""), spec, spec)) for number in range(60)
    ]
    assert {End.FINISHED, End.DRAWN, End.REPETITION} <= {game.end for game in games}
    assert contradictions(DUEL, games) == [""] * 60
    drawn = next(game for game in games if game.end is End.DRAWN)
    assert "its score is given as 1, but its moves give 0" in contradictions(DUEL, [evolve(drawn, score=1)])
    cut = evolve(drawn, moves=drawn.moves[:-1])
    assert contradictions(DUEL, [cut]) == ["it ended as drawn, which its moves do not show"]


@pytest.mark.parametrize(
    ("game", "problem"),
    [
        (four(WON), ""),
        (four(WON, score=-1), "its score is given as -1, but its moves give 1"),
        (four(WON, score=None), "its score is given as None, but its moves give 1"),
        (four(WON, result=-1), "its result is given as -1, but its end gives 1"),
        (four(WON[:-1]), "it ended as finished, but its moves leave the game"),
        (four((*WON, 1)), "move 8 is illegal"),
        (four(WON, end=End.TIME, score=None), "it ended as time, but its moves end the game"),
        (four(WON[:-1], end=End.TIME, score=None), ""),
        (four(WON[:-1], end=End.TIME), "its score is given as 1, but its moves give None"),
        (four(WON[:-1], end=End.TIME, score=None, result=-1), "its result is given as -1, but its end gives 1"),
        (four(WON[:-1], end=End.FAILURE, score=None, result=-1), ""),
        (four(WON[:-1], end=End.FAILURE, score=None), "its result is given as 1, but its end gives -1"),
        (four(WON[:-1], end=End.ADJUDICATED), ""),
        (four(WON[:-1], end=End.ADJUDICATED, score=99), "its adjudicated score is 99, expected one from -1 to 1"),
        (four(WON[:-1], end=End.REPETITION, score=0), "it ended as repetition, which its moves do not show"),
    ],
)
def test_what_the_moves_contradict_is_told(game: PlayedGame, problem: str) -> None:
    assert contradictions(FOUR, [game]) == [problem]
