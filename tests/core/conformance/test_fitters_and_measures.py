"""The conformance suite on fitters and measures: glem's own and those of the docs pass, each mistake is seen."""

import re
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import glem
from glem.core.conformance import check_fitter, check_measure
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning
from glem.core.fitting.fitters.fitter import fitter_names, fitter_of
from glem.core.measures.measure import Measure
from glem.core.measures.named import load_measure, measure_names
from tests.core.cli.terminal import Terminal
from tests.core.conformance.test_conformance import failures

DOCS = Path(__file__).parents[3] / "docs" / "how-to"
UNFIT = {
    "likelihood": "files of games",
    "grade": "no scale b",
    "choice-error": "no choice set",
}
UNFIT |= dict.fromkeys(("best-move", "rank-correlation"), UNFIT["choice-error"])


@pytest.fixture(scope="module")
def learning() -> Learning:
    return glem.load_learning("connect_four")


@pytest.mark.parametrize("name", [*fitter_names(), f"{DOCS}/my_fitters.py:Ridge"])
def test_fitters_keep_their_promises(name: str, learning: Learning) -> None:
    report = check_fitter(fitter_of(name, {}), learning, games=8)
    assert report.passed, str(report)
    assert UNFIT.get(name, "") in str(report)
    assert all(result.cases for result in report.results) != (name in UNFIT)


@pytest.mark.parametrize(
    "name", [*measure_names(), "grade,scale=1,drawishness=0.2", f"{DOCS}/my_measures.py:Explained"]
)
def test_measures_keep_their_promises(name: str, learning: Learning) -> None:
    report = check_measure(*load_measure(name), learning, games=8)
    assert report.passed, str(report)
    assert UNFIT.get(name, "") in str(report)
    assert all(result.cases for result in report.results) != (name in UNFIT)


@attrs.define(frozen=True, slots=False)
class Mean(glem.Fitter):
    """Fit the mean.

    Parameters
    ----------
    share
        Share of it.
    """

    name = "mean"
    share: float = glem.setting(1.0, least=0.0, most=1.0)

    def fit(self, data: Any, learning: Learning, run: Any) -> glem.Fit:
        features = [learning.features.index(name) for name in learning.linear]
        values = learning.features.values(data.positions)[:, features].astype(float)
        weights = np.linalg.lstsq(values, data.label.astype(float), rcond=None)[0] * self.share
        count = len(learning.phases)
        linear = np.tile(self.spoil(weights.astype(np.float32), data, run), (count, 1))
        bias = np.zeros(count, np.float32)
        return glem.Fit(LinearEvaluation(learning, bias, linear=tuple(features), linear_weights=linear))

    def spoil(self, weights: Any, data: Any, run: Any) -> Any:
        return weights


class WrongSign(Mean):
    def spoil(self, weights: Any, data: Any, run: Any) -> Any:
        return -weights


class ByThreads(Mean):
    def spoil(self, weights: Any, data: Any, run: Any) -> Any:
        return weights * run.jobs


class Writes(Mean):
    def spoil(self, weights: Any, data: Any, run: Any) -> Any:
        data.weight[0] += 1
        return weights


class Leaves(Mean):
    def spoil(self, weights: Any, data: Any, run: Any) -> Any:
        if run.output is not None:
            run.output.with_name("rest").touch()
        return weights


class FailsOnFew(Mean):
    def spoil(self, weights: Any, data: Any, run: Any) -> Any:
        return weights + 0 * data.label[5]


class Endless(Mean):
    def spoil(self, weights: Any, data: Any, run: Any) -> Any:
        return weights * np.float32(np.nan)


class Returns(Mean):
    def fit(self, data: Any, learning: Learning, run: Any) -> Any:
        return super().fit(data, learning, run).evaluation


@attrs.define(frozen=True, slots=False)
class Untold(Mean):
    """Has a setting without a text."""

    other: int = glem.setting(1, least=1)


@pytest.mark.parametrize(
    ("kind", "check", "text"),
    [
        (WrongSign, "evaluation", r"have the correlation -0\.\d+"),
        (ByThreads, "repeatable", r"values differ by up to .*, jobs=2"),
        (Writes, "input", "fit changes the column weight of the positions"),
        (Leaves, "files", "the fit leaves rest"),
        (
            FailsOnFew,
            "few positions",
            r"IndexError: .* \(test_fitters_and_measures.py, line \d+\)",
        ),
        (Endless, "evaluation", "linear_weights hold values that are not finite"),
        (Returns, "evaluation", "fit returned a LinearEvaluation, expected a glem.Fit"),
        (Untold, "settings", "the docstring has no text for the setting other"),
    ],
)
def test_mistakes_of_fitters_are_seen(kind: Any, check: str, text: str, learning: Learning) -> None:
    found = failures(check_fitter(kind(), learning, games=8))
    assert re.search(text, found[check]), found


def test_a_sound_fitter_passes(learning: Learning) -> None:
    report = check_fitter(Mean(), learning, games=8)
    assert report.passed, str(report)


class Measured(Measure):
    """Mean square of the errors, as a root."""

    def terms(self, judged: Any) -> Any:
        return (judged.value - judged.label) ** 2

    def number(self, means: Any) -> Any:
        return np.sqrt(means[0]), 0.5 / np.sqrt(means)


class NoSquareRoot(Measured):
    def number(self, means: Any) -> Any:
        return np.sqrt(means[0]), np.ones(1)


class OfAll(Measured):
    def terms(self, judged: Any) -> Any:
        return (judged.value - judged.value.mean()) ** 2


class Counts(Measured):
    def terms(self, judged: Any) -> Any:
        judged.value[:] += 1
        return judged.value


class Infinite(Measured):
    def number(self, means: Any) -> Any:
        return np.inf, np.zeros(1)


@pytest.mark.parametrize(
    ("kind", "check", "text"),
    [
        (NoSquareRoot, "derivatives", "by mean 0 it is 1, a difference quotient 0"),
        (OfAll, "parts", "positions have other terms where other games are not among them"),
        (Counts, "number", "the second time|what is judged is changed"),
        (Infinite, "number", "the number is inf"),
    ],
)
def test_mistakes_of_measures_are_seen(kind: Any, check: str, text: str, learning: Learning) -> None:
    found = failures(check_measure("own", kind(), learning, games=8))
    assert re.search(text, found[check]), found
    sound = check_measure("own", Measured(), learning, games=8)
    assert sound.passed, str(sound)


def test_what_has_no_games_is_refused(learning: Learning) -> None:
    with pytest.raises(BadInputError, match="at least one game"):
        check_fitter(Mean(), learning, games=0)


def test_the_command(terminal: Terminal) -> None:
    own = ("--fitter", f"{DOCS}/my_fitters.py:Ridge", "--measure", f"{DOCS}/my_measures.py:right_winner", "--games", 5)
    found = terminal.json("check", "connect_four", *own)
    assert [part["subject"].split(" on ")[0] for part in found["parts"]] == ["fitter ridge", "measure right_winner"]
    assert found["passed"]
    assert "no fitter 'nix'" in terminal.fails("check", "connect_four", "--fitter", "nix")
    assert "do not go with" in terminal("check", "connect_four", *own, "--plain", status=2)
