"""``glem show``: every kind of file that glem writes, damaged and foreign ones, and what comes with a game."""

from pathlib import Path
from typing import Any

import attrs
import pytest

from glem.core.cli.contents import contents_of_file
from glem.core.features.learning import Learning
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.files.fuzz import tried
from tests.core.files.fuzzed_readers import readers

KINDS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "positions": ("positions", "othello", {"positions": 40}),
    "games": ("games", "othello", {"games": 3}),
    "evaluation": ("evaluation", "othello", {"features": 86, "link": "logistic"}),
    "result evaluation": ("result evaluation", "othello", {"scale": 1.5}),
    "configurations": ("configurations", None, {"position_count": 10, "sizes": "3"}),
    "probcut": ("probcut", "othello", {"unit": "discs", "phases": ["a", "b", "c"]}),
    "calibration": ("calibration", "chess", {"evaluation": "x", "chosen": "move", "grades": {"ban": 0.5}}),
    "tournament": ("tournament", "othello", {"entries": 2}),
    "journal of learning": ("learning", None, {"entries": 2, "a": 1}),
    "journal of spsa": ("spsa", None, {"entries": 2}),
    "fit checkpoint": ("checkpoint", None, {"parameters": "5"}),
}


@pytest.mark.filterwarnings("ignore:Reading `.npy`")
def test_every_kind_of_file_is_shown_and_no_damage_is_a_traceback(terminal: Terminal, tmp_path: Path) -> None:
    shown = set()
    for reader in readers(tmp_path):
        path = tmp_path / f"shown{reader.suffix}"
        path.write_bytes(reader.content)
        if reader.name not in KINDS:
            if reader.name == "PGN":
                assert "not written by glem" in terminal.fails("show", path)
            continue
        kind, game, expected = KINDS[reader.name]
        found = terminal.json("show", path)
        assert (found["kind"], found["game"]) == (kind, game)
        assert {name: found["facts"][name] for name in expected} == expected
        assert terminal("show", path).startswith(f"{kind} of {game}\n" if game else f"{kind}\n")
        shown.add(reader.name)
        read = attrs.evolve(reader, read=lambda path: contents_of_file(str(path)), right=lambda *_: None)
        outcome = tried(read, 8, tmp_path)
        assert not outcome.tracebacks, (reader.name, outcome.tracebacks[0])
        assert outcome.refused
    assert shown == KINDS.keys()


def test_terms_and_files_of_an_evaluation_are_shown(
    terminal: Terminal, othello_learning: Learning, tmp_path: Path
) -> None:
    files = "".join(f"{number:032x} games {number}.wtb\n" for number in range(20))
    evaluation = mobility_evaluation(othello_learning)
    path = tmp_path / "model.npz"
    attrs.evolve(evaluation, provenance={"l2": "25", "files": files}).save(path)
    found = terminal.json("show", path)
    names = [othello_learning.features[place].name for place in evaluation.linear]
    weights = evaluation.linear_weights.size
    assert found["terms"] == [{"kind": "linear features", "count": len(names), "weights": weights, "names": names}]
    assert found["provenance"] == {"l2": "25"}
    assert found["files"][7] == {"name": "games 7.wtb", "digest": f"{7:032x}"}
    told = terminal("show", path)
    assert "games 11.wtb  " in told and "games 12.wtb" not in told
    assert "and 8 more files" in told


def test_openings_are_shown_where_their_game_is_named(terminal: Terminal, tmp_path: Path) -> None:
    openings = tmp_path / "openings.txt"
    openings.write_text("f5 d6 c3\nf5 f6\n")
    assert terminal.json("show", "othello", openings)["facts"] == {"openings": 2}
    assert "name their game before the file" in terminal.fails("show", openings)
    openings.write_text("f5 a1\n")
    assert "openings.txt:1" in terminal.fails("show", "othello", openings)


def test_what_comes_with_a_game_is_shown_by_its_name(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal("show", "connect_four", "default").startswith("evaluation of connect_four\n")
    played = terminal.json("show", "chess", "default")
    assert {term["kind"] for term in played["terms"]} >= {"value: linear features", "drawishness: linear features"}
    assert "name the game before it" in terminal.fails("show", "default")
    assert "missing.npz: no such file" in terminal.fails("show", tmp_path / "missing.npz")
    assert "is a folder; name a file in it" in terminal.fails("show", tmp_path)
    assert "Give one FILE, two" in terminal("show", "othello", status=2)
