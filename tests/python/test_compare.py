from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpilot
from gpilot import _compare

SMALL: dict[str, Any] = {"steps": 3, "training": {"rounds": 2, "polish": 5, "noise_path": 0}, "seed": 5}


def results(folder: Path) -> bytes:
    return (folder / "results.csv").read_bytes()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("here")
    result = gpilot.compare("kink", ["random", "latmi"], trials=4, directory=folder, threads=1, **SMALL)
    assert result.complete
    assert result.summary is not None
    return results(folder)


@pytest.mark.parametrize("batch", [1, 3])
def test_executors_give_the_same_bytes(tmp_path: Path, expected: bytes, batch: int) -> None:
    told: list[float] = []
    with ThreadPoolExecutor(2) as executor:
        result = gpilot.compare(
            "kink", ["random", "latmi"], trials=4, directory=tmp_path, executor=executor, batch=batch,
            progress=lambda stage, fraction, objective: told.append(fraction), **SMALL,
        )  # fmt: skip
    assert results(tmp_path) == expected
    assert told[-1] == 1.0
    assert result.results()["strategy"].nunique() == 2
    assert "median" in result.table().columns


def test_processes_and_resumption(tmp_path: Path, expected: bytes) -> None:
    with ProcessPoolExecutor(2) as executor:
        first = gpilot.compare("kink", ["random"], trials=2, directory=tmp_path, executor=executor, **SMALL)
        assert first.complete
        result = gpilot.compare("kink", ["random", "latmi"], trials=4, directory=tmp_path, executor=executor, **SMALL)
    assert result.found == 2
    assert results(tmp_path) == expected


def tank(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    return 0.9 * x + 0.1 * np.tanh(u)


def test_a_system_of_ones_own(tmp_path: Path) -> None:
    system = gpilot.System.define(
        tank, name="tank", states=["level"], inputs={"valve": (-1.0, 1.0)}, region={"level": (-1.0, 1.0)}
    )
    here = gpilot.compare(system, ["random", "randext"], trials=2, directory=tmp_path / "here", **SMALL)
    assert here.complete
    with ProcessPoolExecutor(2) as executor:
        gpilot.compare(system, ["random", "randext"], trials=2, directory=tmp_path / "p", executor=executor, **SMALL)
    assert results(tmp_path / "here") == results(tmp_path / "p")
    unpicklable = gpilot.System.define(
        lambda x, u: x, name="lambda", states=["x"], inputs={"u": (0, 1)}, region={"x": (0, 1)}
    )
    with ThreadPoolExecutor(1) as executor:  # cloudpickle would take it to Dask; a thread needs neither
        assert gpilot.compare(unpicklable, ["random"], trials=1, executor=executor, **SMALL).total == 1


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(gpilot.InputError, match="pendulun"):
        gpilot.compare("pendulun", trials=1)
    with pytest.raises(gpilot.InputError, match="steps"):
        gpilot.compare("kink", trials=1, steps=0)
    with pytest.raises(gpilot.InputError, match="did you mean 'steps'"):
        gpilot.compare("kink", trials=1, step=3)
    with pytest.raises(gpilot.InputError, match="record"):
        _compare._core.ComparisonDirectory(
            _compare._for_core(_compare._options("kink", "random", 1, False, False, False, None, None, None, None, {})),
            str(tmp_path / "d"),
        ).store(("kink", "random", 0), "{")

    class Failing(ThreadPoolExecutor):
        def submit(self, function: Any, *arguments: Any) -> Any:  # type: ignore[override]
            return super().submit(lambda: 1 / 0)

    with Failing(1) as executor, pytest.raises(ZeroDivisionError):
        gpilot.compare("kink", ["random"], trials=1, executor=executor, directory=tmp_path / "e", **SMALL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_dask_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    """A scheduler and two worker processes over TCP; one of them is killed half-way."""
    from distributed import Client

    address = f"tcp://127.0.0.1:{free_port()}"
    environment = {**os.environ, "DASK_DISTRIBUTED__ADMIN__LOG_LENGTH": "0"}
    with open(tmp_path / "dask.log", "w") as log:
        start = lambda *words: subprocess.Popen(  # noqa: E731
            [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
            stdout=log, stderr=log, env=environment, cwd=tmp_path, start_new_session=True,
        )  # fmt: skip
        port = address.rsplit(":", 1)[1]
        processes = [start("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")]
        try:
            processes += [
                start("dask_worker", address, "--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--name", f"w{k}")
                for k in range(2)
            ]
            with Client(address, timeout=60) as client:
                client.wait_for_workers(2, timeout=60)
                pids = client.run(os.getpid)
                assert len(set(pids.values())) == 2
                killed: list[int] = []

                def kill_one(stage: str, fraction: float, objective: float) -> None:
                    if fraction >= 0.3 and not killed:
                        victim = next(iter(pids.values()))
                        killed.append(victim)
                        # Its nanny would start another: both die, as if the machine had.
                        os.killpg(os.getpgid(victim), signal.SIGKILL)

                options: dict[str, Any] = {**SMALL, "steps": 4}
                folder = tmp_path / "dask"
                result = gpilot.compare(
                    "kink", ["random", "latmi"], trials=8, directory=folder, executor=client.get_executor(retries=3),
                    progress=kill_one, **options,
                )  # fmt: skip
                assert killed
                assert result.complete
                deadline = time.monotonic() + 60
                while len(client.scheduler_info()["workers"]) > 1 and time.monotonic() < deadline:
                    time.sleep(0.1)
                assert len(client.scheduler_info()["workers"]) == 1
        finally:
            for process in processes:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    gpilot.compare("kink", ["random", "latmi"], trials=8, directory=tmp_path / "one", threads=1, **options)
    assert results(folder) == results(tmp_path / "one")
