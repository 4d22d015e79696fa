from __future__ import annotations

import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, linear_rows
from sklearn.base import clone

import gpilot


def quick(**parameters: object) -> gpilot.GPSSM:
    return gpilot.GPSSM(**{"states": 1, "training": QUICK, **parameters})


def test_fit_predicts_what_it_has_not_seen(pendulum_model: gpilot.Model) -> None:
    pendulum = gpilot.System("pendulum")
    test = pendulum.simulate(pendulum.random_controls(20, hold=(1, 5), seed=2), seed=2)
    mean, std = pendulum_model.predict(test.controls, y_init=test.outputs[:5], return_std=True)
    assert mean.shape == std.shape == (21, 1)
    error = np.sqrt(np.mean((mean[5:, 0] - test.states[5:, 0]) ** 2))
    assert error < 0.5 * np.std(test.states[5:, 0])
    assert pendulum_model.score(test.controls, test.outputs, warmup=5) > 0.5


def test_views_are_read_only_and_outlive_the_model() -> None:
    u, y = linear_rows()
    model = quick().fit(u, y).model_
    distribution = model.distribution(u, y[:5])
    mean = distribution.mean
    with pytest.raises(ValueError, match="read-only"):
        mean[0] = 1.0
    copy = mean.copy()
    del distribution, model
    assert np.array_equal(mean, copy)


def test_sample_spreads_as_the_distribution_says(pendulum_model: gpilot.Model, recording: gpilot.Run) -> None:
    draws = pendulum_model.sample(recording.controls, recording.outputs[:10], n_draws=400, seed=3)
    assert draws.shape == (400, 41, 1)
    p = pendulum_model.distribution(recording.controls, recording.outputs[:10], n_draws=400, seed=3)
    assert np.allclose(np.median(draws, axis=0)[10:], p.mean[10:], atol=3 * p.std[10:].max() / 20)
    assert np.allclose(draws.std(axis=0)[10:], p.std[10:], rtol=0.3)
    again = pendulum_model.sample(recording.controls, recording.outputs[:10], n_draws=400, seed=3)
    assert np.array_equal(draws, again)
    quiet = pendulum_model.sample(recording.controls, recording.outputs[:10], n_draws=50, seed=3, noise=False)
    assert quiet.std(axis=0)[12, 0] < draws.std(axis=0)[12, 0]


def test_transition_is_what_predictions_step_by(pendulum_model: gpilot.Model) -> None:
    mean, std = pendulum_model.transition([[0.1, 0.0], [0.1, 0.5]], [[0.0], [0.2]])
    assert mean.shape == std.shape == (2, 2)
    assert mean[1, 0] > mean[0, 0]  # a larger rate moves the angle more
    with pytest.raises(ValueError, match=r"\(1, 3\).*\(N, 2\)"):
        pendulum_model.transition([[0.1, 0.0, 0.0]], [[0.0]])


def test_missing_outputs_and_several_sequences() -> None:
    u, y = linear_rows()
    y = y.copy()
    y[10:20] = np.nan
    model = quick().fit([u, u[:30]], [y, y[:30]])
    means = model.predict([u, u[:30]])
    assert [m.shape for m in means] == [(60, 1), (30, 1)]
    assert model.model_._core.rows == 90


def test_pandas_in_pandas_out() -> None:
    u, y = linear_rows(outputs=2)
    index = pd.date_range("2020-01-01", periods=len(u), freq="s")
    frame_u = pd.DataFrame(u, index=index, columns=["valve"])
    frame_y = pd.DataFrame(y, index=index, columns=["level", "flow"])
    model = quick(states=2).fit(frame_u, frame_y)
    assert model.model_.inputs == ["valve"]
    assert model.model_.outputs == ["level", "flow"]
    mean = model.predict(frame_u, frame_y.iloc[:3])
    assert isinstance(mean, pd.DataFrame)
    assert list(mean.columns) == ["level", "flow"]
    assert mean.index.equals(index)
    series = quick().fit(pd.Series(u[:, 0], name="u"), pd.Series(y[:, 0], name="level"))
    assert series.model_.outputs == ["level"]
    table = model.evaluate(frame_u, frame_y, warmup=3).to_frame()
    assert set(table["predictor"]) >= {"free_run", "mean"}


def test_no_controls() -> None:
    _, y = linear_rows()
    model = quick().fit(None, y)
    assert model.predict(np.zeros((10, 0)), y[:2]).shape == (10, 1)


def test_scikit_learn_parameters() -> None:
    model = quick(kernel="matern32", seed=3)
    assert model.get_params()["kernel"] == "matern32"
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.set_params(seed=4).seed == 4
    with pytest.raises(ValueError, match="sed"):
        copy.set_params(sed=4)
    assert "matern32" in repr(model)


def test_save_load_pickle(tmp_path, pendulum_model: gpilot.Model, recording: gpilot.Run) -> None:
    path = tmp_path / "model.json"
    pendulum_model.save(path)
    expected = pendulum_model.predict(recording.controls, recording.outputs[:5])
    for model in (gpilot.load(path), pickle.loads(pickle.dumps(pendulum_model)), gpilot.GPSSM.load(path)):
        assert np.array_equal(model.predict(recording.controls, recording.outputs[:5]), expected)
    loaded = gpilot.GPSSM.load(path)
    assert loaded.states == ["th", "rate"]
    assert loaded.elbo_ == pendulum_model.elbo
    assert loaded.hyperparameters_["states"]["th"]["derivative"] == "rate"
    assert loaded.hyperparameters_["output_sd"]["y_th"] > 0
    with pytest.raises(gpilot.InputError, match=r"nowhere\.json"):
        gpilot.load(tmp_path / "nowhere.json")


def test_identify() -> None:
    u, y = linear_rows(200)
    model = gpilot.identify(u, y, states=2, structure="linear", dt=0.5)
    assert model.score(u, y, warmup=5) > 0.8
    assert model.dt == 0.5
    with pytest.raises(gpilot.InputError, match="unknown option 'stucture'"):
        gpilot.identify(u, y, stucture="linear")


def test_progress_is_told_and_rises() -> None:
    u, y = linear_rows()
    told: list[tuple[str, float, float]] = []
    quick().fit(u, y, progress=lambda *what: told.append(what))
    fractions = [fraction for _, fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    u, y = linear_rows()
    quick().fit(u, y, progress=True)
    assert "100%" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    quick().fit(u, y, progress=True)
    assert "100 %" in capsys.readouterr().err


def test_an_exception_in_a_callback_comes_out() -> None:
    u, y = linear_rows()
    model = quick()

    def fail(stage: str, fraction: float, objective: float) -> None:
        raise KeyError("from the callback")

    with pytest.raises(KeyError, match="from the callback"):
        model.fit(u, y, progress=fail)
    assert not hasattr(model, "model_")
    model.fit(u, y)


def test_two_threads_give_the_same_bits() -> None:
    u, y = linear_rows()
    expected = quick().fit(u, y).model_._core.bound
    bounds: list[float] = []

    def work() -> None:
        bounds.append(quick().fit(u, y).elbo_)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bounds == [expected] * 4


@pytest.mark.parametrize(
    ("u", "y", "error", "match"),
    [
        (np.zeros((5, 1)), np.zeros((4, 1)), ValueError, r"\(5, 1\) and \(4, 1\)"),
        (np.full((5, 1), np.nan), np.zeros((5, 1)), ValueError, r"u: nan in row 0"),
        (np.zeros((5, 1)), np.full((5, 1), np.inf), ValueError, r"y: inf in row 0"),
        (np.zeros((5, 1)), np.zeros((5, 1, 1)), ValueError, r"y: shape \(5, 1, 1\)"),
        (np.array(["a"] * 5), np.zeros((5, 1)), TypeError, r"u: expected numbers.*<U1"),
        (np.zeros((5, 1), complex), np.zeros((5, 1)), TypeError, "complex128"),
        ([np.zeros((5, 1))], np.zeros((5, 1)), ValueError, "one is a list"),
        ([np.zeros((5, 1))], [np.zeros((5, 1)), np.zeros((5, 1))], ValueError, "1 and 2 sequences"),
        ([np.zeros((5, 1)), np.zeros((5, 2))], [np.zeros((5, 1))] * 2, ValueError, r"\(5, 2\).*first sequence"),
        ([0.0, 1.0], [0.0, 1.0], TypeError, "several sequences"),
        ([[[0.0], [1.0, 2.0]]], [np.zeros((2, 1))], ValueError, "different lengths"),
        ([], [], ValueError, "empty list"),
        (np.zeros((1, 1)), np.zeros((1, 1)), ValueError, "at least 2 rows"),
    ],
)
def test_wrong_recordings(u: object, y: object, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        quick().fit(u, y)


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"states": 0}, ValueError, "states: 0"),
        ({"states": "ab"}, TypeError, "states"),
        ({"kernel": "matern3"}, gpilot.InputError, "matern3"),
        ({"training": {"polish": 0}}, gpilot.InputError, r"training\.polish: expected a whole number from 1"),
        ({"training": {"polish": "many"}}, TypeError, r"training\.polish.*str"),
        ({"training": {"polsh": 3}}, gpilot.InputError, "did you mean 'polish'"),
        ({"emission": [[1.0, 0.0]]}, ValueError, r"emission: shape \(1, 2\), expected \(1, 1\)"),
        ({"derivative_of": {"v": "x1"}}, ValueError, "'v' is no state"),
        ({"outputs": ["a", "b"]}, ValueError, r"1 column\(s\), but 2 name\(s\)"),
        ({"x0": [0.0, 1.0]}, ValueError, r"x0: shape \(2,\), expected \(1,\)"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], error: type[Exception], match: str) -> None:
    u, y = linear_rows()
    with pytest.raises(error, match=match):
        quick(**parameters).fit(u, y)


def test_wrong_predictions(pendulum_model: gpilot.Model) -> None:
    with pytest.raises(ValueError, match=r"u: shape \(5, 2\), expected \(time, 1\)"):
        pendulum_model.predict(np.zeros((5, 2)))
    with pytest.raises(ValueError, match=r"y_init: shape \(6, 1\).*\(5, 1\)"):
        pendulum_model.predict(np.zeros((5, 1)), np.zeros((6, 1)))
    with pytest.raises(gpilot.InputError, match="draws: -1"):
        pendulum_model.predict(np.zeros((5, 1)), n_draws=-1)
    with pytest.raises(ValueError, match="not fitted"):
        gpilot.GPSSM().predict(np.zeros((5, 1)))
