from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest

import gpilot

matplotlib.use("agg")


def test_figures(pendulum_model: gpilot.Model, recording: gpilot.Run, tmp_path: Path) -> None:
    p = pendulum_model.distribution(recording.controls, recording.outputs[:10])
    axes = [
        gpilot.plot.prediction(p, recording.outputs, dt=0.1, warmup=10),
        gpilot.plot.residuals(pendulum_model.evaluate(recording.controls, recording.outputs, warmup=5)),
        gpilot.plot.phase_portrait(pendulum_model, (-1, 1), (-2, 2), control=[0.1]),
    ]
    line = axes[0].get_lines()[0]
    assert np.array_equal(line.get_ydata(), p.mean[:, 0])
    assert axes[2].get_xlabel() == "th"
    for k, ax in enumerate(axes):
        ax.figure.savefig(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 1000


def test_comparison_and_plan(tmp_path: Path) -> None:
    quick = {"rounds": 2, "polish": 5, "noise_path": 0}
    result = gpilot.compare("kink", ["random", "latmi"], trials=2, steps=3, directory=tmp_path / "c", training=quick)
    assert len(gpilot.plot.comparison(result).get_lines()) == 2
    with pytest.raises(ValueError, match="metric: no values of 'mse'"):
        gpilot.plot.comparison(result, metric="mse")
    config = gpilot.Config(dt=1.0, inputs={"u": (-1, 1)}, outputs={"y": (-1, 1)}, initial=2, training=quick)
    explorer = gpilot.Explorer(config)
    for y in (0.1, 0.2):
        explorer.ask()
        explorer.tell(y)
    choice = explorer.ask()
    assert choice.plan.shape[1] == 1
    assert gpilot.plot.landscape(choice).get_ylabel() == "control"
