"""``glem games``."""

from __future__ import annotations

import click

from glem.core.cli.display import print_json, print_table

__all__ = ["command"]


@click.command("games")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the installed games, with their record formats, features and pattern sets.

    A game whose plugin fails to load is listed with the reason.
    """
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
