"""``glem check`` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "glem", "check", *arguments], capture_output=True, text=True, timeout=600, check=False
    )


def test_the_command():
    found = run("othello", "--games", "3", "--plain", "--json")
    assert found.returncode == 0
    assert '"passed": true' in found.stdout
    failed = run("nosuchgame")
    assert (failed.returncode, failed.stderr.count("\n")) == (2, 1)


@pytest.mark.repeats  # the parts: check_plugin is called with games of a moment in test_conformance
def test_the_command_runs_all_parts_or_one():
    found = run("connect_four", "--games", "2", "--json")
    assert found.returncode == 0, found.stdout
    subjects = list(dict.fromkeys(check["subject"] for check in json.loads(found.stdout)["checks"]))
    parts = ["Connect Four", "learning of Connect Four", "evaluation of Connect Four", "fitter ConjugateGradient"]
    assert subjects == parts
    one = run("connect_four", "--games", "2", "--only", "fitter", "--seed", "3")
    assert (one.returncode, one.stderr) == (0, "")
    assert one.stdout.startswith("fitter ConjugateGradient: keeps its promises\n  ok   manners (")
