#!/usr/bin/env python3
"""Tables of docs/results in Markdown from what `gpilot compare` wrote.

tables.py errors DIR..            mean (sd) of the rmse at some steps, area, steps to random's end, from summary.json;
                                  **better**, *worse* than random with p < .01 after Holm's correction
tables.py against STRATEGY DIR..  medians of the rmse, and p of STRATEGY against every other (Wilcoxon's signed-rank test,
                                  two-sided, corrected by Holm for the lines of a system) at steps 15 and 30
tables.py medians DIR..           medians of the rmse after 10 / 20 / 30 steps, a row per strategy
tables.py share METRIC DIR..      means of a metric after 10 / 20 / 30 steps in %, a row per strategy
"""

import csv
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "benchmarks", "third_party"))
from pool import signed_rank_p  # noqa: E402


def summaries(directories):
    """(name of the system, its metric rmse) of every system of every comparison."""
    for directory in directories:
        with open(os.path.join(directory, "summary.json")) as file:
            for system in json.load(file)["systems"]:
                yield system["system"], next(m for m in system["metrics"] if m["metric"] == "rmse")


def curves(directory, metric="rmse"):
    """{system: {strategy: [trials x steps]}}, in the order of the file."""
    result = {}
    with open(os.path.join(directory, "results.csv")) as file:
        for row in csv.DictReader(file):
            if row["metric"] == metric:
                trials = result.setdefault(row["system"], {}).setdefault(row["strategy"], {})
                trials.setdefault(int(row["trial"]), []).append(float(row["value"]))
    return {
        system: {strategy: np.array([trials[k] for k in sorted(trials)]) for strategy, trials in strategies.items()}
        for system, strategies in result.items()
    }


def steps_to(goal, errors):
    """Median over trials of the first step from which the error stays at or below the goal."""
    first = [len(curve) - np.argmax(np.append(curve[::-1] > goal, True)) for curve in errors]
    return float(np.median(first))


def number(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def steps_text(value, last):
    return f"> {last}" if value > last else f"{value:g}"


def p_text(p):
    return "< .001" if p < 0.001 else "1" if p >= 0.9995 else f"{p:.3f}"[1:]


def marked(text, statistics):
    for test in statistics["tests"]:
        if test["reference"] == "random" and test["p_holm"] < 0.01:
            mark = "**" if test["direction"] < 0 else "*"
            return mark + text + mark
    return text


def error_tables(directories):
    for system, metric in summaries(directories):
        columns = [step["step"] for step in metric["strategies"][0]["steps"]]
        print(f"\n| {system} | step {' | '.join(map(str, columns))} | area | steps |\n|{'---|' * (len(columns) + 3)}")
        for strategy in metric["strategies"]:
            points = [*strategy["steps"], strategy["area"]]
            cells = [f"{marked(number(p['mean']), p)} ({p['sd']:.2f})" for p in points]
            end = steps_text(strategy["steps_to_random"], columns[-1])
            print(f"| {strategy['strategy']} | {' | '.join(cells)} | {end} |")


def holm(values):
    adjusted, largest = [0.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = largest
    return adjusted


def tests_against(strategies, name, step):
    """{other: "p better|worse"} of a strategy against the others."""
    others = [other for other in strategies if other != name]
    differences = [strategies[name][:, step] - strategies[other][:, step] for other in others]
    adjusted = holm([signed_rank_p(d) for d in differences])
    words = ["better" if np.median(d) < 0 else "worse" for d in differences]
    return {other: f"{p_text(p)} {word}" for other, p, word in zip(others, adjusted, words)}


def against_tables(name, directories):
    for directory in directories:
        for system, strategies in curves(directory).items():
            columns = (0, 5, 10, 15, 20, 30)
            goal = np.median(strategies["random"][:, -1])
            tests = {step: tests_against(strategies, name, step) for step in (15, 30)}
            print(f"\n| {system} | step {' | '.join(map(str, columns))} | steps | p at 15 | p at 30 |\n|{'---|' * 10}")
            for strategy, errors in strategies.items():
                medians = " | ".join(number(np.median(errors[:, step])) for step in columns)
                end = steps_text(steps_to(goal, errors), errors.shape[1] - 1)
                p = " | ".join(tests[step].get(strategy, "") for step in (15, 30))
                title = f"**{strategy}**" if strategy == name else strategy
                print(f"| {title} | {medians} | {end} | {p} |")


def rows_over_systems(directories, metric, cell):
    tables = [(d, s, c) for d in directories for s, c in curves(d, metric).items()]
    print(f"| | {' | '.join(f'{os.path.basename(os.path.normpath(d))}: {s}' for d, s, _ in tables)} |")
    print(f"|{'---|' * (len(tables) + 1)}")
    for strategy in dict.fromkeys(name for _, _, c in tables for name in c):
        print(f"| {strategy} | {' | '.join(cell(c[strategy]) if strategy in c else '' for _, _, c in tables)} |")


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "errors":
        error_tables(arguments[1:])
    elif len(arguments) >= 3 and arguments[0] == "against":
        against_tables(arguments[1], arguments[2:])
    elif len(arguments) >= 2 and arguments[0] == "medians":
        rows_over_systems(arguments[1:], "rmse", lambda e: " / ".join(number(np.median(e[:, k])) for k in (10, 20, 30)))
    elif len(arguments) >= 3 and arguments[0] == "share":
        rows_over_systems(
            arguments[2:], arguments[1], lambda e: " / ".join(f"{100 * e[:, k].mean():.0f}" for k in (10, 20, 30))
        )
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
