"""The report in a real browser: no console message, no sideways scrolling, colours that follow the scheme.

The report is opened from the file alone. A second page holds it in frames of both widths and writes down what
it measures.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from glem.core.files.atomic import write_text
from glem.core.report.markup import signed
from glem.core.report.pages.discovery import render
from tests.core.report.test_report import HOSTILE, example_report, filled_report

WIDTHS = (400, 1280)
FLAGS = """
--headless=new --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars --enable-logging=stderr
--allow-file-access-from-files --virtual-time-budget=10000 --dump-dom
"""

MEASURING_PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>measuring</title><pre id="measured"></pre><script>
addEventListener("load", () => {
  const measured = [...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument, root = page.documentElement;
    page.querySelectorAll("details").forEach((details) => { details.open = true; });
    const charts = [...page.querySelectorAll(".chart")].filter((chart) => chart.getBoundingClientRect().width > 0);
    const letters = charts.flatMap((chart) => [...chart.querySelectorAll("text")].map(
      (text) => parseFloat(text.style.fontSize) * chart.getBoundingClientRect().width / chart.viewBox.baseVal.width));
    const texts = (parts) => [...parts].map((part) => part.textContent);
    const sortable = page.querySelector("#errors table"), buttons = sortable.tHead?.querySelectorAll("button") ?? [];
    const orders = [texts(sortable.tBodies[0].rows)];
    for (let click = 0; click < 3 && buttons.length; click++) {
      buttons[1].click();
      orders.push([...sortable.tBodies[0].rows].map((row) => row.cells[1].textContent));
    }
    const choice = page.querySelector("#configurations .phase-choice select");
    const card = () => texts(page.querySelectorAll("#configurations .item:first-child .span"));
    const names = () => texts(page.querySelectorAll("#configurations .item h3"));
    const before = [card(), names()];
    choice.value = "3";
    choice.dispatchEvent(new Event("change"));
    const chosen = {
      cards: card(),
      weights: texts(page.querySelectorAll("#configurations .item-charts > :first-child .span")),
      dimmed: page.querySelectorAll("#configurations .bars .other").length,
      columns: new Set(texts(page.querySelectorAll("thead .chosen"))).size,
    };
    choice.value = "";
    choice.dispatchEvent(new Event("change"));
    const restored = JSON.stringify(before) === JSON.stringify([card(), names()]);
    return {
      width: frame.clientWidth,
      needed: root.scrollWidth,
      background: getComputedStyle(page.body).backgroundColor,
      charts: charts.length,
      smallest: letters.length ? Math.min(...letters) : null,
      largest: letters.length ? Math.max(...letters) : null,
      orders, before, chosen, restored,
      hidden: page.querySelector(".phase-choice").hidden,
    };
  });
  document.getElementById("measured").textContent = JSON.stringify(measured);
  console.log("measured");
});
</script>
"""


@pytest.fixture(scope="module")
def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no chromium is installed (Debian: apt-get install chromium)")


def measure(browser: str, folder: Path, dark: bool) -> tuple[list[dict[str, object]], list[str]]:
    """Measurements of ``folder/report.html`` at both widths, and the console's messages."""
    frames = "".join(
        f'<iframe src="report.html" width="{width}" height="900" style="border:0"></iframe>' for width in WIDTHS
    )
    (folder / "measuring.html").write_text(MEASURING_PAGE + frames, encoding="utf-8")
    command = [
        browser,
        *FLAGS.split(),
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        f"--user-data-dir={folder / 'profile'}",
        (folder / "measuring.html").as_uri(),
    ]
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        command.insert(1, "--no-sandbox")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    dumped = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout)
    assert dumped, done.stderr
    messages = re.findall(r"CONSOLE[^\]]*\] (.*)", done.stderr)
    return json.loads(dumped.group(1)), messages


@pytest.mark.slow
@pytest.mark.parametrize(
    "dark", [pytest.param(False, id="light"), pytest.param(True, id="dark", marks=pytest.mark.repeats)]
)
def test_opens_quietly_at_both_widths(browser: str, tmp_path: Path, dark: bool) -> None:
    write_text(tmp_path / "report.html", render(example_report()))
    measured, messages = measure(browser, tmp_path, dark)
    # The measuring page's own message shows that messages are seen at all.
    assert len(messages) == 1
    assert messages[0].startswith('"measured"')
    assert [one["width"] for one in measured] == list(WIDTHS)
    for one in measured:
        assert one["needed"] == one["width"], "the page scrolls sideways"
        assert one["charts"] == 15
        assert isinstance(one["smallest"], float | int)
        assert one["smallest"] >= 11.5, "a chart's letters are too small to read"
        assert isinstance(one["largest"], float | int)
        assert one["largest"] <= 12.5, "charts have letters of different sizes"
        shades = [int(shade) for shade in re.findall(r"\d+", str(one["background"]))[:3]]
        assert (max(shades) < 64) if dark else (min(shades) > 192)


@pytest.mark.repeats  # starts a browser; the markup is in test_report
@pytest.mark.slow
def test_tables_are_sorted_and_phases_chosen(browser: str, tmp_path: Path) -> None:
    report = example_report()
    write_text(tmp_path / "report.html", render(report))
    for one in measure(browser, tmp_path, dark=False)[0]:
        orders: Any = one["orders"]
        errors = sorted((report.errors.overall(name) for name in report.errors.models), reverse=True)
        assert [float(text) for text in orders[1]] == pytest.approx(errors, abs=0.05)
        assert orders[2] == orders[1][::-1]
        assert len(orders[3]) == len(orders[0])
        assert orders[3] not in orders[1:3]
        chosen: Any = one["chosen"]
        phase = report.phases[3]
        assert all(text.startswith(f"{phase}: ") for text in chosen["cards"])
        weights = [signed(item.weights[3]) for item in report.configurations]
        found = [text.removeprefix(f"{phase}: ") for text in chosen["weights"]]
        assert sorted(found) == sorted(weights)
        sizes = [abs(float(text.replace("−", "-"))) for text in found]
        assert sizes == sorted(sizes, reverse=True)
        assert chosen["dimmed"] == 2 * len(report.configurations) * (len(report.phases) - 1)
        assert chosen["columns"] == 1
        assert one["restored"]
        assert one["hidden"] is False


@pytest.mark.repeats  # starts a browser; the markup is in test_report
@pytest.mark.slow
def test_hostile_names_neither_run_nor_widen_the_page(browser: str, tmp_path: Path) -> None:
    write_text(tmp_path / "report.html", render(filled_report("".join(HOSTILE))))
    measured, messages = measure(browser, tmp_path, dark=False)
    assert len(messages) == 1
    assert all(one["needed"] == one["width"] for one in measured)
