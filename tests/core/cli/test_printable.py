"""Names in data as commands print them: shown with all their signs, never obeyed by a terminal."""

import io
import json
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.cli import main
from glem.core.cli.display import display_progress, print_json, print_told, printable, printable_output
from glem.core.tasks.tables import Table
from tests.system import not_on_windows

NAME = "[/red]=1+1 \x1b[2J\x9b2J\x07\r[link=x]é"
SHOWN = r"[/red]=1+1 \x1b[2J\x9b2J\x07\r[link=x]é"


class Terminal(io.StringIO):
    """Keeps what a terminal would get."""

    def isatty(self) -> bool:
        return True


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_printed_controls_a_terminal(text: str) -> None:
    shown = printable(text.replace("\x1b[0m", "").replace("\x1b[2m", "").replace("\x1b[32m", ""))
    assert {letter for letter in shown if unicodedata.category(letter) in {"Cc", "Cs"}} <= {"\n", "\t"}
    assert printable(shown) == shown
    shown.encode()


def test_a_name_with_markup_in_a_display_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    with printable_output(), display_progress()(f"play {NAME}", 2) as task:
        task.note(NAME)
        task.advance()
    written = terminal.getvalue()
    assert written.count(SHOWN) >= 2
    # The cursor is rich's own.
    assert "\x1b[2K" in written
    assert "\x1b[2J" not in written


def test_a_name_with_markup_in_tables_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    with printable_output():
        print_told([Table(NAME, ["name", NAME], [[NAME, "1"]])])
        print_json({"name": NAME})
    printed = capsys.readouterr().out
    assert printed.count(SHOWN) == 3
    assert not {"\x1b", "\x9b", "\x07", "\r"} & set(printed)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1251"])
def test_what_an_output_has_no_bytes_for_is_spelt_out(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    told = {"name": "Hervé ± ♟\x9b\u202e", "grade": "0.5 ± 0.1"}
    with printable_output():
        print_json(told)
        size = stream.tell()
        print_told([told["grade"], Table("Grades ±", ["name", "grade"], [list(told.values())])])
    written = stream.buffer.getvalue()  # type: ignore[attr-defined]
    assert json.loads(written[:size].decode(encoding)).items() >= told.items()
    assert ("0.5 +/- 0.1" if encoding == "ascii" else "0.5 ± 0.1") in written[size:].decode(encoding)


@not_on_windows
def test_an_error_with_a_name_in_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "\x1b]0;title\x07[red].npz"
    file.write_text("nothing")
    with pytest.raises(SystemExit):
        main(["show", str(file), str(file)])
    printed = capsys.readouterr().err
    assert r"\x1b]0;title\x07[red].npz" in printed
    assert "\x1b" not in printed
