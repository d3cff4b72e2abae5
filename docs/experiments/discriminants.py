"""Logistic regression, Fisher's and the quadratic discriminant beside each other (Buro 1995, section 4).

All three are fitted to who won. The log loss on held-out games shows which predicts better, and a regression whether a
value means the same in every phase. Then the pairings of the paper's table 1 are played, full width, from near-even
openings. What the folder holds already is neither fitted nor played again.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit

import glem
from glem.core.measures.measure import Measure
from glem.core.tasks.counts import rating_text
from glem.core.tasks.tables import Table
from glem.core.tasks.tasks import Workers

FITTERS = {"FISHER": "fisher", "LOG": "logistic", "QUAD": "quadratic"}
PAIRINGS = (
    ("LOG", "QUAD", 30, 30, 61.8),
    ("FISHER", "QUAD", 30, 30, 59.8),
    ("LOG", "FISHER", 30, 30, 55.3),
    ("LOG", "FISHER", 30, 36, 49.0),
    ("LOG", "QUAD", 30, 38, 54.8),
    ("FISHER", "QUAD", 30, 38, 49.5),
    ("LOG", "QUAD", 30, 45, 50.5),
)
"""Players, their minutes for a game, and the first one's percentage in 200 games (Buro 1995, table 1)."""

FEWEST = 200
"""Held-out positions that a phase needs for a regression of its own."""


class LogLoss(Measure):
    """Minus the logarithm of the probability of the result, half and half for a draw."""

    heading = "log loss"
    form = ".4f"

    def terms(self, judged):
        """Losses of the positions."""
        won, odds = (judged.positions.result + 1) / 2, judged.sums.astype(float)
        return won * np.logaddexp(0, -odds) + (1 - won) * np.logaddexp(0, odds)


def show_meanings(evaluations, held_out, picture):
    """Regress held-out results on each discriminant by phase; draw the share of wins over the discriminant."""
    won, rows = (held_out.result + 1) / 2, []
    phases = evaluations["LOG"].learning.phases
    phase = phases.of(held_out.positions)
    axes = (figure := Figure(layout="constrained")).subplots()
    for name, evaluation in evaluations.items():
        odds = evaluation.sums(held_out.positions).astype(float)
        for number in range(len(phases)):
            own = np.flatnonzero(phase == number)
            if len(own) >= FEWEST and 0 < won[own].mean() < 1:
                model = glem.LogisticDiscriminant().fit(odds[own, None], won[own], game=held_out.game_key[own])
                weights = model.coef_[0, 0], model.intercept_[0]
                cells = (
                    f"{each:+.3f} ± {error:.3f}" for each, error in zip(weights, model.standard_errors_, strict=True)
                )
                rows.append((phases.names[number], name, *cells))
        bins = np.array_split(np.argsort(odds), max(min(24, len(odds) // FEWEST), 1))
        axes.plot([odds[part].mean() for part in bins], [won[part].mean() for part in bins], "o", label=name)
    rows.sort(key=lambda row: phases.names.index(row[0]))
    header = ("phase", "by", "slope", "constant")
    print(Table("What a value means: slope 1 and constant 0 where it means what it says", header, rows).text())
    places = np.linspace(*axes.get_xlim(), 100)
    axes.plot(places, expit(places), color="grey", label="what a value claims")
    axes.set(xlabel="discriminant, log odds", ylabel="share of wins")
    axes.legend()
    figure.savefig(picture)


def play(game, folder, given):
    """Play the pairings, all from the same openings."""
    quiescence = f",quiescence={given.quiescence}" if given.quiescence else ""
    common, chosen, rows = f"probcut=off{quiescence}", folder / "openings.txt", []
    for first, second, mine, theirs, paper in PAIRINGS:
        openings = {"openings": chosen}
        if not chosen.exists():
            judge = f"evaluation='{folder / 'LOG'}.npz',depth={given.judge_depth},{common}"
            openings = {"openings": f"random:{given.opening_plies}", "opening_count": given.opening_count}
            openings |= {"judge": judge, "even_within": given.even_within, "save_openings": chosen}
        players = [
            f"name={name},evaluation='{folder / name}.npz',clock={given.game_seconds * minutes / 30:g},{common}"
            for name, minutes in ((first, mine), (second, theirs))
        ]
        record = folder / f"{first}-{second}-{mine}-{theirs}.jsonl"
        played = glem.tournament(
            game, players, record=record, seed=given.seed, workers=Workers(given.workers), **openings
        )
        (found,) = played.standings.pairings.values()
        totals = [played.standings.totals[name] for name in (first, second)]
        rates = [one.nodes / one.seconds / 1e6 if one.seconds else np.nan for one in totals]
        rows.append(
            (
                f"{first} - {second}",
                f"{mine} - {theirs}",
                f"{found.wins}-{found.draws}-{found.losses}",
                f"{100 * found.score:.1f}",
                f"{paper:.1f}",
                rating_text(found.elo.elo, found.elo.error),
                f"{found.significance(is_reversed=found.score < 0.5)[0]:.2g}",
                " - ".join(f"{one.mean_depth:.1f}" for one in totals),
                " - ".join(f"{rate:.2f}" for rate in rates),
            )
        )
    header = ("pairing", "minutes", "W-D-L", "%", "paper", "Elo", "p", "depth", "million nodes/s")
    print(Table(f"Table 1, where {given.game_seconds:g} s stand for 30 minutes", header, rows).text())


def main(arguments=None):
    """Fit, compare on held-out games, and play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("positions", type=Path, help="positions with results, made without --merge")
    parser.add_argument("folder", type=Path, help="for evaluations, positions, openings and games")
    parser.add_argument("--patterns", help="whose contents become terms by tables of other games")
    parser.add_argument("--baseline", help="of the linear features only those of this baseline")
    parser.add_argument("--plies", help="first and last ply, such as 7-60: early positions carry little information")
    parser.add_argument("--held-out", type=float, default=0.2)
    parser.add_argument("--opening-count", type=int, default=100, help="openings, played twice; 0 plays none")
    parser.add_argument("--opening-plies", type=int, default=10)
    parser.add_argument("--even-within", type=float, default=0.4, help="greatest value of an opening, in log odds")
    parser.add_argument("--judge-depth", type=int, default=11, help="plies by which LOG judges openings")
    parser.add_argument("--game-seconds", type=float, default=3.0, help="what stands for 30 minutes")
    parser.add_argument("--quiescence", default="", help="of all players")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args(arguments)
    folder = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    positions = glem.read_positions(given.positions)
    if given.plies:
        first, last = map(int, given.plies.split("-"))
        positions = positions.select((positions.ply >= first) & (positions.ply <= last))
    training, held_out = glem.train_test_split(positions, given.held_out, given.seed)
    settings = {"patterns": given.patterns, "baseline": given.baseline, "seed": given.seed}
    for name, fitter in FITTERS.items():
        if not (file := folder / f"{name}.npz").exists():
            for warning in glem.fit(training, fitter, output=file, **settings).warnings:
                print(f"{name}, {warning}")
    evaluations = {name: glem.load_evaluation(folder / f"{name}.npz") for name in FITTERS}
    print(glem.evaluate(evaluations, held_out, LogLoss()), end="\n\n")
    show_meanings(evaluations, held_out, folder / "chances.svg")
    if given.opening_count:
        print()
        play(positions.game, folder, given)


if __name__ == "__main__":
    main()
