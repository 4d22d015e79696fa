#!/usr/bin/env python3
"""Pools comparisons over systems: pool.py DIR.. [--steps 10,20,30] [--reference random] [--metric rmse]

Each DIR is one of `gpilot compare`, finished or not: trials that all strategies have done count. For each system and over
all of them: the geometric mean over trials of the ratio of a strategy's error to the reference's in the same trial, its
95 % interval (paired bootstrap, trials drawn within systems) and p (Wilcoxon's signed-rank test of the logarithms).
"""

import argparse
import glob
import json
import math
import os
import sys

import numpy as np


def load(directory, metric):
    """{strategy: {trial: errors along the steps}} of a comparison's directory, strategies in its order."""
    with open(os.path.join(directory, "comparison.json")) as file:
        errors = {strategy: {} for strategy in json.load(file)["strategies"]}
    for path in glob.glob(os.path.join(directory, "trials", "*.json")):
        with open(path) as file:
            record = json.load(file)
        column = record["metrics"].index(metric)
        values = [step["values"][column] for step in record["steps"]]
        errors[record["strategy"]][record["trial"]] = [math.nan if v is None else v for v in values]
    return errors


def signed_rank_p(x):
    """Two-sided p of Wilcoxon's signed-rank test; exact up to 60 differences, ties included, as in gpilot compare."""
    x = x[x != 0.0]
    n = len(x)
    if n == 0:
        return 1.0
    _, inverse, counts = np.unique(np.abs(x), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * (counts - 1))[inverse]  # equal sizes share the mean of their ranks
    below = ranks[x < 0].sum()
    if n <= 60:
        doubled = np.rint(2 * ranks).astype(int)
        ways = np.zeros(doubled.sum() + 1)
        ways[0] = 1.0
        for rank in doubled:
            ways[rank:] += ways[:-rank].copy()
        least = round(2 * min(below, ranks.sum() - below))
        return min(1.0, 2.0 * ways[: least + 1].sum() / 2.0**n)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (counts**3 - counts).sum() / 48
    z = max(abs(below - n * (n + 1) / 4) - 0.5, 0.0) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def bootstrap(groups, rng, draws=4000):
    """95 % interval of the mean over systems of the means over trials of the logarithms."""
    means = np.mean([rng.choice(g, (draws, len(g))).mean(axis=1) for g in groups], axis=0)
    return np.quantile(means, [0.025, 0.975])


def cell(groups, rng):
    low, high = bootstrap(groups, rng)
    mean = np.mean([g.mean() for g in groups])
    return f"{math.exp(mean):.2f} ({math.exp(low):.2f} to {math.exp(high):.2f}) p {signed_rank_p(np.concatenate(groups)):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="+")
    parser.add_argument("--steps", default="10,20,30")
    parser.add_argument("--reference", default="random")
    parser.add_argument("--metric", default="rmse")
    arguments = parser.parse_args()
    steps = [int(step) for step in arguments.steps.split(",")]
    rng = np.random.default_rng(1)
    pooled = {}
    failed = 0
    for directory in arguments.directories:
        errors = load(directory, arguments.metric)
        if arguments.reference not in errors:
            sys.exit(f"pool.py: {directory}: no trial of {arguments.reference}")
        trials = sorted(set.intersection(*(set(of) for of in errors.values())))
        if not trials:
            sys.exit(f"pool.py: {directory}: no trial that all strategies have done")
        name = os.path.basename(os.path.normpath(directory))
        print(f"\n| {name}, {len(trials)} trials | error of {arguments.reference} or ratio, after "
              + " | ".join(str(step) for step in steps) + " |")
        print("|---|" + "---|" * len(steps))
        reference = np.array([errors[arguments.reference][trial] for trial in trials])
        middle = np.exp(np.mean(np.log(reference[:, steps]), axis=0))
        print(f"| {arguments.reference} | " + " | ".join(f"{value:.3f}" for value in middle) + " |")
        for strategy in errors:
            if strategy == arguments.reference:
                continue
            ratios = np.log(np.array([errors[strategy][trial] for trial in trials])[:, steps] / reference[:, steps])
            sound = np.isfinite(ratios).all(axis=1)
            failed += int((~sound).sum())
            cells = []
            for k, step in enumerate(steps):
                group = ratios[sound, k]
                pooled.setdefault((strategy, step), []).append(group)
                cells.append(cell([group], rng))
            print(f"| {strategy} | " + " | ".join(cells) + " |")
    if len(arguments.directories) > 1:
        print("\n| all systems | " + " | ".join(f"after {step}" for step in steps) + " |")
        print("|---|" + "---|" * len(steps))
        for strategy in dict.fromkeys(strategy for strategy, _ in pooled):
            print(f"| {strategy} | " + " | ".join(cell(pooled[strategy, step], rng) for step in steps) + " |")
    if failed:
        print(f"\n{failed} trial(s) failed and do not count above")


if __name__ == "__main__":
    main()
