"""The bound with gradient, and an epoch of the paper's scheme, in JAX."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from problem import LEARNING_RATE, LOG_TWO_PI, NUGGET, PARAMETERS, SAMPLES, start_of_weights

jax.config.update("jax_enable_x64", True)


def small_cholesky(P: jax.Array) -> jax.Array:
    """Of (.., D, D), unrolled: LAPACK's calls for each of many small matrices take longer than their arithmetic."""
    D = P.shape[-1]
    L = [[jnp.zeros_like(P[..., 0, 0])] * D for _ in range(D)]
    for j in range(D):
        L[j][j] = jnp.sqrt(P[..., j, j] - sum(L[j][k] ** 2 for k in range(j)))
        for i in range(j + 1, D):
            L[i][j] = (P[..., i, j] - sum(L[i][k] * L[j][k] for k in range(j))) / L[j][j]
    return jnp.stack([jnp.stack(row, -1) for row in L], -2)


def covariances(A: jax.Array, S: jax.Array) -> jax.Array:
    """P_t = A_t P_{t-1} A_t^T + S_t, from P_0 = S_0."""

    def step(P: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        A_t, S_t = row
        P = A_t @ P @ A_t.T + S_t
        return P, P

    _, rest = jax.lax.scan(step, S[0], (A[1:], S[1:]))
    return jnp.concatenate([S[:1], rest])


def features(p: dict, X: jax.Array, d: int) -> tuple[jax.Array, jax.Array]:
    """a_n = L_u^-1 k(Z, x_n) as columns [M x N] of state d's function, and its prior variance."""
    inverse = jnp.exp(-p["log_length_scales"][:, d])
    variance = jnp.exp(p["log_variance"][d])
    Zs, Xs = p["Z"] * inverse, X * inverse
    zz, xx = (Zs**2).sum(1), (Xs**2).sum(1)
    K_uu = variance * jnp.exp(-0.5 * jnp.maximum(zz[:, None] + zz[None] - 2 * Zs @ Zs.T, 0.0))
    L = jax.lax.linalg.cholesky(K_uu + NUGGET * variance * jnp.eye(len(Zs)), symmetrize_input=False)
    K = variance * jnp.exp(-0.5 * jnp.maximum(zz[:, None] + xx[None] - 2 * Zs @ Xs.T, 0.0))
    return solve_triangular(L, K, lower=True), variance


def bound(p: dict, controls: jax.Array, outputs: jax.Array, xi: jax.Array, w: jax.Array, weights: dict | None) -> jax.Array:
    """The bound of docs/math/elbo.md: collapsed, or with given weights of q(v)."""
    D = p["m"].shape[1]
    S_chol = jnp.tril(p["S_chol"])
    S = S_chol @ S_chol.transpose(0, 2, 1)
    P = covariances(p["A"], S)
    # Without barriers XLA recomputes the factors and the nodes inside of every kernel value, which is many times as slow.
    P_chol = jax.lax.optimization_barrier(small_cholesky(P))
    n = len(P) - 1
    # Emission, start, entropy.
    spread = jnp.einsum("ed,tdc->tec", p["C"], P_chol)
    residual = outputs - p["m"] @ p["C"].T - p["d"]
    emission = -0.5 * jnp.sum(LOG_TWO_PI + p["log_r"] + jnp.exp(-p["log_r"]) * (residual**2 + (spread**2).sum(-1)))
    initial = -0.5 * (D * LOG_TWO_PI + jnp.sum(p["m"][0] ** 2) + jnp.sum(S_chol[0] ** 2))
    entropy = jnp.sum(jnp.log(jnp.diagonal(S_chol, axis1=1, axis2=2))) + 0.5 * D * (n + 1) * (1 + LOG_TWO_PI)
    # Nodes and residuals.
    W = p["mean_weights"]
    J, W_c, w_1 = W[:D].T, W[D:-1].T, W[-1]
    before = P_chol[:-1]
    offset = p["m"][1:] - p["m"][:-1] @ J.T - controls[:-1] @ W_c.T - w_1
    slope = p["A"][1:] @ before - J @ before
    X = p["m"][:-1, None] + jnp.einsum("tdc,jc->tjd", before, xi)
    R = (offset[:, None] + jnp.einsum("tdc,jc->tjd", slope, xi)).reshape(-1, D)
    inputs = jnp.concatenate([X, jnp.broadcast_to(controls[:-1, None], (n, len(xi), controls.shape[1]))], -1)
    inputs, R = jax.lax.optimization_barrier((inputs.reshape(-1, inputs.shape[-1]), R))
    sqrt_w = jnp.tile(jnp.sqrt(w), n)
    transition = 0.0
    noise = jnp.sum(S_chol[1:] ** 2, axis=(0, 2))
    for d in range(D):
        q = jnp.exp(p["log_q"][d])
        a, variance = features(p, inputs, d)
        a = a * sqrt_w
        r = R[:, d] * sqrt_w
        G, h = a @ a.T, a @ r
        M = len(G)
        if weights is None:
            B = jnp.eye(M) + G / q
            L_B = jax.lax.linalg.cholesky(B, symmetrize_input=False)
            c = solve_triangular(L_B, h, lower=True) / q
            gain = 0.5 * jnp.sum(c**2) - jnp.sum(jnp.log(jnp.diagonal(L_B)))
            quadratic = jnp.sum(r**2) + n * variance - jnp.trace(G)
        else:
            mu, F = weights["mu"][d], weights["factor"][d]
            log_diagonal = jnp.diagonal(F)
            L = jnp.tril(F, -1) + jnp.diag(jnp.exp(log_diagonal))
            gain = -0.5 * (jnp.sum(L**2) + jnp.sum(mu**2) - M) + jnp.sum(log_diagonal)
            quadratic = jnp.sum((r - mu @ a) ** 2) + n * variance - jnp.trace(G) + jnp.sum(L * (G @ L))
        transition += gain - 0.5 * n * (LOG_TWO_PI + p["log_q"][d]) - 0.5 * (quadratic + noise[d]) / q
    return emission + initial + entropy + transition


class Peer:
    """A problem in JAX."""

    name = f"JAX {jax.__version__}"

    def __init__(self, problem: dict[str, np.ndarray]) -> None:
        self.p = {name: jnp.asarray(problem[name]) for name in PARAMETERS}
        data = [jnp.asarray(problem[name]) for name in ("controls", "outputs")]
        self.nodes = [jnp.asarray(problem[name]) for name in ("xi", "w")]
        self._gradient = jax.jit(jax.value_and_grad(lambda p, xi, w: bound(p, *data, xi, w, None)))
        M, D = problem["Z"].shape[0], problem["m"].shape[1]

        def loss(trained: tuple[dict, dict], fixed: dict, xi: jax.Array) -> jax.Array:
            p, weights = trained
            p = {**fixed, **p}
            diagonal = jnp.eye(D) * jnp.exp(p["S_chol"])  # its diagonal as logarithms
            p["S_chol"] = jnp.tril(p["S_chol"], -1) + diagonal
            return -bound(p, *data, xi, jnp.full(SAMPLES, 1.0 / SAMPLES), weights)

        @jax.jit
        def epoch(state: tuple, key: jax.Array) -> tuple:
            """One full-batch step of Adam on samples drawn anew."""
            trained, first, second, count = state
            key, draw = jax.random.split(key)
            xi = jax.random.normal(draw, (SAMPLES, D))
            value, g = jax.value_and_grad(loss)(trained, self.fixed, xi)
            count = count + 1
            first = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, first, g)
            second = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, second, g)

            def move(x: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
                return x - LEARNING_RATE * (a / (1 - 0.9**count)) / (jnp.sqrt(b / (1 - 0.999**count)) + 1e-8)

            return (jax.tree.map(move, trained, first, second), first, second, count), key, value

        self._epoch = epoch
        free = ("Z", "log_variance", "log_length_scales", "log_q", "log_r", "m", "S_chol", "A")
        self.fixed = {name: self.p[name] for name in PARAMETERS if name not in free}
        p = {name: self.p[name] for name in free}
        diagonal = np.arange(D)
        factor = np.array(problem["S_chol"])
        factor[:, diagonal, diagonal] = np.log(factor[:, diagonal, diagonal])
        p["S_chol"] = jnp.asarray(factor)
        trained = (p, {name: jnp.asarray(v) for name, v in start_of_weights(M, D).items()})
        zero = jax.tree.map(jnp.zeros_like, trained)
        self.state, self.key = (trained, zero, zero, jnp.zeros(())), jax.random.key(0)

    def gradient(self) -> tuple[float, dict[str, np.ndarray]]:
        """The bound and its gradient."""
        value, bar = self._gradient(self.p, *self.nodes)
        return float(value), {name: np.asarray(v) for name, v in bar.items()}

    def bound(self) -> None:
        """One evaluation, for timing."""
        jax.block_until_ready(self._gradient(self.p, *self.nodes))

    def epoch(self) -> None:
        """One epoch, for timing."""
        self.state, self.key, value = self._epoch(self.state, self.key)
        jax.block_until_ready(self.state)
