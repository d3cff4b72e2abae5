"""``glem style``: what a player likes, learned from games; whose moves some are; where two players differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import asdict, define, fields

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, print_with_page
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.features.learning import Learning
    from glem.core.game.game import Game
    from glem.core.game.records import GameRecords
    from glem.core.positions.replay import Replay
    from glem.core.styles.chosen_moves import ChosenMoves
    from glem.core.styles.persons import PersonGames
    from glem.core.styles.styles import Style, StyleSettings
    from glem.core.styles.temporal_difference import TemporalDifference
    from glem.core.styles.two_players import Repetition
    from glem.core.tasks.tasks import Workers

    _Loader = Callable[[Game], tuple[Learning, StyleSettings]]

_FIXED = "material=25"
_PLIES = (8, 69)
_DEPTH = "depth of searches"
"""Under which the file of a style says how its moves were searched: styles are asked as they were learned."""


@click.group("style")
def command() -> None:
    """Players' styles, learned from the moves that they chose (after Levene and Fenner 2009)."""


def _how(
    feature_set: str | None,
    features: tuple[str, ...],
    plies: tuple[int, int] | None,
    depth: int | None,
    no_search: bool,
    quiescence: str,
    **more: Any,
) -> _Loader:
    """Give what loads the features of a game and chooses among them."""
    if no_search and (depth is not None or quiescence):
        raise BadInputError("--no-search searches nothing: leave --depth and --quiescence out")

    def load(game: Game) -> tuple[Learning, StyleSettings]:
        from glem.core.styles.styles import StyleSettings, learning_of_styles, style_features

        game.search_rules_with(quiescence)
        learning = learning_of_styles(game.name, "" if feature_set == "none" else feature_set)
        names, searched = style_features(learning, features), -1 if no_search else depth or 0
        return learning, StyleSettings(names, plies or _PLIES, searched, quiescence, **more)

    return load


@define(frozen=True)
class Whose:
    """Whose games the options choose."""

    players: tuple[str, ...]
    without: tuple[str, ...]
    events: tuple[str, ...]

    def games(self, game: Game, files: options.GameFiles) -> PersonGames:
        """Read the games of the player; where none is named, those of everybody."""
        from glem.core.styles.persons import everybody, person_of

        if not self.players and (self.without or self.events):
            raise BadInputError("--without-player and --without-event need --of-player")
        records = _records(game, files)
        if not self.players:
            return everybody(game, records)
        return person_of(game, records, self.players, without=self.without, without_events=self.events)


@define(frozen=True)
class Asked:
    """How styles are asked for the moves of games."""

    plies: tuple[int, int] | None
    depth: int | None
    quiescence: str

    def moves(
        self, styles: Sequence[LinearEvaluation], person: PersonGames, progress: Progress = SILENT
    ) -> tuple[ChosenMoves, Replay]:
        """Ask for a person's moves, at the given depth or that at which the first style was learned."""
        from glem.core.styles.telling import evaluated_moves

        known = styles[0].provenance.get(_DEPTH, "")
        depth = self.depth if self.depth is not None else int(known) if known.lstrip("-").isdecimal() else 0
        played, rows = person.moves(styles[0].learning.game, self.plies or _PLIES)
        moves = evaluated_moves(styles, played, rows, depth=depth, quiescence=self.quiescence, progress=progress)
        return moves, played


@define(frozen=True)
class Differences:
    """What the options say of temporal differences."""

    td: tuple[str, ...]
    fixed: tuple[str, ...]

    def constants(self) -> TemporalDifference:
        """Make the constants."""
        from glem.core.styles.temporal_difference import TemporalDifference

        given = _assignments("--td", self.td)
        known = [field.name for field in fields(TemporalDifference)]
        for name in given:
            if name not in known:
                raise BadInputError(
                    f"--td: temporal differences have no constant {name!r}; they have: {', '.join(known)}"
                )
        kinds = {"batch": int, "positive": bool}
        return TemporalDifference(**{name: kinds.get(name, float)(value) for name, value in given.items()})

    def first_weights(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Weights to begin with, equal but for the fixed ones; and which are fixed."""
        import numpy as np

        given = _assignments("--fixed", self.fixed or ([_FIXED] if "material" in names else []))
        for name in given:
            if name not in names:
                raise BadInputError(f"--fixed: {name!r} is none of the features that count")
        return np.array([given.get(name, 1.0) for name in names]), np.array([name in given for name in names])


def _assignments(option: str, texts: Iterable[str]) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name.replace("-", "_")] = float(value)
        except ValueError:
            raise BadInputError(f"{option} must be NAME=VALUE with a number, got {text!r}") from None
    return found


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
_without_events = options.option(
    "--without-event", "events", multiple=True, metavar="NAME", help="Leave out events of this name, such as 'rapid*'."
)
_among = options.option(
    "--among", multiple=True, metavar="FILE", help="Another style: percentiles are among those of like rating."
)
_asked = options.group("asked", Asked, options.plies, options.LIMITS["depth"], options.quiescence)
_whose = options.group(
    "whose",
    Whose,
    options.of_player,
    options.option(
        "--without-player", "without", multiple=True, metavar="NAME", help="Leave games against this player out."
    ),
    _without_events,
)
_differences = options.group(
    "differences",
    Differences,
    options.option(
        "--td", multiple=True, metavar="NAME=VALUE", help="A constant of temporal differences, such as momentum=0.9."
    ),
    options.option(
        "--fixed",
        multiple=True,
        metavar="NAME=VALUE",
        help=f"A weight that temporal differences leave as it is; {_FIXED} where there is such a feature.",
    ),
)


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
@_whose
@options.evaluation_output
@_how_options
@options.prior
@options.choice("--learner", ["choice", "differences"], "The choice model, or the paper's temporal differences.")
@_differences
@options.held_out(0.1, " to foretell")
@options.count("--periods", 1, "Learn so many parts of the career apart, too.", metavar="N")
@_among
@options.seed
@options.confidence
@options.report
@options.as_json
def learn(
    files: options.GameFiles,
    whose: Whose,
    output: str,
    how: _Loader,
    prior: str,
    learner: str,
    differences: Differences,
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
    from glem.core.report.pages.styles import render_style
    from glem.core.styles.styles import learn_style, make_moves, of_score_alone, predict, prediction_table
    from glem.core.styles.telling import compare_tastes, drift_table, of_like_strength, weights_table

    if not whose.players:
        raise BadInputError("--of-player says whose style it is; it is missing")
    if learner == "differences" and (prior != "none" or periods > 1 or among or report):
        raise BadInputError("--prior, --periods, --among and --report go with --learner choice")
    check_outputs(output, report)
    game = files.game()
    learning, settings = how(game)
    held = None if prior == "none" else load_value(prior, game)
    person = whose.games(game, files)
    training, test = person.divided(seed, min(round(held_out * len(person)), len(person) - 1))
    told = {**training.facts(), _DEPTH: str(settings.depth)}
    data = {"file": output, "player": person.name, "games": len(training), "caught": dict(person.caught)}
    if learner == "differences":
        evaluation = _by_differences(learning, settings, training, differences, told)
        evaluation.save(output)
        print_result(data, (*person.told(), weights_table(evaluation, {}), f"wrote {output}"))
        return
    progress = display_progress()
    style = learn_style(learning, *training.moves(game, settings.plies), settings, prior=held, progress=progress)
    model, evaluation = style.model, style.evaluation(told)
    predictions = []
    if len(test):
        searched = evaluation if held is None else held
        asked = test.moves(game, settings.plies)
        moves = make_moves(learning, *asked, settings, searched, progress, scored=held is not None)
        guesses = {"own style": model.weights}
        if held is not None:
            guesses["the prior alone"] = of_score_alone(model.weights)
        guesses["chance"] = np.zeros(len(moves.names))
        predictions = [predict(name, moves, weights) for name, weights in guesses.items()]
    evaluation.save(output)
    parts = _periods(style, training, periods)
    others = of_like_strength(evaluation, [load_value(path, game) for path in among])
    shares = {taste.name: taste.share for taste in compare_tastes(evaluation, evaluation, others)} if others else {}
    tables = [prediction_table(predictions, confidence), weights_table(evaluation, shares)]
    tables += [drift_table(parts)] if len(parts) > 1 else []
    page = ""
    if report is not None:
        page = render_style(
            evaluation,
            name=person.name,
            told=person.told(),
            predictions=predictions,
            periods=parts,
            shares=shares,
            game_title=game.title,
        )
    data |= {
        "near": dict(person.near),
        "left_out": dict(person.left_out),
        "choices": model.choices,
        "explained": model.explained,
        "predictions": [one.to_json(confidence) for one in predictions],
        "weights": {
            name: {"weight": float(weight), "error": float(error)}
            for name, weight, error in zip(model.names, model.weights, model.cautious_errors(), strict=True)
        },
    }
    print_with_page(data, (*person.told(), *tables, f"wrote {output}"), page, report)


def _by_differences(
    learning: Learning, settings: StyleSettings, person: PersonGames, differences: Differences, told: dict[str, str]
) -> LinearEvaluation:
    from glem.core.compiling.columns import rows_of
    from glem.core.styles.chosen_moves import starts_of_games
    from glem.core.styles.styles import evaluation_with
    from glem.core.styles.temporal_difference import SearchedValues, learn_by_search

    played, rows = person.moves(learning.game, settings.plies)
    constants, names = differences.constants(), settings.features
    values = SearchedValues(learning, names, constants.scale, settings.depth, settings.quiescence)
    starts, first = starts_of_games(played.record[rows]), differences.first_weights(names)
    positions = rows_of(played.positions, rows)
    course = learn_by_search(values, positions, starts, *first, constants, display_progress())
    how = f"temporal differences of {counted(len(starts) - 1, 'game')}, {counted(course.steps, 'step')}"
    return evaluation_with(learning, names, constants.scale * course.weights, provenance={"weights": how, **told})


def _periods(style: Style, person: PersonGames, periods: int) -> list[tuple[str, LinearEvaluation]]:
    """Learn parts of a career apart, of as many games each, from the moves that are made already."""
    import numpy as np

    from glem.core.styles.styles import Style, fit_moves

    if periods < 2:
        return []
    years = person.years()
    known = np.flatnonzero(years > 0)
    found = []
    for part in np.array_split(known[np.argsort(years[known], kind="stable")], periods):
        if len(part):
            moves = style.moves.of_games(np.isin(np.arange(len(person)), part))
            label = f"{years[part].min()}-{years[part].max()}"
            found.append((label, Style(fit_moves(moves), moves, style.prior).evaluation({"period": label})))
    return found


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
@_asked
@options.report
@options.as_json
def compare(
    first: str,
    second: str,
    among: tuple[str, ...],
    positions: tuple[str, ...],
    asked: Asked,
    report: str | None,
) -> None:
    """Compare two styles feature by feature, and find the positions in which they want different moves."""
    from glem.core.evaluation.named import load_value
    from glem.core.report.pages.styles import render_comparison
    from glem.core.styles.persons import everybody
    from glem.core.styles.telling import compare_tastes, of_like_strength, taste_table, telling_positions

    check_outputs(report)
    one = load_value(first)
    game = one.learning.game
    two = load_value(second, game)
    tastes = compare_tastes(one, two, of_like_strength(one, [load_value(path, game) for path in among]))
    names = Path(first).stem, Path(second).stem
    found = []
    if positions:
        records = _records(game, options.GameFiles(game.name, positions, skip_bad=True))
        found = telling_positions(*asked.moves([one, two], everybody(game, records)))
    told: list[str | Table] = [taste_table(tastes, names)]
    told.append(f"of {counted(len(tastes), 'feature')}, {0.05 * len(tastes):.0f} differ by 2 errors or more by chance")
    for place in found:
        wanted = [
            f"{name} {game.format_move(move)} ({chances[own]:.0%})"
            for own, (name, move, chances) in enumerate(zip(names, place.wanted, place.chances, strict=True))
        ]
        told.append(
            f"{game.format_position(place.position)}\n  {', '.join(wanted)}, played {game.format_move(place.played)}"
        )
    page = ""
    if report is not None:
        page = render_comparison(one, two, names=names, tastes=tastes, positions=found, game_title=game.title)
    data = {
        "features": [taste._asdict() for taste in tastes],
        "positions": [place.to_json(game) for place in found],
    }
    print_with_page(data, told, page, report)


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
@_whose
@_asked
@options.confidence
@options.as_json
def classify(
    files: options.GameFiles,
    styles: tuple[str, ...],
    whose: Whose,
    asked: Asked,
    confidence: float,
) -> None:
    """Say which of some styles the moves of GAMES fit best: of both sides of each game, or of one player's side.

    It says "cannot tell" where the next style is within the interval. All styles are asked at the same leaves.
    """
    import numpy as np

    from glem.core.evaluation.named import load_value
    from glem.core.styles.telling import SHOWN, log_likelihoods, verdict

    if len(styles) < 2:
        raise BadInputError("there is nothing to tell apart: give --style two times or more")
    game = files.game()
    known = [load_value(path, game) for path in styles]
    names = [Path(path).stem for path in styles]
    person = whose.games(game, files)
    moves, played = asked.moves(known, person, display_progress())
    if not len(moves.rows):
        raise BadInputError("no moves to tell by: the games end before the plies that count, or all moves are forced")
    likelihoods = log_likelihoods(moves)
    record, mover = moves.choices.game, played.side[moves.rows]
    numbers = person.records.extra.get("number", np.arange(1, len(person) + 1))
    found = []
    for game_at in np.unique(record).tolist():
        for side, name in ((1, "first"), (-1, "second")):
            chosen = (record == game_at) & (mover == side)
            if chosen.any():
                one = verdict(likelihoods[chosen], np.flatnonzero(chosen), confidence)
                found.append((str(numbers[game_at]), name, one))
    by_game = Table.of(
        "By game",
        found[: 2 * SHOWN],
        {
            "game": lambda row: row[0],
            "side": lambda row: row[1],
            "likeliest": lambda row: names[row[2].style],
            "verdict": lambda row: "" if row[2].is_told else "cannot tell",
            "log odds a move to the next": lambda row: f"{row[2].difference:+.3f} ± {row[2].error:.3f}",
            "moves": lambda row: row[2].moves,
        },
    )
    counts = [f"{name} {sum(one.style == place for *_, one in found):,}" for place, name in enumerate(names)]
    told: list[str | Table] = [by_game, ", ".join(counts) + " sides of games"]
    data: dict[str, Any] = {
        "styles": names,
        "games": [{"game": at, "side": side, **one.to_json(names)} for at, side, one in found],
        "together": None,
    }
    if whose.players:
        one = verdict(likelihoods, record, confidence)
        decided = names[one.style] if one.is_told else f"cannot tell ({names[one.style]} is likeliest)"
        told.append(f"all together: {decided}, {one.difference:+.4f} ± {one.error:.4f} a move to the next")
        told, data["together"] = [*person.told(), *told], one.to_json(names)
    print_result(data, told)


@options.command(
    "styles",
    "experiment styles games.pgn --of-player Kasparov --of-player Kramnik --repetitions 20 -o two",
    "experiment styles games.pgn --of-player Kasparov --of-player Karpov --of-player Anand -o who",
    features=False,
    short_help="Guess who played games that no style has seen.",
)
@options.files("GAMES...", options.file_format, options.skip_bad)
@options.of_player
@_without_events
@options.output("Folder for what is learned; the same command continues.", is_folder=True)
@_how_options
@options.prior
@_differences
@options.count("--training-games", 1000, "Games of a player to learn from, at most.", metavar="N")
@options.count("--test-games", 300, "Games of each of many players to guess, at most.", metavar="N")
@options.count("--repetitions", 20, "With two players: how often games are drawn and learned from.", metavar="N")
@options.count("--controls", 5, "With two players: repetitions with games dealt out at random.", least=0, metavar="N")
@options.count("--opening-plies", 4, "With many players: what counts as an opening.", metavar="N")
@options.seed
@options.confidence
@options.report
@options.workers
def experiment_styles(
    files: options.GameFiles,
    players: tuple[str, ...],
    events: tuple[str, ...],
    output: str,
    how: _Loader,
    prior: str,
    differences: Differences,
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
    from glem.core.evaluation.named import load_value
    from glem.core.features.learning import load_learning
    from glem.core.files.digests import file_digest
    from glem.core.report.pages.styles import render_two_players
    from glem.core.styles.persons import between, person_of
    from glem.core.styles.two_players import Repetition, hit_table, repeat_all
    from glem.core.styles.who_is_it import Study, guess_players
    from glem.core.tasks.run_folder import run_folder

    if len(players) < 2:
        raise BadInputError("--of-player must be given for two players or more")
    if len(players) == 2 and prior != "none":
        raise BadInputError("with two players there is no --prior: what they have in common is learned of them")
    if len(players) > 2 and report is not None:
        raise BadInputError("--report goes with two players; of more, --json has all that is found")
    check_outputs(report)
    game = files.game()
    learning, settings = how(game)
    begin, held = differences.first_weights(settings.features)
    constants = differences.constants()
    every = _records(game, files)
    persons = [
        person_of(game, every, [name], without=[other for other in players if other != name], without_events=events)
        for name in players
    ]
    mark = {
        "work": "styles",
        "files": [file_digest(file) for file in files.paths],
        "players": players,
        "events": events,
        "prior": prior,
        "seed": seed,
        "training_games": training_games,
        **asdict(differences),
        **asdict(settings),
    }
    if len(players) > 2:
        # Games to guess are taken before those to learn from.
        mark |= {"test_games": test_games, "prior_file": file_digest(prior) if Path(prior).is_file() else ""}
    told: list[str | Table] = [line for person in persons for line in person.told()]
    with run_folder(Path(output), mark, keep=True, mark="run.json") as folder:
        if len(players) > 2:
            reference = load_value("default", game) if load_learning(game.name).default_evaluation is not None else None
            few = tuple(name for name in learning.baselines.get("piece-square", ()) if name in settings.features)
            study = Study(
                learning, settings, training_games, test_games, opening_plies, reference, few or settings.features[:1],
                begin, held, constants, seed,
            )  # fmt: skip
            common = None if prior == "none" else load_value(prior, game)
            tables, data = guess_players(study, persons, folder, common, confidence, display_progress())
            print_result(data, (*told, *tables))
            return
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


def _settings_text(task: Repetition) -> str:
    how, settings = task.how, task.settings
    rates = (
        f"rates {how.least_rate:g} to {how.most_rate:g}, times {how.up:g} or {how.down:g}, momentum {how.momentum:g}"
    )
    search = f"searches of {counted(max(settings.depth, 0), 'ply')}"
    quiet = f" with {settings.quiescence}" if settings.quiescence else ""
    first, last = settings.plies
    return f"{counted(task.games, 'training game')} of each, plies {first} to {last}, {search}{quiet}; {rates}."
