from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpilot
from gpilot import rigs

TANK = {"inputs": {"valve": (0.0, 1.0)}, "outputs": {"level": (0.0, 2.0)}, "dt": 1.0}
QUICK = {"rounds": 2, "polish": 5, "noise_path": 0}


def config(**options: object) -> gpilot.Config:
    return gpilot.Config(**{**TANK, "initial": 3, "training": QUICK, **options})


class Tank:
    def __init__(self) -> None:
        self.level = 1.0
        self.safe_calls = 0
        self.steps = 0

    def step(self, u: np.ndarray) -> list[float]:
        self.steps += 1
        self.level += 0.3 * u[0] - 0.2 * np.sqrt(max(self.level, 0.0))
        return [self.level]

    def reset(self, seed: int | None) -> list[float]:
        self.level = 1.0
        return [self.level]

    def safe(self, u: np.ndarray) -> None:
        self.safe_calls += 1

    def rig(self) -> rigs.Callable:
        return rigs.Callable(self.step, reset=self.reset, safe=self.safe, **TANK)


def test_create_open_ask_tell(tmp_path: Path) -> None:
    path = tmp_path / "tank.study"
    with gpilot.Study.create(path, config()) as study:
        step = study.ask()
        assert study.ask().id == step.id
        assert study.pending == step.id
        assert study.tell(step, 1.1) == "accepted"
        assert study.tell(step, [1.1]) == "repeated"
        with pytest.raises(gpilot.InputError, match="step 1"):
            study.tell(step, [1.2])
    with pytest.raises(gpilot.InputError, match=r"tank\.study"):
        gpilot.Study.create(path, config())
    with gpilot.Study.create(path, config(), load_if_exists=True) as study:
        assert study.told == 1
        assert study.steps[0]["outputs"].tolist() == [1.1]
        with pytest.raises(gpilot.StudyBusy):
            gpilot.Study.open(path)
        assert gpilot.Study.open(path, "read").told == 1
    assert "dt" in gpilot.Study.open(path, "read").config


def test_closed(tmp_path: Path) -> None:
    study = gpilot.Study.create(tmp_path / "a.study", config())
    study.close()
    study.close()
    with pytest.raises(ValueError, match="is closed"):
        study.ask()
    with pytest.raises(ValueError, match="is closed"):
        study.tell(1, [0.0])
    assert "closed" in repr(study)


def test_wrong_values(tmp_path: Path) -> None:
    with gpilot.Study.create(tmp_path / "a.study", config()) as study:
        step = study.ask()
        with pytest.raises(ValueError, match=r"y: shape \(2,\), expected \(1,\)"):
            study.tell(step, [0.0, 1.0])
        with pytest.raises(ValueError, match="applied"):
            study.tell(step, [0.0], applied=[np.nan])
        with pytest.raises(TypeError, match="y: expected 1 number"):
            study.tell(step, "wet")
        with pytest.raises(gpilot.InputError):
            study.tell(99, [0.0])
        assert study.told == 0
        study.tell(step, [np.nan])
        assert np.isnan(study.steps[0]["outputs"][0])


def test_void_correct_fail_sequences(tmp_path: Path) -> None:
    with gpilot.Study.create(tmp_path / "a.study", config()) as study:
        for _ in range(4):
            study.tell(study.ask(), [1.0])
        assert study.void(2, "the sensor was loose")
        assert not study.void(2, "the sensor was loose")
        assert study.correct(3, [1.5], "read again")
        assert study.steps[1]["voided"]
        step = study.ask()
        study.fail(step, "power lost", "unknown")
        study.new_sequence([0.7])
        study.withdraw(study.ask(), "not sent")
        assert study.add_recording(np.zeros((5, 1)), np.ones((5, 1))) == 4
        controls, outputs = study.recordings
        assert len(controls) == len(outputs)
        frame = study.to_frame()
        assert list(frame.columns)[-2:] == ["valve", "level"]
        assert frame["level"].iloc[2] == 1.5


def test_run_with_callbacks(tmp_path: Path) -> None:
    tank, seen = Tank(), []
    with gpilot.Study.create(tmp_path / "a.study", config()) as study:
        told = study.run(
            tank.rig(), 5, callbacks=[lambda loop, choice, measured: seen.append((loop.told, choice.phase))]
        )
        assert told == 5
        assert seen == [(1, "random"), (2, "random"), (3, "random"), (4, "chosen"), (5, "chosen")]
        assert tank.safe_calls == 1
        assert study.model is not None
        assert study.run(tank.rig(), 10, callbacks=[lambda loop, choice, measured: loop.stop()]) == 1


def test_an_exception_in_a_callback(tmp_path: Path) -> None:
    tank = Tank()

    def fail(loop: object, choice: object, measured: object) -> None:
        raise ZeroDivisionError("callback")

    with gpilot.Study.create(tmp_path / "a.study", config()) as study:
        with pytest.raises(ZeroDivisionError):
            study.run(tank.rig(), 5, callbacks=[fail])
        assert study.told == 1  # kept
        assert tank.safe_calls == 1
        assert study.run(tank.rig(), 2) == 2


def test_a_rig_that_raises(tmp_path: Path) -> None:
    tank = Tank()

    def broken(u: np.ndarray) -> list[float]:
        if tank.steps == 2:
            raise OSError("the serial port is gone")
        return tank.step(u)

    rig = rigs.Callable(broken, safe=tank.safe, reset=tank.reset, **TANK)
    with gpilot.Study.create(tmp_path / "a.study", config()) as study:
        with pytest.raises(OSError, match="serial port"):
            study.run(rig, 5)
        assert tank.safe_calls == 1
        assert [step["status"] for step in study.steps] == ["told", "told", "unknown"]
        assert "serial port" in study.steps[2]["reason"]
        tank.steps = 10
        assert study.run(rig, 2) == 2
    wrong = rigs.Callable(lambda u: [1.0, 2.0], **TANK)
    with pytest.raises(ValueError, match=r"shape \(2,\), expected \(1,\)"):
        gpilot.Explorer(config()).run(wrong, 1)


def test_another_rig_is_refused(tmp_path: Path) -> None:
    rig = rigs.Callable(lambda u: [0.0], inputs={"pump": (0, 1)}, outputs={"level": (0, 1)})
    with gpilot.Study.create(tmp_path / "a.study", config()) as study, pytest.raises(ValueError, match="pump.*valve"):
        study.run(rig, 1)


def test_config() -> None:
    with pytest.raises(gpilot.InputError, match=r"input\.valve\.hihg"):
        config(inputs={"valve": {"low": 0.0, "hihg": 1.0}})
    with pytest.raises(TypeError, match=r"inputs\.valve"):
        config(inputs={"valve": 1.0})
    with pytest.raises(gpilot.InputError, match="strategy"):
        config(strategy="best")
    assert config().changed(seed=4).sections["study"]["seed"] == 4
    with pytest.raises(FileNotFoundError):
        gpilot.Explorer("nowhere.toml")


def test_limits_are_kept_in_mind(tmp_path: Path) -> None:
    limited = config(outputs={"level": {"low": 0.0, "high": 2.0, "limit_high": 1.6}})
    explorer = gpilot.Explorer(limited)
    explorer.run(Tank().rig(), 5)
    choice = explorer.ask()
    assert 0.0 <= choice.violation <= 1.0
