"""Files at addresses, against the same files here."""

import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glem
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.files.addresses import is_address, open_binary
from glem.core.files.digests import file_digest
from glem.core.positions.positions import Positions
from tests.core.cli.terminal import Terminal
from tests.othello import sample_of_games

fsspec: Any = pytest.importorskip("fsspec")


class Ranges(http.server.BaseHTTPRequestHandler):
    """Gives one file, whole or in parts; what is asked for is kept."""

    content = b""
    gives_parts = True
    fails = False

    def do_HEAD(self) -> None:
        self.answer(with_content=False)

    def do_GET(self) -> None:
        self.answer()

    def answer(self, *, with_content: bool = True) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if self.gives_parts else None
        if not self.path.endswith("some.parquet") or (self.fails and wanted):
            self.send_error(404 if not self.fails else 500)
            return
        start, stop = (int(wanted[1]), int(wanted[2]) + 1) if wanted else (0, len(self.content))
        part = self.content[start:stop]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(part)))
        if self.gives_parts:
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(self.content)}")
        self.end_headers()
        if with_content:
            self.wfile.write(part)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 # its name there
        pass


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Positions]:
    path = tmp_path_factory.mktemp("here") / "some.parquet"
    positions = sample_of_games(60)
    glem.write_positions(path, positions)
    return path, positions


@pytest.fixture
def served(some: tuple[Path, Positions]) -> Iterator[tuple[str, type[Ranges]]]:
    pytest.importorskip("aiohttp")
    handler = type("Handler", (Ranges,), {"content": some[0].read_bytes()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/some.parquet", handler
        server.shutdown()


@pytest.fixture
def in_memory(some: tuple[Path, Positions]) -> Iterator[str]:
    files = fsspec.filesystem("memory")
    with files.open("/there/some.parquet", "wb") as file:
        file.write(some[0].read_bytes())
    yield "memory://there/some.parquet"
    files.rm("/there", recursive=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/x.parquet", True),
        ("simplecache::s3://bucket/x.parquet", True),
        ("C:\\games\\x.parquet", False),
        ("c://x.parquet", False),
        ("games/x.parquet", False),
        ("", False),
        (Path("s3://bucket/x"), False),
    ],
)
def test_addresses_are_told_from_paths(text: str, expected: bool) -> None:
    assert is_address(text) == expected


def test_a_fit_from_an_address_is_that_from_the_file(
    some: tuple[Path, Positions], in_memory: str, served: tuple[str, type[Ranges]]
) -> None:
    here = glem.fit(some[0], iterations=3, patterns="none")
    for address in (in_memory, served[0]):
        there = glem.fit(address, iterations=3, patterns="none")
        assert isinstance(here.evaluation, LinearEvaluation)
        assert isinstance(there.evaluation, LinearEvaluation)
        np.testing.assert_array_equal(there.evaluation.linear_weights, here.evaluation.linear_weights)
        assert there.evaluation.provenance == here.evaluation.provenance
        assert file_digest(address) == file_digest(some[0])


def test_commands_take_addresses(
    some: tuple[Path, Positions], in_memory: str, tmp_path: Path, terminal: Terminal
) -> None:
    output = tmp_path / "model.npz"
    terminal("fit", in_memory, "--patterns", "none", "--iterations", 2, "-o", output)
    found = terminal.json("evaluate", output, in_memory, "--measure", "rmse")
    assert found == terminal.json("evaluate", output, some[0], "--measure", "rmse")
    assert "is named twice" in terminal.fails("fit", in_memory, in_memory, "-o", tmp_path / "other.npz")


def test_an_address_that_changes_has_another_digest(in_memory: str) -> None:
    before = file_digest(in_memory)
    with fsspec.filesystem("memory").open("/there/some.parquet", "wb") as file:
        file.write(b"other")
    assert file_digest(in_memory) != before


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("memory://there/none.parquet", "none.parquet: cannot be read: no such file"),
        ("nothing://there/x.parquet", "cannot be read: .*Protocol not known: nothing"),
        ("memory://there/games.pgn", "games.pgn: of files at addresses, those of positions"),
    ],
)
def test_bad_addresses_are_named(address: str, message: str, tmp_path: Path, terminal: Terminal) -> None:
    assert re.search(message, terminal.fails("fit", address, "-o", tmp_path / "x.npz")), terminal.error


def test_servers_that_fail_are_named(served: tuple[str, type[Ranges]]) -> None:
    address, handler = served
    handler.fails = True
    with pytest.raises(BadInputError, match="cannot be read: ClientResponseError"):
        glem.read_positions(address)
    handler.fails, handler.gives_parts = False, False
    with pytest.raises(BadInputError, match=r"range requests|whole files alone"):
        glem.read_positions(address)
    with pytest.raises(BadInputError, match="no such file"):
        glem.read_positions(address.replace("some", "none"))


def test_damage_is_damage_there_too(in_memory: str, some: tuple[Path, Positions]) -> None:
    content = some[0].read_bytes()
    with fsspec.filesystem("memory").open("/there/some.parquet", "wb") as file:
        file.write(content[: len(content) // 2])
    with pytest.raises(BadInputError, match="damaged, or no Parquet file"):
        glem.read_positions(in_memory)


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(BadInputError, match=r"pip install 'pyglem\[remote\]'"):
        open_binary("memory://x")
