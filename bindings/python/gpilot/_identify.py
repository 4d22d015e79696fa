"""Models of recordings of which nothing is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpilot import _core
from gpilot import _data as data
from gpilot._data import Interval
from gpilot._model import Model
from gpilot._progress import Progress, reporting


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

    >>> u, y = example()
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
