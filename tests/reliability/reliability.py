"""What the reliability checks share: configurations, studies as comparable text, runs of the program."""
import json
import pathlib
import re
import sqlite3
import subprocess

# Everything a study must have in common with one that was never interrupted: all but times and process ids.
TABLES = {
    "sequences": "id, origin, broad, outputs, reason, ended",
    "steps": "id, sequence, phase, status, asked, applied, outputs, rig_time, training, criterion, evaluations, reason",
    "trainings": "id, after_step, status, message, chosen, bound, version, model",
    "late_tells": "step, applied, outputs, rig_time",
}


class Failure(Exception):
    """A promise was broken."""


def require(condition, message):
    if not condition:
        raise Failure(message)


def write_config(gpilot, path, steps):
    """The example of the pendulum with `steps` measurements in all."""
    subprocess.run([gpilot, "init", path, "--example", "pendulum"], check=True, stdout=subprocess.DEVNULL)
    text = pathlib.Path(path).read_text()
    initial = int(re.search(r"^initial = (\d+)", text, re.M).group(1))
    text, changed = re.subn(r"^steps = \d+", f"steps = {steps - initial}", text, flags=re.M)
    require(changed == 1, "the example has no line 'steps = N'")
    pathlib.Path(path).write_text(text)


def content(study):
    """The study's tables as comparable lists."""
    with sqlite3.connect(f"file:{study}?mode=ro", uri=True) as db:
        require(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", f"{study}: damaged")
        return {table: db.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
                for table, columns in TABLES.items()}


def told(study):
    """Step number -> outputs of the steps that were told."""
    with sqlite3.connect(f"file:{study}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT id, outputs FROM steps WHERE status = 'told'").fetchall()
    require(len({row[0] for row in rows}) == len(rows), f"{study}: a step twice")
    return dict(rows)


def acknowledged(output):
    """The steps that a run has said are told: {number: printed output}."""
    steps = {}
    for line in output.splitlines():
        fields = line.split()
        if len(fields) >= 6 and fields[0].isdigit() and fields[3] == "told":
            steps[int(fields[0])] = fields[5]
    return steps


def require_acknowledged(study, output):
    stored = told(study)
    for step, printed in acknowledged(output).items():
        require(step in stored, f"{study}: step {step} was acknowledged and is lost")
        value = json.loads(stored[step])[0]
        require(f"{value:.5g}" == printed, f"{study}: step {step} has {value}, acknowledged was {printed}")


def applied_steps(record):
    """The numbers of the steps that the rig has applied, in order."""
    if not pathlib.Path(record).exists():
        return []
    entries = [json.loads(line) for line in pathlib.Path(record).read_text().splitlines()]
    return [entry["id"] for entry in entries if entry["op"] == "step"]
