"""Archives of arrays with a header: what they give back, and what is refused."""

import json
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.files.archives import ArchiveFormat

FORMAT = ArchiveFormat(
    "glem example",
    version=3,
    required=("one",),
    optional=("two",),
    largest=100_000,
    foreign={"three": "is an example of something else"},
)
ONE, TWO = np.arange(6, dtype=np.int16).reshape(2, 3), np.linspace(0, 1, 5)


def archive(path: Path, *, header: dict[str, Any] | None = None, **arrays: Any) -> Path:
    """Write a file whose header may be anything."""
    text = np.frombuffer(json.dumps(header or {}).encode(), np.uint8)
    np.savez(path, header=text, **arrays)
    return path


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


def test_files_with_other_members_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "example.npz"
    with pytest.raises(BadInputError, match="holds no one"):
        FORMAT.read(archive(path, two=TWO))
    with pytest.raises(BadInputError, match="holds four"):
        FORMAT.read(archive(path, one=ONE, four=ONE))
    with pytest.raises(BadInputError, match="something else"):
        FORMAT.read(archive(path, one=ONE, three=ONE))
    np.savez(path, one=ONE)
    with pytest.raises(BadInputError, match="holds no header"):
        FORMAT.read(path)


def test_files_that_unpack_to_too_much_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "example.npz"
    np.savez_compressed(path, header=np.zeros((16 << 20) + 1, np.uint8), one=ONE)
    assert path.stat().st_size < 100_000
    with pytest.raises(BadInputError, match="the header is larger"):
        attrs.evolve(FORMAT, largest=1 << 30).read(path)
    with pytest.raises(BadInputError, match="more than 100000 bytes"):
        FORMAT.read(archive(path, one=np.zeros(100_001, np.uint8)))


def test_a_header_of_another_kind_version_or_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "example.npz"
    with pytest.raises(BadInputError, match="not that of a glem example file"):
        FORMAT.read(archive(path, one=ONE))
    with pytest.raises(BadInputError, match="version 2, this glem reads 3"):
        FORMAT.read(archive(path, header={"format": "glem example", "version": 2}, one=ONE))
    with pytest.raises(BadInputError, match="checksum"):
        FORMAT.read(archive(path, header={"format": "glem example", "version": 3, "sha256": "0"}, one=ONE))


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "example.npz"
    np.savez(path, header=np.array([{"format": "glem example"}], object), one=ONE)
    with pytest.raises(BadInputError, match="no glem example file"):
        FORMAT.read(path)
