"""``glem games``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.display import aligned, print_result
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.conformance.facts import FactTable, GameFacts


@options.command("games", "games", "games GAME", features=False)
@options.argument("game_name", metavar="[GAME]", required=False)
def command(game_name: str | None) -> None:
    """List the installed games, with their record formats, features and pattern sets; or print all facts about GAME.

    A plugin that cannot be loaded is listed with the reason.
    """
    if game_name is not None:
        from glem.core.conformance.facts import game_facts

        facts = game_facts(game_name)
        print_result(facts.data(), _facts_told(facts))
        return
    listing, unreadable = _list_games()
    problems = [{"distribution": name, "error": reason} for name, reason in unreadable.items()]
    print_result({"games": [*listing, *problems]}, _listing_told(listing, unreadable))


def _listing_told(listing: list[dict[str, Any]], unreadable: Mapping[str, str]) -> Iterator[str | Table]:
    from glem.core.game.families import family_names

    if listing:
        header = ("name", "title", "record formats", "features", "phases", "pattern sets")
        yield Table("Installed games", header, [_row(entry) for entry in listing])
    else:
        yield "No games are installed. Install glem anew, or a package that has entry points in glem.games."
    families = ", ".join(f"{name}:..." for name in family_names())
    if families:
        yield f"Families of games, a game by what follows the colon: {families}"
    for entry in listing:
        yield from (f"{entry['name']}: {entry[kind]}" for kind in ("error", "learning_error") if kind in entry)
    yield from (f"{name}: {reason}" for name, reason in unreadable.items())


def _list_games() -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Describe every installed game, and every distribution that cannot be read."""
    from glem.core.errors import GlemError
    from glem.core.features.learning import learning_names, load_learning
    from glem.core.game.game import game_names, load_game
    from glem.core.game.registry import unreadable_distributions

    listing: list[dict[str, Any]] = []
    learners = learning_names()
    # What is given to learning for a game that is not there is listed too: its error says so.
    for name in sorted({*game_names(), *learners}):
        entry: dict[str, Any] = {"name": name}
        listing.append(entry)
        try:
            game = load_game(name) if name in game_names() else load_learning(name).game
        except GlemError as error:
            entry["error"] = " ".join(str(error).split())
            continue
        entry.update(title=game.title, symmetries=game.symmetry_count, record_formats=sorted(game.record_formats))
        if name not in learners:
            continue
        try:
            learning = load_learning(name)
        except GlemError as error:
            entry["learning_error"] = " ".join(str(error).split())
            continue
        entry.update(
            features=len(learning.features), phases=len(learning.phases), pattern_sets=list(learning.pattern_sets)
        )
    return listing, unreadable_distributions()


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    broken = "cannot be loaded, see below"
    return (
        entry["name"],
        entry.get("title", broken),
        ", ".join(entry.get("record_formats", ())),
        broken if "learning_error" in entry else str(entry.get("features", "")),
        str(entry.get("phases", "")),
        ", ".join(entry.get("pattern_sets", ())),
    )


def _facts_told(facts: GameFacts) -> Iterator[str]:
    yield f"{facts.title}, from the distribution {facts.distribution}"
    if facts.board:
        yield "\n" + "\n".join(f"  {line}" for line in facts.board)
    for table in facts.tables:
        yield "\n" + "\n".join(_lines(table))
    yield "\nTo try\n" + "\n".join(f"  {command}" for command in facts.commands)


def _lines(table: FactTable) -> list[str]:
    """Lay out a table as text."""
    rows = [tuple(str(entry) for entry in row) for row in (table.header, *table.rows)]
    if table.is_list:
        del rows[0]
    return [table.title, *([f"  {table.note}"] if table.note else []), *(f"  {line}" for line in aligned(rows))]
