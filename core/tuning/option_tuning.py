"""Tuning the options of an external engine: a search whose iterations go into a journal, and what it has found."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
from attrs import define

from glem.core.files.atomic import write_text
from glem.core.files.json_values import instance_of, reals_of, whole_of
from glem.core.game.game import Game
from glem.core.grading.comparison import Comparison
from glem.core.players.spec import PlayerSpec
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.journal import Journal
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tuning.engine_options import Parameter, space_of, texts_of
from glem.core.tuning.option_comparisons import ByGrade, ByMatch, Gauge
from glem.core.tuning.spsa import Averages, Schedule, Vector, averages, search

JOURNAL, RESULT, OPTIONS, PATHS = "spsa.jsonl", "result.json", "options.txt", "paths.svg"
"""Files in the folder of the work: the iterations; all figures; commands that set the tuned values; a picture."""
_AT_BOUND = 0.02
"""Of the range between the bounds: the value is told to lie at one."""
_KIND, _GAUGE = "spsa", "gauge"


@define(frozen=True, eq=False)
class OptionsTuning:
    """Options of an engine that were tuned.

    Parameters
    ----------
    game
        Name of the game.
    spec
        The engine, without the options that were tuned.
    parameters
        What was tuned, P options.
    path
        float64 [N + 1, P]: values before and after each iteration.
    values, errors
        float64 [P]: see :func:`~glem.core.tuning.spsa.averages`.
    check
        Tuned values against those to begin with on held-out games; None without such games.
    notes
        What a reader should know, one sentence each.
    """

    game: str
    spec: PlayerSpec
    parameters: Sequence[Parameter]
    schedule: Schedule
    path: Vector
    values: Vector
    errors: Vector
    check: Comparison | None = None
    notes: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, str]:
        """Tuned values as the engine reads them, rounded."""
        return texts_of(self.parameters, self.values)

    def setoption_lines(self) -> list[str]:
        """Commands that set the tuned values."""
        return [f"setoption name {name} value {value}" for name, value in self.options.items()]

    def player_text(self, name: str, options: dict[str, str]) -> str:
        """Text of the engine as a player of some name, with these values of the tuned options."""
        limits = attrs.asdict(self.spec.limits, recurse=False)
        told = [f"{limit}={value:g}" for limit, value in limits.items() if isinstance(value, int | float)]
        clock = self.spec.limits.clock
        if clock is not None:
            told.append(f"clock={clock.remaining:g}" + (f"+{clock.increment:g}" if clock.increment else ""))
        pairs = (f"{option}={value}" for option, value in {**dict(self.spec.options), **options}.items())
        return ",".join([self.spec.evaluation, f"name={name}", *told, *pairs])

    def write(self, folder: Path) -> None:
        """Write :data:`RESULT` and :data:`OPTIONS` into a folder."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        for name, content in ((RESULT, text), (OPTIONS, "\n".join(self.setoption_lines()) + "\n")):
            write_text(folder / name, content)

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        figures = (self.values.tolist(), self.errors.tolist(), self.path[-1].tolist(), self.options.values())
        return {
            "game": self.game,
            "player": self.spec.to_json(),
            **attrs.asdict(self.schedule),
            "parameters": [
                {
                    **attrs.asdict(one),
                    "value": value,
                    "error": error if math.isfinite(error) else None,
                    "last": last,
                    "rounded": text,
                }
                for one, value, error, last, text in zip(self.parameters, *figures, strict=True)
            ],
            "setoption": self.setoption_lines(),
            "check": None if self.check is None else {**attrs.asdict(self.check), "verdict": self.check.verdict},
            "notes": self.notes,
        }


def _notes(spec: PlayerSpec, parameters: Sequence[Parameter], found: Averages) -> list[str]:
    notes = []
    values = zip(parameters, found.values.tolist(), found.errors.tolist(), strict=True)
    known = [(each, value, math.isfinite(error)) for each, value, error in values]
    unknown = ", ".join(each.name for each, _, is_known in known if not is_known)
    if unknown:
        notes.append(
            f"{unknown}: no error can be told, since the values did not settle around an optimum; take more "
            "iterations, a larger batch, or a greater C_END or R_END"
        )
    ends = ", ".join(
        each.name
        for each, value, _ in known
        if not each.is_check and min(value - each.low, each.high - value) < _AT_BOUND * (each.high - each.low)
    )
    if ends:
        notes.append(f"{ends}: the value lies at a bound; better ones may lie beyond")
    if spec.limits.nodes is None and spec.limits.depth is None:
        notes.append("the engine is limited by time alone: another run gives other results")
    return notes


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder, and remove it again where nothing came into it."""
    folder.mkdir(exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()


def _read(line: Any) -> Any:
    """Read a line of the journal: the gauge, or an iteration."""
    if _GAUGE in line:
        return instance_of(Gauge, line[_GAUGE])
    numbers = {name: reals_of(line[name]) for name in ("values", "outcomes")}
    return {"iteration": whole_of(line["iteration"]), **numbers}


def tune(
    game: Game,
    spec: PlayerSpec,
    parameters: Sequence[Parameter],
    schedule: Schedule,
    comparing: ByGrade | ByMatch,
    folder: Path,
    *,
    held_out: Positions | None = None,
    progress: Progress = SILENT,
) -> OptionsTuning:
    """Tune options, or go on where the same work in the folder ended.

    Parameters
    ----------
    spec
        The engine.
    comparing
        How values are compared.
    folder
        Where the journal is; made if absent, its parent exists.
    held_out
        Positions by which tuned values are checked; None for no check.

    Raises
    ------
    BadInputError
        The folder holds other work, or the engine tells no scores.
    """
    settings = {
        "game": game.name,
        "player": spec.to_json(),
        "parameters": [attrs.asdict(each) for each in parameters],
        "schedule": attrs.asdict(schedule),
        **comparing.settings(),
    }
    space = space_of(parameters)
    with ExitStack() as stack:
        stack.enter_context(_made(folder))
        stack.callback(comparing.close)
        journal = stack.enter_context(Journal(folder / JOURNAL, _KIND, settings))
        records = journal.records(_read)
        if isinstance(comparing, ByGrade):
            comparing.gauge = next(records, None)
            if comparing.gauge is None:
                journal.append({_GAUGE: attrs.asdict(comparing.calibrate(schedule))})
        names = [each.name for each in parameters]
        path = search(space, schedule, comparing, names=names, known=records, keep=journal.append, progress=progress)
        found = averages(space, schedule, path)
        check = None
        if held_out is not None and len(held_out) and isinstance(comparing, ByGrade):
            with progress("Checking", 1):
                check = comparing.check(held_out, found.values, schedule.seed)
    notes = _notes(spec, parameters, found)
    if comparing.failures:
        notes.append(f"the engine failed {counted(comparing.failures, 'time')} since this command began")
    return OptionsTuning(
        game.name, spec, tuple(parameters), schedule, path, found.values, found.errors, check, tuple(notes)
    )
