#!/usr/bin/env python3
"""A simulated pendulum as a rig for gpilot, as a template for yours.

It speaks the rig protocol (docs/rig-protocol.md): one JSON object a line, requests on stdin, answers on stdout. Messages
for people go to stderr, never to stdout. Replace the class Pendulum by your hardware.

  pendulum_rig.py --seed 1                    a rig that can be reset
  pendulum_rig.py --seed 1 --state rig.json   also knows, after a restart, which step it applied last (idempotent)
  pendulum_rig.py --seed 1 --episode 20       says after 20 steps that its episode is over
"""

import argparse
import fcntl
import json
import math
import os
import random
import signal
import sys

SAFE = [0.0]  # the control that does no harm

# What `gpilot init rig.toml --rig ./pendulum_rig.py` makes a configuration of. All but the names may be left out.
INPUTS = [{"name": "torque", "unit": "N m", "low": -0.5, "high": 0.5, "safe": 0.0}]
OUTPUTS = [{"name": "angle", "unit": "rad", "low": -1.0, "high": 1.0}]


class Pendulum:
    """th'' = (c - b th' - m g l sin th) / (m l^2); the angle th is measured."""

    G, M, L, B = 9.81, 0.1, 1.0, 0.05
    LIMIT = 0.5  # N m: what the motor can do

    def __init__(self, seed):
        self.seed = seed
        self.dt = 0.1
        self.x = [0.0, 0.0]  # angle, angular velocity
        self.steps = 0

    def noise(self, what, number, sd):
        # By the seed and the number of the step: a restart of this program changes nothing.
        return random.Random(f"{self.seed}/{what}/{number}").gauss(0.0, sd)

    def reset(self, number):
        self.x = [self.noise("angle", number, 0.1), self.noise("velocity", number, 0.1)]
        self.steps = 0
        return self.measure(f"reset {number}")

    def apply(self, u, number):
        c = [min(max(u[0], -self.LIMIT), self.LIMIT)]
        for _ in range(10):
            self.x = self.runge_kutta(self.x, c[0], self.dt / 10)
        self.steps += 1
        return self.measure(number), c

    def measure(self, number):
        return [self.x[0] + self.noise("output", number, 0.02)]

    def rate(self, x, c):
        return [x[1], (c - self.B * x[1] - self.M * self.G * self.L * math.sin(x[0])) / (self.M * self.L**2)]

    def runge_kutta(self, x, c, h):
        def moved(k, by):
            return [a + by * b for a, b in zip(x, k)]

        k1 = self.rate(x, c)
        k2 = self.rate(moved(k1, h / 2), c)
        k3 = self.rate(moved(k2, h / 2), c)
        k4 = self.rate(moved(k3, h), c)
        return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(x, k1, k2, k3, k4)]


class Rig:
    """The protocol around it."""

    def __init__(self, pendulum, state_file, episode):
        self.pendulum = pendulum
        self.state_file = state_file
        self.episode = episode  # steps after which an episode is over; 0: never
        self.last_id = 0  # of the last step
        self.last_answer = None
        pendulum.reset(0)
        if state_file:
            # An older process of this rig may not have noticed yet that its gpilot is gone: wait for its end.
            self.lock = open(state_file + ".lock", "w")
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            self.load()

    def answer(self, request):
        reply = {"v": 1, "id": request["id"], "ok": True}
        op = request["op"]
        if op == "hello":
            self.hello(request, reply)
        elif op == "reset":
            reply["y"] = self.pendulum.reset(request.get("seed", self.last_id))  # the same seed, the same start
            self.save()
        elif op == "step":
            return self.step(request, reply)
        elif op in ("safe", "close"):
            self.apply_safe(request["u"])
        else:
            reply.update(ok=False, status="failed", msg=f"unknown op: {op}")
        return reply

    def hello(self, request, reply):
        reply.update(can_reset=True, idempotent=bool(self.state_file))
        if request["inputs"]:
            self.pendulum.dt = request["dt"]
        else:  # gpilot asks what this rig is
            reply.update(dt=self.pendulum.dt, inputs=INPUTS, outputs=OUTPUTS)

    def step(self, request, reply):
        number = request["id"]
        if self.state_file and number == self.last_id:
            return self.last_answer  # answered again, not applied again
        if self.state_file and number < self.last_id:
            reply.update(ok=False, status="failed", msg=f"step {number} is over")
            return reply
        y, applied = self.pendulum.apply(request["u"], number)
        reply.update(y=y, u_applied=applied, t=self.pendulum.steps * self.pendulum.dt)
        if self.pendulum.steps == self.episode:
            reply["done"] = True  # the measurement counts, then gpilot sends reset
        self.last_id, self.last_answer = number, reply
        self.save()  # before the answer is sent: what was answered is never forgotten
        return reply

    def apply_safe(self, u):
        """A real rig sets its actuators here. In this simulation time stands still between two steps."""

    def save(self):
        if not self.state_file:
            return
        kept = {"x": self.pendulum.x, "steps": self.pendulum.steps, "id": self.last_id, "answer": self.last_answer}
        with open(self.state_file + ".new", "w") as file:
            json.dump(kept, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.state_file + ".new", self.state_file)
        directory = os.open(os.path.dirname(os.path.abspath(self.state_file)), os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)

    def load(self):
        try:
            with open(self.state_file) as file:
                kept = json.load(file)
        except FileNotFoundError:
            return
        self.pendulum.x, self.pendulum.steps = kept["x"], kept["steps"]
        self.last_id, self.last_answer = kept["id"], kept["answer"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of all noise")
    parser.add_argument("--state", help="file that keeps the state and the last answer")
    parser.add_argument("--episode", type=int, default=0, help="steps after which an episode is over; 0: never")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through `finally` below, and so to the safe control
    rig = Rig(Pendulum(arguments.seed), arguments.state, arguments.episode)
    try:
        for line in sys.stdin:
            request = json.loads(line)
            answer = rig.answer(request)
            # allow_nan=False: NaN is not JSON. Send None, which becomes null, for an output that is missing.
            print(json.dumps(answer, allow_nan=False), flush=True)
            if request["op"] == "close":
                return
    finally:
        rig.apply_safe(SAFE)  # whatever happened, also when gpilot is gone (end of input)


if __name__ == "__main__":
    main()
