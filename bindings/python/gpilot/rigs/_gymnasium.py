"""Gymnasium environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpilot._data import Float
from gpilot.rigs._base import Angle, Channel, Measured, Rig

Output = int | Angle | Callable[[Any], float]


class Gymnasium(Rig):
    """An environment of Gymnasium with a Box action space, as a rig.

    env is an environment or its id. outputs says what is measured of an observation: None for all of it, or a mapping of
    names to places of the observation, to `gpilot.rigs.angle(sin=.., cos=..)`, or to functions of the observation. noise is
    the standard deviation of the measurement noise, one number or one for each output. A control is held for `repeat` steps
    of the environment. Ranges come from the spaces where they are finite (`ranges` and `action_range` give others), dt from
    the environment's dt or its frames per second. Where an episode ends, or its time is over, the sequence ends and the
    environment is reset. Rewards are not looked at.

    >>> rig = Gymnasium("Pendulum-v1", outputs={"th": angle(sin=1, cos=0)})  # doctest: +SKIP
    >>> rig.config(states={"th": {"angle": True}, "th_dot": {"derivative_of": "th"}})  # doctest: +SKIP
    <gpilot.Config u -> th, dt 0.05 s>
    """

    can_reset = True

    def __init__(
        self,
        env: Any,
        outputs: Mapping[str, Output] | None = None,
        noise: float | Sequence[float] = 0.0,
        repeat: int = 1,
        *,
        dt: float | None = None,
        inputs: Sequence[str] | None = None,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        action_range: tuple[float, float] | None = None,
        seed: int = 0,
    ) -> None:
        """Looks at the spaces; nothing is simulated yet."""
        import gymnasium

        self._own = isinstance(env, str)
        self.env: Any = gymnasium.make(env) if isinstance(env, str) else env
        if not isinstance(self.env, gymnasium.Env):
            raise TypeError(f"env: expected a Gymnasium environment or its id, not {type(env).__name__}")
        if int(repeat) < 1:
            raise ValueError(f"repeat: {repeat}, expected at least 1")
        self.repeat = int(repeat)
        self.dt = float(dt) if dt is not None else self._own_dt() * self.repeat
        self.inputs = self._actions(inputs, action_range)
        self._pick = self._observed(outputs)
        self.outputs = self._channels(ranges or {})
        self._noise = np.broadcast_to(np.asarray(noise, dtype=float), (len(self.outputs),))
        if not (np.isfinite(self._noise).all() and (self._noise >= 0).all()):
            raise ValueError(f"noise: {noise}, expected standard deviations that are not negative")
        self._seed = int(seed)
        self._random = np.random.default_rng(self._seed)
        self._begun = False
        self._steps = 0
        self.control: Float = self.safe_control
        """What is applied now."""

    def _own_dt(self) -> float:
        own = getattr(self.env.unwrapped, "dt", None)
        if isinstance(own, (int, float)) and own > 0:
            return float(own)
        fps = (self.env.metadata or {}).get("render_fps")
        if fps:
            return 1.0 / float(fps)
        raise ValueError("dt: the environment does not say how long a step is; expected seconds of a control")

    def _actions(self, names: Sequence[str] | None, given: tuple[float, float] | None) -> list[Channel]:
        from gymnasium.spaces import Box

        space = self.env.action_space
        if not isinstance(space, Box):
            raise TypeError(f"env: expected a Box action space, not {space}")
        low, high = np.asarray(space.low, float).ravel(), np.asarray(space.high, float).ravel()
        if given is not None:
            low, high = np.maximum(low, given[0]), np.minimum(high, given[1])
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ValueError(f"action_range: the action space {space} is unbounded; expected (low, high)")
        names = list(names) if names is not None else ["u"] if len(low) == 1 else [f"u{k + 1}" for k in range(len(low))]
        if len(names) != len(low):
            raise ValueError(f"inputs: {len(names)} name(s), expected {len(low)}, as the action space {space} has")
        return [Channel(n, float(lo), float(hi)) for n, lo, hi in zip(names, low, high, strict=True)]

    def _observed(self, outputs: Mapping[str, Output] | None) -> dict[str, Output]:
        from gymnasium.spaces import Box

        space = self.env.observation_space
        is_box = isinstance(space, Box)
        size = int(np.prod(space.shape)) if is_box and space.shape is not None else 0
        if outputs is None:
            if not is_box:
                raise TypeError(f"outputs: the observation space is {space}; expected functions of an observation")
            return {f"y{k + 1}" if size > 1 else "y": k for k in range(size)}
        for name, pick in outputs.items():
            places = [pick] if isinstance(pick, int) else [pick.sin, pick.cos] if isinstance(pick, Angle) else []
            if places and (not is_box or min(places) < -size or max(places) >= size):
                raise ValueError(f"outputs.{name}: place {places} of an observation {space}")
            if not places and not callable(pick):
                raise TypeError(f"outputs.{name}: expected a place, angle(sin, cos) or a function, not {pick!r}")
        return dict(outputs)

    def _channels(self, ranges: Mapping[str, tuple[float, float]]) -> list[Channel]:
        result = []
        for name, pick in self._pick.items():
            low: float | None = None
            high: float | None = None
            if name in ranges:
                low, high = (float(value) for value in ranges[name])
            elif isinstance(pick, Angle):
                low, high = -np.pi, np.pi
            elif isinstance(pick, int):
                space = self.env.observation_space
                ends = float(np.ravel(space.low)[pick]), float(np.ravel(space.high)[pick])
                if np.isfinite(ends).all() and max(map(abs, ends)) < 1e6:
                    low, high = ends
            result.append(Channel(name, low, high, angle=isinstance(pick, Angle)))
        for name in ranges:
            if name not in self._pick:
                raise ValueError(f"ranges.{name}: no such output (outputs: {', '.join(self._pick)})")
        return result

    def _measure(self, observation: Any) -> Float:
        flat = np.ravel(observation) if isinstance(observation, np.ndarray) else observation
        clean = [float(flat[pick]) if isinstance(pick, int) else float(pick(flat)) for pick in self._pick.values()]
        return np.asarray(clean) + self._noise * self._random.standard_normal(len(clean))

    def reset(self, seed: int | None = None) -> Float | None:
        """Resets the environment; outputs (E,) of its first observation."""
        self._random = np.random.default_rng([self._seed, 0 if seed is None else int(seed)])
        observation, _ = self.env.reset(seed=seed)
        self._begun, self._steps = True, 0
        return self._measure(observation)

    def step(self, control: Float) -> Measured:
        """Holds the control for `repeat` steps, or to the end of the episode."""
        if not self._begun:
            self.reset(self._seed)
        space = self.env.action_space
        low = np.array([channel.low for channel in self.inputs])
        high = np.array([channel.high for channel in self.inputs])
        applied = np.clip(np.asarray(control, dtype=float), low, high)
        action = applied.reshape(space.shape).astype(space.dtype)
        self.control = applied
        done = False
        for _ in range(self.repeat):
            observation, _, terminated, truncated, _ = self.env.step(action)
            done = bool(terminated or truncated)
            if done:
                self._begun = False
                break
        self._steps += 1
        return Measured(self._measure(observation), applied, done, self._steps * self.dt)

    def safe(self) -> None:
        """Time stands still between two steps: nothing moves on."""
        self.control = self.safe_control

    def close(self) -> None:
        """Closes the environment, if this rig made it."""
        if self._own:
            self.env.close()
