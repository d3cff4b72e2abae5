"""What commands print: progress for a person who watches, JSON for a machine, tables otherwise.

Names in data are shown, never obeyed: control characters become escapes.
"""

import codecs
import contextlib
import io
import json
import logging
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from glem.core.errors import writing
from glem.core.tasks.progress import SILENT, LineProgress, Progress, Task
from glem.core.tasks.tables import Table

_SCHEMA_VERSION = 1
_STANDARD_OUTPUT = "standard output"
_SPELT_OUT = "glem spelt out"
_PLAIN = {"±": "+/-", "−": "-", "–": "-", "²": "^2", "½": "1/2", "“": '"', "”": '"', "…": "..."}
_QUIET, _VERBOSE, _JSON, _NAME = (f"{__name__}.{word}" for word in ("quiet", "verbose", "json", "name"))

# All of C0, C1 and half a surrogate but tab and newline; letters that change the direction of writing hide what
# follows. The three styles of boards are glem's own.
_CONTROL = re.compile(
    r"(?!\x1b\[(?:0|2|32)m)[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Text whose control characters stand as escapes, ``\\x1b`` for instance."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class _Printable:
    """A text stream that writes :func:`printable` text."""

    buffer = None
    """Not the stream's, into which click writes by itself where the encoding is ASCII."""

    def __init__(self, stream: Any, name: str) -> None:
        self.stream = stream
        self._name = name

    def write(self, text: str) -> int:
        with writing(self._name):
            self.stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        with writing(self._name):
            self.stream.flush()

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def raw(stream: Any) -> Any:
    """Give the terminal behind a stream, for those who move its cursor and print only :func:`printable` text."""
    return stream.stream if isinstance(stream, _Printable) else stream


def _spelt_out(error: UnicodeError) -> tuple[str, int]:
    """Write signs that an output has no bytes for in others, or as escapes."""
    assert isinstance(error, UnicodeEncodeError)
    text = "".join(_PLAIN.get(sign, sign) for sign in error.object[error.start : error.end])
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


codecs.register_error(_SPELT_OUT, _spelt_out)


@contextlib.contextmanager
def printable_output() -> Iterator[None]:
    """Let all that is printed meanwhile, on standard output and standard error, be :func:`printable` and have bytes."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_SPELT_OUT)
    sys.stdout = _Printable(_whole(sys.stdout), _STANDARD_OUTPUT)
    sys.stderr = _Printable(sys.stderr, "standard error")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _whole(stream: Any) -> Any:
    """Give a stream that writes all of a text or raises; without a buffer a full disk takes a part in silence."""
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    whole = open(stream.fileno(), "wb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(whole, stream.encoding, _SPELT_OUT, write_through=True, line_buffering=True)


class _BarTask:
    def __init__(self, bar: Any, task: Any) -> None:
        self._bar = bar
        self._task = task

    def advance(self, amount: float = 1) -> None:
        self._bar.advance(self._task, amount)

    def note(self, text: str) -> None:
        self._bar.update(self._task, note=printable(text))


def add_verbosity(command: click.Command) -> None:
    """Give a command, and those below it, the options -q and -v, unless it has them already."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            add_verbosity(inner)
    taken = {
        name
        for option in command.params
        for name in (*option.opts, *option.secondary_opts, *getattr(option, "was", ()))
    }
    if "-q" in taken:
        return
    for short, long, name, key, text in (
        ("-q", "--quiet", "be_quiet", _QUIET, "Print results only: no progress and no warnings."),
        ("-v", "--verbose", "be_verbose", _VERBOSE, "Tell more: files read, what is compiled and where it is kept."),
    ):
        declarations = [name, short, *({long} - taken)]
        command.params.append(
            click.Option(declarations, is_flag=True, expose_value=False, help=text, callback=_noting(key))
        )


def _noting(key: str) -> Any:
    def note(context: click.Context, _option: click.Parameter, given: bool) -> None:
        if given and not context.meta.get(key):
            context.meta[key] = True
            if key == _VERBOSE:
                context.find_root().with_resource(_telling_more())

    return note


ask_for_json = _noting(_JSON)
"""Callback of ``--json``."""


def name_document(words: str) -> None:
    """Let the JSON of the command that runs have the schema of a command of this name."""
    click.get_current_context().meta[_NAME] = words


def _is_given(key: str) -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(key))


def is_quiet() -> bool:
    """Whether the command that runs was asked to print results only."""
    return _is_given(_QUIET)


def prints_json() -> bool:
    """Whether the command that runs was asked for JSON, which is then all that it prints."""
    return _is_given(_JSON)


def tell(text: str) -> None:
    """Say what is no result on standard error, unless only results are wanted."""
    if not is_quiet():
        click.echo(text, err=True)


def tell_note(text: str) -> None:
    """Say what may be wrong with what was given, in the same way."""
    tell(f"note: {text}")


@contextlib.contextmanager
def _telling_more() -> Iterator[None]:
    """Say on standard error what is read and compiled."""
    from numba.core.event import install_listener

    from glem.core.cli.compilations import Compilations
    from glem.core.machine.cache_folder import cache_folder

    log, handler = logging.getLogger("glem"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("glem: %(message)s"))
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.info("machine code is kept in %s", cache_folder() or "memory alone")
    try:
        with install_listener("numba:compile", Compilations(log)):
            yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def display_progress() -> Progress:
    """Bars on standard error when that is a terminal, else plain lines now and then; none with -q, or --json alone."""
    if is_quiet() or (prints_json() and not _is_given(_VERBOSE)):
        return SILENT
    if not sys.stderr.isatty():
        return LineProgress(lambda line: click.echo(f"glem: {line}", err=True))

    @contextlib.contextmanager
    def show(description: str, total: float | None = None) -> Iterator[Task]:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        with Bars(*columns, console=Console(file=raw(sys.stderr)), transient=False) as bar:
            yield _BarTask(bar, bar.add_task(printable(description), total=total, note=""))

    return show


def _finite(value: Any) -> Any:
    """Replace what JSON has no word for: not-a-number and infinity become null."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON document on standard output, with its schema; not-a-number becomes null."""
    names, context = "", click.get_current_context(silent=True)
    was = context.meta.get(_NAME) if context is not None else None
    while context is not None and context.parent is not None:
        names = f"{context.info_name} {names}"
        context = context.parent
    schema = "-".join(["glem", *(was or names).split()])
    document = {"schema": f"{schema}/{_SCHEMA_VERSION}", **_finite(value)}
    # Escapes of JSON's own for what has no bytes, or would be shown in others.
    text = json.dumps(document, indent=2, ensure_ascii="utf" not in (sys.stdout.encoding or "utf").lower())
    click.echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


Told = Iterable[str | Table]
"""What a command tells a person: lines and tables."""


def print_result(data: Mapping[str, Any], told: Told) -> None:
    """Print what a command found, on standard output: with ``--json`` the data, else what is told of it."""
    if prints_json():
        print_json(data)
    else:
        print_told(told)


def print_with_page(data: Mapping[str, Any], told: Told, page: str, report: str | None) -> None:
    """Write the page, if there is to be a report, and print what was found."""
    if report is not None:
        from glem.core.files.atomic import write_text

        write_text(report, page)
        told = (*told, f"wrote {report}")
    print_result(data, told)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out rows as lines: columns as wide as their entries, so that nothing is cut."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def print_told(told: Told) -> None:
    """Print lines and tables on standard output."""
    for part in told:
        if isinstance(part, Table):
            _print_table(part)
        else:
            click.echo(part)


def _print_table(told: Table) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(title=Text(printable(told.title)), title_justify="left")
    for place, name in enumerate(told.header):
        table.add_column(Text(printable(name)), justify="left" if place == 0 else "right")
    for row in told.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # A pipe has no width of its own: wide enough that no cell is cut.
    console = Console(file=raw(sys.stdout), width=None if sys.stdout.isatty() else 200)
    # By itself rich ends with 1, "no", where the reader of the output has gone.
    with writing(_STANDARD_OUTPUT):
        with console.capture() as capture:
            console.print(table)
        raw(sys.stdout).write(capture.get())
        sys.stdout.flush()
