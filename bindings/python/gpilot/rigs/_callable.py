"""Rigs that are functions, and simulated systems as rigs."""

from __future__ import annotations

from collections.abc import Callable as CallableType
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpilot._data import Float
from gpilot.rigs._base import Measured, Rig, channels, measured_vector

if TYPE_CHECKING:
    from gpilot._systems import System


class Callable(Rig):
    """A function as a rig: step(control) returns the outputs (E,), or (outputs, applied control), or a Measured.

    inputs and outputs map names to (low, high) or to the fields of Channel. reset(seed), if given, brings the system to its
    start and returns the outputs there, or None. safe(control) applies the safe control.

    >>> level = [1.0]
    >>> def pump(u):
    ...     level[0] += 0.3 * u[0] - 0.2 * level[0]
    ...     return level
    >>> rig = Callable(pump, inputs={"valve": (0, 1)}, outputs={"level": (0, 2)}, dt=1.0)
    >>> rig.step([0.5]).outputs
    array([0.95])
    """

    def __init__(
        self,
        step: CallableType[[Float], Any],
        *,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        dt: float = 1.0,
        reset: CallableType[[int | None], Any] | None = None,
        safe: CallableType[[Float], Any] | None = None,
    ) -> None:
        """Keeps the functions."""
        self.inputs = channels("inputs", inputs)
        self.outputs = channels("outputs", outputs)
        self.dt = float(dt)
        self.can_reset = reset is not None
        self._step, self._reset, self._safe = step, reset, safe

    def step(self, control: Float) -> Measured:
        """Calls the function."""
        result = self._step(control)
        if isinstance(result, Measured):
            return result
        applied = None
        if isinstance(result, tuple) and len(result) == 2:
            result, applied = result
            applied = measured_vector("applied", applied, len(self.inputs))
        return Measured(measured_vector("outputs", result, len(self.outputs)), applied)

    def reset(self, seed: int | None = None) -> Float | None:
        """Calls the function."""
        if self._reset is None:
            return super().reset(seed)
        outputs = self._reset(seed)
        return None if outputs is None else measured_vector("outputs", outputs, len(self.outputs))

    def safe(self) -> None:
        """Calls the function, if there is one."""
        if self._safe is not None:
            self._safe(self.safe_control)


class Simulated(Rig):
    """A simulated system as a rig, with its noise.

    >>> from gpilot import System
    >>> rig = Simulated(System("pendulum"), seed=1)
    >>> rig.reset(3) is None
    True
    >>> rig.step([0.1]).outputs.shape
    (1,)
    """

    can_reset = True

    def __init__(self, system: System, seed: int = 0) -> None:
        """The seed is that of all noise."""
        self.system = system
        spec = system.spec
        self.dt = spec["dt"]
        self.inputs = channels(
            "inputs", {n: (lo, hi) for n, lo, hi in zip(spec["inputs"], spec["low"], spec["high"], strict=True)}
        )
        self.outputs = channels("outputs", system.output_ranges())
        self._seed = int(seed)
        self._trial = 0
        self._start()

    def _start(self) -> None:
        self._t = 0
        self._x = self.system.initial_state(self._seed, self._trial)

    def reset(self, seed: int | None = None) -> Float | None:
        """Draws the start anew; it is not measured."""
        self._trial = self._trial + 1 if seed is None else int(seed)
        self._start()
        return None

    def step(self, control: Float) -> Measured:
        """One step of the simulator."""
        self._x = self.system.advance(self._x, control, self._t, self._seed, self._trial)
        self._t += 1
        return Measured(self.system.measure(self._x, self._t, self._seed, self._trial))

    def config(self, **options: Any) -> Any:
        """What the system declares: its states, which are derivatives, where it starts."""
        options.setdefault("states", self.system.declared_states())
        return super().config(**options)
