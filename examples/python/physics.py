"""A pendulum whose equation is known and whose numbers are not: learned from a short recording, with standard errors."""

from typing import Any

import numpy as np

import gpilot

MASS, LENGTH, FRICTION, GRAVITY = 0.8, 0.6, 0.1, 9.81

# What a rig would have recorded: torques, and angles with noise.
rng = np.random.default_rng(1)
torque = np.repeat(rng.uniform(-2, 2, 15), 4)[:, np.newaxis]
x, angle = np.zeros(2), np.zeros((60, 1))
for t in range(60):
    angle[t] = x[0] + 0.01 * rng.standard_normal()
    for _ in range(50):
        force = torque[t, 0] - FRICTION * x[1] - MASS * GRAVITY * LENGTH * np.sin(x[0])
        x += 0.05 / 50 * np.array([x[1], force / (MASS * LENGTH**2)])

common: dict[str, Any] = {
    "states": ["th", "th_dot"],
    "derivative_of": {"th_dot": "th"},
    "dt": 0.05,
    "inputs": ["torque"],
    "outputs": ["th"],
    "parameters": {
        "m": {"start": 0.5, "factor": 3, "unit": "kg"},
        "b": {"start": 0.0, "sd": 0.5, "unit": "N m s"},
        "l": 0.6,  # measured with a ruler: known
        "g": 9.81,
    },
}

# As a formula: it is checked, unit by unit, and stored with the model.
formula = gpilot.GPSSM(
    **common,
    physics={"th_dot": "(torque - b*th_dot - m*g*l*sin(th)) / (m*l^2)"},
    units={"torque": "N m", "th": "rad"},
).fit(torque, angle)
for name, estimate in formula.parameters_.items():
    print(f"{name} = {estimate}")


# As a function of Python, for what formulas cannot say. It is called with all points at once: x is (2, N).
def acceleration(x, u, theta):  # type: ignore[no-untyped-def]
    m, b, length, g = theta
    return [(u[0] - b * x[1] - m * g * length * np.sin(x[0])) / (m * length**2)]


function = gpilot.GPSSM(
    **common, physics=gpilot.PhysicsFunction(acceleration, states=["th_dot"], vectorized=True)
).fit(torque, angle)
print(f"by a function: m = {function.parameters_['m']}")

assert abs(formula.parameters_["m"].value - MASS) < 4 * formula.parameters_["m"].sd
assert abs(function.parameters_["m"].value - formula.parameters_["m"].value) < 0.01
