"""No command writes over what it reads, and none writes two outputs into one file."""

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from glem.core.cli import command_group
from glem.core.errors import BadInputError
from tests.core.cli.test_options import leaves

# IN is an input, OUT the same file as an output, OTHER a file that is only read.
COMMANDS = [
    "positions IN --game othello -o OUT",
    "fit OTHER IN -o OUT",
    "fit OTHER --configurations IN -o OUT",
    "fit likelihood OTHER --game othello --prior IN -o OUT",
    "fit likelihood --terms OTHER --weights IN -o OUT",
    "label IN --game othello -o OUT",
    "label OTHER --game othello --by IN,depth=1 -o OUT",
    "label by-results OTHER IN --game othello -o OUT",
    "label by-results OTHER --game othello --by default,depth=1 --again evaluation=IN,depth=2 -o OUT",
    "discover patterns IN -o OUT",
    "search probcut IN OTHER -o OUT",
    "search probcut default IN -o OUT",
    "evaluate IN OTHER -o OUT",
    "evaluate OTHER IN -o OUT",
    "grade othello IN --evaluation default --report OUT",
    "grade othello OTHER --evaluation default --tuning IN --write-positions OUT",
    "grade othello OTHER --evaluation IN --report OUT",
    "grade calibrate othello IN --evaluation default -o OUT",
    "grade calibrate othello OTHER --evaluation IN -o x --report OUT",
    "grade calibrate othello OTHER --evaluation csv:IN -o x --code OUT",
    "improve othello IN -o OUT",
    "improve othello OTHER --baseline IN -o OUT",
    "improve othello OTHER --changes IN --log OUT",
    "style learn othello IN --of-player a -o OUT",
    "style learn othello OTHER --of-player a --prior IN -o OUT",
    "style learn othello OTHER --of-player a --among IN -o found.npz --report OUT",
    "style compare IN OTHER --report OUT",
    "style compare OTHER OTHER --positions IN --report OUT",
    "experiment styles othello IN --of-player a --of-player b -o found --report OUT",
    "match IN,depth=1 random -o OUT",
    "match random random --game othello --openings IN --save-openings OUT",
    "match random random --game othello -o r.jsonl --openings IN --transcripts OUT",
    "play othello --evaluation IN --save OUT",
]


def _spelt(folder: Path, spelling: str) -> str:
    if spelling == "symlink":
        (folder / "there").symlink_to("given")
        return "there"
    if spelling == "hard link":
        os.link(folder / "given", folder / "there")
        return "there"
    return {"same": "given", "dots": "./down/../given", "absolute": str(folder / "given")}[spelling]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "down").mkdir()
    (tmp_path / "given").write_text("dear")
    (tmp_path / "other").write_text("other")
    return tmp_path


def _refused(command: str, words: str) -> None:
    result = CliRunner().invoke(command_group, command.split())
    assert isinstance(result.exception, BadInputError), (result.output, result.exception)
    assert words in str(result.exception)


def _filled(command: str, output: str) -> str:
    words = (word.replace("IN", "given").replace("OTHER", "other").replace("OUT", output) for word in command.split())
    return " ".join(words)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_is_an_input_is_refused(folder: Path, command: str) -> None:
    _refused(_filled(command, "given"), "given would be written over the input given")
    assert (folder / "given").read_text() == "dear"
    assert {path.name for path in folder.iterdir()} == {"down", "given", "other"}


@pytest.mark.parametrize("spelling", ["symlink", "hard link", "dots", "absolute"])
def test_another_name_of_an_input_is_refused(folder: Path, spelling: str) -> None:
    _refused(_filled("fit IN -o OUT", _spelt(folder, spelling)), "would be written over the input given")
    assert (folder / "given").read_text() == "dear"


@pytest.mark.parametrize(
    ("source", "command", "words"),
    [
        # The halves of a split are outputs too.
        (
            "games.train.parquet",
            "positions games.train.parquet --game othello --split 0.1 -o games.parquet",
            "games.train.parquet would be",
        ),
        # Inputs where work is kept.
        ("f.npz.work/in.parquet", "fit f.npz.work/in.parquet -o f.npz", "in.parquet lies in"),
        ("found/work/in.parquet", "discover found/work/in.parquet -o found", "in.parquet lies in"),
        (
            "l.log.accepted/in.parquet",
            "improve othello given --baseline l.log.accepted/in.parquet --log l.log",
            "in.parquet lies in",
        ),
        ("found/report.html", "discover found/report.html -o found", "would be written over"),
        (
            "found/options.txt",
            "tune-options chess uci:e --parameters found/options.txt -o found",
            "options.txt lies in",
        ),
        # Two outputs in one file.
        ("given", "grade othello given --evaluation default --report r --write-positions ./r", "are one file"),
        ("given", "match random random --game othello -o r --transcripts r", "are one file"),
        ("given", "improve othello given --log r -o r", "are one file"),
    ],
)
def test_other_outputs_that_are_refused(folder: Path, source: str, command: str, words: str) -> None:
    (folder / source).parent.mkdir(parents=True, exist_ok=True)
    (folder / source).write_text("dear")
    _refused(command, words)


def test_a_folder_is_no_output_file(folder: Path) -> None:
    for command in COMMANDS:
        result = CliRunner().invoke(command_group, _filled(command, "down").split())
        assert result.exit_code != 0
        assert isinstance(result.exception, SystemExit | BadInputError), result.exception
    assert (folder / "down").is_dir()


def test_every_option_that_names_an_output_is_among_these() -> None:
    names = {" ".join((*context.command_path.split()[1:], str(leaf.name))): leaf for context, leaf in leaves()}
    found = {
        f"{name} {option.opts[0]}"
        for name, leaf in names.items()
        for option in leaf.params
        if isinstance(option, click.Option) and isinstance(option.type, click.Path)
    }
    tried = {
        f"{max((name for name in names if command.startswith(f'{name} ')), key=len)} {word}"
        for command in COMMANDS
        for word, value in zip(command.split(), command.split()[1:], strict=False)
        if value == "OUT"
    }
    folders = {
        "discover -o",
        "generate -o",
        "games new -o",
        "train -o",
        "grade --scores",
        "grade calibrate --scores",
    }
    folders |= {"experiment styles -o", "tune-options -o"}
    read = {
        "fit --configurations",
        "fit likelihood --configurations",
        "fit likelihood --weights",
        "grade --tuning",
        "improve --changes",
        "improve --tuning",
        "style compare --positions",
    }
    read |= {"engine --calibration", "tune-options --parameters"}
    read |= {option for option in found if option.endswith(" --features")}
    assert found - tried - folders - read == set()
