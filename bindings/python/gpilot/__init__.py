"""Learn the dynamics of a system from few measurements by choosing the next control input.

Arrays have the shape (time, dim), row 0 first; the control of a row holds until the next row, so that of the last row is
not used. NaN in an output is a missing measurement. A list means several sequences. pandas objects are accepted and
returned.

>>> import gpilot
>>> pendulum = gpilot.System("pendulum")
>>> run = pendulum.simulate(pendulum.random_controls(40, hold=(1, 5), seed=1), seed=1)
>>> model = gpilot.GPSSM(states=["th", "rate"], derivative_of={"rate": "th"}, dt=0.1, inputs=["c"], outputs=["th"])
>>> model = model.fit(run.controls, run.outputs)
>>> mean, std = model.predict(run.controls, y_init=run.outputs[:10], return_std=True)
>>> mean.shape
(41, 1)
"""

from gpilot import plot, rigs
from gpilot._compare import Comparison, compare
from gpilot._config import Config
from gpilot._core import (
    Choice,
    Decision,
    InputError,
    NumericalError,
    RigError,
    RigRunFailed,
    Step,
    StoreError,
    StudyBusy,
)
from gpilot._core import version as _version
from gpilot._explorer import Explorer
from gpilot._gpssm import GPSSM
from gpilot._identify import identify
from gpilot._knowledge import PhysicsFunction
from gpilot._model import Model, load
from gpilot._results import Estimate, Prediction, Scores
from gpilot._study import Study, strategies
from gpilot._systems import Run, System, system_names

__version__: str = _version()

__all__ = [
    "GPSSM",
    "Choice",
    "Comparison",
    "Config",
    "Decision",
    "Estimate",
    "Explorer",
    "InputError",
    "Model",
    "NumericalError",
    "PhysicsFunction",
    "Prediction",
    "RigError",
    "RigRunFailed",
    "Run",
    "Scores",
    "Step",
    "StoreError",
    "Study",
    "StudyBusy",
    "System",
    "__version__",
    "compare",
    "identify",
    "load",
    "plot",
    "rigs",
    "strategies",
    "system_names",
]
