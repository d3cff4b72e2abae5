"""The command starts at once, by either name."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import glem

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "glem")
HEAVY = {"chess", "llvmlite", "matplotlib", "numba", "numpy", "pyarrow", "rich", "scipy"}

LOADED_AFTER_HELP = """
import sys
from glem.core.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
sys.stderr.write(" ".join(sys.modules))
"""


def test_help_imports_nothing_heavy() -> None:
    run = subprocess.run([sys.executable, "-c", LOADED_AFTER_HELP], capture_output=True, text=True, check=True)
    assert "Usage:" in run.stdout
    assert not HEAVY & {name.split(".")[0] for name in run.stderr.split()}


@pytest.mark.parametrize("command", [[SCRIPT], [sys.executable, "-m", "glem"]], ids=["script", "module"])
def test_command_has_two_names(command: list[str], tmp_path: Path) -> None:
    run = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.endswith(f"glem {glem.__version__}\n")
