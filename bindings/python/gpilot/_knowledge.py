"""What is known about a system (docs/knowledge.md), turned into what the core takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpilot._data import Float

Names = str | Sequence[str]
"""Names of states, or one."""

_PRIOR = ("start", "sd", "factor", "low", "high")


@dataclass(frozen=True)
class PhysicsFunction:
    """Physics as a function of Python: the mean of some states' functions, which the Gaussian process corrects.

    function(x, u, theta) gives the rates of change of `states` (with integration="next": their next values), in your
    units, from all states x (D,), inputs u (P,) and parameters theta (K,), those that are known included, in the order in
    which they are declared. Without `states` it describes all states that have no declared derivative.

    jacobian(x, u, theta), if there is one, gives the derivatives in x, u and theta: one array (states, D + P + K), or a
    tuple (states, D), (states, P), (states, K) as `jax.jacfwd(function, argnums=(0, 1, 2))` does. Without one differences
    take its place, which needs 2 (D + P + K) calls for each.

    Both are called for very many points. With vectorized=True they get all points at once, as scipy's solve_ivp does it:
    x (D, N), u (P, N), theta (K,); they give (states, N) and (states, D + P + K, N). A function of numpy's operations that
    takes `x[0], x[1]` apart is the same for one point and for many, and by far faster so.

    >>> pendulum = PhysicsFunction(lambda x, u, theta: [(u[0] - theta[0] * np.sin(x[0]))], states=["rate"], vectorized=True)
    >>> model = GPSSM(states=["angle", "rate"], derivative_of={"rate": "angle"}, dt=0.1, physics=pendulum,
    ...               parameters={"g": {"start": 1.0, "factor": 3}})
    """

    function: Callable[[Float, Float, Float], Any]
    states: Names | None = None
    jacobian: Callable[[Float, Float, Float], Any] | None = None
    vectorized: bool = False

    def __post_init__(self) -> None:
        """Checks that they can be called."""
        if not callable(self.function):
            raise TypeError(f"physics: expected a function, not {type(self.function).__name__}")
        if self.jacobian is not None and not callable(self.jacobian):
            raise TypeError(f"physics: jacobian: expected a function, not {type(self.jacobian).__name__}")


class _Rates:
    """A PhysicsFunction as the core calls it: many points at once, with derivatives on request."""

    def __init__(self, physics: PhysicsFunction, states: int) -> None:
        self._physics = physics
        self._states = states

    def __call__(self, x: Float, u: Float, theta: Float, slopes: bool) -> tuple[Float, Float | None]:
        jacobian = self._physics.jacobian
        rates = self._at_points("function", self._physics.function, x, u, theta, (self._states,))
        if not slopes or jacobian is None:
            return rates, None
        variables = (self._states, len(x) + len(u) + len(theta))
        return rates, self._at_points("jacobian", jacobian, x, u, theta, variables)

    def _at_points(
        self, name: str, function: Callable[..., Any], x: Float, u: Float, theta: Float, shape: tuple[int, ...]
    ) -> Float:
        points = x.shape[1]
        if self._physics.vectorized:
            return self._array(name, function(x, u, theta), (*shape, points))
        result = np.empty((*shape, points))
        for n in range(points):
            result[..., n] = self._array(name, function(x[:, n], u[:, n], theta), shape)
        return result

    def _array(self, name: str, value: Any, shape: tuple[int, ...]) -> Float:
        """What the user's function gave, in the shape it must have: a state alone may come without its axis."""
        if name == "jacobian" and isinstance(value, tuple):
            value = np.concatenate([np.asarray(part, dtype=np.float64) for part in value], axis=1)
        elif name == "function" and isinstance(value, (list, tuple)):
            value = np.broadcast_arrays(*value) if len(value) > 0 else value  # a constant rate stands for all points
        array = np.asarray(value, dtype=np.float64)
        if array.shape == shape[1:] and shape[0] == 1:
            array = array[np.newaxis]
        if array.shape != shape and array.shape == (*shape[:-1], 1) and name == "function":
            array = np.broadcast_to(array, shape)
        if array.shape != shape:
            axes = {"function": "states", "jacobian": "states, D + P + K"}[name]
            points = ", points" if self._physics.vectorized else ""
            raise ValueError(f"physics: the {name} gives shape {array.shape}, expected {shape}: {axes}{points}")
        return np.ascontiguousarray(array)


def names(key: str, value: Names | None) -> list[str]:
    """A list of names; one name stands for a list of one."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{key}: expected names of states, such as ['x', 'v'], not {value!r}")
    return list(value)


def _mapping(key: str, value: Any, example: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{key}: expected a mapping such as {example}, not {value!r}")
    return value


def _number(key: str, value: Any) -> float:
    if isinstance(value, (bool, str)) or not np.isscalar(value):
        raise TypeError(f"{key}: expected a number, not {value!r}")
    return float(value)  # type: ignore[arg-type]


def _parameter(name: str, value: Any) -> dict[str, Any]:
    """A number is known; a mapping has the keys of [physics.parameters]."""
    key = f"parameters: {name}"
    if not isinstance(value, Mapping):
        return {"name": name, "start": _number(key, value), "known": True}
    if unknown := [item for item in value if item not in (*_PRIOR, "unit", "known")]:
        raise ValueError(f"{key}: unknown key {unknown[0]!r} (known: {', '.join(_PRIOR)}, unit, known)")
    entry: dict[str, Any] = {"name": name, "unit": str(value.get("unit", "")), "known": bool(value.get("known", False))}
    entry.update({item: _number(f"{key}: {item}", value[item]) for item in _PRIOR if item in value})
    return entry


def _physics(physics: Any, states: list[str], positions: list[str]) -> dict[str, Any]:
    if physics is None:
        return {}
    if isinstance(physics, Mapping):
        for state, text in physics.items():
            if not isinstance(text, str):
                raise TypeError(f"physics: {state}: expected a formula, a text, not {text!r}")
        return {"formulas": list(physics.items())}
    if not isinstance(physics, PhysicsFunction):
        if not callable(physics):
            raise TypeError(f"physics: expected formulas by state, a PhysicsFunction or a function, not {physics!r}")
        physics = PhysicsFunction(physics)
    described = names("physics: states", physics.states) or [name for name in states if name not in positions]
    return {"function_states": described, "rates": _Rates(physics, len(described))}


def core_knowledge(
    states: list[str],
    positions: list[str],
    *,
    cyclic: Names | None,
    depends_on: Mapping[str, Names] | None,
    symmetry: Mapping[str, str] | None,
    centre: Mapping[str, float] | None,
    control_affine: Names | None,
    coefficients: Mapping[str, Mapping[str, float]] | None,
    physics: Any,
    parameters: Mapping[str, Any] | None,
    integration: str,
    units: Mapping[str, str] | None,
) -> dict[str, Any]:
    """The part of a spec for the core that says what is known. `positions` are the states with a declared derivative."""
    for state, word in _mapping("symmetry", symmetry, "{'v': 'odd'}").items():
        if word != "odd":
            raise ValueError(f"symmetry: {state}: expected 'odd', not {word!r}")
    depends = _mapping("depends_on", depends_on, "{'v': ['v', 'u']}")
    weights = _mapping("coefficients", coefficients, "{'v': {'u': 0.5}}")
    return {
        "cyclic": names("cyclic", cyclic),
        "depends_on": [(state, names(f"depends_on: {state}", value)) for state, value in depends.items()],
        "odd": list(symmetry or {}),
        "centres": [
            (name, _number(f"centre: {name}", value))
            for name, value in _mapping("centre", centre, "{'th': 3.1416}").items()
        ],
        "control_affine": names("control_affine", control_affine),
        "coefficients": [
            (state, name, _number(f"coefficients: {state}: {name}", value))
            for state, entry in weights.items()
            for name, value in _mapping(f"coefficients: {state}", entry, "{'u': 0.5}").items()
        ],
        "parameters": [
            _parameter(name, value)
            for name, value in _mapping("parameters", parameters, "{'b': {'start': 0.1, 'sd': 0.1}}").items()
        ],
        "integration": integration,
        "units": [(str(name), str(unit)) for name, unit in _mapping("units", units, "{'u': 'N m'}").items()],
        **_physics(physics, states, positions),
    }
