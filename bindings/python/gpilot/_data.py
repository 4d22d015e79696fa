"""Recordings as users have them, turned into what the core takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gpilot import _core

Float: TypeAlias = npt.NDArray[np.float64]
"""An array of doubles."""

Rows: TypeAlias = npt.ArrayLike
"""One sequence (time, dim): an array, a DataFrame or a Series. A list of them means several sequences."""

Interval: TypeAlias = tuple[float, float]
"""Lowest and highest value."""


def _is_pandas(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "pandas" and hasattr(value, "index")


def _one(name: str, value: Any) -> Float:
    """One sequence as doubles (time, dim); no copy of an array that is one already."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}: rows of different lengths; expected an array (time, dim)") from error
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: expected numbers, not an array of dtype object {array.shape}") from error
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer) or array.dtype == bool):
        raise TypeError(f"{name}: expected numbers, not an array of dtype {array.dtype} {array.shape}")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"{name}: shape {array.shape}, expected (time, dim)")
    return np.asarray(array, dtype=np.float64)


def is_several(value: Any) -> bool:
    """Whether this is a list of sequences."""
    return isinstance(value, (list, tuple))


def sequences(name: str, value: Any) -> list[Float]:
    """Every sequence of a recording."""
    if not is_several(value):
        return [_one(name, value)]
    if len(value) == 0:
        raise ValueError(f"{name}: an empty list, expected at least one sequence")
    if any(np.isscalar(item) for item in value):
        raise TypeError(f"{name}: a list means several sequences; for one of them pass numpy.asarray({name})")
    return [_one(f"{name}[{k}]", item) for k, item in enumerate(value)]


def columns(name: str, value: Any, given: Sequence[str] | None, dim: int, stem: str) -> list[str]:
    """Names of columns: those given, those of the DataFrame, or u, or u1, u2, .."""
    first = value[0] if is_several(value) else value
    if given is not None:
        names = [given] if isinstance(given, str) else [str(item) for item in given]
        if len(names) != dim:
            raise ValueError(f"{name}: {dim} column(s), but {len(names)} name(s): {', '.join(names)}")
        return names
    if _is_pandas(first):
        if hasattr(first, "columns"):
            return [str(column) for column in first.columns]
        if first.name is not None:
            return [str(first.name)]
    return [stem] if dim == 1 else [f"{stem}{k + 1}" for k in range(dim)]


def check_controls(name: str, controls: Float) -> None:
    """All but those of the last row must be there."""
    bad = ~np.isfinite(controls[:-1])
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"{name}: {controls[row, column]} in row {row}, column {column} of {controls.shape}; controls must be finite "
            "(only the last row's may be missing). NaN is for outputs"
        )


def check_outputs(name: str, outputs: Float) -> None:
    """NaN is missing; infinite is nothing."""
    bad = np.isinf(outputs)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(f"{name}: {outputs[row, column]} in row {row}, column {column} of {outputs.shape}")


def paired(u: Any, y: Any) -> tuple[list[Float], list[Float]]:
    """Controls and outputs of every sequence, checked against each other. u may be None: there are no controls."""
    outputs = sequences("y", y)
    controls: list[Float] = [np.zeros((len(rows), 0)) for rows in outputs] if u is None else sequences("u", u)
    if u is not None and is_several(u) != is_several(y):
        raise ValueError("u, y: one is a list (several sequences) and the other is not; expected both or neither")
    if len(controls) != len(outputs):
        raise ValueError(f"u, y: {len(controls)} and {len(outputs)} sequences, expected as many")
    for k, (c, out) in enumerate(zip(controls, outputs, strict=True)):
        at = f"[{k}]" if is_several(y) else ""
        if len(c) != len(out):
            raise ValueError(f"u{at}, y{at}: shapes {c.shape} and {out.shape}, expected as many rows")
        if c.shape[1] != controls[0].shape[1] or out.shape[1] != outputs[0].shape[1]:
            raise ValueError(
                f"u{at}, y{at}: shapes {c.shape} and {out.shape}, but those of the first sequence are "
                f"{controls[0].shape} and {outputs[0].shape}; expected as many columns in all of them"
            )
        check_controls(f"u{at}", c)
        check_outputs(f"y{at}", out)
    return controls, outputs


def make_data(
    u: Any, y: Any, inputs: Sequence[str] | None, outputs: Sequence[str] | None, dt: float, broad_start: bool
) -> _core.Data:
    """Recordings for the core."""
    controls, measured = paired(u, y)
    data = _core.Data(
        columns("inputs", u, inputs, controls[0].shape[1], "u"),
        columns("outputs", y, outputs, measured[0].shape[1], "y"),
        float(dt),
    )
    for c, out in zip(controls, measured, strict=True):
        if len(c) < 2:
            raise ValueError(f"u, y: shapes {c.shape} and {out.shape}; expected at least 2 rows to learn from")
        data.add(c, out, broad_start)
    return data


def vector(name: str, value: Any, size: int, missing: bool = False) -> Float:
    """A vector of so many numbers; a number stands for a vector of one."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected {size} number(s), not {type(value).__name__} of dtype {array.dtype}")
    array = np.atleast_1d(np.asarray(array, dtype=np.float64))
    if array.shape != (size,):
        raise ValueError(f"{name}: shape {array.shape}, expected ({size},)")
    if np.isinf(array).any() or (not missing and np.isnan(array).any()):
        raise ValueError(f"{name}: {array.tolist()}, expected finite numbers{' or NaN' if missing else ''}")
    return array


def like(template: Any, values: Float, names: Sequence[str]) -> Any:
    """Values in the container that the user gave: a DataFrame with its index, or the array itself."""
    if _is_pandas(template):
        import pandas as pd

        return pd.DataFrame(values, index=template.index, columns=list(names))
    return values


def example() -> tuple[Float, Float]:
    """Controls and outputs of a small system, for the examples of the docstrings."""
    rng = np.random.default_rng(0)
    u = np.repeat(rng.uniform(-1, 1, 30), 4)[:, np.newaxis]
    x, y = 0.0, np.zeros((120, 1))
    for t in range(120):
        y[t, 0] = x + 0.01 * rng.standard_normal()
        x += 0.1 * (np.tanh(2 * u[t, 0]) - x)
    return u, y
