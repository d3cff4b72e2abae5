"""Single games: clocks, adjudication, records, and records that their moves contradict."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import Factory, define, evolve

from glem.core.errors import BadInputError, GlemError
from glem.core.game.game import Game, load_game
from glem.core.players.player import MoveChoice
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.search.results import Clock
from glem.core.search.searcher import Searcher
from glem.core.tasks.kept import Kept
from glem.core.tournament import games
from glem.core.tournament.games import Adjudication, End, GameTask, PlayedGame, play_game
from glem.core.tournament.openings import Opening
from glem.core.tournament.standings import Standings
from glem.core.tournament.transcripts import contradictions
from tests.core.game.countdown_game import COUNTDOWN
from tests.core.search import duel_game
from tests.core.search.duel_game import duel
from tests.core.search.test_solver import SOLVABLE


@define
class FakeTime:
    """A clock that only players move on, so that a busy machine overruns nothing."""

    now: float = 0.0

    def perf_counter(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.now


@define
class SlowPlayer:
    """Takes one stone in the given time, and remembers the clocks that it saw."""

    name: str
    time: FakeTime
    delay: float = 0.0
    illegal: bool = False
    clocks: list[Clock | None] = Factory(list)

    def new_game(self, number: int = 0) -> None:
        self.clocks.clear()

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        self.clocks.append(clock)
        self.time.now += self.delay
        return MoveChoice(9 if self.illegal else 0, nodes=7, depth=2)

    def close(self) -> None:
        pass


@pytest.fixture
def slow_players(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, SlowPlayer]]:
    """Makes the players that games are played by, of their delays or settings by name."""

    def make(**settings: dict[str, Any]) -> dict[str, SlowPlayer]:
        clock = FakeTime()
        players = {name: SlowPlayer(name, clock, **more) for name, more in settings.items()}
        monkeypatch.setattr(games, "time", clock)
        monkeypatch.setattr(games, "kept_player", lambda _game, spec: players[spec.name])
        return players

    return make


def task(first: str, second: str, **settings: Any) -> GameTask:
    adjudication = Adjudication(**settings)
    return GameTask(COUNTDOWN, 0, Opening(), parse_player(first), parse_player(second), adjudication)


def rounded(move: MoveChoice) -> MoveChoice:
    """A move with its times as records have them."""
    assert move.processor_seconds is not None
    return evolve(move, seconds=round(move.seconds, 6), processor_seconds=round(move.processor_seconds, 6))


def test_overruns_of_a_move_are_counted(slow_players: Callable[..., dict[str, SlowPlayer]]) -> None:
    slow_players(slow={"delay": 0.12}, fast={})
    game = play_game(task("name=slow,seconds=0.01", "name=fast,seconds=0.01"))
    assert len(game.moves) == 9
    assert game.end == End.FINISHED
    assert game.overruns == (5, 0)
    assert [move.seconds for move in game.moves] == pytest.approx([0.12, 0.0] * 4 + [0.12])
    # The first player took the last stone.
    assert (game.score, game.result) == (1, 1)


@pytest.mark.parametrize("slow_first", [True, False])
def test_a_clock_that_runs_out_loses_only_if_it_shall(
    slow_players: Callable[..., dict[str, SlowPlayer]], slow_first: bool
) -> None:
    players = slow_players(slow={"delay": 0.09}, fast={})
    texts = ("name=slow,clock=0.1+0.01", "name=fast,clock=0.1+0.01")
    order = texts if slow_first else texts[::-1]
    counted = play_game(task(*order))
    side = 0 if slow_first else 1
    assert counted.end == End.FINISHED
    moves = 5 if slow_first else 4
    assert (counted.overruns[side], counted.overruns[1 - side]) == (moves - 1, 0)
    # 0.09 s a move and 0.01 s back: from the second move on the clock is overrun, by more than measuring explains.
    remaining = [clock.remaining for clock in players["slow"].clocks if clock is not None]
    assert remaining[:4] == pytest.approx([0.1, 0.02, 0.01, 0.01])
    lost = play_game(task(*order, time_forfeit=True))
    assert (lost.end, lost.score, lost.result) == (End.TIME, None, -1 if slow_first else 1)
    assert lost.overruns[side] == 1
    standings = Standings(("slow", "fast"))
    standings.add(lost)
    assert standings.totals["slow"].lost_on_time == standings.totals["slow"].losses == 1
    assert standings.totals["fast"].wins == 1


def test_an_illegal_move_stops_everything(slow_players: Callable[..., dict[str, SlowPlayer]]) -> None:
    slow_players(bad={"illegal": True}, good={})
    with pytest.raises(GlemError, match="game 0: bad chose move 9, which is illegal in 8 stones"):
        play_game(task("random,name=good", "random,name=bad"))


def test_adjudication_gives_the_exact_score_from_the_first_players_view(
    slow_players: Callable[..., dict[str, SlowPlayer]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(games, "_kept_solvers", Kept(1))
    # Sooner than to compile it.
    monkeypatch.setattr(Searcher.__init__, "__kwdefaults__", {"plain": True, "shared": None})
    slow_players(one={}, other={})
    for limit in range(1, 10):
        job = evolve(task("random,name=one", "random,name=other", solve_from=limit), game=SOLVABLE)
        game = play_game(job)
        left = limit
        assert len(game.moves) == 9 - left
        assert game.end == End.ADJUDICATED
        own_score = 1 if left % 4 else -1
        assert game.score == game.result == (own_score if (9 - left) % 2 == 0 else -own_score)


@pytest.fixture(scope="module")
def random_game(othello: Game) -> PlayedGame:
    return play_game(GameTask(othello, 0, Opening(), parse_player("random"), parse_player("random,seed=1")))


def test_records_survive_json(othello: Game) -> None:
    opening = Opening(tuple(othello.parse_move(name) for name in ("f5", "d6", "c3")))
    specs = (parse_player("greedy,evaluation=mobility"), parse_player("random,seed=4"))
    game = play_game(GameTask(othello, 8, opening, *specs))
    assert game.side_of(0) == 1
    found = PlayedGame.from_json(othello, json.loads(json.dumps(game.to_json(othello))))
    assert found == evolve(game, moves=tuple(map(rounded, game.moves)))


@pytest.mark.parametrize("score", [float("inf"), float("-inf"), float("nan")])
def test_scores_that_json_lacks_become_null(othello: Game, random_game: PlayedGame, score: float) -> None:
    game = evolve(random_game, moves=(evolve(random_game.moves[0], score=score), *random_game.moves[1:]))
    record = json.loads(json.dumps(game.to_json(othello), allow_nan=False))
    assert PlayedGame.from_json(othello, record).moves[0].score is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("moves", [["z9"]]),
        ("moves", [["f5", "x", 0, 0, 0, False, None]]),
        ("moves", 5),
        ("players", ["one"]),
        ("end", "bored"),
        ("score", "x"),
        ("score", 1.5),
        ("number", None),
        ("number", "1_0"),
        ("number", True),
        ("result", 2),
        ("overruns", [-1, 0]),
        ("moves", [["f5", 0, 0, 0, float("nan"), False, None]]),
    ],
)
def test_damaged_records_are_refused(othello: Game, random_game: PlayedGame, name: str, value: Any) -> None:
    with pytest.raises(BadInputError):
        PlayedGame.from_json(othello, {**json.loads(json.dumps(random_game.to_json(othello))), name: value})
    with pytest.raises(BadInputError, match="no record of a game"):
        PlayedGame.from_json(othello, [])


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
