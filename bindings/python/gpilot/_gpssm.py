"""Models whose states are declared, with the interface of scikit-learn's estimators."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpilot import _core
from gpilot import _data as data
from gpilot import _knowledge as knowledge
from gpilot._data import Float, Interval, Rows
from gpilot._knowledge import PhysicsFunction
from gpilot._model import Model
from gpilot._progress import Progress, reporting
from gpilot._results import Estimate, Prediction, Scores

_KNOWLEDGE = (
    "cyclic",
    "depends_on",
    "symmetry",
    "centre",
    "control_affine",
    "coefficients",
    "physics",
    "parameters",
    "integration",
    "units",
)


class GPSSM:
    """A Gaussian process state-space model whose states are declared, with the interface of scikit-learn's estimators.

    states is their number or their names. `derivative_of={"rate": "angle"}` says that the state rate is the derivative of
    the state angle; `angles` that a state is the same after a full turn. An output NAME or y_NAME measures the state NAME;
    otherwise output k measures the k-th state that is no declared derivative, unless `emission` (E, D) says more. kernel is
    "se", "matern12", "matern32" or "matern52", with "+linear" for a linear part beside it, or "linear". x0 and x0_sd (D,)
    are the known start of every sequence. output_sd (E,) and process_sd (D,) fix noises, which are learned otherwise.
    ranges={"angle": (-1, 1)} gives scales that do not depend on the data. `training` has the options of
    docs/configuration.md, [training]: method, rounds, polish, restarts, .., threads.

    What is known about the functions is declared as in a configuration (docs/knowledge.md): `cyclic` names states that
    nothing depends on, depends_on={"v": ["v", "u"]} what a function depends on alone, symmetry={"v": "odd"} about
    centre={"th": 3.1416}, `control_affine` states on which the inputs act linearly, coefficients={"v": {"u": 0.5}} known
    weights per step. physics={"v": "(u - b*v) / m"} is an equation, roughly: the rate of v, with
    parameters={"b": {"start": 0.1, "sd": 0.1, "unit": "N s/m"}, "m": {"start": 1, "factor": 3}, "g": 9.81}, of which
    numbers are known and the others are learned; integration is "rk4", "trapezoid" or "next", and units={"u": "N"} are
    checked. Instead of formulas, physics may be a function of Python: f(x, u, theta) or a PhysicsFunction. Such a model
    cannot be saved.

    After fit: `model_` (a Model), `elbo_`, `hyperparameters_`, `status_`; of physics `parameters_`, with standard errors.

    >>> u, y = example()
    >>> model = GPSSM(states=2, kernel="matern32", seed=0).fit(u, y)
    >>> model.predict(u, y_init=y[:5]).shape
    (120, 1)
    >>> model = GPSSM(["x"], physics={"x": "k*(tanh(2*u) - x)"}, parameters={"k": {"start": 1, "factor": 30}}).fit(u, y)
    >>> print(f"{model.parameters_['k'].value:.1f}")
    0.1
    """

    model_: Model

    def __init__(
        self,
        states: int | Sequence[str] = 2,
        kernel: str = "se+linear",
        *,
        dt: float = 1.0,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        mean: str = "identity",
        inducing: int = 20,
        derivative_of: Mapping[str, str] | None = None,
        angles: Sequence[str] | None = None,
        x0: Sequence[float] | Float | None = None,
        x0_sd: Sequence[float] | Float | float | None = None,
        emission: Sequence[Sequence[float]] | Float | None = None,
        offset: Sequence[float] | Float | None = None,
        learn_emission: bool = False,
        learn_offset: bool = False,
        output_sd: Sequence[float] | Float | float | None = None,
        process_sd: Sequence[float] | Float | float | None = None,
        ranges: Mapping[str, Interval] | None = None,
        nodes: str = "auto",
        node_points: int = 0,
        cyclic: str | Sequence[str] | None = None,
        depends_on: Mapping[str, str | Sequence[str]] | None = None,
        symmetry: Mapping[str, str] | None = None,
        centre: Mapping[str, float] | None = None,
        control_affine: str | Sequence[str] | None = None,
        coefficients: Mapping[str, Mapping[str, float]] | None = None,
        physics: Mapping[str, str] | PhysicsFunction | Callable[[Float, Float, Float], Any] | None = None,
        parameters: Mapping[str, float | Mapping[str, Any]] | None = None,
        integration: str = "rk4",
        units: Mapping[str, str] | None = None,
        training: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        """Keeps the parameters; fit() checks them."""
        self.states = states
        self.kernel = kernel
        self.dt = dt
        self.inputs = inputs
        self.outputs = outputs
        self.mean = mean
        self.inducing = inducing
        self.derivative_of = derivative_of
        self.angles = angles
        self.x0 = x0
        self.x0_sd = x0_sd
        self.emission = emission
        self.offset = offset
        self.learn_emission = learn_emission
        self.learn_offset = learn_offset
        self.output_sd = output_sd
        self.process_sd = process_sd
        self.ranges = ranges
        self.nodes = nodes
        self.node_points = node_points
        self.cyclic = cyclic
        self.depends_on = depends_on
        self.symmetry = symmetry
        self.centre = centre
        self.control_affine = control_affine
        self.coefficients = coefficients
        self.physics = physics
        self.parameters = parameters
        self.integration = integration
        self.units = units
        self.training = training
        self.seed = seed

    # scikit-learn.

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn expects them."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> GPSSM:
        """Sets parameters by name; returns self."""
        known = self._names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name}: no parameter of GPSSM (known: {', '.join(known)})")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The parameters that are not at their defaults."""
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{n}={getattr(self, n)!r}" for n in self._names() if repr(getattr(self, n)) != repr(defaults[n].default)
        ]
        return f"GPSSM({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        """For sklearn.utils.validation.check_is_fitted."""
        return hasattr(self, "model_")

    # Learning.

    def _state_names(self) -> list[str]:
        if isinstance(self.states, (str, bool)):
            raise TypeError(f"states: expected a number or a list of names, not {self.states!r}")
        if not isinstance(self.states, (int, np.integer)):
            return [str(name) for name in self.states]
        if self.states < 1:
            raise ValueError(f"states: {self.states}, expected at least 1")
        return [f"x{k + 1}" for k in range(int(self.states))]

    def _spec(self, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
        states = self._state_names()
        D, E = len(states), len(outputs)

        def place(name: str) -> int:
            if name not in states:
                raise ValueError(f"derivative_of: {name!r} is no state (states: {', '.join(states)})")
            return states.index(name)

        def spread(name: str, value: Any, size: int) -> Float | None:
            if value is None:
                return None
            return np.full(size, float(value)) if np.ndim(value) == 0 else data.vector(name, value, size, missing=True)

        emission = None
        if self.emission is not None:
            emission = np.asarray(self.emission, dtype=np.float64)
            if emission.shape != (E, D):
                raise ValueError(f"emission: shape {emission.shape}, expected ({E}, {D}): outputs, states")
        return {
            "inputs": inputs,
            "outputs": outputs,
            "states": states,
            "dt": float(self.dt),
            "kernel": self.kernel,
            "mean": self.mean,
            "inducing": int(self.inducing),
            "derivatives": [(place(v), place(p)) for v, p in (self.derivative_of or {}).items()],
            "angles": knowledge.names("angles", self.angles),
            "x0_mean": spread("x0", self.x0, D),
            "x0_sd": spread("x0_sd", self.x0_sd, D),
            "emission": emission,
            "offset": spread("offset", self.offset, E),
            "learn_emission": bool(self.learn_emission),
            "learn_offset": bool(self.learn_offset),
            "output_sd": spread("output_sd", self.output_sd, E),
            "process_sd": spread("process_sd", self.process_sd, D),
            "ranges": [(name, float(low), float(high)) for name, (low, high) in (self.ranges or {}).items()],
            "nodes": self.nodes,
            "node_points": int(self.node_points),
            **knowledge.core_knowledge(
                states,
                list((self.derivative_of or {}).values()),
                **{key: getattr(self, key) for key in _KNOWLEDGE},
            ),
        }

    def fit(
        self,
        u: Any,
        y: Any,
        *,
        progress: Progress = None,
        previous: Model | GPSSM | None = None,
        broad_start: bool = False,
    ) -> GPSSM:
        """Learns from controls u (time, P) and outputs y (time, E), or lists of them. Returns self.

        NaN in y is a missing measurement. u may be None: a system without controls. `previous` is a model to start from
        as well; with broad_start the sequences may begin in any state. Ctrl-C raises KeyboardInterrupt within about 100 ms
        and leaves the estimator as it was.
        """
        recordings = data.make_data(u, y, self.inputs, self.outputs, self.dt, broad_start)
        spec = self._spec(recordings.inputs, recordings.outputs)
        start = previous.model_ if isinstance(previous, GPSSM) else previous
        with reporting(progress, "fit") as on_progress:
            core = _core.fit(
                recordings,
                spec,
                dict(self.training or {}),
                int(self.seed),
                None if start is None else start._core,
                on_progress,
            )
        self.model_ = Model(core)
        return self

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise ValueError("this GPSSM is not fitted yet; call fit(u, y) or load(path) first")
        return self.model_

    @property
    def elbo_(self) -> float:
        """The bound on the log evidence that training reached."""
        return self._fitted().elbo

    @property
    def status_(self) -> str:
        """How training ended."""
        return self._fitted().status

    @property
    def hyperparameters_(self) -> dict[str, Any]:
        """What was learned, by name, in your units."""
        return self._fitted().hyperparameters

    @property
    def parameters_(self) -> dict[str, Estimate]:
        """The parameters of declared physics that were learned, by name: value, standard error, unit, .."""
        return self._fitted().parameters

    def predict(self, u: Any, y_init: Any = None, return_std: bool = False, n_draws: int = 0, *, seed: int = 0) -> Any:
        """As Model.predict: outputs (time, E) of a free run from u (time, P), y_init (k, E) telling the state."""
        model = self._fitted()
        if return_std:
            return model.predict(u, y_init, return_std=True, n_draws=n_draws, seed=seed)
        return model.predict(u, y_init, n_draws=n_draws, seed=seed)

    def distribution(self, u: Rows, y_init: Rows | None = None, *, n_draws: int = 200, seed: int = 0) -> Prediction:
        """As Model.distribution."""
        return self._fitted().distribution(u, y_init, n_draws=n_draws, seed=seed)

    def score(self, u: Any, y: Any, warmup: int = 0) -> float:
        """As Model.score: R^2 of the free run."""
        return self._fitted().score(u, y, warmup)

    def evaluate(self, u: Rows, y: Rows, warmup: int = 0, *, n_draws: int = 200, seed: int = 0) -> Scores:
        """As Model.evaluate."""
        return self._fitted().evaluate(u, y, warmup, n_draws=n_draws, seed=seed)

    def sample(self, u: Rows, y_init: Rows | None = None, n_draws: int = 10, *, seed: int = 0) -> Float:
        """As Model.sample: possible courses (n_draws, time, E)."""
        return self._fitted().sample(u, y_init, n_draws, seed=seed)

    def transition(self, x: Rows, u: Rows) -> tuple[Float, Float]:
        """As Model.transition: mean and deviation (N, D) of the next state."""
        return self._fitted().transition(x, u)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file of the command line."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GPSSM:
        """Reads a model file; the estimator has the parameters that the file tells."""
        model = Model.load(path)
        spec = model.spec
        keys = ["states", "kernel", "dt", "inputs", "outputs", "mean", "inducing"]
        keys += ["derivative_of", "angles", "ranges", "nodes"]
        told: dict[str, Any] = {key: spec[key] for key in keys} | {key: spec[key] or None for key in _KNOWLEDGE}
        estimator = cls(**told, seed=model._core.seed)
        estimator.model_ = model
        return estimator
