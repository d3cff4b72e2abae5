"""Players without a search, and the texts of players."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.features.learning import Learning, Phases
from glem.core.game.game import Game, load_game
from glem.core.players.making import make_player
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.search.probcut import ProbCut
from glem.core.search.results import Clock, Limits
from tests.core.evaluation.linear_evaluations import linear_evaluation
from tests.core.game.countdown_game import COUNTDOWN


def playout(game: Game, spec: PlayerSpec, number: int) -> list[int]:
    player = make_player(game, spec)
    player.new_game(number)
    position, previous, moves = game.initial_position, [], []
    while not game.is_over(position):
        choice = player.choose(position, previous, None)
        assert choice.move in game.list_legal_moves(position)
        moves.append(choice.move)
        previous.append(position)
        position = game.play(position, choice.move)
    player.close()
    return moves


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("random", PlayerSpec("random", kind="random")),
        ("greedy,evaluation=mobility", PlayerSpec("greedy,evaluation=mobility", kind="greedy", evaluation="mobility")),
        (
            "name=A, evaluation=model.npz, depth=6, solve=14, result=20",
            PlayerSpec("A", evaluation="model.npz", limits=Limits(depth=6), solve_from=14, result_from=20),
        ),
        (
            "folder/model.npz,clock=60+0.5,probcut=off,table=64",
            PlayerSpec(
                "model,clock=60+0.5,probcut=off,table=64",
                evaluation="folder/model.npz",
                limits=Limits(clock=Clock(60, 0.5)),
                selective=False,
                table_mb=64,
            ),
        ),
        (
            "name=B,nodes=1000,seconds=0.5,probcut=cut.npz,seed=3",
            PlayerSpec("B", limits=Limits(nodes=1000, seconds=0.5), probcut="cut.npz", seed=3),
        ),
        ("default", PlayerSpec("default", limits=Limits(depth=2))),
    ],
)
def test_text_of_a_player(text: str, expected: PlayerSpec) -> None:
    assert parse_player(text, limits=Limits(depth=2)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "evaluation must be a file"),
        ("default", "has no limit"),
        ("folder/model.npz,solve=4", "folder/model.npz: no such file$"),
        ("random,dept=3", "unknown option 'dept'; known: .*depth"),
        ("model.npz,depth=3,depth=4", "depth twice"),
        ("model.npz,evaluation=b.npz,depth=4", "evaluation twice"),
        ("model.npz,depth=x", "depth must be a number of plies, got 'x'"),
        ("model.npz,depth=0", "depth is 0, expected a whole number of at least 1"),
        ("model.npz,clock=-5", "clock must be seconds a game"),
        ("model.npz,clock=5+x", "clock must be seconds a game"),
        ("model.npz,clock=nan", "clock must be seconds a game"),
        ("model.npz,clock=5+nan", "a clock cannot hold"),
        ("kind=best", "of kind 'best'; known: search, greedy, random"),
        ("mobility,depth=3", "for greedy players"),
        ("random,name=", "name must be a name"),
        ("greedy,depth=3", "does not search: leave depth="),
        ("random,table=0", "table of player .* must be at least 1"),
        (f"random,name={'x' * 61}", "1 to 60"),
    ],
)
def test_bad_texts_of_players_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        parse_player(text)


def test_specs_survive_pickle_and_json() -> None:
    text = "name=A,evaluation=m.npz,clock=60+1,nodes=5,solve=14,probcut=off"
    for spec in (parse_player(text), parse_player(f"{text},threads=3")):
        assert pickle.loads(pickle.dumps(spec)) == spec
        assert PlayerSpec.from_json(spec.to_json()) == spec
    # Runs that began before there were such options go on: their descriptions must be equal.
    assert not {"threads", "options", "quiescence"} & parse_player(text).to_json().keys()
    assert parse_player("random").to_json()["solve_from"] is None
    with pytest.raises(BadInputError, match="no description"):
        PlayerSpec.from_json({"name": "A"})


@pytest.mark.parametrize("text", ["random,seed=1", "greedy,evaluation=mobility,seed=1"])
def test_moves_depend_on_seed_and_game_number_alone(othello: Game, text: str) -> None:
    spec = parse_player(text)
    first = playout(othello, spec, 5)
    assert playout(othello, spec, 5) == first
    assert playout(othello, spec, 6) != first
    assert playout(othello, parse_player(text.replace("seed=1", "seed=2")), 5) != first


def test_greedy_plays_the_move_with_the_best_value(othello: Game, othello_learning: Learning, tmp_path: Path) -> None:
    path = tmp_path / "discs.npz"
    linear_evaluation(othello_learning, disc_difference=1.0).save(path)
    player = make_player(othello, parse_player(f"greedy,evaluation={path}").resolved(othello))
    position: Any = othello.initial_position
    for _ in range(20):
        discs = {
            move: int(after.opponent).bit_count() - int(after.own).bit_count()
            for move in othello.list_legal_moves(position)
            for after in [othello.play(position, move)]
        }
        choice = player.choose(position, [], None)
        assert choice.score == discs[choice.move] == max(discs.values())
        assert choice.nodes == len(discs)
        position = othello.play(position, choice.move)


def test_greedy_scores_finished_successors_by_their_result(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("connect_four")

    def refuse_finished(phases: Phases, positions: Any) -> Any:
        for row in range(len(positions[0])):
            assert not game.is_over(position_at(positions, row))
        return phases_of(phases, positions)

    phases_of = Phases.of
    monkeypatch.setattr(Phases, "of", refuse_finished)
    player = make_player(game, parse_player("greedy,evaluation=default"))
    for text, move, score in (
        ("XXOXOO-OXXOXXXXOOXOXOOXXOOXOXOXXXOXOOXOOXO O", "7", 0.0),
        ("----------------------------OOO----XXX---- X", "4", None),
    ):
        choice = player.choose(game.parse_position(text), [], None)
        assert (game.format_move(choice.move), choice.score) == (move, score)


def test_greedy_takes_a_win_at_once() -> None:
    player = make_player(COUNTDOWN, parse_player("greedy,evaluation=mobility"))
    for stones in (1, 2, 3):
        position = COUNTDOWN.parse_position(f"{stones} stones")
        choice = player.choose(position, [], None)
        assert choice.move == stones - 1
        assert choice.score is None


def test_evaluations_that_do_not_fit_are_refused(othello: Game, othello_learning: Learning, tmp_path: Path) -> None:
    path = tmp_path / "discs.npz"
    linear_evaluation(othello_learning, disc_difference=1.0).save(path)
    with pytest.raises(BadInputError, match=r"missing\.npz.*no such file"):
        parse_player("greedy,evaluation=missing.npz").resolved(othello)
    with pytest.raises(BadInputError, match="evaluates othello, the game is countdown"):
        parse_player(f"greedy,evaluation={path}").resolved(COUNTDOWN)
    with pytest.raises(BadInputError, match="Countdown has nothing to evaluate"):
        parse_player("greedy").resolved(COUNTDOWN)
    with pytest.raises(BadInputError, match="Countdown cannot be solved"):
        parse_player(f"{path},depth=2,solve=5").resolved(COUNTDOWN)
    spec = parse_player(f"greedy,evaluation={path}").resolved(othello)
    linear_evaluation(othello_learning, mobility=1.0).save(path)
    with pytest.raises(BadInputError, match="not what it was"):
        make_player(othello, spec)


def test_paths_may_have_commas_in_quotes_and_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse_player("'a,b.npz',depth=3").evaluation == "a,b.npz"
    spec = parse_player("name=O'Neil,evaluation=\"d'a,b.npz\",probcut=~/some.npz,depth=3")
    assert (spec.name, spec.evaluation, spec.probcut) == ("O'Neil", "d'a,b.npz", f"{tmp_path}/some.npz")
    assert parse_player("~nobody-of-that-name/m.npz,depth=3").evaluation == "~nobody-of-that-name/m.npz"
    for text in ("default,,depth=3", ",depth=3", "default,depth=3,"):
        with pytest.raises(BadInputError):
            parse_player(text)


def test_the_selective_search_that_a_player_has(othello: Game, othello_learning: Learning, tmp_path: Path) -> None:
    def loaded(text: str, game: Game = othello) -> ProbCut | None:
        return parse_player(f"{text},depth=1").load_probcut(game)

    shipped = loaded("model.npz,probcut=default", othello)
    assert shipped is not None
    evaluator = evaluator_of(linear_evaluation(othello_learning, mobility=1.0))
    assert shipped.arrays(evaluator).depth_count == len(shipped.check_depths)
    assert loaded("default") is not None
    assert loaded("strongest") is not None
    shipped.with_threshold(1.75).save(tmp_path / "probcut.npz")
    kept = f"model.npz,probcut={tmp_path / 'probcut.npz'}"
    found = loaded(kept)
    assert found is not None
    assert found.threshold == 1.75
    assert loaded("default,probcut=off") is loaded("model.npz") is None
    with pytest.raises(BadInputError, match=r"made for othello, the game is countdown"):
        loaded(kept, COUNTDOWN)
    # A game that is not installed ships nothing.
    assert loaded("default", COUNTDOWN) is None
    with pytest.raises(BadInputError, match="countdown comes without parameters"):
        loaded("default,probcut=default", COUNTDOWN)
