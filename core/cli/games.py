"""``glem games``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from glem.core.cli.display import print_json, print_table

if TYPE_CHECKING:
    from glem.core.game_facts import FactTable

__all__ = ["command"]


@click.command("games")
@click.argument("game_name", metavar="[GAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(game_name: str | None, as_json: bool) -> None:
    """List the installed games, with their record formats, features and pattern sets; or print all facts about GAME.

    A game whose plugin fails to load is listed with the reason.
    """
    if game_name is not None:
        _print_facts(game_name, as_json=as_json)
        return
    from glem.core.errors import GlemError
    from glem.core.game import game_names, load_game
    from glem.core.learning import load_learning

    listing = []
    for name in game_names():
        entry: dict[str, object] = {"name": name}
        listing.append(entry)
        try:
            game = load_game(name)
        except GlemError as error:
            entry["error"] = str(error)
            continue
        entry.update(title=game.title, symmetries=game.symmetry_count, record_formats=sorted(game.record_formats))
        try:
            learning = load_learning(name)
        except GlemError as error:
            entry["learning_error"] = str(error)
            continue
        entry.update(
            features=len(learning.features), phases=len(learning.phases), pattern_sets=list(learning.pattern_sets)
        )
    if as_json:
        print_json(listing)
        return
    rows = [
        (
            str(entry["name"]),
            str(entry.get("title", entry.get("error"))),
            ", ".join(entry.get("record_formats", ())),  # type: ignore[arg-type]
            str(entry.get("features", entry.get("learning_error", ""))),
            str(entry.get("phases", "")),
            ", ".join(entry.get("pattern_sets", ())),  # type: ignore[arg-type]
        )
        for entry in listing
    ]
    print_table("Installed games", ("name", "title", "record formats", "features", "phases", "pattern sets"), rows)


def _print_facts(name: str, *, as_json: bool) -> None:
    from glem.core.game_facts import game_facts

    facts = game_facts(name)
    if as_json:
        print_json(facts.data())
        return
    click.echo(f"{facts.title}, from the distribution {facts.distribution}")
    if facts.board:
        click.echo("\n" + "\n".join(f"  {line}" for line in facts.board))
    for table in facts.tables:
        click.echo("\n" + "\n".join(_lines(table)))
    click.echo("\nTo try\n" + "\n".join(f"  {command}" for command in facts.commands))


def _lines(table: FactTable) -> list[str]:
    """Lay out a table as text: columns as wide as their entries, so that nothing is cut."""
    rows = [tuple(str(entry) for entry in row) for row in (table.header, *table.rows)]
    if table.is_list:
        del rows[0]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [table.title, *([f"  {table.note}"] if table.note else []), *(f"  {line}" for line in lines)]
