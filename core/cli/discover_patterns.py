"""``glem discover patterns``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.features.learning import Learning

_LINE = 100
"""Characters of a line of boards."""


def _boards(learning: Learning, patterns: list[tuple[str, tuple[int, ...]]]) -> list[str]:
    """Draw the cells of each pattern that has any, several boards beside each other."""
    layout = learning.game.layout
    patterns = [each for each in patterns if any(learning.features[member].cell is not None for member in each[1])]
    if layout is None or not patterns:
        return []
    width = max(2 * layout.columns, *(len(name) + 1 for name, _ in patterns)) + 2
    lines, many = [], max(1, _LINE // width)
    for start in range(0, len(patterns), many):
        part = patterns[start : start + many]
        lines += ["", "".join(f"{name:<{width}}" for name, _ in part).rstrip()]
        cells = [{learning.features[feature].cell for feature in members} for _, members in part]
        for first in range(0, layout.rows * layout.columns, layout.columns):
            row = range(first, first + layout.columns)
            drawn = (" ".join("#" if cell in own else "." for cell in row) for own in cells)
            lines.append("".join(f"{text:<{width}}" for text in drawn).rstrip())
    return [*lines, ""]


@options.command(
    "discover patterns",
    "discover patterns labelled.parquet -o patterns.txt",
    "discover patterns labelled.parquet --prior default --instances 12 -o added.txt",
)
@options.argument("positions", type=options.INPUT)
@options.output("Text file of patterns to write.")
@options.count("--instances", 46, "Instances of all patterns together; symmetric images count.", most=1000)
@options.option(
    "--prior",
    metavar="EVALUATION",
    help="Find patterns to add to this evaluation, of counts too. It should not be fitted to these games.",
)
@options.count("--size", 10, "Most features of a pattern.", least=2, most=20)
@options.count("--sample", 800_000, "Positions to mine.", least=100)
@options.count(("-n", "--minimum-matches"), None, "Least match count in mining; by default 1 in 2,000 positions.")
@options.seed
@options.jobs
def command(
    positions: str, output: str, prior: str | None, size: int, sample: int, seed: int, jobs: int, **plan: Any
) -> None:
    """Find patterns in scored POSITIONS (Parquet), for `glem fit --patterns`.

    Sets of board cells whose joint contents say more of the score than each part does, those first that explain most
    for their number of instances. Labels by search serve better than results. With --prior, what they explain is what
    the evaluation leaves: "glem fit --prior EVALUATION --patterns" adds them to it.
    """
    from glem.core.discovery.candidates import draw_sample
    from glem.core.discovery.pattern_design import DesignPlan, design_patterns, names_of
    from glem.core.evaluation.named import load_value
    from glem.core.features.learning import load_learning
    from glem.core.files.atomic import write_text
    from glem.core.positions.files import read_positions

    check_outputs(output)
    given = read_positions(positions)
    before = None if prior is None else load_value(prior, given.game)
    learning = load_learning(given.game.name) if before is None else before.learning
    drawn = draw_sample(given, sample, seed)
    how: dict[str, Any] = {"prior": before, "jobs": jobs, "progress": display_progress()}
    found = design_patterns(drawn, learning, DesignPlan(maximum_size=size, **plan), **how)
    if not found:
        raise BadInputError(
            f"no pattern with at most {plan['instances']} symmetric instances explains the labels of held-out games: "
            "more positions, more instances or a smaller minimal match count may help"
        )
    # Numbers go on where those of the prior end: names of patterns differ.
    first = 1 if before is None or before.patterns is None else 1 + len(before.patterns.patterns)
    names = names_of(learning, found, first)
    boards = _boards(learning, [(name, each.features) for name, each in zip(names, found, strict=True)])
    result: list[dict[str, Any]] = [
        {"name": name, "features": features, "instances": each.instances, "gain": each.gain, "left": each.left}
        for (name, features), each in zip(names.items(), found, strict=True)
    ]
    # What is added to an evaluation explains little.
    digits = 1 if before is None else 2
    rows = [
        (name, " ".join(members), str(instances), f"{gain:.{digits}%}", f"{left:.{digits}%}")
        for name, members, instances, gain, left in (each.values() for each in result)
    ]
    lines = [f"{name}: {members}" for name, members, *_ in rows] + [f"# {line}".rstrip() for line in boards]
    write_text(output, "\n".join(lines) + "\n")
    table = Table(
        f"Patterns of {counted(len(drawn), 'position')}, and what they explain of held-out labels",
        ("pattern", "features", "instances", "explains", "left"),
        rows,
    )
    print_result({"output": output, "patterns": result}, (table, *boards, f"wrote {output}"))
