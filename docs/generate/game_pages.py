"""The pages of the games: a list, and a page of facts for each, from what the registry gives."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from docs.generate.docstrings import summary
from docs.generate.sources import ROOT, Module
from glem.core.conformance.facts import FactTable, GameFacts, game_facts
from glem.core.game.families import GAME_FAMILIES_GROUP as FAMILIES

__all__ = ["game_pages"]

_LISTED = {
    "Rules": ("board", "final scores", "plies in a game, at most", "board symmetries, identity included"),
    "Learning": ("labels are in",),
}


def game_pages(modules: list[Module], notice: str) -> dict[Path, str]:
    """Text of the list of games and of each game's page, for the games that come with glem itself."""
    # What the project declares, not what is installed: that may be more, or from before the last change.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    facts = [game_facts(name) for name in sorted(project["entry-points"]["glem.games"])]
    found = {Path("games", f"{known.name}.md"): _game_page(known, notice) for known in facts}
    homes = {name: value.partition(":")[0] for name, value in project["entry-points"].get(FAMILIES, {}).items()}
    families = {name: module for name, home in homes.items() for module in modules if module.name == home}
    return {Path("games.md"): _list_page(facts, families, notice), **found}


def _list_page(facts: list[GameFacts], families: Mapping[str, Module], notice: str) -> str:
    header = ["game", *(fact for known in _LISTED.values() for fact in known)]
    rows = [[f"[{known.title}](games/{known.name}.md)", *_listed(known)] for known in facts]
    parts = [
        notice,
        "# Games",
        "The games that come with glem. `glem games` lists those that are installed, from wherever they come, and "
        "`glem games GAME` prints the facts of any of them.",
        _table(header, rows),
        *(
            f"The family [`{name}:`]({module.page.as_posix()}) makes a game of the text behind the colon: "
            f"{summary(module.docstring)}"
            for name, module in families.items()
        ),
        "To add one: [Add a game](../how-to/add-a-game.md).",
    ]
    return "\n\n".join(parts) + "\n"


def _listed(facts: GameFacts) -> list[str]:
    cells = []
    for title, names in _LISTED.items():
        table = facts.table(title)
        known = table.data() if table is not None else {}
        cells += [str(known.get(name, "")) for name in names]
    return cells


def _game_page(facts: GameFacts, notice: str) -> str:
    parts = [notice, f"# {facts.title}", f"From the distribution `{facts.distribution}`."]
    if facts.board:
        parts.append("```text\n" + "\n".join(facts.board) + "\n```")
    for table in facts.tables:
        parts += [f"## {table.title}", table.note, _fact_table(table)]
    parts += ["## To try", "```sh\n" + "\n".join(facts.commands) + "\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _fact_table(table: FactTable) -> str:
    header = ["", ""] if table.is_list else list(table.header)
    rows = [[_cell(name, entry, table) for name, entry in zip(table.header, row, strict=True)] for row in table.rows]
    return _table(header, rows)


def _cell(column: str, entry: object, table: FactTable) -> str:
    text = f"{entry:,}" if isinstance(entry, int) else str(entry)
    return f"`{text}`" if column in table.code else text


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])
