"""Archives of arrays with a header: what they give back, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError
from glem.core.evaluation.named import load_value
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import load_learning
from glem.core.files.archives import ArchiveFormat
from tests.core.evaluation.linear_evaluations import mobility_evaluation

FORMAT = ArchiveFormat(
    "glem example",
    version=3,
    required=("one",),
    optional=("two",),
    largest=100_000,
    foreign={"three": "is an example of something else"},
)
ONE, TWO = np.arange(6, dtype=np.int16).reshape(2, 3), np.linspace(0, 1, 5)


@pytest.mark.parametrize("arrays", [{"one": ONE}, {"one": ONE, "two": TWO}])
def test_what_was_written_comes_back(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = tmp_path / "example.npz"
    FORMAT.write(path, {"answer": 42}, arrays)
    header, found = FORMAT.read(path)
    assert (header["format"], header["version"], header["answer"]) == ("glem example", 3, 42)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


NAME = {"format": "glem example"}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"two": TWO}, "holds no one"),
        ({"one": ONE, "four": ONE}, "holds four"),
        ({"one": ONE, "three": ONE}, "something else"),
        ({"one": ONE}, "not that of a glem example file"),
        ({"one": ONE, "header": {**NAME, "version": 2}}, "version 2, this glem reads 3"),
        ({"one": ONE, "header": {**NAME, "version": 3, "sha256": "0"}}, "checksum"),
        ({"one": np.zeros(100_001, np.uint8)}, "more than 100000 bytes"),
        # Objects are never unpickled.
        ({"one": np.array([NAME], object)}, "no plain array"),
    ],
)
def test_what_is_no_such_archive_is_refused(tmp_path: Path, members: dict[str, Any], message: str) -> None:
    path = tmp_path / "example.npz"
    header = np.frombuffer(json.dumps(members.get("header", {})).encode(), np.uint8)
    np.savez(path, **{**members, "header": header})
    with pytest.raises(BadInputError, match=message):
        FORMAT.read(path)


def save_configurations(path: Path) -> None:
    ConfigurationSet.from_relations(RelationTable(np.array([0, 1]), np.array([0, 0])), [[0, 1]], [1], 1).save(path)


def save_evaluation(path: Path) -> None:
    mobility_evaluation(load_learning("othello"), logistic=True).save(path)


def save_result_evaluation(path: Path) -> None:
    value = mobility_evaluation(load_learning("othello"), logistic=True)
    ResultEvaluation(value, value, scale=1.5, provenance={}).save(path)


@pytest.mark.parametrize("kind", [np.float32, np.complex128, None])
@pytest.mark.parametrize(
    ("save", "load"),
    [(save_configurations, ConfigurationSet.load), (save_evaluation, load_value), (save_result_evaluation, load_value)],
)
def test_arrays_of_other_shapes_or_kinds_are_refused_before_they_are_unpacked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    save: Callable[[Path], None],
    load: Callable[[Path], Any],
    kind: Any,
) -> None:
    path = tmp_path / "large.npz"
    save(path)
    with np.load(path) as file:
        stored = dict(file)
    read, unpacked = np.lib.format.read_array, []

    def noted(*arguments: Any, **named: Any) -> Any:
        unpacked.append(read(*arguments, **named))
        return unpacked[-1]

    monkeypatch.setattr(np.lib.format, "read_array", noted)
    for name in sorted(set(stored) - {"header"}):
        np.savez(path, **{**stored, name: np.zeros(100_000, kind or stored[name].dtype)})
        unpacked.clear()
        with pytest.raises(BadInputError, match=name):
            load(path)
        assert [array.dtype for array in unpacked] in ([], [np.uint8]), f"{name}: more than the header"


def test_a_header_must_be_there_and_not_unpack_to_too_much(tmp_path: Path) -> None:
    path = tmp_path / "example.npz"
    np.savez_compressed(path, header=np.zeros((16 << 20) + 1, np.uint8), one=ONE)
    assert path.stat().st_size < 100_000
    with pytest.raises(BadInputError, match="the header is larger"):
        attrs.evolve(FORMAT, largest=1 << 30).read(path)
    np.savez(path, one=ONE)
    with pytest.raises(BadInputError, match="holds no header"):
        FORMAT.read(path)
