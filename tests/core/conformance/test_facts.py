import json
import shlex
from fractions import Fraction
from typing import Any

import attrs
import click
import numpy as np
import pytest

from glem.core.cli import command_group
from glem.core.compiling.plain_python import PlainRulesWarning
from glem.core.conformance import facts as module
from glem.core.conformance.facts import GameFacts, game_facts
from glem.core.errors import PluginError
from glem.core.features.learning import Learning
from glem.core.game.game import Game, game_names, load_game
from tests.core.cli.terminal import Terminal
from tests.core.game.countdown_game import COUNTDOWN, Position
from tests.othello import LEARNING


def facts_of(game: Game, learning: Learning | None, monkeypatch: pytest.MonkeyPatch) -> GameFacts:
    def load_learning(name: str) -> Learning:
        if learning is None:
            raise PluginError(f"nothing for {name}")
        return learning

    monkeypatch.setattr(module, "load_game", lambda _name: game)
    monkeypatch.setattr(module, "load_learning", load_learning)
    return game_facts(game.name)


def rows(facts: GameFacts, title: str) -> tuple[tuple[Any, ...], ...]:
    table = facts.table(title)
    assert table is not None
    return table.rows


@pytest.mark.parametrize("name", game_names())
def test_every_installed_game_has_facts(name: str) -> None:
    facts = game_facts(name)
    assert facts.title == load_game(name).title
    assert all(len(row) == len(table.header) for table in facts.tables for row in table.rows)
    assert all(table.code <= set(table.header) for table in facts.tables)
    assert len({table.title for table in facts.tables}) == len(facts.tables)
    assert json.loads(json.dumps(facts.data()))["name"] == name


@pytest.mark.parametrize("name", game_names())
def test_commands_to_try_are_there(name: str) -> None:
    context = click.Context(command_group, info_name="glem")
    for words in map(shlex.split, game_facts(name).commands):
        command = command_group.get_command(context, words[1])
        assert command is not None, words
        # Their files need not be there.
        command.make_context(words[1], words[2:], parent=context, resilient_parsing=True)


def test_cells_are_told_together_and_other_features_alone() -> None:
    features = rows(game_facts("othello"), "Atomic features")
    cells = [feature for feature in LEARNING.features.features if feature.cell is not None]
    assert features[0][1] == f"{cells[0].name} ... {cells[-1].name}"
    assert features[0][2] == "empty, own, opponent"
    assert len(features) == len(LEARNING.features) - len(cells) + 1


def test_patterns_have_the_counts_of_the_paper() -> None:
    # GLEM, Fig. 7: 46 instances.
    patterns = [row for row in rows(game_facts("othello"), "Pattern sets") if row[0] == "logistello"]
    assert sum(row[3] for row in patterns) == 46
    assert {row[1]: row[4] for row in patterns}["corner_2x5"] == 3**10


def test_perft_goes_as_deep_as_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SEQUENCES", 2_000)
    assert rows(game_facts("othello"), "Perft") == ((1, 4), (2, 12), (3, 56), (4, 244), (5, 1396))


def uncompilable_play(position: Any, move: int) -> Any:
    return Position(np.uint8(Fraction(int(position.stones) - int(move) - 1)))


def test_plain_rules_are_told_and_counted_less_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PLAIN_SEQUENCES", 20)
    plain = attrs.evolve(COUNTDOWN, name="countdown_in_python", play=uncompilable_play)
    with pytest.warns(PlainRulesWarning):
        facts = facts_of(plain, None, monkeypatch)
    assert rows(facts, "Perft") == ((1, 3), (2, 9))
    [how] = [value for fact, value in rows(facts, "Rules") if fact == "rules run"]
    assert how.startswith("as plain Python: ")
    assert "uncompilable_play" in how


def test_game_without_anything_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_of(attrs.evolve(COUNTDOWN, facts={"invented": "1970"}), None, monkeypatch)
    assert rows(facts, "Further facts") == (("invented", "1970"),)
    assert facts.board == ()
    assert facts.distribution == "unknown"
    assert rows(facts, "Notation") == (("initial position", "9 stones"), ("moves in it", "take1 take2 take3"))
    assert rows(facts, "Learning") == (("nothing", "nothing for countdown"),)
    assert facts.table("Formats of scored positions") is None
    assert {row[1] for row in rows(facts, "Optional operations")} == {"no"}
    assert [command.split()[1] for command in facts.commands] == ["check", "search"]


def test_a_pattern_too_large_for_a_table_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rows_1_and_2 = ("a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "a2", "b2", "c2", "d2")
    large = attrs.evolve(LEARNING, pattern_sets={"large": {"edges": rows_1_and_2}})
    [pattern] = rows(facts_of(LEARNING.game, large, monkeypatch), "Pattern sets")
    assert pattern[3:] == (8, 3**12, "too large for a table")


def test_command_prints_the_facts(terminal: Terminal) -> None:
    lines = terminal("games", "othello").splitlines()
    assert lines[0] == "Othello, from the distribution pyglem"
    assert "  legal moves in a position, at most   60" in lines
    assert lines[-1].startswith("  glem ")
    found = terminal.json("games", "othello")
    assert found["position"][0] == {"field": "own", "dtype": "uint64"}
    assert found["rules"]["plies in a game, at most"] == 120
    assert found["perft"][0] == {"depth": 1, "move sequences": 4}
