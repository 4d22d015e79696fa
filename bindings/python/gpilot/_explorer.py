"""Explorations in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gpilot import _core
from gpilot import _loop as loop
from gpilot._config import Config, config_text
from gpilot._data import Float
from gpilot._model import Model
from gpilot._progress import Progress
from gpilot.rigs._base import Measured, Rig

Criterion = Callable[[_core.Decision, Float], float]
"""A criterion of one's own: what a control (P,) would teach, the larger the more. It may look at the Decision."""


class Explorer:
    """Train, choose the most informative control, apply it, measure, train again. Nothing is kept on the disk.

    config is a Config, a mapping, a path or TOML, as for a study. `criterion` is one of your own instead of the
    configured strategy: a function of a Decision and a control (P,), which is maximised over the control box. It is
    called many times for a choice and must depend on nothing else.

    >>> config = Config(dt=1.0, inputs={"u": (-1, 1)}, outputs={"y": (-2, 2)}, initial=3, seed=1)
    >>> explorer = Explorer(config)
    >>> y = 0.0
    >>> for _ in range(4):
    ...     choice = explorer.ask()
    ...     y = 0.8 * y + choice.control[0]
    ...     explorer.tell(y)
    >>> explorer.model.outputs
    ['y']
    """

    def __init__(
        self,
        config: Config | str | os.PathLike[str] | Mapping[str, Any],
        *,
        criterion: Criterion | None = None,
    ) -> None:
        """Checks the configuration."""
        text, _ = config_text(config)
        if criterion is not None and not callable(criterion):
            raise TypeError(f"criterion: expected a callable, not {type(criterion).__name__}")
        self._core = _core.Explorer(text, criterion)
        self._stop = False
        self._sequences = 0

    @property
    def inputs(self) -> list[str]:
        """Names of the P controls."""
        return self._core.inputs

    @property
    def outputs(self) -> list[str]:
        """Names of the E outputs."""
        return self._core.outputs

    @property
    def model(self) -> Model | None:
        """The newest model, or None."""
        core = self._core.model
        return None if core is None else Model(core)

    @property
    def measurements(self) -> int:
        """Rows that were told."""
        return self._core.measurements

    @property
    def recordings(self) -> tuple[list[Float], list[Float]]:
        """Controls and outputs of every sequence so far: lists of (time, P) and (time, E), read-only."""
        rows = self._core.data
        return [rows.controls(k) for k in range(len(rows))], [rows.outputs_of(k) for k in range(len(rows))]

    def ask(self) -> _core.Choice:
        """The next control, in `choice.control` (P,). Trains if that is due. Asked again before tell, it is the same."""
        return self._core.ask()

    def tell(self, y: npt.ArrayLike, applied: npt.ArrayLike | None = None) -> None:
        """What came back: outputs (E,), NaN is missing, under the control asked for or the one applied (P,)."""
        self._core.tell(y, applied)

    def begin_sequence(self, y: npt.ArrayLike | None = None, *, broad_start: bool = False) -> None:
        """A sequence begins at the declared start or, with broad_start, anywhere; y (E,) was measured there."""
        self._core.begin_sequence(broad_start, y)
        self._sequences += 1

    def end_sequence(self) -> None:
        """The system is left to itself: what is told next begins another sequence."""
        self._core.end_sequence()

    def sure_enough(self, choice: _core.Choice) -> bool:
        """Whether a choice says that nothing more needs to be measured (until_sd)."""
        return self._core.sure_enough(choice)

    def stop(self) -> None:
        """Ends run() after the step at hand; for callbacks."""
        self._stop = True

    def run(
        self, rig: Rig, steps: int, *, callbacks: Iterable[loop.Callback] = (), progress: Progress = None
    ) -> Model | None:
        """Has the rig measure `steps` times. Returns the newest model.

        Whatever happens, the rig is sent its safe control at the end. What the rig or a callback raises comes out of
        this call; what was measured before is kept.
        """
        rig.check(self.inputs, self.outputs)
        self._stop = False
        loop.run(_Told(self), rig, int(steps), callbacks, progress, lambda: self._stop)
        return self.model


class _Told:
    """The explorer as the loop sees it."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self._choice: _core.Choice | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.explorer, name)

    def next_choice(self) -> _core.Choice | None:
        self._choice = self.explorer.ask()
        return None if self.explorer.sure_enough(self._choice) else self._choice

    def accept(self, measured: Measured) -> None:
        self.explorer.tell(measured.outputs, measured.applied)

    def give_up(self, reason: str) -> None:
        self.explorer.end_sequence()

    def begin(self, broad: bool, outputs: Float | None, reason: str) -> None:
        self.explorer.begin_sequence(outputs, broad_start=broad)

    def end(self) -> None:
        self.explorer.end_sequence()

    def reset_seed(self) -> int:
        return int(np.int64(_core.reset_seed(0, self.explorer._sequences + 1)))
