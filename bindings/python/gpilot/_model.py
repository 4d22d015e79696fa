"""A fitted model: what it predicts, and what it says of itself."""

from __future__ import annotations

import os
from typing import Any, Literal, overload

import numpy as np

from gpilot import _core
from gpilot import _data as data
from gpilot._data import Float, Rows
from gpilot._results import Estimate, Prediction, Scores


def _path(path: str | os.PathLike[str]) -> str:
    return os.fspath(path)


class Model:
    """A fitted model: never changed, cheap to copy, safe to use from several threads.

    >>> model = identify(*example())
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

    @property
    def parameters(self) -> dict[str, Estimate]:
        """The parameters of declared physics that were learned, by name: value, standard error, unit, .."""
        return {name: Estimate(**entry) for name, entry in self._core.parameters.items()}

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

        >>> model = identify(*example())
        >>> u, y = example()
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

        >>> u, y = example()
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

        >>> u, y = example()
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

        >>> u, y = example()
        >>> identify(u, y).sample(u, y[:10], n_draws=3).shape
        (3, 120, 1)
        """
        controls, measured, warmup = self._new(u, y_init, None)
        draws = self._core.sample(controls, measured, warmup, int(n_draws), int(seed), noise, broad_start)
        return np.stack(draws)

    def transition(self, x: Rows, u: Rows) -> tuple[Float, Float]:
        """The learned function: mean and deviation (N, D) of the next state from states (N, D) and controls (N, P).

        >>> model = GPSSM(states=1, dt=0.1).fit(*example())
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

        >>> u, y = example()
        >>> scores = identify(u, y).evaluate(u, y, warmup=10)
        >>> bool(scores.rmse["free_run"][0] < scores.rmse["mean"][0])
        True
        """
        controls, measured, rows = self._new(u, y, None)
        if rows != len(controls):
            raise ValueError(f"u, y: shapes {controls.shape} and ({rows}, {len(self.outputs)}), expected as many rows")
        board = self._core.score(controls, measured, int(warmup), int(n_draws), int(seed), broad_start)
        names = ("free_run", "one_step", "mean", "hold", "linear_free_run", "linear_one_step")
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

        >>> u, y = example()
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
    >>> identify(*example()).save(path)
    >>> load(path).outputs
    ['y']
    """
    return Model.load(path)
