"""The loop around a rig: ask, apply, measure, tell; whatever happens, the rig ends in its safe control."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

from gpilot import _core
from gpilot._data import Float
from gpilot._progress import Progress, reporting
from gpilot.rigs._base import Measured, Rig

Callback: TypeAlias = Callable[[Any, _core.Choice, Measured], Any]
"""Called with the study or explorer, the choice and what was measured, after every step."""


class Loop(Protocol):
    """What asks and is told: a study or an explorer."""

    def next_choice(self) -> _core.Choice | None:
        """The control to apply, or None if nothing more needs to be measured."""

    def accept(self, measured: Measured) -> None:
        """What came back."""

    def give_up(self, reason: str) -> None:
        """Nobody knows whether the control was applied."""

    def begin(self, broad: bool, outputs: Float | None, reason: str) -> None:
        """A sequence begins."""

    def end(self) -> None:
        """The system is left to itself."""

    def reset_seed(self) -> int:
        """For the next sequence."""


def _begin(loop: Loop, rig: Rig, reason: str) -> None:
    if rig.can_reset:
        outputs = rig.reset(loop.reset_seed())
        loop.begin(False, outputs, reason)
    else:
        loop.begin(True, None, reason)


def run(
    loop: Loop, rig: Rig, steps: int, callbacks: Iterable[Callback], progress: Progress, stopped: Callable[[], bool]
) -> int:
    """Measures `steps` times. Returns how many were measured."""
    told = 0
    callbacks = list(callbacks)
    with reporting(progress, "run") as on_progress:
        try:
            _begin(loop, rig, "a run begins")
            while told < steps and not stopped():
                choice = loop.next_choice()
                if choice is None:
                    break
                try:
                    measured = rig.step(choice.control)
                except BaseException as error:
                    loop.give_up(f"{type(error).__name__}: {error}")
                    raise
                loop.accept(measured)
                told += 1
                for callback in callbacks:
                    callback(loop, choice, measured)
                if on_progress is not None:
                    on_progress(f"{told} of {steps} measured", told / steps, choice.criterion)
                if measured.done and told < steps:
                    loop.end()
                    if not rig.can_reset:
                        break
                    _begin(loop, rig, "the episode before was over")
        finally:
            rig.safe()
            loop.end()
    return told
