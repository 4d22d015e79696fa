"""Ctrl-C: the call ends, and what was there before still works. No times are asserted, only that it does not go on."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from conftest import QUICK, linear_rows

import gpilot

LONG = {"rounds": 1000, "polish": 100000, "restarts": 100, "noise_path": 100}


@contextmanager
def interrupted_soon() -> Iterator[None]:
    timer = threading.Timer(0.3, lambda: _thread.interrupt_main(signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    return linear_rows(count, outputs=2)


def test_fit() -> None:
    model = gpilot.GPSSM(states=4, training=LONG)
    with interrupted_soon(), pytest.raises(KeyboardInterrupt):
        model.fit(*rows(2000))
    assert not hasattr(model, "model_")


def test_predict() -> None:
    u, y = rows(60)
    model = gpilot.GPSSM(states=2, training=QUICK).fit(u, y)
    with interrupted_soon(), pytest.raises(KeyboardInterrupt):
        model.predict(np.zeros((100000, 1)), n_draws=2000)
    assert model.predict(u).shape == (60, 2)


def test_ask(tmp_path: Path) -> None:
    config = gpilot.Config(
        dt=1.0, inputs={"u": (-1, 1)}, outputs={"y": (-2, 2)}, initial=2, planning={"evaluations": 1000000}
    )
    with gpilot.Study.create(tmp_path / "a.study", config) as study:
        for _ in range(2):
            study.tell(study.ask(), [0.1])
        with interrupted_soon(), pytest.raises(KeyboardInterrupt):
            study.ask()
        assert study.pending is None
        assert len(study.steps) == 2
    explorer = gpilot.Explorer(config)
    for _ in range(2):
        explorer.ask()
        explorer.tell([0.1])
    with interrupted_soon(), pytest.raises(KeyboardInterrupt):
        explorer.ask()
    assert explorer.measurements == 2


def test_compare(tmp_path: Path) -> None:
    start: Callable[[], gpilot.Comparison] = lambda: gpilot.compare(  # noqa: E731
        "pendulum", ["random"], trials=1000, steps=30, directory=tmp_path / "c"
    )
    with interrupted_soon(), pytest.raises(KeyboardInterrupt):
        start()
    assert (tmp_path / "c" / "comparison.json").exists()
