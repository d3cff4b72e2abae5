"""Features of a user's own, in a file that the user names: functions of a position, marked by :func:`feature`.

A file is imported once. Evaluation files hold the digest of its text, and only what the user has named is found by it.
"""

import contextlib
import hashlib
import inspect
import os
import random
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from glem.core.errors import BadInputError, likely
from glem.core.features.features import AtomicFeature, FeatureSource, OwnFeature
from glem.core.features.functions import failure_of, load_file
from glem.core.game.families import family_names
from glem.core.game.game import Game, game_names
from glem.core.tasks.run_folder import PROCESS_SETTINGS
from glem.core.tasks.tasks import CARRIED

_DIGITS = 16
_LONGEST_SHOWN = 200
_TRIED_GAMES = 2
_TRIED_PLIES = 120
_OWN = "own_feature"

_known: dict[str, FeatureSource] = {}
"""Sources that this process has loaded, by digest."""

_used: tuple[FeatureSource, ...] = ()
"""Those whose features every loaded Learning has."""


def feature(
    game: str,
    low: int,
    high: int,
    *,
    linear: bool = False,
    value_names: Sequence[str] = (),
    group: str = "",
    example: str = "",
) -> Callable[[Callable[[Any], int]], Callable[[Any], int]]:
    """Mark a function of a position as an atomic feature: its name is the feature's, its docstring the description.

    The function is dual: plain Python that numba compiles, where it can. It returns a whole number, the same for mirror
    images of a position.

    Parameters
    ----------
    game
        Name of the game.
    low, high
        Least and greatest value.
    linear
        Whether it also enters linearly, as weight times value.
    value_names
        Name of each value from ``low`` to ``high``, or empty.
    group
        Name by which features are chosen together; by default the name of the file.
    example
        A position, as the game writes it, in which it is greater than 0; for pictures.

    Raises
    ------
    BadInputError
        The range is none, or the names do not fit it.
    """

    def mark(function: Callable[[Any], int]) -> Callable[[Any], int]:
        text = " ".join((inspect.getdoc(function) or function.__name__).split("\n\n")[0].split())
        own_group = group or Path(function.__code__.co_filename).stem
        made = AtomicFeature(
            function.__name__, low, high, text, tuple(value_names), group=own_group, example=example
        )  # fmt: skip
        setattr(function, _OWN, OwnFeature(game, made, function, linear))
        return function

    return mark


def load_features(path: str | os.PathLike[str]) -> FeatureSource:
    """Import the features of a file; the same value while the file stays as it is.

    Raises
    ------
    BadInputError
        There is no such file, it cannot be imported, or it marks no function.
    """
    file = Path(path).resolve()
    if file.suffix != ".py":
        raise BadInputError(f"{os.fspath(path)}: features are read from a file of Python, FILE.py")
    try:
        text = file.read_bytes()
    except OSError as error:
        raise BadInputError(f"{os.fspath(path)}: {error.strerror or error}") from error
    digest = hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest()[:_DIGITS]
    known = _known.get(digest)
    if known is None:
        # Files of one name, and what a file was before a change, are modules of their own.
        module = load_file(file, f"{file.stem}_{digest}")
        marked = {id(value): getattr(value, _OWN) for value in vars(module).values() if hasattr(value, _OWN)}
        known = FeatureSource(str(file), digest, tuple(marked.values()))
        for own in known.features:
            names = (*game_names(), *family_names())
            if own.game.partition(":")[0] not in names:
                hint = likely(own.game, names, f"there are: {', '.join(names)}")
                raise BadInputError(
                    f"{file}: feature {own.feature.name!r} is of {own.game!r}, no installed game; {hint}"
                )
    return known if known.file == str(file) and digest in _known else _know(evolve(known, file=str(file)))


def source_of(functions: Iterable[Any]) -> FeatureSource:
    """Make a source of marked functions, those of a notebook for instance."""
    given = list(functions)
    for function in given:
        if not hasattr(function, _OWN):
            raise BadInputError(
                f"{getattr(function, '__name__', function)!r} is no feature: mark it with @glem.feature"
            )
    text = "\n".join(map(inspect.getsource, given))
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    return _know(FeatureSource("", digest, tuple(getattr(function, _OWN) for function in given)))


def _know(source: FeatureSource) -> FeatureSource:
    if not source.features:
        raise BadInputError(f"{source.name}: has no features: mark functions with @glem.feature(GAME, LOW, HIGH)")
    _known[source.digest] = source
    _tell_workers()
    return source


def use(sources: Iterable[FeatureSource]) -> tuple[FeatureSource, ...]:
    """Add the features of these sources, and no others, to every Learning that is loaded; return what was before."""
    global _used
    before, _used = _used, tuple(dict.fromkeys(sources))
    _tell_workers()
    return before


def used() -> tuple[FeatureSource, ...]:
    """List the sources whose features every Learning of this process has."""
    return _used


def used_of(game: str) -> tuple[FeatureSource, ...]:
    """List those of them that have features of a game."""
    return tuple(source for source in _used if source.of(game))


def _tell_workers() -> None:
    used_digests = [source.digest for source in _used]
    CARRIED[_use_in_worker] = [(source.file, source.digest) for source in _known.values()], used_digests
    PROCESS_SETTINGS["features"] = used_digests


@contextlib.contextmanager
def _use_in_worker(given: tuple[Sequence[tuple[str, str]], Sequence[str]]) -> Iterator[None]:
    """Load and use what another process has loaded and uses; functions that came from no file stay there."""
    sources, used_digests = given
    for file, digest in sources:
        if not file or digest in _known:
            continue
        try:
            is_same = load_features(file).digest == digest
        except BadInputError:
            is_same = False
        # Whether this work needs a file that is loaded but not used, only an evaluation that was made with it can say.
        if not is_same and digest in used_digests:
            raise BadInputError(f"{file}: has changed since the work began")
    use(_known[digest] for digest in used_digests if digest in _known)
    try:
        yield
    except Exception as error:
        # Tracebacks stay here.
        if told := failure_in_features(error):
            raise BadInputError(told) from error
        raise


def failure_in_features(error: Exception) -> str:
    """Say which feature an error came from, out of compiled code too; empty if from none of a file."""
    newest_first = list(reversed(_known.values()))
    for place in reversed(traceback.extract_tb(error.__traceback__)):
        # The file itself, else the last of its name: machine code that was kept may know the folder where it lay once.
        for source in sorted(newest_first, key=lambda source: source.file != place.filename):
            if Path(source.file).name == Path(place.filename).name:
                named = place.name in (own.feature.name for own in source.features)
                what = f"feature {place.name!r}" if named else "a feature"
                return f"{source.name}: {what} fails: {failure_of(error)}"
    return ""


def described_sources(sources: Iterable[FeatureSource], game: str) -> list[dict[str, Any]]:
    """Describe sources for the header of a file, of which :func:`sources_of` finds them again."""
    return [
        {
            "file": Path(source.file).name,
            "digest": source.digest,
            "names": [own.feature.name for own in source.of(game)],
        }
        for source in sources
    ]


def sources_of(place: str | os.PathLike[str], described: Iterable[Any]) -> tuple[FeatureSource, ...]:
    """Find the sources that a file was made with, among those that the user has named.

    Raises
    ------
    BadInputError
        One is missing, or its text is another now.
    """
    found = []
    for told in described:
        names = ", ".join(map(str, told["names"]))[:_LONGEST_SHOWN]
        digest, file = str(told["digest"])[:_DIGITS], str(told["file"])[:_LONGEST_SHOWN]
        if digest not in _known:
            others = [source for source in _known.values() if _may_stand_for(source, file, told["names"])]
            if others and file:
                raise BadInputError(
                    f"{os.fspath(place)}: made with another {file} than {others[-1].file} is now (digest {digest}, now "
                    f"{others[-1].digest}), for {names}: bring that text back, or make it anew"
                )
            way = f"name that file with --features, in Python with Learning.extended({file!r})"
            if not file:
                way = (
                    "in Python, extend the Learning by these functions first; for commands and workers, write them "
                    "into a file, name it with --features, and make the evaluation anew"
                )
            what = f", with another text than that of {others[-1].name}" if others else ""
            raise BadInputError(f"{os.fspath(place)}: made with features of {file or 'no file'} ({names}){what}: {way}")
        found.append(_known[digest])
    return tuple(found)


def _may_stand_for(source: FeatureSource, file: str, names: Iterable[str]) -> bool:
    """Whether a source has the name of a file; without one, features of some names."""
    if file:
        return Path(source.file).name == file
    return any(own.feature.name in names for own in source.features)


def try_out(game: Game, source: FeatureSource) -> None:
    """Refuse features that are no whole numbers within their range, or differ for mirror images, in some positions.

    Raises
    ------
    BadInputError
        Names the feature and the position.
    """
    own = source.of(game.name)
    transform = game.transform
    symmetries = range(1, game.symmetry_count) if transform is not None else ()
    for position in _random_positions(game) if own else ():
        for each in own:
            value = _value(each, source, position)
            place = f"{source.name}: feature {each.feature.name!r} is {value!r}"
            at = f"for the position {game.format_position(position)}"
            whole = isinstance(value, int | np.integer | np.bool_)
            if not whole or not each.feature.low <= value <= each.feature.high:
                raise BadInputError(
                    f"{place}, expected a whole number from {each.feature.low} to {each.feature.high}, {at}"
                )
            for symmetry in symmetries:
                assert transform is not None
                image = _value(each, source, transform(position, symmetry))
                if image != value:
                    raise BadInputError(f"{place} and {image!r} in a mirror image, expected one value, {at}")


def _value(own: OwnFeature, source: FeatureSource, position: Any) -> Any:
    try:
        return own.value(position)
    except Exception as error:
        raise BadInputError(f"{source.name}: feature {own.feature.name!r} fails: {failure_of(error)}") from error


def _random_positions(game: Game) -> Iterator[Any]:
    generator = random.Random(0)  # noqa: S311 - no secret depends on it
    for _ in range(_TRIED_GAMES):
        position = game.initial_position
        for _ in range(_TRIED_PLIES):
            yield position
            moves = [] if game.is_over(position) else game.list_legal_moves(position)
            if not moves:
                break
            position = game.play(position, generator.choice(moves))
