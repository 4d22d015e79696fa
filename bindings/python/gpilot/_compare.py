"""Strategies compared by paired trials, on this machine or on many."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpilot import _core
from gpilot._progress import Progress, reporting
from gpilot._systems import System

Job = tuple[str, str, int]
"""System, strategy, trial."""

DEFAULT_STRATEGIES = ("random", "randext", "auto")

_LOST = (
    "KilledWorker",
    "BrokenProcessPool",
    "CancelledError",
    "CommClosedError",
    "FutureCancelledError",
    "BrokenExecutor",
    "WorkerCrashedError",
    "NodeDiedError",
)
"""Errors that mean that a worker is gone, not that the trial is wrong; by name, since Dask and Ray are not imported here."""


@dataclass(frozen=True)
class Comparison:
    """What paired trials say. `summary` is that of `gpilot compare`; its directory holds every number.

    >>> Comparison("comparison", 4, 4, {"systems": []}).complete
    True
    """

    directory: str
    done: int
    total: int
    summary: dict[str, Any] | None
    failed: list[tuple[Job, str]] = field(default_factory=list)
    found: int = 0
    """Trials that were in the directory before."""

    @property
    def complete(self) -> bool:
        """Whether all trials are done."""
        return self.done == self.total

    def results(self) -> Any:
        """Every value as a pandas DataFrame: system, strategy, trial, step, metric, value."""
        import pandas as pd

        return pd.read_csv(Path(self.directory) / "results.csv")

    def table(self) -> Any:
        """A pandas DataFrame: for each system, strategy and metric the median at the last step, and p values."""
        import pandas as pd

        if self.summary is None:
            raise ValueError(f"{self.directory}: {self.done} of {self.total} trials are done; compare them all first")
        rows = []
        for system in self.summary["systems"]:
            for metric in system["metrics"]:
                for strategy in metric["strategies"]:
                    last = strategy["steps"][-1]
                    row = {"system": system["system"], "metric": metric["metric"], "strategy": strategy["strategy"]}
                    row.update({key: value for key, value in last.items() if isinstance(value, (int, float))})
                    rows.append(row)
        return pd.DataFrame(rows)


def _options(
    systems: Any, strategies: Any, trials: int, paper: bool, angles: bool, observe_states: bool, boxes: Any, limits: Any,
    planning: Any, training: Any, explore: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    names, own = [], {}
    for system in [systems] if isinstance(systems, (str, System)) else list(systems):
        if isinstance(system, System):
            own[system.name] = system
        names.append(system.name if isinstance(system, System) else str(system))
    return {
        "systems": names,
        "own": own,
        "strategies": [strategies] if isinstance(strategies, str) else [str(name) for name in strategies],
        "trials": int(trials),
        "paper": bool(paper),
        "angles": bool(angles),
        "observe_states": bool(observe_states),
        "boxes": [(n, np.atleast_1d(np.asarray(lo, float)), np.atleast_1d(np.asarray(hi, float)))
                  for n, (lo, hi) in (boxes or {}).items()],
        "limits": [(n, float(lo), float(hi)) for n, (lo, hi) in (limits or {}).items()],
        "planning": dict(planning or {}),
        "training": dict(training or {}),
        "explore": explore,
    }  # fmt: skip


def _for_core(options: Mapping[str, Any]) -> dict[str, Any]:
    """Systems of the user's as the core knows them."""
    result = dict(options)
    result["own"] = {name: system._core for name, system in options["own"].items()}
    return result


def run_trial(options: Mapping[str, Any], job: Job) -> str:
    """One trial, in whichever process this is called: the text of its record. For executors."""
    return _core.run_trial(_for_core(options), job)


def run_trials(options: Mapping[str, Any], jobs: Sequence[Job]) -> list[str]:
    """Several trials in turn, one task of an executor."""
    return [run_trial(options, job) for job in jobs]


def _is_lost(error: BaseException) -> bool:
    return any(kind.__name__ in _LOST for kind in type(error).__mro__)


class _Spread:
    """Trials handed to an executor, a bounded number at a time, and stored as they come back."""

    RETRIES = 5

    def __init__(self, executor: Executor, options: dict[str, Any], batch: int, ahead: int) -> None:
        self._executor, self._options, self._batch, self._ahead = executor, options, batch, ahead

    def run(self, directory: _core.ComparisonDirectory, jobs: list[Job], on_done: Any) -> None:
        waiting = [jobs[k : k + self._batch] for k in range(0, len(jobs), self._batch)]
        waiting.reverse()
        losses: dict[Job, int] = {}
        running: dict[Future[list[str]], list[Job]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._ahead:
                    part = waiting.pop()
                    running[self._executor.submit(run_trials, self._options, part)] = part
                finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in finished:
                    part = running.pop(future)
                    error = future.exception() if not future.cancelled() else None
                    if error is not None and not _is_lost(error):
                        raise error
                    if error is not None or future.cancelled():
                        losses[part[0]] = losses.get(part[0], 0) + 1
                        if losses[part[0]] > self.RETRIES:
                            raise RuntimeError(
                                f"trial {part[0]}: its worker was lost {losses[part[0]]} times"
                            ) from error
                        waiting.append(part)
                        continue
                    for job, text in zip(part, future.result(), strict=True):
                        directory.store(job, text)
                    on_done(len(part))
        finally:
            for future in running:
                future.cancel()


def compare(
    systems: str | System | Iterable[str | System],
    strategies: str | Iterable[str] = DEFAULT_STRATEGIES,
    trials: int = 20,
    *,
    executor: Executor | None = None,
    directory: str | os.PathLike[str] | None = None,
    threads: int = 0,
    batch: int = 1,
    ahead: int = 64,
    progress: Progress = None,
    paper: bool = False,
    angles: bool = False,
    observe_states: bool = False,
    boxes: Mapping[str, tuple[Any, Any]] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    planning: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
    **explore: Any,
) -> Comparison:
    """Paired trials of strategies on simulated systems: trials of one number share start, first controls and noise.

    systems are names (`gpilot.system_names()`) or Systems of your own. Without an executor the trials run on `threads`
    threads of this process (0: one per core). Any `concurrent.futures.Executor` takes them elsewhere:
    `ProcessPoolExecutor`, `Client.get_executor()` of dask.distributed, `mpi4py.futures.MPIPoolExecutor`, Ray's. Every trial
    is stored in the directory as soon as it is done, so that a comparison that was interrupted goes on where it stopped;
    one whose worker dies is run again. results.csv has the same bytes wherever the trials ran. `batch` trials are one task;
    `ahead` tasks at most are with the executor at a time.

    Further keywords are those of [study]: steps, initial, seed, retrain_every, delta, ..; limits={"y_th": (-1, 1)},
    boxes={"pendulum": (-1, 1)}. See docs/cluster.md.

    >>> result = compare("kink", ["random", "latmi"], trials=2, steps=3, training={"polish": 5, "noise_path": 0})
    >>> result.complete, result.total
    (True, 4)
    """
    path = os.fspath(directory) if directory is not None else tempfile.mkdtemp(prefix="gpilot-comparison-")
    options = _options(
        systems, strategies, trials, paper, angles, observe_states, boxes, limits, planning, training, explore
    )
    _core.check_comparison(_for_core(options))
    with reporting(progress, "compare") as on_progress:
        if executor is None:
            outcome = _core.run_comparison(_for_core(options), path, int(threads), on_progress)
            return _comparison(path, outcome)
        if batch < 1 or ahead < 1:
            raise ValueError(f"batch, ahead: {batch} and {ahead}, expected at least 1")
        for name, system in options["own"].items():
            _check_picklable(name, system)
        folder = _core.ComparisonDirectory(_for_core(options), path)
        jobs, _ = folder.left()
        total = len(options["systems"]) * len(options["strategies"]) * options["trials"]
        done = total - len(jobs)
        found = done

        def on_done(count: int) -> None:
            nonlocal done
            done += count
            if on_progress is not None:
                on_progress(f"{done} of {total} trials", (done - found) / max(total - found, 1), float(done))

        _Spread(executor, options, int(batch), int(ahead)).run(folder, list(jobs), on_done)
        outcome = folder.finish()
        outcome["found"] = found
        return _comparison(path, outcome)


def _check_picklable(name: str, system: System) -> None:
    try:
        pickle.dumps(system)
    except Exception as first:
        try:  # Dask and Ray take functions that pickle does not
            import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]

            cloudpickle.dumps(system)
        except Exception:
            raise TypeError(f"systems: {name} cannot be sent to other processes: {first}") from first


def _comparison(path: str, outcome: Mapping[str, Any]) -> Comparison:
    summary = outcome["summary"]
    return Comparison(
        directory=path,
        done=outcome["done"],
        total=outcome["total"],
        summary=None if summary is None else json.loads(summary),
        failed=list(outcome["failed"]),
        found=outcome["found"],
    )
