"""The page of a discovery: sections in the order in which a reader asks, as one self-contained HTML text."""

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from attrs import evolve

from glem.core.report.boards import board_legend, draw_cell_map, glyphs_for, greatest_value, map_legend
from glem.core.report.charts import LineStyle, learning_chart, legend, phase_chart, styles_of
from glem.core.report.data import Added, DiscoveryReport, Item, PhaseErrors
from glem.core.report.items import draw_item, phase_choice, phase_heads, weight_table
from glem.core.report.markup import Child, aligned, element, number, signed, whole
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

_SHOWN_AT_ONCE = 12

_CALIBRATION = (
    "Positions are put into bins by what the model predicts; a dot compares a bin's mean prediction with the mean "
    "label observed there, and its area grows with the number of positions. On the line, the model means what it says."
)

_ADDED = (
    "The machine chose this for what the given patterns leave of the labels: patterns of cells, patterns of what the "
    "game counts, where these say what a sum cannot, and configurations. "
)


def render(report: DiscoveryReport) -> str:
    """HTML text of the report; equal reports give equal texts."""
    added = report.added.items if report.added is not None else ()
    items = (*report.configurations, *added, *report.patterns)
    glyphs = glyphs_for((value for item in items for value in item.cells.values()), report.glyphs)
    report = evolve(report, glyphs=glyphs)
    given = ("Patterns", "")
    if report.pattern_source:
        given = (
            f"Patterns that were given: {report.pattern_source}",
            "The discovery did not find them; it fitted their weights. ",
        )
    return whole_page(
        report.title,
        report.game_title,
        "discovery report",
        report.summary,
        (
            _errors(report),
            _cell_maps(report),
            _items(
                report, report.configurations, "configurations", "Configurations that were found beside linear features"
            ),
            _items(report, added, "added", "What was found that adds to the patterns", _ADDED, _added_table(report)),
            _items(report, report.patterns, "patterns", *given),
            calibration_section("calibration", "Calibration", _CALIBRATION, report.calibrations),
            _learning(report),
            facts_section(report.facts),
            reading_section(report.how_to_read),
        ),
        _key_figures(report),
    )


def _key_figures(report: DiscoveryReport) -> Element | None:
    errors = report.errors
    overall = {name: errors.overall(name) for name in errors.models}
    models = {name: value for name, value in overall.items() if math.isfinite(value) and name not in errors.baselines}
    if not models:
        return None
    best = min(models, key=lambda name: models[name])
    figures = [(f"{number(models[best])} {errors.unit}", f"error of {best}")]
    baselines = [name for name in errors.baselines if math.isfinite(overall[name]) and overall[name] > 0]
    # The hardest ones to beat: anything looks good beside a constant.
    for name in sorted(baselines, key=lambda name: overall[name])[:2]:
        change = 100 * (models[best] / overall[name] - 1)
        figures.append((f"{signed(change)} %", f"error against {name}"))
    if report.added is not None:
        figures.append((_with_error(report.added, -1), f"{errors.unit}: change of the error by what was found"))
    figures.append((whole(sum(errors.counts)), "positions graded"))
    return key_figures(figures)


def _with_error(added: Added, place: int) -> str:
    change, error = added.differences[place], added.errors[place]
    return f"{change:+.3f} ± {error:.3f}".replace("-", "−") if math.isfinite(change) else ""


def _added_table(report: DiscoveryReport) -> Element | None:
    added = report.added
    if added is None:
        return None
    row = [_with_error(added, place) for place in (-1, *range(len(report.errors.phases)))]
    caption = f"Change of the root mean square error in {report.errors.unit}, with its standard error by game"
    return table(caption, ("phase", "all", *phase_heads(report.errors.phases)), [("what was found", *row)])


def _errors(report: DiscoveryReport) -> Element | None:
    errors = report.errors
    if not errors.models or not errors.phases:
        return None
    entries = (
        (style, name, " ", element("span", number(errors.overall(name)), class_="soft"))
        for name, style in styles_of(errors.models, errors.baselines).items()
    )
    described = report.phase_description
    caption = (
        f"Root mean square error in {errors.unit} by phase{f' ({described})' if described else ''}; lower is "
        "better. Beside each name: its error over all phases. Below: positions in each phase."
    )
    if errors.is_weighted:
        caption += " Every position counts with its weight, that of a merged one the number of equal positions."
    return section(
        "errors",
        "How well it predicts",
        element(
            "figure",
            element("figcaption", caption),
            legend(entries, "Models"),
            *phase_chart(
                "error",
                errors.phases,
                errors.counts,
                {name: [(value,) for value in values] for name, values in errors.models.items()},
                errors.baselines,
                unit=errors.unit,
                description=described,
            ),
        ),
        details("The same as a table", _error_table(errors)),
    )


def _error_table(errors: PhaseErrors) -> Element:
    rows = {name: (errors.overall(name), *values) for name, values in errors.models.items()}
    least = [
        min((value for value in column if math.isfinite(value)), default=math.nan)
        for column in zip(*rows.values(), strict=True)
    ]

    body: list[list[Child]] = []
    for name, values in rows.items():
        marks = (value == best for value, best in zip(values, least, strict=True))
        marked = zip(aligned(values), marks, strict=True)
        body.append([name, *(element("strong", text) if is_least else text for text, is_least in marked)])
    feet = [("positions", *map(whole, (sum(errors.counts), *errors.counts)))]
    caption = f"Root mean square error in {errors.unit} by phase, the least of each column in bold"
    if errors.is_weighted:
        feet.append(("weight", *(f"{weight:,.0f}" for weight in (sum(errors.weights), *errors.weights))))
        caption += "; every position counts with its weight"
    return table(caption, ("phase", "all", *phase_heads(errors.phases)), body, feet=feet)


def _cell_maps(report: DiscoveryReport) -> Element | None:
    layout = report.layout
    if layout is None or not report.cell_maps:
        return None
    greatest = greatest_value(report.cell_maps)
    maps = [
        element(
            "figure",
            element("figcaption", one.name),
            draw_cell_map(one, layout, greatest, report.unit, report.cell_names),
        )
        for one in report.cell_maps
    ]
    return section(
        "maps",
        "The board, cell by cell",
        paragraph(report.cell_map_title) if report.cell_map_title else None,
        map_legend(greatest, report.unit),
        element("div", *maps, class_="maps"),
    )


def _items(
    report: DiscoveryReport,
    items: Sequence[Item],
    name: str,
    title: str,
    lead: str = "",
    figures: Element | None = None,
) -> Element | None:
    if not items:
        return None
    is_tested = any(item.q_value is not None for item in items)
    lead += (
        f"{'Confirmed ones first, then those' if is_tested else 'Those first'} whose weights move evaluations most. "
        "Bars run over the phases; every card has its own scale, printed above its bars. "
        f"Weights are in {report.unit}."
    )
    cards = [draw_item(item, rank + 1, report) for rank, item in enumerate(items)]
    shown, more = cards[:_SHOWN_AT_ONCE], cards[_SHOWN_AT_ONCE:]
    return section(
        name,
        title,
        paragraph(lead, " ", element("a", "What the words mean", href="#reading"))
        if report.how_to_read
        else paragraph(lead),
        figures,
        phase_choice(report.phases),
        board_legend(items, report.glyphs) if report.layout is not None else None,
        element("ol", *shown, class_="items"),
        details(f"{len(more)} more {name}", element("ol", *more, class_="items")) if more else None,
        details("All numbers as a table", weight_table(items, report, f"{title}: weight and matches by phase")),
    )


def _learning(report: DiscoveryReport) -> Element | None:
    curves = [curve for curve in report.curves if curve.iterations]
    if not curves:
        return None
    figures = []
    for place, curve in enumerate(curves):
        best = f"best {number(curve.best[1])} at iteration {curve.best[0]}" if curve.best is not None else None
        caption = element("figcaption", curve.name, " ", element("span", best, class_="soft") if best else None)
        figures.append(element("figure", caption, learning_chart(curve, f"curve-{place}")))
    return section(
        "learning",
        "Learning curves",
        paragraph(
            f"Root mean square error in {report.unit} after each iteration of the fit. Each chart has its own vertical "
            "scale; the dot is the iteration with the least validation error. The last iteration is kept, unless its "
            "validation error is above that of the start."
        ),
        legend(((LineStyle("series-1"), "validation"), (LineStyle("quiet", dashes=(6, 3)), "training"))),
        element("div", *figures, class_="multiples"),
    )
