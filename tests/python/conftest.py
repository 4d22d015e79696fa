from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gpilot

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"rounds": 3, "polish": 10, "noise_path": 0}
"""Training that is short, where a test is not about how good it is."""


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def program() -> str:
    """The command line program of this checkout."""
    path = Path(os.environ.get("GPILOT_PROGRAM", ROOT / "build" / "release" / "bin" / "gpilot"))
    if not path.exists():
        pytest.fail(f"{path} is missing; 'make build' makes it")
    return str(path)


@pytest.fixture(scope="session")
def cli(program: str) -> Callable[..., str]:
    def run(*arguments: object, code: int = 0) -> str:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    return run


@pytest.fixture(scope="session")
def recording() -> gpilot.Run:
    pendulum = gpilot.System("pendulum")
    return pendulum.simulate(pendulum.random_controls(40, hold=(1, 5), seed=1), seed=1)


@pytest.fixture(scope="session")
def pendulum_model(recording: gpilot.Run) -> gpilot.Model:
    return (
        gpilot.GPSSM(states=["th", "rate"], derivative_of={"rate": "th"}, dt=0.1, inputs=["c"], outputs=["y_th"])
        .fit(recording.controls, recording.outputs)
        .model_
    )


def linear_rows(rows: int = 60, seed: int = 0, outputs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-1, 1, rows), 3)[:rows, np.newaxis]
    x, y = np.zeros(outputs), np.zeros((rows, outputs))
    for t in range(rows):
        y[t] = x + 0.01 * rng.standard_normal(outputs)
        x = 0.8 * x + 0.3 * np.tanh(u[t, 0])
    return u, y
