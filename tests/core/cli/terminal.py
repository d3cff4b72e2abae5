"""Commands as a person runs them: with lines to type, and what is printed."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest

from glem.core.cli import main


class Terminal:
    """Runs a command with lines to read; gives what it prints, or with a status from 2 on its errors.

    Parameters
    ----------
    capsys, monkeypatch
        Fixtures of pytest.
    words
        Stand before all others: a command, and what it always takes.
    """

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self._words = words
        self.output = self.error = ""
        """What the last command wrote to standard output and to standard error."""

    def of(self, *words: object) -> Terminal:
        """Return one whose commands all begin with these words."""
        return Terminal(self._capsys, self._monkeypatch, *words)

    def __call__(self, *arguments: object, typed: str | bytes = "", status: int = 0) -> str:
        content = typed.encode() if isinstance(typed, str) else typed
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(SystemExit) as exit_info:
            main([str(word) for word in (*self._words, *arguments)])
        printed = self._capsys.readouterr()
        self.output, self.error = printed.out, printed.err
        assert (exit_info.value.code or 0) == status, printed.err
        assert "Traceback" not in printed.err
        return printed.out if status < 2 else printed.err

    def json(self, *arguments: object, status: int = 0) -> Any:
        """Document that a command prints."""
        return json.loads(self(*arguments, "--json", status=status))

    def fails(self, *arguments: object) -> str:
        """Error of a command that must fail with one line and status 2."""
        error = self(*arguments, status=2).strip()
        assert error.startswith("glem: ") and "\n" not in error, error
        return error
