"""The command starts at once, by either name."""

import resource
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import glem

HEAVY = {"chess", "llvmlite", "matplotlib", "numba", "numpy", "pyarrow", "rich", "scipy"}
HELP_SECONDS = 0.3

LOADED_AFTER_HELP = """
import sys
from glem.core.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
sys.stderr.write(" ".join(sys.modules))
"""


def console_script() -> str:
    return str(Path(sysconfig.get_path("scripts")) / "glem")


def test_help_imports_nothing_heavy() -> None:
    run = subprocess.run([sys.executable, "-c", LOADED_AFTER_HELP], capture_output=True, text=True, check=True)
    assert "Usage:" in run.stdout
    assert not HEAVY & {name.split(".")[0] for name in run.stderr.split()}


def test_import_glem_imports_nothing_heavy() -> None:
    listing = "import sys, glem; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert not HEAVY & {name.split(".")[0] for name in run.stdout.split()}


def test_help_is_there_at_once() -> None:
    """In processor time, the best of a few runs: what goes beyond tells how busy the machine is."""
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([console_script(), "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert 0 < min(seconds) < HELP_SECONDS


@pytest.mark.parametrize("command", [[console_script()], [sys.executable, "-m", "glem"]], ids=["script", "module"])
def test_command_has_two_names(command: list[str], tmp_path: Path) -> None:
    run = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.endswith(f"glem {glem.__version__}\n")
