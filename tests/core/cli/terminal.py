"""Commands as a person runs them: with lines to type, and what is printed."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest

from glem.core.cli import main

__all__ = ["Terminal"]


class Terminal:
    """Runs a command with lines to read; gives what it prints, or with a status other than 0 its errors.

    Attributes
    ----------
    output, error
        All that the last command printed.
    """

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.output = self.error = ""

    def __call__(self, *arguments: object, typed: str = "", status: int = 0) -> str:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as exit_info:
            main(list(map(str, arguments)))
        self.output, self.error = self._capsys.readouterr()
        assert exit_info.value.code == status, self.error
        assert "Traceback" not in self.error
        return self.output if status == 0 else self.error

    def json(self, *arguments: object) -> Any:
        """Run a command with ``--json``."""
        return json.loads(self(*arguments, "--json"))

    def fails(self, *arguments: object) -> str:
        """Error of a command that must fail with one line and status 2."""
        [line] = self(*arguments, status=2).splitlines()
        assert line.startswith("glem: ")
        return line
