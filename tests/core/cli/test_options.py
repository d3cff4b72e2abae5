"""Every command says its options as the others do: examples that work, one meaning a name, notices for old names."""

import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from glem.core.cli import RENAMED_COMMANDS, command_group, options
from glem.core.cli.options.making import MOST_OPTIONS
from tests.core.cli.terminal import Terminal

DIFFERENT = {
    "--output": "what is written",
    "--held-out": "what the games are held out for",
    "--drawishness": "grades take several",
    "--scale": "grades take several",
    "--iterations": "each fit's own number",
    "--l2": "the unit is each fit's own",
    "--patterns": "what is used without it",
    "--select": "what is fitted takes more positions than what is graded",
    "--even-within": "the unit is the score's own",
    "--quiet-positions": "a fit takes quiet positions, learning by grading all",
    "--measure": "to evaluate with, or to check",
    "--games": "to play now, or to have in a folder",
    "--player": "generate takes two",
    "--positions": "what they are for",
    "--evaluation": "grades take several",
    "--depth": "probcut searches all depths up to it",
    "--openings": "a file, or a plan for a generation",
    "--tuning": "what is fitted to those games",
    "--jobs": "perft tells its speed by one thread",
    "--position": "solve takes several",
    "--minimum-matches": "of configurations that are mined, of contents of a pattern",
    "--phases": "which of them, or how many",
    "--sample": "patterns take more positions to design than configurations to mine",
    "--plies": "which are taken, or searched again",
    "--opening-plies": "how long they are, or what a style takes for one",
    "--features": "a file of them, or names of those that a style is learned by",
    "--prior": "what a fit begins with, or what patterns are found for",
    "--solve": "training solves where the game can be",
}
"""Options that commands have in common but not in the same words, with the same type and default, and why."""


def leaves(
    group: click.Group = command_group, parent: click.Context | None = None
) -> Iterator[tuple[click.Context, click.Command]]:
    """Yield all commands that do something, with the contexts of their groups."""
    context = click.Context(group, parent, "glem" if parent is None else group.name)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, context)
        else:
            yield context, command


COMMANDS = [
    pytest.param(context, command, id=f"{context.command_path} {command.name}") for context, command in leaves()
]


def parsed(context: click.Context, command: click.Command, words: list[str]) -> click.Context:
    """Context of a command line of the command, parsed but not run."""
    return command.make_context(command.name, list(words), parent=context)


def example_words(context: click.Context, command: click.Command) -> list[list[str]]:
    """Words behind the command's name of each of its examples, with a game in place of GAME."""
    assert isinstance(command, options.Command)
    path = [*context.command_path.split()[1:], *str(command.name).split()]
    words = [shlex.split(example.replace("GAME", "connect_four")) for example in command.examples]
    assert all(each[: len(path)] == path for each in words)
    return [each[len(path) :] for each in words]


@pytest.mark.parametrize(("context", "command"), COMMANDS)
def test_help_ends_with_two_examples_that_parse(context: click.Context, command: click.Command) -> None:
    examples = example_words(context, command)
    assert len(examples) == 2
    assert {"-q", "-v"} <= {word for parameter in command.params for word in parameter.opts}
    printed = command.get_help(click.Context(command, context, command.name))
    assert printed.count("\n    glem ") == 2
    for words in examples:
        parsed(context, command, words)


@pytest.mark.parametrize(("context", "command"), COMMANDS)
def test_the_first_list_of_options_is_short(context: click.Context, command: click.Command) -> None:
    printed = command.get_help(click.Context(command, context, command.name))
    first, _, rest = printed.partition("\nOptions:\n")[2].partition("\n\n")
    listed = [line for line in first.splitlines() if line.startswith("  -")]
    assert len(listed) <= MOST_OPTIONS
    options_and_help = sum(isinstance(one, click.Option) for one in command.params) + 1
    assert ("\nMore:\n" in f"\n{rest}") == (options_and_help > MOST_OPTIONS)


def test_one_option_has_one_meaning() -> None:
    meanings = defaultdict[str, dict[tuple[str, ...], list[str]]](lambda: defaultdict(list))
    for context, command in leaves():
        for option in command.params:
            if isinstance(option, click.Option):
                told = (str(option.help), str(option.type.to_info_dict()), str(option.default), str(option.metavar))
                meanings[max(option.opts, key=len)][told].append(f"{context.command_path} {command.name}")
    several = {name: list(found.values()) for name, found in meanings.items() if len(found) > 1}
    assert {name: found for name, found in several.items() if name not in DIFFERENT} == {}
    assert DIFFERENT.keys() <= several.keys()


@pytest.mark.parametrize(("context", "command"), COMMANDS)
def test_old_names_work_with_a_notice(
    context: click.Context, command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    words = example_words(context, command)[0]
    for parameter in command.params:
        for old in getattr(parameter, "was", ()):
            if isinstance(parameter, click.Argument):
                without = [word for word in words if word != "connect_four"]
                new, given = ["connect_four", *without], [*without, old, "connect_four"]
            else:
                value = [] if getattr(parameter, "is_flag", False) else [_value(parameter.type)]
                new, given = [*words, parameter.opts[-1], *value], [*words, old, *value]
            expected = parsed(context, command, new).params
            assert capsys.readouterr().err == ""
            assert parsed(context, command, given).params == expected
            assert capsys.readouterr().err.startswith(f"glem: notice: {old} is ")
            assert all(old not in each.opts for each in command.params)


def _value(kind: click.ParamType) -> str:
    return "0.5" if isinstance(kind, click.FloatRange) else "1"


def test_a_file_that_is_named_twice_would_count_twice(terminal: Terminal, tmp_path: Path) -> None:
    games, other = tmp_path / "games.pgn", tmp_path / "other.pgn"
    games.write_text("1. e4 e5 1-0\n")
    other.symlink_to(games)
    for words in (("fit", games, games), ("positions", games, other)):
        assert terminal.fails(*words, "-o", tmp_path / "out") == f"glem: {words[-1]} is named twice"


@pytest.mark.parametrize(("old", "new"), RENAMED_COMMANDS.items(), ids=" ".join)
def test_old_names_of_commands_work_with_a_notice(
    old: tuple[str, ...], new: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    context = click.Context(command_group, info_name="glem")
    with context:
        expected = command_group.resolve_command(context, [*new, "word", "--json"])
        assert capsys.readouterr().err == ""
        assert command_group.resolve_command(context, [*old, "word", "--json"]) == expected
        told = capsys.readouterr().err
        assert told == f"glem: notice: `glem {' '.join(old)}` is called `glem {' '.join(new)}` now\n"
        assert command_group.resolve_command(context, [*old, "-q"])[1] is expected[1]
        assert capsys.readouterr().err == ""
    assert " ".join(old) not in {" ".join((*each.command_path.split()[1:], str(leaf.name))) for each, leaf in leaves()}


def test_json_of_an_old_command_keeps_its_schema(terminal: Terminal) -> None:
    now, was = (terminal.json(*words, "connect_four", 3) for words in (("search", "perft"), ("perft",)))
    assert [each.pop("schema") for each in (now, was)] == ["glem-search-perft/1", "glem-perft/1"]
    assert all(each.pop("seconds") > 0 for each in (now, was))
    assert was == now
    assert terminal.error.startswith("glem: notice: `glem perft` is called `glem search perft` now\n")


@pytest.mark.parametrize("name", ["power", "players", "strength", "discriminants"])
def test_experiments_that_are_scripts_are_named(name: str, terminal: Terminal) -> None:
    script = terminal.fails("experiment", name, "chess", "--json").rpartition(" ")[2]
    assert (Path(__file__).parents[3] / script).is_file()
