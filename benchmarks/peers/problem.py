"""The problems that `peers write` prints, and the bound in formulas that are not tied to a library.

Every library gets the same expressions: plain array code as a user would write it who knows what is slow. D is small, so
factors of D x D matrices are unrolled, which fuses; the recursion of the covariances is a scan of the library's.
"""

from __future__ import annotations

import subprocess

import numpy as np

NUGGET = 1e-8
LOG_TWO_PI = float(np.log(2 * np.pi))
SIZES = {"T35 D2 M20": (35, 2, 20), "T35 D4 M30": (35, 4, 30), "T1000 D2 M50": (1000, 2, 50)}
PARAMETERS = ("Z", "log_variance", "log_length_scales", "mean_weights", "log_q", "log_r", "C", "d", "m", "S_chol", "A")
SAMPLES = 50
LEARNING_RATE = 0.01


def read(program: str, size: tuple[int, int, int]) -> dict[str, np.ndarray]:
    """All arrays of a problem, with our bound ("value") and gradient ("bar_NAME"), blocks as (T, D, D)."""
    lines = iter(subprocess.check_output([program, "write", *map(str, size)], text=True).splitlines())
    arrays = {}
    for head in lines:
        name, rows, columns = head.split()
        values = [[float(v) for v in next(lines).split()] for _ in range(int(rows))]
        arrays[name] = np.array(values).reshape(int(rows), int(columns))
    D = arrays["m"].shape[0]
    for prefix in ("", "bar_"):
        for name in ("S_chol", "A"):
            blocks = arrays[prefix + name].reshape(D, -1, D)
            arrays[prefix + name] = np.ascontiguousarray(blocks.transpose(1, 0, 2))
        arrays[prefix + "m"] = np.ascontiguousarray(arrays[prefix + "m"].T)
        for name in ("log_variance", "log_q", "log_r", "d"):
            arrays[prefix + name] = arrays[prefix + name].ravel()
    arrays["controls"], arrays["outputs"] = arrays["controls"].T.copy(), arrays["outputs"].T.copy()
    arrays["w"] = arrays["w"].ravel()
    arrays["value"] = arrays["value"].item()
    return arrays


def start_of_weights(M: int, D: int) -> dict[str, np.ndarray]:
    """q(v) at its prior: of every row the mean and the lower factor, its diagonal as logarithms."""
    return {"mu": np.zeros((D, M)), "factor": np.zeros((D, M, M))}
