"""A recording full of gaps, of which nothing is known but inputs and outputs: identify, validate, keep."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import gpilot

# A heater, measured every 10 s; a third of the measurements is missing, once for a long time.
rng = np.random.default_rng(0)
power = np.repeat(rng.uniform(0, 1, 60), 10)
temperature, rows = 20.0, []
for p in power:
    rows.append(temperature + 0.1 * rng.standard_normal())
    temperature += 0.05 * (20 + 60 * p**2 - temperature)
recording = pd.DataFrame({"power": power, "temperature": rows})
recording.loc[rng.uniform(size=600) < 0.3, "temperature"] = np.nan
recording.loc[200:240, "temperature"] = np.nan
train, test = recording[:400], recording[400:]

model = gpilot.identify(train[["power"]], train[["temperature"]], states=2, dt=10.0, progress=True)
print(model.report["structure"])

scores = model.evaluate(test[["power"]], test[["temperature"]], warmup=20)
print(scores.to_frame()[["predictor", "rmse", "coverage90", "count"]].to_string(index=False))

path = Path(tempfile.mkdtemp()) / "heater.json"
model.save(path)  # `gpilot show heater.json` explains it
predicted = gpilot.load(path).predict(test[["power"]], test[["temperature"]].iloc[:20])
print(predicted.tail(3))
