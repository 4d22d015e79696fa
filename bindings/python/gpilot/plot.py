"""Figures with matplotlib, which is optional: prediction bands, landscapes, comparisons, residuals, phase portraits.

Every function draws into `ax`, or into new axes, and returns them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpilot import _core
from gpilot._compare import Comparison
from gpilot._gpssm import GPSSM
from gpilot._model import Model
from gpilot._results import Prediction, Scores

__all__ = ["comparison", "landscape", "phase_portrait", "prediction", "residuals"]


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("gpilot.plot needs matplotlib: pip install 'gpilot[plot]'") from error
    return plt.subplots(figsize=(7, 3.5))[1] if ax is None else ax


def _model(model: Model | GPSSM) -> Model:
    return model.model_ if isinstance(model, GPSSM) else model


def prediction(
    result: Prediction, y: Any = None, *, output: int = 0, dt: float = 1.0, warmup: int = 0, ax: Any = None
) -> Any:
    """Mean and central 50, 90 and 95 % bands of one output, what was measured (time, E), and where it extrapolates.

    >>> ax = prediction(Prediction(np.zeros((3, 1)), np.ones((3, 1)), {}, np.zeros(3, dtype=bool), 0, ["y"]))
    >>> ax.get_ylabel()
    'y'
    """
    ax = _axes(ax)
    t = dt * np.arange(len(result.mean))
    for low, high, alpha in ((0.025, 0.975, 0.12), (0.05, 0.95, 0.15), (0.25, 0.75, 0.25)):
        if low in result.quantiles and high in result.quantiles:
            ax.fill_between(
                t, result.quantiles[low][:, output], result.quantiles[high][:, output], color="C0", alpha=alpha, lw=0
            )
    ax.plot(t, result.mean[:, output], color="C0", label="prediction")
    if y is not None:
        rows = np.asarray(y, dtype=float).reshape(len(t), -1)
        ax.plot(t, rows[:, output], "k.", ms=3, label="measured")
    if warmup > 0:
        ax.axvline(dt * (warmup - 0.5), color="0.5", lw=0.8, ls="--", label="free run from here")
    if result.beyond.any():
        ax.axvspan(t[int(np.argmax(result.beyond))], t[-1], color="C3", alpha=0.08, lw=0, label="beyond the data")
    ax.set_xlabel("time (s)" if dt != 1.0 else "row")
    ax.set_ylabel(result.outputs[output])
    ax.legend(frameon=False, fontsize="small")
    return ax


def landscape(choice: _core.Choice, *, ax: Any = None) -> Any:
    """What each control would teach, for one control: needs the option `landscape` of a simulated run.

    Where a choice has none, its plan is drawn: controls (horizon, P) to come.
    """
    ax = _axes(ax)
    values = np.asarray(choice.landscape)
    if values.size > 0:
        ax.plot(values[:, 0], values[:, 1], color="C0")
        ax.axvline(choice.control[0], color="C3", lw=1, label="chosen")
        ax.set_xlabel("control")
        ax.set_ylabel("criterion")
    else:
        plan = np.asarray(choice.plan)
        plan = plan if plan.size > 0 else np.asarray(choice.control)[np.newaxis, :]
        ax.step(np.arange(len(plan)), plan, where="post", label=[f"control {p + 1}" for p in range(plan.shape[1])])
        ax.set_xlabel("steps ahead")
        ax.set_ylabel("control")
    ax.legend(frameon=False, fontsize="small")
    return ax


def comparison(result: Comparison, *, system: str | None = None, metric: str = "rmse", ax: Any = None) -> Any:
    """Median of a metric over trials after every step, with the middle half of the trials, for each strategy."""
    ax = _axes(ax)
    frame = result.results()
    system = system if system is not None else str(frame["system"].iloc[0])
    chosen = frame[(frame["system"] == system) & (frame["metric"] == metric)]
    if len(chosen) == 0:
        raise ValueError(
            f"metric: no values of {metric!r} on {system!r} (metrics: {', '.join(frame['metric'].unique())})"
        )
    for k, (strategy, rows) in enumerate(chosen.groupby("strategy", sort=False)):
        by_step = rows.groupby("step")["value"]
        steps = sorted(rows["step"].unique())
        ax.plot(steps, by_step.median().loc[steps], color=f"C{k}", label=strategy)
        ax.fill_between(
            steps, by_step.quantile(0.25).loc[steps], by_step.quantile(0.75).loc[steps], color=f"C{k}", alpha=0.15, lw=0
        )
    ax.set_xlabel("measurements chosen")
    ax.set_ylabel(f"{metric}, {system}")
    ax.set_yscale("log")
    ax.legend(frameon=False, fontsize="small")
    return ax


def residuals(scores: Scores, *, output: int = 0, ax: Any = None) -> Any:
    """Errors one step ahead in units of their standard deviation (time, E), as a histogram over the normal density."""
    ax = _axes(ax)
    values = np.asarray(scores.residuals)[:, output]
    values = values[np.isfinite(values)]
    ax.hist(values, bins="auto", density=True, color="C0", alpha=0.5)
    z = np.linspace(-4, 4, 200)
    ax.plot(z, np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi), "k", lw=1, label="as the model says")
    ax.set_xlabel(f"residual of {scores.outputs[output] if scores.outputs else 'the output'} (sd)")
    ax.legend(frameon=False, fontsize="small")
    return ax


def phase_portrait(
    model: Model | GPSSM,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    states: tuple[int, int] = (0, 1),
    control: Any = None,
    at: Any = None,
    grid: int = 21,
    ax: Any = None,
) -> Any:
    """Where the learned dynamics lead: arrows of one step for two states, the colour its uncertainty.

    control (P,) is held, 0 by default; the other states are at `at` (D,), 0 by default.
    """
    fitted = _model(model)
    if len(fitted.states) < 2:
        raise ValueError(f"states: the model has {len(fitted.states)}, a phase portrait needs 2")
    ax = _axes(ax)
    X, Y = np.meshgrid(np.linspace(*x_range, grid), np.linspace(*y_range, grid))
    points = np.tile(np.zeros(len(fitted.states)) if at is None else np.asarray(at, dtype=float), (X.size, 1))
    points[:, states[0]], points[:, states[1]] = X.ravel(), Y.ravel()
    u = np.zeros(len(fitted.inputs)) if control is None else np.atleast_1d(np.asarray(control, dtype=float))
    mean, std = fitted.transition(points, np.tile(u, (X.size, 1)))
    step = mean - points
    spread = np.sqrt((std[:, states] ** 2).sum(axis=1)).reshape(X.shape)
    mesh = ax.pcolormesh(X, Y, spread, cmap="Blues", shading="gouraud")
    ax.figure.colorbar(mesh, ax=ax, label="sd of one step")
    ax.quiver(X.ravel(), Y.ravel(), step[:, states[0]], step[:, states[1]], angles="xy", width=0.002)
    ax.set_xlabel(fitted.states[states[0]])
    ax.set_ylabel(fitted.states[states[1]])
    return ax
