"""``glem fit``: a command for each fitter, with the options that its class describes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import add_verbosity, display_progress, print_result, tell
from glem.core.cli.options.described import described
from glem.core.cli.outputs import check_outputs
from glem.core.fitting.fitters.by_scores import LeastSquares
from glem.core.fitting.fitters.fitter import Fitter, check_fitter_or_file, fitter_names, is_fitter_name, load_fitter
from glem.core.tasks.settings import text_of

if TYPE_CHECKING:
    from glem.core.tasks.tasks import Workers

_LIKELIHOOD = "likelihood"
_LATER = """
Interrupted or killed, the same command continues; the state of the unfinished fit lies beside the output in a folder
that ends in .work.
"""
_OLD_METHODS = {"conjugate": ("least-squares",), "descent": ("least-squares", "--minimizer", "descent")}


class _Fit(options.Command):
    """Finds the fitter whose name is the first argument, and hands the others on to its command."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        words = _without_method(list(args))
        chosen = self.chosen(words)
        if chosen is self:
            return super().make_context(info_name, words, parent, **extra)
        return chosen.make_context(f"{info_name} {shlex.quote(words[0])}", words[1:], parent, **extra)

    def chosen(self, words: list[str]) -> click.Command:
        """Make the command of the fitter that the first word names; this one where it names none."""
        if words[:1] == [_LIKELIHOOD]:  # by an old name: else the group of commands has found it
            from glem.core.cli.fit_likelihood import command

            return command
        if words:
            check_fitter_or_file(words[0])
        return _command_of(load_fitter(words[0]), words[0]) if words and is_fitter_name(words[0]) else self


def _without_method(words: list[str]) -> list[str]:
    """Put what ``--method`` named to the front, as it is written now; goes in the next version."""
    for place, word in enumerate(words):
        name, equals, method = word.partition("=")
        if word == "--":
            break
        if name == "--method" and (equals or place + 1 < len(words)):
            method = method or words[place + 1]
            now = _OLD_METHODS.get(method, (method,))
            tell(f"glem: notice: `--method {method}` is called `glem fit {' '.join(now)}` now")
            return [*now, *words[:place], *words[place + (1 if equals else 2) :]]
    return words


def _command_of(kind: type[Fitter], name: str, *examples: str, about: str = "", fitter: str = "") -> options.Command:
    """Make the command of a fitter, or of all, whose help says more and where a fitter may be named."""

    @options.command(
        name,
        *(examples or (f"fit {name} positions.parquet -o model.npz",)),
        cls=_Fit if fitter else options.Command,
        help=f"{about}{text_of(kind)}\n{_LATER}",
    )
    @options.argument("files", nargs=-1, required=True, metavar=f"{fitter}POSITIONS...", type=options.INPUT)
    @options.evaluation_output
    @described(kind)
    @options.seed
    @options.jobs
    @options.memory
    @options.together(*([options.fitting_workers] if kind.uses_workers else []))
    def command(
        files: tuple[str, ...], output: str, seed: int, jobs: int, workers: Workers | None = None, **settings: Any
    ) -> None:
        from glem.core.positions.files import PositionFiles
        from glem.functions import fit

        options.refuse_equal_files(files)
        check_outputs(output, folders=[f"{output}.work"])
        count = len(PositionFiles.of(files))
        how: dict[str, Any] = {"output": output, "seed": seed, "workers": workers, "jobs": jobs}
        found = fit(files, kind(**settings), **how, progress=display_progress())
        for warning in found.warnings:
            tell(f"glem: warning: {warning}")
        print_result({"output": output, "positions": count, **found.as_json()}, (*found.lines(), f"wrote {output}"))

    add_verbosity(command)
    return command


def _whole() -> options.Command:
    """Make the command for all fitters: its options are those of the one that is used where none is named."""
    about = (
        "Fit an evaluation to POSITIONS (Parquet), by the fitter whose name stands before them, each with its own "
        f"options (glem fit NAME --help): {', '.join(fitter_names())}; or by one of yours, FILE.py:CLASS. Without a "
        "name it is least-squares, whose options these are.\n\n"
    )
    examples = "fit positions.parquet -o model.npz", "fit network positions.parquet --hidden 64 -o layer.npz"
    return _command_of(LeastSquares, "fit", *examples, about=about, fitter="[FITTER] ")


command = _whole()
