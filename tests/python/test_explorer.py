from __future__ import annotations

import pickle

import numpy as np
import pytest

import gpilot
from gpilot import rigs

QUICK = {"rounds": 2, "polish": 5, "noise_path": 0}
CONFIG = gpilot.Config(
    dt=1.0, inputs={"u": (-1, 1)}, outputs={"y": (-2, 2)}, initial=4, seed=3, training=QUICK, strategy="latmi"
)


def follow(explorer: gpilot.Explorer, steps: int) -> list[float]:
    y, controls = 0.0, []
    for _ in range(steps):
        u = explorer.ask().control[0]
        controls.append(float(u))
        y = 0.8 * y + np.tanh(2 * u)
        explorer.tell(y)
    return controls


def test_same_seed_same_controls() -> None:
    assert follow(gpilot.Explorer(CONFIG), 7) == follow(gpilot.Explorer(CONFIG), 7)
    assert follow(gpilot.Explorer(CONFIG), 4) != follow(gpilot.Explorer(CONFIG.changed(seed=4)), 4)


def test_a_criterion_of_ones_own_is_maximised() -> None:
    def near_half(decision: gpilot.Decision, control: np.ndarray) -> float:
        return -((control[0] - 0.5) ** 2)

    explorer = gpilot.Explorer(CONFIG, criterion=near_half)
    controls = follow(explorer, 7)
    assert np.allclose(controls[4:], 0.5, atol=1e-3)


def test_a_criterion_may_look_at_the_model() -> None:
    seen = {}

    def spread(decision: gpilot.Decision, control: np.ndarray) -> float:
        mean, covariance = decision.next_state(control)
        outputs, sd = decision.next_outputs(control)
        function, function_sd = decision.function(control)
        seen.update(state=decision.state_mean, covariance=covariance, outputs=outputs, step=decision.step)
        seen["box"] = decision.box
        assert np.allclose(mean, function, atol=0.3)
        return float(function_sd[0])

    explorer = gpilot.Explorer(CONFIG, criterion=spread)
    follow(explorer, 6)
    assert seen["state"].shape == (1,)
    assert seen["covariance"].shape == (1, 1)
    assert seen["outputs"].shape == (1,)
    assert seen["step"] == 6
    assert seen["box"][0].tolist() == pytest.approx([-1.0])


def test_an_exception_in_a_criterion_comes_out_and_the_exploration_goes_on() -> None:
    fails = [True]

    def criterion(decision: gpilot.Decision, control: np.ndarray) -> float:
        if fails[0]:
            raise LookupError("mine")
        return 0.0

    explorer = gpilot.Explorer(CONFIG, criterion=criterion)
    with pytest.raises(LookupError, match="mine"):
        follow(explorer, 6)
    assert explorer.measurements == 4
    fails[0] = False
    follow(explorer, 1)
    assert explorer.measurements == 5
    with pytest.raises(TypeError, match="criterion"):
        gpilot.Explorer(CONFIG, criterion=3)  # type: ignore[arg-type]


def test_wrong_values() -> None:
    explorer = gpilot.Explorer(CONFIG)
    with pytest.raises(gpilot.InputError, match="no control was asked for"):
        explorer.tell([0.0])
    explorer.ask()
    with pytest.raises(ValueError, match=r"y: shape \(3,\), expected \(1,\)"):
        explorer.tell([0.0, 1.0, 2.0])


def test_a_system_of_ones_own() -> None:
    tank = gpilot.System.define(
        lambda x, u: 0.9 * x + 0.1 * u,
        name="tank",
        states=["level"],
        inputs={"valve": (0.0, 1.0)},
        region={"level": (0.0, 1.0)},
        output_sd=0.001,
    )
    run = tank.simulate(np.full((50, 1), 0.5), seed=1, process_sd=0.0)
    assert run.states[-1, 0] == pytest.approx(0.5, abs=0.01)
    rig = rigs.Simulated(tank, seed=1)
    explorer = gpilot.Explorer(rig.config(initial=4, training=QUICK))
    model = explorer.run(rig, 12)
    assert model is not None
    mean, _ = model.transition([[0.5]], [[0.5]])
    assert mean[0, 0] == pytest.approx(0.5, abs=0.05)
    wrong = gpilot.System.define(lambda x, u: [1.0, 2.0], states=["x"], inputs={"u": (0, 1)}, region={"x": (0, 1)})
    with pytest.raises(gpilot.InputError, match=r"shape \(2,\), expected \(1,\)"):
        wrong.simulate([[0.0]])
    raising = gpilot.System.define(lambda x, u: 1 / 0, states=["x"], inputs={"u": (0, 1)}, region={"x": (0, 1)})
    with pytest.raises(ZeroDivisionError):
        raising.simulate([[0.0]])
    with pytest.raises(gpilot.InputError, match="pendulum"):
        gpilot.System("pendulun")


def test_parameters_of_a_system_travel_with_it() -> None:
    heavy = gpilot.System("pendulum", m=0.3)
    assert heavy.parameters["m"] == 0.3
    copy = pickle.loads(pickle.dumps(heavy))
    assert np.array_equal(copy.next([0.1, 0.0], [0.2]), heavy.next([0.1, 0.0], [0.2]))
    assert not np.array_equal(heavy.next([0.1, 0.0], [0.2]), gpilot.System("pendulum").next([0.1, 0.0], [0.2]))
    with pytest.raises(gpilot.InputError, match="mass"):
        gpilot.System("pendulum", mass=0.3)
