"""Journals: nothing that was written is lost, nothing torn is believed."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.tasks.journal import Journal, read_journal

SETTINGS = {"game": "othello", "players": ("a", "b"), "depth": 3}


def written(path: Path, count: int = 3) -> list[dict[str, object]]:
    records: list[dict[str, object]] = [{"number": number, "text": "é\n" * number} for number in range(count)]
    with Journal(path, "test", SETTINGS) as journal:
        for record in records:
            journal.append(record)
    return records


def test_a_journal_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    records = written(path)
    with Journal(path, "test", SETTINGS) as journal:
        assert list(journal.records()) == records
        journal.append({"number": 3})
        assert len(list(journal.records())) == 4
    settings, found = read_journal(path, "test")
    assert settings == {**SETTINGS, "players": ["a", "b"]}
    assert list(found) == [*records, {"number": 3}]


@pytest.mark.parametrize("torn", [True, False])
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_journal_cut_anywhere_loses_only_the_line_that_was_cut(
    tmp_path_factory: pytest.TempPathFactory, torn: bool, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal"
    records = written(path)
    whole = path.read_bytes()
    length = data.draw(st.integers(0, len(whole)))
    # A power cut may leave zeros where the end of a line should be.
    path.write_bytes(whole[:length] + (b"" if torn or length in (0, len(whole)) else b"\0\0\n"))
    if not torn and length <= whole.index(b"\n") + 1:
        return
    kept = max(0, whole[:length].count(b"\n") - 1)
    with Journal(path, "test", SETTINGS) as journal:
        assert list(journal.records()) == records[:kept]
        for record in records[kept:]:
            journal.append(record)
    assert path.read_bytes() == whole


def test_damage_before_the_last_line_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"number":\n'
    path.write_bytes(b"".join(lines))
    with pytest.raises(BadInputError, match="journal:3: damaged"):
        Journal(path, "test", SETTINGS)
    with pytest.raises(BadInputError, match="journal:3: damaged"):
        list(read_journal(path, "test")[1])
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"other text\n", "no header of a glem test"),
        (b"[1]\n", "no header"),
        (b"\xff\xfe\n", "no header"),
        (b'{"format":"glem other","version":1,"sha256":"","settings":{}}\n', "belongs to a glem other"),
        (b'{"format":"glem test","version":9,"sha256":"","settings":{}}\n', "format version 9"),
        (b'{"format":"glem test","version":1,"sha256":"","settings":{}}\n', "header is damaged"),
    ],
)
def test_files_of_others_are_left_alone(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "journal"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=message):
        Journal(path, "test", SETTINGS)
    assert path.read_bytes() == content


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    with pytest.raises(BadInputError, match="other settings \\(depth: 3, not 4; seed: nothing, not 1\\)"):
        Journal(path, "test", {**SETTINGS, "depth": 4, "seed": 1})


def test_only_one_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path, "test", SETTINGS), pytest.raises(BadInputError, match="another glem"):
        Journal(path, "test", SETTINGS)
    Journal(path, "test", SETTINGS).close()


def test_a_folder_or_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="is no file"):
        Journal(tmp_path, "test", SETTINGS)
    with pytest.raises(BadInputError, match="cannot be read"):
        read_journal(tmp_path / "missing", "test")
