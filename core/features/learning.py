"""What a game gives to learning: one :class:`Learning` value in the entry-point group ``glem.learning``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations, generic_operation
from glem.core.errors import BadInputError, GlemWarning, PluginError
from glem.core.features.evaluators import Evaluator
from glem.core.features.features import AtomicFeatures, FeatureSource
from glem.core.features.own import load_features, source_of, try_out, used, used_of
from glem.core.game.declarations import explained, kind_problems, phases_problems, refuse
from glem.core.game.equal_positions import contiguous_columns
from glem.core.game.families import LEARNING_FAMILIES_GROUP, family_of, load_member
from glem.core.game.game import Game, load_game
from glem.core.game.registry import GAMES_GROUP, LEARNING_GROUP, load_plugin, plugin_names, plugin_owner
from glem.core.tasks.counts import counted


@generic_operation
def phase_of(operations: Operations, position: Any) -> int:
    """Phase of a position."""
    return int(operations["phase_of"](position))


def _fill_phases(operations: Any, columns: Any, count: int, phases: Any) -> None:
    for row in range(count):
        phases[row] = phase_of(operations, position_at(columns, row))


@explained
@define(frozen=True, eq=False, repr=False)
class Phases:
    """Game stages with weights of their own ("position type", GLEM section 5.2), ordered.

    Parameters
    ----------
    game
        Whose positions they divide.
    names
        One short name per phase, in order; 1 to 256.
    phase_of
        Dual ``(position) -> int`` in ``range(len(names))``, the same for mirror images. The search asks at every leaf.
    description
        What the names say, for reports: ``discs on the board`` where they are ``4-16``, ``17-20``, ...

    Raises
    ------
    PluginError
        A field is not what it should be.
    """

    game: Game
    names: tuple[str, ...]
    phase_of: Callable[..., int]
    description: str = ""
    operations: Operations = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        refuse("phases", [*kind_problems(self), *phases_problems(self)])
        object.__setattr__(self, "operations", Operations(f"{self.game.name}-phases", {"phase_of": self.phase_of}))

    def __repr__(self) -> str:
        return f"Phases({self.game.name}: {counted(len(self), 'phase')})"

    def __len__(self) -> int:
        return len(self.names)

    def of(self, positions: Any) -> NDArray[np.uint8]:
        """Phase of each of N positions, given as :meth:`AtomicFeatures.values` takes them: uint8 array [N].

        Raises
        ------
        PluginError
            ``phase_of`` gives a phase that there is not.
        """
        columns = contiguous_columns(self.game, positions)
        count = len(columns[0])
        phases = np.empty(count, np.uint8)
        compiled(_fill_phases)(self.operations, columns, count, phases)
        if phases.max(initial=0) >= len(self.names):
            row = int(phases.argmax())
            position = self.game.format_position(position_at(columns, row))
            raise PluginError(
                f"phases of {self.game.name!r}: phase_of gives {phases[row]}, expected 0 to {len(self.names) - 1}, "
                f"for the position {position}"
            )
        return phases


@explained
@define(frozen=True, eq=False)
class Covariate:
    """How much of something a position has, such as material left, by which the meaning of values may differ.

    Parameters
    ----------
    of
        ``(positions) -> numbers`` [N] of N positions given as a position of columns; the same for mirror images.
    least, most
        Smaller and greater numbers count as these: what lies beyond occurs too seldom to learn from.
    unit
        The number that stands for 1 in what is learned.

    Raises
    ------
    PluginError
        A field is not what it should be.
    """

    of: Callable[[Any], NDArray[Any]]
    least: float
    most: float
    unit: float

    def __attrs_post_init__(self) -> None:
        bounds = () if self.least < self.most and self.unit > 0 else ("least < most and a unit above 0 are expected",)
        refuse("covariate", [*kind_problems(self), *bounds])


@explained
@define(frozen=True, eq=False)
class Views:
    """How the two players see one board, for hidden layers (:mod:`~glem.core.evaluation.network`).

    Parameters
    ----------
    features
        Names of S features that tell what the mover sees in each place: 0 for nothing, else 1 to M.
    places
        The place, 0 to S - 1, that the opponent sees there: where it lies for him.
    contents
        What the opponent sees where the mover sees 0 to M; nothing is nothing for both.

    Raises
    ------
    PluginError
        A field is not what it should be, or to exchange the players twice is not to leave them.
    """

    features: tuple[str, ...]
    places: tuple[int, ...]
    contents: tuple[int, ...]
    exchanged: NDArray[np.uint16] = field(init=False)
    """uint16 [R + 1]: the relation that the opponent sees for each of the R = M S relations ``place == content``, those
    of one content after the other, and R for R, which stands for none."""

    def __attrs_post_init__(self) -> None:
        places, contents = np.array(self.places), np.array(self.contents)
        fits = len(places) == len(self.features) and all(
            len(order) and sorted(order) == list(range(len(order))) and (order[order] == np.arange(len(order))).all()
            for order in (places, contents)
        )
        most = len(places) * (len(contents) - 1)
        bounds = () if fits and not contents[0] and most < 1 << 16 else ("places and contents must be exchanges",)
        refuse("views", [*kind_problems(self), *bounds])
        order = [*((contents[1:, None] - 1) * len(places) + places).ravel().tolist(), most]
        object.__setattr__(self, "exchanged", np.array(order, np.uint16))


@explained
@define(frozen=True, eq=False, repr=False)
class Learning:
    """What a game gives to learning.

    Parameters
    ----------
    game
        The game: the registered value itself.
    features
        Its atomic features.
    phases
        Its game stages; each needs enough positions to fit its weights.
    pattern_sets
        Name to pattern set: a mapping from pattern name to the names of its features (one instance; the
        symmetric ones follow), of at most 65,536 joint values. The first set is the default. None are needed: `glem
        train` and `glem discover` design some from labels.
    linear
        Names of features that also enter linearly (GLEM section 4.1, last paragraph): each gets one weight per phase,
        times its value.
    baselines
        Name of a simple predictor to the names of the features it regresses the label on, phase by phase; the
        empty tuple is the constant.
    label_unit
        Unit of labels for people, plural, e.g. ``discs``. Labels that are results of games are final scores: the unit
        is theirs.
    make_evaluator
        Optional ``(evaluation) -> Evaluator or None``: the fast form of a linear evaluation for the search, with the
        evaluation's own values; None for an evaluation that it does not cover, as one with a hidden layer may be
        (``evaluation.network``).
    make_quadratic_evaluator
        The same of a :class:`~glem.core.evaluation.quadratic.QuadraticEvaluation`.
    default_evaluation
        Optional function that returns the evaluation that the plugin ships, for playing without any set-up: a
        :class:`~glem.core.evaluation.linear.LinearEvaluation`, or a
        :class:`~glem.core.evaluation.with_drawishness.ResultEvaluation`, which has a drawishness of its own.
    default_probcut
        Optional function that returns the parameters of selective search that go with the default evaluation and with
        the strongest one (:class:`~glem.core.search.probcut.ProbCut`).
    sample
        Optional function that returns a small set of scored positions that the plugin ships
        (:class:`~glem.core.positions.positions.Positions`): a few megabytes, or made in a few seconds, always the
        same.
    drawishness
        Names of features that a drawishness is linear in, before its logistic link (Ban 2012, section 3.1.2): each gets
        one weight per phase, the same for both players.
    groupings
        Name of a division of positions, such as by material, to a function ``(positions) -> (names, group)``: the names
        of its groups in their order (the same for all positions), and the group, int [N], of each of N positions given
        as a position of columns, -1 for none. Evaluations are graded in each group apart.
    covariates
        Name of a number that positions have, such as ``material``, to a :class:`Covariate`: what a value means for the
        result may depend on it (``glem grade calibrate``). Every game has ``move``, the number of the move, without it.
    evaluations
        Further evaluations of the plugin's own, for comparisons: name to a function that returns one, as
        ``default_evaluation`` does. A name stands wherever ``default`` may; it is not ``default``, ``none`` or
        ``strongest``.
    strongest
        Name of the one of these that plays best, if it is not the default one: what plays where no evaluation is named.
    phases_of
        Optional ``(count) -> Phases``: the game's stages divided otherwise, with ``phases`` for their own number;
        :class:`BadInputError` for a number that makes no sense. Always the same for one number: evaluation files hold
        the names alone.
    views
        Optional: how the players see the board, for evaluations with a hidden layer, whose fast form
        :attr:`make_evaluator` makes.
    feature_sets
        Name of another set of features to a function that returns what the game gives to learning with it, always the
        same value. The one named ``style`` is what players' styles are learned by.
    feature_set
        In such a value its name; evaluation files hold it.

    Raises
    ------
    PluginError
        A field is missing, unknown or not what it should be.
    """

    game: Game
    features: AtomicFeatures
    phases: Phases
    pattern_sets: Mapping[str, Mapping[str, tuple[str, ...]]] = field(factory=dict)
    linear: tuple[str, ...] = ()
    baselines: Mapping[str, tuple[str, ...]] = field(factory=lambda: {"constant": ()})
    label_unit: str = "points"
    make_evaluator: Callable[[Any], Evaluator | None] | None = None
    make_quadratic_evaluator: Callable[[Any], Evaluator | None] | None = None
    default_evaluation: Callable[[], Any] | None = None
    default_probcut: Callable[[], Any] | None = None
    sample: Callable[[], Any] | None = None
    drawishness: tuple[str, ...] = ()
    groupings: Mapping[str, Callable[[Any], tuple[tuple[str, ...], NDArray[Any]]]] = field(factory=dict)
    covariates: Mapping[str, Covariate] = field(factory=dict)
    evaluations: Mapping[str, Callable[[], Any]] = field(factory=dict)
    strongest: str = "default"
    phases_of: Callable[[int], Phases] | None = None
    views: Views | None = None
    feature_sets: Mapping[str, Callable[[], Learning]] = field(factory=dict)
    feature_set: str = ""

    def __attrs_post_init__(self) -> None:
        label = f"learning of {self.game.name!r}" if isinstance(self.game, Game) else "learning"
        problems = kind_problems(self)
        if not problems and self.strongest not in {"default", *self.evaluations}:
            problems.append(f"strongest is {self.strongest!r}, which is none of the evaluations")
        refuse(label, problems)

    def __repr__(self) -> str:
        counts = f"{counted(len(self.features), 'feature')}, {counted(len(self.phases), 'phase')}"
        return f"Learning({self.game.name}: {counts}, pattern sets: {', '.join(self.pattern_sets) or 'none'})"

    def extended(self, *features: str | os.PathLike[str] | Callable[[Any], int]) -> Learning:
        """Add features of your own; those that say so enter linearly too.

        Parameters
        ----------
        features
            Files, or functions that :func:`~glem.core.features.own.feature` has marked. What was added from the same
            file before, or as functions, gives way.

        Raises
        ------
        BadInputError
            A file cannot be imported, nothing in it is for this game, a feature has the name of another, or its values
            are not what it says.
        """
        functions = [each for each in features if callable(each)]
        sources = [load_features(each) for each in features if not callable(each)]
        sources += [source_of(functions)] if functions else []
        for source in sources:
            if not source.of(self.game.name):
                raise BadInputError(f"{source.name}: has no features of {self.game.name}")
        new = {source.file for source in sources}
        return with_sources(self, (*(each for each in self.features.sources if each.file not in new), *sources))


def baseline_features(learning: Learning, name: str) -> tuple[str, ...]:
    """Names of the features of a baseline.

    Raises
    ------
    BadInputError
        The game has no such baseline, or one without features.
    """
    if not learning.baselines.get(name):
        known = ", ".join(each for each, features in learning.baselines.items() if features) or "none"
        raise BadInputError(f"{learning.game.name} has no baseline {name!r} with features; it has: {known}")
    return tuple(learning.baselines[name])


@lru_cache(64)
def with_phases(learning: Learning, count: int) -> Learning:
    """Give a game another number of phases; the same value for the same arguments.

    Raises
    ------
    BadInputError
        The game does not divide its positions otherwise, or not into so many.
    """
    if count == len(learning.phases):
        return learning
    if learning.phases_of is None:
        raise BadInputError(
            f"{learning.game.name} has {counted(len(learning.phases), 'phase')} and no other number of them"
        )
    return evolve(learning, phases=learning.phases_of(count))


@lru_cache(64)
def with_sources(learning: Learning, sources: tuple[FeatureSource, ...]) -> Learning:
    """Give a game the features of these sources besides its plugin's; the same value for the same arguments.

    Raises
    ------
    BadInputError
        As of :meth:`Learning.extended`.
    """
    if sources == learning.features.sources:
        return learning
    game, plugin = learning.game, learning.features.plugin or learning.features
    for source in sources:
        try_out(game, source)
    added = [own for source in sources for own in source.of(game.name)]
    known = {feature.name for feature in plugin.features}
    linear = *(name for name in learning.linear if name in known), *(own.feature.name for own in added if own.linear)
    return evolve(learning, features=plugin.extended(sources), linear=linear)


def learning_names() -> list[str]:
    """Names of all installed games that give something to learning, sorted; nothing is imported."""
    return plugin_names(LEARNING_GROUP)


def has_learning(name: str) -> bool:
    """Whether something is installed under that name that the game gives to learning; nothing is imported."""
    family = family_of(name)
    return name in learning_names() if family is None else family in plugin_names(LEARNING_FAMILIES_GROUP)


def load_learning(name: str, feature_set: str = "", sources: tuple[FeatureSource, ...] | None = None) -> Learning:
    """Load what the game of that name, or a member of a family of games, gives to learning.

    Parameters
    ----------
    name
        Of the game.
    feature_set
        Name of another of its sets of features.
    sources
        Of the added features; None for those that this process uses.

    Raises
    ------
    PluginError
        There is nothing, it cannot be loaded, or it belongs to another game than the one installed under the name.
    BadInputError
        The game has no such set of features, or added ones cannot be.
    """
    learning = _of_plugin(name)
    if feature_set:
        sets = learning.feature_sets
        if feature_set not in sets:
            raise BadInputError(f"{name} has no feature set {feature_set!r}; it has: {', '.join(sets) or 'none'}")
        learning = sets[feature_set]()
    elif sources is None:
        sources = used_of(name)
        for source in () if sources else used():
            warnings.warn(f"{source.name}: has no features of {name}", GlemWarning, stacklevel=2)
    return with_sources(learning, sources) if sources else learning


def _of_plugin(name: str) -> Learning:
    if family_of(name) is not None:
        member: Learning = load_member(LEARNING_FAMILIES_GROUP, name, load_game(name), Learning)
        return member
    if name not in plugin_names(LEARNING_GROUP):
        # A name that is no game's either is explained as such.
        load_game(name)
    learning: Learning = load_plugin(LEARNING_GROUP, name, Learning)
    owner = plugin_owner(LEARNING_GROUP, name)
    try:
        game = load_game(name)
    except PluginError as error:
        raise PluginError(f"{owner} is of no use without its game: {error}") from error
    if learning.game is not game:
        other = "another object of the same name" if learning.game.name == name else f"the game {learning.game.name!r}"
        raise PluginError(
            f"{owner} is for {other}, not for {plugin_owner(GAMES_GROUP, name)}: let it import the Game from there"
        )
    return learning
