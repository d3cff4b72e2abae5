"""The engine: the game that it keeps, and the player that thinks for it."""

import threading
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.game.game import Game, load_game
from glem.core.players.engine import Engine
from glem.core.players.player import MoveChoice
from glem.core.players.spec import PlayerSpec
from glem.core.search.results import Limits, SearchResult
from glem.core.tasks.stop import Stop
from glem.games.othello.notation import format_position
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.game.countdown_game import COUNTDOWN

RANDOM = PlayerSpec("random", kind="random")
OTHELLO = load_game("othello")


def random_game(game: Game, seed: int, plies: int) -> Engine:
    engine = Engine(game, RANDOM)
    for move in random_line(game, np.random.default_rng(seed))[1][:plies]:
        engine.play(move)
    return engine


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 120))
def test_game_can_be_taken_back_and_played_again_from_its_text(seed: int, plies: int) -> None:
    engine = random_game(OTHELLO, seed, plies)
    again = Engine(OTHELLO, RANDOM)
    again.play_text(engine.transcript())
    if engine.moves and engine.moves[-1] == OTHELLO.pass_move:
        # A pass at the very end is not written, and nothing after it asks for it.
        engine.undo()
    assert again.moves == engine.moves
    assert again.position == engine.position
    assert again.first_to_move == (len(again.moves) % 2 == 0)
    for played in reversed(again.moves):
        assert again.undo() == played
    assert again.position == OTHELLO.initial_position
    assert again.previous == ()


def test_moves_are_read_as_people_write_them(othello: Game) -> None:
    for text in ("f5d6c3", "F5 D6 c3", " f5,d6;c3 ", "f5\td6 \n c3"):
        engine = Engine(othello, RANDOM)
        engine.play_text(text)
        assert engine.transcript() == "f5d6c3"
    engine = Engine(COUNTDOWN, RANDOM)
    engine.play_text("take3take1 take2")
    assert engine.transcript() == "take3 take1 take2"
    assert not engine.must_pass()
    engine.play_text("take3")
    assert engine.is_over
    # The one who takes the last stone wins: the second player.
    assert engine.first_score == -1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f5d6a1", "'a1' is no legal move after the first 2; legal: "),
        ("a1d3", "'a1d3' is no legal move; legal: d3, c4, f5, e6"),
        ("xx", r"^'xx' is no square \(a1 to h8, or -- for a pass\)$"),
        ("xx f5", r"^'xx' is no square \(a1 to h8, or -- for a pass\)$"),
        ("f5 d6 xx", r"^'xx' is no square .*, after 2 legal moves$"),
        ("--", "'--' is no legal move"),
        ("f5" + "\N{SNOWMAN}" * 1000, "^'\N{SNOWMAN}{10}' is no square .*, after 1 legal move$"),
    ],
)
def test_bad_moves_are_refused_and_nothing_is_played(othello: Game, text: str, message: str) -> None:
    engine = Engine(othello, RANDOM)
    with pytest.raises(BadInputError, match=message):
        engine.play_text(text)
    assert engine.moves == ()
    assert engine.position == othello.initial_position


def test_single_moves_are_checked(othello: Game) -> None:
    engine = Engine(othello, RANDOM)
    assert engine.move_of("F5") == othello.parse_move("f5")
    with pytest.raises(BadInputError, match="a1 is not legal here; legal: d3, c4, f5, e6"):
        engine.move_of("a1")
    with pytest.raises(BadInputError, match="no square"):
        engine.move_of("z9")
    with pytest.raises(BadInputError, match="h8 is not legal here"):
        engine.play(63)
    with pytest.raises(BadInputError, match="no move to take back"):
        engine.undo()
    with pytest.raises(BadInputError, match="not over"):
        _ = engine.first_score


def test_a_game_may_begin_elsewhere_with_the_second_player(othello: Game) -> None:
    engine = Engine(othello, RANDOM)
    engine.set_position(othello.parse_position(f"{'-' * 27}OX------XO{'-' * 27} O"), first_to_move=False)
    assert not engine.first_to_move
    engine.play_text("d6")
    assert engine.first_to_move
    engine.new_game()
    assert engine.first_to_move
    assert engine.moves == ()


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 60))
def test_texts_of_positions_say_who_is_to_move(seed: int, plies: int) -> None:
    engine = random_game(OTHELLO, seed, plies)
    text = format_position(engine.position, black_to_move=engine.first_to_move)
    read = Engine(OTHELLO, RANDOM)
    read.set_position_text(text)
    assert read.position == engine.position
    assert read.first_to_move == engine.first_to_move
    read.set_position_text(text.replace("X", "*").replace("O", "w"))
    assert read.first_to_move == engine.first_to_move


def test_texts_of_other_games_say_who_is_to_move(othello: Game) -> None:
    four = load_game("connect_four")
    after = four.play(four.initial_position, 3)
    for position, first_to_move in ((four.initial_position, True), (after, False), (four.play(after, 3), True)):
        engine = Engine(four, RANDOM)
        engine.set_position_text(four.format_position(position))
        assert (engine.position, engine.first_to_move) == (position, first_to_move)
    engine = Engine(COUNTDOWN, RANDOM)
    engine.set_position_text("4 stones")
    assert engine.first_to_move
    assert engine.position.stones == 4
    with pytest.raises(BadInputError, match="no number of stones"):
        engine.set_position_text("four stones")
    with pytest.raises(BadInputError, match="64 squares"):
        Engine(othello, RANDOM).set_position_text("X X")


def test_player_chooses_legal_moves_until_the_end() -> None:
    engine = Engine(COUNTDOWN, RANDOM)
    while not engine.is_over:
        engine.play(engine.choose().move)
    with pytest.raises(BadInputError, match="no move to choose"):
        engine.choose()
    with pytest.raises(BadInputError, match="nothing to analyse"):
        engine.analyse()


def test_analysis_tells_every_iteration_and_several_lines(othello: Game, searching: PlayerSpec) -> None:
    engine = Engine(othello, searching)
    engine.play_text("f5d6")
    seen: list[SearchResult] = []
    result = engine.analyse(lines=3, on_iteration=seen.append)
    assert [iteration.depth for iteration in seen] == [1, 2, 3]
    assert seen[-1].lines == result.lines
    assert len({line.moves[0] for line in result.lines}) == 3
    assert {line.moves[0] for line in result.lines} <= set(engine.legal_moves())
    values = [line.value for line in result.lines]
    assert values == sorted(values, reverse=True)
    assert engine.line_text(result.lines[0]) == f"{values[0]:+.2f}"
    assert engine.unit == "discs"
    assert engine.choose().move == result.lines[0].moves[0]
    assert engine.choose().score == pytest.approx(values[0])


def test_scores_of_choices_are_worded(othello: Game, searching: PlayerSpec) -> None:
    engine = Engine(othello, searching)
    assert engine.score_text(MoveChoice(0, score=1.25)) == "+1.25"
    assert engine.score_text(MoveChoice(0, score=-4.0, exact=True)) == "-4 exactly"
    assert engine.score_text(MoveChoice(0)) == ""
    greedy = PlayerSpec("greedy", kind="greedy", evaluation="mobility")
    assert Engine(othello, greedy).score_text(MoveChoice(0, score=-3.0)) == "-3.00"


def test_thinking_without_a_limit_ends_when_another_thread_says_so(othello: Game, searching: PlayerSpec) -> None:
    engine = Engine(othello, attrs.evolve(searching, limits=Limits(depth=100), solve_from=60))
    stop = Stop()

    def stop_at_depth_3(analysis: SearchResult) -> None:
        if analysis.depth == 3:
            stop.set()

    result = engine.analyse(stop=stop, on_iteration=stop_at_depth_3)
    # The look before the solver may be over by then; the solver, which would take years, does not begin.
    assert not result.proven
    assert result.lines[0].moves[0] in engine.legal_moves()
    timer = threading.Timer(0.1, stop.set)
    stop.clear()
    timer.start()
    assert engine.choose(stop=stop).move in engine.legal_moves()
    timer.join()


def test_an_interrupt_stops_the_search(othello: Game, searching: PlayerSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(othello, searching)
    engine.prepare()
    seen: list[Stop] = []

    def interrupted(_engine: Any, position: Any, previous: Any, clock: Any, *, stop: Stop) -> None:
        seen.append(stop)
        raise KeyboardInterrupt

    monkeypatch.setattr("glem.core.players.thinker.Thinker.choose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.choose()
    assert seen[0].is_set()


def test_limits_can_be_changed(othello: Game, searching: PlayerSpec) -> None:
    engine = Engine(othello, searching)
    assert engine.choose().depth == 3
    engine.limit(Limits(depth=2))
    assert engine.choose().depth == 2
    assert engine.analyse().depth == 2
    assert engine.analyse(limits=Limits(depth=4)).depth == 4
