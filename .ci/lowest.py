"""Print the lowest versions that ``pyproject.toml`` allows, as constraints for pip."""

import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
for dependency in [*project["dependencies"], *project["optional-dependencies"]["report"]]:
    print(dependency.replace(">=", "=="))
