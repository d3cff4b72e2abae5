import re
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.labelling.corrected import Correction, RelabelSettings, relabel
from glem.core.players.spec import parse_player
from glem.core.players.thinker import Thinker
from glem.core.positions.files import read_positions
from glem.core.positions.game_tree import GameTree
from glem.core.positions.writing import write_games
from glem.core.tasks.tasks import Workers
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.positions.test_game_tree import random_games
from tests.othello import LEARNING, OTHELLO


@pytest.fixture(scope="module")
def tree() -> GameTree:
    """Random games, full of mistakes; those that end with others share their ends."""
    records = random_games(OTHELLO, 40, 11, choices=60)
    unknown = np.full(len(records), np.nan, np.float32)
    return GameTree.from_records(OTHELLO, [attrs.evolve(records, theoretical_score=unknown)])


def settings_of(mobility: str, quick: str, thorough: str, **changes: Any) -> RelabelSettings:
    first, second = (parse_player(f"{mobility},table=1,{text}") for text in (quick, thorough))
    return RelabelSettings(first, second, **{"positions_per_task": 100, **changes})


def empties(tree: GameTree) -> Any:
    return np.array([64 - int(own | other).bit_count() for own, other in zip(*tree.positions, strict=True)])


def test_exact_searches_correct_every_label_near_the_end(tree: GameTree, mobility: str, tmp_path: Path) -> None:
    settings = settings_of(mobility, "depth=1,solve=7", "depth=1,solve=7", threshold=0, loss=0, rounds=20)
    settings = attrs.evolve(settings, plies=(52, 70))
    found = relabel(tree, settings, tmp_path / "work")
    solver = Thinker(OTHELLO, settings.quick)
    near = np.flatnonzero((empties(tree) <= 7) & (tree.ply >= 52) & ~np.isnan(found.before))
    wrong = 0
    for node in near:
        position = position_at(tree.positions, int(node))
        exact = OTHELLO.final_score(position) if OTHELLO.is_over(position) else solver.judge(position).score
        assert found.after[node] == exact
        wrong += found.before[node] != exact
    assert len(near) > 100
    assert wrong > 50
    assert found.suspicious[0] > 0


def test_outcome_searches_replace_labels_of_the_wrong_sign(tree: GameTree, mobility: str, tmp_path: Path) -> None:
    # Nothing else is searched: no label can be exceeded by so much.
    settings = settings_of(mobility, "depth=1", "depth=1", threshold=1000, loss=1000, outcome_from=8)
    found = relabel(tree, settings, tmp_path / "work")
    assert found.outcomes > 30
    assert found.wrong_outcomes > 3
    labeller = Thinker(OTHELLO, parse_player(f"{mobility},depth=1,solve=8"))
    left = empties(tree)
    parents, children = tree.arcs
    entries = {int(child) for parent, child in zip(parents, children, strict=True) if left[parent] == 9 > left[child]}
    for node in entries:
        position = position_at(tree.positions, node)
        if not OTHELLO.is_over(position):
            score = labeller.judge(position).score
            assert score is not None
            assert np.sign(found.after[node]) == np.sign(score)


def test_a_suspicious_label_is_raised_to_what_the_search_found(tree: GameTree, mobility: str, tmp_path: Path) -> None:
    settings = settings_of(mobility, "depth=1", "depth=2", threshold=10, loss=1000, rounds=1)
    found = relabel(tree, settings, tmp_path / "work")
    quick, thorough = (Thinker(OTHELLO, spec) for spec in (settings.quick, settings.thorough))
    suspicious = 0
    alternative = np.full(len(tree), np.nan, np.float32)
    for node in range(len(tree)):
        position = position_at(tree.positions, node)
        if OTHELLO.is_over(position) or not quick.judge(position).score - found.before[node] > 10:
            continue
        suspicious += 1
        alternative[node] = thorough.judge(position).score
    # Unfinished games end in positions without any label, which get one.
    unknown = [node for node in range(len(tree)) if np.isnan(found.before[node])]
    for node in unknown:
        alternative[node] = thorough.judge(position_at(tree.positions, node)).score
    assert found.suspicious == (suspicious + len(unknown),)
    assert suspicious > 20
    np.testing.assert_array_equal(found.after, tree.propagate(alternative=alternative))


def test_labels_do_not_depend_on_workers_and_interruptions(tree: GameTree, mobility: str, tmp_path: Path) -> None:
    # Only the quick searches are more than one task.
    settings = settings_of(mobility, "depth=1", "depth=2", threshold=10, outcome_from=6, positions_per_task=1200)
    expected = relabel(tree, settings, tmp_path / "one")
    assert_equal(expected, relabel(tree, settings, tmp_path / "two", workers=Workers(2)))
    files = sorted((tmp_path / "one").glob("*.npz"))
    assert len(files) > 4
    for file in files[1::2]:
        file.unlink()
    assert_equal(expected, relabel(tree, settings, tmp_path / "one"))
    with pytest.raises(BadInputError, match="other settings"):
        relabel(tree, attrs.evolve(settings, threshold=9), tmp_path / "one")
    # Equal labels, but other positions are searched.
    known = attrs.evolve(tree, exact=np.where(np.arange(len(tree)) % 2, tree.propagate(), np.float32(np.nan)))
    np.testing.assert_array_equal(known.propagate(), tree.propagate())
    with pytest.raises(BadInputError, match="other settings or input"):
        relabel(known, settings, tmp_path / "one")
    (tmp_path / "one" / "work.json").unlink()
    with pytest.raises(BadInputError, match=r"no work\.json"):
        relabel(tree, settings, tmp_path / "one")


def test_a_labeller_is_refused_other_data_than_it_was_described_with(tmp_path: Path) -> None:
    path = tmp_path / "mobility.npz"
    evaluation = mobility_evaluation(LEARNING)
    evaluation.save(path)
    spec = parse_player(f"{path},table=1,depth=1").resolved(OTHELLO)
    Thinker(OTHELLO, spec)
    attrs.evolve(evaluation, linear_weights=2 * evaluation.linear_weights).save(path)
    with pytest.raises(BadInputError, match="is not what it was"):
        Thinker(OTHELLO, spec)


def assert_equal(first: Correction, second: Correction) -> None:
    np.testing.assert_array_equal(first.after, second.after)
    for name in ("suspicious", "raised", "outcomes", "wrong_outcomes"):
        assert getattr(first, name) == getattr(second, name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": -1}, "threshold is -1"),
        ({"outcome_from": -1}, "outcome_from is -1"),
        ({"rounds": 0}, "rounds is 0"),
        ({"quick": parse_player("random")}, "does not search"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        attrs.evolve(settings_of("default", "depth=1", "depth=2"), **changes)


def test_command_counts_changes_and_writes_labels(terminal: Terminal, mobility: str, tmp_path: Path) -> None:
    games, target = tmp_path / "some.games", tmp_path / "labels.parquet"
    write_games(OTHELLO, games, random_games(OTHELLO, 20, 12, choices=2))
    relabelled = terminal.of("label", "by-results", "othello", games)
    assert "Labels by all games against `result`" in relabelled()
    players = ("--quick", f"{mobility},depth=1", "--again", f"{mobility},depth=2")
    out = relabelled("-o", target, "--distinct", "--workers", 1, *players, "--plies", "0-30")
    assert re.search(r"^[\d,]+ positions searched quickly$", out, re.MULTILINE)
    assert re.search(r"^[\d,]+(, then [\d,]+)* positions suspicious and searched again, ", out, re.MULTILINE)
    assert "Corrected labels" in out
    written = read_positions(target)
    assert written.label_kind == "propagated"
    assert len(written) == len(written.merge_duplicates())
    assert not Path(f"{target}.work").exists()
    # Without corrections, another command's unfinished work beside the output is none of its business.
    unfinished = Path(f"{target}.work") / "quick-000000.npz"
    unfinished.parent.mkdir()
    unfinished.write_bytes(b"hours of searches")
    relabelled("-o", target)
    assert unfinished.exists()
    games.write_bytes(b"")
    assert "hold no games" in relabelled.fails("-o", tmp_path / "none.parquet")
    for option in (("--outcomes", 5), ("--plies", "0-9"), ("--loss", 3)):
        assert f"{option[0]} is for searches: give --quick and --again" in relabelled.fails(*option)
    assert not (tmp_path / "none.parquet").exists()


def test_a_refused_command_leaves_nothing_in_the_way_of_a_corrected_one(
    terminal: Terminal, mobility: str, tmp_path: Path
) -> None:
    games = tmp_path / "some.games"
    write_games(OTHELLO, games, random_games(OTHELLO, 3, 12, choices=2))
    target, record, folder = tmp_path / "labels.parquet", tmp_path / "record.jsonl", tmp_path / "games"
    bad, good = f"{mobility},depth=1,table=99999999", f"{mobility},depth=1,table=1"
    work = Path(f"{target}.work")
    given = ("othello", games, "-o", target, "--plies", "0-1")
    openings = ("--openings", "random:50", "--player")
    for kept, command in (
        (work, ("label", "by-results", *given, "--again", good, "--quick")),
        (work, ("label", *given, "--by")),
        (record, ("match", "othello", "-o", record, "--opening-count", 1, "random")),
        (folder, ("generate", "othello", "-o", folder, "--games", 1, *openings)),
    ):
        assert "table_mb is 99999999" in terminal.fails(*command, bad, "--workers", 1)
        assert not kept.exists()
        terminal(*command, good, "--workers", 1)
