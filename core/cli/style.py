"""``glem style``: what a player likes, learned from games; whose moves some are; where two players differ."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import define, fields

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, print_with_page
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.features.learning import Learning
    from glem.core.game.game import Game
    from glem.core.game.records import GameRecords
    from glem.core.styles.persons import PersonGames
    from glem.core.styles.styles import Foretelling, StyleSettings
    from glem.core.styles.temporal_difference import TemporalDifference
    from glem.core.styles.who_is_it import Study
    from glem.core.tasks.tasks import Workers

_SHOWN = 15
_POOL_GAMES = 60
_FIXED = "material=25"
_DEPTH = "depth of searches"
"""Under which the file of a style says how its moves were searched: styles are asked as they were learned."""


@click.group("style")
def command() -> None:
    """Players' styles, learned from the moves that they chose (after Levene and Fenner 2009)."""


@define(frozen=True)
class How:
    """What of a style's learning the options say."""

    feature_set: str | None
    features: tuple[str, ...]
    plies: tuple[int, int]
    depth: int
    quiescence: str
    leeway: float | None
    refits: int

    def learning(self, game: Game) -> Learning:
        """Load the features."""
        from glem.core.styles.styles import learning_of_styles

        game.search_rules_with(self.quiescence)
        return learning_of_styles(game.name, "" if self.feature_set == "none" else self.feature_set)

    def settings(self, learning: Learning) -> StyleSettings:
        """Choose among the features."""
        from glem.core.styles.styles import StyleSettings, style_features

        names = style_features(learning, self.features)
        return StyleSettings(names, self.plies, self.depth, self.quiescence, self.refits, self.leeway)


def _how(plies: tuple[int, int] | None, depth: int | None, no_search: bool, quiescence: str, **more: Any) -> How:
    if no_search and (depth is not None or quiescence):
        raise BadInputError("--no-search searches nothing: leave --depth and --quiescence out")
    return How(plies=plies or (8, 69), depth=-1 if no_search else depth or 0, quiescence=quiescence, **more)


_how_options = options.group(
    "how",
    _how,
    options.option("--feature-set", metavar="NAME", help="Of the game; `style` by default, `none` for the first."),
    options.option("--features", multiple=True, metavar="NAME", help="Only these features or groups; may be repeated."),
    options.plies,
    options.LIMITS["depth"],
    options.flag("--no-search", "Let moves count by the positions after them."),
    options.quiescence,
    options.amount("--leeway", None, "How far effects may well be from the prior's, in log odds.", metavar="X"),
    options.count("--refits", 3, "Without a prior: searches with what was found, and fits again.", least=0),
)
_without = options.option(
    "--without-player", "without", multiple=True, metavar="NAME", help="Leave games against this player out."
)
_without_events = options.option(
    "--without-event", "events", multiple=True, metavar="NAME", help="Leave out events of this name, such as 'rapid*'."
)
_among = options.option(
    "--among", multiple=True, metavar="FILE", help="Another style: percentiles are among those of like rating."
)
_td = options.option(
    "--td", multiple=True, metavar="NAME=VALUE", help="A constant of temporal differences, such as momentum=0.9."
)
_fixed = options.option(
    "--fixed",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"A weight that temporal differences leave as it is; {_FIXED} where there is such a feature.",
)


def _assignments(option: str, texts: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name.replace("-", "_")] = float(value)
        except ValueError:
            raise BadInputError(f"{option} must be NAME=VALUE with a number, got {text!r}") from None
    return found


def _constants(texts: Sequence[str]) -> TemporalDifference:
    from glem.core.styles.temporal_difference import TemporalDifference

    given = _assignments("--td", texts)
    known = [field.name for field in fields(TemporalDifference)]
    for name in given:
        if name not in known:
            raise BadInputError(f"--td: temporal differences have no constant {name!r}; they have: {', '.join(known)}")
    kinds = {"batch": int, "positive": bool}
    return TemporalDifference(**{name: kinds.get(name, float)(value) for name, value in given.items()})


def _first_weights(names: Sequence[str], texts: Sequence[str]) -> tuple[Any, Any]:
    """Weights that temporal differences begin with, equal but for the fixed ones; and which are fixed."""
    import numpy as np

    given = _assignments("--fixed", texts or ([_FIXED] if "material" in names else []))
    for name in given:
        if name not in names:
            raise BadInputError(f"--fixed: {name!r} is none of the features that count")
    return np.array([given.get(name, 1.0) for name in names]), np.array([name in given for name in names])


def _records(game: Game, files: options.GameFiles) -> list[GameRecords]:
    from glem.core.positions.reading import read_all_records

    return list(
        read_all_records(game, files.paths, format=files.format, skip_bad=files.skip_bad, progress=display_progress())
    )


@command.command(
    "learn",
    cls=options.Command,
    short_help="Learn a player's style.",
    examples=(
        "style learn games.pgn --of-player Kramnik -o kramnik.npz",
        "style learn games.pgn --of-player Kramnik --without-player Kasparov --without-event '*blind*' "
        "--feature-set none --prior default -o kramnik.npz --report kramnik.html",
    ),
)
@options.files("GAMES...", options.file_format, options.skip_bad)
@options.of_player
@_without
@_without_events
@options.evaluation_output
@_how_options
@options.prior
@options.choice("--learner", ["choice", "differences"], "The choice model, or the paper's temporal differences.")
@_td
@_fixed
@options.held_out(0.1, " to foretell")
@options.count("--periods", 1, "Learn so many parts of the career apart, too.", metavar="N")
@_among
@options.seed
@options.confidence
@options.report
@options.as_json
def learn(
    files: options.GameFiles,
    players: tuple[str, ...],
    without: tuple[str, ...],
    events: tuple[str, ...],
    output: str,
    how: How,
    prior: str,
    learner: str,
    td: tuple[str, ...],
    fixed: tuple[str, ...],
    held_out: float,
    periods: int,
    among: tuple[str, ...],
    seed: int,
    confidence: float,
    report: str | None,
) -> None:
    """Learn the style of a player from GAMES: an evaluation under which the player's own moves are likely.

    Moves of plies 8 to 69 count, unless --plies says otherwise, by where quiescence leads, or a search of --depth. The
    likelihood of a move is a softmax over the values of all legal ones. A prior is what all players have in common;
    with `default` the style is what the player adds to the evaluation that ships. What is written plays and is graded
    as any other evaluation.
    """
    import numpy as np

    from glem.core.evaluation.named import load_value
    from glem.core.positions.replay import replay
    from glem.core.styles.chosen_moves import own_moves
    from glem.core.styles.persons import person_of
    from glem.core.styles.styles import learn_style, make_moves, predict
    from glem.core.styles.telling import compare_tastes, of_like_strength

    if not players:
        raise BadInputError("--of-player says whose style it is; it is missing")
    if learner == "differences" and (prior != "none" or periods > 1 or among or report):
        raise BadInputError("--prior, --periods, --among and --report go with --learner choice")
    check_outputs(output, report)
    game = files.game()
    learning = how.learning(game)
    settings = how.settings(learning)
    held = None if prior == "none" else load_value(prior, game)
    person = person_of(game, _records(game, files), players, without=without, without_events=events)
    order = np.random.default_rng(seed).permutation(len(person))
    unseen = min(round(held_out * len(person)), len(person) - 1)
    training, test = person.select(np.sort(order[unseen:])), person.select(np.sort(order[:unseen]))
    played = replay(game, training.records)
    rows = own_moves(played, training.side, settings.plies)
    told = {**training.facts(), _DEPTH: str(settings.depth)}
    if learner == "differences":
        evaluation = _by_differences(learning, settings, played, rows, _constants(td), fixed, told)
        evaluation.save(output)
        print_result(
            {"file": output, "player": person.name, "games": len(training), "caught": dict(person.caught)},
            (*person.told(), _weights_table(evaluation), f"wrote {output}"),
        )
        return
    progress = display_progress()
    style = learn_style(learning, played, rows, settings, prior=held, progress=progress)
    evaluation = style.evaluation(told)
    predictions: list[Foretelling] = []
    if len(test):
        asked = replay(game, test.records)
        searched = evaluation if held is None else held
        own = own_moves(asked, test.side, settings.plies)
        moves = make_moves(learning, asked, own, settings, searched, progress, scored=held is not None)
        predictions.append(predict("own style", moves, style.model.weights))
        if held is not None:
            alone = np.zeros(len(moves.names))
            alone[0] = style.model.weights[0]
            predictions.append(predict("the prior alone", moves, alone))
        predictions.append(predict("chance", moves, np.zeros(len(moves.names))))
    evaluation.save(output)
    parts = _periods(style, training, periods)
    others = of_like_strength(evaluation, [load_value(path, game) for path in among])
    shares = {taste.name: taste.share for taste in compare_tastes(evaluation, evaluation, others)} if others else {}
    tables = [_prediction_table(predictions, confidence), _weights_table(evaluation, shares)]
    tables += [_period_table(parts)] if len(parts) > 1 else []
    page = ""
    if report is not None:
        from glem.core.report.pages.styles import render_style

        page = render_style(
            evaluation,
            name=person.name,
            told=person.told(),
            predictions=predictions,
            periods=parts,
            shares=shares,
            game_title=game.title,
        )
    data = {
        "file": output,
        "player": person.name,
        "games": len(training),
        "caught": dict(person.caught),
        "near": dict(person.near),
        "left_out": dict(person.left_out),
        "choices": style.model.choices,
        "explained": style.model.explained,
        "predictions": [_prediction_json(one, confidence) for one in predictions],
        "weights": {
            name: {"weight": float(weight), "error": float(error)}
            for name, weight, error in zip(
                style.model.names, style.model.weights, style.model.cautious_errors(), strict=True
            )
        },
    }
    print_with_page(data, (*person.told(), *tables, f"wrote {output}"), page, report)


def _by_differences(
    learning: Learning,
    settings: StyleSettings,
    played: Any,
    rows: Any,
    constants: TemporalDifference,
    fixed: Sequence[str],
    told: dict[str, str],
) -> LinearEvaluation:
    import numpy as np

    from glem.core.compiling.columns import rows_of
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.evaluation.links import LOGISTIC
    from glem.core.styles.chosen_moves import starts_of_games
    from glem.core.styles.temporal_difference import SearchedValues, learn_by_search

    begin, held = _first_weights(settings.features, fixed)
    values = SearchedValues(learning, settings.features, constants.scale, settings.depth, settings.quiescence)
    starts = starts_of_games(played.record[rows])
    positions = rows_of(played.positions, rows)
    course = learn_by_search(values, positions, starts, begin, held, constants, display_progress())
    phases = len(learning.phases)
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        LOGISTIC,
        linear=tuple(learning.features.index(name) for name in settings.features),
        linear_weights=np.tile((constants.scale * course.weights).astype(np.float32), (phases, 1)),
        provenance={
            "weights": f"temporal differences of {counted(len(starts) - 1, 'game')}, {counted(course.steps, 'step')}",
            **told,
        },
    )


def _depth(given: int | None, style: LinearEvaluation) -> int:
    """Depth at which a style is asked: the given one, or that at which it was learned."""
    known = style.provenance.get(_DEPTH, "")
    return given if given is not None else int(known) if known.lstrip("-").isdecimal() else 0


def _periods(style: Any, person: PersonGames, periods: int) -> list[tuple[str, LinearEvaluation]]:
    """Learn parts of a career apart, of as many games each, from the moves that are made already."""
    import numpy as np

    from glem.core.styles.styles import Style, fit_moves

    years = person.years()
    if periods < 2 or not (years > 0).any():
        return []
    found = []
    known = np.flatnonzero(years > 0)
    order = known[np.argsort(years[known], kind="stable")]
    for part in np.array_split(order, periods):
        if not len(part):
            continue
        chosen = np.zeros(len(person), bool)
        chosen[part] = True
        moves = style.moves.of_games(chosen)
        model = fit_moves(moves)
        label = f"{years[part].min()}-{years[part].max()}"
        found.append((label, Style(model, moves, style.prior).evaluation({"period": label})))
    return found


def _interval(values: tuple[float, float, float]) -> str:
    mean, low, high = values
    return f"{mean:+.3f} ({low:+.3f} to {high:+.3f})" if low == low else f"{mean:+.3f}"


def _prediction_table(predictions: Sequence[Foretelling], confidence: float) -> Table:
    own = predictions[0] if predictions else None
    rows = []
    for one in predictions:
        share, low, high = one.share_of_best(confidence)
        less = "" if one is own or own is None else _interval(own.per_move(one, confidence))
        foretold = f"{share:.1%} ({low:.1%} to {high:.1%})" if low == low else f"{share:.1%}"
        rows.append((one.name, _interval(one.per_move(None, confidence)), less, foretold))
    games = counted(len(predictions[0].moves), "unseen game") if predictions else "no unseen game"
    moves = int(predictions[0].moves.sum()) if predictions else 0
    return Table(
        f"Foretold: {counted(moves, 'move')} of {games}",
        ("by", "log likelihood a move", "own less this", "moves foretold"),
        rows,
    )


def _prediction_json(one: Foretelling, confidence: float) -> dict[str, Any]:
    mean, low, high = one.per_move(None, confidence)
    share = one.share_of_best(confidence)
    return {
        "name": one.name,
        "log_likelihood": [mean, low, high],
        "foretold": list(share),
        "moves": int(one.moves.sum()),
    }


def _weights_table(evaluation: LinearEvaluation, shares: dict[str, float] | None = None) -> Table:
    from glem.core.styles.telling import coefficients_of

    known = coefficients_of(evaluation)
    found = sorted(known.items(), key=lambda item: -abs(item[1][0] / item[1][1] if item[1][1] > 0 else item[1][0]))
    descriptions = {feature.name: feature.description for feature in evaluation.learning.features.features}
    shares = shares or {}
    rows = [
        (
            name,
            f"{value:+.4f} ± {error:.4f}" if error == error else f"{value:+.4f}",
            *([f"{shares[name]:.0%}"] if name in shares else [""] * bool(shares)),
            descriptions[name],
        )
        for name, (value, error) in found[:_SHOWN]
    ]
    header = ("strongest", "weight", *(["greater than"] if shares else []), "what it counts")
    return Table("Log odds of a choice", header, rows)


def _period_table(parts: Sequence[tuple[str, LinearEvaluation]]) -> Table:
    from glem.core.styles.telling import coefficients_of, compare_tastes

    changed = compare_tastes(parts[-1][1], parts[0][1])[:_SHOWN]
    known = [coefficients_of(style) for _, style in parts]
    rows = [
        (taste.name, f"{taste.score:+.1f}", *(f"{own[taste.name][0]:+.3f} ± {own[taste.name][1]:.3f}" for own in known))
        for taste in changed
    ]
    return Table("Drift", ("feature", "change in errors", *(label for label, _ in parts)), rows)


@command.command(
    "compare",
    cls=options.Command,
    short_help="Tell where two styles differ.",
    examples=(
        "style compare kasparov.npz kramnik.npz",
        "style compare kasparov.npz kramnik.npz --positions games.pgn --report styles.html",
    ),
)
@click.argument("first", type=click.Path(dir_okay=False))
@click.argument("second", type=click.Path(dir_okay=False))
@_among
@options.file("--positions", "Games to find telling positions in; may be repeated.", multiple=True, metavar="FILE")
@options.plies
@options.LIMITS["depth"]
@options.quiescence
@options.report
@options.as_json
def compare(
    first: str,
    second: str,
    among: tuple[str, ...],
    positions: tuple[str, ...],
    plies: tuple[int, int] | None,
    depth: int | None,
    quiescence: str,
    report: str | None,
) -> None:
    """Compare two styles feature by feature, and find the positions in which they want different moves."""
    import numpy as np

    from glem.core.evaluation.named import load_value
    from glem.core.game.records import GameRecords
    from glem.core.positions.replay import replay
    from glem.core.styles.chosen_moves import own_moves
    from glem.core.styles.telling import compare_tastes, evaluated_moves, of_like_strength, telling_positions

    check_outputs(report)
    one = load_value(first)
    game = one.learning.game
    two = load_value(second, game)
    tastes = compare_tastes(one, two, of_like_strength(one, [load_value(path, game) for path in among]))
    names = Path(first).stem, Path(second).stem
    found = []
    if positions:
        read = _records(game, options.GameFiles(game.name, positions, skip_bad=True))
        records = GameRecords.concatenate(read, initial_position=game.initial_position)
        played = replay(game, records)
        rows = own_moves(played, np.zeros(len(records), np.int8), plies or (8, 69))
        moves = evaluated_moves([one, two], played, rows, depth=_depth(depth, one), quiescence=quiescence)
        found = telling_positions(moves, played)
    told: list[str | Table] = [_taste_table(tastes, names)]
    told.append(f"of {counted(len(tastes), 'feature')}, {0.05 * len(tastes):.0f} differ by 2 errors or more by chance")
    for place in found:
        wanted = [game.format_move(move) for move in place.wanted]
        chances = [f"{of_own:.0%}" for of_own in (place.chances[0][0], place.chances[1][1])]
        told.append(
            f"{game.format_position(place.position)}\n  {names[0]} {wanted[0]} ({chances[0]}), "
            f"{names[1]} {wanted[1]} ({chances[1]}), played {game.format_move(place.played)}"
        )
    page = ""
    if report is not None:
        from glem.core.report.pages.styles import render_comparison

        page = render_comparison(one, two, names=names, tastes=tastes, positions=found, game_title=game.title)
    data = {
        "features": [taste._asdict() for taste in tastes],
        "positions": [
            {
                "position": game.format_position(place.position),
                "wanted": [game.format_move(move) for move in place.wanted],
                "played": game.format_move(place.played),
                "divergence": place.divergence,
            }
            for place in found
        ],
    }
    print_with_page(data, told, page, report)


def _taste_table(tastes: Sequence[Any], names: tuple[str, str]) -> Table:
    shares = any(taste.share == taste.share for taste in tastes)
    rows = [
        (
            taste.name,
            *(f"{weight:+.3f} ± {error:.3f}" for weight, error in zip(taste.weights, taste.errors, strict=True)),
            f"{taste.score:+.1f}",
            *([f"{taste.share:.0%}"] if shares else []),
        )
        for taste in tastes[:_SHOWN]
    ]
    header = ("feature", *names, "difference in errors", *([f"{names[0]} greater than"] if shares else []))
    return Table(f"Where {names[0]} and {names[1]} differ most", header, rows)


@command.command(
    "classify",
    cls=options.Command,
    short_help="Tell whose moves some are.",
    examples=(
        "style classify games.pgn --style kasparov.npz --style kramnik.npz",
        "style classify games.pgn --style kasparov.npz --style kramnik.npz --of-player Kasparov --json",
    ),
)
@options.files("GAMES...", options.file_format, options.skip_bad)
@options.option("--style", "styles", multiple=True, metavar="FILE", help="A style; two or more.")
@options.of_player
@_without
@_without_events
@options.plies
@options.LIMITS["depth"]
@options.quiescence
@options.confidence
@options.as_json
def classify(
    files: options.GameFiles,
    styles: tuple[str, ...],
    players: tuple[str, ...],
    without: tuple[str, ...],
    events: tuple[str, ...],
    plies: tuple[int, int] | None,
    depth: int | None,
    quiescence: str,
    confidence: float,
) -> None:
    """Say which of some styles the moves of GAMES fit best: of both sides of each game, or of one player's side.

    It says "cannot tell" where the next style is within the interval. All styles are asked at the same leaves.
    """
    import numpy as np

    from glem.core.evaluation.named import load_value
    from glem.core.game.records import GameRecords
    from glem.core.positions.replay import replay
    from glem.core.styles.chosen_moves import own_moves
    from glem.core.styles.persons import person_of
    from glem.core.styles.telling import evaluated_moves, log_likelihoods, verdict

    if len(styles) < 2:
        raise BadInputError("there is nothing to tell apart: give --style two times or more")
    game = files.game()
    known = [load_value(path, game) for path in styles]
    names = [Path(path).stem for path in styles]
    head: list[str] = []
    if players:
        person = person_of(game, _records(game, files), players, without=without, without_events=events)
        records, side = person.records, person.side
        head = person.told()
    else:
        if without or events:
            raise BadInputError("--without-player and --without-event need --of-player")
        records = GameRecords.concatenate(_records(game, files), initial_position=game.initial_position)
        side = np.zeros(len(records), np.int8)
    played = replay(game, records)
    rows = own_moves(played, side, plies or (8, 69))
    moves = evaluated_moves(
        known, played, rows, depth=_depth(depth, known[0]), quiescence=quiescence, progress=display_progress()
    )
    if not len(moves.rows):
        raise BadInputError("no moves to tell by: the games end before the plies that count, or all moves are forced")
    likelihoods = log_likelihoods(moves)
    record, mover = moves.choices.game, played.side[moves.rows]
    found = []
    for number in np.unique(record).tolist():
        for own in (1, -1):
            chosen = (record == number) & (mover == own)
            if chosen.any():
                one = verdict(likelihoods[chosen], np.flatnonzero(chosen), confidence)
                found.append((number, own, one))
    together = verdict(likelihoods, record, confidence) if players else None
    rows_told = [
        (
            str(records.extra["number"][number] if "number" in records.extra else number + 1),
            "first" if own > 0 else "second",
            names[one.style],
            "" if one.is_told else "cannot tell",
            f"{one.difference:+.3f} ± {one.error:.3f}",
            str(one.moves),
        )
        for number, own, one in found
    ]
    header = ("game", "side", "likeliest", "verdict", "log odds a move to the next", "moves")
    told: list[str | Table] = [*head, Table("By game", header, rows_told[: 2 * _SHOWN])]
    counts = {name: sum(one.style == place for _, _, one in found) for place, name in enumerate(names)}
    told.append(", ".join(f"{name} {count:,}" for name, count in counts.items()) + " sides of games")
    if together is not None:
        decided = names[together.style] if together.is_told else f"cannot tell ({names[together.style]} is likeliest)"
        told.append(f"all together: {decided}, {together.difference:+.4f} ± {together.error:.4f} a move to the next")
    data = {
        "styles": names,
        "games": [
            {"game": row[0], "side": row[1], "style": row[2], "told": not row[3], "difference": one.difference,
             "error": one.error, "moves": one.moves}
            for row, (_, _, one) in zip(rows_told, found, strict=True)
        ],
        "together": None
        if together is None
        else {"style": names[together.style], "told": together.is_told, "difference": together.difference,
              "error": together.error, "moves": together.moves},
    }  # fmt: skip
    print_result(data, told)


@options.command(
    "styles",
    "experiment styles games.pgn --of-player Kasparov --of-player Kramnik --repetitions 20 -o two",
    "experiment styles games.pgn --of-player Kasparov --of-player Karpov --of-player Anand -o who",
    short_help="Guess who played games that no style has seen.",
)
@options.files("GAMES...", options.file_format, options.skip_bad)
@options.of_player
@_without_events
@options.output("Folder for what is learned; the same command continues.", is_folder=True)
@_how_options
@options.prior
@_td
@_fixed
@options.count("--training-games", 1000, "Games of a player to learn from, at most.", metavar="N")
@options.count("--test-games", 300, "Games of each of many players to guess, at most.", metavar="N")
@options.count("--repetitions", 20, "With two players: how often games are drawn and learned from.", metavar="N")
@options.count("--controls", 5, "With two players: repetitions with games dealt out at random.", least=0, metavar="N")
@options.count("--opening-plies", 4, "With many players: what counts as an opening.", metavar="N")
@options.seed
@options.confidence
@options.report
@options.workers
@options.as_json
def experiment_styles(
    files: options.GameFiles,
    players: tuple[str, ...],
    events: tuple[str, ...],
    output: str,
    how: How,
    prior: str,
    td: tuple[str, ...],
    fixed: tuple[str, ...],
    training_games: int,
    test_games: int,
    repetitions: int,
    controls: int,
    opening_plies: int,
    seed: int,
    confidence: float,
    report: str | None,
    workers: Workers,
) -> None:
    """Learn players' styles by both learners, and guess who played games that neither has seen.

    With two players it is the paper's experiment: the games between the two are never learned from; who had which side
    in them is guessed, from each side, and again where the games to learn from were dealt out at random. With more, one
    guess among all, from 1, 5 and 20 games of a player, as played and with openings matched; games among the players
    are left out.
    """
    from glem.core.files.digests import file_digest
    from glem.core.styles.persons import between, person_of
    from glem.core.tasks.run_folder import run_folder

    if len(players) < 2:
        raise BadInputError("--of-player must be given for two players or more")
    if len(players) == 2 and prior != "none":
        raise BadInputError("with two players there is no --prior: what they have in common is learned of them")
    if len(players) > 2 and report is not None:
        raise BadInputError("--report goes with two players; of more, --json has all that is found")
    check_outputs(report)
    game = files.game()
    learning = how.learning(game)
    settings = how.settings(learning)
    begin, held = _first_weights(settings.features, fixed)
    constants = _constants(td)
    every = _records(game, files)
    persons = [
        person_of(game, every, [name], without=[other for other in players if other != name], without_events=events)
        for name in players
    ]
    mark = {
        "work": "styles", "files": [file_digest(file) for file in files.paths], "players": list(players),
        "events": list(events), "features": list(settings.features), "plies": list(settings.plies),
        "depth": settings.depth, "quiescence": settings.quiescence, "prior": prior, "seed": seed,
        "training_games": training_games, "td": list(td), "fixed": list(fixed), "leeway": settings.leeway,
        "refits": settings.refits,
    }  # fmt: skip
    if len(players) > 2:
        # Games to guess are taken before those to learn from.
        mark |= {"test_games": test_games, "prior_file": file_digest(prior) if Path(prior).is_file() else ""}
    told: list[str | Table] = [line for person in persons for line in person.told()]
    with run_folder(Path(output), mark, keep=True, mark="run.json") as folder:
        if len(players) == 2:
            from glem.core.styles.two_players import Repetition, hit_table, repeat_all

            mutual = between(person_of(game, every, players[:1], without_events=events), players[1])
            task = Repetition(
                game.name, learning.feature_set, (persons[0], persons[1]), mutual, settings, constants, begin, held,
                training_games, seed,
            )  # fmt: skip
            outcomes = repeat_all(task, repetitions, False, folder, workers, display_progress())
            permuted = repeat_all(task, controls, True, folder, workers, display_progress())
            table, rows = hit_table(players, outcomes, permuted, confidence)
            told += [f"{counted(len(mutual), 'game')} between the two, of which none is learned from", table]
            page = ""
            if report is not None:
                from glem.core.report.pages.styles import render_two_players

                page = render_two_players(
                    players,
                    outcomes,
                    permuted,
                    settings_text=_settings_text(task),
                    game_title=game.title,
                    features=settings.features,
                    confidence=confidence,
                )
            print_with_page({"players": list(players), "mutual": len(mutual), "hits": rows}, told, page, report)
            return
        from glem.core.evaluation.named import load_value
        from glem.core.features.learning import load_learning
        from glem.core.styles.who_is_it import Study

        reference = load_value("default", game) if load_learning(game.name).default_evaluation is not None else None
        few = tuple(name for name in learning.baselines.get("piece-square", ()) if name in settings.features)
        study = Study(
            learning, settings, training_games, test_games, opening_plies, reference, few or settings.features[:1],
            begin, held, constants, seed,
        )  # fmt: skip
        _many(study, persons, folder, prior, told, confidence)


def _settings_text(task: Any) -> str:
    how = task.how
    rates = (
        f"rates {how.least_rate:g} to {how.most_rate:g}, times {how.up:g} or {how.down:g}, momentum {how.momentum:g}"
    )
    search = f"searches of {counted(max(task.settings.depth, 0), 'ply')}"
    quiet = f" with {task.settings.quiescence}" if task.settings.quiescence else ""
    plies = f"plies {task.settings.plies[0]} to {task.settings.plies[1]}"
    return f"{counted(task.games, 'training game')} of each, {plies}, {search}{quiet}; {rates}."


def _many(
    study: Study, persons: Sequence[PersonGames], folder: Path, prior: str, told: list[str | Table], confidence: float
) -> None:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.evaluation.named import load_value
    from glem.core.styles.who_is_it import (
        CHOICE_MODEL,
        Learned,
        UnseenGames,
        accuracies,
        accuracy_table,
        ask,
        confusion,
        learn_player,
    )

    progress = display_progress()
    pool = folder / "pool.npz"
    common = None if prior == "none" else load_value(prior, study.learning.game)
    if common is None:
        # A missing or damaged one is learned again.
        with contextlib.suppress(BadInputError):
            common = LinearEvaluation.load(pool)
    if common is None:
        common = study.pooled(persons, _POOL_GAMES, progress)
        common.save(pool)
    learned = []
    with progress("Learning players", len(persons)) as task:
        for number, person in enumerate(persons):
            one = Learned.load(folder, number)
            if one is None:
                one = learn_player(study, person, common)
                one.save(folder, number)
            learned.append(one)
            task.advance()
    asked = []
    with progress("Guessing", len(persons)) as task:
        for number, person in enumerate(persons):
            asked.append(ask(study, person, number, learned, common))
            task.advance()
    test = UnseenGames.together([unseen for unseen, _ in asked])
    found = accuracies(test, len(persons), confidence=confidence, seed=study.seed)
    rows = [
        (
            person.name,
            str(one.games),
            *(_interval(own[0].per_move(other, confidence)) for other in own[1:]),
            f"{own[0].share_of_best(confidence)[0]:.1%}",
            *(f"{other.share_of_best(confidence)[0]:.1%}" for other in own[2:]),
        )
        for person, one, (_, own) in zip(persons, learned, asked, strict=True)
    ]
    others = [other.name for other in asked[0][1][1:]]
    header = (
        "player",
        "games",
        *(f"own less {name}" for name in others),
        "foretold",
        *(f"by {name}" for name in others[1:]),
    )
    shares = confusion(test, len(persons), CHOICE_MODEL)
    guesses = [(person.name, *(f"{share:.0%}" for share in row)) for person, row in zip(persons, shares, strict=True)]
    names = [person.name for person in persons]
    told += [
        accuracy_table(found, len(persons)),
        Table("Log likelihood a move of unseen games", header, rows),
        Table("Single games guessed by the choice model", ("player", *names), guesses),
    ]
    data = {
        "players": names,
        "accuracies": [
            {"by": each.method, "games": each.games, "matched": each.matched, "right": each.share,
             "interval": [each.low, each.high], "used": each.used}
            for each in found
        ],
        "predictions": {
            person.name: {
                "games": one.games,
                "foretold": own[0].share_of_best(confidence),
                **{f"own less {other.name}": own[0].per_move(other, confidence) for other in own[1:]},
            }
            for person, one, (_, own) in zip(persons, learned, asked, strict=True)
        },
        "guesses": shares.tolist(),
    }  # fmt: skip
    print_result(data, told)
