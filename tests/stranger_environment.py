"""An environment as a stranger has one: glem is installed, and packages can be installed beside it.

It is a virtual environment of its own, which sees what the tests run with; nothing outside its folder changes, and
nothing is fetched from the network.
"""

import importlib.util
import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest
from attrs import define

from tests.system import IS_WINDOWS

SCRIPTS = {
    "glem": ("from glem.core.cli import main", "main()"),
    "pip": ("import runpy", "runpy.run_module('pip', run_name='__main__')"),
    "pytest": ("import sys, pytest", "sys.exit(pytest.main())"),
}


@define(frozen=True)
class StrangerEnvironment:
    """A virtual environment and where its commands are."""

    folder: Path

    def run(self, command: str, where: Path, *, status: int = 0, timeout: float = 600) -> str:
        """Run a line of a shell in a folder; return what it wrote, errors too."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST_"))}
        variables |= {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "120",
            # What is installed is built with the setuptools that is there, and what it needs is there too.
            "PIP_NO_BUILD_ISOLATION": "0",
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        run = subprocess.run(
            ["bash", "-euc", command],
            cwd=where,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert run.returncode == status, f"{command}\n{run.stdout}"
        return run.stdout


def stranger_environment(folder: Path) -> StrangerEnvironment:
    """Make one; skips the test where pip or setuptools are missing."""
    if IS_WINDOWS:
        pytest.skip("Windows does not start scripts by their first line")
    for needed in ("pip", "setuptools"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed, so nothing can be installed")
    venv.create(folder, with_pip=False, symlinks=True)
    [packages] = (folder / "lib").glob("python*/site-packages")
    ours = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    lines = [f"import site; site.addsitedir({path!r})" for path in sorted(ours)]
    (packages / "tests_environment.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, (first, call) in SCRIPTS.items():
        script = folder / "bin" / name
        # Worker processes import the script anew: it must do nothing then.
        script.write_text(
            f'#!{folder / "bin" / "python"}\n{first}\n\nif __name__ == "__main__":\n    {call}\n', encoding="utf-8"
        )
        script.chmod(0o755)
    return StrangerEnvironment(folder)
