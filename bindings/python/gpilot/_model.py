"""Models of recordings: declared states (GPSSM) or identified ones (identify)."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np

from gpilot import _core
from gpilot import _data as data
from gpilot._data import Float, Rows
from gpilot._progress import Progress, reporting

Interval = tuple[float, float]


@dataclass(frozen=True)
class Prediction:
    """The outputs' distribution in every row, output noise included. Arrays are read-only views, without copies.

    >>> import numpy as np
    >>> p = Prediction(np.zeros((3, 1)), np.ones((3, 1)), {0.5: np.zeros((3, 1))}, np.zeros(3, dtype=bool), 0, ["y"])
    >>> p.mean.shape, p.outputs
    ((3, 1), ['y'])
    """

    mean: Float
    """(time, E) the point prediction; of draws their median."""
    std: Float
    """(time, E)"""
    quantiles: Mapping[float, Float]
    """By level (0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975): (time, E) each."""
    beyond: np.typing.NDArray[np.bool_]
    """(time,) whether the run has left what the training data support: from there on the model extrapolates."""
    diverged: int
    """Draws that left every sensible range."""
    outputs: list[str]
    """Names of the E columns."""


@dataclass(frozen=True)
class Scores:
    """How good predictions are, beside what the training mean and a linear model would have said.

    Every table is by predictor ("free_run", "one_step", "mean", "linear_free_run", "linear_one_step"), with a value for
    each output.

    >>> Scores({"mean": [1.0]}, {}, {}, {}, 0, 0, None, ["y"]).rmse["mean"]
    [1.0]
    """

    rmse: Mapping[str, Any]
    """Root mean squared error (E,)."""
    nlpd: Mapping[str, Any]
    """Mean negative log density (E,)."""
    coverage: Mapping[str, Any]
    """Share of the values inside the central 50, 90 and 95 % intervals (E, 3)."""
    count: Mapping[str, Any]
    """Values compared (E,)."""
    diverged: int
    beyond: int
    """Rows that the training data do not support."""
    residuals: Any
    """(time, E) errors one step ahead in units of their standard deviation; NaN where nothing was measured."""
    outputs: list[str] = field(default_factory=list)

    def to_frame(self) -> Any:
        """A pandas DataFrame: a row for each predictor and output."""
        import pandas as pd

        rows = [
            {"predictor": name, "output": output, "rmse": self.rmse[name][e], "nlpd": self.nlpd[name][e],
             "coverage50": self.coverage[name][e, 0], "coverage90": self.coverage[name][e, 1],
             "coverage95": self.coverage[name][e, 2], "count": self.count[name][e]}
            for name in self.rmse
            for e, output in enumerate(self.outputs)
        ]  # fmt: skip
        return pd.DataFrame(rows)


def _path(path: str | os.PathLike[str]) -> str:
    return os.fspath(path)


class Model:
    """A fitted model: never changed, cheap to copy, safe to use from several threads.

    >>> model = identify(*_example())
    >>> model.status in ("converged", "iteration limit", "not yet useful", "motion as noise")
    True
    """

    def __init__(self, core: _core.Model) -> None:
        """For the package's own use; `gpilot.load`, `GPSSM.fit` and `gpilot.identify` make models."""
        self._core = core

    # What it is.

    @property
    def spec(self) -> dict[str, Any]:
        """What was declared: names, dt, kernel, .."""
        return dict(self._core.spec)

    @property
    def inputs(self) -> list[str]:
        """Names of the P controls."""
        return list(self._core.spec["inputs"])

    @property
    def outputs(self) -> list[str]:
        """Names of the E outputs."""
        return list(self._core.spec["outputs"])

    @property
    def states(self) -> list[str]:
        """Names of the D states."""
        return list(self._core.spec["states"])

    @property
    def dt(self) -> float:
        """Seconds between rows."""
        return float(self._core.spec["dt"])

    @property
    def elbo(self) -> float:
        """The bound on the log evidence that training reached."""
        return self._core.bound

    @property
    def status(self) -> str:
        """How training ended: "converged", "iteration limit", "not yet useful", "motion as noise", "interrupted"."""
        return self._core.status

    @property
    def report(self) -> dict[str, Any]:
        """What training did: message, candidates, settings, seconds, .."""
        return dict(self._core.report)

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """What was learned, by name, in your units: length scales, noises, emission, start."""
        return dict(self._core.hyperparameters)

    def __repr__(self) -> str:
        """Names and status."""
        return f"<gpilot.Model {', '.join(self.inputs)} -> {', '.join(self.outputs)}, {self.status}>"

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file of the command line (JSON), whole or not at all."""
        self._core.save(_path(path))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Reads a model file: a loaded model predicts the same bits."""
        return Model(_core.Model.load(_path(path)))

    def __getstate__(self) -> str:
        """Pickled as the text of its file."""
        return self._core.to_text()

    def __setstate__(self, text: str) -> None:
        """Unpickled."""
        self._core = _core.Model.from_text(text, "pickle")

    # Predictions.

    def _new(self, u: Any, y: Any, k: int | None) -> tuple[Float, Float, int]:
        """Controls and outputs of one sequence, y the outputs of its first rows or None, and their number."""
        at = "" if k is None else f"[{k}]"
        inputs, outputs = len(self.inputs), len(self.outputs)
        controls = data.sequences(f"u{at}", u)[0]
        if controls.shape[1] != inputs:
            raise ValueError(f"u{at}: shape {controls.shape}, expected (time, {inputs}): {', '.join(self.inputs)}")
        data.check_controls(f"u{at}", controls)
        measured = np.full((len(controls), outputs), np.nan)
        if y is None:
            return controls, measured, 0
        first = data.sequences(f"y_init{at}", y)[0]
        if first.shape[1] != outputs or len(first) > len(controls):
            raise ValueError(
                f"y_init{at}: shape {first.shape}, expected at most {len(controls)} rows, as u{at} {controls.shape} has, "
                f"of {outputs} output(s): {', '.join(self.outputs)}"
            )
        data.check_outputs(f"y_init{at}", first)
        measured[: len(first)] = first
        return controls, measured, len(first)

    def _pairs(self, u: Any, y_init: Any) -> list[tuple[Any, Any, int | None]]:
        if not data.is_several(u):
            return [(u, y_init, None)]
        starts = [None] * len(u) if y_init is None else y_init
        if not data.is_several(starts) or len(starts) != len(u):
            raise ValueError(f"y_init: expected a list of {len(u)} sequences, as u is")
        return [(u[k], starts[k], k) for k in range(len(u))]

    def distribution(
        self, u: Rows, y_init: Rows | None = None, *, n_draws: int = 200, seed: int = 0, broad_start: bool = False
    ) -> Prediction:
        """The whole distribution of one free run: mean, standard deviation, quantiles, where it extrapolates.

        u is (time, P). y_init (k, E), the outputs of the first k rows, tells the state; the rows after them are predicted
        from the controls alone. n_draws functions are drawn from the model, each followed from start to end; 0 is moment
        matching. `gpilot predict` on the command line gives the same bits with its --warmup k --draws n_draws.

        >>> model = identify(*_example())
        >>> u, y = _example()
        >>> model.distribution(u, y[:10]).quantiles[0.95].shape
        (120, 1)
        """
        controls, measured, warmup = self._new(u, y_init, None)
        p = self._core.predict(controls, measured, warmup, int(n_draws), int(seed), broad_start)
        return Prediction(
            mean=p.mean,
            std=p.std,
            quantiles={level: p.quantile(level) for level in p.quantile_levels},
            beyond=np.asarray(p.beyond, dtype=bool),
            diverged=p.diverged,
            outputs=self.outputs,
        )

    @overload
    def predict(
        self,
        u: Any,
        y_init: Any = ...,
        return_std: Literal[False] = ...,
        n_draws: int = ...,
        *,
        seed: int = ...,
        broad_start: bool = ...,
    ) -> Any: ...

    @overload
    def predict(
        self,
        u: Any,
        y_init: Any = ...,
        *,
        return_std: Literal[True],
        n_draws: int = ...,
        seed: int = ...,
        broad_start: bool = ...,
    ) -> tuple[Any, Any]: ...

    def predict(
        self,
        u: Any,
        y_init: Any = None,
        return_std: bool = False,
        n_draws: int = 0,
        *,
        seed: int = 0,
        broad_start: bool = False,
    ) -> Any:
        """Outputs (time, E) of a free run, in the container that u came in; with return_std also their deviation.

        u is (time, P), or a list of such sequences. y_init (k, E), the outputs of the first k rows, tells the state: those
        rows come back filtered, later ones are predicted from the controls alone. n_draws = 0 is moment matching, which is
        fast; more draws see that spreads may be skewed.

        >>> u, y = _example()
        >>> mean, std = identify(u, y).predict(u, y_init=y[:10], return_std=True)
        >>> mean.shape, std.shape
        ((120, 1), (120, 1))
        """
        means, stds = [], []
        for one, start, k in self._pairs(u, y_init):
            controls, measured, warmup = self._new(one, start, k)
            p = self._core.predict(controls, measured, warmup, int(n_draws), int(seed), broad_start)
            means.append(data.like(one, p.mean, self.outputs))
            stds.append(data.like(one, p.std, self.outputs))
        if not data.is_several(u):
            return (means[0], stds[0]) if return_std else means[0]
        return (means, stds) if return_std else means

    def predict_ahead(self, u: Any, y: Any, steps: int = 1, *, broad_start: bool = False) -> tuple[Any, Any]:
        """Mean and deviation (time, E) of every row, predicted from the outputs up to `steps` rows before it.

        >>> u, y = _example()
        >>> mean, std = identify(u, y).predict_ahead(u, y, steps=2)
        >>> mean.shape
        (120, 1)
        """
        controls, measured, rows = self._new(u, y, None)
        if rows != len(controls):
            raise ValueError(f"u, y: shapes {controls.shape} and ({rows}, {len(self.outputs)}), expected as many rows")
        p = self._core.predict_ahead(controls, measured, int(steps), broad_start)
        return data.like(u, p.mean, self.outputs), data.like(u, p.std, self.outputs)

    def sample(
        self,
        u: Rows,
        y_init: Rows | None = None,
        n_draws: int = 10,
        *,
        seed: int = 0,
        noise: bool = True,
        broad_start: bool = False,
    ) -> Float:
        """Possible courses of the outputs (n_draws, time, E): each follows one function drawn from the model.

        With measurement noise unless `noise` is False.

        >>> u, y = _example()
        >>> identify(u, y).sample(u, y[:10], n_draws=3).shape
        (3, 120, 1)
        """
        controls, measured, warmup = self._new(u, y_init, None)
        draws = self._core.sample(controls, measured, warmup, int(n_draws), int(seed), noise, broad_start)
        return np.stack(draws)

    def transition(self, x: Rows, u: Rows) -> tuple[Float, Float]:
        """The learned function: mean and deviation (N, D) of the next state from states (N, D) and controls (N, P).

        >>> model = GPSSM(states=1, dt=0.1).fit(*_example())
        >>> mean, std = model.transition([[0.1], [0.2]], [[0.0], [0.0]])
        >>> mean.shape
        (2, 1)
        """
        states, controls = np.atleast_2d(np.asarray(x, float)), np.atleast_2d(np.asarray(u, float))
        D, P = len(self.states), len(self.inputs)
        if states.ndim != 2 or controls.ndim != 2 or states.shape[1] != D or controls.shape != (len(states), P):
            raise ValueError(f"x, u: shapes {states.shape} and {controls.shape}, expected (N, {D}) and (N, {P})")
        return self._core.transition(states, controls)

    def evaluate(
        self, u: Rows, y: Rows, warmup: int = 0, *, n_draws: int = 200, seed: int = 0, broad_start: bool = False
    ) -> Scores:
        """Errors, densities and coverage on new data (time, P), (time, E), after `warmup` rows that are filtered.

        >>> u, y = _example()
        >>> scores = identify(u, y).evaluate(u, y, warmup=10)
        >>> bool(scores.rmse["free_run"][0] < scores.rmse["mean"][0])
        True
        """
        controls, measured, rows = self._new(u, y, None)
        if rows != len(controls):
            raise ValueError(f"u, y: shapes {controls.shape} and ({rows}, {len(self.outputs)}), expected as many rows")
        board = self._core.score(controls, measured, int(warmup), int(n_draws), int(seed), broad_start)
        names = ("free_run", "one_step", "mean", "linear_free_run", "linear_one_step")
        return Scores(
            rmse={name: board[name]["rmse"] for name in names},
            nlpd={name: board[name]["nlpd"] for name in names},
            coverage={name: board[name]["coverage"] for name in names},
            count={name: board[name]["count"] for name in names},
            diverged=board["diverged"],
            beyond=board["beyond"],
            residuals=board["residuals"],
            outputs=self.outputs,
        )

    def score(self, u: Any, y: Any, warmup: int = 0, *, broad_start: bool = False) -> float:
        """R^2 of the free run (1 is perfect, 0 what the mean of y would reach), the mean over outputs and sequences.

        The first `warmup` rows are filtered and do not count.

        >>> u, y = _example()
        >>> identify(u, y).score(u, y, warmup=10) > 0.5
        True
        """
        controls, outputs = data.paired(u, y)
        values = []
        for c, out in zip(controls, outputs, strict=True):
            mean = self.predict(c, out[:warmup] if warmup > 0 else None, broad_start=broad_start)
            truth, guess = out[warmup:], mean[warmup:]
            with np.errstate(invalid="ignore", divide="ignore"):
                residual = np.nansum((truth - guess) ** 2, axis=0)
                total = np.nansum((truth - np.nanmean(truth, axis=0)) ** 2, axis=0)
                values.append(np.mean(1.0 - residual / total))
        return float(np.mean(values))


def load(path: str | os.PathLike[str]) -> Model:
    """Reads a model file, as `gpilot fit` and `Model.save` write it.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/model.json"
    >>> identify(*_example()).save(path)
    >>> load(path).outputs
    ['y']
    """
    return Model.load(path)


class GPSSM:
    """A Gaussian process state-space model whose states are declared, with the interface of scikit-learn's estimators.

    states is their number or their names. `derivative_of={"rate": "angle"}` says that the state rate is the derivative of
    the state angle; `angles` that a state is the same after a full turn. An output NAME or y_NAME measures the state NAME;
    otherwise output k measures the k-th state that is no declared derivative, unless `emission` (E, D) says more. kernel is
    "se", "matern12", "matern32" or "matern52", with "+linear" for a linear part beside it, or "linear". x0 and x0_sd (D,)
    are the known start of every sequence. output_sd (E,) and process_sd (D,) fix noises, which are learned otherwise.
    ranges={"angle": (-1, 1)} gives scales that do not depend on the data. `training` has the options of
    docs/configuration.md, [training]: method, rounds, polish, restarts, .., threads.

    After fit: `model_` (a Model), `elbo_`, `hyperparameters_`, `status_`.

    >>> u, y = _example()
    >>> model = GPSSM(states=2, kernel="matern32", seed=0).fit(u, y)
    >>> model.predict(u, y_init=y[:5]).shape
    (120, 1)
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
            "angles": list(self.angles or []),
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
        keys = (
            "states",
            "kernel",
            "dt",
            "inputs",
            "outputs",
            "mean",
            "inducing",
            "derivative_of",
            "angles",
            "ranges",
            "nodes",
        )
        estimator = cls(**{key: spec[key] for key in keys}, seed=model._core.seed)
        estimator.model_ = model
        return estimator


def identify(
    u: Any,
    y: Any,
    states: int = 4,
    *,
    dt: float = 1.0,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    kernel: str | None = None,
    inducing: int | None = None,
    ranges: Mapping[str, Interval] | None = None,
    progress: Progress = None,
    seed: int = 0,
    **options: Any,
) -> Model:
    """Learns a model from recordings of which nothing is known: the states, at most so many, are chosen, too.

    u is (time, P), y is (time, E) with NaN where nothing was measured, or lists of them. Further options by name:
    structure ("auto", "linear", "delay", "subspace"), order, dead_time, output_lags, input_lags, offset_per_sequence,
    iterations, threads. The same as `gpilot fit --states N`.

    >>> u, y = _example()
    >>> identify(u, y, states=2, structure="linear").predict(u).shape
    (120, 1)
    """
    recordings = data.make_data(u, y, inputs, outputs, dt, False)
    spec: dict[str, Any] = {
        "inputs": recordings.inputs,
        "outputs": recordings.outputs,
        "dt": float(dt),
        "ranges": [(name, float(low), float(high)) for name, (low, high) in (ranges or {}).items()],
    }
    if kernel is not None:
        spec["kernel"] = kernel
    if inducing is not None:
        spec["inducing"] = int(inducing)
    if int(states) < len(recordings.outputs):
        raise ValueError(f"states: {len(recordings.outputs)} outputs but {states} state(s); expected at least as many")
    with reporting(progress, "identify") as on_progress:
        return Model(
            _core.identify(recordings, spec, {"states": int(states), "seed": int(seed), **options}, on_progress)
        )


def _example() -> tuple[Float, Float]:
    """Controls and outputs of a small system, for the examples of the docstrings."""
    rng = np.random.default_rng(0)
    u = np.repeat(rng.uniform(-1, 1, 30), 4)[:, np.newaxis]
    x, y = 0.0, np.zeros((120, 1))
    for t in range(120):
        y[t, 0] = x + 0.01 * rng.standard_normal()
        x += 0.1 * (np.tanh(2 * u[t, 0]) - x)
    return u, y
