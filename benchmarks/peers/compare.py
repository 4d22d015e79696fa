#!/usr/bin/env python3
"""gpilot beside JAX, PyTorch and GPflow: the bound with its gradient, and an epoch of the paper's scheme.

compare.py PEERS [--rounds N] [--seconds S] [--only bound|epoch] [--sizes NAME ..]

PEERS is build/bench/bin/peers. Every library runs in a process of its own, one thread, bound to one core; rounds take
turns, so that all suffer alike from what else the machine does. A round's figure is the median of its calls.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from problem import PARAMETERS, SIZES, read

THREADS = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
TASKS = {"bound": ("jax",), "epoch": ("jax", "torch", "gpflow")}


def check(name: str, problem: dict, peer: object) -> None:
    """The value agrees to 1e-8, relatively, and so does the gradient to what its own rounding allows."""
    value, bar = peer.gradient()  # type: ignore[attr-defined]
    error = abs(value - problem["value"]) / abs(problem["value"])
    worst = 0.0
    for key in PARAMETERS:
        ours, theirs = problem[f"bar_{key}"], bar[key]
        if key == "A":
            ours, theirs = ours[1:], theirs[1:]  # the first row has none
        worst = max(worst, float(np.max(np.abs(ours - theirs)) / np.max(np.abs(ours))))
    print(f"check {name}: bound {value:.10g}, relative difference {error:.1e}; of the gradient {worst:.1e}", flush=True)
    if not (error < 1e-8 and worst < 1e-5):
        sys.exit("compare.py: this is not the same bound")


def serve(library: str, task: str, size: str, program: str, seconds: float) -> None:
    """A library's process: a line in is a round, a line out its seconds."""
    problem = read(program, SIZES[size])
    peer = importlib.import_module(f"{library}_peer").Peer(problem)
    if task == "bound":
        check(f"{peer.name}, {size}", problem, peer)
    call = getattr(peer, task)
    for _ in range(3):
        call()
    print(f"ready {peer.name}", flush=True)
    for _ in sys.stdin:
        times: list[float] = []
        begin = time.perf_counter()
        while len(times) < 5 or time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        print(statistics.median(times), flush=True)


class Rival:
    """A process that serves."""

    def __init__(self, library: str, task: str, size: str, arguments: argparse.Namespace) -> None:
        command = [*pinned(arguments.core), sys.executable, __file__, arguments.program, "--serve", library, task, size]
        self._process = subprocess.Popen(
            [*command, "--seconds", str(arguments.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if arguments.verbose else subprocess.DEVNULL,
            text=True,
            env={**os.environ, **THREADS},
            cwd=Path(__file__).parent,
        )
        self.name = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("ready "):
                self.name = line.removeprefix("ready ").strip()
                return
            print(line.strip(), flush=True)
        sys.exit(f"compare.py: {library} failed; --verbose shows why")

    def round(self) -> float:
        """Seconds of a call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def pinned(core: int) -> list[str]:
    """Before a command: on this core alone."""
    return ["taskset", "-c", str(core)]


def ours(task: str, size: str, arguments: argparse.Namespace) -> float:
    """Seconds of a call of gpilot's."""
    command = [*pinned(arguments.core), arguments.program, task, *map(str, SIZES[size]), str(arguments.seconds)]
    return float(subprocess.check_output(command, text=True))


def compare(task: str, size: str, arguments: argparse.Namespace) -> None:
    """A table row for each library."""
    rivals = [Rival(library, task, size, arguments) for library in TASKS[task] if library in arguments.libraries]
    mine: list[float] = []
    theirs: list[list[float]] = [[] for _ in rivals]
    for _ in range(arguments.rounds):
        mine.append(ours(task, size, arguments))
        for times, rival in zip(theirs, rivals, strict=True):
            times.append(rival.round())
    for times, rival in zip(theirs, rivals, strict=True):
        rival.close()
        ratios = [a / b for a, b in zip(times, mine, strict=True)]
        print(
            f"| {task} | {size} | {rival.name} | {1e3 * min(mine):.3f} | {1e3 * min(times):.3f} | "
            f"{min(times) / min(mine):.1f} | {statistics.median(ratios):.1f} | {min(ratios):.1f} to {max(ratios):.1f} |",
            flush=True,
        )


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/bench/bin/peers")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a round")
    parser.add_argument("--only", choices=list(TASKS))
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--libraries", nargs="+", default=["jax", "torch", "gpflow"])
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="what the libraries print")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    if arguments.serve:
        serve(*arguments.serve, program=arguments.program, seconds=arguments.seconds)
        return
    print("| what | size | beside | gpilot, ms | theirs, ms | ratio of the least | median ratio | over the rounds |")
    print("|---|---|---|---|---|---|---|---|")
    for task in [arguments.only] if arguments.only else TASKS:
        for size in arguments.sizes:
            compare(task, size, arguments)


if __name__ == "__main__":
    main()
