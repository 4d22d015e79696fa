"""The configuration of studies and explorations, as a file has it (docs/configuration.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from gpilot import _core
from gpilot._data import Interval

Channel = Interval | Mapping[str, Any] | None


def _plain(value: Any) -> Any:
    """Python's own types for TOML, entries that are None left out."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _channel(kind: str, name: str, value: Channel) -> dict[str, Any]:
    if value is None:
        return {"name": name}
    if isinstance(value, Mapping):
        return {"name": name, **value}
    try:
        low, high = value
        return {"name": name, "low": float(low), "high": float(high)}
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{kind}.{name}: expected (low, high), a mapping of its keys, or None, not {value!r}"
        ) from error


def _table(head: str, name: str, entry: Mapping[str, Any]) -> str:
    """A table of the file; tables in it ([physics.parameters], coefficients of a state) come after its own keys."""
    inner = {key: value for key, value in entry.items() if isinstance(value, Mapping)}
    own = {key: value for key, value in entry.items() if key not in inner}
    parts = [_table(f"[{name}.{key}]", f"{name}.{key}", value) for key, value in inner.items()]
    return "\n".join([f"{head}\n{tomli_w.dumps(own)}", *parts])


def _section(name: str, value: Any) -> str:
    """A section of the file, or one for every entry of a list."""
    if isinstance(value, list):
        return "\n".join(_table(f"[[{name}]]", name, entry) for entry in value)
    if not isinstance(value, Mapping):
        raise TypeError(f"config: {name}: expected a mapping or a list of them, not {value!r}")
    return _table(f"[{name}]", name, value)


class Config:
    """What may be done to a system, what is measured, how gpilot chooses and learns.

    inputs and outputs map names to (low, high), or to a mapping of the keys of [[input]] and [[output]]: unit, slew, safe;
    noise_sd, limit_low, limit_high, plausible_low, state, .. states maps names to the keys of [[state]]: derivative_of,
    angle, start, start_sd, .. Further keywords are the keys of [study]: seed, strategy, initial, steps, retrain_every,
    delta, until_sd, .. `physics`, `model`, `planning`, `training` and `rig` are the sections of the same name.
    docs/configuration.md explains every key; what is wrong is an InputError that names it.

    >>> config = Config(dt=0.1, inputs={"volts": (0, 5)}, outputs={"temperature": (0, 20)}, seed=1)
    >>> print(config.toml().splitlines()[0])
    [study]
    >>> Config(dt=0.1, inputs={"volts": (0, 5)}, outputs={"temperature": (0, 20)}, initial=1)
    Traceback (most recent call last):
    gpilot.InputError: config:6: study.initial: expected a whole number from 2 to 10000, not 1
    """

    def __init__(
        self,
        *,
        dt: float,
        inputs: Mapping[str, Channel],
        outputs: Mapping[str, Channel],
        states: Mapping[str, Mapping[str, Any] | None] | Sequence[str] | None = None,
        physics: Mapping[str, Any] | None = None,
        model: Mapping[str, Any] | None = None,
        planning: Mapping[str, Any] | None = None,
        training: Mapping[str, Any] | None = None,
        rig: Mapping[str, Any] | None = None,
        **study: Any,
    ) -> None:
        """Checks the whole configuration."""
        if states is not None and not isinstance(states, Mapping):
            states = dict.fromkeys(states)
        sections: dict[str, Any] = {
            "study": {"dt": float(dt), **study},
            "input": [_channel("inputs", name, value) for name, value in inputs.items()],
            "output": [_channel("outputs", name, value) for name, value in outputs.items()],
            "state": [{"name": name, **(value or {})} for name, value in (states or {}).items()],
            "physics": physics,
            "model": model,
            "planning": planning,
            "training": training,
            "rig": rig,
        }
        self._set({name: value for name, value in sections.items() if value})

    def _set(self, sections: Mapping[str, Any]) -> None:
        self.sections: dict[str, Any] = _plain(sections)
        """The sections of the file."""
        self._text = "\n".join(_section(name, value) for name, value in self.sections.items())
        _core.check_config(self._text, "config")

    @classmethod
    def from_mapping(cls, sections: Mapping[str, Any]) -> Config:
        """A configuration whose sections are those of a file: {"study": {..}, "input": [{..}], ..}."""
        config = cls.__new__(cls)
        config._set(sections)
        return config

    def toml(self) -> str:
        """The text of the file, for `gpilot check` and `gpilot run`."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file."""
        Path(path).write_text(self._text, encoding="utf-8")

    def changed(self, **study: Any) -> Config:
        """The same with other values of [study], e.g. changed(seed=2)."""
        return Config.from_mapping({**self.sections, "study": {**self.sections["study"], **study}})

    def __repr__(self) -> str:
        """Names of inputs and outputs."""
        names = [", ".join(entry["name"] for entry in self.sections[kind]) for kind in ("input", "output")]
        return f"<gpilot.Config {names[0]} -> {names[1]}, dt {self.sections['study']['dt']} s>"


def config_text(config: Config | str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str, str]:
    """The text of a configuration, and what to call it in messages: of a Config, a mapping, a file, or TOML itself."""
    if isinstance(config, Config):
        return config.toml(), "config"
    if isinstance(config, Mapping):
        return Config.from_mapping(config).toml(), "config"
    if isinstance(config, str) and "\n" in config:
        return config, "config"
    if isinstance(config, (str, os.PathLike)):
        return Path(config).read_text(encoding="utf-8"), os.fspath(config)
    raise TypeError(f"config: expected a Config, a mapping, a path or the text of a file, not {type(config).__name__}")
