"""Training from the rules: generations that beat what was before, whatever the workers, however often it is killed."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import click
import numpy as np
import pytest

from glem.core.cli.options import opened_workers
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import load_learning
from glem.core.labelling.by_search import SearchLabelling, label_by_search
from glem.core.labelling.first_games import play_games
from glem.core.labelling.plan import TrainingSettings
from glem.core.labelling.training import BEST, Generation, train_generations
from glem.core.positions.files import read_positions
from glem.core.positions.positions import Positions
from glem.core.positions.writing import write_games
from glem.core.report.pages.training import render_training
from glem.core.tasks.tasks import Workers
from glem.core.tournament.elo import elo_estimate
from glem.core.tournament.sprt import SprtVerdict
from tests.core.cli.terminal import Terminal
from tests.house.golden import canonical

LEARNING = load_learning("connect_four")
SETTINGS = TrainingSettings(positions=300, depth=2, solve=6, pairs=20, seed=4)


def contents(folder: Path) -> dict[str, str]:
    """What must be equal of each file: everything but the time that it took."""
    return {path.name: canonical(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Generation]]:
    folder = tmp_path_factory.mktemp("training") / "trained"
    return folder, train_generations(LEARNING, folder, SETTINGS, generations=3)


def test_every_generation_is_judged_and_the_best_is_kept(trained: tuple[Path, list[Generation]]) -> None:
    folder, done = trained
    assert [each.number for each in done] == [0, 1, 2]
    assert done[0].is_best
    assert done[0].elo.elo > 100
    assert done[0].positions > 5 * 200
    assert [each.positions for each in done[1:]] == [300, 600]
    best = [each.number for each in done if each.is_best][-1]
    assert (folder / BEST).read_bytes() == (folder / f"generation-{best:02d}.npz").read_bytes()
    assert done[-1].rating >= done[0].rating > 0
    assert all(0 <= each.choice_error < 1 for each in done)
    for each in done:
        made = LinearEvaluation.load(folder / f"generation-{each.number:02d}.npz")
        assert (made.network is not None) == each.patterns.endswith("hidden layer")
    for each in done[1:]:
        own = read_positions(folder / f"labelled-{each.number:02d}.parquet")
        before = (
            read_positions(folder / f"labelled-{each.number - 1:02d}.parquet")
            if each.number > 1
            else own.select(np.zeros(0, np.int64))
        )
        assert each.labels == len(own) + len(before)
    provenance = LinearEvaluation.load(folder / BEST).provenance
    assert (provenance["command"], provenance["generation"]) == ("train", str(best))


def test_a_game_without_patterns_gets_some_from_its_labels(tmp_path: Path) -> None:
    learning = attrs.evolve(LEARNING, pattern_sets={})
    settings = attrs.evolve(SETTINGS, positions=700, solve=0)
    done = train_generations(learning, tmp_path / "trained", settings, generations=2)
    assert [each.patterns for each in done] == ["none", "designed"]
    patterns = LinearEvaluation.load(tmp_path / "trained" / "generation-01.npz").patterns
    assert patterns is not None and patterns.names["pattern_1"]


def test_each_stage_is_labelled_by_weights_fitted_to_those_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labellers: list[tuple[int, LinearEvaluation, Positions]] = []

    def watched(given: Positions, how: SearchLabelling, *places: Any, **more: Any) -> Iterator[Positions]:
        (stage,) = np.unique(LEARNING.phases.of(given.positions)).tolist()
        labelled = Positions.concatenate(list(label_by_search(given, how, *places, **more)))
        labellers.append((stage, LinearEvaluation.load(how.by.evaluation), labelled))
        yield labelled

    monkeypatch.setattr("glem.core.labelling.training.label_by_search", watched)
    settings = attrs.evolve(SETTINGS, solve=0)
    train_generations(LEARNING, tmp_path / "trained", settings, generations=2)
    best = LinearEvaluation.load(tmp_path / "trained" / "generation-00.npz")
    assert [stage for stage, _, _ in labellers] == [*reversed(range(len(LEARNING.phases)))]
    assert (labellers[0][1].pattern_weights == best.pattern_weights).all()
    for (stage, before, labelled), (_, after, _) in pairwise(labellers):
        changed = (before.pattern_weights != after.pattern_weights).any(axis=1)
        assert changed.tolist() == [number == stage for number in range(len(LEARNING.phases))]
        own = labelled.select(LEARNING.phases.of(labelled.positions) == stage)
        errors = [np.abs(each.predict(own.positions) - own.label).mean() for each in (before, after)]
        assert errors[1] < errors[0]
    labels = read_positions(tmp_path / "trained" / "labelled-01.parquet").label
    assert (labels == np.concatenate([labelled.label for _, _, labelled in labellers])).all()


def test_workers_kills_and_later_generations_change_nothing(
    trained: tuple[Path, list[Generation]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, done = trained
    other = tmp_path / "trained"
    settings = SETTINGS
    train_generations(LEARNING, other, settings, generations=1, workers=Workers(2))
    for step in ("label_by_search", "train", "run_tournament"):
        with monkeypatch.context() as patch:
            patch.setattr(f"glem.core.labelling.training.{step}", interrupted)
            with pytest.raises(KeyboardInterrupt):
                train_generations(LEARNING, other, settings, generations=2)
    assert (other / BEST).exists()
    assert len(train_generations(LEARNING, other, settings, generations=3, workers=Workers(2))) == len(done)
    assert contents(other) == contents(folder)
    with pytest.raises(BadInputError, match="training of other settings"):
        train_generations(LEARNING, other, TrainingSettings(positions=301), generations=3)


@pytest.mark.repeats  # dask's workers: the tests of labels and of matches have them
def test_workers_of_dask_change_nothing(trained: tuple[Path, list[Generation]], tmp_path: Path) -> None:
    folder, done = trained
    with click.Context(click.Command("train")):
        workers = opened_workers(2, "local")
        train_generations(LEARNING, tmp_path / "trained", SETTINGS, generations=len(done), workers=workers)
    assert contents(tmp_path / "trained") == contents(folder)


def interrupted(*_arguments: object, **_named: object) -> None:
    raise KeyboardInterrupt


def test_no_generation_begins_that_would_end_late(
    trained: tuple[Path, list[Generation]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, done = trained
    assert len(train_generations(LEARNING, folder, SETTINGS, seconds=1e-9)) == len(done)
    with pytest.raises(BadInputError, match="how many generations"):
        train_generations(LEARNING, folder, SETTINGS)


@pytest.mark.parametrize(
    "damage",
    [
        *(lambda _, text=text: text for text in ("[{", '[{"number": 0}]', "[3]", "[" * 100_000)),
        *(
            lambda whole, name=name, value=value: re.sub(rf'"{name}": [^,\[]+', f'"{name}": {value}', whole, count=1)
            for name in ("number", "games", "wins", "rating", "seconds", "score", "choice_error", "is_best")
            for value in (
                '"1"',
                "1" + "0" * 400,
                "1e400",
                "-3" if name in {"number", "games", "wins"} else "[1]",
                "NaN",
            )
        ),
        *(
            lambda whole, name=name: re.sub(rf'"{name}": [^,\[]+', f'"{name}": true', whole, count=1)
            for name in ("number", "losses", "rating", 'elo": {\n   "score')
        ),
        lambda whole: whole.replace('"number": 0', '"number": 0, "number": 0', 1),
    ],
)
def test_damaged_generations_are_named(
    damage: Callable[[str], str], trained: tuple[Path, list[Generation]], tmp_path: Path
) -> None:
    shutil.copytree(trained[0], tmp_path / "trained")
    path = tmp_path / "trained" / "generations.json"
    assert damage(path.read_text()) != path.read_text()
    path.write_text(damage(path.read_text()))
    with pytest.raises(BadInputError, match=r"generations\.json: damaged"):
        train_generations(LEARNING, tmp_path / "trained", SETTINGS, generations=3)


def all_matches_end(monkeypatch: pytest.MonkeyPatch, wins: int, losses: int, pairs: list[int]) -> None:
    """Let every generation's match end so, without being stronger."""
    games = SimpleNamespace(wins=wins, draws=0, losses=losses, games=wins + losses, elo=elo_estimate(pairs))
    verdict = SimpleNamespace(verdict=SprtVerdict.ACCEPT_H0)
    result = SimpleNamespace(standings=SimpleNamespace(pairings={0: games}), sprt=verdict)
    monkeypatch.setattr("glem.core.labelling.training._Training._match", lambda _self, _number: result)


def test_searches_of_an_empty_evaluation_label_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    all_matches_end(monkeypatch, wins=0, losses=4, pairs=[2, 0, 0, 0, 0])
    done = train_generations(LEARNING, tmp_path / "trained", SETTINGS, generations=2)
    sets = [read_positions(tmp_path / "trained" / f"labelled-0{number}.parquet") for number in range(2)]
    assert sets[0].label_kind == sets[1].label_kind != "search"
    assert [each.labels for each in done] == [len(each) for each in sets]
    assert not np.array_equal(sets[0].label, sets[1].label)
    # Without a point there is no finite Elo: the file is JSON all the same, and read as it was written.
    json.loads((tmp_path / "trained" / "generations.json").read_text(), parse_constant=pytest.fail)
    assert repr(train_generations(LEARNING, tmp_path / "trained", SETTINGS, generations=2)) == repr(done)


def test_a_first_generation_as_good_as_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that see the end of a game play alike, whatever evaluates."""
    all_matches_end(monkeypatch, wins=2, losses=2, pairs=[0, 0, 2, 0, 0])
    done = train_generations(LEARNING, tmp_path / "trained", SETTINGS, generations=2)
    assert [each.is_best for each in done] == [True, False]
    assert (tmp_path / "trained" / BEST).exists()


def test_a_page_has_no_infinities_and_one_name_for_each_elo() -> None:
    alike = {"games": 64, "positions": 500, "labels": 500, "error": (float("nan"), 0.2), "linear_phases": ()}
    alike |= {"choice_error": 0.0, "choice_error_spread": 0.0, "verdict": "", "is_best": True, "seconds": 1.0}
    scores = [((12, 0, 0), 559.0), ((1, 0, 0), 995.0), ((6, 0, 6), 995.0), ((7, 0, 5), 1050.0)]
    done = [
        Generation(
            number=number, wins=wins, draws=draws, losses=losses, rating=rating,
            elo=elo_estimate([losses, 0, draws, 0, wins]), **alike,
        )
        for number, ((wins, draws, losses), rating) in enumerate(scores)
    ]  # fmt: skip
    page = render_training(done, None)
    assert not re.search(r"\b(nan|inf)\b", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL))
    assert "+1050 Elo" in page
    # Of the chart: only what has an interval, and nothing where all values are alike.
    assert 'id="elo"' in page
    assert 'id="choices"' not in page
    assert {"Elo over nothing", "Elo over the last best"} <= set(re.findall(r"<th[^>]*>([^<]*)</th>", page))


def test_matches_have_as_many_openings_as_asked_for(tmp_path: Path) -> None:
    """Games of 20 plies have fewer than 200 openings of three."""
    settings = TrainingSettings(positions=100, depth=1, solve=0, pairs=200, elo=400.0)
    (first,) = train_generations(LEARNING, tmp_path / "trained", settings, generations=1)
    assert first.wins + first.draws + first.losses > 0


def test_the_command_begins_with_games_and_prints_the_generations(terminal: Terminal, tmp_path: Path) -> None:
    games = tmp_path / "some.games"
    write_games(LEARNING.game, games, play_games(LEARNING.game, positions=500, seed=3))
    arguments = ("train", "connect_four", "-o", tmp_path / "out", "--games", games, "--positions", 200, "--depth", 2)
    report = terminal.json(*arguments, "--pairs", 6, "--generations", 1)
    assert report["generations"][0]["games"] == 64
    assert json.loads((tmp_path / "out" / "training.json").read_text())["games"] == "some.games"
    assert "Elo over nothing" in terminal(*arguments, "--pairs", 6, "--generations", 1)
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(f'id="{name}"' in page for name in ("generations", "errors"))
    assert "--positions" in terminal(*arguments[:4], "--positions", 0, "--generations", 1, status=2)
