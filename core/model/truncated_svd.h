// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/weight.h"

namespace lorikeet {

/// The best approximation of a matrix (out,in) by B A of a rank: B = U sqrt(S) (out,rank), A = sqrt(S) V^T
/// (rank,in).
struct TruncatedSvd {
  std::vector<double> a, b;
  std::vector<double> singular;  ///< [rank], falling
  double norm = 0;               ///< Frobenius norm of the matrix
  double residual = 0;           ///< of matrix - B A
};

/// Randomised subspace iteration (Halko, Martinsson and Tropp 2011): products with the matrix run on its
/// device in f32, bases are made orthonormal and the small problem solved in double on the host. The start is
/// drawn from `seed`, so the same matrix on the same device gives the same factors. rank <= min(out,in).
/// `between` is called between products and may throw Error(cancelled). matrix.format is f32 and it has no
/// bias.
TruncatedSvd truncated_svd(Backend& backend, const Weight& matrix, std::int64_t rank, std::uint64_t seed,
                           const std::function<void()>& between = {});

/// Eigenvalues, falling, and eigenvectors (rows of `vectors`) of a symmetric matrix (n,n), by Jacobi's
/// rotations.
void symmetric_eigen(std::vector<double> matrix, std::int64_t n, std::vector<double>& values,
                     std::vector<double>& vectors);

}  // namespace lorikeet
