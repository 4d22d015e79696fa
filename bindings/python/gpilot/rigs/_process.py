"""Programs that speak the rig protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gpilot import _core
from gpilot._data import Float
from gpilot.rigs._base import Channel, Measured, Rig, measured_vector


class Process(Rig):
    """A program that drives hardware or a simulator, in lines of JSON on its stdin and stdout (docs/rig-protocol.md).

    command is for the shell, or a list of arguments. The program is asked what it is; names and dt that it does not declare
    are given here. Its stderr goes to `log`, or to ours.

    >>> import sys
    >>> rig = Process([sys.executable, "examples/rigs/pendulum_rig.py", "--seed", "1"])  # doctest: +SKIP
    >>> rig.config(states={"angle": None, "rate": {"derivative_of": "angle"}})  # doctest: +SKIP
    <gpilot.Config torque -> angle, dt 0.1 s>
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        dt: float | None = None,
        start_s: float = 10.0,
        deadline_s: float = 2.0,
        reset_s: float = 10.0,
        close_s: float = 2.0,
        log: str | os.PathLike[str] = "",
    ) -> None:
        """Starts the program once, to ask what it is."""
        import shlex

        self.command = command if isinstance(command, str) else shlex.join(command)
        self.log = os.fspath(log)
        self._times = (float(start_s), float(deadline_s), float(reset_s), float(close_s))
        traits = _core.describe_rig(self.command, float(start_s), float(close_s))
        self.can_reset = bool(traits["can_reset"])
        self.idempotent = bool(traits["idempotent"])
        self.inputs = self._channels("inputs", traits["inputs"], inputs)
        self.outputs = self._channels("outputs", traits["outputs"], outputs)
        given = dt if dt is not None else traits["dt"]
        if given is None:
            raise ValueError(f"dt: the rig does not declare it; expected the seconds of a step ({self.command})")
        self.dt = float(given)
        self._process: _core.RigProcess | None = None
        self._id = 0

    def _channels(self, kind: str, declared: Any, given: Sequence[str] | None) -> list[Channel]:
        if declared:
            return [Channel(**{key: value for key, value in entry.items()}) for entry in declared]
        if given is None:
            raise ValueError(f"{kind}: the rig does not declare them; expected their names ({self.command})")
        return [Channel(name) for name in given]

    def _running(self) -> _core.RigProcess:
        if self._process is None:
            names = [[channel.name for channel in side] for side in (self.inputs, self.outputs)]
            self._process = _core.RigProcess(self.command, self.dt, names[0], names[1], *self._times, self.log)
        return self._process

    def _checked(self, what: str, answer: dict[str, Any]) -> dict[str, Any]:
        if answer["status"] != "ok":
            raise _core.RigError(f"{what}: the rig says {answer['status']}: {answer['message']}")
        return answer

    def reset(self, seed: int | None = None) -> Float | None:
        """Sends reset."""
        outputs: Float | None = self._checked("reset", self._running().reset(seed))["outputs"]
        return outputs

    def step(self, control: Float) -> Measured:
        """Sends step."""
        self._id += 1
        answer = self._checked(f"step {self._id}", self._running().step(self._id, control))
        return Measured(
            measured_vector("outputs", answer["outputs"], len(self.outputs)),
            answer["applied"],
            answer["done"],
            answer["time"],
        )

    def safe(self) -> None:
        """Sends safe, if the program runs; one that has failed finds it in its input when it is closed."""
        if self._process is not None:
            try:
                self._process.safe(self.safe_control)
            except _core.RigError:
                self.close()

    def close(self) -> None:
        """Ends the program, with the safe control."""
        if self._process is not None:
            self._process.close(self.safe_control)
            self._process = None
