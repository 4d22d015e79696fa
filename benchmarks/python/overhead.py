#!/usr/bin/env python3
"""What Python costs above C++: fit, ask and tell in CPU time, in turn with the same calls of a C++ program.

make python-test && cmake --build build/bench --target calls
build/python/bin/python benchmarks/python/overhead.py build/bench/bin/calls     ratios, least and median of the rounds
build/python/bin/python benchmarks/python/overhead.py --memory 10000            growth of memory over fits
build/python/bin/python benchmarks/python/overhead.py --threads                 two fits in two threads against one
build/python/bin/python benchmarks/python/overhead.py --trials                  a trial through an executor
build/python/bin/python benchmarks/python/overhead.py --interrupt               from Ctrl-C to KeyboardInterrupt
"""

import _thread
import argparse
import multiprocessing
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np

import gpilot

CONFIG = gpilot.Config(dt=1.0, inputs={"u": (-1.0, 1.0)}, outputs={"y": (-2.0, 2.0)}, seed=3, initial=5)


def rows(count=40):
    u = np.array([(t * 7) % 11 / 5.0 - 1.0 for t in range(count)])[:, np.newaxis]
    y, x = np.zeros((count, 1)), 0.0
    for t in range(count):
        y[t, 0] = x
        x = 0.8 * x + 0.3 * u[t, 0]
    return u, y


def small_fit(u, y):
    return gpilot.GPSSM(states=1, training={"rounds": 2, "polish": 5, "noise_path": 0}).fit(u, y)


def python_round(folder):
    u, y = rows()
    begin = time.process_time()
    for _ in range(20):
        small_fit(u, y)
    fit = time.process_time() - begin
    ask = tell = x = 0.0
    with tempfile.TemporaryDirectory(dir=folder) as place, gpilot.Study.create(place + "/calls.study", CONFIG) as study:
        for _ in range(20):
            begin = time.process_time()
            step = study.ask()
            asked = time.process_time()
            x = 0.8 * x + 0.3 * step.control[0]
            told = time.process_time()
            study.tell(step, x)
            ask += asked - begin
            tell += time.process_time() - told
    return fit / 20, ask / 20, tell / 20


def overhead(program, rounds):
    here, there = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            there.append([float(v) for v in subprocess.check_output([program, "1", folder], text=True).split()])
            here.append(python_round(folder))
    print("CPU ms a call: C++ least, Python least, ratio of the least, ratio of the medians")
    for k, name in enumerate(("fit", "ask", "tell")):
        a, b = [r[k] for r in there], [r[k] for r in here]
        ratio, medians = min(b) / min(a), statistics.median(b) / statistics.median(a)
        print(f"{name:5} {1e3 * min(a):8.3f} {1e3 * min(b):8.3f} {ratio:6.3f} {medians:6.3f}")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def memory(fits):
    u, y = rows(12)
    begin = time.process_time()
    for k in range(fits + 1):
        model = gpilot.GPSSM(states=1, inducing=4, training={"rounds": 1, "polish": 1, "noise_path": 0}).fit(u, y)
        model.predict(u, y[:2])
        if k in (100, 500, 1000) or k % max(fits // 5, 1) == 0:
            print(
                f"after {k:6d} fits: {resident():7.1f} MiB resident, {time.process_time() - begin:6.1f} s CPU",
                flush=True,
            )


def one_fit():
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (400, 1))
    y = np.cumsum(0.1 * u, axis=0) + 0.01 * rng.standard_normal((400, 1))
    gpilot.GPSSM(states=2, training={"rounds": 5, "polish": 20, "noise_path": 0}).fit(u, y)


def together(workers):
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - begin


def threads():
    """On a machine that is busy two threads cannot be twice as fast; two processes say what can be had."""
    turns = {"one after the other": [], "two threads": [], "two processes": []}
    for _ in range(7):
        begin = time.perf_counter()
        one_fit()
        one_fit()
        turns["one after the other"].append(time.perf_counter() - begin)
        turns["two threads"].append(together([threading.Thread(target=one_fit) for _ in range(2)]))
        turns["two processes"].append(together([multiprocessing.Process(target=one_fit) for _ in range(2)]))
    print("wall seconds of two fits: least, median")
    for name, times in turns.items():
        print(f"{name:20} {min(times):7.3f} {statistics.median(times):7.3f}")


def trials():
    small = {"trials": 40, "steps": 2, "training": {"rounds": 2, "polish": 5, "noise_path": 0}}
    print("wall ms a trial, 40 trials of kink under random controls, one worker")
    for name, make in (("none, 1 thread", None), ("threads", ThreadPoolExecutor), ("processes", ProcessPoolExecutor)):
        executor = make(1) if make else None
        if executor:
            executor.submit(int).result()
        begin = time.perf_counter()
        gpilot.compare("kink", ["random"], executor=executor, threads=1, **small)
        print(f"{name:15} {1e3 * (time.perf_counter() - begin) / 40:8.2f}")
        if executor:
            executor.shutdown()


def interrupt():
    rng = np.random.default_rng(0)
    u, y = rng.uniform(-1, 1, (1000, 1)), rng.standard_normal((1000, 2))
    times = []
    for _ in range(10):
        at = []

        def strike(at=at):
            at.append(time.perf_counter())
            _thread.interrupt_main()

        timer = threading.Timer(0.5, strike)
        timer.start()
        try:
            gpilot.GPSSM(states=4, training={"restarts": 50, "polish": 1000}).fit(u, y)
        except KeyboardInterrupt:
            times.append(time.perf_counter() - at[0])
        timer.join()
    print("ms from Ctrl-C to KeyboardInterrupt, fit of 1000 rows, 4 states:", sorted(round(1e3 * t, 1) for t in times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="build/bench/bin/calls")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--memory", type=int)
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--trials", action="store_true")
    parser.add_argument("--interrupt", action="store_true")
    arguments = parser.parse_args()
    if arguments.memory:
        memory(arguments.memory)
    elif arguments.threads:
        threads()
    elif arguments.trials:
        trials()
    elif arguments.interrupt:
        interrupt()
    elif arguments.program:
        overhead(arguments.program, arguments.rounds)
    else:
        parser.print_usage()
        sys.exit(2)


if __name__ == "__main__":
    main()
