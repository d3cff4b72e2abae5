"""What a fitter is, what it is run with, what it gives, and how it is found by name. Nothing here imports numpy."""

from __future__ import annotations

import abc
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import define, field

from glem.core.errors import BadInputError, likely
from glem.core.game.registry import load_plugin, plugin_names
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.settings import made_of
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.evaluation.with_drawishness import ResultEvaluation
    from glem.core.features.learning import Learning
    from glem.core.tasks.tasks import Workers

GROUP = "glem.fitters"
"""Entry-point group of the fitters of installed packages."""


@define(frozen=True)
class Run:
    """What every fit is run with.

    Parameters
    ----------
    output
        Evaluation file that will be written, or None. The folder of unfinished work lies beside it.
    seed
        Of all that is random.
    jobs
        Threads; they change no result.
    progress
        Display.
    provenance
        What the evaluation is to say of the data that it was fitted to.
    files
        The same of the files, in the form of :mod:`~glem.core.evaluation.provenance`.
    workers
        Those of a scheduler, which have the positions and give sums, or None; they change no result.
    """

    output: str | os.PathLike[str] | None = None
    seed: int = 0
    jobs: int = 1
    progress: Progress = SILENT
    provenance: Mapping[str, str] = field(factory=dict)
    files: Mapping[str, str] = field(factory=dict)
    workers: Workers | None = None
    _open: ExitStack = field(factory=ExitStack, init=False, repr=False, eq=False)

    def work(self, described: Mapping[str, Any]) -> Path | None:
        """Open the folder for the state of this fit, which stays if the fit does not end; None without an output.

        Parameters
        ----------
        described
            All that tells this fit from others: a folder with another description is refused.
        """
        from glem.core.tasks.run_folder import run_folder

        if self.output is None:
            return None
        return self._open.enter_context(run_folder(Path(f"{os.fspath(self.output)}.work"), described))

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._open.__exit__(*raised)


@define(frozen=True, eq=False, repr=False)
class Fit:
    """An evaluation, and how its fit went; prints itself.

    Parameters
    ----------
    evaluation
        The evaluation.
    course
        Figures of the fit of each phase, or of all together; None for a phase without a fit of its own.
        ``training`` and ``validation`` are root mean square errors at the start and after each iteration, ``best`` is
        the iteration that was kept, ``reason`` why it stopped, ``penalty`` that of its weights; all but the first may
        be missing. ``weights`` and ``errors`` are by name, with ``games`` and ``log_loss``.
    warnings
        What a user should know.
    """

    evaluation: LinearEvaluation | ResultEvaluation
    course: tuple[Mapping[str, Any] | None, ...] = ()
    warnings: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        phases = len(self.evaluation.learning.phases) if hasattr(self.evaluation, "learning") else 0
        if not phases:
            kind = type(self.evaluation).__name__
            raise BadInputError(f"a Fit has a LinearEvaluation or a ResultEvaluation, got a {kind}")
        given: Any = self.warnings
        if isinstance(given, str) or len(self.course) not in {0, 1, phases}:
            raise BadInputError(f"a Fit has a list of warnings and a course of 1 or {phases} mappings")
        for each in self.course:
            best = 0 if each is None else each.get("best", 0)
            if each is not None and "training" in each and not 0 <= best < len(each["training"]):
                raise BadInputError(f"the course of a fit has its best iteration {best} among its training errors")

    def lines(self) -> Iterator[str | Table]:
        """Say how the fit went, phase by phase."""
        phases = self.evaluation.learning.phases.names
        names = phases if len(self.course) > 1 else ("all phases",)
        # A curve is a line, weights are a column of a table.
        weighted = [(name, one) for name, one in zip(phases, self.course, strict=False) if one and "weights" in one]
        if weighted:
            terms = list(weighted[0][1]["weights"])
            yield Table(
                "Weights in log odds, with standard errors by game",
                ("", *(name for name, _ in weighted)),
                [
                    ("games", *(f"{one['games']:,}" for _, one in weighted)),
                    ("log loss", *(f"{one['log_loss']:.4f}" for _, one in weighted)),
                    *(
                        (term, *(f"{one['weights'][term]:+.3f} ± {one['errors'][term]:.3f}" for _, one in weighted))
                        for term in terms
                    ),
                ],
            )
        elif any(one is None or "training" in one for one in self.course):
            for name, one in zip(names, self.course, strict=True):
                yield f"{name:>10}: {'no positions' if one is None else _curve(one)}"

    def as_json(self) -> dict[str, Any]:
        """Figures of the fit as ``glem fit --json`` prints them."""
        return {"fits": self.course}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.evaluation!r})"

    def __str__(self) -> str:
        lines = (
            "\n".join([line.title, *("  ".join(row) for row in (line.header, *line.rows))])
            if isinstance(line, Table)
            else line
            for line in self.lines()
        )
        return "\n".join([repr(self.evaluation), *lines, *(f"warning: {warning}" for warning in self.warnings)])


def _curve(figures: Mapping[str, Any]) -> str:
    training, validation = figures["training"], figures.get("validation", ())
    best = figures.get("best", len(training) - 1)
    text = f"penalty {figures['penalty']:.3g}, " if figures.get("penalty") else ""
    text += f"root mean square error {training[0]:.4f} at the start, {training[best]:.4f} after iteration {best}"
    # Not a number without validation.
    if len(validation) > best and validation[best] == validation[best]:
        text += f", {validation[best]:.4f} on held-out games"
    return text + (f", {figures['reason']}" if "reason" in figures else "")


class Fitter(abc.ABC):
    """Learns an evaluation from positions. An attrs class: its fields are its settings.

    Fields made by :func:`~glem.core.tasks.settings.setting`, and what the docstring says of them, become options of
    ``glem fit NAME``, are validated where the fitter is made, and can be given to ``glem.fit``. Derived classes are
    decorated with ``attrs.define(frozen=True, slots=False)``.

    Attributes
    ----------
    name
        How it is called.
    streams
        Whether :meth:`fit` takes files of positions part by part; else it gets them in memory.
    from_games
        Whether it learns from files of games and their results instead.
    uses_workers
        Whether it lets those of a scheduler do the work.
    """

    name: ClassVar[str]
    streams: ClassVar[bool] = False
    from_games: ClassVar[bool] = False
    uses_workers: ClassVar[bool] = False

    @abc.abstractmethod
    def fit(self, data: Any, learning: Learning, run: Run) -> Fit:
        """Learn an evaluation.

        Parameters
        ----------
        data
            :class:`~glem.core.positions.positions.Positions`, at least one; a fitter that streams may get
            :class:`~glem.core.positions.files.PositionFiles` instead, one that learns from games gets
            :class:`~glem.core.discovery.game_positions.Games`.
        learning
            Features, phases and patterns of their game.
        run
            Seed, threads, progress and the folder for unfinished work.

        Raises
        ------
        BadInputError
            The data or settings do not suit.
        """


def fitter_names() -> list[str]:
    """Names of the installed fitters; none is imported."""
    return plugin_names(GROUP)


def is_fitter_name(text: str) -> bool:
    """Whether a text names an installed fitter, or a class in a file as ``FILE.py:CLASS``."""
    return ".py:" in text or text in fitter_names()


def check_fitter_or_file(word: str) -> None:
    """Refuse the first word after ``glem fit`` where it is neither a fitter nor may be a file of positions.

    Raises
    ------
    BadInputError
        It may be a misspelt name, or a file of Python without a class.
    """
    suffix = Path(word).suffix
    if is_fitter_name(word) or word.startswith("-") or (suffix != ".py" and (suffix or Path(word).exists())):
        return
    if suffix == ".py":
        raise BadInputError(f"{word}: name the fitter that is in it, {word}:CLASS")
    known = fitter_names()
    hint = likely(word, known)
    every = ", ".join([*known, "FILE.py:CLASS"])
    raise BadInputError(f"there is no fitter {word!r}, nor such a file{f'; {hint}' if hint else '.'} Fitters: {every}")


def load_fitter(name: str) -> type[Fitter]:
    """Load the class of a fitter: an installed one, or that of a file of the user's, ``FILE.py:CLASS``.

    Raises
    ------
    BadInputError
        The file cannot be loaded or has no such fitter.
    PluginError
        There is no such fitter, or it cannot be loaded.
    """
    if ".py:" in name:
        from glem.core.features.functions import load_function

        found: Any = load_function(name)
    else:
        found = load_plugin(GROUP, name, type)
    if not (isinstance(found, type) and issubclass(found, Fitter)):
        raise BadInputError(f"{name} is no fitter: let it be a class that derives from glem.Fitter")
    if not hasattr(found, "__attrs_attrs__") or getattr(found, "__abstractmethods__", None):
        raise BadInputError(f"{name} is no whole fitter: decorate it with attrs.define, and give it a method fit")
    if not isinstance(getattr(found, "name", None), str):
        raise BadInputError(f"{name} has no name: set one in the class, name = {found.__name__.lower()!r}")
    return found


def fitter_of(fitter: str | Fitter, settings: Mapping[str, Any]) -> Fitter:
    """Give a fitter as it is, or make one of its name and settings.

    Raises
    ------
    BadInputError
        It is none, has no such setting, or has settings already.
    """
    if isinstance(fitter, Fitter):
        if settings:
            raise BadInputError(f"{fitter!r} has its settings already; leave out {', '.join(settings)}")
        return fitter
    if not isinstance(fitter, str):
        raise BadInputError(f"fitter is {fitter!r}, expected a name ({', '.join(fitter_names())}) or a Fitter")
    made: Fitter = made_of(load_fitter(fitter), settings)
    return made
