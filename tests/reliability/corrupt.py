#!/usr/bin/env python3
"""Changes random bytes of model, study, trial and CSV files and checks that nothing crashes and no changed measurement is
taken for what was measured.

  corrupt.py GPILOT --flips 1000      GPILOT is the program (build/release/bin/gpilot); so many files of each kind

A file counts as:
  told       the program refuses it, or (a trial, a model in a study) says that it is damaged, and names the file
  unharmed   it is read, and everything it holds is as before
  another    a CSV file that is read as another one: it has no checksum. Never a study, a trial or a model
Anything else is a failure: a crash, an exit code that is none of the program's own, a study, trial or model that holds
another value without a word.
"""
import argparse
import collections
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from reliability import Failure, require

EXIT_CODES = (0, 1, 2)
STUDY_MEASURED = ("step", "sequence", "phase", "status", "u", "u_applied", "y", "voided", "t", "plan", "criterion")


def run(arguments, *command, folder):
    done = subprocess.run([arguments.gpilot, *command], cwd=folder, capture_output=True, timeout=120)
    errors = done.stderr.decode(errors="replace")
    require(done.returncode in EXIT_CODES, f"{' '.join(command)}: ended with {done.returncode}: {errors[-2000:]}")
    require("Sanitizer" not in errors and "runtime error" not in errors, f"{' '.join(command)}: {errors[-4000:]}")
    return done.returncode, done.stdout.decode(errors="replace"), errors


def flipped(content, chance):
    """The file with one byte changed; every third time up to eight of them, one after another."""
    content = bytearray(content)
    at = chance.randrange(len(content))
    for k in range(chance.randint(1, 8) if chance.random() < 1 / 3 else 1):
        if at + k < len(content):
            content[at + k] ^= chance.randint(1, 255)
    return bytes(content)


class Study:
    """A study with a voided step, plans, models; what a reader sees of it must be the same or refused."""
    name = "toy.study"
    config = """
[study]
dt = 0.1
seed = 3
initial = 4
retrain_every = 3
[[input]]
name = "c"
low = -1
high = 1
[[output]]
name = "y"
low = -1
high = 1
[model]
inducing = 4
[planning]
horizon = 3
evaluations = 20
[training]
rounds = 1
polish = 3
"""

    def __init__(self, arguments, folder):
        pathlib.Path(folder, "toy.toml").write_text(self.config)
        x = 0.0
        for step in range(1, 13):
            _, out, _ = run(arguments, "ask", self.name, "--config", "toy.toml", "--format", "json", folder=folder)
            x = 0.8 * x + 0.4 * json.loads(out)["u"][0]
            run(arguments, "tell", self.name, "--step", str(step), "--y", f"{x:.6g}", folder=folder)
        run(arguments, "void", self.name, "--step", "5", "--why", "a test", folder=folder)
        run(arguments, "ask", self.name, folder=folder)
        self.sound = self.seen(arguments, folder)[1]
        require(self.sound is not None, "the study cannot be read")

    def seen(self, arguments, folder):
        code, out, errors = run(arguments, "show", self.name, "--format", "json", folder=folder)
        if code != 0:
            require(self.name in errors, f"the file is not named: {errors}")
            return "told", None
        everything = json.loads(out)
        measured = ([{key: step[key] for key in STUDY_MEASURED} for step in everything["steps"]],
                    [(s["origin"], s["anywhere"], s["y"], s["ended"]) for s in everything["sequences"]])
        return ("told" if "damaged" in errors else "unharmed"), measured

    def judge(self, arguments, folder):
        verdict, measured = self.seen(arguments, folder)
        require(measured is None or measured == self.sound, "a changed measurement was taken silently")
        code, _, errors = run(arguments, "ask", self.name, folder=folder)  # opens it to write
        require(code == 0 or self.name in errors, f"the file is not named: {errors}")
        for beside in pathlib.Path(folder).glob(self.name + "?*"):
            beside.unlink()
        return verdict


class Trial:
    """A trial of a comparison; its metrics go into the results unless it is told."""
    name = "comparison/trials/kink-random-000.json"
    command = ("compare", "kink", "--strategies", "random", "--trials", "1", "--steps", "2", "--initial", "3", "-o",
               "comparison", "--format", "json")

    def __init__(self, arguments, folder):
        run(arguments, *self.command, folder=folder)
        self.results = pathlib.Path(folder, "comparison/results.csv")
        self.sound = self.results.read_text()

    def judge(self, arguments, folder):
        self.results.unlink()
        code, _, errors = run(arguments, *self.command, folder=folder)
        require(code == 0, f"a damaged trial ended the comparison: {errors}")
        # Done again it is what it was; taken as it is, it must be what it was.
        require(self.results.read_text() == self.sound, "a changed trial was taken silently")
        if "damaged" in errors:
            require(self.name in errors, f"the file is not named: {errors}")
            return "told"
        return "unharmed"


def table(seed):
    chance = random.Random(seed)
    x, rows = 0.0, ["t,u,y"]
    for t in range(40):
        u = chance.uniform(-1, 1)
        rows.append(f"{t / 10:.1f},{u:.4f},{x:.4f}")
        x = 0.8 * x + 0.4 * u
    return "\n".join(rows) + "\n"


class Model:
    name = "model.json"

    def __init__(self, arguments, folder):
        pathlib.Path(folder, "train.csv").write_text(table(1))
        pathlib.Path(folder, "test.csv").write_text(table(2))
        run(arguments, "fit", "train.csv", "--inputs", "u", "--outputs", "y", "--states", "x", "--inducing", "5",
            "--rounds", "2", "--polish", "5", "-o", self.name, folder=folder)
        self.sound = run(arguments, "score", self.name, "test.csv", "--draws", "0", "--format", "json", folder=folder)[1]

    def judge(self, arguments, folder):
        code, out, errors = run(arguments, "score", self.name, "test.csv", "--draws", "0", "--format", "json",
                                folder=folder)
        require(code == 0 or errors, "an error without a word")
        require(code != 0 or out == self.sound, "a model that was changed is taken for sound")
        return "told" if code != 0 else "unharmed"


class Csv:
    name = "data.csv"

    def __init__(self, arguments, folder):
        pathlib.Path(folder, self.name).write_text(table(3))
        self.fit = ("fit", self.name, "--inputs", "u", "--outputs", "y", "--linear", "--order", "1", "-o", "linear.json",
                    "--format", "json")
        self.sound = self.read(arguments, folder)[1]

    def read(self, arguments, folder):
        code, out, errors = run(arguments, *self.fit, folder=folder)
        if code != 0:
            return code, None, errors
        report = json.loads(out)
        return code, (report["rows"], report["baselines"], report["training"]["bound"]), errors

    def judge(self, arguments, folder):
        code, seen, errors = self.read(arguments, folder)
        if code != 0:
            require(self.name in errors or "rows" in errors, f"the file is not named: {errors}")
            return "told"
        return "unharmed" if seen == self.sound else "another"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpilot")
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.gpilot = str(pathlib.Path(arguments.gpilot).resolve())
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as root:
        for kind in (Study, Trial, Model, Csv):
            begin = time.monotonic()
            folder = pathlib.Path(root, kind.__name__)
            folder.mkdir()
            subject = kind(arguments, folder)
            file = folder / kind.name
            sound = file.read_bytes()
            verdicts = collections.Counter()
            for k in range(arguments.flips):
                file.write_bytes(flipped(sound, chance))
                try:
                    verdicts[subject.judge(arguments, folder)] += 1
                except (Failure, subprocess.TimeoutExpired, ValueError) as failure:
                    kept = pathlib.Path(tempfile.gettempdir(), f"corrupt.{arguments.seed}.{kind.__name__}.{k}")
                    shutil.copyfile(file, kept)
                    raise Failure(f"{kind.__name__}, file {k}, kept as {kept}: {failure}") from failure
            print(f"{kind.__name__.lower():<6} {arguments.flips:5} files: " +
                  ", ".join(f"{verdicts[v]} {v}" for v in ("told", "unharmed", "another")) +
                  f" ({time.monotonic() - begin:.0f} s)", flush=True)
    print("no crash; no changed measurement of a study or trial was taken silently")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
