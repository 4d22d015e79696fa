#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

/// Smoothing in information form: a Gaussian Markov chain as a block tridiagonal precision. In these natural parameters
/// the E-step is a linear interpolation towards the fixed point of the bound, and one elimination from the last row to
/// the first turns them back into the A_t, S_t of q(x), in O(T D^3).
namespace gpilot::inference {

/// q(x) ~ exp(-1/2 x^T J x + h^T x) about a centre: x stands for the deviation from the means it was built at.
struct ChainPotentials {
  Matrix J;      ///< [D x D n] diagonal blocks
  Matrix J_off;  ///< [D x D n] blocks (t, t - 1); zero on first rows
  Matrix h;      ///< [D x n]

  void resize(Index states, Index rows);
};

/// The potentials of q(x) itself, about its means (so h = 0).
void potentials_of(const ssm::StatePosterior& q, const ssm::Series& series, ChainPotentials& out, int threads = 1);

/// Where the bound's natural gradient points from q: the statistically linearised transition at the nodes, the exact
/// emission, and for every x_t a site that carries what linearising lost (docs/math/estep.md). The site's precision is
/// clipped at 0. Must follow elbo.gradient(p, q, .., q_bar). About the means of q.
void target_potentials(const ssm::Elbo& elbo, const ssm::Parameters& p, const ssm::StatePosterior& q,
                       const ssm::StatePosterior& q_bar, ChainPotentials& out);

/// q(x) of potentials about `centre` [D x n], which the elimination overwrites. Returns false when they are not
/// positive definite.
bool posterior_of(ChainPotentials& potentials, const ssm::Series& series, const Matrix& centre, ssm::StatePosterior& q);

/// A linear-Gaussian state-space model: L x' = F x + W (c, 1) + N(0, Q), y = C x + d + N(0, R).
struct LinearGaussian {
  Matrix L, F;  ///< [D x D]
  Matrix W;     ///< [D x P + 1]
  Vector q;     ///< [D]
  Matrix C;     ///< [E x D]
  Vector d, r;  ///< [E]
  ssm::StartPrior start, broad_start;
};

/// The exact posterior of a linear-Gaussian model.
ssm::StatePosterior smooth(const LinearGaussian& model, const ssm::Series& series);

/// The linear-Gaussian model that a Gaussian process state-space model is without its Gaussian process.
LinearGaussian linear_part(const ssm::Structure& structure, const ssm::Parameters& p);

/// Makes the shift rows of q(x) exact, where smoothing gave them a small noise: their means are those of the row
/// before, A copies and S is 0.
void snap_shifts(const ssm::Structure& structure, const ssm::Series& series, ssm::StatePosterior& q);

}  // namespace gpilot::inference
