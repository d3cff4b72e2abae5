"""What can be told of an installed game without knowing it: the facts on its page and in ``glem games NAME``."""

import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from attrs import define

from glem.core.errors import BadInputError, PluginError
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, load_learning
from glem.core.game import optional_operations as choices
from glem.core.game.drawing import draw_position
from glem.core.game.families import GAME_FAMILIES_GROUP as FAMILIES
from glem.core.game.families import family_of
from glem.core.game.game import RULES, Game, PositionFormat, RecordFormat, load_game
from glem.core.game.perft import perft
from glem.core.game.registry import GAMES_GROUP
from glem.core.patterns.pattern import images_of
from glem.core.patterns.patterns import PatternSet
from glem.core.players.protocols.gtp import GTP
from glem.core.players.spec import protocols_of_programs
from glem.core.positions.game_lines import GAME_LINES
from glem.core.tasks.counts import counted

Cell = str | int
"""One entry of a table."""

MOST_SEQUENCES = 1_000_000
"""Perft goes no deeper once this many move sequences are to be expected."""

MOST_PLAIN_SEQUENCES = 20_000
"""The same for rules that run as plain Python."""

MOST_PLIES = 8
"""Nor deeper than this, in a game with few moves."""

_TWO_COLUMNS = ("fact", "value")


@define(frozen=True)
class FactTable:
    """Facts of one kind.

    Parameters
    ----------
    title
        What they are about.
    header
        Names of the columns.
    rows
        One entry per column and row.
    code
        Columns whose entries are texts that glem reads or writes literally.
    note
        A sentence to go before the table, or empty.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    code: frozenset[str] = frozenset()
    note: str = ""

    @property
    def is_list(self) -> bool:
        """Whether the rows are just facts and their values, which need no header."""
        return self.header == _TWO_COLUMNS

    def data(self) -> Any:
        """Plain data: fact to value where that is all, otherwise one mapping per row."""
        if self.is_list:
            return {row[0]: row[1] for row in self.rows}
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]


@define(frozen=True)
class GameFacts:
    """All that glem can tell of a game.

    Parameters
    ----------
    name, title
        The game.
    distribution
        The installed distribution that brings it.
    board
        Lines that draw the initial position; empty for a game without a drawing.
    tables
        The facts, without the empty tables.
    commands
        Commands of ``glem`` to try with it.
    """

    name: str
    title: str
    distribution: str
    board: tuple[str, ...]
    tables: tuple[FactTable, ...]
    commands: tuple[str, ...]

    def table(self, title: str) -> FactTable | None:
        """Return the table of that title, None where there is nothing to tell."""
        return next((table for table in self.tables if table.title == title), None)

    def data(self) -> dict[str, Any]:
        """All facts as plain data, for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "distribution": self.distribution,
            "initial position": list(self.board),
            **{table.title.lower(): table.data() for table in self.tables},
            "commands": list(self.commands),
        }


def game_facts(name: str) -> GameFacts:
    """Collect what the game of that name and its plugin for learning say of themselves.

    The initial position is drawn and its moves are written, and move sequences are counted to a small depth, which
    compiles the rules.

    Raises
    ------
    PluginError
        See :func:`glem.core.game.game.load_game`. A plugin for learning that is missing or broken is told as a fact.
    """
    game = load_game(name)
    learning, without = None, ""
    try:
        learning = load_learning(name)
    except PluginError as error:
        # A broken plugin is one more fact.
        without = str(error)
    counts = _sequence_counts(game)
    tables = [
        _facts("Rules", _rule_facts(game)),
        FactTable("Position", ("field", "dtype"), tuple(_fields(game)), frozenset({"field", "dtype"}), _layout(game)),
        FactTable("Notation", ("what", "text"), tuple(_notation_facts(game)), frozenset({"text"})),
        FactTable(
            "Perft",
            ("depth", "move sequences"),
            tuple(enumerate(counts, 1)),
            note=f"A game that ends early counts {'once' if game.perft_counts_ended else 'not at all'}.",
        ),
        _formats("Formats of game records", {**game.record_formats, GAME_LINES.name: GAME_LINES}),
        _formats("Formats of scored positions", game.position_formats),
        _described("Protocols", "protocol", {GTP.name: GTP, **game.protocols}),
        _described(
            "Programs as players", "player", {f"{name}:": kind for name, kind in protocols_of_programs(game).items()}
        ),
        _optional_operations(game),
    ]
    tables += _learning_tables(learning) if learning is not None else [_facts("Learning", [("nothing", without)])]
    tables.append(_facts("Further facts", game.facts.items()))
    drawing = draw_position(game, game.initial_position)
    return GameFacts(
        name=name,
        title=game.title,
        distribution=_distribution(name),
        board=tuple(drawing.lines()) if drawing is not None else (),
        tables=tuple(table for table in tables if table.rows),
        commands=tuple(_commands(game, learning, len(counts))),
    )


def _distribution(name: str) -> str:
    family = family_of(name)
    found = entry_points(group=GAMES_GROUP, name=name) if family is None else entry_points(group=FAMILIES, name=family)
    return next((entry.dist.name for entry in found if entry.dist is not None), "unknown")


def _facts(title: str, facts: Iterable[tuple[str, Cell]]) -> FactTable:
    return FactTable(title, _TWO_COLUMNS, tuple(facts))


def _rule_facts(game: Game) -> Iterator[tuple[str, Cell]]:
    low, high = game.score_bounds
    yield "registry name", game.name
    yield "final scores", f"{low} to {high}, from the side to move"
    yield "moves are numbered", f"0 to {game.move_count - 1}"
    yield "legal moves in a position, at most", game.max_moves
    yield "plies in a game, at most", game.max_plies
    yield "forced pass", "none" if game.pass_move is None else f"move {game.pass_move}"
    yield "board symmetries, identity included", game.symmetry_count
    yield (
        "board",
        f"{counted(game.layout.rows, 'row')}, {counted(game.layout.columns, 'column')}" if game.layout else "none",
    )
    yield "interface version", game.interface_version
    yield "rules run", "compiled" if game.rules.plain_reason is None else f"as plain Python: {game.rules.plain_reason}"


def _layout(game: Game) -> str:
    """First paragraph of the docstring of the game's positions; "" where they have none of their own."""
    kind = game.position_type
    text = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]
    return "" if text.startswith(f"{kind.__name__}(") else " ".join(text.split())


def _fields(game: Game) -> Iterator[tuple[Cell, ...]]:
    for field, value in zip(game.initial_position._fields, game.initial_position, strict=True):
        yield field, str(np.asarray(value).dtype)


def _notation_facts(game: Game) -> Iterator[tuple[str, Cell]]:
    yield "initial position", game.format_position(game.initial_position)
    yield "moves in it", " ".join(game.format_move(move) for move in game.list_legal_moves(game.initial_position))
    if game.pass_move is not None:
        yield "pass", game.format_move(game.pass_move)


def _sequence_counts(game: Game) -> list[int]:
    """Move sequences of 1, 2, ... plies, as long as the next number is expected to be small."""
    counts = [perft(game, 1)]
    expected = counts[0] * counts[0]
    most = MOST_SEQUENCES
    while 0 < expected <= most and len(counts) < min(MOST_PLIES, game.max_plies):
        counts.append(perft(game, len(counts) + 1))
        expected = counts[-1] * counts[-1] // max(1, counts[-2])
        # Known only once they have been compiled, which counting one ply does not need.
        most = MOST_SEQUENCES if game.rules.plain_reason is None else MOST_PLAIN_SEQUENCES
    return counts


def _formats(title: str, formats: Mapping[str, RecordFormat] | Mapping[str, PositionFormat]) -> FactTable:
    rows = tuple(
        (
            name,
            " ".join(form.suffixes) or "any",
            form.description + (" Also written." if isinstance(form, RecordFormat) and form.write else ""),
        )
        for name, form in formats.items()
    )
    note = "Files may be packed as .gz, .xz or .zst."
    return FactTable(title, ("format", "suffixes", "description"), rows, frozenset({"format"}), note)


def _described(title: str, what: str, known: Mapping[str, Any]) -> FactTable:
    rows = tuple((name, one.description) for name, one in known.items())
    return FactTable(title, (what, "description"), rows, frozenset({what}))


def _optional_operations(game: Game) -> FactTable:
    """List what a game may leave out, whether this one gives it, and what it is for."""
    searching = [name for name in game.search_functions if name in RULES]
    further = [name for name in game.search_functions if name not in {*RULES, *choices.OPTIONAL_OPERATIONS}]
    rows: list[tuple[str, bool, str]] = [
        ("count_moves", game.count_moves is not None, "Counts the legal moves without writing them."),
        ("transform", game.transform is not None, "Images of a position under the symmetries of the board."),
        *(
            (name, name in game.search_functions, _first_line(getattr(choices, name)))
            for name in choices.OPTIONAL_OPERATIONS
        ),
        *(
            (f"{name} for the search", True, "Replaces the rule where single positions are searched.")
            for name in searching
        ),
        *((name, True, _first_line(game.search_functions[name])) for name in further),
        ("make_solver", game.make_solver is not None, "Exact values of positions near the end."),
    ]
    return FactTable(
        "Optional operations",
        ("operation", "provided", "what it does"),
        tuple((name, "yes" if given else "no", text) for name, given, text in rows),
        frozenset({"operation"}),
    )


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")


def _learning_tables(learning: Learning) -> Iterator[FactTable]:
    yield FactTable(
        "Atomic features",
        ("group", "features", "values", "description"),
        tuple(_feature_rows(learning.features)),
        frozenset({"features"}),
    )
    described = f": {learning.phases.description}" if learning.phases.description else ""
    yield FactTable("Phases", ("number", f"phase{described}"), tuple(enumerate(learning.phases.names)))
    yield FactTable(
        "Pattern sets",
        ("set", "pattern", "features", "instances", "table entries", "weights in a phase"),
        tuple(_pattern_rows(learning)),
        frozenset({"set", "pattern", "features"}),
        "Instances are the images under the board's symmetries; they share their weights.",
    )
    yield FactTable(
        "Baselines",
        ("baseline", "features"),
        tuple((name, " ".join(features) or "none: a constant") for name, features in learning.baselines.items()),
    )
    yield _facts("Learning", _learning_facts(learning))


def _feature_rows(features: AtomicFeatures) -> Iterator[tuple[Cell, ...]]:
    """One row per feature, but one for all cells of a group that have the same values."""
    together: dict[tuple[Any, ...], list[AtomicFeature]] = defaultdict(list)
    for feature in features.features:
        alone = feature.name if feature.cell is None else ""
        together[feature.group, feature.low, feature.high, feature.value_names, alone].append(feature)
    groups = [feature.group for feature in features.features]
    for members in sorted(together.values(), key=lambda members: groups.index(members[0].group)):
        first, last = members[0], members[-1]
        values = ", ".join(first.value_names) or f"{first.low} to {first.high}"
        if len(members) == 1:
            yield first.group, first.name, values, first.description
        else:
            shown = f"{first.name} ... {last.name}"
            yield first.group, shown, values, f"{len(members)} cells, the first: {first.description}"


def _pattern_rows(learning: Learning) -> Iterator[tuple[Cell, ...]]:
    features = learning.features
    for set_name, patterns in learning.pattern_sets.items():
        for name, members in patterns.items():
            indices = [features.index(member) for member in members]
            entries = int(np.prod([features[index].cardinality for index in indices], dtype=object))
            try:
                weights: Cell = PatternSet.from_names(features, {name: members}).weight_count
            except BadInputError:
                weights = "too large for a table"
            yield set_name, name, " ".join(members), len(images_of(features, indices)), entries, weights


def _learning_facts(learning: Learning) -> Iterator[tuple[str, Cell]]:
    yield "labels are in", learning.label_unit
    yield "features that also enter linearly", ", ".join(learning.linear) or "none"
    yield "features of drawishness", ", ".join(learning.drawishness) or "none"
    yield "fast evaluator of its own", "no" if learning.make_evaluator is None else "yes"
    yield "evaluation that comes with it", "none" if learning.default_evaluation is None else "yes"
    yield "selective search for that evaluation", "none" if learning.default_probcut is None else "yes"
    yield "sample of scored positions", "none" if learning.sample is None else "yes"
    yield "other sets of features", ", ".join(learning.feature_sets) or "none"


def _commands(game: Game, learning: Learning | None, depth: int) -> Iterator[str]:
    name = game.name if game.name.replace("_", "").isalnum() else f"'{game.name}'"
    yield f"glem check {name}"
    yield f"glem search perft {name} {min(depth + 1, game.max_plies)}"
    if learning is None:
        return
    if learning.sample is not None:
        yield f"glem discover --demo {name}"
    if learning.default_evaluation is not None:
        yield f"glem play {name}"
        yield f"glem search {name} --depth 10"
    else:
        file = "".join(letter if letter.isalnum() else "-" for letter in game.name).strip("-")
        yield f"glem generate {name} --player random --games 5000 -o {file}-games"
        yield f"glem positions {name} {file}-games/*.games --merge -o {file}.parquet"
        yield f"glem fit {file}.parquet -o {file}.npz"
        yield f"glem play {name} --evaluation {file}.npz"
