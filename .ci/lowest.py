"""Print the lowest versions that ``pyproject.toml`` allows, as constraints for pip."""

import tomllib
from pathlib import Path

for dependency in tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]:
    print(dependency.replace(">=", "=="))
