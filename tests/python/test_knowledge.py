from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import QUICK, linear_rows

import gpilot
from gpilot._data import Float

PENDULUM: dict[str, Any] = {
    "states": ["th", "w"],
    "derivative_of": {"w": "th"},
    "dt": 0.1,
    "inputs": ["c"],
    "outputs": ["th"],
    "training": QUICK,
}
PARAMETERS = {"k": {"start": 3.0, "factor": 5}, "b": {"start": 0.0, "sd": 1.0}, "scale": 1.0}
FORMULA = {"w": "scale*c - b*w - k*sin(th)"}


def rates(x: Float, u: Float, theta: Float) -> Any:
    k, b, scale = theta
    return scale * u[0] - b * x[1] - k * np.sin(x[0])


def jacobian(x: Float, u: Float, theta: Float) -> Any:
    k, b, scale = theta
    one = np.ones_like(x[0])
    return np.stack([-k * np.cos(x[0]), -b * one, scale * one, -np.sin(x[0]), -x[1], u[0]])[np.newaxis]


def swing(rows: int = 40) -> tuple[Float, Float]:
    rng = np.random.default_rng(3)
    u = np.repeat(rng.uniform(-2, 2, rows // 4), 4)[:, np.newaxis]
    x, y = np.zeros(2), np.zeros((rows, 1))
    for t in range(rows):
        y[t] = x[0] + 0.01 * rng.standard_normal()
        for _ in range(20):
            x = x + 0.005 * np.array([x[1], u[t, 0] - 0.3 * x[1] - 4.0 * np.sin(x[0])])
    return u, y


@pytest.fixture(scope="module")
def by_formula() -> gpilot.GPSSM:
    return gpilot.GPSSM(**PENDULUM, physics=FORMULA, parameters=PARAMETERS).fit(*swing())


def test_parameters_are_learned_with_standard_errors(by_formula: gpilot.GPSSM) -> None:
    learned = by_formula.parameters_
    assert list(learned) == ["k", "b"]
    assert learned["k"].sd > 0.0
    assert abs(learned["k"].value - 4.0) < 3 * learned["k"].sd < 3.0
    assert learned["k"].low < learned["k"].value < learned["k"].high
    assert 0.0 < learned["k"].determined <= 1.0


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("derivatives", [None, jacobian])
def test_function_is_the_formula(by_formula: gpilot.GPSSM, vectorized: bool, derivatives: Any) -> None:
    physics = gpilot.PhysicsFunction(rates, states="w", jacobian=derivatives, vectorized=vectorized)
    model = gpilot.GPSSM(**PENDULUM, physics=physics, parameters=PARAMETERS).fit(*swing())
    assert model.parameters_["k"].value == pytest.approx(by_formula.parameters_["k"].value, rel=1e-2)
    u, y = swing()
    assert np.allclose(model.predict(u, y[:10]), by_formula.predict(u, y[:10]), atol=0.02)
    with pytest.raises(ValueError, match="cannot be saved"):
        model.model_.__getstate__()


def test_a_jacobian_may_come_in_three_parts_as_from_jax() -> None:
    def parts(x: Float, u: Float, theta: Float) -> Any:
        whole = jacobian(x, u, theta)
        return whole[:, :2], whole[:, 2:3], whole[:, 3:]

    physics = gpilot.PhysicsFunction(rates, jacobian=parts, vectorized=True)  # without states: those that have no derivative
    whole = gpilot.PhysicsFunction(rates, states=["w"], jacobian=jacobian, vectorized=True)
    models = [gpilot.GPSSM(**PENDULUM, physics=p, parameters=PARAMETERS).fit(*swing()) for p in (physics, whole)]
    assert models[0].elbo_ == models[1].elbo_


def test_a_plain_function_works_in_threads() -> None:
    results: list[float] = []

    def work() -> None:
        physics = gpilot.PhysicsFunction(rates, vectorized=True)
        model = gpilot.GPSSM(**{**PENDULUM, "training": {**QUICK, "threads": 2}}, physics=physics, parameters=PARAMETERS)
        results.append(model.fit(*swing()).elbo_)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    assert results[0] == results[1]


class BrokenError(Exception):
    pass


@pytest.mark.parametrize("after", [0, 20])
def test_what_the_function_raises_comes_out(after: int) -> None:
    calls = 0

    def breaks(x: Float, u: Float, theta: Float) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise BrokenError("in the function")
        return rates(x, u, theta)

    model = gpilot.GPSSM(**PENDULUM, physics=gpilot.PhysicsFunction(breaks, vectorized=True), parameters=PARAMETERS)
    with pytest.raises(BrokenError, match="in the function"):
        model.fit(*swing())
    assert not hasattr(model, "model_")


def test_what_a_jacobian_raises_comes_out() -> None:
    def breaks(x: Float, u: Float, theta: Float) -> Any:
        raise BrokenError("in the jacobian")

    physics = gpilot.PhysicsFunction(rates, jacobian=breaks, vectorized=True)
    with pytest.raises(BrokenError, match="in the jacobian"):
        gpilot.GPSSM(**PENDULUM, physics=physics, parameters=PARAMETERS).fit(*swing())


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"physics": {"v": "c"}}, ValueError, "'v'.*th, w"),
        ({"physics": {"w": "c - z"}}, ValueError, "z"),
        ({"physics": {"w": 3}}, TypeError, "physics: w: expected a formula"),
        ({"physics": 3}, TypeError, "physics: expected formulas by state"),
        ({"physics": FORMULA, "parameters": {"k": 3}}, ValueError, "scale|'b'"),
        ({"physics": FORMULA, "parameters": {**PARAMETERS, "k": {"start": 3}}}, ValueError, "k.*nothing bounds it"),
        ({"physics": FORMULA, "parameters": {**PARAMETERS, "k": {"begin": 3}}}, ValueError, "parameters: k.*'begin'.*start"),
        ({"physics": FORMULA, "parameters": {**PARAMETERS, "k": "3"}}, TypeError, "parameters: k.*'3'"),
        ({"physics": FORMULA, "parameters": PARAMETERS, "integration": "euler"}, ValueError, "euler.*rk4, trapezoid"),
        ({"parameters": {"k": 3.0}}, ValueError, "there is no formula"),
        ({"physics": lambda x, u, theta: np.zeros(2)}, ValueError, r"shape \(2,\), expected \(1,\): states"),
        ({"physics": lambda x, u, theta: [np.nan]}, ValueError, "nan where training starts"),
        ({"physics": gpilot.PhysicsFunction(rates, states="z"), "parameters": PARAMETERS}, ValueError, "'z'.*th, w"),
        (
            {"physics": gpilot.PhysicsFunction(lambda x, u, t: np.zeros((3, 4)), vectorized=True)},
            ValueError,
            r"\(3, 4\), expected \(1, 1\): states, points",
        ),
        (
            {"physics": gpilot.PhysicsFunction(lambda x, u, t: -x[0], jacobian=lambda x, u, t: np.ones((1, 2)))},
            ValueError,
            r"jacobian gives shape \(1, 2\), expected \(1, 3\)",
        ),
        ({"cyclic": ["z"]}, ValueError, "cyclic.*z"),
        ({"cyclic": {"th": 1}}, TypeError, "cyclic: expected names"),
        ({"depends_on": {"w": ["w", "z"]}}, ValueError, "depends_on.*z"),
        ({"depends_on": ["w"]}, TypeError, "depends_on: expected a mapping"),
        ({"symmetry": {"w": "even"}}, ValueError, "symmetry: w: expected 'odd', not 'even'"),
        ({"centre": {"th": "pi"}}, TypeError, "centre: th: expected a number"),
        ({"control_affine": "z"}, ValueError, "control_affine.*z"),
        ({"coefficients": {"w": 0.5}}, TypeError, "coefficients: w: expected a mapping"),
        ({"coefficients": {"w": {"z": 0.5}}}, ValueError, "coefficients.*z"),
        (
            {"physics": FORMULA, "parameters": {**PARAMETERS, "k": {"start": 3, "factor": 5, "unit": "kg"}},
             "units": {"c": "N m", "th": "rad"}},
            ValueError,
            "unit",
        ),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gpilot.GPSSM(**{**PENDULUM, **given}).fit(*swing())


def test_a_function_that_is_none() -> None:
    with pytest.raises(TypeError, match="expected a function, not str"):
        gpilot.PhysicsFunction("sin(x)")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="jacobian: expected a function"):
        gpilot.PhysicsFunction(rates, jacobian=3)  # type: ignore[arg-type]


def test_declared_structure_holds_exactly() -> None:
    u, y = linear_rows()
    model = gpilot.GPSSM(states=["x"], inputs=["u"], outputs=["x"], symmetry={"x": "odd"}, training=QUICK).fit(u, y)
    right, _ = model.transition([[0.3]], [[0.7]])
    left, _ = model.transition([[-0.3]], [[-0.7]])
    assert right == pytest.approx(-left, abs=1e-9)
    model = gpilot.GPSSM(
        states=["x"], inputs=["u"], outputs=["x"], coefficients={"x": {"u": 0.5}}, depends_on={"x": ["x", "u"]},
        training=QUICK,
    ).fit(u, y)  # fmt: skip
    mean, _ = model.transition([[0.3], [0.3]], [[0.0], [1.0]])
    assert mean[1, 0] - mean[0, 0] == pytest.approx(0.5, abs=1e-9)
    model = gpilot.GPSSM(states=["x"], inputs=["u"], outputs=["x"], control_affine="x", training=QUICK).fit(u, y)
    mean, _ = model.transition([[0.3]] * 3, [[-1.0], [0.0], [1.0]])
    assert mean[0, 0] + mean[2, 0] == pytest.approx(2 * mean[1, 0], abs=1e-9)
    model = gpilot.GPSSM(states=["x"], inputs=["u"], outputs=["x"], cyclic="x", training=QUICK).fit(u, y)
    mean, _ = model.transition([[0.3], [1.3]], [[0.2], [0.2]])
    assert mean[1, 0] - mean[0, 0] == pytest.approx(1.0, abs=1e-9)


def test_knowledge_is_in_the_file(by_formula: gpilot.GPSSM, tmp_path: Path) -> None:
    by_formula.save(tmp_path / "model.json")
    loaded = gpilot.GPSSM.load(tmp_path / "model.json")
    assert loaded.physics == FORMULA
    assert loaded.parameters == PARAMETERS
    assert loaded.parameters_ == by_formula.parameters_
    assert loaded.fit(*swing()).physics == FORMULA


def test_a_configuration_takes_knowledge_too() -> None:
    config = gpilot.Config(
        dt=0.1,
        inputs={"c": (-2, 2)},
        outputs={"th": (-3, 3)},
        states={"th": None, "w": {"derivative_of": "th", "depends_on": ["th", "w", "c"]}},
        physics={**FORMULA, "integration": "trapezoid", "parameters": PARAMETERS},
    )
    assert "[physics.parameters" in config.toml()
    explorer = gpilot.Explorer(config)
    assert explorer.inputs == ["c"]
    affine = gpilot.Config(
        dt=0.1, inputs={"c": (-2, 2)}, outputs={"x": (-3, 3)}, states={"x": {"coefficients": {"c": 0.5}}}
    )
    assert gpilot.Explorer(affine).outputs == ["x"]
