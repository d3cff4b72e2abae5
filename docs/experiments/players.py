"""Grades of players by the scores in their comments, beside their ratings (Ban 2012, section 4.3 and figure 2).

From each game come two consecutive positions, one judged by each player. The games of players differ, and with them how
hard results are to predict. Therefore each has an *advantage* too: its mean log correctness less that of its opponents
on the neighbouring positions of the same games, beside the difference of the ratings.
"""

import argparse

import numpy as np
import pandas as pd
from strength import correlation, show

import glem
from glem.core.grading.calibration import Prediction, log_correctness_of
from glem.core.grading.correctness import DEFAULT_SETTINGS, grade_of
from glem.core.grading.scorers.comments import CommentScorer
from glem.core.positions.positions import Positions
from glem.core.positions.selection.reading import read_selected
from glem.core.positions.selection.selection import ALL, SelectionRule
from glem.core.tasks.tables import Table


def pairs(part, scorer, random):
    """Draw two consecutive positions of each game that both have a score: a row each, with who judged it."""
    records, record, move = part.records, part.extra["row"], part.extra["move"]
    scores = records.move_columns["comment_score"]
    scored = (move >= 0) & ~np.isnan(scores[move])
    both = np.flatnonzero(scored[:-1] & scored[1:] & (record[:-1] == record[1:]))
    shuffled = both[random.permutation(len(both))]
    first = shuffled[np.unique(record[shuffled], return_index=True)[1]]
    rows = np.sort(np.concatenate([first, first + 1]))
    chosen, game = part.select(rows), record[rows]
    found = pd.DataFrame({"game": game, "result": chosen.result, "value": scorer.predict(chosen).value})
    for side, colour in ((1, "white"), (-1, "black")):
        own, names = chosen.side == side, np.array([*records.names[colour], None], object)
        found.loc[own, "player"] = names[records.extra[colour][game[own]]]
        found.loc[own, "rating"] = records.extra[f"{colour}_rating"][game[own]].astype(float)
    return found


def read(game, files, seed, rule, skip_bad):
    """Read the games: a row for each position whose game has a value from both players, by players with ratings."""
    scorer, random, parts, games = CommentScorer("comments"), np.random.default_rng(seed), [], 0
    for file in files:
        for part in read_selected(game, file, rule, skip_bad=skip_bad):
            if isinstance(part, Positions):
                found = pairs(part, scorer, random)
                found["game"] += games
                games += len(part.records)
                parts.append(found)
    frame = pd.concat(parts, ignore_index=True)
    frame["value"] = scorer.complete(Prediction(frame.value.to_numpy())).value
    frame["rating"] = frame.rating.where(frame.rating > 0)
    both = frame.groupby("game").value.transform("count") == 2
    return frame[both & frame.rating.notna() & frame.player.notna()].copy()


def advantages(frame):
    """Compare players with those opponents that are graded too: a row each."""
    graded = frame.dropna(subset="log")
    faced = graded.merge(graded, on="game", suffixes=("", "_other"))
    faced = faced[faced.player != faced.player_other]
    better, ahead = faced.log - faced.log_other, faced.rating - faced.rating_other
    by_player = pd.DataFrame({"player": faced.player, "better": better, "ahead": ahead}).groupby("player")
    return by_player.agg(better=("better", "mean"), error=("better", "sem"), ahead=("ahead", "mean"))


def main(arguments=None):
    """Print grades, ratings and advantages, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("files", nargs="+", help="game records with scores in comments, names and ratings")
    parser.add_argument("--fewest", type=int, default=100, help="least games of a player")
    parser.add_argument("--skip-moves", type=int, default=10, help="first moves of each side that are left out")
    parser.add_argument("--skip-bad", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", default="players.svg")
    given = parser.parse_args(arguments)
    rule = SelectionRule(ALL, given.skip_moves)
    frame = read(glem.load_game(given.game), given.files, given.seed, rule, given.skip_bad)
    points, players = {}, frame.groupby("player")
    for name, own in players:
        if len(own) >= given.fewest:
            game, value = own.game.to_numpy(), Prediction(own.value.to_numpy())
            logs = log_correctness_of(value, own.result.to_numpy(), game)[1]
            frame.loc[own.index, "log"] = DEFAULT_SETTINGS.floored(logs)
            points[name] = own.rating.mean(), grade_of(logs, game)
    if not points:
        raise SystemExit("no player has so many games with scores in comments")
    points = dict(sorted(points.items(), key=lambda item: -item[1][0]))
    found = advantages(frame).reindex(points).dropna()
    rows = [
        (
            name,
            f"{rating:.0f}",
            f"{grade.games:,}",
            f"{grade.grade:.4f} ± {grade.error:.4f}",
            *(("{:+.3f} ± {:.3f}|{:+.0f}".format(*found.loc[name])).split("|") if name in found.index else ("", "")),
        )
        for name, (rating, grade) in points.items()
    ]
    header = ("player", "rating", "games", "grade", "advantage", "rating difference")
    print(Table("Grades by rating", header, rows).text())
    print(f"{len(players) - len(points):,} players with too few games left out\n")
    show(points, given.picture)
    print(correlation("advantage and rating difference", found.ahead, found.better))


if __name__ == "__main__":
    main()
