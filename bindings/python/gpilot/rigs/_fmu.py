"""Functional mock-up units."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpilot._data import Float
from gpilot.rigs._base import Channel, Measured, Rig


class FMU(Rig):
    """A co-simulation FMU (FMI 2 or 3) as a rig, by FMPy.

    inputs and outputs name the variables to drive and to measure; by default all with that causality. Ranges come from the
    variables' min and max; `ranges={"u": (-1, 1)}` gives others. dt is the communication step, by default that of the
    default experiment. noise is the standard deviation of the measurement noise, start_values set parameters.

    >>> rig = FMU("tank.fmu", dt=0.1, ranges={"valve": (0, 1)})  # doctest: +SKIP
    """

    can_reset = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        dt: float | None = None,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        noise: float | Sequence[float] = 0.0,
        start_values: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        """Reads the model description and unpacks the FMU."""
        import fmpy

        self.path = os.fspath(path)
        self._description = fmpy.read_model_description(self.path)
        if self._description.coSimulation is None:
            raise ValueError(f"{self.path}: no co-simulation FMU")
        self._variables = {variable.name: variable for variable in self._description.modelVariables}
        self.inputs = self._channels("inputs", inputs, "input", ranges or {})
        self.outputs = self._channels("outputs", outputs, "output", ranges or {})
        experiment = self._description.defaultExperiment
        step = dt if dt is not None else getattr(experiment, "stepSize", None)
        if step is None:
            raise ValueError(f"dt: {self.path} has no default step; expected seconds of a control")
        self.dt = float(step)
        self._noise = np.broadcast_to(np.asarray(noise, dtype=float), (len(self.outputs),))
        self._start_values = {name: float(value) for name, value in (start_values or {}).items()}
        for name in self._start_values:
            self._reference(name)
        self._seed = int(seed)
        self._random = np.random.default_rng(self._seed)
        self._folder: str | None = fmpy.extract(self.path)
        self._slave: Any = None
        self._time = 0.0

    def _reference(self, name: str) -> int:
        if name not in self._variables:
            raise ValueError(f"{self.path}: no variable {name!r} (it has {', '.join(self._variables)})")
        return int(self._variables[name].valueReference)

    def _channels(
        self, kind: str, names: Sequence[str] | None, causality: str, ranges: Mapping[str, tuple[float, float]]
    ) -> list[Channel]:
        if names is None:
            names = [name for name, variable in self._variables.items() if variable.causality == causality]
        if not names:
            raise ValueError(f"{kind}: {self.path} has no variable with causality {causality}")
        result = []
        for name in names:
            self._reference(name)
            low, high = ranges.get(name, (None, None))
            variable = self._variables[name]
            low = low if low is not None else variable.min
            high = high if high is not None else variable.max
            if kind == "inputs" and (low is None or high is None):
                raise ValueError(f"ranges.{name}: the FMU declares no min and max; expected (low, high)")
            result.append(
                Channel(
                    name,
                    None if low is None else float(low),
                    None if high is None else float(high),
                    unit=variable.unit or "",
                )
            )
        return result

    def _instance(self) -> Any:
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        description = self._description
        is_3 = description.fmiVersion.startswith("3")
        slave = (FMU3Slave if is_3 else FMU2Slave)(
            guid=description.guid if not is_3 else description.instantiationToken,
            unzipDirectory=self._folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="gpilot",
        )
        slave.instantiate()
        if is_3:
            self._set, self._get = slave.setFloat64, slave.getFloat64
            slave.enterInitializationMode(startTime=0.0)
        else:
            self._set, self._get = slave.setReal, slave.getReal
            slave.setupExperiment(startTime=0.0)
            slave.enterInitializationMode()
        if self._start_values:
            self._set([self._reference(n) for n in self._start_values], list(self._start_values.values()))
        slave.exitInitializationMode()
        return slave

    def _measure(self) -> Float:
        values = np.asarray(self._get([self._reference(channel.name) for channel in self.outputs]), dtype=float)
        return values + self._noise * self._random.standard_normal(len(values))

    def reset(self, seed: int | None = None) -> Float | None:
        """Begins a simulation anew; outputs (E,) at its start."""
        self._random = np.random.default_rng([self._seed, 0 if seed is None else int(seed)])
        self._end()
        self._slave = self._instance()
        self._time = 0.0
        return self._measure()

    def step(self, control: Float) -> Measured:
        """One communication step."""
        if self._slave is None:
            self.reset(self._seed)
        self._set([self._reference(channel.name) for channel in self.inputs], [float(value) for value in control])
        self._slave.doStep(currentCommunicationPoint=self._time, communicationStepSize=self.dt)
        self._time += self.dt
        return Measured(self._measure(), time=self._time)

    def _end(self) -> None:
        if self._slave is not None:
            self._slave.terminate()
            self._slave.freeInstance()
            self._slave = None

    def close(self) -> None:
        """Ends the simulation and removes what was unpacked."""
        self._end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
