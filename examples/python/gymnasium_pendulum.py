"""Explore an environment of Gymnasium: Pendulum-v1, its angle measured with noise."""

import numpy as np

import gpilot
from gpilot.rigs import Gymnasium, angle

with Gymnasium("Pendulum-v1", outputs={"angle": angle(sin=1, cos=0)}, noise=0.02, seed=1) as rig:
    config = rig.config(
        states={"angle": {"angle": True}, "rate": {"derivative_of": "angle", "low": -8.0, "high": 8.0}},
        initial=10,
        seed=1,
        retrain_every=5,
    )
    explorer = gpilot.Explorer(config)
    model = explorer.run(rig, 40, progress=True)

assert model is not None
mean, std = model.transition([[np.pi, 0.0]], [[1.0]])  # hanging at rest, 1 N m for one step
print(f"rate after one step: {mean[0, 1]:.3f} +- {std[0, 1]:.3f}, the truth is 0.150 rad/s")
