#!/usr/bin/env python3
"""Ends `gpilot run` on a rig in every way but SIGKILL and checks that each ends it in good order.

  signals.py GPILOT RIG      GPILOT and RIG are the programs (build/release/bin/gpilot, .../pendulum_rig)

Good order: the step at hand is finished, the rig is sent close with the safe control, the study has all that was measured
and no step that waits, the exit code is 130, and --resume goes on. Also in the middle of a training that
would take a quarter of a minute.
"""
import argparse
import json
import os
import pathlib
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from reliability import Failure, require, require_acknowledged, told, write_config

LONG = 100_000  # steps: more than anybody waits for
INITIAL = 5  # of the example: the first training follows them
INITIAL_SLOW = 60  # rows whose training, with the settings below, takes many times the pause before the signal
PATIENCE = 120  # s that a busy machine may take


def prepare(arguments, directory, slow_training):
    config = f"{directory}/pendulum.toml"
    write_config(arguments.gpilot, config, LONG)
    text = pathlib.Path(config).read_text()
    # Few trainings: the signal meets a step. Otherwise it meets the first training.
    strategy = "totmi" if slow_training else "random"
    text = re.sub(r'^strategy = "\w+"', f'strategy = "{strategy}"', text, flags=re.M)
    text = re.sub(r"^retrain_every = \d+", f"retrain_every = {1 if slow_training else LONG}", text, flags=re.M)
    if slow_training:
        text = re.sub(r"^initial = \d+", f"initial = {INITIAL_SLOW}", text, flags=re.M)
        text = re.sub(r"^# restarts = \d+", "restarts = 100", text, flags=re.M)
        text = re.sub(r"^# rounds = \d+", "rounds = 1000", text, flags=re.M)
        text = re.sub(r"^# e_steps = \d+", "e_steps = 1000", text, flags=re.M)
        text = re.sub(r"^# polish = \d+", "polish = 10000", text, flags=re.M)
    pathlib.Path(config).write_text(text)
    return [arguments.gpilot, "run", config, "--resume", "--rig", f"exec '{arguments.rig}' --seed 7 --record {directory}/record"]


def steps_applied(directory):
    record = pathlib.Path(directory, "record")
    return record.read_text().count('"step"') if record.exists() else 0


def wait_for_steps(directory, count, pause):
    """Until the rig has applied so many steps, and a pause in which what follows them begins."""
    begin = time.monotonic()
    while steps_applied(directory) < count:
        require(time.monotonic() - begin < PATIENCE, "the run does not begin")
        time.sleep(0.01)
    time.sleep(pause)


def by_signals(*signals):
    """Sends signals to a run whose output goes to a file."""

    def end(command, directory, count, pause):
        with open(f"{directory}/log", "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            wait_for_steps(directory, count, pause)
            for number in signals:
                process.send_signal(number)
            return process.wait(timeout=PATIENCE)

    return end


def reader_goes(command, directory, count, pause):
    """`gpilot run .. | head`, with errors to the same pipe."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    lines = [process.stdout.readline().decode() for _ in range(4)]
    pathlib.Path(directory, "log").write_text("".join(lines))
    wait_for_steps(directory, count, pause)
    process.stdout.close()
    return process.wait(timeout=PATIENCE)


def terminal_closes(command, directory, count, pause):
    """The terminal of the run is gone, and with it its output."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    seen = b""
    while seen.count(b"\n") < 4:
        seen += os.read(terminal, 4096)
    pathlib.Path(directory, "log").write_bytes(seen)
    wait_for_steps(directory, count, pause)
    os.close(terminal)
    begin = time.monotonic()
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            return os.waitstatus_to_exitcode(status)
        require(time.monotonic() - begin < PATIENCE, "the run goes on without its terminal")
        time.sleep(0.01)


WAYS = {
    "SIGINT": by_signals(signal.SIGINT),
    "SIGTERM": by_signals(signal.SIGTERM),
    "SIGHUP": by_signals(signal.SIGHUP),
    "SIGHUP twice": by_signals(signal.SIGHUP, signal.SIGHUP),
    "SIGHUP, SIGTERM": by_signals(signal.SIGHUP, signal.SIGTERM),
    "SIGPIPE": by_signals(signal.SIGPIPE, signal.SIGPIPE),
    "output closed": reader_goes,
    "terminal closed": terminal_closes,
}


def check(command, directory, way, code, slow_training):
    study = f"{directory}/pendulum.study"
    log = pathlib.Path(directory, "log").read_text()
    require(code == 130, f"{way}: exit code {code}: {log[-1000:]}")
    require_acknowledged(study, log)
    entries = [json.loads(line) for line in pathlib.Path(directory, "record").read_text().splitlines()]
    require(entries[-1]["op"] == "close" and entries[-1]["u"] == [0.0], f"{way}: the rig last heard {entries[-1]}")
    require(len(told(study)) == steps_applied(directory), f"{way}: a measurement is lost")
    with sqlite3.connect(f"file:{study}?mode=ro", uri=True) as db:
        require(db.execute("SELECT count(*) FROM steps WHERE status != 'told'").fetchone()[0] == 0,
                f"{way}: a step waits or has failed")
        trainings = db.execute("SELECT count(*) FROM trainings").fetchone()[0]
    before = len(told(study))
    if slow_training:
        require(trainings == 0, f"{way}: a training that was cut short was adopted")
    else:
        subprocess.run([*command, "--steps", "2"], check=True, stdout=subprocess.DEVNULL)
        require(len(told(study)) == before + 2, f"{way}: the run cannot go on")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpilot")
    parser.add_argument("rig")
    arguments = parser.parse_args()
    arguments.gpilot = str(pathlib.Path(arguments.gpilot).resolve())
    arguments.rig = str(pathlib.Path(arguments.rig).resolve())
    with tempfile.TemporaryDirectory() as root:
        for place, slow_training in (("a step", False), ("a training", True)):
            for way, end in WAYS.items():
                if slow_training and end is reader_goes:
                    continue  # nobody notices before the next line
                directory = f"{root}/{way.replace(' ', '_')}.{slow_training}"
                pathlib.Path(directory).mkdir()
                command = prepare(arguments, directory, slow_training)
                begin = time.monotonic()
                code = end(command, directory, INITIAL_SLOW if slow_training else INITIAL, 0.5 if slow_training else 0.0)
                check(command, directory, f"{way} in {place}", code, slow_training)
                print(f"{way} in {place}: in good order ({time.monotonic() - begin:.1f} s)", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
