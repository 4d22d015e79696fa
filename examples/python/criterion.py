"""A criterion of one's own: measure where the next state is least sure, but do not go near the end stop."""

import numpy as np
import numpy.typing as npt

import gpilot


def cautious(decision: gpilot.Decision, control: npt.NDArray[np.float64]) -> float:
    """What a control (P,) would teach, less what it would risk."""
    position, sd = decision.next_outputs(control)
    return float(np.log(sd[0]) - 5.0 * max(0.0, abs(position[0]) + 2 * sd[0] - 1.5))


x: npt.NDArray[np.float64] = np.zeros(2)  # position, velocity of a cart on a spring


def cart(u: npt.NDArray[np.float64]) -> list[float]:
    global x
    for _ in range(10):
        x = x + 0.02 * np.array([x[1], u[0] - 0.5 * x[1] - x[0] ** 3])
    return [x[0]]


rig = gpilot.rigs.Callable(cart, inputs={"force": (-1, 1)}, outputs={"position": (-2, 2)}, dt=0.2)
config = rig.config(
    states={"position": {"start": 0.0, "start_sd": 0.01}, "velocity": {"derivative_of": "position"}}, initial=5, seed=2
)
explorer = gpilot.Explorer(config, criterion=cautious)
model = explorer.run(rig, 20)
controls, positions = explorer.recordings
print(f"20 measurements, largest position {np.nanmax(np.abs(positions[0])):.2f}; the model: {model}")
