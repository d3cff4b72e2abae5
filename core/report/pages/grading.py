"""The page of a grading: grades, comparisons, curves by group, reliability."""

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from glem.core.grading.collection import CollectionGrading
from glem.core.grading.correctness import Grade
from glem.core.report.charts import legend, phase_chart, styles_of
from glem.core.report.data import Calibration
from glem.core.report.markup import element, number, signed, whole
from glem.core.report.page import (
    calibration_section,
    details,
    facts_section,
    key_figures,
    paragraph,
    reading_section,
    section,
    table,
    whole_page,
)
from glem.core.tasks.counts import counted

_RELIABILITY = (
    "Positions are put into bins by what the evaluation predicts: the score to be expected (a win 1, a draw one half), "
    "and the probability of a draw. On the line, the evaluation means what it says."
)

_HOW_TO_READ = """\
An evaluation v is read as the expected score 1 / (1 + exp(-v / b)) and, with a drawishness between 0 and 1, as \
probabilities of a win, a draw and a loss (A. Ban, 2012). Its correctness in a position is the probability that it \
gave to what then happened; the grade is the geometric mean over positions.

Equal probabilities grade 1/3. The result frequencies grade what can be known without looking at the board. What an \
evaluation adds to them is what it knows.

Grades are recalibrated where there are games enough: b, and level and slope of the log odds of the drawishness, are \
fitted for each fifth of the games to the others. So evaluations are compared by what they know, and no position \
helps to predict itself. As given is the grade with the b and the drawishness that stand beside it; those that the \
evaluation lacks are fitted to these games. What lies between the two is what its calibration costs.

Missing are positions to which an evaluation gives no value. Floored are those in which it gave what happened less \
than the least correctness, which counts in its place.

Errors and intervals are by game. Two evaluations are compared on the same positions, which tells them apart far \
better than their own intervals do."""

_MOST_ROWS = 400
"""Of a table of what a scorer found out."""

_MOST_NAMED = 3
"""Evaluations that a sentence names one by one."""

_COLUMNS = (
    "The interval is by game. As given is the grade without recalibration. b is the value at which 73 % are to be "
    "expected, drawishness how ready an even position is to be drawn. In floored positions, what happened was given "
    "less than the least correctness, which counts; in missing ones there is no value."
)

_FEWEST_IN_CURVE = 20
"""Smaller groups stand in the table only: their intervals would hide the others."""


def render_grading(found: CollectionGrading, *, game_title: str) -> str:
    """HTML text of the report; equal gradings give equal texts."""
    sections = (
        _grades(found),
        _comparisons(found),
        *_curves(found),
        *_groups(found),
        _reliability(found),
        _tables(found),
        _facts(found),
        reading_section(_HOW_TO_READ),
    )
    title = "Grades by the results of games"
    return whole_page(title, game_title, "grading report", _summary(found), sections, _key_figures(found))


def _summary(found: CollectionGrading) -> str:
    """Say in one sentence what the games tell of the evaluations."""
    grading = found.grading
    best = max(grading.evaluations, key=lambda one: one.grade.grade)
    games = counted(grading.baselines[0].grade.games, "game")
    beaten: list[str] = []
    alike: list[str] = []
    for one in grading.comparisons:
        pair = (one.first, one.second) if one.difference > 0 else (one.second, one.first)
        if best.name in pair:
            other = pair[1 - pair.index(best.name)]
            (beaten if one.is_significant and pair[0] == best.name else alike).append(other)
    if not any(one.is_significant for one in grading.comparisons) and len(grading.evaluations) > _MOST_NAMED:
        return f"{games} cannot separate the {len(grading.evaluations)} evaluations."
    told = [f"{best.name} is better than {_listed(beaten)}"] if beaten else []
    if alike:
        told.append(f"{games} cannot separate {'it' if beaten else best.name} from {_listed(alike)}")
    if told:
        return f"{'; '.join(told)}." if alike else f"{told[0]}, by {games}."
    mark = "below" if best.grade.grade < best.frequencies else "above"
    return (
        f"{best.name} gave the results of {games} a probability of {number(best.grade.grade)} on average (geometric "
        f"mean), {mark} the {number(best.frequencies)} of the {grading.baselines[-1].name}."
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} others"


def _key_figures(found: CollectionGrading) -> Element:
    grading = found.grading
    best = max(grading.evaluations, key=lambda one: one.grade.grade)
    gain = 100 * (best.grade.grade / best.frequencies - 1)
    return key_figures(
        (
            (number(best.grade.grade, 4), f"grade of {best.name}"),
            (f"{signed(gain)} %", f"against {grading.baselines[-1].name}"),
            (whole(best.grade.games), "games"),
        )
    )


def _grades(found: CollectionGrading) -> Element:
    remarks = [f"{one.name}: {one.fit.message}." for one in found.grading.evaluations if one.fit and one.fit.message]
    return section(
        "grades",
        "Grades",
        paragraph(_COLUMNS, " ", element("a", "How to read this", href="#reading")),
        table(*found.grading.table(found.featured)),
        *(element("p", remark) for remark in (*remarks, *(f"{note}." for note in found.grading.notes))),
    )


def _comparisons(found: CollectionGrading) -> Element | None:
    if not found.grading.comparisons:
        return None
    return section(
        "comparisons",
        "Which is better",
        paragraph(
            "Difference of the mean logarithms of the correctness on the positions for which both have a value, with "
            "bootstrap intervals and sign-flip tests by game. The adjusted p allows for the number of pairs (Holm); "
            "the verdict goes by it."
        ),
        table(*found.grading.comparison_table()),
        *(element("p", f"{one.verdict}.") for one in found.grading.comparisons),
    )


def _curves(found: CollectionGrading) -> list[Element]:
    """One section for each grouping whose groups follow each other."""
    curves = [_curve(found, name, f"curve-{place}") for place, name in enumerate(found.grading.ordered)]
    return [curve for curve in curves if curve is not None]


def _curve(found: CollectionGrading, grouping: str, key: str) -> Element | None:
    grading = found.grading
    names = grading.groups[grouping]
    groups = grading.baselines[0].by_group[grouping]
    filled = [place for place in range(len(names)) if _count(groups[place]) >= _FEWEST_IN_CURVE]
    if len(filled) < 2:
        return None
    best = max(grading.evaluations, key=lambda one: one.grade.grade).name
    curves = {one.name: [_limits(one.by_group[grouping][place]) for place in filled] for one in grading.graded}
    # Bands that lie over each other tell nothing of any.
    curves |= {name: [limits[:1] for limits in values] for name, values in curves.items() if name != best}
    counts = [_count(groups[place]) for place in filled]
    baselines = [one.name for one in grading.baselines]
    shown = [names[place] for place in filled]
    described = found.phases if grouping == "phase" else ""
    return section(
        key,
        f"By {grouping}",
        element(
            "figure",
            element(
                "figcaption",
                f"Grade by {grouping}; higher is better. The band is the interval of {best}; the table has the errors "
                "of all. Below: positions.",
            ),
            legend(((style, name) for name, style in styles_of(curves, baselines).items()), "Evaluations"),
            *phase_chart("grade", shown, counts, curves, baselines, grouping=grouping, description=described),
        ),
        details("The same as a table", table(*grading.group_table(grouping))),
    )


def _limits(grade: Grade | None) -> tuple[float, ...]:
    return (math.nan, math.nan, math.nan) if grade is None else (grade.grade, grade.low, grade.high)


def _count(grade: Grade | None) -> int:
    return 0 if grade is None else grade.positions


def _groups(found: CollectionGrading) -> list[Element]:
    return [
        section(f"by-{place}", f"By {name}", table(*found.grading.group_table(name)))
        for place, name in enumerate(found.grading.groups)
        if name not in found.grading.ordered
    ]


def _reliability(found: CollectionGrading) -> Element | None:
    curves = [
        Calibration(f"{one.name}: {what}", bins.predicted.tolist(), bins.observed.tolist(), bins.counts.tolist(), unit)
        for one in found.grading.evaluations
        if one.scores is not None and one.draws is not None
        for what, bins, unit in (("expected score", one.scores, "points"), ("draws", one.draws, "probability"))
    ]
    return calibration_section("reliability", "Reliability", _RELIABILITY, curves)


def _tables(found: CollectionGrading) -> Element | None:
    parts: list[Element] = []
    for one in found.tables:
        shown = table(one.title, one.header, one.rows[:_MOST_ROWS])
        parts.append(details(one.title, shown) if len(one.rows) > 12 else shown)
        if len(one.rows) > _MOST_ROWS:
            parts.append(paragraph(f"{counted(len(one.rows) - _MOST_ROWS, 'more row')} left out; --json has all."))
    return section("sources", "What was found about the sources", *parts) if parts else None


def _facts(found: CollectionGrading) -> Element | None:
    counts, settings = found.counts, found.grading.settings
    won, drawn, lost = found.grading.results
    facts = {
        "selection": str(found.rule),
        "positions read": whole(counts.positions),
        "results for the side to move": f"{whole(won)} won, {whole(drawn)} drawn, {whole(lost)} lost",
        "labels": ", ".join(found.label_kinds),
        "least correctness": f"{settings.floor:g}",
        "resamples": f"{whole(settings.resamples)}, seed {settings.seed}",
        **{f"note {place}": remark for place, remark in enumerate(found.remarks, 1)},
    }
    return facts_section(facts)
