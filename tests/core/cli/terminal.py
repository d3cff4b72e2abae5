"""Commands as a person runs them: with lines to type, and what is printed."""

from __future__ import annotations

import io
import sys

import pytest

from glem.core.cli import main

__all__ = ["Terminal"]


class Terminal:
    """Runs a command with lines to read; gives what it prints, or with a status other than 0 its errors."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object, typed: str = "", status: int = 0) -> str:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as exit_info:
            main(list(map(str, arguments)))
        printed = self._capsys.readouterr()
        assert exit_info.value.code == status, printed.err
        assert "Traceback" not in printed.err
        return printed.out if status == 0 else printed.err
