"""What a file that glem wrote says of itself: its kind and game, how much it holds, and where it came from.

Headers are read and no arrays, so evaluations of any size are shown at once, those of a game that is not installed too.
"""

from __future__ import annotations

import contextlib
import json
import math
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import Factory, define, evolve

from glem.core.cli.display import aligned
from glem.core.errors import BadInputError, check_regular, reading
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.provenance import FITTED_FILES
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.files.archives import read_contents
from glem.core.files.json_values import parse_json, read_json
from glem.core.files.made import command_that_made
from glem.core.files.packed import line_blocks
from glem.core.game.game import load_game
from glem.core.positions.files import read_header
from glem.core.positions.game_lines import game_in_header
from glem.core.positions.reading import head_of, is_position_file
from glem.core.tasks.counts import counted
from glem.core.tasks.journal import read_journal
from glem.core.tournament.openings import read_openings

_KIND = "glem "
_PARTS = ("value", "drawishness")
_TOLD_ELSEWHERE = ("format", "version", "sha256", "schema", "glem", "game", "provenance", "made")
_MOST_NAMES, _MOST_FILES = 8, 12
_MOST_SIGNS = 150
_LINES, _LONGEST = 1 << 14, 1 << 26


@define(frozen=True)
class Contents:
    """What a file says of itself.

    Parameters
    ----------
    kind
        ``evaluation``, ``positions``, ``tournament`` and so on.
    game
        The game's name; None where the file has none.
    facts
        Counts and settings by name, JSON values.
    terms
        What an evaluation adds up: the kind of term, their number, that of their weights in all phases, and names.
    provenance
        Where it came from: names and texts.
    files
        Names and digests of the files that an evaluation was fitted to.
    read
        Those of the other files that its command names.
    version
        That of the glem that made the file; "" where the file does not say so.
    command
        Words of the command that makes the file again; none where it was made in Python.
    """

    kind: str
    game: str | None
    facts: dict[str, Any]
    terms: list[dict[str, Any]] = Factory(list)
    provenance: dict[str, str] = Factory(dict)
    files: list[dict[str, str]] = Factory(list)
    read: list[dict[str, str]] = Factory(list)
    version: str = ""
    command: list[str] = Factory(list)

    def told(self) -> Iterator[str]:
        """Give lines for a person."""
        yield self.kind if self.game is None else f"{self.kind} of {self.game}"
        terms = [
            (term["kind"], f"{term['count']:,} with {counted(term['weights'], 'weight')}: {_text(term['names'])}")
            for term in self.terms
        ]
        files, read = (
            [(file["name"], file["digest"]) for file in files[:_MOST_FILES]] for files in (self.files, self.read)
        )
        for title, rows in (
            ("", [*self.facts.items(), *((name, text.removesuffix(": ")) for name, text in terms)]),
            ("Where it came from", [*self.provenance.items()]),
            ("Fitted to", files),
            ("Made from" if not files else "Also read", read),
        ):
            if rows:
                yield f"\n{title}".removesuffix("\n")
                yield from (f"  {line}" for line in aligned([(name, _text(value)) for name, value in rows]))
        more = sum(max(0, len(files) - _MOST_FILES) for files in (self.files, self.read))
        if more:
            yield f"  and {counted(more, 'more file')}, which --json lists"
        if self.command:
            yield f"\nMade with glem {self.version} by\n  {shlex.join(self.command)}"


def contents_of_file(path: str, game_name: str | None = None) -> Contents:
    """Find out what a file holds.

    Parameters
    ----------
    game_name
        The game, if it was named: files of openings do not say it themselves.

    Raises
    ------
    BadInputError
        The file is missing or damaged, or glem did not write it; the text names it.
    """
    check_regular(path)
    if not Path(path).is_file():
        raise BadInputError(f"{path}: {'is a folder; name a file in it' if Path(path).is_dir() else 'no such file'}")
    if is_position_file(path):
        found = read_header(path)
        facts = {"positions": found.count, "labels": found.label_kind, "scores": list(found.score_bounds)}
        own = Contents("positions", found.game, {**facts, "sources": list(found.sources)})
        return _with_command(own, path, found.made)
    head = head_of(path)
    if head.startswith(b"PK"):
        header, shapes = read_contents(path)
        with reading(path, header["format"]):
            own = _archive(header, shapes)
        return _with_command(own, path, header.get("made"))
    game = game_in_header(head)
    if game is not None:
        return Contents("games", game, {"games": _count_games(path)})
    if head.startswith(b"{"):
        return _json_contents(path)
    if game_name is not None:
        return Contents("openings", game_name, {"openings": len(read_openings(load_game(game_name), path))})
    raise BadInputError(f"{path}: not written by glem, or openings: name their game before the file")


def _with_command(contents: Contents, path: str, made: Any) -> Contents:
    """Add the command that made the file, and the files that it named where the file does not say what it is from."""
    if not made:
        return contents
    with reading(path, contents.kind):
        known = {file["digest"] for file in contents.files}
        named = {str(name): str(digest) for name, digest in made["files"].items()}
        read = [{"name": name, "digest": digest} for name, digest in named.items() if digest not in known]
        return evolve(contents, command=command_that_made(path, made), read=read, version=str(made["glem"]))


def contents_of_evaluation(evaluation: LinearEvaluation | ResultEvaluation) -> Contents:
    """Find out what an evaluation that comes with a game holds."""
    if not isinstance(evaluation, ResultEvaluation):
        header, arrays = evaluation.parts()
        return _archive({"format": f"{_KIND}evaluation", **header}, {name: own.shape for name, own in arrays.items()})
    header, shapes = {"scale": evaluation.scale, "provenance": evaluation.provenance}, dict[str, tuple[int, ...]]()
    for part in _PARTS:
        header[part], arrays = getattr(evaluation, part).parts()
        shapes |= {f"{part}_{name}": own.shape for name, own in arrays.items()}
    return _archive({"format": f"{_KIND}result evaluation", "game": evaluation.game.name, **header}, shapes)


def _archive(header: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> Contents:
    facts, terms = _facts(header), []
    if _PARTS[0] in header or "linear" in header:
        parts = [(f"{name}_", header[name]) for name in _PARTS if name in header] or [("", header)]
        first = parts[0][1]
        own = {name: (first | header)[name] for name in ("scale", "feature_set") if name in first | header}
        facts = {**own, "phases": first["phases"], "features": len(first["features"]), "link": first["link"]["name"]}
        terms = [term for prefix, part in parts for term in _terms(part, shapes, prefix)]
    else:
        facts |= {name: " x ".join(map(str, shape)) for name, shape in shapes.items()}
    made = {str(name): str(text) for name, text in header.get("provenance", {}).items()}
    lines = (line.partition(" ") for line in made.pop(FITTED_FILES, "").splitlines())
    files = [{"name": name, "digest": digest} for digest, _, name in lines]
    return Contents(header["format"].removeprefix(_KIND), header.get("game"), facts, terms, made, files)


def _terms(header: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], prefix: str) -> Iterator[dict[str, Any]]:
    def weights(*names: str) -> int:
        return sum(math.prod(shapes[prefix + name]) for name in names if prefix + name in shapes)

    mined, hidden = (shapes.get(prefix + name, (0,))[0] for name in ("configuration_match_counts", "hidden_bias"))
    patterns, linear = list(header["patterns"] or ()), header["linear"]
    over = () if weights("pattern_weights") else patterns
    for kind, count, size, names in (
        ("patterns", len(patterns), weights("pattern_weights"), patterns),
        ("configurations", mined, weights("configuration_weights"), ()),
        ("linear features", len(linear), weights("linear_weights"), linear),
        ("squares and products", len(patterns) + len(linear), weights("slopes", "squares"), ()),
        # Of a layer alone, the patterns have no other weights.
        ("hidden units", hidden, weights("hidden_weights", "hidden_bias", "hidden_output"), over),
    ):
        if size:
            yield {"kind": prefix.replace("_", ": ") + kind, "count": count, "weights": size, "names": names}


def _facts(header: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in header.items() if name not in _TOLD_ELSEWHERE}


def _count_games(path: str) -> int:
    texts = (block.text(line) for block in line_blocks(path, lines=_LINES) for line in range(len(block.starts)))
    return sum(1 for text in texts if text and not text.startswith("#"))


def _json_contents(path: str) -> Contents:
    """Describe a journal, whose first line has its settings, or another object."""
    with reading(path, "file of glem"), Path(path).open("rb") as file, contextlib.suppress(ValueError):
        header = parse_json(file.readline(_LONGEST))
        if isinstance(header, dict) and "settings" in header:
            kind = str(header["format"]).removeprefix(_KIND)
            settings, entries = read_journal(path, kind)
            return Contents(kind, settings.get("game"), {"entries": sum(1 for _ in entries), **_facts(settings)})
    found = read_json(path, "file of glem")
    with reading(path, "file of glem"):
        kind = found.get("glem") or found["schema"].partition("/")[0]
        own = Contents(str(kind), found.get("game"), _facts(found))
    return _with_command(own, path, found.get("made"))


def _text(value: Any) -> str:
    """Write a JSON value in a cell: the first of many, and how many they are."""
    if value is None:
        return "-"
    if isinstance(value, list) and value and all(isinstance(each, dict) and "name" in each for each in value):
        value = [str(each["name"]) for each in value]
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        more = f" and {len(value) - _MOST_NAMES:,} more" if len(value) > _MOST_NAMES else ""
        return ", ".join(value[:_MOST_NAMES]) + more
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return value if isinstance(value, str) else textwrap.shorten(json.dumps(value), _MOST_SIGNS, placeholder=" ...")
