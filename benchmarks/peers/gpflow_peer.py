"""An epoch of the paper's scheme with GPflow's kernels, conditionals and Kullback-Leibler divergences, compiled."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.inducing_variables import InducingPoints, SharedIndependentInducingVariables
from problem import LEARNING_RATE, LOG_TWO_PI, NUGGET, SAMPLES

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
gpflow.config.set_default_jitter(NUGGET)


class Peer:
    """A problem with GPflow: one squared exponential for each state, inducing points that all share."""

    name = f"GPflow {gpflow.__version__}, TensorFlow {tf.__version__}"

    def __init__(self, problem: dict[str, np.ndarray]) -> None:
        self.controls, self.outputs = (tf.constant(problem[name]) for name in ("controls", "outputs"))
        self.M, self.D = problem["Z"].shape[0], problem["m"].shape[1]
        kernels = [
            gpflow.kernels.SquaredExponential(
                variance=np.exp(problem["log_variance"][d]), lengthscales=np.exp(problem["log_length_scales"][:, d])
            )
            for d in range(self.D)
        ]
        self.kernel = gpflow.kernels.SeparateIndependent(kernels)
        self.inducing = SharedIndependentInducingVariables(InducingPoints(problem["Z"]))
        self.q_mu = gpflow.Parameter(np.zeros((self.M, self.D)))
        self.q_sqrt = gpflow.Parameter(np.tile(np.eye(self.M), (self.D, 1, 1)), transform=gpflow.utilities.triangular())
        factor = np.array(problem["S_chol"])
        self.S_chol = gpflow.Parameter(factor, transform=gpflow.utilities.triangular())
        self.m, self.A = tf.Variable(problem["m"]), tf.Variable(problem["A"])
        self.q = gpflow.Parameter(np.exp(problem["log_q"]), transform=gpflow.utilities.positive())
        self.r = gpflow.Parameter(np.exp(problem["log_r"]), transform=gpflow.utilities.positive())
        self.C, self.d, self.W = (tf.constant(problem[name]) for name in ("C", "d", "mean_weights"))
        self.trained = [
            *self.kernel.trainable_variables,
            *self.inducing.trainable_variables,
            *(v for p in (self.q_mu, self.q_sqrt, self.S_chol, self.q, self.r) for v in p.trainable_variables),
            self.m,
            self.A,
        ]
        self.optimiser = tf.optimizers.Adam(LEARNING_RATE)
        self._step = tf.function(self._epoch)

    def loss(self, xi: tf.Tensor) -> tf.Tensor:
        """The bound with given weights, negative."""
        D, n = self.D, self.m.shape[0] - 1
        S_chol = tf.linalg.band_part(tf.convert_to_tensor(self.S_chol), -1, 0)
        S = S_chol @ tf.linalg.matrix_transpose(S_chol)
        P = tf.scan(lambda P, row: row[0] @ P @ tf.transpose(row[0]) + row[1], (self.A[1:], S[1:]), initializer=S[0])
        P_chol = tf.linalg.cholesky(tf.concat([S[:1], P], 0))
        r, q = tf.convert_to_tensor(self.r), tf.convert_to_tensor(self.q)
        spread = self.C @ P_chol
        residual = self.outputs - self.m @ tf.transpose(self.C) - self.d
        emission = -0.5 * tf.reduce_sum(LOG_TWO_PI + tf.math.log(r) + (residual**2 + tf.reduce_sum(spread**2, -1)) / r)
        initial = -0.5 * (D * LOG_TWO_PI + tf.reduce_sum(self.m[0] ** 2) + tf.reduce_sum(S_chol[0] ** 2))
        log_diagonal = tf.math.log(tf.abs(tf.linalg.diag_part(S_chol)))
        entropy = tf.reduce_sum(log_diagonal) + 0.5 * D * (n + 1) * (1 + LOG_TWO_PI)
        J, W_c, w_1 = tf.transpose(self.W[:D]), self.W[D:-1], self.W[-1]
        before = P_chol[:-1]
        offset = self.m[1:] - self.m[:-1] @ tf.transpose(J) - self.controls[:-1] @ W_c - w_1
        slope = self.A[1:] @ before - J @ before
        X = self.m[:-1, None] + tf.einsum("tdc,jc->tjd", before, xi)
        R = tf.reshape(offset[:, None] + tf.einsum("tdc,jc->tjd", slope, xi), (-1, D))
        held = tf.broadcast_to(self.controls[:-1, None], (n, SAMPLES, self.controls.shape[1]))
        inputs = tf.reshape(tf.concat([X, held], -1), (-1, D + self.controls.shape[1]))
        mean, variance = gpflow.conditionals.conditional(
            inputs, self.inducing, self.kernel, self.q_mu, q_sqrt=self.q_sqrt, white=True
        )
        quadratic = tf.reduce_sum((R - mean) ** 2 + variance, 0) / SAMPLES
        noise = tf.reduce_sum(S_chol[1:] ** 2, (0, 2))
        kl = gpflow.kullback_leiblers.gauss_kl(self.q_mu, self.q_sqrt)
        transition = tf.reduce_sum(-0.5 * n * (LOG_TWO_PI + tf.math.log(q)) - 0.5 * (quadratic + noise) / q) - kl
        return -(emission + initial + entropy + transition)

    def _epoch(self) -> tf.Tensor:
        xi = tf.random.normal((SAMPLES, self.D), dtype=tf.float64)
        with tf.GradientTape() as tape:
            loss = self.loss(xi)
        self.optimiser.apply_gradients(zip(tape.gradient(loss, self.trained), self.trained, strict=True))
        return loss

    def epoch(self) -> None:
        """One full-batch step of Adam on samples drawn anew."""
        self._step().numpy()
