"""Choice errors against a count position by position, and the commands that make and read choice sets."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from glem.core.evaluation.named import load_value
from glem.core.game.game import load_game
from glem.core.measures.choices import BestMove, ChoiceError, ChoiceSet, RankCorrelation
from glem.core.positions.files import read_positions, write_positions
from tests.core.cli.terminal import Terminal
from tests.core.labelling.labelling_examples import exact_value, some_positions


@pytest.mark.parametrize("seed", range(4))
def test_measures_are_those_counted_choice_by_choice(seed: int) -> None:
    generator = np.random.default_rng(seed)
    choice = generator.permutation(np.repeat(np.arange(40), generator.integers(1, 9, 40)))
    # Few different numbers: many ties.
    label, value = generator.integers(-3, 4, (2, len(choice))).astype(np.float64)
    value[generator.random(len(value)) < 0.1] = -np.inf
    rows: list[tuple[float, float, float]] = []
    for number in range(40):
        labels, values = label[choice == number], value[choice == number]
        lost = labels[values == values.min()] - labels.min()
        varied = len(set(labels)) > 1
        same = varied and len(set(values)) == 1
        rank = 0.0 if same else float(np.corrcoef(rankdata(labels), rankdata(values))[0, 1]) if varied else np.nan
        rows.append((float(lost.mean()), float(np.mean(lost == 0)), rank))
    choices = ChoiceSet(value, label, choice, np.unique(choice, return_index=True)[1])
    found = [measure.of_choices(choices) for measure in (ChoiceError(), BestMove(), RankCorrelation())]
    np.testing.assert_allclose(np.transpose(found), rows, atol=1e-12)


@pytest.mark.parametrize(("name", "model", "first_ply"), [("othello", "default", 54), ("connect_four", "none", 32)])
def test_commands_make_choice_sets_and_read_them(
    name: str, model: str, first_ply: int, terminal: Terminal, tmp_path: Path
) -> None:
    game = load_game(name)
    given = some_positions(game, 1500)
    given = given.select(given.ply >= first_ply)
    path, choices = tmp_path / "given.parquet", tmp_path / "choices.parquet"
    write_positions(path, given)
    terminal("label", path, "--choices", "--by", "default,depth=1,solve=12,table=1", "-o", choices)
    found = read_positions(choices)
    roots = (given[row] for row in range(len(given)))
    sets = [[game.play(position, move) for move in game.list_legal_moves(position)] for position in roots]
    sets = [successors for successors in sets if len(successors) > 1]
    exact = [[exact_value(game, position) for position in successors] for successors in sets]
    assert [found[row] for row in range(len(found))] == list(chain(*sets))
    assert found.label.tolist() == list(chain(*exact))
    assert np.bincount(found.record)[np.unique(found.record)].tolist() == [len(successors) for successors in sets]
    evaluation, lost = load_value(model, game), []
    for successors, scores in zip(sets, exact, strict=True):
        values = [
            score * 1000 if game.is_over(position) else evaluation.evaluate(position)
            for position, score in zip(successors, scores, strict=True)
        ]
        chosen = [score for score, value in zip(scores, values, strict=True) if value == min(values)]
        lost.append(np.mean(chosen) - min(scores))
    report = terminal.json("evaluate", model, choices)
    assert report["choices"][model]["error"][-1] == pytest.approx(np.mean(lost))
    spread = np.std(lost, ddof=1) / np.sqrt(len(lost))
    assert report["choices"][model]["standard_error"][-1] == pytest.approx(spread)
    assert report["measures"]["choice-error"]["error"][model][-1] == pytest.approx(spread)
    assert max(lost) > 0
    assert report["moves_left"]["choices"][model]["counts"][-1] == len(lost)
    assert "choice error" in terminal("evaluate", model, choices)
    assert "set of their own" in terminal("label", path, "--choices", "--sampled", 1, "-o", choices, status=2)
