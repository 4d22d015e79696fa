"""What is explored: programs, functions, Gymnasium environments, FMUs.

Every rig has channels (names and ranges of inputs and outputs), dt, `reset`, `step`, `safe` and `close`, and makes a
configuration of what it knows of itself:

>>> rig = Callable(lambda u: [0.5 * u[0]], inputs={"u": (-1, 1)}, outputs={"y": (-1, 1)}, dt=0.1)
>>> rig.config(seed=1)
<gpilot.Config u -> y, dt 0.1 s>
"""

from gpilot._progress import reporting
from gpilot.rigs._base import Angle, Channel, Measured, Rig, angle
from gpilot.rigs._callable import Callable, Simulated
from gpilot.rigs._fmu import FMU
from gpilot.rigs._gymnasium import Gymnasium
from gpilot.rigs._process import Process

__all__ = [
    "FMU",
    "Angle",
    "Callable",
    "Channel",
    "Gymnasium",
    "Measured",
    "Process",
    "Rig",
    "Simulated",
    "angle",
    "reporting",
]
