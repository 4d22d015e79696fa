"""A study of a rig that is a program: it speaks JSON lines on stdin and stdout (docs/rig-protocol.md)."""

import sys
import tempfile
from pathlib import Path

import gpilot

program = Path(__file__).resolve().parents[1] / "rigs" / "pendulum_rig.py"
rig = gpilot.rigs.Process([sys.executable, str(program), "--seed", "1"])
config = rig.config(  # names, ranges and dt are the rig's own
    states={
        "angle": {"start": 0.0, "start_sd": 0.1},
        "rate": {"derivative_of": "angle", "start": 0.0, "start_sd": 0.1},
    },
    initial=5,
    seed=1,
)

path = Path(tempfile.mkdtemp()) / "pendulum.study"
with gpilot.Study.create(path, config, load_if_exists=True) as study:  # run it again: it goes on
    study.run(rig, 12, progress=True)
    print(study.to_frame()[["id", "phase", "torque", "angle"]].tail(5).to_string(index=False))
    study.void(3, "the sensor was loose")  # kept on record, no longer learned from
    print(f"next: torque {study.suggest().control[0]:+.3f}; 'gpilot show {path.name}' says more")
