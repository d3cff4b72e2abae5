"""The guard around every reading of a file, and what used to get past the readers."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.mining import mine
from glem.core.errors import BadInputError, GlemError, PluginError, reading
from glem.core.evaluation.links import IDENTITY
from glem.core.files.archives import read_arrays
from glem.core.fitting.phases import PhaseWeights
from glem.core.game.game import Game
from glem.core.positions.reading import read_records
from glem.core.tasks.journal import Journal
from glem.core.tournament.tournament import read_games
from tests.core.files.mutations import announced, archive_of


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("a"), r"file: damaged, or no table \(KeyError: 'a'\)"),
        (MemoryError(), r"file: damaged, or no table \(MemoryError\)"),
        (RecursionError("deep"), r"file: damaged, or no table \(RecursionError: deep\)"),
        (OverflowError("x" * 1000), r"file: damaged, or no table \(OverflowError: x{200}\)"),
        (OSError("page 3\nof 4"), r"file: damaged, or no table \(OSError: page 3\)"),
        (PermissionError(13, "Permission denied"), r"file: cannot be read: Permission denied"),
        (BadInputError("line 3 is long"), "file: line 3 is long"),
        (BadInputError("file:3: long"), "file:3: long"),
        (PluginError("no game"), "file: no game"),
    ],
)
def test_whatever_goes_wrong_names_the_file(error: Exception, told: str) -> None:
    with pytest.raises(GlemError, match=f"^{told}$"), reading("file", "table"):
        raise error


def test_an_interruption_is_no_damage() -> None:
    with pytest.raises(KeyboardInterrupt), reading("file"):
        raise KeyboardInterrupt


def _configurations(header: bytes) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        ConfigurationSet.from_relations(RelationTable(np.array([0]), np.array([0])), [[0]], [1], 1).save(path)
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored.files}
        path.write_bytes(archive_of({**arrays, "header": np.frombuffer(header, np.uint8)}))
        return ConfigurationSet.load(path)

    return read


def _run_of(text: str) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        path.mkdir()
        (path / "work.json").write_text(text)
        return mine(np.zeros((4, 2), np.int16), minimum_matches=1, checkpoint=path)

    return read


def _tournament(path: Path) -> Any:
    with Journal(path, "tournament", {"game": "no such game"}) as journal:
        journal.append({})
    return read_games(path)


def _weights(path: Path) -> Any:
    path.write_bytes(b"PK")
    return PhaseWeights.load(path, IDENTITY)


_LIMITLESS = json.dumps({"format": "glem configurations 1", "incomplete": "", "position_count": 1}).replace(
    "1}", "1e400}"
)


@pytest.mark.parametrize(
    "read",
    [
        _configurations(_LIMITLESS.encode()),
        _configurations(b"[" * 100_000),
        _run_of("[[1]]"),
        _run_of("[" * 100_000),
        _run_of("9" * 5000),
        _tournament,
        _weights,
    ],
)
def test_files_that_got_past_their_readers(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    path = tmp_path / "damaged.npz"
    with pytest.raises(BadInputError, match=r"damaged\.npz"):
        read(path)


def test_a_ply_beyond_all_games(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "few.games"
    path.write_text("# glem games 1 othello\nf5\t\t3\t-99999\n")
    with pytest.raises(BadInputError, match=r"few\.games"):
        list(read_records(othello, path))


@pytest.mark.parametrize(
    "array",
    [
        announced("(1000000000000,)"),
        announced("(1000000000000,)", "<U0"),
        announced("(1000000000000,)", "|V0"),
        announced("(-1,)"),
        np.array([{}], object),
        np.array([b"text"]),
        b"no array",
    ],
)
def test_arrays_that_are_none(tmp_path: Path, array: Any) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(archive_of({"good": np.arange(3), "bad": array}))
    with pytest.raises(BadInputError, match=r"a\.npz"):
        read_arrays(path, "archive")


def test_archives_packed_in_another_way(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", announced("(16,)"))
    with pytest.raises(BadInputError, match="packed in a way"):
        read_arrays(path, "archive")
