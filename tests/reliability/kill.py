#!/usr/bin/env python3
"""Kills `gpilot run` with SIGKILL at random instants and checks that nothing that was acknowledged is lost.

  kill.py GPILOT RIG --kills 1000      GPILOT and RIG are the programs (build/release/bin/gpilot, .../pendulum_rig)

Studies of a simulated rig are run, killed and resumed until they are complete. With a rig that is idempotent the result
must be that of a run that was never interrupted; with any other no step may be applied twice.
"""
import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from reliability import Failure, acknowledged, applied_steps, content, require, require_acknowledged, told, write_config


def run(arguments, config, rig, log):
    """Starts a run that goes on with the study if there is one."""
    return subprocess.Popen([arguments.gpilot, "run", config, "--resume", "--rig", rig],
                            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)


def rig_command(arguments, directory, kind):
    options = f"--seed 7 --record {directory}/record"
    if kind == "idempotent":
        options += f" --state {directory}/state"
    elif kind == "plain":
        options += " --no-reset"
    return f"exec {arguments.rig} {options}"


def one_study(arguments, directory, kind, kills_left, instants):
    """Runs one study to its end through kills; returns how often it was killed."""
    config = f"{directory}/pendulum.toml"
    study = f"{directory}/pendulum.study"
    write_config(arguments.gpilot, config, arguments.steps)
    rig = rig_command(arguments, directory, kind)
    kills = 0
    for attempt in range(10_000):
        log_path = pathlib.Path(directory, f"log.{attempt}")
        with open(log_path, "w") as log:
            process = run(arguments, config, rig, log)
            killed = False
            if kills < kills_left:
                try:
                    process.wait(timeout=instants.uniform(0.0, arguments.longest))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    killed = True
                    kills += 1
            code = process.wait()
        output = log_path.read_text()
        if pathlib.Path(study).exists():
            require_acknowledged(study, output)
        else:
            require(not acknowledged(output), "a study that is not there had an acknowledged step")
        if not killed:
            require(code == 0, f"attempt {attempt} ended with code {code}: {output[-2000:]}")
            return kills
    raise Failure("no end in sight")


def check(arguments, directory, kind, reference):
    study = f"{directory}/pendulum.study"
    steps = applied_steps(f"{directory}/record")
    require(len(set(steps)) == len(steps), f"{kind}: a step was applied twice: {steps}")
    require(len(told(study)) == arguments.steps, f"{kind}: {len(told(study))} measurements, not {arguments.steps}")
    unknown = sum(row[3] == "unknown" for row in content(study)["steps"])
    if kind == "idempotent":
        require(content(study) == reference, "the study differs from one that was never interrupted")
        require(unknown == 0, "an idempotent rig has a step of unknown outcome")
    return unknown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpilot")
    parser.add_argument("rig")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--longest", type=float, default=0.25, help="latest instant of a kill, s after the start")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.gpilot = str(pathlib.Path(arguments.gpilot).resolve())
    arguments.rig = str(pathlib.Path(arguments.rig).resolve())
    instants = random.Random(arguments.seed)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as root:
        directory = f"{root}/straight"
        pathlib.Path(directory).mkdir()
        one_study(arguments, directory, "idempotent", 0, instants)
        reference = content(f"{directory}/pendulum.study")
        kills = {"idempotent": 0, "resettable": 0, "plain": 0}
        studies = dict(kills)
        unknown = dict(kills)
        while sum(kills.values()) < arguments.kills:
            kind = min(kills, key=kills.get)  # each in turn
            directory = f"{root}/{kind}.{studies[kind]}"
            pathlib.Path(directory).mkdir()
            kills[kind] += one_study(arguments, directory, kind, arguments.kills - sum(kills.values()), instants)
            studies[kind] += 1
            unknown[kind] += check(arguments, directory, kind, reference)
    for kind in kills:
        print(f"{kind:<11} {kills[kind]:5} kills, {studies[kind]:4} studies of {arguments.steps} steps, "
              f"{unknown[kind]} steps of unknown outcome")
    print(f"nothing acknowledged was lost, no step was applied twice ({time.monotonic() - begin:.0f} s)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
