"""Draws by rule and by repetition: in single positions, games between players, self-play and the engine."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.compiling.columns import column_of_one
from glem.core.errors import BadInputError
from glem.core.game.draws import Draw, drawn_by
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.labelling.first_games import play_games
from glem.core.players.engine import Engine
from glem.core.players.spec import PlayerSpec
from glem.core.positions.game_tree import GameTree
from glem.core.positions.labels import LabelCounts, label_records
from glem.core.positions.replay import UNFINISHED, replay
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.search import duel_game
from tests.core.search.duel_game import Position, duel, play

DUEL = duel(reversible_plies=duel_game.reversible_plies, is_drawn=duel_game.is_drawn)
ENDLESS = duel(reversible_plies=duel_game.reversible_plies)

APART = duel_game.Position(np.uint64(0b11), np.uint64(0b11000000), np.uint8(0))
"""Two men each at the ends of the row."""

TO_AND_FRO = (3, 12, 4, 11)
"""The foremost men step forward and back."""


def line(game: Game, moves: Sequence[int], position: Any = APART) -> list[Any]:
    positions = [position]
    for move in moves:
        positions.append(game.play(positions[-1], move))
    return positions


def naive_draw(game: Game, positions: Sequence[Any]) -> Draw | None:
    """Count every earlier position with the same men and the same side to move."""
    last = positions[-1]
    if "is_drawn" in game.search_functions and game.search_functions["is_drawn"](last):
        return Draw.RULE
    equal = [one for one in positions[(len(positions) - 1) % 2 :: 2] if one[:2] == last[:2]]
    return Draw.REPETITION if len(equal) >= 3 else None


def test_the_third_occurrence_is_a_draw() -> None:
    positions = line(DUEL, TO_AND_FRO * 2)
    found = [drawn_by(DUEL, position, positions[:ply]) for ply, position in enumerate(positions)]
    assert found == [None] * 8 + [Draw.REPETITION]
    # What lies before a capture cannot occur again, whatever the keys say.
    assert drawn_by(DUEL, positions[-1]._replace(quiet=np.uint8(3)), positions[:-1]) is None
    assert drawn_by(duel(), positions[-1], positions[:-1]) is None


def test_a_rule_draws_before_any_repetition_is_looked_for() -> None:
    patient = APART._replace(quiet=np.uint8(8))
    assert [drawn_by(DUEL, position, ()) for position in line(DUEL, TO_AND_FRO[:1], patient)] == [None, Draw.RULE]
    assert drawn_by(ENDLESS, DUEL.play(patient, 3), ()) is None


@pytest.mark.parametrize("game", [DUEL, ENDLESS], ids=["rule", "repetition alone"])
def test_draws_are_those_of_counting(game: Game) -> None:
    seen = set()
    for seed in range(40):
        positions = random_line(game, np.random.default_rng(seed))[0][:41]
        for ply in range(len(positions)):
            found = drawn_by(game, positions[ply], positions[:ply])
            assert found == naive_draw(game, positions[: ply + 1])
            seen.add(found)
    assert {None, Draw.REPETITION} <= seen


def test_every_position_of_drawn_self_play_has_a_label() -> None:
    records = play_games(DUEL, positions=400, seed=3)
    assert (replay(DUEL, records).status == UNFINISHED).any()
    counts = LabelCounts()
    list(label_records(DUEL, [records], counts=counts))
    assert (counts.unfinished, counts.without_label) == (0, 0)


def play_without_counter(position: Any, move: int) -> Any:
    after = play(position, move)
    return Position(after.own, after.opponent, np.uint8(0))


def test_a_result_labels_a_circle_of_positions_too() -> None:
    """Equal positions are one node here, whose last successor in the circle only leads back."""
    starts: Any = column_of_one(APART)  # type: ignore[arg-type]
    circling = evolve(ENDLESS, name="circling", play=play_without_counter)
    records = GameRecords.from_moves(
        np.array(TO_AND_FRO * 2, np.uint8),
        np.array([0, 8]),
        np.array([-1], np.float32),
        starts=starts,
        start_side=np.ones(1, np.int8),
    )
    tree = GameTree.from_records(circling, [records])
    assert len(tree) == 4
    assert tree.labelled(tree.propagate()).label.tolist() == [-1, 1, -1, 1, -1, 1, -1, 1, -1]


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
def test_self_play_ends_with_the_draw(monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    if plain:
        monkeypatch.setattr("glem.core.labelling.first_games.compiled", lambda function: function)
    records = play_games(DUEL, positions=400, seed=3)
    reasons = set()
    for number in range(len(records)):
        positions = line(DUEL, records.moves_of(number).tolist(), DUEL.initial_position)
        draws = [naive_draw(DUEL, positions[: ply + 1]) for ply in range(len(positions))]
        assert not any(draws[:-1])
        reasons.add(draws[-1])
        if draws[-1] is None:
            assert DUEL.is_over(positions[-1])
        else:
            assert records.score[number] == 0
    assert reasons >= {None, Draw.RULE}


def test_the_engine_knows_a_draw_and_lets_it_be_played_on() -> None:
    engine = Engine(DUEL, PlayerSpec("random", kind="random"))
    engine.set_position(APART)
    for move in TO_AND_FRO * 2:
        engine.play(move)
    assert (engine.is_over, engine.has_ended, engine.draw, engine.first_score) == (False, True, Draw.REPETITION, 0)
    engine.undo()
    assert not engine.has_ended
    with pytest.raises(BadInputError, match="not over"):
        _ = engine.first_score
    engine.play(TO_AND_FRO[3])
    assert engine.choose().move in engine.legal_moves()
