#pragma once

#include "gpilot/core/types.hpp"

namespace gpilot::linalg {

/// Eigenvalues of a square matrix and, if wanted, eigenvectors in columns. Eigen's own solver stands in one source,
/// because each that names it takes ten seconds more to compile.
struct GeneralEigen {
  GeneralEigen(MatrixRef A, bool with_vectors);

  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};

/// The largest modulus of the eigenvalues of a square matrix.
double spectral_radius(MatrixRef A);

/// A with those eigenvalues scaled to modulus `radius` that exceed it. Not finite, or wrong, where A has no basis of
/// eigenvectors.
Matrix with_moduli_at_most(MatrixRef A, double radius);

}  // namespace gpilot::linalg
