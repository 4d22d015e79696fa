"""An epoch of the paper's scheme in PyTorch: eager, as its users write it, with torch.optim.Adam."""

from __future__ import annotations

import numpy as np
import torch
from problem import LEARNING_RATE, LOG_TWO_PI, NUGGET, PARAMETERS, SAMPLES, start_of_weights

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


class Peer:
    """A problem in PyTorch."""

    name = f"PyTorch {torch.__version__}"

    def __init__(self, problem: dict[str, np.ndarray]) -> None:
        free = ("Z", "log_variance", "log_length_scales", "log_q", "log_r", "m", "S_chol", "A")
        self.data = [torch.tensor(problem[name]) for name in ("controls", "outputs")]
        start = {name: np.array(problem[name]) for name in PARAMETERS}
        self.M, self.D = start["Z"].shape[0], start["m"].shape[1]
        diagonal = np.arange(self.D)
        start["S_chol"][:, diagonal, diagonal] = np.log(start["S_chol"][:, diagonal, diagonal])
        start.update(start_of_weights(self.M, self.D))
        self.p = {
            name: torch.tensor(value, requires_grad=name in (*free, "mu", "factor")) for name, value in start.items()
        }
        self.optimiser = torch.optim.Adam([v for v in self.p.values() if v.requires_grad], lr=LEARNING_RATE)
        self.generator = torch.Generator().manual_seed(0)

    def covariances(self, A: torch.Tensor, S: torch.Tensor) -> torch.Tensor:
        """P_t = A_t P_{t-1} A_t^T + S_t, row by row: eager PyTorch has no scan."""
        P = [S[0]]
        for t in range(1, len(S)):
            P.append(A[t] @ P[-1] @ A[t].T + S[t])
        return torch.stack(P)

    def loss(self, xi: torch.Tensor) -> torch.Tensor:
        """The bound with given weights, negative; the rows' regressions are one batch."""
        p, (controls, outputs) = self.p, self.data
        D, M, w = self.D, self.M, 1.0 / len(xi)
        S_chol = torch.tril(p["S_chol"], -1) + torch.diag_embed(torch.exp(torch.diagonal(p["S_chol"], dim1=1, dim2=2)))
        P_chol = torch.linalg.cholesky(self.covariances(p["A"], S_chol @ S_chol.mT))
        n = len(P_chol) - 1
        spread = p["C"] @ P_chol
        residual = outputs - p["m"] @ p["C"].T - p["d"]
        emission = -0.5 * (LOG_TWO_PI + p["log_r"] + torch.exp(-p["log_r"]) * (residual**2 + (spread**2).sum(-1))).sum()
        initial = -0.5 * (D * LOG_TWO_PI + (p["m"][0] ** 2).sum() + (S_chol[0] ** 2).sum())
        entropy = torch.diagonal(p["S_chol"], dim1=1, dim2=2).sum() + 0.5 * D * (n + 1) * (1 + LOG_TWO_PI)
        W = p["mean_weights"]
        J, W_c, w_1 = W[:D].T, W[D:-1].T, W[-1]
        before = P_chol[:-1]
        offset = p["m"][1:] - p["m"][:-1] @ J.T - controls[:-1] @ W_c.T - w_1
        slope = p["A"][1:] @ before - J @ before
        X = p["m"][:-1, None] + xi @ before.mT
        R = (offset[:, None] + xi @ slope.mT).reshape(-1, D)
        inputs = torch.cat([X, controls[:-1, None].expand(n, len(xi), -1)], -1).reshape(-1, D + controls.shape[1])
        # All D functions at once: [D x M x N].
        inverse = torch.exp(-p["log_length_scales"]).T[:, None]
        variance = torch.exp(p["log_variance"])[:, None, None]
        Zs, Xs = p["Z"] * inverse, inputs * inverse
        zz, xx = (Zs**2).sum(-1), (Xs**2).sum(-1)
        K_uu = variance * torch.exp(-0.5 * (zz[:, :, None] + zz[:, None] - 2 * Zs @ Zs.mT).clamp_min(0.0))
        L_u = torch.linalg.cholesky(K_uu + NUGGET * variance * torch.eye(M))
        K = variance * torch.exp(-0.5 * (zz[:, :, None] + xx[:, None] - 2 * Zs @ Xs.mT).clamp_min(0.0))
        a = torch.linalg.solve_triangular(L_u, K, upper=False)
        mu, factor = p["mu"], p["factor"]
        log_diagonal = torch.diagonal(factor, dim1=1, dim2=2)
        L = torch.tril(factor, -1) + torch.diag_embed(torch.exp(log_diagonal))
        kl = 0.5 * ((L**2).sum() + (mu**2).sum() - D * M) - log_diagonal.sum()
        rho = R.T - (mu[:, None] @ a)[:, 0]
        traces = ((L.mT @ a) ** 2).sum((1, 2)) - (a**2).sum((1, 2))
        quadratic = w * ((rho**2).sum(1) + traces) + n * variance[:, 0, 0]
        noise = (S_chol[1:] ** 2).sum((0, 2))
        q = torch.exp(p["log_q"])
        transition = (-0.5 * n * (LOG_TWO_PI + p["log_q"]) - 0.5 * (quadratic + noise) / q).sum() - kl
        return -(emission + initial + entropy + transition)

    def epoch(self) -> None:
        """One full-batch step of Adam on samples drawn anew."""
        xi = torch.randn(SAMPLES, self.D, generator=self.generator)
        self.optimiser.zero_grad()
        loss = self.loss(xi)
        loss.backward()
        self.optimiser.step()
