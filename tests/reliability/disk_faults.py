#!/usr/bin/env python3
"""Lets the n-th write, sync or truncation of `gpilot run` fail, for every n, and checks what is left.

  disk_faults.py GPILOT RIG SHIM [--every K] [--steps N]

SHIM is the library failing_disk. For every n there are two runs: one in which that call alone fails, one in which the
disk is dead from then on. Whatever fails, the command must say so (exit code 1) or be complete, the study must open
afterwards and hold every acknowledged step, and going on must lead to its end.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from reliability import Failure, acknowledged, content, require, require_acknowledged, told, write_config


def run(arguments, directory, extra=None):
    rig = f"exec {arguments.rig} --seed 7 --state {directory}/state"
    environment = dict(os.environ, **extra) if extra else None
    return subprocess.run([arguments.gpilot, "run", f"{directory}/pendulum.toml", "--resume", "--rig", rig],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=120)


def check(arguments, directory, n, dead, reference):
    pathlib.Path(directory).mkdir()
    write_config(arguments.gpilot, f"{directory}/pendulum.toml", arguments.steps)
    faults = {"LD_PRELOAD": arguments.shim, "GPILOT_DISK_FAILS_AT": str(n)}
    if dead:
        faults["GPILOT_DISK_STAYS_DEAD"] = "1"
    result = run(arguments, directory, faults)
    where = f"call {n}{' and all after it' if dead else ''}"
    require(result.returncode in (0, 1, 2), f"{where}: ended with code {result.returncode}: {result.stdout[-1000:]}")
    require(result.returncode == 0 or "gpilot: error: " in result.stdout, f"{where}: no message: {result.stdout}")
    study = f"{directory}/pendulum.study"
    if pathlib.Path(study).exists():
        require_acknowledged(study, result.stdout)
    else:
        require(not acknowledged(result.stdout), f"{where}: an acknowledged step has no study")
    again = run(arguments, directory)
    require(again.returncode == 0, f"{where}: cannot go on: {again.stdout[-2000:]}")
    require_acknowledged(study, result.stdout + again.stdout)
    require(len(told(study)) == arguments.steps, f"{where}: {len(told(study))} measurements")
    require(content(study) == reference, f"{where}: the study differs from one without a fault")
    return result.returncode != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpilot")
    parser.add_argument("rig")
    parser.add_argument("shim")
    parser.add_argument("--every", type=int, default=1, help="only every K-th call")
    parser.add_argument("--steps", type=int, default=8)
    arguments = parser.parse_args()
    for program in ("gpilot", "rig", "shim"):
        setattr(arguments, program, str(pathlib.Path(getattr(arguments, program)).resolve()))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as root:
        directory = f"{root}/straight"
        pathlib.Path(directory).mkdir()
        write_config(arguments.gpilot, f"{directory}/pendulum.toml", arguments.steps)
        count = f"{root}/count"
        straight = run(arguments, directory, {"LD_PRELOAD": arguments.shim, "GPILOT_DISK_COUNT": count})
        require(straight.returncode == 0, straight.stdout)
        calls = int(pathlib.Path(count).read_text())
        require(calls > 50, f"only {calls} calls were seen: is the shim loaded?")
        reference = content(f"{directory}/pendulum.study")
        errors = runs = 0
        for n in range(1, calls + 1, arguments.every):
            for dead in (False, True):
                errors += check(arguments, f"{root}/{n}.{dead}", n, dead, reference)
                runs += 1
    print(f"{calls} calls that write, sync or truncate in a study of {arguments.steps} steps; {runs} runs with a fault, "
          f"{errors} of them ended with an error")
    print(f"no acknowledged step was lost, every study went on to its end ({time.monotonic() - begin:.0f} s)")
    require(errors > 0, "no fault was ever noticed")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
