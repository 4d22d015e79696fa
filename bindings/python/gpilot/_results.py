"""What models answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpilot._data import Float


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
    """How good predictions are, beside what the training mean, the last value held and a linear model would have said.

    Every table is by predictor ("free_run", "one_step", "mean", "hold", "linear_free_run", "linear_one_step"), with a
    value for each output.

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


@dataclass(frozen=True)
class Estimate:
    """A parameter of declared physics as it was learned, in its unit.

    >>> print(Estimate(value=0.0972, sd=0.004, low=0.0894, high=0.105, determined=0.99, unit="N m s"))
    0.0972 N m s, sd 0.004, 95 % from 0.0894 to 0.105
    """

    value: float
    sd: float
    """Its standard error, by a Laplace approximation at the optimum."""
    low: float
    """The central 95 % of it begin here."""
    high: float
    """They end here."""
    determined: float
    """Share of the prior's variance that the data removed: 0 means that they say nothing about it."""
    unit: str = ""

    def __str__(self) -> str:
        """As `gpilot show` prints it."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.value:.3g}{unit}, sd {self.sd:.2g}, 95 % from {self.low:.3g} to {self.high:.3g}"
