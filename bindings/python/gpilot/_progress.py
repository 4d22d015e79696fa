"""Progress of long work: by callback, or by a bar in the terminal and in notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeAlias

OnProgress: TypeAlias = Callable[[str, float, float], Any]
"""Called with the stage in words, the fraction done (0 to 1) and the objective so far."""

Progress: TypeAlias = bool | OnProgress | None
"""None or False: quiet; True: a bar; or a callback. What it raises ends the work and comes out of the call."""


class _TextBar:
    """A bar for terminals where tqdm is not installed."""

    def __init__(self) -> None:
        self._width = 30

    def show(self, stage: str, fraction: float) -> None:
        done = int(self._width * fraction)
        sys.stderr.write(f"\r[{'#' * done}{'.' * (self._width - done)}] {100 * fraction:3.0f} % {stage:<30.30}")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")


class _TqdmBar:
    def __init__(self, tqdm: Any, title: str) -> None:
        self._bar = tqdm(total=100, desc=title, bar_format="{desc}: {percentage:3.0f}%|{bar}| {postfix} {elapsed}")

    def show(self, stage: str, fraction: float) -> None:
        self._bar.set_postfix_str(stage, refresh=False)
        self._bar.n = round(100 * fraction, 1)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class reporting:  # noqa: N801 - read as a verb
    """The callback that the core is given, for the time of one call."""

    def __init__(self, progress: Progress, title: str) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress: expected True, False, None or a callable, not {type(progress).__name__}")
        self._progress = progress
        self._title = title
        self._bar: _TextBar | _TqdmBar | None = None

    def __enter__(self) -> OnProgress | None:
        """None if nobody listens."""
        if self._progress is None or self._progress is False:
            return None
        if self._progress is not True:
            return self._progress
        try:
            from tqdm.auto import tqdm

            self._bar = _TqdmBar(tqdm, self._title)
        except ImportError:
            self._bar = _TextBar()
        bar = self._bar
        return lambda stage, fraction, objective: bar.show(stage, fraction)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the bar."""
        if self._bar is not None:
            if error is None:
                self._bar.show("done", 1.0)
            self._bar.close()
