"""The page of an experiment with discriminants: what they say of held-out games, their terms, and how they play."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np

from glem.core.grading.experiments.discriminants import FISHER, LOG, NAMES, DiscriminantStudy, Played, pairing_table
from glem.core.report.charts import Point, density_chart, legend, phase_chart, point_chart, styles_of
from glem.core.report.markup import element
from glem.core.report.page import details, paragraph, section, table, whole_page
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table


def render_discriminants(study: DiscriminantStudy, played: Sequence[Played], *, seconds: float, game_title: str) -> str:
    """HTML text of the page; equal experiments give equal texts. ``seconds`` stood for 30 minutes in the pairings."""
    summary = f"On {counted(len(study.rows.won), 'position')} of held-out games: {study.verdict()}."
    sections = (
        _pairings(played, seconds),
        _losses(study),
        _chances(study),
        _meanings(study),
        _coefficients(study),
        _terms(study),
        section("classes", "Classes and correlations", table(*study.class_table()), table(*study.correlation_table())),
    )
    return whole_page("Statistical feature combination", game_title, "experiment", summary, sections)


def _pairings(played: Sequence[Played], seconds: float) -> Element | None:
    if not played:
        return None
    told = (
        "Full-width search from near-even openings, each played twice with colours reversed. Errors and p-values are "
        "over pairs of games; p is one-sided, for the player that scored more."
    )
    return section("pairings", "In play", paragraph(told), table(*pairing_table(played, seconds)))


def _losses(study: DiscriminantStudy) -> Element:
    phases = study.told_phases
    curves = {
        name: [(mean.value, *mean.limits(study.confidence)) for mean in (study.loss_of(method, p) for p in phases)]
        for method, name in NAMES.items()
    }
    counts = np.diff(study.rows.starts)[phases].tolist()
    chart = phase_chart("log loss", [study.phase_names[phase] for phase in phases], counts, curves, ())
    told = (
        "The logarithm of the probability that was given to the result, negated; a draw is half a win. Differences are "
        "of the same positions, so their intervals are narrower than those of the curves."
    )
    return _charted("losses", "Which one knows more", f"By these, {study.verdict()}. {told}", chart, study.loss_table())


def _charted(name: str, title: str, lead: str, chart: Sequence[Element], shown: Table) -> Element:
    """Build a section that shows something of all three, in a chart and as a table."""
    same = details("The same as a table", table(*shown))
    return section(name, title, paragraph(lead), element("figure", _names(), *chart), same)


def _names() -> Element:
    return legend(((style, name) for name, style in styles_of(NAMES.values()).items()), "Discriminants")


def _chances(study: DiscriminantStudy) -> Element:
    curves = {}
    for method, name in NAMES.items():
        bins = [(odds, mean, *mean.limits(study.confidence)) for odds, mean in study.chances(method)]
        curves[name] = [Point(f"{name} {odds:+.2f}", odds, mean.value, low, high) for odds, mean, low, high in bins]
    chart = point_chart(
        "chances", curves, {}, "discriminant, log odds", "Share of wins by discriminant", quantity="share of wins"
    )
    told = "Where a discriminant means what it says, the shares lie on 1 / (1 + exp(-f))."
    return _charted("chances", "Winning chances", told, chart, study.chance_table())


def _meanings(study: DiscriminantStudy) -> Element:
    phases, reach = study.told_phases, study.confidence
    curves = {}
    for method, name in NAMES.items():
        known = {each.phase: each.slope for each in study.meanings(method)}
        nothing = (np.nan, np.nan, np.nan)
        curves[name] = [(known[p].value, *known[p].limits(reach)) if p in known else nothing for p in phases]
    counts = np.diff(study.rows.starts)[phases].tolist()
    chart = phase_chart("slope", [study.phase_names[phase] for phase in phases], counts, curves, ())
    told = (
        "Values of different phases compare if a value means the same in each. The slope is that of a logistic "
        "regression of held-out results on the discriminant: above 1 the discriminant claims too little, below 1 too "
        "much."
    )
    return _charted("meanings", "The same value in every phase", told, chart, study.meaning_table())


def _coefficients(study: DiscriminantStudy) -> Element:
    names = (*study.rows.terms.terms, "constant")
    phases = study.phase_names
    found = {NAMES[method]: study.evaluations[method].coefficients for method in (LOG, FISHER)}
    known = {method: each for method, each in found.items() if each is not None}
    figures = []
    for place, name in enumerate(names):
        curves = {}
        for method, each in known.items():
            values, errors = each[:, :, place].tolist()
            reach = [0.0 if np.isnan(error) else 1.96 * error for error in errors]
            curves[method] = [
                Point(phase, float(number), value, value - own, value + own)
                for number, (phase, value, own) in enumerate(zip(phases, values, reach, strict=True))
            ]
        chart = point_chart(
            f"coefficient-{place}",
            curves,
            {},
            f"phase, 0 is {phases[0]}",
            f"Coefficient of {name} by phase",
            quantity="log odds",
        )
        figures.append(element("figure", element("figcaption", name), *chart))
    tables = []
    for method, each in known.items():
        rows = [
            (phase, *(f"{value:+.3f} ± {1.96 * error:.3f}" for value, error in zip(*own, strict=True)))
            for phase, own in zip(phases, each.transpose(1, 0, 2).tolist(), strict=True)
        ]
        tables.append(table(f"{method}: coefficients with 95 % intervals by game", ("phase", *names), rows))
    return section(
        "coefficients",
        "Coefficients by phase",
        paragraph("With 95 % intervals by game, where a phase was fitted by itself."),
        details("Pictures", _names(), *figures),
        details("The same as tables", element("div", *tables, class_="tables")),
    )


def _terms(study: DiscriminantStudy) -> Element:
    figures = [
        element(
            "figure",
            element("figcaption", name),
            density_chart(f"density-{place}", name, *study.densities(place)),
        )
        for place, name in enumerate(study.rows.terms.terms)
    ]
    told = (
        f"Densities of the terms in lost (grey, dashed) and won positions of phase {study.phase_names[study.middle]}, "
        "normalized each. The quadratic discriminant takes both for normal; where they are not, it pays for it."
    )
    return section("terms", "Terms by class", paragraph(told), element("div", *figures, class_="multiples"))
