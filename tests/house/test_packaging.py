"""The package list, the wheel and the source archive hold what the tree holds, no more and no less."""

import configparser
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import glem
from tests.house.tree import ROOMS, ROOT, import_name, modules, project

LEAST_SETUPTOOLS = 77
PACKAGES = ".packages"
linked = pytest.mark.skipif(
    not (ROOT / PACKAGES / "glem" / "core").is_dir(),
    reason="this checkout has no links, and what setuptools does in their place comes after the current folder",
)
BUILD = """
import sys
from setuptools import build_meta
print(getattr(build_meta, sys.argv[1])(sys.argv[2]))
"""


def shipped_files() -> set[str]:
    """Every file of the three rooms, as the path that it has in the wheel."""
    found = set()
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                place = path.relative_to(ROOT)
                package = import_name(place.parent / "__init__.py")
                found.add(f"{package.replace('.', '/')}/{place.name}")
    return found


def wheel_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def build(source: Path, kind: str, target: Path) -> Path:
    """Run one hook of the build backend in a source tree, without network; return the file that it made."""
    target.mkdir(parents=True, exist_ok=True)
    hook = f"build_{kind}"
    run = subprocess.run(
        [sys.executable, "-c", BUILD, hook, str(target)], cwd=source, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return target / run.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build reads, so that nothing is written into the checkout."""
    if int(importlib.metadata.version("setuptools").split(".")[0]) < LEAST_SETUPTOOLS:
        pytest.skip(f"building needs setuptools {LEAST_SETUPTOOLS} or later; the extra `test` brings it")
    folder = tmp_path_factory.mktemp("source")
    for room in (*ROOMS, "docs", "tests"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / PACKAGES, folder / PACKAGES, symlinks=True)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    return build(source, "wheel", source / "out")


def test_package_list_is_the_tree() -> None:
    assert project()["tool"]["setuptools"]["packages"] == sorted(
        module.name for module in modules() if module.is_package
    )


def test_wheel_holds_every_file_of_the_rooms_and_nothing_else(wheel: Path) -> None:
    information = f"pyglem-{glem.__version__}.dist-info/"
    assert {name for name in wheel_files(wheel) if not name.startswith(information)} == shipped_files()


def test_wheel_carries_type_marker_licence_and_entry_points(wheel: Path) -> None:
    information = f"pyglem-{glem.__version__}.dist-info"
    files = wheel_files(wheel)
    assert {"glem/py.typed", f"{information}/licenses/LICENSE"} <= files
    written = configparser.ConfigParser(delimiters=("=",))
    with zipfile.ZipFile(wheel) as archive:
        written.read_string(archive.read(f"{information}/entry_points.txt").decode())
        metadata = archive.read(f"{information}/METADATA").decode()
    entries = {group: dict(written[group]) for group in written.sections()}
    expected = project()["project"]
    assert entries == {"console_scripts": expected["scripts"], **expected["entry-points"]}
    assert f"\nVersion: {glem.__version__}\n" in metadata
    assert "\nLicense-Expression: GPL-3.0-or-later\n" in metadata


def test_source_archive_builds_the_same_wheel(source: Path, wheel: Path, tmp_path: Path) -> None:
    archive = build(source, "sdist", tmp_path / "sdist")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "unpacked", filter="data")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    for name in ("CHANGELOG.md", "docs/index.md", "tests/house/test_packaging.py", "core/errors.py"):
        assert (unpacked / name).read_bytes() == (ROOT / name).read_bytes()
    assert wheel_files(build(unpacked, "wheel", tmp_path / "wheel")) == wheel_files(wheel)


@linked
def test_a_checkout_without_links_builds_the_same_wheel(source: Path, wheel: Path, tmp_path: Path) -> None:
    """As after ``git clone`` on Windows, or in a ZIP archive: what was a link holds its target as text."""
    checkout = shutil.copytree(source, tmp_path / "checkout", symlinks=True, ignore=shutil.ignore_patterns("out"))
    links = [path for path in (checkout / PACKAGES / "glem").iterdir() if path.is_symlink()]
    assert links
    for path in links:
        target = os.fspath(path.readlink())
        path.unlink()
        path.write_text(target)
    assert wheel_files(build(checkout, "wheel", tmp_path / "wheel")) == wheel_files(wheel)


@linked
@pytest.mark.parametrize("command", [["-c", "import glem.core; print(glem.__version__)"], ["-m", "glem", "--version"]])
def test_a_folder_named_glem_does_not_hide_the_package(command: list[str], tmp_path: Path) -> None:
    """As in the folder where somebody has cloned glem."""
    (tmp_path / "glem" / "core").mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert glem.__version__ in run.stdout


def test_version_stands_in_one_place() -> None:
    assert importlib.metadata.version(project()["project"]["name"]) == glem.__version__
    word = re.compile(rf"(?<![\d.]){re.escape(glem.__version__)}(?![\d.])")
    places = [str(module.path) for module in modules() if word.search(module.text)]
    assert places == ["core/errors.py"]


def test_nothing_asks_for_another_distribution() -> None:
    """What the package index has as ``glem`` is no part of this."""
    asked = re.compile(r"""(?:['"`]|install )glem(?:\[|[<>=~]=)""")
    files = [path for room in (*ROOMS, "docs") for path in (ROOT / room).rglob("*") if path.is_file()]
    texts = {
        path: path.read_bytes().decode("utf-8", "replace") for path in [*files, *ROOT.glob("*.*")] if path.is_file()
    }
    assert [str(path) for path, text in texts.items() if asked.search(text)] == []


def test_another_program_of_that_name_is_told_of(tmp_path: Path) -> None:
    """The lemmatizer on the package index has an empty ``glem/__init__.py``."""
    (tmp_path / "glem").mkdir()
    (tmp_path / "glem" / "__init__.py").touch()
    shutil.copytree(ROOT / "core", tmp_path / "glem" / "core", ignore=shutil.ignore_patterns("__pycache__"))
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from glem.core.cli import main"
    tried = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert "pip uninstall glem" in tried.stderr.splitlines()[-1]


def test_changelog_tells_of_this_version() -> None:
    headings = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert glem.__version__ in headings
