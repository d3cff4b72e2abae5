"""Print what logistic regression and the discriminants cost beside statsmodels and scikit-learn (Buro 1995).

    python -m tests.benchmarks.discriminant_tables [--rows 1000000] [--features 13]

Each fit runs in a process of its own, with one thread: the median processor time of some rounds, and how far its memory
grew above the data. ``streamed`` fits ten times as many rows that are made anew, chunk by chunk, on every pass. The
last two columns are the greatest differences of weights from the first of each kind, and of errors by game.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glem.core.fitting.discriminants.models import Rows, Sample, fit_fisher, fit_logistic, fit_quadratic
from tests.benchmarks.measuring import command_line, median_seconds, table_header, table_row

ROUNDS = 5
ROWS_OF_A_GAME = 30
CHUNK = 1 << 14


def rows_of(start: int, count: int, width: int) -> tuple[Any, Any, Any]:
    """Make features, whether they are won, and games whose rows have something in common."""
    random = np.random.default_rng(start)
    game = np.arange(start, start + count) // ROWS_OF_A_GAME
    features = random.normal(size=(count, width))
    features[:, 0] = np.round(2 * features[:, 0])
    common = np.random.default_rng(1).normal(size=game[-1] + 1)[game] if start == 0 else random.normal(size=count)
    odds = features @ np.linspace(-0.5, 0.5, width) + 0.2 + common
    return features, (random.random(count) < 1 / (1 + np.exp(-odds))).astype(float), game


def streamed(rows: int, width: int) -> Sample:
    """Rows that are nowhere in memory together."""

    def chunks() -> Iterator[Rows]:
        for start in range(0, rows, CHUNK):
            features, won, game = rows_of(start + CHUNK, CHUNK, width)
            yield Rows(features, won, np.ones(CHUNK), game, np.zeros(CHUNK))

    return Sample(tuple(map(str, range(width))), chunks, rows, in_order=True)


def contenders(rows: int, width: int) -> dict[str, Callable[[], Any]]:
    """What is compared: each returns the fit's weights, and perhaps errors by game."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from statsmodels.api import Logit

    features, won, game = rows_of(0, rows, width)

    def own(fit: Callable[[Sample], Any]) -> Any:
        return fit(Sample.of_arrays(features, won, game=game))

    def of_statsmodels() -> Any:
        model = Logit(won, np.column_stack([features, np.ones(rows)]))
        fitted = model.fit(disp=0, cov_type="cluster", cov_kwds={"groups": game})
        return [*fitted.params], [*fitted.bse]

    def of_sklearn(model: Any) -> Any:
        model.fit(features, won)
        return [*model.coef_[0], *model.intercept_], None

    def linear(fit: Callable[[Sample], Any]) -> Any:
        found = own(fit)
        return [*found.weights], [*found.errors()]

    def scores(of: Callable[[Any], Any]) -> Any:
        return [*of(features[:1000])], None

    quadratic = QuadraticDiscriminantAnalysis(priors=[0.5, 0.5])
    newton = LogisticRegression(solver="newton-cholesky", C=np.inf, tol=1e-10)
    return {
        "logistic": lambda: linear(fit_logistic),
        "logistic: statsmodels": of_statsmodels,
        "logistic: scikit-learn": lambda: of_sklearn(newton),
        "fisher": lambda: linear(fit_fisher),
        "fisher: scikit-learn": lambda: of_sklearn(LinearDiscriminantAnalysis(priors=[0.5, 0.5])),
        "quadratic": lambda: scores(own(fit_quadratic).scores),
        "quadratic: scikit-learn": lambda: scores(quadratic.fit(features, won).decision_function),
        "logistic, streamed": lambda: ([*fit_logistic(streamed(10 * rows, width)).weights], None),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measure(name: str, rows: int, width: int) -> None:
    """Run one fit and print what it took."""
    work = contenders(rows, width)[name]
    before = _peak()
    weights, errors = work()
    grown = _peak() - before
    seconds = median_seconds(work, ROUNDS) if "streamed" not in name else float("nan")
    print(json.dumps([seconds, grown, _peak(), weights, errors]))


def main() -> None:
    """Print the table."""
    parser = command_line(__doc__, rows=1_000_000, features=13)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.only is not None:
        _measure(chosen.only, chosen.rows, chosen.features)
        return
    table_header("fit", "processor time", "above the data", "peak", "weights differ", "errors by game differ")
    first: dict[str, Any] = {}
    for name in contenders(2000, chosen.features):
        command = [sys.executable, "-m", "tests.benchmarks.discriminant_tables", "--only", name]
        sizes = ["--rows", str(chosen.rows), "--features", str(chosen.features)]
        one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        told = subprocess.run([*command, *sizes], check=True, capture_output=True, text=True, env=one_thread).stdout
        seconds, grown, peak, weights, errors = json.loads(told)
        kind = name.partition(":")[0]
        own = first.setdefault(kind, (weights, errors))
        differ = [
            "" if own[place] is mine or mine is None else f"{np.abs(np.subtract(own[place], mine)).max():.0e}"
            for place, mine in enumerate((weights, errors))
        ]
        table_row(name, f"{seconds:.2f} s", f"{grown:.0f} MiB", f"{peak:.0f} MiB", *differ)


if __name__ == "__main__":
    main()
