#!/usr/bin/env python3
"""Systems of Gymnasium and MuJoCo, and tanks of the literature, as rigs for gpilot (docs/rig-protocol.md).

  third_party_rig.py pendulum --seed 1              positions measured with noise of 1 % of their declared range
  third_party_rig.py pendulum --seed 1 --noise 0    without noise
  third_party_rig.py pendulum --survey 40           where random controls lead: quantiles of every output

What is declared to gpilot stands in NAME.toml beside this file; dt and the ranges that the noise refers to are read from
there. Everything random depends on the seed, the number of the reset and the number of the step.
"""

import argparse
import json
import os
import sys
import tomllib

import numpy as np

from third_party_systems import SYSTEMS

HERE = os.path.dirname(os.path.abspath(__file__))


class Rig:
    """The protocol around a system."""

    def __init__(self, name, seed, noise):
        with open(os.path.join(HERE, name + ".toml"), "rb") as file:
            config = tomllib.load(file)
        self.inputs, self.outputs = config["input"], config["output"]
        self.dt = config["study"]["dt"]
        self.low = np.array([entry["low"] for entry in self.inputs])
        self.high = np.array([entry["high"] for entry in self.inputs])
        self.noise_sd = noise * np.array([entry["high"] - entry["low"] for entry in self.outputs])
        self.seed, self.resets, self.steps = seed, 0, 0
        self.system = SYSTEMS[name]()
        self.reset()

    def random(self, what):
        return np.random.default_rng([self.seed, self.resets, self.steps, what])

    def measure(self):
        y = np.asarray(self.system.outputs(), dtype=float)
        y = y + self.noise_sd * self.random(1).standard_normal(len(y))
        return [float(value) if np.isfinite(value) else None for value in y]

    def reset(self):
        self.resets += 1
        self.steps = 0
        self.system.reset(self.random(0))
        return self.measure()

    def step(self, u):
        applied = np.clip(np.asarray(u, dtype=float), self.low, self.high)
        self.system.step(applied, self.dt)
        self.steps += 1
        return self.measure(), applied.tolist()

    def refusal(self, request):
        """Why this rig cannot work with what hello says; None if it can."""
        if abs(request["dt"] - self.dt) > 1e-9 * self.dt:
            return f"dt is {request['dt']} s, expected {self.dt}"
        for what, known in (("inputs", self.inputs), ("outputs", self.outputs)):
            names = [entry["name"] for entry in known]
            if request[what] != names:
                return f"{what} are {request[what]}, expected {names}"
        return None

    def answer(self, request):
        reply = {"v": 1, "id": request["id"], "ok": True}
        op = request["op"]
        if op == "hello":
            refusal = self.refusal(request)
            reply.update({"can_reset": True, "idempotent": False} if refusal is None else {"ok": False, "msg": refusal})
        elif op == "reset":
            reply["y"] = self.reset()
        elif op == "step":
            reply["y"], reply["u_applied"] = self.step(request["u"])
            reply["t"] = self.steps * self.dt
        elif op not in ("safe", "close"):  # time stands still between two steps: nothing to make safe
            reply.update(ok=False, status="failed", msg=f"unknown op: {op}")
        return reply


def survey(rig, sequences, steps=60):
    """Random controls held for 1 to 5 steps: the ranges that they lead to."""
    rng = np.random.default_rng(rig.seed)
    rows = []
    for _ in range(sequences):
        rig.reset()
        u, held = None, 0
        for _ in range(steps):
            if held == 0:
                u, held = rng.uniform(rig.low, rig.high), int(rng.integers(1, 6))
            held -= 1
            rig.step(u)
            rows.append(np.asarray(rig.system.outputs(), dtype=float))
    levels = [0.0, 0.01, 0.05, 0.5, 0.95, 0.99, 1.0]
    print("output      " + "".join(f"{100 * level:9.0f} %" for level in levels))
    for entry, column in zip(rig.outputs, np.array(rows).T):
        print(f"{entry['name']:<12}" + "".join(f"{value:11.3f}" for value in np.quantile(column, levels)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(SYSTEMS))
    parser.add_argument("--seed", type=int, default=0, help="of all that is random")
    parser.add_argument("--noise", type=float, default=0.01, help="sd of the measurement noise, as a share of the range")
    parser.add_argument("--survey", type=int, metavar="N", help="run N sequences of random controls and print quantiles")
    arguments = parser.parse_args()
    rig = Rig(arguments.name, arguments.seed, arguments.noise)
    if arguments.survey:
        survey(rig, arguments.survey)
        return
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(rig.answer(request), allow_nan=False), flush=True)
        if request["op"] == "close":
            return


if __name__ == "__main__":
    main()
