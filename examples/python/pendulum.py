"""Learn a pendulum from its angle alone, and predict a motion that the model has not seen."""

import numpy as np

import gpilot

pendulum = gpilot.System("pendulum")  # your own recordings would come here: arrays (time, dim), or DataFrames
train = pendulum.simulate(pendulum.random_controls(60, hold=(1, 5), seed=1), seed=1)
test = pendulum.simulate(pendulum.random_controls(40, hold=(1, 5), seed=2), seed=2)

model = gpilot.GPSSM(
    states=["angle", "rate"],  # the rate is never measured ..
    derivative_of={"rate": "angle"},  # .. but is known to be the derivative of the angle
    inputs=["torque"],
    outputs=["angle"],
    dt=0.1,
).fit(train.controls, train.outputs, progress=True)

mean, std = model.predict(test.controls, y_init=test.outputs[:10], return_std=True)
error = np.sqrt(np.mean((mean[10:, 0] - test.states[10:, 0]) ** 2))
print(f"{model.status_}, bound {model.elbo_:.1f}")
print(f"free run over 31 rows: error {error:.3f} rad, the angle's own spread {np.std(test.states[:, 0]):.3f} rad")
