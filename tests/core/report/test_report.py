"""The report: whole, closed, accessible, and unharmed by hostile names and missing numbers."""

import base64
import hashlib
import itertools
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Literal

import attrs
import matplotlib
import numpy as np
import pytest

from glem.core.files.atomic import write_text
from glem.core.game.game import BoardLayout
from glem.core.report.boards import glyphs_for
from glem.core.report.data import (
    DEFAULT_GLYPHS,
    Calibration,
    CellMap,
    DiscoveryReport,
    Glyph,
    Item,
    LearningCurve,
    PhaseErrors,
    to_json,
)
from glem.core.report.markup import aligned, legible, number, signed
from glem.core.report.pages.discovery import render
from glem.core.report.svg import ChartsWarning

ROOT = Path(__file__).parents[3]
VOID = {"link", "meta", "wbr", "br"}
STYLE_SHEET = (files("glem.core.report") / "report.css").read_text(encoding="utf-8")

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src="https://example.org/x.png" onerror="alert(1)">',
    "</style></title><svg onload=alert(1)>",
    "$\\frac{1$ ${}$",
    "bell \x07, escape \x1b[2J, nothing \x00",
    "half a surrogate \ud800",
    "left \u202e right",
    "局面 evaluation",
    "long " * 4000,
    "",
)


class Page(HTMLParser):
    """A parsed report that has checked that every element is closed where it must be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice: {names}"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1] == tag, f"</{tag}> inside of {self._open[-3:]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return "".join(self.words)


def bare_report() -> DiscoveryReport:
    return DiscoveryReport(
        title="Nothing",
        game_title="A game",
        layout=None,
        summary="",
        facts={},
        phases=(),
        curves=(),
        errors=PhaseErrors((), (), {}, "points"),
        calibrations=(),
        configurations=(),
        patterns=(),
        unit="points",
    )


def filled_report(name: str, phase_count: int = 2, edge: int = 3) -> DiscoveryReport:
    """Put the name in every place that takes text, and invented numbers in the others."""
    random = np.random.default_rng(11)
    phases = tuple(f"{name} {phase}" for phase in range(phase_count))
    counts = (1000 * random.integers(1, 60, phase_count)).tolist()
    iterations = np.arange(0, 61, 12)
    falling = 19 + 6 * np.exp(-iterations / 5)

    def item(kind: Literal["configuration", "pattern"], rank: int, cells: dict[int, str]) -> Item:
        weights = random.normal(0, 4, phase_count).tolist()
        return Item(kind, f"{name} {rank}", cells, (name,) * (rank % 3), weights, counts, 0.5 * 0.9**rank, name)

    errors = {
        model: (base + random.random(phase_count)).tolist() for model, base in ((name, 15), ("other", 22), ("third", 9))
    }
    return DiscoveryReport(
        title=name,
        game_title=name,
        layout=BoardLayout(edge, edge),
        summary=name,
        facts={name: name},
        phases=phases,
        curves=[
            LearningCurve(phase, iterations.tolist(), falling.tolist(), (falling + 0.4).tolist()) for phase in phases
        ],
        errors=PhaseErrors(phases, counts, errors, name, ("other",)),
        calibrations=[Calibration(name, [-30.0, 0.0, 30.0], [-28.0, 1.0, 31.0], [500, 6000, 400], name)],
        configurations=[
            item("configuration", 0, {0: "own", 1: name, 2: "own"}),
            *(item("configuration", rank, {rank: "own", edge * rank: "empty"}) for rank in range(1, edge)),
        ],
        patterns=[item("pattern", rank, {0: "empty", rank: "own"}) for rank in range(1, 3)],
        unit=name,
        how_to_read=f"{name}\n\n{name}",
        cell_maps=[CellMap(phase, np.linspace(-3, 9, edge**2).tolist()) for phase in phases],
        cell_map_title=name,
        glyphs={"own": Glyph("text", text=name)},
    )


def example_report() -> DiscoveryReport:
    """One with as many phases as a real one."""
    return filled_report("What games say of a position", 13, 8)


@pytest.fixture(scope="module")
def example() -> DiscoveryReport:
    return example_report()


@pytest.fixture(scope="module")
def example_text(example: DiscoveryReport) -> str:
    return render(example)


@pytest.fixture(scope="module")
def page(example_text: str) -> Page:
    return Page(example_text)


def test_is_well_formed_with_unique_identifiers_and_whole_links(page: Page) -> None:
    identifiers = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert [name for name, count in identifiers.items() if count > 1] == []
    references = {attributes["href"] for tag, attributes in page.elements if "href" in attributes and tag != "link"}
    references |= {
        found
        for _, attributes in page.elements
        for value in attributes.values()
        for found in re.findall(r"url\((#[^)]*)\)", value or "")
    }
    assert references
    assert {f"#{name}" for name in identifiers} >= references


def test_shows_every_part(page: Page, example: DiscoveryReport) -> None:
    for text in (example.title, example.summary, *example.facts.values(), *(curve.name for curve in example.curves)):
        assert text in page.text
    boards = [svg for svg in page.all("svg") if svg["class"] == "board"]
    charts = [svg for svg in page.all("svg") if svg["class"] == "chart"]
    bars = [svg for svg in page.all("svg") if svg["class"] == "bars"]
    items = (*example.configurations, *example.patterns)
    assert len(boards) >= sum(bool(item.cells) for item in items) + len(example.cell_maps)
    assert len(charts) == 2 + len(example.curves) + len(example.calibrations)
    assert len(bars) == 2 * len(items)


def test_fetches_nothing_and_runs_one_script(example_text: str, page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "iframe", "object", "embed", "base", "form"}
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), f"<{tag} {name}>"
            assert "//" not in (value or ""), f"<{tag} {name}={value!r}>"
    assert "@import" not in example_text
    assert [target for target in re.findall(r"url\(([^)]*)", example_text) if not target.startswith("#")] == []
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert "default-src 'none'" in str(policy)
    scripts = re.findall(r"<script>(.*?)</script>", example_text, re.DOTALL)
    assert scripts == [(files("glem.core.report") / "report.js").read_text(encoding="utf-8")]
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in str(policy)
    assert not re.search(r"fetch|XMLHttp|import|eval|Function|innerHTML|://", scripts[0])


def test_every_number_of_a_chart_answers_to_the_pointer(page: Page, example: DiscoveryReport) -> None:
    spots = [attributes for tag, attributes in page.elements if attributes.get("class") == "spot"]
    points = 2 * len(example.phases) + sum(len(curve.iterations) for curve in example.curves)
    points += sum(len(calibration.filled) for calibration in example.calibrations)
    assert len(spots) == points
    for name, errors in example.errors.models.items():
        assert f"{name}: {number(errors[3])}" in page.text
    assert all(0 <= float(spot.get("x") or spot["cx"] or -1) <= 1040 for spot in spots)


def test_every_picture_and_table_is_described(page: Page) -> None:
    for svg in page.all("svg"):
        assert svg.get("aria-hidden") == "true" or (svg["role"] == "img" and svg["aria-label"]), svg
    assert len(page.all("caption")) == len(page.all("table")) > 0
    scrolling = [div for div in page.all("div") if div.get("class") == "scroll"]
    assert len(scrolling) == len(page.all("table"))
    assert all(div["tabindex"] == "0" and div["aria-label"] for div in scrolling)
    assert page.all("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))


def test_charts_have_only_colours_of_the_style_sheet(example_text: str) -> None:
    body = example_text.split("</style>", 1)[1]
    assert re.findall(r"#[0-9a-fA-F]{6}\b", body) == []
    assert "currentColor" not in body
    assert set(re.findall(r"var\((--[\w-]+)\)", example_text)) <= set(re.findall(r"(--[\w-]+):", STYLE_SHEET))


def _palettes() -> dict[str, dict[str, str]]:
    light, dark = (
        dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root {(.*?)}", STYLE_SHEET, re.DOTALL)
    )
    assert light.keys() - {"--own-edge"} == dark.keys() - {"--own-edge"}
    return {"light": light, "dark": dark}


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_stand_out_from_their_ground(scheme: str) -> None:
    # WCAG 2.1: 4.5 for text (1.4.3), 3 for graphics (1.4.11).
    colours = _palettes()[scheme]
    for ground in ("--paper", "--surface"):
        for text in ("--ink", "--ink-soft", "--accent"):
            assert _contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for shape in (
            "--quiet",
            "--bar",
            "--positive",
            "--negative",
            "--felt",
            *(f"--series-{n}" for n in range(1, 7)),
        ):
            assert _contrast(colours[shape], colours[ground]) >= 3, (shape, ground)
    for disc in ("--own", "--opponent"):
        assert _contrast(colours[disc], colours["--felt"]) >= 3, disc


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_text(name: str) -> None:
    text = render(filled_report(name))
    text.encode("utf-8")
    found = Page(text)
    plain = Page(render(filled_report("plain")))
    tags = Counter(tag for tag, _ in found.elements)
    same = Counter(tag for tag, _ in plain.elements)
    # Only the charts' axes may differ, by how many labels fit, and where a name may be broken.
    for tag in same.keys() | tags.keys():
        if tag not in ("wbr", "g", "text", "use", "path", "defs"):
            assert tags[tag] == same[tag] or not name, tag
    assert all(not key.startswith("on") for _, attributes in found.elements for key in attributes)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)
    assert len(text) < 3_000_000, "a long name is cut"


def test_nothing_at_all_renders() -> None:
    found = Page(render(bare_report()))
    assert found.all("section") == []


def test_missing_numbers_render() -> None:
    nan, inf = math.nan, math.inf
    report = attrs.evolve(
        bare_report(),
        layout=BoardLayout(2, 3),
        phases=("only",),
        curves=[
            LearningCurve("none", [], [], []),
            LearningCurve("all nan", [1, 2], [nan, nan], [nan, nan]),
            LearningCurve("one", [7], [1.0], [inf]),
            LearningCurve("flat", [0, 1], [0.0, 0.0], [0.0, 0.0]),
        ],
        errors=PhaseErrors(("only",), (0,), {"a": [nan], "b": [inf], "c": [0.0]}, "points", ("b",)),
        calibrations=[
            Calibration("empty", [], [], [], "points"),
            Calibration("no counts", [1.0], [1.0], [0], "points"),
            Calibration("one", [1.0, nan], [1.0, 2.0], [3, 4], "points"),
        ],
        configurations=[
            Item("configuration", "nothing known", {}, (), (), ()),
            Item("configuration", "nan", {0: "own"}, (), [nan], [0], nan),
            Item("configuration", "inf", {5: "a value without a glyph"}, (), [inf], [10**18], -inf),
        ],
        patterns=[Item("pattern", "tiny", {1: "empty"}, (), [1e-300], [1])],
        cell_maps=[CellMap("nan", [nan] * 6), CellMap("zero", [0.0] * 6)],
    )
    text = render(report)
    found = Page(text)
    assert "nan" not in " ".join(value or "" for svg in found.all("rect") for value in svg.values())
    assert "Infinity" not in json.dumps(to_json(report), allow_nan=False)


def test_equal_reports_give_equal_files(tmp_path: Path, example_text: str) -> None:
    # Another process with another hash seed: sets and dictionaries must not show through.
    target = tmp_path / "report.html"
    program = (
        "import sys; from tests.core.report.test_report import example_report, render, write_text; "
        "write_text(sys.argv[1], render(example_report()))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", program, str(target)], check=True, env=environment, cwd=ROOT)
    assert target.read_text(encoding="utf-8") == example_text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_matplotlib_settings_of_the_caller_neither_matter_nor_change(
    example: DiscoveryReport, example_text: str
) -> None:
    with matplotlib.rc_context({"font.size": 30.0, "axes.grid": False, "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams)
        assert render(example) == example_text
        assert dict(matplotlib.rcParams) == before


def test_importing_the_report_does_not_load_matplotlib() -> None:
    program = "import sys, glem.core.report.discovered; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_matplotlib_a_page_has_all_but_its_charts(monkeypatch: pytest.MonkeyPatch, example_text: str) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.warns(ChartsWarning, match="pyglem"):
        text = render(example_report())
    assert "<svg" in text  # boards are drawn without it
    assert 'class="chart"' not in text
    assert text.count("left out, since matplotlib was not installed") == example_text.count('class="chart"') > 0


def test_an_error_leaves_the_older_file(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_text(target, render(bare_report()))
    older = target.read_bytes()
    with pytest.raises(TypeError):
        write_text(target, 3)  # type: ignore[arg-type]
    assert target.read_bytes() == older


def test_json_is_strict_and_holds_the_numbers(example: DiscoveryReport) -> None:
    report = attrs.evolve(example, curves=(LearningCurve("a", [1], [math.nan], [2.5]),))
    plain = json.loads(json.dumps(to_json(report), allow_nan=False))
    assert plain["layout"] == {"rows": 8, "columns": 8}
    assert plain["curves"] == [{"name": "a", "iterations": [1], "training": [None], "validation": [2.5]}]
    assert plain["configurations"][0]["cells"] == {"0": "own", "1": example.title, "2": "own"}
    assert plain["errors"]["models"].keys() == example.errors.models.keys()


def test_overall_error_weighs_phases_by_their_positions_or_the_weight_of_these() -> None:
    nan = math.nan
    unweighted = PhaseErrors(("a", "b", "c"), (1, 3, 0), {"m": (4.0, 2.0, 100.0), "n": (nan, 2.0, 1.0)}, "points")
    assert unweighted.overall("m") == pytest.approx(math.sqrt((16 + 3 * 4) / 4))
    assert unweighted.overall("n") == pytest.approx(2.0)
    models = {"m": (4.0, 2.0)}
    assert not PhaseErrors(("a", "b"), (1, 3), models, "points", weights=(1.0, 3.0)).is_weighted
    errors = PhaseErrors(("a", "b"), (1, 3), models, "points", weights=(6.0, 3.0))
    assert errors.is_weighted
    assert errors.overall("m") == pytest.approx(math.sqrt((6 * 16 + 3 * 4) / 9))
    weighted = render(attrs.evolve(bare_report(), errors=errors))
    assert ">weight<" in weighted
    assert "every position counts with its weight" in weighted
    assert ">weight<" not in render(attrs.evolve(bare_report(), errors=attrs.evolve(errors, weights=())))


def test_cells_are_called_by_their_names() -> None:
    report = attrs.evolve(
        bare_report(),
        layout=BoardLayout(2, 2),
        configurations=[Item("configuration", "b2=own", {1: "empty", 3: "own"}, (), [], [])],
        cell_maps=[CellMap("all", [math.nan, 1.0, math.nan, 2.0])],
        cell_names={3: "b1"},
    )
    page = render(report)
    assert "Board, 2 by 2 cells: row 1 column 2 empty; b1 own" in page
    assert "<title>b1: +2" in page
    assert "<title>row 1 column 2: +1" in page


def test_no_two_values_of_a_cell_are_drawn_alike() -> None:
    names = ["own man", "own_king", "opponent's man", "opponent_king", "his_man", "his_king", "??", "a" * 5000, "aa"]
    names += [f"plane{place}" for place in range(120)] + list(DEFAULT_GLYPHS)
    drawn = glyphs_for(names, DEFAULT_GLYPHS)
    assert len({drawn[name] for name in names}) == len(names)
    assert all(1 <= len(glyph.text) <= 3 for glyph in drawn.values() if glyph.shape == "text")
    assert (drawn["own man"].shape, drawn["own man"].tone) == ("disc", "own")
    assert (drawn["opponent_king"].shape, drawn["opponent_king"].tone) == ("disc", "opponent")
    assert drawn["own man"].text == drawn["opponent's man"].text != drawn["own_king"].text


def test_numbers_read_well() -> None:
    assert [number(value) for value in (0.0, 1234567.8, -0.01234, 12.0, math.nan, 1e20)] == [
        "0",
        "1,234,568",
        "−0.0123",
        "12.0",
        "–",
        "1.00e+20",
    ]
    assert [signed(value) for value in (0.5, -0.5, 0.0)] == ["+0.50", "−0.50", "0"]
    assert aligned([1.5, -22.25, math.nan]) == ["1.5", "−22.2", "–"]
    assert aligned([0.0, 0.0]) == ["0", "0"]
    assert legible("a\x00b\u202ec", 3) == "a�…"
