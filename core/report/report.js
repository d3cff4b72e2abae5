"use strict";

// A click on a column's head sorts by it: numbers from the greatest, texts from A; again the other way; again as before.
const numberIn = (text) => {
  const found = text.replaceAll(",", "").replaceAll("−", "-").match(/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i);
  return found ? Number(found[0]) : NaN;
};

for (const table of document.querySelectorAll("table")) {
  if (!table.tHead || !table.tBodies.length) continue;
  const grouped = table.tBodies.length > 1;
  const before = grouped ? [...table.tBodies] : [...table.tBodies[0].rows];
  for (const head of table.tHead.rows[0].querySelectorAll("th")) {
    const textOf = (row) => ((grouped ? row.rows[0] : row).cells[head.cellIndex]?.textContent ?? "").trim();
    const isKnown = (row) => !["", "–"].includes(textOf(row));
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const known = before.filter(isKnown);
      const isNumeric = known.every((row) => !Number.isNaN(numberIn(textOf(row))));
      const orders = isNumeric ? ["descending", "ascending"] : ["ascending", "descending"];
      const order = { [orders[0]]: orders[1], [orders[1]]: "none" }[head.ariaSort] ?? orders[0];
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = order;
      const sign = order === "ascending" ? 1 : -1;
      const compare = (one, other) => sign * (isNumeric
        ? numberIn(textOf(one)) - numberIn(textOf(other))
        : textOf(one).localeCompare(textOf(other), "en", { numeric: true }));
      const sorted = order === "none" ? before : [...known.sort(compare), ...before.filter((row) => !isKnown(row))];
      for (const row of sorted) {
        if (grouped) table.insertBefore(row, table.tFoot);
        else table.tBodies[0].append(row);
      }
    });
  }
}

// A chosen phase stands out in bars and tables; its values stand above the bars, and its greatest weights come first.
const valueIn = (bars, phase) => bars?.querySelectorAll("g > title")[phase]?.textContent ?? "";
const weightIn = (item, phase) => {
  const text = valueIn(item.querySelector(".bars"), phase);
  return Math.abs(numberIn(text.slice(text.lastIndexOf(": ") + 2))) || 0;
};
const spans = new Map([...document.querySelectorAll(".span")].map((span) => [span, span.textContent]));
const sections = [...document.querySelectorAll("section")].map((part) => [part, [...part.querySelectorAll(".item")]]);
const choices = document.querySelectorAll(".phase-choice select");

const choose = (chosen) => {
  const phase = chosen === "" ? -1 : Number(chosen);
  for (const choice of choices) choice.value = chosen;
  for (const bars of document.querySelectorAll(".bars")) {
    bars.querySelectorAll("g").forEach((bar, place) => bar.classList.toggle("other", phase >= 0 && place !== phase));
  }
  for (const [span, text] of spans) {
    span.textContent = phase < 0 ? text : valueIn(span.parentElement.nextElementSibling, phase);
  }
  for (const [part, items] of sections) {
    const lists = [...part.querySelectorAll(".items")];
    const counts = lists.map((list) => list.children.length);
    const sorted = phase < 0 ? [...items] : [...items].sort((a, b) => weightIn(b, phase) - weightIn(a, phase));
    lists.forEach((list, place) => list.append(...sorted.splice(0, counts[place])));
  }
  for (const head of document.querySelectorAll("th[data-phase]")) {
    const table = head.closest("table");
    // Counted from the right: the name of a group of rows stands in its first row alone.
    const fromRight = head.parentElement.cells.length - head.cellIndex;
    for (const row of table.rows) {
      row.cells[row.cells.length - fromRight]?.classList.toggle("chosen", head.dataset.phase === chosen);
    }
  }
};

for (const choice of choices) {
  choice.closest(".phase-choice").hidden = false;
  choice.addEventListener("change", () => choose(choice.value));
}
