#!/usr/bin/env python3
"""Two tanks, one above the other, as a rig for the pictures of the documentation: what may go wrong does.

A pump fills the upper tank, a valve empties the lower one; both levels are measured. Step 7 brings a spike of the lower
sensor, step 12 ends an episode, at step 17 a switch trips.
"""

import json
import math
import random
import sys

noise = random.Random(5)
level = [4.0, 4.0]  # cm


def measure():
    return [level[0] + noise.gauss(0.0, 0.08), level[1] + noise.gauss(0.0, 0.08)]


def apply(pump, valve):
    for _ in range(10):
        inflow = 0.14 * math.sqrt(level[0])
        outflow = (0.05 + 0.0015 * valve) * math.sqrt(level[1])
        level[0] = max(0.0, level[0] + 0.5 * (0.08 * pump - inflow))
        level[1] = max(0.0, level[1] + 0.5 * (inflow - outflow))


for line in sys.stdin:
    request = json.loads(line)
    number, op = request["id"], request["op"]
    reply = {"v": 1, "id": number, "ok": True}
    if op == "hello":
        reply.update(can_reset=True, idempotent=False)
    elif op == "reset":
        level[:] = [4.0 + noise.gauss(0.0, 0.5), 4.0 + noise.gauss(0.0, 0.5)]
        reply["y"] = measure()
    elif op == "step" and number == 17:
        reply.update(ok=False, status="unsafe", msg="the overflow switch tripped")
    elif op == "step":
        apply(*request["u"])
        y = measure()
        reply.update(y=[y[0], 900.0] if number == 7 else y, u_applied=request["u"], done=number == 12)
    print(json.dumps(reply), flush=True)
    if op == "close":
        break
