"""Make a release, all of it but the upload: ``python .ci/release.py 1.0.0 --repository https://HOST/OWNER/glem``.

From a clean checkout it writes the version, the date and the addresses, keeps small files of every kind for the tests
of later versions, runs ``.ci/run``, builds source archive and wheel, installs each in a fresh virtual environment and
runs the demo, commits and tags. Then it prints the commands that publish. ``--again`` goes on after a step that failed,
with what it has written. Nothing leaves the machine.
"""

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
WRITTEN = ("core/errors.py", "CHANGELOG.md", "CITATION.cff", "pyproject.toml")


def run(*words: object, cwd: Path = ROOT) -> None:
    """Run a command; its failure ends the release."""
    print("$", *words, flush=True)
    subprocess.run(list(map(str, words)), check=True, cwd=cwd)


def output_of(*words: str) -> str:
    """Give what a command prints."""
    return subprocess.run(words, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def replace(name: str, pattern: str, text: str) -> None:
    """Replace the one place of a file that a pattern finds."""
    changed, count = re.subn(pattern, lambda _: text, read(name), flags=re.MULTILINE)
    if count != 1:
        sys.exit(f"{name} has {count} places like {pattern}, not one")
    write(name, changed)


def write_version(version: str, repository: str) -> None:
    """Write version, date and addresses where they stand."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    replace("core/errors.py", r'^__version__ = "[^"]*"$', f'__version__ = "{version}"')
    replace("CHANGELOG.md", r"^## \[Unreleased\]$", f"## [Unreleased]\n\n## [{version}] - {today}")
    citation = re.sub(r"^(version|date-released|repository-code): .*\n", "", read("CITATION.cff"), flags=re.MULTILINE)
    lines = f"type: software\nversion: {version}\ndate-released: {today}\nrepository-code: {repository}\n"
    write("CITATION.cff", citation.replace("type: software\n", lines))
    addresses = {
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
    }
    urls = "[project.urls]\n" + "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
    project = re.sub(r"^\[project\.urls\]\n(.+\n)*\n", "", read("pyproject.toml"), flags=re.MULTILINE)
    write("pyproject.toml", project.replace("[project.scripts]\n", f"{urls}\n[project.scripts]\n"))


def read(name: str) -> str:
    """Text of a file of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def write(name: str, text: str) -> None:
    """Write a file of the checkout."""
    (ROOT / name).write_text(text, encoding="utf-8", newline="\n")


def try_archive(archive: Path) -> None:
    """Install an archive in a fresh virtual environment, elsewhere, and run the demo."""
    with tempfile.TemporaryDirectory() as name:
        run(sys.executable, "-m", "venv", Path(name) / "venv")
        programs = Path(name) / "venv" / PYTHON.parent.name
        run(programs / "python", "-m", "pip", "install", "--quiet", f"{archive}[report]")
        run(programs / "glem", "discover", "--demo", "--quiet", "-o", "demo", cwd=Path(name))
        run(programs / "pyglem", "--version", cwd=Path(name))


def main() -> None:
    """Run all steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--repository", required=True, metavar="URL")
    parser.add_argument("--again", action="store_true", help="go on after a failed step")
    given = parser.parse_args()
    version, repository = given.version, given.repository.rstrip("/")
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        sys.exit(f"{version} is no version such as 1.0.0 or 1.1.0rc1")
    tag = f"v{version}"
    if output_of("git", "tag", "--list", tag):
        sys.exit(f"{tag} is there already")
    if not given.again:
        if output_of("git", "status", "--porcelain"):
            sys.exit("the checkout has changes that are not committed")
        write_version(version, repository)
    run("bash", ".ci/run")
    run(PYTHON, "-m", "tests.house.older_files")
    run(PYTHON, "-m", "pytest", "-q", "tests/house/test_older_files.py")
    # By a tool of the standard's own makers: it builds the wheel from the source archive, as installers do.
    run(PYTHON, "-m", "pip", "install", "--quiet", "build", "twine")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(PYTHON, "-m", "build")
    archives = sorted((ROOT / "dist").iterdir())
    run(PYTHON, "-m", "twine", "check", "--strict", *archives)
    for archive in archives:
        try_archive(archive)
    run("git", "add", *WRITTEN, "tests/house/older")
    run("git", "commit", "--quiet", "-m", f"Version {version}")
    run("git", "tag", "--annotate", "-m", f"glem {version}", tag)
    print(f"\nTo publish:\n  git push origin HEAD {tag}\n  {PYTHON} -m twine upload dist/*")


if __name__ == "__main__":
    main()
