"""The guard around every reading of a file, and what used to get past the readers."""

import importlib
import json
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError, GlemError, PluginError, reading
from glem.core.files.archives import read_arrays
from glem.core.files.json_values import read_json
from glem.core.tasks.journal import Journal
from glem.core.tournament.tournament import read_games
from tests.core.files.mutations import announced, archive_of


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("a"), r"file: damaged, or no table \(KeyError: 'a'\)"),
        (EOFError(), r"file: damaged, or no table \(EOFError\)"),
        (MemoryError(), "file: not enough memory to read it"),
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


def _of_an_older_library() -> None:
    np.no_such_function([])  # type: ignore[attr-defined]


def _without_end() -> None:
    _without_end()


def _of_the_compiler() -> None:
    numba.njit(lambda text: text.no_such_method())("text")


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (_of_an_older_library, AttributeError),
        (lambda: importlib.import_module("no_such_module"), ImportError),
        (lambda: no_such_name, NameError),  # type: ignore[name-defined]  # noqa: F821
        (_of_the_compiler, numba.TypingError),
        (lambda: bytes(1 << 62), MemoryError),
        (lambda: read_json("weights.json", "weights", least=1), TypeError),  # type: ignore[call-arg]
        (lambda: 1 // len(""), ZeroDivisionError),
        (_without_end, RecursionError),
    ],
)
def test_what_no_data_can_cause_is_no_damage(cause: Callable[[], Any], kind: type[BaseException]) -> None:
    with pytest.raises(kind) as caught, reading("file"):
        cause()
    assert "damaged" not in str(caught.value)


def test_what_libraries_divide_by_is_data() -> None:
    with pytest.raises(BadInputError, match="damaged"), reading("file"):
        Fraction("1/0")


def test_an_interruption_is_no_damage() -> None:
    with pytest.raises(KeyboardInterrupt), reading("file"):
        raise KeyboardInterrupt


def test_a_value_of_another_type_is_damage() -> None:
    with pytest.raises(BadInputError, match="damaged"), reading("file"):
        json.loads("[1]").items()


@pytest.mark.parametrize("change", [lambda text: text.replace("1234", "1e400"), lambda _: "[" * 100_000])
def test_headers_that_got_past_their_reader(tmp_path: Path, change: Callable[[str], str]) -> None:
    path = tmp_path / "damaged.npz"
    ConfigurationSet.from_relations(RelationTable(np.array([0]), np.array([0])), [[0]], [1], 1234).save(path)
    with np.load(path) as stored:
        header = change(stored["header"].tobytes().decode())
        arrays = {**stored, "header": np.frombuffer(header.encode(), np.uint8)}
    path.write_bytes(archive_of(arrays))
    with pytest.raises(BadInputError, match=r"damaged\.npz"):
        ConfigurationSet.load(path)


def test_a_tournament_of_an_unknown_game(tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    with Journal(path, "tournament", {"game": "no such game"}) as journal:
        journal.append({})
    with pytest.raises(BadInputError, match=r"damaged\.jsonl"):
        read_games(path)


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
