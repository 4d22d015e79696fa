#!/usr/bin/env python3
"""Recordings of the development systems for benchmarks/experiments/choice.cpp.

  build/third_party/bin/python benchmarks/third_party/record.py OUT [SYSTEM..]      the four development systems unless named

OUT/SYSTEM/train/NN.csv: 12 recordings of 61 rows from a reset, under random controls held 1 to 3 steps (even numbers) and
extremes held so (odd ones). OUT/SYSTEM/tests/NN.csv: 20 of 61 rows of other seeds, under held controls, sines, slow steps and
extremes. Held-back systems are refused: they see nothing before their one run.
"""

import csv
import math
import os
import sys

import numpy as np
from third_party_rig import Rig

DEVELOPMENT = ["pendulum", "mountain-car", "reacher", "quad-tank"]
NOISE = 0.01  # of each output's declared range
ROWS = 60
TRAIN_SEED, TEST_SEED = 5000, 9000


def held(rng, rig, shortest, longest, extremes=False):
    """Controls held for shortest to longest steps."""
    controls = []
    while len(controls) < ROWS:
        u = rng.uniform(rig.low, rig.high)
        if extremes:
            u = np.where(rng.uniform(size=len(rig.low)) < 0.5, rig.low, rig.high)
        controls += [u] * int(rng.integers(shortest, longest + 1))
    return controls[:ROWS]


def sines(rng, rig):
    """A sine of random period, phase and size for each control."""
    count = len(rig.low)
    period = np.exp(rng.uniform(math.log(6), math.log(40), size=count))
    phase = rng.uniform(0, 2 * math.pi, size=count)
    size = rng.uniform(0.3, 1, size=count) * (rig.high - rig.low) / 2
    return [(rig.low + rig.high) / 2 + size * np.sin(2 * math.pi * t / period + phase) for t in range(ROWS)]


def record(path, rig, controls):
    """Runs the rig from a reset and writes what it applied and measured."""
    outputs, applied = [rig.reset()], []
    for u in controls:
        measured, real = rig.step(u)
        applied.append(real)
        outputs.append(measured)
    applied.append(applied[-1])  # the control of the last row is not used
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["t"] + [e["name"] for e in rig.inputs] + [e["name"] for e in rig.outputs])
        for k, (u, y) in enumerate(zip(applied, outputs)):
            writer.writerow([repr(k * rig.dt)] + [repr(float(v)) for v in u] + ["nan" if v is None else repr(float(v)) for v in y])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out, names = sys.argv[1], sys.argv[2:] or DEVELOPMENT
    for name in names:
        if name not in DEVELOPMENT:
            sys.exit(f"{name}: expected one of the development systems: {', '.join(DEVELOPMENT)}")
        for k in range(12):
            rig, rng = Rig(name, TRAIN_SEED + k, NOISE), np.random.default_rng([77, k])
            record(f"{out}/{name}/train/{k:02d}.csv", rig, held(rng, rig, 1, 3, extremes=k % 2 == 1))
        rng = np.random.default_rng([99])
        for k in range(20):
            rig = Rig(name, TEST_SEED + k, NOISE)
            kinds = [
                lambda: held(rng, rig, 1, 5),
                lambda: sines(rng, rig),
                lambda: held(rng, rig, 12, 30),
                lambda: held(rng, rig, 1, 5, extremes=True),
            ]
            record(f"{out}/{name}/tests/{k:02d}.csv", rig, kinds[k % 4]())


if __name__ == "__main__":
    main()
