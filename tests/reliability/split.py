#!/usr/bin/env python3
"""Checks that a study of N steps in one go is that of k steps and then N - k, for every k, and for any number of threads.

  split.py GPILOT RIG [--steps 35] [--threads 1,2] [--every K]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from reliability import Failure, content, require, write_config


def run(arguments, directory, steps):
    rig = f"exec {arguments.rig} --seed 7 --state {directory}/state"
    result = subprocess.run([arguments.gpilot, "run", f"{directory}/pendulum.toml", "--resume", "--rig", rig,
                             "--steps", str(steps)], capture_output=True, text=True)
    require(result.returncode == 0, result.stdout + result.stderr)


def study(arguments, directory, parts, threads):
    """The content of a study made in parts."""
    pathlib.Path(directory).mkdir()
    config = f"{directory}/pendulum.toml"
    write_config(arguments.gpilot, config, arguments.steps)
    text, changed = re.subn(r"^#? *threads = \d+.*$", f"threads = {threads}", pathlib.Path(config).read_text(), flags=re.M)
    require(changed == 1, "the example has no line 'threads = N'")
    pathlib.Path(config).write_text(text)
    for steps in parts:
        if steps > 0:
            run(arguments, directory, steps)
    return content(f"{directory}/pendulum.study")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpilot")
    parser.add_argument("rig")
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--every", type=int, default=1, help="only every K-th k")
    arguments = parser.parse_args()
    arguments.gpilot = str(pathlib.Path(arguments.gpilot).resolve())
    arguments.rig = str(pathlib.Path(arguments.rig).resolve())
    begin = time.monotonic()
    compared = 0
    with tempfile.TemporaryDirectory() as root:
        reference = study(arguments, f"{root}/straight", [arguments.steps], 1)
        require(any(row[2] == "chosen" for row in reference["steps"]), "no control was chosen")
        for threads in arguments.threads.split(","):
            for k in range(0, arguments.steps + 1, arguments.every):
                parts = study(arguments, f"{root}/{threads}.{k}", [k, arguments.steps - k], threads)
                require(parts == reference, f"{k} steps and then {arguments.steps - k} with {threads} thread(s) differ")
                compared += 1
    print(f"{compared} studies in two parts, threads {arguments.threads}: every control, output, training and model is "
          f"that of {arguments.steps} steps in one go, bit for bit ({time.monotonic() - begin:.0f} s)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
