from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpilot
from gpilot import rigs

QUICK = {"rounds": 2, "polish": 5, "noise_path": 0}


# Programs.


def pendulum_command(root: Path, *more: str) -> list[str]:
    return [sys.executable, str(root / "examples" / "rigs" / "pendulum_rig.py"), "--seed", "1", *more]


def test_process_describes_itself(root: Path) -> None:
    rig = rigs.Process(pendulum_command(root))
    assert [channel.name for channel in rig.inputs] == ["torque"]
    assert rig.inputs[0].high == 0.5
    assert rig.dt == 0.1
    assert rig.can_reset


def test_process_runs_a_study_and_an_explorer(tmp_path: Path, root: Path) -> None:
    rig = rigs.Process(pendulum_command(root), log=tmp_path / "log")
    config = rig.config(states={"angle": None, "rate": {"derivative_of": "angle"}}, initial=3, training=QUICK)
    seen: list[int] = []
    with gpilot.Study.create(tmp_path / "p.study", config) as study:
        assert study.run(rig, 5, callbacks=[lambda loop, step, measured: seen.append(loop.told)]) == 5
        assert len(seen) == 5
        assert study.told == 5

        def fail(loop: Any, step: Any, measured: Any) -> None:
            raise KeyError("callback")

        with pytest.raises(KeyError):
            study.run(rig, 5, callbacks=[fail])
    explorer = gpilot.Explorer(config)
    with rig:
        explorer.run(rig, 4)
        assert explorer.measurements == 4


def test_process_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(gpilot.RigError):
        rigs.Process("exit 3", log=tmp_path / "log")
    with pytest.raises(gpilot.RigError, match="exit code 127"):
        rigs.Process("nothing-of-this-name")


# Gymnasium.


def test_pendulum_is_learned() -> None:
    rig = rigs.Gymnasium("Pendulum-v1", outputs={"th": rigs.angle(sin=1, cos=0), "rate": 2}, noise=0.01, seed=3)
    assert rig.dt == 0.05
    assert (rig.inputs[0].low, rig.inputs[0].high) == (-2.0, 2.0)
    assert (rig.outputs[1].low, rig.outputs[1].high) == (-8.0, 8.0)
    config = rig.config(
        states={"th": {"angle": True}, "rate": {"derivative_of": "th"}},
        initial=5,
        strategy="randext",
        retrain_every=10,
        seed=1,
    )
    explorer = gpilot.Explorer(config)
    model = explorer.run(rig, 36)
    assert model is not None
    # One step of the true pendulum, g = 10, m = l = 1, angle from the top: its explicit rule is in the environment.
    for th, rate, u in ((2.5, 0.0, 1.0), (3.0, 1.0, -1.0)):
        truth = rate + (15.0 * np.sin(th) + 3.0 * u) * 0.05
        mean, std = model.transition([[th, rate]], [[u]])
        assert abs(mean[0, 1] - truth) < 0.5 + 3 * std[0, 1]


def test_time_limit_ends_the_sequence() -> None:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=4)
    rig = rigs.Gymnasium(env, repeat=2)
    assert rig.dt == 0.1
    assert [channel.name for channel in rig.outputs] == ["y1", "y2", "y3"]
    config = rig.config(initial=6, training=QUICK)
    explorer = gpilot.Explorer(config)
    explorer.run(rig, 5)
    controls, outputs = explorer.recordings
    assert [len(rows) for rows in controls] == [3, 3, 2]
    assert np.isfinite(outputs[1][0]).all()  # the observation after the reset
    env.close()


def test_seeds_repeat_the_same_episode() -> None:
    def outputs(seed: int) -> np.ndarray:
        with rigs.Gymnasium("Pendulum-v1", noise=0.1, seed=seed) as rig:
            rig.reset(5)
            return np.array([rig.step(np.array([0.5])).outputs for _ in range(3)])

    assert np.array_equal(outputs(1), outputs(1))
    assert not np.array_equal(outputs(1), outputs(2))


def test_mujoco() -> None:
    with rigs.Gymnasium(
        "InvertedPendulum-v5", outputs={"x": 0, "th": 1}, ranges={"x": (-1, 1), "th": (-0.3, 0.3)}, noise=0.001
    ) as rig:
        assert rig.dt == pytest.approx(0.04)
        assert (rig.inputs[0].low, rig.inputs[0].high) == (-3.0, 3.0)
        config = rig.config(
            states={"x": None, "th": None, "v": {"derivative_of": "x"}, "w": {"derivative_of": "th"}},
            initial=5,
            strategy="random",
            retrain_every=20,
            training=QUICK,
        )
        explorer = gpilot.Explorer(config)
        explorer.run(rig, 30)
        controls, _ = explorer.recordings
        assert explorer.measurements == 30
        assert len(controls) > 1  # the pole falls, and the environment is reset


class Broken(gymnasium.Wrapper):
    def __init__(self, env: gymnasium.Env, after: int) -> None:
        super().__init__(env)
        self.left = after

    def step(self, action: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the simulation blew up")
        return super().step(action)


def test_an_environment_that_raises(tmp_path: Path) -> None:
    rig = rigs.Gymnasium(Broken(gymnasium.make("Pendulum-v1"), after=3))
    with gpilot.Study.create(tmp_path / "g.study", rig.config(initial=10)) as study:
        with pytest.raises(RuntimeError, match="blew up"):
            study.run(rig, 6)
        assert study.told == 3
        assert study.steps[-1]["status"] == "unknown"
        assert rig.control.tolist() == [0.0]
    rig.env.close()


def test_wrong_environments() -> None:
    with pytest.raises(TypeError, match="Box action space"):
        rigs.Gymnasium("CartPole-v1")
    with pytest.raises(TypeError, match="env"):
        rigs.Gymnasium(3)
    with pytest.raises(ValueError, match=r"outputs\.th: place \[7\]"):
        rigs.Gymnasium("Pendulum-v1", outputs={"th": 7})
    with pytest.raises(ValueError, match="repeat: 0"):
        rigs.Gymnasium("Pendulum-v1", repeat=0)
    with pytest.raises(ValueError, match="noise"):
        rigs.Gymnasium("Pendulum-v1", noise=-1.0)
    with pytest.raises(ValueError, match=r"ranges\.x"):
        rigs.Gymnasium("Pendulum-v1", ranges={"x": (0, 1)})


# Functions.


def test_applied_controls_are_learned_from() -> None:
    def clipped(u: np.ndarray) -> tuple[list[float], list[float]]:
        c = float(np.clip(u[0], -0.5, 0.5))
        return [c], [c]

    rig = rigs.Callable(clipped, inputs={"u": (-1, 1)}, outputs={"y": (-1, 1)})
    explorer = gpilot.Explorer(rig.config(initial=10))
    explorer.run(rig, 6)
    assert np.nanmax(np.abs(explorer.recordings[0][0])) <= 0.5
