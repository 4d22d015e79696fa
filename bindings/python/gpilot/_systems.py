"""Simulated systems with a known truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpilot import _core
from gpilot import _data as data
from gpilot._data import Float

Transition = Callable[[Float, Float], npt.ArrayLike]
"""x', the next state (D,), from a state (D,) and a control (P,)."""


def system_names() -> list[str]:
    """The simulators that come with gpilot.

    >>> system_names()
    ['kink', 'pendulum', 'cart-pole', 'tras']
    """
    return list(_core.system_names())


@dataclass(frozen=True)
class Run:
    """A recorded run of T steps: T + 1 rows. x_0 is not measured (NaN), the last row has no control (NaN)."""

    times: Float
    """(T + 1,) in seconds."""
    states: Float
    """(T + 1, D) the truth."""
    controls: Float
    """(T + 1, P)"""
    outputs: Float
    """(T + 1, E) with noise."""


class System:
    """A system whose true transition is known: one of gpilot's by its name, or one of your own by System.define.

    >>> pendulum = System("pendulum")
    >>> run = pendulum.simulate(pendulum.random_controls(20, seed=1), seed=1)
    >>> run.outputs.shape
    (21, 1)
    """

    def __init__(self, name: str, **parameters: float) -> None:
        """Further keywords set physical parameters; `System(name).parameters` lists them."""
        self._core = _core.System.make(name)
        for key, value in parameters.items():
            self._core.set_parameter(key, float(value))
        self._definition: dict[str, Any] | None = None

    @classmethod
    def define(
        cls,
        transition: Transition,
        *,
        name: str = "own",
        states: Sequence[str],
        inputs: Mapping[str, tuple[float, float]],
        outputs: Sequence[str] | None = None,
        emission: npt.ArrayLike | None = None,
        dt: float = 1.0,
        x0: npt.ArrayLike | None = None,
        x0_sd: npt.ArrayLike | float = 0.1,
        process_sd: npt.ArrayLike | float = 0.0,
        output_sd: npt.ArrayLike | float = 0.01,
        region: Mapping[str, tuple[float, float]],
        derivative_of: Mapping[str, str] | None = None,
    ) -> System:
        """A system of your own: transition(x, u) returns the next state (D,) after dt, without noise.

        Outputs measure the first states unless `emission` (E, D) says otherwise. `region` is where a learned model is
        tested: a range for every state.

        >>> tank = System.define(lambda x, u: 0.9 * x + 0.1 * u, states=["level"], inputs={"valve": (0, 1)},
        ...                      region={"level": (0, 1)})
        >>> tank.simulate([[0.5], [0.5]], seed=1).states.shape
        (3, 1)
        """
        D = len(states)
        names = list(outputs) if outputs is not None else [f"y_{state}" for state in states]
        C = np.eye(len(names), D) if emission is None else np.asarray(emission, dtype=np.float64)
        if C.shape != (len(names), D):
            raise ValueError(f"emission: shape {C.shape}, expected ({len(names)}, {D}): outputs, states")
        missing = [state for state in states if state not in region]
        if missing:
            raise ValueError(f"region: no range of {', '.join(missing)}; expected one for every state")

        def spread(what: str, value: Any, size: int) -> Float:
            return np.full(size, float(value)) if np.ndim(value) == 0 else data.vector(what, value, size)

        definition = {
            "name": name,
            "states": list(states),
            "inputs": list(inputs),
            "outputs": names,
            "dt": float(dt),
            "low": np.array([low for low, _ in inputs.values()], dtype=float),
            "high": np.array([high for _, high in inputs.values()], dtype=float),
            "x0_mean": np.zeros(D) if x0 is None else data.vector("x0", x0, D),
            "x0_sd": spread("x0_sd", x0_sd, D),
            "process_sd": spread("process_sd", process_sd, D),
            "output_sd": spread("output_sd", output_sd, len(names)),
            "emission": C,
            "region_low": np.array([region[state][0] for state in states], dtype=float),
            "region_high": np.array([region[state][1] for state in states], dtype=float),
            "derivatives": [(list(states).index(v), list(states).index(p)) for v, p in (derivative_of or {}).items()],
            "transition": transition,
        }
        return cls._defined(definition)

    @classmethod
    def _defined(cls, definition: dict[str, Any]) -> System:
        system = cls.__new__(cls)
        system._definition = definition
        system._core = _core.System.define(definition)
        return system

    def __getstate__(self) -> dict[str, Any]:
        """Pickled by its definition; a system of your own needs a transition that can be pickled."""
        if self._definition is not None:
            return {"definition": self._definition}
        return {"name": self.name, "parameters": self.parameters}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled."""
        if "definition" in state:
            self._definition = state["definition"]
            self._core = _core.System.define(state["definition"])
        else:
            self.__init__(state["name"], **state["parameters"])  # type: ignore[misc]

    @property
    def spec(self) -> dict[str, Any]:
        """Names, dt, control box (low, high), x0_mean, x0_sd, noises, emission, region, which states are derivatives."""
        return dict(self._core.spec)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._core.spec["name"])

    @property
    def parameters(self) -> dict[str, float]:
        """Physical parameters by name."""
        return dict(self._core.parameters)

    def __repr__(self) -> str:
        """Its name."""
        return f"<gpilot.System {self.name}>"

    def next(self, x: npt.ArrayLike, u: npt.ArrayLike) -> Float:
        """The true transition over one dt (D,), without noise."""
        spec = self._core.spec
        return self._core.next(data.vector("x", x, len(spec["states"])), data.vector("u", u, len(spec["inputs"])))

    def random_controls(self, steps: int, *, hold: tuple[int, int] = (1, 1), seed: int = 0, trial: int = 0) -> Float:
        """Values uniform in the control box (steps, P), each held for hold[0] to hold[1] steps."""
        return self._core.random_controls(int(steps), int(hold[0]), int(hold[1]), int(seed), int(trial))

    def simulate(
        self,
        controls: npt.ArrayLike,
        *,
        seed: int = 0,
        trial: int = 0,
        x0: npt.ArrayLike | None = None,
        process_sd: npt.ArrayLike | None = None,
        output_sd: npt.ArrayLike | None = None,
    ) -> Run:
        """Applies the rows of controls (T, P) in turn. The same as `gpilot simulate` with this seed."""
        rows = data.sequences("controls", np.asarray(controls))[0]
        sizes = [None if v is None else np.atleast_1d(np.asarray(v, dtype=float)) for v in (x0, process_sd, output_sd)]
        times, states, applied, outputs = self._core.simulate(rows, int(seed), int(trial), *sizes)
        return Run(times, states, applied, outputs)

    def initial_state(self, seed: int = 0, trial: int = 0) -> Float:
        """x_0 of a seed and trial (D,)."""
        return self._core.initial_state(int(seed), int(trial))

    def advance(self, x: Float, u: npt.ArrayLike, t: int, seed: int = 0, trial: int = 0) -> Float:
        """The next state (D,) with the noise of step t."""
        return self._core.advance(x, np.asarray(u, dtype=float), int(t), int(seed), int(trial))

    def measure(self, x: Float, t: int, seed: int = 0, trial: int = 0) -> Float:
        """Outputs (E,) with the noise of row t."""
        return self._core.measure(x, int(t), int(seed), int(trial))

    def output_ranges(self) -> dict[str, tuple[float, float] | None]:
        """Of outputs that measure one state: its region."""
        spec = self._core.spec
        ranges: dict[str, tuple[float, float] | None] = {}
        for name, row in zip(spec["outputs"], spec["emission"], strict=True):
            places = np.flatnonzero(row)
            ranges[name] = None
            if len(places) == 1 and row[places[0]] == 1.0:
                ranges[name] = float(spec["region_low"][places[0]]), float(spec["region_high"][places[0]])
        return ranges

    def declared_states(self) -> dict[str, dict[str, Any]]:
        """The [[state]] sections of a configuration: start, and which state is the derivative of another."""
        spec = self._core.spec
        result: dict[str, dict[str, Any]] = {}
        for d, name in enumerate(spec["states"]):
            entry: dict[str, Any] = {"start": float(spec["x0_mean"][d]), "start_sd": float(spec["x0_sd"][d])}
            if name in spec["derivative_of"]:
                entry["derivative_of"] = spec["derivative_of"][name]
                entry["low"], entry["high"] = float(spec["region_low"][d]), float(spec["region_high"][d])
            result[name] = entry
        return result
