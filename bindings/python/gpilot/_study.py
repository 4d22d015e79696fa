"""Studies: ask and tell, kept in a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal

import numpy.typing as npt

from gpilot import _core, rigs
from gpilot import _data as data
from gpilot import _loop as loop
from gpilot._config import Config, config_text
from gpilot._data import Float
from gpilot._model import Model
from gpilot._progress import Progress
from gpilot.rigs._base import Measured, Rig


def strategies() -> dict[str, str]:
    """Every strategy with a line about it.

    >>> strategies()["random"]
    'uniform in the control box'
    """
    return dict(_core.strategies())


class Study:
    """Ask and tell for a system whose state carries over and whose steps cannot be repeated. One file holds it all.

    Every answer is on the disk before tell returns. A study made here opens on the command line (`gpilot show`, `ask`,
    `tell`, `run`), and the other way round; the same answers lead to the same controls, bit for bit. A context manager
    closes it; one process at a time may write.

    >>> import tempfile
    >>> config = Config(dt=1.0, inputs={"u": (-1, 1)}, outputs={"y": (-2, 2)}, initial=2)
    >>> with Study.create(tempfile.mkdtemp() + "/my.study", config) as study:
    ...     step = study.ask()
    ...     study.tell(step, [0.1])
    ...     study.told
    'accepted'
    1
    """

    def __init__(self, core: _core.Study) -> None:
        """For the package's own use: Study.create and Study.open make studies."""
        self._core = core
        self._stop = False
        self._inputs, self._outputs = core.inputs, core.outputs

    @staticmethod
    def create(
        path: str | os.PathLike[str],
        config: Config | str | os.PathLike[str] | Mapping[str, Any],
        *,
        load_if_exists: bool = False,
    ) -> Study:
        """Makes a new study. With load_if_exists one that is there already is opened instead."""
        if load_if_exists and os.path.exists(path):
            return Study.open(path)
        text, name = config_text(config)
        return Study(_core.Study.create(os.fspath(path), text, name))

    @staticmethod
    def open(path: str | os.PathLike[str], access: Literal["write", "read", "repair"] = "write") -> Study:
        """Opens a study. StudyBusy names the process that writes to it, if there is one."""
        if access not in ("write", "read", "repair"):
            raise ValueError(f'access: expected "write", "read" or "repair", not {access!r}')
        return Study(_core.Study.open(os.fspath(path), access))

    def close(self) -> None:
        """Closes the file; every other call is a ValueError from then on."""
        self._core.close()

    def __enter__(self) -> Study:
        """For `with`."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def __repr__(self) -> str:
        """Path, and whether it is open."""
        return f"<gpilot.Study {self.path}{'' if self._core.is_open else ', closed'}>"

    # Ask and tell.

    def ask(self, *, train: bool = True) -> _core.Step:
        """The next control, in `step.control` (P,). Trains first where that is due. Asked again before tell: the same.

        Ctrl-C raises KeyboardInterrupt within about 100 ms; the study is as it was before.
        """
        return self._core.ask(train)

    def suggest(self, *, train: bool = True) -> _core.Step:
        """What ask would return, with nothing asked."""
        return self._core.suggest(train)

    def tell(
        self,
        step: _core.Step | int,
        y: npt.ArrayLike,
        *,
        applied: npt.ArrayLike | None = None,
        time: float | None = None,
    ) -> str:
        """What came back: outputs (E,), NaN is missing; the control applied (P,) if it is another; the rig's time in s.

        On the disk when this returns: "accepted", "repeated" (the same was told before) or "late" (the step had been
        given up; kept, not learned from).
        """
        return self._core.tell(step, y, applied, time)

    def fail(
        self, step: _core.Step | int, reason: str, status: Literal["failed", "unsafe", "unknown"] = "unknown"
    ) -> None:
        """The step has no outputs; its sequence ends, since nobody knows the state."""
        self._core.fail(step, status, reason)

    def withdraw(self, step: _core.Step | int, reason: str) -> None:
        """The step was never sent, so its sequence goes on."""
        self._core.withdraw(step, reason)

    def void(self, step: _core.Step | int, why: str) -> bool:
        """A step that was told is no longer learned from; it stays on record. Returns whether anything changed."""
        return self._core.void(step, why)

    def correct(
        self, step: _core.Step | int, y: npt.ArrayLike, why: str, *, applied: npt.ArrayLike | None = None
    ) -> bool:
        """Other outputs (E,) for a step that was told; the old ones stay on record."""
        return self._core.correct(step, y, applied, why)

    def new_sequence(
        self, y: npt.ArrayLike | None = None, *, reset: bool = True, reason: str = "begun by the user"
    ) -> None:
        """Begins a sequence: the system was reset to its declared start or, with reset=False, may be anywhere."""
        self._core.new_sequence("reset" if reset else "broken", y, reason)

    def end_sequence(self) -> None:
        """The system is left to itself."""
        self._core.end_sequence()

    def add_recording(self, u: Any, y: Any) -> int:
        """Adds measurements made before, (time, P) and (time, E), as a sequence. Returns the number of steps."""
        controls, outputs = data.paired(u, y)
        if controls[0].shape[1] != len(self.inputs) or outputs[0].shape[1] != len(self.outputs):
            raise ValueError(
                f"u, y: shapes {controls[0].shape} and {outputs[0].shape}, expected (time, {len(self.inputs)}) and "
                f"(time, {len(self.outputs)})"
            )
        return sum(self._core.import_sequence(c, out) for c, out in zip(controls, outputs, strict=True))

    # Rigs.

    def stop(self) -> None:
        """Ends run() after the step at hand; for callbacks."""
        self._stop = True

    def run(
        self,
        rig: Rig,
        steps: int | None = None,
        *,
        callbacks: Iterable[loop.Callback] = (),
        progress: Progress = None,
    ) -> int:
        """Has the rig measure `steps` times, or as often as the configuration says. Returns how often it did.

        Whatever happens, the rig is sent its safe control at the end. What a rig in Python, or a callback, raises comes
        out of this call; the step at hand is `unknown` then, and all that was told before is on the disk. A
        `rigs.Process` is run by the rules of `gpilot run`: it is started again after a failure, up to three in a row.
        """
        if steps is None:
            steps = max(self._core.planned_steps - self.told, 0)
        self._stop = False
        if isinstance(rig, rigs.Process):
            return self._run_process(rig, steps, list(callbacks), progress)
        rig.check(self.inputs, self.outputs)
        if self._core.pending is not None:
            self._core.fail(self._core.pending, "unknown", "the run before ended without its outputs")
        return loop.run(_Told(self), rig, int(steps), callbacks, progress, lambda: self._stop)

    def _run_process(self, rig: rigs.Process, steps: int, callbacks: list[loop.Callback], progress: Progress) -> int:
        told = 0

        def on_event(kind: str, text: str, step: dict[str, Any] | None) -> None:
            nonlocal told
            if kind != "told" or step is None:
                return
            told += 1
            measured = Measured(outputs=step["outputs"], applied=step["applied"], time=step["time"])
            for callback in callbacks:
                callback(self, step, measured)  # type: ignore[arg-type]
            if report is not None:
                report(f"{told} of {steps} measured", told / steps, step["criterion"])

        with rigs.reporting(progress, "run") as report:
            return int(self._core.run_process(rig.command, steps, None, rig.log, on_event)["told"])

    # What it holds.

    @property
    def path(self) -> str:
        """The file."""
        return self._core.path

    @property
    def inputs(self) -> list[str]:
        """Names of the P controls."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[str]:
        """Names of the E outputs."""
        return list(self._outputs)

    @property
    def told(self) -> int:
        """Number of steps with outputs."""
        return self._core.told

    @property
    def pending(self) -> int | None:
        """The step that waits for its outputs, or None."""
        return self._core.pending

    @property
    def model(self) -> Model | None:
        """The newest model, or None."""
        core = self._core.model
        return None if core is None else Model(core)

    def model_at(self, step: int) -> Model | None:
        """The model of the newest training on no step after this one."""
        core = self._core.model_at(int(step))
        return None if core is None else Model(core)

    @property
    def recordings(self) -> tuple[list[Float], list[Float]]:
        """Controls and outputs of every sequence so far: lists of (time, P) and (time, E), read-only."""
        rows = self._core.data
        return [rows.controls(k) for k in range(len(rows))], [rows.outputs_of(k) for k in range(len(rows))]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Every step: id, status, phase, control, applied, outputs, criterion, .."""
        return list(self._core.steps)

    @property
    def trainings(self) -> list[dict[str, Any]]:
        """Every training: after_step, status, bound, seconds, .."""
        return list(self._core.trainings)

    @property
    def sure_enough(self) -> str:
        """Why nothing more needs to be measured, in words, or ""."""
        return self._core.sure_enough

    @property
    def config(self) -> str:
        """The configuration, as TOML."""
        return self._core.config_text

    def to_frame(self) -> Any:
        """A pandas DataFrame, a row for each step that was told: u_NAME applied and outputs by their names."""
        import pandas as pd

        rows = []
        for step in self.steps:
            if step["status"] == "told":
                row = {key: step[key] for key in ("id", "sequence", "phase", "criterion", "voided")}
                row.update(zip(self.inputs, step["applied"], strict=True))
                row.update(zip(self.outputs, step["outputs"], strict=True))
                rows.append(row)
        return pd.DataFrame(rows)


class _Told:
    """The study as the loop sees it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._step: _core.Step | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.study, name)

    def next_choice(self) -> _core.Choice | None:
        self._step = self.study.ask()
        if enough := self.study.sure_enough:
            self.study.withdraw(self._step, enough)
            return None
        return self._step.choice

    def accept(self, measured: Measured) -> None:
        assert self._step is not None
        self.study.tell(self._step, measured.outputs, applied=measured.applied, time=measured.time)

    def give_up(self, reason: str) -> None:
        assert self._step is not None
        self.study.fail(self._step, reason)

    def begin(self, broad: bool, outputs: Float | None, reason: str) -> None:
        self.study.new_sequence(outputs, reset=not broad, reason=reason)

    def end(self) -> None:
        self.study.end_sequence()

    def reset_seed(self) -> int:
        core = self.study._core
        return _core.reset_seed(core.seed, len(core.sequences) + 1)
