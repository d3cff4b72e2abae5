"""Models of results side by side: held-out grades, the file, and who is the better where."""

import json
import math
import re
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.evaluation.result_models import BAN, MOVE, ResultModels, WdlModel
from glem.core.grading.calibrating import AS_GIVEN, CONSTANT, Calibrated, calibrate_predictions
from glem.core.grading.calibration import FEWEST_GAMES, Prediction, parts_of_games
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.wdl_model import Bounds, fit_wdl_model
from tests.core.cli.terminal import Terminal
from tests.core.grading.examples import played
from tests.core.grading.test_wdl_model import BOUNDS, TRUE, drawn

QUICK = GradingSettings(resamples=500)


def grades(found: Calibrated) -> dict[str, float]:
    return {one.name: one.grade.grade for one in found.graded}


@pytest.fixture(scope="module")
def by_material() -> Calibrated:
    """Games in which the value means the more, the less there is."""
    model = WdlModel(*BOUNDS, (0.0, 0.0, 2.5, 0.3), (0.0, 0.0, 1.5, 0.1))
    value, result, covariate = drawn(3_000, model)
    said = Prediction(value, 0.5, scale=3.0, unit="pawns")
    return calibrate_predictions(result, said, {"material": (covariate, BOUNDS)}, name="mine", settings=QUICK)


def test_the_model_that_the_games_follow_grades_highest(by_material: Calibrated) -> None:
    found = grades(by_material)
    assert list(found) == [AS_GIVEN, BAN, CONSTANT, "material", "Ban by material"]
    assert found[AS_GIVEN] < min(found[BAN], found[CONSTANT]) < found["material"]
    assert by_material.models.chosen == "material"
    assert by_material.models.grades == found
    [material] = [one.against_ban for one in by_material.graded if one.name == "material"]
    assert material is not None
    assert material.is_significant
    assert material.verdict.startswith("a and b by material is better than Ban's")
    titles = [AS_GIVEN, "Ban's", CONSTANT, "a and b by material", "Ban's by material"]
    assert [row[0] for row in by_material.held_out_table().rows] == titles
    assert found[BAN] < found["Ban by material"] < found["material"]
    assert "1" not in by_material.fit_table().rows[0][4]


def test_games_that_follow_ban_are_told_by_bans_model() -> None:
    value = np.random.default_rng(1).normal(0, 2, 6_000)
    result = played(value, 0.8, seed=2)
    covariate = np.random.default_rng(3).integers(17, 79, 6_000)
    found = calibrate_predictions(result, Prediction(value), {"material": (covariate, BOUNDS)}, settings=QUICK)
    assert found.models.chosen == BAN
    [constant] = [one.against_ban for one in found.graded if one.name == CONSTANT]
    assert constant is not None
    assert constant.difference < -2 * constant.error
    assert found.models.ban.scale == pytest.approx(1.0, rel=0.1)
    assert found.models.ban.slope == 0
    # What was fitted to the graded games is compared with nothing.
    assert found.graded[0].name == AS_GIVEN
    assert found.graded[0].against_ban is None


def test_a_drawishness_of_its_own_is_kept() -> None:
    generator = np.random.default_rng(4)
    value, odds = generator.normal(0, 2, 4_000), generator.normal(0.5, 1.5, 4_000)
    alpha = 1 / (1 + np.exp(-odds))
    said = Prediction(value, alpha, scale=1.0)
    found = calibrate_predictions(played(value, alpha, seed=5), said, {}, settings=QUICK)
    assert found.models.ban.slope == pytest.approx(1.0, abs=0.2)
    assert found.models.ban.level == pytest.approx(0.0, abs=0.2)
    assert found.ban.drawishness is None
    mine = found.models.distribution(0.7, 0.8, 0.0)
    assert attrs.evolve(found.models, chosen=CONSTANT).distribution(0.7, None, 0.0).draw != mine.draw
    assert float(mine.draw[0]) > float(found.models.distribution(0.7, 0.2, 0.0).draw[0])


def test_no_position_helps_to_predict_itself() -> None:
    """The three results that a game may have get probabilities that add up to 1; one that was fitted to gets more."""
    value, result, covariate = drawn(240, seed=6)
    game = np.arange(240) // 2
    assert {len(set(parts_of_games(game, 0)[game == one])) for one in range(120)} == {1}
    total = 0.0
    for outcome in (1, 0, -1):
        changed = np.where(game == 17, outcome, result).astype(np.int8)
        found = calibrate_predictions(
            changed, Prediction(value), {"material": (covariate, BOUNDS)}, game=game, settings=QUICK
        )
        part = parts_of_games(game, QUICK.seed)
        others = part != part[34]
        model = found.fits["material"].model
        bounds = Bounds(model.least, model.most, model.unit)
        apart = fit_wdl_model(value[others], changed[others], covariate[others], bounds).model
        total += float(np.exp(apart.log_correctness(value[34:35], changed[34:35], covariate[34:35]))[0])
    assert total == pytest.approx(1.0, abs=1e-9)


def test_positions_without_a_value_or_a_measure_are_left_out_for_all_models() -> None:
    value, result, covariate = drawn(1_000, seed=7)
    numbers = covariate.astype(np.float64)
    value[:10], numbers[5:30] = np.nan, np.nan
    value[40] = np.inf if result[40] > 0 else -np.inf if result[40] < 0 else 0.1
    found = calibrate_predictions(result, Prediction(value), {"material": (numbers, BOUNDS)}, settings=QUICK)
    assert {one.grade.positions for one in found.graded} == {970}
    assert all(math.isfinite(one.grade.grade) for one in found.graded)


def test_too_few_games_are_refused() -> None:
    value, result, covariate = drawn(FEWEST_GAMES - 1)
    with pytest.raises(BadInputError, match=f"{FEWEST_GAMES - 1} games with a finite value"):
        calibrate_predictions(result, Prediction(value), {"material": (covariate, BOUNDS)}, name="mine")
    with pytest.raises(BadInputError, match="0 games"):
        calibrate_predictions(result, Prediction(np.full(len(value), np.nan)), {"material": (covariate, BOUNDS)})


def test_what_is_written_is_read_back(by_material: Calibrated, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    by_material.models.save(path)
    assert ResultModels.load(path) == by_material.models
    assert json.loads(path.read_text())["glem"] == "calibration"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"version": 2}, "no calibration of version 1"),
        ({"chosen": "weather"}, "no model of results 'weather'; there are: Ban, constant a and b, material"),
        ({"ban": {"scale": 1.0}}, "damaged, or no calibration"),
        *(
            ({"ban": {"scale": 1.0, "level": 0.0, "slope": 1.0, name: value}}, f"got Calibration.*{name}={value}")
            for name, value in [("scale", -0.0), ("scale", -5.0)]
        ),
        ({"ban": {"scale": math.inf}}, "Infinity is no number"),
        ({"ban": {"level": math.nan}}, "NaN is no number"),
        (
            {"wdl": {"material": dict.fromkeys(("least", "most", "unit"), 1) | {"win": [1], "spread": [-0.0]}}},
            "positive",
        ),
        ({"wdl": {"material": {"least": 0}}}, "damaged, or no calibration"),
        ({"glem": None}, "damaged, or no calibration"),
    ],
)
def test_other_files_are_refused(by_material: Calibrated, tmp_path: Path, changed: Any, words: str) -> None:
    path = tmp_path / "mine.json"
    by_material.models.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    with pytest.raises(BadInputError, match=words) as error:
        ResultModels.load(path)
    assert str(path) in str(error.value)


def test_no_file_and_no_json_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        ResultModels.load(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("[1, 2")
    with pytest.raises(BadInputError, match="damaged, or no calibration"):
        ResultModels.load(tmp_path / "text.json")


def test_code_says_the_same_as_the_model(by_material: Calibrated) -> None:
    text = by_material.source()
    head, text = text.split("\n", 1)
    assert head == "// as, bs: pawns of mine"
    assert text.startswith("namespace material {\n// double m = std::clamp(material, 17, 78) / 58.0;\n")
    arrays = {name: json.loads(f"[{numbers}]") for name, numbers in re.findall(r"double (as|bs)\[\] = \{(.*)\};", text)}
    model = by_material.fits["material"].model
    assert arrays["as"] == pytest.approx(model.win, abs=1e-8)
    assert arrays["bs"] == pytest.approx(model.spread, abs=1e-8)
    [normalized] = re.findall(r"NormalizeToPawnValue = ([\d.]+);", text)
    assert float(normalized) == pytest.approx(sum(arrays["as"]), abs=1e-7)


def test_the_command_fits_prints_and_writes(terminal: Terminal, tmp_path: Path) -> None:
    generator = np.random.default_rng(8)
    value, result, _ = drawn(300, TRUE, seed=9)
    rows = [
        f'[Result "{["0-1", "1/2-1/2", "1-0"][outcome + 1]}"]\n\n'
        f"1. {generator.choice(['e4', 'd4'])} {{[%eval {score:.2f}]}} {generator.choice(['e5', 'd5'])} "
        f"{{[%eval {score:.2f}]}} {['0-1', '1/2-1/2', '1-0'][outcome + 1]}\n"
        for score, outcome in zip(value, result, strict=True)
    ]
    games = tmp_path / "games.pgn"
    games.write_text("\n".join(rows))
    output, page, code = (tmp_path / name for name in ("c.json", "c.html", "c.hpp"))
    words = ("grade", "calibrate", "chess", games, "--evaluation", "comments,side=first,unit=pawns", "-o", output)
    shared = ("--skip-moves", "0", "--skip-end", "0", "--resamples", "200")
    told = terminal(*words, *shared, "--report", page, "--code", code)
    for wanted in ("Ban's: b = ", "constexpr double as[]", "a and b by material", "a and b by move", f"wrote {output}"):
        assert wanted in told
    models = ResultModels.load(output)
    assert (models.game, models.unit, set(models.wdl)) == ("chess", "pawns", {CONSTANT, "material", MOVE})
    assert "namespace move" in code.read_text()
    assert page.read_text().count("<svg") > 4
    found = terminal.json(*words, *shared, "--covariate", "material", "--model", "material")
    assert [one["name"] for one in found["held_out"]] == [AS_GIVEN, BAN, CONSTANT, "material", "Ban by material"]
    assert found["models"]["chosen"] == "material"
    # By its old name.
    told = terminal(*words, *shared, "--measure", "weather", status=2)
    assert "no covariate 'weather'; it has: material, move" in told and "--measure is called --covariate now" in told
    assert "no model of results 'move'" in terminal.fails(*words, *shared, "--covariate", "material", "--model", "move")
    assert "--scale must be a number" in terminal.fails(*words, *shared, "--scale", "big")
