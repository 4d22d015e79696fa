"""The command line and Python give the same bits."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gpilot

Cli = Callable[..., str]
CONFIG = """
[study]
dt = 0.1
seed = 7
initial = 4
[[input]]
name = "torque"
low = -0.5
high = 0.5
[[output]]
name = "angle"
low = -0.8
high = 0.8
[[state]]
name = "angle"
[[state]]
name = "rate"
derivative_of = "angle"
"""


def columns(path: Path) -> dict[str, np.ndarray]:
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) if row[name] else np.nan for row in rows]) for name in rows[0]}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, cli: Cli) -> Path:
    folder = tmp_path_factory.mktemp("bits")
    for seed, name in ((1, "train"), (2, "test")):
        cli("simulate", "pendulum", "--steps", 40, "--seed", seed, "--hold", "1:5", "-o", folder / f"{name}.csv")
    return folder


def without_seconds(path: Path) -> dict[str, object]:
    model = json.loads(path.read_text())
    model["report"].pop("seconds", None)
    return model


def test_simulate(files: Path) -> None:
    pendulum = gpilot.System("pendulum")
    run = pendulum.simulate(pendulum.random_controls(40, hold=(1, 5), seed=1), seed=1)
    train = columns(files / "train.csv")
    assert np.array_equal(train["c"], run.controls[:, 0], equal_nan=True)
    assert np.array_equal(train["y_th"], run.outputs[:, 0], equal_nan=True)


def test_fit_and_predict(files: Path, cli: Cli) -> None:
    cli("fit", files / "train.csv", "--inputs", "c", "--outputs", "y_th", "--states", "th,th_dot",
        "--derivative-of", "th_dot=th", "--seed", 3, "-o", files / "cli.json")  # fmt: skip
    train, test = columns(files / "train.csv"), columns(files / "test.csv")
    model = gpilot.GPSSM(
        states=["th", "th_dot"], derivative_of={"th_dot": "th"}, dt=0.1, inputs=["c"], outputs=["y_th"], seed=3
    ).fit(train["c"], train["y_th"])
    model.save(files / "python.json")
    assert without_seconds(files / "cli.json") == without_seconds(files / "python.json")

    cli("predict", files / "cli.json", files / "test.csv", "--warmup", 10, "--seed", 5, "-o", files / "p.csv")
    expected = columns(files / "p.csv")
    p = model.distribution(test["c"], test["y_th"][:10], n_draws=200, seed=5)
    assert np.array_equal(p.mean[:, 0], expected["y_th_mean"])
    assert np.array_equal(p.std[:, 0], expected["y_th_sd"])
    assert np.array_equal(p.quantiles[0.95][:, 0], expected["y_th_q95"])


def test_identify(files: Path, cli: Cli) -> None:
    cli("simulate", "pendulum", "--steps", 150, "--seed", 4, "--hold", "1:5", "-o", files / "long.csv")
    cli("fit", files / "long.csv", "--inputs", "c", "--outputs", "y_th", "--states", 2, "--structure", "linear",
        "-o", files / "icli.json")  # fmt: skip
    rows = columns(files / "long.csv")
    model = gpilot.identify(
        rows["c"], rows["y_th"], states=2, structure="linear", dt=0.1, inputs=["c"], outputs=["y_th"]
    )
    model.save(files / "ipython.json")
    assert without_seconds(files / "icli.json") == without_seconds(files / "ipython.json")


def test_ask_on_both_sides_of_one_study(tmp_path: Path, cli: Cli) -> None:
    """Two studies, one kept by Python, one by the command line; in the end each asks the other's next step."""
    (tmp_path / "rig.toml").write_text(CONFIG)
    mine, theirs = tmp_path / "python.study", tmp_path / "cli.study"
    study = gpilot.Study.create(mine, CONFIG)
    for k in range(6):
        step = study.ask()
        asked = json.loads(cli("ask", theirs, "--config", tmp_path / "rig.toml", "--format", "json"))
        assert asked["u"] == step.control.tolist()
        assert asked["step"] == step.id == k + 1
        y = 0.3 * np.sin(k) + 0.1 * step.control[0]
        study.tell(step, y)
        cli("tell", theirs, "--step", step.id, "--y", repr(float(y)))
    assert step.choice.phase == "chosen"
    study.close()
    next_of_mine = json.loads(cli("ask", mine, "--format", "json"))
    with gpilot.Study.open(theirs) as other:
        assert other.ask().control.tolist() == next_of_mine["u"]


def test_compare(tmp_path: Path, cli: Cli) -> None:
    cli("compare", "kink", "--strategies", "random,latmi", "--trials", 2, "--steps", 3, "-o", tmp_path / "cli")
    result = gpilot.compare("kink", ["random", "latmi"], trials=2, steps=3, directory=tmp_path / "python")
    assert result.complete
    assert (tmp_path / "cli" / "results.csv").read_bytes() == (tmp_path / "python" / "results.csv").read_bytes()
