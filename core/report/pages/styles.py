"""Pages of players' styles: the portrait of one, two beside each other, and the experiment with two players."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.game.drawing import draw_position
from glem.core.game.game import BoardLayout, Game
from glem.core.report.boards import draw_board, draw_cell_map, map_legend
from glem.core.report.charts import LineStyle, legend, phase_chart, styles_of
from glem.core.report.data import CellMap, Glyph, Item
from glem.core.report.markup import Child, element, extend, number, signed
from glem.core.report.page import details, key_figures, paragraph, section, table, whole_page
from glem.core.report.svg import STAND_IN, Spot, both_sizes
from glem.core.styles.styles import Foretelling
from glem.core.styles.telling import Taste, TellingPosition, coefficients_of, compare_tastes
from glem.core.styles.two_players import LAST_PLY, METHODS, START_MOVES, Outcome, hit_rows
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WINDOW = 50
_PICTURED, _COMPARED, _DRIFTING = 10, 20, 15
_CELL = 20.0
_COMPLEX, _PAIR = (re.compile(kind + r"_([a-z])(\d+)_([a-z])(\d+)") for kind in ("complex", "pawns"))
_PIECES = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
_WRITING = "text-anchor:middle;dominant-baseline:central;fill:var(--ink);pointer-events:none;font:600 {}px var(--sans)"
_CHANCE = "chance"
_Found = Mapping[str, tuple[float, float]]


def render_style(
    style: LinearEvaluation,
    *,
    name: str,
    told: Sequence[str],
    predictions: Sequence[Foretelling],
    periods: Sequence[tuple[str, LinearEvaluation]],
    shares: Mapping[str, float],
    game_title: str,
) -> str:
    """HTML text of the portrait of a player; equal styles give equal texts.

    It is told by the games (``told``), by how well the style, whose prediction is the first, and others foretell the
    same moves, by the styles of parts of the career in order, and by the shares of comparable players who have a
    smaller coefficient of a feature, nan where there are none.
    """
    found = coefficients_of(style)
    order = sorted(found, key=lambda each: (-abs(_strength(*found[each])), -abs(found[each][0]), each))
    summary = f"What {name} cares for when choosing a move, as weights of {counted(len(found), 'feature')}."
    figures = [(f"{each.share_of_best()[0]:.1%}", f"of the moves foretold by {each.name}") for each in predictions]
    layout = style.learning.game.layout or BoardLayout(8, 8)
    sections = (
        section("games", "Games", *map(paragraph, told)) if told else None,
        _predictions(predictions),
        _features(style, found, order, shares),
        _complexes(found, layout),
        _pairs(found, layout),
        _drift(periods),
    )
    title = f"The style of {name}"
    return whole_page(title, game_title, "style", summary, sections, key_figures(figures) if figures else None)


def _strength(value: float, error: float) -> float:
    return value / error if error > 0 else 0.0


def _with_error(value: float, error: float) -> str:
    if not 0 < error < math.inf:
        return signed(value, 3)
    decimals = max(1 - math.floor(math.log10(error)), 0)
    return f"{value:+.{decimals}f} ± {error:.{decimals}f}".replace("-", "−")


def _interval(share: tuple[float, float, float], form: str) -> str:
    value, low, high = (format(each, form).replace("-", "−") for each in share)
    return "–" if math.isnan(share[0]) else value if math.isnan(share[1]) else f"{value} ({low} to {high})"


def _in_errors(score: float) -> str:
    return f"{score:+.1f}".replace("-", "−") if score else "–"


def _predictions(predictions: Sequence[Foretelling]) -> Element | None:
    if not predictions:
        return None
    own = predictions[0]
    rows = []
    for each in predictions:
        apart = "–" if each is own else _interval(own.per_move(each), ".3f")
        rows.append((each.name, _interval(each.per_move(), ".3f"), apart, _interval(each.share_of_best(), ".1%")))
    lead = (
        f"{counted(int(own.moves.sum()), 'move')} of {counted(len(own.moves), 'game')}, with 95 % intervals by game. "
        f"Where the difference is above 0, “{own.name}” foretells more."
    )
    header = ("by", "log likelihood per move", f"“{own.name}” less that", "moves foretold")
    return section("predictions", "How well it foretells moves", paragraph(lead), table("Predictions", header, rows))


def _features(style: LinearEvaluation, found: _Found, order: Sequence[str], shares: Mapping[str, float]) -> Element:
    features, game = {feature.name: feature for feature in style.learning.features.features}, style.learning.game
    rows: list[list[Child]] = []
    for name in order:
        rows.append([_named(name, features[name].description), _with_error(*found[name])])
        rows[-1].append(_in_errors(_strength(*found[name])))
        if shares:
            share = shares.get(name, math.nan)
            rows[-1].append("–" if math.isnan(share) else f"{share:.0%}")
    header = ("feature", "value ± error", "in errors", *(["players below"] if shares else []))
    examples = [features[name].example for name in order]
    boards = [_board(game, game.parse_position(text)) if text else None for text in examples]
    if any(board is not None for board in boards):
        header = (*header, "example")
        for row, board in zip(rows, boards, strict=True):
            row.append(element("div", board, style="width:116px"))
    shown = rows[:_PICTURED]
    lead = "By coefficients in standard errors. A board shows a position in which the feature is above 0."
    return section(
        "features",
        "Strongest tastes",
        paragraph(lead),
        table("The strongest features", header, shown),
        details("Other features", table("Other features", header, rows[_PICTURED:])) if len(rows) > _PICTURED else None,
    )


def _named(name: str, description: str) -> Element:
    """Say what a feature is, before the name that files and commands have for it."""
    code = element("span", name, class_="soft")
    return element("span", description, " ", code) if description else code


def _board(game: Game, position: Any, first_to_move: bool = True) -> Element | None:
    """Board with the pieces of a position; None where the game draws none."""
    drawing = draw_position(game, position, first_to_move=first_to_move)
    usual = draw_position(game, game.initial_position)
    if drawing is None or usual is None or game.layout is None:
        return None
    has_pieces = {*"".join(usual.cells)} - {usual.empty} == {*_PIECES, *map(str.upper, _PIECES)}
    cells = {cell: sign for cell, sign in enumerate("".join(drawing.cells)) if sign != drawing.empty}
    glyphs = {}
    for sign in set(cells.values()):
        if has_pieces:
            glyphs[sign] = Glyph("disc", "opponent" if sign.isupper() else "own", f"{_PIECES[sign.lower()]}\ufe0e")
        elif sign in drawing.players:
            glyphs[sign] = Glyph("disc", "own" if sign == drawing.players[0] else "opponent")
        else:
            glyphs[sign] = Glyph("disc", "own" if sign.isupper() else "opponent" if sign.islower() else "neutral", sign)
    item = Item("pattern", "", cells, (), (), ())
    board = draw_board(item, game.layout, glyphs, dict(enumerate(game.layout.cell_names)))
    for picture in board.iter("text") if has_pieces else ():
        picture.set("style", "font-size:15px")
    return board


def _places(
    pattern: re.Pattern[str], found: _Found, layout: BoardLayout
) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Features that are named after two squares, and these as column and row from the top left."""
    for name in found:
        if match := pattern.fullmatch(name):
            squares = (match.group(1, 2), match.group(3, 4))
            ends = [(ord(file) - ord("a"), layout.rows - int(rank)) for file, rank in squares]
            if all(0 <= column < layout.columns and 0 <= row < layout.rows for column, row in ends):
                yield name, ends[0], ends[1]


def _square_names(layout: BoardLayout) -> Iterator[Element]:
    look = _WRITING.format(4) + ";opacity:0.7"
    for column in range(layout.columns):
        yield element("text", chr(97 + column), x=column * _CELL + 17, y=layout.rows * _CELL - 3.5, style=look)
    for row in range(layout.rows):
        yield element("text", str(layout.rows - row), x=3, y=row * _CELL + 4, style=look)


def _pictured(name: str, title: str, lead: str, *children: Element) -> Element:
    return section(name, title, paragraph(lead), element("div", *children, style="max-width:420px"))


def _complexes(found: _Found, layout: BoardLayout) -> Element | None:
    areas = list(_places(_COMPLEX, found, layout))
    if not areas:
        return None
    values, texts = np.full((layout.rows, layout.columns), np.nan), []
    look = _WRITING.format(7) + ";stroke:var(--paper);stroke-width:2.2;paint-order:stroke;stroke-linejoin:round"
    for name, one, other in areas:
        (left, right), (top, bottom) = (sorted(ends) for ends in zip(one, other, strict=True))
        values[top : bottom + 1, left : right + 1] = found[name][0]
        x, y = (left + right + 1) * _CELL / 2, (top + bottom + 1) * _CELL / 2
        texts.append(element("text", signed(found[name][0]), x=x, y=y, style=look))
    greatest = max(abs(found[name][0]) for name, *_ in areas)
    board = draw_cell_map(CellMap("parts", values.ravel().tolist()), layout, greatest, "log odds")
    lead = "The board from the player's own side: what a man of one's own in each part of it is worth in the choice."
    extend(board, (*_square_names(layout), *texts))
    return _pictured("complexes", "Parts of the board", lead, board, map_legend(greatest, "log odds"))


def _pairs(found: _Found, layout: BoardLayout) -> Element | None:
    pairs = list(_places(_PAIR, found, layout))
    if not pairs:
        return None
    lines = []
    for name, one, other in pairs:
        score = _strength(*found[name])
        if abs(score) > 2:
            told = element("title", f"{name}: {_with_error(*found[name])}")
            look = f"stroke:var(--{'positive' if score > 0 else 'negative'});stroke-linecap:round;stroke-opacity:0.85"
            (x1, y1), (x2, y2) = (((column + 0.5) * _CELL, (row + 0.5) * _CELL) for column, row in (one, other))
            width = min(0.45 * abs(score), 6.0)
            lines.append(element("line", told, x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width, style=look))
    lead = (
        f"From the player's own side: {counted(len(lines), 'pair')} of {len(pairs)} whose coefficient is more than 2 "
        "standard errors from 0; the wider the line, the surer."
    )
    board = draw_board(Item("pattern", "", {}, (), (), ()), layout, {})
    board.set("aria-label", f"Board with lines for {counted(len(lines), 'pair')} of pawns")
    signs = legend(((LineStyle("positive"), "sought"), (LineStyle("negative"), "avoided")), "Colours of the lines")
    return _pictured("pairs", "Pairs of pawns", lead, extend(board, (*_square_names(layout), *lines)), signs)


def _drift(periods: Sequence[tuple[str, LinearEvaluation]]) -> Element | None:
    if len(periods) < 2:
        return None
    columns = [coefficients_of(style) for _, style in periods]
    rows = []
    for taste in compare_tastes(periods[0][1], periods[-1][1])[:_DRIFTING]:
        values = [_with_error(*own[taste.name]) if taste.name in own else "–" for own in columns]
        rows.append((taste.name, *values, _in_errors(-taste.score)))
    header = ("feature", *(label for label, _ in periods), "change in errors")
    lead = "What changed most from the first to the last period, in standard errors of the difference."
    return section("drift", "Over the years", paragraph(lead), table("Features by period", header, rows))


def render_comparison(
    first: LinearEvaluation,
    second: LinearEvaluation,
    *,
    names: Sequence[str],
    tastes: Sequence[Taste],
    positions: Sequence[TellingPosition],
    game_title: str,
) -> str:
    """HTML text of two styles of one game beside each other, tastes in order; equal styles give equal texts."""
    shown = tastes[:_COMPARED]
    described = {each.name: each.description for style in (second, first) for each in style.learning.features.features}
    most = [[each.name for each in shown if each.score * sign > 2][:1] for sign in (1, -1)]
    told = [
        f"{name} values more: {(described.get(own[0]) or own[0]).split(';')[0].rstrip('.')}."
        for name, own in zip(names, most, strict=True)
        if own
    ]
    summary = " ".join(told) or "No feature tells the two apart by more than 2 standard errors."
    sections = (_tastes(described, names, shown, len(tastes)), _telling(first.learning.game, names, positions))
    return whole_page(f"{names[0]} and {names[1]}", game_title, "two styles", summary, sections)


def _tastes(described: Mapping[str, str], names: Sequence[str], tastes: Sequence[Taste], count: int) -> Element | None:
    if not tastes:
        return None
    has_shares = any(math.isfinite(each.share) for each in tastes)
    rows: list[list[Child]] = []
    for each in tastes:
        rows.append([_named(each.name, described.get(each.name, "")), *map(_with_error, each.weights, each.errors)])
        rows[-1] += [f"{each.share:.0%}" if math.isfinite(each.share) else "–"] if has_shares else []
        rows[-1].append(_in_errors(each.score))
    shares = [f"players below {names[0]}"] if has_shares else []
    shown = table("The most different features", ("feature", *names, *shares, "in errors"), rows)
    lead = f"By differences in standard errors, above 0 where {names[0]} values a feature more. By chance "
    lead += f"{0.05 * count:.0f} of {counted(count, 'feature')} differ by 2 errors or more."
    return section("tastes", "Where tastes differ", paragraph(lead), shown)


def _telling(game: Game, names: Sequence[str], positions: Sequence[TellingPosition]) -> Element | None:
    if not positions:
        return None
    cards = []
    for place, each in enumerate(positions, 1):
        *wanted, played = (game.move_text(each.position, move) for move in (*each.wanted, each.played))
        told = [
            f"{name}: " + ", ".join(f"{move} {chance:.0%}" for move, chance in zip(wanted, chances, strict=True))
            for name, chances in zip(names, each.chances, strict=True)
        ]
        heading = element(
            "header",
            element("span", str(place), class_="rank"),
            element("h3", f"Game {each.game}, after {counted(each.ply, 'ply')}"),
            element("p", f"{number(each.divergence, 2)} bits apart", class_="item-facts"),
        )
        notes = [element("p", text, class_="note") for text in (*told, f"Played: {played}")]
        board = _board(game, each.position, each.ply % 2 == 0)
        body = element("div", board, element("div", *notes), class_="item-body")
        cards.append(element("li", heading, body, class_="item"))
    lead = "Positions in which the two disagree most, with the chances that each gives to both likeliest moves."
    return section("positions", "Telling positions", paragraph(lead), element("ol", *cards, class_="items"))


def render_two_players(
    names: Sequence[str],
    outcomes: Sequence[Outcome],
    permuted: Sequence[Outcome],
    *,
    settings_text: str,
    game_title: str,
    features: Sequence[str] = (),
    confidence: float = 0.95,
) -> str:
    """HTML text of the experiment of Levene and Fenner (2009); equal outcomes give equal texts.

    ``permuted`` is the null control; ``features`` names the weights in order, which have numbers without it.
    """
    found = f"{counted(len(outcomes), 'repetition')}, {counted(len(permuted), 'null control')}"
    summary = f"Do weights that are learned from one player's games tell that player's moves from the other's? {found}."
    sections = (
        section("settings", "Settings", paragraph(settings_text)) if settings_text else None,
        *((_course(names, outcomes), _weights(names, outcomes, features)) if outcomes else ()),
        *(_hits(names, method, outcomes, permuted, confidence) for method in METHODS if outcomes),
    )
    return whole_page(f"Who was it: {names[0]} or {names[1]}?", game_title, "experiment", summary, sections)


def _course(names: Sequence[str], outcomes: Sequence[Outcome]) -> Element:
    games = max(outcome.course.shape[1] for outcome in outcomes)
    courses = np.full((len(outcomes), 2, games), np.nan)
    for place, outcome in enumerate(outcomes):
        courses[place, :, : outcome.course.shape[1]] = outcome.course
    window = min(_WINDOW, games)
    smooth = {
        name: _mean(np.lib.stride_tricks.sliding_window_view(own, window), 1)
        for name, own in zip(names, _mean(courses, 0), strict=True)
    }

    def draw(figure: Figure, _: int) -> Sequence[Spot]:
        axes = figure.subplots()
        for name, style in styles_of(names).items():
            axes.plot(range(window, games + 1), smooth[name], color=STAND_IN[style.role])
        axes.set_xlabel("training game")
        axes.set_ylabel("absolute error")
        return []

    lead = (
        "Mean absolute error of a training game when it was learned from, by temporal differences: moving averages "
        f"over {counted(window, 'game')}, means over {counted(len(outcomes), 'repetition')}."
    )
    lines = both_sizes("course", draw, f"Line chart: error during training of {' and '.join(names)}")
    keys = legend(((LineStyle(style.role), name) for name, style in styles_of(names).items()), "Players")
    return section("course", "Learning", paragraph(lead), element("figure", keys, *lines))


def _mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Mean of what is not nan; nan where nothing is left."""
    counts = (~np.isnan(values)).sum(axis=axis)
    return np.where(counts > 0, np.nansum(values, axis=axis) / np.maximum(counts, 1), np.nan)


def _weights(names: Sequence[str], outcomes: Sequence[Outcome], features: Sequence[str]) -> Element:
    weights, count = np.stack([outcome.weights for outcome in outcomes]), len(outcomes)
    apart = weights[:, 0] - weights[:, 1]
    means: list[float] = apart.mean(axis=0).tolist()
    errors = apart.std(axis=0, ddof=1) / math.sqrt(count) if count > 1 else np.full(len(means), np.nan)
    known = features or [f"weight {place}" for place in range(1, len(means) + 1)]

    def draw(figure: Figure, _: int) -> Sequence[Spot]:
        axes = figure.subplots()
        axes.bar(range(1, len(means) + 1), means, color=STAND_IN["series-1"])
        axes.set_xlabel("weight")
        axes.set_ylabel("difference")
        return [Spot(axes, at + 1, math.nan, f"{known[at]}: {signed(value)}") for at, value in enumerate(means)]

    order = sorted(range(len(means)), key=lambda at: -abs(means[at]))[:_PICTURED]
    rows = [
        (known[at], *(signed(value, 3) for value in weights.mean(axis=0)[:, at]), _with_error(means[at], errors[at]))
        for at in order
    ]
    lead = (
        f"Weights of {names[0]} less those of {names[1]} by temporal differences, means over "
        f"{counted(count, 'repetition')} with their errors."
    )
    bars = both_sizes("weights", draw, f"Bar chart: difference of {counted(len(means), 'weight')}")
    largest = table("The largest differences", ("feature", *names, "difference ± error"), rows)
    return section("weights", "Difference of the weights", paragraph(lead), element("figure", *bars), largest)


def _hits(
    names: Sequence[str], method: str, outcomes: Sequence[Outcome], permuted: Sequence[Outcome], confidence: float
) -> Element:
    plies = [(2 * (start - 1), LAST_PLY) for start in START_MOVES]
    starts, curves, tables = [str(start) for start in START_MOVES], {}, []
    ratios = [f"h({names[0]}, {names[1]})", f"h({names[1]}, {names[0]})"]
    for of, suffix in ((outcomes, ""), (permuted, ", permuted")):
        if of:
            found = [hit_rows(of, method, each, confidence) for each in plies]
            for side, ratio in enumerate(ratios):
                curves[ratio + suffix] = [row[side][: 1 if suffix else 3] for row in found]
            texts = ([_interval(each, ".3f") for each in row] for row in found)
            rows = [(start, *both) for start, both in zip(starts, texts, strict=True)]
            tables.append(table(f"By {method}{suffix}", ("from move", *ratios), rows))
    baselines = [*(name for name in curves if name.endswith(", permuted")), _CHANCE]
    curves[_CHANCE] = [(0.5,)] * len(starts)
    counts = [int((outcomes[0].ply >= first).sum()) for first, _ in plies]
    chart = phase_chart("ratio", starts, counts, curves, baselines, grouping=f"first move by {method}")
    lead = (
        "Share of the mutual games in which the weights of whoever had the side fit it better than the other's, from "
        f"a move up to move {LAST_PLY // 2 + 1}, with {confidence:.0%} intervals for other training games and other "
        "mutual games together. In the null control the training games of both are mixed and dealt out at random."
    )
    keys = legend(((style, name) for name, style in styles_of(curves, baselines).items()), "Lines")
    key, below = f"hits-{METHODS.index(method) + 1}", element("div", *tables, class_="tables")
    return section(key, f"Hits by {method}", paragraph(lead), element("figure", keys, *chart), below)
