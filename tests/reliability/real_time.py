#!/usr/bin/env python3
"""Runs a study in real time on the simulated pendulum, which keeps its own clock, and reports missed deadlines.

  real_time.py GPILOT RIG [--hertz 20] [--seconds 60]        on an otherwise idle machine
"""
import argparse
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

from reliability import Failure, require, write_config


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpilot")
    parser.add_argument("rig")
    parser.add_argument("--hertz", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    gpilot = str(pathlib.Path(arguments.gpilot).resolve())
    rig = str(pathlib.Path(arguments.rig).resolve())
    period = 1.0 / arguments.hertz
    with tempfile.TemporaryDirectory() as directory:
        config = pathlib.Path(directory, "pendulum.toml")
        write_config(gpilot, str(config), 35)
        text, changed = re.subn(r"^dt = [\d.]+", f"dt = {period}", config.read_text(), flags=re.M)
        require(changed == 1, "the example has no line 'dt = S'")
        config.write_text(text)
        result = subprocess.run([gpilot, "run", config, "--rig", f"exec '{rig}' --seed 1 --real-time", "--period",
                                 str(period), "--steps", str(round(arguments.seconds / period)), "--format", "json"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        require(result.returncode == 0, result.stderr[-2000:])
        summary = json.loads(result.stdout)
        with sqlite3.connect(config.with_suffix(".study")) as db:
            trainings, longest, rows = db.execute("SELECT count(*), max(seconds), max(after_step) FROM trainings").fetchone()
            sequences = db.execute("SELECT count(*) FROM sequences").fetchone()[0]
    print(f"{summary['measured']} steps at {arguments.hertz:g} Hz in {sequences} sequence(s): {summary['missed_deadlines']} missed "
          f"deadline(s); {trainings} trainings beside them, the longest {longest:.1f} s, the last on {rows} rows")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
