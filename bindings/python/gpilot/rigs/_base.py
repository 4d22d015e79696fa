"""What every rig is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from gpilot._config import Channel as ConfigChannel
from gpilot._config import Config
from gpilot._data import Float, vector


@dataclass(frozen=True)
class Channel:
    """An input or an output: its name and range; of an input also the control that does no harm and the slew limit."""

    name: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    safe: float | None = None
    slew: float | None = None
    angle: bool = False
    """An output in radians that is the same after a full turn."""

    def entry(self) -> dict[str, Any]:
        """The keys of its section in a configuration."""
        keys = ("low", "high", "unit", "safe", "slew")
        return {key: getattr(self, key) for key in keys if getattr(self, key) not in (None, "")}


@dataclass(frozen=True)
class Measured:
    """What came back from a step."""

    outputs: Float
    """(E,), NaN is missing."""
    applied: Float | None = None
    """(P,) the control that was applied, if it is not the one asked for."""
    done: bool = False
    """The sequence ends with this measurement: an episode is over."""
    time: float | None = None
    """Seconds on the rig's clock."""


@dataclass(frozen=True)
class Angle:
    """An angle in radians from its sine and cosine, which stand at these places of an observation."""

    sin: int
    cos: int

    def __call__(self, observation: Any) -> float:
        """The angle, from -pi to pi."""
        return math.atan2(float(observation[self.sin]), float(observation[self.cos]))


def angle(sin: int, cos: int) -> Angle:
    """An output that is an angle, from two entries of an observation.

    >>> angle(sin=1, cos=0)([0.0, 1.0])
    1.5707963267948966
    """
    return Angle(sin, cos)


class Rig(ABC):
    """A system that takes a control, holds it for dt seconds, and measures."""

    dt: float
    inputs: list[Channel]
    outputs: list[Channel]
    can_reset: bool = False

    def reset(self, seed: int | None = None) -> Float | None:
        """Brings the system to its start; outputs (E,) measured there, or None."""
        raise NotImplementedError(f"{type(self).__name__} cannot be reset")

    @abstractmethod
    def step(self, control: Float) -> Measured:
        """Applies a control (P,) for one dt."""

    def safe(self) -> None:  # noqa: B027 - nothing to do for a simulator
        """Applies the control that does no harm. Called whatever happened."""

    def close(self) -> None:  # noqa: B027
        """Frees what the rig holds."""

    def __enter__(self) -> Any:
        """For `with`."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Safe control, then close."""
        self.safe()
        self.close()

    @property
    def safe_control(self) -> Float:
        """(P,): as declared, otherwise 0 where that is inside."""
        return np.array([
            channel.safe if channel.safe is not None else min(max(0.0, channel.low or 0.0), channel.high or 0.0)
            if channel.low is not None and channel.high is not None else 0.0
            for channel in self.inputs
        ])  # fmt: skip

    def check(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Refuses a study of other channels."""
        for what, mine, wanted in (("inputs", self.inputs, inputs), ("outputs", self.outputs, outputs)):
            names = [channel.name for channel in mine]
            if names != list(wanted):
                raise ValueError(f"rig: its {what} are {', '.join(names)}, the study has {', '.join(wanted)}")

    def config(
        self,
        *,
        states: Mapping[str, Mapping[str, Any] | None] | Sequence[str] | None = None,
        inputs: Mapping[str, ConfigChannel] | None = None,
        outputs: Mapping[str, ConfigChannel] | None = None,
        **options: Any,
    ) -> Config:
        """A configuration of what the rig knows of itself; what is given here comes first (see Config)."""
        if states is None and any(channel.angle for channel in self.outputs):
            states = {channel.name: {"angle": True} if channel.angle else None for channel in self.outputs}

        def merged(channels: list[Channel], given: Mapping[str, ConfigChannel] | None) -> dict[str, ConfigChannel]:
            result: dict[str, ConfigChannel] = {}
            for channel in channels:
                own: dict[str, Any] = channel.entry()
                value = (given or {}).get(channel.name)
                if isinstance(value, Mapping):
                    own.update(value)
                elif value is not None:
                    own.update(low=float(value[0]), high=float(value[1]))
                result[channel.name] = own
            return result

        return Config(
            dt=options.pop("dt", self.dt),
            inputs=merged(self.inputs, inputs),
            outputs=merged(self.outputs, outputs),
            states=states,
            **options,
        )


def channels(kind: str, given: Mapping[str, Any]) -> list[Channel]:
    """Channels from names with (low, high), a mapping of the fields of Channel, a Channel or None."""
    result = []
    for name, value in given.items():
        if isinstance(value, Channel):
            result.append(value)
        elif value is None:
            result.append(Channel(name))
        elif isinstance(value, Mapping):
            result.append(Channel(name, **value))
        else:
            try:
                low, high = value
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"{kind}.{name}: expected (low, high), a mapping or a Channel, not {value!r}"
                ) from error
            result.append(Channel(name, float(low), float(high)))
    return result


def measured_vector(what: str, value: Any, size: int) -> Float:
    """Outputs that somebody's function returned."""
    try:
        return vector(what, value, size, missing=True)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what} of the rig's step: {str(error).split(': ', 1)[-1]}") from error
