"""The page of a calibration: what values mean for results, by two models, beside what was observed."""

from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.result_distribution import result_distribution
from glem.core.evaluation.result_models import WdlModel
from glem.core.grading.calibrating import AS_GIVEN, CONSTANT, Calibrated, CalibratedCollection, model_title
from glem.core.grading.wdl_model import Bounds, fit_wdl_model
from glem.core.report.charts import Curve, LineStyle, curve_chart, legend
from glem.core.report.markup import element, number, whole
from glem.core.report.page import facts_section, key_figures, paragraph, reading_section, section, table, whole_page
from glem.core.tasks.counts import counted

_RESULTS = {"win": 1, "draw": 0, "loss": -1}
_STYLES = {
    "win": LineStyle("series-1", "o"),
    "draw": LineStyle("series-2", "s"),
    "loss": LineStyle("series-3", "D"),
}
_BINS = 9
_GROUPS = 3
_FEWEST = 100
"""Positions of a bin of covariates, to which a constant a and b are fitted."""
_REACH = 4.0
"""Values are drawn up to so many spreads b beyond a, where 98 % are won."""

_HOW_TO_READ = """\
A value v is read in two ways. Ban's model (A. Ban, 2012): the expected score is 1 / (1 + exp(-v / b)), and the \
drawishness is the share of draws among the games that the favoured side does not win. WDL_model's, as Stockfish uses \
it: the mover wins with probability 1 / (1 + exp((a - v) / b)) and loses with 1 / (1 + exp((a + v) / b)); a and b are \
polynomials of a covariate of the position.

All are fitted by likelihood. Grades are geometric means of the probability that was given to what happened, on games \
that the model was not fitted to: each fifth of the games is graded with the fit to the others. As given, what the \
evaluation lacks was fitted to these games themselves.

Curves are fitted to all games. Dots are observed: the results of positions in bins of equal size by their values, and \
a and b fitted to a bin of covariates alone. Bands are two standard errors by game either way. Ban's by a covariate is \
fitted to each of six groups of it apart."""


def render_calibration(collection: CalibratedCollection, *, game_title: str) -> str:
    """HTML text of the report; equal calibrations give equal texts."""
    found = collection.found
    names = [name for name in found.fits if name != CONSTANT]
    best = max((one for one in found.graded if one.name != AS_GIVEN), key=lambda one: one.grade.grade)
    first = found.graded[0].grade
    summary = " ".join(
        [
            f"{counted(first.positions, 'position')} of {counted(first.games, 'game')}.",
            *(f"{one.against_ban.verdict}." for one in found.graded if one.against_ban is not None),
        ]
    )
    figures = key_figures(
        ((number(best.grade.grade, 4), f"grade of {model_title(best.name)}"), (whole(first.games), "games"))
    )
    sections = (
        section("grades", "Grades on held-out games", table(*found.held_out_table())),
        *(_results(found, name) for name in names),
        *(_polynomials(found, name) for name in names),
        section(
            "code", "Coefficients", *(element("pre", text) for text in found.code().values()), table(*found.fit_table())
        ),
        _facts(collection),
        reading_section(_HOW_TO_READ),
    )
    title = f"What the values of {found.models.evaluation} mean"
    return whole_page(title, game_title, "calibration", summary, sections, figures)


def _results(found: Calibrated, name: str) -> Element:
    """Draw the probabilities of the results by value, for groups of the positions by their covariates."""
    model, covariate, models = found.fits[name].model, found.covariates[name], found.models
    finite = np.isfinite(found.value)
    reach = min(float(np.abs(found.value[finite]).max()), model.pawn + _REACH * sum(model.spread))
    values = np.linspace(-reach, reach, 101)
    groups = np.searchsorted(np.quantile(covariate, np.linspace(0, 1, _GROUPS + 1)[1:-1]), covariate, side="right")
    figures = []
    for place in range(_GROUPS):
        mine = np.flatnonzero(finite & (groups == place) & (np.abs(found.value) <= reach))
        if len(mine) < _BINS:
            continue
        middle = float(np.median(covariate[mine]))
        curves = {
            result: Curve(_STYLES[result], values.tolist(), chances.tolist(), seen=_seen(found, mine, _RESULTS[result]))
            for result, chances in zip(_RESULTS, model.distribution(values, middle), strict=True)
        }
        if found.ban.drawishness is not None:
            ban = result_distribution(values, models.ban.scale, models.ban.alpha(0.0))
            curves |= {
                f"{result}, Ban's": Curve(
                    LineStyle(_STYLES[result].role, None, (5.0, 2.5)), values.tolist(), each.tolist()
                )
                for result, each in zip(_RESULTS, ban, strict=True)
            }
        caption = f"{name} {covariate[mine].min():g} to {covariate[mine].max():g}, curves at {middle:g}"
        axes = f"value, {models.unit}" if models.unit else "value", "probability"
        drawn = curve_chart(f"results-{name}-{place}", curves, axes, f"Results by value: {caption}")
        figures.append(element("figure", element("figcaption", caption), _legend(curves), drawn))
    return section(
        f"results-{name}",
        f"Results by value and {name}",
        paragraph(
            f"Whole lines are the model by {name}, broken ones Ban's where it has one drawishness; dots are the shares "
            "of the results that were observed."
        ),
        element("div", *figures, class_="multiples"),
    )


def _legend(curves: dict[str, Curve]) -> Element:
    return legend((curve.style, name) for name, curve in curves.items() if curve.style.dashes is None)


def _seen(found: Calibrated, rows: NDArray[np.int64], result: int) -> list[tuple[float, float]]:
    """Mean value, and share of a result, in bins of equal size of some positions."""
    order = rows[np.argsort(found.value[rows], kind="stable")]
    bins = np.array_split(order, _BINS)
    return [(float(found.value[one].mean()), float((found.result[one] == result).mean())) for one in bins]


def _polynomials(found: Calibrated, name: str) -> Element:
    """Draw a and b over the covariate, with what a fit to each of some bins of covariates alone gives."""
    fit, covariate = found.fits[name], found.covariates[name]
    model = fit.model
    places = np.linspace(model.least, model.most, 80)
    seen: list[tuple[float, WdlModel]] = []
    known = np.flatnonzero(np.isfinite(found.value))
    for rows in np.array_split(known[np.argsort(covariate[known], kind="stable")], _BINS):
        if len(rows) >= _FEWEST:
            own, bounds = covariate[rows], Bounds(0.0, 0.0, 1.0)
            alone = fit_wdl_model(found.value[rows], found.result[rows], own, bounds, degree=0)
            seen.append((float(np.clip(own, model.least, model.most).mean()), alone.model))
    curves = {
        each: Curve(style, places.tolist(), height.tolist(), (2 * error).tolist(), dots)
        for each, style, height, error, dots in zip(
            ("a", "b"),
            (_STYLES["win"], _STYLES["draw"]),
            model.parameters(places),
            fit.errors(places),
            ([(at, one.pawn) for at, one in seen], [(at, sum(one.spread)) for at, one in seen]),
            strict=True,
        )
    }
    drawn = curve_chart(f"ab-{name}", curves, (name, found.models.unit or "value"), f"a and b by {name}")
    return section(
        f"polynomials-{name}",
        f"a and b by {name}",
        paragraph(
            "At a value of a, half of the games are won; b says how gradually. Beyond the ends of the curves they stay "
            "what they are there. Dots are fitted to a ninth of the positions each."
        ),
        element("figure", _legend(curves), drawn),
    )


def _facts(collection: CalibratedCollection) -> Element | None:
    models = collection.found.models
    facts = {
        "evaluation": models.evaluation,
        "selection": str(collection.rule),
        "positions read": whole(collection.counts.positions),
        "Ban's": f"b = {number(models.ban.scale, 4)} {models.unit}",
        "Ban's drawishness": f"log odds {models.ban.level:+.3f} {models.ban.slope:+.3f} times those of its own",
        "the calibration stands for": models.chosen,
        **{f"note {place}": remark for place, remark in enumerate(collection.remarks, 1)},
    }
    return facts_section(facts)
