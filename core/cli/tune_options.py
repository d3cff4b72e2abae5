"""``glem tune-options``."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, tell_note
from glem.core.cli.options.described import described
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table
from glem.core.tuning.by_spsa import OptionTuning

if TYPE_CHECKING:
    from glem.core.tasks.tasks import Workers
    from glem.core.tuning.option_tuning import OptionsTuning

_OF_MATCHES = ("openings", "opening_format", "opening_plies", "opening_count", "adjudicate")
_OF_GRADES = ("file_format", "skip_bad", "select", "skip_moves", "skip_end", "held_out", "check_positions")


@options.command(
    "tune-options",
    "tune-options GAME PROTOCOL:./engine,nodes=2000 games.pgn --parameter Futility,100,0,300,15 -o tuned",
    "tune-options GAME PROTOCOL:./engine,nodes=2000 --parameters options.txt --openings book.epd -o tuned",
    features=False,
)
@click.argument("game_name", metavar="GAME")
@click.argument("player", metavar="PLAYER")
@options.argument("files", nargs=-1, metavar="[GAMES...]", type=options.INPUT)
@options.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="LINE",
    help="An option to tune: NAME,START,MIN,MAX,C_END,R_END or NAME,true; what is left out, the engine announces. May "
    "be repeated.",
)
@options.file(("--parameters", "parameters_file"), "File of such lines.", metavar="FILE")
@options.output("Folder for the journal, the result and the paths of the values; continued if there.", is_folder=True)
@described(OptionTuning)
@options.file_format
@options.skip_bad
@options.seed
@options.workers
def command(
    game_name: str,
    player: str,
    files: tuple[str, ...],
    parameters: tuple[str, ...],
    parameters_file: str | None,
    output: str,
    file_format: str | None,
    skip_bad: bool,
    seed: int,
    workers: Workers,
    **how: Any,
) -> None:
    """Tune options of PLAYER, an external engine, that only the engine knows.

    With GAMES, values of the options are compared by grade: the scores that PLAYER gives to positions at its limit,
    best a number of nodes, should predict the results. Without, they are compared by games of PLAYER against itself.
    The search is SPSA (Spall 1998), with parameters in the custom of fishtest and OpenBench: START, MIN, MAX; C_END,
    half the distance of compared values at the end, and R_END, the step of a comparison there, in units of C_END.

    Interrupted or killed, the same command continues, with equal results. They do not depend on the number of workers.
    """
    from glem.core.discovery.game_positions import Games
    from glem.core.game.game import load_game
    from glem.core.report.svg import can_draw
    from glem.core.report.value_paths import write_value_paths
    from glem.core.tuning.engine_options import read_lines
    from glem.core.tuning.option_tuning import PATHS

    unused, problem = (_OF_MATCHES, "goes with matches, without GAMES") if files else (_OF_GRADES, "goes with GAMES")
    for parameter in options.given_parameters():
        if parameter.name in unused:
            raise BadInputError(f"{parameter.opts[0]} {problem}")
    check_outputs(None if Path(output).is_dir() else output, folders=[output])
    lines = [(line, "--parameter") for line in parameters]
    found = OptionTuning(**how).tune(
        Games(load_game(game_name), files, file_format, skip_bad),
        player,
        lines if parameters_file is None else [*lines, *read_lines(parameters_file)],
        Path(output),
        seed=seed,
        workers=workers,
        progress=display_progress(),
        tell=tell_note,
    )
    if can_draw():
        write_value_paths(Path(output) / PATHS, [each.name for each in found.parameters], found.path, found.values)
    data = {"output": output, **found.to_json()}
    print_result(data, [*_told(found, by_match=not files), f"wrote {output}"])


def _told(found: OptionsTuning, *, by_match: bool) -> Iterator[str | Table]:
    schedule = found.schedule
    batch = counted(schedule.batch, "pair" if by_match else "position") + (" of games" if by_match else "")
    yield f"{counted(schedule.iterations, 'iteration')}, each of {batch}"
    figures = (found.values.tolist(), found.errors.tolist(), found.path[-1].tolist(), found.options.values())
    yield Table(
        "Averages of the last half of the iterations",
        ("parameter", "start", "value", "error", "last", "rounded"),
        [
            (
                one.name,
                f"{one.start:g}",
                f"{value:.2f}",
                f"{error:.2f}" if math.isfinite(error) else "",
                f"{last:.2f}",
                text,
            )
            for one, value, error, last, text in zip(found.parameters, *figures, strict=True)
        ],
    )
    if found.check is not None:
        check = found.check
        yield (
            f"held out, {counted(check.positions, 'position')} of {counted(check.games, 'game')}: tuned against start "
            f"{check.difference:+.5f} ± {check.error:.5f} in log correctness, p = {check.p_value:.2g}"
        )
        yield check.verdict
    yield from (f"note: {note}" for note in found.notes)
    yield ",".join(f"{name}={value}" for name, value in found.options.items())
    yield from found.setoption_lines()
    if by_match:
        tuned = found.player_text("tuned", found.options)
        start = found.player_text("start", {one.name: one.text(one.start) for one in found.parameters})
        yield f"to verify: glem match {found.game} {shlex.quote(tuned)} {shlex.quote(start)} --sprt 0,5"
