"""Reading strangers' files: packed, cut, damaged, endless."""

import gzip
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.files import packed as record_files
from glem.core.files.packed import bare_suffix, line_blocks, open_bounded, open_packed

ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": partial(pyarrow.compress, codec="zstd", asbytes=True),
}
PACKINGS = {"": bytes, **ARCHIVES}


def read_lines(path: Path, lines: int = 3) -> list[tuple[int, bytes]]:
    """Number and text of every line; the blocks keep their promises."""
    found = []
    for block in line_blocks(path, lines=lines):
        assert 0 < len(block.starts) <= lines
        for line, (start, end) in enumerate(zip(block.starts, block.ends, strict=True)):
            found.append((block.first_number + line, block.data[start:end].tobytes()))
    return found


@settings(max_examples=150, deadline=None)
@given(
    text=st.lists(st.sampled_from([b"\n", b"a", b"bc", b"\r\n", b"\0", b"defghij"]), max_size=30).map(b"".join),
    packing=st.sampled_from(list(PACKINGS)),
    lines=st.integers(1, 5),
    piece=st.integers(1, 9),
)
def test_blocks_hold_every_line_once(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, packing: str, lines: int, piece: int
) -> None:
    # Two letters each with a zero look like UTF-16, which is refused.
    assume(not record_files._UTF_16.match(text))
    path = tmp_path_factory.mktemp("lines") / f"text{packing}"
    path.write_bytes(PACKINGS[packing](text))
    expected = text.removesuffix(b"\n").split(b"\n") if text else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_files, "_BLOCK", piece)
        assert read_lines(path, lines) == list(enumerate(expected, 1))


@pytest.mark.parametrize("packing", PACKINGS)
def test_pack_and_unpack(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"text{packing}"
    for _ in range(2):
        with open_packed(path) as file:
            file.write(b"abc" * 1000)
    again = tmp_path / f"again{packing}"
    with open_packed(again) as file:
        file.write(b"abc" * 1000)
    assert again.read_bytes() == path.read_bytes()
    with open_bounded(path) as bounded:
        assert bounded.read(4) == b"abca"
        assert bounded.read(10_000) == (b"abc" * 1000)[4:]
        assert bounded.read(1) == b""


@pytest.mark.parametrize("packing", ARCHIVES)
def test_a_cut_archive_gives_its_lines_and_then_an_error(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"text{packing}"
    content = "".join(f"{number * number % 1_000_003}\n" for number in range(60_000)).encode()
    packed = PACKINGS[packing](content)
    path.write_bytes(packed[: len(packed) * 3 // 4])
    found = []
    with pytest.raises(BadInputError, match="damaged or truncated archive") as caught:
        for block in line_blocks(path, lines=100):
            found += [block.text(line) for line in range(len(block.starts))]
    assert str(path) in str(caught.value)
    assert found == content.decode().split("\n")[: len(found)]
    assert len(found) > 30_000


@pytest.mark.parametrize("packing", PACKINGS)
def test_the_unpacked_size_is_bounded(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"bomb{packing}"
    path.write_bytes(PACKINGS[packing](b"ab\n" * 1_000_000))
    with pytest.raises(BadInputError, match="more than the limit of 2,000,000 bytes"):
        list(line_blocks(path, lines=1000, max_bytes=2_000_000))
    assert sum(len(block.starts) for block in line_blocks(path, lines=1000, max_bytes=3_000_000)) == 1_000_000


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_the_default_limit_grows_with_the_file(tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_files, "MAX_BYTES", 1000)
    # They pack to less than half.
    content = bytes(np.random.default_rng(0).integers(48, 58, 5000, np.uint8))
    path = tmp_path / f"digits.txt{packing}"
    with open_packed(path) as file:
        file.write(content)
    with open_bounded(path, max_bytes=1000) as file:
        assert file.read(9000) == content
    with open_bounded(path, max_bytes=1001) as file, pytest.raises(BadInputError, match="more than the limit of 1,001"):
        file.read(9000)
        file.read(9000)


@pytest.mark.parametrize("packing", ARCHIVES)
def test_an_archive_unpacks_to_a_hundred_times_its_size_at_most(
    tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"bomb{packing}"
    path.write_bytes(PACKINGS[packing](b"ab\n" * 3_000_000))
    assert sum(len(block.starts) for block in line_blocks(path, lines=1000)) == 3_000_000
    monkeypatch.setattr(record_files, "_ALWAYS_UNPACKED", 1 << 20)
    with pytest.raises(BadInputError, match=r"more than the limit of .* bytes for an archive of .*; unpack it first"):
        list(line_blocks(path, lines=1000))
    plain = tmp_path / "plain"
    plain.write_bytes(b"ab\n" * 3_000_000)
    assert sum(len(block.starts) for block in line_blocks(plain, lines=1000)) == 3_000_000


@pytest.mark.parametrize("packing", ARCHIVES)
def test_archives_behind_each_other_are_one_text(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"text{packing}"
    path.write_bytes(ARCHIVES[packing](b"one\n") + ARCHIVES[packing](b"two\n"))
    assert read_lines(path) == [(1, b"one"), (2, b"two")]


@pytest.mark.parametrize("lines", [[b"f5d6", b"f5f6"], []])
def test_a_byte_order_mark_is_no_text(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(line + b"\n" for line in lines))
    assert read_lines(path) == list(enumerate(lines, 1))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *((f"text{packing}", b"plain text\n", "damaged or truncated archive") for packing in ARCHIVES),
        ("line.gz", gzip.compress(b"first\n" + bytes(40_000_000)), r"line\.gz:2: no line end within 1,048,576 bytes"),
        ("absent", None, "absent: .*cannot be opened"),
        (".", None, "cannot be opened"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInputError, match=message):
        read_lines(tmp_path / name)


def test_bare_suffix() -> None:
    names = ("WTH_1990.WTB.gz", "a.b.txt", "games.xz", "Games.PGN.zst")
    assert [bare_suffix(name) for name in names] == [".wtb", ".txt", "", ".pgn"]
