"""Changes to an evaluation, written as text: what a programmer would try next (step 2 of Ban 2012, algorithm 3).

A candidate is a line ``[NAME:] CHANGE [; CHANGE]...``; what follows ``#`` is a remark. A change is

=============================== ==============================================================
``scale FEATURE FACTOR``        multiply the weight
``shift FEATURE AMOUNT``        add to the weight
``set FEATURE WEIGHT``          replace the weight; the feature must be there
``drop FEATURE``                take the feature out
``add FEATURE WEIGHT``          let a feature in that the evaluation does not have yet
``fit FEATURE...``              fit the weights to the tuning games, all else as it is
=============================== ==============================================================

with ``in phase N`` or ``in phases N-M`` behind it for some of the game's phases, by number from 0 or by name, and with
``drawishness`` before it for a weight of the drawishness. ``FEATURE`` is a name, several with ``*`` and ``?`` in it, or
``bias``. After ``fit`` it may also be a feature that the evaluation does not have yet; changes that begin with ``fit``
and follow each other are fitted together.
"""

import difflib
import fnmatch
import itertools
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import Learning
from glem.core.fitting.likelihood import BIAS, widened
from glem.core.game.whole_numbers import whole_number

_DRAWISHNESS = "drawishness"
_NUMBERED = ("scale", "shift", "set", "add")
_VERBS = (*_NUMBERED, "drop", "fit")
_LARGEST_FILE = 16 << 20

Refit: TypeAlias = Callable[[ResultEvaluation, tuple[str, ...], tuple[str, ...]], ResultEvaluation]
"""Fits features of the value and of the drawishness of an evaluation to the tuning games."""


@define(frozen=True)
class Change:
    """A change to some weights.

    Parameters
    ----------
    verb
        ``scale``, ``shift``, ``set``, ``add``, ``drop`` or ``fit``.
    features
        Names, or patterns of names; one but for ``fit``.
    number
        Factor, amount or weight; nan where the verb has none.
    phases
        First and last phase as they were written, both inclusive; None for all.
    part
        Whose weights: of the ``value`` or the ``drawishness``.
    """

    verb: str
    features: tuple[str, ...]
    number: float = math.nan
    phases: tuple[str, str] | None = None
    part: str = "value"


@define(frozen=True)
class CandidateChange:
    """A candidate: the changes that make it out of the baseline.

    Parameters
    ----------
    name
        For people; the text itself where none was given.
    text
        As it was written.
    changes
        In their order.
    place
        File and line, for errors.
    """

    name: str
    text: str
    changes: tuple[Change, ...]
    place: str

    @property
    def is_fitted(self) -> bool:
        """Whether it needs tuning games."""
        return any(change.verb == "fit" for change in self.changes)


def read_candidates(path: str | os.PathLike[str]) -> tuple[CandidateChange, ...]:
    """Read a file of candidates, one a line.

    Raises
    ------
    BadInputError
        The file cannot be read, holds no candidate, or a line is none; the text names file and line.
    """
    source = Path(path)
    with reading(source, "changes in UTF-8"):
        if source.stat().st_size > _LARGEST_FILE:
            raise BadInputError(f"larger than {_LARGEST_FILE} bytes, no file of changes")
        lines = source.read_text("utf-8-sig").splitlines()
    found = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            found.append(parse_candidate(text, f"{source}:{number}"))
    if not found:
        raise BadInputError(f"{source}: no changes, expected lines such as: scale mobility 1.2")
    return tuple(found)


def parse_candidate(text: str, place: str) -> CandidateChange:
    """Read a candidate.

    Parameters
    ----------
    text
        As in the description of this module.
    place
        Where it stands, for errors.
    """
    name, colon, rest = text.partition(":")
    if not colon:
        name, rest = text, text
    with reading(place):
        changes = tuple(_parse_change(part.split(), part.strip()) for part in rest.split(";") if part.strip())
        if not changes or not name.strip():
            raise BadInputError(f"no change in {text!r}, expected for instance: scale mobility 1.2")
    return CandidateChange(name.strip(), text.strip(), changes, place)


def _parse_change(words: list[str], text: str) -> Change:
    part = _DRAWISHNESS if words[0] == _DRAWISHNESS else "value"
    words = words[part == _DRAWISHNESS :]
    phases = None
    if len(words) >= 3 and words[-3] == "in" and words[-2] in ("phase", "phases"):
        low, dash, high = words[-1].partition("-") if words[-2] == "phases" else (words[-1], "", "")
        phases = (low, high if dash else low)
        words = words[:-3]
    verb = words[0] if words else ""
    if verb not in _VERBS:
        raise BadInputError(f"{text!r} begins with none of {', '.join(_VERBS)}")
    if verb == "fit":
        if len(words) < 2 or phases is not None:
            raise BadInputError(f"{text!r} should be: fit FEATURE..., in all phases")
        return Change(verb, tuple(words[1:]), part=part)
    is_numbered = verb in _NUMBERED
    if len(words) != 2 + is_numbered:
        shape = f"{verb} FEATURE" + " NUMBER" * is_numbered
        raise BadInputError(f"{text!r} should be: {shape} [in phase N | in phases N-M]")
    number = math.nan
    if is_numbered:
        try:
            number = float(words[2])
        except ValueError:
            raise BadInputError(f"{words[2]!r} in {text!r} is no number") from None
        if not math.isfinite(number):
            raise BadInputError(f"{words[2]!r} in {text!r} is not finite")
    return Change(verb, (words[1],), number, phases, part)


def check_candidates(
    candidates: Sequence[CandidateChange], evaluation: ResultEvaluation, others: Sequence[ResultEvaluation] = ()
) -> None:
    """Refuse candidates that can never be made, before the first is tried.

    Parameters
    ----------
    candidates
        In their order.
    evaluation
        The first baseline.
    others
        What may be the baseline before the first of them.

    Raises
    ------
    BadInputError
        A candidate can be made neither out of one of these evaluations nor out of what those before it lead to.
    """
    reached = evaluation
    for candidate in candidates:
        for base in (reached, *others):
            try:
                reached = apply_changes(candidate, base, _with_features)
                break
            except BadInputError:
                continue
        else:
            apply_changes(candidate, evaluation, _with_features)


def _with_features(
    evaluation: ResultEvaluation, names: tuple[str, ...], drawishness_names: tuple[str, ...]
) -> ResultEvaluation:
    """Take features in that are to be fitted, with weights 0."""
    value, drawn = ((name for name in each if name != BIAS) for each in (names, drawishness_names))
    return evolve(
        evaluation, value=widened(evaluation.value, value), drawishness=widened(evaluation.drawishness, drawn)
    )


def apply_changes(candidate: CandidateChange, evaluation: ResultEvaluation, refit: Refit | None) -> ResultEvaluation:
    """Make a candidate out of the baseline.

    Parameters
    ----------
    candidate
        What to change.
    evaluation
        The baseline.
    refit
        Fits weights to the tuning games; None where there are none.

    Raises
    ------
    BadInputError
        A feature or phase is unknown, is not there to be changed or is there already, or there are no tuning games.
    """
    for verb, group in itertools.groupby(candidate.changes, lambda change: change.verb):
        if verb == "fit":
            with reading(candidate.place):
                names = _fitted_names(evaluation, list(group))
                if refit is None:
                    raise BadInputError("there are no games to fit to; name --tuning files or --held-out")
            evaluation = refit(evaluation, *names)
            continue
        for change in group:
            with reading(candidate.place):
                changed: Any = {change.part: _changed(getattr(evaluation, change.part), change)}
                evaluation = evolve(evaluation, **changed)
    return evaluation


def _fitted_names(evaluation: ResultEvaluation, changes: Sequence[Change]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of what is to be fitted together of the value and of the drawishness."""
    names: dict[str, dict[str, None]] = {"value": {}, _DRAWISHNESS: {}}
    for change in changes:
        part: LinearEvaluation = getattr(evaluation, change.part)
        known = [feature.name for feature in part.learning.features.features]
        for pattern in change.features:
            # A feature may be one that the evaluation does not have yet.
            found = (pattern,) if pattern == BIAS or pattern in known else _matching(pattern, part)
            names[change.part].update(dict.fromkeys(found))
    return tuple(names["value"]), tuple(names[_DRAWISHNESS])


def _changed(part: LinearEvaluation, change: Change) -> LinearEvaluation:
    phases = _phases(part.learning, change)
    pattern = change.features[0]
    if pattern == BIAS:
        if change.verb in ("add", "drop"):
            raise BadInputError(f"{change.verb} {BIAS}: the bias is always there; use set or shift")
        bias = part.bias.copy()
        _alter(bias, phases, change)
        return evolve(part, bias=bias)
    if change.verb == "add":
        return _with_feature(part, pattern, change, phases)
    features = part.learning.features
    places = [part.linear.index(features.index(name)) for name in _matching(pattern, part)]
    if change.verb == "drop" and change.phases is None:
        kept = [place for place in range(len(part.linear)) if place not in places]
        return evolve(
            part,
            linear=tuple(part.linear[place] for place in kept),
            linear_weights=np.ascontiguousarray(part.linear_weights[:, kept]),
        )
    weights = part.linear_weights.copy()
    for place in places:
        _alter(weights[:, place], phases, change)
    return evolve(part, linear_weights=weights)


def _alter(weights: NDArray[np.float32], phases: slice, change: Change) -> None:
    """Change weights [K] of some phases in place."""
    number = np.float32(change.number)
    if change.verb == "scale":
        weights[phases] *= number
    elif change.verb == "shift":
        weights[phases] += number
    else:
        weights[phases] = number if change.verb == "set" else 0.0


def _with_feature(part: LinearEvaluation, name: str, change: Change, phases: slice) -> LinearEvaluation:
    features = part.learning.features
    known = [feature.name for feature in features.features]
    if name not in known:
        raise BadInputError(f"{part.learning.game.name} has no feature {name!r}{_likely(name, known)}")
    if features.index(name) in part.linear:
        raise BadInputError(f"{name} is in the evaluation already; use set, scale or shift")
    added = widened(part, (name,))
    added.linear_weights[phases, -1] = change.number
    return added


def _matching(pattern: str, part: LinearEvaluation) -> tuple[str, ...]:
    """Names of the evaluation's features that a pattern means."""
    features = part.learning.features
    names = tuple(name for name in (features[at].name for at in part.linear) if fnmatch.fnmatchcase(name, pattern))
    if not names:
        known = [feature.name for feature in features.features]
        where = "the evaluation has it not" if pattern in known else f"no such feature{_likely(pattern, known)}"
        raise BadInputError(f"{pattern!r}: {where}")
    return names


def _likely(name: str, known: Sequence[str]) -> str:
    likely = difflib.get_close_matches(name, known, 3)
    return f"; did you mean {', '.join(likely)}?" if likely else ""


def _phases(learning: Learning, change: Change) -> slice:
    names = learning.phases.names
    if change.phases is None:
        return slice(0, len(names))
    numbers = []
    for text in change.phases:
        if text in names:
            numbers.append(names.index(text))
        elif (number := whole_number(text, 0, len(names) - 1)) is not None:
            numbers.append(number)
        else:
            listed = ", ".join(f"{number} ({name})" for number, name in enumerate(names))
            raise BadInputError(f"no phase {text!r}; there are {listed}")
    if numbers[0] > numbers[1]:
        raise BadInputError(f"phases {'-'.join(change.phases)} run backwards")
    return slice(numbers[0], numbers[1] + 1)
